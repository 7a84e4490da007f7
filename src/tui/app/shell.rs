//! `!command` and `!!command`: commands of the person's between turns, one at a time.

use std::time::Instant;

use super::session::Asked;
use super::submit::Line;
use super::turn::Phase;
use super::{App, Turn};
use crate::agent::{RequestId, TurnEvent, Want};
use crate::chat::ToolResult;

impl App {
    /// Whether a turn or a command runs.
    pub(super) fn is_busy(&self) -> bool {
        let busy = |session: &super::Session| session.turn.is_some() || session.shell.is_some();
        self.session.as_ref().is_some_and(busy)
    }

    /// The request that runs a command.
    pub(super) fn shell_request(&self) -> Option<RequestId> {
        let shell = self.session.as_ref()?.shell.as_ref()?;
        Some(shell.request)
    }

    /// A command for the shell; the model is not told of one that is an aside. While something runs
    /// it waits.
    pub(super) fn shell(&mut self, command: &str, aside: bool, now: Instant) {
        if command.is_empty() {
            return self.tell("put a command behind the `!`, as in `!git status`");
        }
        let mark = if aside { "!!" } else { "!" };
        let line = Line::of(format!("{mark}{command}"));
        if self.is_busy() {
            return self.queue.later(line);
        }
        let request = self.send(Want::Shell {
            command: command.to_owned(),
            aside,
        });
        let Some(session) = &mut self.session else {
            return;
        };
        session.asked = Some(Asked { request, line });
        session.shell = Some(Turn {
            phase: Phase::Command,
            ..Turn::new(request, now)
        });
        self.transcript.start_shell(command);
    }

    /// An event of the running command; false when it is none.
    pub(super) fn shell_event(&mut self, request: Option<RequestId>, event: &TurnEvent) -> bool {
        match event {
            TurnEvent::ToolOutput { chunk, .. }
                if request.is_some() && self.shell_request() == request =>
            {
                self.transcript.push_shell_output(chunk);
                true
            }
            _ => false,
        }
    }

    pub(super) fn shell_done(&mut self, result: &ToolResult, now: Instant) {
        if let Some(session) = &mut self.session {
            session.shell = None;
            session.asked = None;
        }
        self.transcript.end_shell(Some(&result.content));
        self.next_line(now);
    }

    /// Carries out what waited until nothing runs.
    pub(super) fn next_line(&mut self, now: Instant) {
        while !self.is_busy() {
            let Some(line) = self.next_later() else {
                break;
            };
            self.run(line, now);
        }
    }
}
