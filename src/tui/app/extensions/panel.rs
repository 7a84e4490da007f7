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
}

impl Shown {
    fn closed(self) -> Effect {
        notify(self.owner, "ui.panel_closed", json!({}))
    }
}

impl Panels {
    /// Shows a panel or closes the one of this extension. Another's that it replaces is told.
    pub fn show(&mut self, from: ExtensionId, name: &str, panel: Option<Panel>) -> Option<Effect> {
        let Some(panel) = panel else {
            self.close(from);
            return None;
        };
        let replaced = self.0.replace(Shown {
            owner: from,
            name: name.to_owned(),
            panel,
        });
        replaced.filter(|old| old.owner != from).map(Shown::closed)
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

    /// Its surface. A question that waits for it to be closed is told of.
    pub fn rows(&self, is_asked: bool, columns: usize, height: usize) -> Option<Vec<Row>> {
        let Shown { name, panel, .. } = self.0.as_ref()?;
        Some(panel::rows(panel, name, is_asked, columns, height))
    }
}

impl App {
    /// A key while a panel shows: Esc closes it, and an interactive one gets every other.
    pub(super) fn panel_key(&mut self, press: KeyPress) -> Option<Vec<Effect>> {
        let panels = &mut self.extensions.panels;
        let shown = panels.0.as_ref()?;
        if press == KeyPress::plain(Key::Escape) {
            return Some(panels.dismiss().into_iter().collect());
        }
        let name = press.name();
        let key = name.map(|key| notify(shown.owner, "ui.key", json!({"key": key})));
        panels.takes_keys().then(|| key.into_iter().collect())
    }

    pub(super) fn panel_paste(&mut self, text: &str) -> Option<Vec<Effect>> {
        let takes_keys = self.extensions.panels.takes_keys();
        takes_keys
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
