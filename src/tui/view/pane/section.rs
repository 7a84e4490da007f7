//! One section of a pane: its rows, and the person's place in it.
//!
//! A section may be long and is shown through a small window, so only what is seen is drawn.

use std::ops::{Range, RangeInclusive};

use super::Selected;
use crate::extension::ui::{self, Body, Item};
use crate::text::{expand_tabs, width};
use crate::tui::diff::{self, Diff};
use crate::tui::markdown::{Chunk, Definitions, Streamed};
use crate::tui::rich::{Rich, clipped, prefixed};
use crate::tui::style::{Row, Style};
use crate::tui::view::surface::{self, dim};
use crate::tui::view::widget;

/// Rows of a list that are seen at a time.
const LIST_ROWS: usize = 8;
/// Columns between an item's label and its detail.
const BETWEEN: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct Section {
    content: ui::Section,
    lines: Lines,
    /// The item or row that the cursor is on.
    cursor: usize,
    /// The first row that is seen.
    top: usize,
    /// Columns that are scrolled away at the left.
    left: usize,
    /// Where the selection of rows began.
    anchor: Option<usize>,
    /// Rows that were seen last.
    height: usize,
}

/// What there is to know about the rows of a body before they are drawn.
#[derive(Clone, Debug)]
enum Lines {
    /// The body is rows: a list, or rows with meanings.
    Given,
    /// The lines of a text.
    Plain(Vec<Range<usize>>),
    Diff(Diff),
    Markdown(Laid),
}

/// Markdown, laid out as far as somebody has looked.
#[derive(Clone, Debug)]
struct Laid {
    chunks: Vec<Chunk>,
    known: Definitions,
    columns: usize,
    /// The rows of the first `done` chunks at that width.
    rows: Vec<Row>,
    done: usize,
}

impl Laid {
    fn new(text: &str) -> Self {
        let mut whole = Streamed::default();
        whole.push(text);
        Self {
            chunks: whole.settle(true),
            known: whole.known().clone(),
            columns: 0,
            rows: Vec::new(),
            done: 0,
        }
    }

    fn set_columns(&mut self, columns: usize) {
        if self.columns != columns {
            self.columns = columns;
            self.rows.clear();
            self.done = 0;
        }
    }

    /// Goes on until there is this row, or no more.
    fn reach(&mut self, row: usize) {
        while self.rows.len() <= row && self.done < self.chunks.len() {
            let chunk = &self.chunks[self.done];
            let rows = chunk.rows(self.columns, &self.known);
            if !rows.is_empty() && !self.rows.is_empty() && !chunk.continues() {
                self.rows.push(Row::default());
            }
            self.rows.extend(rows);
            self.done += 1;
        }
    }
}

impl Section {
    pub fn new(content: ui::Section) -> Self {
        let cursor = match &content.body {
            Body::List { selected, .. } => selected.unwrap_or(0),
            Body::Diff(_) | Body::Text(_) | Body::Markdown(_) | Body::Rows(_) => 0,
        };
        Self {
            lines: lines(&content),
            content,
            cursor,
            top: 0,
            left: 0,
            anchor: None,
            height: 1,
        }
    }

    /// The same section with other content: the person's place stays.
    pub fn refreshed(self, content: ui::Section) -> Self {
        if self.content == content {
            return self;
        }
        let item = self.item().map(|item| item.id.clone());
        let mut new = Self::new(content);
        new.top = self.top;
        new.left = self.left;
        new.height = self.height;
        new.cursor = match &new.content.body {
            Body::List { items, selected } => {
                let same = |id| items.iter().position(|item: &Item| item.id == id);
                let kept = item.and_then(same);
                kept.or(*selected).unwrap_or(self.cursor)
            }
            Body::Diff(_) | Body::Text(_) | Body::Markdown(_) | Body::Rows(_) => self.cursor,
        };
        if let Lines::Markdown(laid) = &self.lines {
            new.lay_out(laid.columns, self.height);
        }
        new.reach(new.cursor);
        new.cursor = new.cursor.min(new.last());
        new
    }

    pub fn id(&self) -> &str {
        &self.content.id
    }

    pub fn title(&self) -> &str {
        &self.content.title
    }

    pub fn is_list(&self) -> bool {
        matches!(self.content.body, Body::List { .. })
    }

