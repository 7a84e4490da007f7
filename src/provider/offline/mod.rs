//! The provider without a network: a demonstration, an echo, and a script player.
//!
//! It goes through the same seam as the others, so that what is tried on it, tested with it or
//! recorded for it behaves like the real thing.

mod demo;
mod script;

use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;

use super::lane::interrupted;
use super::{Failure, Finish, Lane, Message, Request, Sink, StreamEvent, Usage, route};
use crate::chat::Voice;

pub(super) use script::{Script, record};

/// The ids of its models.
pub(super) const MODELS: [&str; 3] = ["demo", "echo", "script"];
/// The name of the provider.
pub(super) const PROVIDER: &str = "offline";
/// Time between two pieces of a streamed text.
const PACE: Duration = Duration::from_millis(12);

/// Plays one request.
pub(super) fn stream(lane: &Lane, request: &Request, sink: &mut dyn Sink) -> Result<(), Failure> {
    let player = Player { lane };
    match request.model.id.as_str() {
        "demo" => demo::play(&player, request, sink),
        "echo" => player.echo(request, sink),
        "script" => script::play(&player, request, sink),
        id => Err(route::unusable(format!(
            "there is no model `offline/{id}` - use demo, echo or script"
        ))),
    }
}

/// What the three have in common.
struct Player<'a> {
    lane: &'a Lane,
}

impl Player<'_> {
    fn open(&self, sink: &mut dyn Sink) {
        sink.push(StreamEvent::Opened {
            status: 200,
            request_id: None,
        });
    }

    /// Waits, unless the turn is interrupted meanwhile or nobody listens.
    fn wait(&self, time: Duration, sink: &mut dyn Sink) -> Result<(), Failure> {
        if !sink.flush() {
            return Err(interrupted());
        }
        match self.lane.stopped().closed().recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(interrupted()),
        }
    }

    /// Streams a text word by word.
    fn say(&self, text: &str, pace: Duration, sink: &mut dyn Sink) -> Result<(), Failure> {
        for word in text.split_inclusive([' ', '\n']) {
            sink.text(word);
            if !pace.is_zero() {
                self.wait(pace, sink)?;
            }
        }
        Ok(())
    }

    /// Ends a reply, with counters that grow with the conversation.
    fn end(&self, request: &Request, reply: usize, finish: Finish, sink: &mut dyn Sink) {
        let size: usize = request.messages.iter().map(|message| size(message)).sum();
        let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
        let usage = Usage {
            input: tokens(request.system.len() + size),
            output: tokens(reply),
            ..Usage::default()
        };
        sink.push(StreamEvent::Usage(usage));
        sink.push(StreamEvent::Done {
            finish,
            malformed: 0,
        });
        sink.flush();
    }

    fn echo(&self, request: &Request, sink: &mut dyn Sink) -> Result<(), Failure> {
        let text = request
            .messages
            .iter()
            .rev()
            .find_map(|message| match &**message {
                Message::User {
                    content,
                    voice: Voice::Prompt,
                    ..
                } => Some(content.as_str()),
                _ => None,
            });
        let text = text.unwrap_or("");
        self.open(sink);
        self.say(text, Duration::ZERO, sink)?;
        self.end(request, text.len(), Finish::Normal, sink);
        Ok(())
    }
}

fn size(message: &Message) -> usize {
    match message {
        Message::User { content, .. }
        | Message::Tool { content, .. }
        | Message::Reasoning { content }
        | Message::System { content } => content.len(),
        Message::Assistant {
            content,
            tool_calls,
        } => {
            content.len()
                + tool_calls
                    .iter()
                    .map(|call| call.name.len() + call.arguments.len())
                    .sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests;
