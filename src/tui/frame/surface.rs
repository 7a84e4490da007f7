//! A full screen to draw on. A view draws inside the rectangle it was given and cannot leave it.

use super::cell::Line;
use crate::tui::style::Row;

/// Columns and rows of a terminal, both may be 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// A part of a surface, in columns and rows from the upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub left: u16,
    /// First row.
    pub top: u16,
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// A blank screen that views fill.
#[derive(Clone, Debug)]
pub struct Surface {
    size: Size,
    lines: Vec<Line>,
}

impl Surface {
    /// A blank one.
    pub fn new(size: Size) -> Self {
        Self {
            size,
            lines: vec![Line::default(); usize::from(size.rows)],
        }
    }

    /// All of it.
    pub fn area(&self) -> Rect {
        Rect {
            columns: self.size.columns,
            rows: self.size.rows,
            ..Rect::default()
        }
    }

    /// Draws rows from the top of `area` down, and clears the rest of it. What does not fit into
    /// it, or into the surface, is cut off.
    pub fn draw(&mut self, area: Rect, rows: &[Row]) {
        let left = area.left.min(self.size.columns);
        let columns = area.columns.min(self.size.columns - left);
        let lines = self.lines.iter_mut().skip(usize::from(area.top));
        let empty = Row::default();
        for (index, line) in lines.take(usize::from(area.rows)).enumerate() {
            let row = rows.get(index).unwrap_or(&empty);
            line.draw(usize::from(left), usize::from(columns), row);
        }
    }

    /// The size it was made for.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The rows as they were drawn.
    pub(super) fn into_lines(self) -> Vec<Line> {
        self.lines
    }
}

#[cfg(test)]
impl Surface {
    /// The rows as text, blank ends left out.
    pub fn text(&self) -> Vec<String> {
        use super::cell::Glyph;
        let row = |line: &Line| {
            let cells = (0..line.len()).map(|column| match line.at(column).0 {
                Glyph::Char(c) => c.to_string(),
                Glyph::Cluster(text) => text.to_string(),
                Glyph::Continuation => String::new(),
            });
            cells.collect()
        };
        self.lines.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::style::Style;

    #[test]
    fn nothing_leaves_its_rectangle() {
        let size = Size {
            columns: 6,
            rows: 3,
        };
        let rows = vec![Row::of("#".repeat(99), Style::default()); 99];
        for left in 0..8 {
            for top in 0..5 {
                for columns in [0, 1, 3, u16::MAX] {
                    for height in [0, 1, 2, u16::MAX] {
                        let area = Rect {
                            left,
                            top,
                            columns,
                            rows: height,
                        };
                        let mut surface = Surface::new(size);
                        surface.draw(area, &rows);
                        for (index, line) in (0..).zip(surface.into_lines()) {
                            let inside = index >= top && index - top < height && left < 6;
                            let right = left.saturating_add(columns).min(6);
                            let expected = if inside && columns > 0 { right } else { 0 };
                            assert_eq!(line.len(), usize::from(expected), "{area:?} {index}");
                        }
                    }
                }
            }
        }
    }
}
