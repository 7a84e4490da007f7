//! A running extension: the child, the three threads that talk with it, and one that waits for its end.
//!
//! The threads only move bytes. What they read goes to the loop's one channel, a batch at a time,
//! and for each batch a thread needs a credit that the loop gives back when it is done with the
//! one before: an extension that floods waits for itself and for nobody else. What e writes
//! goes through a buffer that the loop never waits for, and lines of standard error wait in one that
//! the loop empties, so that the last of them is seen without another behind it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::wire::{self, MAX_LINE, Message};
use super::{ExtensionId, Tap};
use crate::error::{Error, Result};
use crate::sys::process::{self, Exit, GRACE, Owner, Process, Spawn, Stdin};
use crate::sys::{Env, lock};
use crate::text::clip_chars;

/// Bytes that may wait for an extension; above them for [`STUCK`], it is retired.
const QUEUE_MARK: usize = 4 << 20;
/// Bytes above which it is retired at once.
const QUEUE_LIMIT: usize = 16 << 20;
/// How long the queue may be over its mark.
const STUCK: Duration = Duration::from_secs(5);
/// How long the end of an extension waits for the last of its standard error.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Batches on their way to the loop, per extension.
const CREDITS: usize = 2;
/// Messages in a batch: what an answer of another extension may have to wait behind is short.
pub(super) const BATCH: usize = 64;
/// Bytes read at once, at most, and by a thread that has nothing to do.
const CHUNK: usize = 64 << 10;
const IDLE_CHUNK: usize = 2 << 10;
/// Lines of standard error that wait for the loop; more are counted only.
const STDERR_LINES: usize = 64;
/// Longest line of standard error, in characters.
const STDERR_LINE: usize = 500;

/// What the threads of all extensions tell the loop.
#[derive(Debug)]
pub struct FromChild {
    /// Whose thread it was.
    pub(super) child: ExtensionId,
    pub(super) news: News,
}

#[derive(Debug)]
pub(super) enum News {
    /// Lines of its standard output.
    Messages(Vec<Message>),
    /// There are lines of its standard error, which wait there.
    Diagnostics(Arc<Mutex<Diagnostics>>),
    /// Its standard output has ended, or cannot be followed any more.
    Closed(Option<&'static str>),
    /// Its standard input was closed by it.
    Deaf,
    /// The process is gone. With how many it left running, its own group included.
    Exited(Exit, usize),
}

/// What came on standard error since the loop has looked.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    /// The first lines.
    pub(super) lines: Vec<String>,
    /// How many more there were.
    pub(super) lost: usize,
}

/// Which way a line went, for a [`Tap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From e.
    ToExtension,
    /// To e.
    FromExtension,
    /// To e, on standard error.
    Diagnostic,
}

/// e's side of a running extension. Dropping it stops the process.
#[derive(Debug)]
pub(super) struct Link {
    process: Process,
    outgoing: Arc<Outgoing>,
    bell: Option<Sender<()>>,
    credit: Sender<()>,
}

/// How full the queue of an extension is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Posted {
    /// It reads.
    Fine,
    /// It is behind; see [`Link::stuck_at`].
    Over,
    /// It is so far behind that it is given up.
    Lost,
}

#[derive(Debug, Default)]
struct Outgoing {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<u8>,
    /// Bytes that the writer has taken and not written.
    writing: usize,
    over_since: Option<Instant>,
}

