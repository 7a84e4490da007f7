//! From argv to what e is asked to do.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

use lexopt::Arg;

use super::doc;
use super::flags::{COMMANDS, Command, CommandId, FLAGS, Flag, FlagId, TO};
use super::near::near;
use super::trace;
use crate::error::{Error, Result};
use crate::print::PrintOptions;
use crate::rpc::RpcOptions;
use crate::tui::TuiOptions;

/// What e is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Invocation {
    /// Print the version.
    Version {
        /// As JSON, with more facts.
        json: bool,
    },
    /// Print the help text.
    Help,
    /// Print a manual page or a completion script.
    Generate(String),
    /// Run one headless turn.
    Print {
        /// What it is about.
        options: PrintOptions,
        /// Whether the working directory is trusted for this run.
        trust: bool,
    },
    /// Run the terminal app.
    Tui {
        /// What is asked of it.
        options: TuiOptions,
        /// The files of the images that go with the first prompt.
        images: Vec<PathBuf>,
        /// Whether the working directory is trusted for this run.
        trust: bool,
    },
    /// Serve sessions.
    Rpc {
        /// What is allowed.
        options: RpcOptions,
        /// Whether the working directory is trusted for this run.
        trust: bool,
    },
    /// Record that a directory is trusted, or that it is not.
    Trust {
        /// The directory; the working directory when there is none.
        dir: Option<PathBuf>,
        /// The decision.
        trusted: bool,
    },
    /// List the guides or print one.
    Docs {
        /// The guide.
        topic: Option<String>,
    },
    /// List credentials.
    Auth,
    /// List providers.
    Providers {
        /// As JSON.
        json: bool,
    },
    /// List models.
    Models {
        /// As JSON.
        json: bool,
    },
    /// Check an extension.
    ExtCheck {
        /// Where it is.
        path: PathBuf,
        /// As JSON.
        json: bool,
    },
    /// Report on the installation.
    Doctor {
        /// As JSON.
        json: bool,
    },
}

/// A command line that could not be understood, and how its caller wants to be told.
#[derive(Clone, Debug)]
pub struct ParseFailure {
    /// What was wrong.
    pub error: Error,
    /// Whether it was to be a headless turn.
    pub print: bool,
    /// Whether the caller reads JSON.
    pub json: bool,
}

/// Parses the arguments that follow the program's name.
pub fn parse(argv: &[OsString]) -> Result<Invocation, ParseFailure> {
    let end = argv.iter().position(|arg| arg == "--");
    let (options, prompt) = match end {
        Some(end) => (&argv[..end], Some(&argv[end + 1..])),
        None => (argv, None),
    };
    // These two are obeyed whatever else is wrong.
    if is_given(options, FlagId::Version) {
        let json = is_given(options, FlagId::Json);
        return Ok(Invocation::Version { json });
    }
    if is_given(options, FlagId::Help) {
        return Ok(Invocation::Help);
    }
    understand(options, prompt).map_err(|error| ParseFailure {
        error,
        print: is_given(options, FlagId::Print),
        json: is_given(options, FlagId::Json),
    })
}

/// Looks for an option in raw argv, alone or among bundled letters.
pub(super) fn is_given(options: &[OsString], id: FlagId) -> bool {
    options
        .iter()
        .filter_map(|arg| arg.to_str())
        .any(|arg| match arg.strip_prefix("--") {
            Some(name) => Flag::by_long(name).is_some_and(|flag| flag.id == id),
            None => arg.strip_prefix('-').is_some_and(|letters| {
                let flags = letters.chars().map_while(Flag::by_short);
                // What follows a letter that takes a value is the value.
                let mut before_value = true;
                flags
                    .take_while(|flag| std::mem::replace(&mut before_value, flag.value.is_none()))
                    .any(|flag| flag.id == id)
            }),
        })
}

/// What the options say, before it is clear what for.
#[derive(Default)]
struct Raw {
    given: Vec<&'static Flag>,
    print: PrintOptions,
    generate: Option<String>,
    words: Vec<OsString>,
}

