//! The panel in the footer: one over all extensions, the newest of each.

use serde_json::json;

use super::super::{App, Effect};
use super::notify;
use crate::extension::ExtensionId;
use crate::extension::ui::Panel;
use crate::tui::key::{Key, KeyPress};
use crate::tui::style::Row;
use crate::tui::view::panel;

/// Longest paste that arrives key by key, in characters.
const PASTED_KEYS: usize = 64;

/// The place for a panel.
#[derive(Debug, Default)]
pub(super) struct Panels(Option<Shown>);

#[derive(Debug)]
struct Shown {
    owner: ExtensionId,
    /// The name of whose it is.
    name: String,
    panel: Panel,
    /// The first line that is seen, and how many were when it was drawn last.
    top: usize,
    page: usize,
}

impl Shown {
    fn closed(self) -> Effect {
        notify(self.owner, "ui.panel_closed", json!({}))
    }

    /// Moves by a page; `false` when all of it is seen.
    fn scroll(&mut self, pages: isize) -> bool {
        let last = self.panel.lines.len().saturating_sub(self.page);
        let rows = pages.saturating_mul(self.page.max(1) as isize);
        self.top = self.top.saturating_add_signed(rows).min(last);
        last > 0
    }
}

impl Panels {
    /// Shows a panel or closes the one of this extension. Another's that it replaces is told.
    pub fn show(&mut self, from: ExtensionId, name: &str, panel: Option<Panel>) -> Option<Effect> {
        let Some(panel) = panel else {
            self.close(from);
            return None;
        };
        if let Some(shown) = self.0.as_mut().filter(|shown| shown.owner == from) {
            shown.panel = panel;
            return None;
        }
        let replaced = self.0.replace(Shown {
            owner: from,
            name: name.to_owned(),
            panel,
            top: 0,
            page: 0,
        });
        replaced.map(Shown::closed)
    }

    /// Whether one is open.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Whether one is open that gets the keys.
    pub fn takes_keys(&self) -> bool {
        self.0.as_ref().is_some_and(|shown| shown.panel.interactive)
    }

    /// Closes it for the person, and tells its owner.
    pub fn dismiss(&mut self) -> Option<Effect> {
        self.0.take().map(Shown::closed)
    }

    /// Closes it when it is this extension's.
    pub fn close(&mut self, owner: ExtensionId) {
        self.0.take_if(|shown| shown.owner == owner);
    }

    pub fn rows(&mut self, columns: usize, height: usize) -> Option<Vec<Row>> {
        let shown = self.0.as_mut()?;
        let Shown {
            name,
            panel,
            top,
            page,
            ..
        } = shown;
        *page = panel::page(panel, height);
        *top = (*top).min(panel.lines.len() - *page);
        Some(panel::rows(panel, name, *top, columns, height))
    }
}

impl App {
    /// A key while a panel shows: Esc closes it, and an interactive one gets every other. One that
    /// is only looked at is scrolled while there is more of it.
    pub(super) fn panel_key(&mut self, press: KeyPress) -> bool {
        let panels = &mut self.extensions.panels;
        let Some(shown) = &mut panels.0 else {
            return false;
        };
        if press == KeyPress::plain(Key::Escape) {
            self.effects.extend(panels.dismiss());
        } else if shown.panel.interactive {
            let key = press.name();
            let key = key.map(|key| notify(shown.owner, "ui.key", json!({"key": key})));
            self.effects.extend(key);
        } else {
            let pages = match press.key {
                Key::PageUp => -1,
                Key::PageDown => 1,
                _ => return false,
            };
            return press == KeyPress::plain(press.key) && shown.scroll(pages);
        }
        true
    }

    /// A short paste as the keys that would have typed it; a long one is none.
    pub(super) fn paste_keys(&mut self, text: &str, key: impl Fn(&mut Self, KeyPress)) {
        if text.chars().count() > PASTED_KEYS {
            return;
        }
        let typed = |c: char| match c {
            '\r' | '\n' => Some(Key::Enter),
            '\t' => Some(Key::Tab),
            c if c.is_control() => None,
            c => Some(Key::Char(c)),
        };
        let text = text.replace("\r\n", "\n");
        for press in text.chars().filter_map(typed).map(KeyPress::plain) {
            key(self, press);
        }
    }
}
