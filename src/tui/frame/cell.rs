//! One row of the screen as cells.
//!
//! A cell is a grapheme with its width cached, so nothing is measured twice. A wide grapheme is
//! followed by a continuation cell, so the index of a cell is its column. This is the last door
//! before the terminal: what could move the cursor does not become a cell.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{floor_char, width};
use crate::tui::style::{Row, Style};

/// Longest grapheme that is written whole, in bytes. Real ones stay far below.
const MAX_CLUSTER: usize = 128;

const JOINER: char = '\u{200d}';

/// What stands in one column, and in the continuations behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// A single character of one or two columns.
    Char(char),
    /// Terminals disagree about its width: several characters that are drawn as one, or an emoji,
    /// which tables of another age do not know.
    Cluster(Box<str>),
    /// A further column of the wide grapheme before it.
    Continuation,
}

/// One column of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    glyph: Glyph,
    /// Index into the styles of the line.
    style: u16,
}

/// A row of cells, without the plain blanks at its end.
#[derive(Clone, Debug, Default)]
pub struct Line {
    cells: Vec<Cell>,
    styles: Vec<Style>,
}

impl Line {
    /// The row, cut at `columns`.
    pub fn of(row: &Row, columns: usize) -> Self {
        let mut line = Self::default();
        line.draw(0, columns, row);
        line
    }

    /// Columns up to the last one that is not a plain blank.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether the whole row is blank.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// What stands in a column; a plain blank beyond the end.
    pub fn at(&self, column: usize) -> (&Glyph, &Style) {
        match self.cells.get(column) {
            Some(cell) => (&cell.glyph, &self.styles[usize::from(cell.style)]),
            None => (&BLANK, &PLAIN),
        }
    }

    /// Draws a row over `columns` columns from `left` on, blanks after its end. A wide grapheme
    /// that would stick out is a blank, on either side.
    pub fn draw(&mut self, left: usize, columns: usize, row: &Row) {
        if columns == 0 {
            return;
        }
        let right = left.saturating_add(columns);
        let mut cells = Vec::new();
        for span in &row.spans {
            let style = self.style(&span.style);
            if !push_text(&mut cells, columns, &span.text, style) {
                break;
            }
        }
        let plain = self.style(&PLAIN);
        let blank = Cell {
            glyph: BLANK,
            style: plain,
        };
        if left < self.cells.len() || !cells.is_empty() {
            cells.resize(
                columns.min(cells.len().max(self.cells.len())),
                blank.clone(),
            );
            if left >= self.cells.len() {
                self.cells.resize(left, blank.clone());
            }
            // What is cut apart on an edge loses its other part, too.
            let mut start = left;
            while start > 0 && self.is_continuation(start) {
                start -= 1;
            }
            self.cells[start..left].fill(blank.clone());
            let mut end = right;
            while self.is_continuation(end) {
                self.cells[end] = blank.clone();
                end += 1;
            }
            let end = right.min(self.cells.len());
            self.cells.splice(left..end, cells);
        }
        self.trim();
    }

    fn is_continuation(&self, column: usize) -> bool {
        matches!(
            self.cells.get(column),
            Some(Cell {
                glyph: Glyph::Continuation,
                ..
            })
        )
    }

    /// The index of a style, which is nearly always the newest or new.
    fn style(&mut self, style: &Style) -> u16 {
        let found = self.styles.iter().rposition(|known| known == style);
        let index = found.unwrap_or_else(|| {
            self.styles.push(style.clone());
            self.styles.len() - 1
        });
        // A line has at most as many styles as spans; a hostile row of more is drawn in its first.
        u16::try_from(index).unwrap_or_default()
    }

    fn trim(&mut self) {
        while let Some(cell) = self.cells.last() {
            let plain = cell.glyph == BLANK && self.styles[usize::from(cell.style)] == PLAIN;
            if !plain {
                break;
            }
            self.cells.pop();
        }
    }
}

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|at| self.at(at) == other.at(at))
    }
}

impl Eq for Line {}

const BLANK: Glyph = Glyph::Char(' ');

/// The style of what nobody drew.
const PLAIN: Style = Style {
    color: None,
    background: None,
    bold: false,
    dim: false,
    italic: false,
    underline: false,
    strike: false,
    reverse: false,
    link: None,
};

/// Appends the graphemes of `text`; `false` once the columns are full.
fn push_text(cells: &mut Vec<Cell>, columns: usize, text: &str, style: u16) -> bool {
    if text.is_ascii() {
        let room = columns - cells.len();
        cells.extend(text.chars().take(room).map(|c| Cell {
            glyph: Glyph::Char(if c.is_control() { '\u{fffd}' } else { c }),
            style,
        }));
        return text.len() < room;
    }
    for grapheme in text.graphemes(true) {
        let (glyph, width) = glyph(grapheme);
        if cells.len() + width > columns {
            return false;
        }
        if width > 0 {
            cells.push(Cell { glyph, style });
            let glyph = Glyph::Continuation;
            cells.resize(cells.len() + width - 1, Cell { glyph, style });
        }
    }
    true
}

