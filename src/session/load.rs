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
/// How many bytes of records that lie together are read at once, unless one alone is longer.
const READ_AT_ONCE: usize = 512 << 10;

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
    /// Tokens of the newest request and its reply, as the provider counted them; 0 when that is unknown.
    pub context_tokens: u64,
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

/// Reads the history that ends at a node, and changes nothing. No node is before the first message.
pub fn load_at(path: &Path, node: Option<&str>) -> Result<Vec<Entry>> {
    let Some(node) = node else {
        return Ok(Vec::new());
    };
    let named = |error: Error| error.context(format!("cannot go back in `{}`", path.display()));
    let opened = open_regular(path, OpenOptions::new().read(true));
    let (file, _) = opened.map_err(|error| named(error.into()))?;
    let living = Living::read(&file, path, Some(node)).map_err(named)?;
    Ok(entries(living.records))
}

/// Reads an open log.
pub(super) fn read(file: &File, path: &Path) -> Result<(Loaded, Tail)> {
    let mut living = Living::read(file, path, None)?;
    let head = living.records.last().and_then(Record::id);
    let head = head.map(str::to_owned);
    let loaded = Loaded {
        context_tokens: context_tokens(&living.records),
        header: living.header,
        messages: entries(std::mem::take(&mut living.records)),
        head,
        name: living.name,
        warnings: living.warnings,
    };
    Ok((loaded, living.tail))
}

/// What the newest reply says, unless what it is about was summarised since.
fn context_tokens(records: &[Record]) -> u64 {
    let newest = records.iter().rev().map_while(|record| match record {
        Record::Compact { .. } => None,
        Record::Message { response, .. } => Some(response.as_ref().and_then(|one| one.usage)),
        _ => Some(None),
    });
    let usage = newest.flatten().next().unwrap_or_default();
    usage.prompt().saturating_add(usage.output)
}

/// What the model sees of these records.
fn entries(records: Vec<Record>) -> Vec<Entry> {
    let mut messages = Vec::with_capacity(records.len());
    let mut summarised = None;
    for record in records {
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
    repair(messages)
}

/// The records that a copy of the branch that ends at `head` needs, in order: from the first one that
/// history keeps, the summary among them, the display name last. Without a head it is the newest.
pub(super) fn branch(path: &Path, head: Option<&str>) -> Result<Vec<Record>> {
    let named = |error: Error| error.context(format!("cannot copy `{}`", path.display()));
    let opened = open_regular(path, OpenOptions::new().read(true));
    let (file, _) = opened.map_err(|error| named(error.into()))?;
    let living = Living::read(&file, path, head).map_err(named)?;
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

/// A branch whose records can all be read.
struct Living {
    header: Header,
    /// What history is made of, as [`history`] returns it.
    records: Vec<Record>,
    name: Option<String>,
    warnings: Vec<String>,
    tail: Tail,
}

impl Living {
    /// Reads the branch that ends at `head`, or the newest.
    fn read(file: &File, path: &Path, head: Option<&str>) -> Result<Self> {
        let (mut header, mut scan) = scan(file)?;
        if header.id.is_empty() {
            let stem = path.file_stem().unwrap_or_default();
            header.id = stem.to_string_lossy().into_owned();
        }
        let records = loop {
            let end = match head {
                None => scan.tree.newest(),
                Some(id) => Some(scan.tree.whole(id).ok_or_else(|| {
                    Error::failed("the message cannot be read, or one before it cannot")
                })?),
            };
            let Some(newest) = end else {
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

/// Looks through a log whose nodes hang together.
pub(super) fn scan(file: &File) -> Result<(Header, Scan)> {
    let mut scan = Scan::run(file, MAX_LINE)?;
    let Some(header) = scan.header.take() else {
        let why = scan.damage.first().unwrap_or("it has no header");
        return Err(Error::failed(format!("this is no session log: {why}")));
    };
    check_version(&header)?;
    for line in scan.tree.connect() {
        scan.damage.add(line, "it is its own ancestor".into());
    }
    Ok((header, scan))
}

/// What the history that ends at a node is made of, in the order of the path: the last summary and
/// the messages from the first that it keeps. Each has an id. The error is a node that cannot be
/// read.
fn history(file: &File, tree: &Tree, newest: usize) -> Result<Vec<Record>, (usize, String)> {
    let mut path = tree.path(newest);
    if let Some(n) = path.iter().rposition(|index| tree.is_compact(*index)) {
        let mut reader = Reader::default();
        let line = reader.line(file, tree.place(path[n]), std::iter::empty());
        let summary = line.and_then(record);
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
    let decode = |reader: &mut Reader, chunk: &&[usize]| -> Result<Vec<Record>, (usize, String)> {
        let mut records = Vec::with_capacity(chunk.len());
        for (n, index) in chunk.iter().enumerate() {
            let after = chunk[n + 1..].iter().map(|index| tree.place(*index));
            let line = reader.line(file, tree.place(*index), after);
            let record = line.and_then(|line| node(tree, *index, line));
            records.push(record.map_err(|reason| (*index, reason))?);
        }
        Ok(records)
    };
    let mut records = Vec::with_capacity(path.len());
    for chunk in threads::map(&chunks, decode) {
        records.append(&mut chunk?);
    }
    Ok(records)
}

/// Decodes a node, which must be what the first pass took it for.
fn node(tree: &Tree, index: usize, line: &[u8]) -> Result<Record, String> {
    let mut record = record(line)?;
    match &mut record {
        Record::Message { id, .. } if !tree.is_compact(index) => {
            if id.is_empty() {
                *id = position_id(tree.place(index).line);
            }
            Ok(record)
        }
        Record::Compact { .. } if tree.is_compact(index) => Ok(record),
        _ => Err("its type is another than it seemed".into()),
    }
}

fn record(line: &[u8]) -> Result<Record, String> {
    Record::from_line(line)?.ok_or_else(|| "its type is unknown".into())
}

/// Reads lines by their places, those that lie together at once.
#[derive(Default)]
pub(super) struct Reader {
    buffer: Vec<u8>,
    /// Where in the file the buffer's first `len` bytes are from.
    offset: u64,
    len: usize,
}

impl Reader {
    /// The line at a place. `after` is what will be asked for next.
    pub(super) fn line(
        &mut self,
        file: &File,
        place: Place,
        after: impl Iterator<Item = Place>,
    ) -> Result<&[u8], String> {
        let end = |place: Place| place.offset + place.len as u64;
        if place.offset < self.offset || end(place) > self.offset + self.len as u64 {
            let (mut last, most) = (end(place), place.offset + READ_AT_ONCE as u64);
            // One byte between two lines is the newline.
            for next in after.take_while(|next| end(*next) <= most) {
                match next.offset == last + 1 {
                    true => last = end(next),
                    false => break,
                }
            }
            // The length of a line is bounded, and so is what is read behind it.
            let len = (last - place.offset) as usize;
            if self.buffer.len() < len {
                self.buffer.resize(len, 0);
            }
            self.len = 0;
            file.read_exact_at(&mut self.buffer[..len], place.offset)
                .map_err(|error| io_text(&error))?;
            (self.offset, self.len) = (place.offset, len);
        }
        let start = (place.offset - self.offset) as usize;
        Ok(&self.buffer[start..start + place.len])
    }
}

#[cfg(test)]
mod tests;
