//! A question of an extension below the composer: a list to pick from, or what the field above it
//! is for. The header names who asks.

use super::picker::{Item, Picker};
use super::status::widest;
use super::surface::{self, FRAME, dim, divider, framed};
use crate::extension::ui::Choice;
use crate::text::{expand_tabs, width};
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style, Token};
use crate::tui::transcript::more_rows;

/// Rows of a list that are seen at a time.
const HEIGHT: usize = 6;
/// Columns between `Yes` and what it means.
const GAP: usize = 3;

const SELECT: &[&str] = &[
    "↑/↓ choose · type to filter · enter answer · esc cancel",
    "↑/↓ choose · enter answer · esc cancel",
    "↑/↓ · enter · esc",
];
const CONFIRM: &[&str] = &[
    "y yes · n no · ↑/↓ choose · enter answer · esc cancel",
    "y/n · ↑/↓ · enter · esc",
    "y/n · esc",
];
const LONG_CONFIRM: &[&str] = &[
    "y yes · n no · ↑/↓ choose · pgup/pgdn read on · enter answer · esc cancel",
    "y/n · ↑/↓ · pgup/pgdn · enter · esc",
    "y/n · pgup/pgdn",
];
const INPUT: &[&str] = &["enter answer · esc cancel", "enter · esc"];
const EDITOR: &[&str] = &[
    "enter answer · shift+enter new line · ctrl+g editor · esc cancel",
    "enter answer · shift+enter new line · esc cancel",
    "enter · esc",
];

/// Where a message is read that is longer than the screen: its first row that is seen, and how many are.
#[derive(Debug, Default)]
pub struct Reading {
    top: usize,
    page: usize,
}

impl Reading {
    pub fn turn(&mut self, pages: isize) {
        self.top = self.top.saturating_add_signed(pages * self.page as isize);
    }
}

/// A list of answers.
pub fn picker(title: &str, from: &str, choices: &[Choice]) -> Picker {
    let item = |choice: &Choice| Item {
        label: choice.label.clone(),
        description: choice.description.clone(),
        ..Item::default()
    };
    Picker::new(title, choices.iter().map(item).collect(), HEIGHT).with_note(from)
}

/// The two answers of a yes-or-no question, yes first.
pub fn yes_or_no(title: &str, from: &str) -> Picker {
    let item = |label: &str| Item {
        label: label.to_owned(),
        ..Item::default()
    };
    Picker::new(title, vec![item("Yes"), item("No")], HEIGHT).with_note(from)
}

/// The surface of a list, in `height` rows where that is possible.
pub fn select_rows(picker: &mut Picker, columns: usize, height: usize) -> Vec<Row> {
    picker.fit(height.saturating_sub(FRAME));
    let (header, body) = picker.rows(columns);
    framed(header, body, widest(SELECT, columns), columns)
}

/// The surface of a yes-or-no question, in `height` rows where that is possible. What it means stands
/// behind `Yes`, or above the answers when it does not fit there: nobody agrees to half a sentence.
pub fn confirm_rows(
    picker: &Picker,
    message: &str,
    reading: &mut Reading,
    columns: usize,
    height: usize,
) -> Vec<Row> {
    let (header, mut answers) = picker.rows(columns);
    let message = expand_tabs(message);
    let mut body = Vec::new();
    let mut hints = CONFIRM;
    match answers.first_mut() {
        _ if message.is_empty() => {}
        Some(yes) if !message.contains('\n') && yes.width() + GAP + width(&message) <= columns => {
            let style = yes.spans.last().map(|span| span.style.clone());
            yes.push(" ".repeat(GAP) + &message, style.unwrap_or_default());
        }
        _ => {
            body = Rich::of(&message, Style::default()).wrap_prose(columns);
            let room = height.saturating_sub(FRAME + 1 + answers.len()).max(1);
            let all = body.len();
            if all > room {
                hints = LONG_CONFIRM;
            }
            // The last one counts what follows.
            reading.page = (room - 1).max(1);
            reading.top = reading.top.min(all.saturating_sub(room));
            body.drain(..reading.top);
            if body.len() > room {
                body.truncate(reading.page);
                let below = all - reading.top - body.len();
                body.extend((room > 1).then(|| clipped(&more_rows(below), dim(), columns)));
            }
            body.push(Row::default());
        }
    }
    body.append(&mut answers);
    framed(header, body, widest(hints, columns), columns)
}

