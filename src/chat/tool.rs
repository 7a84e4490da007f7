//! What a tool is to a model, and what a call comes back with.

use serde_json::Value;

/// A tool as a request advertises it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name the model calls.
    pub name: String,
    /// One paragraph for the model.
    pub description: String,
    /// A JSON Schema object.
    pub parameters: Value,
}

/// How a call ended. All but `Completed` count as failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what was asked.
    Completed,
    /// It ran and failed, or could not run.
    Failed,
    /// Its own time limit ended it.
    TimedOut,
    /// A gate refused it.
    Blocked,
    /// The turn was interrupted.
    Cancelled,
}

impl Outcome {
    /// The spelling in events.
    pub fn event_name(self) -> &'static str {
        match self {
            Outcome::TimedOut => "timedout",
            other => other.record_name(),
        }
    }

    /// The spelling in session logs.
    pub fn record_name(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Failed => "failed",
            Outcome::TimedOut => "timed_out",
            Outcome::Blocked => "blocked",
            Outcome::Cancelled => "cancelled",
        }
    }

    /// Reads the spelling of session logs.
    pub fn from_record(name: &str) -> Option<Self> {
        Some(match name {
            "completed" => Outcome::Completed,
            "failed" => Outcome::Failed,
            "timed_out" => Outcome::TimedOut,
            "blocked" => Outcome::Blocked,
            "cancelled" => Outcome::Cancelled,
            _ => return None,
        })
    }
}

/// Which stream of a command a piece of output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Output {
    /// The spelling on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Output::Stdout => "stdout",
            Output::Stderr => "stderr",
        }
    }
}

/// Which end of an over-long text the model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The beginning; the notice comes last.
    Head,
    /// The end; the notice comes first.
    Tail,
}

/// How a text is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As it stands.
    #[default]
    Text,
    /// As Markdown.
    Markdown,
    /// A diff, painted as rows with line numbers; as it stands when it is none.
    Diff,
}

/// A text for a person, who sees it instead of what the model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Display {
    /// It.
    pub text: String,
    /// How it is painted.
    pub format: Format,
}

/// What a tool hands back, before it is fitted to the model's cap.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The whole text. It may be over the cap; the agent cuts it and keeps the rest.
    pub content: String,
    /// How the call ended.
    pub outcome: Outcome,
    /// The suffix of the call's row, one line. Of a call that did not complete the reason; blank
    /// where `content` begins with it.
    pub summary: String,
    /// A richer text for the viewer, shown instead of `content`.
    pub display: Option<Display>,
    /// Which end survives when `content` is over the cap.
    pub keep: Keep,
    /// Bytes that were produced before `content` begins and are kept nowhere.
    pub lost: u64,
}

impl ToolResult {
    /// A call that went well.
    pub fn completed(content: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            outcome: Outcome::Completed,
            summary: summary.into(),
            display: None,
            keep: Keep::Head,
            lost: 0,
        }
    }

    /// A call that failed; the text tells the model what to do next.
    pub fn failed(content: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Failed,
            ..Self::completed(content, "")
        }
    }

    /// The same result with another row suffix.
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }
}

/// What went wrong, as a failed result: tools give it back with `?`.
impl From<String> for ToolResult {
    fn from(problem: String) -> Self {
        Self::failed(problem)
    }
}
