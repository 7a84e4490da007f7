//! JSON as one line of a stream.
//!
//! U+2028, U+2029 and U+0085 are escaped, so that a reader that splits at Unicode line breaks
//! sees the same lines as one that splits at `\n`. JSON text that is passed through raw loses
//! its line breaks for the same reason. The other characters that a terminal acts on or that hide
//! what is written are escaped with them: who reads JSON sees the same text, who looks at the lines
//! is safe.

use std::io;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use super::sanitize::is_unsafe;

/// Compact JSON without a line break in it and without one at the end. A value that JSON cannot
/// express (a map whose keys are no strings; this crate has none) becomes `null`.
pub fn to_line(value: &impl Serialize) -> String {
    let mut bytes = Vec::with_capacity(128);
    if value.serialize(&mut line_serializer(&mut bytes)).is_err() {
        return "null".to_owned();
    }
    String::from_utf8(bytes).unwrap_or_else(|_| "null".to_owned())
}

/// Writes a value the way [`to_line`] does, piece by piece.
pub fn write_value(out: &mut impl io::Write, value: &impl Serialize) -> io::Result<()> {
    value
        .serialize(&mut line_serializer(out))
        .map_err(io::Error::from)
}

/// Appends `text` as a JSON string with its quotes, the way [`to_line`] writes it, without
/// building a value first.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Writing to memory does not fail.
    let _ = text.serialize(&mut line_serializer(out));
}

/// Reads one JSON value. Nesting deeper than 127 levels is an error like any other; the text of
/// the error tells line and column.
pub fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        let mut chars = text.chars();
        let first = chars.next().map(|c| c.to_ascii_lowercase());
        match text.starts_with("EOF") {
            true => text.replacen("EOF while parsing", "it ends inside", 1),
            false => first.into_iter().chain(chars).collect(),
        }
    })
}

/// Reads a field so that `null` is told from its absence, which is the outer `None`.
pub fn present<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(from).map(Some)
}

fn line_serializer<W: io::Write>(out: &mut W) -> Serializer<&mut W, LineFormatter> {
    Serializer::with_formatter(out, LineFormatter)
}

struct LineFormatter;

impl Formatter for LineFormatter {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        write_escaped(writer, fragment)
    }

    fn write_raw_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        // Inside a JSON string a bare line break is illegal, so these stand between tokens.
        match fragment.contains(['\n', '\r']) {
            true => write_escaped(writer, &fragment.replace(['\n', '\r'], " ")),
            false => write_escaped(writer, fragment),
        }
    }
}

fn write_escaped<W>(writer: &mut W, text: &str) -> io::Result<()>
where
    W: ?Sized + io::Write,
{
    // Nearly all text is free of them, and found to be so at no cost.
    if text.is_ascii() && !text.as_bytes().contains(&0x7f) {
        return writer.write_all(text.as_bytes());
    }
    let mut written = 0;
    for (at, found) in text.match_indices(is_unsafe) {
        writer.write_all(&text.as_bytes()[written..at])?;
        written = at + found.len();
        for unit in found.encode_utf16() {
            write!(writer, "\\u{unit:04x}")?;
        }
    }
    writer.write_all(&text.as_bytes()[written..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::RawValue;

    #[test]
    fn lines_have_no_line_breaks_of_any_kind() {
        let text = "a\nb\rc\u{2028}d\u{2029}e\u{85}f\"\\\u{1}é🙂\u{7f}";
        let value = json!({ text: [text, 1, null, 1.5, true] });
        let line = to_line(&value);
        assert!(
            !line.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']),
            "{line}"
        );
        assert_eq!(parse(&line), Ok(value));
        let mut string = Vec::new();
        write_string(&mut string, text);
        assert_eq!(String::from_utf8(string).unwrap(), to_line(&text));
    }

    #[test]
    fn what_a_terminal_acts_on_is_escaped() {
        let text = "a\u{7f}\u{9b}31m\u{202e}txt\u{2066}\u{feff}\u{e0041}\u{200d}é\t\u{1b}[m";
        let line = to_line(&json!({ text: text }));
        let escaped = r"a\u007f\u009b31m\u202etxt\u2066\ufeff\udb40\udc41";
        assert!(line.contains(escaped), "{line}");
        assert!(
            !line.contains(is_unsafe) && line.contains('\u{200d}'),
            "{line}"
        );
        assert_eq!(parse(&line), Ok(json!({ text: text })));
        let raw: Box<RawValue> = serde_json::from_str("\"\u{9b}\u{7f}\"").unwrap();
        assert_eq!(to_line(&raw), r#""\u009b\u007f""#);
    }

    #[test]
    fn raw_values_stay_on_the_line() {
        let raw: Box<RawValue> = serde_json::from_str("[1.0,\r\n \"\u{2028}\"]").unwrap();
        assert_eq!(to_line(&raw), "[1.0,   \"\\u2028\"]");
    }

    #[test]
    fn bad_text_is_an_error() {
        let deep = "[".repeat(10_000);
        for text in ["", "{", "{\"a\":}", "nul", "1 2", deep.as_str()] {
            let error = parse(text).unwrap_err();
            assert!(
                error.starts_with(char::is_lowercase) && error.contains("line 1"),
                "{error}"
            );
        }
    }
}
