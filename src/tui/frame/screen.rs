//! What is on the terminal, and the bytes that make it show something else.
//!
//! A `Screen` does no I/O. Its owner builds a frame only when the last one was taken by the
//! terminal, so what the screen believes is what was really handed over.

use super::cell::Line;
use super::diff::changes;
use super::encode::Encoder;
use super::inline::Inline;
pub use super::inline::{Caret, InlineFrame};
use super::surface::{Size, Surface};
use crate::tui::theme::Palette;

/// What the terminal shall show.
#[derive(Clone, Debug)]
pub enum Frame {
    /// On the main screen, with the terminal's own scrollback.
    Inline(InlineFrame),
    /// On the alternate screen, which `Terminal` switches to.
    Full {
        /// Everything. One that was made for another size is not painted.
        surface: Surface,
        /// Where the cursor is; hidden when there is none.
        caret: Option<Caret>,
    },
}

/// The painter's knowledge of one terminal.
#[derive(Debug)]
pub struct Screen {
    size: Size,
    palette: Palette,
    /// Whether the terminal wraps long rows again when it becomes narrower.
    reflows: bool,
    inline: Inline,
    /// Where the rows of the main screen are.
    place: Place,
    /// What the alternate screen shows while it is up.
    full: Option<Vec<Line>>,
    /// The cursor after the last frame, and whether it is shown.
    cursor: Option<(Caret, bool)>,
    /// The row of the main screen that the cursor is in, when that is known.
    row: Option<usize>,
    /// The next inline frame makes sure that the cursor is at the start of a row.
    is_fresh: bool,
}

/// What is known about the main screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// e begins at the cursor, wherever that is.
    Launch,
    /// As if e had begun in the last row. Ways from row to row are right wherever it was.
    Assumed,
    /// It had this size when the last frame was painted.
    Resized(Size),
    /// All.
    Known,
}

impl Screen {
    /// A terminal on which e has written nothing yet. A size of 0 counts as 1.
    pub fn new(size: Size, palette: Palette, reflows: bool) -> Self {
        Self {
            size: at_least_one(size),
            palette,
            reflows,
            inline: Inline::default(),
            place: Place::Launch,
            full: None,
            cursor: None,
            row: None,
            is_fresh: false,
        }
    }

    /// The size that frames are painted for.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The terminal has another size now, or has had one and is back: its rows may have moved.
    pub fn resize(&mut self, size: Size) {
        let size = at_least_one(size);
        if !self.is_lost() {
            self.place = match std::mem::take(&mut self.is_fresh) {
                true => Place::Launch,
                false => Place::Resized(self.size),
            };
        }
        if let Some(lines) = &mut self.full {
            lines.clear();
        }
        self.size = size;
        self.cursor = None;
    }

    /// Other colours from the next frame on, which is painted from nothing.
    pub fn set_palette(&mut self, palette: Palette) {
        self.palette = palette;
        self.forget();
    }

    /// The next frame is painted from nothing: after ctrl+l or a failed write.
    pub fn forget(&mut self) {
        self.inline.forget();
        if let Some(lines) = &mut self.full {
            lines.clear();
        }
        self.cursor = None;
        if self.place != Place::Assumed {
            self.row = None;
        }
    }

    /// Settled rows that are still on the main screen.
    pub fn settled_rows(&self) -> usize {
        self.inline.settled()
    }

    /// Whether an inline frame has to wait until it is known where the cursor is. Then
    /// `terminal::ASK_CURSOR` is written on the main screen, and `cursor_is_at` or, after a
    /// deadline, `cursor_is_unknown` follows. Without them, the next inline frame guesses.
    pub fn is_lost(&self) -> bool {
        matches!(self.place, Place::Launch | Place::Resized(_))
    }

    /// Whether nothing was painted yet, or not since somebody else had the terminal.
    pub fn begins(&self) -> bool {
        self.place == Place::Launch
    }

    /// The answer to the question where the cursor is, from 0, and the size of the terminal now.
    /// When that has changed since the question, the answer is worth nothing and the screen still
    /// lost. An answer that nobody waits for is ignored.
    pub fn cursor_is_at(&mut self, row: u16, column: u16, now: Size) {
        if self.place == Place::Known {
            return;
        }
        if at_least_one(now) != self.size {
            return self.resize(now);
        }
        let row = usize::from(row.min(self.size.rows - 1));
        self.row = match self.place {
            Place::Assumed if !self.is_fresh => {
                // What was painted since is further up by as many rows as it began further up.
                let up = self.inline.began_at(row + usize::from(column > 0));
                self.cursor = None;
                self.row.map(|row| row.saturating_sub(up))
            }
            Place::Launch | Place::Assumed => {
                self.inline.launch(row, usize::from(column), self.size);
                Some(row)
            }
            Place::Resized(_) => {
                self.inline.found(row, self.size, self.reflows);
                Some(row)
            }
            Place::Known => return,
        };
        self.is_fresh = false;
        self.place = Place::Known;
    }

