//! What `e -p` writes where.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::stderr;
use crate::agent::{TurnEvent, TurnResult, retry_line};
use crate::text::{one_line, sanitize};
use crate::wire::{self, Tag};

/// Bytes that are gathered before a write even while more is coming.
const CHUNK: usize = 64 * 1024;

/// The two forms of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The reply's text.
    Plain,
    /// Event lines and the result line.
    Json,
}

/// Writes the run to standard output and standard error.
pub struct Printer {
    form: Form,
    /// The reply goes to a screen, where a model's control characters have no business.
    to_terminal: bool,
    buffer: Vec<u8>,
    printed: bool,
    last_byte: u8,
    error: Option<io::ErrorKind>,
}

impl Printer {
    /// Nothing written yet.
    pub fn new(form: Form) -> Self {
        let to_terminal = io::stdout().is_terminal();
        Self {
            form,
            to_terminal,
            buffer: Vec::new(),
            printed: false,
            last_byte: b'\n',
            error: None,
        }
    }

    /// Writes an event; it may stay in the buffer until [`Printer::send`].
    pub fn event(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Warning(message) => self.warn(message),
            TurnEvent::Error(message) => self.error(message),
            TurnEvent::Retry {
                attempt,
                limit,
                delay_secs,
                cause,
                reason,
            } => {
                self.end_line();
                say(&retry_line(*attempt, *limit, *delay_secs, cause, reason));
            }
            _ => {}
        }
        match (self.form, event) {
            (Form::Json, event) => wire::write_event(&mut self.buffer, event, &Tag::none()),
            (Form::Plain, TurnEvent::Text(deltas)) => self.text(deltas.text()),
            (Form::Plain, _) => {}
        }
        if self.buffer.len() >= CHUNK {
            self.send();
        }
    }

    /// Says on standard error what should be known and does not fail the run.
    pub fn warn(&mut self, message: &str) {
        self.end_line();
        warn(message);
    }

    /// Says on standard error why the run failed.
    pub fn error(&mut self, message: &str) {
        self.end_line();
        say(&format!(
            "{} {}",
            label("error:", "31"),
            one_line(message, None)
        ));
    }

    /// Says that the turn was stopped, and where its log is.
    pub fn interrupted(&mut self, log: Option<&Path>) {
        self.end_line();
        match log {
            Some(path) => say(&format!(
                "interrupted - the session so far is in {}",
                path.display()
            )),
            None => say("interrupted"),
        }
    }

    /// What was printed so far comes first where both streams go to one place, and a screen shows
    /// what is said about the run on a line of its own.
    fn end_line(&mut self) {
        if self.to_terminal && self.form == Form::Plain && self.printed && self.last_byte != b'\n' {
            self.buffer.push(b'\n');
            self.last_byte = b'\n';
        }
        self.send();
    }

    /// Writes the end: a last newline, or the result line.
    pub fn finish(&mut self, result: &TurnResult) {
        match self.form {
            // What cannot be written is noted by `send`.
            Form::Json => drop(wire::write_result(self, result)),
            Form::Plain if self.printed && self.last_byte != b'\n' => self.buffer.push(b'\n'),
            Form::Plain => {}
        }
        self.send();
    }

    /// Hands the buffer to the system.
    pub fn send(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        if self.error.is_none() {
            let mut stdout = io::stdout().lock();
            if let Err(error) = stdout.write_all(&self.buffer).and_then(|()| stdout.flush()) {
                if error.kind() != io::ErrorKind::BrokenPipe {
                    let text = crate::error::io_text(&error);
                    say(&format!(
                        "{} standard output: {text}",
                        label("error:", "31")
                    ));
                }
                self.error = Some(error.kind());
            }
        }
        self.buffer.clear();
    }

    /// Whether standard output takes nothing any more.
    pub fn is_broken(&self) -> bool {
        self.error.is_some()
    }

    /// Whether output was lost for another reason than a reader that left.
    pub fn failed_to_write(&self) -> bool {
        self.error
            .is_some_and(|kind| kind != io::ErrorKind::BrokenPipe)
    }

    fn text(&mut self, delta: &str) {
        if self.to_terminal {
            self.buffer.extend_from_slice(sanitize(delta).as_bytes());
        } else {
            self.buffer.extend_from_slice(delta.as_bytes());
        }
        self.printed = true;
        self.last_byte = delta.as_bytes().last().copied().unwrap_or(self.last_byte);
    }
}

/// Takes pieces of the result line, which may be as long as the reply twice over.
impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK {
            self.send();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send();
        Ok(())
    }
}

/// Says something that does not fail the run.
pub fn warn(message: &str) {
    say(&format!(
        "{} {}",
        label("warning:", "33"),
        one_line(message, None)
    ));
}

/// One line on standard error.
pub fn say(line: &str) {
    stderr::write(format!("{line}\n").as_bytes());
}

fn label(text: &str, colour: &str) -> String {
    let plain = !io::stderr().is_terminal()
        || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain {
        text.to_string()
    } else {
        format!("\x1b[1;{colour}m{text}\x1b[0m")
    }
}
