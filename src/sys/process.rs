//! Child processes that cannot outlive their owner.
//!
//! Every child leads a session and process group of its own, carries its owner's mark in its
//! environment, and is forked and reaped by one thread (see [`table`]). Whatever way it ends,
//! what is left of its group is ended too: SIGTERM, a grace, SIGKILL. What left the group lives
//! until [`end_owned`] or [`end_all`], or until this process is gone (see [`guard`]).

mod foreground;
mod guard;
mod launch;
mod strays;
mod table;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Receiver;

use crate::error::Result;
use crate::sys::Env;

pub use foreground::{Foreground, Program, run_foreground};
pub use launch::can_enter;
pub use table::GRACE;

/// Who a process belongs to, such as a session: the mark by which its strays are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner(Arc<str>);

impl Owner {
    /// A new owner that no process belongs to yet.
    #[expect(clippy::new_without_default, reason = "every owner is another one")]
    pub fn new() -> Self {
        Self(uuid::Uuid::new_v4().to_string().into())
    }
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// A path, or a name to be looked up in the `PATH` of `env`.
    pub program: PathBuf,
    /// Arguments after the program's name.
    pub args: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment. The owner's mark is added.
    pub env: Env,
    /// What the child reads.
    pub stdin: Stdin,
    /// Who it belongs to.
    pub owner: Owner,
}

/// The standard input of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// A pipe.
    Pipe,
}

/// A started child with e's ends of its pipes.
#[derive(Debug)]
pub struct Child {
    /// The handle by which it is stopped and waited for.
    pub process: Process,
    /// The writing end of its input, with [`Stdin::Pipe`].
    pub stdin: Option<File>,
    /// The reading end of its standard output.
    pub stdout: File,
    /// The reading end of its standard error.
    pub stderr: File,
}

/// A running process group. Dropping the handle stops it.
#[derive(Debug)]
pub struct Process {
    id: u64,
    pid: u32,
    exit: Receiver<Exit>,
}

/// How a process group ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The status of the process that was started. `None` when the kernel did not let go of it
    /// in time, as with a process that is stuck in a device.
    pub status: Option<ExitStatus>,
    /// Processes that it left running in its group and that were stopped then.
    pub stopped: usize,
}

impl Process {
    /// The process id. It may belong to somebody else once the exit was reported.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Gets one message when the process and its group are gone: at the latest [`GRACE`] and a
    /// fraction of a second after the process ended by itself or was told to stop.
    pub fn exit(&self) -> &Receiver<Exit> {
        &self.exit
    }

    /// Sends SIGTERM to the group now and SIGKILL after `grace`. Does not wait. A second call
    /// sends nothing and can only shorten the grace.
    pub fn stop(&self, grace: Duration) {
        table::stop(self.id, grace);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop(GRACE);
    }
}

/// Starts a child. The error tells apart a missing program, a missing directory and a directory
/// that may not be entered.
pub fn spawn(spawn: Spawn) -> Result<Child> {
    table::spawn(spawn)
}

/// How many processes of an owner left their groups and live on.
pub fn strays(owner: &Owner) -> usize {
    let groups = table::groups();
    let found = match strays::may_exist(&groups) {
        true => strays::find(&owner.0, &groups),
        false => return 0,
    };
    // A group that was started during the search is not made of strays.
    let groups = table::groups();
    found
        .into_iter()
        .filter(|pid| strays::is_outside(*pid, &groups))
        .count()
}

/// Ends all that belongs to an owner, strays too, and waits for it: at most `grace` plus a
/// fraction of a second. Gives the number of strays that it found.
pub fn end_owned(owner: &Owner, grace: Duration) -> usize {
    table::sweep(Some(owner.clone()), grace)
}

/// Ends every process that this one started, strays too, like [`end_owned`]. For the end of e:
/// nothing can be started from now on.
pub fn end_all(grace: Duration) -> usize {
    table::sweep(None, grace)
}
