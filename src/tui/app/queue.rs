//! Messages that wait: those that go into the running turn, and lines for when nothing runs.
//!
//! They can be reviewed while they wait: one at a time stands in the composer, edited and applied.
//! The turn is not paused, so a message may be taken meanwhile; what was made of it is a draft then.

use std::time::Instant;

use super::{App, Effect};
use crate::agent::{Input, RequestId};
use crate::chat::Image;
use crate::tui::key::{Key, KeyPress};
use crate::tui::view::queue;

/// What waits, oldest first.
#[derive(Debug, Default)]
pub(super) struct Queue {
    messages: Vec<Waiting>,
    /// The message in the composer.
    review: Option<usize>,
    /// Edits on their way to the core, by request.
    amends: Vec<(RequestId, Amend)>,
}

#[derive(Debug)]
struct Waiting {
    text: String,
    /// Texts of before edits: the turn may have taken one of those.
    earlier: Vec<String>,
    /// An edit that was left without being applied.
    edit: Option<String>,
    goes: Goes,
}

/// Where a message goes.
#[derive(Debug, PartialEq)]
enum Goes {
    /// Into the running turn; the core holds it under this request.
    Turn(RequestId),
    /// It is carried out when nothing runs.
    Later(Vec<Image>),
}

/// An edit of a message that the core holds.
#[derive(Debug)]
struct Amend {
    message: RequestId,
    text: Option<String>,
}

impl Queue {
    /// A message was sent into the turn.
    pub fn steer(&mut self, request: RequestId, text: String) {
        self.push(text, Goes::Turn(request));
    }

    /// A line has to wait until nothing runs.
    pub fn later(&mut self, text: String, images: Vec<Image>) {
        self.push(text, Goes::Later(images));
    }

    fn push(&mut self, text: String, goes: Goes) {
        self.messages.push(Waiting {
            text,
            earlier: Vec::new(),
            edit: None,
            goes,
        });
    }

    /// The next line, when nothing runs any more.
    pub fn next_line(&mut self) -> Option<(String, Vec<Image>)> {
        let is_later = |waiting: &Waiting| matches!(waiting.goes, Goes::Later(_));
        let at = self.messages.iter().position(is_later)?;
        let waiting = self.messages.remove(at);
        self.review = self.review.filter(|review| *review != at);
        self.shift_review(at);
        match waiting.goes {
            Goes::Later(images) => Some((waiting.text, images)),
            Goes::Turn(_) => None,
        }
    }

    fn shift_review(&mut self, removed: usize) {
        self.review = self
            .review
            .map(|review| review - usize::from(removed < review));
    }

    /// What the band tells.
    pub fn band(&self) -> queue::Queue {
        let steers = |waiting: &&Waiting| matches!(waiting.goes, Goes::Turn(_));
        queue::Queue {
            waiting: self.messages.len(),
            steering: self.messages.iter().filter(steers).count(),
            editing: self.review,
        }
    }
}

impl App {
    /// A message went into the turn.
    pub(super) fn queue_taken(&mut self, text: &str) {
        let is_it = |waiting: &Waiting| {
            let texts = || waiting.earlier.iter().chain([&waiting.text]);
            matches!(waiting.goes, Goes::Turn(_)) && texts().any(|one| one == text)
        };
        if let Some(at) = self.queue.messages.iter().position(is_it) {
            self.drop_waiting(at);
        }
    }

    /// The turn is over: nothing goes into it any more.
    pub(super) fn queue_turn_over(&mut self) {
        let steers = |waiting: &Waiting| matches!(waiting.goes, Goes::Turn(_));
        while let Some(at) = self.queue.messages.iter().position(steers) {
            self.drop_waiting(at);
        }
    }

    /// Gives up the lines that wait until nothing runs.
    pub(super) fn discard_later(&mut self) {
        while let Some((text, _)) = self.queue.next_line() {
            self.transcript.push_notice(&format!("not sent: {text}"));
        }
        self.leave_orphan();
    }

    /// The core has refused something: true when that was about a message that waited, which is
    /// carried out in another way then.
    pub(super) fn queue_refused(
        &mut self,
        request: RequestId,
        now: Instant,
    ) -> Option<Vec<Effect>> {
        let amends = &mut self.queue.amends;
        if let Some(at) = amends.iter().position(|(amend, _)| *amend == request) {
            let (_, Amend { message, text }) = amends.remove(at);
            self.forget_steer(message);
            // The turn has the message as it was, so the edit is another one.
            let Some(text) = text else {
                self.transcript
                    .push_notice("that message has been sent already");
                return Some(Vec::new());
            };
            return Some(self.prompt(text, Vec::new(), now));
        }
        // The turn has ended meanwhile, or is about to.
        let text = self.forget_steer(request)?;
        match self.turn() {
            Some(_) => {
                self.queue.later(text, Vec::new());
                Some(Vec::new())
            }
            None => Some(self.prompt(text, Vec::new(), now)),
        }
    }

