//! The slash commands and the keys of e itself.

use std::time::Instant;

use super::{App, Effect, Surface};
use crate::agent::{Input, Selection};
use crate::tui::keymap::Command;

use super::account::Why;
use super::models::Wanted;
use super::sessions::Awaited;

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
pub const COMMANDS: &[SlashCommand] = &[
    SlashCommand {
        name: "login",
        aliases: &[],
        arguments: "[provider]",
        help: "sign in to a provider",
        group: "Account",
        run: |app, args, _| app.login(Why::Command(args.to_owned())),
    },
    SlashCommand {
        name: "models",
        aliases: &["model"],
        arguments: "[query]",
        help: "choose the model",
        group: "Model",
        run: |app, args, _| app.list_models(Wanted::One(args.to_owned())),
    },
    SlashCommand {
        name: "effort",
        aliases: &[],
        arguments: "[level]",
        help: "show or set how hard the model thinks",
        group: "Model",
        run: |app, args, _| app.effort(args),
    },
    SlashCommand {
        name: "scoped-models",
        aliases: &[],
        arguments: "",
        help: "choose the models that ctrl+p goes through",
        group: "Model",
        run: |app, _, _| app.list_models(Wanted::Scope),
    },
    SlashCommand {
        name: "resume",
        aliases: &[],
        arguments: "",
        help: "go on with another session",
        group: "Session",
        run: |app, _, _| app.list_sessions(),
    },
    SlashCommand {
        name: "tree",
        aliases: &[],
        arguments: "",
        help: "go back to an earlier message",
        group: "Session",
        run: |app, _, _| app.tree(),
    },
    SlashCommand {
        name: "new",
        aliases: &["clear"],
        arguments: "",
        help: "begin a new session",
        group: "Session",
        run: |app, _, _| app.new_session(),
    },
    SlashCommand {
        name: "fork",
        aliases: &[],
        arguments: "[name]",
        help: "go on in a session of its own",
        group: "Session",
        run: |app, args, _| app.fork(args),
    },
    SlashCommand {
        name: "export",
        aliases: &[],
        arguments: "[path]",
        help: "write this session as one HTML page",
        group: "Session",
        run: |app, args, _| app.export(args),
    },
    SlashCommand {
        name: "compact",
        aliases: &[],
        arguments: "[focus]",
        help: "summarise older messages and go on",
        group: "Session",
        run: |app, args, now| app.compact(args, now),
    },
    SlashCommand {
        name: "name",
        aliases: &[],
        arguments: "[label]",
        help: "name this session",
        group: "Session",
        run: |app, args, _| app.name(args),
    },
    SlashCommand {
        name: "undo",
        aliases: &[],
        arguments: "",
        help: "take back the last change of a file",
        group: "Workspace",
        run: |app, _, _| app.undo(),
    },
    SlashCommand {
        name: "trust",
        aliases: &[],
        arguments: "",
        help: "show or change whether this directory is trusted",
        group: "Workspace",
        run: |app, _, _| app.ask_trust(),
    },
    SlashCommand {
        name: "reload",
        aliases: &[],
        arguments: "",
        help: "start extensions anew and read settings again",
        group: "General",
        run: |app, _, _| app.reload(),
    },
    SlashCommand {
        name: "copy",
        aliases: &[],
        arguments: "",
        help: "copy the last reply",
        group: "General",
        run: |app, _, _| app.copy(),
    },
    SlashCommand {
        name: "usage",
        aliases: &[],
        arguments: "[24h|7d|30d|all]",
        help: "show what was used, by model",
        group: "General",
        run: |app, args, _| app.usage(args),
    },
    SlashCommand {
        name: "settings",
        aliases: &[],
        arguments: "",
        help: "change how e looks and works",
        group: "General",
        run: |app, _, _| app.list_settings(),
    },
    SlashCommand {
        name: "help",
        aliases: &[],
        arguments: "",
        help: "show commands and keys",
        group: "General",
        run: |app, _, _| app.help(),
    },
    SlashCommand {
        name: "version",
        aliases: &[],
        arguments: "",
        help: "show the version of e",
        group: "General",
        run: |app, _, _| app.version(),
    },
    SlashCommand {
        name: "quit",
        aliases: &["exit"],
        arguments: "",
        help: "end e",
        group: "General",
        run: |_, _, _| vec![Effect::Quit(0)],
    },
];

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
    /// Runs a slash command; none when there is no such command.
    pub(super) fn command(&mut self, name: &str, args: &str, now: Instant) -> Option<Vec<Effect>> {
        Some((find(name)?.run)(self, args, now))
    }

    /// A key of e itself.
    pub(super) fn on_command(&mut self, command: Command, _now: Instant) -> Vec<Effect> {
        match command {
            Command::NextModel => self.cycle_model(1),
            Command::PreviousModel => self.cycle_model(-1),
            Command::NextEffort => self.next_effort(),
            _ => Vec::new(),
        }
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

    /// Closes everything that is open.
    pub(super) fn close_surfaces(&mut self) -> Vec<Effect> {
        // Whether the directory is trusted stays a question until it is answered.
        if !matches!(self.surface, Some(Surface::Trust(_))) {
            self.surface = None;
        }
        self.lists.dismissed = false;
        self.look_ups += 1;
        self.cycling = None;
        self.awaited
            .retain(|_, awaited| !matches!(awaited, Awaited::Tree));
        let mut effects = self.close_extension_surfaces();
        effects.extend(self.picker_closed());
        effects
    }
}
