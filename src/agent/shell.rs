//! A command that the person runs between turns. What it wrote joins the history, unless
//! the person wants it for themselves.
//!
//! It runs like a call of `bash` without a time limit, and the session takes no prompt meanwhile.

use super::action::{Action, SessionEvent};
use super::event::{Answer, RequestId, TurnEvent, Want};
use super::session::Session;
use crate::chat::{Keep, Message, ToolResult};

/// Why a request is refused while a command runs.
pub(super) const RUNS: &str = "a command is running - stop it or wait for its end";

/// How the message about a command begins, and what stands before its output.
const HEAD: &str = "The user ran this command in a shell:\n\n$ ";
const BETWEEN: &str = "\n\nIt wrote:\n\n";

/// A command that runs.
#[derive(Debug)]
pub(super) struct Shell {
    request: RequestId,
    /// Its number among the tool calls of the session.
    id: u64,
    command: String,
    /// The model is not told of it.
    aside: bool,
    /// Who is told when it has ended.
    interrupters: Vec<RequestId>,
}

impl Session {
    pub(super) fn start_shell(&mut self, request: RequestId, command: String, aside: bool) {
        let id = self.conversation.call_id();
        self.conversation
            .push(Action::RunShell(id, command.clone()));
        self.shell = Some(Shell {
            request,
            id,
            command,
            aside,
            interrupters: Vec::new(),
        });
    }

    /// Takes what concerns the running command; everything else comes back.
    pub(super) fn step_shell(&mut self, event: SessionEvent) -> Option<SessionEvent> {
        let Some(shell) = &mut self.shell else {
            return Some(event);
        };
        match event {
            SessionEvent::ToolOutput(id, stream, chunk) if id == shell.id => {
                let event = TurnEvent::ToolOutput { id, stream, chunk };
                self.conversation
                    .push(Action::Emit(Some(shell.request), event));
            }
            SessionEvent::ToolDone(id, result) if id == shell.id => self.shell_done(result),
            SessionEvent::Stop => self.conversation.push(Action::CancelTool(shell.id)),
            SessionEvent::Want(request, Want::Interrupt) => {
                shell.interrupters.push(request);
                self.conversation.push(Action::CancelTool(shell.id));
            }
            SessionEvent::Want(
                request,
                Want::Prompt(..)
                | Want::Compact { .. }
                | Want::Rewind(..)
                | Want::Undo
                | Want::Shell { .. },
            ) => {
                let answer = Answer::Refused(RUNS.into());
                self.conversation.answer(request, answer);
            }
            event => return Some(event),
        }
        None
    }

    fn shell_done(&mut self, result: ToolResult) {
        let Some(shell) = self.shell.take() else {
            return;
        };
        let conversation = &mut self.conversation;
        if !shell.aside {
            let results = &conversation.spec.runtime.results;
            let may_read_more = conversation.permits("read_result").is_ok();
            let output = result.content.clone();
            let output = results.fit(output, Keep::Tail, result.lost, may_read_more);
            let message = Message::user(message(&shell.command, &output));
            conversation.commit(message, None);
        }
        let answer = Answer::Shell(Box::new(result));
        conversation.answer(shell.request, answer);
        conversation.stopped(shell.interrupters);
    }
}

/// What the model reads about a command.
fn message(command: &str, output: &str) -> String {
    let output = match output.trim().is_empty() {
        true => "(nothing)",
        false => output,
    };
    format!("{HEAD}{command}{BETWEEN}{output}")
}

/// The command and the output of a message about a command.
pub fn shell_parts(content: &str) -> Option<(&str, &str)> {
    content.strip_prefix(HEAD)?.split_once(BETWEEN)
}
