//! The loop of the terminal app: it waits for keys, the core, tasks, signals and time, lets the app
//! handle them, carries out what it wants, and paints when the terminal has taken the last frame.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, never, select_biased};

use super::app::{App, Done, Effect, Task};
use super::frame::{Frame, Screen, Writer};
use super::input::Input;
use super::key::{InputEvent, Reply};
use super::terminal::{self, ASK_BACKGROUND, ASK_CURSOR, Modes, Terminal};
use crate::agent::{Core, Input as Request, Output};
use crate::error::Result;
use crate::extension::Host;
use crate::sys::signal::{self, Signal};
use crate::sys::tty::{self, JobSignal};

/// The shortest time between two frames that no key asked for.
const PACE: Duration = Duration::from_millis(16);
/// A frame that waits longer than this for the terminal is told about.
const LATE: Duration = Duration::from_millis(500);
/// How long the terminal may take to say where its cursor is, and what its background is.
const ANSWER: Duration = Duration::from_millis(200);
/// How long the core may take to end.
const WIND_DOWN: Duration = Duration::from_secs(3);
/// How long the last frame may take.
const LAST_FRAME: Duration = Duration::from_millis(300);
/// Events that are handled before a frame.
const DRAIN: usize = 256;
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
    /// Until when answers of the terminal are waited for.
    asking: Option<Instant>,
    status: Option<u8>,
}

