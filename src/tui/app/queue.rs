//! Messages that wait: those that go into the running turn, and lines for when nothing runs.
//!
//! They can be reviewed while they wait: one at a time stands in the composer, edited and applied.
//! The turn is not paused, so a message may be taken meanwhile; what was made of it is a draft
//! then.

use std::time::Instant;

use super::App;
use super::submit::Line;
use crate::agent::{RequestId, Want};
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
    line: Line,
    /// The core holds it under this request for the running turn. Other lines are carried out when
    /// nothing runs.
    turn: Option<RequestId>,
    /// The core has it. One that was only sent may still be refused.
    is_held: bool,
    /// An extension says it, and the person has not edited it: what is left of it is nobody's
    /// draft.
    is_theirs: bool,
    /// Texts of before edits: the turn may have taken one of those.
    earlier: Vec<String>,
    /// An edit that was left without being applied.
    edit: Option<String>,
}

/// An edit of a message that the core holds.
#[derive(Debug)]
struct Amend {
    message: RequestId,
    text: Option<String>,
}

impl Queue {
    /// A message was sent into the turn.
    pub fn steer(&mut self, request: RequestId, line: Line) {
        self.push(line, Some(request));
    }

    /// A message of an extension waits for the turn.
    pub fn held(&mut self, message: RequestId, line: Line) {
        self.push(line, Some(message));
        if let Some(waiting) = self.messages.last_mut() {
            waiting.is_held = true;
            waiting.is_theirs = true;
        }
    }

    /// A line has to wait until nothing runs.
    pub fn later(&mut self, line: Line) {
        self.push(line, None);
    }

    /// The same for one that goes before those that wait already.
    pub fn first(&mut self, line: Line) {
        self.later(line);
        self.messages.rotate_right(1);
        self.review = self.review.map(|review| review + 1);
    }

    fn push(&mut self, line: Line, turn: Option<RequestId>) {
        self.messages.push(Waiting {
            line,
            turn,
            is_held: false,
            is_theirs: false,
            earlier: Vec::new(),
            edit: None,
        });
    }

    /// What the band tells.
    pub fn band(&self) -> queue::Queue {
        let steers = self.messages.iter().filter(|waiting| waiting.steers());
        queue::Queue {
            waiting: self.messages.len(),
            steering: steers.count(),
            editing: self.review,
        }
    }
}

impl Waiting {
    fn steers(&self) -> bool {
        self.turn.is_some()
    }

    /// Whether it is what the turn tells about: the text, or one of before an edit.
    fn is(&self, text: &str) -> bool {
        let mut texts = self.earlier.iter().chain([&self.line.text]);
        self.steers() && texts.any(|one| one == text)
    }
}

impl App {
    /// A message went into the turn.
    pub(super) fn queue_taken(&mut self, text: &str) {
        if let Some(at) = self.position(|waiting| waiting.is(text)) {
            self.take_waiting(at);
        }
    }

    /// Messages did not get into the turn: they are drafts again.
    pub(super) fn queue_discarded(&mut self, texts: &[String]) {
        let mut lines = Vec::new();
        for text in texts {
            if let Some(at) = self.position(|waiting| waiting.is(text)) {
                lines.push(self.withdraw(at));
            }
        }
        self.give_back(lines);
    }

    /// The turn is over: nothing goes into it any more. What came too late for it is refused yet.
    pub(super) fn queue_turn_over(&mut self) {
        while let Some(at) = self.position(|waiting| waiting.is_held) {
            self.take_waiting(at);
        }
    }

    /// Makes drafts of the lines that wait until nothing runs.
    pub(super) fn discard_later(&mut self) {
        let later = |waiting: &&Waiting| !waiting.steers() && waiting.line.is_prompt;
        for waiting in self.queue.messages.iter().filter(later) {
            self.transcript.push_unsent(&waiting.line.text);
        }
        let mut lines = Vec::new();
        while let Some(at) = self.position(|waiting| !waiting.steers()) {
            lines.push(self.withdraw(at));
        }
        self.give_back(lines);
    }

