//! Fork and exec, and why they failed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Spawn, Stdin, strays};
use crate::error::{Error, Result, io_text};

/// A child as the fork left it.
pub struct Launched {
    pub pid: u32,
    pub stdin: Option<File>,
    pub stdout: File,
    pub stderr: File,
}

/// Starts a child as the leader of a session of its own. Must be called on a thread that lives
/// as long as the process: the parent-death signal is sent when the forking *thread* ends.
pub fn launch(spawn: &Spawn) -> Result<Launched> {
    let mut command = Command::new(&spawn.program);
    command
        .args(&spawn.args)
        .current_dir(&spawn.cwd)
        .env_clear()
        .envs(spawn.env.iter())
        .env(strays::VARIABLE, strays::mark(&spawn.env, &spawn.owner.0))
        .stdin(match spawn.stdin {
            Stdin::Null => Stdio::null(),
            Stdin::Pipe => Stdio::piped(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let parent = std::process::id();
    // SAFETY: the closure runs between fork and exec and makes async-signal-safe calls only.
    // The standard library has reset SIGPIPE and the signal mask by then.
    unsafe { command.pre_exec(move || detach(parent)) };

    let started = command.spawn();
    let mut child = started.map_err(|error| explain(&spawn.program, &spawn.cwd, &error))?;
    // Dropping the standard library's handle neither kills nor reaps.
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Error::failed("the pipes of the child are missing"));
    };
    Ok(Launched {
        pid: child.id(),
        stdin: child.stdin.take().map(|stdin| OwnedFd::from(stdin).into()),
        stdout: OwnedFd::from(stdout).into(),
        stderr: OwnedFd::from(stderr).into(),
    })
}

/// Runs in the child: leaves e's session and terminal, dies with e, and inherits no descriptor
/// that somebody handed to e (a lock held through one would outlast its holder).
fn detach(parent: u32) -> io::Result<()> {
    // SAFETY: setsid takes nothing and changes this process only.
    if unsafe { libc::setsid() } < 0 {
        return Err(io::Error::last_os_error());
    }
    #[cfg(target_os = "linux")]
    // SAFETY: all of these take numbers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The parent may have died before it was asked for.
        if libc::getppid() as u32 != parent {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    shed_inheritance();
    Ok(())
}

/// Runs in a child: signals are as e found them, and descriptors that somebody handed to e stay
/// behind.
pub fn shed_inheritance() {
    // SAFETY: see `signal::ignore_file_size_limit`.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
    #[cfg(target_os = "linux")]
    // SAFETY: it takes numbers. Kernels before 5.11 refuse it, which is fine.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}

/// Says what stood in the way. The system gives one and the same error for a missing program and
/// a missing directory, so the directory is looked at again.
pub fn explain(program: &Path, directory: &Path, error: &io::Error) -> Error {
    if let Err(error) = can_enter(directory) {
        return error;
    }
    let is_there = program.is_file();
    let program = program.display();
    match error.kind() {
        io::ErrorKind::NotFound if is_there => Error::failed(format!(
            "the interpreter that the first line of `{program}` names was not found"
        )),
        io::ErrorKind::NotFound => Error::failed(format!("the program `{program}` was not found")),
        io::ErrorKind::ArgumentListTooLong => Error::failed(format!(
            "the arguments of `{program}` are longer than the system allows"
        ))
        .remedy("put the text into a file"),
        _ => Error::failed(format!("`{program}` cannot be started: {}", io_text(error))),
    }
}

/// Whether a program could be started in this directory, and if not, why.
pub fn can_enter(directory: &Path) -> Result<()> {
    let cwd = directory.display();
    enter(directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error::failed(format!("the working directory `{cwd}` does not exist"))
                .remedy("create it again")
        }
        _ => Error::failed(format!(
            "the working directory `{cwd}` cannot be entered: {}",
            io_text(&error)
        )),
    })
}

fn enter(directory: &Path) -> io::Result<()> {
    if !fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let path = std::ffi::CString::new(OsString::from(directory).as_bytes())?;
    // SAFETY: `path` ends with a zero byte.
    match unsafe { libc::access(path.as_ptr(), libc::X_OK) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
