//! Diffs as rows: numbers and signs in their colours, the words that changed in bold.
//!
//! Both grammars are read: e's own rows (`text::diff_rows`) and unified diffs, whose numbers are
//! counted from their hunk heads.

use similar::{ChangeTag, TextDiff};

use super::rich::Rich;
use super::style::{Row, Style, Token};
use crate::text::{clip_bytes, expand_tabs, wrap_hard};

/// Columns of number and sign before the text.
pub const MARGIN: usize = 8;
/// Longest lines whose words are compared, in bytes.
const MAX_COMPARED: usize = 500;
/// Most lines in a row of one sign that are compared with others.
const MAX_RUN: usize = 100;

/// A diff that was read. Its rows are drawn one by one: most of a long one is never seen.
#[derive(Clone, Debug)]
pub struct Diff(Vec<Line>);

#[derive(Clone, Debug)]
enum Line {
    /// `sign`, the line's number, its text.
    Numbered(char, u64, String),
    /// A path, or something that stands for itself.
    Plain(String),
    /// Lines are left out here.
    Gap,
}

impl Diff {
    /// Reads a clean text; none when it is not a diff.
    pub fn parse(body: &str) -> Option<Self> {
        own_rows(body).or_else(|| unified(body)).map(Self)
    }

    /// The same without its first row when that says only `name`.
    pub fn without_name(mut self, name: &str) -> Self {
        if matches!(self.0.first(), Some(Line::Plain(text)) if text == name) {
            self.0.remove(0);
        }
        self
    }

    /// Its rows, uncut.
    pub fn rows(&self) -> impl Iterator<Item = Rich> {
        (0..self.count()).filter_map(|at| self.row(at, usize::MAX))
    }

    /// How many rows it has.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// One row with at most so many bytes of its line. Words that differ from those of its
    /// counterpart are bold.
    pub fn row(&self, at: usize, most: usize) -> Option<Rich> {
        let mut row = draw(self.0.get(at)?, most);
        if let Some(other) = self.counterpart(at) {
            mark_words(&mut row, &draw(&self.0[other], most));
        }
        Some(row)
    }

    /// The text of a row.
    pub fn text(&self, at: usize) -> Option<String> {
        Some(draw(self.0.get(at)?, usize::MAX).text().to_owned())
    }

    /// The line that took the place of this one, or the one whose place it took: where as many
    /// lines were added as were removed.
    fn counterpart(&self, at: usize) -> Option<usize> {
        let after = |from: usize, sign| {
            let signs = (from..self.count()).map(|at| self.sign(at));
            signs
                .take(MAX_RUN + 1)
                .take_while(|one| *one == sign)
                .count()
        };
        let before = |to: usize, sign| {
            let signs = (0..to).rev().map(|at| self.sign(at));
            signs
                .take(MAX_RUN + 1)
                .take_while(|one| *one == sign)
                .count()
        };
        let sign = self.sign(at);
        let own = before(at, sign);
        let start = at - own;
        let (removed, added) = match sign {
            '-' => {
                let removed = own + after(at, '-');
                (removed, after(start + removed, '+'))
            }
            '+' => (before(start, '-'), own + after(at, '+')),
            _ => return None,
        };
        let place = match sign {
            '-' => at + removed,
            _ => at.checked_sub(removed)?,
        };
        (removed == added && removed <= MAX_RUN).then_some(place)
    }

    fn sign(&self, at: usize) -> char {
        match self.0.get(at) {
            Some(Line::Numbered(sign, _, _)) => *sign,
            Some(Line::Plain(_) | Line::Gap) | None => ' ',
        }
    }
}

/// Bytes and columns of number and sign before a line's text; 0 for lines that have none.
pub fn margin(line: &Rich) -> usize {
    let text = line.text();
    match own_row(text) {
        Some(Line::Numbered(..)) => {
            let number = text.trim_start_matches(' ');
            let digits = number.bytes().take_while(u8::is_ascii_digit).count();
            (text.len() - number.len() + digits + 3).min(text.len())
        }
        Some(Line::Plain(_) | Line::Gap) | None => 0,
    }
}

