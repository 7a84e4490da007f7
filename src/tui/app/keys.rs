//! Which part of the app gets a key. The first that wants it has it.

use std::time::Instant;

use super::sessions::Next;
use super::{ARMED, App, Effect, Surface};
use crate::agent::Want;
use crate::config::keybindings::Action;
use crate::tui::composer::{Handled, PasteStyle};
use crate::tui::key::{Key, KeyPress};
use crate::tui::keymap::{Command, Found, command};
use crate::tui::view::trust::Decision;

impl App {
    pub fn on_key(&mut self, press: KeyPress, now: Instant) -> Vec<Effect> {
        let command = command(&press);
        if command == Some(Command::Interrupt) {
            return self.interrupt_all(now);
        }
        self.armed_until = None;
        if let Some(effects) = self.reader_key(press, command) {
            return effects;
        }
        if self.is_deaf(now) {
            return self.type_ahead(press, now);
        }
        if let Some(effects) = self.extension_key(press, now) {
            return effects;
        }
        if let Some(effects) = self.surface_key(press, now) {
            return effects;
        }
        if press == KeyPress::plain(Key::End) && !self.scroll.follows() {
            self.scroll.follow();
            return Vec::new();
        }
        if let Some(effects) = self.queue_key(press) {
            return effects;
        }
        match command {
            Some(Command::Reader) => self.open_reader(),
            Some(Command::PageUp) => self.read_back(-1),
            Some(Command::PageDown) => self.read_back(1),
            Some(Command::Escape) => self.interrupt(),
            Some(Command::Clipboard) => self.read_clipboard(),
            Some(Command::Editor) => vec![Effect::Edit(self.composer.draft().buffer.expand())],
            Some(Command::Redraw) => vec![Effect::Redraw],
            Some(Command::Suspend) => vec![Effect::Suspend],
            Some(Command::NextModel) => self.cycle_model(1),
            Some(Command::PreviousModel) => self.cycle_model(-1),
            Some(Command::NextEffort) => self.next_effort(),
            // Taken care of above.
            Some(Command::Interrupt) | None => self.composer_key(press, now),
        }
    }

    fn read_back(&mut self, pages: isize) -> Vec<Effect> {
        self.scroll.page(pages, &self.transcript);
        Vec::new()
    }

    /// Whether ctrl+d ends e: an empty draft has nothing to delete. Bound to something else, the key does
    /// that.
    pub(super) fn ends(&self, press: &KeyPress) -> bool {
        let deletes = Found::Action {
            action: Action::Delete,
            extend: false,
        };
        let is_it = press.ctrl && !press.alt && press.key == Key::Char('d');
        is_it && self.keymap.find(press) == deletes
    }

    fn composer_key(&mut self, press: KeyPress, now: Instant) -> Vec<Effect> {
        if self.ends(&press) && self.composer.draft().buffer.is_empty() && !self.composer.is_field()
        {
            return self.once_saved(Next::Quit);
        }
        match self.composer.key(&press, &self.keymap) {
            Handled::Changed => {
                self.typed_at = Some(now);
                self.draft_was_edited()
            }
            Handled::Submit => {
                self.typed_at = None;
                self.submit(now)
            }
            Handled::Ignored => self.shortcut(&press),
        }
    }

    /// Whether what is typed is a secret.
    pub fn hides_keys(&self) -> bool {
        let is_key = matches!(&self.surface, Some(Surface::Login(login)) if login.takes_key());
        self.composer.is_secret() || is_key
    }

    pub fn on_paste(&mut self, text: &str, now: Instant) -> Vec<Effect> {
        if self.reader.is_some() {
            return Vec::new();
        }
        let is_deaf = self.is_deaf(now) && !self.composer.is_field();
        if is_deaf || matches!(self.surface, Some(Surface::Trust(_))) {
            self.keys_keep_coming(now);
            self.paste(text);
            return Vec::new();
        }
        if let Some(effects) = self.extension_paste(text) {
            return effects;
        }
        match &mut self.surface {
            Some(Surface::Login(login)) => {
                login.type_text(text);
                return Vec::new();
            }
            Some(surface) if surface.takes_keys() => {
                self.filter_picker(Some(text));
                return Vec::new();
            }
            Some(_) | None => {}
        }
        if let Some(effects) = self.paste_paths(text) {
            return effects;
        }
        self.paste(text);
        self.draft_was_pasted_into()
    }

    /// Puts text into the draft, as a marker when it is long.
    pub(super) fn paste(&mut self, text: &str) {
        let style = PasteStyle::default();
        let style = PasteStyle {
            placeholder: self.settings.paste_placeholder as usize,
            label: self.settings.paste_label.as_deref().unwrap_or(style.label),
        };
        if let Err(error) = self.composer.paste(text, style) {
            self.transcript.push_error(&error.to_string());
        }
    }

    /// ctrl+c: stops and clears whatever there is; the second one in a row ends e.
    pub fn interrupt_all(&mut self, now: Instant) -> Vec<Effect> {
        if self.armed_until.is_some_and(|until| now < until) {
            return self.once_saved(Next::Quit);
        }
        let mut effects = self.interrupt();
        self.reader = None;
        self.reading = None;
        self.discard_later();
        self.queue_forget();
        effects.extend(self.close_surfaces());
        self.composer.clear();
        self.held_prompt = None;
        self.armed_until = Some(now + ARMED);
        effects
    }

    /// Stops the running turn or command.
    pub(super) fn interrupt(&mut self) -> Vec<Effect> {
        if !self.is_busy() {
            return Vec::new();
        }
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        if let Some(turn) = &mut session.turn {
            let was_stopping = std::mem::replace(&mut turn.stopping, true);
            if !was_stopping {
                // What comes from here on is meant for afterwards.
                self.discard_later();
            }
        } else if let Some(command) = &mut session.shell {
            command.stopping = true;
        }
        self.send(Want::Interrupt)
    }

    fn surface_key(&mut self, press: KeyPress, now: Instant) -> Option<Vec<Effect>> {
        match self.surface.as_mut()? {
            Surface::Picker(_) => return self.picker_key(press, now),
            Surface::Login(_) => return Some(self.login_key(press, now)),
            Surface::Settings(_) => return Some(self.settings_key(press)),
            Surface::Trust(trust) => match press.key {
                Key::Up => trust.step(-1),
                Key::Down => trust.step(1),
                Key::PageUp => trust.scroll(-5),
                Key::PageDown => trust.scroll(5),
                Key::Enter => {
                    let decision = trust.decision();
                    return Some(self.trust_decided(decision));
                }
                Key::Escape => return Some(self.trust_decided(Decision::Quit)),
                _ => return Some(self.type_ahead(press, now)),
            },
        }
        Some(Vec::new())
    }
}
