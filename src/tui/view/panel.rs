//! An extension's panel in the footer.

use super::surface::{self, FRAME, dim, framed};
use super::widget;
use crate::extension::ui::Panel;
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style};

/// How many lines of it are seen at a time in so many rows.
pub fn page(panel: &Panel, height: usize) -> usize {
    let room = height.saturating_sub(FRAME).max(1);
    match panel.lines.len() {
        all if all + usize::from(panel.left_out > 0) <= room => all,
        _ => room - 1,
    }
}

/// The whole surface, in at most `height` rows where that is possible; `owner` shows whose it is. Of
/// more lines than there is room for, those from `top` are seen, and a row tells about the others.
pub fn rows(panel: &Panel, owner: &str, top: usize, columns: usize, height: usize) -> Vec<Row> {
    let title = Rich::of(&panel.title, Style::default().bold()).clip(columns);
    let owner = Rich::of(owner, dim()).clip(columns);
    let header = surface::header(title, owner, columns);
    let (kept, page) = (panel.lines.len(), page(panel, height));
    let all = kept + panel.left_out;
    let top = top.min(kept - page);
    let lines = panel.lines[top..top + page].iter();
    let mut body: Vec<Row> = lines.map(|line| widget::rich(line).clip(columns)).collect();
    // The keys of an interactive one are its own.
    let scrolls = page < kept && !panel.interactive;
    if page < all {
        let last = top + page;
        let rest = match scrolls {
            true => format!("lines {}-{last} of {all}", (top + 1).min(last)),
            false => format!("{} more lines", all - page),
        };
        body.push(clipped(&rest, dim(), columns));
    }
    let hint = match scrolls {
        true => "pgup/pgdn scroll · esc close",
        false => "esc close",
    };
    framed(header, body, hint, columns)
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
                left_out: count % 2,
                interactive: true,
            };
            for columns in 0..30 {
                for height in 0..12 {
                    let rows = rows(&panel, "game", height, columns, height);
                    check(&rows, columns);
                    assert!(rows.len() <= height.max(FRAME + 1));
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_or_scrolled_to() {
        let line = |n: usize| {
            vec![Span {
                text: n.to_string(),
                token: None,
            }]
        };
        let panel = Panel {
            title: "T".into(),
            lines: (0..9).map(line).collect(),
            left_out: 0,
            interactive: true,
        };
        let expected = ["─".repeat(14), "T           me".into(), String::new()];
        let shown = plain(&rows(&panel, "me", 0, 14, 8));
        assert_eq!(shown[..3], expected);
        assert_eq!(shown[3..6], ["0", "1", "7 more lines"]);
        assert_eq!(shown[7], "esc close");
        let panel = Panel {
            interactive: false,
            ..panel
        };
        let shown = plain(&rows(&panel, "me", 4, 40, 8));
        assert_eq!(shown[3..6], ["4", "5", "lines 5-6 of 9"]);
        assert_eq!(shown[7], "pgup/pgdn scroll · esc close");
        let shown = plain(&rows(&panel, "me", 99, 40, 8));
        assert_eq!(shown[3..6], ["7", "8", "lines 8-9 of 9"]);
        let panel = Panel {
            left_out: 5,
            ..panel
        };
        let shown = plain(&rows(&panel, "me", 99, 40, 8));
        assert_eq!(shown[3..6], ["7", "8", "lines 8-9 of 14"]);
        let shown = plain(&rows(&panel, "me", 0, 40, 15));
        assert_eq!(
            shown[11..],
            ["8", "5 more lines", &"─".repeat(40), "esc close"]
        );
    }
}
