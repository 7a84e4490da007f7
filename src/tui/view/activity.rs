//! The activity row: what the turn is doing.

use crate::text::clip_chars;
use crate::tui::style::{Row, Style, Token, dim};

/// Characters of a retry's reason.
const REASON: usize = 48;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity<'a> {
    /// The expanded template. Its dot blinks: `lit` tells whether it is on, `None` that there is
    /// none because reply text streams, or because no turn runs.
    Label {
        text: &'a str,
        lit: Option<bool>,
    },
    /// A request will be sent again.
    Retry {
        attempt: u32,
        limit: u32,
        /// Until then; none when it is on its way.
        seconds: u64,
        reason: &'a str,
    },
    Recovered {
        attempt: u32,
        limit: u32,
    },
}

/// A blank row and the activity row. `late` says that the terminal is slow to take frames.
pub fn rows(activity: &Activity<'_>, late: bool, columns: usize) -> Vec<Row> {
    let mut rich = crate::tui::rich::Rich::default();
    match activity {
        Activity::Label { text, lit } => {
            let dot = if *lit == Some(true) { "• " } else { "  " };
            rich.push(dot, Style::colored(Token::Accent));
            rich.push(text, dim());
        }
        Activity::Retry {
            attempt,
            limit,
            seconds,
            reason,
        } => {
            let reason = clip_chars(reason, REASON);
            let when = match seconds {
                0 => "now".to_owned(),
                seconds => format!("in {seconds}s"),
            };
            let text = format!("↻ {attempt}/{limit} {when} · esc to stop · {reason}");
            rich.push(&text, Style::colored(Token::Warning));
        }
        Activity::Recovered { attempt, limit } => {
            rich.push(
                &format!("✓ {attempt}/{limit}"),
                Style::colored(Token::Success),
            );
        }
    }
    if late {
        rich.push(" · the terminal is slow", Style::colored(Token::Warning));
    }
    vec![Row::default(), rich.clip(columns)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, styled};

    #[test]
    fn every_phase() {
        let label = |lit| Activity::Label {
            text: "Thinking 12s",
            lit,
        };
        let retry = |seconds| Activity::Retry {
            attempt: 2,
            limit: 10,
            seconds,
            reason: "overloaded",
        };
        let cases = [
            (label(Some(true)), "⟨accent|• ⟩⟨dim dim|Thinking 12s⟩"),
            (label(Some(false)), "⟨accent|  ⟩⟨dim dim|Thinking 12s⟩"),
            (label(None), "⟨accent|  ⟩⟨dim dim|Thinking 12s⟩"),
            (
                retry(4),
                "⟨warning|↻ 2/10 in 4s · esc to stop · overloaded⟩",
            ),
            (retry(0), "⟨warning|↻ 2/10 now · esc to stop · overloaded⟩"),
            (
                Activity::Recovered {
                    attempt: 2,
                    limit: 10,
                },
                "⟨success|✓ 2/10⟩",
            ),
        ];
        for (activity, expected) in cases {
            assert_eq!(styled(&rows(&activity, false, 80)), ["", expected]);
            for columns in 0..40 {
                check(&rows(&activity, true, columns), columns);
            }
        }
    }
}
