//! The reader (ctrl+o): the whole conversation unfolded, over everything else.

use std::time::Instant;

use super::scroll::Scroll;
use super::{App, Effect};
use crate::text::one_line;
use crate::tui::frame::{Size, Surface};
use crate::tui::key::{Key, KeyPress};
use crate::tui::keymap::Command;
use crate::tui::rich::{clipped, prefixed};
use crate::tui::style::{Row, Style, Token};
use crate::tui::transcript::{Depth, View};

/// Rows below the transcript: a blank one, the hint, a blank one, the status.
const FOOTER: usize = 4;

#[derive(Debug)]
pub(super) struct Reader {
    pub scroll: Scroll,
    depth: Depth,
}

impl App {
    /// Opens the reader at the end.
    pub(super) fn open_reader(&mut self) {
        self.reader = Some(Reader {
            scroll: Scroll::default(),
            depth: Depth::Review,
        });
    }

    /// A key while the reader is open; it gets all but ctrl+c and the clipboard's.
    pub(super) fn reader_key(&mut self, press: KeyPress, command: Option<Command>) -> bool {
        let Some(Reader { scroll, depth }) = &mut self.reader else {
            return false;
        };
        let transcript = &self.transcript;
        match (command, press.key) {
            (Some(Command::Reader | Command::Escape), _) => self.reader = None,
            (Some(Command::Redraw), _) => self.effects.push(Effect::Redraw),
            (Some(Command::Suspend), _) => self.effects.push(Effect::Suspend),
            (Some(Command::PageUp), _) => scroll.page(-1, transcript),
            (Some(Command::PageDown), _) => scroll.page(1, transcript),
            (_, Key::Up) => scroll.step(-1, transcript),
            (_, Key::Down) => scroll.step(1, transcript),
            (_, Key::Home) => scroll.go_home(transcript),
            (_, Key::End) => scroll.follow(),
            (_, Key::Left) => *depth = Depth::Review,
            (_, Key::Right) => *depth = Depth::Full,
            _ => {}
        }
        true
    }

    /// What the reader shows, when it is open.
    pub(super) fn reader_frame(&mut self, size: Size, now: Instant) -> Option<Surface> {
        let (columns, height) = (usize::from(size.columns), usize::from(size.rows));
        let footer = self.reader_footer(columns, now)?;
        let reader = self.reader.as_mut()?;
        let view = View {
            columns,
            depth: reader.depth,
        };
        let room = height.saturating_sub(FOOTER);
        let mut rows = reader.scroll.rows(&self.transcript, view, room);
        rows.resize(room, Row::default());
        rows.extend(footer);
        let mut surface = Surface::new(size);
        surface.draw(surface.area(), &rows);
        Some(surface)
    }

    fn reader_footer(&self, columns: usize, now: Instant) -> Option<[Row; FOOTER]> {
        let name = match self.reader.as_ref()?.depth {
            Depth::Chat | Depth::Review => "Review",
            Depth::Full => "Full",
        };
        let hint = match self.settings.transcript_hint.as_deref() {
            Some(text) => one_line(text, None),
            None => format!("{name} · ←/→ depth · ↑/↓ PgUp/PgDn scroll · esc close"),
        };
        let status = self.with_question(self.status(columns, now), columns);
        let muted = Style::colored(Token::Muted);
        let hint = clipped(&hint, muted.clone(), columns.saturating_sub(2));
        Some([
            Row::default(),
            prefixed("┃ ", muted, hint),
            Row::default(),
            status,
        ])
    }
}
