//! Earlier prompts, and the draft that waits below the newest one.

use std::collections::BTreeMap;

use super::{Draft, Way};

/// The prompts of earlier sessions and of this one, and where the person is among them.
#[derive(Debug, Default)]
pub struct History {
    /// Oldest first.
    entries: Vec<String>,
    /// Which entry the composer shows; one past the newest is the draft.
    at: usize,
    /// What was left behind and is no plain entry: the draft, and entries that were edited.
    kept: BTreeMap<usize, Draft>,
}

impl History {
    /// Earlier prompts, oldest first.
    pub fn new(entries: Vec<String>) -> Self {
        Self {
            at: entries.len(),
            entries,
            kept: BTreeMap::new(),
        }
    }

    /// Puts the next entry in that direction in the place of `draft`, which is kept. `false` when
    /// there is none.
    pub fn walk(&mut self, way: Way, draft: &mut Draft) -> bool {
        let next = match way {
            Way::Back => self.at.checked_sub(1),
            Way::Forward => Some(self.at + 1).filter(|&next| next <= self.entries.len()),
        };
        let Some(next) = next else {
            return false;
        };
        let arriving = self.kept.remove(&next).unwrap_or_else(|| {
            let text = self.entries.get(next).map_or("", String::as_str);
            Draft::of(text)
        });
        let left = std::mem::replace(draft, arriving);
        if self.entries.get(self.at).map(String::as_str) != Some(left.buffer.text()) {
            self.kept.insert(self.at, left);
        }
        self.at = next;
        true
    }

    /// Returns below the newest entry. A draft that still waits there becomes an entry, so that it
    /// is not lost when another prompt is sent.
    pub fn leave(&mut self) {
        let waiting = self.kept.remove(&self.entries.len());
        self.kept.clear();
        self.at = self.entries.len();
        if let Some(draft) = waiting {
            self.remember(&draft.buffer.expand());
        }
    }

    /// Adds the newest entry, unless it is blank or the same as the one before.
    pub fn remember(&mut self, text: &str) {
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return;
        }
        let below = self.entries.len();
        self.entries.push(text.to_owned());
        if self.at == below {
            self.at += 1;
        }
        if let Some(draft) = self.kept.remove(&below) {
            self.kept.insert(below + 1, draft);
        }
    }
}
