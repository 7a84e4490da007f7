//! Which key does what: the editing actions, which the user may bind, and e's own commands.
//!
//! One row per action says its chords and its help; the help view and the guide are printed from
//! these rows.

use std::collections::HashMap;

use super::key::{Key, KeyPress};
use crate::config::keybindings::{Action, Binding, Keybindings};
use crate::config::{Chord, Home};

/// What a key does besides editing. The user cannot bind these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Interrupts and clears; again, quits.
    Interrupt,
    /// Closes the top surface, else interrupts the turn.
    Escape,
    /// Opens the draft in the external editor.
    Editor,
    Redraw,
    /// Opens or closes the reader.
    Reader,
    NextModel,
    PreviousModel,
    /// Pastes an image of the clipboard, else its text.
    Clipboard,
    /// Stops e until the shell continues it.
    Suspend,
    NextEffort,
    PageUp,
    PageDown,
}

/// An action, its chords and what it does, in a person's words.
#[derive(Debug)]
pub struct Entry<T: 'static> {
    pub does: T,
    /// The chords that do it, in canonical form.
    pub chords: &'static [&'static str],
    pub help: &'static str,
}

/// What edits a draft unless the user says otherwise.
pub const EDITING: &[Entry<Action>] = &[
    entry(Action::Enter, &["enter"], "submit"),
    entry(
        Action::Newline,
        &["shift+enter", "alt+enter", "ctrl+j"],
        "new line",
    ),
    // Some terminals send ctrl+h for their backspace key.
    entry(
        Action::Backspace,
        &["backspace", "shift+backspace", "ctrl+h"],
        "delete backward",
    ),
    entry(Action::Delete, &["delete", "ctrl+d"], "delete forward"),
    entry(
        Action::KillWord,
        &["alt+backspace", "ctrl+w"],
        "delete a word backward",
    ),
    entry(
        Action::KillToEnd,
        &["ctrl+k"],
        "delete to the end of the draft",
    ),
    entry(
        Action::KillToStart,
        &["ctrl+u"],
        "delete to the start of the draft",
    ),
    entry(
        Action::Yank,
        &["ctrl+y"],
        "bring back the words deleted last",
    ),
    entry(Action::Left, &["left", "ctrl+b"], "back by a character"),
    entry(
        Action::Right,
        &["right", "ctrl+f"],
        "forward by a character",
    ),
    entry(Action::WordLeft, &["alt+left", "alt+b"], "back by a word"),
    entry(
        Action::WordRight,
        &["alt+right", "alt+f"],
        "forward by a word",
    ),
    entry(
        Action::Home,
        &["home", "ctrl+a"],
        "to the start of the draft",
    ),
    entry(Action::End, &["end", "ctrl+e"], "to the end of the draft"),
    entry(Action::Up, &["up"], "up by a row, then back in history"),
    entry(
        Action::Down,
        &["down"],
        "down by a row, then forward in history",
    ),
];

/// The keys of e itself.
pub const COMMANDS: &[Entry<Command>] = &[
    entry(
        Command::Interrupt,
        &["ctrl+c"],
        "interrupt and clear; again to quit",
    ),
    entry(
        Command::Escape,
        &["escape"],
        "close what is open, else interrupt the turn",
    ),
    entry(
        Command::Reader,
        &["ctrl+o"],
        "read the conversation in full",
    ),
    entry(
        Command::Editor,
        &["ctrl+g"],
        "edit the draft in your editor",
    ),
    entry(
        Command::Clipboard,
        &["ctrl+v", "ctrl+shift+v"],
        "paste an image or text of the clipboard",
    ),
    entry(Command::NextModel, &["ctrl+p"], "next model"),
    entry(Command::PreviousModel, &["ctrl+shift+p"], "previous model"),
    entry(Command::NextEffort, &["shift+tab"], "next effort level"),
    entry(Command::PageUp, &["pageup"], "scroll back by a page"),
    entry(Command::PageDown, &["pagedown"], "scroll forward by a page"),
    entry(Command::Redraw, &["ctrl+l"], "draw the screen anew"),
    entry(Command::Suspend, &["ctrl+z"], "suspend"),
];

