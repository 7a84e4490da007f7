//! Settings that change while e runs: the `/settings` panel, and how changes are kept.

use serde_json::{Map, Value, json};

use super::look::theme_dirs;
use super::{App, Done, Effect, Surface};
use crate::config::SETTINGS;
use crate::error::Result;
use crate::tui::key::{Key, KeyPress};
use crate::tui::theme::Theme;
use crate::tui::view::settings::{Setting, Settings as Panel};

/// Levels that are offered while the model in use has none.
const LEVELS: &[&str] = &["low", "medium", "high"];

/// Changes on their way into the file, one write at a time so that the newest one stays.
#[derive(Debug, Default)]
pub struct Unsaved {
    changes: Map<String, Value>,
    pub(super) is_writing: bool,
}

impl App {
    /// Keeps a setting; null removes it from the file.
    pub(super) fn save(&mut self, key: &str, value: Value) {
        self.unsaved.changes.insert(key.to_owned(), value);
        self.write_settings();
    }

    fn write_settings(&mut self) {
        if self.unsaved.is_writing || self.unsaved.changes.is_empty() {
            return;
        }
        self.unsaved.is_writing = true;
        let changes = std::mem::take(&mut self.unsaved.changes);
        let home = self.process.home.clone();
        self.task(move || {
            Done::Saved(SETTINGS.update(&home, |settings| {
                for (key, value) in changes {
                    match value {
                        // In its place, so that the order of the file stays.
                        Value::Null => drop(settings.shift_remove(&key)),
                        value => drop(settings.insert(key, value)),
                    }
                }
            }))
        })
    }

    pub(super) fn settings_saved(&mut self, saved: Result<Vec<String>>) {
        self.unsaved.is_writing = false;
        match saved {
            Ok(warnings) => {
                for warning in warnings {
                    self.tell(&format!("warning: {warning}"));
                }
            }
            Err(error) => self.tell(&format!("the setting holds until e ends: {error}")),
        }
        self.write_settings();
    }

    /// Looks up what there is to choose from.
    pub(super) fn list_settings(&mut self) {
        let dirs = theme_dirs(&self.process.home);
        self.look_up(move || Done::Themes(Theme::names(&dirs)));
    }

    pub(super) fn open_settings(&mut self, themes: Vec<String>) {
        let (levels, effort) = match &self.session {
            Some(session) if !session.selection.model.effort.is_empty() => {
                let selection = &session.selection;
                (selection.model.effort.clone(), selection.effort.clone())
            }
            _ => {
                let levels = LEVELS.iter().map(|level| (*level).to_owned()).collect();
                let effort = self.settings.effort.clone();
                (levels, effort.or_else(|| Some("high".to_owned())))
            }
        };
        let names_of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let settings = &self.settings;
        let rows = vec![
            row("Interface", "theme", themes, settings.theme.as_deref()),
            row(
                "Interface",
                "tui_mode",
                names_of(&["inline", "fullscreen"]),
                settings.tui_mode.as_deref(),
            ),
            row(
                "Interface",
                "show_thinking",
                names_of(&["off", "on"]),
                settings.show_thinking.as_deref(),
            ),
            row(
                "Interface",
                "mouse",
                names_of(&["auto", "on", "off"]),
                settings.mouse.as_deref(),
            ),
            row("Agent", "effort", levels, effort.as_deref()),
        ];
        self.surface = Some(Surface::Settings(Panel::new(rows)));
    }

    pub(super) fn settings_key(&mut self, press: KeyPress) {
        let Some(Surface::Settings(panel)) = &mut self.surface else {
            return;
        };
        let changed = match press.key {
            Key::Up => return panel.step(-1),
            Key::Down => return panel.step(1),
            Key::Left => panel.change(-1),
            Key::Right | Key::Enter | Key::Char(' ') => panel.change(1),
            Key::Escape => return self.surface = None,
            _ => None,
        };
        if let Some((key, value)) = changed {
            let (key, value) = (key.to_owned(), value.to_owned());
            self.change_setting(&key, value);
        }
    }

    fn change_setting(&mut self, key: &str, value: String) {
        let kept = Some(value.clone());
        match key {
            "theme" => {
                self.settings.theme = kept;
                self.effects.push(Effect::Palette(self.palette()));
            }
            "tui_mode" => self.settings.tui_mode = kept,
            "mouse" => self.settings.mouse = kept,
            "show_thinking" => {
                self.settings.show_thinking = kept;
                let options = super::transcript_options(&self.settings);
                self.transcript.set_options(options);
            }
            "effort" => {
                self.settings.effort = kept;
                let has = |level: &String| *level == value;
                let session = self.session.as_ref();
                if session.is_some_and(|one| one.selection.model.effort.iter().any(has)) {
                    return self.set_effort(value);
                }
            }
            _ => {}
        }
        self.save(key, json!(value));
    }
}

fn row(category: &str, key: &str, mut options: Vec<String>, value: Option<&str>) -> Setting {
    let at = options
        .iter()
        .position(|option| Some(option.as_str()) == value);
    let current = match (at, value) {
        (Some(at), _) => at,
        (None, None) => 0,
        // What somebody wrote into the file stays until it is changed here.
        (None, Some(value)) => {
            options.push(value.to_owned());
            options.len() - 1
        }
    };
    Setting {
        category: category.to_owned(),
        key: key.to_owned(),
        options,
        current,
    }
}
