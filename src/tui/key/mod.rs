//! What a terminal sends, as events: keys, pastes, the mouse, and answers to what e asked it.
//!
//! [`Parser`] turns bytes into events and knows nothing of time or files; `input` feeds it.

use crate::config::Chord;
use crate::config::chord::lower_case;

mod burst;
mod parser;
mod sequence;
#[cfg(test)]
mod tests;

pub use burst::Burst;
pub use parser::Parser;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    /// A key was pressed, or repeated while held.
    Key(KeyPress),
    /// Pasted text, as the terminal sent it: line ends may be CR, and control characters are kept.
    Paste(String),
    Mouse(Mouse),
    /// An answer to a query. It may come late, or without a question.
    Reply(Reply),
    /// The terminal is gone; nothing follows.
    Closed,
}

/// A key without its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A key that types this character. With shift it may be the character of either level, as the
    /// terminal tells it.
    Char(char),
    /// Enter, also of the keypad.
    Enter,
    Tab,
    Backspace,
    Delete,
    Insert,
    Escape,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    /// F1 to F12.
    F(u8),
}

/// A key and what was held with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyPress {
    pub key: Key,
    pub ctrl: bool,
    /// Alt, or option.
    pub alt: bool,
    /// Shift, where the terminal tells it apart from the character.
    pub shift: bool,
    /// Super, hyper or meta. Such a key never types anything.
    pub command: bool,
}

impl KeyPress {
    /// The key alone.
    pub const fn plain(key: Key) -> Self {
        Self {
            key,
            ctrl: false,
            alt: false,
            shift: false,
            command: false,
        }
    }

    /// The character that this press types, if it types one.
    pub fn text(&self) -> Option<char> {
        match self.key {
            Key::Char(c) if !self.ctrl && !self.alt && !self.command => Some(c),
            _ => None,
        }
    }

    /// The chord that this press is, in the words of the key files. A capital letter is shift and
    /// the letter. `None` for a press with super, hyper or meta, which chords cannot name.
    pub fn chord(&self) -> Option<Chord> {
        let mut shift = self.shift;
        let key = match self.key {
            Key::Char(' ') => "space".to_owned(),
            Key::Char(c) => {
                let lower = lower_case(c);
                shift |= lower != c;
                lower.to_string()
            }
            Key::Enter => "enter".to_owned(),
            Key::Tab => "tab".to_owned(),
            Key::Backspace => "backspace".to_owned(),
            Key::Delete => "delete".to_owned(),
            Key::Insert => "insert".to_owned(),
            Key::Escape => "escape".to_owned(),
            Key::Left => "left".to_owned(),
            Key::Right => "right".to_owned(),
            Key::Up => "up".to_owned(),
            Key::Down => "down".to_owned(),
            Key::Home => "home".to_owned(),
            Key::End => "end".to_owned(),
            Key::PageUp => "pageup".to_owned(),
            Key::PageDown => "pagedown".to_owned(),
            Key::F(number) => format!("f{number}"),
        };
        (!self.command).then(|| Chord::new(self.ctrl, self.alt, shift, key))
    }

    /// The name that extensions get for this press in `ui.key` and `pane.key`.
    pub fn name(&self) -> Option<String> {
        Some(self.chord()?.to_string())
    }
}

/// What the mouse did, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    pub kind: MouseKind,
    /// Column of the cell, from 0.
    pub column: u16,
    /// Row of the cell, from 0.
    pub row: u16,
}

/// What can happen with a mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    Press(Button),
    /// The pointer moved with a button down.
    Drag(Button),
    Release(Button),
    /// The wheel turned one notch away from the person.
    WheelUp,
    /// The wheel turned one notch towards the person.
    WheelDown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    Left,
    Middle,
    Right,
}

/// What a terminal says about itself when asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Where the cursor is (DSR 6n).
    Cursor {
        /// Row, from 0.
        row: u16,
        /// Column, from 0.
        column: u16,
    },
    /// The background colour (OSC 11): red, green, blue.
    Background([u8; 3]),
}
