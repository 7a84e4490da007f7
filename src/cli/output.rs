//! Writing to the standard streams: a reader that went away is no failure, a full disk is.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use crate::error::io_text;
use crate::print::stderr;
use crate::text::sanitize;

/// Writes to standard output. Returns the exit status.
pub fn print(text: &str) -> u8 {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => 0,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(failure) => {
            error(format!(
                "cannot write to standard output: {}",
                io_text(&failure)
            ));
            1
        }
    }
}

/// Tells a person why something failed.
pub fn error(message: impl Display) {
    say("error", message);
}

/// Tells a person about something that did not stop the command.
pub fn warn(message: impl Display) {
    say("warning", message);
}

fn say(kind: &str, message: impl Display) {
    let line = format!("{kind}: {}\n", sanitize(&message.to_string()));
    stderr::write(line.as_bytes());
}
