//! Files as the tools see them: opened without a chance to hang, remembered as they were seen,
//! and used by one call at a time.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, after, bounded, select};
use serde::{Deserialize, Serialize};

use crate::chat::{Outcome, ToolResult};
use crate::error::io_text;
use crate::sys::fs::open_regular;
use crate::sys::{CancelToken, lock};

/// Longest wait for another call that works on the same file.
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// Which file a path means, also when it does not exist yet. Hard links are one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identity {
    /// Device and inode of what exists.
    Inode(u64, u64),
    /// The resolved path of what does not.
    Path(PathBuf),
}

/// Tells which file `path` means now.
pub fn identity(path: &Path) -> Identity {
    match std::fs::metadata(path) {
        Ok(metadata) => Identity::Inode(metadata.dev(), metadata.ino()),
        Err(_) => Identity::Path(resolved(path)),
    }
}

/// The canonical path, or that of the deepest ancestor that exists, and the rest.
pub fn resolved(path: &Path) -> PathBuf {
    let mut rest: Vec<OsString> = Vec::new();
    let mut at = path.to_owned();
    loop {
        if let Ok(mut found) = at.canonicalize() {
            for name in rest.iter().rev() {
                match Path::new(name).components().next() {
                    Some(Component::ParentDir) => drop(found.pop()),
                    _ => found.push(name),
                }
            }
            return found;
        }
        match at.components().next_back() {
            Some(last @ (Component::Normal(_) | Component::ParentDir)) => {
                rest.push(last.as_os_str().to_owned());
            }
            _ => return path.to_owned(),
        }
        at.pop();
    }
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    modified: (i64, i64),
    size: u64,
}

impl Stamp {
    /// The state that `metadata` describes.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            size: metadata.size(),
        }
    }
}

/// The states in which the files of a session were last seen, by resolved path.
#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<PathBuf, Stamp>>);

impl Seen {
    /// Notes the state of a file that was just read or written.
    pub fn note(&self, key: &Path, stamp: Stamp) {
        lock(&self.0).insert(key.to_owned(), stamp);
    }

    /// Fails when a file that was seen now exists in another state. `shown` is the path as the
    /// model wrote it.
    pub fn check(&self, key: &Path, now: Option<Stamp>, shown: &str) -> Result<(), ToolResult> {
        match (lock(&self.0).get(key), now) {
            (Some(seen), Some(now)) if *seen != now => Err(ToolResult::failed(format!(
                "`{shown}` changed on disk since it was last read; read it again before changing it"
            ))
            .summary("stale")),
            _ => Ok(()),
        }
    }
}

/// Opens a regular file for reading, without a chance to wait.
pub fn open(path: &Path, shown: &str) -> Result<(File, Metadata), String> {
    open_regular(path, OpenOptions::new().read(true)).map_err(|error| describe(shown, &error))
}

/// An I/O error with the path and what to do, such as about `~`, which no tool expands.
pub fn describe(shown: &str, error: &std::io::Error) -> String {
    let text = format!("`{shown}`: {}", io_text(error));
    match error.kind() {
        ErrorKind::NotFound if shown.starts_with('~') => {
            format!("{text}; `~` is not expanded, give the full path")
        }
        ErrorKind::Unsupported => format!("{text}; use `bash` for it"),
        _ => text,
    }
}

/// Exclusive use of one path among all sessions of the process; ends on drop.
#[derive(Debug)]
pub struct PathLock {
    key: PathBuf,
}

/// A token that is in the channel while nobody holds the lock, and how many want it.
struct Slot {
    put: Sender<()>,
    take: Receiver<()>,
    users: usize,
}

static SLOTS: LazyLock<Mutex<HashMap<PathBuf, Slot>>> = LazyLock::new(Mutex::default);

