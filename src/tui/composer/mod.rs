//! The composer: where a person writes.
//!
//! It owns the draft with its markers and images, the walk through history, and the field that a
//! question or a key entry puts in the draft's place. It knows keys and rows; what a draft means
//! is the app's business.

mod buffer;
mod history;
mod layout;
#[cfg(test)]
mod tests;
mod view;

use std::ops::Range;

use super::key::KeyPress;
use super::keymap::{Found, Keymap};
use crate::chat::Image;
use crate::config::keybindings::Action;
use crate::config::layout::fill;
use crate::error::{Error, Result};
pub use buffer::{Buffer, Mark, Way};
use history::History;

/// Largest draft, in bytes, with all that its markers stand for.
pub const MAX_DRAFT: usize = 16 << 20;

/// How a long paste is shown unless the user says otherwise.
pub const PASTE_LABEL: &str = "[Pasted text #{id}, {chars} chars]";

/// What has been written and not been sent.
#[derive(Clone, Debug)]
pub struct Draft {
    pub buffer: Buffer,
    /// The images that go with it.
    pub images: Vec<Image>,
}

impl Draft {
    /// A draft of a text, the caret at its end.
    pub fn of(text: &str) -> Self {
        let mut draft = Self::empty(true);
        draft.buffer.insert(text);
        draft
    }

    fn empty(has_commands: bool) -> Self {
        Self {
            buffer: Buffer::new(has_commands),
            images: Vec::new(),
        }
    }

    /// Whether there is nothing to send.
    pub fn is_blank(&self) -> bool {
        self.images.is_empty() && self.buffer.text().trim().is_empty()
    }
}

/// When a paste becomes a marker, and what that says.
#[derive(Clone, Copy, Debug)]
pub struct PasteStyle<'a> {
    /// Pastes of more characters than this become a marker; 0 never.
    pub placeholder: usize,
    /// The marker, with `{id}`, `{chars}`, `{lines}` and `{plural}`; an empty one never.
    pub label: &'a str,
}