fn understand(options: &[OsString], prompt: Option<&[OsString]>) -> Result<Invocation> {
    let mut raw = Raw::default();
    let mut parser = lexopt::Parser::from_args(options);
    loop {
        let flag = match parser.next().map_err(|error| usage(error, options))? {
            None => break,
            Some(Arg::Value(word)) => {
                raw.words.push(word);
                continue;
            }
            Some(Arg::Long(name)) => {
                let name = name.to_owned();
                Flag::by_long(&name).ok_or_else(|| unknown(&format!("--{name}"), options))?
            }
            Some(Arg::Short(letter)) => {
                Flag::by_short(letter).ok_or_else(|| unknown(&format!("-{letter}"), options))?
            }
        };
        let value = match flag.value {
            Some(_) => value(&mut parser, flag)?,
            None => OsString::new(),
        };
        raw.set(flag, value)?;
    }
    raw.decide(prompt)
}

/// The value of an option: behind `=`, or the next argument unless that is an option too.
fn value(parser: &mut lexopt::Parser, flag: &Flag) -> Result<OsString> {
    let value = match parser.optional_value() {
        Some(value) => Some(value),
        None => parser
            .try_raw_args()
            .and_then(|mut args| args.next_if(|next| !next.as_bytes().starts_with(b"-"))),
    };
    value
        .filter(|value| !value.is_empty())
        .ok_or_else(|| Error::usage(format!("`--{}` requires a value", flag.long)))
}

impl Raw {
    fn set(&mut self, flag: &'static Flag, value: OsString) -> Result<()> {
        self.given.push(flag);
        let print = &mut self.print;
        match flag.id {
            FlagId::Json => print.json = true,
            FlagId::Model => print.model = Some(text(flag, &value)?),
            FlagId::Effort => print.effort = Some(text(flag, &value)?),
            FlagId::Image => print.images.push(value.into()),
            FlagId::NoTools => print.no_tools = true,
            FlagId::NoSave => print.no_save = true,
            FlagId::MaxSteps => {
                print.limits.steps = Some(number(flag, &value, "whole number", |n| *n > 0)?)
            }
            FlagId::MaxSeconds => {
                print.limits.seconds = Some(number(flag, &value, "whole number", |n| *n > 0)?)
            }
            FlagId::MaxCost => {
                let valid = |usd: &f64| usd.is_finite() && *usd > 0.0;
                print.limits.cost_usd = Some(number(flag, &value, "number", valid)?);
            }
            FlagId::Generate => self.generate = Some(doc::generated(&text(flag, &value)?)?),
            // What these change is not part of a turn; `has` tells whether they were given.
            FlagId::Print
            | FlagId::Trust
            | FlagId::Continue
            | FlagId::Resume
            | FlagId::NoExtensions
            | FlagId::NoNetwork
            | FlagId::To
            | FlagId::Help
            | FlagId::Version => {}
        }
        Ok(())
    }

