//! An extension's panel in the footer.

use super::status::widest;
use super::surface::{self, dim, framed};
use super::widget;
use crate::extension::ui::Panel;
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style};

/// Rows of the frame around the lines.
const FRAME: usize = 5;

const HINTS: &[&str] = &["esc close"];
/// The same while a question waits for it.
const ASKED: &[&str] = &["esc close · a question waits", "esc: a question"];

/// The whole surface, in at most `height` rows where that is possible; `owner` shows whose it is,
/// `is_asked` that a question opens when it is closed.
pub fn rows(panel: &Panel, owner: &str, is_asked: bool, columns: usize, height: usize) -> Vec<Row> {
    let title = Rich::of(&panel.title, Style::default().bold()).clip(columns);
    let owner = Rich::of(owner, dim()).clip(columns);
    let header = surface::header(title, owner, columns);
    let room = height.saturating_sub(FRAME).max(1);
    let shown = match panel.lines.len() {
        all if all <= room => all,
        _ => room - 1,
    };
    let lines = panel.lines[..shown].iter();
    let mut body: Vec<Row> = lines.map(|line| widget::rich(line).clip(columns)).collect();
    if shown < panel.lines.len() {
        let rest = format!("{} more lines", panel.lines.len() - shown);
        body.push(clipped(&rest, dim(), columns));
    }
    let hints = if is_asked { ASKED } else { HINTS };
    framed(header, body, widest(hints, columns), columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::ui::Span;
    use crate::tui::testing::{check, plain};

    #[test]
    fn a_panel_of_any_size_in_any_room() {
        for count in [0, 1, 3, 201] {
            let line = |n: usize| {
                let text = format!("line {n} 日本語");
                vec![Span { text, token: None }]
            };
            let panel = Panel {
                title: "Board".into(),
                lines: (0..count).map(line).collect(),
                interactive: true,
            };
            for columns in 0..30 {
                for height in 0..12 {
                    let rows = rows(&panel, "game", height % 2 == 0, columns, height);
                    check(&rows, columns);
                    assert!(rows.len() <= height.max(FRAME + 1));
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let line = |n: usize| {
            vec![Span {
                text: n.to_string(),
                token: None,
            }]
        };
        let panel = Panel {
            title: "T".into(),
            lines: (0..9).map(line).collect(),
            interactive: false,
        };
        let expected = ["─".repeat(14), "T           me".into(), String::new()];
        let shown = plain(&rows(&panel, "me", false, 14, 8));
        assert_eq!(shown[..3], expected);
        assert_eq!(shown[3..6], ["0", "1", "7 more lines"]);
        assert_eq!(shown[7], "esc close");
    }
}
