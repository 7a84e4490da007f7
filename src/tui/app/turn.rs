//! The running turn or command, as the activity row tells about it.

use std::time::{Duration, Instant};

use crate::agent::{Details, RequestId, TurnEvent, cause_label};
use crate::config::Settings;
use crate::provider::Cause;
use crate::text::one_line;

/// How long a success after a retry is shown.
const RECOVERED: Duration = Duration::from_millis(1500);
/// Half a period of the dot.
const BLINK: Duration = Duration::from_millis(500);

/// A turn from its prompt to its answer, or a command of the person's between turns.
#[derive(Debug)]
pub struct Turn {
    /// The request that the core answers when it is over.
    pub request: RequestId,
    pub started: Instant,
    pub phase: Phase,
    /// Whether it makes a summary between turns, and nothing else.
    pub summarises: bool,
    pub stopping: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Anything that takes time.
    Working,
    Replying,
    Compacting,
    /// A command of the person's runs.
    Command,
    /// It waits to ask again.
    Retrying {
        attempt: u32,
        limit: u32,
        at: Instant,
        reason: String,
    },
    /// It is being answered after a retry.
    Recovered {
        attempt: u32,
        limit: u32,
        /// How long this is shown.
        until: Instant,
    },
}

impl Turn {
    /// A turn that has just been asked for.
    pub fn new(request: RequestId, now: Instant) -> Self {
        Self {
            request,
            started: now,
            phase: Phase::Working,
            summarises: false,
            stopping: false,
        }
    }

    /// Whether what is said to it now reaches the model.
    pub fn hears(&self) -> bool {
        !self.stopping && !self.summarises
    }

    pub fn apply(&mut self, event: &TurnEvent, now: Instant) {
        self.phase = match event {
            _ if self.is_recovery(now) && !ends_recovery(event) => return,
            TurnEvent::Text(_) => Phase::Replying,
            TurnEvent::Compacting => Phase::Compacting,
            TurnEvent::Retry {
                attempt,
                limit,
                delay_secs,
                reason,
                ..
            } => Phase::Retrying {
                attempt: *attempt,
                limit: *limit,
                at: now + Duration::from_secs(*delay_secs),
                reason: reason.clone(),
            },
            TurnEvent::Recovered { attempt, limit } => Phase::Recovered {
                attempt: *attempt,
                limit: *limit,
                until: now + RECOVERED,
            },
            TurnEvent::Reasoning(_)
            | TurnEvent::ToolBatch(_)
            | TurnEvent::ToolStart(_)
            | TurnEvent::Compacted { .. } => Phase::Working,
            _ => return,
        };
    }

    fn is_recovery(&self, now: Instant) -> bool {
        matches!(self.phase, Phase::Recovered { until, .. } if now < until)
    }

    /// Whether the dot is on.
    pub fn is_lit(&self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.started).as_millis();
        (elapsed / BLINK.as_millis()) % 2 == 0
    }

    /// When the activity row looks different without anything happening.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        let elapsed = now.saturating_duration_since(self.started);
        let halves = elapsed.as_millis() / BLINK.as_millis() + 1;
        let halves = u32::try_from(halves).unwrap_or(u32::MAX);
        let blink = self.started + BLINK * halves;
        match self.phase {
            Phase::Recovered { until, .. } if until > now => Some(blink.min(until)),
            Phase::Retrying { at, .. } if at > now => {
                let whole = Duration::from_secs(seconds_left(at, now) - 1);
                Some(blink.min(at - whole))
            }
            _ => Some(blink),
        }
    }
}

