//! What an extension answers to e's requests, checked and typed: tool calls, commands and
//! shortcuts, completions, rendered entries. The answers of the other hooks are read where the
//! hooks are run.
//!
//! A missing answer counts as an empty one, and a field of a wrong type as a failure that names
//! it. Text for a model is kept as it is; text for a person is cleaned and cut.

use serde_json::Value;

use super::fields::{Fields, block, line};
use super::request::MAX_NOTICE;
use super::ui::{Format, MAX_BODY, Show};

/// Most bytes of what the viewer shows for a tool call.
const MAX_DISPLAY: usize = 32 * 1024;

/// Columns of the suffix of a tool's row.
const SUMMARY_COLUMNS: usize = 40;

/// Most completions that are shown.
const MAX_COMPLETIONS: usize = 50;

/// Columns of a completed word.
const VALUE_COLUMNS: usize = 1000;

/// The result of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAnswer {
    /// What the model reads, whole and not cleaned.
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// A new name for the session.
    pub session_name: Option<String>,
    /// The suffix of the call's row.
    pub summary: Option<String>,
    /// What the viewer shows instead of `content`.
    pub display: Option<String>,
    /// How the viewer paints it.
    pub format: Format,
}

impl ToolAnswer {
    /// Reads the result of `tool_call`.
    pub fn parse(result: &Value) -> Result<Self, String> {
        let Some(fields) = fields(result)? else {
            return Ok(Self::default());
        };
        let content = fields.text("content")?.unwrap_or_default();
        let format = Format::read(&fields)?;
        // A format without a text of its own says how the content is to be painted.
        let display = fields.text("display")?;
        let display = display.or((format != Format::Text).then_some(content));
        Ok(Self {
            content: content.to_owned(),
            is_error: fields.boolean("is_error")?.unwrap_or_default(),
            session_name: fields.some_line("session_name")?,
            summary: fields
                .text("summary")?
                .map(|text| line(text, SUMMARY_COLUMNS))
                .filter(|text| !text.is_empty()),
            display: display.map(|text| block(text, MAX_DISPLAY)),
            format,
        })
    }
}

/// The result of a command or a shortcut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandAnswer {
    /// A line for the transcript.
    pub notice: Option<String>,
    /// A block for the transcript.
    pub show: Option<Show>,
    /// Text that is submitted as the person's, not cleaned.
    pub prompt: Option<String>,
    /// A new name for the session.
    pub session_name: Option<String>,
}

impl CommandAnswer {
    /// Reads the result of `command` or `shortcut`.
    pub fn parse(result: &Value) -> Result<Self, String> {
        let Some(fields) = fields(result)? else {
            return Ok(Self::default());
        };
        let says_something = |text: &&str| !text.trim().is_empty();
        let notice = fields.text("notice")?.filter(says_something);
        let show = fields.object("show")?;
        Ok(Self {
            notice: notice.map(|text| block(text, MAX_NOTICE)),
            show: show.as_ref().map(Show::parse).transpose()?,
            prompt: fields
                .text("prompt")?
                .filter(says_something)
                .map(String::from),
            session_name: fields.some_line("session_name")?,
        })
    }
}

/// A word that a command may be completed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What replaces the prefix, one line.
    pub value: String,
    /// What is shown, one line.
    pub label: String,
    /// Shown beside it, maybe empty.
    pub description: String,
}

/// What an extension offers for an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// What can be shown.
    pub items: Vec<Completion>,
    /// What is wrong with the rest of the answer. It costs the item or the text that it is about.
    pub faults: Vec<String>,
}

impl Completions {
    /// Reads the result of `command.complete`; items without a value are left out.
    pub fn parse(result: &Value) -> Result<Self, String> {
        let mut read = Self::default();
        let Some(fields) = fields(result)? else {
            return Ok(read);
        };
        for (index, item) in fields.list("items")?.iter().enumerate() {
            let item = fields.item("items", index, item).and_then(|item| {
                let value = line(item.text("value")?.unwrap_or_default(), VALUE_COLUMNS);
                Ok((item, value))
            });
            let (item, value) = match item {
                Ok((item, value)) if !value.is_empty() => (item, value),
                Ok(_) => continue,
                Err(fault) => {
                    read.faults.push(fault);
                    continue;
                }
            };
            let mut text = |name| {
                let text = item.line(name);
                text.unwrap_or_else(|fault| {
                    read.faults.push(fault);
                    String::new()
                })
            };
            let (mut label, description) = (text("label"), text("description"));
            if label.is_empty() {
                label = line(&value, super::fields::LINE_COLUMNS);
            }
            read.items.push(Completion {
                value,
                label,
                description,
            });
            if read.items.len() == MAX_COMPLETIONS {
                break;
            }
        }
        Ok(read)
    }
}

/// The content that an extension supplies for an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The content.
    pub body: String,
    /// How it is painted.
    pub format: Format,
}

impl Rendered {
    /// Reads the result of `hook.render`; none leaves the entry as e paints it.
    pub fn parse(result: &Value) -> Result<Option<Self>, String> {
        let Some(fields) = fields(result)? else {
            return Ok(None);
        };
        let format = Format::read(&fields)?;
        Ok(fields.text("body")?.map(|body| Self {
            body: block(body, MAX_BODY),
            format,
        }))
    }
}

