//! The loop of the terminal app: it waits for keys, the core, tasks, signals and time, lets the app
//! handle them, carries out what it wants, and paints when the terminal has taken the last frame.

mod handover;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, never, select_biased};

use super::app::{App, Done, Effect, Task};
use super::editor::Editing;
use super::frame::{Frame, Screen, Writer};
use super::input::{Input, Parked};
use super::key::{InputEvent, Reply};
use super::record::Recorder;
use super::terminal::{self, ASK_BACKGROUND, ASK_CURSOR, Modes, Terminal};
use crate::agent::{Answer, Core, Input as Request, Output, TurnEvent};
use crate::error::Result;
use crate::extension::Host;
use crate::sys::crash;
use crate::sys::poll::pending;
use crate::sys::signal::{self, Signal};
use crate::sys::tty::{self, JobSignal};

/// The shortest time between two frames that no key asked for.
const PACE: Duration = Duration::from_millis(33);
/// A frame that waits longer than this for the terminal is told about.
const LATE: Duration = Duration::from_millis(500);
/// How long the terminal may take to say where its cursor is, and what its background is.
const ANSWER: Duration = Duration::from_millis(200);
/// How long the first frame waits for that. It can be painted without, and an answer mends it.
const FIRST_ANSWER: Duration = Duration::from_millis(10);
/// How long the core may take to end.
const WIND_DOWN: Duration = Duration::from_secs(3);
/// How long the last frame may take.
const LAST_FRAME: Duration = Duration::from_millis(300);
/// Events that are handled before a frame.
const DRAIN: usize = 256;
/// How long that may take: whoever sends faster than this waits, and keys and signals do not.
const DRAIN_TIME: Duration = Duration::from_millis(8);
/// Results of tasks that wait.
const TASKS: usize = 16;

/// The terminal, the core, and the app between them.
pub struct Loop {
    app: App,
    core: Core,
    terminal: Arc<Terminal>,
    writer: Writer,
    input: Input,
    screen: Screen,
    jobs: Receiver<JobSignal>,
    signals: Receiver<Signal>,
    done: (Sender<Done>, Receiver<Done>),
    /// Something changed since the last frame.
    dirty: bool,
    /// A key changed something: the next frame is not paced.
    urgent: bool,
    last_frame: Instant,
    /// Bytes that go behind the next frame.
    behind: Vec<u8>,
    title: String,
    /// The question where the cursor is, while it is open.
    asking: Option<Asking>,
    /// How often the terminal was resized.
    resizes: u64,
    /// How long a size has to stay, and until when no row of the main screen is placed for that.
    settling: Duration,
    settled_at: Instant,
    /// The editor that has the terminal, and the stop of our own reading.
    editing: Option<(Editing, Parked)>,
    /// The last frame took long to be written.
    late: bool,
    status: Option<u8>,
    recorder: Option<Recorder>,
}

/// An open question where the cursor is.
#[derive(Clone, Copy)]
struct Asking {
    /// When a frame waits no longer.
    patience: Instant,
    /// When nobody does.
    until: Instant,
    /// The number of the resize before it: after another one the answer is worth nothing.
    resizes: u64,
}

impl Loop {
    /// Takes the terminal.
    pub fn start(
        app: App,
        screen: Screen,
        terminal: Arc<Terminal>,
        settling: Duration,
        host: Host,
        mut recorder: Option<Recorder>,
    ) -> Result<Self> {
        if let Some(recorder) = &mut recorder {
            recorder.size(screen.size());
        }
        let signals = signal::watch()?;
        let jobs = tty::watch()?;
        crash::watch()?;
        let keys = File::open("/dev/tty")
            .or_else(|_| io::stdin().as_fd().try_clone_to_owned().map(File::from))?;
        // The core stops with its frontend; signals are looked at here.
        let core = Core::start(never(), host)?;
        terminal.enter(Modes::default())?;
        terminal.restore_on_panic();
        let ahead = pending(keys.as_fd()).unwrap_or(0);
        let input = Input::start(keys, ahead)?;
        let writer = Writer::start(terminal.clone())?;
        let now = Instant::now();
        let mut started = Self {
            app,
            core,
            terminal,
            writer,
            input,
            screen,
            jobs,
            signals,
            done: bounded(TASKS),
            dirty: true,
            urgent: true,
            last_frame: now,
            behind: Vec::new(),
            title: String::new(),
            asking: None,
            resizes: 0,
            settling,
            settled_at: now,
            editing: None,
            late: false,
            status: None,
            recorder,
        };
        let mut ask = Vec::from(ASK_BACKGROUND);
        ask.extend_from_slice(ASK_CURSOR);
        started.ask_terminal(Modes::default(), ask);
        Ok(started)
    }

