//! Completions of a command's arguments: asked of its extension while the draft is `/name …`.
//!
//! One question is on its way at a time. An answer to a draft that has changed since is dropped, and
//! the new one is asked about.

use serde_json::{Value, json};

use super::super::{App, Effect};
use crate::agent::{Input, RequestId};
use crate::extension::answer::{Completion, completions};
use crate::extension::{ExtensionId, Failure};
use crate::tui::key::{Key, KeyPress};
use crate::tui::style::Row;
use crate::tui::view::picker::{Item, Picker};
use crate::tui::view::status::widest;
use crate::tui::view::surface::framed;

/// Completions that are seen at a time.
const HEIGHT: usize = 6;
const HINTS: &[&str] = &["↑/↓ choose · enter insert · esc close", "↑/↓ · enter · esc"];

/// What is asked and what is offered.
#[derive(Debug, Default)]
pub(super) struct Completions {
    /// The question that is on its way, and the draft that it is about.
    asked: Option<(RequestId, String)>,
    open: Option<Open>,
    /// The draft that a completion has just made: it is not completed again.
    done: Option<String>,
}

#[derive(Debug)]
struct Open {
    picker: Picker,
    values: Vec<String>,
}

impl Completions {
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Whether some are offered.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn rows(&self, columns: usize) -> Option<Vec<Row>> {
        let open = self.open.as_ref()?;
        let (header, body) = open.picker.rows(columns);
        Some(framed(header, body, widest(HINTS, columns), columns))
    }
}

/// A command and what is written behind it.
struct Line<'a> {
    name: &'a str,
    prefix: &'a str,
}

fn line(draft: &str) -> Option<Line<'_>> {
    let (name, prefix) = draft.strip_prefix('/')?.split_once(' ')?;
    (!prefix.contains('\n')).then_some(Line { name, prefix })
}

impl App {
    /// The draft is another one: asks for completions where there may be some.
    pub(super) fn complete_draft(&mut self) {
        let draft = self.composer.draft().buffer.text();
        let completes = |line: &Line<'_>| -> Option<ExtensionId> {
            let command = self.process.extensions.command(line.name)?;
            command.item.completions.then_some(command.owner)
        };
        let found = line(draft).and_then(|line| Some((completes(&line)?, line)));
        let state = &mut self.extensions.completions;
        let Some((to, Line { name, prefix })) = found else {
            state.close();
            return;
        };
        if state.asked.is_some() || state.done.as_deref() == Some(draft) {
            return;
        }
        let params = json!({"name": name, "prefix": prefix});
        let draft = draft.to_owned();
        let request = self.next_request();
        let state = &mut self.extensions.completions;
        state.done = None;
        state.asked = Some((request, draft));
        self.effects.push(Effect::Send(Input::Call {
            request,
            to,
            method: "command.complete",
            params,
        }));
    }

    /// An extension has completed a draft, or has failed to, which shows nothing.
    pub(super) fn completed(&mut self, request: RequestId, result: Result<Value, Failure>) {
        let state = &mut self.extensions.completions;
        let Some((_, about)) = state.asked.take_if(|(asked, _)| *asked == request) else {
            return;
        };
        if self.composer.is_field() {
            return state.close();
        }
        if self.composer.draft().buffer.text() != about {
            state.close();
            return self.complete_draft();
        }
        let items = result.ok().and_then(|answer| completions(&answer).ok());
        let items = items.unwrap_or_default();
        state.open = (!items.is_empty()).then(|| offer(&about, items));
    }

    /// A key while completions are offered.
    pub(super) fn completion_key(&mut self, press: KeyPress) -> bool {
        let Some(open) = &mut self.extensions.completions.open else {
            return false;
        };
        if press != KeyPress::plain(press.key) {
            return false;
        }
        match press.key {
            Key::Up => open.picker.step(-1),
            Key::Down => open.picker.step(1),
            Key::Escape => self.extensions.completions.close(),
            Key::Enter | Key::Tab => {
                let draft = self.composer.draft().buffer.text();
                let value = open.picker.chosen().and_then(|at| open.values.get(at));
                let (Some(value), Some(Line { name, prefix })) = (value, line(draft)) else {
                    return false;
                };
                // Somebody who wrote it all wants it run.
                if press.key == Key::Enter && prefix.trim() == value {
                    self.extensions.completions.close();
                    return false;
                }
                let done = format!("/{name} {value} ");
                let from = draft.len() - prefix.len();
                let range = from..draft.len();
                self.composer.replace(range, &format!("{value} "));
                self.extensions.completions.close();
                self.extensions.completions.done = Some(done);
                self.draft_was_edited();
            }
            _ => return false,
        }
        true
    }
}

fn offer(draft: &str, items: Vec<Completion>) -> Open {
    let title = draft.split(' ').next().unwrap_or_default();
    let values = items.iter().map(|item| item.value.clone()).collect();
    let items = items.into_iter().map(|completion| Item {
        label: completion.label,
        description: completion.description,
        ..Item::default()
    });
    Open {
        // The draft is the filter, and the extension applies it.
        picker: Picker::new(title, items.collect(), HEIGHT).narrowed(),
        values,
    }
}
