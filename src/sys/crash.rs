//! What is done about the terminal when a signal ends e that it does nothing else about: a crash, or a
//! stray SIGUSR1.

use std::io;
use std::mem::zeroed;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{c_int, sigaction};

use super::signal::is_ignored;

/// The signals that end a process unless it takes them over, but for those that e acts on
/// (`sys::signal`).
const SIGNALS: &[c_int] = &[
    libc::SIGABRT,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGSYS,
    libc::SIGTRAP,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
    #[cfg(target_os = "linux")]
    libc::SIGIO,
    #[cfg(target_os = "linux")]
    libc::SIGPWR,
    #[cfg(target_os = "linux")]
    libc::SIGSTKFLT,
];

/// How long a terminal that takes no bytes is waited for, in milliseconds.
const PATIENCE: c_int = 500;

/// How a terminal is given back.
#[derive(Debug)]
pub struct Undo {
    pub(super) fd: RawFd,
    pub(super) original: libc::termios,
    pub(super) bytes: Vec<u8>,
}

/// What a crash undoes now; null for nothing.
static UNDO: AtomicPtr<Undo> = AtomicPtr::new(ptr::null_mut());

/// From now on a crash undoes this. It lives for ever, because a crash may come at any moment.
pub fn set_undo(undo: Option<&'static Undo>) {
    let undo = undo.map_or(ptr::null_mut(), |undo| ptr::from_ref(undo).cast_mut());
    UNDO.store(undo, Ordering::Release);
}

/// Takes these signals over for the rest of the process, each until it comes. One that is ignored
/// stays so.
pub fn watch() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
    #[cfg(not(target_os = "linux"))]
    let real_time = [];
    for signal in SIGNALS.iter().copied().chain(real_time) {
        if is_ignored(signal)? {
            continue;
        }
        // SAFETY: zeroes are a valid sigaction, and the handler calls nothing that it must not call.
        let result = unsafe {
            let mut action: sigaction = zeroed();
            action.sa_sigaction = on_crash as extern "C" fn(_) as usize;
            // A stack that overflowed has no room for a handler. The default action comes back.
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            sigaction(signal, &action, ptr::null_mut())
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

extern "C" fn on_crash(signal: c_int) {
    // SAFETY: what is behind the pointer lives for ever and never changes; all calls are allowed in
    // a handler. The signal is delivered again when this returns, with its default action.
    unsafe {
        if let Some(undo) = UNDO.swap(ptr::null_mut(), Ordering::AcqRel).as_ref() {
            // Whoever has the terminal in the meantime keeps it.
            if libc::tcgetpgrp(undo.fd) == libc::getpgrp() {
                write(undo.fd, &undo.bytes);
                libc::tcsetattr(undo.fd, libc::TCSANOW, &undo.original);
            }
        }
        libc::raise(signal);
    }
}

/// Writes all bytes, as far as the terminal takes them in time.
///
/// # Safety
///
/// `fd` is open.
unsafe fn write(fd: RawFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let mut ready = libc::pollfd {
            fd,
            events: libc::POLLOUT,
            revents: 0,
        };
        // SAFETY: poll gets one entry, write as many bytes as there are.
        let written = unsafe {
            match libc::poll(&mut ready, 1, PATIENCE) {
                1 => libc::write(fd, bytes.as_ptr().cast(), bytes.len()),
                _ => 0,
            }
        };
        match usize::try_from(written) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes = &bytes[count..],
        }
    }
}
