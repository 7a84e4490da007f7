//! Tables: columns as wide as they need, narrowed evenly when the rows would not fit.

use pulldown_cmark::Alignment;

use crate::tui::rich::Rich;
use crate::tui::style::{Row, Style, Token};

/// Columns between two cells: ` │ `.
const BORDER: usize = 3;

/// A table that is being read. The first row is the header.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub alignments: Vec<Alignment>,
    pub rows: Vec<Vec<Rich>>,
}

impl Table {
    /// Its rows within `columns`.
    pub fn render(&self, columns: usize) -> Vec<Row> {
        let count = self.alignments.len().max(1);
        let Some(room) = columns
            .checked_sub(BORDER * (count - 1))
            .filter(|room| *room >= count)
        else {
            return self.as_lines(columns);
        };
        let widths = share(&self.natural_widths(count), room);
        let mut rows = Vec::new();
        for (number, cells) in self.rows.iter().enumerate() {
            self.cells(cells, &widths, &mut rows);
            if number == 0 {
                rows.push(rule(&widths));
            }
        }
        rows
    }

    fn natural_widths(&self, count: usize) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|cells| cells.get(column));
            cells.map(Rich::width).max().unwrap_or(0).max(1)
        };
        (0..count).map(widest).collect()
    }

    /// One row of the table, several when a cell wraps.
    fn cells(&self, cells: &[Rich], widths: &[usize], rows: &mut Vec<Row>) {
        let wrapped: Vec<Vec<Row>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| {
                cells
                    .get(column)
                    .map_or(Vec::new(), |cell| cell.wrap(*width))
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let mut row = Row::default();
            for (column, width) in widths.iter().enumerate() {
                if column > 0 {
                    row.push(" │ ", Style::dimmed(Token::MdHr));
                }
                let cell = wrapped[column].get(line).cloned().unwrap_or_default();
                let blank = width.saturating_sub(cell.width());
                let before = match self.alignments.get(column) {
                    Some(Alignment::Right) => blank,
                    Some(Alignment::Center) => blank / 2,
                    Some(Alignment::Left | Alignment::None) | None => 0,
                };
                row.push(" ".repeat(before), Style::default());
                row.spans.extend(cell.spans);
                if column + 1 < widths.len() {
                    row.push(" ".repeat(blank - before), Style::default());
                }
            }
            rows.push(row);
        }
    }

    /// Where not even one column a cell is left: each row as a line of text.
    fn as_lines(&self, columns: usize) -> Vec<Row> {
        let line = |cells: &Vec<Rich>| {
            let mut line = Rich::default();
            for (column, cell) in cells.iter().enumerate() {
                if column > 0 {
                    line.push(" │ ", Style::dimmed(Token::MdHr));
                }
                line.push(cell.text(), Style::default());
            }
            line.wrap(columns)
        };
        self.rows.iter().flat_map(line).collect()
    }
}

fn rule(widths: &[usize]) -> Row {
    let parts: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    Row::of(parts.join("─┼─"), Style::dimmed(Token::MdHr))
}

/// Widths that sum up to `room` at most: narrow columns keep what they need, the wide ones get
/// equal parts of the rest.
fn share(natural: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by_key(|column| natural[*column]);
    let mut widths = vec![1; natural.len()];
    let (mut left, mut waiting) = (room, natural.len());
    for column in order {
        let part = (left / waiting).max(1);
        widths[column] = natural[column].min(part);
        left = left.saturating_sub(widths[column]);
        waiting -= 1;
    }
    widths
}
