//! The one door for foreign text: what a model, a tool, a file name or a server says is cleaned
//! here before it can reach a terminal.
//!
//! Escape sequences go with all they carry; what is left is printable text, newlines and tabs.
//! Characters that reorder or hide text are dropped as well, because a path or a command must
//! read as what it is: everything that says a direction, annotations, U+FEFF, and tags, which
//! spell text that nobody sees. The tags of a flag and joiners stay; emoji and scripts need them.

use super::width::clip_columns;

/// Longest body of a string sequence (OSC, DCS, SOS, PM, APC) that is removed, in bytes. A
/// stray introducer without a terminator near by costs only itself.
const MAX_STRING: usize = 64 * 1024;

/// Longest run of parameter and intermediate bytes in a control sequence.
const MAX_CONTROL: usize = 256;

/// Most tags of a flag; those in use have six, the last of which is the end.
const MAX_TAGS: usize = 8;

/// Removes escape sequences, control characters (except newline and tab) and what hides or
/// reorders text; `\r\n`, U+2028 and U+2029 become `\n`. Linear in the length of `text`.
pub fn sanitize(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_unsafe) {
        clean.push_str(&rest[..at]);
        if rest[at..].starts_with(['\u{2028}', '\u{2029}']) {
            // Some terminals break the line there and some do not.
            clean.push('\n');
        }
        let tags = flag_tags(&clean, &rest[at..]);
        clean.push_str(tags);
        rest = match tags {
            "" => skip(&rest[at..]),
            _ => &rest[at + tags.len()..],
        };
    }
    clean.push_str(rest);
    clean
}

/// The same on one line: line breaks and tabs become spaces, blanks at the ends go. With
/// `max_columns` a longer text is cut to that width, an ellipsis included.
pub fn one_line(text: &str, max_columns: Option<usize>) -> String {
    let line = sanitize(text)
        .trim()
        .replace(['\n', '\t', '\u{2028}', '\u{2029}'], " ");
    match max_columns {
        Some(columns) => clip_columns(&line, columns),
        None => line,
    }
}

/// Whether a terminal may act on it, or show other text than is written.
pub fn is_unsafe(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// The tags at the start of `text` when they make a flag of what is before them, or nothing.
fn flag_tags<'a>(before: &str, text: &'a str) -> &'a str {
    let tags = text.char_indices().take(MAX_TAGS);
    let end = tags
        .take_while(|(_, c)| ('\u{e0030}'..='\u{e007f}').contains(c))
        .find(|(_, c)| *c == '\u{e007f}');
    match end {
        Some((at, c)) if before.ends_with('\u{1f3f4}') => &text[..at + c.len_utf8()],
        _ => "",
    }
}

