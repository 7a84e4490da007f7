//! What `e ext check` sends: requests that are plainly samples, and answers that nobody gave.

use serde_json::{Map, Value, json};

use crate::extension::manifest::Render;
use crate::extension::request::{Request, Session, Ui};
use crate::extension::{Entry, EventName, Hook, HookKind};

/// The text in every sample.
const WORD: &str = "sample";

/// Values in one call, at most: a schema can ask for more than anybody could send.
const MAX_VALUES: usize = 100;

/// The hook as it could be asked; none for startup, which is no hook of a session, and for
/// render, which is asked once for each entry.
pub fn hook(kind: HookKind) -> Option<Hook> {
    Some(match kind {
        HookKind::Input => Hook::Input { text: WORD.into() },
        HookKind::BeforeTurn => Hook::BeforeTurn {
            prompt: WORD.into(),
        },
        HookKind::ToolCall => Hook::ToolCall {
            name: "bash".into(),
            arguments: json!({"command": "true"}),
        },
        HookKind::ToolResult => Hook::ToolResult {
            name: "bash".into(),
            content: WORD.into(),
            is_error: false,
        },
        HookKind::CompactSummary => Hook::CompactSummary {
            summary: WORD.into(),
        },
        HookKind::Startup | HookKind::Render => return None,
    })
}

/// The hook for an entry that the extension wants to render.
pub fn render(render: &Render) -> Hook {
    let entry = match render {
        Render::EveryTool => Entry::Tool("bash".into()),
        Render::Tool(name) => Entry::Tool(name.clone()),
        Render::Assistant => Entry::Assistant,
    };
    Hook::Render {
        entry,
        content: WORD.into(),
    }
}

/// What is told with an event.
pub fn event(event: EventName) -> Value {
    match event {
        EventName::SessionStart => json!({"reason": "startup", "path": null}),
        EventName::SessionShutdown => json!({"reason": "quit"}),
        EventName::TurnStart => json!({"prompt": WORD}),
        EventName::TurnEnd => json!({"aborted": false}),
        EventName::ToolStart => {
            json!({"id": WORD, "name": "bash", "arguments": {"command": "true"}})
        }
        EventName::ToolEnd => {
            json!({"id": WORD, "name": "bash", "outcome": "completed", "content": WORD})
        }
        EventName::CompactStart => json!({}),
        EventName::CompactEnd => json!({"summary": WORD}),
        EventName::ModelChange => json!({"model": "offline/script"}),
        EventName::EffortChange => json!({"effort": "high"}),
    }
}

/// The answer to a request of the extension: questions are cancelled, the rest is done.
pub fn reply(request: &Request) -> Value {
    match request {
        Request::Ui(Ui::Confirm { .. }) => json!({"confirmed": false}),
        Request::Ui(ui) if ui.is_question() => json!({"cancelled": true}),
        Request::Session(Session::Info) => json!({
            "path": null, "id": WORD, "name": null, "cwd": "/", "model": "offline/script",
            "effort": null, "running": false, "tools": [], "context_tokens": 0,
            "context_window": 100_000,
        }),
        Request::Ui(_) | Request::Session(_) => json!({}),
    }
}

/// Arguments that fit a tool's schema, as far as it can be told: what is required, and of that
/// the first value that is allowed.
pub fn arguments(schema: &Value) -> Value {
    let mut left = MAX_VALUES;
    value(schema, schema, &mut left)
}

fn value(schema: &Value, root: &Value, left: &mut usize) -> Value {
    if *left == 0 {
        return Value::Null;
    }
    *left -= 1;
    if let Some(given) = given(schema) {
        return given.clone();
    }
    let pointer = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
    if let Some(target) = pointer.and_then(|at| root.pointer(at)) {
        return value(target, root, left);
    }
    let choice = ["oneOf", "anyOf", "allOf"]
        .iter()
        .find_map(|name| schema[*name].get(0));
    if let Some(first) = choice.filter(|_| schema.get("properties").is_none()) {
        return value(first, root, left);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    let count = |name: &str| schema[name].as_u64().map(|n| n.min(1000) as usize);
    match kind {
        Some("integer" | "number") => match &schema["minimum"] {
            Value::Number(least) => Value::Number(least.clone()),
            _ => json!(1),
        },
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        Some("array") => {
            let items = 0..count("minItems").unwrap_or(0).min(*left);
            items.map(|_| value(&schema["items"], root, left)).collect()
        }
        Some("object") => object(schema, root, left),
        None if schema.get("properties").is_some() => object(schema, root, left),
        _ => {
            let repeats = count("minLength").unwrap_or(0).div_ceil(WORD.len()).max(1);
            let text = WORD.repeat(repeats);
            let most = count("maxLength").unwrap_or(text.len());
            Value::from(text.get(..most).unwrap_or(&text))
        }
    }
}

/// A value that the schema itself names.
fn given(schema: &Value) -> Option<&Value> {
    let first = |name: &str| schema[name].get(0);
    let plain = schema.get("const").or_else(|| schema.get("default"));
    plain
        .or_else(|| first("enum"))
        .or_else(|| first("examples"))
}

fn object(schema: &Value, root: &Value, left: &mut usize) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let names = required.filter_map(Value::as_str);
    let mut object = Map::new();
    for name in names {
        object.insert(
            name.to_owned(),
            value(&schema["properties"][name], root, left),
        );
    }
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fit_their_schema() {
        for (property, expected) in [
            (json!({"type": "string"}), json!("sample")),
            (
                json!({"type": "string", "minLength": 8}),
                json!("samplesample"),
            ),
            (json!({"type": "string", "maxLength": 3}), json!("sam")),
            (json!({"type": ["integer", "null"], "minimum": 5}), json!(5)),
            (json!({"type": "boolean"}), json!(false)),
            (json!({"enum": ["b", "a"]}), json!("b")),
            (json!({"const": 4}), json!(4)),
            (
                json!({"type": "array", "items": {"type": "number"}}),
                json!([]),
            ),
            (
                json!({"type": "array", "minItems": 2, "items": {"type": "number"}}),
                json!([1, 1]),
            ),
            (
                json!({"properties": {"a": {}, "b": {}}, "required": ["b"]}),
                json!({"b": "sample"}),
            ),
            (json!({"anyOf": [{"type": "boolean"}, {}]}), json!(false)),
            (json!({"$ref": "#/$defs/n"}), json!(1)),
            (json!({"$ref": "#/nowhere"}), json!("sample")),
            (json!({}), json!("sample")),
        ] {
            let schema = json!({
                "type": "object", "properties": {"x": property, "other": {}}, "required": ["x"],
                "$defs": {"n": {"type": "integer"}},
            });
            assert_eq!(arguments(&schema), json!({"x": expected}), "{schema}");
        }
    }

    #[test]
    fn a_hostile_schema_ends() {
        let round =
            json!({"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]});
        let wide = json!({"type": "array", "minItems": u64::MAX, "items": {"$ref": "#"}});
        for schema in [round, wide, json!({"$ref": "#"}), json!(7), json!(null)] {
            assert!(arguments(&schema).to_string().len() < 100_000, "{schema}");
        }
    }
}