impl Link {
    /// Starts the program and its threads.
    pub(super) fn start(
        child: ExtensionId,
        program: &Path,
        cwd: &Path,
        env: &Env,
        events: &Sender<FromChild>,
        tap: Option<Tap>,
    ) -> Result<Self> {
        let owner = Owner::new();
        let started = process::spawn(Spawn {
            program: program.to_path_buf(),
            args: Vec::new(),
            cwd: cwd.to_path_buf(),
            env: env.clone(),
            stdin: Stdin::Pipe,
            owner: owner.clone(),
        })?;
        let Some(stdin) = started.stdin else {
            return Err(Error::failed("its standard input is missing"));
        };
        let outgoing = Arc::new(Outgoing::default());
        let (bell, rung) = bounded(1);
        let (credit, credits) = bounded(CREDITS);
        for _ in 0..CREDITS {
            let _ = credit.try_send(());
        }
        let teller = |credits| Teller {
            child,
            events: events.clone(),
            credits,
            tap: tap.clone(),
        };
        let writer = Writer {
            stdin,
            outgoing: outgoing.clone(),
            rung,
            teller: teller(None),
        };
        let (heard, last_words) = bounded(0);
        let watcher = Watcher {
            exit: started.process.exit().clone(),
            last_words,
            owner,
            teller: teller(None),
        };
        let (reader, diagnostics) = (teller(Some(credits)), teller(None));
        let (stdout, stderr) = (started.stdout, started.stderr);
        let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let thread = thread::Builder::new().name(format!("e-ext{}-{name}", child.0));
            thread.spawn(body).map(drop)
        };
        spawn("end", Box::new(move || watcher.run()))?;
        spawn("in", Box::new(move || writer.run()))?;
        spawn("out", Box::new(move || reader.read_messages(stdout)))?;
        spawn(
            "err",
            Box::new(move || {
                diagnostics.read_diagnostics(stderr);
                drop(heard);
            }),
        )?;
        Ok(Self {
            process: started.process,
            outgoing,
            bell: Some(bell),
            credit,
        })
    }

    /// Queues a line.
    pub(super) fn post(&self, line: &[u8], now: Instant) -> Posted {
        let mut queue = lock(&self.outgoing.queue);
        queue.waiting.extend_from_slice(line);
        let size = queue.waiting.len() + queue.writing;
        if size > QUEUE_MARK {
            queue.over_since.get_or_insert(now);
        }
        drop(queue);
        if let Some(bell) = &self.bell {
            let _ = bell.try_send(());
        }
        match () {
            () if size > QUEUE_LIMIT => Posted::Lost,
            () if size > QUEUE_MARK => Posted::Over,
            () => Posted::Fine,
        }
    }

    /// When the queue has been over its mark for too long, if that is so for ever.
    pub(super) fn stuck_at(&self) -> Option<Instant> {
        lock(&self.outgoing.queue)
            .over_since
            .map(|since| since + STUCK)
    }

    /// The loop is done with a batch of messages.
    pub(super) fn give_credit(&self) {
        let _ = self.credit.try_send(());
    }

    /// Closes its standard input once everything is written.
    pub(super) fn close_input(&mut self) {
        self.bell = None;
    }

    /// Asks the process group to end, and kills it after `grace`. Does not wait.
    pub(super) fn stop(&self, grace: Duration) {
        self.process.stop(grace);
    }
}

/// Where a thread sends its news.
struct Teller {
    child: ExtensionId,
    events: Sender<FromChild>,
    credits: Option<Receiver<()>>,
    tap: Option<Tap>,
}

impl Teller {
    /// `false` when nobody listens any more.
    fn tell(&self, news: News) -> bool {
        let child = self.child;
        self.events.send(FromChild { child, news }).is_ok()
    }

    fn wait_for_credit(&self) -> bool {
        self.credits
            .as_ref()
            .is_none_or(|credits| credits.recv().is_ok())
    }

    fn watch(&self, direction: Direction, line: &[u8]) {
        if let Some(tap) = &self.tap {
            (tap.0)(self.child, direction, line);
        }
    }

    fn read_messages(&self, mut stdout: File) {
        let mut lines = Lines::new(MAX_LINE);
        let why = loop {
            let mut messages = Vec::new();
            let read = lines.read(&mut stdout, |line| {
                self.watch(Direction::FromExtension, line);
                let message = wire::parse(line);
                let message = match messages.last_mut() {
                    Some(last) => Message::join(last, message),
                    None => Some(message),
                };
                messages.extend(message);
            });
            while !messages.is_empty() {
                let rest = messages.split_off(messages.len().min(BATCH));
                let batch = std::mem::replace(&mut messages, rest);
                if !(self.wait_for_credit() && self.tell(News::Messages(batch))) {
                    return;
                }
            }
            match read {
                Ok(Chunk::More) => {}
                Ok(Chunk::End) | Err(_) => break None,
                Ok(Chunk::TooLong) => break Some("it wrote a line of more than 10 MiB"),
            }
        };
        self.tell(News::Closed(why));
    }

    fn read_diagnostics(&self, mut stderr: File) {
        // A program that keeps writing must be able to: whatever it is, it is read to the end.
        let mut reader = Lines::new(64 << 10);
        let waiting = Arc::<Mutex<Diagnostics>>::default();
        loop {
            let mut come = Vec::new();
            let mut lost = 0;
            let read = reader.read(&mut stderr, |line| {
                self.watch(Direction::Diagnostic, line);
                match String::from_utf8_lossy(line).trim_end() {
                    "" => {}
                    _ if come.len() >= STDERR_LINES => lost += 1,
                    text => come.push(clip_chars(text, STDERR_LINE)),
                }
            });
            if let Ok(Chunk::TooLong) = read {
                reader.skip_line();
                lost += 1;
            }
            if (!come.is_empty() || lost > 0) && !self.leave(&waiting, come, lost) {
                return;
            }
            if matches!(read, Ok(Chunk::End) | Err(_)) {
                return;
            }
        }
    }

