//! One writer per log: a lock that the system holds and gives back when its owner is gone.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::after;

use crate::error::{Error, Result};
use crate::sys::fs::{Locked, lock_exclusive};

/// How long a lock may outlive the process that took it.
const DYING: Duration = Duration::from_millis(500);
/// The pause between two tries meanwhile.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Takes the lock of a log or fails, at once when a living process has it. It is held as long as what
/// comes back.
pub fn acquire(log: &Path) -> Result<Locked> {
    let path = log.with_extension("lock");
    let failed = |error: std::io::Error| {
        Error::from(error).context(format!("cannot lock `{}`", path.display()))
    };
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(&path)
        .map_err(failed)?;
    let until = Instant::now() + DYING;
    let holder = loop {
        if lock_exclusive(&file, false).map_err(failed)? {
            return Ok(Locked::new(file));
        }
        let holder = holder(&file);
        if holder.is_some() || Instant::now() >= until {
            break holder;
        }
        // Nobody alive took it: a child that a killed e was starting has a copy for a moment.
        let _ = after(BETWEEN_TRIES).recv();
    };
    Err(match holder {
        Some(pid) => Error::failed(format!(
            "`{}` is already active in process {pid}",
            log.display()
        ))
        .remedy("close it there, end that process, or open it without saving"),
        None => Error::failed(format!("`{}` is already active elsewhere", log.display()))
            .remedy("close it there, or open it without saving"),
    })
}

/// The process that took the lock, where the system tells.
fn holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;

    let metadata = file.metadata().ok()?;
    let device = metadata.dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    let wanted = format!("{major:02x}:{minor:02x}:{}", metadata.ino());
    // `1: FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF`; a waiter has `->` after the number.
    let table = std::fs::read_to_string("/proc/locks").ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        match fields[..] {
            [_, "FLOCK", _, "WRITE", pid, place, ..] if place == wanted => pid.parse().ok(),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_opener_is_told_who_is_first() {
        let root = tempfile::tempdir().unwrap();
        let log = root.path().join("1_a.jsonl");
        let first = acquire(&log).unwrap();
        let error = acquire(&log).unwrap_err().to_string();
        assert!(error.contains("already active"), "{error}");
        let file = File::open(log.with_extension("lock")).unwrap();
        if let Some(pid) = holder(&file) {
            assert_eq!(pid, std::process::id());
            assert!(error.contains(&pid.to_string()), "{error}");
        }
        drop(first);
        acquire(&log).unwrap();
    }
}
