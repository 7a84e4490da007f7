//! What a session asks the world to do, and what the world answers.
//!
//! The state machines only return [`Action`]s; `exec` carries them out on threads, and every
//! outcome comes back as a [`SessionEvent`]. A job carries a number; an answer with an old number
//! is dropped.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::event::{Answer, RequestId, TurnEvent, Want};
use super::exec::Forking;
use super::session::Fork;
use crate::chat::{self, ToolCall, ToolResult};
use crate::extension::{AskId, EventName, ExtensionId, Failure, Hook, Verdict, request};
use crate::provider::{Model, Request, StreamEvent};
use crate::session::Record;
use crate::tools::Identity;

/// Numbers a piece of work whose answer is awaited.
pub type Job = u64;

/// What a session wants done.
#[derive(Debug)]
pub enum Action {
    /// Tell the frontend.
    Emit(Option<RequestId>, TurnEvent),
    /// Tell the frontend what waits for the turn besides its own messages.
    Held(RequestId, String),
    /// Answer a request of the frontend.
    Answer(RequestId, Answer),
    /// Read what the system prompt for this model is made of.
    Prepare(Job, Arc<Model>),
    /// Fill the prompt template of this name, if there is one, with what was typed after it.
    Expand(Job, String, String),
    /// Send a request to the provider.
    OpenStream(Job, Box<Request>),
    /// Close the connection of the open stream.
    CloseStream,
    /// The turn is over: let its connection go.
    EndLane,
    /// Find out which calls name the same file.
    Identify(Job, Vec<PathBuf>),
    /// Run a tool.
    RunTool(u64, ToolCall),
    /// Run a command of the person's under the number of a call.
    RunShell(u64, String),
    /// Run a tool of an extension, with these parsed arguments.
    CallExtension {
        /// The call.
        id: u64,
        /// Whose tool it is.
        owner: ExtensionId,
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Value,
    },
    /// Ask a running tool to stop.
    CancelTool(u64),
    /// Ask the extensions that have this hook.
    Ask(Job, Hook),
    /// Run a command of an extension: its name, and what was typed after it.
    Command(Job, ExtensionId, String, String),
    /// Nobody waits for the answer to [`Action::Ask`] or [`Action::Command`] any more.
    Forget(Job),
    /// Tell the extensions that want to know.
    Tell(EventName, Value),
    /// Answer a request of an extension.
    Reply(AskId, Result<Value, String>),
    /// Take back the newest change of a file, and answer.
    Undo(RequestId),
    /// Read the AGENTS.md of these directories, outermost first.
    ReadInstructions(Job, Vec<PathBuf>),
    /// Write these to the log and its sidecar, in order, behind what could not be written before.
    Append(Vec<LogEntry>),
    /// Begin this session, with a copy of the log if it holds all.
    Fork(Forking, Box<Fork>),
    /// Wake the session up at that time; replaces an earlier deadline of the topic.
    SetTimer(Topic, Instant),
    /// Forget a deadline.
    ClearTimer(Topic),
}

/// Something on its way to the disk.
#[derive(Debug)]
pub enum LogEntry {
    /// A record of the log.
    Record(Record),
    /// A failure that happened after the record `parent`, for the sidecar, best effort.
    Failure {
        /// The newest record then.
        parent: Option<String>,
        /// What is known about it.
        details: Value,
    },
}

/// What is done once all that was said is on the disk.
#[derive(Debug)]
pub enum Saving {
    /// A request is answered.
    Answer(RequestId),
    /// The session is forked.
    Fork(Forking, Box<Fork>),
}

impl Saving {
    /// It is on the disk.
    pub fn done(self) -> Action {
        match self {
            Saving::Answer(request) => Action::Answer(request, Answer::Done),
            Saving::Fork(wanted, fork) => Action::Fork(wanted, fork),
        }
    }

    /// It is not.
    pub fn refused(self, why: &str) -> Action {
        match self {
            Saving::Answer(request) => Action::Answer(request, Answer::Refused(why.into())),
            // There is no file to copy: the fork writes its own, as soon as it can.
            Saving::Fork(wanted, mut fork) => {
                fork.is_saved = false;
                Action::Fork(wanted, fork)
            }
        }
    }
}

/// Every deadline a session can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    /// The wait before a request is sent again.
    Retry,
    /// No content from the provider for too long.
    Silence,
    /// Cancelled tools have had their time to stop.
    CancelGrace,
    /// The turn's own time limit.
    Budget,
    /// The log has had its time to reach the disk.
    LogFlush,
}

/// What happened to a session.
#[derive(Debug)]
pub enum SessionEvent {
    /// A frontend asks something of it.
    Want(RequestId, Want),
    /// The session or the process is ending: nothing goes on, and nothing that waits gets its turn.
    Stop,
    /// Something waits until all that was said is on the disk.
    Save(Saving),
    /// What [`Action::Expand`] came to; none when there is no such template.
    Expanded(Job, Option<String>),
    /// The system prompt is ready.
    Prepared(Job, Arc<str>),
    /// Pieces of a reply.
    Stream {
        /// The request they belong to.
        job: Job,
        /// In order.
        events: Vec<StreamEvent>,
        /// How long the machine slept since the request was sent; told with a failure.
        slept: Duration,
    },
    /// What the paths of [`Action::Identify`] are.
    Identified(Job, Vec<Identity>),
    /// Live output of a tool.
    ToolOutput(u64, chat::Output, String),
    /// A tool ended. The result is uncut.
    ToolDone(u64, ToolResult),
    /// What the extensions say to a hook.
    Hooked(Job, Verdict),
    /// What came of a command of an extension.
    Commanded(Job, Result<Value, Failure>),
    /// An extension wants something of the session.
    Asked(AskId, request::Session),
    /// An extension names the session.
    Named(String),
    /// The instructions that were found.
    Instructions(Job, Vec<Instructions>),
    /// What came of [`Action::Undo`].
    Undone(RequestId, Result<String, String>),
    /// What came of the last [`Action::Append`].
    Appended {
        /// Why something could not be written.
        error: Option<String>,
        /// The log, once it exists.
        path: Option<PathBuf>,
    },
    /// A deadline passed.
    Timer(Topic),
}

/// One nested AGENTS.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// Its directory, inside the workspace.
    pub directory: PathBuf,
    /// Its text, trimmed and bounded; none when there is nothing to say.
    pub text: Option<String>,
}

/// The outside facts that a step may use.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Monotonic time.
    pub instant: Instant,
    /// Unix milliseconds.
    pub wall_ms: u64,
    /// A random number in (0, 1], for jitter.
    pub random: f64,
    /// Whether the frontend is behind, so that silence is e's own doing.
    pub congested: bool,
}
