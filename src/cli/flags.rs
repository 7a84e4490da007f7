//! The table of options and commands. The parser, the help text, the manual page and the
//! completions all read it, so that they cannot disagree.

/// One option.
pub struct Flag {
    /// Which one it is.
    pub id: FlagId,
    /// Its canonical name, without the dashes.
    pub long: &'static str,
    /// A second long name.
    pub alias: Option<&'static str>,
    /// Its letter.
    pub short: Option<char>,
    /// What its value is called, when it takes one.
    pub value: Option<&'static str>,
    /// Where it may stand.
    pub scope: Scope,
    /// One sentence for help and manual; none for an option that packagers use.
    pub help: Option<&'static str>,
}

/// The options by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each is described by its row.
pub enum FlagId {
    Print,
    Json,
    Model,
    Effort,
    Image,
    Continue,
    Resume,
    NoTools,
    NoSave,
    NoExtensions,
    Trust,
    MaxSteps,
    MaxSeconds,
    MaxCost,
    NoNetwork,
    To,
    Help,
    Version,
    Generate,
}

/// Where an option may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// With everything.
    Any,
    /// With a run of the agent and these commands.
    Runs(&'static [CommandId]),
    /// With these commands alone.
    Commands(&'static [CommandId]),
}

/// One command.
pub struct Command {
    /// Which one it is.
    pub id: CommandId,
    /// The word.
    pub name: &'static str,
    /// What may follow it, as the usage line shows it: as many words as it shows.
    pub operand: &'static str,
    /// One sentence for help and manual.
    pub help: &'static str,
}

/// The commands by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each is described by its row.
pub enum CommandId {
    Auth,
    Docs,
    Doctor,
    Ext,
    Help,
    Models,
    Providers,
    Rpc,
    Trust,
    Untrust,
}

/// How the agent itself is run: a usage line and what it does.
pub const RUNS: &[(&str, &str)] = &[
    (
        "e [message…]",
        "work in the terminal app; a message is the first prompt",
    ),
    (
        "e -p [message…]",
        "run one turn, print the reply and exit; without a message the prompt is standard input, with one, piped input is added to it",
    ),
];

/// Every command, in the order of the help text.
pub const COMMANDS: &[Command] = &[
    Command {
        id: CommandId::Rpc,
        name: "rpc",
        operand: "",
        help: "serve many sessions over standard input and output, one JSON object a line; see e-rpc(1)",
    },
    Command {
        id: CommandId::Trust,
        name: "trust",
        operand: "[dir]",
        help: "let e work in a directory and below it (default: this one)",
    },
    Command {
        id: CommandId::Untrust,
        name: "untrust",
        operand: "[dir]",
        help: "refuse to work in a directory (default: this one)",
    },
    Command {
        id: CommandId::Auth,
        name: "auth",
        operand: "",
        help: "show for which providers auth.json holds a key",
    },
    Command {
        id: CommandId::Providers,
        name: "providers",
        operand: "",
        help: "list the providers e knows, and which have a key",
    },
    Command {
        id: CommandId::Models,
        name: "models",
        operand: "",
        help: "list the models that can be used now",
    },
    Command {
        id: CommandId::Doctor,
        name: "doctor",
        operand: "",
        help: "report on this installation; safe to paste, looks at local files only",
    },
    Command {
        id: CommandId::Ext,
        name: "ext",
        operand: "check|trace <path>",
        help: "for authors of extensions: check one, or run e with it and write down what they say to each other; what follows the path of trace is e's, as in e ext trace ./x.sh -p hello",
    },
    Command {
        id: CommandId::Docs,
        name: "docs",
        operand: "[topic]",
        help: "list the guides, or print one",
    },
    Command {
        id: CommandId::Help,
        name: "help",
        operand: "",
        help: "list the commands and options",
    },
];

/// What most options are: long, without a value, for a run of the agent.
const OPTION: Flag = Flag {
    id: FlagId::Help,
    long: "",
    alias: None,
    short: None,
    value: None,
    scope: Scope::Runs(&[]),
    help: None,
};

/// Where a trace goes, which is read before the other options.
pub const TO: &str = "to";

/// Every option, in the order of the help text.
pub const FLAGS: &[Flag] = &[
    Flag {
        id: FlagId::Print,
        long: "print",
        short: Some('p'),
        help: Some("run one turn without a terminal; all words are the prompt"),
        ..OPTION
    },
    Flag {
        id: FlagId::Json,
        long: "json",
        short: Some('j'),
        scope: Scope::Runs(&[
            CommandId::Doctor,
            CommandId::Ext,
            CommandId::Providers,
            CommandId::Models,
        ]),
        help: Some("machine output: for -p one JSON line per event and a result line"),
        ..OPTION
    },
    Flag {
        id: FlagId::Model,
        long: "model",
        short: Some('m'),
        value: Some("model"),
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some("the model to use, as provider/id or any part that fits one model only"),
        ..OPTION
    },
    Flag {
        id: FlagId::Effort,
        long: "effort",
        alias: Some("ef"),
        value: Some("level"),
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some("how hard the model thinks, one of its levels"),
        ..OPTION
    },
    Flag {
        id: FlagId::Image,
        long: "image",
        short: Some('i'),
        value: Some("path"),
        help: Some("attach an image to the first prompt; may be given again"),
        ..OPTION
    },
    Flag {
        id: FlagId::Continue,
        long: "continue",
        short: Some('c'),
        scope: Scope::Runs(&[]),
        help: Some("go on with the newest session of this directory"),
        ..OPTION
    },
    Flag {
        id: FlagId::Resume,
        long: "resume",
        short: Some('r'),
        scope: Scope::Runs(&[]),
        help: Some("choose a session to go on with"),
        ..OPTION
    },
    Flag {
        id: FlagId::NoTools,
        long: "no-tools",
        alias: Some("nt"),
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some("offer and run no tools"),
        ..OPTION
    },
    Flag {
        id: FlagId::NoSave,
        long: "no-save",
        alias: Some("ns"),
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some("keep the session in memory: write no log"),
        ..OPTION
    },
    Flag {
        id: FlagId::NoExtensions,
        long: "no-extensions",
        alias: Some("ne"),
        scope: Scope::Any,
        help: Some("start no extensions"),
        ..OPTION
    },
    Flag {
        id: FlagId::Trust,
        long: "trust",
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some("trust this directory and what is below it for this run, and record nothing"),
        ..OPTION
    },
    Flag {
        id: FlagId::MaxSteps,
        long: "max-steps",
        value: Some("n"),
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some("end the run after this many requests to the model; not for the terminal app"),
        ..OPTION
    },
    Flag {
        id: FlagId::MaxSeconds,
        long: "max-seconds",
        value: Some("n"),
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some("end the run after this many seconds; not for the terminal app"),
        ..OPTION
    },
    Flag {
        id: FlagId::MaxCost,
        long: "max-cost",
        value: Some("usd"),
        scope: Scope::Runs(&[CommandId::Rpc]),
        help: Some(
            "end the run when it has cost this much; not for the terminal app; needs a model with known prices",
        ),
        ..OPTION
    },
    Flag {
        id: FlagId::NoNetwork,
        long: "no-network",
        scope: Scope::Commands(&[CommandId::Doctor]),
        help: Some("accepted and without effect: e doctor never uses the network"),
        ..OPTION
    },
    Flag {
        id: FlagId::To,
        long: TO,
        value: Some("file"),
        scope: Scope::Commands(&[CommandId::Ext]),
        help: Some(
            "where e ext trace writes (default: standard error); stands before e's own arguments",
        ),
        ..OPTION
    },
    Flag {
        id: FlagId::Help,
        long: "help",
        short: Some('h'),
        scope: Scope::Any,
        help: Some("list the commands and options"),
        ..OPTION
    },
    Flag {
        id: FlagId::Version,
        long: "version",
        short: Some('v'),
        scope: Scope::Any,
        help: Some("print the version; with --json also commit and target"),
        ..OPTION
    },
    Flag {
        id: FlagId::Generate,
        long: "generate",
        value: Some("what"),
        scope: Scope::Any,
        ..OPTION
    },
];

impl Flag {
    /// The option with a long name or an alias.
    pub fn by_long(name: &str) -> Option<&'static Flag> {
        FLAGS
            .iter()
            .find(|flag| flag.long == name || flag.alias == Some(name))
    }

    /// The option with a letter.
    pub fn by_short(letter: char) -> Option<&'static Flag> {
        FLAGS.iter().find(|flag| flag.short == Some(letter))
    }

    /// All that the help text and the manual show.
    pub fn documented() -> impl Iterator<Item = (&'static Flag, &'static str)> {
        FLAGS.iter().filter_map(|flag| Some((flag, flag.help?)))
    }

    /// Its spellings with dashes, the canonical one first.
    pub fn spellings(&self) -> Vec<String> {
        let long = [Some(self.long), self.alias]
            .into_iter()
            .flatten()
            .map(|name| format!("--{name}"));
        let short = self.short.map(|letter| format!("-{letter}"));
        long.chain(short).collect()
    }

    /// Whether it may stand with a command, or with a run of the agent.
    pub fn applies(&self, command: Option<CommandId>) -> bool {
        match (self.scope, command) {
            (Scope::Any, _) | (Scope::Runs(_), None) => true,
            (Scope::Commands(_), None) => false,
            (Scope::Runs(commands) | Scope::Commands(commands), Some(id)) => commands.contains(&id),
        }
    }
}

impl Command {
    /// The command that a word names.
    pub fn by_name(name: &str) -> Option<&'static Command> {
        COMMANDS.iter().find(|command| command.name == name)
    }

    /// Its usage line.
    pub fn usage(&self) -> String {
        let json = Flag::by_long("json").filter(|flag| flag.applies(Some(self.id)));
        [
            "e",
            self.name,
            self.operand,
            json.map_or("", |_| "[--json]"),
        ]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_twice() {
        let mut names: Vec<_> = FLAGS.iter().flat_map(Flag::spellings).collect();
        names.extend(COMMANDS.iter().map(|command| command.name.to_string()));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn texts_follow_the_house_style() {
        let texts = Flag::documented().map(|(_, help)| help);
        for text in texts.chain(COMMANDS.iter().map(|command| command.help)) {
            assert!(
                text.starts_with(|first: char| first.is_lowercase()),
                "{text}"
            );
            assert!(!text.ends_with('.'), "{text}");
        }
    }

    #[test]
    fn usage_lines() {
        let usage = |name| Command::by_name(name).unwrap().usage();
        assert_eq!(usage("trust"), "e trust [dir]");
        assert_eq!(usage("doctor"), "e doctor [--json]");
        assert_eq!(usage("help"), "e help");
    }
}
