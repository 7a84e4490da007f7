//! Lines to bytes. The only place that writes escape sequences for what is on the screen.
//!
//! A frame is one write: inside a synchronised update, with the cursor hidden and without
//! automatic line breaks, so that a terminal which takes a grapheme for wider than it is cannot
//! break the rows below.

use std::io::Write;
use std::ops::Range;

use super::cell::{Glyph, Line};
use super::diff::Change;
use super::inline::Caret;
use crate::tui::style::Style;
use crate::tui::theme::Palette;

/// Longest link that is written, in bytes: what terminals take.
const MAX_LINK: usize = 2083;

const BEGIN: &[u8] = b"\x1b[?2026h\x1b[?25l\x1b[?7l";
const END: &[u8] = b"\x1b[?7h\x1b[?2026l";

/// Bytes of one frame while it is built.
pub struct Encoder<'a> {
    palette: &'a Palette,
    out: Vec<u8>,
    /// The style that was asked for last, and what turned it on; nothing for the plain one.
    style: Option<Style>,
    worn: Vec<u8>,
    /// The row that the cursor is in, when it is known.
    row: Option<usize>,
}

impl<'a> Encoder<'a> {
    /// Nothing so far. With the row that the cursor is in, every way is relative to it, so that
    /// rows land where they belong even when a resize has moved all of them meanwhile.
    pub fn new(palette: &'a Palette, row: Option<usize>) -> Self {
        Self {
            palette,
            out: Vec::new(),
            style: None,
            worn: Vec::new(),
            row,
        }
    }

    /// Goes to a row and a column, both from 0.
    pub fn go(&mut self, row: usize, column: usize) {
        self.begin();
        // Writing to a vector cannot fail.
        let _ = match self.row.replace(row) {
            None => write!(self.out, "\x1b[{}H", row + 1),
            Some(from) if row < from => write!(self.out, "\x1b[{}A", from - row),
            Some(from) => {
                self.down(row - from);
                Ok(())
            }
        };
        self.go_column(column);
    }

    fn go_column(&mut self, column: usize) {
        // Writing to a vector cannot fail.
        let _ = match column {
            0 => write!(self.out, "\r"),
            _ => write!(self.out, "\x1b[{}G", column + 1),
        };
    }

    /// Scrolls by one from the last row, and stands at the start of the blank row.
    pub fn scroll(&mut self, last: usize) {
        self.go(last, 0);
        self.down(1);
    }

    /// Erases from a row to the end of the screen.
    pub fn erase_below(&mut self, row: usize) {
        self.plain();
        self.go(row, 0);
        if row == 0 {
            // From the upper left corner on, tmux takes it for clearing the screen and copies all
            // of it into its scrollback.
            self.out.extend_from_slice(b"\x1b[K\x1b[B");
            self.row = Some(1);
        }
        self.out.extend_from_slice(b"\x1b[J");
    }

    /// Makes what is in `row` the new line. `columns` is the width of the screen.
    pub fn apply(&mut self, row: usize, line: &Line, changes: Vec<Change>, columns: usize) {
        for change in changes {
            match change {
                Change::Write(cells) => {
                    self.go(row, cells.start);
                    self.cells(line, cells);
                }
                // Erasing beyond a full row would take its last cell.
                Change::Erase(column) if column < columns => {
                    self.plain();
                    self.go(row, column);
                    self.out.extend_from_slice(b"\x1b[K");
                }
                Change::Erase(_) => {}
            }
        }
    }

    /// The bytes of the frame, with the cursor at `caret`.
    pub fn finish(mut self, caret: Caret, is_shown: bool) -> Vec<u8> {
        self.plain();
        self.go(caret.row, caret.column);
        if is_shown {
            self.out.extend_from_slice(b"\x1b[?25h");
        }
        self.out.extend_from_slice(END);
        self.out
    }

    /// Whether anything was written.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// By line feeds, which scroll where a shorter screen than expected ends, and lose nothing.
    fn down(&mut self, rows: usize) {
        if rows > 0 {
            // A new row takes the background of the moment, so the style goes first.
            self.plain();
        }
        self.out.resize(self.out.len() + rows, b'\n');
    }

    fn begin(&mut self) {
        if self.out.is_empty() {
            self.out.extend_from_slice(BEGIN);
        }
    }

