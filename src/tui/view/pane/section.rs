//! One section of a pane: its rows, and the person's place in it.
//!
//! A section may be long and is shown through a small window, so only what is seen is drawn.

use std::ops::{Range, RangeInclusive};

use super::Selected;
use super::laid::Laid;
use crate::extension::ui::{self, Body, Item};
use crate::text::{clip_bytes, expand_tabs, width};
use crate::tui::diff::{self, Diff};
use crate::tui::rich::{Rich, clipped, prefixed};
use crate::tui::style::{Row, Style};
use crate::tui::view::surface::{self, dim};
use crate::tui::view::widget;

/// Rows of a list that are seen at a time.
const LIST_ROWS: usize = 8;
/// Most bytes of a line that are drawn. What is attached is whole.
const LINE_BYTES: usize = 4096;
/// A cursor from here on counts from the end, which is [`usize::MAX`] until it is known.
const FAR: usize = usize::MAX / 2;
/// Columns between an item's label and its detail.
const BETWEEN: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct Section {
    content: ui::Section,
    lines: Lines,
    /// The item or row that the cursor is on, or is to be on once it is laid out.
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
    Markdown(Box<Laid>),
}

impl Section {
    pub fn new(content: ui::Section) -> Self {
        let cursor = match &content.body {
            Body::List { selected, .. } => selected.unwrap_or(0),
            _ => 0,
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
        let place = self.place();
        let cursor = match (&content.body, self.item()) {
            (Body::List { items, selected }, old) => {
                let same = |old: &Item| items.iter().position(|item| item.id == old.id);
                old.and_then(same).or(*selected).unwrap_or(place)
            }
            _ => place,
        };
        let lines = match (self.lines, &self.content.body, &content.body) {
            (Lines::Markdown(laid), Body::Markdown(old), Body::Markdown(new)) => {
                Lines::Markdown(Box::new(laid.refreshed(old, new)))
            }
            _ => lines(&content),
        };
        let mut new = Self {
            lines,
            content,
            anchor: None,
            ..self
        };
        new.set_cursor(cursor);
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
            (Lines::Markdown(laid), _) => laid.rows().len(),
            (Lines::Given, Body::List { items, .. }) => items.len(),
            (Lines::Given, Body::Rows(rows)) => rows.len(),
            (Lines::Given, _) => 0,
        }
    }

    /// Whether all its rows are known.
    fn is_whole(&self) -> bool {
        match &self.lines {
            Lines::Markdown(laid) => laid.is_whole(),
            Lines::Given | Lines::Plain(_) | Lines::Diff(_) => true,
        }
    }

    fn last(&self) -> usize {
        self.count().saturating_sub(1)
    }

    /// Where the cursor is: on its way as far as there are rows.
    fn place(&self) -> usize {
        self.cursor.min(self.last())
    }

    fn set_cursor(&mut self, to: usize) {
        self.cursor = to;
        if self.is_whole() {
            let last = self.last();
            let known = |row: usize| match row {
                FAR.. => last.saturating_sub(usize::MAX - row),
                row => row.min(last),
            };
            self.anchor = self.anchor.map(known);
            self.cursor = known(to);
        }
    }

    /// Goes all the way at once: what comes next is about the rows there.
    fn arrive(&mut self) {
        if let (Lines::Markdown(laid), Body::Markdown(text)) = (&mut self.lines, &self.content.body)
        {
            laid.reach(text, self.cursor, &mut { usize::MAX });
        }
        self.set_cursor(self.cursor);
    }

    fn item(&self) -> Option<&Item> {
        match &self.content.body {
            Body::List { items, .. } => items.get(self.place()),
            _ => None,
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
        self.set_cursor(to);
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
        self.top = top.min(self.count().saturating_sub(self.height));
        let end = self.top + self.height.max(1) - 1;
        self.set_cursor(self.place().clamp(self.top, end));
    }

    /// Scrolls sideways, as far as the widest row that is seen goes.
    pub fn scroll(&mut self, by: isize) {
        let seen = self.top..self.top + self.height;
        let widest = seen.filter_map(|index| Some(self.line(index, LINE_BYTES)?.width()));
        let most = widest.max().unwrap_or(0).saturating_sub(1);
        let left = self.left.saturating_add_signed(by);
        self.left = left.min(most.max(self.left));
    }

    /// The row at a place of what is seen, if there is one.
    pub fn at(&self, row: usize) -> Option<usize> {
        Some(self.top + row).filter(|index| *index < self.count())
    }

    fn selection(&self) -> RangeInclusive<usize> {
        let place = self.place();
        let anchor = self.anchor.unwrap_or(place);
        anchor.min(place)..=anchor.max(place).min(self.last())
    }

    /// The selected rows, or the one under the cursor: their text, and how many they are.
    pub fn snapshot(&mut self) -> Option<(String, usize)> {
        self.arrive();
        let text = |index: usize| match &self.lines {
            Lines::Diff(diff) => diff.text(index),
            Lines::Markdown(laid) => {
                let spans = laid.rows().get(index)?.spans.iter();
                Some(spans.map(|span| span.text.as_str()).collect())
            }
            Lines::Plain(_) | Lines::Given => Some(self.line(index, usize::MAX)?.text().to_owned()),
        };
        let rows: Vec<String> = self.selection().map_while(text).collect();
        (!rows.is_empty()).then(|| (rows.join("\n"), rows.len()))
    }

    /// Lays out what may be seen of it at this size, and where the cursor is to go, as far as `budget`
    /// bytes of text lead. Whether there is more to do.
    pub fn lay_out(&mut self, columns: usize, height: usize, budget: &mut usize) -> bool {
        let (Lines::Markdown(laid), Body::Markdown(text)) = (&mut self.lines, &self.content.body)
        else {
            return false;
        };
        laid.set_columns(columns);
        let goal = self.top.max(self.cursor).saturating_add(2 * height);
        laid.reach(text, goal, budget);
        let is_behind = laid.rows().len() <= goal && !laid.is_whole();
        self.set_cursor(self.cursor);
        is_behind
    }

    /// What is seen in so many rows; `focused` when keys go here. It is laid out.
    pub fn rows(&mut self, focused: bool, columns: usize, height: usize) -> Vec<Row> {
        self.height = height.max(1);
        let place = self.place();
        let lowest = (place + 1).saturating_sub(self.height);
        self.top = self.top.clamp(lowest, place);
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
                return item(&items[index], index == self.place(), columns);
            }
            (Lines::Markdown(laid), _) => laid.rows()[index].clone(),
            (lines, _) => {
                let line = self.line(index, LINE_BYTES).unwrap_or_default();
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
            span.style.bold |= index == self.place();
        }
        row
    }

    /// A row that is scrolled sideways, with at most so many bytes of its line.
    fn line(&self, index: usize, most: usize) -> Option<Rich> {
        match (&self.lines, &self.content.body) {
            (Lines::Plain(lines), Body::Text(text) | Body::Diff(text)) => {
                let line = clip_bytes(&text[lines.get(index)?.clone()], most);
                Some(Rich::of(&expand_tabs(line), Style::default()))
            }
            (Lines::Diff(diff), _) => diff.row(index, most),
            (_, Body::Rows(rows)) => rows.get(index).map(widget::rich),
            _ => None,
        }
    }
}

fn lines(section: &ui::Section) -> Lines {
    match &section.body {
        Body::List { .. } | Body::Rows(_) => Lines::Given,
        Body::Text(text) => Lines::Plain(plain(text)),
        Body::Markdown(text) => Lines::Markdown(Box::new(Laid::new(text))),
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
