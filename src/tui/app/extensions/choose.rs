//! What an extension chooses for the session: another model or effort, as `/models` and `/effort` do.
//!
//! The catalog is read from files, so each choice is a task. They are made one after another: an
//! effort is one of the model that was chosen before it.

use std::collections::VecDeque;

use serde_json::json;

use super::super::{App, Done, Effect, Task};
use super::{answered, refused};
use crate::agent::{Selection, SessionKey};
use crate::error::Result;
use crate::extension::AskId;

/// What is to be chosen.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    Model(String),
    Effort(String),
}

/// Choices that have not been made, the first of them in a task.
pub(super) type Choices = VecDeque<(AskId, Choice)>;

/// A choice that was looked up.
#[derive(Debug)]
pub struct Chosen {
    ask: AskId,
    session: SessionKey,
    selection: Result<Selection>,
}

impl App {
    /// An extension chooses.
    pub(super) fn extension_chooses(&mut self, ask: AskId, choice: Choice) -> Vec<Effect> {
        self.extensions.choices.push_back((ask, choice));
        match self.extensions.choices.len() {
            1 => self.next_choice(),
            _ => Vec::new(),
        }
    }

    fn next_choice(&mut self) -> Vec<Effect> {
        let Some(session) = &self.session else {
            let choices = self.extensions.choices.drain(..);
            let refuse = |(ask, _)| refused(ask, "there is no session");
            return choices.map(refuse).collect();
        };
        let Some((ask, choice)) = self.extensions.choices.front().cloned() else {
            return Vec::new();
        };
        let (process, key, current) =
            (self.process.clone(), session.key, session.selection.clone());
        let work = move || {
            let selection = match choice {
                Choice::Model(name) => process.select(&current, Some(&name), None),
                Choice::Effort(level) => process.select(&current, None, Some(level)),
            };
            Done::Chosen(Chosen {
                ask,
                session: key,
                selection,
            })
        };
        vec![Effect::Task(Task::new(work))]
    }

    /// The choice was looked up: it is used from now on and kept in the settings.
    pub(in crate::tui::app) fn extension_chose(&mut self, chosen: Chosen) -> Vec<Effect> {
        let choices = &mut self.extensions.choices;
        // After a reload it is not the one that is waited for.
        if choices.front().is_none_or(|(ask, _)| *ask != chosen.ask) {
            return Vec::new();
        }
        let Some((ask, choice)) = choices.pop_front() else {
            return Vec::new();
        };
        let is_here = self.session.as_ref().map(|session| session.key) == Some(chosen.session);
        let mut effects = match chosen.selection {
            Err(error) => vec![refused(ask, &error.to_string())],
            Ok(_) if !is_here => vec![refused(ask, "the session is another one")],
            Ok(selection) => {
                let (model, effort) = (selection.model.slug(), selection.effort.clone());
                let mut effects = self.select(selection);
                effects.extend(match choice {
                    Choice::Model(_) => self.save("model", json!(model)),
                    Choice::Effort(_) => self.save("effort", json!(effort)),
                });
                self.options.model = Some(model);
                self.options.effort = effort;
                effects.push(answered(ask, json!({})));
                effects
            }
        };
        effects.extend(self.next_choice());
        effects
    }
}
