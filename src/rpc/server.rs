//! The server's state and its one loop.
//!
//! The loop sleeps until there are requests, finished jobs, outputs of the core, or room at the
//! writer. While the client does not read, outputs stay with the core, which slows the providers;
//! requests are still taken, up to a mark on what may wait.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Select, Sender, TryRecvError, never};
use serde::Serialize;
use serde_json::json;

use super::RpcOptions;
use super::asks::Asks;
use super::jobs::{Done, Jobs, Size};
use super::lines::{self, Incoming};
use super::methods::{self, Call};
use super::oneshot::OneShots;
use super::sessions::Session;
use super::wire::{self, Id, Request};
use super::writer;
use crate::agent::{Core, Input, Output, Process, RequestId, Selection, SessionKey};
use crate::config::build::{CHANNEL, COMMIT, VERSION};
use crate::error::{Error, Result};
use crate::extension::Host;
use crate::sys::signal::{self, Signal};
use crate::wire::Tag;

/// The version of the protocol.
const PROTOCOL: u32 = 2;
/// Bytes of lines that wait for the writer, above which the core is left waiting.
const OUT_MARK: usize = 256 * 1024;
/// Bytes of answers that wait for the writer, above which no more requests are read.
const ANSWERS_MARK: usize = 1024 * 1024;
/// What requests that wait may weigh, in bytes, before no more are read.
const WAITING_MARK: usize = 64 << 20;
/// How long the process stays, once it is ending, for a client that takes nothing.
const FAREWELL: Duration = Duration::from_secs(90);
/// How long it stays after a signal.
const SIGNALLED: Duration = Duration::from_millis(900);

/// What all sessions of the process have in common.
pub struct Setting {
    /// Home, environment, connections.
    pub process: Process,
    /// The directory that relative paths start from.
    pub cwd: PathBuf,
    /// What the command line allows.
    pub options: RpcOptions,
}

/// A request that the core works on.
pub enum Open {
    /// A prompt or a compaction.
    Turn(Id, SessionKey, Tag),
    /// The turn of a one-shot line.
    OneShot(Id, SessionKey),
    /// The end of a one-shot line's session.
    OneShotEnd,
    /// A steering message.
    Steer(Id),
    /// An interrupt.
    Interrupt(Id, SessionKey),
    /// A change of model or effort.
    Set(Id, SessionKey, Selection),
    /// What a session is.
    Info(Id, SessionKey),
    /// Its messages.
    Messages(Id),
    /// Its messages, to be written as a page.
    Export(Id, SessionKey, Option<PathBuf>),
    /// Another session with its history, under this key.
    Fork(Id, SessionKey, Box<Session>),
    /// Its end.
    Close(Id, SessionKey),
    /// An interrupt that nobody waits for.
    Nobody,
}

/// How far the process is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Requests are served.
    Serving,
    /// There will be no more requests: sessions have been stopped, one-shot lines go on.
    Draining,
    /// Everything is being stopped.
    Leaving(u8),
}

/// What the loop woke up for.
enum Wake {
    Lines(Incoming),
    EndOfInput,
    Done(Done),
    Outputs(Vec<Output>),
    CoreEnded,
    Room,
    Gone,
    Signal(Signal),
    Written,
    Overdue,
    Nothing,
}

/// The whole state.
pub struct Server {
    pub(super) setting: Arc<Setting>,
    pub(super) jobs: Jobs,
    pub(super) one_shots: OneShots,
    pub(super) asks: Asks,
    pub(super) sessions: HashMap<SessionKey, Session>,
    pub(super) handles: HashMap<String, SessionKey>,
    pub(super) requests: HashMap<RequestId, Open>,
    /// Whole lines that have not been handed to the writer.
    pub(super) out: Vec<u8>,
    /// Bytes among them of answers that came at once. What the core answers is bounded by its mark.
    answers: usize,
    /// Requests that were read and not answered.
    unanswered: usize,
    /// What those of them weigh that only wait.
    pub(super) waiting: usize,
    phase: Phase,
    /// Whether a signal set the deadline.
    signalled: bool,
    deadline: Option<Instant>,
    last_session: u64,
    last_request: u64,
    input: Sender<Input>,
    output: Receiver<Vec<Output>>,
    outputs: VecDeque<Output>,
    lines: Receiver<Incoming>,
    incoming: VecDeque<Vec<u8>>,
    /// Looked at when the core, which looks first, has ended.
    signals: Receiver<Signal>,
    core_runs: bool,
    writer: Option<Sender<Vec<u8>>>,
    gone: Receiver<()>,
    written: Receiver<()>,
}

