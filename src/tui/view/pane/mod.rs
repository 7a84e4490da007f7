//! The side pane: sections of an extension's content, and how a person moves in them.
//!
//! It knows neither keys nor where it stands on the screen. Places in it are rows and columns from
//! its own upper left corner.

mod laid;
mod section;
#[cfg(test)]
mod tests;

use std::ops::Range;

use section::Section;

use super::status::widest;
use super::surface::{self, dim};
use crate::extension::ui;
use crate::text::{clip_columns, width};
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style, Token};

/// Rows that a turn of the wheel moves what is no list.
const WHEEL_ROWS: isize = 3;
/// Columns that a step to the side moves.
const STEP_COLUMNS: isize = 8;
/// Rows of the header and of the hint.
const FRAME: usize = 2;
/// Bytes of Markdown that one frame lays out: a few milliseconds.
const FRAME_BYTES: usize = 16 * 1024;
/// Divides the parts of the hint.
const BETWEEN: &str = " · ";
/// Columns of an extension's hint that are left when how to get here stands beside it.
const LEAST_HINT: usize = 16;

const LIST_HINTS: &[&str] = &[
    "↑/↓ choose · tab section · enter open · esc back",
    "tab section · enter open · esc back",
    "tab · enter · esc",
];
const TEXT_HINTS: &[&str] = &[
    "shift+↑/↓ select · enter attach · ←/→ scroll · tab section · esc back",
    "shift+↑/↓ select · enter attach · tab section · esc back",
    "tab section · enter attach · esc back",
    "tab · enter · esc",
];

/// An item by the names that the extension gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    pub section: String,
    pub item: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entered {
    /// The item is activated.
    Activated(Selected),
    /// Rows are to be attached to the draft.
    Attached {
        /// What stands in the draft for them.
        label: String,
        /// They, under the name of what they are from.
        text: String,
    },
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clicked {
    Close,
    /// The cursor went to another item.
    Selected(Selected),
    Nothing,
}

/// A pane with a person's place in it.
#[derive(Clone, Debug)]
pub struct Pane {
    title: String,
    hint: String,
    sections: Vec<Section>,
    focus: usize,
    /// Where the sections were drawn last.
    slots: Vec<Slot>,
    columns: usize,
    /// Not all that is wanted is laid out.
    is_behind: bool,
}

/// The rows of one section.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    section: usize,
    /// Rows of the divider and the title above.
    head: usize,
    /// Its rows in the pane.
    rows: Range<usize>,
}

impl Pane {
    pub fn new(content: ui::Pane) -> Self {
        Self {
            title: content.title,
            hint: content.hint,
            sections: content.sections.into_iter().map(Section::new).collect(),
            focus: 0,
            slots: Vec::new(),
            columns: 0,
            is_behind: false,
        }
    }

    /// Draws it anew: the person keeps their place in every section that kept its name.
    pub fn refresh(&mut self, content: ui::Pane) {
        let focused = self.sections.get(self.focus).map(|one| one.id().to_owned());
        let mut old = std::mem::take(&mut self.sections);
        let sections = content.sections.into_iter().map(|section| {
            match old.iter().position(|old| old.id() == section.id) {
                Some(at) => old.swap_remove(at).refreshed(section),
                None => Section::new(section),
            }
        });
        self.sections = sections.collect();
        let same = |id: String| self.sections.iter().position(|one| one.id() == id);
        self.focus = focused.and_then(same).unwrap_or(0);
        self.title = content.title;
        self.hint = content.hint;
        // Until it is drawn again, no place on the screen is known to be any of it.
        self.slots.clear();
    }

    /// Whether the next frame has more to show.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// What it is called, maybe nothing.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Moves up (negative) or down. The item that is selected then, when it is another one.
    pub fn step(&mut self, by: isize, extend: bool) -> Option<Selected> {
        self.moved(|section| section.step(by, extend))
    }

    /// The same by what is seen at a time.
    pub fn page(&mut self, by: isize, extend: bool) -> Option<Selected> {
        self.moved(|section| section.page(by, extend))
    }

    /// The same to the first or last row.
    pub fn edge(&mut self, last: bool, extend: bool) -> Option<Selected> {
        self.moved(|section| section.edge(last, extend))
    }

