//! What goes into the core and what comes out of it: the whole contract with a frontend.
//!
//! A frontend sends [`Input`] and reads [`Output`]. Requests carry an id of the frontend's choice
//! and each gets exactly one answer; the events of a session come in the order they happened.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::details::Details;
use super::open::{Past, Selection, SessionSpec};
use crate::chat::{self, Deltas, Display, Image, Outcome, ToolResult, Usage};
use crate::config::Settings;
use crate::extension::{AskId, Asked, ExtensionId, Failure, Hook, Host, Serves, Verdict};
use crate::session::Entry;
use crate::tools::{Label, Running};

/// Names a session inside the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub u64);

/// Names a request of a frontend. The frontend picks it and maps it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub u64);

impl RequestId {
    /// What nobody asked for, such as a turn that an extension started. Its answer is told all the
    /// same.
    pub const NOBODY: Self = Self(0);

    /// One of the core's own, for what an extension says. Frontends count from one.
    pub(super) fn own(number: u64) -> Self {
        Self(u64::MAX - number)
    }

    pub(super) fn is_own(self) -> bool {
        self.0 > u64::MAX / 2
    }
}

/// What a frontend may ask for.
#[derive(Debug)]
pub enum Input {
    /// Start a session under a key that the frontend picked and never used before.
    Open(SessionKey, Arc<SessionSpec>, Past, Origin),
    /// None is opened for now: what extensions want of one is refused. Before, it waits for the first.
    NoSession,
    /// Ask something of a session.
    Want(SessionKey, RequestId, Want),
    /// Give a session another display name. Not answered; an event tells it.
    Name(SessionKey, String),
    /// Write what could not be written so far. Answered by [`Answer::Done`] when all that was said is
    /// on the disk, or none of it shall be; else refused with the reason and what would be lost.
    Save {
        /// The session.
        session: SessionKey,
        /// Answered when it has been tried.
        request: RequestId,
    },
    /// Start a session that has this one's history. Refused while a turn runs.
    Fork {
        /// The session.
        session: SessionKey,
        /// Answered by [`Answer::Forked`].
        request: RequestId,
        /// The key of the new one, never used before.
        fork: SessionKey,
        /// What clients call the new one.
        handle: Option<String>,
        /// Whether the new one takes the place of this one, which is closed.
        replaces: bool,
    },
    /// Stop a session's turn, end its processes and forget it.
    Close {
        /// The session.
        session: SessionKey,
        /// Answered when nothing is left of it.
        request: RequestId,
        /// Why another session takes its place at once; none when nothing does.
        next: Option<Reason>,
    },
    /// Let the extensions go, once no turn runs. Answered by [`Answer::Extensions`]; there is none
    /// until [`Input::Extend`].
    LetGo(RequestId),
    /// Go on with other extensions and settings. Answered by [`Answer::Done`].
    Extend {
        /// Answered at once.
        request: RequestId,
        /// The extensions, ready.
        host: Box<Host>,
        /// The settings for every session.
        settings: Box<Settings>,
    },
    /// Answer a request of an extension, see [`Output::Asked`].
    Reply(AskId, Result<Value, String>),
    /// Who looks at what extensions show has changed, and with that what is asked of them.
    Serve(Serves),
    /// Ask the extensions that have this hook. Answered by [`Answer::Hooked`].
    Hook(RequestId, Hook),
    /// Ask one extension to do something. Answered by [`Answer::Called`].
    Call {
        /// Answered when it has.
        request: RequestId,
        /// The extension.
        to: ExtensionId,
        /// What.
        method: &'static str,
        /// With what.
        params: Value,
    },
    /// Tell one extension something.
    Notify(ExtensionId, &'static str, Value),
    /// End everything: turns are interrupted, processes ended, then the output closes.
    Shutdown,
}

/// Where a session comes from, as extensions are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Why it begins.
    pub reason: Reason,
    /// What clients call it, where there are several.
    pub handle: Option<String>,
}

/// Why a session begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reason {
    /// e was started.
    #[default]
    Startup,
    /// Extensions were started anew.
    Reload,
    /// Somebody wanted a fresh one.
    New,
    /// It goes on from a log.
    Resume,
    /// It goes on from another session.
    Fork,
}

impl Reason {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Startup => "startup",
            Reason::Reload => "reload",
            Reason::New => "new",
            Reason::Resume => "resume",
            Reason::Fork => "fork",
        }
    }
}

