//! Looking at any part of a transcript: the reader, reading back, and full-screen mode.
//!
//! A place is an entry and a row of it, so it stands still while rows are added below and stays near
//! its text when the width changes. Only entries inside the window are laid out.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::Transcript;
use super::entry::Kind;
use super::options::View;
use crate::tui::style::Row;

/// Entries whose rows are kept for the next frame.
const CACHED: usize = 64;

/// The top row of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    entry: usize,
    row: usize,
}

/// Rows of settled entries that were shown last.
#[derive(Debug, Default)]
pub(super) struct Cache(RefCell<HashMap<usize, (View, Rows)>>);

type Rows = Arc<Vec<Row>>;

impl Cache {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.get_mut().clear();
    }
}

impl Transcript {
    /// The rows of a window, fewer than `height` only at the end.
    pub fn window(&self, from: Place, height: usize, view: View) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut skip = from.row;
        for index in from.entry..self.entries.len() {
            if rows.len() >= height {
                break;
            }
            let all = self.laid_out(index, view);
            // After a resize the entry may have fewer rows.
            let skipped = skip.min(all.len().saturating_sub(1));
            rows.extend(all.iter().skip(skipped).take(height - rows.len()).cloned());
            skip = 0;
        }
        rows
    }

    /// The last `height` rows.
    pub fn tail(&self, height: usize, view: View) -> Vec<Row> {
        self.window(self.bottom(height, view), height, view)
    }

    /// The same place after a change of the view, as near to its text as rows can tell, or after
    /// the reply that it is in has settled in parts.
    pub fn refitted(&self, mut place: Place, from: View, to: View) -> Place {
        let is_reply = |index: usize| {
            let kind = self.entries.get(index).map(|entry| &entry.kind);
            matches!(kind, Some(Kind::Chunk(..) | Kind::Reply(_)))
        };
        while place.entry < self.entries.len() {
            let rows = self.laid_out(place.entry, from).len();
            if place.row < rows {
                if from != to {
                    let now = self.spaced(place.entry, to).len();
                    place.row = place.row * now / rows;
                }
                break;
            }
            if !(is_reply(place.entry) && is_reply(place.entry + 1)) {
                break;
            }
            place.row -= rows;
            place.entry += 1;
        }
        place
    }

    /// The place from which a window of `height` rows shows the end.
    pub fn bottom(&self, height: usize, view: View) -> Place {
        let mut missing = height;
        for entry in (0..self.entries.len()).rev() {
            let rows = self.laid_out(entry, view).len();
            if rows >= missing {
                let row = rows - missing;
                return Place { entry, row };
            }
            missing -= rows;
        }
        Place::default()
    }

    /// The place some rows above (negative) or below, between the beginning and the bottom.
    pub fn moved(&self, from: Place, rows: isize, height: usize, view: View) -> Place {
        let bottom = self.bottom(height, view);
        let mut place = from;
        if rows < 0 {
            let mut left = rows.unsigned_abs();
            while left > place.row && place.entry > 0 {
                left -= place.row;
                place.entry -= 1;
                place.row = self.laid_out(place.entry, view).len();
            }
            place.row = place.row.saturating_sub(left);
        } else {
            let mut left = rows.unsigned_abs();
            while left > 0 && place < bottom {
                let below = self
                    .laid_out(place.entry, view)
                    .len()
                    .saturating_sub(place.row);
                if left < below {
                    place.row += left;
                    break;
                }
                left -= below;
                place = Place {
                    entry: place.entry + 1,
                    row: 0,
                };
            }
        }
        place.min(bottom)
    }

    fn laid_out(&self, index: usize, view: View) -> Rows {
        let open = [self.reply, self.thinking, self.group, self.shell];
        let moves = open.into_iter().flatten().any(|open| open <= index);
        if moves {
            return Arc::new(self.spaced(index, view));
        }
        let mut cache = self.cache.0.borrow_mut();
        if let Some((_, rows)) = cache.get(&index).filter(|(known, _)| *known == view) {
            return rows.clone();
        }
        if cache.len() >= CACHED {
            cache.clear();
        }
        let rows = Arc::new(self.spaced(index, view));
        cache.insert(index, (view, rows.clone()));
        rows
    }
}
