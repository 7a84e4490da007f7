//! Manifests of every kind, the hostile ones included.

use super::read::{MAX_SCHEMA, empty_schema};
use super::*;
use serde_json::json;

fn good(value: Value) -> (Manifest, Vec<String>) {
    parse(&value).unwrap()
}

fn tool_with(parameters: Value) -> Tool {
    let (manifest, _) =
        good(json!({"name": "x", "tools": [{"name": "t", "parameters": parameters}]}));
    manifest.tools[0].clone()
}

#[test]
fn a_name_is_enough() {
    let (manifest, broken) = good(json!({"name": " my\x1b[1m-ext\n"}));
    assert_eq!(manifest.name, "my-ext");
    assert_eq!(manifest.events, BTreeSet::from([EventName::TurnEnd]));
    assert!(manifest.tools.is_empty() && manifest.hooks.is_empty() && broken.is_empty());
    let (manifest, _) = good(json!({"name": "x", "events": [], "tools": null, "version": null}));
    assert!(manifest.events.is_empty());
}

#[test]
fn a_whole_manifest() {
    let (manifest, broken) = good(json!({
        "name": "my-ext",
        "version": "1.0",
        "tools": [{
            "name": "greet",
            "description": "say hi\nand\x07 bye",
            "parameters": {"type": "object", "properties": {"who": {"type": "string"}}},
            "label": {"category": "greet", "running": "Greeting", "completed": "Greeted", "target": "who"},
        }, {"name": "bare", "label": {}}],
        "commands": [{"name": "ping", "description": "a\nb", "arguments": "<env>", "completions": true}],
        "flags": [
            {"name": "project", "type": "string", "description": "dir", "default": "x"},
            {"name": "plan", "type": "boolean", "default": 7},
            {"name": "-x, --example"},
        ],
        "hooks": ["tool_call", "input", "later_hook", "startup"],
        "renders": ["tool:bash", "tool:*", "assistant", "tool:a b", "picture"],
        "events": ["tool_end", "moon_rise"],
        "shortcuts": [{"key": "ctrl+alt+g", "description": "greet"}],
        "later": {},
    }));
    let tool = &manifest.tools[0];
    assert_eq!(tool.description, "say hi\nand bye");
    assert_eq!(tool.label.as_ref().unwrap().target.as_deref(), Some("who"));
    assert_eq!(manifest.tools[1].parameters, empty_schema());
    assert_eq!(
        manifest.tools[1].label.as_ref().unwrap().running,
        "Running bare"
    );
    assert_eq!(
        manifest.commands,
        [Command {
            name: "ping".into(),
            description: "a b".into(),
            arguments: Some("<env>".into()),
            completions: true,
        }]
    );
    let flags: Vec<_> = manifest
        .flags
        .iter()
        .map(|f| (f.name.as_str(), f.kind, f.clean, f.default.is_some()))
        .collect();
    assert_eq!(
        flags,
        [
            ("project", FlagKind::Text, true, true),
            ("plan", FlagKind::Boolean, true, false),
            ("-x, --example", FlagKind::Boolean, false, false),
        ]
    );
    let hooks: Vec<_> = manifest.hooks.iter().map(|hook| hook.name()).collect();
    assert_eq!(hooks, ["startup", "input", "tool_call", "render"]);
    assert_eq!(
        manifest.renders,
        [
            Render::Tool("bash".into()),
            Render::EveryTool,
            Render::Assistant
        ]
    );
    assert!(manifest.renders_tool("anything") && manifest.renders_assistant());
    assert_eq!(manifest.events, BTreeSet::from([EventName::ToolEnd]));
    assert_eq!(
        broken,
        ["`flags[1].default` is not of the flag's type and is not shown"]
    );
}

