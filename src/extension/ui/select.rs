//! A question with a list of answers.

use serde_json::{Value, json};

use crate::extension::fields::{Fields, LINE_COLUMNS, line};

/// Most options of one question; the rest is left out.
const MAX_OPTIONS: usize = 1000;

/// A list to pick from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// The question, one line.
    pub title: String,
    /// At least one.
    pub options: Vec<Choice>,
}

/// One answer of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is shown, one line.
    pub label: String,
    /// The label as it was sent, where it is shown otherwise.
    given: Option<String>,
    /// Shown beside it, maybe empty.
    pub description: String,
    /// What the extension gets, whole: a string as it is, anything else as JSON text.
    pub value: String,
}

impl Choice {
    /// The result of the request when this one was picked.
    pub fn answer(&self) -> Value {
        let label = self.given.as_ref().unwrap_or(&self.label);
        json!({"value": self.value, "label": label})
    }
}

impl Select {
    pub(in crate::extension) fn parse(fields: &Fields<'_>) -> Result<Self, String> {
        let title = line(fields.words("title")?, LINE_COLUMNS);
        let mut options = Vec::new();
        for (index, item) in fields.list("options")?.iter().enumerate().take(MAX_OPTIONS) {
            options.extend(choice(fields, index, item)?);
        }
        match options.is_empty() {
            true => Err("`options` has nothing to pick from".to_owned()),
            false => Ok(Self { title, options }),
        }
    }
}

/// One option; one without a label is none.
fn choice(fields: &Fields<'_>, index: usize, item: &Value) -> Result<Option<Choice>, String> {
    let (label, description, value) = match item {
        Value::String(label) => (label.as_str(), String::new(), None),
        Value::Object(_) => {
            let option = fields.item("options", index, item)?;
            let label = option.text("label")?.unwrap_or_default();
            (label, option.line("description")?, option.get("value"))
        }
        _ => return Err(format!("`options[{index}]` must be a string or an object")),
    };
    let shown = line(label, LINE_COLUMNS);
    Ok((!shown.is_empty()).then(|| Choice {
        given: (shown != label).then(|| label.to_owned()),
        label: shown,
        description,
        value: match value {
            None => label.to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: Value) -> Result<Select, String> {
        Select::parse(&Fields::of(&value, "it").unwrap())
    }

    #[test]
    fn values_stay_whole() {
        let long = "l".repeat(100);
        let select = parse(json!({"title": "T\x07\n?", "options": [
            "plain", {"label": long}, {"label": "a\x1b[1m", "value": 5, "description": "d\ne"},
            {"label": "b", "value": "\x1bv\n"}, {"value": "no label"}, {"label": " "}, "", {"label": "c", "value": {"k": [1]}},
        ]}));
        let select = select.unwrap();
        let shown: Vec<_> = select
            .options
            .iter()
            .map(|o| (o.label.as_str(), o.value.as_str()))
            .collect();
        let cut = format!("{}…", "l".repeat(59));
        assert_eq!(
            shown,
            [
                ("plain", "plain"),
                (&cut, &long),
                ("a", "5"),
                ("b", "\x1bv\n"),
                ("c", "{\"k\":[1]}")
            ]
        );
        assert_eq!(
            (
                select.title.as_str(),
                select.options[2].description.as_str()
            ),
            ("T ?", "d e")
        );
        assert_eq!(
            select.options[2].answer(),
            json!({"value": "5", "label": "a\u{1b}[1m"})
        );
        assert_eq!(
            parse(json!({"title": "T", "options": vec!["x"; 5000]}))
                .unwrap()
                .options
                .len(),
            MAX_OPTIONS
        );
    }

    #[test]
    fn wrong_types_name_the_field() {
        for (value, error) in [
            (json!({"options": ["a"]}), "`title` is missing"),
            (json!({"title": "T"}), "`options` has nothing to pick from"),
            (
                json!({"title": "T", "options": []}),
                "`options` has nothing to pick from",
            ),
            (
                json!({"title": "T", "options": [{}]}),
                "`options` has nothing to pick from",
            ),
            (
                json!({"title": "T", "options": {}}),
                "`options` must be a list",
            ),
            (
                json!({"title": "T", "options": ["a", 1]}),
                "`options[1]` must be a string or an object",
            ),
            (
                json!({"title": "T", "options": [{"label": 1}]}),
                "`options[0].label` must be a string",
            ),
        ] {
            assert_eq!(parse(value).unwrap_err(), error);
        }
    }
}
