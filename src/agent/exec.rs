//! Carries out actions on threads of their own.
//!
//! Nothing here decides anything: each job does its I/O and sends back one event (streams and
//! tools several). A thread that panics is reported as the failure of its job.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::action::{Action, Job, LogEntry, SessionEvent};
use super::event::{RequestId, SessionKey};
use super::gate::Gate;
use super::open::{Past, SessionSpec};
use super::session::Fork;
use super::{instructions, prompt};
use crate::chat::{ToolCall, ToolResult};
use crate::config::resources;
use crate::error::Result;
use crate::provider::{self, Cause, Failure, Lane, Model, Request, Stage, StreamEvent};
use crate::session::{Log, Record};
use crate::sys::cancel::cancel_pair;
use crate::sys::clock::{self, ClockMark};
use crate::sys::{CancelToken, Canceller};
use crate::tools;

/// Stream events handed on at once, at most.
const STREAM_BATCH: usize = 1024;
/// Hand-overs that may wait for the log's thread.
const LOG_QUEUE: usize = 16;

/// How long a closed session waits for its log to be written.
const LOG_END: Duration = Duration::from_secs(5);

/// What workers tell the loop.
#[derive(Debug)]
pub enum Event {
    /// Something happened to a session.
    Session(SessionKey, SessionEvent),
    /// The log of a fork is there, or could not be made.
    Forked(Forking, Arc<SessionSpec>, Result<Past>),
    /// Nothing is left of a closed session.
    Closed(SessionKey, Leaving),
    /// What could not be written of a session that is gone.
    Lost(String),
}

/// A fork that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Forking {
    /// The request.
    pub request: RequestId,
    /// The new session.
    pub fork: SessionKey,
    /// The session whose place it takes, if it does.
    pub replaces: Option<SessionKey>,
}

/// A session that is being closed.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// Who is told when nothing is left of it.
    pub request: Option<RequestId>,
    /// Whether the extensions know already.
    pub is_told: bool,
}

/// Where jobs send what happened.
pub type Events = Sender<Event>;

/// The workers of one session.
#[derive(Debug)]
pub struct Workers {
    key: SessionKey,
    spec: Arc<SessionSpec>,
    events: Events,
    /// The connection of the running turn, kept between its steps.
    lane: Option<Lane>,
    gate: Option<Arc<Gate>>,
    congested: bool,
    tools: HashMap<u64, Canceller>,
    /// The log that the session goes on in, until its writer takes it.
    opened: Option<Log>,
    log: Option<Sender<Vec<LogEntry>>>,
    /// Closes when the log's writer has ended.
    log_open: (Sender<()>, Receiver<()>),
}

impl Workers {
    /// No work yet.
    pub fn new(
        key: SessionKey,
        spec: Arc<SessionSpec>,
        opened: Option<Log>,
        events: Events,
    ) -> Self {
        Self {
            key,
            spec,
            events,
            lane: None,
            gate: None,
            congested: false,
            tools: HashMap::new(),
            opened,
            log: None,
            log_open: bounded(0),
        }
    }

    /// Works with other settings and extensions from now on.
    pub fn set_spec(&mut self, spec: Arc<SessionSpec>) {
        self.spec = spec;
    }

    /// Makes streams wait, or lets them go on.
    pub fn set_congested(&mut self, congested: bool) {
        self.congested = congested;
        if let Some(gate) = &self.gate {
            gate.set_open(!congested);
        }
    }

    /// Forgets a tool that has ended.
    pub fn tool_ended(&mut self, id: u64) {
        self.tools.remove(&id);
    }

    /// Asks every running tool to stop.
    pub fn cancel_tools(&mut self) {
        self.tools.clear();
    }

    /// Ends all work of the session, its processes included, and tells when nothing is left.
    /// `false` when no thread could be started for it; then it ends without being waited for.
    pub fn end(self, key: SessionKey, leaving: Leaving) -> bool {
        let (spec, events) = (self.spec.clone(), self.events.clone());
        let (open, closed) = self.log_open.clone();
        start("close", move || {
            drop(self);
            drop(open);
            spec.runtime.processes.end();
            // The lock goes with the log's writer: who is answered may open the log again.
            let _ = closed.recv_timeout(LOG_END);
            let _ = events.send(Event::Closed(key, leaving));
        })
    }