/// What a frontend may ask of a session. Answered at once where nothing else is said.
#[derive(Debug)]
pub enum Want {
    /// Run a turn. Answered by [`Answer::Turn`] when it ends.
    Prompt(Prompt, Limits),
    /// Say something into the running turn.
    Steer(String),
    /// Give the message that this request of [`Want::Steer`] held another text; none takes it back.
    /// Refused when the turn has taken it already.
    Amend(RequestId, Option<String>),
    /// Run a command in the shell and add what it wrote to the history, unless it is an aside. Refused
    /// while a turn or another command runs; neither can be started meanwhile. What it writes is told by
    /// [`TurnEvent::ToolOutput`]. Answered by [`Answer::Shell`] when it has ended.
    Shell {
        /// The command.
        command: String,
        /// The model is not told of it.
        aside: bool,
    },
    /// Stop the running turn or command, or do nothing when idle. Answered by [`Answer::Stopped`]
    /// after the turn has ended.
    Interrupt,
    /// Put a summary in the place of the older messages. Answered by [`Answer::Turn`].
    Compact {
        /// What the summary should pay most attention to.
        focus: Option<String>,
        /// Whether it may be asked for while a turn runs; it is answered at once and done with
        /// the turn's next step then.
        during_turn: bool,
    },
    /// Use another model or effort from the next turn on.
    Configure {
        /// What answers from now on.
        selection: Selection,
        /// Whether it may be asked for while a turn runs; it takes effect after it then.
        during_turn: bool,
    },
    /// Have another display name, or none.
    Rename(Option<String>),
    /// Go on from an earlier node of the log, none is before the first, with the history that ends
    /// there, as [`crate::session::load_at`] gives it. What came after it stays in the file. Refused
    /// while a turn runs.
    Rewind(Vec<Entry>, Option<String>),
    /// Take back the newest change that `write` or `edit` made. Answered by [`Answer::Undone`] when
    /// it is done; refused while a turn runs.
    Undo,
    /// Tell what the session is. Answered by [`Answer::Info`].
    Info,
    /// Tell the history. Answered by [`Answer::Messages`].
    Messages,
}

/// What a session is and does.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// Its directory.
    pub workspace: PathBuf,
    /// Its log, once it exists.
    pub log: Option<PathBuf>,
    /// The node of the log that the next record follows.
    pub head: Option<String>,
    /// Its display name.
    pub name: Option<String>,
    /// What answers.
    pub selection: Selection,
    /// Messages in its history.
    pub messages: usize,
    /// Whether a turn runs.
    pub running: bool,
}

/// A user message with its attachments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// Images, already read and checked.
    pub images: Vec<Image>,
    /// What may be made of the text.
    pub source: Source,
}

impl Prompt {
    /// A text that somebody typed.
    pub fn typed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// Where a prompt comes from, which decides what may be made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Typed: hooks may rewrite it, and `/name` runs a command of an extension.
    #[default]
    Typed,
    /// Typed, but a slash is only a slash.
    Literal,
    /// Settled already; it goes to the model as it is.
    Settled,
    /// Settled, and said by an extension.
    Sent,
    /// The same, and not for the transcript.
    Internal,
}

impl Source {
    /// Whether it goes to the model as it is.
    pub fn is_settled(self) -> bool {
        !matches!(self, Source::Typed | Source::Literal)
    }

    /// Whether a person said it.
    pub fn is_users(self) -> bool {
        !matches!(self, Source::Sent | Source::Internal)
    }
}

/// What a turn may use up. Reaching a limit ends it like an interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Most provider requests, without retries.
    pub steps: Option<u32>,
    /// Most wall-clock seconds.
    pub seconds: Option<u64>,
    /// Most US dollars, by the model's listed prices.
    pub cost_usd: Option<f64>,
}

impl Limits {
    /// The narrower of both, limit by limit.
    pub fn narrowed(self, other: Self) -> Self {
        fn least<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) if other < one => Some(other),
                (one, other) => one.or(other),
            }
        }
        Self {
            steps: least(self.steps, other.steps),
            seconds: least(self.seconds, other.seconds),
            cost_usd: least(self.cost_usd, other.cost_usd),
        }
    }
}

/// What comes out.
#[derive(Debug)]
pub enum Output {
    /// Something happened in a session.
    Event {
        /// Where.
        session: SessionKey,
        /// The prompt that it serves.
        request: Option<RequestId>,
        /// What.
        event: TurnEvent,
    },
    /// What an extension says waits for the running turn, as the message of a [`Want::Steer`] does.
    Held {
        /// Where.
        session: SessionKey,
        /// By what it can be amended.
        message: RequestId,
        /// What.
        text: String,
    },
    /// The one answer to a request.
    Answer {
        /// The request.
        request: RequestId,
        /// What it came to.
        answer: Answer,
    },
    /// Something about an extension that a person should know.
    Notice(String),
    /// An extension wrote a line to standard error.
    Diagnostic {
        /// Its file.
        extension: String,
        /// Clean, with the blanks it begins with.
        line: String,
    },
    /// An extension has something to say.
    Said {
        /// Its name.
        extension: String,
        /// Clean and bounded.
        text: String,
    },
    /// An extension wants something of the frontend, which owes it one [`Input::Reply`].
    Asked(Box<Asked>),
    /// Nobody waits for the answer to this any more.
    Withdrawn(AskId),
    /// What this extension shows must go.
    ExtensionGone(ExtensionId),
    /// A signal asks the process to end. Turns are being stopped; this is told once, so that a
    /// frontend knows which status to end with.
    Ending(crate::sys::signal::Signal),
}

