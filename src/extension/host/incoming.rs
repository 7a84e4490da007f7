//! What comes from the threads of the extensions, and where it belongs.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::ending::exit_text;
use super::{Asked, Failure, Host, HostEvent, Kind, Open};
use crate::extension::child::{Leaving, MAX_OPEN, Pending, Purpose, State};
use crate::extension::process::{BATCH, Diagnostics, FromChild, News};
use crate::extension::request::Request;
use crate::extension::wire::{self, Asking, Message};
use crate::extension::{AskId, ExtensionId, fields, manifest};
use crate::sys::lock;
use crate::text::sanitize;

/// How long an extension that is leaving is waited for, to read what it wrote last and to learn how
/// it ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long an extension that floods waits for the next batch: what it costs the others is bounded by
/// this, not by how fast it writes.
const PACE: Duration = Duration::from_millis(1);

/// Longest request that is kept until the manifest is there, in bytes.
const EARLY: usize = 256 << 10;

/// Longest question, in bytes.
const QUESTION: usize = 1 << 20;

/// Longest notice of an extension, in bytes.
const NOTICE: usize = 4096;

impl Host {
    /// Takes what a thread of an extension read.
    pub fn on_news(&mut self, from: FromChild, now: Instant) {
        let FromChild { child: id, news } = from;
        let Some(child) = self.children.get_mut(id.0) else {
            return;
        };
        match news {
            News::Messages(messages) => {
                // A full batch that nobody waits for is a flood, or the beginning of one.
                let floods = messages.len() == BATCH && !messages.iter().any(Message::is_awaited);
                for message in messages {
                    self.on_message(id, message, now);
                }
                self.children[id.0].owe_credit(floods.then_some(now + PACE));
            }
            News::Diagnostics(waiting) => {
                let Diagnostics { lines, lost } = std::mem::take(&mut *lock(&waiting));
                let more = match lost {
                    0 => None,
                    1 => Some("… and 1 more line".to_owned()),
                    _ => Some(format!("… and {lost} more lines")),
                };
                let file = child.file.clone();
                for line in lines.into_iter().chain(more) {
                    let line = sanitize(&line);
                    let text = line.trim_start_matches([' ', '\t']);
                    let blanks = &line[..line.len() - text.len()];
                    let line = format!("{blanks}{}", fields::line(text, usize::MAX));
                    let extension = file.clone();
                    self.chat(HostEvent::Diagnostic { extension, line });
                }
            }
            News::Closed(Some(why)) => self.retire(id, &format!("was stopped: {why}"), now),
            News::Closed(None) => self.leaves(id, |leaving| leaving.mute = true, now),
            News::Deaf => self.leaves(id, |_| {}, now),
            News::Exited(exit, _) => {
                self.leaves(id, |leaving| leaving.dead = Some(exit_text(exit)), now);
            }
        }
    }

    /// A sign that an extension is leaving. It has left when its process is gone and its output is
    /// read, or when one of these does not become known in time.
    fn leaves(&mut self, id: ExtensionId, sign: impl FnOnce(&mut Leaving), now: Instant) {
        let child = &mut self.children[id.0];
        if child.state == State::Gone {
            return;
        }
        let leaving = child.leaving.get_or_insert(Leaving {
            mute: false,
            dead: None,
            by: now + LAST_WORDS,
        });
        sign(leaving);
        if leaving.mute && leaving.dead.is_some() {
            let how = leaving.how();
            self.retire(id, &how, now);
        }
    }

    fn on_message(&mut self, id: ExtensionId, message: Message, now: Instant) {
        let child = &mut self.children[id.0];
        if child.state == State::Gone {
            return;
        }
        match message {
            Message::Response {
                id: request,
                result,
            } => self.on_response(id, request, result, now),
            Message::Update {
                id: call,
                stream,
                chunk,
            } => {
                if let Some(Pending {
                    purpose: Purpose::Tool(ticket),
                    ..
                }) = child.pending(call)
                {
                    self.out.push_back(HostEvent::Update(ticket, stream, chunk));
                }
            }
            Message::Notify(text) => {
                let text = fields::block(&text, NOTICE).trim_end().to_owned();
                let extension = child.name().to_owned();
                if !text.is_empty() {
                    self.chat(HostEvent::Said { extension, text });
                }
            }
            Message::Request(asking) => match child.state {
                State::Starting if child.early.len() < MAX_OPEN && asking.size <= EARLY => {
                    child.early.push(*asking);
                }
                _ => self.on_request(id, *asking, now),
            },
            Message::NotUtf8 => {
                let text = format!(
                    "extension {}: a line that is not UTF-8 was skipped",
                    child.file
                );
                self.chat(HostEvent::Notice(text));
            }
            Message::Noise(text) => {
                // Once: the usual case is a greeting, and the next is a program that logs there.
                // What looks like a message is for `e ext check` to judge.
                let is_text = !text.is_empty() && !text.starts_with('{');
                if is_text && !std::mem::replace(&mut child.strayed, true) {
                    let text = format!(
                        "extension {}: what it prints is no message and was skipped: {text}",
                        child.file
                    );
                    self.chat(HostEvent::Stray(text));
                }
            }
        }
    }