#[test]
fn a_wrong_type_names_its_field() {
    let cases = [
        (json!(null), "the manifest is not an object"),
        (json!(["x"]), "the manifest is not an object"),
        (json!({}), "`name` is missing"),
        (json!({"name": 5}), "`name` must be a string"),
        (json!({"name": " "}), "`name` must not be blank"),
        (json!({"name": "\x07"}), "`name` must not be blank"),
        (
            json!({"name": "x", "version": 1}),
            "`version` must be a string",
        ),
        (
            json!({"name": "x", "tools": "greet"}),
            "`tools` must be a list",
        ),
        (
            json!({"name": "x", "tools": ["greet"]}),
            "`tools[0]` must be an object",
        ),
        (
            json!({"name": "x", "tools": [{}]}),
            "`tools[0].name` is missing",
        ),
        (
            json!({"name": "x", "tools": [{"name": 3}]}),
            "`tools[0].name` must be a string",
        ),
        (
            json!({"name": "x", "tools": [{"name": "t", "label": 1}]}),
            "`tools[0].label` must be an object",
        ),
        (
            json!({"name": "x", "tools": [{"name": "t", "label": {"running": 1}}]}),
            "`tools[0].label.running` must be a string",
        ),
        (
            json!({"name": "x", "commands": [{"name": "c", "completions": 1}]}),
            "`commands[0].completions` must be true or false",
        ),
        (
            json!({"name": "x", "flags": [{"name": "f", "type": 1}]}),
            "`flags[0].type` must be a string",
        ),
        (
            json!({"name": "x", "shortcuts": [{"key": 1}]}),
            "`shortcuts[0].key` must be a string",
        ),
        (
            json!({"name": "x", "hooks": "input"}),
            "`hooks` must be a list",
        ),
        (
            json!({"name": "x", "hooks": ["input", 1]}),
            "`hooks[1]` must be a string",
        ),
        (
            json!({"name": "x", "events": {}}),
            "`events` must be a list",
        ),
        (
            json!({"name": "x", "renders": [null]}),
            "`renders[0]` must be a string",
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(parse(&value), Err(expected.to_owned()), "{value}");
    }
    let several = json!({
        "name": 5, "tools": [{"name": 1}, {"name": "ok"}, {}], "hooks": "input", "flags": 1,
    });
    let expected = "`name` must be a string; `hooks` must be a list; \
        `tools[0].name` must be a string; `tools[2].name` is missing; `flags` must be a list";
    assert_eq!(parse(&several), Err(expected.to_owned()));
    let many = parse(&json!({"name": "x", "tools": vec![1; 100]})).unwrap_err();
    assert!(
        many.ends_with("; `tools[7]` must be an object; and 92 more like this"),
        "{many}"
    );
}

#[test]
fn what_cannot_be_used_is_dropped_with_its_rule() {
    let long = "x".repeat(65);
    let names = ["", "a b", "a.b", "é", "a\n", long.as_str()];
    for name in names {
        let (manifest, broken) =
            good(json!({"name": "x", "tools": [{"name": name}, {"name": "ok"}]}));
        assert_eq!(manifest.tools.len(), 1, "{name}");
        assert!(
            broken[0].starts_with("`tools[0].name`: the tool `"),
            "{broken:?}"
        );
    }
    for name in [
        "",
        "a b",
        "a/b",
        "a\u{a0}b",
        "a\x1bc",
        "a\u{202e}b",
        long.as_str(),
    ] {
        let (manifest, broken) =
            good(json!({"name": "x", "commands": [{"name": name}, {"name": "üß"}]}));
        assert_eq!(manifest.commands.len(), 1, "{name}");
        assert!(
            broken[0].starts_with("`commands[0].name`: the command `"),
            "{broken:?}"
        );
    }
    let (manifest, broken) = good(json!({
        "name": "x",
        "tools": [{"name": "t", "description": "one"}, {"name": "t", "description": "two"}],
        "flags": [{"name": "f", "type": "number"}, {"name": ""}, {"name": "-f"}],
        "shortcuts": [{"key": " "}],
    }));
    assert_eq!(
        (manifest.tools.len(), manifest.tools[0].description.as_str()),
        (1, "one")
    );
    assert_eq!(broken.len(), 4, "{broken:?}");
    assert!(manifest.shortcuts.is_empty() && !manifest.flags[0].clean);
}

#[test]
fn lists_are_bounded() {
    let tools: Vec<_> = (0..300).map(|n| json!({"name": format!("t{n}")})).collect();
    let bad: Vec<_> = (0..10_000).map(|_| json!({"name": "a b"})).collect();
    let (manifest, broken) = good(json!({"name": "x", "tools": tools, "commands": bad}));
    assert_eq!((manifest.tools.len(), manifest.commands.len()), (256, 0));
    assert_eq!(broken.len(), 258);
    assert_eq!(
        broken[0],
        "`tools` has 300 entries; only the first 256 are used"
    );
}

#[test]
fn texts_are_bounded() {
    let huge = "w\x1b[1m".repeat(1 << 20);
    let (manifest, _) = good(json!({
        "name": huge,
        "tools": [{"name": "t", "description": huge, "label": {"running": huge, "target": huge}}],
        "commands": [{"name": "c", "description": huge, "arguments": huge}],
        "flags": [{"name": huge, "description": huge}],
        "shortcuts": [{"key": huge, "description": huge}],
    }));
    assert!(format!("{manifest:?}").len() < 20 * 1024);
}

#[test]
fn schemas_are_always_object_schemas() {
    let deep = (0..100).fold(json!({}), |value, _| json!({"a": value}));
    let cases = [
        (json!(null), true),
        (json!({}), true),
        (json!({"type": "object"}), true),
        (json!({"properties": {"a": {}}}), true),
        (json!({"properties": deep}), true),
        (json!({"type": "string"}), false),
        (json!({"type": ["object"]}), false),
        (json!({"properties": []}), false),
        (json!([]), false),
        (json!("object"), false),
        (json!({"description": "x".repeat(MAX_SCHEMA)}), false),
    ];
    for (schema, fits) in cases {
        let (manifest, broken) =
            good(json!({"name": "x", "tools": [{"name": "t", "parameters": schema}]}));
        let parameters = &manifest.tools[0].parameters;
        assert_eq!(parameters["type"], "object");
        assert!(parameters["properties"].is_object());
        assert_eq!(broken.is_empty(), fits, "{broken:?}");
    }
}

#[test]
fn arguments_are_checked_at_the_top() {
    let tool = tool_with(json!({
        "type": "object",
        "properties": {
            "s": {"type": "string"},
            "i": {"type": "integer"},
            "n": {"type": "number"},
            "b": {"type": "boolean"},
            "o": {"type": "object", "required": ["deep"]},
            "l": {"type": "array"},
            "m": {"type": ["string", "null"]},
            "x": {"type": "later"},
            "y": {"enum": [1]},
            "z": 5,
        },
        "required": ["s", 7],
    }));
    let cases = [
        (json!({"s": ""}), ""),
        (
            json!({"s": "", "i": 3, "n": 1.5, "b": false, "o": {}, "l": [], "m": null, "x": 1, "y": 2, "z": 3, "other": 4}),
            "",
        ),
        (json!({"s": "", "i": -3.0}), ""),
        (json!({"s": "", "n": 3}), ""),
        (json!({}), "`s` is missing; nothing was run"),
        (
            json!({"s": null}),
            "`s` must be of type string; nothing was run",
        ),
        (
            json!({"s": 1}),
            "`s` must be of type string; nothing was run",
        ),
        (
            json!({"s": "", "i": 1.5}),
            "`i` must be of type integer; nothing was run",
        ),
        (
            json!({"s": "", "i": "1"}),
            "`i` must be of type integer; nothing was run",
        ),
        (
            json!({"s": "", "n": true}),
            "`n` must be of type number; nothing was run",
        ),
        (
            json!({"s": "", "b": "true"}),
            "`b` must be of type boolean; nothing was run",
        ),
        (
            json!({"s": "", "o": []}),
            "`o` must be of type object; nothing was run",
        ),
        (
            json!({"s": "", "l": {}}),
            "`l` must be of type array; nothing was run",
        ),
        (
            json!({"s": "", "m": 1}),
            "`m` must be of type string or null; nothing was run",
        ),
        (
            json!("raw text"),
            "the arguments are not a JSON object; nothing was run",
        ),
        (
            json!(null),
            "the arguments are not a JSON object; nothing was run",
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(
            tool.check(&arguments).err().unwrap_or_default(),
            expected,
            "{arguments}"
        );
    }
    assert_eq!(
        tool_with(json!({"required": "s", "properties": {}})).check(&json!({"a": 1})),
        Ok(())
    );
    let name = "n\n".repeat(1 << 20);
    let long = tool_with(json!({"required": [name.get(..1000)]}));
    assert!(long.check(&json!({})).unwrap_err().len() < 200);
}

#[test]
fn hook_names_are_those_of_their_methods() {
    for kind in HookKind::ALL {
        assert_eq!(format!("hook.{}", kind.name()), kind.method());
    }
}
