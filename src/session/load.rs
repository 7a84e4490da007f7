//! Reads a log: once through to find the nodes, then the records of the living branch alone.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::record::{FORMAT_VERSION, Header, Record, summary_message};
use super::repair::repair;
use super::tree::{Place, Tree};
use crate::chat::Message;
use crate::error::{Error, Result};
use crate::sys::fs::open_regular;

/// The longest line that is read, in bytes: the largest prompt with images fits well.
const MAX_LINE: u64 = 128 << 20;

/// How many damaged lines a warning spells out.
const DAMAGE_SHOWN: usize = 5;

/// A conversation as it can go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The file's first record.
    pub header: Header,
    /// What the model sees, oldest first.
    pub messages: Vec<Entry>,
    /// The node that the next record follows.
    pub head: Option<String>,
    /// The display name.
    pub name: Option<String>,
    /// What was wrong with the file.
    pub warnings: Vec<String>,
}

/// One message of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The id of its record; none for a message that stands in for something.
    pub id: Option<String>,
    /// The message.
    pub message: Arc<Message>,
}

/// How a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// With a newline.
    Whole,
    /// With a whole record that lost its newline.
    Unterminated,
    /// With a piece of a record that begins here.
    Torn(u64),
}

/// Reads a log and changes nothing: no lock, no repair of the file.
pub fn load(path: &Path) -> Result<Loaded> {
    let named = |error: Error| error.context(format!("cannot open `{}`", path.display()));
    let opened = open_regular(path, OpenOptions::new().read(true));
    let (file, _) = opened.map_err(|error| named(error.into()))?;
    Ok(read(&file, path).map_err(named)?.0)
}

/// Reads an open log.
pub(super) fn read(file: &File, path: &Path) -> Result<(Loaded, Tail)> {
    let mut scan = Scan::run(file, MAX_LINE)?;
    let Some(mut header) = scan.header.take() else {
        let reason = scan.damage.shown.pop();
        let why = reason.map_or("it has no header".into(), |(_, reason)| reason);
        return Err(Error::failed(format!("this is no session log: {why}")));
    };
    if header.format_version > FORMAT_VERSION {
        let message = format!(
            "its format_version is {}, and this build reads up to {FORMAT_VERSION}",
            header.format_version
        );
        return Err(Error::failed(message).remedy("open it with a newer e"));
    }
    if header.id.is_empty() {
        header.id = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
    }
    if let Some(reason) = scan.fatal {
        return Err(Error::failed(reason));
    }
    scan.tree
        .connect()
        .map_err(|line| Error::failed(format!("the record on line {line} is its own ancestor")))?;
    let (head, messages) = loop {
        let Some(newest) = scan.tree.newest() else {
            break (None, Vec::new());
        };
        match history(file, &scan.tree, newest) {
            Ok(history) => break history,
            Err((index, reason)) => {
                scan.damage.add(scan.tree.place(index).line, reason);
                scan.tree.break_off(index);
            }
        }
    };
    let damage = scan.damage.text(scan.tree.unreachable());
    if head.is_none() && !scan.tree.is_empty() {
        return Err(Error::failed(format!("no message can be loaded: {damage}")));
    }
    let mut warnings = Vec::new();
    if !damage.is_empty() {
        let path = path.display();
        warnings.push(format!(
            "`{path}` is damaged and was left as it is: {damage}"
        ));
    }
    if let Tail::Torn(_) = scan.tail {
        let path = path.display();
        warnings.push(format!(
            "the last record of `{path}` was cut off and is left out"
        ));
    }
    let loaded = Loaded {
        header,
        messages: repair(messages),
        head,
        name: scan.name.filter(|name| !name.trim().is_empty()),
        warnings,
    };
    Ok((loaded, scan.tail))
}

