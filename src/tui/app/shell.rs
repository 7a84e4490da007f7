//! `!command`: commands of the person's between turns, one at a time.

use std::time::Instant;

use super::queue::Line;
use super::session::Asked;
use super::{App, Effect};
use crate::agent::{Input, RequestId, TurnEvent};
use crate::chat::ToolResult;

impl App {
    /// Whether a turn or a command runs.
    pub(super) fn is_busy(&self) -> bool {
        let busy = |session: &super::Session| session.turn.is_some() || session.shell.is_some();
        self.session.as_ref().is_some_and(busy)
    }

    /// A command for the shell. While something runs it waits.
    pub(super) fn shell(&mut self, command: &str) -> Vec<Effect> {
        if command.is_empty() {
            self.transcript
                .push_notice("put a command behind the `!`, as in `!git status`");
            return Vec::new();
        }
        let line = Line {
            text: format!("!{command}"),
            images: Vec::new(),
            is_prompt: false,
        };
        if self.is_busy() {
            self.queue.later(line);
            return Vec::new();
        }
        let request = self.next_request();
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        session.shell = Some(request);
        session.asked = Some(Asked { request, line });
        self.transcript.start_shell(command);
        vec![Effect::Send(Input::Shell {
            session: session.key,
            request,
            command: command.to_owned(),
        })]
    }

    /// An event of the running command; false when it is none.
    pub(super) fn shell_event(&mut self, request: Option<RequestId>, event: &TurnEvent) -> bool {
        let shell = self.session.as_ref().and_then(|session| session.shell);
        match event {
            TurnEvent::ToolOutput { chunk, .. } if shell.is_some() && shell == request => {
                self.transcript.push_shell_output(chunk);
                true
            }
            _ => false,
        }
    }

    /// The command has ended.
    pub(super) fn shell_done(&mut self, result: &ToolResult, now: Instant) -> Vec<Effect> {
        if let Some(session) = &mut self.session {
            session.shell = None;
            session.asked = None;
        }
        self.transcript.end_shell(Some(&result.content));
        self.next_line(now)
    }

    /// Carries out what waited until nothing runs.
    pub(super) fn next_line(&mut self, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        while !self.is_busy() {
            let Some(line) = self.next_later() else {
                break;
            };
            effects.extend(match line.is_prompt {
                true => self.prompt(line.text, line.images, now),
                false => self.run_line(line.text, line.images, now),
            });
        }
        effects
    }
}