    /// Scrolls sideways; `false` in a list, which does not.
    pub fn scroll(&mut self, by: isize) -> bool {
        let section = self.sections.get_mut(self.focus);
        let section = section.filter(|section| !section.is_list());
        section.map(|one| one.scroll(by * STEP_COLUMNS)).is_some()
    }

    /// Goes to the next section, around the end.
    pub fn next_section(&mut self) {
        self.focus = surface::step(self.focus, 1, self.sections.len());
    }

    /// Goes back to the first section; `false` when it is there already.
    pub fn back(&mut self) -> bool {
        std::mem::take(&mut self.focus) > 0
    }

    /// Activates the item under the cursor and goes on to the next section, or hands out rows.
    pub fn enter(&mut self) -> Entered {
        let Some(section) = self.sections.get_mut(self.focus) else {
            return Entered::Nothing;
        };
        if section.is_list() {
            let Some(selected) = section.selected() else {
                return Entered::Nothing;
            };
            self.focus = (self.focus + 1).min(self.sections.len() - 1);
            return Entered::Activated(selected);
        }
        let Some((text, count)) = section.snapshot() else {
            return Entered::Nothing;
        };
        let names = [section.title(), &self.title, "Pane"];
        let name = names.into_iter().find(|name| !name.is_empty());
        let name = name.unwrap_or_default();
        let plural = if count == 1 { "" } else { "s" };
        Entered::Attached {
            label: format!("[{name} · {count} row{plural}]"),
            text: format!("{name}:\n{text}"),
        }
    }

    /// A click: it focuses a section, selects its item, or begins a selection of rows.
    pub fn click(&mut self, row: usize, column: usize) -> Clicked {
        if row == 0 {
            return match column + 1 == self.columns {
                true => Clicked::Close,
                false => Clicked::Nothing,
            };
        }
        let Some(slot) = self.slot(row).cloned() else {
            return Clicked::Nothing;
        };
        self.focus = slot.section;
        let index = row.checked_sub(slot.rows.start);
        let index = index.and_then(|row| self.sections[slot.section].at(row));
        let moved = index.and_then(|index| self.moved(|section| section.go(index, false)));
        moved.map_or(Clicked::Nothing, Clicked::Selected)
    }

    /// The pointer is here with the button down: rows up to here are selected.
    pub fn drag(&mut self, row: usize) {
        let Some(slot) = self.slots.iter().find(|slot| slot.section == self.focus) else {
            return;
        };
        let within = row.clamp(slot.rows.start, slot.rows.end.max(slot.rows.start + 1) - 1);
        let row = within - slot.rows.start;
        if let Some(section) = self
            .sections
            .get_mut(self.focus)
            .filter(|one| !one.is_list())
        {
            if let Some(index) = section.at(row) {
                section.go(index, true);
            }
        }
    }

    /// The wheel turned over a row: by one up (negative) or down.
    pub fn wheel(&mut self, row: usize, by: isize) -> Option<Selected> {
        let at = self.slot(row).map_or(self.focus, |slot| slot.section);
        let section = self.sections.get_mut(at)?;
        let before = section.selected();
        section.wheel(by);
        section.selected().filter(|_| before != section.selected())
    }

    /// All of it in exactly `height` rows. `focused` when keys go here; `switch` tells how to change
    /// that, unless something else does.
    pub fn rows(&mut self, focused: bool, switch: &str, columns: usize, height: usize) -> Vec<Row> {
        self.columns = columns;
        let mut budget = FRAME_BYTES;
        self.is_behind = false;
        for section in &mut self.sections {
            self.is_behind |= section.lay_out(columns, height, &mut budget);
        }
        self.slots = self.arrange(height);
        let mut rows = vec![self.header(focused, columns)];
        for slot in &self.slots {
            let section = &mut self.sections[slot.section];
            rows.resize(slot.rows.start - slot.head, Row::default());
            let has_title = !section.title().is_empty();
            if slot.head > usize::from(has_title) {
                rows.push(surface::rule(Token::BorderMuted, columns));
            }
            if has_title && slot.head > 0 {
                rows.push(clipped(section.title(), dim(), columns));
            }
            let here = focused && slot.section == self.focus;
            rows.extend(section.rows(here, columns, slot.rows.len()));
            rows.truncate(slot.rows.end);
        }
        rows.resize(height.saturating_sub(1), Row::default());
        rows.truncate(height.saturating_sub(1));
        if height > 0 {
            rows.push(clipped(
                &self.hint(focused, switch, columns),
                dim(),
                columns,
            ));
        }
        rows
    }