impl Default for PasteStyle<'_> {
    fn default() -> Self {
        Self {
            placeholder: 1000,
            label: PASTE_LABEL,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// It edited or moved something.
    Changed,
    /// It asks to submit the draft.
    Submit,
    /// It means nothing here.
    Ignored,
}

/// A field that stands in the draft's place for a while.
#[derive(Debug)]
struct Field {
    draft: Draft,
    is_secret: bool,
}

#[derive(Debug)]
pub struct Composer {
    draft: Draft,
    /// The draft that waits until the field in its place is closed.
    field: Option<Field>,
    history: History,
    /// The draft came from history and has not been touched since.
    is_recalled: bool,
    /// What kills have deleted, and whether the next one adds to it.
    killed: String,
    is_killing: bool,
    /// The first row that is shown.
    scroll: usize,
}

impl Composer {
    /// An empty composer over earlier prompts, oldest first.
    pub fn new(history: Vec<String>) -> Self {
        Self {
            draft: Draft::of(""),
            field: None,
            history: History::new(history),
            is_recalled: false,
            killed: String::new(),
            is_killing: false,
            scroll: 0,
        }
    }

    /// What is being written: the draft, or the content of the open field.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Handles a key as the keymap says.
    pub fn key(&mut self, press: &KeyPress, keymap: &Keymap) -> Handled {
        let joins = std::mem::take(&mut self.is_killing);
        match keymap.find(press) {
            Found::Action { action, extend } => self.act(action, extend, joins),
            Found::Unbound => Handled::Ignored,
            Found::Free => match press.text() {
                Some(c) => {
                    self.touched().insert(c.encode_utf8(&mut [0; 4]));
                    Handled::Changed
                }
                None => Handled::Ignored,
            },
        }
    }

    /// Inserts pasted text, as a marker when it is long. Fails when the draft would get too large.
    pub fn paste(&mut self, text: &str, style: PasteStyle<'_>) -> Result<()> {
        if self.draft.buffer.len() + text.len() > MAX_DRAFT {
            let message = format!(
                "nothing was pasted: a draft holds up to {} MiB",
                MAX_DRAFT >> 20
            );
            return Err(Error::failed(message).remedy("put the text into a file and name it"));
        }
        if self.is_secret() {
            // What surrounds a key on the clipboard is no part of it.
            let text: String = text.chars().filter(|c| !c.is_control()).collect();
            self.touched().insert(&text);
            return Ok(());
        }
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let chars = text.chars().count();
        let buffer = self.touched();
        if chars <= style.placeholder || style.placeholder == 0 || style.label.trim().is_empty() {
            buffer.insert(&text);
            return Ok(());
        }
        let number = |(_, mark): &(Range<usize>, Mark)| match mark {
            Mark::Paste { number, .. } => *number,
            Mark::Pane { .. } => 0,
        };
        let number = 1 + buffer.marks().iter().map(number).max().unwrap_or(0);
        let lines = text.lines().count();
        let label = fill(style.label, |token| match token {
            "id" => number.to_string(),
            "chars" => chars.to_string(),
            "lines" => lines.to_string(),
            "plural" if lines != 1 => "s".into(),
            _ => String::new(),
        });
        buffer.insert_mark(&label, Mark::Paste { number, text });
        Ok(())
    }

    /// Attaches rows of a pane as a marker, in the place of an earlier one.
    pub fn attach_pane(&mut self, label: &str, text: String) {
        let buffer = self.touched();
        let is_pane = |(_, mark): &&(Range<usize>, Mark)| matches!(mark, Mark::Pane { .. });
        if let Some((range, _)) = buffer.marks().iter().find(is_pane).cloned() {
            buffer.replace(range, "");
        }
        buffer.insert_mark(label, Mark::Pane { text });
    }

    /// Attaches an image to the draft.
    pub fn attach_image(&mut self, image: Image) {
        self.own_draft().images.push(image);
    }

    /// Puts text above the draft, also above one that waits for a field.
    pub fn put_above(&mut self, text: &str) {
        self.is_recalled = false;
        let buffer = &mut self.own_draft().buffer;
        match buffer.is_empty() {
            true => buffer.insert(text),
            false => buffer.replace(0..0, &format!("{text}\n")),
        }
        buffer.go(buffer.text().len(), false);
    }

    /// Puts `text` in the place of a range of the draft's text, and the caret behind it.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        self.touched().replace(range, text);
    }

    /// Replaces the text and keeps the images, as an editor does that was left.
    pub fn set_text(&mut self, text: &str) {
        let end = self.draft.buffer.text().len();
        self.replace(0..end, text);
    }

    /// Takes the draft away to send it, and leaves an empty one.
    pub fn take(&mut self) -> Draft {
        if self.field.is_none() {
            self.history.leave();
        }
        let has_commands = self.field.is_none();
        self.swap(Draft::empty(has_commands))
    }

    /// Empties the composer without sending. The text can be had back from history.
    pub fn clear(&mut self) {
        let draft = self.take();
        if self.field.is_none() {
            self.history.remember(&draft.buffer.expand());
        }
    }

    /// Adds an accepted prompt to the history of this session.
    pub fn remember(&mut self, text: &str) {
        self.history.remember(text);
    }

    /// Adds the prompts of a session that goes on, as far as history lacks them.
    pub fn complete_history(&mut self, prompts: Vec<String>) {
        self.history.complete(prompts);
    }

    /// Opens a field in the place of the draft, which waits. A secret is masked. History does
    /// not belong to a field.
    pub fn open_field(&mut self, text: &str, is_secret: bool) {
        let mut field = Draft::empty(false);
        field.buffer.insert(text);
        let draft = self.swap(field);
        let draft = self.field.take().map_or(draft, |field| field.draft);
        self.field = Some(Field { draft, is_secret });
    }

    /// Does something with the draft, also while a field is in its place.
    pub fn behind<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let Some(mut field) = self.field.take() else {
            return act(self);
        };
        std::mem::swap(&mut self.draft, &mut field.draft);
        let done = act(self);
        std::mem::swap(&mut self.draft, &mut field.draft);
        self.field = Some(field);
        done
    }

    /// Closes the field; returns what was written into it. The draft is back.
    pub fn close_field(&mut self) -> Option<String> {
        let field = self.field.take()?;
        Some(self.swap(field.draft).buffer.expand())
    }

    pub fn is_field(&self) -> bool {
        self.field.is_some()
    }

    /// Whether the draft came from history and has not been touched since.
    pub fn is_recalled(&self) -> bool {
        self.is_recalled
    }

    /// Whether what is typed is masked.
    pub fn is_secret(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.is_secret)
    }

    /// The draft, also one that waits for a field.
    pub fn own_draft(&mut self) -> &mut Draft {
        match &mut self.field {
            Some(field) => &mut field.draft,
            None => &mut self.draft,
        }
    }

    /// The text, to be changed.
    fn touched(&mut self) -> &mut Buffer {
        self.is_recalled = false;
        self.is_killing = false;
        &mut self.draft.buffer
    }

    /// Puts another draft in the place of this one, at the same width.
    fn swap(&mut self, draft: Draft) -> Draft {
        self.scroll = 0;
        self.is_recalled = false;
        let old = std::mem::replace(&mut self.draft, draft);
        self.draft.buffer.set_columns(old.buffer.layout().columns());
        old
    }

    fn act(&mut self, action: Action, extend: bool, joins: bool) -> Handled {
        let is_secret = self.is_secret();
        let is_at_start = self.draft.buffer.caret() == 0 && self.draft.buffer.selection().is_none();
        match action {
            Action::Up => return self.go_row(Way::Back, extend),
            Action::Down => return self.go_row(Way::Forward, extend),
            // A secret is one line, and a backslash is a part of it.
            Action::Enter if is_secret => return Handled::Submit,
            Action::Newline if is_secret => return Handled::Ignored,
            Action::Enter if ends_with_backslash(&self.draft.buffer) => {
                let caret = self.draft.buffer.caret();
                self.replace(caret - 1..caret, "\n");
            }
            Action::Enter => return Handled::Submit,
            Action::Newline => self.touched().insert("\n"),
            Action::Backspace if is_at_start => {
                self.draft.images.pop();
            }
            Action::Backspace => self.touched().delete(Way::Back),
            Action::Delete => self.touched().delete(Way::Forward),
            Action::KillWord => self.kill(joins, |buffer| buffer.word(Way::Back)),
            Action::KillToStart => self.kill(joins, |_| 0),
            Action::KillToEnd => self.kill(joins, |buffer| buffer.text().len()),
            // A shortcut fires when the key would do nothing.
            Action::Yank if self.killed.is_empty() => return Handled::Ignored,
            Action::Yank => {
                let text = self.killed.clone();
                let is_much = self.draft.buffer.len() + text.len() > MAX_DRAFT;
                if !is_much && !is_secret {
                    self.touched().insert(&text);
                }
            }
            Action::Left => self.go(Way::Back, extend, |buffer| buffer.step(Way::Back)),
            Action::Right => self.go(Way::Forward, extend, |buffer| buffer.step(Way::Forward)),
            Action::WordLeft => self.go(Way::Back, extend, |buffer| buffer.word(Way::Back)),
            Action::WordRight => self.go(Way::Forward, extend, |buffer| buffer.word(Way::Forward)),
            Action::Home => self.go(Way::Back, extend, |_| 0),
            Action::End => self.go(Way::Forward, extend, |buffer| buffer.text().len()),
        }
        Handled::Changed
    }

    /// Deletes the selection, else from the caret to a place, and keeps it unless it is a secret. With
    /// `joins` it is kept with what was deleted right before.
    fn kill(&mut self, joins: bool, place: impl Fn(&Buffer) -> usize) {
        let is_secret = self.is_secret();
        let buffer = self.touched();
        let (caret, end) = (buffer.caret(), place(buffer));
        let range = buffer.selection();
        let range = range.unwrap_or(caret.min(end)..caret.max(end));
        let text = buffer.expand_part(range.clone());
        let is_before = range.start < caret;
        buffer.replace(range, "");
        if is_secret || text.is_empty() {
            return;
        }
        self.is_killing = true;
        let before = std::mem::take(&mut self.killed);
        self.killed = match (joins, is_before) {
            (false, _) => text,
            (true, true) => text + &before,
            (true, false) => before + &text,
        };
    }

    pub fn killed(&self) -> &str {
        &self.killed
    }

    /// Moves to a place; to the edge of a selection, if there is one and it is not to be extended.
    fn go(&mut self, way: Way, extend: bool, place: impl Fn(&Buffer) -> usize) {
        let buffer = self.touched();
        let place = match buffer.selection() {
            Some(range) if !extend => edge(&range, way),
            _ => place(buffer),
        };
        buffer.go(place, extend);
    }

    /// Moves by a row, and past the edge through history. A prompt that history just brought is
    /// walked past, however many rows it has.
    fn go_row(&mut self, way: Way, extend: bool) -> Handled {
        let buffer = &mut self.draft.buffer;
        if let Some(range) = buffer.selection().filter(|_| !extend) {
            buffer.go(edge(&range, way), false);
            return Handled::Changed;
        }
        let walks = self.is_recalled && !extend;
        if !walks && buffer.go_row(way, extend) {
            self.is_recalled = false;
            return Handled::Changed;
        }
        if extend {
            let place = edge(&(0..buffer.text().len()), way);
            self.touched().go(place, true);
            return Handled::Changed;
        }
        let columns = buffer.layout().columns();
        if self.field.is_some() || !self.history.walk(way, &mut self.draft) {
            return Handled::Ignored;
        }
        let buffer = &mut self.draft.buffer;
        buffer.set_columns(columns);
        buffer.go(buffer.text().len(), false);
        self.scroll = 0;
        self.is_recalled = true;
        Handled::Changed
    }
}

fn edge(range: &Range<usize>, way: Way) -> usize {
    match way {
        Way::Back => range.start,
        Way::Forward => range.end,
    }
}

/// Whether Enter here means a line end: behind a backslash that was typed.
fn ends_with_backslash(buffer: &Buffer) -> bool {
    let caret = buffer.caret();
    let in_label = buffer.marks().iter().any(|(range, _)| range.end == caret);
    buffer.selection().is_none() && !in_label && buffer.text()[..caret].ends_with('\\')
}