/// What follows the sequence or character at the start of `text`.
fn skip(text: &str) -> &str {
    let mut chars = text.chars();
    let first = chars.next();
    let rest = chars.as_str();
    match first {
        Some('\x1b') => skip_escape(rest),
        Some('\u{9b}') => skip_control(rest),
        Some('\u{90}') => skip_string(rest, true),
        Some('\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => skip_string(rest, false),
        _ => rest,
    }
}

/// Skips what an escape character introduces; `text` begins after it.
fn skip_escape(text: &str) -> &str {
    match text.as_bytes().first() {
        Some(b'[') => skip_control(&text[1..]),
        Some(b'P') => skip_string(&text[1..], true),
        Some(b']' | b'X' | b'^' | b'_') => skip_string(&text[1..], false),
        Some(0x20..=0x2f) => {
            let rest = text.trim_start_matches(|c| matches!(c, ' '..='/'));
            match rest.as_bytes().first() {
                Some(0x30..=0x7e) if text.len() - rest.len() <= MAX_CONTROL => &rest[1..],
                _ => text,
            }
        }
        Some(0x30..=0x7e) => &text[1..],
        _ => text,
    }
}

/// Skips parameters, intermediates and the final byte of a control sequence. A sequence that
/// breaks off loses what it has of them.
fn skip_control(text: &str) -> &str {
    let bytes = text.as_bytes();
    let end = bytes
        .iter()
        .take(MAX_CONTROL)
        .take_while(|byte| matches!(byte, 0x20..=0x3f))
        .count();
    match bytes.get(end) {
        Some(0x40..=0x7e) => &text[end + 1..],
        _ => &text[end..],
    }
}

/// Skips the body of a string sequence with its terminator. Without one near by nothing is
/// skipped; a line break ends the search unless the device may be sent several lines.
fn skip_string(text: &str, lines: bool) -> &str {
    for (at, c) in text.char_indices() {
        match c {
            '\x07' | '\x18' | '\x1a' | '\u{9c}' => return &text[at + c.len_utf8()..],
            '\x1b' => return text[at..].strip_prefix("\x1b\\").unwrap_or(&text[at..]),
            '\u{80}'..='\u{9f}' => return &text[at..],
            '\n' if !lines => break,
            _ if at > MAX_STRING => break,
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::random;

    const SCOTLAND: &str = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";

    #[test]
    fn sequences_and_controls_go() {
        let cases = [
            ("plain ünïcödé 🙂", "plain ünïcödé 🙂"),
            ("a\r\nb\tc\rd\x07\x00\x7f", "a\nb\tcd"),
            ("\x1b[1;31mred\x1b[0m \x1b[?25lx\x1b[2 q", "red x"),
            (
                "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
                "alink",
            ),
            ("\x1b]52;c;ZXZpbA==\u{9c}ok", "ok"),
            ("\x1bPq#0\nsixel\x1b\\ok", "ok"),
            ("\x1b_kitty\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\ok", "ok"),
            ("\x1b(B\x1b7\x1b=\x1b#8ok", "ok"),
            ("\u{9b}31mred\u{9d}0;t\u{9c}\u{85}ok\u{90}x\u{9c}", "redok"),
            ("\x1b]0;cut\x1b[31mred", "red"),
            ("\x1b]0;never ends\nnext", "0;never ends\nnext"),
            ("\x1b[12", ""),
            ("\x1b[12é", "é"),
            ("\x1b", ""),
            ("\x1b\x1b[mx", "x"),
            ("\x1bé", "é"),
            (
                "a\u{202e}b\u{2066}c\u{2069}\u{feff}d\u{200d}e\u{200f}f\u{200e}\u{61c}\u{206a}g",
                "abcd\u{200d}efg",
            ),
            ("a\u{fff9}b\u{fffa}c\u{fffb}d", "abcd"),
            ("a\u{e0001}b\u{e0041}\u{e007f}\x1b[m\u{e0061}c", "abc"),
            (SCOTLAND, SCOTLAND),
            (
                &format!("{SCOTLAND}x{SCOTLAND}"),
                &format!("{SCOTLAND}x{SCOTLAND}"),
            ),
            ("\u{1f3f4}\u{e0067}\u{e0062}x", "\u{1f3f4}x"),
        ];
        for (input, expected) in cases {
            assert_eq!(sanitize(input), expected, "{input:?}");
        }
    }

    #[test]
    fn a_stray_introducer_swallows_a_bounded_run() {
        let body = "x".repeat(10 * MAX_STRING);
        assert_eq!(sanitize(&format!("\x1b]{body}\x07")).len(), body.len());
        let digits = "1".repeat(10 * MAX_CONTROL);
        assert!(sanitize(&format!("\x1b[{digits}m")).len() >= digits.len() - MAX_CONTROL);
        let many = "\x1b]x".repeat(200_000);
        assert_eq!(sanitize(&many), "x");
    }

    #[test]
    fn nothing_unsafe_survives_random_input() {
        let alphabet: Vec<char> =
            "\x1b\x1b\x1b[]P\\X^_(;0123mqé\n\r\t\x07\x18\u{9b}\u{9c}\u{9d}\u{85}\u{202e}a🙂"
                .chars()
                .collect();
        let mut random = random(7);
        for _ in 0..2000 {
            let text: String = (0..40).map(|_| alphabet[random(alphabet.len())]).collect();
            let clean = sanitize(&text);
            assert!(!clean.contains(is_unsafe), "{text:?} gave {clean:?}");
            assert_eq!(sanitize(&clean), clean);
        }
    }

    #[test]
    fn one_line_folds_and_cuts() {
        assert_eq!(one_line(" a\r\nb\tc\u{2028}d\n", None), "a b c d");
        assert_eq!(one_line("日本語テキスト", Some(7)), "日本語…");
        assert_eq!(one_line("short", Some(5)), "short");
    }
}
