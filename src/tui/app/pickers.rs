//! Pickers: lists that narrow while one types. Some follow the last word of the draft, the others
//! are opened by a command and take what is typed for themselves.

use std::path::PathBuf;
use std::time::Instant;

use super::deaf::Deaf;
use super::{App, Surface};
use crate::config::resources::Skill;
use crate::session::{Listed, PastPrompt};
use crate::tui::key::{Key, KeyPress};
use crate::tui::style::Row;
use crate::tui::view::picker::Picker;
use crate::tui::view::status::widest;
use crate::tui::view::surface::{FRAME, framed};

/// An open picker, and what its entries are.
#[derive(Debug)]
pub struct Choosing {
    pub picker: Picker,
    /// What is picked; one for each entry of the list, in its order.
    pub picks: Picks,
}

#[derive(Debug)]
pub enum Picks {
    /// A slash command: the name, and what may follow it.
    Commands(Vec<(String, String)>),
    Files(Vec<String>),
    Skills(Vec<Skill>),
    /// What may follow a command, as its extension says.
    Arguments(Vec<String>),
    /// A model, by its slug.
    Models(Vec<String>),
    /// Which models the keys for the next model go through, by their slugs.
    Scope(Vec<String>),
    /// What is to be recorded about the directory.
    Trust(Vec<super::trust::Change>),
    Sessions(Vec<Listed>),
    /// A message to go back to, of the session in this log.
    Tree(PathBuf, Vec<PastPrompt>),
}

impl Picks {
    /// Whether the list narrows with the draft, which takes the keys.
    pub fn follows_draft(&self) -> bool {
        match self {
            Picks::Commands(_) | Picks::Files(_) | Picks::Skills(_) | Picks::Arguments(_) => true,
            Picks::Models(_)
            | Picks::Scope(_)
            | Picks::Trust(_)
            | Picks::Sessions(_)
            | Picks::Tree(..) => false,
        }
    }

    /// The hints of what the keys do, the longest first.
    fn hints(&self) -> &'static [&'static str] {
        match self {
            Picks::Commands(_) => &[
                "↑/↓ choose · tab complete · enter run · esc close",
                "tab complete · enter run · esc close",
                "enter run · esc close",
                "enter · esc",
            ],
            Picks::Files(_) => &[
                "↑/↓ choose · tab or enter take · esc close",
                "tab or enter take · esc close",
                "enter take · esc close",
                "enter · esc",
            ],
            Picks::Skills(_) => &[
                "↑/↓ choose · tab other places · enter use · esc close",
                "tab places · enter use · esc close",
                "enter · esc",
            ],
            Picks::Arguments(_) => &["↑/↓ choose · enter insert · esc close", "↑/↓ · enter · esc"],
            Picks::Models(_) => &[
                "↑/↓ choose · tab other providers · enter use · esc close",
                "tab providers · enter use · esc close",
                "enter · esc",
            ],
            Picks::Scope(_) => &[
                "↑/↓ choose · space toggle · ctrl+s save · ctrl+x clear · esc discard",
                "space toggle · ctrl+s save · esc discard",
                "space · ctrl+s · esc",
            ],
            Picks::Sessions(_) => &[
                "↑/↓ choose · tab all places · enter go on · esc close",
                "tab places · enter go on · esc close",
                "enter · esc",
            ],
            Picks::Tree(..) => &[
                "↑/↓ choose · enter go back to before it · esc close",
                "enter go back · esc close",
                "enter · esc",
            ],
            Picks::Trust(_) => &["↑/↓ choose · enter decide · esc close", "enter · esc"],
        }
    }
}

impl Choosing {
    pub fn rows(&mut self, columns: usize, height: usize) -> Vec<Row> {
        self.picker.fit(height.saturating_sub(FRAME));
        let (header, body) = self.picker.rows(columns);
        framed(header, body, widest(self.picks.hints(), columns), columns)
    }
}

impl App {
    pub(super) fn open_picker(&mut self, picker: Picker, picks: Picks) {
        // The person opened it: what ignored their keys before is gone.
        self.deaf = Deaf::No;
        self.surface = Some(Surface::Picker(Box::new(Choosing { picker, picks })));
    }

