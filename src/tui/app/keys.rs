//! Which part of the app gets a key. The first that wants it has it.

use std::time::Instant;

use super::images::Place;
use super::sessions::Next;
use super::{ARMED, App, Effect, Surface};
use crate::agent::Want;
use crate::config::keybindings::Action;
use crate::tui::composer::{Handled, PasteStyle};
use crate::tui::key::{Key, KeyPress};
use crate::tui::keymap::{Command, Found, command};
use crate::tui::view::trust::Decision;

impl App {
    pub fn on_key(&mut self, press: KeyPress, now: Instant) {
        let command = command(&press);
        if command == Some(Command::Interrupt) {
            return self.interrupt_all(now);
        }
        self.armed_until = None;
        let has_panel = self.panel_has_keys();
        if command == Some(Command::Clipboard) && !has_panel {
            return self.read_clipboard(now);
        }
        if self.reader_key(press, command) {
            return;
        }
        if command == Some(Command::Reader) && !has_panel {
            return self.open_reader();
        }
        if self.is_deaf(now) {
            return self.type_ahead(press, now);
        }
        if self.extension_key(press, now) || self.surface_key(press, now) {
            return;
        }
        if press == KeyPress::plain(Key::End) && !self.scroll.follows() {
            return self.scroll.follow();
        }
        if self.queue_key(press) {
            return;
        }
        match command {
            Some(Command::PageUp) => self.scroll.page(-1, &self.transcript),
            Some(Command::PageDown) => self.scroll.page(1, &self.transcript),
            Some(Command::Escape) => self.interrupt(),
            Some(Command::Editor) => {
                let draft = self.composer.draft().buffer.expand();
                self.edits = (self.open_question(), draft.clone());
                self.effects.push(Effect::Edit(draft));
            }
            Some(Command::Redraw) => self.effects.push(Effect::Redraw),
            Some(Command::Suspend) => self.effects.push(Effect::Suspend),
            Some(Command::NextModel) => self.cycle_model(1),
            Some(Command::PreviousModel) => self.cycle_model(-1),
            Some(Command::NextEffort) => self.next_effort(),
            // Taken care of above.
            Some(Command::Interrupt | Command::Clipboard | Command::Reader) | None => {
                self.composer_key(press, now)
            }
        }
    }

    /// Whether ctrl+d ends e: an empty draft has nothing to delete. Bound to something else, the
    /// key does that.
    pub(super) fn ends(&self, press: &KeyPress) -> bool {
        let deletes = Found::Action {
            action: Action::Delete,
            extend: false,
        };
        let is_it = press.ctrl && !press.alt && press.key == Key::Char('d');
        is_it && self.keymap.find(press) == deletes
    }

    fn composer_key(&mut self, press: KeyPress, now: Instant) {
        if self.ends(&press) && self.composer.draft().buffer.is_empty() && !self.composer.is_field()
        {
            return self.once_saved(Next::Quit);
        }
        match self.composer.key(&press, &self.keymap) {
            Handled::Changed => {
                // Who has deleted all of it is not writing it.
                let is_empty = self.composer.draft().buffer.is_empty();
                self.typed_at = (!is_empty).then_some(now);
                self.draft_was_edited()
            }
            Handled::Submit => self.submit(now),
            Handled::Ignored => self.shortcut(&press),
        }
    }

    /// Whether what is typed is a secret.
    pub fn hides_keys(&self, now: Instant) -> bool {
        let is_key = matches!(&self.surface, Some(Surface::Login(login)) if login.takes_key());
        self.composer.is_secret() || is_key || self.drops_keys(now)
    }

    pub fn on_paste(&mut self, text: &str, now: Instant) {
        // Nothing is written in the reader: the chord that pastes is a command, this is not.
        if self.reader.is_some() || self.extension_paste(text, now) {
            return;
        }
        let place = self.paste_place(now);
        if self.drops_keys(now) {
            self.keys_keep_coming(now);
        }
        if place != Place::Draft {
            return self.paste_into(place, text);
        }
        if self.is_deaf(now) || matches!(self.surface, Some(Surface::Trust(_))) {
            self.keys_keep_coming(now);
        }
        if !self.paste_paths(text) {
            self.paste_into(place, text);
            self.draft_was_pasted_into();
        }
    }

