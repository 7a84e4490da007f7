//! What a host says to its owner.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::chat::Output;
use crate::extension::hooks::Verdict;
use crate::extension::request::Request;
use crate::extension::{AskId, ExtensionId, Ticket};

/// What comes out of the host.
#[derive(Debug)]
pub enum HostEvent {
    /// Something about an extension that a person should know.
    Notice(String),
    /// An extension wrote a line to standard error.
    Diagnostic {
        /// Its file.
        extension: String,
        /// Clean, with the blanks it begins with.
        line: String,
    },
    /// The first line of its output that is no message, with whose it is.
    Stray(String),
    /// An extension has something to say.
    Said {
        /// Its name.
        extension: String,
        /// Clean and bounded.
        text: String,
    },
    /// A chain of hooks has ended.
    Hooked(Ticket, Verdict),
    /// Live output of a tool call.
    Update(Ticket, Output, String),
    /// The answer to a call.
    Answered(Ticket, Result<Value, Failure>),
    /// An extension wants something. It is owed one [`Host::answer`].
    Asked(Asked),
    /// Nobody waits for the answer to this any more.
    Withdrawn(AskId),
    /// What this extension shows must go.
    Gone(ExtensionId),
}

/// A request of an extension.
#[derive(Clone, Debug)]
pub struct Asked {
    /// By which it is answered.
    pub ask: AskId,
    /// Whose it is.
    pub from: ExtensionId,
    /// The name of the extension.
    pub extension: String,
    /// As it was sent.
    pub method: String,
    /// As they were sent, where [`Request::is_relayed`]; null otherwise.
    pub params: Value,
    /// Understood, checked and bounded.
    pub request: Request,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The extension says so.
    Error(String),
    /// It took longer than this.
    TimedOut(Duration),
    /// It has exited.
    Gone,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Error(text) => f.write_str(text),
            Failure::TimedOut(limit) => {
                write!(
                    f,
                    "the extension did not answer within {} seconds",
                    limit.as_secs()
                )
            }
            Failure::Gone => f.write_str("the extension has exited"),
        }
    }
}
