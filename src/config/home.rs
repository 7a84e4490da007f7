//! Where e keeps its state, and how private that place is.

use std::fmt::Write;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result, io_text};
use crate::sys::Env;

/// e's home directory. There may be none: then nothing is kept between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Home {
    dir: Option<PathBuf>,
    /// Whether the user named the directory itself, so that missing parents are theirs to want.
    named: bool,
}

impl Home {
    /// `$E_HOME`, else `$HOME/.e`, else none. An empty variable counts as unset; a relative one
    /// is taken from `cwd`.
    pub fn locate(env: &Env, cwd: &Path) -> Self {
        let named = env.path("E_HOME");
        let dir = named.clone().or_else(|| Some(env.path("HOME")?.join(".e")));
        Self {
            dir: dir.map(|dir| cwd.join(dir)),
            named: named.is_some(),
        }
    }

    /// A home at a given absolute path.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: Some(dir.into()),
            named: true,
        }
    }

    /// The directory, whether it exists or not.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// The path of a file in the home.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join(name))
    }

    /// Makes the directory ready for a write: creates it with mode 0700, or takes away what
    /// others may do in it. The owner's own bits are never widened.
    pub fn ensure(&self) -> Result<&Path> {
        let Some(dir) = self.dir() else {
            return Err(
                Error::failed("there is no home directory to write to").remedy("set `E_HOME`")
            );
        };
        // A home below `$HOME` is not worth creating `$HOME` for: service accounts name one that
        // is meant not to exist.
        create_private_dir(dir, self.named)
            .and_then(|()| tighten(dir, 0o700))
            .map_err(|error| {
                Error::failed(format!(
                    "cannot use `{}`: {}",
                    dir.display(),
                    io_text(&error)
                ))
                .remedy("set `E_HOME` to a directory that you own")
            })?;
        Ok(dir)
    }
}

/// A name for a directory that depends on nothing but the bytes of its canonical path: trust
/// entries and the folders of session logs are called that.
pub fn path_key(dir: &Path) -> String {
    let mut key = String::from("sha256-");
    for byte in Sha256::digest(dir.as_os_str().as_bytes()) {
        let _ = write!(key, "{byte:02x}");
    }
    key
}

/// Creates a directory with mode 0700 unless it is there already.
pub fn create_private_dir(dir: &Path, with_parents: bool) -> io::Result<()> {
    let made = DirBuilder::new()
        .mode(0o700)
        .recursive(with_parents)
        .create(dir);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        other => other,
    }
}

/// Reduces the mode of a file or directory to `mask`; touches nothing when it is that private.
pub fn tighten(path: &Path, mask: u32) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode() & 0o7777;
    if mode & !mask == 0 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode & mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        let mut env = Env::default();
        for (name, value) in pairs {
            env.set(*name, *value);
        }
        env
    }

    #[test]
    fn the_home_is_where_the_environment_says() {
        let cases = [
            (&[("E_HOME", "/x"), ("HOME", "/h")][..], Some("/x")),
            (&[("E_HOME", ""), ("HOME", "/h")], Some("/h/.e")),
            (&[("HOME", "/h")], Some("/h/.e")),
            (&[("E_HOME", "rel")], Some("/cwd/rel")),
            (&[("HOME", "")], None),
            (&[], None),
        ];
        for (pairs, expected) in cases {
            let home = Home::locate(&env(pairs), Path::new("/cwd"));
            assert_eq!(home.dir(), expected.map(Path::new), "{pairs:?}");
        }
    }

    #[test]
    fn ensure_creates_privately_and_never_widens() {
        let root = tempfile::tempdir().unwrap();
        let mode = |dir: &Path| fs::metadata(dir).unwrap().permissions().mode() & 0o777;

        let home = Home::at(root.path().join("a/b"));
        home.ensure().unwrap();
        assert_eq!(mode(home.dir().unwrap()), 0o700);

        for (before, after) in [(0o755, 0o700), (0o500, 0o500), (0o770, 0o700)] {
            fs::set_permissions(home.dir().unwrap(), Permissions::from_mode(before)).unwrap();
            home.ensure().unwrap();
            assert_eq!(mode(home.dir().unwrap()), after);
        }
    }

    #[test]
    fn a_missing_user_home_is_not_created() {
        let root = tempfile::tempdir().unwrap();
        let user = root.path().join("nonexistent");
        let home = Home::locate(&env(&[("HOME", user.to_str().unwrap())]), Path::new("/"));
        assert!(home.ensure().is_err());
        assert!(!user.exists());
        assert!(Home::default().ensure().is_err());
    }

    #[test]
    fn the_key_is_the_hash_of_the_path() {
        let digest = "dae668e4084f07b6cb946fb2809f0f82649266bce36b42044235bb9026afa80d";
        assert_eq!(path_key(Path::new("/srv/app")), format!("sha256-{digest}"));
    }
}