    fn cells(&mut self, line: &Line, cells: Range<usize>) {
        let mut buffer = [0; 4];
        // The column that has to be said before anything is written there.
        let mut unsure = None;
        for column in cells {
            let (glyph, style) = line.at(column);
            if *glyph == Glyph::Continuation {
                continue;
            }
            if unsure.take() == Some(column) {
                self.go_column(column);
            }
            self.wear(style);
            match glyph {
                Glyph::Continuation => {}
                Glyph::Char(c) => {
                    let text = c.encode_utf8(&mut buffer).as_bytes();
                    self.out.extend_from_slice(text);
                }
                // A terminal that takes it for narrower leaves some of its columns as they are, and
                // one that takes it for wider writes into those that follow.
                Glyph::Cluster(cluster) => {
                    let is_next = |at: &usize| *line.at(*at).0 == Glyph::Continuation;
                    let columns = 1 + (column + 1..).take_while(is_next).count();
                    if columns > 1 {
                        self.out.resize(self.out.len() + columns, b' ');
                        self.go_column(column);
                    }
                    self.out.extend_from_slice(cluster.as_bytes());
                    unsure = Some(column + columns);
                }
            }
        }
    }

    /// Styles that look the same are one.
    fn wear(&mut self, style: &Style) {
        if self.style.as_ref() == Some(style) {
            return;
        }
        let mut on = Vec::new();
        self.palette.sgr(style, &mut on);
        if let Some(link) = link(style) {
            let _ = write!(on, "\x1b]8;;{link}\x1b\\");
        }
        if on != self.worn {
            self.plain();
            self.out.extend_from_slice(&on);
            self.worn = on;
        }
        self.style = Some(style.clone());
    }

    fn plain(&mut self) {
        let style = self.style.take();
        if std::mem::take(&mut self.worn).is_empty() {
            return;
        }
        self.out.extend_from_slice(b"\x1b[m");
        if style.as_ref().and_then(link).is_some() {
            self.out.extend_from_slice(b"\x1b]8;;\x1b\\");
        }
    }
}

/// The link of a style, when it cannot end its own sequence.
fn link(style: &Style) -> Option<&str> {
    let link = style.link.as_deref()?;
    let clean = link.bytes().all(|byte| matches!(byte, 0x21..=0x7e));
    (clean && link.len() <= MAX_LINK).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::super::diff::changes;
    use super::*;
    use crate::tui::style::{Row, Token};
    use crate::tui::theme::{Background, Depth, Theme};

    fn encoded(row: &Row, depth: Depth) -> String {
        let palette = Palette::new(Theme::built_in(Background::Dark), depth);
        let mut out = Encoder::new(&palette, None);
        let line = Line::of(row, 20);
        out.apply(2, &line, changes(&Line::default(), &line), 20);
        let bytes = out.finish(Caret { row: 2, column: 1 }, true);
        let text = String::from_utf8(bytes).unwrap();
        let text = text
            .strip_prefix("\x1b[?2026h\x1b[?25l\x1b[?7l\x1b[3H\r")
            .unwrap();
        let end = "\x1b[2G\x1b[?25h\x1b[?7h\x1b[?2026l";
        text.strip_suffix(end).unwrap().replace('\x1b', "^")
    }

    #[test]
    fn styles_and_links_are_closed() {
        let link = |link: &str| Style {
            link: Some(link.into()),
            ..Style::colored(Token::Accent)
        };
        let long = "x".repeat(MAX_LINK + 1);
        let cases = [
            (Style::default(), "a"),
            (Style::colored(Token::Text).bold(), "^[1ma^[m"),
            (link("http://x"), "^[38;5;111m^]8;;http://x^\\a^[m^]8;;^\\"),
            (link("http://x\x1b\\"), "^[38;5;111ma^[m"),
            (link("http://x\u{9c}"), "^[38;5;111ma^[m"),
            (link(&long), "^[38;5;111ma^[m"),
        ];
        for (style, expected) in cases {
            let row = Row::of("a", style);
            assert_eq!(encoded(&row, Depth::Indexed), expected);
        }
        let mut row = Row::of("ab", Style::colored(Token::Error));
        row.push("cd", Style::default());
        row.push("ef", Style::default().bold());
        assert_eq!(encoded(&row, Depth::Indexed), "^[38;5;203mab^[mcd^[1mef^[m");
        assert_eq!(encoded(&row, Depth::None), "abcd^[1mef^[m");
    }

    #[test]
    fn the_columns_of_a_cluster_are_said() {
        let row = Row::of("a❤\u{fe0f}b日ce\u{301}f", Style::default());
        assert_eq!(
            encoded(&row, Depth::None),
            "a  ^[2G❤\u{fe0f}^[4Gb日ce\u{301}^[9Gf^[10G^[K"
        );
    }
}
