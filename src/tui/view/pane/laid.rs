//! Markdown, laid out as far as somebody has looked.
//!
//! A pane may hold a quarter of a megabyte, which takes longer than a key may. So the text is taken
//! apart and laid out piece by piece, each frame a bounded part.

use crate::text::floor_char;
use crate::tui::markdown::{Chunk, Definitions, Streamed};
use crate::tui::style::Row;

/// Bytes that are taken apart at a time.
const PIECE: usize = 8192;
/// What a chunk costs besides its bytes.
const CHUNK: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct Laid {
    /// What the text defines.
    defined: Definitions,
    stream: Streamed,
    /// Bytes of the text that the stream has had.
    fed: usize,
    chunks: Vec<Chunk>,
    columns: usize,
    /// The rows of the first `done` chunks at that width, and behind them those of what is no chunk
    /// once there are no more.
    rows: Vec<Row>,
    done: usize,
    /// Rows of the chunks alone, when all of the text is laid out.
    end: Option<usize>,
}

impl Laid {
    pub fn new(text: &str) -> Self {
        let defined = Definitions::of(text);
        Self {
            stream: Streamed::knowing(defined.clone()),
            defined,
            fed: 0,
            chunks: Vec::new(),
            columns: 0,
            rows: Vec::new(),
            done: 0,
            end: None,
        }
    }

    /// The layout of `new` in the place of `old`: where it goes on from the same beginning, that is
    /// not done again.
    pub fn refreshed(mut self, old: &str, new: &str) -> Self {
        let same = new.as_bytes().starts_with(&old.as_bytes()[..self.fed]);
        if !same || self.defined != Definitions::of(new) {
            return Self {
                columns: self.columns,
                ..Self::new(new)
            };
        }
        if let Some(end) = self.end.take() {
            self.rows.truncate(end);
        }
        self
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether nothing of it is left to be laid out.
    pub fn is_whole(&self) -> bool {
        self.end.is_some()
    }

    pub fn set_columns(&mut self, columns: usize) {
        if self.columns != columns {
            self.columns = columns;
            self.rows.clear();
            self.done = 0;
            self.end = None;
        }
    }

    /// Goes on with `text` until there is this row, or no more, or `budget` bytes are spent.
    pub fn reach(&mut self, text: &str, row: usize, budget: &mut usize) {
        while self.rows.len() <= row && self.end.is_none() && *budget > 0 {
            let spent = self.step(text);
            *budget = budget.saturating_sub(spent);
        }
    }

    /// One step; says what it cost.
    fn step(&mut self, text: &str) -> usize {
        if let Some(chunk) = self.chunks.get(self.done) {
            let (cost, continues) = (chunk.len() + CHUNK, chunk.continues());
            let rows = chunk.rows(self.columns, self.stream.known());
            self.add(rows, continues);
            self.done += 1;
            return cost;
        }
        let rest = &text[self.fed..];
        if rest.is_empty() {
            self.end = Some(self.rows.len());
            let rows = self.stream.tail(self.columns);
            self.add(rows, self.stream.continues());
            return CHUNK;
        }
        let piece = &rest[..floor_char(rest, PIECE)];
        self.fed += piece.len();
        self.stream.push(piece);
        self.chunks.extend(self.stream.settle(false));
        self.stream.waiting() + PIECE
    }

    fn add(&mut self, rows: Vec<Row>, continues: bool) {
        if !rows.is_empty() && !self.rows.is_empty() && !continues {
            self.rows.push(Row::default());
        }
        self.rows.extend(rows);
    }
}