const fn entry<T>(does: T, chords: &'static [&'static str], help: &'static str) -> Entry<T> {
    Entry { does, chords, help }
}

/// What a key does to a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It does this. With `extend` the motion extends the selection.
    Action {
        action: Action,
        /// Whether shift was held with a motion.
        extend: bool,
    },
    /// The user took its meaning away. It types nothing; an extension may have it.
    Unbound,
    /// It has no meaning but what it types.
    Free,
}

/// The table in force.
#[derive(Clone, Debug)]
pub struct Keymap {
    bindings: HashMap<Chord, Binding>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(Keybindings::default())
    }
}

impl Keymap {
    /// The table with the chords of the user's file, and what is wrong with that.
    pub fn load(home: &Home) -> (Self, Vec<String>) {
        let is_fixed = |chord: &Chord| {
            let name = chord.to_string();
            let mut fixed = COMMANDS.iter().flat_map(|entry| entry.chords);
            fixed.any(|chord| *chord == name)
        };
        let (user, warnings) = Keybindings::load(home, is_fixed);
        (Self::new(user), warnings)
    }

    /// The defaults with the user's chords over them.
    fn new(user: Keybindings) -> Self {
        let defaults = EDITING.iter().flat_map(|entry| {
            let chords = entry
                .chords
                .iter()
                .filter_map(|text| Chord::parse(text).ok());
            chords.map(|chord| (chord, Binding::Action(entry.does)))
        });
        Self {
            bindings: defaults.chain(user.0).collect(),
        }
    }

    /// What the key does to a draft.
    pub fn find(&self, press: &KeyPress) -> Found {
        let get = |press: &KeyPress| self.bindings.get(&press.chord()?).copied();
        match get(press) {
            Some(Binding::Action(action)) => Found::Action {
                action,
                extend: false,
            },
            Some(Binding::Unbound) => Found::Unbound,
            None if press.shift && is_arrow(press.key) => {
                let unshifted = KeyPress {
                    shift: false,
                    ..*press
                };
                match get(&unshifted) {
                    Some(Binding::Action(action)) if is_motion(action) => Found::Action {
                        action,
                        extend: true,
                    },
                    _ => Found::Free,
                }
            }
            None => Found::Free,
        }
    }

    /// The help: chords and what they do, the user's included. Actions without a chord are left out.
    pub fn help(&self) -> Vec<(String, &'static str)> {
        let editing = EDITING.iter().map(|entry| {
            let bound = Binding::Action(entry.does);
            let is_bound = |chord: &Chord| self.bindings.get(chord) == Some(&bound);
            let defaults: Vec<Chord> = entry
                .chords
                .iter()
                .filter_map(|text| Chord::parse(text).ok())
                .collect();
            let mut own: Vec<&Chord> = self
                .bindings
                .keys()
                .filter(|chord| is_bound(chord) && !defaults.contains(chord))
                .collect();
            own.sort_by_key(|chord| chord.to_string());
            let chords = defaults.iter().filter(|chord| is_bound(chord)).chain(own);
            (
                chords.map(Chord::to_string).collect::<Vec<_>>().join(", "),
                entry.help,
            )
        });
        let commands = COMMANDS
            .iter()
            .map(|entry| (entry.chords.join(", "), entry.help));
        editing
            .chain(commands)
            .filter(|(chords, _)| !chords.is_empty())
            .collect()
    }
}

/// The command of e that the key is.
pub fn command(press: &KeyPress) -> Option<Command> {
    // Terminals of the Mac pass this one on when the clipboard holds no text.
    if press.command && press.key == Key::Char('v') {
        return Some(Command::Clipboard);
    }
    let name = press.name()?;
    let found = COMMANDS
        .iter()
        .find(|entry| entry.chords.contains(&name.as_str()))?;
    Some(found.does)
}

/// Keys that never type, so that shift with them is free to select.
fn is_arrow(key: Key) -> bool {
    use Key::{Down, End, Home, Left, Right, Up};
    matches!(key, Left | Right | Up | Down | Home | End)
}

