//! Every deadline of every session, in one sorted list that gives the loop its next timeout.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use super::action::Topic;
use super::event::SessionKey;

/// Pending deadlines, at most one per session and topic.
#[derive(Debug, Default)]
pub struct Timers {
    sorted: BTreeSet<(Instant, SessionKey, Topic)>,
    at: HashMap<(SessionKey, Topic), Instant>,
}

impl Timers {
    /// Sets or moves a deadline.
    pub fn set(&mut self, session: SessionKey, topic: Topic, at: Instant) {
        self.clear(session, topic);
        self.at.insert((session, topic), at);
        self.sorted.insert((at, session, topic));
    }

    /// Forgets a deadline.
    pub fn clear(&mut self, session: SessionKey, topic: Topic) {
        if let Some(at) = self.at.remove(&(session, topic)) {
            self.sorted.remove(&(at, session, topic));
        }
    }

    /// The next deadline.
    pub fn next(&self) -> Option<Instant> {
        self.sorted.first().map(|(at, ..)| *at)
    }

    /// Takes a deadline that has passed.
    pub fn take_due(&mut self, now: Instant) -> Option<(SessionKey, Topic)> {
        let &(at, session, topic) = self.sorted.first().filter(|(at, ..)| *at <= now)?;
        self.sorted.remove(&(at, session, topic));
        self.at.remove(&(session, topic));
        Some((session, topic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn fires_in_order_and_only_the_newest_deadline_of_a_topic() {
        let start = Instant::now();
        let at = |secs| start + Duration::from_secs(secs);
        let (a, b) = (SessionKey(1), SessionKey(2));
        let mut timers = Timers::default();
        timers.set(a, Topic::Retry, at(1));
        timers.set(a, Topic::Silence, at(3));
        timers.set(b, Topic::Retry, at(2));
        timers.set(a, Topic::Retry, at(4));
        timers.clear(b, Topic::Silence);
        assert_eq!(timers.next(), Some(at(2)));
        assert_eq!(timers.take_due(at(1)), None);
        assert_eq!(timers.take_due(at(9)), Some((b, Topic::Retry)));
        assert_eq!(timers.take_due(at(9)), Some((a, Topic::Silence)));
        assert_eq!(timers.take_due(at(9)), Some((a, Topic::Retry)));
        assert_eq!(timers.take_due(at(9)), None);
        assert_eq!(timers.next(), None);
    }
}