    /// Ends what its commands left, and waits for it.
    pub fn end_processes(self) {
        let spec = self.spec.clone();
        drop(self);
        spec.runtime.processes.end();
    }

    /// Begins an action; those that concern the frontend, the extensions or the timers are the loop's. Returns
    /// what has already come of it when no thread could be started.
    pub fn perform(&mut self, action: Action) -> Option<SessionEvent> {
        match action {
            Action::Prepare(job, model) => return self.prepare(job, model),
            Action::Expand(job, name, typed) => {
                let spec = self.spec.clone();
                let work = move || {
                    let places = resources::places(&spec.home, Some(&spec.workspace));
                    let template = resources::template(&places, &name)?;
                    Some(template.fill(&typed))
                };
                let event = move |filled: Option<_>| SessionEvent::Expanded(job, filled.flatten());
                return self.spawn("template", event, work);
            }
            Action::OpenStream(job, request) => return self.open_stream(job, request),
            Action::CloseStream | Action::EndLane => self.close_stream(),
            Action::Identify(job, paths) => {
                let work = move || paths.iter().map(|path| tools::identity(path)).collect();
                let event = move |found: Option<Vec<tools::Identity>>| {
                    SessionEvent::Identified(job, found.unwrap_or_default())
                };
                return self.spawn("identify", event, work);
            }
            Action::RunTool(id, call) => return self.run_tool(id, Work::Call(call)),
            Action::RunShell(id, command) => return self.run_tool(id, Work::Shell(command)),
            Action::CancelTool(id) => {
                self.tools.remove(&id);
            }
            Action::Undo(request) => {
                let runtime = self.spec.runtime.clone();
                let event = move |done: Option<Result<String, String>>| {
                    let crashed = || Err("it crashed; this is a bug in e".into());
                    SessionEvent::Undone(request, done.unwrap_or_else(crashed))
                };
                return self.spawn("undo", event, move || runtime.undo());
            }
            Action::ReadInstructions(job, directories) => {
                let spec = self.spec.clone();
                let read = move |directory| instructions::read_nested(directory, &spec.workspace);
                let work = move || directories.into_iter().map(read).collect();
                let event = move |found: Option<Vec<_>>| {
                    SessionEvent::Instructions(job, found.unwrap_or_default())
                };
                return self.spawn("instructions", event, work);
            }
            Action::Append(entries) => {
                // A writer that is gone stays gone: another would not know what this one holds.
                if self.log().try_send(entries).is_err() {
                    let error = Some("its writer could not be started".to_string());
                    return Some(SessionEvent::Appended { error, path: None });
                }
            }
            Action::Emit(..)
            | Action::Held(..)
            | Action::Answer(..)
            | Action::Fork(..)
            | Action::CallExtension { .. }
            | Action::Ask(..)
            | Action::Command(..)
            | Action::Forget(_)
            | Action::Tell(..)
            | Action::Reply(..)
            | Action::SetTimer(..)
            | Action::ClearTimer(_) => {}
        }
        None
    }

    fn prepare(&self, job: Job, model: Arc<Model>) -> Option<SessionEvent> {
        let spec = self.spec.clone();
        let work = move || -> Arc<str> {
            prompt::system_prompt(&spec, &model, &clock::utc_date(clock::now_ms())).into()
        };
        let event = move |text: Option<Arc<str>>| {
            SessionEvent::Prepared(job, text.unwrap_or_else(|| "".into()))
        };
        self.spawn("prompt", event, work)
    }

