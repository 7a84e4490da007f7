//! What an extension chooses for the session: another model or effort, as `/models` and `/effort`
//! do.
//!
//! The catalog is read from files, so each choice is a task. They are made one after another: an
//! effort is one of the model that was chosen before it.

use std::collections::VecDeque;

use serde_json::json;

use super::super::{App, Done};
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
    pub(super) fn extension_chooses(&mut self, ask: AskId, choice: Choice) {
        self.extensions.choices.push_back((ask, choice));
        if self.extensions.choices.len() == 1 {
            self.next_choice();
        }
    }

    fn next_choice(&mut self) {
        let Some(session) = &self.session else {
            return self.refuse_choices("there is no session");
        };
        let Some((ask, choice)) = self.extensions.choices.front().cloned() else {
            return;
        };
        let (process, key, current) =
            (self.process.clone(), session.key, session.selection.clone());
        self.task(move || {
            let selection = match choice {
                Choice::Model(name) => process.select(&current, Some(&name), None),
                Choice::Effort(level) => process.select(&current, None, Some(level)),
            };
            Done::Chosen(Chosen {
                ask,
                session: key,
                selection,
            })
        });
    }

    /// None of the choices is made.
    pub(in crate::tui::app) fn refuse_choices(&mut self, why: &str) {
        let choices = self.extensions.choices.drain(..);
        self.effects
            .extend(choices.map(|(ask, _)| refused(ask, why)));
    }

    /// The choice was looked up: it is used from now on and kept in the settings.
    pub(in crate::tui::app) fn extension_chose(&mut self, chosen: Chosen) {
        let choices = &mut self.extensions.choices;
        let first = choices.front().cloned();
        // After a task that was lost it is not the one that is waited for.
        let Some((ask, choice)) = first.filter(|(ask, _)| *ask == chosen.ask) else {
            return;
        };
        choices.pop_front();
        let is_here = self.session.as_ref().map(|session| session.key) == Some(chosen.session);
        match chosen.selection {
            Err(error) => self.effects.push(refused(ask, &error.to_string())),
            Ok(_) if !is_here => self
                .effects
                .push(refused(ask, "the session is another one")),
            Ok(selection) => {
                let (model, effort) = (selection.model.slug(), selection.effort.clone());
                self.select(selection);
                match choice {
                    Choice::Model(_) => self.save("model", json!(model)),
                    Choice::Effort(_) => self.save("effort", json!(effort)),
                }
                self.options.model = Some(model);
                self.options.effort = effort;
                self.effects.push(answered(ask, json!({})));
            }
        };
        self.next_choice();
    }
}
