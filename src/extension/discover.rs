//! Which files are extensions, and in which order.
//!
//! A directory of extensions holds executables and folders with one entry point each; order is
//! by path bytes. Files are only looked at, never opened, so a pipe or a device costs nothing.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::io_text;
use crate::sys::fs::is_missing;
use crate::text::one_line;

/// Most entries of one directory that are looked at.
const MAX_ENTRIES: usize = 1024;

/// An extension on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What is started.
    pub path: PathBuf,
    /// What people know it by: its own name, or that of the folder it is the entry point of, fit
    /// to be shown.
    pub file_name: String,
}

/// An entry that is not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Where it is.
    pub path: PathBuf,
    /// Why, as the end of a sentence about it.
    pub why: &'static str,
}

/// The extensions of some directories in declaration order, and a warning for what could not be
/// looked at. A directory that is not there has none.
pub fn find(dirs: &[PathBuf]) -> (Vec<Found>, Vec<String>) {
    let (all, warnings) = look(dirs);
    (all.into_iter().filter_map(Result::ok).collect(), warnings)
}

/// The same, with what is not started in its place.
pub fn look(dirs: &[PathBuf]) -> (Vec<Result<Found, Ignored>>, Vec<String>) {
    let mut warnings = Vec::new();
    let mut all = Vec::new();
    for dir in dirs {
        let entries = entries(dir, &mut warnings).into_iter();
        let mut found: Vec<_> = entries
            .map(|(path, metadata)| start_of(path, &metadata, &mut warnings))
            .collect();
        // By what is started, byte by byte: `a.sh` is before `a/index`.
        found.sort_by(|a, b| path_of(a).cmp(path_of(b)));
        all.extend(found);
    }
    (all, warnings)
}

/// What is started for one path, whatever directory holds it.
///
/// # Errors
///
/// Why nothing is started for it.
pub fn one(path: &Path) -> Result<Found, String> {
    let named = |why: &str| format!("`{}` {why}", one_line(&path.to_string_lossy(), None));
    let failed = |error| named(&format!("cannot be looked at: {}", io_text(&error)));
    let metadata = fs::metadata(path).map_err(failed)?;
    let path = path.canonicalize().map_err(failed)?;
    let mut warnings = Vec::new();
    let start = start_of(path, &metadata, &mut warnings);
    match warnings.pop() {
        Some(warning) => Err(warning),
        None => start.map_err(|ignored| named(ignored.why)),
    }
}

fn start_of(
    path: PathBuf,
    metadata: &Metadata,
    warnings: &mut Vec<String>,
) -> Result<Found, Ignored> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file_name = one_line(&name, None);
    let start = match metadata {
        metadata if metadata.is_dir() => entry_point(&path, warnings),
        metadata if is_executable(metadata) => Ok(path.clone()),
        metadata if metadata.is_file() => Err("is not executable"),
        _ => Err("is no regular file"),
    };
    match start {
        Ok(path) => Ok(Found { path, file_name }),
        Err(why) => Err(Ignored { path, why }),
    }
}

fn path_of(one: &Result<Found, Ignored>) -> &[u8] {
    let path = match one {
        Ok(found) => &found.path,
        Err(ignored) => &ignored.path,
    };
    path.as_os_str().as_encoded_bytes()
}

/// What is started for a folder: its `index`, else what is named like the folder, else its only
/// executable.
fn entry_point(dir: &Path, warnings: &mut Vec<String>) -> Result<PathBuf, &'static str> {
    let files: Vec<PathBuf> = entries(dir, warnings)
        .into_iter()
        .filter(|(_, metadata)| is_executable(metadata))
        .map(|(path, _)| path)
        .collect();
    let folder = dir.file_name().unwrap_or_default();
    // `index.mjs` goes before `index.test.mjs`.
    let is = |path: &Path, name: &OsStr| [path.file_stem(), path.file_name()].contains(&Some(name));
    let begins = |path: &Path, name: &OsStr| {
        let file = path.file_name().unwrap_or_default().as_encoded_bytes();
        let rest = file.strip_prefix(name.as_encoded_bytes());
        rest.is_some_and(|rest| rest.starts_with(b"."))
    };
    let named = ["index".as_ref(), folder].into_iter().find_map(|name| {
        let whole = files.iter().find(|path| is(path, name));
        whole.or_else(|| files.iter().find(|path| begins(path, name)))
    });
    match (named, files.as_slice()) {
        (Some(path), _) => Ok(path.clone()),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err("holds no executable file"),
        (None, _) => Err("holds several executables, none of them `index` or named like it"),
    }
}

/// What a directory holds, sorted, hidden names left out. Links are followed; what vanished and
/// what leads nowhere is left out.
fn entries(dir: &Path, warnings: &mut Vec<String>) -> Vec<(PathBuf, Metadata)> {
    let mut paths = match list(dir) {
        Ok(paths) => paths,
        Err(error) if is_missing(&error) => return Vec::new(),
        Err(error) => {
            let dir = one_line(&dir.to_string_lossy(), None);
            warnings.push(format!(
                "cannot look for extensions in `{dir}`: {}",
                io_text(&error)
            ));
            return Vec::new();
        }
    };
    if paths.len() > MAX_ENTRIES {
        let dir = one_line(&dir.to_string_lossy(), None);
        warnings.push(format!(
            "`{dir}` has over {MAX_ENTRIES} entries; the rest is not looked at"
        ));
        paths.truncate(MAX_ENTRIES);
    }
    paths.sort_unstable();
    let look = |path: PathBuf| fs::metadata(&path).ok().map(|metadata| (path, metadata));
    paths.into_iter().filter_map(look).collect()
}

fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().as_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
        if paths.len() > MAX_ENTRIES {
            break;
        }
    }
    Ok(paths)
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::fs::Permissions;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    struct Tree(tempfile::TempDir);

    impl Tree {
        /// Creates empty files; those with a `*` at the end are executable.
        fn new(files: &[&str]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for file in files {
                let path = tree.at(file.trim_end_matches('*'));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "").unwrap();
                let mode = if file.ends_with('*') { 0o700 } else { 0o600 };
                fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            }
            tree
        }

        fn at(&self, name: impl AsRef<OsStr>) -> PathBuf {
            self.0.path().join(name.as_ref())
        }

        /// What is found: shown names and paths below the tree.
        fn found(&self) -> Vec<(String, String)> {
            let (found, warnings) = find(&[self.0.path().to_owned()]);
            assert!(warnings.is_empty(), "{warnings:?}");
            let inside = |path: &Path| {
                path.strip_prefix(self.0.path())
                    .unwrap()
                    .display()
                    .to_string()
            };
            found
                .into_iter()
                .map(|found| (found.file_name, inside(&found.path)))
                .collect()
        }

        fn paths(&self) -> Vec<String> {
            self.found().into_iter().map(|(_, path)| path).collect()
        }
    }

    #[test]
    fn files_and_entry_points_in_path_order() {
        let cases: &[(&[&str], &[&str])] = &[
            (&[], &[]),
            (
                &["b.sh*", "a.mjs*", "Z*", "notes.md", ".hidden*"],
                &["Z", "a.mjs", "b.sh"],
            ),
            (
                &["foo/index.sh*", "foo/foo.sh*", "foo/foo*"],
                &["foo/index.sh"],
            ),
            (&["foo/foo*", "foo/aaa.sh*"], &["foo/foo"]),
            (&["foo/foo.z*", "foo/foo.p*", "foo/x*"], &["foo/foo.p"]),
            (&["a.b/a.b*", "a.b/c*"], &["a.b/a.b"]),
            (&["foo/one.sh*", "foo/two.sh*"], &[]),
            (&["foo/one.sh*", "foo/two.sh", "foo/.x*"], &["foo/one.sh"]),
            (&["foo/index.sh", "foo/run*"], &["foo/run"]),
            (&["foo/index.tar.gz*", "foo/z.sh*"], &["foo/index.tar.gz"]),
            (&["foo.x*", "foo/index.x*"], &["foo.x", "foo/index.x"]),
            (
                &["foo/index.test.mjs*", "foo/index.mjs*"],
                &["foo/index.mjs"],
            ),
            (&["foo/deep/index.sh*"], &[]),
            (&[".git/index*"], &[]),
        ];
        for (files, expected) in cases {
            assert_eq!(Tree::new(files).paths(), *expected, "{files:?}");
        }
        let tree = Tree::new(&["foo/index.sh*", "a\x1b[1m\n*"]);
        let names: Vec<_> = tree.found().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "foo"]);
    }

    #[test]
    fn odd_entries_are_harmless() {
        let tree = Tree::new(&["ok*", "real/index*"]);
        for fifo in ["fifo", "real/fifo"] {
            let made = Command::new("mkfifo")
                .args(["-m", "700"])
                .arg(tree.at(fifo))
                .status();
            // Somebody else may have taken its status; the file counts.
            drop(made);
            assert!(tree.at(fifo).exists());
        }
        let _socket = UnixListener::bind(tree.at("socket")).unwrap();
        for (target, name) in [
            ("nowhere", "broken"),
            ("loop", "loop"),
            (".", "self"),
            ("real", "linked"),
            ("ok", "to-ok"),
            ("/dev/null", "device"),
        ] {
            symlink(target, tree.at(name)).unwrap();
        }
        assert_eq!(tree.paths(), ["linked/index", "ok", "real/index", "to-ok"]);
    }

    #[test]
    fn directories_come_in_their_order_and_a_missing_one_is_nothing() {
        let (first, second) = (Tree::new(&["b*"]), Tree::new(&["a*", "file"]));
        let dirs = [
            first.at(""),
            first.at("none"),
            second.at(""),
            second.at("file"),
            "a\0b".into(),
        ];
        let (found, warnings) = find(&dirs);
        assert_eq!(
            found.iter().map(|f| f.path.clone()).collect::<Vec<_>>(),
            [first.at("b"), second.at("a")]
        );
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].starts_with("cannot look for extensions in `ab`: "),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_huge_directory_is_looked_at_in_part() {
        let tree = Tree::new(&[]);
        for n in 0..MAX_ENTRIES + 5 {
            fs::File::create(tree.at(format!("f{n}"))).unwrap();
        }
        let (found, warnings) = find(&[tree.at("")]);
        assert!(found.is_empty());
        assert!(
            warnings[0].contains("has over 1024 entries"),
            "{warnings:?}"
        );
    }
}
