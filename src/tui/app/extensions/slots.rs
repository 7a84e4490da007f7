//! Slots: what stays on the status row, the activity row and above the composer.

use super::super::App;
use crate::tui::rich::prefixed;
use crate::tui::style::{Row, Style};
use crate::tui::view::widget;

impl App {
    /// The rows above the composer, indented as all text is.
    pub(in crate::tui::app) fn widgets(&self, columns: usize) -> Vec<Row> {
        let room = columns.saturating_sub(2);
        let rows = self.extensions.slots.widget_rows();
        rows.map(|row| prefixed("  ", Style::default(), widget::rich(row).clip(room)))
            .collect()
    }

    /// What extensions say about what they are doing.
    pub(in crate::tui::app) fn activity_slots(&self) -> String {
        joined(self.extensions.slots.activity.values())
    }

    /// What `{status}` or `{status:name}` stand for; nothing for another token.
    pub(in crate::tui::app) fn status_slots(&self, token: &str) -> String {
        let slots = &self.extensions.slots.status;
        match token.split_once(':') {
            None if token == "status" => joined(slots.values()),
            Some(("status", name)) => joined(slots.values_of(name)),
            _ => String::new(),
        }
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a String>) -> String {
    let texts: Vec<&str> = texts.map(String::as_str).collect();
    texts.join(" · ")
}
