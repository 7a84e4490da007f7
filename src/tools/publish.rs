//! How changed bytes reach a file.
//!
//! A new file appears complete or not at all and never over one that was created meanwhile. An
//! existing file is replaced by an atomic rename when nothing but its bytes would change by that;
//! otherwise (hard links, attributes that cannot be copied, a directory that cannot be written)
//! the bytes go into the inode, with room reserved first and the old bytes put back on an error.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::files::{Stamp, describe, resolved};
use crate::error::io_text;
use crate::sys::{Stage, fs};

/// What a path to be written means.
#[derive(Debug)]
pub enum Target {
    /// Nothing is there yet.
    Missing(PathBuf),
    /// A regular file that may be changed.
    Existing(Existing),
}

/// An existing file, open for reading and writing.
#[derive(Debug)]
pub struct Existing {
    /// The open file.
    pub file: File,
    /// The path without symlinks.
    path: PathBuf,
    metadata: Metadata,
}

impl Target {
    /// Looks at `path` and opens what is there, without waiting on pipes or devices.
    pub fn open(path: &Path, shown: &str) -> Result<Self, String> {
        if shown.is_empty() || shown.ends_with('/') {
            return Err(format!("`{shown}` does not name a file"));
        }
        let fail = |error: io::Error| describe(shown, &error);
        match std::fs::metadata(path) {
            Ok(metadata) => require_changeable(&metadata, shown)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return match std::fs::symlink_metadata(path) {
                    Ok(_) => Err(format!(
                        "`{shown}` is a symlink to a file that does not exist; write to its target"
                    )),
                    Err(_) => Ok(Self::Missing(resolved(path))),
                };
            }
            Err(error) => return Err(fail(error)),
        }
        let path = path.canonicalize().map_err(fail)?;
        let options = &mut OpenOptions::new();
        let (file, metadata) =
            fs::open_regular(&path, options.read(true).write(true)).map_err(fail)?;
        require_changeable(&metadata, shown)?;
        Ok(Self::Existing(Existing {
            file,
            path,
            metadata,
        }))
    }

    /// The state of the file when it was opened.
    pub fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Missing(_) => None,
            Self::Existing(existing) => Some(existing.stamp()),
        }
    }

    /// Makes `bytes` the content of the file, and gives its new state. `scratch` is a directory
    /// for a backup when the file's own cannot be written.
    pub fn publish(&self, bytes: &[u8], shown: &str, scratch: &Path) -> Result<Stamp, String> {
        match self {
            Self::Missing(path) => create(path, bytes).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => {
                    format!("`{shown}` was created by somebody else just now; read it first")
                }
                _ => describe(shown, &error),
            }),
            Self::Existing(existing) => match existing.replace(bytes, shown)? {
                Some(stamp) => Ok(stamp),
                None => existing.overwrite(bytes, shown, scratch),
            },
        }
    }
}

fn require_changeable(metadata: &Metadata, shown: &str) -> Result<(), String> {
    fs::require_regular(metadata).map_err(|error| describe(shown, &error))?;
    match fs::is_writable_mode(metadata) {
        true => Ok(()),
        false => Err(format!(
            "`{shown}` is read-only (mode {:04o}); it was left alone",
            metadata.permissions().mode() & 0o7777
        )),
    }
}

fn create(path: &Path, bytes: &[u8]) -> io::Result<Stamp> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    let stage = Stage::create(directory, 0o666)?;
    let stamp = fill(stage.file(), bytes)?;
    match stage.publish_new(path) {
        Ok(()) => Ok(stamp),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // No hard links here: the name is taken first and filled after.
        Err(_) => {
            let file = OpenOptions::new().write(true).create_new(true).open(path)?;
            fill(&file, bytes).inspect_err(|_| {
                let _ = std::fs::remove_file(path);
            })
        }
    }
}

fn fill(mut file: &File, bytes: &[u8]) -> io::Result<Stamp> {
    fs::allocate(file, bytes.len() as u64)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(Stamp::of(&file.metadata()?))
}

impl Existing {
    fn stamp(&self) -> Stamp {
        Stamp::of(&self.metadata)
    }

    /// Fails when the path names another file by now, or this one in another state.
    fn check_unchanged(&self, shown: &str) -> Result<(), String> {
        let now = std::fs::symlink_metadata(&self.path);
        let same = now
            .is_ok_and(|now| is_same_file(&now, &self.metadata) && Stamp::of(&now) == self.stamp());
        match same {
            true => Ok(()),
            false => Err(format!(
                "`{shown}` changed while e worked on it; read it again"
            )),
        }
    }

    /// Replaces the file by rename. `None` means that this is not possible here and that
    /// nothing changed.
    fn replace(&self, bytes: &[u8], shown: &str) -> Result<Option<Stamp>, String> {
        let fail = |error: io::Error| describe(shown, &error);
        let directory = match self.path.parent() {
            Some(directory) if self.metadata.nlink() == 1 => directory,
            _ => return Ok(None),
        };
        let stage = match Stage::create(directory, 0o600) {
            Ok(stage) => stage,
            Err(error) if is_full(&error) => return Err(fail(error)),
            Err(_) => return Ok(None),
        };
        let stamp = fill(stage.file(), bytes).map_err(fail)?;
        if fs::copy_attributes(&self.file, stage.file()).is_err() {
            return Ok(None);
        }
        self.check_unchanged(shown)?;
        match stage.replace(&self.path) {
            Ok(()) => Ok(Some(stamp)),
            Err(error) if is_full(&error) => Err(fail(error)),
            Err(_) => Ok(None),
        }
    }