    fn decide(mut self, prompt: Option<&[OsString]>) -> Result<Invocation> {
        if let Some(text) = self.generate {
            return Ok(Invocation::Generate(text));
        }
        let print = self.has(FlagId::Print);
        let first = self.words.first().and_then(|word| word.to_str());
        let command = first
            .filter(|_| !print && prompt.is_none())
            .and_then(Command::by_name);
        if let Some(flag) = self
            .given
            .iter()
            .find(|flag| !flag.applies(command.map(|c| c.id)))
        {
            return Err(misplaced(flag, command));
        }
        if let Some(command) = command {
            return self.command(command);
        }
        if let ([_], Some(word), false, None) = (&self.words[..], first, print, prompt) {
            near_miss(word)?;
        }
        self.words.extend(prompt.into_iter().flatten().cloned());
        let picked: Vec<&Flag> = [FlagId::Continue, FlagId::Resume]
            .into_iter()
            .filter_map(|id| self.given.iter().copied().find(|flag| flag.id == id))
            .collect();
        match picked[..] {
            [flag, ..] if print => {
                let error = Error::usage(format!("`--{}` needs the terminal app", flag.long));
                return Err(error.remedy("leave `-p` out, or resume with `e rpc`"));
            }
            [_, _] => {
                let error = Error::usage("`--continue` and `--resume` exclude each other");
                return Err(error.remedy("give one of them"));
            }
            _ => {}
        }
        let trust = self.has(FlagId::Trust);
        let words = std::mem::take(&mut self.words).into_iter();
        let prompt: Vec<String> = words
            .map(|word| {
                word.into_string().map_err(|word| {
                    let message = format!("the prompt `{}` is not UTF-8", word.to_string_lossy());
                    Error::usage(message)
                })
            })
            .collect::<Result<_>>()?;
        if !print {
            // A person stops a turn, and reads it.
            let is_headless = |flag: &&&Flag| {
                use FlagId::{Json, MaxCost, MaxSeconds, MaxSteps};
                matches!(flag.id, Json | MaxSteps | MaxSeconds | MaxCost)
            };
            if let Some(flag) = self.given.iter().find(is_headless) {
                return Err(misplaced(flag, None));
            }
            let prompt = Some(prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty());
            if prompt.is_none() && !self.print.images.is_empty() {
                let error = Error::usage("`--image` goes with a prompt, and there is none");
                return Err(error.remedy("say what to do with it: e --image <path> <message>"));
            }
            let (newest, picker) = (self.has(FlagId::Continue), self.has(FlagId::Resume));
            return Ok(Invocation::Tui {
                options: TuiOptions {
                    prompt,
                    images: Vec::new(),
                    model: self.print.model,
                    effort: self.print.effort,
                    no_tools: self.print.no_tools,
                    no_save: self.print.no_save,
                    resume_newest: newest,
                    resume_picker: picker,
                },
                images: self.print.images,
                trust,
            });
        }
        self.print.prompt = prompt;
        Ok(Invocation::Print {
            options: self.print,
            trust,
        })
    }

    fn has(&self, id: FlagId) -> bool {
        self.given.iter().any(|flag| flag.id == id)
    }

    fn command(self, command: &'static Command) -> Result<Invocation> {
        let operands = &self.words[1..];
        let most = command.operand.split_whitespace().count();
        if let Some(extra) = operands.get(most) {
            let message = format!(
                "`e {}` does not take `{}`",
                command.name,
                extra.to_string_lossy()
            );
            let error = Error::usage(message);
            return Err(match command.id {
                CommandId::Auth => error.remedy(
                    "sign in with `/login` in the terminal app, or set the provider's key variable",
                ),
                _ => error.remedy(format!("usage: {}", command.usage())),
            });
        }
        let operand = operands.first();
        let trust = self.has(FlagId::Trust);
        let json = self.print.json;
        Ok(match command.id {
            CommandId::Auth => Invocation::Auth,
            CommandId::Docs => Invocation::Docs {
                topic: operand.map(|topic| topic.to_string_lossy().into_owned()),
            },
            CommandId::Doctor => Invocation::Doctor { json },
            CommandId::Ext => ext(operands, json, self.has(FlagId::To))?,
            CommandId::Help => Invocation::Help,
            CommandId::Models => Invocation::Models { json },
            CommandId::Providers => Invocation::Providers { json },
            CommandId::Rpc => Invocation::Rpc {
                options: RpcOptions {
                    model: self.print.model,
                    effort: self.print.effort,
                    no_tools: self.print.no_tools,
                    no_save: self.print.no_save,
                    limits: self.print.limits,
                },
                trust,
            },
            CommandId::Trust | CommandId::Untrust => Invocation::Trust {
                dir: operand.map(PathBuf::from),
                trusted: command.id == CommandId::Trust,
            },
        })
    }
}

/// `e ext check`. (`e ext trace` at the start of a command line is taken off before.)
fn ext(operands: &[OsString], json: bool, to: bool) -> Result<Invocation> {
    let part = operands.first().and_then(|part| part.to_str());
    match (part, operands.get(1)) {
        (Some("check"), _) if to => Err(Error::usage(format!(
            "`--{TO}` means nothing to `e ext check`"
        ))),
        (Some("check"), Some(path)) => Ok(Invocation::ExtCheck {
            path: path.into(),
            json,
        }),
        (Some("check"), None) => Err(Error::usage("`e ext check` needs the path of an extension")
            .remedy("usage: e ext check <path> [--json]")),
        (Some("trace"), _) => Err(trace::usage("`e ext trace` comes before all options")),
        _ => Err(Error::usage("`e ext` checks or traces one extension")
            .remedy("usage: e ext check <path>, or e ext trace <path> [arguments of e…]")),
    }
}

