//! What a manifest holds that e gives no meaning. It is ignored when extensions start, since it
//! may belong to a later e; whoever writes one wants to know of a slip.

use serde_json::Value;

use super::read::render;
use super::{EventName, HookKind, quoted};

/// The fields of the manifest.
const FIELDS: &[&str] = &[
    "name",
    "version",
    "tools",
    "commands",
    "flags",
    "hooks",
    "renders",
    "events",
    "shortcuts",
];

/// The fields of the entries of its lists.
const ENTRIES: &[(&str, &[&str])] = &[
    ("tools", &["name", "description", "parameters", "label"]),
    (
        "commands",
        &["name", "description", "arguments", "completions"],
    ),
    ("flags", &["name", "type", "description", "default"]),
    ("shortcuts", &["key", "description"]),
];

/// Every name in a manifest, as it was sent, that e does not know.
pub fn unknown(manifest: &Value) -> Vec<String> {
    let mut found = fields(manifest, FIELDS, "");
    for (list, known) in ENTRIES {
        for (index, entry) in items(manifest, list).enumerate() {
            found.extend(fields(entry, known, &format!("{list}[{index}].")));
        }
    }
    let hook = |name: &str| HookKind::ALL.iter().any(|kind| kind.name() == name);
    let event = |name: &str| EventName::ALL.iter().any(|event| event.name() == name);
    let entry = |name: &str| render(name).is_some();
    let mut names = |list, is_known: &dyn Fn(&str) -> bool| {
        let names = items(manifest, list).filter_map(Value::as_str);
        let slips = names.filter(|name| !is_known(name));
        found.extend(
            slips.map(|name| format!("`{list}` has {}, which e does not know", quoted(name))),
        );
    };
    names("hooks", &hook);
    names("events", &event);
    names("renders", &entry);
    found
}

fn items<'a>(manifest: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    manifest[list].as_array().into_iter().flatten()
}

fn fields(object: &Value, known: &[&str], prefix: &str) -> Vec<String> {
    let names = object.as_object().into_iter().flatten();
    names
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, _)| {
            format!(
                "the field {} means nothing to e",
                quoted(&format!("{prefix}{name}"))
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn slips_are_named_and_what_is_known_is_not() {
        let manifest = json!({
            "name": "x", "tols": [], "hooks": ["tool_call", "tool_cal", 7],
            "tools": [{"name": "t", "paramters": {}}], "renders": ["assistant", "user"],
            "events": ["turn_end", "turn_ends\u{1b}"],
        });
        assert_eq!(
            unknown(&manifest),
            [
                "the field `tols` means nothing to e",
                "the field `tools[0].paramters` means nothing to e",
                "`hooks` has `tool_cal`, which e does not know",
                "`events` has `turn_ends`, which e does not know",
                "`renders` has `user`, which e does not know",
            ]
        );
        for odd in [
            json!(null),
            json!([1]),
            json!({"name": 1, "tools": 3, "hooks": {}}),
        ] {
            assert!(unknown(&odd).is_empty(), "{odd}");
        }
    }
}
