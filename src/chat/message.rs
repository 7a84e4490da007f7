//! The messages of a conversation, in the order a provider sees them.

use super::{Image, Outcome};

/// One entry of the history.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// What a person, a client or e itself said to the model.
    User {
        /// The text.
        content: String,
        /// Attached images, stored whole so that a resume does not need the files.
        images: Vec<Image>,
        /// How it stands in the conversation.
        voice: Voice,
    },
    /// A reply, with the calls that it asked for.
    Assistant {
        /// The text, possibly empty.
        content: String,
        /// Calls in provider order.
        tool_calls: Vec<ToolCall>,
    },
    /// The answer to one call.
    Tool {
        /// The provider's id of the call.
        call_id: String,
        /// What the model reads.
        content: String,
        /// How the call ended.
        outcome: Outcome,
        /// The suffix of the call's row.
        summary: String,
    },
    /// An opaque item that the provider wants back, as the JSON text it gave.
    Reasoning {
        /// JSON text whose `type` field tells the dialect that owns it.
        content: String,
    },
    /// Accepted when an old log holds one; e writes none.
    System {
        /// The text.
        content: String,
    },
}

/// How a user message stands in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// It began a turn.
    Prompt,
    /// It joined a turn that ran. People see it.
    Steered,
    /// The model sees it, people do not.
    Internal,
}

/// A tool call as the model made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The provider's id, unique within the conversation at best.
    pub id: String,
    /// The tool's name, unchecked.
    pub name: String,
    /// The arguments as text. They need not be valid JSON.
    pub arguments: String,
    /// A signature that one dialect wants back with the call.
    pub signature: Option<String>,
}

impl Message {
    /// A prompt without images.
    pub fn user(content: impl Into<String>) -> Self {
        Self::said(content.into(), Voice::Prompt)
    }

    /// What somebody said while a turn ran.
    pub fn steered(content: impl Into<String>) -> Self {
        Self::said(content.into(), Voice::Steered)
    }

    /// A user message that only the model sees.
    pub fn internal(content: impl Into<String>) -> Self {
        Self::said(content.into(), Voice::Internal)
    }

    fn said(content: String, voice: Voice) -> Self {
        Self::User {
            content,
            images: Vec::new(),
            voice,
        }
    }
}
