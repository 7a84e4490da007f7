//! Waiting on file descriptors, and what is known about their other ends.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::{Duration, Instant};

use super::procfs;

/// What a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FdKind {
    /// Not open.
    Closed,
    /// `/dev/null`.
    Null,
    /// A terminal.
    Terminal,
    /// A pipe or FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// A regular file.
    File,
    /// A directory or another device.
    Other,
}

/// Who, besides this process, can write to a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// Nobody: what is in the pipe is all there will be.
    None,
    /// Only processes that this one descends from, who may have left it open by accident.
    OnlyAncestors,
    /// A process that is no ancestor, as in a pipeline.
    Others,
    /// It is no pipe, or the system does not tell.
    Unknown,
}

/// How a wait for input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable {
    /// There are bytes, or the end of a file.
    Ready,
    /// The other end is closed and nothing is left to read.
    Hangup,
    /// The time is over.
    TimedOut,
}

/// What the descriptor is.
pub fn fd_kind(fd: RawFd) -> FdKind {
    // SAFETY: isatty looks at the number only and copes with one that is not open.
    if unsafe { libc::isatty(fd) } == 1 {
        return FdKind::Terminal;
    }
    // SAFETY: fcntl with F_DUPFD_CLOEXEC copes with any number and gives a fresh descriptor.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return FdKind::Closed;
    }
    // SAFETY: `copy` was made above and nobody else owns it.
    let file = unsafe { <File as std::os::fd::FromRawFd>::from_raw_fd(copy) };
    let Ok(metadata) = file.metadata() else {
        return FdKind::Other;
    };
    let kind = metadata.file_type();
    let null = || std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == metadata.rdev());
    match () {
        () if kind.is_fifo() => FdKind::Pipe,
        () if kind.is_socket() => FdKind::Socket,
        () if kind.is_file() => FdKind::File,
        () if kind.is_char_device() && null() => FdKind::Null,
        () => FdKind::Other,
    }
}

/// Waits, without a deadline, until nobody can read any more what is written to this pipe or
/// socket. `false`, at once, for every other kind of descriptor.
pub fn wait_hangup(fd: RawFd) -> bool {
    if !matches!(fd_kind(fd), FdKind::Pipe | FdKind::Socket) {
        return false;
    }
    // No events are asked for: errors and hang-ups are reported in any case.
    matches!(poll(&mut [entry(fd, 0)], None), Ok(true))
}

/// Waits until the descriptor can be read without blocking.
pub fn wait_readable(fd: RawFd, timeout: Option<Duration>) -> io::Result<Readable> {
    let mut entries = [entry(fd, libc::POLLIN)];
    if !poll(&mut entries, timeout)? {
        return Ok(Readable::TimedOut);
    }
    let [entry] = entries;
    match entry.revents {
        events if events & libc::POLLNVAL != 0 => Err(io::Error::from_raw_os_error(libc::EBADF)),
        events if events & libc::POLLIN != 0 => Ok(Readable::Ready),
        _ => Ok(Readable::Hangup),
    }
}