    /// Runs until the person has enough, and returns the exit status.
    pub fn run(mut self) -> u8 {
        self.app.start();
        self.perform();
        while self.status.is_none() {
            self.paint();
            self.wait();
        }
        self.end()
    }

    fn wait(&mut self) {
        let timer = self.deadline().map_or_else(never, crossbeam_channel::at);
        let program = self.editing.as_ref().map(|(editing, _)| &editing.program);
        let stops = program.map_or_else(never, |program| program.stops().clone());
        let exit = program.map_or_else(never, |program| program.exit().clone());
        select_biased! {
            recv(self.signals) -> signal => {
                if let Ok(signal) = signal {
                    self.on_signal(signal);
                }
            }
            recv(self.input.events()) -> event => match event {
                Ok(event) => self.on_input(event),
                Err(_) => self.status = Some(129),
            },
            recv(self.jobs) -> signal => {
                if let Ok(signal) = signal {
                    self.on_job(signal);
                }
            }
            recv(exit) -> status => self.edited(status.ok()),
            recv(stops) -> _ => self.editor_stopped(),
            recv(self.writer.done()) -> written => {
                let since = self.writer.busy_since();
                self.late = since.is_some_and(|since| since.elapsed() > LATE);
                self.writer.finished();
                match written {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => {
                        self.screen.forget();
                        self.title.clear();
                        self.dirty = true;
                    }
                    Err(_) => self.crashed(),
                }
            }
            recv(self.done.1) -> done => {
                if let Ok(done) = done {
                    self.on_done(done);
                }
            }
            recv(self.core.output) -> outputs => match outputs {
                Ok(outputs) => self.on_outputs(outputs),
                Err(_) => self.crashed(),
            },
            recv(timer) -> _ => self.on_time(),
        }
        self.drain();
    }

    /// A thread that e cannot do without has ended.
    fn crashed(&mut self) {
        self.app.set_farewell(
            "something crashed and e had to end; this is a bug in e - go on with `e -c`",
        );
        self.status = Some(1);
    }

    /// Takes more of what is there, so that one frame shows it all.
    fn drain(&mut self) {
        let until = Instant::now() + DRAIN_TIME;
        for _ in 0..DRAIN {
            if self.status.is_some() || Instant::now() >= until {
                return;
            }
            if let Ok(event) = self.input.events().try_recv() {
                self.on_input(event);
            } else if self.urgent {
                // Who pressed a key waits for its frame, and not for what else there is.
                return;
            } else if let Ok(outputs) = self.core.output.try_recv() {
                self.on_outputs(outputs);
            } else {
                return;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        let paint = (self.dirty && self.is_free()).then(|| {
            let pace = self.last_frame + PACE;
            match self.app.modes().alternate {
                true => pace,
                false => pace.max(self.settled_at),
            }
        });
        let asking = self.asking.filter(|_| self.screen.is_lost());
        let asking = asking.map(|asking| asking.patience);
        [paint, asking, self.app.deadline(now)]
            .into_iter()
            .flatten()
            .min()
    }

    fn on_input(&mut self, event: InputEvent) {
        let now = Instant::now();
        if let Some(recorder) = &mut self.recorder {
            recorder.input(&event, self.app.hides_keys(now));
        }
        match event {
            InputEvent::Key(press) => self.app.on_key(press, now),
            InputEvent::Paste(text) => self.app.on_paste(&text, now),
            InputEvent::Mouse(mouse) => self.app.on_mouse(mouse),
            InputEvent::Reply(reply) => return self.on_reply(reply),
            InputEvent::Closed => {
                self.status = Some(Signal::Hangup.status());
                return;
            }
        }
        self.dirty = true;
        self.urgent = true;
        self.perform();
    }

    fn on_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Cursor { row, column } => {
                let asked = self.asking.take();
                if asked.is_some_and(|asked| asked.resizes == self.resizes) {
                    let size = self.terminal.size();
                    self.screen.cursor_is_at(row, column, size);
                }
                self.dirty = true;
                self.urgent = true;
            }
            Reply::Background(color) => {
                if let Some(palette) = self.app.background_is(color) {
                    self.screen.set_palette(palette);
                    self.dirty = true;
                }
            }
        }
    }

