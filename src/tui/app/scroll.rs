//! Looking at a part of the transcript: reading back in the conversation, and the reader.

use crate::tui::style::Row;
use crate::tui::transcript::{Place, Transcript, View};

/// A window over a transcript. It follows the end until somebody scrolls up, and again from when
/// the end is reached.
#[derive(Debug, Default)]
pub(super) struct Scroll {
    /// The top row; none while it follows.
    top: Option<Place>,
    /// How it was last drawn, and in how many rows. Pages are measured by this.
    drawn: Option<(View, usize)>,
}

impl Scroll {
    /// Whether the end is shown.
    pub fn follows(&self) -> bool {
        self.top.is_none()
    }

    /// Shows the end again.
    pub fn follow(&mut self) {
        self.top = None;
    }

    /// Shows the beginning.
    pub fn go_home(&mut self, transcript: &Transcript) {
        self.top = Some(Place::default());
        self.step(0, transcript);
    }

    /// Moves down, or up by a negative number.
    pub fn step(&mut self, rows: isize, transcript: &Transcript) {
        let Some((view, height)) = self.drawn else {
            return;
        };
        let bottom = transcript.bottom(height, view);
        let top = transcript.moved(self.top.unwrap_or(bottom), rows, height, view);
        self.top = Some(top).filter(|top| *top < bottom);
    }

    /// Moves by pages, which share one row.
    pub fn page(&mut self, pages: isize, transcript: &Transcript) {
        let height = self.drawn.map_or(0, |(_, height)| height);
        let rows = height.saturating_sub(1).max(1);
        self.step(pages.saturating_mul(rows as isize), transcript);
    }

    /// Takes note of a window that was drawn in another way, at the end.
    pub fn drawn_at_end(&mut self, view: View, height: usize) {
        self.drawn = Some((view, height));
    }

    /// The rows of the window, fewer than `height` only when there are no more.
    pub fn rows(&mut self, transcript: &Transcript, view: View, height: usize) -> Vec<Row> {
        let before = self.drawn.replace((view, height));
        if let Some(top) = self.top {
            let (from, _) = before.unwrap_or((view, height));
            self.top = Some(transcript.refitted(top, from, view));
            self.step(0, transcript);
        }
        match self.top {
            Some(top) => transcript.window(top, height, view),
            None => transcript.tail(height, view),
        }
    }
}
