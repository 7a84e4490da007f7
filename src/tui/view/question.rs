//! A question of an extension below the composer: a list to pick from, or what the field above it
//! is for. The header names who asks.

use super::picker::{Item, Picker};
use super::status::widest;
use super::surface::{self, dim, divider, framed};
use crate::extension::ui::Choice;
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style, Token};

/// Rows of a list that are seen at a time.
const HEIGHT: usize = 6;

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
const INPUT: &[&str] = &["enter answer · esc cancel", "enter · esc"];
const EDITOR: &[&str] = &[
    "enter answer · shift+enter new line · ctrl+g editor · esc cancel",
    "enter answer · shift+enter new line · esc cancel",
    "enter · esc",
];

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
pub fn yes_or_no(title: &str, from: &str, message: &str) -> Picker {
    let item = |label: &str, description: &str| Item {
        label: label.to_owned(),
        description: description.to_owned(),
        ..Item::default()
    };
    let items = vec![item("Yes", message), item("No", "")];
    Picker::new(title, items, HEIGHT).with_note(from)
}

/// The surface of a list.
pub fn select_rows(picker: &Picker, columns: usize) -> Vec<Row> {
    pick_rows(picker, SELECT, columns)
}

/// The surface of a yes-or-no question.
pub fn confirm_rows(picker: &Picker, columns: usize) -> Vec<Row> {
    pick_rows(picker, CONFIRM, columns)
}

fn pick_rows(picker: &Picker, hints: &[&str], columns: usize) -> Vec<Row> {
    let (header, body) = picker.rows(columns);
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
        let picker = yes_or_no("Deploy?", "deploy", "3 commits");
        let expected = [
            "─".repeat(40),
            format!("Deploy?{}deploy", " ".repeat(27)),
            String::new(),
            "› Yes  3 commits".into(),
            "  No".into(),
            "─".repeat(40),
            "y/n · ↑/↓ · enter · esc".into(),
        ];
        let shown = plain(&confirm_rows(&picker, 40));
        let shown: Vec<String> = shown.iter().map(|row| row.replace("   ", "  ")).collect();
        let expected = expected.map(|row| row.replace("   ", "  "));
        assert_eq!(shown, expected);
        let rows = plain(&field_rows("Name?", "x", false, 14));
        assert_eq!(rows[1], "Name?        x");
        assert_eq!(rows[3], "enter · esc");
        for columns in 0..80 {
            check(&confirm_rows(&picker, columns), columns);
            check(&select_rows(&picker, columns), columns);
            check(&field_rows("Name?", "x", true, columns), columns);
        }
    }
}
