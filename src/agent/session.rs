//! One session: a conversation, and the turn that runs in it, if any.

use std::collections::VecDeque;
use std::sync::Arc;

use super::action::{Action, Now, SessionEvent};
use super::conversation::{Conversation, Effects, Held};
use super::event::{Answer, Limits, Prompt, Query, RequestId, SessionInfo, TurnEvent};
use super::open::{Past, SessionSpec};
use super::shell::Shell;
use super::turn::{Flow, Turn};

/// Why a request is refused while a turn runs.
const BUSY: &str = "a turn is running - steer or interrupt it";

/// What a forked session begins with.
#[derive(Debug)]
pub struct Fork {
    /// Its own.
    pub spec: Arc<SessionSpec>,
    /// The history, without a log.
    pub past: Past,
    /// Whether it gets a copy of the original's log.
    pub is_saved: bool,
}

/// A session's whole state. Stepped by events, without I/O.
#[derive(Debug)]
pub struct Session {
    pub(super) conversation: Conversation,
    pub(super) turn: Option<Turn>,
    pub(super) shell: Option<Shell>,
    /// Requests that came while a turn was being stopped. They get their turn after it.
    waiting: VecDeque<SessionEvent>,
}

impl Session {
    /// An idle session that goes on from `past`.
    pub fn new(spec: Arc<SessionSpec>, past: &mut Past) -> Self {
        let conversation = Conversation::new(spec, past);
        Self {
            conversation,
            turn: None,
            shell: None,
            waiting: VecDeque::new(),
        }
    }

    /// Whether a turn or a command runs, or is about to.
    pub fn is_running(&self) -> bool {
        self.turn.is_some() || self.shell.is_some() || !self.waiting.is_empty()
    }

    /// Whether something waits for it: it must not go now.
    pub fn is_needed(&self) -> bool {
        self.is_running() || self.conversation.is_saving()
    }

    /// What a fork begins with: its own spec and the history. An error while a turn runs.
    pub fn fork(&self) -> Result<Fork, String> {
        if self.is_running() {
            return Err(BUSY.into());
        }
        let conversation = &self.conversation;
        let past = Past {
            entries: conversation.history.clone(),
            head: conversation.head().map(String::from),
            name: conversation.name.clone(),
            log: None,
        };
        let spec = conversation.spec.fork(conversation.selection.clone());
        Ok(Fork {
            is_saved: spec.saves() && past.head.is_some(),
            spec: Arc::new(spec),
            past,
        })
    }

    /// Takes one event; what should be done is added to `actions`.
    pub fn step(&mut self, event: SessionEvent, now: Now, actions: &mut Vec<Action>) {
        match event {
            SessionEvent::Interrupt(None) => {
                // The process is ending; nothing that waits will get its turn.
                for request in self
                    .waiting
                    .drain(..)
                    .filter_map(|event| request_of(&event))
                {
                    let answer = Answer::Refused("e is shutting down".into());
                    actions.push(Action::Answer(request, answer));
                }
                self.take(event, now, actions);
            }
            // Requests of a session are served in the order they came.
            event if !self.waiting.is_empty() && request_of(&event).is_some() => {
                self.waiting.push_back(event);
            }
            event => self.take(event, now, actions),
        }
        while !self.is_stopping() {
            let Some(event) = self.waiting.pop_front() else {
                return;
            };
            self.take(event, now, actions);
        }
    }

    fn is_stopping(&self) -> bool {
        self.turn.as_ref().is_some_and(Turn::is_stopping)
    }