/// The records that a copy of the living branch needs, in order: from the first one that history
/// keeps, the summary among them, the display name last.
pub(super) fn branch(path: &Path) -> Result<Vec<Record>> {
    let named = |error: Error| error.context(format!("cannot copy `{}`", path.display()));
    let (file, _) =
        open_regular(path, OpenOptions::new().read(true)).map_err(|e| named(e.into()))?;
    let mut scan = Scan::run(&file, MAX_LINE).map_err(named)?;
    let connected = scan.tree.connect().is_ok();
    let Some(newest) = scan.tree.newest().filter(|_| connected) else {
        return Err(named(Error::failed("it holds no conversation")));
    };
    let path = scan.tree.path(newest);
    let failed = |(_, reason): (usize, String)| named(Error::failed(reason));
    let all: Result<Vec<Record>> = path
        .iter()
        .map(|index| record_at(&file, &scan.tree, *index).map_err(failed))
        .collect();
    let mut records = all?;
    let summary = records
        .iter()
        .rposition(|record| matches!(record, Record::Compact { .. }));
    if let Some(Record::Compact { first_kept, .. }) = summary.map(|at| &records[at]) {
        let kept = records
            .iter()
            .position(|record| record.id() == first_kept.as_deref());
        records.drain(..kept.or(summary).unwrap_or(0));
    }
    // Chained anew: the first has no parent any more, and old formats know no ids.
    let mut previous = None;
    for (n, record) in records.iter_mut().enumerate() {
        if let Record::Message { id, parent, .. } | Record::Compact { id, parent, .. } = record {
            if id.is_empty() {
                *id = position_id(n as u64);
            }
            *parent = previous.replace(id.clone());
        }
    }
    records.extend(scan.name.map(Record::Name));
    Ok(records)
}

/// The history that ends at a node, and that node's id. The error is a node that cannot be read.
fn history(
    file: &File,
    tree: &Tree,
    newest: usize,
) -> Result<(Option<String>, Vec<Entry>), (usize, String)> {
    let path = tree.path(newest);
    let mut messages = Vec::new();
    let mut head = None;
    let mut first = 0;
    if let Some(n) = path.iter().rposition(|index| tree.is_compact(*index)) {
        let Record::Compact {
            id,
            summary,
            first_kept,
            ..
        } = record_at(file, tree, path[n])?
        else {
            return Err((path[n], "it is no summary".into()));
        };
        messages.push(Entry {
            id: None,
            message: Arc::new(summary_message(&summary)),
        });
        head = Some(id).filter(|_| path[n] == newest);
        // A kept message that is not on the path was lost; the summary and what followed remain.
        first = first_kept
            .and_then(|id| tree.find(&id))
            .and_then(|kept| path.iter().position(|index| *index == kept))
            .unwrap_or(n + 1);
    }
    for index in path[first..]
        .iter()
        .filter(|index| !tree.is_compact(**index))
    {
        let Record::Message { id, message, .. } = record_at(file, tree, *index)? else {
            return Err((*index, "it is no message".into()));
        };
        let id = Some(id)
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| position_id(tree.place(*index).line));
        if *index == newest {
            head = Some(id.clone());
        }
        messages.push(Entry {
            id: Some(id),
            message,
        });
    }
    Ok((head, messages))
}

fn record_at(file: &File, tree: &Tree, index: usize) -> Result<Record, (usize, String)> {
    let place = tree.place(index);
    let mut line = vec![0; place.len];
    file.read_exact_at(&mut line, place.offset)
        .map_err(|error| (index, error.to_string()))?;
    let line = String::from_utf8(line).map_err(|error| (index, error.to_string()))?;
    match Record::from_line(&line) {
        Ok(Some(record)) => Ok(record),
        Ok(None) => Err((index, "its type is unknown".into())),
        Err(error) => Err((index, error.to_string())),
    }
}

/// The id of a node that has none, as in version 0.
fn position_id(line: u64) -> String {
    format!("line-{line}")
}

/// What one pass over the file finds.
struct Scan {
    header: Option<Header>,
    tree: Tree,
    name: Option<String>,
    damage: Damage,
    tail: Tail,
    /// Why the file as a whole cannot be understood.
    fatal: Option<String>,
    /// The id of the node before, in a log whose records do not name their parents.
    previous: Option<String>,
}