    fn header(&self, focused: bool, columns: usize) -> Row {
        let style = if focused { surface::selected() } else { dim() };
        let title = Rich::of(&self.title, style).clip(columns.saturating_sub(2));
        let mut row = title;
        let gap = columns.saturating_sub(row.width() + 1);
        row.push(" ".repeat(gap), Style::default());
        if columns > 0 {
            row.push("×", Style::colored(Token::Muted));
        }
        row
    }

    /// What the extension says, else what the keys do, and how to get here or away.
    fn hint(&self, focused: bool, switch: &str, columns: usize) -> String {
        let is_list = self.sections.get(self.focus).is_some_and(Section::is_list);
        let room = match switch {
            "" => columns,
            switch => columns.saturating_sub(width(switch) + width(BETWEEN)),
        };
        let keys = match (&*self.hint, focused) {
            ("", true) => widest(if is_list { LIST_HINTS } else { TEXT_HINTS }, room),
            ("", false) => "",
            // Of a long one the beginning is enough.
            (hint, _) if room >= LEAST_HINT => &clip_columns(hint, room),
            (hint, _) => hint,
        };
        let parts = [keys, switch].into_iter().filter(|part| !part.is_empty());
        let whole = parts.collect::<Vec<_>>().join(BETWEEN);
        match width(&whole) <= columns || keys.is_empty() {
            true => whole,
            false => keys.to_owned(),
        }
    }

    /// Where the sections stand. Lists have their rows, the others share what is left; where not
    /// every section has room, the focused one has all of it.
    fn arrange(&self, height: usize) -> Vec<Slot> {
        let room = height.saturating_sub(FRAME);
        let title = |at: usize| usize::from(!self.sections[at].title().is_empty());
        let head = |at: usize| usize::from(at > 0) + title(at);
        let all = 0..self.sections.len();
        let fixed = all.clone().map(|at| {
            let list = self.sections[at].is_list();
            head(at) + if list { self.sections[at].wants() } else { 0 }
        });
        let fixed: usize = fixed.sum();
        let mut sharing: Vec<usize> = all
            .clone()
            .filter(|at| !self.sections[*at].is_list())
            .collect();
        if fixed + sharing.len() > room {
            let head = if room > 1 {
                all.contains(&self.focus).then(|| title(self.focus))
            } else {
                None
            };
            let head = head.unwrap_or(0);
            let rows = 1 + head..1 + room.max(head);
            let section = self.focus;
            return all
                .contains(&section)
                .then_some(Slot {
                    section,
                    head,
                    rows,
                })
                .into_iter()
                .collect();
        }
        // Who wants least is served first, so that nobody leaves rows that others could use.
        sharing.sort_by_key(|at| self.sections[*at].wants());
        let mut left = room - fixed;
        let mut given: Vec<usize> = self.sections.iter().map(Section::wants).collect();
        for (index, at) in sharing.iter().enumerate() {
            given[*at] = given[*at].min(left / (sharing.len() - index));
            left -= given[*at];
        }
        let mut row = 1;
        let slot = |section: usize| {
            let head = head(section);
            row += head;
            let rows = row..row + given[section];
            row = rows.end;
            Slot {
                section,
                head,
                rows,
            }
        };
        all.map(slot).collect()
    }

    fn slot(&self, row: usize) -> Option<&Slot> {
        let holds = |slot: &&Slot| (slot.rows.start - slot.head..slot.rows.end).contains(&row);
        self.slots.iter().find(holds)
    }

    fn moved(&mut self, go: impl FnOnce(&mut Section)) -> Option<Selected> {
        let section = self.sections.get_mut(self.focus)?;
        let before = section.selected();
        go(section);
        section.selected().filter(|_| before != section.selected())
    }
}
