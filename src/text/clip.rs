//! Cutting text to a size without damaging what stands at the cut.
//!
//! A cut never splits a character, and not a grapheme either: no lone combining mark, no half
//! of a flag or of a line end. Only a "grapheme" longer than [`MAX_GRAPHEME`] is split, so that
//! a flood of marks cannot push a cut far away from where it was asked for.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// Longest grapheme that is kept whole, in bytes. Real ones stay far below.
const MAX_GRAPHEME: usize = 128;

/// The longest beginning of `text` that fits `max` bytes.
pub fn clip_bytes(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let at = floor_char(text, max);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let boundary = match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    };
    &text[..if at - boundary <= MAX_GRAPHEME {
        boundary
    } else {
        at
    }]
}

/// The longest end of `text` that fits `max` bytes.
pub fn clip_start(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let at = ceil_char(text, text.len() - max);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let boundary = match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor
            .next_boundary(text, 0)
            .ok()
            .flatten()
            .unwrap_or(text.len()),
    };
    &text[if boundary - at <= MAX_GRAPHEME {
        boundary
    } else {
        at
    }..]
}

/// `text` cut to at most `max` characters, the ellipsis that marks a cut included.
pub fn clip_chars(text: &str, max: usize) -> String {
    match text.chars().nth(max) {
        None => text.to_owned(),
        Some(_) => with_ellipsis(text, max, |grapheme| grapheme.chars().count()),
    }
}

/// The graphemes of `text` whose sizes sum up to less than `max`, and an ellipsis of size one.
pub(super) fn with_ellipsis(text: &str, max: usize, size: impl Fn(&str) -> usize) -> String {
    let Some(mut room) = max.checked_sub(1) else {
        return String::new();
    };
    let mut kept = String::new();
    for grapheme in text.graphemes(true) {
        match room.checked_sub(size(grapheme)) {
            Some(left) => room = left,
            None => break,
        }
        kept.push_str(grapheme);
    }
    kept + "…"
}

/// The last character start at or before `at`, which may be past the end.
pub fn floor_char(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

fn ceil_char(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXED: &str = "a日本e\u{301}🙂👨\u{200d}👩\u{200d}👧x\r\ny🇩🇪🇫🇷한é\u{1100}\u{1161}z";

    #[test]
    fn every_cut_is_between_graphemes() {
        let boundaries: Vec<usize> = MIXED
            .grapheme_indices(true)
            .map(|(at, _)| at)
            .chain([MIXED.len()])
            .collect();
        for max in 0..=MIXED.len() + 1 {
            let head = clip_bytes(MIXED, max);
            let tail = clip_start(MIXED, max);
            assert!(head.len() <= max && tail.len() <= max, "{max}");
            let best = boundaries.iter().filter(|&&at| at <= max).max();
            assert_eq!(Some(&head.len()), best, "{max}");
            let best = boundaries
                .iter()
                .filter(|&&at| MIXED.len() - at <= max)
                .min();
            assert_eq!(Some(&(MIXED.len() - tail.len())), best, "{max}");
        }
    }

    #[test]
    fn a_flood_of_marks_moves_no_cut() {
        let flood = format!("e{}", "\u{301}".repeat(10_000));
        assert!(clip_bytes(&flood, 5_000).len() >= 4_998);
        assert!(clip_start(&flood, 5_000).len() >= 4_998);
    }

    #[test]
    fn characters_are_counted_with_the_ellipsis() {
        let cases = [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 2, "日…"),
            ("ae\u{301}b", 3, "a…"),
            ("ab", 0, ""),
            ("", 0, ""),
            ("ab", 1, "…"),
        ];
        for (text, max, expected) in cases {
            assert_eq!(clip_chars(text, max), expected, "{text:?} to {max}");
        }
    }
}
