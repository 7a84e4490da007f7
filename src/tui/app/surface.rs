//! What stands below the composer: one surface at a time.

use std::mem::{Discriminant, discriminant};

use super::pickers::{Choosing, Picks};
use crate::tui::style::Row;
use crate::tui::view::login::Login;
use crate::tui::view::settings::Settings;
use crate::tui::view::trust::Trust;

/// Which of them one is, and of lists which.
pub type Kind = (Discriminant<Surface>, Option<Discriminant<Picks>>);

#[derive(Debug)]
pub enum Surface {
    Trust(Trust),
    /// A list to choose from.
    Picker(Box<Choosing>),
    Login(Login),
    Settings(Settings),
}

impl Surface {
    pub fn kind(&self) -> Kind {
        let picks = match self {
            Surface::Picker(choosing) => Some(discriminant(&choosing.picks)),
            _ => None,
        };
        (discriminant(self), picks)
    }

    /// Its rows, its hint included, in at most `height` rows where that is possible.
    pub fn rows(&mut self, trust_hint: &str, columns: usize, height: usize) -> Vec<Row> {
        match self {
            Surface::Trust(trust) => trust.rows(trust_hint, columns, height),
            Surface::Picker(choosing) => choosing.rows(columns, height),
            Surface::Login(login) => login.rows(columns, height),
            Surface::Settings(settings) => settings.rows(columns, height),
        }
    }

    /// Where the caret stands, as a row and a column of its rows, when a key is typed into it. The
    /// composer is hidden then.
    pub fn caret(&self, columns: usize) -> Option<(usize, usize)> {
        match self {
            Surface::Login(login) => login.caret(columns),
            Surface::Trust(_) | Surface::Picker(_) | Surface::Settings(_) => None,
        }
    }

    /// Whether it is the list of what may follow a command.
    pub fn offers_arguments(&self) -> bool {
        matches!(self, Surface::Picker(choosing) if matches!(choosing.picks, Picks::Arguments(_)))
    }

    /// Whether the composer takes no keys meanwhile.
    pub fn takes_keys(&self) -> bool {
        match self {
            Surface::Trust(_) | Surface::Login(_) | Surface::Settings(_) => true,
            Surface::Picker(choosing) => !choosing.picks.follows_draft(),
        }
    }
}