/// The fields of an answer; none when it is missing.
fn fields(result: &Value) -> Result<Option<Fields<'_>>, String> {
    match result {
        Value::Null => Ok(None),
        result => Fields::of(result, "the answer").map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tool_answers() {
        for nothing in [json!(null), json!({}), json!({"content": null})] {
            assert_eq!(
                ToolAnswer::parse(&nothing),
                Ok(ToolAnswer::default()),
                "{nothing}"
            );
        }
        let answer = ToolAnswer::parse(&json!({
            "content": "raw\x1b[1m", "is_error": true, "session_name": "a\nb", "summary": "3\nrows",
            "display": "\x1b[1m+x", "format": "diff", "later": 1,
        }));
        assert_eq!(
            answer,
            Ok(ToolAnswer {
                content: "raw\x1b[1m".into(),
                is_error: true,
                session_name: Some("a b".into()),
                summary: Some("3 rows".into()),
                display: Some("+x".into()),
                format: Format::Diff,
            })
        );
        for (answer, expected) in [
            (json!({"content": "+x\x07", "format": "diff"}), Some("+x")),
            (
                json!({"content": "+x", "format": "diff", "display": ""}),
                Some(""),
            ),
            (json!({"content": "+x", "format": "text"}), None),
        ] {
            let display = ToolAnswer::parse(&answer).unwrap().display;
            assert_eq!(display.as_deref(), expected, "{answer}");
        }
        let huge = "x\n".repeat(5 << 20);
        let answer =
            ToolAnswer::parse(&json!({"content": huge, "display": huge, "summary": huge})).unwrap();
        assert_eq!(answer.content.len(), huge.len());
        assert!(
            answer.display.unwrap().len() <= MAX_DISPLAY && answer.summary.unwrap().len() < 200
        );
    }

    #[test]
    fn command_answers() {
        for nothing in [
            json!(null),
            json!({}),
            json!({"notice": " ", "prompt": "\n", "session_name": "", "show": null}),
        ] {
            assert_eq!(
                CommandAnswer::parse(&nothing),
                Ok(CommandAnswer::default()),
                "{nothing}"
            );
        }
        let answer = CommandAnswer::parse(&json!({
            "notice": "n\x07", "prompt": "p", "session_name": "s", "show": {"title": "t"},
        }));
        let answer = answer.unwrap();
        assert_eq!(
            (answer.notice.as_deref(), answer.prompt.as_deref()),
            (Some("n"), Some("p"))
        );
        assert_eq!(answer.session_name.as_deref(), Some("s"));
        assert_eq!(answer.show.unwrap().title, "t");
    }

    #[test]
    fn completions_have_a_value() {
        let items: Vec<_> = (0..100)
            .map(|n| json!({"value": format!("v{n}")}))
            .collect();
        assert_eq!(
            Completions::parse(&json!({"items": items}))
                .unwrap()
                .items
                .len(),
            MAX_COMPLETIONS
        );
        let found = Completions::parse(&json!({"items": [
            {"label": "l"}, {"value": ""}, "v", {"value": 1}, {"value": "a\nb", "description": "d\x07"},
            {"value": "c", "label": 5, "description": {}},
        ]}));
        let item = |value: &str, description: &str| Completion {
            value: value.into(),
            label: value.into(),
            description: description.into(),
        };
        let expected = Completions {
            items: vec![item("a b", "d"), item("c", "")],
            faults: [
                "`items[2]` must be an object",
                "`items[3].value` must be a string",
                "`items[5].label` must be a string",
                "`items[5].description` must be a string",
            ]
            .map(String::from)
            .to_vec(),
        };
        assert_eq!(found, Ok(expected));
        assert_eq!(Completions::parse(&Value::Null), Ok(Completions::default()));
    }

    #[test]
    fn rendered_entries() {
        let parse = |value| Rendered::parse(&value);
        assert_eq!(parse(json!({})), Ok(None));
        assert_eq!(parse(json!(null)), Ok(None));
        let rendered = parse(json!({"body": "b\x07", "format": "markdown"}))
            .unwrap()
            .unwrap();
        assert_eq!(
            (rendered.body.as_str(), rendered.format),
            ("b", Format::Markdown)
        );
    }

    #[test]
    fn wrong_types_name_the_field() {
        type Read = fn(&Value) -> Option<String>;
        let tool: Read = |value| ToolAnswer::parse(value).err();
        let command: Read = |value| CommandAnswer::parse(value).err();
        let complete: Read = |value| Completions::parse(value).err();
        let render: Read = |value| Rendered::parse(value).err();
        let cases = [
            (tool, json!("text"), "the answer is not an object"),
            (tool, json!([1]), "the answer is not an object"),
            (tool, json!({"content": 7}), "`content` must be a string"),
            (
                tool,
                json!({"is_error": "no"}),
                "`is_error` must be true or false",
            ),
            (tool, json!({"display": {}}), "`display` must be a string"),
            (tool, json!({"format": 1}), "`format` must be a string"),
            (command, json!(5), "the answer is not an object"),
            (command, json!({"show": "x"}), "`show` must be an object"),
            (
                command,
                json!({"show": {}}),
                "`show.title` or `show.body` is needed",
            ),
            (
                command,
                json!({"show": {"body": 1}}),
                "`show.body` must be a string",
            ),
            (complete, json!({"items": {}}), "`items` must be a list"),
            (render, json!({"body": 1}), "`body` must be a string"),
        ];
        for (read, value, expected) in cases {
            assert_eq!(read(&value).as_deref(), Some(expected), "{value}");
        }
    }
}
