//! The text of a draft with its caret, its selection, and the markers that stand for other text.
//!
//! A marker is a label in the text that owns what it stands for. The caret never gets inside one,
//! and an edit that touches any part of it removes the whole, so that what is shown and what will
//! be sent cannot come apart.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::layout::{Layout, columns_of, first_grapheme};
use crate::text::{floor_char, one_line};

/// What a marker stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Pasted text, with the number in its label.
    Paste {
        /// The number, from 1.
        number: usize,
        text: String,
    },
    /// Rows that were taken from a pane.
    Pane { text: String },
}

impl Mark {
    /// What it stands for.
    pub fn text(&self) -> &str {
        match self {
            Mark::Paste { text, .. } | Mark::Pane { text } => text,
        }
    }
}

/// An editable text. Places are byte offsets.
#[derive(Clone, Debug)]
pub struct Buffer {
    text: String,
    caret: usize,
    /// The other end of the selection.
    anchor: Option<usize>,
    /// The column that moves up and down keep.
    goal: Option<usize>,
    /// Markers in order, and where their labels are.
    marks: Vec<(Range<usize>, Mark)>,
    layout: Layout,
    /// Whether a first `!` is shown as the rail.
    has_commands: bool,
}

/// The two ways along a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Back,
    Forward,
}

impl Buffer {
    /// An empty text. With `has_commands` a first `!` makes it a command line.
    pub fn new(has_commands: bool) -> Self {
        Self {
            text: String::new(),
            caret: 0,
            anchor: None,
            goal: None,
            marks: Vec::new(),
            layout: Layout::new(80),
            has_commands,
        }
    }

    /// The text with the labels of its markers.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with what the markers stand for; rows of a pane have lines of their own.
    pub fn expand(&self) -> String {
        self.expand_part(0..self.text.len())
    }

    /// The same for a part that no marker crosses an edge of.
    pub fn expand_part(&self, part: Range<usize>) -> String {
        let mut expanded = String::new();
        let mut done = part.start;
        let is_in = |range: &Range<usize>| part.start <= range.start && range.end <= part.end;
        for (range, mark) in self.marks.iter().filter(|(range, _)| is_in(range)) {
            let is_pane = matches!(mark, Mark::Pane { .. });
            expanded.push_str(&self.text[done..range.start]);
            if is_pane && !expanded.is_empty() && !expanded.ends_with('\n') {
                expanded.push('\n');
            }
            expanded.push_str(mark.text());
            done = range.end;
            if is_pane && !self.text[done..].starts_with('\n') {
                expanded.push('\n');
            }
        }
        expanded + &self.text[done..part.end]
    }