    /// Runs `work` on a thread and sends what `event` makes of its value; none after a panic.
    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        event: impl Fn(Option<T>) -> SessionEvent + Clone + Send + 'static,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<SessionEvent> {
        let (key, events, make) = (self.key, self.events.clone(), event.clone());
        let body = move || {
            let value = catch_unwind(AssertUnwindSafe(work)).ok();
            let _ = events.send(Event::Session(key, make(value)));
        };
        (!start(name, body)).then(|| event(None))
    }

    fn open_stream(&mut self, job: Job, request: Box<Request>) -> Option<SessionEvent> {
        let lane = match self.lane.clone() {
            Some(lane) => lane,
            None => match Lane::new(&self.spec.provider, &request.model) {
                Ok(lane) => self.lane.insert(lane).clone(),
                Err(failure) => return Some(failed(job, failure)),
            },
        };
        let gate = Arc::new(Gate::new(!self.congested));
        self.gate = Some(gate.clone());
        let mut sink = StreamSink {
            key: self.key,
            job,
            events: self.events.clone(),
            gate,
            pending: Vec::new(),
            sent: ClockMark::now(),
        };
        let started = start("stream", move || {
            let run = AssertUnwindSafe(|| provider::stream(&lane, &request, &mut sink));
            if catch_unwind(run).is_err() {
                let failure = internal("reading the reply crashed; this is a bug in e");
                provider::Sink::push(&mut sink, StreamEvent::Failed(Box::new(failure)));
            }
            provider::Sink::flush(&mut sink);
        });
        if started {
            return None;
        }
        let failure = internal("no thread could be started for the request");
        Some(failed(job, failure))
    }

    fn close_stream(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.abandon();
        }
        if let Some(lane) = self.lane.take() {
            lane.shutdown();
        }
    }

    fn run_tool(&mut self, id: u64, work: Work) -> Option<SessionEvent> {
        let (canceller, cancel) = cancel_pair();
        self.tools.insert(id, canceller);
        let spec = self.spec.clone();
        let (key, events) = (self.key, self.events.clone());
        let started = start("tool", move || {
            let run = AssertUnwindSafe(|| run_tool(&spec, id, &work, &cancel, key, &events));
            let result = catch_unwind(run).unwrap_or_else(|_| {
                let name = work.tool();
                ToolResult::failed(format!("the tool `{name}` crashed; this is a bug in e"))
            });
            let _ = events.send(Event::Session(key, SessionEvent::ToolDone(id, result)));
        });
        let result = || ToolResult::failed("no thread could be started for this call");
        (!started).then(|| SessionEvent::ToolDone(id, result()))
    }

    fn log(&mut self) -> &Sender<Vec<LogEntry>> {
        self.log.get_or_insert_with(|| {
            let (sender, commands) = bounded(LOG_QUEUE);
            let (key, spec, events) = (self.key, self.spec.clone(), self.events.clone());
            let (log, open) = (self.opened.take(), self.log_open.0.clone());
            start("log", move || {
                write_log(key, &spec, log, &commands, &events);
                drop(open);
            });
            sender
        })
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.close_stream();
        self.cancel_tools();
    }
}

/// What runs under the number of a call.
enum Work {
    /// A call of the model.
    Call(ToolCall),
    /// A command of the person.
    Shell(String),
}

impl Work {
    fn tool(&self) -> &str {
        match self {
            Work::Call(call) => &call.name,
            Work::Shell(_) => "bash",
        }
    }
}

fn run_tool(
    spec: &SessionSpec,
    id: u64,
    work: &Work,
    cancel: &CancelToken,
    key: SessionKey,
    events: &Events,
) -> ToolResult {
    let output = |stream, chunk: &str| {
        let _ = events.send(Event::Session(
            key,
            SessionEvent::ToolOutput(id, stream, chunk.to_string()),
        ));
    };
    match work {
        Work::Shell(command) => tools::run_shell(&spec.runtime, command, cancel, &output),
        Work::Call(call) => {
            let name = &call.name;
            let call = tools::Call {
                arguments: &call.arguments,
                cancel,
                output: &output,
            };
            tools::run(&spec.runtime, name, &call)
        }
    }
}

