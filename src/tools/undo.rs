//! Taking back what `write` and `edit` did, newest first.
//!
//! What a saved session can take back is also kept beside its log, one private file for each change,
//! so that it can be taken back after a resume.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::Stamp;
use crate::config::home::create_private_dir;
use crate::sys::fs::read_regular;

/// Largest previous content that is kept, in bytes.
pub const MAX_BYTES: u64 = 8 << 20;

/// Most changes that are kept.
const MAX_ENTRIES: usize = 100;

/// Most bytes that are kept over all changes.
const MAX_TOTAL: usize = 64 << 20;

/// Room for the line that describes a change in its file.
const MAX_HEAD: u64 = 64 << 10;

/// What was at a path before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// No file.
    Missing,
    /// A file with these bytes.
    Bytes(Vec<u8>),
    /// A file with more bytes than are kept.
    TooLarge,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path, absolute.
    pub path: PathBuf,
    /// The path as the model wrote it.
    pub shown: String,
    /// What changed it, for people.
    pub by: String,
    /// What was there.
    pub before: Before,
    /// The file as the change left it.
    pub after: Stamp,
}

impl Change {
    fn size(&self) -> usize {
        match &self.before {
            Before::Bytes(bytes) => bytes.len(),
            Before::Missing | Before::TooLarge => 0,
        }
    }
}

/// The first line of a change's file; the bytes follow it.
#[derive(Serialize, Deserialize)]
struct Head {
    path: PathBuf,
    shown: String,
    #[serde(default = "a_change")]
    by: String,
    before: Kept,
    after: Stamp,
}

/// What is told of a change that an earlier build kept.
fn a_change() -> String {
    "a change".to_owned()
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    Missing,
    Bytes,
    TooLarge,
}

/// The changes of a session that can be taken back.
#[derive(Debug, Default)]
pub struct UndoList {
    /// With the number of each, by which its file is called.
    changes: VecDeque<(u64, Change)>,
    total: usize,
    next: u64,
    directory: Option<PathBuf>,
    /// Whether what the directory holds has been read.
    is_read: bool,
}

impl UndoList {
    /// Keeps the changes in this directory, too, and takes up what is there already.
    pub fn keep_in(&mut self, directory: PathBuf) {
        self.directory = Some(directory);
    }

    /// Adds the newest change and drops the oldest beyond the limits.
    pub fn push(&mut self, change: Change) {
        self.read();
        let number = self.next;
        self.next += 1;
        if let Some(directory) = &self.directory {
            // Without its file a change can be taken back until e ends.
            let _ = save(directory, number, &change);
        }
        self.add(number, change);
    }

    /// Takes the newest change.
    pub fn pop(&mut self) -> Option<Change> {
        self.read();
        let (number, newest) = self.changes.pop_back()?;
        self.total -= newest.size();
        self.forget(number);
        Some(newest)
    }

    /// How many changes can be taken back.
    pub fn count(&self) -> usize {
        let can = |(_, change): &&(u64, Change)| change.before != Before::TooLarge;
        self.changes.iter().filter(can).count()
    }

    /// A change of `path` was taken back, which left it like this: the change before it goes on from
    /// there.
    pub fn reverted(&mut self, path: &Path, now: Stamp) {
        let earlier = self.changes.iter_mut().rev();
        let Some((number, change)) = earlier.into_iter().find(|(_, one)| one.path == path) else {
            return;
        };
        change.after = now;
        if let Some(directory) = &self.directory {
            let _ = save(directory, *number, change);
        }
    }

    fn add(&mut self, number: u64, change: Change) {
        self.total += change.size();
        self.changes.push_back((number, change));
        while self.changes.len() > MAX_ENTRIES || self.total > MAX_TOTAL {
            match self.changes.pop_front() {
                Some((number, oldest)) => {
                    self.total -= oldest.size();
                    self.forget(number);
                }
                None => break,
            }
        }
    }

    fn forget(&self, number: u64) {
        if let Some(directory) = &self.directory {
            let _ = fs::remove_file(file_of(directory, number));
        }
    }