    /// The core has done as it was asked.
    pub(super) fn queue_done(&mut self, request: RequestId) {
        self.queue.amends.retain(|(amend, _)| *amend != request);
    }

    fn forget_steer(&mut self, request: RequestId) -> Option<String> {
        let is_it = |waiting: &Waiting| waiting.goes == Goes::Turn(request);
        let at = self.queue.messages.iter().position(is_it)?;
        let text = self.queue.messages[at].text.clone();
        self.drop_waiting(at);
        Some(text)
    }

    /// Removes a message. One that is being edited stays in the composer as a draft, when the person
    /// has changed it.
    fn drop_waiting(&mut self, at: usize) {
        let waiting = self.queue.messages.remove(at);
        if self.queue.review == Some(at) {
            self.queue.review = None;
            if self.composer.draft().buffer.text() == waiting.text {
                self.composer.set_text("");
            }
        }
        self.queue.shift_review(at);
    }

    /// The message in the composer is gone: without a message there is no review.
    fn leave_orphan(&mut self) {
        if self.queue.messages.is_empty() {
            self.queue.review = None;
        }
    }

    /// A key that reviews what waits, if it does.
    pub(super) fn queue_key(&mut self, press: KeyPress) -> Option<Vec<Effect>> {
        if press != KeyPress::plain(press.key) || self.composer.is_field() {
            return None;
        }
        let is_empty = self.composer.draft().buffer.is_empty();
        let Some(at) = self.queue.review else {
            let opens = press.key == Key::Up && is_empty && self.composer.draft().images.is_empty();
            let newest = self.queue.messages.len().checked_sub(1)?;
            return opens.then(|| self.review(Some(newest)));
        };
        match press.key {
            Key::Up => Some(self.review(Some(at.saturating_sub(1)))),
            Key::Down => {
                let next = Some(at + 1).filter(|next| *next < self.queue.messages.len());
                Some(self.review(next))
            }
            Key::Escape => Some(self.review(None)),
            Key::Enter => Some(self.apply_edit(at)),
            Key::Backspace if is_empty => Some(self.delete_waiting(at)),
            _ => None,
        }
    }

    /// Puts a message into the composer, or none. An edit of the one before waits with it.
    fn review(&mut self, next: Option<usize>) -> Vec<Effect> {
        let left = self.composer.draft().buffer.expand();
        if let Some(waiting) = self.queue.reviewed() {
            waiting.edit = Some(left).filter(|left| *left != waiting.text);
        }
        self.queue.review = next;
        let text = match self.queue.reviewed() {
            Some(waiting) => waiting.edit.take().unwrap_or_else(|| waiting.text.clone()),
            None => String::new(),
        };
        self.composer.set_text(&text);
        Vec::new()
    }

    fn apply_edit(&mut self, at: usize) -> Vec<Effect> {
        let text = self.composer.draft().buffer.expand();
        self.queue.review = None;
        self.composer.set_text("");
        let waiting = &mut self.queue.messages[at];
        if text.trim().is_empty() || text == waiting.text {
            return Vec::new();
        }
        let before = std::mem::replace(&mut waiting.text, text.clone());
        match waiting.goes {
            Goes::Later(_) => Vec::new(),
            Goes::Turn(message) => {
                waiting.earlier.push(before);
                self.amend(message, Some(text))
            }
        }
    }

    fn delete_waiting(&mut self, at: usize) -> Vec<Effect> {
        self.queue.review = None;
        let waiting = self.queue.messages.remove(at);
        let effects = match waiting.goes {
            Goes::Later(_) => Vec::new(),
            Goes::Turn(message) => self.amend(message, None),
        };
        if !self.queue.messages.is_empty() {
            self.review(Some(at.saturating_sub(1)));
        }
        effects
    }

    fn amend(&mut self, message: RequestId, text: Option<String>) -> Vec<Effect> {
        let request = self.next_request();
        let Some(session) = &self.session else {
            return Vec::new();
        };
        let amend = Amend {
            message,
            text: text.clone(),
        };
        self.queue.amends.push((request, amend));
        vec![Effect::Send(Input::Amend {
            session: session.key,
            request,
            message,
            text,
        })]
    }
}

impl Queue {
    fn reviewed(&mut self) -> Option<&mut Waiting> {
        self.messages.get_mut(self.review?)
    }
}
