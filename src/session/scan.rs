//! The first pass over a log: its header, its name, its nodes and its damage, no contents.

use std::fs::File;

use super::head::{Head, Kind};
use super::lines::{Buffer, Lines};
use super::piece::{Found, Piece, What, is_torn};
use super::record::{FORMAT_VERSION, Header, Record};
use super::threads;
use super::tree::{Place, Tree};
use crate::error::{Error, Result};

/// How much of a file one thread looks through before it takes more.
const PIECE: usize = 8 << 20;

/// How many damaged lines a warning spells out.
const DAMAGE_SHOWN: usize = 5;

/// What one pass over the file finds.
pub struct Scan {
    /// The file's first record.
    pub header: Option<Header>,
    /// The nodes, not yet connected.
    pub tree: Tree,
    /// The last display name.
    pub name: Option<String>,
    /// Lines that cannot be used.
    pub damage: Damage,
    /// How the file ends.
    pub tail: Tail,
    /// The id of the node before, in a log whose records do not name their parents.
    previous: Option<Box<str>>,
}

/// How a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// With a newline.
    Whole,
    /// With a whole record that lost its newline.
    Unterminated,
    /// With a piece of a record that begins here.
    Torn(u64),
}

impl Scan {
    /// Reads a file through, up to `max_line` bytes of each line, a long one with more than one
    /// thread. It ends early where there is no header.
    pub fn run(file: &File, max_line: usize) -> Result<Self> {
        let mut scan = Self {
            header: None,
            tree: Tree::default(),
            name: None,
            damage: Damage::default(),
            tail: Tail::Whole,
            previous: None,
        };
        let Some(start) = scan.take_header(file, max_line)? else {
            return Ok(scan);
        };
        let pieces = pieces(start, file.metadata()?.len());
        let found = threads::map(&pieces, |buffer, piece| {
            Found::of(file, *piece, max_line, buffer)
        });
        // The header is a line as well.
        let mut before = 1;
        for found in found {
            let found = found?;
            if !found.terminated {
                scan.tail = Tail::Unterminated;
            }
            for (mut place, what) in found.lines {
                place.line += before;
                if let Err(reason) = what.and_then(|what| scan.take(what, place)) {
                    scan.damage.add(place.line, reason);
                }
            }
            before += found.count;
        }
        Ok(scan)
    }

    /// Reads the first line. Returns where the second begins, if there is more to be read.
    fn take_header(&mut self, file: &File, max_line: usize) -> Result<Option<u64>> {
        let mut buffer = Buffer::new();
        let mut lines = Lines::new(file, &mut buffer, max_line);
        let Some(line) = lines.next()? else {
            return Ok(None);
        };
        if !line.terminated {
            self.tail = Tail::Unterminated;
        }
        if !line.terminated && line.bytes.is_some_and(is_torn) {
            self.tail = Tail::Torn(line.place.offset);
            return Ok(None);
        }
        let too_long = || format!("it is longer than {max_line} bytes");
        match line.bytes.ok_or_else(too_long).and_then(header) {
            Ok(header) => self.header = Some(header),
            Err(reason) => self.damage.add(line.place.line, reason),
        }
        let more = line.terminated && self.header.is_some();
        Ok(more.then_some(line.place.len as u64 + 1))
    }

    /// Takes in what a line says. The error says why it cannot be used.
    fn take(&mut self, what: What, place: Place) -> Result<(), String> {
        match what {
            What::Torn => self.tail = Tail::Torn(place.offset),
            What::Name(name) => self.name = name.or(self.name.take()),
            What::Node {
                id,
                parent,
                compact,
            } => {
                // Before version 2 a message without an id or a parent is known by its place and
                // follows the one before it.
                let header = self.header.as_ref();
                let old = header.is_some_and(|header| header.format_version < 2);
                let id = match id {
                    Some(id) => id,
                    None if old => position_id(place.line).into(),
                    None => return Err("it has no id".into()),
                };
                let parent = match &parent {
                    None if old => self.previous.as_deref(),
                    parent => parent.as_ref().and_then(|parent| parent.as_deref()),
                };
                if !self.tree.add(&id, parent, place, compact) {
                    return Err(format!("it has the id `{id}` of an earlier record"));
                }
                self.previous = old.then_some(id);
            }
        }
        Ok(())
    }
}

/// Cuts what follows the header into pieces. The last one has no end: what is appended meanwhile
/// belongs to it.
fn pieces(start: u64, size: u64) -> Vec<Piece> {
    let starts: Vec<u64> = (start..size.max(start + 1)).step_by(PIECE).collect();
    let ends = starts[1..].iter().copied().chain([u64::MAX]);
    let piece = |(at, end): (&u64, u64)| Piece {
        start: *at,
        end,
        whole: *at == start,
    };
    starts.iter().zip(ends).map(piece).collect()
}

/// Lines that cannot be used: the first few with the reason, and how many there are.
#[derive(Default)]
pub struct Damage {
    shown: Vec<(u64, String)>,
    count: usize,
}

impl Damage {
    /// Notes a line and what is wrong with it.
    pub fn add(&mut self, line: u64, reason: String) {
        self.count += 1;
        if self.shown.len() < DAMAGE_SHOWN {
            self.shown.push((line, reason));
        }
    }

    /// What is wrong with the first bad line.
    pub fn first(&self) -> Option<&str> {
        self.shown.first().map(|(_, reason)| reason.as_str())
    }

    /// What is lost, in words.
    pub fn text(&self, unreachable: usize) -> String {
        let lines = self.shown.iter();
        let mut text: Vec<_> = lines
            .map(|(line, reason)| format!("line {line} cannot be used ({reason})"))
            .collect();
        match self.count - self.shown.len() {
            0 => {}
            1 => text.push("nor can 1 more line".into()),
            n => text.push(format!("nor can {n} more lines")),
        }
        match unreachable {
            0 => {}
            1 => text.push("1 message is out of reach".into()),
            n => text.push(format!("{n} messages are out of reach")),
        }
        text.join(", ")
    }
}

/// Reads the first line of a log.
pub fn header(line: &[u8]) -> Result<Header, String> {
    let head = Head::of(line)?;
    if head.kind != Kind::Session {
        return Err("the first record is no header".into());
    }
    match Record::from_line(line)? {
        Some(Record::Session(header)) => Ok(header),
        _ => Err("it is no header".into()),
    }
}

/// Refuses a log that a newer build wrote.
pub fn check_version(header: &Header) -> Result<()> {
    if header.format_version <= FORMAT_VERSION {
        return Ok(());
    }
    let message = format!(
        "its format_version is {}, and this build reads up to {FORMAT_VERSION}",
        header.format_version
    );
    Err(Error::failed(message).remedy("open it with a newer e"))
}

/// The id of a node that has none, as in version 0.
pub fn position_id(line: u64) -> String {
    format!("line-{line}")
}