    /// Takes up what an earlier process left. What cannot be read is passed over.
    fn read(&mut self) {
        let Some(directory) = self.directory.clone() else {
            return;
        };
        if std::mem::replace(&mut self.is_read, true) {
            return;
        }
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let number = |name: &str| name.strip_suffix(".change")?.parse::<u64>().ok();
        let numbers = entries.filter_map(|entry| number(entry.file_name().to_str()?));
        let mut numbers: Vec<u64> = numbers.filter(|number| *number < u64::MAX).collect();
        numbers.sort_unstable();
        for number in numbers {
            self.next = number + 1;
            if let Some(change) = load(&file_of(&directory, number)) {
                self.add(number, change);
            }
        }
    }
}

fn file_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number}.change"))
}

fn save(directory: &Path, number: u64, change: &Change) -> io::Result<()> {
    let (before, bytes) = match &change.before {
        Before::Missing => (Kept::Missing, &[][..]),
        Before::Bytes(bytes) => (Kept::Bytes, &bytes[..]),
        Before::TooLarge => (Kept::TooLarge, &[][..]),
    };
    let mut text = serde_json::to_vec(&Head {
        path: change.path.clone(),
        shown: change.shown.clone(),
        by: change.by.clone(),
        before,
        after: change.after,
    })?;
    text.push(b'\n');
    text.extend_from_slice(bytes);
    create_private_dir(directory, false)?;
    let path = file_of(directory, number);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.custom_flags(libc::O_NOFOLLOW).open(&path)?;
    // A piece of a change would bring back a piece of a file.
    file.write_all(&text).inspect_err(|_| {
        let _ = fs::remove_file(&path);
    })
}

fn load(path: &Path) -> Option<Change> {
    let text = read_regular(path, MAX_BYTES + MAX_HEAD).ok()?;
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&text[..end]).ok()?;
    Some(Change {
        path: head.path,
        shown: head.shown,
        by: head.by,
        before: match head.before {
            Kept::Missing => Before::Missing,
            Kept::Bytes => Before::Bytes(text[end + 1..].to_vec()),
            Kept::TooLarge => Before::TooLarge,
        },
        after: head.after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_bounded_in_number_and_bytes() {
        let change = |size: usize| Change {
            path: PathBuf::from("/f"),
            shown: size.to_string(),
            by: a_change(),
            before: Before::Bytes(vec![0; size]),
            after: Stamp::default(),
        };
        let mut list = UndoList::default();
        (0..300).for_each(|size| list.push(change(size)));
        assert_eq!(list.changes.len(), MAX_ENTRIES);
        assert_eq!(
            list.pop().map(|change| change.shown),
            Some("299".to_owned())
        );
        (0..20).for_each(|_| list.push(change(MAX_BYTES as usize)));
        assert_eq!(list.changes.len(), MAX_TOTAL / MAX_BYTES as usize);
        while list.pop().is_some() {}
        assert_eq!(list.total, 0);
    }

    #[test]
    fn changes_outlive_their_process() {
        let root = tempfile::tempdir().unwrap();
        let kept = || {
            let mut list = UndoList::default();
            list.keep_in(root.path().join("1_a.undo"));
            list
        };
        let change = |shown: &str, before| Change {
            path: PathBuf::from("/f"),
            shown: shown.into(),
            by: a_change(),
            before,
            after: Stamp::default(),
        };
        let first = change("first", Before::Missing);
        let second = change("second", Before::Bytes(b"a\nb\x00\xff".to_vec()));
        let mut list = kept();
        list.push(first.clone());
        list.push(second.clone());
        list.push(change("taken", Before::TooLarge));
        list.pop();
        fs::write(root.path().join("1_a.undo/7.change"), "no change").unwrap();
        let mut list = kept();
        assert_eq!(list.pop(), Some(second));
        list.push(change("third", Before::TooLarge));
        let mut list = kept();
        assert_eq!(list.pop().map(|one| one.shown), Some("third".into()));
        assert_eq!(list.pop(), Some(first));
        assert_eq!(kept().pop(), None);
    }
}
