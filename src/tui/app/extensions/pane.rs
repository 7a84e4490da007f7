//! The side pane: where it stands, who has the keys, and what the owner is told.

use std::time::Instant;

use serde_json::json;

use super::super::{App, Effect};
use super::notify;
use crate::config::layout::Side;
use crate::extension::ExtensionId;
use crate::extension::ui;
use crate::tui::frame::{Caret, Rect, Size, Surface};
use crate::tui::key::{Button, Key, KeyPress, Mouse, MouseKind};
use crate::tui::style::{Row, Style, Token};
use crate::tui::view::pane::{Clicked, Entered, Pane, Selected};
use crate::tui::view::status;

/// Columns between the conversation and the pane.
const DIVIDER: u16 = 3;

#[derive(Debug)]
pub(super) struct ShownPane {
    pub owner: ExtensionId,
    /// What the owner calls it.
    id: String,
    view: Pane,
    /// Where the owner would put it.
    side: Option<Side>,
    pub focused: bool,
    /// Whether the person went to it from something that is open over the conversation.
    first: bool,
    /// Where it was drawn last; nowhere while it is hidden.
    area: Rect,
}

impl ShownPane {
    fn selected(&self, method: &'static str, selected: Selected) -> Effect {
        let Selected { section, item } = selected;
        let params = json!({"pane": self.id, "section": section, "id": item});
        notify(self.owner, method, params)
    }

    fn moved(&self, selected: Option<Selected>) -> Option<Effect> {
        selected.map(|selected| self.selected("pane.select", selected))
    }

    /// A chord that it has no use for.
    fn chord(&self, press: KeyPress) -> Option<Effect> {
        let params = json!({"pane": self.id, "key": press.name()?});
        Some(notify(self.owner, "pane.key", params))
    }

    /// Whether the next frame has more to show of it.
    pub fn is_behind(&self) -> bool {
        self.area.columns > 0 && self.view.is_behind()
    }

    fn closed(&self) -> Effect {
        notify(self.owner, "pane.closed", json!({"pane": self.id}))
    }

    /// Whether this place of the screen is in it; the place in it then.
    fn place(&self, mouse: Mouse) -> Option<(usize, usize)> {
        let Rect {
            left,
            top,
            columns,
            rows,
        } = self.area;
        let row = mouse.row.checked_sub(top).filter(|row| *row < rows)?;
        let column = mouse.column.checked_sub(left);
        let column = column.filter(|column| *column < columns)?;
        Some((row.into(), column.into()))
    }
}

impl App {
    /// Opens a pane, draws it anew, or closes the one of this extension.
    pub(super) fn show_pane(&mut self, from: ExtensionId, pane: Option<ui::Pane>) {
        let place = &mut self.extensions.pane;
        let Some(pane) = pane else {
            place.take_if(|shown| shown.owner == from);
            return;
        };
        let side = pane.side.map(|side| match side {
            ui::Side::Left => Side::Left,
            ui::Side::Right => Side::Right,
        });
        if let Some(shown) = place {
            if shown.owner == from && shown.id == pane.id {
                shown.side = side;
                return shown.view.refresh(pane);
            }
        }
        // One that nobody asked for must not take the keys of somebody who writes, or begins to.
        let had_focus = place.as_ref().is_some_and(|shown| shown.focused);
        let replaced = place.replace(ShownPane {
            owner: from,
            id: pane.id.clone(),
            view: Pane::new(pane),
            side,
            focused: had_focus || self.extensions.calls.is_wanted(from),
            first: false,
            area: Rect::default(),
        });
        self.effects.extend(replaced.map(|old| old.closed()));
    }

    /// Whether a pane is open, which takes the alternate screen.
    pub(in crate::tui::app) fn pane_is_open(&self) -> bool {
        self.extensions.pane.is_some()
    }

    /// Whether keys go to the pane. What opens over the conversation has them first, until the
    /// person leaves it for the pane.
    pub(in crate::tui::app) fn pane_has_focus(&self) -> bool {
        let is_free = self.surface.is_none() && !self.extensions.questions.is_open();
        let pane = self.extensions.pane.as_ref();
        pane.is_some_and(|pane| pane.focused && (is_free || pane.first))
    }

    pub(super) fn switch_focus(&mut self) {
        let goes_there = !self.pane_has_focus();
        if let Some(pane) = &mut self.extensions.pane {
            pane.focused = goes_there;
            pane.first = goes_there;
        }
    }

    /// Something opened over the conversation, which a pane does not outrank.
    pub(super) fn pane_steps_back(&mut self) {
        if let Some(pane) = &mut self.extensions.pane {
            pane.first = false;
        }
    }

    pub(super) fn pane_key(&mut self, press: KeyPress) {
        let Some(pane) = &mut self.extensions.pane else {
            return;
        };
        let extend = press.shift || press.key == Key::Char('J') || press.key == Key::Char('K');
        let is_plain = !press.ctrl && !press.alt && !press.command;
        let selected = match press.key {
            _ if !is_plain => return self.effects.extend(pane.chord(press)),
            Key::Up | Key::Char('k' | 'K') => pane.view.step(-1, extend),
            Key::Down | Key::Char('j' | 'J') => pane.view.step(1, extend),
            Key::PageUp => pane.view.page(-1, extend),
            Key::PageDown => pane.view.page(1, extend),
            Key::Home => pane.view.edge(false, extend),
            Key::End => pane.view.edge(true, extend),
            _ if press.shift => return self.effects.extend(pane.chord(press)),
            Key::Left if pane.view.scroll(-1) => None,
            Key::Right if pane.view.scroll(1) => None,
            Key::Tab => return pane.view.next_section(),
            Key::Enter => return self.enter_pane(),
            Key::Escape => match pane.view.back() {
                true => None,
                false => return self.close_pane(),
            },
            _ => return self.effects.extend(pane.chord(press)),
        };
        self.effects.extend(pane.moved(selected));
    }

