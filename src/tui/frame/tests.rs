//! Frames on terminals that disagree about widths: whatever a cluster takes, all that is outside of
//! its own cells is as it should be, and what was painted step by step is what a fresh screen shows.

use unicode_width::UnicodeWidthChar;

use super::cell::{Glyph, Line};
use super::{Caret, Frame, Screen, Size, Surface};
use crate::text::testing::random;
use crate::tui::style::{Row, Style};
use crate::tui::theme::{Background, Depth, Palette, Theme};

const SIZE: Size = Size {
    columns: 14,
    rows: 2,
};

/// How a terminal counts columns.
#[derive(Clone, Copy, Debug)]
struct Taste {
    columns: fn(char) -> usize,
    /// A joiner makes one of two, and a selector makes its character wide.
    joins: bool,
}

const TASTES: [Taste; 4] = [
    // By the tables, character by character.
    Taste {
        columns: |c| c.width().unwrap_or(0),
        joins: false,
    },
    // By the tables, with sequences.
    Taste {
        columns: |c| c.width().unwrap_or(0),
        joins: true,
    },
    // An old one, which knows ideographs alone.
    Taste {
        columns: |c| match c {
            '\u{2e80}'..='\u{9fff}' => 2,
            c => c.width().unwrap_or(0).min(1),
        },
        joins: false,
    },
    // One that gives every mark a column.
    Taste {
        columns: |c| c.width().unwrap_or(0).max(1),
        joins: false,
    },
];

/// A terminal without scrolling. A continuation is an empty cell.
#[derive(Clone, Debug)]
struct Model {
    taste: Taste,
    cells: Vec<Vec<String>>,
    row: usize,
    column: usize,
}

impl Model {
    fn new(taste: Taste) -> Self {
        let blank = vec![" ".to_owned(); SIZE.columns.into()];
        Self {
            taste,
            cells: vec![blank; SIZE.rows.into()],
            row: 0,
            column: 0,
        }
    }

    fn feed(&mut self, bytes: Vec<u8>) {
        let text = String::from_utf8(bytes).unwrap();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\x1b' => {
                    let sequence = rest.as_str();
                    let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                    self.act(&sequence[1..end], sequence.as_bytes()[end]);
                    rest = sequence[end + 1..].chars();
                }
                '\r' => self.column = 0,
                '\n' => self.row = (self.row + 1).min(self.cells.len() - 1),
                c => self.print(c),
            }
        }
    }

    fn act(&mut self, params: &str, last: u8) {
        let number = params.parse().unwrap_or(1);
        match last {
            b'H' => (self.row, self.column) = (number - 1, 0),
            b'G' => self.column = number - 1,
            b'A' => self.row -= number,
            b'B' => self.row = (self.row + number).min(self.cells.len() - 1),
            b'K' => self.put(self.column..usize::from(SIZE.columns), " "),
            b'J' => {
                self.put(self.column..usize::from(SIZE.columns), " ");
                for row in self.row + 1..self.cells.len() {
                    self.cells[row].fill(" ".into());
                }
            }
            _ => {}
        }
    }

    /// Prints without breaking lines: in the last column what comes last stays, and what is too wide
    /// for it is not drawn.
    fn print(&mut self, c: char) {
        let last = usize::from(SIZE.columns) - 1;
        let columns = (self.taste.columns)(c);
        let is_selector = self.taste.joins && c == '\u{fe0f}';
        let row = &self.cells[self.row];
        let before = (0..self.column).rev().find(|at| !row[*at].is_empty());
        let is_joined = before.is_some_and(|at| self.taste.joins && row[at].ends_with('\u{200d}'));
        match before {
            Some(at) if columns == 0 || is_selector || is_joined => {
                let text = row[at].clone() + c.encode_utf8(&mut [0; 4]);
                if is_selector && at + 1 == self.column && self.column <= last {
                    self.put(at..at + 2, &text);
                    self.column += 1;
                } else {
                    self.cells[self.row][at] = text;
                }
            }
            None if columns == 0 => {}
            _ => {
                let start = self.column.min(last);
                if start + columns <= last + 1 && (columns == 1 || self.column <= last) {
                    self.put(start..start + columns, c.encode_utf8(&mut [0; 4]));
                    self.column = start + columns;
                }
            }
        }
    }

    /// What is overwritten in part is blank in its other part.
    fn put(&mut self, range: std::ops::Range<usize>, text: &str) {
        let row = &mut self.cells[self.row];
        let mut start = range.start;
        while row.get(start).is_some_and(String::is_empty) {
            start -= 1;
            row[start] = " ".into();
        }
        let mut end = range.end;
        while row.get(end).is_some_and(String::is_empty) {
            row[end] = " ".into();
            end += 1;
        }
        for at in range.clone() {
            let is_first = at == range.start || text == " ";
            row[at] = if is_first { text.into() } else { String::new() };
        }
    }
}

/// Compares what a line says with what is seen, outside of clusters.
fn check(line: &Line, seen: &[String], context: &str) {
    let mut in_cluster = false;
    for (column, seen) in seen.iter().enumerate() {
        let wanted = match line.at(column).0 {
            Glyph::Cluster(_) => {
                in_cluster = true;
                continue;
            }
            Glyph::Continuation if in_cluster => continue,
            Glyph::Continuation => String::new(),
            Glyph::Char(c) => c.to_string(),
        };
        in_cluster = false;
        assert_eq!(*seen, wanted, "column {column} of {line:?}, {context}");
    }
}

#[test]
fn terminals_that_disagree_show_the_same() {
    let pieces = "a|b| |日|🙂|☺\u{fe0f}|1\u{fe0f}\u{20e3}|☎\u{fe0e}|👩\u{200d}👧|👍🏽|🇩🇪|🇩|\u{1112}\u{1161}\u{11ab}|e\u{301}|न्दी|\u{ad}|\u{61c}|\u{2060}|…";
    let pieces: Vec<&str> = pieces.split('|').collect();
    let mut random = random(11);
    let screen = || {
        let palette = Palette::new(Theme::built_in(Background::Dark), Depth::None);
        Screen::new(SIZE, palette, true)
    };
    for _ in 0..150 {
        let mut painted = screen();
        let mut terminals = TASTES.map(Model::new);
        let mut words: Vec<Vec<&str>> = vec![Vec::new(); SIZE.rows.into()];
        for _ in 0..12 {
            // Lines mostly keep their beginnings, as drafts and replies do.
            for words in &mut words {
                words.truncate(random(words.len() + 1).max(random(words.len() + 1)));
                words.extend((0..random(6)).map(|_| pieces[random(pieces.len())]));
                words.truncate(12);
            }
            let rows: Vec<Row> = words
                .iter()
                .map(|words| Row::of(words.concat(), Style::default()))
                .collect();
            let frame = || {
                let mut surface = Surface::new(SIZE);
                surface.draw(surface.area(), &rows);
                let caret = Some(Caret { row: 1, column: 3 });
                Frame::Full { surface, caret }
            };
            let changes = painted.paint(frame());
            let whole = screen().paint(frame());
            for terminal in &mut terminals {
                let context = format!("{:?}, {:?}", terminal, String::from_utf8_lossy(&changes));
                terminal.feed(changes.clone());
                for (row, seen) in rows.iter().zip(&terminal.cells) {
                    check(&Line::of(row, SIZE.columns.into()), seen, &context);
                }
                let mut fresh = Model::new(terminal.taste);
                fresh.feed(whole.clone());
                assert_eq!(fresh.cells, terminal.cells, "{context}");
            }
        }
    }
}
