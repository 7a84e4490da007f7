//! What has to be written so that one line becomes another.

use super::cell::{Glyph, Line};

/// A part of a line that must be written, in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Write these cells of the new line.
    Write(std::ops::Range<usize>),
    /// Erase from this column to the end.
    Erase(usize),
}

/// Unchanged columns that are cheaper to write again than to skip: moving the cursor takes about
/// as many bytes.
const GAP: usize = 6;

/// The changes from the left. Both lines are at most as wide as the screen.
pub fn changes(old: &Line, new: &Line) -> Vec<Change> {
    let mut changes = Vec::new();
    let is_unsure = |line: &Line| (0..line.len()).any(|at| is_cluster(line, at));
    // Where the terminal thinks that a cluster ends is not known, so what follows the first change
    // is written again.
    let is_unsure = is_unsure(old) || is_unsure(new);
    let mut column = 0;
    while column < new.len() {
        if old.at(column) == new.at(column) {
            column += 1;
            continue;
        }
        let end = match is_unsure {
            true => new.len(),
            false => run_end(old, new, column),
        };
        changes.push(Change::Write(column..end));
        column = end;
    }
    if old.len() > new.len() || (!changes.is_empty() && is_unsure) {
        changes.push(Change::Erase(new.len()));
    }
    changes
}

/// The end of the run of changes that begins at `start`.
fn run_end(old: &Line, new: &Line, start: usize) -> usize {
    let mut end = start;
    for column in start..new.len() {
        if old.at(column) != new.at(column) {
            end = column + 1;
        } else if column >= end + GAP {
            break;
        }
    }
    // The right half of a wide grapheme is written with the left one.
    while end < new.len() && *new.at(end).0 == Glyph::Continuation {
        end += 1;
    }
    end
}

fn is_cluster(line: &Line, column: usize) -> bool {
    matches!(line.at(column).0, Glyph::Cluster(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::style::{Row, Style};

    fn line(text: &str) -> Line {
        Line::of(&Row::of(text, Style::default()), 40)
    }

    #[test]
    fn only_what_changed_is_written() {
        use Change::{Erase, Write};
        let cases: [(&str, &str, Vec<Change>); 12] = [
            ("", "", vec![]),
            ("abc", "abc", vec![]),
            ("abc", "abd", vec![Write(2..3)]),
            ("abc", "ab", vec![Erase(2)]),
            ("", "ab", vec![Write(0..2)]),
            ("a12b", "x12y", vec![Write(0..4)]),
            ("a1234567b", "x1234567y", vec![Write(0..1), Write(8..9)]),
            ("日本", "ab本", vec![Write(0..2)]),
            ("ab本", "日本", vec![Write(0..2)]),
            ("a日b", "日ab", vec![Write(0..3)]),
            ("a🙂 bc", "x🙂 bc", vec![Write(0..6), Erase(6)]),
            ("🙂 abc", "🙂 xbc", vec![Write(3..6), Erase(6)]),
        ];
        for (old, new, expected) in cases {
            assert_eq!(changes(&line(old), &line(new)), expected, "{old:?} {new:?}");
        }
    }
}
