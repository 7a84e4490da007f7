//! Commands that go on while the conversation does.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crossbeam_channel::{after, select};
use uuid::Uuid;

use super::output::Capture;
use super::pump::Pump;
use super::{Shell, stopped_row, verdict, with_rows};
use crate::chat::{Keep, Outcome, ToolResult};
use crate::error::io_text;
use crate::sys::process::{self, Child, Exit, GRACE, Owner, Process};
use crate::sys::{CancelToken, lock};
use crate::text::one_line;

/// Most commands of one session that run at the same time.
const MAX_RUNNING: usize = 128;
/// Most ended commands of one session that can still be asked about.
const MAX_ENDED: usize = 64;
/// Output kept of each, and how much is dropped at once: 32 KiB are always there.
const RETAINED: usize = 64 << 10;
const SLAB: usize = 32 << 10;
/// How long `kill` waits for the end.
const KILL_LIMIT: Duration = Duration::from_secs(1);

/// The processes of one session. They end with it.
#[derive(Debug)]
pub struct Processes {
    owner: Owner,
    commands: Mutex<Vec<Command>>,
}

/// A background command that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// What the model calls it.
    pub handle: String,
    /// The process id of its shell.
    pub pid: u32,
    /// The command line.
    pub command: String,
}

#[derive(Debug)]
struct Command {
    handle: Uuid,
    text: String,
    process: Process,
    output: Arc<Mutex<Capture>>,
    /// Gone when the command has ended.
    pump: Option<Pump>,
    exit: Option<Exit>,
    killed: bool,
}

impl Processes {
    /// A session without processes. All that it will start belongs to `owner`.
    pub fn new(owner: Owner) -> Self {
        Self {
            owner,
            commands: Mutex::default(),
        }
    }

    /// Whose processes these are.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The commands that have not ended, the oldest first. Waits for nothing.
    pub fn running(&self) -> Vec<Running> {
        let has_ended =
            |command: &Command| command.exit.is_some() || !command.process.exit().is_empty();
        let commands = lock(&self.commands);
        let running = commands.iter().filter(|command| !has_ended(command));
        running.map(Command::describe).collect()
    }

    /// Ends all commands and all processes they left behind, and waits for that: about half a
    /// second at most. The session can go on afterwards.
    pub fn end(&self) {
        process::end_owned(&self.owner, GRACE);
        drop(self.settled());
    }

    pub(super) fn start(&self, shell: &Shell, text: &str) -> ToolResult {
        // Held until the end, so that two calls cannot both take the last place. Nothing in here
        // waits for the command.
        let mut commands = self.settled();
        if commands
            .iter()
            .filter(|command| command.exit.is_none())
            .count()
            >= MAX_RUNNING
        {
            return ToolResult::failed(format!(
                "{MAX_RUNNING} background commands are running; end one with its `handle` and \
                 `signal`: `kill`"
            ));
        }
        let Child {
            process,
            stdout,
            stderr,
            ..
        } = match shell.start(text, &self.owner) {
            Ok(child) => child,
            Err(error) => return ToolResult::failed(error.to_string()),
        };
        let output = Arc::new(Mutex::new(Capture::new(RETAINED, SLAB)));
        let target = output.clone();
        let pump = Pump::start(stdout, stderr, move |stream, bytes| {
            lock(&target).push(stream, bytes);
            true
        });
        let pump = match pump {
            Ok(pump) => pump,
            Err(error) => {
                let reason = io_text(&error);
                return ToolResult::failed(format!("the output cannot be read: {reason}"));
            }
        };
        let (handle, pid) = (Uuid::new_v4(), process.pid());
        commands.push(Command {
            handle,
            text: text.into(),
            process,
            output,
            pump: Some(pump),
            exit: None,
            killed: false,
        });
        let content =
            format!("started in the background\nhandle: {handle}\npid: {pid}\ncommand: {text}");
        ToolResult::completed(content, format!("background {handle}"))
    }

