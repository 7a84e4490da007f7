//! The one loop that owns all sessions.
//!
//! It sleeps until something happens: a signal, a request of the frontend, an event of a worker,
//! a deadline, or room in the frontend's queue, looked at in that order. It steps the session
//! concerned, carries out the actions, and hands the outputs over without ever waiting.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Select, Sender, TryRecvError, never};

use super::action::{Action, Now, Saving, SessionEvent};
use super::event::{Answer, Input, Output, RequestId, SessionKey, TurnEvent};
use super::exec::{Event, Events, Forking, Leaving, Workers};
use super::extensions::{Extensions, Happening};
use super::outbox::Outbox;
use super::session::Session;
use super::timers::Timers;
use crate::chat::{Outcome, ToolResult};
use crate::extension::{FromChild, Host};
use crate::sys::clock;
use crate::sys::process;
use crate::sys::signal::Signal;

/// Worker events handled before the outputs are handed over.
const DRAIN: usize = 256;
/// The same for batches of lines of extensions.
const DRAIN_EXTENSIONS: usize = 16;
/// How long the process may take to end after a signal told it to.
const EXIT: Duration = Duration::from_millis(950);
/// The same after a second SIGINT.
const HURRY: Duration = Duration::from_millis(200);
/// How long commands may take to end once nobody needs them.
const END_COMMANDS: Duration = Duration::from_millis(500);

/// The loop's state.
pub struct Runtime {
    input: Receiver<Input>,
    signals: Receiver<Signal>,
    worker_events: Receiver<Event>,
    pub(super) events: Events,
    output: Sender<Vec<Output>>,
    pub(super) sessions: HashMap<SessionKey, (Session, Workers)>,
    /// Sessions that are being closed, and who is told.
    pub(super) leaving: HashMap<SessionKey, Leaving>,
    /// Who wants the extensions to go once no turn runs.
    pub(super) letting_go: Vec<RequestId>,
    pub(super) extensions: Extensions,
    /// The session that the extensions' requests are about: the one opened last.
    pub(super) current: Option<SessionKey>,
    /// Requests of extensions that wait for the first session, and those behind them; none when it
    /// is not waited for any more.
    early: Option<Vec<Happening>>,
    /// What clients call the sessions, where they do.
    pub(super) handles: HashMap<SessionKey, String>,
    /// Forks and closes whose end is awaited.
    pub(super) jobs: usize,
    timers: Timers,
    outbox: Outbox,
    /// Whether streams wait for the frontend.
    congested: bool,
    closing: bool,
    /// When the process ends by force, and its status then.
    exit: Option<(Instant, u8)>,
    random: u64,
}

/// What the loop woke up for.
enum Wake {
    Signal(Signal),
    Input(Option<Input>),
    Worker(Event),
    Extension(FromChild),
    Room,
    Deadline,
}

impl Runtime {
    /// A loop without sessions.
    pub fn new(
        input: Receiver<Input>,
        signals: Receiver<Signal>,
        (events, worker_events): (Events, Receiver<Event>),
        output: Sender<Vec<Output>>,
        extensions: Host,
    ) -> Self {
        Self {
            input,
            signals,
            worker_events,
            events,
            output,
            sessions: HashMap::new(),
            leaving: HashMap::new(),
            letting_go: Vec::new(),
            extensions: Extensions::new(extensions),
            current: None,
            early: Some(Vec::new()),
            handles: HashMap::new(),
            jobs: 0,
            timers: Timers::default(),
            outbox: Outbox::default(),
            congested: false,
            closing: false,
            exit: None,
            random: u64::from(std::process::id()) ^ clock::now_ms(),
        }
    }

    /// Runs until shut down and drained.
    pub fn run(mut self) {
        // What the start of the extensions has to say waits for nothing else to happen.
        self.drain();
        self.hand_over();
        while !(self.closing && self.outbox.is_empty() && !self.any_running() && self.jobs == 0) {
            match self.wait() {
                Wake::Signal(signal) => self.on_signal(signal),
                Wake::Input(Some(input)) => self.on_input(input),
                Wake::Input(None) => self.close(),
                Wake::Worker(event) => self.on_event(event),
                Wake::Extension(news) => self.on_news(news),
                Wake::Room => {}
                Wake::Deadline => self.on_deadline(),
            }
            self.drain();
            if !self.letting_go.is_empty() && !self.any_running() {
                self.let_extensions_go();
            }
            self.hand_over();
        }
        self.end();
    }

