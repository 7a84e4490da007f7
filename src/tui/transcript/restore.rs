//! The transcript of a session that was loaded.

use std::sync::Arc;

use serde_json::Value;

use super::details::Detail;
use super::group::State;
use super::{Transcript, clean};
use crate::chat::{Format, Message, Voice};
use crate::session::PastFailure;
use crate::tools::Label;

impl Transcript {
    /// Adds what a history shows: visible prompts, replies, calls with their results. `failures` are
    /// how turns ended that failed, each with the number of messages before it, in order. `label` tells how a call shows, as
    /// `tools::label` does for built-in tools.
    pub fn restore(
        &mut self,
        messages: &[Arc<Message>],
        failures: &[(usize, PastFailure)],
        label: impl Fn(&str, Option<&Value>) -> Label,
    ) {
        // What was shown once is not rendered again.
        let holds = std::mem::take(&mut self.holds_replies);
        // Ids of the provider; numbers of our own stand for them in the open group.
        let mut ids: Vec<(&str, u64)> = Vec::new();
        let mut next = 0;
        let mut failures = failures.iter().peekable();
        for (before, message) in messages.iter().enumerate() {
            while let Some((_, failure)) = failures.next_if(|(at, _)| *at <= before) {
                self.restore_failure(failure);
            }
            match &**message {
                Message::User {
                    content,
                    images,
                    voice: Voice::Prompt | Voice::Steered,
                } => match crate::agent::shell_parts(content) {
                    Some((command, output)) => {
                        self.start_shell(command);
                        self.end_shell(Some(output));
                    }
                    None => self.push_user(content, images.len()),
                },
                Message::Assistant {
                    content,
                    tool_calls,
                } => {
                    // Calls of earlier batches that have no result will get none.
                    self.settle_calls(State::Unreported);
                    if !content.trim().is_empty() {
                        self.say(content);
                    }
                    ids.clear();
                    let calls = tool_calls.iter().map(|call| {
                        next += 1;
                        ids.push((&call.id, next));
                        let arguments: Option<Value> = serde_json::from_str(&call.arguments).ok();
                        (
                            next,
                            call.name.clone(),
                            label(&call.name, arguments.as_ref()),
                        )
                    });
                    let calls: Vec<_> = calls.collect();
                    if !calls.is_empty() {
                        self.add_calls(calls);
                    }
                }
                Message::Tool {
                    call_id,
                    content,
                    outcome,
                    summary,
                } => {
                    let call = ids.iter().position(|(id, _)| id == call_id);
                    if let Some(at) = call {
                        let (_, id) = ids.remove(at);
                        let detail = Detail {
                            text: clean(content).into(),
                            format: Format::Text,
                        };
                        self.end_call(id, *outcome, summary, detail);
                    }
                }
                Message::User { .. } | Message::Reasoning { .. } | Message::System { .. } => {}
            }
        }
        self.settle_all(State::Unreported);
        failures.for_each(|(_, failure)| self.restore_failure(failure));
        self.holds_replies = holds;
    }

    /// A turn ended with this.
    fn restore_failure(&mut self, failure: &PastFailure) {
        self.settle_all(State::Unreported);
        match failure.is_stop {
            true => self.push_system(&failure.message),
            false => self.push_error(&failure.message),
        }
    }
}