/// Waits until at least one of the descriptors can be read or has lost its other end, and tells
/// which. An absent one is never ready.
pub fn wait_any<const N: usize>(fds: [Option<BorrowedFd<'_>>; N]) -> io::Result<[bool; N]> {
    wait_any_for(fds, None)
}

/// The same with a time limit, after which none is ready.
pub fn wait_any_for<const N: usize>(
    fds: [Option<BorrowedFd<'_>>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    // The system skips negative numbers.
    let mut entries = fds.map(|fd| entry(fd.map_or(-1, |fd| fd.as_raw_fd()), libc::POLLIN));
    poll(&mut entries, timeout)?;
    Ok(entries.map(|entry| entry.revents != 0))
}

/// Waits until the descriptor takes bytes or fails. `TimedOut` when the time is over before,
/// `Interrupted` when `stop` can be read.
pub fn wait_writable(
    fd: BorrowedFd<'_>,
    stop: Option<BorrowedFd<'_>>,
    timeout: Option<Duration>,
) -> io::Result<()> {
    let stop = stop.map_or(-1, |stop| stop.as_raw_fd());
    let mut entries = [
        entry(fd.as_raw_fd(), libc::POLLOUT),
        entry(stop, libc::POLLIN),
    ];
    if !poll(&mut entries, timeout)? {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match entries[1].revents {
        0 => Ok(()),
        _ => Err(io::ErrorKind::Interrupted.into()),
    }
}

/// How many bytes can be read right now.
pub fn pending(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int to the place it is given.
    match unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &mut count) } {
        0 => Ok(usize::try_from(count).unwrap_or_default()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Who else holds the writing end of the pipe that `fd` reads from.
pub fn pipe_writers(fd: RawFd) -> Writers {
    let own = std::process::id();
    let Ok(pipe) = std::fs::metadata(format!("/proc/{own}/fd/{fd}")) else {
        return Writers::Unknown;
    };
    if !pipe.file_type().is_fifo() {
        return Writers::Unknown;
    }
    let parent = |pid: &u32| procfs::stat(*pid).map(|stat| stat.parent);
    let ancestors: HashSet<u32> = std::iter::successors(parent(&own), parent).collect();
    let mut found = Writers::None;
    for pid in procfs::pids().filter(|pid| *pid != own && writes_to(*pid, &pipe)) {
        if !ancestors.contains(&pid) {
            return Writers::Others;
        }
        found = Writers::OnlyAncestors;
    }
    // A pipe without writers is hung up. Otherwise one is hidden from this user.
    let mut entries = [entry(fd, 0)];
    if found == Writers::None && !matches!(poll(&mut entries, Some(Duration::ZERO)), Ok(true)) {
        return Writers::Unknown;
    }
    found
}

/// Whether a process has this pipe open for writing.
fn writes_to(pid: u32, pipe: &std::fs::Metadata) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    open.flatten().any(|entry| {
        let same = std::fs::metadata(entry.path())
            .is_ok_and(|other| (other.dev(), other.ino()) == (pipe.dev(), pipe.ino()));
        same && procfs::is_open_for_writing(pid, &entry.file_name())
    })
}

fn entry(fd: RawFd, events: libc::c_short) -> libc::pollfd {
    libc::pollfd {
        fd,
        events,
        revents: 0,
    }
}

/// Calls poll until something happened (`true`) or the time is over, however often a signal
/// gets in between.
fn poll(entries: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<bool> {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        // Rounded up, so that a rest below a millisecond does not spin.
        let wait = deadline.map_or(-1, |deadline| {
            let rest = deadline.saturating_duration_since(Instant::now());
            rest.as_nanos()
                .div_ceil(1_000_000)
                .try_into()
                .unwrap_or(libc::c_int::MAX)
        });
        let count = entries.len() as libc::nfds_t;
        // SAFETY: the pointer and the count describe the slice, which poll may write to.
        match unsafe { libc::poll(entries.as_mut_ptr(), count, wait) } {
            -1 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
            0 if deadline.is_some_and(|deadline| Instant::now() < deadline) => {}
            ready => return Ok(ready > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn kinds_are_told_apart() -> io::Result<()> {
        let (socket, _peer) = UnixStream::pair()?;
        let (pipe, _writer) = pipe()?;
        let file = tempfile::tempfile()?;
        let directory = File::open("/")?;
        let null = File::open("/dev/null")?;
        let zero = File::open("/dev/zero")?;
        for (fd, expected) in [
            (socket.as_raw_fd(), FdKind::Socket),
            (pipe.as_raw_fd(), FdKind::Pipe),
            (file.as_raw_fd(), FdKind::File),
            (directory.as_raw_fd(), FdKind::Other),
            (null.as_raw_fd(), FdKind::Null),
            (zero.as_raw_fd(), FdKind::Other),
            (-1, FdKind::Closed),
            (1 << 20, FdKind::Closed),
        ] {
            assert_eq!(fd_kind(fd), expected, "{fd}");
        }
        Ok(())
    }

    #[test]
    fn a_closed_reader_is_noticed() -> io::Result<()> {
        let (reader, writer) = pipe()?;
        let waiter = std::thread::spawn(move || wait_hangup(writer.as_raw_fd()));
        drop(reader);
        assert!(waiter.join().expect("the waiter returns"));
        assert!(!wait_hangup(tempfile::tempfile()?.as_raw_fd()));
        assert!(!wait_hangup(-1));
        Ok(())
    }

    #[test]
    fn input_hangup_and_timeout() -> io::Result<()> {
        let (mut reader, mut writer) = pipe()?;
        let fd = reader.as_raw_fd();
        let brief = Some(Duration::from_millis(1));
        assert_eq!(wait_readable(fd, brief)?, Readable::TimedOut);
        assert_eq!(wait_any_for([Some(reader.as_fd())], brief)?, [false]);
        writer.write_all(b"abc")?;
        assert_eq!(wait_readable(fd, None)?, Readable::Ready);
        assert_eq!(pending(reader.as_fd())?, 3);
        assert_eq!(wait_any([None, Some(reader.as_fd())])?, [false, true]);
        drop(writer);
        assert_eq!(wait_readable(fd, None)?, Readable::Ready);
        reader.read_exact(&mut [0; 3])?;
        assert_eq!(wait_readable(fd, None)?, Readable::Hangup);
        assert_eq!(pipe_writers(fd), Writers::None);
        assert!(wait_readable(1 << 20, None).is_err());
        Ok(())
    }

    #[test]
    fn writers_of_other_kinds_are_unknown() -> io::Result<()> {
        let (reader, _writer) = pipe()?;
        // Only this process writes, which does not count and is not "nobody" either.
        assert_eq!(pipe_writers(reader.as_raw_fd()), Writers::Unknown);
        assert_eq!(
            pipe_writers(tempfile::tempfile()?.as_raw_fd()),
            Writers::Unknown
        );
        assert_eq!(pipe_writers(-1), Writers::Unknown);
        Ok(())
    }

    /// A pipe that children do not inherit.
    fn pipe() -> io::Result<(File, File)> {
        use std::os::fd::FromRawFd;
        let mut ends = [0; 2];
        // SAFETY: pipe2 writes two descriptors, which are owned by the files from here on.
        unsafe {
            if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])))
        }
    }
}