    /// A key while a picker is open; false when the composer is to have it.
    pub(super) fn picker_key(&mut self, press: KeyPress, now: Instant) -> bool {
        let Some(Surface::Picker(choosing)) = &mut self.surface else {
            return false;
        };
        let Choosing { picker, picks } = &mut **choosing;
        let follows = picks.follows_draft();
        let scopes = matches!(picks, Picks::Scope(_));
        let is_plain = !(press.ctrl || press.alt || press.shift || press.command);
        match press.key {
            Key::Escape => {
                self.surface = None;
                self.list_closed(follows);
            }
            Key::Up if is_plain => picker.step(-1),
            Key::Down if is_plain => picker.step(1),
            Key::PageUp if is_plain => picker.page(-1),
            Key::PageDown if is_plain => picker.page(1),
            Key::Home if is_plain && !follows => picker.page(isize::MIN),
            Key::End if is_plain && !follows => picker.page(isize::MAX),
            Key::Tab if picker.has_tabs() => picker.step_tab(if press.shift { -1 } else { 1 }),
            Key::Tab if follows && !press.shift => self.pick(false, now),
            Key::Tab => {}
            Key::Enter if is_plain => self.pick(true, now),
            _ if follows => return false,
            Key::Char(' ') if scopes && is_plain => picker.toggle(),
            Key::Char('s') if scopes && press.ctrl => self.pick(true, now),
            Key::Char('x') if scopes && press.ctrl => picker.untick(),
            Key::Char('u') if press.ctrl => picker.set_query(""),
            Key::Backspace => picker.shorten_query(),
            _ => self.filter_picker(press.text().map(String::from).as_deref()),
        }
        true
    }

    /// A list was closed without a choice.
    fn list_closed(&mut self, follows_draft: bool) {
        self.lists.dismissed = follows_draft;
        if !follows_draft {
            self.picker_closed();
        }
    }

    /// Adds to the filter of an open picker that takes the keys.
    pub(super) fn filter_picker(&mut self, text: Option<&str>) {
        if let (Some(Surface::Picker(choosing)), Some(text)) = (&mut self.surface, text) {
            choosing.picker.extend_query(text);
        }
    }

    /// Does what the chosen entry stands for, or writes it into the draft when nothing is to run
    /// yet. A list without one closes.
    fn pick(&mut self, runs: bool, now: Instant) {
        let Some(Surface::Picker(choosing)) = self.surface.take() else {
            return;
        };
        let Choosing { picker, picks } = *choosing;
        if let Picks::Scope(slugs) = &picks {
            let ticked = |(slug, item): (&String, &crate::tui::view::picker::Item)| {
                (item.ticked == Some(true)).then(|| slug.clone())
            };
            let scope = slugs.iter().zip(picker.items()).filter_map(ticked);
            return self.scope_chosen(scope.collect());
        }
        let Some(index) = picker.chosen() else {
            if runs {
                self.list_closed(picks.follows_draft());
            }
            return;
        };
        match picks {
            Picks::Commands(words) => self.command_picked(&words[index], runs, now),
            Picks::Files(paths) => self.file_picked(&paths[index]),
            Picks::Skills(mut skills) => self.skill_picked(skills.swap_remove(index)),
            // Somebody who wrote it all wants it run.
            Picks::Arguments(values) if runs && self.has_argument(&values[index]) => {
                self.submit(now);
            }
            Picks::Arguments(values) => self.argument_picked(&values[index]),
            Picks::Models(mut slugs) => self.choose_model(slugs.swap_remove(index)),
            Picks::Sessions(mut listed) => self.session_picked(listed.swap_remove(index)),
            Picks::Tree(log, mut prompts) => self.go_back(log, prompts.swap_remove(index)),
            Picks::Trust(mut changes) => self.change_trust(changes.swap_remove(index)),
            // Taken care of above: it picks several.
            Picks::Scope(_) => {}
        }
    }
}