/// Lines as rows of at most `columns`: what is longer goes on under its text.
pub fn wrap(line: &Rich, columns: usize) -> Vec<Row> {
    let margin = if columns > 2 * MARGIN { MARGIN } else { 0 };
    let ranges = wrap_hard(line.text(), columns, columns - margin);
    let mut rows = line.rows(ranges);
    for row in rows.iter_mut().skip(1).filter(|_| margin > 0) {
        let text = std::mem::take(&mut row.spans);
        row.push(" ".repeat(margin), Style::default());
        row.spans.extend(text);
    }
    rows
}

/// `   12 + text`, and nothing else but gaps, below a path.
fn own_rows(body: &str) -> Option<Vec<Line>> {
    let mut numbered = 0;
    let mut lines = Vec::new();
    for (index, row) in body.split('\n').enumerate() {
        let line = match own_row(row) {
            Some(line) => line,
            None if index == 0 => Line::Plain(row.to_owned()),
            None => return None,
        };
        numbered += usize::from(matches!(line, Line::Numbered(..)));
        lines.push(line);
    }
    (numbered > 0).then_some(lines)
}

fn own_row(row: &str) -> Option<Line> {
    if row.trim() == "⋯" {
        return Some(Line::Gap);
    }
    let start = row.len() - row.trim_start_matches(' ').len();
    let digits = row[start..].bytes().take_while(u8::is_ascii_digit).count();
    let end = start + digits;
    let number = row[start..end].parse().ok()?;
    let mut marks = row[end..].chars();
    let sign = match (marks.next(), marks.next(), marks.next()) {
        (Some(' '), Some(sign @ (' ' | '+' | '-')), Some(' ') | None) if end >= 5 => sign,
        _ => return None,
    };
    Some(Line::Numbered(sign, number, marks.as_str().to_owned()))
}

fn unified(body: &str) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    let (mut old, mut new) = (0u64, 0u64);
    let (mut old_left, mut new_left) = (0u64, 0u64);
    let mut hunks_of_file = 0;
    let mut hunks = 0;
    let mut path = String::new();
    for line in body.lines() {
        let in_hunk = old_left > 0 || new_left > 0;
        if in_hunk {
            let (sign, text) = match line.chars().next() {
                Some(sign @ (' ' | '+' | '-')) => (sign, &line[1..]),
                // Some tools drop the blank of an empty context line.
                None => (' ', ""),
                Some(_) => continue,
            };
            let number = if sign == '-' { old } else { new };
            lines.push(Line::Numbered(sign, number, text.to_owned()));
            if sign != '+' {
                (old, old_left) = (old.saturating_add(1), old_left.saturating_sub(1));
            }
            if sign != '-' {
                (new, new_left) = (new.saturating_add(1), new_left.saturating_sub(1));
            }
        } else if let Some(head) = line.strip_prefix("@@ -") {
            let (from, count, to, new_count) = hunk_head(head)?;
            (old, old_left, new, new_left) = (from, count, to, new_count);
            if hunks_of_file > 0 {
                lines.push(Line::Gap);
            }
            hunks_of_file += 1;
            hunks += 1;
        } else if let Some(name) = line.strip_prefix("--- ") {
            path = file_name(name, "a/");
        } else if let Some(name) = line.strip_prefix("+++ ") {
            let name = file_name(name, "b/");
            // A file that is gone is named by what it was.
            lines.push(Line::Plain(if name == "/dev/null" {
                std::mem::take(&mut path)
            } else {
                name
            }));
            hunks_of_file = 0;
        } else if !["diff --git ", "index "]
            .iter()
            .any(|start| line.starts_with(start))
        {
            lines.push(Line::Plain(line.to_owned()));
        }
    }
    (hunks > 0).then_some(lines)
}

/// The numbers of `1,5 +1,6 @@`.
fn hunk_head(head: &str) -> Option<(u64, u64, u64, u64)> {
    let (old, rest) = head.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let side = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((old, old_count), (new, new_count)) = (side(old)?, side(new)?);
    Some((old, old_count, new, new_count))
}

fn file_name(name: &str, side: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name);
    name.strip_prefix(side).unwrap_or(name).to_owned()
}

fn draw(line: &Line, most: usize) -> Rich {
    let context = Style::dimmed(Token::ToolDiffContext);
    match line {
        Line::Plain(text) => Rich::of(&expand_tabs(clip_bytes(text, most)), Style::default()),
        Line::Gap => Rich::of("      ⋯", context),
        Line::Numbered(sign, number, text) => {
            let style = match sign {
                '+' => Style::colored(Token::ToolDiffAddedMarker),
                '-' => Style::colored(Token::ToolDiffRemovedMarker),
                _ => context.clone(),
            };
            let mut rich = Rich::of(&format!("{number:>5} {sign} "), style);
            let plain = if *sign == ' ' {
                context
            } else {
                Style::default()
            };
            rich.push(&expand_tabs(clip_bytes(text, most)), plain);
            rich
        }
    }
}

