//! Questions: one at a time over all extensions, first come.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Instant;

use super::super::deaf::Deaf;
use super::super::images::Place;
use super::super::{App, Effect};
use super::answered;
use crate::config::keybindings::Action;
use crate::extension::request::Ui;
use crate::extension::ui::Choice;
use crate::extension::{AskId, ExtensionId};
use crate::text::clip_columns;
use crate::tui::composer::{Composer, Handled, PasteStyle};
use crate::tui::key::{Key, KeyPress};
use crate::tui::keymap::{Command, Found, command};
use crate::tui::style::Row;
use crate::tui::view::picker::Picker;
use crate::tui::view::question as view;

/// Columns of what is told about a question that waits: who asks, and what.
const FROM: usize = 20;
const TITLE: usize = 30;

/// A question and who asks it.
#[derive(Debug)]
pub(super) struct Question {
    pub ask: AskId,
    pub owner: ExtensionId,
    pub from: String,
    pub ui: Ui,
    /// Whether it comes of what the person has just done.
    pub is_wanted: bool,
}

/// The open question, and those that wait for their turn.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: Option<Open>,
    /// Each extension has a bounded number of them.
    waiting: VecDeque<Question>,
}

#[derive(Debug)]
struct Open {
    question: Question,
    /// The answers to pick from; without any the composer is the field.
    picker: Option<Picker>,
    reading: view::Reading,
}

impl Questions {
    pub fn add(&mut self, question: Question) {
        self.waiting.push_back(question);
    }

    /// Opens the oldest one when none is open; whether one opened.
    pub fn open_next(&mut self, composer: &mut Composer) -> bool {
        if self.open.is_some() {
            return false;
        }
        let Some(question) = self.waiting.pop_front() else {
            return false;
        };
        let from = &question.from;
        let picker = match &question.ui {
            Ui::Select(select) => Some(view::picker(&select.title, from, &select.options)),
            Ui::Confirm { title, .. } => Some(view::yes_or_no(title, from)),
            Ui::Input {
                prefill, secret, ..
            } => {
                composer.open_field(&one_row(prefill), *secret);
                None
            }
            Ui::Editor { text, .. } => {
                composer.open_field(text, false);
                None
            }
            // Only questions are added.
            _ => return false,
        };
        self.open = Some(Open {
            question,
            picker,
            reading: view::Reading::default(),
        });
        true
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Which question is open.
    pub fn open(&self) -> Option<AskId> {
        Some(self.open.as_ref()?.question.ask)
    }

    /// Whether there is one, or is one with the next frame.
    pub fn has_any(&self) -> bool {
        self.open.is_some() || !self.waiting.is_empty()
    }

    /// Whose question is open, and whether it comes of what the person did.
    pub fn asker(&self) -> Option<(ExtensionId, bool)> {
        let question = &self.open.as_ref()?.question;
        Some((question.owner, question.is_wanted))
    }

    /// Who asks what, when nothing can be seen of it.
    pub fn waits(&self) -> Option<String> {
        let next = self.waiting.front().filter(|_| self.open.is_none())?;
        let from = clip_columns(&next.from, FROM);
        Some(format!(
            "{from} asks: {}",
            clip_columns(next.ui.title(), TITLE)
        ))
    }

    /// The surface of the open one, in `height` rows where that is possible.
    pub fn rows(&mut self, columns: usize, height: usize) -> Option<Vec<Row>> {
        let Open {
            question,
            picker,
            reading,
        } = self.open.as_mut()?;
        Some(match (&question.ui, picker) {
            (Ui::Confirm { message, .. }, Some(picker)) => {
                view::confirm_rows(picker, message, reading, columns, height)
            }
            (_, Some(picker)) => view::select_rows(picker, columns, height),
            (ui, None) => view::field_rows(ui.title(), &question.from, has_lines(ui), columns),
        })
    }

    /// What stands in the open field while it is empty.
    pub fn placeholder(&self) -> Option<&str> {
        match &self.open.as_ref()?.question.ui {
            Ui::Input { placeholder, .. } | Ui::Editor { placeholder, .. } => Some(placeholder),
            _ => None,
        }
    }

    /// The person wants none of them.
    pub fn cancel_all(&mut self, composer: &mut Composer) -> Vec<Effect> {
        let open = self.close(composer).into_iter();
        open.chain(self.waiting.drain(..)).map(cancelled).collect()
    }

    fn close(&mut self, composer: &mut Composer) -> Option<Question> {
        let open = self.open.take()?;
        composer.close_field();
        Some(open.question)
    }
}

impl App {
    /// Nobody waits for these answers any more; says which they are. What was typed into a field
    /// that goes is not lost.
    pub(super) fn take_back(
        &mut self,
        now: Instant,
        is_gone: impl Fn(AskId, ExtensionId) -> bool,
    ) -> Vec<AskId> {
        let questions = &mut self.extensions.questions;
        let mut gone = Vec::new();
        let was_open = questions.is_open();
        if let Some(Open { question, .. }) = questions
            .open
            .take_if(|open| is_gone(open.question.ask, open.question.owner))
        {
            gone.push(question.ask);
            // What comes up in its place is not what the next keys are for.
            self.deaf = Deaf::Unseen;
            self.extensions.calls.turned_away();
            if let Ui::Input { secret: true, .. } = question.ui {
                self.lost_secret = Deaf::Unseen;
            }
            let text = self.composer.close_field().unwrap_or_default();
            let is_kept = match &question.ui {
                Ui::Input { secret: true, .. } => false,
                Ui::Input { prefill, .. } => text != one_row(prefill),
                Ui::Editor { text: given, .. } => text != *given,
                _ => false,
            };
            if is_kept && !text.trim().is_empty() {
                self.composer.remember(&text);
                self.transcript.push_notice(&format!(
                    "the question of {} is over - ↑ brings back what you typed",
                    question.from
                ));
            }
        }
        questions.waiting.retain(|one| {
            let is_gone = is_gone(one.ask, one.owner);
            gone.extend(is_gone.then_some(one.ask));
            !is_gone
        });
        // What the person meant for the one that is gone may come any moment.
        if was_open && !questions.is_open() && self.extension_has_or_gets_keys() {
            self.typed_at = Some(now);
        }
        gone
    }

