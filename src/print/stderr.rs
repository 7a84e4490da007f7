//! Standard error as a place that nobody needs to read: what it does not take in time is dropped, so
//! that e goes on and ends.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::sys::poll::wait_writable;

/// How long a reader who is behind is waited for. Once it was not enough, nobody is waited for until
/// something was read.
const PATIENCE: Duration = Duration::from_secs(1);

/// A pipe that takes bytes takes as many as this without making the writer wait, on every system.
const PIECE: usize = 512;

/// Lines that were dropped since the last one that was written.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Writes a line, its newline included, or drops it. Nobody is told when that fails: there is nowhere
/// left to say it.
pub fn write(line: &[u8]) {
    let mut stderr = io::stderr().lock();
    let dropped = DROPPED.load(Ordering::Relaxed);
    let patience = if dropped == 0 {
        PATIENCE
    } else {
        Duration::ZERO
    };
    let note = format!("({dropped} lines that nobody read in time are left out)\n");
    let before: &[u8] = if dropped == 0 { b"" } else { note.as_bytes() };
    for piece in before.chunks(PIECE).chain(line.chunks(PIECE)) {
        let ready = wait_writable(stderr.as_fd(), None, Some(patience));
        if ready.and_then(|()| stderr.write_all(piece)).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
    DROPPED.store(0, Ordering::Relaxed);
}