    /// Commands end first, then the extensions are told and end, then whatever is left.
    fn end(mut self) {
        let sessions: Vec<SessionKey> = self.sessions.keys().copied().collect();
        for key in sessions {
            if let Some((_, workers)) = self.sessions.remove(&key) {
                workers.end_processes();
            }
            self.tell_shutdown(key, "quit");
        }
        self.extensions.shut_down();
        process::end_all(END_COMMANDS);
    }

    fn wait(&self) -> Wake {
        let mut select = Select::new_biased();
        let signals = select.recv(&self.signals);
        let input = select.recv(&self.input);
        let workers = select.recv(&self.worker_events);
        let extensions = select.recv(self.extensions.news());
        if !self.outbox.is_empty() {
            // Only readiness is asked for here; `hand_over` sends.
            select.send(&self.output);
        }
        let exit = self.exit.map(|(at, _)| at);
        let deadlines = [self.timers.next(), exit, self.extensions.deadline()];
        let deadline = deadlines.into_iter().flatten().min();
        // What is always ready, as the news of an extension that floods, would hide it.
        if deadline.is_some_and(|at| at <= Instant::now()) {
            return Wake::Deadline;
        }
        let ready = match deadline {
            Some(at) => match select.ready_deadline(at) {
                Ok(index) => index,
                Err(_) => return Wake::Deadline,
            },
            None => select.ready(),
        };
        if ready == signals {
            self.signals.try_recv().map_or(Wake::Room, Wake::Signal)
        } else if ready == input {
            match self.input.try_recv() {
                Ok(input) => Wake::Input(Some(input)),
                Err(TryRecvError::Empty) => Wake::Room,
                Err(TryRecvError::Disconnected) => Wake::Input(None),
            }
        } else if ready == workers {
            self.worker_events
                .try_recv()
                .map_or(Wake::Room, Wake::Worker)
        } else if ready == extensions {
            let news = self.extensions.news().try_recv();
            news.map_or(Wake::Room, Wake::Extension)
        } else {
            Wake::Room
        }
    }

    /// Takes more of what the workers and the extensions have ready, so that one hand-over carries
    /// it all, and neither can keep the other waiting.
    fn drain(&mut self) {
        self.settle_extensions();
        for _ in 0..DRAIN {
            if self.outbox.is_congested() {
                break;
            }
            let Ok(event) = self.worker_events.try_recv() else {
                break;
            };
            self.on_event(event);
        }
        // A slow frontend never holds up the extensions: what they send is bounded elsewhere.
        for _ in 0..DRAIN_EXTENSIONS {
            let Ok(news) = self.extensions.news().try_recv() else {
                break;
            };
            self.on_news(news);
            self.settle_extensions();
        }
        self.settle_extensions();
    }

    /// What the frontend has said until now counts first: the extension may know that it was said,
    /// as that somebody is there who answers questions.
    fn on_news(&mut self, news: FromChild) {
        for _ in 0..self.input.len() {
            if let Ok(input) = self.input.try_recv() {
                self.on_input(input);
            }
        }
        self.extensions.on_news(news, Instant::now());
    }

    /// Passes on what the extensions have come to.
    pub(super) fn settle_extensions(&mut self) {
        while let Some(happenings) = self.extensions.next() {
            for happening in happenings {
                self.happen(happening);
            }
        }
    }

    fn happen(&mut self, happening: Happening) {
        if let Some(early) = &mut self.early {
            match happening.asked() {
                Some((_, needs_session)) if needs_session || !early.is_empty() => {
                    return early.push(happening);
                }
                _ => {}
            }
            if let Happening::Output(Output::Withdrawn(gone)) = &happening {
                early.retain(|one| one.asked().is_none_or(|(ask, _)| ask != *gone));
            }
        }
        match happening {
            Happening::Session(key, event) => self.step(key, event),
            Happening::Output(output) => self.outbox.push(output),
            Happening::Asked(ask, request) => match self.current {
                Some(key) if self.sessions.contains_key(&key) => {
                    self.step(key, SessionEvent::Asked(ask, request));
                }
                _ => {
                    let error = Err("there is no session".into());
                    self.extensions.answer(ask, error, Instant::now());
                }
            },
        }
    }

