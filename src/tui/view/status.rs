//! The status row, and hints that fit.

use crate::text::width;
use crate::tui::rich::Rich;
use crate::tui::style::{Row, Style, Token};

/// Stands before and after an effort in what the status row shows. No text holds it.
pub const EFFORT: char = '\u{1}';

/// Columns between both sides.
const BETWEEN: usize = 2;

/// The left segments, the first one bright, and the right text; the right one alone when both do not
/// fit.
pub fn row(left: &[String], right: &str, columns: usize) -> Row {
    let muted = Style::colored(Token::Muted);
    let mut rich = Rich::default();
    for segment in left.iter().filter(|segment| !segment.is_empty()) {
        if rich.is_empty() {
            push(&mut rich, segment, &Style::colored(Token::Accent));
        } else {
            rich.push(" · ", muted.clone());
            push(&mut rich, segment, &muted);
        }
    }
    if right.is_empty() {
        return rich.clip(columns);
    }
    let text = right;
    let mut right = Rich::default();
    push(&mut right, text, &muted);
    let fits = rich.width() + BETWEEN + right.width() <= columns;
    if !fits {
        rich = Rich::default();
    }
    let blank = columns.saturating_sub(rich.width() + right.width());
    let mut row = rich.clip(columns);
    row.push(" ".repeat(blank), Style::default());
    row.spans.extend(right.clip(columns).spans);
    row
}

/// A segment, with its effort in the colour of the level.
fn push(rich: &mut Rich, segment: &str, style: &Style) {
    for (index, part) in segment.split(EFFORT).enumerate() {
        let level = Some(part)
            .filter(|_| index % 2 == 1)
            .and_then(Token::of_effort);
        rich.push(part, level.map_or(style.clone(), Style::colored));
    }
}

/// The widest of some texts that fits, from the widest to the shortest; the last one when none does.
pub fn widest<'a>(texts: &[&'a str], columns: usize) -> &'a str {
    let fits = |text: &&&str| width(text) <= columns;
    texts
        .iter()
        .find(fits)
        .or(texts.last())
        .copied()
        .unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain, styled};

    #[test]
    fn both_sides_or_the_right_one() {
        let left = ["opus / high".to_owned(), String::new(), "12%".to_owned()];
        let wide = row(&left, "main*", 24);
        let expected = "⟨accent|opus / high⟩⟨muted| · 12%⟩  ⟨muted|main*⟩";
        assert_eq!(styled(&[wide]), [expected]);
        assert_eq!(
            plain(&[row(&left, "main*", 23)]),
            ["                  main*"]
        );
        assert_eq!(plain(&[row(&left, "", 10)]), ["opus / hi…"]);
        for columns in 0..30 {
            check(
                &[row(&left, "main*", columns), row(&left, "", columns)],
                columns,
            );
        }
    }

    #[test]
    fn an_effort_has_the_colour_of_its_level() {
        let left = [
            "m / \u{1}xhigh\u{1} x".to_owned(),
            "\u{1}odd\u{1}".to_owned(),
        ];
        let row = row(&left, "\u{1}off\u{1}", 40);
        assert_eq!(
            styled(&[row]),
            [
                "⟨accent|m / ⟩⟨thinkingXhigh|xhigh⟩⟨accent| x⟩⟨muted| · odd⟩                    ⟨thinkingOff|off⟩"
            ]
        );
    }

    #[test]
    fn hints_shrink() {
        let texts = ["↑/↓ choose · enter run", "↑/↓ enter", "↵"];
        assert_eq!(
            [30, 10, 3, 0].map(|columns| widest(&texts, columns)),
            [texts[0], texts[1], "↵", "↵"]
        );
    }
}
