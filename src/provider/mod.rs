//! The seam between the agent and the services that run models.
//!
//! A [`Request`] goes in; [`StreamEvent`]s come out, ending with exactly one [`StreamEvent::Done`]
//! or [`StreamEvent::Failed`]. A dialect turns history into its wire format and frames back into
//! events. It runs on a thread of its own, may block there, and is stopped by closing its
//! connection. Retries are not made here: the agent decides them.
//!
//! [`Catalog`] knows which models there are and which keys open them. [`Context`] is what all
//! requests of a process share, [`Lane`] what the requests of one turn share, and [`stream`] runs
//! one request. Nothing here looks at the process environment or starts before it is asked.

use std::sync::Arc;

use crate::chat::{Deltas, Message, Pricing, ToolCall, ToolSpec, Usage};

mod anthropic;
mod auth;
mod catalog;
mod completions;
mod context;
mod error;
mod history;
mod http;
mod lane;
mod offline;
mod record;
mod repeated;
mod route;
mod sse;

pub use auth::{Credentials, Stored};
pub use catalog::{Authentication, Catalog, ProviderInfo, SignIn};
pub use context::Context;
pub use lane::{Lane, stream};

/// The wire formats there are names for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI chat completions and the many servers that copy it.
    Completions,
    /// OpenAI responses. Listed; this build makes no requests in it.
    Responses,
    /// Anthropic messages.
    Anthropic,
    /// Google's generative language API. Listed; this build makes no requests in it.
    Google,
    /// The built-in provider without a network.
    Offline,
}

impl Dialect {
    /// The name in `models.json` and in listings.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Completions => "openai-completions",
            Dialect::Responses => "openai-responses",
            Dialect::Anthropic => "anthropic-messages",
            Dialect::Google => "google-generative-ai",
            Dialect::Offline => "offline",
        }
    }

    /// Reads a name of `models.json` or one of its aliases.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "openai-completions" | "completions" => Dialect::Completions,
            "openai-responses" | "responses" | "codex-responses" => Dialect::Responses,
            "anthropic-messages" | "anthropic" => Dialect::Anthropic,
            "google-generative-ai" | "google" => Dialect::Google,
            _ => return None,
        })
    }

    /// Whether this build can make requests in it.
    pub fn is_spoken(self) -> bool {
        match self {
            Dialect::Completions | Dialect::Anthropic | Dialect::Offline => true,
            Dialect::Responses | Dialect::Google => false,
        }
    }
}

/// How a model is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// The effort level is passed on and the model decides.
    Adaptive,
    /// The effort level becomes a token budget.
    Manual,
}

/// One model, with everything a request needs to know about it and its provider.
#[derive(Clone, Debug)]
pub struct Model {
    /// The provider's name, the part of the slug before the slash.
    pub provider: String,
    /// The id the provider knows it by.
    pub id: String,
    /// Where requests go, without a final slash.
    pub base_url: String,
    /// The wire format.
    pub dialect: Dialect,
    /// Tokens the model can hold; 0 when unknown.
    pub context_window: u64,
    /// Effort levels it accepts, in order from low to high.
    pub effort: Vec<String>,
    /// How effort is expressed on the wire, for dialects that have two ways.
    pub thinking: Option<Thinking>,
    /// Most output tokens of one reply.
    pub max_output: Option<u64>,
    /// Whether tools may be advertised.
    pub supports_tools: bool,
    /// Whether images may be sent.
    pub image_input: bool,
    /// Prices, when known.
    pub pricing: Option<Pricing>,
}

impl Model {
    /// `provider/id`.
    pub fn slug(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }
}

/// One request for the next step of a conversation.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model to ask.
    pub model: Arc<Model>,
    /// The key to present, if any.
    pub key: Option<Secret>,
    /// The system prompt.
    pub system: Arc<str>,
    /// The whole history. Each dialect makes it sendable.
    pub messages: Vec<Arc<Message>>,
    /// The effort level, when one is set.
    pub effort: Option<String>,
    /// Tools to advertise.
    pub tools: Arc<Vec<ToolSpec>>,
    /// A stable id of the conversation, for providers that cache by it.
    pub session_id: String,
}

impl Request {
    /// The tools that the model is told of: none when it takes none.
    fn offered_tools(&self) -> &[ToolSpec] {
        match self.model.supports_tools {
            true => &self.tools,
            false => &[],
        }
    }
}

/// A credential. Its value never shows in debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What a stream yields.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// Response headers arrived well.
    Opened {
        /// The HTTP status, or 200 where there is no HTTP.
        status: u16,
        /// The provider's id of the request, for support.
        request_id: Option<String>,
    },
    /// Pieces of the reply.
    Text(Deltas),
    /// Pieces of visible reasoning.
    Reasoning(Deltas),
    /// Argument bytes of a call that is not complete yet: a sign of life, and a count.
    CallProgress(usize),
    /// A complete call.
    Call(ToolCall),
    /// An opaque item to store before the reply, as JSON text.
    ReasoningItem(String),
    /// Counters so far; the last one counts.
    Usage(Usage),
    /// The stream ended as the dialect says it should.
    Done {
        /// Why the model stopped.
        finish: Finish,
        /// Frames that were not JSON and were skipped.
        malformed: u32,
    },
    /// The request or the stream failed.
    Failed(Box<Failure>),
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Normal,
    /// It wants tools run.
    ToolCalls,
    /// It hit the output limit.
    Length,
    /// It refused.
    Refusal,
    /// A filter cut it off.
    ContentFilter,
    /// Something this build does not know, as the provider spells it.
    Other(String),
}

/// The class of a failure: decides whether asking again makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No credential, or one that was refused.
    Auth,
    /// No connection could be made.
    Network,
    /// The connection was lost, fell silent or ended early.
    Stalled,
    /// Too many requests for now.
    RateLimited,
    /// The provider has trouble.
    Unavailable,
    /// A quota or a bill stands in the way.
    QuotaExhausted,
    /// The request is larger than the model's window.
    Overflow,
    /// Anything else the provider says no to.
    Rejected,
}

/// How far a request had come when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before sending: no credential, or it could not be refreshed.
    Authorization,
    /// Building, connecting or sending.
    Request,
    /// Waiting for or reading the response head; an error status.
    ResponseHeaders,
    /// Reading the body of an error response.
    ResponseBody,
    /// Inside the event stream.
    Stream,
}

/// Everything known about a failed request. Text is bounded and holds no credential.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The class.
    pub cause: Cause,
    /// How far it came.
    pub stage: Stage,
    /// One line for a person: lower-case, no full stop, at most 300 characters of foreign text.
    pub message: String,
    /// Diagnostic text, at most 8,192 characters.
    pub detail: String,
    /// The HTTP status, when there was a response.
    pub status: Option<u16>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// The provider's own error code, at most 256 characters.
    pub code: Option<String>,
    /// How long the provider asked to wait.
    pub retry_after: Option<std::time::Duration>,
}

/// Where a stream puts its events. Implemented by the agent over a bounded channel.
pub trait Sink {
    /// Takes one event. May keep it until [`Sink::flush`].
    fn push(&mut self, event: StreamEvent);

    /// Takes one piece of the reply, never empty. By far the most frequent event.
    fn text(&mut self, piece: &str) {
        self.push(StreamEvent::Text(piece.into()));
    }

    /// Hands on what was pushed: called before every blocking read and at the end. Waits while
    /// the agent is behind. `false` means nobody listens any more and the stream should stop.
    fn flush(&mut self) -> bool;
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
