//! Rows as text, for tests.

use super::style::{Row, Style};

/// The rows' text, one line each.
pub fn plain(rows: &[Row]) -> Vec<String> {
    let text = |row: &Row| row.spans.iter().map(|span| span.text.as_str()).collect();
    rows.iter().map(text).collect()
}

/// The rows with their looks: `⟨bold dim|text⟩` is a span that is not plain.
pub fn styled(rows: &[Row]) -> Vec<String> {
    let line = |row: &Row| {
        let span = |span: &super::style::Span| match look(&span.style) {
            look if look.is_empty() => span.text.clone(),
            look => format!("⟨{look}|{}⟩", span.text),
        };
        row.spans.iter().map(span).collect()
    };
    rows.iter().map(line).collect()
}

fn look(style: &Style) -> String {
    let flags = [
        (style.bold, "bold"),
        (style.dim, "dim"),
        (style.italic, "italic"),
        (style.underline, "underline"),
        (style.strike, "strike"),
        (style.reverse, "reverse"),
    ];
    let mut words: Vec<String> = style
        .color
        .iter()
        .map(|token| token.name().to_owned())
        .collect();
    words.extend(style.background.map(|token| format!("on:{}", token.name())));
    words.extend(
        flags
            .iter()
            .filter(|flag| flag.0)
            .map(|flag| flag.1.to_owned()),
    );
    words.extend(style.link.as_ref().map(|link| format!("→{link}")));
    words.join(" ")
}

/// Panics when a row is wider than `columns` or holds what a terminal would act on.
pub fn check(rows: &[Row], columns: usize) {
    for row in rows {
        assert!(row.width() <= columns.max(2), "over {columns}: {row:?}");
        for span in &row.spans {
            assert!(!span.text.chars().any(char::is_control), "{row:?}");
        }
    }
}
