//! The terminal device: its modes, its size, writing to it without getting stuck, and job control.

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use signal_hook::low_level::{pipe, unregister};

use super::crash::Undo;
use super::poll::{wait_readable, wait_writable};
use super::signal::{is_ignored, listen};

/// The largest size that is believed: what is painted costs memory for each cell, and no screen is
/// larger, whatever somebody tells the kernel.
const MAX_SIZE: (u16, u16) = (1000, 500);

/// A terminal, and the modes that it had when it was opened.
#[derive(Debug)]
pub struct Tty {
    file: File,
    original: libc::termios,
}

/// What happens to the terminal or to e's job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobSignal {
    /// The size may have changed.
    Resized,
    /// Somebody asks e to stop, as ctrl+z does.
    Stop,
    /// e goes on after it was stopped.
    Continued,
    /// SIGQUIT: an end at once, but not without giving the terminal back.
    Quit,
}

impl Tty {
    /// The terminal that `fd` is. It is opened anew where possible, so that not to wait for it is
    /// our own choice and not that of everybody who shares the descriptor.
    pub fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let original = modes(fd)?;
        let options = |path: PathBuf| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
                .open(path)
        };
        let file = match name(fd).and_then(options) {
            Ok(file) => file,
            Err(_) => File::from(fd.try_clone_to_owned()?),
        };
        Ok(Self { file, original })
    }

    /// Columns and rows, up to a bound; 80 and 24 when the terminal does not know.
    pub fn size(&self) -> (u16, u16) {
        let mut size = libc::winsize {
            ws_row: 0,
            ws_col: 0,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // SAFETY: TIOCGWINSZ writes one winsize to the place it is given.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TIOCGWINSZ, &mut size) };
        match result {
            0 => believed(size.ws_col, size.ws_row),
            _ => believed(0, 0),
        }
    }

    /// Bytes in and out as they are: no echo, no lines, no signals from keys. In the background
    /// this stops the process until it is in the foreground.
    pub fn set_raw(&self) -> io::Result<()> {
        let mut raw = self.original;
        // SAFETY: cfmakeraw only changes the value it is given.
        unsafe { libc::cfmakeraw(&mut raw) };
        raw.c_cc[libc::VMIN] = 1;
        raw.c_cc[libc::VTIME] = 0;
        self.set(&raw)
    }

    /// Whether keys come one by one, without an echo. A terminal that does not tell counts as raw.
    pub fn is_raw(&self) -> bool {
        let cooked = libc::ICANON | libc::ECHO | libc::ISIG;
        modes(self.file.as_fd()).map_or(true, |modes| modes.c_lflag & cooked == 0)
    }

    /// The modes it was opened with, whatever changed them since.
    pub fn restore(&self) -> io::Result<()> {
        self.set(&self.original)
    }

    /// How a crash gives it back: by these bytes, and then with the modes that it was opened with.
    pub fn undo(&self, bytes: Vec<u8>) -> Undo {
        Undo {
            fd: self.file.as_raw_fd(),
            original: self.original,
            bytes,
        }
    }

    /// Whether keys come to this process's job.
    pub fn is_foreground(&self) -> bool {
        // SAFETY: both calls only take and return numbers.
        unsafe { libc::tcgetpgrp(self.file.as_raw_fd()) == libc::getpgrp() }
    }

    /// Drops what was typed and not read, such as answers to questions that nobody waits for.
    pub fn discard_input(&self) {
        // SAFETY: tcflush takes an open descriptor and a constant.
        unsafe { libc::tcflush(self.file.as_raw_fd(), libc::TCIFLUSH) };
    }

    /// Writes all bytes, for at most `timeout`. `Interrupted` when `stop` becomes readable first,
    /// `TimedOut` when the time is over; a part is written then. Also how many bytes were written.
    pub fn write(
        &self,
        bytes: &[u8],
        stop: Option<BorrowedFd<'_>>,
        timeout: Option<Duration>,
    ) -> (usize, io::Result<()>) {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut count = 0;
        let mut write = || {
            while count < bytes.len() {
                let rest = deadline.map(|at| at.saturating_duration_since(Instant::now()));
                wait_writable(self.file.as_fd(), stop, rest)?;
                match (&self.file).write(&bytes[count..]) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(more) => count += more,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        };
        let result = write();
        (count, result)
    }

    /// At once, and not after the output, which may be stuck.
    fn set(&self, modes: &libc::termios) -> io::Result<()> {
        loop {
            // SAFETY: tcsetattr reads the modes it is given.
            if unsafe { libc::tcsetattr(self.file.as_raw_fd(), libc::TCSANOW, modes) } == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

/// Whether somebody would wake e up again if it stopped: a shell with job control.
pub fn can_suspend() -> bool {
    // SAFETY: these calls only take and return numbers; -1 for what is gone equals nothing.
    unsafe {
        let parent = libc::getppid();
        libc::getsid(parent) == libc::getsid(0) && libc::getpgid(parent) != libc::getpgrp()
    }
}

/// How long a stop that was asked for may take to happen. Time in which e is stopped counts as
/// well, so e waits no longer once it goes on.
const STOP: Duration = Duration::from_secs(1);

/// Stops e's job. Returns when it goes on.
pub fn suspend() -> io::Result<()> {
    // The signal may reach another thread first, and this one runs on for a moment. It must not
    // take the terminal again in it, so it waits for the signal that ends the stop.
    let (goes_on, writer) = UnixStream::pair()?;
    let handler = pipe::register(libc::SIGCONT, writer)?;
    // SAFETY: kill takes two numbers; 0 means the caller's own group.
    let result = match unsafe { libc::kill(0, libc::SIGSTOP) } {
        0 => wait_readable(goes_on.as_raw_fd(), Some(STOP)).map(|_| ()),
        _ => Err(io::Error::last_os_error()),
    };
    unregister(handler);
    result
}

/// Takes over SIGWINCH, SIGTSTP, SIGCONT and SIGQUIT for the rest of the process. While the receiver is
/// behind, repetitions of one signal become one message.
pub fn watch() -> io::Result<Receiver<JobSignal>> {
    let (sender, receiver) = bounded(1);
    let mut signals = vec![
        (libc::SIGWINCH, JobSignal::Resized),
        (libc::SIGCONT, JobSignal::Continued),
        (libc::SIGQUIT, JobSignal::Quit),
    ];
    if !is_ignored(libc::SIGTSTP)? {
        signals.push((libc::SIGTSTP, JobSignal::Stop));
    }
    listen("terminal signals", signals, move |signal| {
        sender.send(signal).is_ok()
    })?;
    Ok(receiver)
}

fn believed(columns: u16, rows: u16) -> (u16, u16) {
    match (columns, rows) {
        (0, _) | (_, 0) => (80, 24),
        (columns, rows) => (columns.min(MAX_SIZE.0), rows.min(MAX_SIZE.1)),
    }
}

fn modes(fd: BorrowedFd<'_>) -> io::Result<libc::termios> {
    let mut modes = std::mem::MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: tcgetattr fills `modes`, for which zeroes are a valid value as well.
    unsafe {
        match libc::tcgetattr(fd.as_raw_fd(), modes.as_mut_ptr()) {
            0 => Ok(modes.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn name(fd: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;

    let mut name = [0_u8; 256];
    let pointer = name.as_mut_ptr().cast();
    // SAFETY: ttyname_r writes at most as many bytes as the array has.
    match unsafe { libc::ttyname_r(fd.as_raw_fd(), pointer, name.len()) } {
        0 => {}
        code => return Err(io::Error::from_raw_os_error(code)),
    }
    let name = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
    Ok(std::ffi::OsStr::from_bytes(name.to_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_believed_within_reason() {
        let cases = [
            ((120, 40), (120, 40)),
            ((0, 40), (80, 24)),
            ((120, 0), (80, 24)),
            ((65_535, 65_535), MAX_SIZE),
            ((1, 9_999), (1, 500)),
        ];
        for ((columns, rows), expected) in cases {
            assert_eq!(believed(columns, rows), expected);
        }
    }
}
