//! The lines of a log, one after the other, without copying them: the first pass over a file of
//! a gigabyte is as fast as reading it.

use std::io::{self, Read};

use memchr::memchr;

use super::tree::Place;

/// The longest line that is read, in bytes: the largest prompt with images fits well.
pub const MAX_LINE: usize = 128 << 20;

/// How much is read at once, until a line needs more.
const CHUNK: usize = 256 << 10;

/// Room for reading, kept from one file to the next: a list looks at thousands of them.
pub type Buffer = Vec<u8>;

/// One line.
#[derive(Debug)]
pub struct Line<'a> {
    /// Where it is.
    pub place: Place,
    /// Its bytes without the newline; none when there are more than the limit.
    pub bytes: Option<&'a [u8]>,
    /// Whether a newline ends it. Only the last line of a file may lack one.
    pub terminated: bool,
}

/// Reads lines.
pub struct Lines<'b, R> {
    from: R,
    max: usize,
    buffer: &'b mut Buffer,
    /// The part of the buffer that was read and not yet handed out.
    start: usize,
    end: usize,
    /// Where the next line begins, and the number of the one before.
    offset: u64,
    line: u64,
}

impl<'b, R: Read> Lines<'b, R> {
    /// The lines of a source, each of at most `max` bytes.
    pub fn new(from: R, buffer: &'b mut Buffer, max: usize) -> Self {
        let room = buffer.len().max(CHUNK);
        buffer.resize(room, 0);
        Self {
            from,
            max,
            buffer,
            start: 0,
            end: 0,
            offset: 0,
            line: 0,
        }
    }

    /// The next line; none at the end.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        // Bytes known to hold no newline: in the buffer, and of a line too long to be kept.
        let mut searched = 0;
        let mut dropped = 0;
        let terminated = loop {
            let pending = &self.buffer[self.start..self.end];
            if let Some(at) = memchr(b'\n', &pending[searched..]) {
                searched += at;
                break true;
            }
            searched = pending.len();
            if dropped > 0 || searched > self.max {
                dropped += searched;
                self.start = self.end;
                searched = 0;
            }
            if self.fill()? == 0 {
                if searched + dropped == 0 {
                    return Ok(None);
                }
                break false;
            }
        };
        let len = dropped + searched;
        let begin = self.start;
        self.start = (begin + searched + 1).min(self.end);
        self.line += 1;
        let place = Place {
            offset: self.offset,
            len,
            line: self.line,
        };
        self.offset += len as u64 + u64::from(terminated);
        let fits = len <= self.max;
        Ok(Some(Line {
            place,
            bytes: fits.then(|| &self.buffer[begin..begin + searched]),
            terminated,
        }))
    }

    /// Reads more behind what is pending. 0 is the end.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            let room = self.buffer.len().saturating_mul(2).min(self.max + CHUNK);
            self.buffer.resize(room, 0);
        }
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(into.len()).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let long = "y".repeat(300);
        for text in [
            "",
            "\n",
            "\n\n",
            "a",
            "a\nbc\n\nd\n",
            "a\nbc",
            &format!("a\n{long}\nb\n"),
            &format!("a\n{long}"),
            &format!("{}\nb", &long[..100]),
        ] {
            let mut expected = Vec::new();
            let mut offset = 0;
            for (n, piece) in text.split_inclusive('\n').enumerate() {
                let line = piece.strip_suffix('\n');
                let bytes = line.unwrap_or(piece).as_bytes();
                let place = (offset, bytes.len(), n as u64 + 1);
                let kept = (bytes.len() <= 100).then(|| bytes.to_vec());
                expected.push((place, kept, line.is_some()));
                offset += piece.len() as u64;
            }
            for step in [1, 7, 64, 1000] {
                let mut buffer = Buffer::new();
                let mut lines = Lines::new(Slow(text.as_bytes(), step), &mut buffer, 100);
                let mut got = Vec::new();
                while let Some(line) = lines.next().unwrap() {
                    let Place {
                        offset,
                        len,
                        line: n,
                    } = line.place;
                    let bytes = line.bytes.map(<[u8]>::to_vec);
                    got.push(((offset, len, n), bytes, line.terminated));
                }
                assert_eq!(got, expected, "{text:?} in steps of {step}");
            }
        }
    }
}