    fn enter_pane(&mut self) {
        let Some(pane) = &mut self.extensions.pane else {
            return;
        };
        match pane.view.enter() {
            Entered::Activated(selected) => {
                self.effects.push(pane.selected("pane.activate", selected));
            }
            Entered::Attached { label, text } => {
                pane.focused = false;
                // An answer, or a secret, is no place for them.
                self.composer
                    .behind(|draft| draft.attach_pane(&label, text));
            }
            Entered::Nothing => {}
        }
    }

    pub(super) fn close_pane(&mut self) {
        let closed = self.extensions.pane.take().map(|pane| pane.closed());
        self.effects.extend(closed);
    }

    /// The mouse over a screen with a pane; false when it is the conversation's business.
    pub(in crate::tui::app) fn pane_mouse(&mut self, mouse: Mouse) -> bool {
        let Some(pane) = &mut self.extensions.pane else {
            return false;
        };
        let place = pane.place(mouse);
        match (mouse.kind, place) {
            (MouseKind::Press(_), None) => {
                // A hidden one has no place; then there is nothing beside the conversation.
                pane.focused &= pane.area.columns == 0;
                return false;
            }
            (MouseKind::Press(Button::Left), Some((row, column))) => {
                pane.focused = true;
                pane.first = true;
                match pane.view.click(row, column) {
                    Clicked::Close => self.close_pane(),
                    Clicked::Selected(selected) => self.effects.extend(pane.moved(Some(selected))),
                    Clicked::Nothing => {}
                }
            }
            (MouseKind::Drag(Button::Left), _) if pane.focused && pane.area.rows > 0 => {
                let row = mouse.row.saturating_sub(pane.area.top);
                pane.view.drag(row.into());
            }
            (MouseKind::WheelUp, Some((row, _))) => {
                let selected = pane.view.wheel(row, -1);
                self.effects.extend(pane.moved(selected));
            }
            (MouseKind::WheelDown, Some((row, _))) => {
                let selected = pane.view.wheel(row, 1);
                self.effects.extend(pane.moved(selected));
            }
            (MouseKind::Release(_) | MouseKind::Drag(_) | MouseKind::Press(_), Some(_)) => {}
            (_, None) => return false,
        }
        true
    }

    /// Conversation and pane beside each other, or the one that has the focus.
    pub(in crate::tui::app) fn pane_frame(
        &mut self,
        size: Size,
        now: Instant,
        late: bool,
    ) -> Option<(Surface, Option<Caret>)> {
        let focused = self.pane_has_focus();
        let pane = self.extensions.pane.as_ref()?;
        let (side, percent) = self.layout.place(&pane.id, pane.side);
        let mut surface = Surface::new(size);
        let all = surface.area();
        if usize::from(size.columns) < self.layout.split_min {
            if !focused {
                self.draw_pane(Rect::default(), "", &mut surface);
                let (columns, height) = (size.columns.into(), size.rows.into());
                let (rows, caret) = self.conversation(columns, height, now, late);
                surface.draw(all, &rows);
                return Some((surface, caret));
            }
            let above = Rect {
                rows: all.rows.saturating_sub(1),
                ..all
            };
            self.draw_pane(above, "", &mut surface);
            let hint = format!("{} conversation", self.layout.focus);
            let columns = size.columns.into();
            let row = self.with_question(status::row(&[], &hint, columns), columns);
            let below = Rect {
                top: above.rows,
                rows: 1,
                ..all
            };
            surface.draw(below, &[row]);
            return Some((surface, None));
        }
        let width = usize::from(size.columns) * percent / 100;
        let width = u16::try_from(width).unwrap_or(size.columns);
        let rest = size.columns.saturating_sub(width + DIVIDER);
        let (chat, rail, pane) = match side {
            Side::Right => (0, rest, rest + DIVIDER),
            Side::Left => (width + DIVIDER, width, 0),
        };
        let part = |left, columns| Rect {
            left,
            columns,
            ..all
        };
        let place = match focused {
            true => "conversation",
            false => "to go here",
        };
        let switch = format!("{} {place}", self.layout.focus);
        self.draw_pane(part(pane, width), &switch, &mut surface);
        let row = Row::of(" │ ", Style::colored(Token::Border));
        surface.draw(part(rail, DIVIDER), &vec![row; size.rows.into()]);
        let (rows, caret) = self.conversation(rest.into(), size.rows.into(), now, late);
        surface.draw(part(chat, rest), &rows);
        let caret = caret.filter(|_| !focused).map(|caret| Caret {
            column: caret.column + usize::from(chat),
            ..caret
        });
        Some((surface, caret))
    }

    /// Draws the pane in its place on the screen, which the mouse finds it by.
    fn draw_pane(&mut self, area: Rect, switch: &str, surface: &mut Surface) {
        let focused = self.pane_has_focus();
        let Some(pane) = &mut self.extensions.pane else {
            return;
        };
        pane.area = area;
        if area.columns > 0 {
            let (columns, rows) = (area.columns.into(), area.rows.into());
            surface.draw(area, &pane.view.rows(focused, switch, columns, rows));
        }
    }

    /// How to reach a pane that a narrow terminal hides.
    pub(in crate::tui::app) fn hidden_pane(&self) -> Option<String> {
        let pane = self.extensions.pane.as_ref()?;
        let title = match pane.view.title() {
            "" => "pane",
            title => title,
        };
        (pane.area.columns == 0).then(|| format!("{title} · {}", self.layout.focus))
    }
}
