//! How the terminal is to look: colours, modes, and what covers the conversation.

use std::path::PathBuf;
use std::time::Instant;

use super::App;
use crate::config::{Home, Settings};
use crate::error::Result;
use crate::tui::editor::{self, Editing};
use crate::tui::frame::{Caret, Size, Surface};
use crate::tui::key::{Mouse, MouseKind};
use crate::tui::terminal::Modes;
use crate::tui::theme::{Background, Depth, Palette, Theme};

impl App {
    pub fn palette(&self) -> Palette {
        let env = &self.process.env;
        let background = self.background.or_else(|| Background::from_env(env));
        let background = background.unwrap_or(Background::Dark);
        let (theme, _) = theme(&self.process.home, &self.settings, background);
        Palette::new(theme, Depth::detect(env))
    }

    /// The terminal has told its background. Other colours, when that changes them.
    pub fn background_is(&mut self, color: [u8; 3]) -> Option<Palette> {
        let before = self.palette();
        self.background = Some(Background::of(color));
        Some(self.palette()).filter(|palette| *palette != before)
    }

    /// The modes that the terminal shall have.
    pub fn modes(&self) -> Modes {
        let alternate = self.is_full() || self.pane_is_open();
        let mouse = match self.settings.mouse.as_deref() {
            Some("on") => true,
            Some("off") => false,
            _ => alternate,
        };
        Modes { alternate, mouse }
    }

    /// Whether e has the whole screen, and scrolls itself: in full-screen mode, in the reader, and
    /// while somebody reads back.
    fn is_full(&self) -> bool {
        let mode = self.settings.tui_mode.as_deref();
        mode == Some("fullscreen") || self.reader.is_some() || !self.scroll.follows()
    }

    /// What covers the whole screen instead of the main screen's rows.
    pub fn full_frame(
        &mut self,
        size: Size,
        now: Instant,
        late: bool,
    ) -> Option<(Surface, Option<Caret>)> {
        if let Some(surface) = self.reader_frame(size, now) {
            return Some((surface, None));
        }
        if let Some(frame) = self.pane_frame(size, now, late) {
            return Some(frame);
        }
        if !self.is_full() {
            return None;
        }
        let (columns, height) = (usize::from(size.columns), usize::from(size.rows));
        let (rows, caret) = self.conversation(columns, height, now, late);
        let mut surface = Surface::new(size);
        surface.draw(surface.area(), &rows);
        Some((surface, caret))
    }

    /// The mouse did something. The wheel scrolls what it can, never the history of prompts.
    pub fn on_mouse(&mut self, mouse: Mouse) {
        let before = self.effects.len();
        if self.reader.is_none() && self.pane_mouse(mouse) {
            return self.awaits_since(before);
        }
        let lines = self.settings.scroll_lines as isize;
        let rows = match mouse.kind {
            MouseKind::WheelUp => -lines,
            MouseKind::WheelDown => lines,
            MouseKind::Press(_) | MouseKind::Drag(_) | MouseKind::Release(_) => return,
        };
        let reader = self.reader.as_mut().map(|reader| &mut reader.scroll);
        reader
            .unwrap_or(&mut self.scroll)
            .step(rows, &self.transcript);
    }

    /// The next frame is the last one: what belongs to a running app alone is not on it. Of a
    /// conversation in full-screen mode the end goes to the main screen; true then.
    pub fn last_frame(&mut self, size: Size) -> bool {
        self.reader = None;
        self.scroll.follow();
        self.surface = None;
        // The core is about to answer what they have asked.
        self.forget_extensions();
        self.armed_until = None;
        self.transcript.finish();
        let was_full = self.is_full();
        if was_full {
            self.settings.tui_mode = None;
            let rows = usize::from(size.rows).saturating_sub(1);
            self.transcript.keep_last(size.columns.into(), rows);
        }
        was_full
    }

    /// Starts the person's editor with a text. The terminal is its own from here on.
    pub fn start_editor(&self, text: &str) -> Result<Editing> {
        let env = &self.process.env;
        let words = editor::words(self.settings.editor.as_deref(), env);
        Editing::start(&words, &self.cwd, env, text)
    }

    /// The editor has left a text. What came into the draft or took its place meanwhile is not
    /// lost.
    pub(super) fn edited(&mut self, text: &str) {
        let (ask, given) = std::mem::take(&mut self.edits);
        if text == given {
            return;
        }
        if ask.is_some() && ask == self.open_question() {
            return self.composer.set_text(text);
        }
        if ask.is_some() {
            self.composer.remember(text);
            return self.tell("the question is over - ↑ brings back what you wrote");
        }
        let left = self.composer.own_draft().buffer.expand();
        if left != given {
            self.composer.remember(&left);
        }
        self.composer.behind(|draft| draft.set_text(text));
    }
}

/// The theme in force on a background, and what is wrong with its file.
pub(super) fn theme(
    home: &Home,
    settings: &Settings,
    background: Background,
) -> (Theme, Option<String>) {
    let name = settings.theme.as_deref().unwrap_or("auto");
    Theme::load(name, &theme_dirs(home), background)
}

pub(super) fn theme_dirs(home: &Home) -> Vec<PathBuf> {
    let dir = home.dir().map(|dir| dir.join("themes"));
    dir.into_iter().collect()
}
