//! The lines of one piece of a log, looked at without those before it, so that several pieces can
//! be read at once.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use serde::de::IgnoredAny;

use super::head::{Head, Kind};
use super::lines::{Buffer, Lines};
use super::record::Record;
use super::tree::Place;

/// A part of a file. The lines that begin in it are its own.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The byte it begins at.
    pub start: u64,
    /// The byte behind it.
    pub end: u64,
    /// Whether a line begins where it does. Else what comes before the first newline is of the
    /// piece before.
    pub whole: bool,
}

/// What a line says about the log.
pub enum What {
    /// The display name.
    Name(Option<String>),
    /// A node of the tree.
    Node {
        /// Its id.
        id: Option<Box<str>>,
        /// The node it follows. The outer `None` is a missing field.
        parent: Option<Option<Box<str>>>,
        /// Whether it is a summary.
        compact: bool,
    },
    /// Half a record: the end of the file.
    Torn,
}

/// What a piece holds.
pub struct Found {
    /// The lines that say something, and those that cannot be used, with the reason. They are
    /// numbered within the piece.
    pub lines: Vec<(Place, Result<What, String>)>,
    /// How many lines there are.
    pub count: u64,
    /// Whether a newline ends the last.
    pub terminated: bool,
}

impl Found {
    /// Reads a piece, up to `max_line` bytes of each line.
    pub fn of(file: &File, piece: Piece, max_line: usize, buffer: &mut Buffer) -> io::Result<Self> {
        let mut found = Self {
            lines: Vec::new(),
            count: 0,
            terminated: true,
        };
        let Some(start) = first_line(file, piece, buffer)? else {
            return Ok(found);
        };
        let mut lines = Lines::new(At(file, start), buffer, max_line);
        while let Some(line) = lines.next()? {
            let place = Place {
                offset: start + line.place.offset,
                ..line.place
            };
            if place.offset >= piece.end {
                break;
            }
            (found.count, found.terminated) = (place.line, line.terminated);
            let what = match line.bytes {
                Some(bytes) if !line.terminated && is_torn(bytes) => Ok(Some(What::Torn)),
                Some(bytes) => look_at(bytes),
                None => Err(format!("it is longer than {max_line} bytes")),
            };
            found
                .lines
                .extend(what.transpose().map(|what| (place, what)));
        }
        Ok(found)
    }
}

/// Where the first line of a piece begins.
fn first_line(file: &File, piece: Piece, buffer: &mut Buffer) -> io::Result<Option<u64>> {
    if piece.whole {
        return Ok(Some(piece.start));
    }
    // A line that begins with the piece has its newline before it.
    let before = piece.start - 1;
    let rest = At(file, before).take(piece.end - piece.start);
    let mut lines = Lines::new(rest, buffer, 0);
    let rest = lines.next()?.filter(|rest| rest.terminated);
    Ok(rest.map(|rest| before + rest.place.len as u64 + 1))
}

fn look_at(line: &[u8]) -> Result<Option<What>, String> {
    let head = Head::of(line)?;
    Ok(match head.kind {
        Kind::Session => return Err("it is a second header".into()),
        Kind::Response | Kind::Other => None,
        Kind::Name => Some(What::Name(name(line))),
        Kind::Message | Kind::Compact => Some(What::Node {
            id: head.id.map(Into::into),
            parent: head.parent.map(|parent| parent.map(Into::into)),
            compact: head.kind == Kind::Compact,
        }),
    })
}

/// The display name that a line sets.
pub fn name(line: &[u8]) -> Option<String> {
    match Record::from_line(line) {
        Ok(Some(Record::Name(name))) => Some(name),
        _ => None,
    }
}

/// Whether an unterminated line is a piece of a record: no object is JSON before its last byte.
pub fn is_torn(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_err()
}

/// A file from some byte on, whatever others read of it.
struct At<'f>(&'f File, u64);

impl Read for At<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read_at(into, self.1)?;
        self.1 += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Everything that the pieces of a file tell, lines numbered through.
    fn told(file: &File, ends: &[u64], buffer: &mut Buffer) -> (Vec<String>, u64, bool) {
        let (mut told, mut before, mut terminated) = (Vec::new(), 0, true);
        let mut start = 0;
        for end in ends {
            let piece = Piece {
                start,
                end: *end,
                whole: start == 0,
            };
            let found = Found::of(file, piece, 200, buffer).unwrap();
            for (place, what) in found.lines {
                let what = what.map(|what| match what {
                    What::Name(name) => format!("{name:?}"),
                    What::Node { id, parent, .. } => format!("{id:?} {parent:?}"),
                    What::Torn => "torn".into(),
                });
                let (offset, len, line) = (place.offset, place.len, place.line + before);
                told.push(format!("{offset} {len} {line} {what:?}"));
            }
            before += found.count;
            terminated &= found.terminated;
            start = *end;
        }
        (told, before, terminated)
    }

    #[test]
    fn what_is_found_does_not_depend_on_the_pieces() {
        let node = |id: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parent":null,"timestamp":1,"message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        let whole = [
            node("a", "x"),
            String::new(),
            r#"{"type":"name","name":"n"}"#.into(),
            node("b", &"long ".repeat(100)),
            "no record".into(),
            node("c", "x"),
        ]
        .join("\n");
        let mut buffer = Buffer::new();
        for cut in [0, 1, 30] {
            for end in ["", "\n"] {
                let text = format!("{}{end}", &whole[..whole.len() - cut]);
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(text.as_bytes()).unwrap();
                let size = text.len() as u64;
                let expected = told(&file, &[u64::MAX], &mut buffer);
                assert_eq!(expected.1, 6);
                for step in (1..60).chain([100, 500, size - 1, size, size + 1]) {
                    let mut ends: Vec<u64> = (step..size).step_by(step as usize).collect();
                    ends.push(u64::MAX);
                    let found = told(&file, &ends, &mut buffer);
                    assert_eq!(found, expected, "{step}");
                }
            }
        }
    }
}
