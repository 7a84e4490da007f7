//! The band above the composer that tells about messages which wait for the turn.

use super::surface::dim;
use crate::tui::rich::clipped;
use crate::tui::style::{Row, Style, Token};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    pub waiting: usize,
    /// How many of them go into the running turn.
    pub steering: usize,
    /// The message that is being edited, from zero.
    pub editing: Option<usize>,
}

/// A row that sums up, a hint while reviewing, a blank row; nothing when nothing waits.
pub fn rows(queue: Queue, columns: usize) -> Vec<Row> {
    let Queue {
        waiting,
        steering,
        editing,
    } = queue;
    if waiting == 0 {
        return Vec::new();
    }
    let steer = match (steering, waiting) {
        (0, _) => String::new(),
        (1, 1) => " · steers".to_owned(),
        (2, 2) => " · both steer".to_owned(),
        (all, waiting) if all >= waiting => " · all steer".to_owned(),
        (1, _) => " · 1 steers".to_owned(),
        (some, _) => format!(" · {some} steer"),
    };
    let plural = if waiting == 1 { "" } else { "s" };
    let more = match editing {
        None => " · ↑ to review".to_owned(),
        Some(at) => format!(" · editing {} of {waiting}", at + 1),
    };
    let text = format!("{waiting} message{plural} waiting{steer}{more}");
    let mut rows = vec![clipped(&text, Style::colored(Token::Muted), columns)];
    if editing.is_some() {
        let hint = "↑/↓ move · enter apply · empty to delete · ↓ past the newest to leave";
        rows.push(clipped(hint, dim(), columns));
    }
    rows.push(Row::default());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain};

    #[test]
    fn the_band_counts() {
        let cases = [
            (0, 0, None, ""),
            (1, 1, None, "1 message waiting · steers · ↑ to review"),
            (2, 2, None, "2 messages waiting · both steer · ↑ to review"),
            (3, 1, None, "3 messages waiting · 1 steers · ↑ to review"),
            (4, 0, Some(1), "4 messages waiting · editing 2 of 4"),
            (5, 5, None, "5 messages waiting · all steer · ↑ to review"),
        ];
        for (waiting, steering, editing, expected) in cases {
            let queue = Queue {
                waiting,
                steering,
                editing,
            };
            let text = plain(&rows(queue, 80)).first().cloned().unwrap_or_default();
            assert_eq!(text, expected);
            (0..60).for_each(|columns| check(&rows(queue, columns), columns));
        }
    }
}