/// Marks the words of a row that the other one does not have.
fn mark_words(row: &mut Rich, other: &Rich) {
    let text = |rich: &Rich| {
        // The text follows the blank after the sign.
        let start = rich.text().find(['+', '-']).unwrap_or(0) + 2;
        let start = start.min(rich.text().len());
        (start, rich.text()[start..].to_owned())
    };
    let ((mut at, own), (_, other)) = (text(row), text(other));
    if own.len().max(other.len()) > MAX_COMPARED {
        return;
    }
    let diff = TextDiff::from_words(&other, &own);
    // Lines that share little are another line, not a changed one.
    if diff.ratio() < 0.4 {
        return;
    }
    for change in diff.iter_all_changes() {
        let end = at + change.value().len();
        match change.tag() {
            ChangeTag::Equal => at = end,
            ChangeTag::Delete => {}
            ChangeTag::Insert => {
                row.restyle(at..end, |style| style.bold = true);
                at = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::diff_rows;
    use crate::text::testing::random;
    use crate::tui::testing::{check, plain, styled};

    fn rows(body: &str, columns: usize) -> Option<Vec<Row>> {
        let diff = Diff::parse(body)?;
        Some(diff.rows().flat_map(|line| wrap(&line, columns)).collect())
    }

    #[test]
    fn own_rows_are_coloured() {
        let body = diff_rows("a.rs", "one\nlet x = 1;\nend\n", "one\nlet x = 22;\nend\n");
        let expected = [
            "a.rs",
            "⟨toolDiffContext dim|    1   one⟩",
            "⟨toolDiffRemovedMarker|    2 - ⟩let x = ⟨bold|1;⟩",
            "⟨toolDiffAddedMarker|    2 + ⟩let x = ⟨bold|22;⟩",
            "⟨toolDiffContext dim|    3   end⟩",
        ];
        assert_eq!(styled(&rows(&body, 40).expect("a diff")), expected);
    }

    #[test]
    fn unified_diffs_get_real_numbers() {
        let body = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -8,3 +8,3 @@ fn f\n a\n-b\n+c\n \n\
                    @@ -20 +20,2 @@\n-x\n+y\n+-- z\nBinary files p and q differ\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-l\n";
        let expected = [
            "x",
            "    8   a",
            "    9 - b",
            "    9 + c",
            "   10   ",
            "      ⋯",
            "   20 - x",
            "   20 + y",
            "   21 + -- z",
            "Binary files p and q differ",
            "gone",
            "    1 - l",
        ];
        assert_eq!(plain(&rows(body, 40).expect("a diff")), expected);
    }

    #[test]
    fn other_text_is_no_diff() {
        for text in [
            "",
            "hello\nworld",
            "@@ -x +y @@",
            "--- a\n+++ b\n",
            "path only",
            "a\n    1 ? x",
        ] {
            assert!(Diff::parse(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn long_lines_go_on_under_their_text() {
        let body = format!("p\n    1 + {}", "x".repeat(30));
        let expected = [
            "p",
            "    1 + xxxxxxxxxxxx",
            "        xxxxxxxxxxxx",
            "        xxxxxx",
        ];
        assert_eq!(plain(&rows(&body, 20).expect("a diff")), expected);
    }

    #[test]
    fn any_text_is_survived() {
        let parts = [
            "@@ -1,9 +1,9 @@\n",
            "@@ -18446744073709551615,2 +1 @@\n",
            "+a b\n",
            "-a c\n",
            " x\n",
            "\n",
            "--- a/x\n",
            "+++ b/日\n",
            "    1 + é\tz\n",
            "    1 - é\n",
            "99999999999999999999 + x\n",
        ];
        let mut random = random(4);
        for _ in 0..2_000 {
            let body: String = (0..random(9)).map(|_| parts[random(parts.len())]).collect();
            for columns in [1, 9, 40] {
                if let Some(rows) = rows(&body, columns) {
                    check(&rows, columns);
                }
            }
        }
    }
}
