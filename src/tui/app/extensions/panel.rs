//! The panel in the footer: one over all extensions, the newest of each.

use serde_json::json;

use super::super::{App, Effect};
use super::notify;
use crate::extension::ExtensionId;
use crate::extension::ui::{Panel, Single};
use crate::tui::key::{Key, KeyPress};
use crate::tui::style::Row;
use crate::tui::view::panel;

/// Longest paste that arrives key by key, in characters.
const PASTED_KEYS: usize = 64;

/// The place for a panel.
#[derive(Debug, Default)]
pub(super) struct Panels {
    place: Single<Panel>,
    /// The name of whose it is.
    owner: String,
    /// The first line that is seen, and how many were when it was drawn last.
    top: usize,
    page: usize,
}

impl Panels {
    /// Shows a panel or closes the one of this extension.
    pub fn show(&mut self, from: ExtensionId, name: &str, panel: Option<Panel>) -> Option<Effect> {
        match panel {
            None => {
                self.place.close(from);
                None
            }
            Some(panel) => {
                if self.shown().is_none_or(|(owner, _)| owner != from) {
                    self.top = 0;
                }
                let replaced = self.place.show(from, panel);
                self.owner = name.to_owned();
                replaced.map(|(owner, _)| closed(owner))
            }
        }
    }

    /// What is shown, and whose it is.
    pub fn shown(&self) -> Option<(ExtensionId, &Panel)> {
        self.place.shown()
    }

    /// Closes it for the person, and tells its owner.
    pub fn dismiss(&mut self) -> Option<Effect> {
        self.place.dismiss().map(|(owner, _)| closed(owner))
    }

    /// Closes it when it is this extension's.
    pub fn close(&mut self, owner: ExtensionId) {
        self.place.close(owner);
    }

    pub fn rows(&mut self, columns: usize, height: usize) -> Option<Vec<Row>> {
        let (_, shown) = self.place.shown()?;
        self.page = panel::page(shown, height);
        self.top = self.top.min(shown.lines.len() - self.page);
        Some(panel::rows(shown, &self.owner, self.top, columns, height))
    }

    /// Moves by a page; `false` when all of it is seen.
    fn scroll(&mut self, pages: isize) -> bool {
        let all = self.shown().map_or(0, |(_, panel)| panel.lines.len());
        let last = all.saturating_sub(self.page);
        let rows = pages.saturating_mul(self.page.max(1) as isize);
        self.top = self.top.saturating_add_signed(rows).min(last);
        last > 0
    }
}

fn closed(owner: ExtensionId) -> Effect {
    notify(owner, "ui.panel_closed", json!({}))
}

impl App {
    /// A key while a panel shows: Esc closes it, and an interactive one gets every other. One that is
    /// only looked at is scrolled while there is more of it.
    pub(super) fn panel_key(&mut self, press: KeyPress) -> Option<Vec<Effect>> {
        let (owner, panel) = self.extensions.panels.shown()?;
        if press == KeyPress::plain(Key::Escape) {
            return Some(self.extensions.panels.dismiss().into_iter().collect());
        }
        if !panel.interactive {
            let pages = match press.key {
                Key::PageUp => -1,
                Key::PageDown => 1,
                _ => return None,
            };
            let is_plain = press == KeyPress::plain(press.key);
            let scrolls = is_plain && self.extensions.panels.scroll(pages);
            return scrolls.then(Vec::new);
        }
        let key = press.name();
        let key = key.map(|key| notify(owner, "ui.key", json!({"key": key})));
        Some(key.into_iter().collect())
    }

    pub(super) fn panel_paste(&mut self, text: &str) -> Option<Vec<Effect>> {
        let (_, panel) = self.extensions.panels.shown()?;
        panel
            .interactive
            .then(|| self.paste_keys(text, |app, press| app.panel_key(press).unwrap_or_default()))
    }

    /// A short paste as the keys that would have typed it; a long one is none.
    pub(super) fn paste_keys(
        &mut self,
        text: &str,
        mut key: impl FnMut(&mut Self, KeyPress) -> Vec<Effect>,
    ) -> Vec<Effect> {
        if text.chars().count() > PASTED_KEYS {
            return Vec::new();
        }
        let typed = |c: char| match c {
            '\r' | '\n' => Some(Key::Enter),
            '\t' => Some(Key::Tab),
            c if c.is_control() => None,
            c => Some(Key::Char(c)),
        };
        let text = text.replace("\r\n", "\n");
        let keys = text.chars().filter_map(typed).map(KeyPress::plain);
        keys.flat_map(|press| key(self, press)).collect()
    }
}