fn is_motion(action: Action) -> bool {
    use Action as A;
    match action {
        A::Left | A::Right | A::Up | A::Down | A::WordLeft | A::WordRight | A::Home | A::End => {
            true
        }
        A::Enter
        | A::Newline
        | A::Backspace
        | A::Delete
        | A::KillToEnd
        | A::KillToStart
        | A::KillWord
        | A::Yank => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::key::{InputEvent, Parser};

    fn press(bytes: &str) -> KeyPress {
        match Parser::default().feed(bytes.as_bytes()).as_slice() {
            [InputEvent::Key(press)] => *press,
            other => panic!("{bytes:?}: {other:?}"),
        }
    }

    fn user(pairs: &[(&str, Binding)]) -> Keymap {
        let bind = |(text, binding): &(&str, Binding)| (Chord::parse(text).unwrap(), *binding);
        Keymap::new(Keybindings(pairs.iter().map(bind).collect()))
    }

    #[test]
    fn tables_are_whole_and_canonical() {
        for (_, action) in Action::NAMES {
            assert!(
                EDITING.iter().any(|entry| entry.does == *action),
                "{action:?}"
            );
        }
        let editing = EDITING.iter().flat_map(|entry| entry.chords);
        let all: Vec<_> = editing
            .chain(COMMANDS.iter().flat_map(|entry| entry.chords))
            .collect();
        for (index, chord) in all.iter().enumerate() {
            assert_eq!(Chord::parse(chord).unwrap().to_string(), **chord);
            assert!(!all[..index].contains(chord), "{chord} twice");
        }
    }

    #[test]
    fn keys_find_their_actions() {
        let map = Keymap::default();
        let cases = [
            ("\r", Some((Action::Enter, false))),
            ("\x1b\r", Some((Action::Newline, false))),
            ("\x1b[13;2u", Some((Action::Newline, false))),
            ("\x1b[27;2;13~", Some((Action::Newline, false))),
            ("\n", Some((Action::Newline, false))),
            ("\x08", Some((Action::Backspace, false))),
            ("\x1b\x7f", Some((Action::KillWord, false))),
            ("\x1b[1;2D", Some((Action::Left, true))),
            ("\x1b[1;4C", Some((Action::WordRight, true))),
            ("\x1b[1;2H", Some((Action::Home, true))),
            ("\x1b[1;3D", Some((Action::WordLeft, false))),
            ("\x1b[1;5D", None),
            ("a", None),
            ("A", None),
            ("\x1b[98;13u", None),
        ];
        for (bytes, expected) in cases {
            let expected = match expected {
                Some((action, extend)) => Found::Action { action, extend },
                None => Found::Free,
            };
            assert_eq!(map.find(&press(bytes)), expected, "{bytes:?}");
        }
    }

    #[test]
    fn the_user_comes_first() {
        let map = user(&[
            ("ctrl+k", Binding::Unbound),
            ("shift+left", Binding::Action(Action::Home)),
            ("ctrl+t", Binding::Action(Action::KillWord)),
        ]);
        assert_eq!(map.find(&press("\x0b")), Found::Unbound);
        let home = Found::Action {
            action: Action::Home,
            extend: false,
        };
        assert_eq!(map.find(&press("\x1b[1;2D")), home);
        let help = map.help();
        assert!(
            help.iter()
                .any(|(chords, _)| chords == "alt+backspace, ctrl+w, ctrl+t"),
            "{help:?}"
        );
        assert!(!help.iter().any(
            |(_, help)| help.contains("to the end of the draft") && help.starts_with("delete")
        ));
    }

    #[test]
    fn commands_have_their_keys() {
        let cases = [
            ("\x10", Some(Command::NextModel)),
            ("\x1b[112;6u", Some(Command::PreviousModel)),
            ("\x1b[Z", Some(Command::NextEffort)),
            ("\x1b[118;9u", Some(Command::Clipboard)),
            ("\x1b[118;6u", Some(Command::Clipboard)),
            ("\x1b[27u", Some(Command::Escape)),
            ("v", None),
            ("\x1b[99;9u", None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(command(&press(bytes)), expected, "{bytes:?}");
        }
    }
}
