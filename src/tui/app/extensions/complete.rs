//! Completions of a command's arguments: asked of its extension while the draft is `/name …`.
//!
//! One question is on its way at a time. An answer to a draft that has changed since is dropped,
//! and the new one is asked about.

use serde_json::{Value, json};

use super::super::pickers::Picks;
use super::super::{App, Effect};
use crate::agent::{Input, RequestId};
use crate::extension::answer::Completions as Answer;
use crate::extension::{ExtensionId, Failure};
use crate::tui::view::picker::{Item, Picker};

/// Completions that are seen at a time.
const HEIGHT: usize = 6;

/// What is asked.
#[derive(Debug, Default)]
pub(super) struct Completions {
    /// The question that is on its way, and the draft that it is about.
    asked: Option<(RequestId, String)>,
    /// The draft that a completion has just made: it is not completed again.
    done: Option<String>,
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
        let Some((to, Line { name, prefix })) = found else {
            return self.close_arguments();
        };
        let state = &self.extensions.completions;
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
        self.close_arguments();
        if self.composer.is_field() {
            return;
        }
        if self.composer.draft().buffer.text() != about {
            return self.complete_draft();
        }
        let answer = result.ok().and_then(|answer| Answer::parse(&answer).ok());
        let items = answer.unwrap_or_default().items;
        if items.is_empty() || !self.draft_may_open_list() {
            return;
        }
        let title = about.split(' ').next().unwrap_or_default();
        let values = items.iter().map(|item| item.value.clone()).collect();
        let items = items.into_iter().map(|completion| Item {
            label: completion.label,
            description: completion.description,
            ..Item::default()
        });
        // The draft is the filter, and the extension applies it.
        let picker = Picker::new(title, items.collect(), HEIGHT).narrowed();
        self.open_picker(picker, Picks::Arguments(values));
    }

    pub(super) fn close_arguments(&mut self) {
        self.surface.take_if(|surface| surface.offers_arguments());
    }

    /// Writes a completion behind the command.
    pub(in crate::tui::app) fn argument_picked(&mut self, value: &str) {
        let draft = self.composer.draft().buffer.text();
        let Some(Line { name, prefix }) = line(draft) else {
            return;
        };
        let done = format!("/{name} {value} ");
        let range = draft.len() - prefix.len()..draft.len();
        self.composer.replace(range, &format!("{value} "));
        self.extensions.completions.done = Some(done);
        self.draft_was_edited();
    }

    /// Whether this stands behind the command already.
    pub(in crate::tui::app) fn has_argument(&self, value: &str) -> bool {
        let line = line(self.composer.draft().buffer.text());
        line.is_some_and(|line| line.prefix.trim() == value)
    }
}