impl Server {
    /// Starts the core and the threads at the pipes.
    pub fn start(
        options: RpcOptions,
        process: Process,
        cwd: PathBuf,
        extensions: Host,
    ) -> Result<Self> {
        let signals = signal::watch()?;
        let core = Core::start(signals.clone(), extensions)?;
        let writer = writer::start()?;
        let lines = lines::start()?;
        Ok(Self {
            setting: Arc::new(Setting {
                process,
                cwd,
                options,
            }),
            jobs: Jobs::new(),
            one_shots: OneShots::default(),
            asks: Asks::default(),
            sessions: HashMap::new(),
            handles: HashMap::new(),
            requests: HashMap::new(),
            out: Vec::new(),
            answers: 0,
            unanswered: 0,
            waiting: 0,
            phase: Phase::Serving,
            signalled: false,
            deadline: None,
            last_session: 0,
            last_request: 0,
            input: core.input,
            output: core.output,
            outputs: VecDeque::new(),
            lines,
            incoming: VecDeque::new(),
            signals,
            core_runs: true,
            writer: Some(writer.sender),
            gone: writer.gone,
            written: writer.ended,
        })
    }

    /// Serves to the end and returns the exit status.
    pub fn run(mut self) -> u8 {
        loop {
            self.work_off();
            match self.wait() {
                Wake::Lines(Incoming::Lines(lines)) => self.incoming.extend(lines),
                Wake::Lines(Incoming::TooLong) => self.on_too_long(),
                Wake::EndOfInput => self.on_end_of_input(),
                Wake::Done(done) => {
                    self.jobs.ended();
                    self.on_done(done);
                }
                Wake::Outputs(outputs) => self.outputs.extend(outputs),
                Wake::CoreEnded => self.on_core_ended(),
                Wake::Room => self.hand_over(),
                Wake::Gone => self.on_client_gone(),
                Wake::Signal(signal) => return signal.status(),
                Wake::Written | Wake::Overdue => {
                    if let Phase::Leaving(status) = self.phase {
                        return status;
                    }
                }
                Wake::Nothing => {}
            }
        }
    }

    /// Gives a request to the core, which answers it.
    pub(super) fn send(&mut self, input: Input) {
        // A core that is shutting down takes nothing; what is open then is answered at its end.
        if !matches!(self.phase, Phase::Leaving(_)) {
            let _ = self.input.send(input);
        }
    }

    /// Notes a request that the core will answer.
    pub(super) fn open(&mut self, open: Open) -> RequestId {
        self.last_request += 1;
        let request = RequestId(self.last_request);
        self.requests.insert(request, open);
        request
    }

    /// A key for a session of the core.
    pub(super) fn next_session(&mut self) -> SessionKey {
        self.last_session += 1;
        SessionKey(self.last_session)
    }

    /// Whether sessions have been stopped, and what they are asked for now is to be stopped too.
    pub(super) fn is_ending(&self) -> bool {
        self.phase != Phase::Serving
    }

    /// Answers a request with a result.
    pub(super) fn answer(&mut self, id: Id, result: &impl Serialize) {
        self.respond(id, |out, id| wire::write_result(out, id, result));
    }

    /// Answers a request with an error.
    pub(super) fn refuse(&mut self, id: Id, error: &Error) {
        self.respond(id, |out, id| wire::write_error(out, id, &error.to_string()));
    }

    /// Answers a request with a line of any form.
    pub(super) fn respond(&mut self, mut id: Id, write: impl FnOnce(&mut Vec<u8>, &Id)) {
        let before = self.out.len();
        write(&mut self.out, &id);
        self.answers += self.out.len() - before;
        self.unanswered -= 1;
        self.waiting -= id.take_weight();
    }

    /// Answers a request that comes too late.
    pub(super) fn refuse_ending(&mut self, id: Id) {
        self.refuse(id, &ending());
    }

    /// A request no longer waits; its answer is still owed.
    pub(super) fn begun(&mut self, id: &mut Id) {
        self.waiting -= id.take_weight();
    }