    /// No answer came: e begins in the last row, or where most terminals would have the cursor.
    /// The answer to the question where e begins is welcome later.
    pub fn cursor_is_unknown(&mut self) {
        match self.place {
            Place::Launch => {
                let last = usize::from(self.size.rows) - 1;
                self.inline.launch(last, 0, self.size);
                self.row = Some(last);
                self.is_fresh = true;
                self.place = Place::Assumed;
            }
            Place::Resized(old) => {
                let row = self.inline.guess(old, self.size);
                self.inline.found(row, self.size, self.reflows);
                self.row = None;
                self.place = Place::Known;
            }
            Place::Assumed | Place::Known => {}
        }
    }

    /// The bytes that turn what the terminal shows into `frame`. None when it shows that already.
    pub fn paint(&mut self, frame: Frame) -> Vec<u8> {
        let (bytes, cursor) = match frame {
            Frame::Inline(frame) => {
                self.enter_inline();
                let mut out = Encoder::new(&self.palette, self.row);
                let cursor = self.inline.paint(frame, self.size, &mut out);
                self.row = Some(cursor.0.row);
                (out, cursor)
            }
            Frame::Full { surface, .. } if surface.size() != self.size => return Vec::new(),
            Frame::Full { surface, caret } => {
                let mut out = Encoder::new(&self.palette, None);
                let old = self.full.take().unwrap_or_default();
                self.full = Some(paint_full(old, surface, self.size, &mut out));
                (out, (caret.unwrap_or(HOME), caret.is_some()))
            }
        };
        let same_cursor = self.cursor.replace(cursor) == Some(cursor);
        if bytes.is_empty() && same_cursor {
            return Vec::new();
        }
        let bytes = bytes.finish(cursor.0, cursor.1);
        match self.full {
            Some(_) => bytes,
            None => self.freshly(bytes),
        }
    }

    /// Bytes for the main screen, which begin at the start of a row.
    fn freshly(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        match std::mem::take(&mut self.is_fresh) {
            true => [fresh_row(self.size), bytes].concat(),
            false => bytes,
        }
    }

    /// Takes the live region off the main screen, which somebody else gets: at the end, for the
    /// editor, or while e is suspended. What comes next begins at the cursor.
    pub fn park(&mut self) -> Vec<u8> {
        // Without a frame there is nothing to take away.
        if self.place == Place::Launch {
            return Vec::new();
        }
        self.enter_inline();
        let mut out = Encoder::new(&self.palette, self.row);
        let caret = self.inline.park(self.size, &mut out);
        self.place = Place::Launch;
        self.cursor = None;
        let bytes = out.finish(caret, true);
        self.freshly(bytes)
    }

    fn enter_inline(&mut self) {
        if self.full.take().is_some() {
            self.cursor = None;
        }
        if self.is_lost() {
            self.cursor_is_unknown();
        }
    }
}

/// Returns the lines that the alternate screen shows then. No old ones: nothing is known about it.
fn paint_full(
    mut old: Vec<Line>,
    surface: Surface,
    size: Size,
    out: &mut Encoder<'_>,
) -> Vec<Line> {
    let lines = surface.into_lines();
    if old.is_empty() {
        out.erase_below(0);
        old.resize(lines.len(), Line::default());
    }
    for (row, (old, new)) in old.iter().zip(&lines).enumerate() {
        let changes = changes(old, new);
        out.apply(row, new, changes, usize::from(size.columns));
    }
    lines
}

/// Goes to the start of a row: of the next one when there is text to the left of the cursor. So
/// many spaces fit into the row only from its start, and a terminal breaks the line otherwise.
fn fresh_row(size: Size) -> Vec<u8> {
    let mut bytes = vec![b' '; usize::from(size.columns) - 1];
    bytes.extend_from_slice(b"\r\x1b[K");
    bytes
}

const HOME: Caret = Caret { row: 0, column: 0 };

fn at_least_one(size: Size) -> Size {
    Size {
        columns: size.columns.max(1),
        rows: size.rows.max(1),
    }
}
