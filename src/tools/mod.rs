//! The built-in tools: read, write, edit, grep, read_result, bash.
//!
//! One table row per tool holds its name, prompt line, labels, schema and runner, so that
//! prompt, transcript and dispatcher cannot disagree. A tool runs on a thread of its own, may
//! block there, looks at its cancel token, and never panics on what a model or a file says.

use serde_json::Value;

use crate::chat::{Output, ToolResult};
use crate::sys::CancelToken;

/// Most bytes of one result that a model reads.
pub const RESULT_CAP: usize = 32 * 1024;

/// One call of a built-in tool.
pub struct Call<'a> {
    /// The arguments as the model wrote them.
    pub arguments: &'a str,
    /// Set when the turn is interrupted.
    pub cancel: &'a CancelToken,
    /// Takes live output: a preview that the caller may drop.
    pub output: &'a (dyn Fn(Output, &str) + Sync),
}

/// How a call shows in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The noun used to tally a batch.
    pub category: String,
    /// Verb while it runs.
    pub running: String,
    /// Verb after it ended.
    pub completed: String,
    /// What it works on, as the arguments say.
    pub target: String,
}

/// One built-in tool.
pub struct Builtin {
    /// The name the model calls.
    pub name: &'static str,
    /// One line for the system prompt.
    pub prompt: &'static str,
    /// One paragraph for the schema.
    pub description: &'static str,
    /// The noun of its label.
    pub category: &'static str,
    /// Its verb while running.
    pub running: &'static str,
    /// Its verb afterwards.
    pub completed: &'static str,
    /// The JSON Schema of its arguments.
    pub parameters: fn() -> Value,
    /// Runs it.
    pub run: fn(&Runtime, &Call<'_>) -> ToolResult,
}

/// What the tools of one session share: workspace, file observations, kept results, processes.
pub struct Runtime {}