    /// Ends everything: turns are interrupted, what waits is refused.
    pub(super) fn leave(&mut self, status: u8) {
        if matches!(self.phase, Phase::Leaving(_)) {
            return;
        }
        let _ = self.input.send(Input::Shutdown);
        self.phase = Phase::Leaving(status);
        self.refuse_one_shots();
        for done in self.jobs.refuse(&ending()) {
            self.on_done(done);
        }
        self.refuse_waiting();
    }

    fn work_off(&mut self) {
        loop {
            if self.may_read() {
                if let Some(line) = self.incoming.pop_front() {
                    self.on_line(&line);
                    continue;
                }
            }
            if self.has_room() {
                if let Some(output) = self.outputs.pop_front() {
                    // The mark that the core waits at bounds these.
                    let answers = self.answers;
                    self.on_output(output);
                    self.answers = answers;
                    continue;
                }
            }
            break;
        }
        self.jobs.start(self.has_room());
        match self.phase {
            Phase::Serving => {}
            Phase::Draining if self.unanswered == 0 => self.leave(0),
            Phase::Draining => {}
            Phase::Leaving(_) => self.finish(),
        }
    }

    /// Whether the core may go on talking.
    fn has_room(&self) -> bool {
        self.out.len() < OUT_MARK
    }

    fn may_read(&self) -> bool {
        self.answers < ANSWERS_MARK && self.waiting < WAITING_MARK
    }

    fn wait(&self) -> Wake {
        let mut select = Select::new_biased();
        // Once the writer has been let go, nobody is left to say this, and a channel without senders is
        // always ready.
        let writes = self.writer.is_some();
        let gone = writes.then(|| select.recv(&self.gone));
        let done = select.recv(&self.jobs.done);
        let signals = (!self.core_runs).then(|| select.recv(&self.signals));
        let reads = self.incoming.is_empty() && self.may_read();
        let lines = reads.then(|| select.recv(&self.lines));
        let writer = self.writer.as_ref().filter(|_| !self.out.is_empty());
        let room = writer.map(|writer| select.send(writer));
        let takes = self.outputs.is_empty() && self.has_room();
        let output = takes.then(|| select.recv(&self.output));
        let written = self.writer.is_none().then(|| select.recv(&self.written));
        let ready = match self.deadline {
            Some(at) => select.ready_deadline(at).ok(),
            None => Some(select.ready()),
        };
        let Some(ready) = ready else {
            return Wake::Overdue;
        };
        let is = |source: Option<usize>| source == Some(ready);
        if is(gone) {
            self.gone.try_recv().map_or(Wake::Nothing, |()| Wake::Gone)
        } else if ready == done {
            self.jobs.done.try_recv().map_or(Wake::Nothing, Wake::Done)
        } else if is(signals) {
            self.signals.try_recv().map_or(Wake::Nothing, Wake::Signal)
        } else if is(lines) {
            match self.lines.try_recv() {
                Ok(incoming) => Wake::Lines(incoming),
                Err(TryRecvError::Empty) => Wake::Nothing,
                Err(TryRecvError::Disconnected) => Wake::EndOfInput,
            }
        } else if is(output) {
            match self.output.try_recv() {
                Ok(outputs) => Wake::Outputs(outputs),
                Err(TryRecvError::Empty) => Wake::Nothing,
                Err(TryRecvError::Disconnected) => Wake::CoreEnded,
            }
        } else if is(written) {
            Wake::Written
        } else if is(room) {
            Wake::Room
        } else {
            Wake::Nothing
        }
    }

    fn on_line(&mut self, line: &[u8]) {
        let (id, request) = wire::parse(line);
        self.unanswered += 1;
        self.waiting += id.weight();
        match request {
            Err(error) => self.refuse(id, &error),
            Ok(_) if matches!(self.phase, Phase::Leaving(_)) => self.refuse_ending(id),
            Ok(Request::OneShot(line)) => self.one_shot(id, line),
            Ok(Request::Call(call)) => self.call(id, call),
        }
    }

