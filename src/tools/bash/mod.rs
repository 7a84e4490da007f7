//! The `bash` tool: commands in the foreground and in the background.
//!
//! A call takes as long as its command and not as long as somebody holds the command's pipes:
//! the end of the process decides. `sys::process` makes sure that what a command leaves behind
//! ends with the call, or with the session when it left the command's group.

mod background;
mod foreground;
mod output;
mod pump;
mod shell;
#[cfg(test)]
mod tests;

use std::time::Duration;

use super::args::{Args, Parameter};
use super::{Call, Runtime};
use crate::chat::{Outcome, Output, ToolResult};
use crate::sys::CancelToken;
use crate::sys::process::Exit;

pub use background::{Processes, Running};
pub use shell::Shell;

/// Time limit of a foreground command, in seconds, when the call gives none.
const DEFAULT_TIMEOUT: u64 = 120;
/// The largest time limit, in seconds.
const MAX_TIMEOUT: u64 = 600;

/// What a call may say.
pub const PARAMETERS: &[Parameter] = &[
    Parameter::optional(
        "command",
        "string",
        "The shell command to run. Needed unless `handle` is given.",
    ),
    Parameter::optional(
        "timeout",
        "integer",
        "Seconds after which the command is stopped, 1 to 600, 120 when not given.",
    ),
    Parameter::optional(
        "background",
        "boolean",
        "Start the command, do not wait for it, and return a handle.",
    ),
    Parameter::optional(
        "handle",
        "string",
        "A handle of a background command: return its state and its output so far.",
    ),
    Parameter::optional(
        "signal",
        "string",
        "With `handle`, the word `kill` ends the command.",
    ),
];

/// Runs a call.
pub fn run(runtime: &Runtime, call: &Call<'_>) -> Result<ToolResult, ToolResult> {
    let Runtime {
        processes, shell, ..
    } = runtime;
    let request = parse(call.arguments)?;
    Ok(execute(processes, shell, request, call.cancel, call.output))
}

/// Runs a command of the person's, for as long as it takes.
pub fn run_shell(
    runtime: &Runtime,
    command: &str,
    cancel: &CancelToken,
    output: &(dyn Fn(Output, &str) + Sync),
) -> ToolResult {
    let request = Request::Run {
        command: command.into(),
        timeout: Duration::MAX,
    };
    execute(&runtime.processes, &runtime.shell, request, cancel, output)
}

/// What a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Request {
    /// Run a command and wait for it.
    Run {
        /// The command line.
        command: String,
        /// When to stop it.
        timeout: Duration,
    },
    /// Start a command in the background.
    Start {
        /// The command line.
        command: String,
    },
    /// Report on a background command.
    Query {
        /// The handle as the model wrote it.
        handle: String,
    },
    /// End a background command.
    Kill {
        /// The handle as the model wrote it.
        handle: String,
    },
}

/// Reads the arguments of a call. Empty strings count as not given, because some models fill in
/// every parameter.
fn parse(arguments: &str) -> Result<Request, String> {
    let args = Args::parse(arguments, PARAMETERS)?;
    let text = |name| {
        args.string(name)
            .map(|value| value.filter(|value| !value.trim().is_empty()))
    };
    let timeout = args
        .integer("timeout")?
        .unwrap_or(DEFAULT_TIMEOUT)
        .clamp(1, MAX_TIMEOUT);
    let background = args.boolean("background")?;
    match (text("command")?, text("handle")?, text("signal")?) {
        (Some(command), None, None) if background => Ok(Request::Start {
            command: command.into(),
        }),
        (Some(command), None, None) => Ok(Request::Run {
            command: command.into(),
            timeout: Duration::from_secs(timeout),
        }),
        (None, Some(handle), None) => Ok(Request::Query {
            handle: handle.into(),
        }),
        (None, Some(handle), Some("kill")) => Ok(Request::Kill {
            handle: handle.into(),
        }),
        (None, Some(_), Some(_)) => Err("the only `signal` is `kill`".into()),
        (Some(_), Some(_), _) => Err("give `command` or `handle`, not both".into()),
        (_, None, Some(_)) => Err("`signal` needs the `handle` of a background command".into()),
        (None, None, None) => Err("`command` is missing".into()),
    }
}

/// Carries a request out on the calling thread. Live output goes to `output`; the result holds
/// all that was retained, the newest last.
fn execute(
    processes: &Processes,
    shell: &Shell,
    request: Request,
    cancel: &CancelToken,
    output: &(dyn Fn(Output, &str) + Sync),
) -> ToolResult {
    match request {
        Request::Run { command, timeout } => {
            foreground::run(processes.owner(), shell, &command, timeout, cancel, output)
        }
        Request::Start { command } => processes.start(shell, &command),
        Request::Query { handle } => processes.query(&handle),
        Request::Kill { handle } => processes.kill(&handle, cancel),
    }
}

/// Outcome, summary and row of a process that nobody stopped.
fn verdict(exit: &Exit) -> (Outcome, String, Option<String>) {
    use std::os::unix::process::ExitStatusExt;

    let status = exit.status;
    match (
        status.and_then(|status| status.code()),
        status.and_then(|status| status.signal()),
    ) {
        (Some(0), _) => (Outcome::Completed, "done".into(), None),
        (Some(code), _) => (
            Outcome::Failed,
            format!("exit {code}"),
            Some(format!("exit status {code}")),
        ),
        (None, Some(signal)) => (
            Outcome::Failed,
            "exit -1".into(),
            Some(format!("killed by signal {signal}")),
        ),
        (None, None) => (
            Outcome::Failed,
            "exit -1".into(),
            Some("the exit status is not known".into()),
        ),
    }
}

/// The row about what the command left running in its group.
fn stopped_row(exit: &Exit) -> Option<String> {
    let count = match exit.stopped {
        0 => return None,
        1 => "1 process".to_owned(),
        many => format!("{many} processes"),
    };
    Some(format!(
        "{count} that the command left running was stopped; use `background` for what has to go on"
    ))
}

/// Puts rows of e's own below a command's output.
fn with_rows(mut content: String, rows: impl IntoIterator<Item = String>) -> String {
    for row in rows {
        if !content.is_empty() {
            content.push('\n');
        }
        content.push_str(&format!("[{row}]"));
    }
    content
}