    /// Forgets all that waits. What goes into the turn may still get there.
    pub(super) fn queue_forget(&mut self) {
        self.queue.messages.clear();
        self.queue.review = None;
    }

    /// The next line that nothing has to run for.
    pub(super) fn next_later(&mut self) -> Option<Line> {
        let at = self.position(|waiting| !waiting.steers())?;
        Some(self.take_waiting(at).0)
    }

    fn position(&self, is_it: impl FnMut(&Waiting) -> bool) -> Option<usize> {
        self.queue.messages.iter().position(is_it)
    }

    /// Removes a message that is to be a draft again. One that was being edited is one already.
    fn withdraw(&mut self, at: usize) -> Line {
        let is_theirs = self.queue.messages[at].is_theirs;
        let (mut line, is_draft) = self.take_waiting(at);
        if is_draft || is_theirs {
            line.text.clear();
        }
        line
    }

    /// The core has refused something: true when that was about a message that waited, which is
    /// carried out in another way then.
    pub(super) fn queue_refused(&mut self, request: RequestId, now: Instant) -> bool {
        let amends = &mut self.queue.amends;
        if let Some(at) = amends.iter().position(|(amend, _)| *amend == request) {
            let (_, Amend { message, text }) = amends.remove(at);
            self.forget_steer(message);
            // The turn has the message as it was, so the edit is another one.
            let Some(text) = text else {
                self.tell("that message has been sent already");
                return true;
            };
            self.prompt(Line::prompt(text), now);
            return true;
        }
        // The turn has ended meanwhile, or is about to.
        let Some(line) = self.forget_steer(request) else {
            return false;
        };
        match self.turn() {
            Some(_) => self.queue.later(line),
            None => self.prompt(line, now),
        }
        true
    }

    /// The core has done as it was asked.
    pub(super) fn queue_done(&mut self, request: RequestId) {
        self.queue.amends.retain(|(amend, _)| *amend != request);
        if let Some(at) = self.position(|waiting| waiting.turn == Some(request)) {
            self.queue.messages[at].is_held = true;
        }
    }

    fn forget_steer(&mut self, request: RequestId) -> Option<Line> {
        let at = self.position(|waiting| waiting.turn == Some(request))?;
        Some(self.take_waiting(at).0)
    }

    /// Removes a message. One that is being edited stays in the composer as a draft, when the
    /// person has changed it; an edit that was left is in history.
    fn take_waiting(&mut self, at: usize) -> (Line, bool) {
        let Waiting { line, edit, .. } = self.queue.messages.remove(at);
        if let Some(edit) = edit {
            self.composer.remember(&edit);
        }
        let is_reviewed = self.queue.review.take_if(|review| *review == at).is_some();
        let is_same = self.composer.own_draft().buffer.text() == line.text;
        if is_reviewed && is_same {
            self.composer.behind(|draft| draft.set_text(""));
        }
        if let Some(review) = &mut self.queue.review {
            *review -= usize::from(at < *review);
        }
        (line, is_reviewed && !is_same)
    }

    /// A key that reviews what waits; false when it does not.
    pub(super) fn queue_key(&mut self, press: KeyPress) -> bool {
        if press != KeyPress::plain(press.key) || self.composer.is_field() {
            return false;
        }
        let is_empty = self.composer.draft().buffer.is_empty();
        let Some(at) = self.queue.review else {
            let newest = self.queue.messages.len().checked_sub(1);
            let opens = press.key == Key::Up && is_empty && self.composer.draft().images.is_empty();
            let opens = opens && newest.is_some();
            if opens {
                self.review(newest);
            }
            return opens;
        };
        match press.key {
            Key::Up => self.review(Some(at.saturating_sub(1))),
            Key::Down => {
                let next = Some(at + 1).filter(|next| *next < self.queue.messages.len());
                self.review(next);
            }
            Key::Escape => self.review(None),
            Key::Enter => self.apply_edit(at),
            Key::Backspace if is_empty => self.delete_waiting(at),
            _ => return false,
        }
        true
    }

