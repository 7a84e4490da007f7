//! What the core says, as lines for the client.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::jobs::{Done, Size};
use super::server::{Open, Server};
use super::wire::Id;
use crate::agent::{
    Answer, Output, RequestId, Running, SessionInfo, SessionKey, TurnEvent, TurnResult,
};
use crate::error::{Error, Result};
use crate::session::{self, Entry};
use crate::text::json::write_value;
use crate::wire::{Place, Tag, result_object, write_event};

impl Server {
    /// Takes one thing that the core says.
    pub fn on_output(&mut self, output: Output) {
        match output {
            Output::Event {
                session,
                request,
                event,
            } => self.on_event(session, request, &event),
            Output::Answer { request, answer } => {
                if let Some(open) = self.requests.remove(&request) {
                    self.on_answer(open, answer);
                }
            }
            Output::Notice(text) => self.notice(text),
            Output::Diagnostic { extension, line } => {
                self.notice(format!("extension {extension}: {}", line.trim_start()));
            }
            Output::Said { extension: _, text } => self.said(text),
            Output::Asked(asked) => self.asked(*asked),
            Output::Withdrawn(ask) => self.withdrawn(ask),
            // Nothing of an extension stays on show here.
            Output::ExtensionGone(_) | Output::Held { .. } => {}
            Output::Ending(signal) => self.on_ending(signal),
        }
    }

    fn on_event(&mut self, session: SessionKey, request: Option<RequestId>, event: &TurnEvent) {
        let Some(request) = request else {
            // Sessions that the client does not know, those of one-shot lines, say nothing.
            if let Some(session) = self.sessions.get(&session) {
                let tag = Tag::of(&session.handle, RawValue::NULL);
                write_event(&mut self.out, event, &tag);
            }
            return;
        };
        if let Some(Open::Turn(id, _, tag)) = self.requests.get_mut(&request) {
            write_event(&mut self.out, event, tag);
            // Its turn has begun.
            self.waiting -= id.take_weight();
        }
    }

    fn on_answer(&mut self, open: Open, answer: Answer) {
        match (open, answer) {
            (Open::Turn(id, session, _), Answer::Turn(result)) => {
                self.answer_turn(id, session, &result);
            }
            (Open::OneShot(id, session), answer) => {
                match answer {
                    Answer::Turn(result) => self.respond(id, |out, id| {
                        let object = result_object(&result, Place::OneShot(id.raw()));
                        // Writing to memory does not fail.
                        let _ = write_value(out, &object);
                        out.push(b'\n');
                    }),
                    other => self.refuse(id, &refusal(other)),
                }
                self.end_one_shot(session);
            }
            (Open::OneShotEnd, _) => self.one_shot_ended(),
            (Open::Steer(id), Answer::Done) => self.answer(id, &json!({"held": true})),
            (Open::Interrupt(id, session), answer) => {
                match answer {
                    Answer::Stopped(left) if !left.is_empty() => {
                        self.answer(id, &still_running(&left));
                    }
                    Answer::Stopped(_) => self.answer(id, &json!({})),
                    other => self.refuse(id, &refusal(other)),
                }
                self.interrupted(session);
            }
            (Open::Set(id, session, selection), answer) => {
                match answer {
                    Answer::Done => {
                        let (model, effort) = (selection.model.slug(), selection.effort.clone());
                        if let Some(session) = self.sessions.get_mut(&session) {
                            session.selection = selection;
                        }
                        self.answer(id, &json!({"model": model, "effort": effort}));
                    }
                    other => self.refuse(id, &refusal(other)),
                }
                self.free(session);
            }
            (Open::Info(id, session), Answer::Info(info)) => self.answer_info(id, session, &info),
            (Open::Messages(id), Answer::Messages(entries, _)) => {
                self.answer(id, &Conversation { messages: entries });
            }
            (Open::Export(id, session, path), Answer::Messages(entries, log)) => {
                self.export(id, session, path, entries, log);
            }
            (Open::Fork(id, key, session), Answer::Forked(log)) => {
                let path = log.as_deref().map(Path::to_string_lossy);
                let answer = json!({"session": session.handle, "path": path});
                self.add_session(key, *session);
                self.answer(id, &answer);
                // The end of the input came while it was being made.
                if self.is_ending() {
                    self.stop(key);
                }
            }
            (Open::Close(id, session), answer) => {
                self.sessions.remove(&session);
                match answer {
                    Answer::Done => self.answer(id, &json!({})),
                    other => self.refuse(id, &refusal(other)),
                }
            }
            (Open::Nobody, _) => {}
            (
                Open::Turn(id, ..)
                | Open::Steer(id)
                | Open::Info(id, _)
                | Open::Messages(id)
                | Open::Export(id, ..)
                | Open::Fork(id, ..),
                answer,
            ) => self.refuse(id, &refusal(answer)),
        }
    }