    /// A key while a question is open. False when it is a key of e that works there, too.
    pub(super) fn question_key(&mut self, press: KeyPress) -> bool {
        let Some(open) = &self.extensions.questions.open else {
            return false;
        };
        let has_lines = has_lines(&open.question.ui);
        match command(&press) {
            _ if press == KeyPress::plain(Key::Escape) => {
                self.cancel();
            }
            Some(Command::Editor) if has_lines => return false,
            Some(Command::Redraw | Command::Suspend) => return false,
            _ if open.picker.is_some() => self.pick_key(press),
            Some(_) => {}
            None => self.field_key(press, has_lines),
        }
        true
    }

    fn pick_key(&mut self, press: KeyPress) {
        let Some(Open {
            question,
            picker: Some(picker),
            reading,
        }) = &mut self.extensions.questions.open
        else {
            return;
        };
        let is_confirm = matches!(question.ui, Ui::Confirm { .. });
        match press.key {
            Key::Up => picker.step(-1),
            Key::Down => picker.step(1),
            Key::Enter => self.answer_pick(),
            Key::PageUp if is_confirm => reading.turn(-1),
            Key::PageDown if is_confirm => reading.turn(1),
            _ if is_confirm => match press.text() {
                Some('y' | 'Y') => self.answer(json!({"confirmed": true})),
                Some('n' | 'N') => self.answer(json!({"confirmed": false})),
                _ => {}
            },
            Key::Backspace => picker.shorten_query(),
            Key::Char('u') if press.ctrl => picker.set_query(""),
            _ => picker.extend_query(&String::from_iter(press.text())),
        }
    }

    /// Answers with the selected entry; a list in which nothing matches is closed.
    fn answer_pick(&mut self) {
        let result = self.extensions.questions.open.as_ref().and_then(|open| {
            let chosen = open.picker.as_ref()?.chosen()?;
            match &open.question.ui {
                Ui::Select(select) => select.options.get(chosen).map(Choice::answer),
                _ => Some(json!({"confirmed": chosen == 0})),
            }
        });
        match result {
            Some(result) => self.answer(result),
            None => self.cancel(),
        }
    }

    fn cancel(&mut self) {
        let closed = self.close_question();
        self.effects.extend(closed.map(cancelled));
    }

    fn answer(&mut self, result: Value) {
        let question = self.close_question();
        let answer = question.map(|question| answered(question.ask, result));
        self.effects.extend(answer);
    }

    /// The person is done with the open question, and looks at what else its asker wants.
    fn close_question(&mut self) -> Option<Question> {
        let closed = self.extensions.questions.close(&mut self.composer)?;
        self.extensions.calls.answered(closed.owner);
        Some(closed)
    }

    fn field_key(&mut self, press: KeyPress, has_lines: bool) {
        if let (false, Found::Action { action, .. }) = (has_lines, self.keymap.find(&press)) {
            match action {
                // Also behind a backslash, which may be part of a secret.
                Action::Enter => return self.answer_field(),
                Action::Newline => return,
                Action::Yank if self.composer.killed().contains('\n') => return,
                _ => {}
            }
        }
        match self.composer.key(&press, &self.keymap) {
            Handled::Submit => self.answer_field(),
            Handled::Changed | Handled::Ignored => {}
        }
    }

    pub(in crate::tui::app) fn answer_field(&mut self) {
        let place = self.open_question().map(Place::Question);
        if place.is_some_and(|place| self.enter_waits(place)) {
            return;
        }
        let text = self.composer.close_field().unwrap_or_default();
        self.answer(json!({"text": text}));
    }

    /// Pasted text goes into the field, or into the filter of a list.
    pub(in crate::tui::app) fn question_paste(&mut self, text: &str) {
        let Some(Open {
            question, picker, ..
        }) = &mut self.extensions.questions.open
        else {
            return;
        };
        if let Some(picker) = picker {
            // Two answers are not narrowed.
            if let Ui::Select(_) = question.ui {
                picker.extend_query(text);
            }
            return;
        }
        // The answer is text alone, so a marker would stand for nothing.
        let style = PasteStyle {
            placeholder: 0,
            ..PasteStyle::default()
        };
        let text = match question.ui {
            Ui::Input { secret: false, .. } => one_row(text),
            _ => text.to_owned(),
        };
        if let Err(error) = self.composer.paste(&text, style) {
            self.transcript.push_error(&error.to_string());
        }
    }

    /// What the open field of a question shows while it is empty.
    pub(in crate::tui::app) fn field_placeholder(&self) -> Option<&str> {
        let is_empty = self.composer.draft().buffer.is_empty();
        let text = self.extensions.questions.placeholder()?;
        (is_empty && !text.is_empty()).then_some(text)
    }
}

/// The answer to a question that the person does not want.
fn cancelled(question: Question) -> Effect {
    answered(question.ask, question.ui.cancelled())
}

/// Whether the answer may have several lines.
fn has_lines(ui: &Ui) -> bool {
    matches!(ui, Ui::Editor { .. })
}

/// A text for a field of one row.
fn one_row(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    text.replace("\r\n", "\n").replace(['\n', '\r'], " ")
}
