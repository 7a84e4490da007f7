//! Checks values against the schemas in docs/schema. It knows the keywords that these use and panics at
//! any other, so that no rule is passed over.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

const FILES: &[(&str, &str)] = &[
    (
        "events.schema.json",
        include_str!("../../docs/schema/events.schema.json"),
    ),
    (
        "rpc.schema.json",
        include_str!("../../docs/schema/rpc.schema.json"),
    ),
    (
        "extension.schema.json",
        include_str!("../../docs/schema/extension.schema.json"),
    ),
];

static SCHEMAS: LazyLock<Vec<(&str, Value)>> = LazyLock::new(|| {
    let parse = |text| serde_json::from_str(text).expect("a schema is JSON");
    FILES
        .iter()
        .map(|(name, text)| (*name, parse(text)))
        .collect()
});

/// Fails unless the value fits the schema at `file#/pointer`.
#[track_caller]
pub fn assert_fits(schema: &str, value: &Value) {
    assert!(fits(schema, value), "not as {schema} says: {value}");
}

/// Whether the value fits the schema at `file#/pointer`.
pub fn fits(schema: &str, value: &Value) -> bool {
    let (file, rule) = find("", schema);
    holds(file, rule, value)
}

/// A schema by its reference, and the file it is in; `from` is the file of one without a name.
fn find<'a>(from: &'a str, reference: &str) -> (&'a str, &'static Value) {
    let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    let name = if name.is_empty() { from } else { name };
    let (name, schema) = SCHEMAS
        .iter()
        .find(|(file, _)| *file == name)
        .unwrap_or_else(|| panic!("there is no schema {reference}"));
    let rule = schema.pointer(pointer);
    (
        name,
        rule.unwrap_or_else(|| panic!("there is no {reference}")),
    )
}

fn holds(file: &str, rule: &Value, value: &Value) -> bool {
    match rule {
        Value::Bool(always) => *always,
        Value::Object(rules) => rules
            .iter()
            .all(|(keyword, argument)| keyword_holds(file, rules, keyword, argument, value)),
        other => panic!("no schema: {other}"),
    }
}

fn keyword_holds(
    file: &str,
    rules: &Map<String, Value>,
    keyword: &str,
    argument: &Value,
    value: &Value,
) -> bool {
    let list = || argument.as_array().expect("a list");
    let at_least = |length: Option<usize>| match length {
        Some(length) => length as u64 >= argument.as_u64().expect("a count"),
        None => true,
    };
    match keyword {
        "$schema" | "$id" | "$defs" | "title" | "description" => true,
        "$ref" => {
            let (file, rule) = find(file, argument.as_str().expect("a reference"));
            holds(file, rule, value)
        }
        "type" => match argument {
            Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
            kind => is_of(kind, value),
        },
        "const" => argument == value,
        "enum" => list().contains(value),
        "anyOf" => list().iter().any(|rule| holds(file, rule, value)),
        "not" => !holds(file, argument, value),
        "required" => match value {
            Value::Object(map) => list()
                .iter()
                .all(|name| map.contains_key(name.as_str().expect("a name"))),
            _ => true,
        },
        "properties" => match value {
            Value::Object(map) => map.iter().all(|(name, value)| {
                argument
                    .get(name)
                    .is_none_or(|rule| holds(file, rule, value))
            }),
            _ => true,
        },
        "additionalProperties" => match value {
            Value::Object(map) => {
                let known = rules.get("properties");
                let known = |name: &str| known.is_some_and(|known| known.get(name).is_some());
                map.iter()
                    .filter(|(name, _)| !known(name))
                    .all(|(_, value)| holds(file, argument, value))
            }
            _ => true,
        },
        "items" => match value {
            Value::Array(items) => items.iter().all(|item| holds(file, argument, item)),
            _ => true,
        },
        "minimum" => value.as_f64().is_none_or(|n| Some(n) >= argument.as_f64()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|n| Some(n) > argument.as_f64()),
        "minLength" => at_least(value.as_str().map(|text| text.chars().count())),
        "minItems" => at_least(value.as_array().map(Vec::len)),
        "maxProperties" => value
            .as_object()
            .is_none_or(|map| Some(map.len() as u64) <= argument.as_u64()),
        "pattern" => {
            let pattern = Regex::new(argument.as_str().expect("a pattern")).expect("a pattern");
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        other => panic!("the keyword {other} is not known here"),
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not known here"),
    }
}
