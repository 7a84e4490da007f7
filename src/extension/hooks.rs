//! What a hook asks, and what its answers amount to.
//!
//! A chain is one hook on its way through the extensions that declared it, in declaration order.
//! Each sees what those before it made of the text; the first that decides ends it. An answer of
//! a wrong shape is a failure, and a failure changes nothing.

use serde_json::{Value, json};

use super::answer::Rendered;
use super::fields::Fields;
use super::manifest::{HookKind, Manifest};
use crate::text::one_line;

/// A question to every extension that declared the hook.
#[derive(Clone, Debug, PartialEq)]
pub enum Hook {
    /// A line was submitted.
    Input {
        /// The line.
        text: String,
    },
    /// A turn is about to make its first request.
    BeforeTurn {
        /// What started it.
        prompt: String,
    },
    /// A tool is about to run.
    ToolCall {
        /// The tool.
        name: String,
        /// The parsed arguments, or the raw text when they do not parse.
        arguments: Value,
    },
    /// A tool has run.
    ToolResult {
        /// The tool.
        name: String,
        /// What the model would read.
        content: String,
        /// Whether the call failed.
        is_error: bool,
    },
    /// A summary is about to take the place of the older messages.
    CompactSummary {
        /// It.
        summary: String,
    },
    /// An entry is about to be shown.
    Render {
        /// What it is.
        entry: Entry,
        /// Its text.
        content: String,
    },
}

/// An entry that extensions may render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The result of this tool.
    Tool(String),
    /// A completed reply.
    Assistant,
}

/// What a chain came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The line is submitted, rewritten, or swallowed.
    Input {
        /// Nothing is submitted.
        consumed: bool,
        /// Submitted instead.
        replacement: Option<String>,
        /// For the transcript.
        notices: Vec<String>,
    },
    /// What joins the turn.
    BeforeTurn {
        /// Appended to the system prompt.
        suffixes: Vec<String>,
        /// Added to the conversation.
        messages: Vec<TurnMessage>,
    },
    /// Why the call must not run, when it must not.
    ToolCall(Option<String>),
    /// What the model reads instead.
    ToolResult(Option<String>),
    /// The summary to use instead.
    CompactSummary(Option<String>),
    /// What is shown instead.
    Render(Option<Rendered>),
}

/// A message that an extension adds to a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnMessage {
    /// Its text.
    pub content: String,
    /// Whether only the model sees it.
    pub internal: bool,
}

impl Hook {
    /// Which hook it is.
    pub fn kind(&self) -> HookKind {
        match self {
            Hook::Input { .. } => HookKind::Input,
            Hook::BeforeTurn { .. } => HookKind::BeforeTurn,
            Hook::ToolCall { .. } => HookKind::ToolCall,
            Hook::ToolResult { .. } => HookKind::ToolResult,
            Hook::CompactSummary { .. } => HookKind::CompactSummary,
            Hook::Render { .. } => HookKind::Render,
        }
    }

    /// What becomes of it when no extension has anything to say.
    pub fn unanswered(&self) -> Verdict {
        match self {
            Hook::Input { .. } => Verdict::Input {
                consumed: false,
                replacement: None,
                notices: Vec::new(),
            },
            Hook::BeforeTurn { .. } => Verdict::BeforeTurn {
                suffixes: Vec::new(),
                messages: Vec::new(),
            },
            Hook::ToolCall { .. } => Verdict::ToolCall(None),
            Hook::ToolResult { .. } => Verdict::ToolResult(None),
            Hook::CompactSummary { .. } => Verdict::CompactSummary(None),
            Hook::Render { .. } => Verdict::Render(None),
        }
    }

    /// What one extension makes of it with this answer.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer.
    pub fn read(self, answer: &Value) -> Result<Verdict, String> {
        let mut chain = Chain::new(self);
        chain.take("the extension", answer)?;
        Ok(chain.into_verdict())
    }

    /// What an extension is asked with.
    pub fn params(&self) -> Value {
        match self {
            Hook::Input { text } => json!({"text": text}),
            Hook::BeforeTurn { prompt } => json!({"prompt": prompt}),
            Hook::ToolCall { name, arguments } => json!({"name": name, "arguments": arguments}),
            Hook::ToolResult {
                name,
                content,
                is_error,
            } => json!({"name": name, "content": content, "is_error": is_error}),
            Hook::CompactSummary { summary } => json!({"summary": summary}),
            Hook::Render {
                entry: Entry::Tool(name),
                content,
            } => json!({"kind": "tool", "name": name, "content": content}),
            Hook::Render {
                entry: Entry::Assistant,
                content,
            } => json!({"kind": "assistant", "name": "assistant", "content": content}),
        }
    }
}

