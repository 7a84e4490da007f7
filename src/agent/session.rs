//! One session: a conversation, and the turn that runs in it, if any.

use std::sync::Arc;

use super::action::{Action, Now, SessionEvent};
use super::conversation::{Conversation, Effects};
use super::event::{Answer, TurnEvent};
use super::open::SessionSpec;
use super::turn::{Flow, Turn};

/// A session's whole state. Stepped by events, without I/O.
#[derive(Debug)]
pub struct Session {
    conversation: Conversation,
    turn: Option<Turn>,
}

impl Session {
    /// An idle session with an empty history.
    pub fn new(spec: Arc<SessionSpec>) -> Self {
        Self {
            conversation: Conversation::new(spec),
            turn: None,
        }
    }

    /// Whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    /// Takes one event; what should be done is added to `actions`.
    pub fn step(&mut self, event: SessionEvent, now: Now, actions: &mut Vec<Action>) {
        let request = self.turn.as_ref().map(|turn| turn.request);
        let mut fx = Effects {
            now,
            request,
            actions,
        };
        let conversation = &mut self.conversation;
        match (event, &mut self.turn) {
            (SessionEvent::Prompt(request, ..), Some(_)) => {
                let why = "a turn is running - steer or interrupt it";
                fx.push(Action::Answer(request, Answer::Refused(why.into())));
            }
            (SessionEvent::Prompt(request, prompt, limits), None) => {
                fx.request = Some(request);
                self.turn = Some(Turn::start(prompt, limits, conversation, &mut fx));
            }
            (SessionEvent::Steer(request, text), Some(_)) => {
                conversation.held.push_back(text);
                fx.push(Action::Answer(request, Answer::Done));
            }
            (SessionEvent::Steer(request, _), None) => {
                let why = "no turn is running - send a prompt instead";
                fx.push(Action::Answer(request, Answer::Refused(why.into())));
            }
            (SessionEvent::Interrupt(Some(request)), None) => {
                fx.push(Action::Answer(request, Answer::Done));
            }
            (SessionEvent::Appended { error, path }, None) => {
                let warning = conversation.appended(error, path, &mut fx);
                if let Some(warning) = warning {
                    fx.push(Action::Emit(None, TurnEvent::Warning(warning)));
                }
            }
            (event, Some(turn)) => {
                if turn.step(event, conversation, &mut fx) == Flow::Over {
                    self.turn = None;
                }
            }
            // A late answer to a turn that is over.
            (_, None) => {}
        }
    }
}
