//! The picker: a list that typing narrows, with tabs.

use unicode_segmentation::UnicodeSegmentation;

use super::surface::{self, dim};
use crate::text::{Filter, Match, Query, clip_columns, one_line, sanitize, width};
use crate::tui::rich::Rich;
use crate::tui::style::{Row, Style, Token};

/// Columns between label and description.
const COLUMN_GAP: usize = 3;
/// A match in a description comes after every match in a label.
const DESCRIPTION: u32 = 1 << 20;

/// One entry. Its texts are only shown: what it stands for is known to whoever made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// What is chosen.
    pub label: String,
    /// More about it.
    pub description: String,
    /// At the right end.
    pub group: String,
    /// The tab that it belongs to.
    pub tab: usize,
    /// Whether it is ticked, where entries can be.
    pub ticked: Option<bool>,
}

/// A part of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    pub name: String,
    /// It shows the entries of all tabs.
    pub all: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Picker {
    title: String,
    /// Whose question it is. Its entries are answers: the selected one has a mark.
    note: Option<String>,
    /// Somebody else narrows it: it says nothing about a filter.
    is_narrowed: bool,
    items: Vec<Item>,
    tabs: Vec<Tab>,
    tab: usize,
    query: String,
    filter: Filter,
    /// Hits of the open tab, as indices of `items`.
    shown: Vec<usize>,
    selected: usize,
    top: usize,
    /// Entries that are shown at a time, and how many that may be.
    height: usize,
    most: usize,
}

impl Picker {
    /// A list under a title, `height` entries of it visible at a time.
    pub fn new(title: impl Into<String>, items: Vec<Item>, height: usize) -> Self {
        let mut picker = Self {
            title: one_line(&title.into(), None),
            items: cleaned(items),
            height: height.max(1),
            most: height.max(1),
            ..Self::default()
        };
        picker.refresh();
        picker
    }

    /// The same with tabs, one of them open.
    pub fn with_tabs(mut self, tabs: Vec<Tab>, open: usize) -> Self {
        self.tab = open.min(tabs.len().saturating_sub(1));
        self.tabs = tabs;
        self.refresh();
        self
    }

    /// The same as a question of somebody, whom the header names. What Enter would answer is plain
    /// without colours, too.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The same as a list that whoever made it narrows.
    pub fn narrowed(mut self) -> Self {
        self.is_narrowed = true;
        self
    }

    /// Narrows the list to what matches.
    pub fn set_query(&mut self, query: &str) {
        if query != self.query {
            self.query = query.to_owned();
            self.refresh();
        }
    }

    /// Narrows it further. It is one line, blanks and all.
    pub fn extend_query(&mut self, text: &str) {
        let text = sanitize(text).replace(['\n', '\t', '\u{2028}', '\u{2029}'], " ");
        self.set_query(&format!("{}{text}", self.query));
    }

    /// Takes back the last grapheme that was typed.
    pub fn shorten_query(&mut self) {
        let last = self.query.grapheme_indices(true).next_back();
        let query = self.query[..last.map_or(0, |(at, _)| at)].to_owned();
        self.set_query(&query);
    }

    /// Moves the selection up or down, around the ends.
    pub fn step(&mut self, by: isize) {
        self.select(surface::step(self.selected, by, self.shown.len()));
    }

    /// Moves the selection by a page, and not past the ends.
    pub fn page(&mut self, by: isize) {
        let last = self.shown.len().saturating_sub(1);
        let by = by.saturating_mul(self.height as isize);
        self.select(self.selected.saturating_add_signed(by).min(last));
    }

    /// Shows so many entries at a time where it would show more.
    pub fn fit(&mut self, rows: usize) {
        self.height = self.most.min(rows).max(1);
        self.select(self.selected);
    }

    /// Opens the next tab, or the one before.
    pub fn step_tab(&mut self, by: isize) {
        if self.tabs.is_empty() {
            return;
        }
        self.tab = surface::step(self.tab, by, self.tabs.len());
        self.refresh();
    }

    /// Whether there are tabs.
    pub fn has_tabs(&self) -> bool {
        !self.tabs.is_empty()
    }

    /// The selected entry, as an index of what the picker was given.
    pub fn chosen(&self) -> Option<usize> {
        self.shown.get(self.selected).copied()
    }

    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Ticks the selected entry or takes its tick away.
    pub fn toggle(&mut self) {
        if let Some(index) = self.chosen() {
            let ticked = &mut self.items[index].ticked;
            *ticked = ticked.map(|on| !on);
        }
    }

    /// Takes every tick away.
    pub fn untick(&mut self) {
        for item in &mut self.items {
            item.ticked = item.ticked.map(|_| false);
        }
    }

