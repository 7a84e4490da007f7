//! Questions: one at a time over all extensions, first come.

use serde_json::{Value, json};
use std::collections::VecDeque;

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
use crate::tui::view::question;

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
    ask: AskId,
    owner: ExtensionId,
    from: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Select {
        picker: Box<Picker>,
        choices: Vec<Choice>,
    },
    Confirm(Box<Picker>),
    /// The composer is the field.
    Field {
        title: String,
        placeholder: String,
        prefill: String,
        field: Field,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Line,
    Secret,
    Lines,
}

impl Open {
    fn cancelled(&self) -> Value {
        match self.kind {
            Kind::Confirm(_) => json!({"confirmed": false}),
            Kind::Select { .. } | Kind::Field { .. } => json!({"cancelled": true}),
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        match &mut self.kind {
            Kind::Select { picker, .. } | Kind::Confirm(picker) => Some(picker),
            Kind::Field { .. } => None,
        }
    }
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
        let Some(Question {
            ask,
            owner,
            from,
            ui,
        }) = self.waiting.pop_front()
        else {
            return false;
        };
        let kind = match ui {
            Ui::Select(select) => Kind::Select {
                picker: Box::new(question::picker(&select.title, &from, &select.options)),
                choices: select.options,
            },
            Ui::Confirm { title, message } => {
                Kind::Confirm(Box::new(question::yes_or_no(&title, &from, &message)))
            }
            Ui::Input {
                title,
                placeholder,
                prefill,
                secret,
            } => {
                let prefill = one_row(&prefill);
                composer.open_field(&prefill, secret);
                Kind::Field {
                    title,
                    placeholder,
                    prefill,
                    field: if secret { Field::Secret } else { Field::Line },
                }
            }
            Ui::Editor {
                title,
                text,
                placeholder,
            } => {
                composer.open_field(&text, false);
                Kind::Field {
                    title,
                    placeholder,
                    prefill: text,
                    field: Field::Lines,
                }
            }
            // Only questions are added.
            _ => return false,
        };
        self.open = Some(Open {
            ask,
            owner,
            from,
            kind,
        });
        true
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
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

    pub fn rows(&self, columns: usize) -> Option<Vec<Row>> {
        let open = self.open.as_ref()?;
        Some(match &open.kind {
            Kind::Select { picker, .. } => question::select_rows(picker, columns),
            Kind::Confirm(picker) => question::confirm_rows(picker, columns),
            Kind::Field { title, field, .. } => {
                question::field_rows(title, &open.from, *field == Field::Lines, columns)
            }
        })
    }

    /// What stands in the open field while it is empty.
    pub fn placeholder(&self) -> Option<&str> {
        match &self.open.as_ref()?.kind {
            Kind::Field { placeholder, .. } => Some(placeholder),
            Kind::Select { .. } | Kind::Confirm(_) => None,
        }
    }

    /// The person wants none of them.
    pub fn cancel_all(&mut self, composer: &mut Composer) -> Vec<Effect> {
        let mut effects: Vec<Effect> = self.cancel(composer).into_iter().collect();
        let waiting = self.waiting.drain(..);
        effects.extend(waiting.map(|question| answered(question.ask, question.ui.cancelled())));
        effects
    }

    /// The person does not want the open one.
    fn cancel(&mut self, composer: &mut Composer) -> Option<Effect> {
        let open = self.close(composer)?;
        Some(answered(open.ask, open.cancelled()))
    }

    fn close(&mut self, composer: &mut Composer) -> Option<Open> {
        let open = self.open.take()?;
        if let Kind::Field { .. } = open.kind {
            composer.close_field();
        }
        Some(open)
    }
}

impl App {
    /// Nobody waits for these answers any more; says which they are. What was typed into a field that
    /// goes is not lost.
    pub(super) fn take_back(&mut self, is_gone: impl Fn(AskId, ExtensionId) -> bool) -> Vec<AskId> {
        let questions = &mut self.extensions.questions;
        let mut gone = Vec::new();
        if let Some(open) = questions.open.take_if(|open| is_gone(open.ask, open.owner)) {
            gone.push(open.ask);
            if let Kind::Field { prefill, field, .. } = open.kind {
                let text = self.composer.close_field().unwrap_or_default();
                if field != Field::Secret && text != prefill && !text.trim().is_empty() {
                    self.composer.remember(&text);
                    self.transcript.push_notice(&format!(
                        "the question of {} is over - ↑ brings back what you typed",
                        open.from
                    ));
                }
            }
        }
        questions.waiting.retain(|one| {
            let is_gone = is_gone(one.ask, one.owner);
            gone.extend(is_gone.then_some(one.ask));
            !is_gone
        });
        gone
    }

