//! What extensions may do to their session: `session.*`, answered from the state as it is.

use serde_json::{Value, json};

use super::action::Action;
use super::conversation::Held;
use super::event::{Limits, Prompt, RequestId, TurnEvent};
use super::session::Session;
use super::shell::RUNS;
use super::turn::{Stop, Turn};
use crate::chat::Message;
use crate::extension::AskId;
use crate::extension::request;

/// Bytes of messages that may wait, above which an extension can add none.
const MAX_WAITING: usize = 10 << 20;

impl Session {
    /// Carries out a request of an extension and answers it.
    pub(super) fn serve(&mut self, ask: AskId, asked: request::Session) {
        let done = Ok(json!({}));
        let result = match asked {
            request::Session::Send {
                content,
                internal,
                run,
                next_turn,
            } => {
                let sent = match next_turn {
                    _ if self.conversation.waiting() + content.len() > MAX_WAITING => {
                        Err("more than 10 MiB of messages wait for a turn already".into())
                    }
                    true => {
                        self.conversation.next_turn.push(content);
                        Ok(())
                    }
                    false => {
                        let held = Held {
                            internal,
                            ..Held::said(content)
                        };
                        self.send(held, run)
                    }
                };
                sent.map(|()| json!({}))
            }
            request::Session::Info => Ok(self.describe()),
            request::Session::Name(name) => {
                self.rename(Some(name).filter(|name| !name.is_empty()));
                done
            }
            request::Session::Tools(names) => {
                self.conversation.narrowed = names;
                done
            }
            request::Session::Interrupt => {
                let conversation = &mut self.conversation;
                if let Some(turn) = &mut self.turn {
                    turn.stop(Stop::Interrupted, conversation);
                }
                done
            }
            request::Session::Compact { focus } => {
                match &self.turn {
                    _ if self.shell.is_some() => {
                        return self.conversation.push(Action::Reply(ask, Err(RUNS.into())));
                    }
                    Some(_) => self.conversation.compact_asked = Some(focus),
                    None => self.start_compaction(RequestId::NOBODY, focus),
                }
                done
            }
            // These need the catalog; who reads files answers them.
            request::Session::Model(_) | request::Session::Effort(_) => {
                Err("nobody here can change that".into())
            }
        };
        self.conversation.push(Action::Reply(ask, result));
    }

    fn send(&mut self, mut message: Held, run: bool) -> Result<(), String> {
        match &self.turn {
            Some(turn) if turn.is_stopping() => return Err("the turn is being stopped".into()),
            Some(turn) if turn.is_compaction() => {
                return Err("the conversation is being compacted - try again after it".into());
            }
            Some(turn) if turn.has_begun() && !run => {
                return Err("a turn is running; use `run` or `when`".into());
            }
            Some(_) if run => {
                if !message.internal {
                    let id = RequestId::own(self.conversation.job());
                    let text = message.content.clone();
                    message.from = Some(id);
                    self.conversation.push(Action::Held(id, text));
                }
                self.conversation.held.push_back(message);
            }
            None if run && self.shell.is_some() => return Err(RUNS.into()),
            None if run => {
                if !message.internal {
                    let text = message.content.clone();
                    self.conversation
                        .push(Action::Emit(None, TurnEvent::Steered(text)));
                }
                let (prompt, limits) = (Prompt::from(message), Limits::default());
                self.start(RequestId::NOBODY, prompt, limits);
            }
            _ => {
                let Held {
                    content, internal, ..
                } = message;
                let message = match internal {
                    true => Message::internal(content),
                    false => {
                        self.conversation
                            .push(Action::Emit(None, TurnEvent::Steered(content.clone())));
                        Message::steered(content)
                    }
                };
                self.conversation.commit(message, None);
            }
        }
        Ok(())
    }

    /// Gives the session another display name.
    pub(super) fn rename(&mut self, name: Option<String>) {
        if self.conversation.rename(name.clone()) {
            self.conversation
                .push(Action::Emit(None, TurnEvent::SessionName(name)));
        }
    }

    fn describe(&self) -> Value {
        let conversation = &self.conversation;
        let model = &conversation.selection.model;
        let tools: Vec<String> = conversation
            .advertised()
            .iter()
            .map(|tool| tool.name.clone())
            .collect();
        json!({
            "path": conversation.log_path(),
            "id": conversation.spec.id,
            "name": conversation.name,
            "cwd": conversation.spec.workspace,
            "model": model.slug(),
            "effort": conversation.selection.effort,
            "running": self.turn.as_ref().is_some_and(Turn::has_begun),
            "tools": tools,
            "context_tokens": conversation.context_tokens(""),
            "context_window": model.context_window,
        })
    }
}