/// The part of a line that the first pass looks at.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: HeadKind,
    id: Option<String>,
    /// The outer `None` is a missing field.
    #[serde(default, deserialize_with = "present")]
    parent: Option<Option<String>>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum HeadKind {
    Session,
    Message,
    Compact,
    Name,
    #[serde(other)]
    Other,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl Scan {
    fn run(file: &File, max_line: u64) -> Result<Self> {
        let mut scan = Self {
            header: None,
            tree: Tree::default(),
            name: None,
            damage: Damage::default(),
            tail: Tail::Whole,
            fatal: None,
            previous: None,
        };
        let mut reader = BufReader::with_capacity(256 << 10, file);
        let mut bytes = Vec::new();
        let mut place = Place {
            offset: 0,
            len: 0,
            line: 0,
        };
        loop {
            bytes.clear();
            let mut read = (&mut reader).take(max_line).read_until(b'\n', &mut bytes)? as u64;
            if read == 0 {
                return Ok(scan);
            }
            let mut terminated = bytes.last() == Some(&b'\n');
            if terminated {
                bytes.pop();
            }
            place.line += 1;
            place.len = bytes.len();
            let outcome = if !terminated && read == max_line {
                read += reader.skip_until(b'\n')? as u64;
                let mut last = [0];
                file.read_exact_at(&mut last, place.offset + read - 1)?;
                terminated = last == [b'\n'];
                Err(format!("it is longer than {max_line} bytes"))
            } else {
                let outcome = scan.take(&bytes, place);
                if outcome.is_err() && !terminated && is_torn(&bytes) {
                    scan.tail = Tail::Torn(place.offset);
                    return Ok(scan);
                }
                outcome
            };
            if !terminated {
                scan.tail = Tail::Unterminated;
            }
            if let Err(reason) = outcome {
                scan.damage.add(place.line, reason);
            }
            if scan.header.is_none() {
                return Ok(scan);
            }
            place.offset += read;
        }
    }

    /// Takes in one line. The error says why it cannot be used.
    fn take(&mut self, bytes: &[u8], place: Place) -> Result<(), String> {
        let line = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
        let head: Head = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match (head.kind, &self.header) {
            (HeadKind::Session, None) => self.header = Some(header(line)?),
            (_, None) => return Err("the first record is no header".into()),
            (HeadKind::Session, Some(_)) => return Err("it is a second header".into()),
            (HeadKind::Other, Some(_)) => {}
            (HeadKind::Name, Some(_)) => {
                if let Ok(Some(Record::Name(name))) = Record::from_line(line) {
                    self.name = Some(name);
                }
            }
            (kind @ (HeadKind::Message | HeadKind::Compact), Some(header)) => {
                // Before version 2 a message without an id or a parent is known by its place and
                // follows the one before it.
                let old = header.format_version < 2;
                let id = match head.id {
                    Some(id) => id,
                    None if old => position_id(place.line),
                    None => return Err("it has no id".into()),
                };
                let parent = match head.parent {
                    None if old => self.previous.take(),
                    parent => parent.flatten(),
                };
                let compact = kind == HeadKind::Compact;
                if !self.tree.add(&id, parent.as_deref(), place, compact) {
                    self.fatal.get_or_insert(format!(
                        "line {} has the id `{id}` of an earlier record",
                        place.line
                    ));
                }
                self.previous = Some(id).filter(|_| old);
            }
        }
        Ok(())
    }
}

/// Lines that cannot be used: the first few with the reason, and how many there are.
#[derive(Default)]
struct Damage {
    shown: Vec<(u64, String)>,
    count: usize,
}

impl Damage {
    fn add(&mut self, line: u64, reason: String) {
        self.count += 1;
        if self.shown.len() < DAMAGE_SHOWN {
            self.shown.push((line, reason));
        }
    }

    /// What is lost, in words.
    fn text(&self, unreachable: usize) -> String {
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

/// Whether an unterminated line is a piece of a record: no object is JSON before its last byte.
fn is_torn(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_err()
}

fn header(line: &str) -> Result<Header, String> {
    match Record::from_line(line) {
        Ok(Some(Record::Session(header))) => Ok(header),
        Ok(_) => Err("it is no header".into()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
