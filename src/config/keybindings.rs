//! `keybindings.json`: which chords the user gives to which editing action.

use std::collections::HashMap;

use serde_json::Value;

use super::{Chord, Home, Store};

const FILE: Store = Store {
    name: "keybindings.json",
    mode: 0o644,
};

/// What takes a chord's default away and gives it nothing.
const UNBOUND: &str = "none";

/// What can be done to a draft by a key. These, and no others, can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Submits the draft.
    Enter,
    /// Starts a new line.
    Newline,
    /// Deletes backward.
    Backspace,
    /// Deletes forward.
    Delete,
    /// Moves back by one character.
    Left,
    /// Moves forward by one character.
    Right,
    /// Moves up by one row, and from the first one into history.
    Up,
    /// Moves down by one row, and from the last one back through history.
    Down,
    /// Moves back by a word.
    WordLeft,
    /// Moves forward by a word.
    WordRight,
    /// Moves to the start of the draft.
    Home,
    /// Moves to the end of the draft.
    End,
    /// Deletes to the end of the draft.
    KillToEnd,
    /// Deletes to the start of the draft.
    KillToStart,
    /// Deletes a word backward.
    KillWord,
    /// Brings back what was killed last.
    Yank,
}

impl Action {
    /// Every action, with its name in the file.
    pub const NAMES: &[(&str, Action)] = &[
        ("enter", Action::Enter),
        ("newline", Action::Newline),
        ("backspace", Action::Backspace),
        ("delete", Action::Delete),
        ("left", Action::Left),
        ("right", Action::Right),
        ("up", Action::Up),
        ("down", Action::Down),
        ("word_left", Action::WordLeft),
        ("word_right", Action::WordRight),
        ("home", Action::Home),
        ("end", Action::End),
        ("kill_to_end", Action::KillToEnd),
        ("kill_to_start", Action::KillToStart),
        ("kill_word", Action::KillWord),
        ("yank", Action::Yank),
    ];

    fn named(name: &str) -> Option<Self> {
        let (_, action) = Self::NAMES.iter().find(|(known, _)| *known == name)?;
        Some(*action)
    }
}

/// What the user's file says about a chord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// It does this.
    Action(Action),
    /// It is free for others.
    Unbound,
}

/// The user's chords.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keybindings(pub HashMap<Chord, Binding>);

impl Keybindings {
    /// Reads the file. An entry that cannot be used is left out; the warnings name it. `is_fixed` tells the
    /// chords that have a meaning which cannot be taken away.
    pub fn load(home: &Home, is_fixed: impl Fn(&Chord) -> bool) -> (Self, Vec<String>) {
        let (map, mut warnings) = FILE.read(home);
        let mut bindings = HashMap::new();
        let mut unbindable = Vec::new();
        for (text, value) in map.iter().filter(|(key, _)| *key != "format_version") {
            let chord = Chord::parse(text).ok();
            let chord = chord.filter(|chord| chord.is_of_editing() && !is_fixed(chord));
            match (chord, binding(value)) {
                (None, _) => unbindable.push(format!("`{text}`")),
                (Some(chord), Ok(binding)) => {
                    bindings.insert(chord, binding);
                }
                (Some(_), Err(reason)) => {
                    warnings.push(format!("`{text}` in {} is ignored: {reason}", FILE.name));
                }
            }
        }
        if !unbindable.is_empty() {
            let keys = unbindable.join(", ");
            warnings.push(format!(
                "keys in {} that cannot be bound: {keys}",
                FILE.name
            ));
        }
        (Self(bindings), warnings)
    }
}

fn binding(value: &Value) -> Result<Binding, String> {
    let name = value.as_str().ok_or("its action must be a string")?;
    match (name, Action::named(name)) {
        (UNBOUND, _) => Ok(Binding::Unbound),
        (_, Some(action)) => Ok(Binding::Action(action)),
        (_, None) => Err(format!("there is no action `{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> (Keybindings, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE.name), text).unwrap();
        Keybindings::load(&Home::at(dir.path()), |chord| chord.to_string() == "ctrl+o")
    }

    #[test]
    fn what_cannot_be_used_costs_only_itself() {
        let text = r#"{"Ctrl-T": "kill_word", "alt+q": "none", "ctrl+y": "paint", "hyper+q": "up", "f1": "up",
            "tab": "up", "Ctrl+O": "none", "alt+x": 3}"#;
        let (Keybindings(bindings), warnings) = load(text);
        let get = |chord| bindings.get(&Chord::parse(chord).unwrap()).copied();
        assert_eq!(get("ctrl+t"), Some(Binding::Action(Action::KillWord)));
        assert_eq!(get("alt+q"), Some(Binding::Unbound));
        assert_eq!((bindings.len(), warnings.len()), (2, 3));
        assert!(warnings[0].contains("`paint`"), "{warnings:?}");
        assert!(warnings[1].contains("must be a string"), "{warnings:?}");
        let named = "cannot be bound: `hyper+q`, `f1`, `tab`, `Ctrl+O`";
        assert!(warnings[2].ends_with(named), "{warnings:?}");
    }

    #[test]
    fn a_broken_or_missing_file_overrides_nothing() {
        for (text, notices) in [("", 1), ("[]", 1), ("{\"a\":", 1), ("{}", 0)] {
            let (bindings, warnings) = load(text);
            assert_eq!(
                (bindings, warnings.len()),
                (Keybindings::default(), notices),
                "{text}"
            );
        }
        let none = Keybindings::load(&Home::default(), |_| false);
        assert_eq!(none, (Keybindings::default(), Vec::new()));
    }
}