    /// A key while a question is open. None when it is a key of e that works there, too.
    pub(super) fn question_key(&mut self, press: KeyPress) -> Option<Vec<Effect>> {
        let open = self.extensions.questions.open.as_mut()?;
        if press == KeyPress::plain(Key::Escape) {
            let cancelled = self.extensions.questions.cancel(&mut self.composer);
            return Some(cancelled.into_iter().collect());
        }
        let Kind::Field { field, .. } = open.kind else {
            return self.pick_key(press);
        };
        match command(&press) {
            Some(Command::Editor) if field == Field::Lines => None,
            Some(Command::Redraw | Command::Suspend | Command::Reader) => None,
            Some(_) => Some(Vec::new()),
            None => Some(self.field_key(press, field)),
        }
    }

    fn pick_key(&mut self, press: KeyPress) -> Option<Vec<Effect>> {
        if let Some(Command::Redraw | Command::Suspend | Command::Reader) = command(&press) {
            return None;
        }
        let open = self.extensions.questions.open.as_mut()?;
        let is_confirm = matches!(open.kind, Kind::Confirm(_));
        let picker = open.picker()?;
        let mut query = picker.query().to_owned();
        match press.key {
            Key::Up => picker.step(-1),
            Key::Down => picker.step(1),
            Key::Enter => return Some(self.answer_pick()),
            _ if is_confirm => match press.text() {
                Some('y' | 'Y') => return Some(self.answer_confirm(true)),
                Some('n' | 'N') => return Some(self.answer_confirm(false)),
                _ => {}
            },
            Key::Backspace => {
                query.pop();
                picker.set_query(&query);
            }
            _ => {
                if let Some(c) = press.text() {
                    query.push(c);
                    picker.set_query(&query);
                }
            }
        }
        Some(Vec::new())
    }

    /// Answers with the selected entry; where nothing matches there is none.
    fn answer_pick(&mut self) -> Vec<Effect> {
        let questions = &mut self.extensions.questions;
        let Some(open) = questions.open.as_mut() else {
            return Vec::new();
        };
        let Some(chosen) = open.picker().and_then(|picker| picker.chosen()) else {
            return Vec::new();
        };
        let result = match &open.kind {
            Kind::Select { choices, .. } => choices.get(chosen).map(Choice::answer),
            Kind::Confirm(_) => Some(json!({"confirmed": chosen == 0})),
            Kind::Field { .. } => None,
        };
        let answer = result.map(|result| answered(open.ask, result));
        questions.close(&mut self.composer);
        answer.into_iter().collect()
    }

    fn answer_confirm(&mut self, confirmed: bool) -> Vec<Effect> {
        let open = self.extensions.questions.close(&mut self.composer);
        open.map(|open| answered(open.ask, json!({"confirmed": confirmed})))
            .into_iter()
            .collect()
    }

    fn field_key(&mut self, press: KeyPress, field: Field) -> Vec<Effect> {
        let found = self.keymap.find(&press);
        if let (Field::Line | Field::Secret, Found::Action { action, .. }) = (field, found) {
            match action {
                // Also behind a backslash, which may be part of a secret.
                Action::Enter => return self.answer_field(),
                Action::Newline => return Vec::new(),
                _ => {}
            }
        }
        match self.composer.key(&press, &self.keymap) {
            Handled::Submit => self.answer_field(),
            Handled::Changed | Handled::Ignored => Vec::new(),
        }
    }

    fn answer_field(&mut self) -> Vec<Effect> {
        let text = self.composer.close_field().unwrap_or_default();
        let open = self.extensions.questions.open.take();
        open.map(|open| answered(open.ask, json!({"text": text})))
            .into_iter()
            .collect()
    }

    /// Pasted text goes into the field, or into the filter of a list.
    pub(super) fn question_paste(&mut self, text: &str) -> Option<Vec<Effect>> {
        let open = self.extensions.questions.open.as_mut()?;
        let Kind::Field { field, .. } = open.kind else {
            // Two answers are not narrowed.
            let is_list = matches!(open.kind, Kind::Select { .. });
            if let Some(picker) = open.picker().filter(|_| is_list) {
                let query = format!("{}{}", picker.query(), one_row(text));
                picker.set_query(&query);
            }
            return Some(Vec::new());
        };
        // The answer is text alone, so a marker would stand for nothing.
        let style = PasteStyle {
            placeholder: 0,
            ..PasteStyle::default()
        };
        let text = match field {
            Field::Line => one_row(text),
            Field::Secret | Field::Lines => text.to_owned(),
        };
        if let Err(error) = self.composer.paste(&text, style) {
            self.transcript.push_error(&error.to_string());
        }
        Some(Vec::new())
    }

    /// What the open field of a question shows while it is empty.
    pub(in crate::tui::app) fn field_placeholder(&self) -> Option<&str> {
        let is_empty = self.composer.draft().buffer.is_empty();
        let text = self.extensions.questions.placeholder()?;
        (is_empty && !text.is_empty()).then_some(text)
    }
}

/// A text for a field of one row.
fn one_row(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    text.replace("\r\n", "\n").replace(['\n', '\r'], " ")
}
