//! The slash commands and the keys of e itself.

use std::time::Instant;

use super::{App, Effect};
use crate::agent::{Input, Selection};
use crate::tui::keymap::Command;

/// A slash command.
pub struct SlashCommand {
    /// The word.
    pub name: &'static str,
    /// Other words for it.
    pub aliases: &'static [&'static str],
    /// What may follow it.
    pub arguments: &'static str,
    /// Its line in the picker.
    pub help: &'static str,
    /// Where it stands there.
    pub group: &'static str,
    run: fn(&mut App, &str, Instant) -> Vec<Effect>,
}

/// Every slash command.
pub const COMMANDS: &[SlashCommand] = &[SlashCommand {
    name: "quit",
    aliases: &["exit"],
    arguments: "",
    help: "end e",
    group: "General",
    run: |_, _, _| vec![Effect::Quit(0)],
}];

impl App {
    /// Runs a slash command; none when there is no such command.
    pub(super) fn command(&mut self, name: &str, args: &str, now: Instant) -> Option<Vec<Effect>> {
        let is_it =
            |command: &&SlashCommand| command.name == name || command.aliases.contains(&name);
        let command = COMMANDS.iter().find(is_it)?;
        Some((command.run)(self, args, now))
    }

    /// A key of e itself.
    pub(super) fn on_command(&mut self, _command: Command, _now: Instant) -> Vec<Effect> {
        Vec::new()
    }

    /// Lets something else answer from the next turn on.
    pub(super) fn select(&mut self, selection: Selection) -> Vec<Effect> {
        let request = self.next_request();
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        session.selection = selection.clone();
        vec![Effect::Send(Input::Configure {
            session: session.key,
            request,
            selection,
            during_turn: true,
        })]
    }

    /// The draft is another one: pickers that follow it do so.
    pub(super) fn draft_changed(&mut self) -> Vec<Effect> {
        Vec::new()
    }

    /// Closes everything that is open.
    pub(super) fn close_surfaces(&mut self) -> Vec<Effect> {
        self.surface = None;
        self.close_extension_surfaces()
    }
}
