//! The one loop that owns all sessions.
//!
//! It sleeps until something happens: a signal, a request of the frontend, an event of a worker,
//! a deadline, or room in the frontend's queue, looked at in that order. It steps the session
//! concerned, carries out the actions, and hands the outputs over without ever waiting.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Select, Sender, TryRecvError, never};

use super::action::{Action, Now, SessionEvent};
use super::event::{Answer, Input, Output, RequestId, SessionKey};
use super::exec::{Events, Workers};
use super::outbox::Outbox;
use super::session::Session;
use super::timers::Timers;
use crate::sys::clock;
use crate::sys::process;
use crate::sys::signal::Signal;

/// Worker events handled before the outputs are handed over.
const DRAIN: usize = 256;
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
    worker_events: Receiver<(SessionKey, SessionEvent)>,
    events: Events,
    output: Sender<Vec<Output>>,
    sessions: HashMap<SessionKey, (Session, Workers)>,
    timers: Timers,
    outbox: Outbox,
    actions: Vec<Action>,
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
    Worker(SessionKey, SessionEvent),
    Room,
    Deadline,
}

impl Runtime {
    /// A loop without sessions.
    pub fn new(
        input: Receiver<Input>,
        signals: Receiver<Signal>,
        (events, worker_events): (Events, Receiver<(SessionKey, SessionEvent)>),
        output: Sender<Vec<Output>>,
    ) -> Self {
        Self {
            input,
            signals,
            worker_events,
            events,
            output,
            sessions: HashMap::new(),
            timers: Timers::default(),
            outbox: Outbox::default(),
            actions: Vec::new(),
            congested: false,
            closing: false,
            exit: None,
            random: u64::from(std::process::id()) ^ clock::now_ms(),
        }
    }

    /// Runs until shut down and drained.
    pub fn run(mut self) {
        while !(self.closing && self.outbox.is_empty() && !self.any_running()) {
            match self.wait() {
                Wake::Signal(signal) => self.on_signal(signal),
                Wake::Input(Some(input)) => self.on_input(input),
                Wake::Input(None) => self.close(),
                Wake::Worker(key, event) => {
                    self.step(key, event);
                    self.drain();
                }
                Wake::Room => {}
                Wake::Deadline => self.on_deadline(),
            }
            self.hand_over();
        }
        self.sessions.clear();
        process::end_all(END_COMMANDS);
    }

    fn wait(&self) -> Wake {
        let mut select = Select::new_biased();
        let signals = select.recv(&self.signals);
        let input = select.recv(&self.input);
        let workers = select.recv(&self.worker_events);
        if !self.outbox.is_empty() {
            // Only readiness is asked for here; `hand_over` sends.
            select.send(&self.output);
        }
        let deadline = match (self.timers.next(), self.exit) {
            (Some(timer), Some((exit, _))) => Some(timer.min(exit)),
            (timer, exit) => timer.or(exit.map(|(at, _)| at)),
        };
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
                .map_or(Wake::Room, |(key, event)| Wake::Worker(key, event))
        } else {
            Wake::Room
        }
    }

    /// Takes more of what the workers have ready, so that one hand-over carries it all.
    fn drain(&mut self) {
        for _ in 0..DRAIN {
            if self.outbox.is_congested() {
                return;
            }
            let Ok((key, event)) = self.worker_events.try_recv() else {
                return;
            };
            self.step(key, event);
        }
    }

    fn on_input(&mut self, input: Input) {
        match input {
            Input::Open(key, spec) => {
                let workers = Workers::new(key, spec.clone(), self.events.clone());
                self.sessions.insert(key, (Session::new(spec), workers));
            }
            Input::Prompt {
                session,
                request,
                prompt,
                limits,
            } => {
                self.request(
                    session,
                    request,
                    SessionEvent::Prompt(request, prompt, limits),
                );
            }
            Input::Steer {
                session,
                request,
                text,
            } => {
                self.request(session, request, SessionEvent::Steer(request, text));
            }
            Input::Interrupt { session, request } => {
                self.request(session, request, SessionEvent::Interrupt(Some(request)));
            }
            Input::Shutdown => self.close(),
        }
    }

    fn request(&mut self, session: SessionKey, request: RequestId, event: SessionEvent) {
        if self.closing || !self.sessions.contains_key(&session) {
            let why = if self.closing {
                "e is shutting down"
            } else {
                "unknown session"
            };
            let answer = Answer::Refused(why.into());
            return self.outbox.push(Output::Answer { request, answer });
        }
        self.step(session, event);
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
            self.step(key, SessionEvent::Interrupt(None));
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
        while let Some((key, topic)) = self.timers.take_due(now) {
            self.step(key, SessionEvent::Timer(topic));
        }
    }

    /// Steps a session and carries out what it asks for.
    fn step(&mut self, key: SessionKey, event: SessionEvent) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            let now = self.now();
            let Some((session, workers)) = self.sessions.get_mut(&key) else {
                return;
            };
            if let SessionEvent::ToolDone(id, _) = &event {
                workers.tool_ended(*id);
            }
            session.step(event, now, &mut self.actions);
            for action in self.actions.drain(..) {
                match action {
                    Action::Emit(request, event) => {
                        self.outbox.push(Output::Event {
                            session: key,
                            request,
                            event,
                        });
                    }
                    Action::Answer(request, answer) => {
                        self.outbox.push(Output::Answer { request, answer });
                    }
                    Action::SetTimer(topic, at) => self.timers.set(key, topic, at),
                    Action::ClearTimer(topic) => self.timers.clear(key, topic),
                    action => events.extend(workers.perform(action)),
                }
            }
        }
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
            .filter(|(_, (session, _))| session.is_running())
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