    /// Header and body, without the frame around them.
    pub fn rows(&self, columns: usize) -> (Row, Vec<Row>) {
        let visible = self.top..(self.top + self.height).min(self.shown.len());
        let indices = &self.shown[visible.clone()];
        let items = || indices.iter().map(|index| &self.items[*index]);
        let ticks = items().any(|item| item.ticked.is_some());
        let labels = items().map(|item| width(&item.label)).max().unwrap_or(0);
        let described = items().any(|item| !item.description.is_empty());
        let labels = labels.min(if described { columns / 2 } else { columns });
        let room = columns.saturating_sub(if self.note.is_some() { 2 } else { 0 });
        let row = |(at, item): (usize, &Item)| {
            let selected = at == self.selected;
            let row = self.item(item, selected, labels, ticks, room);
            match self.note.is_some() {
                true => surface::choice(row, selected),
                false => row,
            }
        };
        let mut body: Vec<Row> = visible.clone().zip(items()).map(row).collect();
        if body.is_empty() {
            body.push(crate::tui::rich::clipped("nothing matches", dim(), columns));
        }
        (self.header(visible, columns), body)
    }

    fn header(&self, visible: std::ops::Range<usize>, columns: usize) -> Row {
        let mut left = Rich::of(&self.title, Style::default().bold());
        if self.note.is_none() {
            left.push(&format!(" {}", self.shown.len()), dim());
        }
        for (index, tab) in self.tabs.iter().enumerate() {
            left.push("  ", dim());
            let style = if index == self.tab {
                surface::selected()
            } else {
                dim()
            };
            left.push(&tab.name, style);
        }
        let filter = match (&self.note, self.query.is_empty()) {
            (None, true) if !self.is_narrowed => Some("type to filter".to_owned()),
            (_, true) => None,
            (None, false) => Some(clip_columns(&self.query, columns / 3)),
            // It stands beside a name that is no part of it.
            (Some(_), false) => Some(format!("filter {}", clip_columns(&self.query, columns / 3))),
        };
        let range = (self.shown.len() > self.height).then(|| {
            let (first, last) = (visible.start + 1, visible.end);
            format!("{first}-{last} of {}", self.shown.len())
        });
        let right: Vec<String> = [filter, range, self.note.clone()]
            .into_iter()
            .flatten()
            .collect();
        let right = Rich::of(&right.join(" · "), dim()).clip(columns);
        surface::header(left.clip(columns), right, columns)
    }

    fn item(&self, item: &Item, selected: bool, labels: usize, ticks: bool, columns: usize) -> Row {
        let style = if selected { surface::selected() } else { dim() };
        let mut rich = Rich::default();
        if ticks {
            let tick = if item.ticked == Some(true) {
                "✓ "
            } else {
                "  "
            };
            rich.push(tick, style.clone());
        }
        let query = Query::new(&self.query);
        let label_hits = query.find(&item.label);
        let label = if columns > labels {
            clip_columns(&item.label, labels)
        } else {
            item.label.clone()
        };
        push_matched(&mut rich, &label, label_hits.as_ref(), &style);
        if !item.description.is_empty() {
            let gap = labels.saturating_sub(width(&label)) + COLUMN_GAP;
            rich.push(&" ".repeat(gap), style.clone());
            let hits = match label_hits {
                Some(_) => None,
                None => query.find(&item.description),
            };
            push_matched(&mut rich, &item.description, hits.as_ref(), &style);
        }
        let group = width(&item.group);
        if group == 0 || group + COLUMN_GAP + labels > columns {
            return rich.clip(columns);
        }
        let room = columns - group - COLUMN_GAP;
        let left = rich.clip(room);
        surface::header(left, Row::of(item.group.clone(), style), columns)
    }

    fn refresh(&mut self) {
        let (query, items) = (Query::new(&self.query), &self.items);
        self.filter.apply(&self.query, items.len(), |index| {
            let item = &items[index];
            let by_text = || Some(DESCRIPTION.saturating_add(query.score(&item.description)?));
            query.score(&item.label).or_else(by_text)
        });
        let open = self
            .tabs
            .get(self.tab)
            .filter(|tab| !tab.all)
            .map(|_| self.tab);
        let in_tab = |index: &usize| open.is_none_or(|tab| items[*index].tab == tab);
        self.shown = self.filter.hits().filter(in_tab).collect();
        self.selected = 0;
        self.top = 0;
    }

    fn select(&mut self, at: usize) {
        self.selected = at;
        self.top = self.top.clamp((at + 1).saturating_sub(self.height), at);
    }
}

/// Entries whose texts are fit to be shown: names of files and sessions may hold anything.
fn cleaned(mut items: Vec<Item>) -> Vec<Item> {
    for item in &mut items {
        for text in [&mut item.label, &mut item.description, &mut item.group] {
            *text = one_line(text, None);
        }
    }
    items
}

