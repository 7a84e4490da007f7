//! `e rpc`: many sessions over standard input and output, one JSON object a line.
//!
//! `lines` and `writer` are the two threads at the pipes, `wire` and `methods` turn lines into
//! typed calls, `server` owns the state and the one loop. The loop never waits for the client:
//! while nobody reads, the core is slowed, requests are still taken and act.

mod answers;
mod asks;
mod jobs;
mod lines;
mod methods;
mod oneshot;
mod params;
mod server;
mod sessions;
mod wire;
mod writer;

pub use methods::METHODS;

use std::io::{self, Write};
use std::path::PathBuf;

use crate::agent::{Limits, Process, Toolset};
use crate::extension::Host;

/// What the command line allows every session of the process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RpcOptions {
    /// The model of sessions that name none.
    pub model: Option<String>,
    /// The effort level of sessions that name none.
    pub effort: Option<String>,
    /// No session offers or runs tools.
    pub no_tools: bool,
    /// No session writes a log.
    pub no_save: bool,
    /// What each turn may use up, at most.
    pub limits: Limits,
}

impl RpcOptions {
    /// The tools that the process allows.
    fn tools(&self) -> Toolset {
        match self.no_tools {
            true => Toolset::none(),
            false => Toolset::all(),
        }
    }
}

/// Serves until the client is done and returns the exit status.
pub fn run(options: RpcOptions, process: Process, cwd: PathBuf, extensions: Host) -> u8 {
    match server::Server::start(options, process, cwd, extensions) {
        Ok(server) => server.run(),
        Err(error) => {
            // Nobody is told when this fails: there is nowhere left to say it.
            let _ = writeln!(io::stderr(), "error: {error}");
            error.status()
        }
    }
}
