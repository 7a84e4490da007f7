//! Rows of text with a meaning: what panels, widgets and a pane's rows are made of.

use serde_json::Value;

use crate::extension::fields::{Fields, RAW_LINE};
use crate::text::{clip_bytes, clip_chars, sanitize};

/// Longest name of a token, in characters. No theme has a longer one.
const MAX_TOKEN: usize = 64;

/// A piece of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Text on one line; blanks are kept.
    pub text: String,
    /// The theme's name for its meaning; may be one that no theme has.
    pub token: Option<String>,
}

/// A row, not wrapped. It may be wider than any terminal, up to 4 KiB.
pub type SpanRow = Vec<Span>;

/// The rows of the list `name`: strings, or lists of `{text, token}`. Only rows that are taken
/// are looked at.
pub fn rows<'a>(
    fields: &Fields<'a>,
    name: &str,
) -> Result<impl Iterator<Item = Result<SpanRow, String>> + 'a, String> {
    let path = fields.path(name);
    let items = fields.list(name)?.iter().enumerate();
    Ok(items.map(move |(index, item)| row(item, &format!("{path}[{index}]"))))
}

/// A row that e adds.
pub fn remark(text: String) -> SpanRow {
    let token = Some("dim".to_owned());
    vec![Span { text, token }]
}

fn row(item: &Value, path: &str) -> Result<SpanRow, String> {
    let mut room = RAW_LINE;
    let mut row = Vec::new();
    let spans = match item {
        Value::Array(spans) => spans.as_slice(),
        other => std::slice::from_ref(other),
    };
    // No row has more spans than bytes.
    for span in spans.iter().take(RAW_LINE) {
        let (raw, token) = match span {
            Value::String(text) => (text.as_str(), None),
            Value::Object(_) => {
                let fields = Fields::at(span, path)?;
                (
                    fields.text("text")?.unwrap_or_default(),
                    fields.text("token")?,
                )
            }
            _ => return Err(format!("`{path}` must be a string or a list of spans")),
        };
        let kept = clip_bytes(raw, room);
        let text = sanitize(kept).replace(['\n', '\t', '\u{2028}', '\u{2029}'], " ");
        if !text.is_empty() {
            let token = token.map(|name| clip_chars(name, MAX_TOKEN));
            row.push(Span { text, token });
        }
        if kept.len() < raw.len() {
            break;
        }
        room -= kept.len();
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: &Value) -> Result<Vec<SpanRow>, String> {
        rows(&Fields::of(value, "it").unwrap(), "lines")?.collect()
    }

    #[test]
    fn strings_and_spans_are_rows() {
        let value = json!({"lines": [
            "  plain\x1b[31m\ntext\t",
            [{"text": "a", "token": "dim"}, {"text": "", "token": "x"}, "b", {"text": "c\r\nd"}],
            [],
            {"text": "alone", "token": null},
        ]});
        let rows = parse(&value).unwrap();
        let shown: Vec<Vec<(&str, Option<&str>)>> = rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|span| (span.text.as_str(), span.token.as_deref()))
                    .collect()
            })
            .collect();
        assert_eq!(
            shown,
            [
                vec![("  plain text ", None)],
                vec![("a", Some("dim")), ("b", None), ("c d", None)],
                vec![],
                vec![("alone", None)],
            ]
        );
    }

    #[test]
    fn wrong_types_name_the_row_and_long_rows_are_cut() {
        let parse = |line: Value| parse(&json!({"lines": ["ok", line]}));
        for wrong in [
            json!(1),
            json!(null),
            json!(true),
            json!([1]),
            json!([["x"]]),
            json!([null]),
        ] {
            assert_eq!(
                parse(wrong).unwrap_err(),
                "`lines[1]` must be a string or a list of spans"
            );
        }
        assert_eq!(
            parse(json!([{"text": 1}])).unwrap_err(),
            "`lines[1].text` must be a string"
        );
        let spans: Vec<_> = (0..10_000)
            .map(|_| json!({"text": "日本", "token": "x".repeat(100)}))
            .collect();
        let row = parse(json!(spans)).unwrap().remove(1);
        assert!(row.iter().map(|span| span.text.len()).sum::<usize>() <= RAW_LINE);
        assert!(row.len() <= RAW_LINE / 6 + 1);
        let row = parse(json!("x".repeat(10 << 20))).unwrap().remove(1);
        assert_eq!(row[0].text.len(), RAW_LINE);
    }
}