    /// Rows that it would like to have.
    pub fn wants(&self) -> usize {
        match self.is_list() {
            true => self.count().clamp(1, LIST_ROWS),
            false => self.count().max(1),
        }
    }

    /// Rows, of Markdown those that are laid out.
    fn count(&self) -> usize {
        match (&self.lines, &self.content.body) {
            (Lines::Plain(lines), _) => lines.len(),
            (Lines::Diff(diff), _) => diff.count(),
            (Lines::Markdown(laid), _) => laid.rows.len(),
            (Lines::Given, Body::List { items, .. }) => items.len(),
            (Lines::Given, Body::Rows(rows)) => rows.len(),
            (Lines::Given, _) => 0,
        }
    }

    fn reach(&mut self, row: usize) {
        if let Lines::Markdown(laid) = &mut self.lines {
            laid.reach(row);
        }
    }

    fn last(&self) -> usize {
        self.count().saturating_sub(1)
    }

    fn item(&self) -> Option<&Item> {
        match &self.content.body {
            Body::List { items, .. } => items.get(self.cursor),
            Body::Diff(_) | Body::Text(_) | Body::Markdown(_) | Body::Rows(_) => None,
        }
    }

    /// The item under the cursor, by the names that the extension gave.
    pub fn selected(&self) -> Option<Selected> {
        Some(Selected {
            section: self.content.id.clone(),
            item: self.item()?.id.clone(),
        })
    }

    /// Moves the cursor. `extend` selects the rows between, where rows can be selected.
    pub fn go(&mut self, to: usize, extend: bool) {
        self.anchor = match extend && !self.is_list() {
            true => self.anchor.or(Some(self.cursor)),
            false => None,
        };
        self.reach(to);
        self.cursor = to.min(self.last());
    }

    pub fn step(&mut self, by: isize, extend: bool) {
        self.go(self.cursor.saturating_add_signed(by), extend);
    }

    /// Moves by what is seen, and what is seen with it.
    pub fn page(&mut self, by: isize, extend: bool) {
        let rows = self.height as isize * by;
        self.top = self.top.saturating_add_signed(rows);
        self.step(rows, extend);
    }

    pub fn edge(&mut self, last: bool, extend: bool) {
        self.go(if last { usize::MAX } else { 0 }, extend);
    }

    /// Moves what is seen; the cursor stays in it.
    pub fn wheel(&mut self, by: isize) {
        if self.is_list() {
            return self.step(by, false);
        }
        let rows = by * super::WHEEL_ROWS;
        let top = self.top.saturating_add_signed(rows);
        self.reach(top + self.height);
        self.top = top.min(self.count().saturating_sub(self.height));
        let end = self.top + self.height.max(1) - 1;
        self.cursor = self.cursor.clamp(self.top, end).min(self.last());
    }

    /// Scrolls sideways, as far as the widest row that is seen goes.
    pub fn scroll(&mut self, by: isize) {
        let seen = self.top..self.top + self.height;
        let widest = seen.filter_map(|index| Some(self.line(index)?.width()));
        let most = widest.max().unwrap_or(0).saturating_sub(1);
        let left = self.left.saturating_add_signed(by);
        self.left = left.min(most.max(self.left));
    }

    /// The row at a place of what is seen, if there is one.
    pub fn at(&self, row: usize) -> Option<usize> {
        Some(self.top + row).filter(|index| *index < self.count())
    }

    fn selection(&self) -> RangeInclusive<usize> {
        let anchor = self.anchor.unwrap_or(self.cursor);
        anchor.min(self.cursor)..=anchor.max(self.cursor).min(self.last())
    }

    /// The selected rows, or the one under the cursor: their text, and how many they are.
    pub fn snapshot(&self) -> Option<(String, usize)> {
        let text = |index: usize| match &self.lines {
            Lines::Diff(diff) => diff.text(index),
            Lines::Markdown(laid) => {
                let spans = laid.rows.get(index)?.spans.iter();
                Some(spans.map(|span| span.text.as_str()).collect())
            }
            Lines::Plain(_) | Lines::Given => Some(self.line(index)?.text().to_owned()),
        };
        let rows: Vec<String> = self.selection().map_while(text).collect();
        (!rows.is_empty()).then(|| (rows.join("\n"), rows.len()))
    }

