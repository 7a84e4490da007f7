//! A file that is written in full before anybody can see it.
//!
//! Where the system can, the file has no name at all until it is published, so that nothing is
//! left behind even when e is killed. Elsewhere it has a hidden random name, removed on drop.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::fs::sync_dir;

/// An unpublished file in some directory, open for reading and writing.
#[derive(Debug)]
pub struct Stage {
    file: File,
    directory: PathBuf,
    name: Option<PathBuf>,
}

impl Stage {
    /// Begins a file in `directory` with `mode` as far as the umask lets it.
    pub fn create(directory: &Path, mode: u32) -> io::Result<Self> {
        let directory = directory.to_owned();
        if let Ok(file) = open_unnamed(&directory, mode) {
            return Ok(Self {
                file,
                directory,
                name: None,
            });
        }
        let name = random_name(&directory);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&name)?;
        Ok(Self {
            file,
            directory,
            name: Some(name),
        })
    }

    /// The file, to be filled, given attributes and synced before it is published.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Takes the place of `target`, a path in the same directory, in one step. On an error
    /// nothing changed.
    pub fn replace(mut self, target: &Path) -> io::Result<()> {
        let name = match self.name.take() {
            Some(name) => name,
            None => {
                let name = random_name(&self.directory);
                link_unnamed(&self.file, &name)?;
                name
            }
        };
        std::fs::rename(self.name.insert(name), target)?;
        self.name = None;
        self.sync_directory();
        Ok(())
    }

    /// Appears as `target`, a path in the same directory, unless something has that name:
    /// `AlreadyExists`. Other errors may only mean that the file system knows no hard links.
    pub fn publish_new(self, target: &Path) -> io::Result<()> {
        match &self.name {
            Some(name) => std::fs::hard_link(name, target)?,
            None => link_unnamed(&self.file, target)?,
        }
        self.sync_directory();
        Ok(())
    }

    /// The file is in place already, so a directory that cannot be synced is no failure.
    fn sync_directory(&self) {
        let _ = sync_dir(&self.directory);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = std::fs::remove_file(name);
        }
    }
}

fn random_name(directory: &Path) -> PathBuf {
    directory.join(format!(".e-{}.tmp", uuid::Uuid::new_v4().simple()))
}

#[cfg(target_os = "linux")]
fn open_unnamed(directory: &Path, mode: u32) -> io::Result<File> {
    // Without /proc the file could never get a name.
    std::fs::metadata("/proc/self/fd")?;
    OpenOptions::new()
        .read(true)
        .write(true)
        .mode(mode)
        .custom_flags(libc::O_TMPFILE)
        .open(directory)
}

#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, target: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;

    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(target.as_os_str().as_bytes())?;
    let (cwd, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both paths end with a zero byte and outlive the call.
    match unsafe { libc::linkat(cwd, from.as_ptr(), cwd, to.as_ptr(), follow) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_unnamed(_: &Path, _: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn named(directory: &Path) -> Stage {
        let name = random_name(directory);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&name)
            .unwrap();
        Stage {
            file,
            directory: directory.to_owned(),
            name: Some(name),
        }
    }

    #[test]
    fn both_kinds_publish_replace_and_vanish() {
        for make in [|at: &Path| Stage::create(at, 0o600).unwrap(), named] {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("file");
            let filled = |text: &str| {
                let stage = make(dir.path());
                stage.file().write_all(text.as_bytes()).unwrap();
                stage
            };
            filled("one").publish_new(&target).unwrap();
            let error = filled("two").publish_new(&target).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(std::fs::read(&target).unwrap(), b"one");
            filled("two").replace(&target).unwrap();
            assert_eq!(std::fs::read(&target).unwrap(), b"two");
            filled("three")
                .replace(&dir.path().join("no/such"))
                .unwrap_err();
            drop(filled("four"));
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        }
    }
}
