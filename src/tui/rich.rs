//! Styled text before it is cut into rows.

use std::ops::Range;

use super::style::{Row, Style};
use crate::text::{self, width};

/// Text with runs of style. A newline in it forces a new row; it holds no other control character.
#[derive(Clone, Debug, Default)]
pub struct Rich {
    text: String,
    /// Where each run ends, and how it looks.
    runs: Vec<(usize, Style)>,
}

impl Rich {
    pub fn of(text: &str, style: Style) -> Self {
        let mut rich = Self::default();
        rich.push(text, style);
        rich
    }

    /// Adds text at the end.
    pub fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        match self.runs.last_mut() {
            Some((end, last)) if *last == style => *end = self.text.len(),
            _ => self.runs.push((self.text.len(), style)),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Columns of its only line.
    pub fn width(&self) -> usize {
        width(&self.text)
    }

    /// Changes the look of a part; `change` sees each style in it. The range must lie on
    /// character boundaries.
    pub fn restyle(&mut self, range: Range<usize>, change: impl Fn(&mut Style)) {
        let mut runs = Vec::with_capacity(self.runs.len() + 2);
        let mut start = 0;
        for (end, style) in self.runs.drain(..) {
            let inside = range.start.clamp(start, end)..range.end.clamp(start, end);
            if inside.start > start {
                runs.push((inside.start, style.clone()));
            }
            if inside.end > inside.start {
                let mut changed = style.clone();
                change(&mut changed);
                runs.push((inside.end, changed));
            }
            if end > inside.end.max(inside.start) {
                runs.push((end, style));
            }
            start = end;
        }
        self.runs = runs;
    }

    /// Adds the part at `range` to a row.
    pub fn append(&self, range: Range<usize>, row: &mut Row) {
        let mut at = range.start;
        let mut run = self.runs.partition_point(|(end, _)| *end <= at);
        while at < range.end {
            let Some((end, style)) = self.runs.get(run) else {
                return;
            };
            let end = (*end).min(range.end);
            row.push(&self.text[at..end], style.clone());
            at = end;
            run += 1;
        }
    }

    /// Rows of prose.
    pub fn wrap_prose(&self, columns: usize) -> Vec<Row> {
        self.rows(text::wrap_prose(&self.text, columns, columns))
    }

    /// Rows cut at spaces.
    pub fn wrap(&self, columns: usize) -> Vec<Row> {
        self.rows(text::wrap(&self.text, columns, columns))
    }

    /// Rows cut where they are full.
    pub fn wrap_hard(&self, columns: usize) -> Vec<Row> {
        self.rows(text::wrap_hard(&self.text, columns, columns))
    }

    /// Rows at these ranges.
    pub fn rows(&self, ranges: Vec<Range<usize>>) -> Vec<Row> {
        let row = |range| {
            let mut row = Row::default();
            self.append(range, &mut row);
            row
        };
        ranges.into_iter().map(row).collect()
    }

    /// What is left when some columns are cut off the front, where no character is cut in two.
    pub fn skip_columns(&self, columns: usize) -> Self {
        if columns == 0 {
            return self.clone();
        }
        let from = text::wrap_hard(&self.text, columns, columns)[0].end;
        self.skip_bytes(from)
    }

    /// What is left when some bytes, up to a character's end, are cut off the front.
    pub fn skip_bytes(&self, from: usize) -> Self {
        let runs = self.runs.iter().filter(|(end, _)| *end > from);
        Self {
            text: self.text[from..].to_owned(),
            runs: runs
                .map(|(end, style)| (end - from, style.clone()))
                .collect(),
        }
    }

    /// One row of at most `columns`, its end replaced by an ellipsis when there is more.
    pub fn clip(&self, columns: usize) -> Row {
        let mut row = Row::default();
        let line = self.text.find('\n').unwrap_or(self.text.len());
        if width(&self.text[..line]) <= columns && line == self.text.len() {
            self.append(0..line, &mut row);
            return row;
        }
        let Some(room) = columns.checked_sub(1) else {
            return row;
        };
        let kept = text::wrap_hard(&self.text[..line], room, room)[0].end;
        let kept = if width(&self.text[..kept]) <= room {
            kept
        } else {
            0
        };
        self.append(0..kept, &mut row);
        match row.spans.last_mut() {
            Some(span) => span.text.push('…'),
            None => row.push("…", Style::default()),
        }
        row
    }
}

/// A row of text in one look, cut to `columns`.
pub fn clipped(text: &str, style: Style, columns: usize) -> Row {
    Row::of(text::clip_columns(text, columns), style)
}

/// The row behind something else.
pub fn prefixed(prefix: &str, style: Style, row: Row) -> Row {
    let mut whole = Row::of(prefix, style);
    whole.spans.extend(row.spans);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::style::Token;

    #[test]
    fn styles_survive_cuts() {
        let mut rich = Rich::of("plain ", Style::default());
        rich.push("bold words", Style::default().bold());
        rich.push(" end", Style::colored(Token::Dim));
        let rows = rich.wrap(10);
        let texts: Vec<Vec<&str>> = rows
            .iter()
            .map(|row| row.spans.iter().map(|span| span.text.as_str()).collect())
            .collect();
        assert_eq!(texts, [vec!["plain ", "bold"], vec!["words", " end"]]);
        assert!(rows[1].spans[0].style.bold && !rows[1].spans[1].style.bold);
    }

    #[test]
    fn clipping_keeps_the_columns() {
        let mut rich = Rich::of("日本", Style::default());
        rich.push("語x", Style::default().bold());
        for columns in 0..9 {
            assert!(rich.clip(columns).width() <= columns, "{columns}");
        }
        assert_eq!(rich.clip(7).width(), 7);
        assert_eq!(
            Rich::of("a\nb", Style::default()).clip(9),
            Row::of("a…", Style::default())
        );
    }

    #[test]
    fn the_front_is_cut_off() {
        let mut rich = Rich::of("ab", Style::default());
        rich.push("日本x", Style::default().bold());
        for (columns, rest) in [
            (0, "ab日本x"),
            (1, "b日本x"),
            (2, "日本x"),
            (3, "日本x"),
            (4, "本x"),
            (7, ""),
            (99, ""),
        ] {
            let left = rich.skip_columns(columns);
            assert_eq!(left.text(), rest, "{columns}");
            assert!(
                left.clip(99)
                    .spans
                    .last()
                    .is_none_or(|span| span.style.bold)
            );
        }
    }

    #[test]
    fn a_part_changes_its_look() {
        let mut rich = Rich::of("abc", Style::default());
        rich.push("def", Style::colored(Token::Dim));
        rich.restyle(1..5, |style| style.bold = true);
        let row = rich.clip(9);
        let parts: Vec<(&str, bool)> = row
            .spans
            .iter()
            .map(|span| (span.text.as_str(), span.style.bold))
            .collect();
        assert_eq!(
            parts,
            [("a", false), ("bc", true), ("de", true), ("f", false)]
        );
    }
}