impl Loop {
    /// Takes the terminal.
    pub fn start(app: App, screen: Screen, terminal: Arc<Terminal>, host: Host) -> Result<Self> {
        let signals = signal::watch()?;
        let jobs = tty::watch()?;
        let keys = File::open("/dev/tty")
            .or_else(|_| io::stdin().as_fd().try_clone_to_owned().map(File::from))?;
        // The core stops with its frontend; signals are looked at here.
        let core = Core::start(never(), host)?;
        terminal.enter(Modes::default())?;
        terminal.restore_on_panic();
        let input = Input::start(keys)?;
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
            status: None,
        };
        let mut ask = Vec::from(ASK_BACKGROUND);
        ask.extend_from_slice(ASK_CURSOR);
        started.ask_terminal(ask);
        Ok(started)
    }

    /// Runs until the person has enough, and returns the exit status.
    pub fn run(mut self) -> u8 {
        let effects = self.app.start();
        self.perform(effects);
        while self.status.is_none() {
            self.paint();
            self.wait();
        }
        self.end()
    }

    fn wait(&mut self) {
        let timer = self.deadline().map_or_else(never, crossbeam_channel::at);
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
            recv(self.writer.done()) -> written => {
                self.writer.finished();
                if !matches!(written, Ok(Ok(()))) {
                    self.screen.forget();
                    self.dirty = true;
                }
            }
            recv(self.done.1) -> done => {
                if let Ok(done) = done {
                    self.on_done(done);
                }
            }
            recv(self.core.output) -> outputs => match outputs {
                Ok(outputs) => self.on_outputs(outputs),
                // Without a core there is nothing left to do.
                Err(_) => self.status = Some(1),
            },
            recv(timer) -> _ => self.on_time(),
        }
        self.drain();
    }

    /// Takes more of what is there, so that one frame shows it all.
    fn drain(&mut self) {
        for _ in 0..DRAIN {
            if self.status.is_some() {
                return;
            }
            if let Ok(event) = self.input.events().try_recv() {
                self.on_input(event);
            } else if let Ok(outputs) = self.core.output.try_recv() {
                self.on_outputs(outputs);
            } else {
                return;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        let idle = self.writer.busy_since().is_none();
        let paint = (self.dirty && idle).then(|| self.last_frame + PACE);
        [paint, self.asking, self.app.deadline(now)]
            .into_iter()
            .flatten()
            .min()
    }

    fn on_input(&mut self, event: InputEvent) {
        let now = Instant::now();
        let effects = match event {
            InputEvent::Key(press) => self.app.on_key(press, now),
            InputEvent::Paste(text) => self.app.on_paste(&text, now),
            InputEvent::Mouse(mouse) => self.app.on_mouse(mouse),
            InputEvent::Reply(reply) => return self.on_reply(reply),
            InputEvent::Focus(_) => return,
            InputEvent::Closed => {
                self.status = Some(Signal::Hangup.status());
                return;
            }
        };
        self.dirty = true;
        self.urgent = true;
        self.perform(effects);
    }

    fn on_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Cursor { row, column } => {
                let size = self.terminal.size();
                self.screen.cursor_is_at(row, column, size);
                self.asking = None;
                if self.screen.is_lost() {
                    // It was resized after the question.
                    self.ask_terminal(ASK_CURSOR.to_vec());
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
            Reply::Keyboard(_) | Reply::Attributes => {}
        }
    }

    fn on_outputs(&mut self, outputs: Vec<Output>) {
        self.dirty = true;
        let effects = self.app.on_outputs(outputs, Instant::now());
        self.perform(effects);
    }

    fn on_done(&mut self, done: Done) {
        self.dirty = true;
        let effects = self.app.on_done(done);
        self.perform(effects);
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        if self.asking.is_some_and(|until| until <= now) {
            self.asking = None;
            if self.screen.is_lost() {
                self.screen.cursor_is_unknown();
            }
        }
        self.app.on_time(now);
        self.dirty = true;
    }

    fn on_job(&mut self, signal: JobSignal) {
        match signal {
            JobSignal::Resized => {
                self.screen.resize(self.terminal.size());
                if self.screen.is_lost() {
                    self.ask_terminal(ASK_CURSOR.to_vec());
                }
            }
            JobSignal::Stop => self.suspend(),
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
                let effects = self.app.interrupt_all(Instant::now());
                self.dirty = true;
                self.perform(effects);
            }
            signal => self.status = Some(signal.status()),
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    // The core reads its requests whatever happens.
                    let _ = self.core.input.send(request);
                }
                Effect::Task(task) => self.start_task(task),
                Effect::Write(bytes) => self.behind.extend(bytes),
                Effect::Redraw => self.screen.forget(),
                Effect::Edit(text) => self.edit(text),
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
                || Done::Notice("something crashed in the background; this is a bug in e".into());
            let _ = done.send(result.unwrap_or_else(|_| crashed()));
        });
        if started.is_err() {
            let effects = self
                .app
                .on_done(Done::Notice("no thread could be started".into()));
            self.perform(effects);
        }
    }

    /// Gives the terminal to the editor.
    fn edit(&mut self, text: String) {
        let Ok(parked) = self.input.park() else {
            return;
        };
        self.writer.drain(LAST_FRAME);
        let farewell = self.screen.park();
        let app = &self.app;
        let edited = self.terminal.lend(&farewell, || app.run_editor(&text));
        drop(parked);
        let done = match edited {
            Ok(edited) => Done::Edited(edited),
            Err(error) => Done::Notice(crate::error::io_text(&error)),
        };
        self.ask_terminal(ASK_CURSOR.to_vec());
        self.on_done(done);
    }

    /// Stops e's job until the shell continues it.
    fn suspend(&mut self) {
        if !tty::can_suspend() {
            let notice = "there is no shell that could continue e, so it does not stop";
            return self.on_done(Done::Notice(notice.into()));
        }
        let Ok(parked) = self.input.park() else {
            return;
        };
        self.writer.drain(LAST_FRAME);
        let farewell = self.screen.park();
        // What cannot be stopped goes on.
        let _ = self.terminal.lend(&farewell, tty::suspend);
        drop(parked);
        self.screen.resize(self.terminal.size());
        self.ask_terminal(ASK_CURSOR.to_vec());
        self.dirty = true;
        self.urgent = true;
    }

    fn ask_terminal(&mut self, question: Vec<u8>) {
        self.writer.drain(LAST_FRAME);
        if self.writer.busy_since().is_none() {
            self.writer.submit(question);
            self.asking = Some(Instant::now() + ANSWER);
        }
    }

    fn paint(&mut self) {
        let now = Instant::now();
        let waits = self.asking.is_some() && self.screen.is_lost();
        if !self.dirty || waits || self.writer.busy_since().is_some() {
            return;
        }
        if !self.urgent && now < self.last_frame + PACE {
            return;
        }
        let late = self.last_frame + LATE < now && self.writer.busy_since().is_some();
        self.app.before_frame(now);
        let mut bytes = self.terminal.switch(self.app.modes());
        let size = self.screen.size();
        let title = self.app.title();
        if self.title != title {
            bytes.extend(terminal::title(&title));
            self.title = title;
        }
        let frame = match self.app.full_frame(size, now, late) {
            Some((surface, caret)) => Frame::Full { surface, caret },
            None => Frame::Inline(self.app.inline_frame(size, now, late)),
        };
        bytes.extend(self.screen.paint(frame));
        bytes.append(&mut self.behind);
        self.writer.submit(bytes);
        self.dirty = false;
        self.urgent = false;
        self.last_frame = now;
    }

    /// The screen first: a slow child must not hold the terminal.
    fn end(mut self) -> u8 {
        self.writer.drain(LAST_FRAME);
        self.dirty = true;
        self.urgent = true;
        self.app.last_frame();
        self.paint();
        self.writer.drain(LAST_FRAME);
        let farewell = self.screen.park();
        let _parked = self.input.park();
        self.terminal.leave(&farewell);
        let _ = self.core.input.send(Request::Shutdown);
        let until = Instant::now() + WIND_DOWN;
        while self.core.output.recv_deadline(until).is_ok() {}
        if let Some(farewell) = self.app.farewell() {
            // The terminal is an ordinary one again.
            eprintln!("error: {farewell}");
        }
        self.status.unwrap_or_default()
    }
}
