//! One session: a conversation, and the turn that runs in it, if any.

use std::collections::VecDeque;
use std::sync::Arc;

use super::action::{Action, Now, SessionEvent};
use super::conversation::{Conversation, Held};
use super::event::{Answer, Limits, Prompt, RequestId, SessionInfo, TurnEvent, Want};
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
    /// Whether it gets a copy of the original's log, which holds the history then.
    pub is_saved: bool,
}

/// A session's whole state. Stepped by events, without I/O.
#[derive(Debug)]
pub struct Session {
    pub(super) conversation: Conversation,
    pub(super) turn: Option<Turn>,
    pub(super) shell: Option<Shell>,
    /// Requests that came while a turn was being stopped. They get their turn after it.
    waiting: VecDeque<(RequestId, Want)>,
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
            ..Past::default()
        };
        let spec = conversation.spec.fork(conversation.selection.clone());
        Ok(Fork {
            is_saved: spec.saves() && past.head.is_some(),
            spec: Arc::new(spec),
            past,
        })
    }

    /// Takes one event and returns what should be done.
    pub fn step(&mut self, event: SessionEvent, now: Now) -> Vec<Action> {
        self.conversation.now = now;
        match event {
            SessionEvent::Stop => {
                for (request, _) in std::mem::take(&mut self.waiting) {
                    let answer = Answer::Refused("e is shutting down".into());
                    self.conversation.answer(request, answer);
                }
                self.take(event);
            }
            // Requests of a session are served in the order they came.
            SessionEvent::Want(request, want) if !self.waiting.is_empty() => {
                self.waiting.push_back((request, want));
            }
            event => self.take(event),
        }
        while !self.is_stopping() {
            let Some((request, want)) = self.waiting.pop_front() else {
                break;
            };
            self.take(SessionEvent::Want(request, want));
        }
        std::mem::take(&mut self.conversation.actions)
    }

    fn is_stopping(&self) -> bool {
        self.turn.as_ref().is_some_and(Turn::is_stopping)
    }

    fn take(&mut self, event: SessionEvent) {
        let Some(event) = self.step_shell(event) else {
            return;
        };
        let conversation = &mut self.conversation;
        match (event, &mut self.turn) {
            (SessionEvent::Want(request, want), turn)
                if turn.is_none() || !matches!(want, Want::Interrupt) =>
            {
                self.serve_want(request, want);
            }
            (SessionEvent::Asked(ask, asked), _) => self.serve(ask, asked),
            (SessionEvent::Undone(request, done), _) => {
                conversation.answer(request, Answer::Undone(done));
            }
            (SessionEvent::Named(name), None) => self.rename(Some(name)),
            (SessionEvent::Save(saving), _) => conversation.save(saving),
            (SessionEvent::Appended { error, path }, None) => {
                if let Some(warning) = conversation.appended(error, path) {
                    conversation.push(Action::Emit(None, TurnEvent::Warning(warning)));
                }
            }
            (event, Some(turn)) => {
                if turn.step(event, conversation) == Flow::Over {
                    self.turn_over();
                }
            }
            // A late answer to a turn that is over.
            (_, None) => {}
        }
    }

    fn serve_want(&mut self, request: RequestId, want: Want) {
        let (running, stopping) = (self.turn.is_some(), self.is_stopping());
        let conversation = &mut self.conversation;
        let answer = match want {
            Want::Interrupt => return conversation.stopped(vec![request]),
            Want::Messages => {
                Answer::Messages(conversation.history.clone(), conversation.log_path())
            }
            Want::Info => Answer::Info(Box::new(self.info())),
            Want::Rename(name) => {
                self.rename(name);
                Answer::Done
            }
            Want::Amend(message, text) => conversation.amend(message, text),
            Want::Steer(text) if running && !stopping => {
                conversation.held.push_back(Held {
                    from: Some(request),
                    ..Held::said(text)
                });
                Answer::Done
            }
            Want::Steer(_) => Answer::Refused("no turn is running - send a prompt instead".into()),
            Want::Configure {
                selection,
                during_turn: true,
            } if running => {
                conversation.select_next(selection);
                Answer::Done
            }
            Want::Compact {
                focus,
                during_turn: true,
            } if running && !stopping => {
                conversation.compact_asked = Some(focus);
                Answer::Done
            }
            Want::Shell { .. } if running => Answer::Refused(BUSY.into()),
            want if stopping => return self.waiting.push_back((request, want)),
            _ if running => Answer::Refused(BUSY.into()),
            Want::Prompt(prompt, limits) => return self.start(request, prompt, limits),
            Want::Shell { command, aside } => return self.start_shell(request, command, aside),
            Want::Compact { focus, .. } => return self.start_compaction(request, focus),
            Want::Undo => return conversation.push(Action::Undo(request)),
            Want::Rewind(entries, head) => {
                conversation.rewind(entries, head);
                Answer::Done
            }
            Want::Configure { selection, .. } => {
                conversation.select(selection);
                Answer::Done
            }
        };
        self.conversation.answer(request, answer);
    }

    /// Starts a turn. A line that needs none is over at once.
    pub(super) fn start(&mut self, request: RequestId, prompt: Prompt, limits: Limits) {
        let conversation = &mut self.conversation;
        self.turn = Some(Turn::start(request, prompt, limits, conversation));
    }

    pub(super) fn start_compaction(&mut self, request: RequestId, focus: Option<String>) {
        let conversation = &mut self.conversation;
        let turn = self
            .turn
            .insert(Turn::idle(request, Limits::default(), conversation));
        if turn.start_compaction(focus, conversation) == Flow::Over {
            self.turn_over();
        }
    }

    fn turn_over(&mut self) {
        self.turn = None;
        if let Some(focus) = self.conversation.compact_asked.take() {
            self.start_compaction(RequestId::NOBODY, focus);
        }
    }

    fn info(&self) -> SessionInfo {
        let conversation = &self.conversation;
        SessionInfo {
            workspace: conversation.spec.workspace.clone(),
            log: conversation.log_path(),
            head: conversation.head().map(String::from),
            name: conversation.name.clone(),
            selection: conversation.selection.clone(),
            messages: conversation.history.len(),
            running: self.turn.is_some(),
        }
    }
}