    /// Writes the bytes into the inode, which keeps hard links and all attributes.
    fn overwrite(&self, bytes: &[u8], shown: &str, scratch: &Path) -> Result<Stamp, String> {
        let fail = |error: io::Error| describe(shown, &error);
        let backup = self.back_up(scratch).map_err(fail)?;
        self.check_unchanged(shown)?;
        let written = fs::allocate(&self.file, bytes.len() as u64).and_then(|()| self.pour(bytes));
        if let Err(error) = written {
            return Err(match self.restore(backup.file()) {
                Ok(()) => format!("{}; the old content is still there", fail(error)),
                Err(second) => format!(
                    "{}; putting the old content back failed too ({}), the file is damaged",
                    fail(error),
                    io_text(&second)
                ),
            });
        }
        let metadata = self.file.metadata().map_err(fail)?;
        match std::fs::symlink_metadata(&self.path) {
            Ok(now) if is_same_file(&now, &metadata) => Ok(Stamp::of(&metadata)),
            _ => Err(format!(
                "`{shown}` was replaced while it was written; read it again"
            )),
        }
    }

    /// A nameless copy of the file beside it or in `scratch`.
    fn back_up(&self, scratch: &Path) -> io::Result<Stage> {
        let beside = self.path.parent().unwrap_or(scratch);
        let stage = Stage::create(beside, 0o600).or_else(|_| Stage::create(scratch, 0o600))?;
        (&self.file).rewind()?;
        io::copy(&mut &self.file, &mut stage.file())?;
        Ok(stage)
    }

    fn pour(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    }

    fn restore(&self, mut backup: &File) -> io::Result<()> {
        let mut file = &self.file;
        backup.rewind()?;
        file.rewind()?;
        let length = io::copy(&mut backup, &mut file)?;
        file.set_len(length)?;
        file.sync_all()
    }
}

fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether an error means that the disk or a quota has no room, where another way of writing
/// would only fail later.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Bench;
    use serde_json::json;
    use std::os::unix::fs::symlink;

    fn put(path: &Path, text: &str) -> Result<Stamp, String> {
        Target::open(path, "f")?.publish(text.as_bytes(), "f", Path::new("/tmp"))
    }

    fn mode(path: &Path, bits: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
    }

    #[test]
    fn new_files_appear_with_their_directories() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c");
        let stamp = put(&path, "one").unwrap();
        assert_eq!(stamp, Stamp::of(&std::fs::metadata(&path).unwrap()));
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
    }

    #[test]
    fn a_file_created_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let target = Target::open(&path, "f").unwrap();
        std::fs::write(&path, "theirs").unwrap();
        let error = target.publish(b"ours", "f", Path::new("/tmp")).unwrap_err();
        assert!(error.contains("created by somebody else"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn links_and_modes_survive() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for bits in [0o755, 0o600, 0o4711] {
            std::fs::write(at("f"), "old").unwrap();
            mode(&at("f"), bits);
            put(&at("f"), "new").unwrap();
            assert_eq!(std::fs::metadata(at("f")).unwrap().mode() & 0o7777, bits);
        }
        symlink("f", at("one")).unwrap();
        symlink(at("one"), at("two")).unwrap();
        put(&at("two"), "through").unwrap();
        assert!(at("two").is_symlink() && at("one").is_symlink());
        assert_eq!(std::fs::read(at("f")).unwrap(), b"through");

        std::fs::hard_link(at("f"), at("hard")).unwrap();
        let stamp = put(&at("f"), "both").unwrap();
        assert_eq!(std::fs::read(at("hard")).unwrap(), b"both");
        assert_eq!(stamp, Stamp::of(&std::fs::metadata(at("hard")).unwrap()));
        put(&at("hard"), "").unwrap();
        assert_eq!(std::fs::metadata(at("f")).unwrap().len(), 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4);
    }

    #[test]
    fn what_is_no_changeable_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink("nowhere", at("dangling")).unwrap();
        std::fs::write(at("locked"), "old").unwrap();
        mode(&at("locked"), 0o444);
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let command = json!({"command": format!("mkfifo '{}'", at("fifo").display())});
        Bench::new().run("bash", &command.to_string());
        let cases = [
            (at("dangling"), "symlink"),
            (at("locked"), "read-only (mode 0444)"),
            (at("socket"), "a socket"),
            (dir.path().to_owned(), "a directory"),
            (PathBuf::from("/dev/null"), "a device"),
            (at("fifo"), "a named pipe"),
            (at("locked/x"), "not a directory"),
        ];
        for (path, reason) in cases {
            let error = put(&path, "new").unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        assert_eq!(std::fs::read(at("locked")).unwrap(), b"old");
    }

    #[test]
    fn a_change_under_our_hands_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "old").unwrap();
        let target = Target::open(&path, "f").unwrap();
        std::fs::write(dir.path().join("g"), "theirs").unwrap();
        std::fs::rename(dir.path().join("g"), &path).unwrap();
        let error = target.publish(b"ours", "f", Path::new("/tmp")).unwrap_err();
        assert!(error.contains("changed while"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn a_failed_overwrite_puts_the_old_bytes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "old bytes").unwrap();
        let Ok(Target::Existing(mut existing)) = Target::open(&path, "f") else {
            panic!("the file exists");
        };
        let backup = existing.back_up(Path::new("/tmp")).unwrap();
        existing.pour(b"a longer new content").unwrap();
        existing.restore(backup.file()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old bytes");

        existing = match Target::open(&path, "f").unwrap() {
            Target::Existing(existing) => existing,
            Target::Missing(_) => unreachable!(),
        };
        existing.file = File::open(&path).unwrap();
        let error = existing
            .overwrite(b"new", "f", Path::new("/tmp"))
            .unwrap_err();
        assert!(error.contains('`'), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old bytes");
    }
}
