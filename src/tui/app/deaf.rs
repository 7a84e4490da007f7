//! Keys of somebody who is typing while something opens that nobody asked for.
//!
//! They are meant for the draft, so they go there, and what would decide something does nothing
//! until the person can have seen what is there: as long as keys keep coming, nobody has looked.

use std::time::{Duration, Instant};

use super::App;
use crate::tui::key::{Key, KeyPress};

/// How long what opens ignores the keys of who is typing, from its opening and from each key on.
const DEAF: Duration = Duration::from_millis(300);
/// Who has typed within this time is still typing.
const TYPING: Duration = Duration::from_secs(1);
/// The second press of a key that was meant once comes within this time.
const TWICE: Duration = Duration::from_millis(100);

/// Whether the top surface ignores keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Deaf {
    /// It does not.
    #[default]
    No,
    /// Until a frame shows it.
    Unseen,
    /// Until then.
    Until(Instant),
}

impl Deaf {
    fn lasts(self, now: Instant) -> bool {
        match self {
            Deaf::No => false,
            Deaf::Unseen => true,
            Deaf::Until(until) => now < until,
        }
    }
}

impl App {
    /// A frame shows what opened: it ignores the keys of who is typing.
    pub(super) fn was_seen(&mut self, now: Instant) {
        if let Deaf::Unseen = self.deaf {
            let is_typing = |at: Instant| now.saturating_duration_since(at) < TYPING;
            self.deaf = match self.typed_at {
                Some(at) if self.follows_answer() => Deaf::Until(at + TWICE),
                Some(at) if is_typing(at) => Deaf::Until(now + DEAF),
                _ => Deaf::No,
            };
        }
        if let Deaf::Unseen = self.lost_secret {
            self.lost_secret = Deaf::Until(now + DEAF);
        }
    }

    pub(super) fn is_deaf(&self, now: Instant) -> bool {
        let is_open = self.surface.is_some() || self.extension_has_or_gets_keys();
        self.drops_keys(now) || is_open && self.deaf.lasts(now)
    }

    /// Whether the rest of a secret may still come whose field was taken away.
    pub(super) fn drops_keys(&self, now: Instant) -> bool {
        self.lost_secret.lasts(now)
    }

    /// A key while the top surface ignores it, or one that means nothing to it.
    pub(super) fn type_ahead(&mut self, press: KeyPress, now: Instant) {
        // Who wants to get away from here is not writing on.
        if press.key != Key::Escape {
            self.keys_keep_coming(now);
        }
        // A secret, or the end of one, must not come to stand in clear.
        if !self.plays() && !self.composer.is_secret() && !self.drops_keys(now) {
            self.composer
                .behind(|composer| composer.key(&press, &self.keymap));
        }
    }

    /// Something was written past the top surface.
    pub(super) fn keys_keep_coming(&mut self, now: Instant) {
        self.typed_at = Some(now);
        if !matches!(self.deaf, Deaf::Unseen) {
            self.deaf = Deaf::Until(now + DEAF);
        }
        if self.drops_keys(now) && !matches!(self.lost_secret, Deaf::Unseen) {
            self.lost_secret = Deaf::Until(now + DEAF);
        }
    }
}