/// The surface of a field, which is the composer. `lines` tells whether it takes several.
pub fn field_rows(title: &str, from: &str, lines: bool, columns: usize) -> Vec<Row> {
    let title = Rich::of(title, Style::default().bold()).clip(columns);
    let from = Rich::of(from, dim()).clip(columns);
    let hint = widest(if lines { EDITOR } else { INPUT }, columns);
    vec![
        surface::rule(Token::BorderAccent, columns),
        surface::header(title, from, columns),
        divider(columns),
        clipped(hint, dim(), columns),
    ]
}

/// The hint of what is open while a question waits behind it: `asks` says whose. `closes` when esc
/// gets there.
pub fn waiting(asks: &str, closes: bool, hint: Row, columns: usize) -> Row {
    let how = format!("{asks} · esc to answer");
    let asks = if closes {
        widest(&[&how, asks], columns)
    } else {
        asks
    };
    let asks = clipped(asks, Style::colored(Token::Warning), columns);
    match hint.width() + 2 + asks.width() <= columns {
        true => surface::header(hint, asks, columns),
        false => asks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain};

    #[test]
    fn a_question_says_who_asks() {
        let mut picker = yes_or_no("Deploy?", "deploy");
        let expected = [
            "─".repeat(40),
            format!("Deploy?{}deploy", " ".repeat(27)),
            String::new(),
            "› Yes  3 commits".into(),
            "  No".into(),
            "─".repeat(40),
            "y/n · ↑/↓ · enter · esc".into(),
        ];
        let shown = plain(&confirm_rows(
            &picker,
            "3 commits",
            &mut Reading::default(),
            40,
            20,
        ));
        let shown: Vec<String> = shown.iter().map(|row| row.replace("   ", "  ")).collect();
        let expected = expected.map(|row| row.replace("   ", "  "));
        assert_eq!(shown, expected);
        let rows = plain(&field_rows("Name?", "x", false, 14));
        assert_eq!(rows[1], "Name?        x");
        assert_eq!(rows[3], "enter · esc");
        for columns in 0..80 {
            check(
                &confirm_rows(&picker, "3 commits", &mut Reading::default(), columns, 9),
                columns,
            );
            check(&select_rows(&mut picker, columns, 9), columns);
            check(&field_rows("Name?", "x", true, columns), columns);
        }
    }

    #[test]
    fn a_long_message_stands_above_the_answers() {
        let picker = yes_or_no("Sure?", "gate");
        let message = "rm -rf ./build and all that is below it\nIt cannot be undone.";
        let body = |pages, height| {
            let mut reading = Reading::default();
            confirm_rows(&picker, message, &mut reading, 20, height);
            reading.turn(pages);
            let rows = confirm_rows(&picker, message, &mut reading, 20, height);
            let mut rows = plain(&rows);
            rows.drain(..3);
            rows.truncate(rows.len() - 2);
            rows
        };
        let text = [
            "rm -rf ./build and",
            "all that is below it",
            "It cannot be undone.",
        ];
        let answers = ["", "› Yes", "  No"];
        assert_eq!(body(0, 11), [&text[..], &answers].concat());
        assert_eq!(
            body(0, 10),
            [&text[..1], &["2 more rows"], &answers].concat()
        );
        assert_eq!(body(1, 10), [&text[1..], &answers].concat());
        for height in 0..12 {
            assert!(
                body(0, height).ends_with(&answers.map(String::from)),
                "{height}"
            );
            assert!(
                body(0, height).starts_with(&text.map(String::from)[..1]),
                "{height}"
            );
        }
    }

    #[test]
    fn what_enter_would_answer_is_seen_on_low_screens() {
        let items = ["a", "b", "c"].map(|label| Item {
            label: label.into(),
            ..Item::default()
        });
        let mut picker = Picker::new("Which?", items.to_vec(), HEIGHT).with_note("x");
        for at in ["› a", "› b", "› c"] {
            for height in 0..9 {
                let rows = plain(&select_rows(&mut picker, 20, height));
                assert!(rows.contains(&at.into()), "{height}: {rows:?}");
                assert!(rows.len() <= height.max(FRAME + 1));
            }
            picker.step(1);
        }
    }
}
