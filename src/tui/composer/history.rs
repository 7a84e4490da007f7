//! Earlier prompts, and the draft that waits below the newest one.

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::{Draft, Way};

/// Prompts that are remembered, and their bytes, at most: extensions add to them as well.
const MAX_ENTRIES: usize = 2000;
const MAX_BYTES: usize = 32 << 20;

/// The prompts of earlier sessions and of this one, and where the person is among them.
#[derive(Debug, Default)]
pub struct History {
    /// Oldest first.
    entries: VecDeque<String>,
    bytes: usize,
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
            bytes: entries.iter().map(String::len).sum(),
            entries: entries.into(),
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

    /// Adds the newest entry, unless it is blank or the same as the one before. Of too many the oldest
    /// go.
    pub fn remember(&mut self, text: &str) {
        if text.trim().is_empty() || self.entries.back().is_some_and(|last| last == text) {
            return;
        }
        let below = self.entries.len();
        self.entries.push_back(text.to_owned());
        self.bytes += text.len();
        if self.at == below {
            self.at += 1;
        }
        if let Some(draft) = self.kept.remove(&below) {
            self.kept.insert(below + 1, draft);
        }
        while self.entries.len() > MAX_ENTRIES || (self.bytes > MAX_BYTES && self.entries.len() > 1)
        {
            self.forget_oldest();
        }
    }

    /// Adds prompts of before, oldest first, as far as they are not there.
    pub fn complete(&mut self, mut prompts: Vec<String>) {
        let known: HashSet<&str> = self.entries.iter().map(String::as_str).collect();
        prompts.retain(|prompt| !known.contains(prompt.as_str()));
        prompts.iter().for_each(|prompt| self.remember(prompt));
    }

    /// Who stands at the oldest entry keeps its text, as that of the next one.
    fn forget_oldest(&mut self) {
        let oldest = self.entries.pop_front();
        self.bytes -= oldest.map_or(0, |entry| entry.len());
        self.at = self.at.saturating_sub(1);
        let kept = std::mem::take(&mut self.kept).into_iter();
        self.kept = kept
            .filter_map(|(at, draft)| Some((at.checked_sub(1)?, draft)))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded_in_bytes() {
        let mut history = History::default();
        for n in 0..20 {
            history.remember(&format!("{n}{}", "x".repeat(12 << 20)));
        }
        assert_eq!(history.entries.len(), 2);
        let bytes: usize = history.entries.iter().map(String::len).sum();
        assert_eq!((history.bytes, history.at), (bytes, 2));
        history.remember(&"y".repeat(MAX_BYTES + 1));
        assert_eq!((history.entries.len(), history.at), (1, 1));
    }
}
