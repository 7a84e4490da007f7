//! What e itself tells in tables: laid out for the width there is, which text cannot be.

use super::entry::custom;
use crate::text::{width, wrap, wrap_prose};
use crate::tui::rich::{Rich, prefixed};
use crate::tui::style::{Row, Style};

/// Columns between a name and what it means.
const GAP: usize = 2;
/// A name that is wider than this does not move what the others mean.
const MOST_NAME: usize = 30;
/// Columns that a meaning needs beside its name.
const LEAST_MEANING: usize = 16;
/// Columns between figures.
const BETWEEN: usize = 3;

/// A part of what is told. Clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Prose.
    Text(String),
    /// Names and what they mean.
    Meanings(Vec<(String, String)>),
    /// A name and figures in each row; the first row is the heads.
    Figures(Vec<Vec<String>>),
}

impl Block {
    /// Its rows.
    pub(super) fn rows(&self, columns: usize) -> Vec<Row> {
        match self {
            Block::Text(text) => rich(text).rows(wrap_prose(text, columns, columns)),
            Block::Meanings(pairs) => meanings(pairs, columns),
            Block::Figures(rows) => figures(rows, columns),
        }
    }
}

fn rich(text: &str) -> Rich {
    Rich::of(text, custom())
}

/// Two columns; what a name means stands below it where it leaves no room beside it.
fn meanings(pairs: &[(String, String)], columns: usize) -> Vec<Row> {
    let most = MOST_NAME.min(columns.saturating_sub(GAP + LEAST_MEANING));
    let names = pairs.iter().map(|(name, _)| width(name));
    let indent = names
        .filter(|columns| *columns <= most)
        .max()
        .unwrap_or(GAP)
        + GAP;
    let mut rows = Vec::new();
    for (name, meaning) in pairs {
        let mut first = indent.max(width(name) + GAP);
        let mut name = name.as_str();
        if first + LEAST_MEANING > columns {
            rows.extend(rich(name).wrap(columns));
            (first, name) = (indent, "");
        }
        let room = |used: usize| columns.saturating_sub(used).max(1);
        let ranges = wrap(meaning, room(first), room(indent));
        for (number, row) in rich(meaning).rows(ranges).into_iter().enumerate() {
            let before = match number {
                0 => format!("{name}{}", " ".repeat(first - width(name))),
                _ => " ".repeat(indent),
            };
            rows.push(prefixed(&before, custom(), row));
        }
    }
    rows
}

/// A table; where it would be too wide, the figures with their heads below each name.
fn figures(table: &[Vec<String>], columns: usize) -> Vec<Row> {
    let count = table.first().map_or(0, Vec::len);
    let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let widest = |column| table.iter().map(|row| width(&cell(row, column))).max();
    let widths: Vec<usize> = (0..count)
        .map(|column| widest(column).unwrap_or(0))
        .collect();
    let whole = widths.iter().sum::<usize>() + BETWEEN * count.saturating_sub(1);
    if whole <= columns {
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for (column, columns) in widths.iter().enumerate() {
                let cell = cell(row, column);
                let pad = " ".repeat(columns - width(&cell));
                line += &match column {
                    0 => format!("{cell}{pad}"),
                    _ => format!("{}{pad}{cell}", " ".repeat(BETWEEN)),
                };
            }
            rich(&line).clip(columns)
        };
        return table.iter().map(line).collect();
    }
    let mut rows = Vec::new();
    for row in table.iter().skip(1) {
        rows.extend(rich(&cell(row, 0)).wrap(columns));
        let named = (1..count).map(|at| format!("{} {}", cell(&table[0], at), cell(row, at)));
        let named = named.collect::<Vec<_>>().join(" · ");
        let below = rich(&named)
            .wrap(columns.saturating_sub(GAP).max(1))
            .into_iter();
        rows.extend(below.map(|row| prefixed("  ", Style::default(), row)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain};

    fn shown(block: &Block, columns: usize) -> Vec<String> {
        plain(&block.rows(columns))
    }

    #[test]
    fn meanings_stand_beside_or_below_their_names() {
        let pair = |name: &str, meaning: &str| (name.to_owned(), meaning.to_owned());
        let wide = "x".repeat(32);
        let block = Block::Meanings(vec![
            pair("/new", "begin a new session"),
            pair("/quit, /exit", "end e"),
            pair(&wide, "three"),
        ]);
        let expected = [
            "/new          begin a new session",
            "/quit, /exit  end e",
            &format!("{wide}  three"),
        ];
        assert_eq!(shown(&block, 60), expected);
        let expected = ["/new          begin a new", "              session"];
        assert_eq!(shown(&block, 30)[..2], expected);
        let expected = [
            "/new  begin a new",
            "      session",
            "/quit, /exit",
            "      end e",
        ];
        assert_eq!(shown(&block, 22)[..4], expected);
        assert_eq!(shown(&block, 12)[..2], ["/new", "    begin a"]);
    }

    #[test]
    fn figures_stand_in_columns_or_below_their_names() {
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let block = Block::Figures(vec![
            row(["model", "requests", "cost"]),
            row(["mock/test", "2", "-"]),
            row(["total", "2", "$0.25"]),
        ]);
        let expected = [
            "model       requests    cost",
            "mock/test          2       -",
            "total              2   $0.25",
        ];
        assert_eq!(shown(&block, 28), expected);
        let expected = [
            "mock/test",
            "  requests 2 · cost -",
            "total",
            "  requests 2 · cost $0.25",
        ];
        assert_eq!(shown(&block, 27), expected);
        let blocks = [
            block,
            Block::Figures(Vec::new()),
            Block::Text("some prose".into()),
            Block::Meanings(vec![("日本".into(), "日本語".into())]),
        ];
        for block in blocks {
            for columns in 6..40 {
                check(&block.rows(columns), columns);
            }
            block.rows(1);
        }
    }
}
