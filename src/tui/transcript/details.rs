//! What calls came back with, for the reader: the newest, within bounds.

use std::collections::{HashMap, VecDeque};

use super::group::more_rows;
use crate::chat::Format;

/// Results that are kept.
const MAX_RESULTS: usize = 50;
/// Their bytes together.
const MAX_BYTES: usize = 4 << 20;

/// Names a call in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallKey(pub u64);

/// What a call came back with. Clean.
#[derive(Debug)]
pub(super) struct Detail {
    pub text: Box<str>,
    /// How it is painted.
    pub format: Format,
}

/// Details by call.
#[derive(Debug, Default)]
pub(super) struct Details {
    texts: HashMap<CallKey, Detail>,
    order: VecDeque<CallKey>,
    bytes: usize,
}

impl Details {
    /// Keeps a detail, dropping the oldest ones when there are too many.
    pub fn keep(&mut self, key: CallKey, detail: Detail) {
        self.bytes += detail.text.len();
        self.order.push_back(key);
        self.texts.insert(key, detail);
        while self.order.len() > MAX_RESULTS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            let dropped = self
                .texts
                .remove(&oldest)
                .map_or(0, |detail| detail.text.len());
            self.bytes -= dropped;
        }
    }

    /// Puts another detail in the place of one that is still kept.
    pub fn replace(&mut self, key: CallKey, detail: Detail) {
        if let Some(kept) = self.texts.get_mut(&key) {
            self.bytes = self.bytes - kept.text.len() + detail.text.len();
            *kept = detail;
        }
    }

    /// Whether the first line of a detail holds these words.
    pub fn begins(&self, key: CallKey, words: &str) -> bool {
        let first = self.get(key).and_then(|detail| detail.text.lines().next());
        first.is_some_and(|first| first.contains(words))
    }

    /// The detail of a call, unless it was dropped.
    pub fn get(&self, key: CallKey) -> Option<&Detail> {
        self.texts.get(&key)
    }
}

/// The end of an output that goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    text: String,
    /// The beginning was dropped.
    lost: bool,
}

/// Bytes of live output that are kept for one call.
const MAX_TAIL: usize = 64 * 1024;

impl Tail {
    /// Adds clean text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        // Cut by halves, so that each byte is moved about once.
        if self.text.len() > 2 * MAX_TAIL {
            let from = crate::text::floor_char(&self.text, self.text.len() - MAX_TAIL);
            let line = self.text[from..]
                .find('\n')
                .map_or(from, |at| from + at + 1);
            self.text.drain(..line);
            self.lost = true;
        }
    }

    /// What stands for what is not shown of it: `hidden` rows, and `place` says where they are.
    pub fn note(&self, hidden: usize, place: &str) -> Option<String> {
        match (self.lost, hidden) {
            (true, _) => Some("earlier output is left out".to_owned()),
            (false, 0) => None,
            (false, hidden) => Some(more_rows(hidden) + place),
        }
    }

    pub fn text(&self) -> &str {
        self.text.trim_end_matches('\n')
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_details_stay() {
        let detail = |text: String| Detail {
            text: text.into(),
            format: Format::Text,
        };
        let mut details = Details::default();
        for key in 0..60 {
            details.keep(CallKey(key), detail(key.to_string()));
        }
        assert!(details.get(CallKey(9)).is_none());
        details.replace(CallKey(9), detail("gone".into()));
        details.replace(CallKey(10), detail("other".into()));
        assert!(details.get(CallKey(9)).is_none());
        assert_eq!(
            details.get(CallKey(10)).map(|kept| &*kept.text),
            Some("other")
        );
        details.keep(CallKey(60), detail("x".repeat(MAX_BYTES)));
        assert!(details.get(CallKey(59)).is_none() && details.get(CallKey(60)).is_some());
        details.keep(CallKey(61), detail("x".repeat(MAX_BYTES + 1)));
        assert!(details.get(CallKey(61)).is_none() && details.bytes == 0);
    }

    #[test]
    fn an_output_keeps_its_end() {
        let mut tail = Tail::default();
        for line in 0..100_000 {
            tail.push(&format!("line {line}\n"));
            assert!(tail.text.len() <= 2 * MAX_TAIL);
        }
        assert!(tail.lost && tail.text().ends_with("\nline 99999"));
        assert!(tail.text().starts_with("line "));
    }
}