/// A hook on its way.
#[derive(Debug)]
pub(super) struct Chain {
    /// What the next extension is asked.
    hook: Hook,
    verdict: Verdict,
    /// The extension to look at next.
    pub(super) next: usize,
}

/// Whether a chain goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    Decided,
}

impl Chain {
    pub(super) fn new(hook: Hook) -> Self {
        Self {
            verdict: hook.unanswered(),
            hook,
            next: 0,
        }
    }

    pub(super) fn kind(&self) -> HookKind {
        self.hook.kind()
    }

    pub(super) fn params(&self) -> Value {
        self.hook.params()
    }

    /// Whether that extension wants to be asked.
    pub(super) fn concerns(&self, manifest: &Manifest) -> bool {
        match &self.hook {
            Hook::Render {
                entry: Entry::Tool(name),
                ..
            } => manifest.renders_tool(name),
            Hook::Render {
                entry: Entry::Assistant,
                ..
            } => manifest.renders_assistant(),
            _ => manifest.hooks.contains(&self.kind()),
        }
    }

    /// Takes the answer of an extension. An error says what was wrong with it; nothing of it
    /// counts then.
    pub(super) fn take(&mut self, extension: &str, answer: &Value) -> Result<Step, String> {
        if answer.is_null() {
            return Ok(Step::Next);
        }
        let fields = Fields::of(answer, "its answer")?;
        match (&mut self.verdict, &mut self.hook) {
            (
                Verdict::Input {
                    consumed,
                    replacement,
                    notices,
                },
                _,
            ) => {
                let consume = flag(&fields, "consume")?;
                let replace = text(&fields, "replace")?;
                notices.extend(text(&fields, "notice")?.map(|text| one_line(&text, None)));
                *consumed = consume;
                // Swallowing wins over rewriting.
                *replacement = replace.filter(|_| !consume);
                Ok(match consume || replacement.is_some() {
                    true => Step::Decided,
                    false => Step::Next,
                })
            }
            (Verdict::BeforeTurn { suffixes, messages }, _) => {
                let suffix = text(&fields, "system_suffix")?;
                let message = message(&fields)?;
                suffixes.extend(suffix);
                messages.extend(message);
                Ok(Step::Next)
            }
            (Verdict::ToolCall(blocked), _) => {
                if !flag(&fields, "block")? {
                    return Ok(Step::Next);
                }
                // What denies is obeyed, whatever is wrong with its reason.
                let reason = text(&fields, "reason").ok().flatten();
                *blocked = Some(reason.unwrap_or_else(|| format!("blocked by {extension}")));
                Ok(Step::Decided)
            }
            (Verdict::ToolResult(rewrite), Hook::ToolResult { content, .. }) => {
                // An empty text is a rewrite, too: it leaves nothing of the output.
                if let Some(text) = fields.text("content")? {
                    *content = text.to_owned();
                    *rewrite = Some(text.to_owned());
                }
                Ok(Step::Next)
            }
            (Verdict::CompactSummary(rewrite), Hook::CompactSummary { summary }) => {
                if let Some(text) = text(&fields, "summary")? {
                    summary.clone_from(&text);
                    *rewrite = Some(text);
                }
                Ok(Step::Next)
            }
            (Verdict::Render(rendered), Hook::Render { content, .. }) => {
                if let Some(shown) = Rendered::parse(answer)? {
                    content.clone_from(&shown.body);
                    *rendered = Some(shown);
                }
                Ok(Step::Next)
            }
            // A chain is made with the verdict that belongs to its hook.
            (Verdict::ToolResult(_) | Verdict::CompactSummary(_) | Verdict::Render(_), _) => {
                Ok(Step::Decided)
            }
        }
    }

    pub(super) fn into_verdict(self) -> Verdict {
        self.verdict
    }
}

fn message(answer: &Fields<'_>) -> Result<Option<TurnMessage>, String> {
    let (content, internal) = match answer.get("message") {
        Some(Value::String(content)) => (Some(content.as_str()), None),
        _ => match answer.object("message")? {
            None => return Ok(None),
            Some(message) => (message.text("content")?, message.boolean("internal")?),
        },
    };
    let content = content.filter(|content| !content.trim().is_empty());
    Ok(content.map(|content| TurnMessage {
        content: content.to_owned(),
        internal: internal.unwrap_or(true),
    }))
}

fn flag(fields: &Fields<'_>, name: &str) -> Result<bool, String> {
    Ok(fields.boolean(name)?.unwrap_or_default())
}

/// A text that says something; a blank one counts as none.
fn text(fields: &Fields<'_>, name: &str) -> Result<Option<String>, String> {
    let text = fields.text(name)?.filter(|text| !text.trim().is_empty());
    Ok(text.map(str::to_owned))
}