/// A grapheme as a glyph, and its columns. One without a width is not drawn.
fn glyph(grapheme: &str) -> (Glyph, usize) {
    if grapheme.contains(is_no_text) {
        return (Glyph::Char('\u{fffd}'), 1);
    }
    let columns = width(grapheme);
    let mut chars = grapheme.chars();
    let glyph = match (chars.next(), chars.next()) {
        (Some(c), None) if columns == 1 || is_ideograph(c) => Glyph::Char(c),
        _ => {
            let cluster = &grapheme[..floor_char(grapheme, MAX_CLUSTER)];
            // A joiner at the end would join what is written next.
            Glyph::Cluster(cluster.trim_end_matches(JOINER).into())
        }
    };
    (glyph, columns)
}

/// Whether a terminal acts on it, or drops it: controls, and code points that are no characters.
fn is_no_text(c: char) -> bool {
    c.is_control() || matches!(u32::from(c), 0xfdd0..=0xfdef) || u32::from(c) & 0xfffe == 0xfffe
}

/// Whether it is among the wide characters that were so in every version of Unicode.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{ffff}' | '\u{20000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &Line) -> String {
        let mut text = String::new();
        for column in 0..line.len() {
            match line.at(column).0 {
                Glyph::Char(c) => text.push(*c),
                Glyph::Cluster(cluster) => text.push_str(cluster),
                Glyph::Continuation => text.push('<'),
            }
        }
        text
    }

    fn row(text: &str) -> Row {
        Row::of(text, Style::default())
    }

    #[test]
    fn graphemes_become_cells() {
        let flood = format!("c{}", "\u{301}".repeat(5000));
        let cases = [
            ("", 5, ""),
            ("abc", 5, "abc"),
            ("abc", 2, "ab"),
            ("abc", 0, ""),
            ("a b  ", 5, "a b"),
            ("日本", 4, "日<本<"),
            ("日本", 3, "日<"),
            ("日本", 1, ""),
            ("e\u{301}x", 5, "e\u{301}x"),
            ("\u{301}x", 5, "x"),
            ("a\x1b[2Jb", 9, "a\u{fffd}[2Jb"),
            ("é\r\nb\u{9b}", 9, "é\u{fffd}b\u{fffd}"),
            ("👨\u{200d}👩\u{200d}👧!", 9, "👨\u{200d}👩\u{200d}👧<!"),
            ("👩\u{200d}", 9, "👩<"),
            (&flood, 9, &flood[..MAX_CLUSTER - 1]),
            ("न्दी!", 9, "न्दी<<!"),
            ("a\u{ffff}\u{fdd0}b", 9, "a\u{fffd}\u{fffd}b"),
            ("a\u{61c}\u{2060}\u{180e}b", 9, "ab"),
        ];
        for (given, columns, expected) in cases {
            assert_eq!(text(&Line::of(&row(given), columns)), expected, "{given:?}");
        }
    }

    #[test]
    fn drawing_stays_between_its_edges() {
        let cases = [
            ("abcdef", 2, 2, "x", "abx ef"),
            ("abcdef", 2, 2, "xyz", "abxyef"),
            ("日本語", 1, 2, "xy", " xy 語<"),
            ("日本語", 1, 1, "x", " x本<語<"),
            ("日本語", 2, 1, "x", "日<x 語<"),
            ("न्दीab", 2, 2, "xy", "  xyb"),
            ("न्दीab", 0, 1, "x", "x  ab"),
            ("ab", 4, 3, "x", "ab  x"),
            ("ab", 4, 3, "", "ab"),
            ("abcdef", 3, 9, "", "abc"),
            ("", 0, 0, "x", ""),
        ];
        for (base, left, columns, over, expected) in cases {
            let mut line = Line::of(&row(base), 20);
            line.draw(left, columns, &row(over));
            assert_eq!(text(&line), expected, "{base:?} {left} {columns} {over:?}");
        }
    }

    #[test]
    fn a_styled_blank_is_kept_and_compared() {
        let reverse = Style {
            reverse: true,
            ..Style::default()
        };
        let mut cursor = row("ab");
        cursor.push(" ", reverse);
        let line = Line::of(&cursor, 9);
        assert_eq!(line.len(), 3);
        assert_ne!(line, Line::of(&row("ab"), 9));
        assert_eq!(line, Line::of(&cursor, 3));
    }
}
