//! The frame of everything that opens above the status row, and the looks its bodies share.

use crate::tui::rich::{clipped, prefixed};
pub use crate::tui::style::dim;
use crate::tui::style::{Row, Style, Token};

/// Rows that a frame adds to a body.
pub const FRAME: usize = 5;

/// Divider, header, blank row, body, divider, hint. The hint stands where the status row stood.
pub fn framed(header: Row, body: Vec<Row>, hint: &str, columns: usize) -> Vec<Row> {
    let mut rows = vec![rule(Token::BorderAccent, columns), header, Row::default()];
    rows.extend(body);
    rows.push(divider(columns));
    rows.push(clipped(hint, dim(), columns));
    rows
}

/// Leaves of a body what fits into a surface of `height` rows: the part with the row `selected`.
pub fn fit(body: &mut Vec<Row>, selected: usize, height: usize) {
    let room = height.saturating_sub(FRAME).max(1);
    body.drain(..(selected + 1).saturating_sub(room).min(body.len()));
    body.truncate(room);
}

/// A line across.
pub fn divider(columns: usize) -> Row {
    rule(Token::Border, columns)
}

/// One in another of the three colours for such lines: `borderAccent` begins a surface,
/// `borderMuted` is within one.
pub fn rule(token: Token, columns: usize) -> Row {
    Row::of("─".repeat(columns), Style::colored(token))
}

/// A header with something at the right end, when there is room for it.
pub fn header(left: Row, right: Row, columns: usize) -> Row {
    let used = left.width() + right.width();
    let mut row = left;
    if used + 2 <= columns {
        row.push(" ".repeat(columns - used), Style::default());
        row.spans.extend(right.spans);
    }
    row
}

/// Choices under each other, the selected one marked.
pub fn choices<'a>(
    choices: impl Iterator<Item = &'a str>,
    selected: usize,
    columns: usize,
) -> Vec<Row> {
    let room = columns.saturating_sub(2);
    let draw = |(index, text): (usize, &str)| {
        let selected = index == selected;
        let style = if selected { self::selected() } else { dim() };
        choice(clipped(text, style, room), selected)
    };
    choices.enumerate().map(draw).collect()
}

/// One of several choices, the selected one marked. Two columns are the mark's.
pub fn choice(row: Row, selected: bool) -> Row {
    match selected {
        true => prefixed("› ", self::selected(), row),
        false => prefixed("  ", dim(), row),
    }
}

/// One up or down in a list, around its ends.
pub fn step(selected: usize, by: isize, count: usize) -> usize {
    match count {
        0 => 0,
        count => (selected as isize + by).rem_euclid(count as isize) as usize,
    }
}

/// What is selected.
pub fn selected() -> Style {
    Style::colored(Token::UserMessageText).bold()
}
