//! Chords as people write them: `ctrl+alt+g`, `shift+enter`, `ctrl++`.
//!
//! One grammar for `keybindings.json`, `layout.json`, the shortcuts of extensions and the key names
//! that extensions receive. A chord is only text with a canonical form; which bytes of a terminal
//! mean it is the business of the frontend.

use std::fmt;

use crate::error::{Error, Result};

/// Keys with a name, those that edit first. Every other key is the one character that it types.
const NAMES: &[&str] = &[
    "enter",
    "backspace",
    "delete",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "escape",
    "tab",
    "space",
    "pageup",
    "pagedown",
    "insert",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
];

/// How many of them edit.
const EDITING: usize = 9;

/// What starts a chord before a `+` or `-`, and which modifier it means.
const MODIFIERS: &[(&str, Modifier)] = &[
    ("ctrl", Modifier::Ctrl),
    ("control", Modifier::Ctrl),
    ("alt", Modifier::Alt),
    ("option", Modifier::Alt),
    ("meta", Modifier::Alt),
    ("shift", Modifier::Shift),
];

/// Chords that no extension gets: e's own, and those that terminals cannot tell from another key.
const RESERVED: &[&str] = &[
    "ctrl+c",
    "ctrl+d",
    "ctrl+g",
    "ctrl+i",
    "ctrl+j",
    "ctrl+l",
    "ctrl+m",
    "ctrl+o",
    "ctrl+p",
    "ctrl+shift+p",
    "ctrl+s",
    "ctrl+v",
    "ctrl+shift+v",
    "ctrl+x",
    "ctrl+z",
];

#[derive(Clone, Copy)]
enum Modifier {
    Ctrl,
    Alt,
    Shift,
}

/// A key with its modifiers. Two chords are equal when their canonical forms are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    ctrl: bool,
    alt: bool,
    shift: bool,
    key: String,
}

impl Chord {
    /// Reads `[ctrl+][alt+][shift+]key` in any order and case, with `+` or `-` between. What is
    /// left after the modifiers is the key as it stands, so `ctrl+-` and `ctrl++` have one.
    pub fn parse(text: &str) -> Result<Self> {
        let mut chord = Self {
            ctrl: false,
            alt: false,
            shift: false,
            key: String::new(),
        };
        let mut rest = text;
        while let Some((modifier, after)) = peel(rest) {
            match modifier {
                Modifier::Ctrl => chord.ctrl = true,
                Modifier::Alt => chord.alt = true,
                Modifier::Shift => chord.shift = true,
            }
            rest = after;
        }
        chord.key = key_name(rest).ok_or_else(|| {
            Error::usage(format!("`{text}` is no key chord"))
                .remedy("write it like `ctrl+alt+g`, with one character or a key's name at the end")
        })?;
        Ok(chord)
    }

    /// Reads the chord of an extension's shortcut, which needs ctrl or alt and is none of e's own.
    pub fn parse_shortcut(text: &str) -> Result<Self> {
        let chord = Self::parse(text)?;
        if !chord.ctrl && !chord.alt {
            let message = format!("`{text}` cannot be a shortcut because it types text");
            return Err(Error::usage(message).remedy("add ctrl or alt"));
        }
        if chord.is_reserved() {
            let message = format!("`{text}` cannot be a shortcut because e keeps it for itself");
            return Err(Error::usage(message).remedy("choose another chord"));
        }
        Ok(chord)
    }

    /// A chord of its parts. `key` is a key's name or one character, in lower case.
    pub fn new(ctrl: bool, alt: bool, shift: bool, key: impl Into<String>) -> Self {
        let key = key.into();
        Self {
            ctrl,
            alt,
            shift,
            key,
        }
    }

    /// Whether its key is one that edits a draft: all others mean something to terminals or to e.
    pub fn is_of_editing(&self) -> bool {
        let at = NAMES.iter().position(|name| *name == self.key);
        at.is_none_or(|at| at < EDITING || self.key == "space")
    }

    /// Whether e keeps this chord for itself.
    pub fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.to_string().as_str())
    }
}

/// The canonical form: `ctrl+alt+shift+key`, in lower case.
impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.ctrl, "ctrl+"),
            (self.alt, "alt+"),
            (self.shift, "shift+"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        f.write_str(&self.key)
    }
}

/// Splits a leading modifier off, unless nothing would be left for the key.
fn peel(text: &str) -> Option<(Modifier, &str)> {
    MODIFIERS.iter().find_map(|(name, modifier)| {
        let (head, rest) = text.split_at_checked(name.len())?;
        let rest = rest.strip_prefix(['+', '-'])?;
        (head.eq_ignore_ascii_case(name) && !rest.is_empty()).then_some((*modifier, rest))
    })
}

/// The canonical name of a key, if it is one.
fn key_name(text: &str) -> Option<String> {
    let mut chars = text.chars();
    match (chars.next()?, chars.next()) {
        (' ', None) => Some("space".into()),
        (c, None) if c.is_control() => None,
        (c, None) => Some(lower_case(c).to_string()),
        _ => {
            let name = text.to_ascii_lowercase();
            NAMES.contains(&name.as_str()).then_some(name)
        }
    }
}

/// The lower-case form of a character, or itself where that is not a single one.
pub fn lower_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_has_one_canonical_form() {
        let cases = [
            ("ctrl+alt+g", Some("ctrl+alt+g")),
            ("Alt-CONTROL+Shift-G", Some("ctrl+alt+shift+g")),
            ("option+left", Some("alt+left")),
            ("meta+PageUp", Some("alt+pageup")),
            ("ctrl+-", Some("ctrl+-")),
            ("ctrl++", Some("ctrl++")),
            ("ctrl--", Some("ctrl+-")),
            ("+", Some("+")),
            ("A", Some("a")),
            ("shift+É", Some("shift+é")),
            ("ctrl+İ", Some("ctrl+İ")),
            ("ctrl+ctrl+x", Some("ctrl+x")),
            ("ctrl+ ", Some("ctrl+space")),
            ("F12", Some("f12")),
            ("", None),
            ("ctrl", None),
            ("ctrl+", None),
            ("ctrl+shift", None),
            ("super+v", None),
            ("ctrl+gg", None),
            ("ctrl+\t", None),
            ("f13", None),
            (" ctrl+a", None),
            ("日本", None),
        ];
        for (text, expected) in cases {
            let chord = Chord::parse(text).ok();
            assert_eq!(chord.as_ref().map(Chord::to_string).as_deref(), expected);
            if let Some(chord) = chord {
                assert_eq!(Chord::parse(&chord.to_string()).ok(), Some(chord));
            }
        }
    }

    #[test]
    fn shortcuts_need_a_modifier_and_leave_ours_alone() {
        for text in ["ctrl+alt+g", "alt+x", "ctrl+k", "ctrl+t", "ctrl+shift+c"] {
            assert!(Chord::parse_shortcut(text).is_ok(), "{text}");
        }
        for text in ["g", "shift+g", "f5", "ctrl-C", "ctrl+shift+P", "ctrl+z"] {
            assert!(Chord::parse_shortcut(text).is_err(), "{text}");
        }
        let error = Chord::parse_shortcut("Ctrl+C").unwrap_err().to_string();
        assert!(error.contains("`Ctrl+C`"), "{error}");
        for text in RESERVED {
            assert_eq!(Chord::parse(text).unwrap().to_string(), *text);
        }
    }
}
