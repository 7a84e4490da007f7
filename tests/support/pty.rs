//! A pseudo terminal with an emulator behind it, and what runs on it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::screen::Screen;

/// How long anything on the screen may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Both ends, and what the terminal shows.
pub struct Pty {
    master: File,
    slave: Option<OwnedFd>,
    pub screen: Screen,
    /// Every byte that came, for messages about what did not.
    pub bytes: Vec<u8>,
    pub child: Option<Child>,
}

impl Pty {
    /// A terminal of that size, on which nothing runs.
    pub fn open(columns: u16, rows: u16) -> Self {
        let (mut master, mut slave) = (0, 0);
        let size = winsize(columns, rows);
        let none = std::ptr::null_mut();
        // SAFETY: openpty writes two descriptors, which are owned by the values made of them.
        let (master, slave) = unsafe {
            let result = libc::openpty(&mut master, &mut slave, none, none.cast(), &size);
            assert_eq!(result, 0, "openpty: {}", io::Error::last_os_error());
            for fd in [master, slave] {
                libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
            (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
        };
        Self {
            master,
            slave: Some(slave),
            screen: Screen::new(columns, rows),
            bytes: Vec::new(),
            child: None,
        }
    }

    /// Starts a program with this terminal as its own, in a session of its own.
    pub fn start(&mut self, mut command: Command) {
        let slave = self.slave.take().expect("a fresh terminal");
        let stdio = || slave.try_clone().expect("a copy of the terminal");
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        // SAFETY: setsid and ioctl may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        self.child = Some(command.spawn().expect("the program starts"));
    }

    /// The end that programs have.
    pub fn slave(&self) -> &OwnedFd {
        self.slave.as_ref().expect("no program was started")
    }

    /// The path of the end that programs have.
    pub fn name(&self) -> String {
        let mut name = [0; 64];
        // SAFETY: ptsname_r writes up to 64 bytes with a zero at the end.
        let result = unsafe { libc::ptsname_r(self.master.as_raw_fd(), name.as_mut_ptr(), 64) };
        assert_eq!(result, 0, "ptsname_r: {}", io::Error::last_os_error());
        // SAFETY: the call above ended the text with a zero.
        let name = unsafe { std::ffi::CStr::from_ptr(name.as_ptr()) };
        name.to_string_lossy().into_owned()
    }

    /// The modes of the line, as numbers that can be compared.
    pub fn line_modes(&self) -> [u64; 4] {
        let mut modes = std::mem::MaybeUninit::<libc::termios>::zeroed();
        // SAFETY: tcgetattr fills the value, for which zeroes are valid as well.
        let modes = unsafe {
            libc::tcgetattr(self.master.as_raw_fd(), modes.as_mut_ptr());
            modes.assume_init()
        };
        [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag].map(u64::from)
    }

    /// Types bytes.
    pub fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("typed");
    }

    /// Another size, which the program hears of by SIGWINCH.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let size = winsize(columns, rows);
        self.screen.resize(columns, rows);
        // SAFETY: TIOCSWINSZ reads one winsize.
        unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &size) };
    }

    /// Shows what the program writes until the text of the screen has `wanted`.
    pub fn wait_for(&mut self, wanted: &str) {
        self.wait(wanted, |screen| screen.text().contains(wanted));
    }

    /// Shows what the program writes until the screen is as asked. Answers to the terminal's
    /// questions are typed.
    pub fn wait(&mut self, what: &str, is_there: impl Fn(&Screen) -> bool) {
        assert!(
            self.reaches(is_there),
            "waited for {what:?}\n--- screen\n{}\n--- bytes\n{}",
            self.screen.text(),
            self.bytes.escape_ascii()
        );
    }

    /// The same, and whether it came in time. A frame counts when it is complete.
    pub fn reaches(&mut self, is_there: impl Fn(&Screen) -> bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while self.screen.seen().is_updating || !is_there(&self.screen) {
            if !self.read_until(deadline) {
                return false;
            }
        }
        true
    }

    /// Shows what comes until nothing has come for that long: for proofs that nothing comes.
    pub fn quiet(&mut self, silence: Duration) {
        while self.read_until(Instant::now() + silence) {}
    }

    /// Scrollback and screen once nothing more comes: the newest rows of very many are seen before
    /// all rows above them are there.
    pub fn everything(&mut self) -> Vec<String> {
        self.quiet(Duration::from_millis(100));
        self.screen.everything()
    }

    /// The terminal goes away, as when its window is closed.
    pub fn close(&mut self) {
        self.master = File::open("/dev/null").expect("the null device");
    }

    /// Shows all that is there already.
    pub fn settle(&mut self) {
        while self.read_until(Instant::now()) {}
    }

    /// Waits until the program has stopped itself.
    pub fn wait_stopped(&mut self) {
        let pid = self.pid();
        let mut status = 0;
        // SAFETY: waitpid writes one number. A stop is reported once and reaps nothing.
        let stopped = unsafe { libc::waitpid(pid, &mut status, libc::WUNTRACED) };
        assert!(stopped == pid && libc::WIFSTOPPED(status), "{status}");
    }

    /// Sends the program a signal.
    pub fn signal(&mut self, signal: i32) {
        // SAFETY: kill takes two numbers.
        unsafe { libc::kill(self.pid(), signal) };
    }

    /// The program's process id.
    pub fn pid(&self) -> i32 {
        let child = self.child.as_ref().expect("a program was started");
        child.id().try_into().expect("a process id")
    }

    /// Shows what the program writes until it ends.
    pub fn wait_exit(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        while self.read_until(deadline) {}
        let child = self.child.as_mut().expect("a program was started");
        child.wait().expect("the program can be waited for")
    }

    /// Reads once; `false` at the deadline and when no program has the terminal any more.
    fn read_until(&mut self, deadline: Instant) -> bool {
        let mut entry = libc::pollfd {
            fd: self.master.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let rest = deadline.saturating_duration_since(Instant::now());
        let rest = rest.as_millis().try_into().unwrap_or(i32::MAX);
        // SAFETY: poll gets one entry, which it may write to.
        if unsafe { libc::poll(&mut entry, 1, rest) } <= 0 {
            return false;
        }
        let mut buffer = [0; 65536];
        let Ok(count @ 1..) = self.master.read(&mut buffer) else {
            return false;
        };
        self.bytes.extend_from_slice(&buffer[..count]);
        let replies = self.screen.feed(&buffer[..count]);
        self.master.write_all(&replies).expect("answered");
        true
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended, which is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn winsize(columns: u16, rows: u16) -> libc::winsize {
    libc::winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
