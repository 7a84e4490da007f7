//! What a session is called while nobody has named it.

use std::sync::Arc;

use crate::chat::{Message, Voice};
use crate::config::resources::said_to_skill;
use crate::text::{clip_chars, one_line};

/// The title of a session whose first message has no words.
const UNTITLED: &str = "Untitled session";

const MAX_WORDS: usize = 8;
const MAX_CHARS: usize = 60;

/// A title: the first line that a person wrote, at most eight words and 60 characters of it. Of a skill
/// that is what was said to it, or its name.
pub fn title(messages: &[Arc<Message>]) -> String {
    let first = messages.iter().find_map(|message| match &**message {
        Message::User {
            content,
            voice: Voice::Prompt,
            ..
        } => Some(content.as_str()),
        _ => None,
    });
    title_of(first.unwrap_or_default())
}

/// The title of a session that begins with this text.
pub(super) fn title_of(text: &str) -> String {
    let text = said_to_skill(text).unwrap_or(text);
    let line = text.trim_start().lines().next().unwrap_or_default();
    // The rest of a line of a megabyte cannot matter.
    let line = one_line(&clip_chars(line, MAX_CHARS * 16), None);
    let words: Vec<_> = line.split_whitespace().take(MAX_WORDS).collect();
    match clip_chars(&words.join(" "), MAX_CHARS) {
        empty if empty.is_empty() => UNTITLED.to_owned(),
        title => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_short_and_plain() {
        for (text, expected) in [
            ("list the tests", "list the tests"),
            ("\n\n  list\tthe  tests \nand more", "list the tests"),
            ("a b c d e f g h i j", "a b c d e f g h"),
            ("\x1b[31mred\x1b[0m \u{7}bell", "red bell"),
            ("", UNTITLED),
            (" \n\t", UNTITLED),
            ("\x1b[2J", UNTITLED),
            ("a\u{2028}b", "a b"),
            (
                "1. run bench\n\nThe directory of this skill is `/s/bench`.\n\ncompare\n\nit",
                "compare",
            ),
            ("The directory of this skill is `/s/bench`.", "bench"),
            (
                "see: The directory of this skill is `x`.",
                "see: The directory of this skill is `x`.",
            ),
        ] {
            assert_eq!(title_of(text), expected, "{text:?}");
        }
        for long in ["é".repeat(1 << 20), "👨‍👩‍👧 ".repeat(500)] {
            let title = title_of(&long);
            assert!(title.chars().count() <= 60, "{title}");
            assert!(title.split(' ').count() <= 8, "{title}");
        }
    }

    #[test]
    fn what_e_says_itself_is_no_title() {
        let of =
            |messages: Vec<Message>| title(&messages.into_iter().map(Arc::new).collect::<Vec<_>>());
        let system = Message::System {
            content: "s".into(),
        };
        assert_eq!(of(vec![]), UNTITLED);
        assert_eq!(of(vec![Message::internal("i"), system]), UNTITLED);
        assert_eq!(of(vec![Message::internal("i"), Message::user("u")]), "u");
    }
}
