//! Signals as messages.
//!
//! A handler only raises a flag and writes a byte to a socket; a parked thread turns that into
//! messages. The flags tell which signal it was, so a full socket can lose nothing.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use signal_hook::low_level::{pipe, unregister};

/// A request from outside to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: ctrl+c.
    Interrupt,
    /// SIGTERM: the system or a supervisor.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
}

impl Signal {
    /// The exit status of a process that this signal ended. SIGINT stops a turn in order, which
    /// is an ordinary failure.
    pub fn status(self) -> u8 {
        match self {
            Signal::Interrupt => 1,
            Signal::Terminate => 143,
            Signal::Hangup => 129,
        }
    }
}

/// Takes SIGINT, SIGTERM and SIGHUP over for the rest of the process. A SIGHUP that was
/// ignored at start stays ignored, as `nohup` expects. While the receiver
/// is behind, repetitions of one signal become one message.
pub fn watch() -> io::Result<Receiver<Signal>> {
    let (sender, receiver) = bounded(1);
    let mut signals = Vec::new();
    for (number, signal) in [
        (libc::SIGINT, Signal::Interrupt),
        (libc::SIGTERM, Signal::Terminate),
        (libc::SIGHUP, Signal::Hangup),
    ] {
        // `nohup` means hangups alone. An ignored SIGINT is what supervisors and script
        // runners leave behind by accident; e must still be stoppable by it.
        if signal != Signal::Hangup || !is_ignored(number)? {
            signals.push((number, signal));
        }
    }
    listen("signals", signals, move |signal| {
        sender.send(signal).is_ok()
    })?;
    Ok(receiver)
}

/// Makes a write beyond the file size limit (`ulimit -f`) an error like any other instead of the
/// end of the process. Children get the usual behaviour back.
pub fn ignore_file_size_limit() {
    // SAFETY: no handler is installed, the signal is only ignored.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Sends one message whenever children may have ended; several ends may share a message.
pub(super) fn watch_children() -> io::Result<Receiver<()>> {
    let (sender, receiver): (Sender<()>, _) = bounded(1);
    let deliver = move |()| !matches!(sender.try_send(()), Err(TrySendError::Disconnected(())));
    listen("child signals", vec![(libc::SIGCHLD, ())], deliver)?;
    Ok(receiver)
}

/// Starts a thread that calls `deliver` for every signal until it returns `false`.
pub(super) fn listen<T: Copy + Send + 'static>(
    name: &str,
    signals: Vec<(libc::c_int, T)>,
    deliver: impl Fn(T) -> bool + Send + 'static,
) -> io::Result<()> {
    let (mut reader, writer) = UnixStream::pair()?;
    let mut flags = Vec::new();
    let mut handlers = Vec::new();
    let numbers: Vec<_> = signals.iter().map(|(number, _)| *number).collect();
    for (number, message) in signals {
        let flag = Arc::new(AtomicBool::new(false));
        // The handlers of a signal run in this order, so the flag is up when the byte arrives.
        handlers.push(signal_hook::flag::register(number, flag.clone())?);
        handlers.push(pipe::register(number, writer.try_clone()?)?);
        flags.push((flag, message));
    }
    thread::Builder::new().name(name.into()).spawn(move || {
        unblock(&numbers);
        let mut wakes = [0; 64];
        while matches!(reader.read(&mut wakes), Ok(1..)) {
            let mut raised = flags
                .iter()
                .filter(|(flag, _)| flag.swap(false, Ordering::AcqRel));
            if !raised.all(|(_, message)| deliver(*message)) {
                break;
            }
        }
        for handler in handlers {
            unregister(handler);
        }
    })?;
    Ok(())
}

/// Lets this thread take the signals, in case e was started with them blocked.
fn unblock(signals: &[libc::c_int]) {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises `set` before anything else looks at it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Whether the process was told, at start or since, to take no notice of the signal.
pub(super) fn is_ignored(number: libc::c_int) -> io::Result<bool> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, sigaction only writes the current one to `action`, for which
    // zeroes are a valid value.
    let action = unsafe {
        if libc::sigaction(number, std::ptr::null(), action.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        action.assume_init()
    };
    Ok(action.sa_sigaction == libc::SIG_IGN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn signals_become_messages() -> io::Result<()> {
        let receiver = watch()?;
        for (number, signal) in [
            (libc::SIGHUP, Signal::Hangup),
            (libc::SIGTERM, Signal::Terminate),
            (libc::SIGINT, Signal::Interrupt),
        ] {
            if is_ignored(number)? {
                continue;
            }
            signal_hook::low_level::raise(number)?;
            assert_eq!(receiver.recv_timeout(Duration::from_secs(5)), Ok(signal));
        }
        Ok(())
    }

    #[test]
    fn a_flood_is_coalesced_and_never_blocks_the_sender() -> io::Result<()> {
        let receiver = watch_children()?;
        for _ in 0..10_000 {
            signal_hook::low_level::raise(libc::SIGCHLD)?;
        }
        assert_eq!(receiver.recv_timeout(Duration::from_secs(5)), Ok(()));
        Ok(())
    }
}
