//! A command that the call waits for.

use std::time::Duration;

use crossbeam_channel::{after, bounded, never, select_biased};

use super::output::Capture;
use super::pump::Pump;
use super::{Shell, stopped_row, verdict, with_rows};
use crate::chat::{Keep, Outcome, Output, ToolResult};
use crate::error::io_text;
use crate::sys::CancelToken;
use crate::sys::process::{self, Child, Exit, GRACE, Owner};
use crate::text::sanitize;

/// Most bytes of output that are kept of one command, and how much is dropped at once.
const RETAINED: usize = 4 << 20;
const SLAB: usize = 512 << 10;

/// Chunks between reader and waiter. When they are full the command waits.
const QUEUE: usize = 8;

/// How long the end of a stopped group is waited for. It is reported earlier than that unless
/// the system itself is stuck.
const END_LIMIT: Duration = Duration::from_secs(2);

/// Why a command was stopped.
#[derive(Clone, Copy)]
enum Stop {
    TimedOut,
    Cancelled,
}

/// Runs a command to its end, its time limit or the end of the turn.
pub fn run(
    owner: &Owner,
    shell: &Shell,
    command: &str,
    timeout: Duration,
    cancel: &CancelToken,
    output: &(dyn Fn(Output, &str) + Sync),
) -> ToolResult {
    let child = match shell.start(command, owner) {
        Ok(child) => child,
        Err(error) => return ToolResult::failed(error.to_string()),
    };
    let Child {
        process,
        stdout,
        stderr,
        ..
    } = child;
    let (sender, chunks) = bounded(QUEUE);
    let sink = move |stream, bytes: &[u8]| sender.send((stream, bytes.to_vec())).is_ok();
    let pump = match Pump::start(stdout, stderr, sink) {
        Ok(pump) => pump,
        Err(error) => {
            let reason = io_text(&error);
            return ToolResult::failed(format!("the output cannot be read: {reason}"));
        }
    };

    let mut capture = Capture::new(RETAINED, SLAB);
    let mut take = |(stream, bytes): (Output, Vec<u8>)| {
        let text = sanitize(&capture.push(stream, &bytes));
        if !text.is_empty() {
            output(stream, &text);
        }
    };
    let mut stop = None;
    let mut cancelled = cancel.closed().clone();
    let mut deadline = after(timeout);
    let mut more = chunks.clone();
    let exit = loop {
        let reason = select_biased! {
            recv(cancelled) -> _ => Stop::Cancelled,
            recv(process.exit()) -> exit => break exit.ok(),
            recv(deadline) -> _ => match stop {
                None => Stop::TimedOut,
                Some(_) => break None,
            },
            recv(more) -> chunk => {
                match chunk {
                    Ok(chunk) => take(chunk),
                    Err(_) => more = never(),
                }
                continue;
            }
        };
        process.stop(GRACE);
        stop = Some(reason);
        cancelled = never();
        deadline = after(END_LIMIT);
    };
    // The group is gone and has written all it could. A stray may hold the pipes; what it writes
    // from now on is not waited for.
    drop(pump);
    chunks.iter().for_each(take);
    let exit = exit.unwrap_or(Exit {
        status: None,
        stopped: 0,
    });
    conclude(&capture, stop, &exit, timeout, process::strays(owner))
}

fn conclude(
    capture: &Capture,
    stop: Option<Stop>,
    exit: &Exit,
    timeout: Duration,
    strays: usize,
) -> ToolResult {
    let seconds = timeout.as_secs();
    let (outcome, summary, row) = match stop {
        None => verdict(exit),
        Some(Stop::TimedOut) => (
            Outcome::TimedOut,
            format!("timeout {seconds}s"),
            Some(format!(
                "killed by timeout after {seconds} s; give a longer `timeout` (up to 600) or use \
                 `background`"
            )),
        ),
        Some(Stop::Cancelled) => (
            Outcome::Cancelled,
            "cancelled".into(),
            Some("cancelled; the command was stopped".into()),
        ),
    };
    let strays = match strays {
        0 => None,
        1 => Some("1 process left the command and lives on until the session ends".into()),
        many => Some(format!(
            "{many} processes left their commands and live on until the session ends"
        )),
    };
    ToolResult {
        content: with_rows(
            capture.text(),
            [row, stopped_row(exit), strays].into_iter().flatten(),
        ),
        outcome,
        summary,
        display: None,
        keep: Keep::Tail,
        lost: capture.lost(),
    }
}
