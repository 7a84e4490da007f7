//! Where links lead.

use std::collections::HashMap;
use std::sync::Arc;

use pulldown_cmark::{BrokenLink, CowStr, Parser};

use super::options;

/// Longest address that becomes a link, in bytes.
const MAX_ADDRESS: usize = 2083;
/// Link definitions of one reply that are remembered.
const MAX_DEFINITIONS: usize = 256;

/// The `[name]: address` lines of a reply, which later parts of it refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions(Arc<HashMap<String, String>>);

impl Definitions {
    /// Those of a whole text, without reading more of it than the lines that may hold one.
    pub fn of(text: &str) -> Self {
        let may_define = |line: &&str| line.trim_start().starts_with('[') && line.contains("]:");
        let lines: Vec<&str> = text.lines().filter(may_define).collect();
        let (lines, empty) = (lines.join("\n\n"), Self::default());
        let mut known = Self::default();
        let parser = parser(&lines, &empty);
        let defined = parser.reference_definitions().iter();
        known.learn(defined.map(|(name, definition)| (name, &*definition.dest)));
        known
    }

    /// Remembers those of a parsed text.
    pub(super) fn learn<'a>(&mut self, found: impl Iterator<Item = (&'a str, &'a str)>) {
        for (name, address) in found {
            let name = folded(name);
            if self.0.len() < MAX_DEFINITIONS && !self.0.contains_key(&name) {
                Arc::make_mut(&mut self.0).insert(name, address.to_owned());
            }
        }
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.0.get(&folded(name)).map(String::as_str)
    }
}

/// A parser that knows the definitions.
pub(super) fn parser<'a>(
    text: &'a str,
    known: &'a Definitions,
) -> Parser<'a, impl FnMut(BrokenLink<'a>) -> Option<(CowStr<'a>, CowStr<'a>)>> {
    let look_up = |link: BrokenLink<'a>| {
        let address = known.find(&link.reference)?;
        Some((CowStr::Borrowed(address), CowStr::Borrowed("")))
    };
    Parser::new_with_broken_link_callback(text, options(), Some(look_up))
}

fn folded(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The address as a terminal may have it: plain ASCII, bounded, of the web or a mailbox.
pub(super) fn target(address: &str) -> Option<Arc<str>> {
    let lower = |scheme: &str| {
        address
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let known = ["http://", "https://", "mailto:"].into_iter().any(lower);
    let clean = address.bytes().all(|byte| byte.is_ascii_graphic());
    (known && clean && address.len() <= MAX_ADDRESS).then(|| address.into())
}

/// Calls `each` with the parts of a text and whether the part is a bare address.
pub(super) fn split_addresses(text: &str, mut each: impl FnMut(&str, bool)) {
    let mut rest = text;
    let mut from = 0;
    while let Some(found) = rest[from..].find("http") {
        let start = from + found;
        let tail = &rest[start..];
        let begins_word = !rest[..start].ends_with(|c: char| c.is_alphanumeric());
        let scheme = ["https://", "http://"]
            .iter()
            .find(|scheme| tail.starts_with(**scheme));
        let length = scheme.map_or(0, |scheme| address_length(tail, scheme.len()));
        if begins_word && length > 0 {
            each(&rest[..start], false);
            each(&tail[..length], true);
            rest = &tail[length..];
            from = 0;
        } else {
            from = start + "http".len();
        }
    }
    each(rest, false);
}

/// Bytes of the address at the start of `text`, trailing punctuation excluded; none when nothing
/// follows the scheme.
fn address_length(text: &str, scheme: usize) -> usize {
    let stops = |c: char| !c.is_ascii_graphic() || matches!(c, '<' | '>' | '"' | '`' | '|');
    let mut address = &text[..text.find(stops).unwrap_or(text.len())];
    while let Some(last) = address.chars().next_back() {
        let closes_more =
            |open, close| address.matches(open).count() < address.matches(close).count();
        let strip = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' => true,
            ')' => closes_more('(', ')'),
            ']' => closes_more('[', ']'),
            '}' => closes_more('{', '}'),
            _ => false,
        };
        if !strip {
            break;
        }
        address = &address[..address.len() - 1];
    }
    if address.len() > scheme {
        address.len()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_addresses_end_before_punctuation() {
        let cases: &[(&str, &[&str])] = &[
            ("see https://a.b/c.", &["https://a.b/c"]),
            ("(https://a.b/c(d))", &["https://a.b/c(d)"]),
            ("http://x, http://y!?", &["http://x", "http://y"]),
            ("https:// nothttp://x httpx", &[]),
            ("日http://x日", &[]),
            ("。http://x日", &["http://x"]),
        ];
        for (text, expected) in cases {
            let (mut all, mut found) = (String::new(), Vec::new());
            split_addresses(text, |part, is_address| {
                all.push_str(part);
                if is_address {
                    found.push(part.to_owned());
                }
            });
            assert_eq!(all, *text);
            assert_eq!(found, *expected, "{text:?}");
        }
    }

    #[test]
    fn only_clean_addresses_are_links() {
        let long = format!("https://{}", "x".repeat(MAX_ADDRESS));
        let cases = [
            ("https://a.b", true),
            ("HTTP://a", true),
            ("mailto:a@b", true),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
            ("https://a\x1b]8;;\x07", false),
            ("https://a b", false),
            ("https://ä", false),
            ("", false),
            (&long, false),
        ];
        for (address, expected) in cases {
            assert_eq!(target(address).is_some(), expected, "{address:?}");
        }
    }
}
