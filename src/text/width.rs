//! How many columns text takes on a terminal.
//!
//! The tables are those of Unicode (`unicode-width`). Where terminals disagree about a grapheme it
//! is as wide as any of them takes it for, because a blank too many shows and harms nothing.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::clip::with_ellipsis;

/// Widest grapheme. Syllables of Indic scripts reach it, and nothing real is beyond.
const MAX_COLUMNS: usize = 4;

/// Columns of a text without control characters.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// `text` cut to at most `columns`, its end replaced by an ellipsis when it is longer.
pub fn clip_columns(text: &str, columns: usize) -> String {
    match width(text) <= columns {
        true => text.to_owned(),
        false => with_ellipsis(text, columns, grapheme_width),
    }
}

fn grapheme_width(grapheme: &str) -> usize {
    // A variation selector makes its character wide on some terminals; half a flag is on others.
    let is_wide = |c| matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{1f1e6}'..='\u{1f1ff}');
    match grapheme.width() {
        1 if grapheme.contains(is_wide) => 2,
        3.. if grapheme.contains('\u{200d}') => 2,
        columns => columns.min(MAX_COLUMNS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_by_grapheme() {
        let cases = [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("e\u{301}", 1),
            ("日本", 4),
            ("한", 2),
            ("🙂", 2),
            ("👨\u{200d}👩\u{200d}👧", 2),
            ("🇩🇪", 2),
            ("❤\u{fe0f}", 2),
            ("ｆ", 2),
            ("…⋯", 2),
            ("☎\u{fe0e}1\u{fe0f}\u{20e3}", 4),
            ("👍🏽", 2),
            ("🇩", 2),
            ("\u{1112}\u{1161}\u{11ab}", 2),
            ("น้ำ", 2),
            ("हिन्दी", 5),
            (
                "a\u{200b}\u{61c}\u{180e}\u{2060}\u{2064}\u{17b4}\u{ad}\u{3164}\u{e0041}",
                1,
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(width(text), expected, "{text:?}");
        }
        assert_eq!(width(&"👩\u{200d}".repeat(99)), 2);
    }

    #[test]
    fn clipping_never_exceeds_the_columns() {
        let text = "a日e\u{301}👨\u{200d}👩\u{200d}👧b🇩🇪c";
        for columns in 0..=width(text) {
            let clipped = clip_columns(text, columns);
            assert!(width(&clipped) <= columns, "{columns}: {clipped:?}");
        }
        assert_eq!(clip_columns(text, width(text)), text);
    }
}
