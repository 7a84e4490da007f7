//! The slash commands and the keys of e itself.

use std::time::Instant;

use super::{App, Surface};
use crate::agent::{Selection, Want};

use super::account::Why;
use super::models::Wanted;
use super::sessions::{Awaited, Next};

/// A slash command.
pub struct SlashCommand {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// What may follow it.
    pub arguments: &'static str,
    pub help: &'static str,
    /// Where it stands there.
    pub group: &'static str,
    run: fn(&mut App, &str, Instant),
}

macro_rules! commands {
    ($($group:literal $name:literal [$($alias:literal),*] $arguments:literal $help:literal => $run:expr;)*) => {
        /// Every slash command.
        pub const COMMANDS: &[SlashCommand] = &[$(SlashCommand {
            name: $name,
            aliases: &[$($alias),*],
            arguments: $arguments,
            help: $help,
            group: $group,
            run: $run,
        }),*];
    };
}

// Group, name, other words for it, what may follow it, help, and what it does.
commands! {
    "Account" "login" [] "[provider]" "sign in to a provider"
        => |app, args, _| app.login(Why::Command(args.to_owned()));
    "Model" "models" ["model"] "[query]" "choose the model"
        => |app, args, _| app.list_models(Wanted::One(args.to_owned()));
    "Model" "effort" [] "[level]" "show or set how hard the model thinks"
        => |app, args, _| app.effort(args);
    "Model" "scoped-models" [] "" "choose the models that ctrl+p goes through"
        => |app, _, _| app.list_models(Wanted::Scope);
    "Session" "resume" [] "" "go on with another session" => |app, _, _| app.list_sessions();
    "Session" "tree" [] "" "go back to an earlier message"
        => |app, _, _| app.between_turns(|app| app.once_saved(Next::Tree));
    "Session" "new" ["clear"] "" "begin a new session"
        => |app, _, _| app.between_turns(|app| app.once_saved(Next::New));
    "Session" "fork" [] "[name]" "go on in a session of its own"
        => |app, args, _| app.between_turns(|app| app.fork(args));
    "Session" "export" [] "[path]" "write this session as one HTML page"
        => |app, args, _| app.between_turns(|app| app.export(args));
    "Session" "compact" [] "[focus]" "summarise older messages and go on"
        => |app, args, now| app.compact(args, now);
    "Session" "name" [] "[label]" "name this session" => |app, args, _| app.name(args);
    "Workspace" "undo" [] "" "take back the last change of a file"
        => |app, _, _| app.between_turns(|app| app.ask(Awaited::Undo, Want::Undo));
    "Workspace" "trust" [] "" "show or change whether this directory is trusted"
        => |app, _, _| app.ask_trust();
    "General" "reload" [] "" "start extensions anew and read settings again"
        => |app, _, _| app.between_turns(App::reload);
    "General" "copy" [] "" "copy the last reply" => |app, _, _| app.copy();
    "General" "usage" [] "[24h|7d|30d|all]" "show what was used, by model"
        => |app, args, _| app.usage(args);
    "General" "settings" [] "" "change how e looks and works" => |app, _, _| app.list_settings();
    "General" "help" [] "" "show commands and keys" => |app, _, _| app.help();
    "General" "version" [] "" "show the version of e" => |app, _, _| app.version();
    "General" "quit" ["exit"] "" "end e" => |app, _, _| app.once_saved(Next::Quit);
}

/// Every word that is a command.
pub fn names() -> impl Iterator<Item = &'static str> {
    let names = |command: &'static SlashCommand| {
        std::iter::once(command.name).chain(command.aliases.iter().copied())
    };
    COMMANDS.iter().flat_map(names)
}

/// The command of that name, or of another word for it.
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    let is_it = |command: &&SlashCommand| command.name == name || command.aliases.contains(&name);
    COMMANDS.iter().find(is_it)
}

impl App {
    /// Runs a slash command; false when there is no such command.
    pub(super) fn command(&mut self, name: &str, args: &str, now: Instant) -> bool {
        let found = find(name);
        if let Some(command) = found {
            (command.run)(self, args, now);
        }
        found.is_some()
    }

    /// Lets something else answer from the next turn on.
    pub(super) fn select(&mut self, selection: Selection) {
        if let Some(session) = &mut self.session {
            session.selection = selection.clone();
        }
        self.send(Want::Configure {
            selection,
            during_turn: true,
        });
    }

    /// Closes everything that is open.
    pub(super) fn close_surfaces(&mut self) {
        // Whether the directory is trusted stays a question until it is answered.
        if !matches!(self.surface, Some(Surface::Trust(_))) {
            self.surface = None;
        }
        self.lists.dismissed = false;
        self.look_ups += 1;
        self.cycling = None;
        self.awaited
            .retain(|_, awaited| !matches!(awaited, Awaited::Tree));
        self.close_extension_surfaces();
        self.picker_closed();
    }
}