/// Text whose matched characters are bold, on a background.
fn push_matched(rich: &mut Rich, text: &str, found: Option<&Match>, style: &Style) {
    let positions = found.map_or(&[][..], |found| &found.positions);
    let mut positions = positions.iter().peekable();
    for (at, c) in text.char_indices() {
        let hit = positions.next_if(|position| **position <= at).is_some();
        let mut style = style.clone();
        if hit {
            style.bold = true;
            style.dim = false;
            style.color = Some(Token::SearchMatchText);
            style.background = Some(Token::SearchMatchBg);
        }
        rich.push(c.encode_utf8(&mut [0; 4]), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain, styled};

    fn commands() -> Picker {
        let item = |label: &str, description: &str, group: &str| Item {
            label: label.to_owned(),
            description: description.to_owned(),
            group: group.to_owned(),
            ..Item::default()
        };
        let items = vec![
            item("compact [focus]", "summarise older messages", "Session"),
            item("copy", "copy the\x1b[1m last\nreply", "General"),
            item("deploy <env>", "ship the branch", "Extension"),
            item("effort [level]", "show or set effort", "Model"),
        ];
        Picker::new("Commands", items, 3)
    }

    #[test]
    fn the_list_as_it_opens() {
        let (header, body) = commands().rows(60);
        let blank = " ".repeat(60 - "Commands 4".len() - "type to filter · 1-3 of 4".len() + 1);
        let expected =
            format!("⟨bold|Commands⟩⟨dim dim| 4⟩{blank}⟨dim dim|type to filter · 1-3 of 4⟩");
        assert_eq!(styled(&[header]), [expected]);
        let expected = [
            "compact [focus]   summarise older messages           Session",
            "copy              copy the last reply                General",
            "deploy <env>      ship the branch                  Extension",
        ];
        assert_eq!(plain(&body), expected);
        assert!(body[0].spans[0].style.bold && body[1].spans[0].style.dim);
        for columns in 0..40 {
            let (header, body) = commands().rows(columns);
            check(&[header], columns);
            check(&body, columns);
        }
    }

    #[test]
    fn a_list_that_another_narrows_says_nothing_of_a_filter() {
        let rows = plain(&[commands().narrowed().rows(40).0]);
        assert_eq!(rows, [format!("Commands 4{}1-3 of 4", " ".repeat(40 - 18))]);
    }

    #[test]
    fn typing_narrows_and_marks() {
        let mut picker = commands();
        picker.set_query("co");
        let (_, body) = picker.rows(60);
        assert_eq!(styled(&body)[1].split(' ').next(), Some("⟨searchMatchText"));
        assert_eq!(picker.chosen(), Some(0));
        picker.set_query("ship");
        assert_eq!(picker.chosen(), Some(2));
        picker.set_query("zzz");
        assert_eq!(
            (picker.chosen(), plain(&picker.rows(60).1)),
            (None, vec!["nothing matches".to_owned()])
        );
    }

    #[test]
    fn pages_end_at_the_ends() {
        let mut picker = commands();
        for (by, at) in [(isize::MAX, 3), (1, 3), (-1, 0), (isize::MIN, 0)] {
            picker.page(by);
            assert_eq!(picker.chosen(), Some(at), "{by}");
        }
    }

    #[test]
    fn what_is_typed_stays_one_line_and_goes_by_graphemes() {
        let mut picker = commands();
        for text in ["sh", " ", "ip\nthe\x1b[31m", "👩‍🚀"] {
            picker.extend_query(text);
        }
        assert_eq!(picker.query, "sh ip the👩‍🚀");
        for left in ["sh ip the", "sh ip th"] {
            picker.shorten_query();
            assert_eq!(picker.query, left);
        }
    }

    #[test]
    fn a_question_marks_its_answer_and_shows_its_filter() {
        let mut picker = commands().with_note("deploy");
        let shown = |picker: &Picker| {
            let (header, body) = picker.rows(40);
            let rows = plain(&[vec![header], body].concat());
            rows.iter()
                .map(|row| row.replace("  ", ""))
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(&picker)[0], "Commands 1-3 of 4 · deploy");
        assert!(shown(&picker)[1].starts_with("› compact"));
        assert!(shown(&picker)[2].starts_with("copy"));
        picker.set_query("cop");
        assert_eq!(shown(&picker)[0], "Commands filter cop · deploy");
        assert!(shown(&picker)[1].starts_with("› copy"));
        for columns in 0..40 {
            let (header, body) = picker.rows(columns);
            check(&[header], columns);
            check(&body, columns);
        }
    }

    #[test]
    fn moving_scrolls_and_wraps() {
        let mut picker = commands();
        picker.step(-1);
        assert_eq!((picker.chosen(), picker.top), (Some(3), 1));
        picker.step(1);
        assert_eq!((picker.chosen(), picker.top), (Some(0), 0));
        picker.set_query("zzz");
        picker.step(1);
        assert_eq!(picker.chosen(), None);
    }

    #[test]
    fn tabs_and_ticks() {
        let item = |label: &str, tab| Item {
            label: label.to_owned(),
            tab,
            ticked: Some(false),
            ..Item::default()
        };
        let tab = |name: &str, all| Tab {
            name: name.to_owned(),
            all,
        };
        let mut picker = Picker::new("Models", vec![item("a", 1), item("b", 2)], 20).with_tabs(
            vec![tab("All", true), tab("One", false), tab("Two", false)],
            0,
        );
        picker.step_tab(-1);
        assert_eq!((picker.tab, picker.chosen()), (2, Some(1)));
        picker.toggle();
        assert_eq!(plain(&picker.rows(40).1), ["✓ b"]);
        picker.step_tab(1);
        let header = plain(&[picker.rows(60).0]).concat();
        assert!(header.starts_with("Models 2  All  One  Two"), "{header}");
    }
}