    /// Answers what the core left open when it ended.
    pub fn answer_at_end(&mut self, open: Open, why: &Error) {
        match open {
            // Nothing is left of any session.
            Open::Close(id, _) | Open::Interrupt(id, _) => self.answer(id, &json!({})),
            Open::Turn(id, ..)
            | Open::OneShot(id, _)
            | Open::Steer(id)
            | Open::Set(id, ..)
            | Open::Info(id, _)
            | Open::Messages(id)
            | Open::Export(id, ..)
            | Open::Fork(id, ..) => self.refuse(id, why),
            Open::OneShotEnd | Open::Nobody => {}
        }
    }

    fn answer_turn(&mut self, id: Id, session: SessionKey, result: &TurnResult) {
        let handle = self
            .sessions
            .get(&session)
            .map(|session| session.handle.clone());
        let handle = handle.unwrap_or_default();
        let object = result_object(result, Place::Session(&handle));
        self.answer(id, &object);
    }

    fn answer_info(&mut self, id: Id, session: SessionKey, info: &SessionInfo) {
        let handle = self
            .sessions
            .get(&session)
            .map(|session| session.handle.as_str());
        let answer = json!({
            "session": handle,
            "model": info.selection.model.slug(),
            "effort": info.selection.effort,
            "cwd": info.workspace.to_string_lossy(),
            "path": info.log.as_deref().map(Path::to_string_lossy),
            "name": info.name,
            "messages": info.messages,
            "running": info.running,
        });
        self.answer(id, &answer);
    }

    fn export(
        &mut self,
        id: Id,
        session: SessionKey,
        path: Option<PathBuf>,
        entries: Vec<Entry>,
        log: Option<PathBuf>,
    ) {
        let Some(session) = self.sessions.get(&session) else {
            return self.refuse_ending(id);
        };
        let start: String = session.handle.chars().take(8).collect();
        let path = path.unwrap_or_else(|| format!("e-session-{start}.html").into());
        let path = session.workspace.join(path);
        let name = session.name.clone();
        let work = move || {
            let (title, page) = session::export_html(name, &entries, log.as_deref());
            session::write_page(&path, page.as_bytes())?;
            Ok(json!({"path": path.to_string_lossy(), "title": title}))
        };
        let done = move |answer: Result<Value>| Done::Answer(id, answer);
        self.jobs.add(Size::Small, work, done);
    }
}

/// The conversation in the shape of the log, one message at a time.
#[derive(Serialize)]
struct Conversation {
    #[serde(serialize_with = "as_logged")]
    messages: Vec<Entry>,
}

fn as_logged<S: Serializer>(messages: &[Entry], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(
        messages
            .iter()
            .map(|one| session::message_to_json(&one.message)),
    )
}

/// Which commands an interrupt leaves: they are the session's, not the turn's.
fn still_running(commands: &[Running]) -> Value {
    let command =
        |left: &Running| json!({"handle": left.handle, "pid": left.pid, "command": left.command});
    let commands: Vec<Value> = commands.iter().map(command).collect();
    json!({"background": commands, "remedy": "`session.close` ends them"})
}

/// Why the core did not do what was asked.
fn refusal(answer: Answer) -> Error {
    match answer {
        Answer::Refused(why) => Error::failed(why),
        _ => Error::failed("the answer is of another kind; this is a bug in e"),
    }
}