/// The seconds until then, a begun one counted whole.
pub fn seconds_left(at: Instant, now: Instant) -> u64 {
    let left = at.saturating_duration_since(now);
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

/// Whether this says more than that the turn goes on.
fn ends_recovery(event: &TurnEvent) -> bool {
    matches!(
        event,
        TurnEvent::Compacting | TurnEvent::Retry { .. } | TurnEvent::Recovered { .. }
    )
}

/// Why a request failed for good, as the row says it: what class of failure, what happened, and
/// what can be done about it.
pub fn failure_text(error: &str, details: &Details, settings: &Settings) -> String {
    let failure = &details.failure;
    let headline = match failure.cause {
        Cause::Auth => &settings.error_auth,
        Cause::Network => &settings.error_network,
        Cause::Stalled => &settings.error_stalled,
        Cause::RateLimited => &settings.error_rate_limited,
        Cause::QuotaExhausted => &settings.error_quota,
        Cause::Unavailable => &settings.error_unavailable,
        Cause::Rejected => &settings.error_rejected,
        Cause::Overflow => &None,
    };
    let label = cause_label(failure.cause);
    let headline = headline.as_deref().map(|text| one_line(text, None));
    let headline = headline.as_deref().unwrap_or(label);
    let mut text = match error.strip_prefix(label) {
        Some(rest) => format!("{headline}{rest}"),
        None => format!("{headline}: {error}"),
    };
    // A text with a remedy of its own knows better.
    if failure.cause != Cause::Rejected && !error.contains(" - ") {
        text.push_str(" - ");
        text.push_str(&details.recovery());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_ends_when_nothing_is_left() {
        let now = Instant::now();
        let ms = |ms| now + Duration::from_millis(ms);
        let mut turn = Turn::new(RequestId(1), ms(0));
        let retry = TurnEvent::Retry {
            attempt: 2,
            limit: 10,
            delay_secs: 2,
            cause: "Network interrupted",
            reason: "r".into(),
        };
        turn.apply(&retry, ms(100));
        for (at, left, next) in [
            (100, 2, 500),
            (1000, 2, 1100),
            (1100, 1, 1500),
            (2000, 1, 2100),
            (2100, 0, 2500),
        ] {
            assert_eq!(seconds_left(ms(2100), ms(at)), left, "{at}");
            assert_eq!(turn.next_change(ms(at)), Some(ms(next)), "{at}");
        }
    }

    #[test]
    fn a_recovery_shows_for_its_time() {
        let now = Instant::now();
        let mut turn = Turn::new(RequestId(1), now);
        let recovered = TurnEvent::Recovered {
            attempt: 2,
            limit: 10,
        };
        turn.apply(&recovered, now);
        turn.apply(&TurnEvent::Text("a".into()), now);
        assert!(matches!(turn.phase, Phase::Recovered { .. }));
        turn.apply(&TurnEvent::Compacting, now);
        assert_eq!(turn.phase, Phase::Compacting);
        turn.apply(&recovered, now);
        turn.apply(&TurnEvent::Text("b".into()), now + RECOVERED);
        assert_eq!(turn.phase, Phase::Replying);
    }

    #[test]
    fn a_failure_says_what_it_is_and_what_can_be_done() {
        let cases = [
            (
                Cause::Auth,
                "401 Unauthorized: wrong key",
                "Authentication: 401 Unauthorized: wrong key - use another key: `/login openai`, or its \
                 environment variable",
            ),
            (
                Cause::Network,
                "Network interrupted (10/10): refused",
                "no way out (10/10): refused - check the network, the proxy variables and the \
                 provider's base URL",
            ),
            (
                Cause::QuotaExhausted,
                "Quota exhausted: pay",
                "Quota exhausted: pay - check the plan or the balance of this account",
            ),
            (
                Cause::Network,
                "`x` is no address - correct `base_url`",
                "no way out: `x` is no address - correct `base_url`",
            ),
            (
                Cause::Rejected,
                "404: no model",
                "Request failed: 404: no model",
            ),
        ];
        let settings = Settings {
            error_network: Some("no\nway\x1b[1m out".to_owned()),
            ..Settings::default()
        };
        for (cause, error, expected) in cases {
            let details = Details::for_test(cause);
            assert_eq!(failure_text(error, &details, &settings), expected);
        }
    }
}
