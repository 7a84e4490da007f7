//! The main screen: a live region that is redrawn in place, below rows that are settled and
//! belong to the terminal once they have scrolled away.
//!
//! What is kept is a model of the rows that e has on the screen. Every settled row is written
//! once, and rows only leave the screen by the top, in order, when they are final. A resize moves
//! rows in ways that differ between terminals; the cursor moves with its row in all of them, so
//! where it is afterwards tells where everything is.

use std::collections::VecDeque;

use super::cell::Line;
use super::diff::changes;
use super::encode::Encoder;
use super::surface::Size;
use crate::tui::style::Row;

/// A place in the rows of a frame, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caret {
    /// Row.
    pub row: usize,
    /// Column.
    pub column: usize,
}

/// What the main screen shall show.
#[derive(Clone, Debug, Default)]
pub struct InlineFrame {
    /// How many of the settled rows that are still on the screen (`Screen::settled_rows`) are
    /// taken back first, because they come again in another width or look.
    pub replace: usize,
    /// Rows that settled since the last frame, in order. Each is given once.
    pub settled: Vec<Row>,
    /// What follows them and may still change. Of more rows than the screen has, the last are shown.
    pub live: Vec<Row>,
    /// Where the cursor is in `live`; hidden when there is none.
    pub caret: Option<Caret>,
}

/// The rows of e on the main screen.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// The row of the screen that the first line is in. Above is what others wrote.
    top: usize,
    lines: Vec<Line>,
    /// How many lines, from the first, are settled.
    settled: usize,
    /// The line that the cursor is in, and its column.
    cursor: (usize, usize),
    /// Live rows that a resize pushed into the scrollback, where they cannot be called back. They
    /// count as written when they settle as they were.
    strays: VecDeque<Line>,
    /// The terminal does not show what `lines` say.
    dirty: bool,
    /// The width that the lines were made for.
    columns: usize,
    /// Where the terminal has wrapped lines that became too long for it.
    wraps_at: Option<usize>,
}

impl Inline {
    /// Settled rows that are still on the screen.
    pub(super) fn settled(&self) -> usize {
        self.settled
    }

    /// The next frame is drawn anew where the last one was.
    pub(super) fn forget(&mut self) {
        self.dirty = true;
    }

    /// Begins below all that is on the screen, at the cursor.
    pub(super) fn launch(&mut self, row: usize, column: usize, size: Size) {
        let top = row + usize::from(column > 0);
        *self = Self {
            top: top.min(usize::from(size.rows)),
            columns: usize::from(size.columns),
            dirty: true,
            ..Self::default()
        };
    }

    /// e was launched in the last row for all it knew, and this is where it really was. Returns how
    /// many rows further up everything is than was thought.
    pub(super) fn began_at(&mut self, row: usize) -> usize {
        let top = self.top.min(row);
        let up = self.top - top;
        self.top = top;
        up
    }

    /// After a resize, with the cursor found in `row`. `reflows` says that the terminal wraps rows
    /// that became too long.
    pub(super) fn found(&mut self, row: usize, size: Size, reflows: bool) {
        let columns = usize::from(size.columns);
        self.wraps_at = (reflows && columns < self.columns).then_some(columns);
        self.dirty = true;
        let (line, column) = self.cursor;
        let wrapped = self.wraps_at.map_or(0, |at| column / at);

        // Rows that were pushed out at the top.
        let gone = (self.height(..line) + wrapped).saturating_sub(row);
        let count = (0..line).find(|count| self.height(..*count) >= gone);
        let count = count.unwrap_or(line);
        let settled = count.min(self.settled);
        self.strays.extend(self.lines.drain(..count).skip(settled));
        self.settled -= settled;
        self.cursor.0 -= count;
        // Of a live row that is partly gone, the rest is cleared; of a settled one it stays.
        self.top = match count > settled {
            true => 0,
            false => row.saturating_sub(self.height(..self.cursor.0) + wrapped),
        };
        // Rows that the terminal took back from the scrollback when it grew.
        if columns == self.columns && self.settled == 0 {
            let back = self.top.min(self.strays.len());
            let back = self.strays.split_off(self.strays.len() - back);
            self.top -= back.len();
            self.cursor.0 += back.len();
            self.lines.splice(0..0, back);
        }
    }

    /// Where a terminal that does not answer has the cursor after a resize.
    pub(super) fn guess(&self, old: Size, new: Size) -> usize {
        let (old, new) = (usize::from(old.rows), usize::from(new.rows));
        let row = (self.top + self.cursor.0).min(old.saturating_sub(1));
        let below = old.saturating_sub(row + 1);
        let row = match self.top {
            _ if new < old => row - (old - new).saturating_sub(below).min(row),
            0 => row + (new - old),
            _ => row,
        };
        row.min(new.saturating_sub(1))
    }

