//! A bound on how deep quotes and lists nest.
//!
//! What nests costs its depth for each line and each level, so a line of thousands of quote marks
//! would stop the screen. Nobody reads the thirty-third level; its marks become plain characters, one
//! for one, so that places in the text stay what they are.

use std::borrow::Cow;

/// Levels that quotes and lists may have.
const LEVELS: usize = 32;

/// The text with the marks beyond [`LEVELS`] made plain.
pub(super) fn shallow(text: &str) -> Cow<'_, str> {
    let mut out: Option<Vec<u8>> = None;
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let end = bytes[start..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |at| start + at);
        let mut levels = 0;
        for at in start..end {
            let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
            let plain = match bytes[at] {
                b' ' | b'\t' | b'0'..=b'9' => continue,
                b'>' => b'|',
                b'-' | b'*' | b'+' if matches!(next, b' ' | b'\t' | b'\n') => b'~',
                b'.' | b')' if at > start && bytes[at - 1].is_ascii_digit() => b':',
                _ => break,
            };
            levels += 1;
            if levels > LEVELS {
                out.get_or_insert_with(|| bytes.to_vec())[at] = plain;
            }
        }
        start = end + 1;
    }
    match out {
        None => Cow::Borrowed(text),
        // ASCII was put in the place of ASCII.
        Some(out) => String::from_utf8(out).map_or(Cow::Borrowed(text), Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_reads_becomes_plain() {
        for text in ["> a\n- b\n1. c", "---", "a > b", &"> ".repeat(32), "é\n> é"] {
            assert!(matches!(shallow(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(shallow(&">".repeat(34)), ">".repeat(32) + "||");
        let lists = shallow(&"- ".repeat(40)).into_owned();
        assert_eq!(lists, "- ".repeat(32) + &"~ ".repeat(8));
        assert_eq!(shallow(&"1. ".repeat(33)), "1. ".repeat(32) + "1: ");
        assert!(shallow(&("x\n".to_owned() + &">".repeat(99_999))).ends_with("|||"));
    }
}
