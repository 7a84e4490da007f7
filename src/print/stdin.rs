//! Standard input of `e -p`: the prompt, or context for it.
//!
//! Nobody may be kept waiting by a pipe that its owner forgot to close, and no slow pipeline may
//! lose its input. So e looks who can still write to the pipe: when only its own ancestors can,
//! it goes on without after a while; when another process can, it waits and says so.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, bounded, never, select};

use super::output::say;
use crate::error::{Error, Result};
use crate::sys::poll::{self, FdKind, Readable, Writers};
use crate::sys::signal::Signal;

const STDIN: i32 = 0;
/// How long a pipe may stay silent before e says something or goes on without it.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is known about standard input before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    kind: FdKind,
}

/// What to say to the model.
#[derive(Debug)]
pub enum Prompt {
    /// The text.
    Text(String),
    /// Something came first that ends the run.
    Stopped(Stopped),
}

/// What ended the wait for standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A signal.
    Signal(Signal),
    /// The run's time was over.
    TimeLimit,
}

impl Input {
    /// Looks at the descriptor without reading.
    pub fn look() -> Self {
        Self {
            kind: poll::fd_kind(STDIN),
        }
    }

    /// Whether there can be text: not from a terminal, a closed descriptor or the null device.
    pub fn may_hold_text(self) -> bool {
        match self.kind {
            FdKind::Closed | FdKind::Null | FdKind::Terminal => false,
            FdKind::Pipe | FdKind::Socket | FdKind::File | FdKind::Other => true,
        }
    }
}

/// Joins the argument and what standard input holds, which may be awaited until `deadline`.
pub fn prompt(
    argument: String,
    input: Input,
    signals: &Receiver<Signal>,
    deadline: Option<Instant>,
) -> Result<Prompt> {
    if !input.may_hold_text() {
        return Ok(Prompt::Text(argument));
    }
    let has_argument = !argument.trim().is_empty();
    let (done, read) = bounded(1);
    // Reading blocks, so it has a thread, which is left behind when a signal ends the wait.
    std::thread::Builder::new()
        .name("e-stdin".into())
        .spawn(move || {
            let _ = done.send(read_input(input.kind, has_argument));
        })?;
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
    let timeout = left.map_or_else(never, after);
    let bytes = select! {
        recv(read) -> bytes => bytes.unwrap_or_else(|_| Ok(Vec::new()))?,
        recv(signals) -> signal => match signal {
            Ok(signal) => return Ok(Prompt::Stopped(Stopped::Signal(signal))),
            Err(_) => Vec::new(),
        },
        recv(timeout) -> _ => return Ok(Prompt::Stopped(Stopped::TimeLimit)),
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Error::usage(format!("standard input is not UTF-8 at byte {offset}"))
            .remedy("convert it first")
    })?;
    let text = match (has_argument, text.trim().is_empty()) {
        (false, _) => text,
        (true, true) => argument,
        (true, false) => format!("{argument}\n\n{text}"),
    };
    Ok(Prompt::Text(text))
}

/// Reads to the end, or nothing when there will be nothing.
fn read_input(kind: FdKind, has_argument: bool) -> Result<Vec<u8>> {
    if matches!(kind, FdKind::Pipe | FdKind::Socket) && !first_byte_comes(kind, has_argument)? {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Error::from(error).context("standard input"))?;
    Ok(bytes)
}

/// Waits for the first byte or the end, as long as somebody may still send one.
fn first_byte_comes(kind: FdKind, has_argument: bool) -> Result<bool> {
    let waited = poll::wait_readable(STDIN, Some(PATIENCE))?;
    if waited != Readable::TimedOut {
        return Ok(true);
    }
    let forgotten = kind == FdKind::Socket
        || matches!(
            poll::pipe_writers(STDIN),
            Writers::None | Writers::OnlyAncestors
        );
    if forgotten {
        let rest = if has_argument {
            " and goes on with the argument"
        } else {
            ""
        };
        say(&format!(
            "warning: standard input stayed silent, e stops waiting for it{rest}"
        ));
        return Ok(false);
    }
    say("waiting for standard input (close it or end it with ctrl+d)");
    poll::wait_readable(STDIN, None)?;
    Ok(true)
}
