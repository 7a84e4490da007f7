//! How the terminal is to look: colours, modes, and what covers the conversation.

use std::path::PathBuf;
use std::time::Instant;

use super::{App, Effect};
use crate::tui::frame::{Caret, Size, Surface};
use crate::tui::key::Mouse;
use crate::tui::terminal::Modes;
use crate::tui::theme::{Background, Depth, Palette, Theme};

impl App {
    /// The colours in force.
    pub fn palette(&self) -> Palette {
        let env = &self.process.env;
        let background = self.background.or_else(|| Background::from_env(env));
        let name = self.settings.theme.as_deref().unwrap_or("auto");
        let dirs: Vec<PathBuf> = self
            .process
            .home
            .dir()
            .map(|dir| dir.join("themes"))
            .into_iter()
            .collect();
        let (theme, _) = Theme::load(name, &dirs, background.unwrap_or(Background::Dark));
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
        let alternate = self.pane_is_open();
        let mouse = match self.settings.mouse.as_deref() {
            Some("on") => true,
            Some("off") => false,
            _ => alternate,
        };
        Modes { alternate, mouse }
    }

    /// What covers the whole screen instead of the conversation.
    pub fn full_frame(
        &mut self,
        size: Size,
        now: Instant,
        late: bool,
    ) -> Option<(Surface, Option<Caret>)> {
        self.pane_frame(size, now, late)
    }

    /// The mouse did something.
    pub fn on_mouse(&mut self, mouse: Mouse) -> Vec<Effect> {
        self.pane_mouse(mouse).unwrap_or_default()
    }

    /// The next frame is the last one: what belongs to a running app alone is not on it.
    pub fn last_frame(&mut self) {
        self.surface = None;
        // The core is about to answer what they have asked.
        let _ = self.forget_extensions("e is shutting down");
        self.armed_until = None;
    }

    /// Lets the person edit a text. Runs while the terminal is theirs.
    pub fn run_editor(&self, _text: &str) -> Result<String, String> {
        Err("there is no editor".into())
    }
}
