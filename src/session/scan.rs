//! The first pass over a log: its header, its name, its nodes and its damage, no contents.

use std::fs::File;

use serde::de::IgnoredAny;

use super::head::{Head, Kind};
use super::lines::{Buffer, Lines};
use super::record::{FORMAT_VERSION, Header, Record};
use super::tree::{Place, Tree};
use crate::error::{Error, Result};

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
    /// Why the file as a whole cannot be understood.
    pub fatal: Option<String>,
    /// The id of the node before, in a log whose records do not name their parents.
    previous: Option<String>,
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
    /// Reads a file through, up to `max_line` bytes of each line. It ends early where there is no
    /// header.
    pub fn run(file: &File, max_line: usize) -> Result<Self> {
        let mut scan = Self {
            header: None,
            tree: Tree::default(),
            name: None,
            damage: Damage::default(),
            tail: Tail::Whole,
            fatal: None,
            previous: None,
        };
        let mut buffer = Buffer::new();
        let mut lines = Lines::new(file, &mut buffer, max_line);
        while let Some(line) = lines.next()? {
            let outcome = match line.bytes {
                Some(bytes) if !line.terminated && is_torn(bytes) => {
                    scan.tail = Tail::Torn(line.place.offset);
                    break;
                }
                Some(bytes) => scan.take(bytes, line.place),
                None => Err(format!("it is longer than {max_line} bytes")),
            };
            if !line.terminated {
                scan.tail = Tail::Unterminated;
            }
            if let Err(reason) = outcome {
                scan.damage.add(line.place.line, reason);
            }
            if scan.header.is_none() {
                break;
            }
        }
        Ok(scan)
    }

    /// Takes in one line. The error says why it cannot be used.
    fn take(&mut self, line: &[u8], place: Place) -> Result<(), String> {
        let Some(header) = &self.header else {
            self.header = Some(header(line)?);
            return Ok(());
        };
        let head = Head::of(line)?;
        match head.kind {
            Kind::Session => return Err("it is a second header".into()),
            Kind::Response | Kind::Other => {}
            Kind::Name => self.name = name(line).or(self.name.take()),
            Kind::Message | Kind::Compact => {
                // Before version 2 a message without an id or a parent is known by its place and
                // follows the one before it.
                let old = header.format_version < 2;
                let id = match head.id {
                    Some(id) => id,
                    None if old => position_id(place.line).into(),
                    None => return Err("it has no id".into()),
                };
                let before = self.previous.take();
                let parent = match &head.parent {
                    None if old => before.as_deref(),
                    parent => parent.as_ref().and_then(|parent| parent.as_deref()),
                };
                let compact = head.kind == Kind::Compact;
                if !self.tree.add(&id, parent, place, compact) {
                    self.fatal.get_or_insert(format!(
                        "line {} has the id `{id}` of an earlier record",
                        place.line
                    ));
                }
                self.previous = old.then(|| id.into_owned());
            }
        }
        Ok(())
    }
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

/// The display name that a line sets.
pub fn name(line: &[u8]) -> Option<String> {
    match Record::from_line(line) {
        Ok(Some(Record::Name(name))) => Some(name),
        _ => None,
    }
}

/// The id of a node that has none, as in version 0.
pub fn position_id(line: u64) -> String {
    format!("line-{line}")
}

/// Whether an unterminated line is a piece of a record: no object is JSON before its last byte.
pub fn is_torn(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_err()
}