    /// Another text comes into the composer: no message is reviewed any more.
    pub(super) fn leave_review(&mut self) {
        if self.queue.review.is_some() {
            self.review(None);
        }
    }

    /// Puts a message into the composer, or none. An edit of the one before waits with it.
    fn review(&mut self, next: Option<usize>) {
        let left = self.composer.draft().buffer.expand();
        if let Some(waiting) = self.queue.reviewed() {
            waiting.edit = Some(left).filter(|left| *left != waiting.line.text);
        }
        self.queue.review = next;
        let text = match self.queue.reviewed() {
            Some(Waiting { edit, line, .. }) => edit.take().unwrap_or_else(|| line.text.clone()),
            None => String::new(),
        };
        self.composer.set_text(&text);
    }

    fn apply_edit(&mut self, at: usize) {
        let text = self.composer.draft().buffer.expand();
        self.queue.review = None;
        self.composer.set_text("");
        let waiting = &mut self.queue.messages[at];
        if text.trim().is_empty() || text == waiting.line.text {
            return;
        }
        let before = std::mem::replace(&mut waiting.line.text, text.clone());
        waiting.earlier.push(before);
        waiting.is_theirs = false;
        if let Some(message) = waiting.turn {
            self.amend(message, Some(text));
        }
    }

    fn delete_waiting(&mut self, at: usize) {
        self.queue.review = None;
        let waiting = self.queue.messages.remove(at);
        if let Some(message) = waiting.turn {
            self.amend(message, None);
        }
        if !self.queue.messages.is_empty() {
            self.review(Some(at.saturating_sub(1)));
        }
    }

    fn amend(&mut self, message: RequestId, text: Option<String>) {
        let request = self.send(Want::Amend(message, text.clone()));
        self.queue.amends.push((request, Amend { message, text }));
    }
}

