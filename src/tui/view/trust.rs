//! The panel that asks whether a directory is trusted.

use super::surface::{self, framed};
use crate::text::one_line;
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style, Token};
use crate::tui::view::status::widest;

#[derive(Clone, Debug)]
pub struct Trust {
    path: String,
    broader: Option<String>,
    loads: String,
    lasts: bool,
    selected: usize,
    scroll: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Here,
    Broader,
    /// Neither: e ends and records nothing.
    Quit,
}

impl Trust {
    /// Asks about `path`, and offers the directory above when there is one that may be trusted.
    /// `loads` tells what trust lets e load; without `lasts` nothing can be recorded about it.
    pub fn new(path: &str, broader: Option<&str>, loads: &str, lasts: bool) -> Self {
        Self {
            path: one_line(path, None),
            broader: broader.map(|path| one_line(path, None)),
            loads: crate::text::sanitize(loads),
            lasts,
            selected: 0,
            scroll: 0,
        }
    }

    pub fn step(&mut self, by: isize) {
        self.selected = surface::step(self.selected, by, self.choices().len());
    }

    /// Scrolls the text, by rows.
    pub fn scroll(&mut self, by: isize) {
        self.scroll = self.scroll.saturating_add_signed(by);
    }

    pub fn decision(&self) -> Decision {
        match (self.selected, &self.broader) {
            (0, _) => Decision::Here,
            (1, Some(_)) => Decision::Broader,
            _ => Decision::Quit,
        }
    }

    fn choices(&self) -> Vec<String> {
        let broader = self
            .broader
            .iter()
            .map(|path| format!("Trust {path} and all below it"));
        let first = match self.lasts {
            true => "Trust this directory",
            false => "Trust this directory until e ends",
        };
        let first = std::iter::once(first.to_owned());
        first.chain(broader).chain(["Quit".to_owned()]).collect()
    }

    /// The whole surface in at most `height` rows where that is possible; `scroll_hint` tells how to see
    /// more text. Scrolling stops at the end of the text.
    pub fn rows(&mut self, scroll_hint: &str, columns: usize, height: usize) -> Vec<Row> {
        let mut text = Rich::of(&self.path, Style::colored(Token::UserMessageText)).wrap(columns);
        text.push(Row::default());
        text.extend(Rich::of(&self.loads, Style::default()).wrap_prose(columns));
        let choices = self.choices();
        // Dividers, header, hint, and the blank rows around the text.
        let room = height.saturating_sub(choices.len() + 6).max(1);
        let hidden = text.len().saturating_sub(room);
        self.scroll = self.scroll.min(hidden);
        let mut body: Vec<Row> = text.into_iter().skip(self.scroll).take(room).collect();
        body.push(Row::default());
        body.extend(surface::choices(
            choices.iter().map(String::as_str),
            self.selected,
            columns,
        ));
        let scrolls = match hidden {
            0 => String::new(),
            _ => format!(" · {scroll_hint}"),
        };
        let hints = [
            format!("↑/↓ choose · enter decide · esc quit{scrolls}"),
            format!("enter decide · esc quit{scrolls}"),
            "enter decide · esc quit".to_owned(),
        ];
        let hint = widest(&hints.each_ref().map(String::as_str), columns);
        let header = clipped("Trust this directory?", Style::default().bold(), columns);
        framed(header, body, hint, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain};

    #[test]
    fn the_panel_and_its_choices() {
        let mut trust = Trust::new(
            "/home/u/src/\x1b[1mparser",
            Some("/home/u/src"),
            "Trusting it lets e load it.",
            true,
        );
        let expected = [
            "────────────────────",
            "Trust this director…",
            "",
            "/home/u/src/parser",
            "",
            "Trusting it lets e",
            "load it.",
            "",
            "› Trust this direct…",
            "  Trust /home/u/src…",
            "  Quit",
            "────────────────────",
            "enter decide · esc …",
        ];
        assert_eq!(plain(&trust.rows("PgDn", 20, 40)), expected);
        assert_eq!(trust.decision(), Decision::Here);
        trust.step(1);
        assert_eq!(trust.decision(), Decision::Broader);
        trust.step(1);
        assert_eq!(trust.decision(), Decision::Quit);
        let mut trust = Trust::new("/", None, &"word ".repeat(100), false);
        let shown = plain(&trust.rows("PgDn scrolls", 40, 12)).join("\n");
        assert!(
            shown.contains("› Trust this directory until e ends"),
            "{shown}"
        );
        trust.step(1);
        assert_eq!(trust.decision(), Decision::Quit);
        trust.scroll(1000);
        let rows = trust.rows("PgDn scrolls", 40, 12);
        assert_eq!(rows.len(), 12);
        for columns in 0..30 {
            check(&trust.rows("PgDn", columns, 10), columns);
        }
    }
}