    /// The first session is there, or not waited for any more.
    pub(super) fn serve_early(&mut self) {
        for happening in self.early.take().into_iter().flatten() {
            self.happen(happening);
        }
    }

    fn on_input(&mut self, input: Input) {
        match input {
            Input::Open(key, spec, past, origin) => self.open(key, spec, past, origin),
            Input::NoSession => self.serve_early(),
            Input::Reply(ask, result) => self.extensions.answer(ask, result, Instant::now()),
            Input::Serve(serves) => self.extensions.serve(serves),
            Input::Hook(request, hook) => self.extensions.ask(request, hook, Instant::now()),
            Input::Call {
                request,
                to,
                method,
                params,
            } => self
                .extensions
                .call(request, to, method, &params, Instant::now()),
            Input::Notify(to, method, params) => {
                self.extensions.notify(to, method, &params, Instant::now());
            }
            Input::Want(session, request, want) => {
                self.request(session, request, SessionEvent::Want(request, want));
            }
            Input::Name(session, name) => {
                if self.sessions.contains_key(&session) {
                    self.step(session, SessionEvent::Named(name));
                }
            }
            Input::Save { session, request } => {
                let saving = Saving::Answer(request);
                self.request(session, request, SessionEvent::Save(saving));
            }
            Input::Fork {
                session,
                request,
                fork,
                handle,
                replaces,
            } => {
                self.handles.extend(handle.map(|handle| (fork, handle)));
                let replaces = replaces.then_some(session);
                let wanted = Forking {
                    request,
                    fork,
                    replaces,
                };
                self.fork(session, wanted);
            }
            Input::Close {
                session,
                request,
                next,
            } => {
                if self.request(session, request, SessionEvent::Stop) {
                    self.leave(session, Some(request), next);
                }
            }
            Input::LetGo(request) => self.letting_go.push(request),
            Input::Extend {
                request,
                host,
                settings,
            } => self.extend(request, *host, &settings),
            Input::Shutdown => self.close(),
        }
    }

    /// Passes a request on to its session. `false` when it was refused here.
    fn request(&mut self, session: SessionKey, request: RequestId, event: SessionEvent) -> bool {
        let why = if self.closing {
            "e is shutting down"
        } else if !self.sessions.contains_key(&session) || self.leaving.contains_key(&session) {
            "unknown session"
        } else {
            self.step(session, event);
            return true;
        };
        self.answer(request, Answer::Refused(why.into()));
        false
    }

    pub(super) fn answer(&mut self, request: RequestId, answer: Answer) {
        self.outbox.push(Output::Answer { request, answer });
    }

    fn on_event(&mut self, event: Event) {
        if matches!(event, Event::Forked(..) | Event::Closed(..)) {
            self.jobs -= 1;
        }
        match event {
            Event::Session(key, event) => self.step(key, event),
            Event::Forked(wanted, spec, Ok(past)) => self.forked(wanted, spec, past),
            Event::Forked(wanted, _, Err(error)) => {
                self.answer(wanted.request, Answer::Refused(error.to_string()));
            }
            Event::Closed(key, leaving) => self.closed(key, leaving),
            Event::Lost(what) => self.outbox.push(Output::Notice(what)),
        }
    }

    fn on_signal(&mut self, signal: Signal) {
        let status = signal.status();
        if signal == Signal::Interrupt && !self.any_running() {
            process::end_all(END_COMMANDS);
            std::process::exit(i32::from(status));
        }
        if signal == Signal::Interrupt && self.exit.is_some() {
            // The second one means it: nothing gets time to end well, only the log to be written.
            process::end_all(Duration::ZERO);
            self.exit = Some((Instant::now() + HURRY, status));
            return;
        }
        // Commands first: they may hold what the turns wait for.
        for (_, workers) in self.sessions.values_mut() {
            workers.cancel_tools();
        }
        self.outbox.push(Output::Ending(signal));
        if signal == Signal::Interrupt {
            // Far enough away to let the turns end; only its presence counts.
            self.exit = Some((Instant::now() + Duration::from_secs(30), status));
        } else {
            self.exit = Some((Instant::now() + EXIT, status));
        }
        self.interrupt_all();
    }