impl PathLock {
    /// Waits until no other call works on `path`.
    pub fn acquire(path: &Path, shown: &str, cancel: &CancelToken) -> Result<Self, ToolResult> {
        let key = resolved(path);
        let take = {
            let mut slots = lock(&SLOTS);
            let slot = slots.entry(key.clone()).or_insert_with(|| {
                let (put, take) = bounded(1);
                // The channel is new and has room.
                let _ = put.try_send(());
                Slot {
                    put,
                    take,
                    users: 0,
                }
            });
            slot.users += 1;
            slot.take.clone()
        };
        let failure = select! {
            recv(take) -> _ => return Ok(Self { key }),
            recv(cancel.closed()) -> _ => cancelled(),
            recv(after(LOCK_WAIT)) -> _ => ToolResult::failed(format!(
                "another call has been working on `{shown}` for {} s; try again later",
                LOCK_WAIT.as_secs()
            )),
        };
        release(&key, false);
        Err(failure)
    }

    /// The resolved path, by which [`Seen`] knows the file.
    pub fn key(&self) -> &Path {
        &self.key
    }
}

impl Drop for PathLock {
    fn drop(&mut self) {
        release(&self.key, true);
    }
}

fn release(key: &Path, held: bool) {
    let mut slots = lock(&SLOTS);
    if let Some(slot) = slots.get_mut(key) {
        slot.users -= 1;
        if held {
            // The token is out, so there is room for it.
            let _ = slot.put.try_send(());
        }
        if slot.users == 0 {
            slots.remove(key);
        }
    }
}

/// What a call gives back when the turn is interrupted.
pub fn cancelled() -> ToolResult {
    ToolResult {
        outcome: Outcome::Cancelled,
        ..ToolResult::failed("cancelled")
    }
    .summary("cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::cancel::cancel_pair;
    use std::os::unix::fs::symlink;

    #[test]
    fn identities_see_through_links_and_missing_parts() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at("d/f"), "x").unwrap();
        std::fs::hard_link(at("d/f"), at("hard")).unwrap();
        symlink("d", at("link")).unwrap();
        for same in ["hard", "link/f", "d/../d/./f"] {
            assert_eq!(identity(&at(same)), identity(&at("d/f")), "{same}");
        }
        for same in ["link/new/file", "d/new/./file", "d/new/x/../file"] {
            assert_eq!(identity(&at(same)), identity(&at("d/new/file")), "{same}");
        }
        assert_ne!(identity(&at("d/new/file")), identity(&at("d/new/other")));
        assert_eq!(resolved(Path::new("")), Path::new(""));
    }

    #[test]
    fn a_lock_excludes_and_can_be_cancelled() {
        let path = Path::new("/no/such/dir/lock-test");
        let (_keep, live) = cancel_pair();
        let held = PathLock::acquire(path, "p", &live).unwrap();
        let (canceller, token) = cancel_pair();
        let waiter = std::thread::spawn(move || PathLock::acquire(path, "p", &token).map(drop));
        canceller.cancel();
        assert_eq!(
            waiter.join().unwrap().unwrap_err().outcome,
            Outcome::Cancelled
        );
        drop(held);
        let again = PathLock::acquire(path, "p", &live).unwrap();
        let key = again.key().to_owned();
        drop(again);
        assert!(!lock(&SLOTS).contains_key(&key));
    }

    #[test]
    fn locked_sections_never_overlap() {
        static BUSY: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let (_keep, live) = cancel_pair();
                    for _ in 0..200 {
                        let _lock = PathLock::acquire(Path::new("/no/x"), "x", &live).unwrap();
                        assert!(!BUSY.swap(true, std::sync::atomic::Ordering::AcqRel));
                        BUSY.store(false, std::sync::atomic::Ordering::Release);
                    }
                });
            }
        });
    }

    #[test]
    fn only_regular_files_open() {
        for path in ["/dev/null", "/dev/zero", "/", "/no/such/file"] {
            assert!(open(Path::new(path), path).is_err(), "{path}");
        }
        assert!(open(Path::new("/proc/self/status"), "s").is_ok());
        let error = open(Path::new("~/x"), "~/x").unwrap_err();
        assert!(error.contains("not expanded"), "{error}");
    }
}
