//! Reads a log: once through to find the nodes, then the records of the living branch alone.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::lines::MAX_LINE;
use super::record::{Header, Record, summary_message};
use super::repair::repair;
use super::scan::{Scan, Tail, check_version, position_id};
use super::threads;
use super::tree::{Place, Tree};
use crate::chat::Message;
use crate::error::{Error, Result, io_text};
use crate::sys::fs::open_regular;

/// How many records one thread decodes before it looks for more work: short conversations need no
/// second thread.
const DECODED_AT_ONCE: usize = 256;

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

/// Reads a log and changes nothing: no lock, no repair of the file.
pub fn load(path: &Path) -> Result<Loaded> {
    let named = |error: Error| error.context(format!("cannot open `{}`", path.display()));
    let opened = open_regular(path, OpenOptions::new().read(true));
    let (file, _) = opened.map_err(|error| named(error.into()))?;
    Ok(read(&file, path).map_err(named)?.0)
}

/// Reads an open log.
pub(super) fn read(file: &File, path: &Path) -> Result<(Loaded, Tail)> {
    let living = Living::read(file, path)?;
    let head = living.records.last().and_then(Record::id);
    let head = head.map(str::to_owned);
    let mut messages = Vec::with_capacity(living.records.len());
    let mut summarised = None;
    for record in living.records {
        match record {
            Record::Message { id, message, .. } => messages.push(Entry {
                id: Some(id),
                message,
            }),
            Record::Compact { summary, .. } => summarised = Some(summary_message(&summary)),
            Record::Session(_) | Record::Response { .. } | Record::Name(_) => {}
        }
    }
    if let Some(message) = summarised.map(Arc::new) {
        messages.insert(0, Entry { id: None, message });
    }
    let loaded = Loaded {
        header: living.header,
        messages: repair(messages),
        head,
        name: living.name,
        warnings: living.warnings,
    };
    Ok((loaded, living.tail))
}

/// The records that a copy of the living branch needs, in order: from the first one that history
/// keeps, the summary among them, the display name last.
pub(super) fn branch(path: &Path) -> Result<Vec<Record>> {
    let named = |error: Error| error.context(format!("cannot copy `{}`", path.display()));
    let opened = open_regular(path, OpenOptions::new().read(true));
    let (file, _) = opened.map_err(|error| named(error.into()))?;
    let living = Living::read(&file, path).map_err(named)?;
    let mut records = living.records;
    if records.is_empty() {
        return Err(named(Error::failed("it holds no conversation")));
    }
    // Chained anew: the first has no parent any more, and old formats know none.
    let mut previous = None;
    for record in &mut records {
        if let Record::Message { id, parent, .. } | Record::Compact { id, parent, .. } = record {
            *parent = previous.replace(id.clone());
        }
    }
    records.extend(living.name.map(Record::Name));
    Ok(records)
}

/// The newest branch whose records can all be read.
struct Living {
    header: Header,
    /// What history is made of, as [`history`] returns it.
    records: Vec<Record>,
    name: Option<String>,
    warnings: Vec<String>,
    tail: Tail,
}

impl Living {
    fn read(file: &File, path: &Path) -> Result<Self> {
        let mut scan = Scan::run(file, MAX_LINE)?;
        let Some(mut header) = scan.header.take() else {
            let why = scan.damage.first().unwrap_or("it has no header");
            return Err(Error::failed(format!("this is no session log: {why}")));
        };
        check_version(&header)?;
        if header.id.is_empty() {
            let stem = path.file_stem().unwrap_or_default();
            header.id = stem.to_string_lossy().into_owned();
        }
        if let Some(reason) = scan.fatal {
            return Err(Error::failed(reason));
        }
        scan.tree.connect().map_err(|line| {
            Error::failed(format!("the record on line {line} is its own ancestor"))
        })?;
        let records = loop {
            let Some(newest) = scan.tree.newest() else {
                break Vec::new();
            };
            match history(file, &scan.tree, newest) {
                Ok(records) => break records,
                Err((index, reason)) => {
                    scan.damage.add(scan.tree.place(index).line, reason);
                    scan.tree.break_off(index);
                }
            }
        };
        let damage = scan.damage.text(scan.tree.unreachable());
        if records.is_empty() && !scan.tree.is_empty() {
            return Err(Error::failed(format!("no message can be loaded: {damage}")));
        }
        let path = path.display();
        let mut warnings = Vec::new();
        if !damage.is_empty() {
            warnings.push(format!(
                "`{path}` is damaged and was left as it is: {damage}"
            ));
        }
        if let Tail::Torn(_) = scan.tail {
            warnings.push(format!(
                "the last record of `{path}` was cut off and is left out"
            ));
        }
        Ok(Self {
            header,
            records,
            name: scan.name.filter(|name| !name.trim().is_empty()),
            warnings,
            tail: scan.tail,
        })
    }
}

/// What the history that ends at a node is made of, in the order of the path: the last summary and
/// the messages from the first that it keeps. Each has an id. The error is a node that cannot be
/// read.
fn history(file: &File, tree: &Tree, newest: usize) -> Result<Vec<Record>, (usize, String)> {
    let mut path = tree.path(newest);
    if let Some(n) = path.iter().rposition(|index| tree.is_compact(*index)) {
        let summary = record_at(file, tree.place(path[n]), &mut Vec::new());
        let Record::Compact { first_kept, .. } = summary.map_err(|reason| (path[n], reason))?
        else {
            return Err((path[n], "it is no summary".into()));
        };
        // A kept message that is not on the path was lost; the summary and what followed remain.
        let kept = first_kept.and_then(|id| tree.find(&id));
        let kept = kept.and_then(|kept| path[..n].iter().position(|index| *index == kept));
        let last = path[n];
        path.drain(..kept.unwrap_or(n));
        path.retain(|index| *index == last || !tree.is_compact(*index));
    }
    let chunks: Vec<_> = path.chunks(DECODED_AT_ONCE).collect();
    let decode = |chunk: &&[usize]| -> Result<Vec<Record>, (usize, String)> {
        let mut buffer = Vec::new();
        let node = |index: &usize| {
            node_at(file, tree, *index, &mut buffer).map_err(|reason| (*index, reason))
        };
        chunk.iter().map(node).collect()
    };
    let mut records = Vec::with_capacity(path.len());
    for chunk in threads::map(&chunks, decode) {
        records.append(&mut chunk?);
    }
    Ok(records)
}

/// Decodes a node, which must be what the first pass took it for.
fn node_at(file: &File, tree: &Tree, index: usize, buffer: &mut Vec<u8>) -> Result<Record, String> {
    let place = tree.place(index);
    let mut record = record_at(file, place, buffer)?;
    match &mut record {
        Record::Message { id, .. } if !tree.is_compact(index) => {
            if id.is_empty() {
                *id = position_id(place.line);
            }
            Ok(record)
        }
        Record::Compact { .. } if tree.is_compact(index) => Ok(record),
        _ => Err("its type is another than it seemed".into()),
    }
}

fn record_at(file: &File, place: Place, buffer: &mut Vec<u8>) -> Result<Record, String> {
    buffer.resize(place.len, 0);
    file.read_exact_at(buffer, place.offset)
        .map_err(|error| io_text(&error))?;
    Record::from_line(buffer)?.ok_or_else(|| "its type is unknown".into())
}

#[cfg(test)]
mod tests;
