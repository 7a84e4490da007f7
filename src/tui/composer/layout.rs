//! Where a draft breaks into rows.
//!
//! Rows break after white space, which hangs over the edge when it must; a run without any breaks
//! hard. Where the next row starts depends on nothing before this one, so an edit costs the rows
//! that it changes: behind it, the old breaks hold as soon as one is met again.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{is_unsafe, width};

/// Rows above an edit that it can change: a word that became shorter may move up.
const ROWS_BACK: usize = 2;

/// The rows of one text at one width.
#[derive(Clone, Debug)]
pub struct Layout {
    columns: usize,
    /// Where each row starts, in bytes. There is always a first one, at 0.
    starts: Vec<usize>,
}

impl Layout {
    /// The rows of an empty text of any width.
    pub fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(1),
            starts: vec![0],
        }
    }

    /// Columns that a row may fill.
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Where a row starts, and where the next one does.
    pub fn row(&self, row: usize, text: &str) -> (usize, usize) {
        let end = self.starts.get(row + 1).copied();
        (self.starts[row], end.unwrap_or(text.len()))
    }

    /// The row that a place belongs to.
    pub fn row_of(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at) - 1
    }

    /// Breaks all of `text` anew. Its first `skip` bytes take no room.
    pub fn set(&mut self, columns: usize, text: &str, skip: usize) {
        *self = Self::new(columns);
        self.edit(text, skip, 0, 0, text.len());
    }

    /// Follows an edit: of what was `removed` bytes at `at`, `inserted` ones are now in `text`.
    pub fn edit(&mut self, text: &str, skip: usize, at: usize, removed: usize, inserted: usize) {
        let first = self.row_of(at).saturating_sub(ROWS_BACK);
        let old = self.starts.split_off(first + 1);
        let mut old = old.as_slice();
        let mut start = match first {
            0 => skip,
            first => self.starts[first],
        };
        while let Some(next) = next_row(text, start, self.columns) {
            if next >= at + inserted {
                let before = next - inserted + removed;
                old = &old[old.partition_point(|&start| start < before)..];
                if old.first() == Some(&before) {
                    let moved = old.iter().map(|start| start - removed + inserted);
                    self.starts.extend(moved);
                    return;
                }
            }
            self.starts.push(next);
            start = next;
        }
    }
}

/// Where the row after the one at `start` begins, if there is one.
fn next_row(text: &str, start: usize, columns: usize) -> Option<usize> {
    let mut column = 0;
    let mut seam = None;
    let mut at = start;
    while let Some(grapheme) = first_grapheme(text, at) {
        let end = at + grapheme.len();
        match grapheme {
            "\n" => return Some(end),
            " " | "\t" => {
                column += 1;
                seam = Some(end);
            }
            _ => {
                column += columns_of(grapheme);
                if column > columns && at > start {
                    return Some(seam.unwrap_or(at));
                }
            }
        }
        at = end;
    }
    None
}

/// The grapheme that starts at a place.
pub fn first_grapheme(text: &str, at: usize) -> Option<&str> {
    // Only a character outside ASCII can join the one before it; `\r` never gets into a draft.
    match &text.as_bytes()[at..] {
        [0..=0x7f] | [0..=0x7f, 0..=0x7f, ..] => Some(&text[at..=at]),
        _ => text[at..].graphemes(true).next(),
    }
}

/// Columns of a grapheme as it is shown.
pub fn columns_of(grapheme: &str) -> usize {
    match grapheme.chars().next() {
        Some(c) if c != shown(c) => 1,
        _ => width(grapheme),
    }
}

/// A character as it is shown: those that would move or hide others have a stand-in. Tags belong to
/// a flag, or are not seen.
pub fn shown(c: char) -> char {
    match c {
        '\t' => ' ',
        '\n' | '\u{e0000}'..='\u{e007f}' => c,
        c if is_unsafe(c) => '\u{fffd}',
        c => c,
    }
}
