//! Reads a log: once through to find the nodes, then the records of the living branch alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use super::lines::MAX_LINE;
use super::record::{Header, Record, summary_message};
use super::repair::repair;
use super::scan::{self, Scan, Tail, check_version, position_id};
use super::tree::Tree;
use crate::chat::Message;
use crate::error::{Error, Result};

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
    let file = open_regular(path, OpenOptions::new().read(true)).map_err(|e| named(e.into()))?;
    Ok(read(&file, path).map_err(named)?.0)
}

/// Opens what must be a regular file. Opening does not block, whatever stands in its place.
pub(super) fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
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
    let file = open_regular(path, OpenOptions::new().read(true)).map_err(|e| named(e.into()))?;
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
    let path = tree.path(newest);
    let summary = path.iter().rposition(|index| tree.is_compact(*index));
    let mut records = Vec::new();
    let mut first = 0;
    if let Some(n) = summary {
        let record = record_at(file, tree, path[n])?;
        let Record::Compact { first_kept, .. } = &record else {
            return Err((path[n], "it is no summary".into()));
        };
        // A kept message that is not on the path was lost; the summary and what followed remain.
        let kept = first_kept.as_ref().and_then(|id| tree.find(id));
        let kept = kept.and_then(|kept| path[..n].iter().position(|index| *index == kept));
        for index in &path[kept.unwrap_or(n)..n] {
            if !tree.is_compact(*index) {
                records.push(message_at(file, tree, *index)?);
            }
        }
        records.push(record);
        first = n + 1;
    }
    for index in &path[first..] {
        records.push(message_at(file, tree, *index)?);
    }
    Ok(records)
}

fn message_at(file: &File, tree: &Tree, index: usize) -> Result<Record, (usize, String)> {
    let mut record = record_at(file, tree, index)?;
    match &mut record {
        Record::Message { id, .. } => {
            if id.is_empty() {
                *id = position_id(tree.place(index).line);
            }
            Ok(record)
        }
        _ => Err((index, "it is no message".into())),
    }
}

fn record_at(file: &File, tree: &Tree, index: usize) -> Result<Record, (usize, String)> {
    let place = tree.place(index);
    let mut line = vec![0; place.len];
    file.read_exact_at(&mut line, place.offset)
        .map_err(|error| (index, error.to_string()))?;
    match scan::record(&line) {
        Ok(Some(record)) => Ok(record),
        Ok(None) => Err((index, "its type is unknown".into())),
        Err(reason) => Err((index, reason)),
    }
}

#[cfg(test)]
mod tests;
