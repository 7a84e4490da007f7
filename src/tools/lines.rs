//! Lines of a file in bounded memory and bounded time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::time::Instant;

use crate::sys::CancelToken;

/// Longest line that is held in memory, in bytes.
pub const MAX_LINE: usize = 64 * 1024;

/// Bytes read between two looks at the clock and the cancel token.
const CHECK_EVERY: u64 = 256 * 1024;

/// When reading must end before the file does.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Set when the turn is interrupted.
    pub cancel: &'a CancelToken,
    /// The end of the time for this call.
    pub deadline: Instant,
}

impl Limits<'_> {
    /// Why to stop now, if at all.
    pub fn reached(&self) -> Option<Stop> {
        if self.cancel.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        (Instant::now() >= self.deadline).then_some(Stop::TimedOut)
    }
}

/// Why reading stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The turn was interrupted.
    Cancelled,
    /// The time is up.
    TimedOut,
}

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A line without its `\n` or `\r\n`.
    Line(&'a [u8]),
    /// A line that is too long; the next step skips the rest of it.
    TooLong,
    /// The end of the file.
    End,
    /// A limit was reached.
    Stopped(Stop),
}

/// Reads a file line by line.
pub struct Lines<'a> {
    reader: BufReader<File>,
    line: Vec<u8>,
    limits: Limits<'a>,
    /// Bytes read so far.
    position: u64,
    next_check: u64,
    inside_long: bool,
}

impl<'a> Lines<'a> {
    /// Starts where the file stands.
    pub fn new(file: File, limits: Limits<'a>) -> Self {
        Self {
            reader: BufReader::with_capacity(MAX_LINE, file),
            line: Vec::new(),
            limits,
            position: 0,
            next_check: 0,
            inside_long: false,
        }
    }

    /// The byte offset of what the next step reads.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The file, to ask for its state.
    pub fn file(&self) -> &File {
        self.reader.get_ref()
    }

    /// Reads on.
    pub fn next(&mut self) -> io::Result<Step<'_>> {
        loop {
            if self.position >= self.next_check {
                self.next_check = self.position + CHECK_EVERY;
                if let Some(stop) = self.limits.reached() {
                    return Ok(Step::Stopped(stop));
                }
            }
            self.line.clear();
            let limit = MAX_LINE as u64 + 2;
            let count = self
                .reader
                .by_ref()
                .take(limit)
                .read_until(b'\n', &mut self.line)?;
            self.position += count as u64;
            let ended = self.line.last() == Some(&b'\n');
            if count == 0 {
                return Ok(Step::End);
            }
            if std::mem::replace(&mut self.inside_long, false) {
                self.inside_long = !ended;
                continue;
            }
            let mut line = self.line.as_slice();
            if ended {
                line = &line[..line.len() - 1];
                line = line.strip_suffix(b"\r").unwrap_or(line);
            }
            if line.len() > MAX_LINE {
                self.inside_long = !ended;
                return Ok(Step::TooLong);
            }
            return Ok(Step::Line(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::cancel::cancel_pair;
    use std::io::{Seek, Write};
    use std::time::Duration;

    fn steps(bytes: &[u8]) -> Vec<String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        let (_keep, cancel) = cancel_pair();
        let limits = Limits {
            cancel: &cancel,
            deadline: Instant::now() + Duration::from_secs(60),
        };
        let mut lines = Lines::new(file, limits);
        let mut found = Vec::new();
        loop {
            found.push(match lines.next().unwrap() {
                Step::Line(line) if line.len() == MAX_LINE => "full".to_owned(),
                Step::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Step::TooLong => "long".to_owned(),
                Step::End => return found,
                Step::Stopped(stop) => panic!("{stop:?}"),
            });
        }
    }

    #[test]
    fn lines_end_in_either_way() {
        assert_eq!(steps(b""), [""; 0]);
        assert_eq!(steps(b"a\r\nb\rc\n\nd\r"), ["a", "b\rc", "", "d\r"]);
        assert_eq!(steps(b"\n"), [""]);
    }

    #[test]
    fn long_lines_are_passed_over() {
        let full = "x".repeat(MAX_LINE);
        assert_eq!(
            steps(format!("{full}\n{full}\r\n{full}").as_bytes()),
            ["full"; 3]
        );
        for extra in [1, 2, 3, MAX_LINE, 5 * MAX_LINE] {
            let long = "x".repeat(MAX_LINE + extra);
            assert_eq!(
                steps(format!("a\n{long}\r\nb\n{long}").as_bytes()),
                ["a", "long", "b", "long"]
            );
        }
    }

    #[test]
    fn a_cancelled_call_stops_within_a_line() {
        let file = File::open("/proc/self/exe").unwrap();
        let (canceller, cancel) = cancel_pair();
        let limits = Limits {
            cancel: &cancel,
            deadline: Instant::now(),
        };
        assert_eq!(
            Lines::new(file.try_clone().unwrap(), limits)
                .next()
                .unwrap(),
            Step::Stopped(Stop::TimedOut)
        );
        canceller.cancel();
        assert_eq!(
            Lines::new(file, limits).next().unwrap(),
            Step::Stopped(Stop::Cancelled)
        );
    }
}