    pub(super) fn query(&self, handle: &str) -> ToolResult {
        let commands = self.settled();
        match find(&commands, handle) {
            Ok(index) => commands[index].report(),
            Err(error) => ToolResult::failed(error),
        }
    }

    pub(super) fn kill(&self, handle: &str, cancel: &CancelToken) -> ToolResult {
        let exit = {
            let mut commands = self.settled();
            let command = match find(&commands, handle) {
                Ok(index) => &mut commands[index],
                Err(error) => return ToolResult::failed(error),
            };
            if command.exit.is_some() {
                return command.report();
            }
            command.killed = true;
            command.process.stop(GRACE);
            command.process.exit().clone()
        };
        // Not under the lock: others may ask meanwhile. One of them may take the message, which
        // ends this wait as well.
        let exit = select! {
            recv(exit) -> exit => exit.ok(),
            recv(cancel.closed()) -> _ => None,
            recv(after(KILL_LIMIT)) -> _ => None,
        };
        let mut commands = lock(&self.commands);
        match find(&commands, handle) {
            Ok(index) => {
                commands[index].ended(exit);
                commands[index].report()
            }
            Err(error) => ToolResult::failed(error),
        }
    }

    /// The commands, after a look which of them have ended.
    fn settled(&self) -> MutexGuard<'_, Vec<Command>> {
        let mut commands = lock(&self.commands);
        for command in commands.iter_mut() {
            let exit = command.process.exit().try_recv().ok();
            command.ended(exit);
        }
        let ended = commands
            .iter()
            .filter(|command| command.exit.is_some())
            .count();
        let mut surplus = ended.saturating_sub(MAX_ENDED);
        commands.retain(|command| {
            let dropped = surplus > 0 && command.exit.is_some();
            surplus -= usize::from(dropped);
            !dropped
        });
        commands
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end();
    }
}

impl Command {
    /// Takes note of the end, if this is it, and of the last output.
    fn ended(&mut self, exit: Option<Exit>) {
        if exit.is_some() {
            self.exit = exit;
            if let Some(pump) = self.pump.take() {
                pump.finish();
            }
        }
    }

    fn describe(&self) -> Running {
        Running {
            handle: self.handle.to_string(),
            pid: self.process.pid(),
            command: self.text.clone(),
        }
    }

    fn report(&self) -> ToolResult {
        let pid = self.process.pid();
        let (outcome, summary, row) = match &self.exit {
            None if self.killed => (
                Outcome::Cancelled,
                "killed".into(),
                format!("killed, but pid {pid} has not ended yet"),
            ),
            None => (
                Outcome::Completed,
                "running".into(),
                format!("running with pid {pid}"),
            ),
            Some(_) if self.killed => (Outcome::Cancelled, "killed".into(), "killed".into()),
            Some(exit) => {
                let (outcome, summary, row) = verdict(exit);
                (
                    outcome,
                    summary,
                    row.unwrap_or_else(|| "exit status 0".into()),
                )
            }
        };
        let stopped = self.exit.as_ref().and_then(stopped_row);
        let output = lock(&self.output);
        ToolResult {
            content: with_rows(output.text(), std::iter::once(row).chain(stopped)),
            outcome,
            summary,
            display: None,
            keep: Keep::Tail,
            lost: output.lost(),
        }
    }
}

/// The place of a command, or what to tell the model.
fn find(commands: &[Command], handle: &str) -> Result<usize, String> {
    let wanted = Uuid::parse_str(handle.trim()).ok();
    let found = commands
        .iter()
        .position(|command| Some(command.handle) == wanted);
    found.ok_or_else(|| {
        let known: Vec<String> = commands
            .iter()
            .map(|command| format!("`{}`", command.handle))
            .collect();
        let handle = one_line(handle, Some(100));
        match known.len() {
            0 => format!("there is no background command `{handle}`, and no other"),
            _ => format!(
                "there is no background command `{handle}`; known are {}",
                known.join(", ")
            ),
        }
    })
}