    fn on_outputs(&mut self, outputs: Vec<Output>) {
        self.dirty = true;
        if outputs.iter().any(ends_program) {
            // It may have written to the terminal.
            self.terminal.doubt();
        }
        self.app.on_outputs(outputs, Instant::now());
        self.perform();
    }

    fn on_done(&mut self, done: Done) {
        // Somebody waits for it, as for the first session.
        self.dirty = true;
        self.urgent = true;
        self.app.on_done(done);
        self.perform();
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        if self.asking.is_some_and(|asking| asking.patience <= now) && self.screen.is_lost() {
            self.screen.cursor_is_unknown();
        }
        self.app.on_time(now);
        self.dirty = true;
    }

    fn on_job(&mut self, signal: JobSignal) {
        match signal {
            JobSignal::Resized => {
                self.resizes += 1;
                let now = Instant::now();
                // A terminal that has not answered for so long will not.
                self.asking = self.asking.filter(|asking| now < asking.patience);
                self.settled_at = now + self.settling;
                self.screen.resize(self.terminal.size());
                if let Some(recorder) = &mut self.recorder {
                    recorder.size(self.screen.size());
                }
            }
            // The editor is the one that stops.
            JobSignal::Stop | JobSignal::Continued if self.editing.is_some() => return,
            JobSignal::Stop => self.suspend(),
            JobSignal::Quit => self.status = Some(131),
            JobSignal::Continued => {
                // Nobody announced the stop: whoever ran meanwhile may have changed anything.
                let modes = self.app.modes();
                if self.terminal.is_foreground() && self.terminal.enter(modes).is_ok() {
                    self.screen.resize(self.terminal.size());
                    self.screen.forget();
                }
            }
        }
        self.dirty = true;
        self.urgent = true;
    }

    fn on_signal(&mut self, signal: Signal) {
        match signal {
            Signal::Interrupt => {
                self.app.interrupt_all(Instant::now());
                self.dirty = true;
                self.perform();
            }
            signal => self.status = Some(signal.status()),
        }
    }

    fn perform(&mut self) {
        for effect in self.app.take_effects() {
            match effect {
                Effect::Send(request) => {
                    // The core reads its requests whatever happens.
                    let _ = self.core.input.send(request);
                }
                Effect::Task(task) => self.start_task(task),
                Effect::Write(bytes) => self.behind.extend(bytes),
                Effect::Paint => self.urgent = true,
                Effect::Redraw => {
                    // Somebody may have changed what the terminal does without a trace.
                    let _ = self.terminal.enter(self.app.modes());
                    self.screen.forget();
                }
                Effect::Palette(palette) => self.screen.set_palette(palette),
                Effect::Edit(text) => self.edit(&text),
                Effect::Suspend => self.suspend(),
                Effect::Quit(status) => self.status = Some(status),
            }
        }
    }

    fn start_task(&mut self, Task(work): Task) {
        let done = self.done.0.clone();
        let started = thread::Builder::new().name("e-task".into()).spawn(move || {
            let work = std::panic::AssertUnwindSafe(work);
            let result = std::panic::catch_unwind(work);
            let crashed =
                || Done::Lost("something crashed in the background; this is a bug in e".into());
            let _ = done.send(result.unwrap_or_else(|_| crashed()));
        });
        if started.is_err() {
            self.on_done(Done::Lost("no thread could be started".into()));
        }
    }

    fn ask_terminal(&mut self, modes: Modes, question: Vec<u8>) {
        self.writer.drain(LAST_FRAME);
        if self.writer.busy_since().is_none() {
            self.submit(modes, question);
            let now = Instant::now();
            let patience = match self.screen.begins() {
                true => FIRST_ANSWER,
                false => ANSWER,
            };
            self.asking = Some(Asking {
                patience: now + patience,
                until: now + ANSWER,
                resizes: self.resizes,
            });
        }
    }