impl Queue {
    fn reviewed(&mut self) -> Option<&mut Waiting> {
        self.messages.get_mut(self.review?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Effect;
    use super::super::tests::{app, keys, screen};
    use super::*;
    use crate::agent::{Answer, Input, Output, SessionKey, TurnEvent};
    use crate::extension::Registry;

    /// An app with a session, and what it has told the core.
    struct Table {
        app: App,
        now: Instant,
        told: Vec<(RequestId, String)>,
    }

    impl Table {
        fn new() -> Self {
            Self {
                app: app(Registry::default()),
                now: Instant::now(),
                told: Vec::new(),
            }
        }

        fn note(&mut self) {
            for effect in self.app.take_effects() {
                let Effect::Send(Input::Want(_, request, want)) = effect else {
                    continue;
                };
                let told = match want {
                    Want::Prompt(prompt, _) => format!("prompt {}", prompt.text),
                    Want::Steer(text) => format!("steer {text}"),
                    Want::Shell { command, .. } => format!("shell {command}"),
                    Want::Compact { .. } => "compact".into(),
                    Want::Interrupt => "stop".into(),
                    _ => continue,
                };
                self.told.push((request, told));
            }
        }

        /// Keys; what the core is told because of them.
        fn press(&mut self, typed: &str) -> String {
            let before = self.told.len();
            for press in keys(typed) {
                self.app.on_key(press, self.now);
                self.note();
            }
            self.told_since(before)
        }

        fn told_since(&self, before: usize) -> String {
            let told: Vec<&str> = self.told[before..].iter().map(|one| &*one.1).collect();
            told.join(", ")
        }

        fn last(&self) -> RequestId {
            self.told.last().unwrap().0
        }

        fn event(&mut self, request: RequestId, event: TurnEvent) {
            let output = Output::Event {
                session: SessionKey(1),
                request: Some(request),
                event,
            };
            self.app.on_outputs(vec![output], self.now);
            self.note();
        }

        fn answer(&mut self, request: RequestId, answer: Answer) -> String {
            let before = self.told.len();
            let output = Output::Answer { request, answer };
            self.app.on_outputs(vec![output], self.now);
            self.note();
            self.told_since(before)
        }

        fn over(&mut self, request: RequestId) -> String {
            self.answer(request, Answer::Turn(Box::default()))
        }

        fn draft(&self) -> String {
            self.app.composer.draft().buffer.expand()
        }
    }

    #[test]
    fn what_is_said_to_a_summary_waits_for_its_end() {
        let mut table = Table::new();
        assert_eq!(table.press("/compact\r"), "compact");
        let asked = table.last();
        assert_eq!(table.press("one\r"), "");
        table.event(asked, TurnEvent::Compacting);
        assert_eq!(table.press("two\r"), "");
        assert_eq!(table.over(asked), "prompt one");
        let prompt = table.last();
        table.event(prompt, TurnEvent::TurnStart);
        assert_eq!(table.press("three\r"), "steer three");
        assert_eq!(table.over(prompt), "prompt two");
        let prompt = table.last();
        table.event(prompt, TurnEvent::TurnStart);
        table.over(prompt);
        // One that the core makes by itself.
        table.event(RequestId::NOBODY, TurnEvent::Compacting);
        assert_eq!(table.press("four\r"), "");
        assert_eq!(table.over(RequestId::NOBODY), "prompt four");
    }

    #[test]
    fn a_message_that_came_too_late_for_a_turn_is_a_prompt() {
        let mut table = Table::new();
        table.press("one\r");
        let turn = table.last();
        table.event(turn, TurnEvent::TurnStart);
        assert_eq!(table.press("held\r"), "steer held");
        let held = table.last();
        table.answer(held, Answer::Done);
        assert_eq!(table.press("late\r"), "steer late");
        let late = table.last();
        assert_eq!(table.over(turn), "");
        let refused = Answer::Refused("no turn is running".into());
        assert_eq!(table.answer(late, refused), "prompt late");
        assert_eq!(table.app.queue.band().waiting, 0);
    }

    #[test]
    fn a_line_that_came_too_early_has_its_turn_later() {
        for (line, expected) in [("hi\r", "prompt hi"), ("!ls\r", "shell ls")] {
            let mut table = Table::new();
            assert_eq!(table.press(line), expected);
            let asked = table.last();
            table.event(RequestId::NOBODY, TurnEvent::Compacting);
            assert_eq!(table.answer(asked, Answer::Refused("busy".into())), "");
            assert_eq!(table.press("next\r"), "");
            assert_eq!(table.over(RequestId::NOBODY), expected);
            // What runs is not known here.
            let mut table = Table::new();
            table.press(line);
            let asked = table.last();
            table.answer(asked, Answer::Refused("busy".into()));
            // A command comes back by itself only.
            if line.starts_with('!') {
                assert_eq!(table.draft(), "");
                table.press("\x1b[A");
            }
            assert_eq!(table.draft(), line.trim_end());
        }
    }

    #[test]
    fn messages_that_an_interrupt_discards_are_drafts_again() {
        for (typed, key, draft, back) in [
            ("more", "\x1b", "two\nthree\nmore", "!make"),
            ("more", "\x03", "", "more"),
            // What is said does not become part of a command.
            ("!rm x", "\x1b", "!rm x", "two\nthree"),
        ] {
            let mut table = Table::new();
            table.press("one\r");
            let turn = table.last();
            table.event(turn, TurnEvent::TurnStart);
            assert_eq!(
                table.press("two\rthree\r!ls\r!make\r"),
                "steer two, steer three"
            );
            table.press(typed);
            assert_eq!(table.press(key), "stop");
            let discarded = ["two", "three"].map(String::from).to_vec();
            table.event(turn, TurnEvent::Discarded(discarded));
            table.over(turn);
            assert_eq!(table.draft(), draft, "{key:?}");
            assert_eq!(table.app.queue.band().waiting, 0);
            let shown = screen(&mut table.app, 40, table.now);
            assert_eq!(
                shown.matches("not run: `!ls`, `!make` - ↑").count(),
                1,
                "{shown}"
            );
            table.press("\x01\x1b[A");
            assert_eq!(table.draft(), back, "{typed} {key:?}");
        }
    }

    /// What an extension says to the turn waits, is amended and taken like what is typed.
    #[test]
    fn messages_of_extensions_wait_too() {
        let mut table = Table::new();
        table.press("one\r");
        let turn = table.last();
        table.event(turn, TurnEvent::TurnStart);
        table.press("two\r");
        let message = RequestId(u64::MAX);
        let held = |session| Output::Held {
            session: SessionKey(session),
            message,
            text: "theirs".into(),
        };
        table.app.on_outputs(vec![held(1), held(7)], table.now);
        let shown = screen(&mut table.app, 40, table.now);
        assert!(shown.contains("2 messages waiting · both steer"), "{shown}");
        table.press("\x1b[A");
        assert_eq!(table.draft(), "theirs");
        table.press("!\r");
        assert_eq!(table.app.queue.amends[0].1.message, message);
        table.event(turn, TurnEvent::Steered("theirs!".into()));
        assert_eq!(table.app.queue.band().waiting, 1);
        // One that is not taken is no draft of the person's.
        table.app.on_outputs(vec![held(1)], table.now);
        let discarded = ["two", "theirs"].map(String::from).to_vec();
        table.event(turn, TurnEvent::Discarded(discarded));
        assert_eq!(table.draft(), "two");
        assert_eq!(table.app.queue.band().waiting, 0);
    }

    /// What the person has made of it is the person's.
    #[test]
    fn an_edited_message_of_an_extension_is_a_draft_again() {
        let mut table = Table::new();
        table.press("one\r");
        let turn = table.last();
        table.event(turn, TurnEvent::TurnStart);
        let held = |number, text: &str| Output::Held {
            session: SessionKey(1),
            message: RequestId(u64::MAX - number),
            text: text.into(),
        };
        let long = "x".repeat(1 << 20);
        let outputs = vec![held(1, "theirs"), held(2, &long)];
        table.app.on_outputs(outputs, table.now);
        table.press("\x1b[A\x1b[A!\r\x1b");
        let discarded = vec!["theirs!".into(), long];
        table.event(turn, TurnEvent::Discarded(discarded));
        assert_eq!(table.draft(), "theirs!");
        // What is told about the other one is bounded.
        let shown = screen(&mut table.app, 40, table.now);
        assert!(shown.contains("…`") && shown.len() < 20_000, "{shown}");
    }

    /// It is the own draft that a message under review stands in.
    #[test]
    fn a_message_is_taken_from_behind_a_field() {
        for (typed, field, draft) in [("", "other", ""), ("", "two", ""), ("!", "x", "two!")] {
            let mut table = Table::new();
            table.press("one\r");
            let turn = table.last();
            table.event(turn, TurnEvent::TurnStart);
            table.press("two\r\x1b[A");
            table.press(typed);
            table.app.composer.open_field(field, false);
            table.event(turn, TurnEvent::Steered("two".into()));
            assert_eq!(table.app.composer.close_field().as_deref(), Some(field));
            assert_eq!(table.draft(), draft);
        }
    }

    #[test]
    fn a_prompt_that_waits_stays_a_prompt() {
        let mut table = Table::new();
        table.press("!sleep 9\r");
        let shell = table.last();
        table.app.submit_prompt("!rm x".into(), table.now);
        table.note();
        let result = crate::chat::ToolResult::failed("stopped");
        assert_eq!(
            table.answer(shell, Answer::Shell(Box::new(result))),
            "prompt !rm x"
        );
    }
}
