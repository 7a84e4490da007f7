//! Where text is cut into rows of so many columns.
//!
//! Everything here gives byte ranges, one a row, so that a caller can style what it cut. Text is
//! cut between graphemes only; a grapheme wider than the row stands alone on one.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::width::width;

/// Columns between two tab stops.
const TAB: usize = 4;

/// Rows cut at spaces: the first has `first` columns, the others `rest`. A newline ends a row. White
/// space at a seam belongs to no row; a run without spaces that is wider than a row is cut hard.
pub fn wrap(text: &str, first: usize, rest: usize) -> Vec<Range<usize>> {
    lines(text, first, |line, limit, rows| {
        wrap_line(text, line, limit, rest, rows);
    })
}

/// The same for prose: a last row of one word takes the word before it along when both fit.
pub fn wrap_prose(text: &str, first: usize, rest: usize) -> Vec<Range<usize>> {
    lines(text, first, |line, limit, rows| {
        let begun = rows.len();
        wrap_line(text, line, limit, rest, rows);
        if rows.len() - begun >= 2 {
            join_lone_word(text, rest, rows);
        }
    })
}

/// Rows cut wherever they are full, spaces or not.
pub fn wrap_hard(text: &str, first: usize, rest: usize) -> Vec<Range<usize>> {
    lines(text, first, |line, limit, rows| {
        let mut row = Filling::new(line.start, limit, rest);
        row.fill(text, line, rows);
        rows.push(row.range());
    })
}

/// Tabs become spaces up to the next stop, counted from the start of each line.
pub fn expand_tabs(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for piece in text.split_inclusive(['\t', '\n']) {
        let plain = piece.trim_end_matches(['\t', '\n']);
        out.push_str(plain);
        column += width(plain);
        if piece.ends_with('\t') {
            let blanks = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            out.push_str(&piece[plain.len()..]);
            column = 0;
        }
    }
    Cow::Owned(out)
}

/// Runs `cut` over each line with the columns of its first row.
fn lines(
    text: &str,
    first: usize,
    mut cut: impl FnMut(Range<usize>, usize, &mut Vec<Range<usize>>),
) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let limit = if rows.is_empty() { first } else { usize::MAX };
        cut(start..start + line.len(), limit, &mut rows);
        start += line.len() + 1;
    }
    rows
}

/// A row that is being filled.
struct Filling {
    start: usize,
    end: usize,
    used: usize,
    limit: usize,
    rest: usize,
}

impl Filling {
    /// A limit of `usize::MAX` stands for `rest`: the line is not the first one.
    fn new(start: usize, limit: usize, rest: usize) -> Self {
        let rest = rest.max(1);
        let limit = if limit == usize::MAX { rest } else { limit };
        Self {
            start,
            end: start,
            used: 0,
            limit: limit.max(1),
            rest,
        }
    }

    fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    fn take(&mut self, end: usize, columns: usize) {
        self.end = end;
        self.used += columns;
    }

    fn next_row(&mut self, start: usize, rows: &mut Vec<Range<usize>>) {
        rows.push(self.range());
        (self.start, self.end, self.used) = (start, start, 0);
        self.limit = self.rest;
    }

    /// Takes a run grapheme by grapheme, starting rows as they fill up.
    fn fill(&mut self, text: &str, run: Range<usize>, rows: &mut Vec<Range<usize>>) {
        let run_text = &text[run.clone()];
        if run_text.is_ascii() {
            let mut at = run.start;
            while at < run.end {
                if self.used >= self.limit {
                    self.next_row(at, rows);
                }
                let taken = (self.limit - self.used).min(run.end - at);
                at += taken;
                self.take(at, taken);
            }
            return;
        }
        for (offset, grapheme) in run_text.grapheme_indices(true) {
            let columns = width(grapheme);
            let at = run.start + offset;
            if self.used > 0 && self.used + columns > self.limit {
                self.next_row(at, rows);
            }
            self.take(at + grapheme.len(), columns);
        }
    }
}

fn wrap_line(
    text: &str,
    line: Range<usize>,
    limit: usize,
    rest: usize,
    rows: &mut Vec<Range<usize>>,
) {
    let mut row = Filling::new(line.start, limit, rest);
    let mut at = line.start;
    while at < line.end {
        let blanks = text[at..line.end]
            .bytes()
            .take_while(|b| *b == b' ')
            .count();
        let word = at + blanks;
        let end = text[word..line.end]
            .find(' ')
            .map_or(line.end, |n| word + n);
        at = end;
        if word == end {
            break;
        }
        let columns = width(&text[word..end]);
        if row.used + blanks + columns <= row.limit {
            row.take(end, blanks + columns);
        } else if columns <= row.rest && !row.range().is_empty() {
            row.next_row(word, rows);
            row.take(end, columns);
        } else if row.used + blanks < row.limit {
            row.take(word, blanks);
            row.fill(text, word..end, rows);
        } else if !row.range().is_empty() {
            row.next_row(word, rows);
            row.fill(text, word..end, rows);
        } else {
            // Leading blanks wider than the row.
            row.start = word;
            row.fill(text, word..end, rows);
        }
    }
    rows.push(row.range());
}