    /// Bytes of the text and of what its markers stand for.
    pub fn len(&self) -> usize {
        let marked = self.marks.iter().map(|(_, mark)| mark.text().len());
        self.text.len() + marked.sum::<usize>()
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn caret(&self) -> usize {
        self.caret
    }

    /// What is selected, unless that is nothing.
    pub fn selection(&self) -> Option<Range<usize>> {
        let anchor = self.anchor?;
        let range = self.caret.min(anchor)..self.caret.max(anchor);
        (!range.is_empty()).then_some(range)
    }

    /// The markers, in order, and where their labels are.
    pub fn marks(&self) -> &[(Range<usize>, Mark)] {
        &self.marks
    }

    /// The rows at the width that was set last.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Breaks the text for rows of so many columns.
    pub fn set_columns(&mut self, columns: usize) {
        if self.layout.columns() != columns.max(1) {
            self.layout.set(columns, &self.text, self.gutter());
        }
    }

    /// How many bytes at the start stand in the rail and the gutter: a `!` and a space behind it.
    pub fn gutter(&self) -> usize {
        let is_marked = self
            .marks
            .first()
            .is_some_and(|(range, _)| range.start == 0);
        match self.text.as_bytes() {
            _ if is_marked || !self.has_commands => 0,
            [b'!', b' ', ..] => 2,
            [b'!', ..] => 1,
            _ => 0,
        }
    }

    /// Puts `text` in the place of the selection, or at the caret. Line ends become `\n`.
    pub fn insert(&mut self, text: &str) {
        let range = self.selection().unwrap_or(self.caret..self.caret);
        self.replace(range, text);
    }

    /// Puts `text` in the place of a range, and the caret behind it. Markers that the range touches
    /// go whole. Line ends become `\n`; a range that is none of this text is moved to fit.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        match text.contains('\r') {
            true => self.splice(range, &text.replace("\r\n", "\n").replace('\r', "\n")),
            false => self.splice(range, text),
        }
    }

    /// Puts a marker in the place of the selection, or at the caret. Without a label it is what it
    /// stands for. That of a pane owns the blank between it and what is written behind it.
    pub fn insert_mark(&mut self, label: &str, mark: Mark) {
        let mut label = one_line(label, None);
        if label.is_empty() {
            return self.insert(mark.text());
        }
        if matches!(mark, Mark::Pane { .. }) {
            label.push(' ');
        }
        self.insert(&label);
        let range = self.caret - label.len()..self.caret;
        let index = self
            .marks
            .partition_point(|(other, _)| other.start < range.start);
        self.marks.insert(index, (range, mark));
        // A label that begins with `!` is no command line after all.
        self.layout
            .set(self.layout.columns(), &self.text, self.gutter());
    }

    /// Deletes the selection, else what is next to the caret. Going back, a marker of a pane is
    /// only selected the first time.
    pub fn delete(&mut self, way: Way) {
        if self.selection().is_none() {
            let next = self.step(way);
            self.anchor = Some(next);
            let is_pane = |(range, mark): &(Range<usize>, Mark)| {
                *range == (next..self.caret) && matches!(mark, Mark::Pane { .. })
            };
            if self.marks.iter().any(is_pane) {
                return;
            }
        }
        self.insert("");
    }

    /// Moves the caret; with `extend` the selection grows or shrinks with it.
    pub fn go(&mut self, place: usize, extend: bool) {
        self.anchor = match extend {
            true => Some(self.anchor.unwrap_or(self.caret)),
            false => None,
        };
        self.caret = place;
        self.goal = None;
    }

    /// The next place for the caret, a grapheme or a marker further.
    pub fn step(&self, way: Way) -> usize {
        if let Some(place) = self.mark_at(self.caret, way) {
            return place;
        }
        let place = match way {
            Way::Back => GraphemeCursor::new(self.caret, self.text.len(), true)
                .prev_boundary(&self.text, 0)
                .ok()
                .flatten()
                .unwrap_or(0),
            Way::Forward => self.caret + first_grapheme(&self.text, self.caret).map_or(0, str::len),
        };
        self.settle(place, way)
    }

    /// The far end of the next word: white space, then characters of one kind, or a marker.
    pub fn word(&self, way: Way) -> usize {
        // What is between the caret and the next marker.
        let edge = |(range, _): &(Range<usize>, Mark)| match way {
            Way::Back => Some(range.end).filter(|&end| end <= self.caret),
            Way::Forward => Some(range.start).filter(|&start| start >= self.caret),
        };
        let edges = self.marks.iter().filter_map(edge);
        let place = match way {
            Way::Back => {
                let edge = edges.max().unwrap_or(0);
                let text = self.text[edge..self.caret].trim_end();
                let kind = text.chars().next_back().map(is_word);
                edge + text.trim_end_matches(|c| is_kind(c, kind)).len()
            }
            Way::Forward => {
                let edge = edges.min().unwrap_or(self.text.len());
                let text = self.text[self.caret..edge].trim_start();
                let kind = text.chars().next().map(is_word);
                edge - text.trim_start_matches(|c| is_kind(c, kind)).len()
            }
        };
        let has_word = !self.text[self.caret.min(place)..self.caret.max(place)]
            .trim()
            .is_empty();
        match self.mark_at(place, way) {
            Some(end) if !has_word => end,
            _ => self.settle(place, way),
        }
    }

    /// Moves the caret by a row, in the column where it began to. `false` at the edge.
    pub fn go_row(&mut self, way: Way, extend: bool) -> bool {
        let row = self.layout.row_of(self.caret);
        let next = match way {
            Way::Back => row.checked_sub(1),
            Way::Forward => Some(row + 1).filter(|&row| row < self.layout.rows()),
        };
        let Some(next) = next else {
            return false;
        };
        let goal = self.goal.unwrap_or_else(|| self.column(self.caret));
        let place = self.place_at(next, goal);
        // Onward over a marker of several rows, or the caret would stay where it is.
        self.go(self.settle(place, way), extend);
        self.goal = Some(goal);
        true
    }

    /// The column of a place in its row, the rail not counted.
    pub fn column(&self, place: usize) -> usize {
        let start = self.row_start(self.layout.row_of(place));
        let mut at = start;
        let mut column = 0;
        while let Some(grapheme) = first_grapheme(&self.text, at).filter(|_| at < place) {
            column += columns_of(grapheme);
            at += grapheme.len();
        }
        column.min(self.layout.columns())
    }

    /// Where the text of a row starts that is right of the gutter.
    pub fn row_start(&self, row: usize) -> usize {
        match row {
            0 => self.gutter(),
            row => self.layout.row(row, &self.text).0,
        }
    }

    /// The place in a row that is nearest to a column, at or before it.
    fn place_at(&self, row: usize, goal: usize) -> usize {
        let (_, end) = self.layout.row(row, &self.text);
        let is_last = row + 1 == self.layout.rows();
        let mut at = self.row_start(row);
        let mut column = 0;
        while let Some(grapheme) = first_grapheme(&self.text, at) {
            column += columns_of(grapheme);
            let next = at + grapheme.len();
            // The end of a row that is not the last is the start of the next one.
            if column > goal || next > end || next == end && !is_last {
                break;
            }
            at = next;
        }
        at
    }

    fn splice(&mut self, range: Range<usize>, text: &str) {
        let mut start = floor_char(&self.text, range.start);
        let mut end = floor_char(&self.text, range.end).max(start);
        self.marks.retain(|(mark, _)| {
            let is_touched = mark.start < end && start < mark.end;
            if is_touched {
                start = start.min(mark.start);
                end = end.max(mark.end);
            }
            !is_touched
        });
        for (mark, _) in self.marks.iter_mut().filter(|(mark, _)| mark.start >= end) {
            mark.start = mark.start - (end - start) + text.len();
            mark.end = mark.end - (end - start) + text.len();
        }
        self.text.replace_range(start..end, text);
        self.caret = start + text.len();
        self.anchor = None;
        self.goal = None;
        let skip = self.gutter();
        self.layout
            .edit(&self.text, skip, start, end - start, text.len());
    }

    /// The far end of a marker that begins at a place in this direction.
    fn mark_at(&self, place: usize, way: Way) -> Option<usize> {
        self.marks.iter().find_map(|(range, _)| match way {
            Way::Back => (range.end == place).then_some(range.start),
            Way::Forward => (range.start == place).then_some(range.end),
        })
    }

    /// A place where the caret may be: not inside a grapheme or a marker.
    fn settle(&self, place: usize, way: Way) -> usize {
        let mut cursor = GraphemeCursor::new(place, self.text.len(), true);
        let place = match (cursor.is_boundary(&self.text, 0), way) {
            (Ok(false), Way::Back) => cursor.prev_boundary(&self.text, 0).ok().flatten(),
            (Ok(false), Way::Forward) => cursor.next_boundary(&self.text, 0).ok().flatten(),
            _ => None,
        }
        .unwrap_or(place);
        let inside = |range: &Range<usize>| range.start < place && place < range.end;
        match self.marks.iter().find(|(range, _)| inside(range)) {
            None => place,
            Some((range, _)) => match way {
                Way::Back => range.start,
                Way::Forward => range.end,
            },
        }
    }
}

fn is_word(c: char) -> bool {
    // Accents belong to what they combine with.
    c.is_alphanumeric() || c == '_' || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Whether a character goes on with a run of word characters (`true`) or of others.
fn is_kind(c: char, kind: Option<bool>) -> bool {
    Some(is_word(c)) == kind && !c.is_whitespace()
}