    /// Draws at least what may be seen of it at this size.
    pub fn lay_out(&mut self, columns: usize, height: usize) {
        if let Lines::Markdown(laid) = &mut self.lines {
            laid.set_columns(columns);
        }
        self.reach(self.top.max(self.cursor) + height);
    }

    /// What is seen in so many rows; `focused` when keys go here. It is laid out.
    pub fn rows(&mut self, focused: bool, columns: usize, height: usize) -> Vec<Row> {
        self.height = height.max(1);
        self.cursor = self.cursor.min(self.last());
        let lowest = (self.cursor + 1).saturating_sub(self.height);
        self.top = self.top.clamp(lowest, self.cursor);
        self.top = self.top.min(self.count().saturating_sub(self.height));
        if self.count() == 0 {
            return vec![clipped("nothing here", dim(), columns)];
        }
        let seen = self.top..(self.top + height).min(self.count());
        seen.map(|index| self.row(index, focused, columns))
            .collect()
    }

    fn row(&self, index: usize, focused: bool, columns: usize) -> Row {
        let mut row = match (&self.lines, &self.content.body) {
            (_, Body::List { items, .. }) => {
                return item(&items[index], index == self.cursor, columns);
            }
            (Lines::Markdown(laid), _) => laid.rows[index].clone(),
            (lines, _) => {
                let line = self.line(index).unwrap_or_default();
                let margin = match lines {
                    Lines::Diff(_) if columns > 2 * diff::MARGIN => diff::margin(&line),
                    _ => 0,
                };
                scrolled(&line, margin, self.left, columns)
            }
        };
        if !focused {
            return row;
        }
        let is_selected = self.anchor.is_some() && self.selection().contains(&index);
        if is_selected && row.spans.is_empty() {
            row.push(" ", Style::default());
        }
        for span in &mut row.spans {
            span.style.reverse |= is_selected;
            span.style.bold |= index == self.cursor;
        }
        row
    }

    /// A row that is scrolled sideways, whole.
    fn line(&self, index: usize) -> Option<Rich> {
        match (&self.lines, &self.content.body) {
            (Lines::Plain(lines), Body::Text(text) | Body::Diff(text)) => {
                let line = expand_tabs(&text[lines.get(index)?.clone()]);
                Some(Rich::of(&line, Style::default()))
            }
            (Lines::Diff(diff), _) => diff.row(index),
            (_, Body::Rows(rows)) => rows.get(index).map(widget::rich),
            _ => None,
        }
    }
}

fn lines(section: &ui::Section) -> Lines {
    match &section.body {
        Body::List { .. } | Body::Rows(_) => Lines::Given,
        Body::Text(text) => Lines::Plain(plain(text)),
        Body::Markdown(text) => Lines::Markdown(Laid::new(text)),
        Body::Diff(text) => match Diff::parse(text) {
            // The section names the file already.
            Some(diff) => Lines::Diff(diff.without_name(&section.title)),
            None => Lines::Plain(plain(text)),
        },
    }
}

/// The lines of a text; none when it is empty.
fn plain(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let end = start + line.trim_end_matches('\n').len();
        let range = start..end;
        start += line.len();
        range
    });
    lines.collect()
}

fn item(item: &Item, selected: bool, columns: usize) -> Row {
    let style = widget::style(item.token.as_deref());
    let style = match (selected, item.token.is_some()) {
        (false, _) => style,
        (true, true) => style.bold(),
        (true, false) => surface::selected(),
    };
    let detail = width(&item.detail);
    if detail == 0 || 2 * detail + BETWEEN > columns {
        return clipped(&item.label, style, columns);
    }
    let label = clipped(&item.label, style.clone(), columns - detail - BETWEEN);
    let detail_style = if selected { style } else { dim() };
    surface::header(label, Row::of(item.detail.clone(), detail_style), columns)
}

/// A row that is scrolled sideways under a margin which stays.
fn scrolled(line: &Rich, margin: usize, left: usize, columns: usize) -> Row {
    if margin == 0 || left == 0 {
        return line.skip_columns(left).clip(columns);
    }
    let mut row = Row::default();
    line.append(0..margin, &mut row);
    let rest = line.skip_bytes(margin).skip_columns(left);
    let rest = rest.clip(columns.saturating_sub(margin));
    row.spans.extend(prefixed("", Style::default(), rest).spans);
    row
}
