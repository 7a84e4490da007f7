//! A program that has the terminal while it runs, such as the person's editor.
//!
//! It is a process group of its own in the foreground of the terminal, so ctrl+c reaches it alone.
//! It belongs to the person and not to e: it carries no mark, and nothing ends it but
//! [`Foreground::end`].

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crossbeam_channel::Receiver;

use super::{launch, table};
use crate::error::Result;
use crate::sys::Env;

/// The terminal, as the standard input that e shares with the program.
const TERMINAL: libc::c_int = 0;

/// What to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// A path, or a name to be looked up in the `PATH` of `env`.
    pub program: PathBuf,
    /// Arguments after the program's name.
    pub args: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Env,
}

/// A program in the foreground. Whoever waits for it takes the terminal back afterwards.
#[derive(Debug)]
pub struct Foreground {
    pub(super) pid: u32,
    pub(super) stops: Receiver<()>,
    pub(super) exit: Receiver<ExitStatus>,
}

/// Starts a program on the terminal of the standard streams.
pub fn run_foreground(program: Program) -> Result<Foreground> {
    table::run_foreground(program)
}

impl Foreground {
    /// Gets one message when the program has ended.
    pub fn exit(&self) -> &Receiver<ExitStatus> {
        &self.exit
    }

    /// Gets a message when the program was stopped, as ctrl+z does. It goes on by `resume`.
    pub fn stops(&self) -> &Receiver<()> {
        &self.stops
    }

    /// Makes this process the one that has the terminal, unless somebody else has it by now.
    pub fn take_terminal(&self) {
        // SAFETY: these calls only take and return numbers.
        unsafe {
            if libc::tcgetpgrp(TERMINAL) == self.group() {
                with_sigttou_blocked(|| libc::tcsetpgrp(TERMINAL, libc::getpgrp()));
            }
        }
    }

    /// Gives the terminal to the program again and lets it go on. In the background this stops
    /// the whole process until it is in the foreground.
    pub fn resume(&self) {
        // SAFETY: tcsetpgrp takes two numbers. Where it fails there is no job control.
        unsafe { libc::tcsetpgrp(TERMINAL, self.group()) };
        table::signal_foreground(self.pid, libc::SIGCONT);
    }

    /// Asks the program to end. Does not wait.
    pub fn end(&self) {
        table::signal_foreground(self.pid, libc::SIGTERM);
    }

    fn group(&self) -> libc::pid_t {
        self.pid.try_into().unwrap_or(libc::pid_t::MAX)
    }
}

/// Starts the program; gives its process id.
pub(super) fn launch(program: &Program) -> Result<u32> {
    let mut command = Command::new(&program.program);
    command
        .args(&program.args)
        .current_dir(&program.cwd)
        .env_clear()
        .envs(program.env.iter());
    // SAFETY: the closure runs between fork and exec and makes async-signal-safe calls only.
    unsafe { command.pre_exec(take_foreground) };
    // SAFETY: these calls take and return numbers.
    let had_terminal = unsafe { libc::tcgetpgrp(TERMINAL) == libc::getpgrp() };
    match command.spawn() {
        // Dropping the standard library's handle neither kills nor reaps.
        Ok(child) => Ok(child.id()),
        Err(error) => {
            // It took the terminal before it turned out that there is no such program.
            if had_terminal {
                // SAFETY: as above.
                unsafe {
                    with_sigttou_blocked(|| libc::tcsetpgrp(TERMINAL, libc::getpgrp()));
                }
            }
            Err(launch::explain(&program.program, &program.cwd, &error))
        }
    }
}

/// Runs in the child: becomes the group that has the terminal, where there is job control.
fn take_foreground() -> io::Result<()> {
    // SAFETY: these calls only take and return numbers. Their failures leave the program where it
    // is, which is good enough for it to run.
    unsafe {
        libc::setpgid(0, 0);
        with_sigttou_blocked(|| libc::tcsetpgrp(TERMINAL, libc::getpid()));
    }
    launch::shed_inheritance();
    Ok(())
}

/// A process in the background that changes who has the terminal is stopped, unless it blocks the
/// signal for that.
///
/// # Safety
///
/// `work` may only do what is allowed between fork and exec.
unsafe fn with_sigttou_blocked<T>(work: impl FnOnce() -> T) -> T {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset and the first pthread_sigmask initialise what the later calls read.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTTOU);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
        let result = work();
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        result
    }
}
