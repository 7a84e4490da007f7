//! How many columns text takes on a terminal.
//!
//! A grapheme is as wide as its widest character: two columns for East Asian wide forms and
//! emoji, one for the rest, none for a lone mark. The table is coarse on purpose: whole blocks,
//! because terminals themselves disagree about single characters.

use unicode_segmentation::UnicodeSegmentation;

use super::clip::with_ellipsis;

/// Blocks whose characters take two columns, in order.
const WIDE: &[(char, char)] = &[
    ('\u{1100}', '\u{115f}'),
    ('\u{231a}', '\u{231b}'),
    ('\u{2329}', '\u{232a}'),
    ('\u{23e9}', '\u{23ec}'),
    ('\u{23f0}', '\u{23f0}'),
    ('\u{23f3}', '\u{23f3}'),
    ('\u{25fd}', '\u{25fe}'),
    ('\u{2614}', '\u{2615}'),
    ('\u{2648}', '\u{2653}'),
    ('\u{26a1}', '\u{26a1}'),
    ('\u{26aa}', '\u{26ab}'),
    ('\u{26bd}', '\u{26be}'),
    ('\u{26c4}', '\u{26c5}'),
    ('\u{26d4}', '\u{26d4}'),
    ('\u{2705}', '\u{2705}'),
    ('\u{270a}', '\u{270b}'),
    ('\u{2728}', '\u{2728}'),
    ('\u{274c}', '\u{274c}'),
    ('\u{274e}', '\u{274e}'),
    ('\u{2753}', '\u{2757}'),
    ('\u{2795}', '\u{2797}'),
    ('\u{2b1b}', '\u{2b1c}'),
    ('\u{2b50}', '\u{2b55}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{a4cf}'),
    ('\u{a960}', '\u{a97c}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe10}', '\u{fe19}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff01}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{16fe0}', '\u{18aff}'),
    ('\u{1b000}', '\u{1b2ff}'),
    ('\u{1f004}', '\u{1f004}'),
    ('\u{1f0cf}', '\u{1f0cf}'),
    ('\u{1f18e}', '\u{1f19a}'),
    ('\u{1f1e6}', '\u{1f1ff}'),
    ('\u{1f200}', '\u{1f320}'),
    ('\u{1f32d}', '\u{1f64f}'),
    ('\u{1f680}', '\u{1f6ff}'),
    ('\u{1f7e0}', '\u{1f7eb}'),
    ('\u{1f900}', '\u{1f9ff}'),
    ('\u{1fa70}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

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
    if grapheme.contains('\u{fe0f}') {
        return 2;
    }
    grapheme.chars().map(char_width).max().unwrap_or(0)
}

fn char_width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{20d0}'..='\u{20ff}' => 0,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}' => 0,
        c if c < '\u{1100}' => 1,
        c => {
            let wide = WIDE.binary_search_by(|&(low, high)| {
                if high < c {
                    std::cmp::Ordering::Less
                } else if low > c {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            });
            if wide.is_ok() { 2 } else { 1 }
        }
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
        ];
        for (text, expected) in cases {
            assert_eq!(width(text), expected, "{text:?}");
        }
        assert!(WIDE.windows(2).all(|pair| pair[0].1 < pair[1].0));
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
