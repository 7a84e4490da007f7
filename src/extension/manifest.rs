//! The manifest: what an extension says it adds, checked once.
//!
//! A field of a wrong type means that the extension and e do not speak the same protocol: it is
//! skipped. Anything smaller costs only itself: a name that cannot be used drops that tool or
//! command, and the rule it broke is told. What e does not know (a hook of a later version) is
//! ignored without a word.

mod arguments;
mod kinds;
mod read;
#[cfg(test)]
mod tests;
mod unknown;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::text::{clip_chars, one_line};

pub use kinds::{EventName, HookKind};
pub use read::parse;
pub use unknown::unknown;

/// Longest name of a tool, a command or a flag that is parsed, in bytes.
const MAX_NAME: usize = 64;

/// What an extension adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its name, one line.
    pub name: String,
    /// Its version as it writes it; empty when it does not tell.
    pub version: String,
    /// The tools it runs; names are unique.
    pub tools: Vec<Tool>,
    /// The slash commands it runs; names are unique.
    pub commands: Vec<Command>,
    /// The options it reads; names are unique.
    pub flags: Vec<Flag>,
    /// The moments at which it is asked.
    pub hooks: BTreeSet<HookKind>,
    /// The entries whose content it supplies.
    pub renders: Vec<Render>,
    /// The events it is told.
    pub events: BTreeSet<EventName>,
    /// The chords it wants, unchecked: whether they may be had depends on all extensions.
    pub shortcuts: Vec<Shortcut>,
}

impl Manifest {
    /// Whether it wants to supply the content of a finished call of this tool.
    pub fn renders_tool(&self, name: &str) -> bool {
        self.renders.iter().any(|render| match render {
            Render::EveryTool => true,
            Render::Tool(tool) => tool == name,
            Render::Assistant => false,
        })
    }

    /// Whether it wants to supply the content of a completed reply.
    pub fn renders_assistant(&self) -> bool {
        self.renders.contains(&Render::Assistant)
    }
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// For the model; may have several lines.
    pub description: String,
    /// A JSON Schema of type `object`.
    pub parameters: Value,
    /// How a call shows, when the extension says so.
    pub label: Option<Label>,
}

/// How a call shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The noun used to tally a batch.
    pub category: String,
    /// Verb while it runs.
    pub running: String,
    /// Verb after it ended.
    pub completed: String,
    /// The argument whose value the row shows.
    pub target: Option<String>,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The word after the slash.
    pub name: String,
    /// One line for the picker.
    pub description: String,
    /// What may follow the name, one line; picking the command then leaves it in the composer.
    pub arguments: Option<String>,
    /// Whether the extension completes the word after the name.
    pub completions: bool,
}

/// An option on e's command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The name as declared, one line.
    pub name: String,
    /// What its value is.
    pub kind: FlagKind,
    /// One line for the help text.
    pub description: String,
    /// What the extension takes when the flag is absent, fit to be shown; its type is `kind`.
    pub default: Option<Value>,
    /// Whether `--name` is parsed. Other names are for the help text alone.
    pub clean: bool,
}

/// What the value of a flag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagKind {
    /// There or not.
    Boolean,
    /// A text.
    Text,
}

/// An entry whose content an extension supplies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Render {
    /// A finished call of any tool.
    EveryTool,
    /// A finished call of this tool.
    Tool(String),
    /// A completed reply.
    Assistant,
}

/// A key chord that an extension wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// The chord as the extension writes it, one line.
    pub key: String,
    /// One line for the list of shortcuts.
    pub description: String,
}

/// A name as somebody else wrote it, fit to be shown.
fn quoted(name: &str) -> String {
    format!("`{}`", one_line(&clip_chars(name, MAX_NAME), None))
}
