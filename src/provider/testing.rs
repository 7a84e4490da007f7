//! What the tests of this folder share: a sink that keeps everything, random numbers, and a
//! server that checks what it is asked.

use super::{Failure, Sink, StreamEvent};

/// Keeps all events.
#[derive(Default)]
pub(super) struct Collect {
    pub(super) events: Vec<StreamEvent>,
}

impl Sink for Collect {
    fn push(&mut self, event: StreamEvent) {
        self.events.push(event);
    }

    fn flush(&mut self) -> bool {
        true
    }
}

impl Collect {
    /// The failure that ended the stream.
    pub(super) fn failure(&self) -> &Failure {
        match self.events.last() {
            Some(StreamEvent::Failed(failure)) => failure,
            other => panic!("no failure but {other:?}"),
        }
    }

    /// All text.
    pub(super) fn text(&self) -> String {
        let text = |event: &StreamEvent| match event {
            StreamEvent::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }
}

/// A small deterministic generator (xorshift).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