/// How a request ended.
#[derive(Debug)]
pub enum Answer {
    /// A turn ran and ended, well or not.
    Turn(Box<TurnResult>),
    /// The request was carried out.
    Done,
    /// A command of [`Want::Shell`] ended, well or not.
    Shell(Box<ToolResult>),
    /// Nothing runs any more but these commands in the background.
    Stopped(Vec<Running>),
    /// What the session is.
    Info(Box<SessionInfo>),
    /// The history, and the log, once it exists.
    Messages(Vec<Entry>, Option<PathBuf>),
    /// The new session is there; its log, when it has one.
    Forked(Option<PathBuf>),
    /// The extensions that were let go. Who has them shuts them down.
    Extensions(Box<Host>),
    /// What was taken back, or why nothing was.
    Undone(Result<String, String>),
    /// What the extensions say to a hook.
    Hooked(Box<Verdict>),
    /// What came of asking an extension.
    Called(Result<Value, Failure>),
    /// The request was refused and changed nothing.
    Refused(String),
}

/// One thing that happened in a session, in the words of the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEvent {
    /// A turn began.
    TurnStart,
    /// Pieces of the reply.
    Text(Deltas),
    /// Pieces of visible reasoning.
    Reasoning(Deltas),
    /// The calls of one assistant message, before any runs.
    ToolBatch(Vec<BatchCall>),
    /// A call began to run.
    ToolStart(u64),
    /// Live output of a call: a preview.
    ToolOutput {
        /// The call.
        id: u64,
        /// Its stream.
        stream: chat::Output,
        /// Whole characters.
        chunk: String,
    },
    /// A call ended.
    ToolEnd {
        /// The call.
        id: u64,
        /// How.
        outcome: Outcome,
        /// The row's suffix.
        summary: String,
        /// What the model reads.
        content: String,
        /// What the viewer shows instead. Never serialised.
        display: Option<Display>,
    },
    /// A summary is being asked for.
    Compacting,
    /// The summary stands in the place of the older messages.
    Compacted {
        /// It.
        summary: String,
        /// What the model will read with the next request, in tokens, estimated.
        context_tokens: u64,
    },
    /// Token counters of one request.
    Usage(Usage),
    /// Something worth saying that does not fail the turn.
    Warning(String),
    /// The facts behind the error that follows.
    ErrorDetails(Box<Details>),
    /// The turn failed.
    Error(String),
    /// A request failed and will be sent again.
    Retry {
        /// The number of the coming attempt.
        attempt: u32,
        /// Most attempts.
        limit: u32,
        /// Whole seconds until then.
        delay_secs: u64,
        /// The class of the failure, for a person.
        cause: &'static str,
        /// What exactly failed, in a few words.
        reason: String,
    },
    /// An attempt after a retry is being answered.
    Recovered {
        /// The attempt.
        attempt: u32,
        /// Most attempts.
        limit: u32,
    },
    /// A held message went into the turn.
    Steered(String),
    /// The machine slept during a request; the turn goes on.
    Slept(u64),
    /// The machine slept too long; the turn ends.
    SleepStopped(u64),
    /// Held messages that the turn's end threw away.
    Discarded(Vec<String>),
    /// The session has another display name; none when it has none any more.
    SessionName(Option<String>),
    /// A nested AGENTS.md joined the conversation.
    Instructions(PathBuf),
    /// The turn ended. Nothing of it comes after.
    TurnEnd {
        /// Whether it was stopped rather than done or failed.
        aborted: bool,
    },
}

/// One call as a batch announces it.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchCall {
    /// Unique in the session.
    pub id: u64,
    /// The tool.
    pub name: String,
    /// The parsed arguments, or the raw text when they do not parse.
    pub arguments: Value,
    /// How it shows. Of this, its noun and what it works on are serialised.
    pub label: Label,
}

/// What a turn came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnResult {
    /// All text of the run.
    pub output: String,
    /// Where in `output` the text after the last tool batch begins; none when the run failed.
    pub final_start: Option<usize>,
    /// The model's slug.
    pub model: String,
    /// The effort level.
    pub effort: Option<String>,
    /// Whether the turn was stopped.
    pub aborted: bool,
    /// Why it failed, or which limit stopped it.
    pub error: Option<String>,
    /// The facts of a provider failure.
    pub details: Option<Box<Details>>,
    /// Configuration warnings, turn warnings, one line per retry.
    pub warnings: Vec<String>,
    /// Sums over the run.
    pub usage: Usage,
    /// What it cost, when prices are known.
    pub cost_usd: Option<f64>,
    /// Calls announced.
    pub calls: u64,
    /// Calls that did not complete.
    pub failures: u64,
    /// The session log, once it exists.
    pub log: Option<PathBuf>,
}

impl TurnResult {
    /// The text after the last tool batch, empty when the run failed or was stopped.
    pub fn final_output(&self) -> &str {
        self.final_start
            .and_then(|start| self.output.get(start..))
            .unwrap_or("")
    }
}