/// Owns the session's log: created with the first record, closed when the session goes. What
/// could not be written stays first in line, so no record reaches the disk before its parent.
fn write_log(
    key: SessionKey,
    spec: &SessionSpec,
    mut log: Option<Log>,
    handed: &Receiver<Vec<LogEntry>>,
    events: &Events,
) {
    let mut waiting = VecDeque::new();
    for entries in handed {
        waiting.extend(entries);
        let error = write_waiting(&mut log, spec, &mut waiting).err();
        let path = log.as_ref().map(|log| log.path().to_path_buf());
        let event = SessionEvent::Appended { error, path };
        if events.send(Event::Session(key, event)).is_err() {
            break;
        }
    }
    // A last chance: there may be room on the disk by now.
    if let Err(why) = write_waiting(&mut log, spec, &mut waiting) {
        let _ = events.send(Event::Lost(format!("a session was lost in part: {why}")));
    }
}

/// Writes what waits. The error says how much of it could not be written, and why.
pub(super) fn write_waiting(
    log: &mut Option<Log>,
    spec: &SessionSpec,
    waiting: &mut VecDeque<LogEntry>,
) -> Result<(), String> {
    try_writing(log, spec, waiting).map_err(|error| {
        let is_message =
            |entry: &&LogEntry| matches!(entry, LogEntry::Record(Record::Message { .. }));
        match waiting.iter().filter(is_message).count() {
            0 => error.to_string(),
            1 => format!("1 message is not saved: {error}"),
            n => format!("{n} messages are not saved: {error}"),
        }
    })
}

fn try_writing(
    log: &mut Option<Log>,
    spec: &SessionSpec,
    waiting: &mut VecDeque<LogEntry>,
) -> Result<()> {
    if let Some(log) = log {
        log.ensure_place()?;
    }
    while let Some(entry) = waiting.front() {
        let log = match log {
            Some(log) => log,
            None => log.insert(Log::create(&spec.log_spec())?),
        };
        match entry {
            LogEntry::Record(record) => log.append(record)?,
            LogEntry::Failure { parent, details } => {
                // A diagnosis that cannot be kept must not become a second failure.
                let _ = log.append_failure(parent.as_deref(), details);
            }
        }
        waiting.pop_front();
    }
    Ok(())
}

/// Gives a fork its own log, as long as the original's living branch.
pub fn fork_log(wanted: Forking, fork: Fork, original: PathBuf, events: Events) -> bool {
    let Fork { spec, past, .. } = fork;
    start("fork", move || {
        let log = Log::fork(&original, past.head.as_deref(), &spec.log_spec());
        let past = log.map(|log| Past {
            log: Some(log),
            ..past
        });
        let _ = events.send(Event::Forked(wanted, spec, past));
    })
}

/// Starts a named thread; `false` when the system has none left.
fn start(name: &str, body: impl FnOnce() + Send + 'static) -> bool {
    thread::Builder::new()
        .name(format!("e-{name}"))
        .spawn(body)
        .is_ok()
}

fn failed(job: Job, failure: Failure) -> SessionEvent {
    let events = vec![StreamEvent::Failed(Box::new(failure))];
    SessionEvent::Stream {
        job,
        events,
        slept: Duration::ZERO,
    }
}

fn internal(message: &str) -> Failure {
    Failure::new(Cause::Rejected, Stage::Stream, message)
}

struct StreamSink {
    key: SessionKey,
    job: Job,
    events: Events,
    gate: Arc<Gate>,
    pending: Vec<StreamEvent>,
    sent: ClockMark,
}

impl provider::Sink for StreamSink {
    fn push(&mut self, event: StreamEvent) {
        self.pending.push(event);
        if self.pending.len() >= STREAM_BATCH {
            self.flush();
        }
    }

    fn text(&mut self, piece: &str) {
        match self.pending.last_mut() {
            Some(StreamEvent::Text(deltas)) => deltas.push(piece),
            _ => self.push(StreamEvent::Text(piece.into())),
        }
    }

    fn flush(&mut self) -> bool {
        if self.pending.is_empty() {
            return true;
        }
        if !self.gate.pass() {
            self.pending.clear();
            return false;
        }
        let events = std::mem::take(&mut self.pending);
        let failed = matches!(events.last(), Some(StreamEvent::Failed(_)));
        let slept = if failed {
            clock::suspended_since(self.sent)
        } else {
            Duration::ZERO
        };
        let event = SessionEvent::Stream {
            job: self.job,
            events,
            slept,
        };
        self.events.send(Event::Session(self.key, event)).is_ok()
    }
}