fn text(flag: &Flag, value: &OsStr) -> Result<String> {
    let text = value.to_str().map(String::from);
    text.ok_or_else(|| {
        let message = format!("the value of `--{}` is not UTF-8", flag.long);
        Error::usage(message)
    })
}

fn number<T: FromStr>(flag: &Flag, value: &OsStr, kind: &str, valid: fn(&T) -> bool) -> Result<T> {
    let number = value
        .to_str()
        .and_then(|text| text.parse().ok())
        .filter(valid);
    number.ok_or_else(|| {
        let shown = value.to_string_lossy();
        Error::usage(format!(
            "`--{}` needs a {kind} above zero, not `{shown}`",
            flag.long
        ))
    })
}

/// A lone word that is nearly a command is a slip, not a prompt.
fn near_miss(word: &str) -> Result<()> {
    let error = Error::usage(format!("`{word}` is no command"));
    if word == "version" {
        return Err(error.remedy("use `e --version`"));
    }
    match near(word, COMMANDS.iter().map(|command| command.name)) {
        Some(name) => Err(error.remedy(format!(
            "did you mean `e {name}`? for a prompt, use `e -p {word}`"
        ))),
        None => Ok(()),
    }
}

fn misplaced(flag: &Flag, command: Option<&Command>) -> Error {
    match command {
        Some(command) if flag.id == FlagId::Json => {
            Error::usage(format!("`e {}` has no machine output", command.name))
                .remedy("leave `--json` out")
        }
        Some(command) => Error::usage(format!(
            "`--{}` means nothing to `e {}`",
            flag.long, command.name
        ))
        .remedy(format!("usage: {}", command.usage())),
        None => {
            Error::usage(format!("`--{}` means nothing here", flag.long)).remedy("see `e --help`")
        }
    }
}

fn unknown(option: &str, argv: &[OsString]) -> Error {
    let name = option.trim_start_matches('-');
    let long = FLAGS.iter().filter(|flag| flag.help.is_some());
    let long = long.flat_map(|flag| [Some(flag.long), flag.alias].into_iter().flatten());
    let remedy = match near(name, long) {
        Some(near) => format!("did you mean `--{near}`?"),
        None => "see `e --help`".into(),
    };
    let error = Error::usage(format!("unknown option `{option}`"));
    match named_command(argv) {
        Some(command) => error.remedy(format!("{remedy}; usage: {}", command.usage())),
        None => error.remedy(remedy),
    }
}

fn usage(error: lexopt::Error, argv: &[OsString]) -> Error {
    match error {
        lexopt::Error::UnexpectedValue { option, .. } => {
            let name = option.trim_start_matches('-');
            let known = match option.strip_prefix("--") {
                Some(name) => Flag::by_long(name),
                None => name.chars().next().and_then(Flag::by_short),
            };
            match known {
                Some(flag) => Error::usage(format!("`--{}` takes no value", flag.long)),
                None => unknown(&option, argv),
            }
        }
        other => Error::usage(other.to_string()),
    }
}

/// The command that argv seems to name, found without a full parse: an option that takes a value,
/// or that nobody knows, takes the next argument with it.
pub(super) fn named_command(argv: &[OsString]) -> Option<&'static Command> {
    let mut args = argv.iter().filter_map(|arg| arg.to_str()).peekable();
    while let Some(arg) = args.next() {
        let Some(name) = arg.strip_prefix('-') else {
            return Command::by_name(arg);
        };
        let flag = match name.strip_prefix('-') {
            Some(name) => Flag::by_long(name),
            None => name.chars().next().and_then(Flag::by_short),
        };
        if !arg.contains('=') && flag.is_none_or(|flag| flag.value.is_some()) {
            args.next_if(|next| !next.starts_with('-'));
        }
    }
    None
}

#[cfg(test)]
mod tests;
