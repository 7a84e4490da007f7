//! `/trust`: what is recorded about the directory, and how to change it.

use std::path::PathBuf;

use super::pickers::Picks;
use super::{App, Done};
use crate::config::Trust;
use crate::config::trust::{self, Decision};
use crate::tui::view::picker::{Item, Picker};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    directory: PathBuf,
    trusted: bool,
}

impl App {
    /// Asks what is to be recorded.
    pub(super) fn ask_trust(&mut self) {
        let (home, process) = (self.process.home.clone(), self.process.trusted.clone());
        let cwd = self.cwd.clone();
        self.look_up(move || {
            let (trust, _) = Trust::load(&home, process);
            Done::Trusted(trust.decision(&cwd))
        })
    }

    /// What is recorded is known.
    pub(super) fn offer_trust(&mut self, decision: Decision) {
        let change = |directory: PathBuf, trusted| Change { directory, trusted };
        // What would be refused is not offered.
        let lasts = trust::may_last(&self.process.env, &self.cwd);
        let mut changes = Vec::new();
        changes.extend(lasts.then(|| change(self.cwd.clone(), true)));
        changes.extend(self.broader().map(|broader| change(broader, true)));
        changes.push(change(self.cwd.clone(), false));
        let items = changes.iter().map(|one| Item {
            label: match (one.trusted, one.directory == self.cwd) {
                (true, true) => "Trust this directory".to_owned(),
                (true, false) => format!("Trust {} and all below it", one.directory.display()),
                (false, _) => "Do not trust this directory".to_owned(),
            },
            ..Item::default()
        });
        let is = match decision {
            Decision::Trusted => "it is trusted",
            Decision::Declined => "it is not trusted",
            Decision::Unasked => "nothing is recorded",
        };
        let title = format!("Trust in {}", self.cwd.display());
        let picker = Picker::new(title, items.collect(), changes.len()).with_note(is);
        self.open_picker(picker, Picks::Trust(changes));
    }

    pub(super) fn change_trust(&mut self, change: Change) {
        let process = self.process.clone();
        self.task(move || {
            let Change { directory, trusted } = change;
            match trust::record(&process.home, &process.env, &directory, trusted) {
                Err(error) => Done::Notice(error.to_string()),
                Ok(warnings) => {
                    let says = match trusted {
                        true => "is trusted from now on",
                        false => "is not trusted from the next start on",
                    };
                    let said = format!("`{}` {says}", directory.display());
                    let lines = warnings.into_iter().chain([said]);
                    Done::Notice(lines.collect::<Vec<_>>().join("\n"))
                }
            }
        })
    }
}