    fn call(&mut self, id: Id, call: Call) {
        match call {
            Call::Hello { ask } => {
                let home = self.setting.process.home.dir();
                let hello = json!({
                    "protocol": PROTOCOL,
                    "version": VERSION,
                    "channel": CHANNEL,
                    "commit": COMMIT,
                    "cwd": self.setting.cwd.to_string_lossy(),
                    "home": home.map(|home| home.to_string_lossy()),
                    "methods": methods::names(),
                    "ask": ask,
                });
                self.answer(id, &hello);
                self.greeted(ask);
            }
            Call::Models => {
                let setting = self.setting.clone();
                let work = move || Ok(setting.models());
                let done = move |answer| Done::Answer(id, answer);
                self.jobs.add(Size::Large, work, done);
            }
            Call::List { cwd, all } => {
                let setting = self.setting.clone();
                let work = move || setting.list(cwd, all);
                let done = move |answer| Done::Answer(id, answer);
                self.jobs.add(Size::Large, work, done);
            }
            Call::Create(create) => self.create(id, *create),
            Call::Session(handle, call) => self.session_call(id, &handle, call),
            Call::AskReply { ask, result } => self.ask_reply(id, ask, result),
            Call::Shutdown => {
                self.answer(id, &json!({}));
                self.leave(0);
            }
        }
    }

    fn on_done(&mut self, done: Done) {
        match done {
            Done::Answer(id, Ok(answer)) => {
                // What may be large waited for room.
                let answers = self.answers;
                self.answer(id, &answer);
                self.answers = answers;
            }
            Done::Answer(id, Err(error)) => self.refuse(id, &error),
            Done::Created(id, created) => self.created(id, created),
            Done::Selected(id, session, selection) => self.selected(id, session, selection),
            Done::Prompt(id, session, limits, prompt) => {
                self.prompt_is_read(id, session, limits, prompt);
            }
            Done::OneShot(id, begun) => self.begin_one_shot(id, begun),
        }
    }

    fn on_too_long(&mut self) {
        let limit = lines::LIMIT >> 20;
        let error = Error::usage(format!("invalid request: a line is over {limit} MiB"))
            .remedy("e cannot find the next line and ends");
        self.unanswered += 1;
        let mut id = Id::none();
        id.take_weight();
        self.refuse(id, &error);
        self.lines = never();
        self.leave(1);
    }

    fn on_end_of_input(&mut self) {
        self.lines = never();
        if self.phase == Phase::Serving {
            self.phase = Phase::Draining;
            let sessions: Vec<SessionKey> = self.sessions.keys().copied().collect();
            for session in sessions {
                self.stop(session);
            }
        }
    }

    /// Nobody reads any more, so nothing needs to be written or waited for.
    fn on_client_gone(&mut self) {
        self.gone = never();
        self.lines = never();
        self.writer = None;
        self.leave(0);
    }

    /// A signal told the core to stop everything, which it does.
    pub(super) fn on_ending(&mut self, signal: Signal) {
        self.leave(signal.status());
        self.phase = Phase::Leaving(signal.status());
        self.deadline = Some(Instant::now() + SIGNALLED);
        self.signalled = true;
    }

    fn on_core_ended(&mut self) {
        self.core_runs = false;
        self.output = never();
        let why = match self.phase {
            Phase::Leaving(_) => ending(),
            Phase::Serving | Phase::Draining => {
                self.leave(1);
                Error::failed("e stopped unexpectedly; this is a bug")
            }
        };
        let requests: Vec<Open> = self.requests.drain().map(|(_, open)| open).collect();
        for open in requests {
            self.answer_at_end(open, &why);
        }
    }

    /// Leaves when there is nothing left to do, and not later than a client that takes nothing
    /// can be waited for.
    fn finish(&mut self) {
        let done = !self.core_runs && self.outputs.is_empty() && self.jobs.is_idle();
        if done {
            // What was read before the end is answered, too.
            while let Ok(Incoming::Lines(lines)) = self.lines.try_recv() {
                lines.iter().for_each(|line| self.on_line(line));
            }
        }
        if self.writer.is_none() {
            self.out.clear();
        } else if done && self.out.is_empty() {
            self.writer = None;
        }
        if !self.signalled {
            self.deadline = Some(Instant::now() + FAREWELL);
        }
    }

    fn hand_over(&mut self) {
        self.answers = 0;
        let lines = std::mem::take(&mut self.out);
        if let Some(writer) = &self.writer {
            // The only sender, and there was room. A writer that has ended says so elsewhere.
            let _ = writer.try_send(lines);
        }
    }
}

/// Why a request is refused while the process ends.
fn ending() -> Error {
    Error::failed("e is shutting down")
}
