//! The settings panel: a list of values that change at once.

use super::surface::{self, dim, framed};
use crate::text::{one_line, width};
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style, Token};

/// Columns between a name and its value.
const GAP: usize = 3;

/// A setting and what it may be. A value may be the name of a file; it is cleaned where it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// The heading it stands under.
    pub category: String,
    pub key: String,
    /// Its values, in order.
    pub options: Vec<String>,
    /// The one it has.
    pub current: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Settings {
    settings: Vec<Setting>,
    selected: usize,
}

impl Settings {
    /// These settings; those of one category stand together.
    pub fn new(settings: Vec<Setting>) -> Self {
        Self {
            settings,
            selected: 0,
        }
    }

    pub fn step(&mut self, by: isize) {
        self.selected = surface::step(self.selected, by, self.settings.len());
    }

    /// Takes the next value, or the one before; tells key and value to save.
    pub fn change(&mut self, by: isize) -> Option<(&str, &str)> {
        let setting = self.settings.get_mut(self.selected)?;
        let next = surface::step(setting.current, by, setting.options.len());
        if next == setting.current {
            return None;
        }
        setting.current = next;
        Some((&setting.key, &setting.options[next]))
    }

    /// The whole surface, in `height` rows where that is possible.
    pub fn rows(&self, columns: usize, height: usize) -> Vec<Row> {
        let names = self
            .settings
            .iter()
            .map(|setting| width(&setting.key))
            .max()
            .unwrap_or(0);
        let mut body = Vec::new();
        let mut category = None;
        let mut selected_row = 0;
        for (index, setting) in self.settings.iter().enumerate() {
            if category.replace(&setting.category) != Some(&setting.category) {
                if !body.is_empty() {
                    body.push(Row::default());
                }
                body.push(clipped(
                    &setting.category,
                    Style::colored(Token::Muted),
                    columns,
                ));
            }
            let selected = index == self.selected;
            if selected {
                selected_row = body.len();
            }
            let style = if selected { surface::selected() } else { dim() };
            let value = setting.options.get(setting.current);
            let value = value.map_or(String::new(), |value| one_line(value, None));
            let mut rich = Rich::of(if selected { "› " } else { "  " }, style.clone());
            rich.push(&setting.key, style.clone());
            rich.push(
                &" ".repeat(names - width(&setting.key) + GAP),
                style.clone(),
            );
            match selected && setting.options.len() > 1 {
                true => rich.push(&format!("‹ {value} ›"), style),
                false => rich.push(&format!("  {value}"), style),
            }
            body.push(rich.clip(columns));
        }
        surface::fit(&mut body, selected_row, height);
        let header = clipped("Settings", Style::default().bold(), columns);
        framed(header, body, "↑/↓ choose · ←/→ change · esc close", columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain};

    #[test]
    fn values_change_at_once() {
        let setting = |category: &str, key: &str, options: &[&str]| Setting {
            category: category.to_owned(),
            key: key.to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            current: 0,
        };
        let mut settings = Settings::new(vec![
            setting("Interface", "theme", &["auto", "da\x1b[1mrk"]),
            setting("Interface", "tui_mode", &["inline"]),
            setting("Agent", "effort", &[]),
        ]);
        assert_eq!(settings.change(-1), Some(("theme", "da\x1b[1mrk")));
        let expected = [
            "────────────────────────",
            "Settings",
            "",
            "Interface",
            "› theme      ‹ dark ›",
            "  tui_mode     inline",
            "",
            "Agent",
            "  effort       ",
            "────────────────────────",
            "↑/↓ choose · ←/→ change…",
        ];
        assert_eq!(plain(&settings.rows(24, 99)), expected);
        settings.step(1);
        assert_eq!(settings.change(1), None);
        settings.step(1);
        assert_eq!(settings.change(1), None);
        for height in 0..12 {
            let rows = plain(&settings.rows(24, height));
            assert!(
                rows.contains(&"› effort       ".into()),
                "{height}: {rows:?}"
            );
            assert!(rows.len() <= height.max(surface::FRAME + 1));
        }
        for columns in 0..40 {
            check(&settings.rows(columns, 9), columns);
        }
        check(&Settings::default().rows(10, 0), 10);
    }
}