    fn on_response(
        &mut self,
        id: ExtensionId,
        request: u64,
        result: Result<Value, String>,
        now: Instant,
    ) {
        let child = &mut self.children[id.0];
        // Late, doubled and invented answers end here.
        let Some(pending) = child.settle(request) else {
            return;
        };
        match pending.purpose {
            Purpose::Initialize => self.initialized(id, result, now),
            Purpose::Hook(ticket) => {
                self.hook_answered(id, ticket, result, now);
                self.ask_next(id.0, now);
            }
            Purpose::Tool(ticket) | Purpose::Call(ticket) => {
                let result = result.map_err(|error| Failure::Error(fields::block(&error, NOTICE)));
                self.out.push_back(HostEvent::Answered(ticket, result));
            }
        }
    }

    fn initialized(&mut self, id: ExtensionId, result: Result<Value, String>, now: Instant) {
        let parsed = result
            .map_err(|error| format!("it refused to start: {}", fields::line(&error, 200)))
            .and_then(|manifest| manifest::parse(&manifest));
        let child = &mut self.children[id.0];
        match parsed {
            Ok((manifest, problems)) => {
                child.manifest = Some(manifest);
                child.state = State::Running;
                let early = std::mem::take(&mut child.early);
                let file = child.file.clone();
                for problem in problems {
                    self.notice(format!("extension {file}: {problem}"));
                }
                for asking in early {
                    self.on_request(id, asking, now);
                }
            }
            Err(problem) => self.skip(id, &problem),
        }
    }

    fn on_request(&mut self, from: ExtensionId, asking: Asking, now: Instant) {
        let child = &mut self.children[from.0];
        let Asking {
            id,
            method,
            params,
            size,
            request,
        } = asking;
        let served = self.serves.includes(&method);
        let kind = match &request {
            Ok(request) if request.is_question() => Kind::Question,
            Ok(request) if request.is_redraw() => Kind::Redraw,
            Ok(_) | Err(_) => Kind::Other,
        };
        let open = match kind {
            // A flood of these waits for itself, so that the newest is never the one refused.
            Kind::Redraw => 0,
            Kind::Question | Kind::Other => child.open,
        };
        let request = match () {
            () if open + child.early.len() >= MAX_OPEN => Err(format!(
                "{MAX_OPEN} of your requests are unanswered; wait for an answer"
            )),
            () if !served => Err("no ui".into()),
            () if child.state == State::Starting => {
                Err("this is too long before the manifest; send it again after it".into())
            }
            // What waits for a person is kept meanwhile.
            () if kind == Kind::Question && size > QUESTION => {
                Err("a question may have 1 MiB".into())
            }
            () => request,
        };
        match request {
            Err(error) => {
                if !child.post(&wire::response(&id, &Err(error)), now) {
                    self.give_up(from, now);
                }
            }
            Ok(request) => {
                match kind {
                    Kind::Redraw => child.redraw_opened(),
                    Kind::Question | Kind::Other => child.open += 1,
                }
                if kind == Kind::Question {
                    child.question_opened(now);
                }
                let extension = child.name().to_owned();
                self.last_ask += 1;
                let ask = AskId(self.last_ask);
                let cancelled = match &request {
                    Request::Ui(ui) => ui.cancelled(),
                    Request::Session(_) => Value::Null,
                };
                let open = Open {
                    from,
                    id,
                    kind,
                    cancelled,
                };
                self.open.insert(ask, open);
                self.out.push_back(HostEvent::Asked(Asked {
                    ask,
                    from,
                    extension,
                    method,
                    params,
                    request,
                }));
            }
        }
    }
}
