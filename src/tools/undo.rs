//! Taking back what `write` and `edit` did, newest first.

use std::collections::VecDeque;
use std::path::PathBuf;

/// Largest previous content that is kept, in bytes.
pub const MAX_BYTES: u64 = 8 << 20;

/// Most changes that are kept.
const MAX_ENTRIES: usize = 100;

/// Most bytes that are kept over all changes.
const MAX_TOTAL: usize = 64 << 20;

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
    /// What was there.
    pub before: Before,
}

impl Change {
    fn size(&self) -> usize {
        match &self.before {
            Before::Bytes(bytes) => bytes.len(),
            Before::Missing | Before::TooLarge => 0,
        }
    }
}

/// The changes of a session that can be taken back.
#[derive(Debug, Default)]
pub struct UndoList {
    changes: VecDeque<Change>,
    total: usize,
}

impl UndoList {
    /// Adds the newest change and drops the oldest beyond the limits.
    pub fn push(&mut self, change: Change) {
        self.total += change.size();
        self.changes.push_back(change);
        while self.changes.len() > MAX_ENTRIES || self.total > MAX_TOTAL {
            match self.changes.pop_front() {
                Some(oldest) => self.total -= oldest.size(),
                None => break,
            }
        }
    }

    /// Takes the newest change.
    pub fn pop(&mut self) -> Option<Change> {
        let newest = self.changes.pop_back()?;
        self.total -= newest.size();
        Some(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_bounded_in_number_and_bytes() {
        let change = |size: usize| Change {
            path: PathBuf::from("/f"),
            shown: size.to_string(),
            before: Before::Bytes(vec![0; size]),
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
}