    /// Writes what differs from the last frame. Returns where the cursor belongs, in rows and
    /// columns of the screen, and whether it is shown.
    pub(super) fn paint(
        &mut self,
        frame: InlineFrame,
        size: Size,
        out: &mut Encoder<'_>,
    ) -> (Caret, bool) {
        let (columns, rows) = (usize::from(size.columns), usize::from(size.rows));
        let first = first_shown(&frame, rows);
        let keep = self.settled - frame.replace.min(self.settled);
        let keep = self.give_up(keep, columns);

        // What stays is on the screen as it is, so that a frame costs only what is new or live.
        let mut old = self.lines.split_off(keep);
        let mut first_changed = keep;
        for row in &frame.settled {
            let line = Line::of(row, columns);
            if self.strays.front() == Some(&line) {
                self.strays.pop_front();
                continue;
            }
            self.strays.clear();
            self.lines.push(line);
        }
        self.settled = self.lines.len();
        let live = frame.live.iter().skip(first).take(rows);
        self.lines.extend(live.map(|row| Line::of(row, columns)));

        if std::mem::take(&mut self.dirty) {
            // Below the last row there is nothing to erase.
            if self.top < rows {
                out.erase_below(self.top);
            }
            old.clear();
            first_changed = 0;
        }
        self.write(first_changed, &old, size, out);

        let scrolled = (self.top + self.lines.len()).saturating_sub(rows);
        let gone = scrolled.saturating_sub(self.top);
        self.top = self.top.saturating_sub(scrolled);
        self.lines.drain(..gone);
        self.lines.shrink_to(2 * rows);
        self.settled -= gone;

        let last = self.lines.len().saturating_sub(1);
        self.cursor = match frame.caret {
            Some(caret) => {
                let row = self.settled + caret.row.saturating_sub(first);
                (row.min(last), caret.column.min(columns - 1))
            }
            None => (last, 0),
        };
        let place = Caret {
            row: (self.top + self.cursor.0).min(rows - 1),
            column: self.cursor.1,
        };
        (place, frame.caret.is_some())
    }

    /// Erases the live region and leaves the cursor where it began, for whoever has the terminal
    /// next.
    pub(super) fn park(&mut self, size: Size, out: &mut Encoder<'_>) -> Caret {
        let frame = InlineFrame::default();
        let rows = usize::from(size.rows);
        self.paint(frame, size, out);
        if self.top + self.lines.len() >= rows {
            out.scroll(rows - 1);
        }
        let row = (self.top + self.lines.len()).min(rows - 1);
        Caret { row, column: 0 }
    }

    /// Settled lines of another width are left to the terminal, all but those that come again.
    fn give_up(&mut self, keep: usize, columns: usize) -> usize {
        let before = std::mem::replace(&mut self.columns, columns);
        if before == columns {
            return keep;
        }
        self.top += self.height(..keep);
        self.wraps_at = None;
        self.lines.drain(..keep);
        0
    }

    /// Rows of the screen that some lines take.
    fn height(&self, lines: std::ops::RangeTo<usize>) -> usize {
        let rows = |line: &Line| match self.wraps_at {
            Some(columns) => line.len().div_ceil(columns).max(1),
            None => 1,
        };
        self.lines[lines].iter().map(rows).sum()
    }

    /// Writes the lines from `first` on over the `old` ones. Rows that fit are changed in place.
    /// Each further one scrolls the screen by one, so that what leaves it is complete by then.
    fn write(&self, first: usize, old: &[Line], size: Size, out: &mut Encoder<'_>) {
        let (columns, rows) = (usize::from(size.columns), usize::from(size.rows));
        let blank = Line::default();
        let new = &self.lines[first..];
        let top = self.top + first;
        let fit = rows.saturating_sub(top).min(new.len());
        for (index, line) in new[..fit].iter().enumerate() {
            let changes = changes(old.get(index).unwrap_or(&blank), line);
            out.apply(top + index, line, changes, columns);
        }
        if old.iter().skip(new.len()).any(|line| !line.is_empty()) {
            out.erase_below(top + new.len());
        }
        for line in &new[fit..] {
            out.scroll(rows - 1);
            out.apply(rows - 1, line, changes(&blank, line), columns);
        }
    }
}

/// The first live row that is shown: the last rows are, but the caret always.
fn first_shown(frame: &InlineFrame, rows: usize) -> usize {
    let first = frame.live.len().saturating_sub(rows);
    frame.caret.map_or(first, |caret| first.min(caret.row))
}