    fn take(&mut self, event: SessionEvent, now: Now, actions: &mut Vec<Action>) {
        let request = self.turn.as_ref().map(|turn| turn.request);
        let mut fx = Effects {
            now,
            request,
            actions,
        };
        let Some(event) = self.step_shell(event, &mut fx) else {
            return;
        };
        let stopping = self.is_stopping();
        let conversation = &mut self.conversation;
        match (event, &mut self.turn) {
            (SessionEvent::Compact(request, focus, true), Some(_)) if !stopping => {
                conversation.compact_asked = Some(focus);
                fx.push(Action::Answer(request, Answer::Done));
            }
            (SessionEvent::Configure(request, selection, true), Some(_)) => {
                conversation.select_next(selection, &mut fx);
                fx.push(Action::Answer(request, Answer::Done));
            }
            (
                event @ (SessionEvent::Prompt(..)
                | SessionEvent::Compact(..)
                | SessionEvent::Configure(..)
                | SessionEvent::Rewind(..)
                | SessionEvent::Undo(_)),
                Some(_),
            ) if stopping => {
                self.waiting.push_back(event);
            }
            (
                SessionEvent::Prompt(request, ..)
                | SessionEvent::Compact(request, ..)
                | SessionEvent::Shell(request, _)
                | SessionEvent::Configure(request, ..)
                | SessionEvent::Rewind(request, ..)
                | SessionEvent::Undo(request),
                Some(_),
            ) => {
                fx.push(Action::Answer(request, Answer::Refused(BUSY.into())));
            }
            (SessionEvent::Prompt(request, prompt, limits), None) => {
                self.start(request, prompt, limits, &mut fx);
            }
            (SessionEvent::Shell(request, command), None) => {
                self.start_shell(request, command, &mut fx);
            }
            (SessionEvent::Compact(request, focus, _), None) => {
                self.start_compaction(request, focus, &mut fx);
            }
            (SessionEvent::Asked(ask, asked), _) => self.serve(ask, asked, &mut fx),
            (SessionEvent::Rename(request, name), _) => {
                self.rename(name, &mut fx);
                fx.push(Action::Answer(request, Answer::Done));
            }
            (SessionEvent::Rewind(request, entries, head), None) => {
                conversation.rewind(entries, head);
                fx.push(Action::Answer(request, Answer::Done));
            }
            (SessionEvent::Undo(request), None) => fx.push(Action::Undo(request)),
            (SessionEvent::Undone(request, done), _) => {
                fx.push(Action::Answer(request, Answer::Undone(done)));
            }
            (SessionEvent::Named(name), None) => self.rename(Some(name), &mut fx),
            (SessionEvent::Configure(request, selection, _), None) => {
                conversation.select(selection, &mut fx);
                fx.push(Action::Answer(request, Answer::Done));
            }
            (SessionEvent::Save(saving), _) => conversation.save(saving, &mut fx),
            (SessionEvent::Query(request, query), _) => {
                let answer = self.answer(query);
                fx.push(Action::Answer(request, answer));
            }
            (SessionEvent::Steer(request, text), Some(_)) if !stopping => {
                conversation.held.push_back(Held {
                    from: Some(request),
                    ..Held::said(text)
                });
                fx.push(Action::Answer(request, Answer::Done));
            }
            (SessionEvent::Steer(request, _), _) => {
                let why = "no turn is running - send a prompt instead";
                fx.push(Action::Answer(request, Answer::Refused(why.into())));
            }
            (SessionEvent::Amend(request, message, text), _) => {
                let answer = conversation.amend(message, text);
                fx.push(Action::Answer(request, answer));
            }
            (SessionEvent::Interrupt(Some(request)), None) => {
                fx.push(Action::Answer(request, conversation.stopped()));
            }
            (SessionEvent::Interrupt(None), None) => {}
            (SessionEvent::Appended { error, path }, None) => {
                let warning = conversation.appended(error, path, &mut fx);
                if let Some(warning) = warning {
                    fx.push(Action::Emit(None, TurnEvent::Warning(warning)));
                }
            }
            (event, Some(turn)) => {
                if turn.step(event, conversation, &mut fx) == Flow::Over {
                    self.turn_over(&mut fx);
                }
            }
            // A late answer to a turn that is over.
            (_, None) => {}
        }
    }

    /// Starts a turn. A line that needs none is over at once.
    pub(super) fn start(
        &mut self,
        request: RequestId,
        prompt: Prompt,
        limits: Limits,
        fx: &mut Effects<'_>,
    ) {
        fx.request = Some(request);
        let conversation = &mut self.conversation;
        self.turn = Some(Turn::start(prompt, limits, conversation, fx));
    }

    pub(super) fn start_compaction(
        &mut self,
        request: RequestId,
        focus: Option<String>,
        fx: &mut Effects<'_>,
    ) {
        fx.request = Some(request);
        let conversation = &mut self.conversation;
        let turn = self
            .turn
            .insert(Turn::idle(request, Limits::default(), conversation));
        if turn.start_compaction(focus, conversation, fx) == Flow::Over {
            self.turn_over(fx);
        }
    }

    fn turn_over(&mut self, fx: &mut Effects<'_>) {
        self.turn = None;
        if let Some(focus) = self.conversation.compact_asked.take() {
            self.start_compaction(RequestId::NOBODY, focus, fx);
        }
    }

    fn answer(&self, query: Query) -> Answer {
        let conversation = &self.conversation;
        match query {
            Query::Messages => {
                Answer::Messages(conversation.history.clone(), conversation.log_path())
            }
            Query::Info => Answer::Info(Box::new(SessionInfo {
                workspace: conversation.spec.workspace.clone(),
                log: conversation.log_path(),
                head: conversation.head().map(String::from),
                name: conversation.name.clone(),
                selection: conversation.selection.clone(),
                messages: conversation.history.len(),
                running: self.turn.is_some(),
            })),
        }
    }
}

/// The request that an event answers to, when a frontend sent it.
fn request_of(event: &SessionEvent) -> Option<RequestId> {
    match event {
        SessionEvent::Prompt(request, ..)
        | SessionEvent::Steer(request, _)
        | SessionEvent::Amend(request, ..)
        | SessionEvent::Shell(request, _)
        | SessionEvent::Compact(request, ..)
        | SessionEvent::Rename(request, _)
        | SessionEvent::Rewind(request, ..)
        | SessionEvent::Undo(request)
        | SessionEvent::Configure(request, ..)
        | SessionEvent::Query(request, _)
        | SessionEvent::Interrupt(Some(request)) => Some(*request),
        _ => None,
    }
}