    /// Leaves lines for the loop, which is told when it is not on its way to them already. `false`
    /// when nobody listens any more.
    fn leave(&self, waiting: &Arc<Mutex<Diagnostics>>, lines: Vec<String>, lost: usize) -> bool {
        let mut there = lock(waiting);
        let is_told = there.lost > 0 || !there.lines.is_empty();
        let room = STDERR_LINES.saturating_sub(there.lines.len());
        there.lost += lost + lines.len().saturating_sub(room);
        there.lines.extend(lines.into_iter().take(room));
        drop(there);
        is_told || self.tell(News::Diagnostics(waiting.clone()))
    }
}

/// Writes what is queued.
struct Writer {
    stdin: File,
    outgoing: Arc<Outgoing>,
    rung: Receiver<()>,
    teller: Teller,
}

impl Writer {
    fn run(mut self) {
        loop {
            let bell = self.rung.recv();
            if write_all(&mut self.stdin, &self.outgoing, &self.teller).is_err() {
                self.teller.tell(News::Deaf);
                return;
            }
            if bell.is_err() {
                // The end of its input tells an orderly program to end.
                return;
            }
        }
    }
}

/// Waits for the end of the process. A thread of its own, because the writer may be stuck in a pipe
/// that a child of the process holds open.
struct Watcher {
    exit: Receiver<Exit>,
    /// Closed once its standard error was read to the end.
    last_words: Receiver<()>,
    owner: Owner,
    teller: Teller,
}

impl Watcher {
    fn run(self) {
        let Ok(exit) = self.exit.recv() else {
            return;
        };
        // What left its group is found by the mark in its environment.
        let strays = process::strays(&self.owner);
        // Its last words come before its end, unless somebody else holds its standard error open.
        let _ = self.last_words.recv_timeout(LAST_WORDS);
        self.teller.tell(News::Exited(exit, exit.stopped + strays));
        if strays > 0 {
            process::end_owned(&self.owner, GRACE);
        }
    }
}

fn write_all(stdin: &mut File, outgoing: &Outgoing, teller: &Teller) -> io::Result<()> {
    loop {
        let bytes = {
            let mut queue = lock(&outgoing.queue);
            queue.writing = queue.waiting.len();
            std::mem::take(&mut queue.waiting)
        };
        if bytes.is_empty() {
            return Ok(());
        }
        if teller.tap.is_some() {
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                teller.watch(Direction::ToExtension, line.trim_ascii_end());
            }
        }
        let written = stdin.write_all(&bytes);
        let mut queue = lock(&outgoing.queue);
        queue.writing = 0;
        if queue.waiting.len() <= QUEUE_MARK {
            queue.over_since = None;
        }
        drop(queue);
        written?;
    }
}

/// Cuts a stream into lines.
struct Lines {
    buffer: Vec<u8>,
    chunk: usize,
    limit: usize,
    /// The rest of an over-long line is thrown away.
    skipping: bool,
}

enum Chunk {
    More,
    End,
    TooLong,
}

impl Lines {
    fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            chunk: IDLE_CHUNK,
            limit,
            skipping: false,
        }
    }

    fn skip_line(&mut self) {
        self.buffer = Vec::new();
        self.skipping = true;
    }

    /// Reads once and hands on every line that is whole by then; at the end also one without its
    /// newline.
    fn read(&mut self, from: &mut File, mut each: impl FnMut(&[u8])) -> io::Result<Chunk> {
        let before = self.buffer.len();
        self.buffer.resize(before + self.chunk, 0);
        let read = loop {
            match from.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let count = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(before + count);
        self.chunk = match count == self.chunk {
            true => (4 * self.chunk).min(CHUNK),
            false => IDLE_CHUNK,
        };
        let mut each = |line: &[u8]| {
            if !std::mem::take(&mut self.skipping) {
                each(line.strip_suffix(b"\r").unwrap_or(line));
            }
        };
        let mut start = 0;
        // What was there before holds no newline.
        let mut looked = before;
        while let Some(at) = memchr::memchr(b'\n', &self.buffer[looked..]) {
            each(&self.buffer[start..looked + at]);
            start = looked + at + 1;
            looked = start;
        }
        self.buffer.drain(..start);
        if read? == 0 {
            if !self.buffer.is_empty() {
                each(&self.buffer);
            }
            return Ok(Chunk::End);
        }
        if self.buffer.is_empty() && self.chunk == IDLE_CHUNK {
            self.buffer = Vec::new();
        }
        Ok(match self.buffer.len() > self.limit {
            true => Chunk::TooLong,
            false => Chunk::More,
        })
    }
}