    fn close(&mut self) {
        self.closing = true;
        // A channel without senders is always ready; this one has nothing more to say.
        self.input = never();
        self.interrupt_all();
    }

    fn interrupt_all(&mut self) {
        let running: Vec<SessionKey> = self.running().collect();
        for key in running {
            self.step(key, SessionEvent::Stop);
        }
    }

    fn on_deadline(&mut self) {
        let now = Instant::now();
        if let Some((at, status)) = self.exit {
            if at <= now {
                process::end_all(Duration::ZERO);
                std::process::exit(i32::from(status));
            }
        }
        self.extensions.on_deadline(now);
        while let Some((key, topic)) = self.timers.take_due(now) {
            self.step(key, SessionEvent::Timer(topic));
        }
    }

    /// Steps a session and carries out what it asks for.
    pub(super) fn step(&mut self, key: SessionKey, event: SessionEvent) {
        let mut events = vec![event];
        let mut forks = Vec::new();
        while let Some(event) = events.pop() {
            let now = self.now();
            let Some((session, workers)) = self.sessions.get_mut(&key) else {
                return;
            };
            if let SessionEvent::ToolDone(id, _) = &event {
                workers.tool_ended(*id);
            }
            for action in session.step(event, now) {
                match action {
                    Action::Emit(request, event) => {
                        if matches!(event, TurnEvent::TurnEnd { .. }) {
                            let notices = self.extensions.take_failures();
                            notices
                                .into_iter()
                                .for_each(|text| self.outbox.push(Output::Notice(text)));
                        }
                        self.outbox.push(Output::Event {
                            session: key,
                            request,
                            event,
                        });
                    }
                    Action::Held(message, text) => self.outbox.push(Output::Held {
                        session: key,
                        message,
                        text,
                    }),
                    Action::Answer(request, answer) => {
                        self.outbox.push(Output::Answer { request, answer });
                    }
                    Action::CancelTool(id) if self.extensions.cancel(key, id, now.instant) => {
                        let result = ToolResult {
                            outcome: Outcome::Cancelled,
                            ..ToolResult::failed(
                                "the turn was interrupted; the extension may still be at work",
                            )
                            .summary("cancelled")
                        };
                        events.push(SessionEvent::ToolDone(id, result));
                    }
                    // Another session has taken its place already.
                    Action::Tell(..) if self.leaving.get(&key).is_some_and(|one| one.is_told) => {}
                    Action::Fork(wanted, fork) => forks.push((wanted, *fork)),
                    Action::SetTimer(topic, at) => self.timers.set(key, topic, at),
                    Action::ClearTimer(topic) => self.timers.clear(key, topic),
                    action => {
                        if let Some(action) = self.extensions.perform(key, action, now.instant) {
                            events.extend(workers.perform(action));
                        }
                    }
                }
            }
        }
        for (wanted, fork) in forks {
            self.copy_log(key, wanted, fork);
        }
        self.let_go(key);
    }

    /// Hands outputs over if the frontend has room, and lets streams feel it if not.
    fn hand_over(&mut self) {
        // The only sender: what is not full now takes one more without waiting.
        let room = !self.outbox.is_empty() && !self.output.is_full();
        if room && self.output.send(self.outbox.take()).is_err() && !self.closing {
            // Nobody reads any more.
            self.close();
            self.outbox.take();
        }
        let congested = self.outbox.is_congested();
        if self.congested != congested {
            self.congested = congested;
            for (_, workers) in self.sessions.values_mut() {
                workers.set_congested(congested);
            }
        }
    }

    fn any_running(&self) -> bool {
        self.running().next().is_some()
    }

    fn running(&self) -> impl Iterator<Item = SessionKey> + '_ {
        self.sessions
            .iter()
            .filter(|(_, (session, _))| session.is_needed())
            .map(|(key, _)| *key)
    }

    fn now(&mut self) -> Now {
        // Xorshift: jitter needs no more.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        Now {
            instant: Instant::now(),
            wall_ms: clock::now_ms(),
            random: ((self.random >> 11) + 1) as f64 / (1u64 << 53) as f64,
            congested: self.outbox.is_congested(),
        }
    }
}
