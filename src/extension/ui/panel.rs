//! A footer panel.

use serde_json::Value;

use super::span::{SpanRow, rows};
use crate::extension::fields::Fields;

/// Most rows of a panel.
const MAX_ROWS: usize = 200;

/// A footer panel, drawn anew with every message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// One line, maybe empty.
    pub title: String,
    /// What it shows.
    pub lines: Vec<SpanRow>,
    /// How many more lines it was given.
    pub left_out: usize,
    /// Whether its owner gets the keys.
    pub interactive: bool,
}

impl Panel {
    /// The parameters of `ui.panel`; null closes.
    pub(in crate::extension) fn parse(params: &Value) -> Result<Option<Self>, String> {
        if params.is_null() {
            return Ok(None);
        }
        let fields = Fields::of(params, "the panel")?;
        let count = fields.list("lines")?.len();
        let rows = rows(&fields, "lines")?.take(MAX_ROWS);
        let lines = rows.collect::<Result<Vec<_>, _>>()?;
        let title = fields.line("title")?;
        if title.is_empty() && lines.is_empty() {
            return Err("`title` or `lines` is needed".to_owned());
        }
        Ok(Some(Self {
            title,
            left_out: count - lines.len(),
            lines,
            interactive: fields.boolean("interactive")?.unwrap_or_default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_closes_and_long_panels_count_the_rest() {
        assert_eq!(Panel::parse(&Value::Null), Ok(None));
        let panel =
            Panel::parse(&json!({"title": "T", "lines": vec!["x"; 100_000], "interactive": true}));
        let panel = panel.unwrap().unwrap();
        assert!(panel.interactive && panel.lines.len() == MAX_ROWS);
        assert_eq!(panel.left_out, 99_800);
        let full = Panel::parse(&json!({"lines": vec!["x"; MAX_ROWS]}))
            .unwrap()
            .unwrap();
        assert_eq!(full.lines.len(), MAX_ROWS);
    }

    #[test]
    fn wrong_types_name_the_field() {
        for (params, error) in [
            (json!([]), "the panel is not an object"),
            (json!({}), "`title` or `lines` is needed"),
            (json!({"title": 1}), "`title` must be a string"),
            (
                json!({"title": "T", "lines": "x"}),
                "`lines` must be a list",
            ),
            (
                json!({"title": "T", "interactive": 1}),
                "`interactive` must be true or false",
            ),
        ] {
            assert_eq!(Panel::parse(&params), Err(error.to_owned()), "{params}");
        }
    }
}
