//! The composer as rows: rails, the visible part of the draft, and where the caret is.

use unicode_segmentation::UnicodeSegmentation;

use super::Composer;
use super::buffer::{Buffer, Mark};
use super::layout::{columns_of, first_grapheme, shown};
use crate::tui::style::{Row, Style, Token, dim};

/// Columns of the rail and of the caret behind a full row.
const MARGIN: usize = 3;

/// Columns of the rail.
const RAIL: usize = 2;

/// The draft as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub rows: Vec<Row>,
    /// Row and column of the caret.
    pub caret: (usize, usize),
}

impl Composer {
    /// The rows of the draft for a width, as many as `max_rows` around the caret.
    pub fn view(&mut self, width: usize, max_rows: usize) -> View {
        let columns = width.saturating_sub(MARGIN).max(1);
        self.draft.buffer.set_columns(columns);
        let masked;
        let buffer = match self.is_secret() {
            true => {
                masked = mask(&self.draft.buffer, columns);
                &masked
            }
            false => &self.draft.buffer,
        };
        let layout = buffer.layout();
        let caret_row = layout.row_of(buffer.caret());
        let shown = layout.rows().min(max_rows.max(1));
        self.scroll = self
            .scroll
            .clamp((caret_row + 1).saturating_sub(shown), caret_row)
            .min(layout.rows() - shown);
        let rows = (self.scroll..self.scroll + shown)
            .map(|row| draw(buffer, row, row == self.scroll))
            .collect();
        let column = match buffer.gutter() {
            // The caret is on the rail or in the gutter.
            gutter if buffer.caret() < gutter => buffer.caret(),
            _ => RAIL + buffer.column(buffer.caret()),
        };
        View {
            rows,
            caret: (caret_row - self.scroll, column.min(width.saturating_sub(1))),
        }
    }

    /// The row that names the images of the draft, if it has some.
    pub fn attachments(&self) -> Option<Row> {
        let count = self.draft.images.len();
        let labels: Vec<String> = (1..=count)
            .map(|number| format!("[Image {number}]"))
            .collect();
        (count > 0).then(|| Row::of(labels.join(" "), dim()))
    }
}

/// A buffer of the same length that shows none of it.
fn mask(buffer: &Buffer, columns: usize) -> Buffer {
    const DOT: &str = "•";
    let dots = |text: &str| DOT.repeat(text.graphemes(true).count());
    let (before, after) = buffer.text().split_at(buffer.caret());
    let mut masked = Buffer::new(false);
    masked.set_columns(columns);
    masked.insert(&dots(before));
    let caret = masked.caret();
    masked.insert(&dots(after));
    masked.go(caret, false);
    masked
}

fn draw(buffer: &Buffer, row: usize, is_first: bool) -> Row {
    let is_command = row == 0 && buffer.gutter() > 0;
    let (rail, token) = match () {
        () if is_command => ("! ", Token::BashMode),
        () if is_first && row > 0 => ("┃↑", Token::UserMessageText),
        () => ("┃ ", Token::UserMessageText),
    };
    let mut drawn = Row::of(rail, Style::colored(token));
    let (_, end) = buffer.layout().row(row, buffer.text());
    let selection = buffer.selection().unwrap_or(0..0);
    let mut at = buffer.row_start(row);
    let mut column = 0;
    let mut run = String::new();
    let mut run_style = Style::default();
    while let Some(grapheme) = first_grapheme(buffer.text(), at).filter(|_| at < end) {
        column += columns_of(grapheme);
        // White space that hangs over the edge is not shown.
        if grapheme == "\n" || column > buffer.layout().columns() && grapheme.trim().is_empty() {
            break;
        }
        let mut style = mark_style(buffer, at);
        style.reverse = selection.contains(&at);
        if style != run_style {
            drawn.push(
                std::mem::take(&mut run),
                std::mem::replace(&mut run_style, style),
            );
        }
        run.extend(grapheme.chars().map(shown));
        at += grapheme.len();
    }
    drawn.push(run, run_style);
    drawn
}

/// The look of a place: that of the marker it is in, if it is in one.
fn mark_style(buffer: &Buffer, at: usize) -> Style {
    let mark = buffer.marks().iter().find(|(range, _)| range.contains(&at));
    match mark {
        None => Style::default(),
        Some((_, Mark::Paste { .. })) => dim(),
        Some((_, Mark::Pane { .. })) => Style::colored(Token::AttachmentText),
    }
}
