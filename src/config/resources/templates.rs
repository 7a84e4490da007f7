//! Prompt templates: a Markdown file `name.md` that is submitted by `/name`, with what follows the
//! name filled in.

use std::os::unix::ffi::OsStrExt;

use super::{Origin, Place, collect, front_matter, read_text};
use crate::error::io_text;
use crate::text::one_line;

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The word after the slash.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What may follow the name; empty when nothing is said about it.
    pub arguments: String,
    /// The text, with its holes.
    pub body: String,
}

/// All templates, by name, and what is wrong with other files.
pub fn templates(places: &[Place]) -> (Vec<Template>, Vec<String>) {
    collect(places, "prompts", |path, _: Origin| {
        let Some(name) = path
            .file_name()
            .and_then(|name| name.as_bytes().strip_suffix(b".md"))
        else {
            return Ok(None);
        };
        let name = word(name).ok_or("its name is no word that can follow a slash")?;
        let text = read_text(path).map_err(|error| io_text(&error))?;
        let (keys, body) = front_matter::parse(&text);
        let text = |key: &str| keys.get(key).map(|text| one_line(text, None));
        let template = Template {
            name: name.clone(),
            description: text("description").unwrap_or_default(),
            arguments: text("argument-hint").unwrap_or_default(),
            body: body.trim().to_owned(),
        };
        Ok(Some((name, template)))
    })
}

/// The template of a name.
pub fn template(places: &[Place], name: &str) -> Option<Template> {
    let mut all = templates(places).0.into_iter();
    all.find(|template| template.name == name)
}

impl Template {
    /// The text with what was typed after the name filled in.
    pub fn fill(&self, typed: &str) -> String {
        let words = words(typed);
        let mut filled = String::new();
        let mut rest = self.body.as_str();
        // What is filled in is not looked at again: only `rest` is.
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if rest.starts_with('{') && !rest.contains('}') {
                // Nothing closes it.
                return filled + "$" + rest;
            }
            match hole(rest, &words) {
                Some((text, length)) => {
                    filled.push_str(&text);
                    rest = &rest[length..];
                }
                None => filled.push('$'),
            }
        }
        filled + rest
    }
}

/// A name that can be typed as one word.
fn word(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let is_solid = |c: char| !c.is_whitespace() && !c.is_control() && c != '/';
    (!name.is_empty() && name.chars().all(is_solid)).then(|| name.to_owned())
}

/// What the text after a `$` stands for, and how many bytes of it are the hole.
fn hole(text: &str, words: &[String]) -> Option<(String, usize)> {
    if let Some(inner) = text.strip_prefix('{') {
        let inner = &inner[..inner.find('}')?];
        return Some((braced(inner, words)?, inner.len() + 2));
    }
    if text.starts_with("ARGUMENTS") {
        return Some((words.join(" "), "ARGUMENTS".len()));
    }
    match text.as_bytes().first()? {
        b'@' => Some((words.join(" "), 1)),
        digit @ b'0'..=b'9' => Some((nth(words, usize::from(digit - b'0')), 1)),
        _ => None,
    }
}

/// `n`, `@`, `ARGUMENTS`, each with `:-default`, and `@:n`.
fn braced(inner: &str, words: &[String]) -> Option<String> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let text = match name {
        "@" | "ARGUMENTS" => words.join(" "),
        _ if is_number => name.parse().map_or(String::new(), |n| nth(words, n)),
        _ => {
            let from: usize = name.strip_prefix("@:")?.parse().ok()?;
            let skipped = from.saturating_sub(1).min(words.len());
            words[skipped..].join(" ")
        }
    };
    Some(match default {
        Some(default) if text.is_empty() => default.to_owned(),
        _ => text,
    })
}

/// Word `n`, from 1; nothing for 0 and where there is none.
fn nth(words: &[String], n: usize) -> String {
    let index = n.checked_sub(1);
    index
        .and_then(|index| words.get(index).cloned())
        .unwrap_or_default()
}

/// Splits at white space, except inside quotes; an empty quoted word counts.
fn words(typed: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut open: Option<String> = None;
    let mut quote = None;
    for c in typed.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                open.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(open.take()),
            Some(_) | None => open.get_or_insert_default().push(c),
        }
    }
    words.extend(open);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_like_in_a_shell() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  a  b ", &["a", "b"]),
            ("'a b' \"c 'd'\" e", &["a b", "c 'd'", "e"]),
            ("\"\" x''y", &["", "xy"]),
            ("it's open", &["its open"]),
        ];
        for (typed, expected) in cases {
            assert_eq!(words(typed), *expected, "{typed:?}");
        }
    }

    #[test]
    fn holes_are_filled_once() {
        let cases = [
            ("fix $1 in $2", "a 'b c'", "fix a in b c"),
            ("$@|$ARGUMENTS|${@}|${ARGUMENTS}", "a b", "a b|a b|a b|a b"),
            ("$3|$0|${0}|${12}", "a b", "|||"),
            ("${1:-main} ${2:-x}", "dev ''", "dev x"),
            ("${@:-all} ${ARGUMENTS:-none}", "", "all none"),
            ("${@:2}|${@:9}|${@:0}", "a b c", "b c||a b c"),
            ("costs $ 5, $x, $$1, ${y}", "a", "costs $ 5, $x, $a, ${y}"),
            ("$1", "'$2' b", "$2"),
            ("$1 ${1 and $1", "x", "x ${1 and $1"),
            ("${99999999999999999999}|${@:x}", "a", "|${@:x}"),
            ("é$1é", "ü", "éüé"),
            ("$", "a", "$"),
        ];
        for (body, typed, expected) in cases {
            let template = Template {
                name: "t".into(),
                description: String::new(),
                arguments: String::new(),
                body: body.into(),
            };
            assert_eq!(template.fill(typed), expected, "{body}");
        }
    }
}
