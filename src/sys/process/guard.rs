//! The process that ends commands when e itself no longer can: killed, crashed, out of memory.
//!
//! The parent-death signal reaches what e started, but not what that started. So a fork of e
//! waits for the end of a socket that only e holds, and then kills all that carries e's mark. It
//! is ended by e at an orderly end, before anybody can see it left behind.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::{strays, table};
use crate::sys::procfs;

/// How often in a row nothing must be found before nothing is left.
const LOOKS: u32 = 5;
/// The pause between two such looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The waiting process. Dropping the handle makes it do its work.
#[derive(Debug)]
pub struct Guard {
    pid: u32,
    _alive: UnixStream,
}

impl Guard {
    /// Forks the guard, where there is a `/proc` to find marks in.
    pub fn start() -> io::Result<Self> {
        if !procfs::is_available() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        strays::choose_mark();
        let (alive, end) = UnixStream::pair()?;
        let arguments = procfs::argument_memory();
        // SAFETY: the child goes on with one thread. It takes no lock but the allocator's, which
        // fork leaves in order, and ends without running anything of e's.
        match unsafe { libc::fork() } {
            0 => {
                drop(alive);
                let _ = catch_unwind(AssertUnwindSafe(|| watch(end, arguments)));
                // SAFETY: this ends the process at once.
                unsafe { libc::_exit(0) }
            }
            pid => Ok(Self {
                pid: u32::try_from(pid).map_err(|_| io::Error::last_os_error())?,
                _alive: alive,
            }),
        }
    }

    /// Its process id and group.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends it, for when nothing is left to guard. Waits until it is gone, which a killed
    /// process without children is at once.
    pub fn end(self) {
        table::kill_process(self.pid, libc::SIGKILL);
        // SAFETY: waitpid accepts a null status. It runs on the thread that reaps.
        unsafe { libc::waitpid(self.pid as libc::pid_t, std::ptr::null_mut(), 0) };
    }
}

/// Waits for the end of e, then kills what it left.
fn watch(mut end: UnixStream, arguments: Option<(usize, usize)>) {
    if !detach(end.as_raw_fd()) {
        return;
    }
    if let Some((start, end)) = arguments {
        rename(start, end);
    }
    // Nothing is ever sent, and all signals are blocked.
    let _ = end.read(&mut [0]);
    let mut killed = Vec::new();
    let mut looks = 0;
    while looks < LOOKS {
        // What was killed cannot start anything more; what it had started by then shows now, but
        // for a process between two programs, which has no environment for a moment.
        let mut found = strays::marked();
        found.retain(|pid| !killed.contains(pid));
        if found.is_empty() {
            looks += 1;
            std::thread::sleep(BETWEEN_LOOKS);
            continue;
        }
        looks = 0;
        for pid in &found {
            table::kill_process(*pid, libc::SIGKILL);
        }
        killed.append(&mut found);
    }
}

/// Puts another name over the arguments that the fork has of e, so that nobody who looks for e by
/// its command line finds this process.
fn rename(start: usize, end: usize) {
    const NAME: &[u8] = b"e-guard";
    let length = end - start;
    // SAFETY: the system laid the arguments out there and keeps that memory writable; only this
    // process, which has one thread and never looks at its arguments, has this copy of it.
    let memory = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, length) };
    memory.fill(0);
    // One byte stays zero, the end of the name.
    let shown = NAME.len().min(length.saturating_sub(1));
    memory[..shown].copy_from_slice(&NAME[..shown]);
}

/// Makes the fork deaf to signals for e's group and lets go of everything but `keep`.
#[cfg(target_os = "linux")]
fn detach(keep: RawFd) -> bool {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let keep = keep as libc::c_uint;
    let close = |first: libc::c_uint, last: libc::c_uint| {
        // SAFETY: nothing that is closed here is used again in this process.
        first > last || unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) == 0 }
    };
    // SAFETY: sigfillset initialises the set, the name ends with a zero byte, and the rest are
    // numbers.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), std::ptr::null_mut());
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"e-guard".as_ptr());
    }
    (keep == 0 || close(0, keep - 1)) && close(keep + 1, libc::c_uint::MAX)
}

#[cfg(not(target_os = "linux"))]
fn detach(_: RawFd) -> bool {
    false
}