    fn submit(&mut self, modes: Modes, bytes: Vec<u8>) {
        if bytes.is_empty() && self.terminal.switch(modes).is_empty() {
            return;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.output(&[&self.terminal.switch(modes)[..], &bytes].concat());
        }
        self.writer.submit(modes, bytes);
    }

    /// Whether a frame may be built: the terminal is ours, it has taken the last one, and it is
    /// known where the main screen's rows are, or time to ask.
    fn is_free(&self) -> bool {
        let waits = || !self.app.modes().alternate && self.screen.is_lost();
        let is_idle = self.editing.is_none() && self.writer.busy_since().is_none();
        is_idle && !(self.asking.is_some() && waits())
    }

    fn paint(&mut self) {
        let now = Instant::now();
        if !self.dirty || !self.is_free() {
            return;
        }
        if !self.urgent && now < self.last_frame + PACE {
            return;
        }
        if now < self.settled_at && !self.app.modes().alternate {
            return;
        }
        self.app.before_frame();
        let modes = self.app.modes();
        if self.terminal.was_changed() && self.terminal.enter(modes).is_ok() {
            self.screen.forget();
        }
        if !modes.alternate && self.screen.is_lost() {
            // Only on the main screen does the answer tell about the main screen.
            return self.ask_terminal(modes, ASK_CURSOR.to_vec());
        }
        let mut bytes = Vec::new();
        let size = self.screen.size();
        let title = self.app.title();
        if self.title != title {
            bytes.extend(terminal::title(&title));
            self.title = title;
        }
        let frame = match self.app.full_frame(size, now, self.late) {
            Some((surface, caret)) => Frame::Full { surface, caret },
            None => {
                let on_screen = self.screen.settled_rows();
                Frame::Inline(self.app.inline_frame(size, on_screen, now, self.late))
            }
        };
        bytes.extend(self.screen.paint(frame));
        bytes.append(&mut self.behind);
        self.submit(modes, bytes);
        self.dirty = self.app.has_more_rows();
        // A long conversation is shown as fast as the terminal takes it.
        self.urgent = self.dirty;
        self.last_frame = now;
        self.app.after_frame(now);
        self.perform();
    }

    /// The core winds down while the terminal is given back.
    fn end(mut self) -> u8 {
        let _ = self.core.input.send(Request::Shutdown);
        self.end_editor();
        self.writer.drain(LAST_FRAME);
        self.await_answer();
        let is_bare = self.app.last_frame(self.screen.size()) && self.screen.begins();
        if is_bare {
            // The rows go below the cursor, wherever that is.
            self.screen.cursor_is_unknown();
        }
        self.dirty = true;
        self.urgent = true;
        // Where the rows are is not asked any more: the answer would reach the shell.
        if self.app.modes().alternate || !self.screen.is_lost() {
            self.paint();
        }
        self.writer.drain(LAST_FRAME);
        let farewell = self.screen.park();
        let _parked = self.input.park();
        self.terminal.leave(&farewell);
        let until = Instant::now() + WIND_DOWN;
        while self.core.output.recv_deadline(until).is_ok() {}
        if let Some(farewell) = self.app.farewell() {
            // The terminal is an ordinary one again.
            eprintln!("error: {farewell}");
        }
        self.status.unwrap_or_default()
    }

    /// Takes the answer to an open question off the terminal, so that the shell does not get it.
    fn await_answer(&mut self) {
        let Some(asking) = self.asking.take() else {
            return;
        };
        while let Ok(event) = self.input.events().recv_deadline(asking.until) {
            if let InputEvent::Reply(Reply::Cursor { row, column }) = event {
                let size = self.terminal.size();
                return self.screen.cursor_is_at(row, column, size);
            }
        }
        self.terminal.discard_input();
    }
}

/// Whether a command of the model or of the person has ended.
fn ends_program(output: &Output) -> bool {
    match output {
        Output::Event { event, .. } => matches!(event, TurnEvent::ToolEnd { .. }),
        Output::Answer { answer, .. } => matches!(answer, Answer::Shell(_)),
        _ => false,
    }
}