    /// Who takes pasted text now. What takes none leaves it to the draft.
    pub(super) fn paste_place(&self, now: Instant) -> Place {
        let is_covered = self.reader.is_some() || self.pane_has_focus();
        match &self.surface {
            // What may be a secret must not come to stand in clear.
            _ if self.drops_keys(now) || is_covered && self.hides_keys(now) => Place::Nowhere,
            _ if is_covered || self.is_deaf(now) && !self.composer.is_field() => Place::Draft,
            Some(Surface::Trust(_) | Surface::Settings(_)) => Place::Draft,
            Some(surface) if surface.takes_keys() => Place::Surface(surface.kind()),
            Some(_) => Place::Draft,
            None => self.open_question().map_or(Place::Draft, Place::Question),
        }
    }

    /// Puts text where it was meant for, if that is still there: what is for a field or a list must
    /// not come to stand in a draft.
    pub(super) fn paste_into(&mut self, place: Place, text: &str) {
        match place {
            Place::Nowhere => {}
            Place::Draft => self.paste(text),
            Place::Question(ask) if self.open_question() == Some(ask) => self.question_paste(text),
            Place::Question(_) => {}
            Place::Surface(kind) => match &mut self.surface {
                Some(surface) if surface.kind() != kind => {}
                Some(Surface::Login(login)) => login.type_text(text),
                Some(_) => self.filter_picker(Some(text)),
                None => {}
            },
        }
    }

    /// Puts text into the draft, as a marker when it is long.
    fn paste(&mut self, text: &str) {
        let style = PasteStyle::default();
        let style = PasteStyle {
            placeholder: self.settings.paste_placeholder as usize,
            label: self.settings.paste_label.as_deref().unwrap_or(style.label),
        };
        let pasted = self.composer.behind(|draft| draft.paste(text, style));
        if let Err(error) = pasted {
            self.transcript.push_error(&error.to_string());
        }
    }

    /// ctrl+c: stops and clears whatever there is; the second one in a row ends e.
    pub fn interrupt_all(&mut self, now: Instant) {
        if self.armed_until.is_some_and(|until| now < until) {
            return self.once_saved(Next::Quit);
        }
        self.interrupt();
        self.reader = None;
        self.reading = None;
        self.discard_later();
        self.queue_forget();
        self.close_surfaces();
        // What was on its way is in history with the draft.
        let first = self.held_prompt.take();
        self.give_back(first);
        self.give_up_waiting(|_| true);
        self.composer.clear();
        self.typed_at = None;
        self.armed_until = Some(now + ARMED);
    }

    /// Stops the running turn or command.
    pub(super) fn interrupt(&mut self) {
        let Some(session) = &mut self.session else {
            return;
        };
        if let Some(turn) = &mut session.turn {
            let was_stopping = std::mem::replace(&mut turn.stopping, true);
            if !was_stopping {
                // What comes from here on is meant for afterwards.
                self.discard_later();
            }
        } else if let Some(command) = &mut session.shell {
            command.stopping = true;
        } else {
            return;
        }
        self.send(Want::Interrupt);
    }

    fn surface_key(&mut self, press: KeyPress, now: Instant) -> bool {
        match &mut self.surface {
            None => return false,
            Some(Surface::Picker(_)) => return self.picker_key(press, now),
            Some(Surface::Login(_)) => self.login_key(press, now),
            Some(Surface::Settings(_)) => self.settings_key(press),
            Some(Surface::Trust(trust)) => match press.key {
                Key::Up => trust.step(-1),
                Key::Down => trust.step(1),
                Key::PageUp => trust.scroll(-5),
                Key::PageDown => trust.scroll(5),
                Key::Enter => {
                    let decision = trust.decision();
                    self.trust_decided(decision);
                }
                Key::Escape => self.trust_decided(Decision::Quit),
                _ => self.type_ahead(press, now),
            },
        }
        true
    }
}