fn join_lone_word(text: &str, rest: usize, rows: &mut [Range<usize>]) {
    let [.., before, last] = rows else { return };
    // Rows that touch were cut hard, inside a word.
    if before.end == last.start || text[last.clone()].contains(' ') {
        return;
    }
    let row = &text[before.clone()];
    let Some(blank) = row.rfind(' ') else { return };
    let kept = row[..blank].trim_end_matches(' ').len();
    let word = before.start + blank + 1;
    if kept > 0 && width(&text[word..last.end]) <= rest {
        before.end = before.start + kept;
        last.start = word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::random;

    fn cut(text: &str, rows: Vec<Range<usize>>) -> Vec<&str> {
        rows.into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn words_move_whole() {
        let cases: &[(&str, usize, usize, &[&str])] = &[
            ("", 5, 5, &[""]),
            ("one two three", 7, 7, &["one two", "three"]),
            ("one  two   three", 8, 8, &["one  two", "three"]),
            ("one two ", 7, 7, &["one two"]),
            ("  one two", 5, 5, &["  one", "two"]),
            ("a\nb\n\nc", 5, 5, &["a", "b", "", "c"]),
            ("one two", 3, 10, &["one", "two"]),
            ("abcdefgh", 3, 3, &["abc", "def", "gh"]),
            ("x abcdefgh", 4, 4, &["x ab", "cdef", "gh"]),
            ("日本語 テキスト", 5, 5, &["日本", "語 テ", "キス", "ト"]),
            ("日本", 1, 1, &["日", "本"]),
            (
                "e\u{301}e\u{301}e\u{301}",
                2,
                2,
                &["e\u{301}e\u{301}", "e\u{301}"],
            ),
            (
                "👨\u{200d}👩\u{200d}👧👨\u{200d}👩\u{200d}👧",
                3,
                3,
                &["👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"],
            ),
            ("        x", 4, 4, &["x"]),
            ("ab cd", 0, 0, &["a", "b", "c", "d"]),
            ("   ", 2, 2, &[""]),
        ];
        for (text, first, rest, expected) in cases {
            assert_eq!(cut(text, wrap(text, *first, *rest)), *expected, "{text:?}");
        }
    }

    #[test]
    fn a_lone_last_word_gets_company() {
        let cases: &[(&str, usize, &[&str])] = &[
            ("one two three", 7, &["one two", "three"]),
            ("one two three", 9, &["one", "two three"]),
            ("one two", 4, &["one", "two"]),
            ("abcdefghij kl", 10, &["abcdefghij", "kl"]),
        ];
        for (text, columns, expected) in cases {
            assert_eq!(cut(text, wrap_prose(text, *columns, *columns)), *expected);
        }
    }

    #[test]
    fn hard_cuts_keep_every_space() {
        assert_eq!(
            cut("a b c d", wrap_hard("a b c d", 3, 2)),
            ["a b", " c", " d"]
        );
    }

    #[test]
    fn tabs_reach_their_stops() {
        assert_eq!(expand_tabs("\ta\tbcd\te\n日\tx"), "    a   bcd e\n日  x");
        assert!(matches!(expand_tabs("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn rows_fit_and_lose_only_blanks() {
        let alphabet: Vec<char> = "aab  \u{301}日🙂é\u{200d}\n-".chars().collect();
        let mut random = random(3);
        for _ in 0..3000 {
            let text: String = (0..random(60))
                .map(|_| alphabet[random(alphabet.len())])
                .collect();
            let columns = 2 + random(12);
            for rows in [
                wrap(&text, columns, columns),
                wrap_prose(&text, columns, columns),
                wrap_hard(&text, columns, columns),
            ] {
                let solid = |text: &str| text.replace([' ', '\n'], "");
                let all: String = cut(&text, rows.clone()).concat();
                assert_eq!(solid(&all), solid(&text), "{text:?} at {columns}");
                for row in rows {
                    assert!(width(&text[row]) <= columns, "{text:?} at {columns}");
                }
            }
        }
    }

    #[test]
    fn a_huge_word_is_no_trouble() {
        let word = "x".repeat(100_000);
        assert_eq!(wrap(&word, 1, 1).len(), 100_000);
        let wide = "日".repeat(100_000);
        assert_eq!(wrap(&wide, 80, 80).len(), 2_500);
    }
}
