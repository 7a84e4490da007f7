//! The guide to extensions: its programs run, and its messages are of the protocol.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::examples::examples;
use crate::support::schema::{assert_fits, fits};
use crate::support::{Place, call, has, say};

const GUIDE: &str = include_str!("../../docs/guides/extend/extensions.md");
const SCHEMA: &str = "extension.schema.json#/$defs";

/// The code blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let starts = GUIDE.split(fence.as_str()).skip(1);
    starts
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

fn install(place: &Place, path: &str, program: &str) {
    let path = place.home.join("extensions").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, program).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn the_command_in_shell_is_the_example() {
    let example = std::fs::read_to_string(examples().join("ping.sh")).unwrap();
    assert_eq!(blocks("sh")[0], example);
}

#[test]
fn the_tool_in_python_rolls() {
    if !has("python3", true) {
        return;
    }
    let place = Place::new();
    install(&place, "roll.py", blocks("python")[0]);
    place.provider.script([
        call("roll", json!({"sides": 1, "count": 3})),
        call("roll", json!({"sides": 0})),
        call("roll", json!({"sides": 1})),
        say("done"),
    ]);
    let run = place.json(&["go"]).run().ends_with(0);
    let ends = run.events("tool_end");
    assert_eq!(ends[0]["content"], "[1, 1, 1], together 3");
    assert_eq!(ends[0]["summary"], "3");
    // As the guide says: what raises ends the program, e tells once, and calls fail.
    assert_eq!(
        (&ends[1]["outcome"], &ends[2]["outcome"]),
        (&json!("failed"), &json!("failed"))
    );
    assert_eq!(run.result()["final_output"], "done");
    assert!(run.stderr.contains("roll.py"), "{run:?}");
    place.wait_deserted();
}

#[test]
fn the_hook_in_javascript_fails_open_and_is_told() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    install(&place, "careful/careful.mjs", blocks("js")[0]);
    let helper = examples().join("scaffold.mjs");
    std::fs::copy(helper, place.home.join("extensions/careful/scaffold.mjs")).unwrap();
    let write = call("write", json!({"path": "a", "content": "b"}));
    place.provider.script([write, say("done")]);
    let run = place.p(&["go"]).run().ends_with(0);
    assert_eq!(place.read("a"), "b");
    assert!(run.stderr.contains("tool_call"), "{run:?}");
    place.wait_deserted();
}

#[test]
fn every_message_is_of_the_protocol() {
    let json: Vec<Value> = blocks("json")
        .iter()
        .map(|block| serde_json::from_str(block).unwrap_or_else(|e| panic!("{e}: {block}")))
        .collect();
    let [initialize, manifest, flags, startup, pane] = &json[..] else {
        panic!("{} blocks", json.len());
    };
    assert_fits(&format!("{SCHEMA}/from_e"), initialize);
    assert_fits(&format!("{SCHEMA}/result:initialize"), manifest);
    assert_fits(&format!("{SCHEMA}/from_e"), flags);
    assert_fits(&format!("{SCHEMA}/result:hook.startup"), startup);
    let request = json!({"id": 1, "method": "ui.pane", "params": pane});
    assert_fits(&format!("{SCHEMA}/ui.pane"), &request);
    for line in blocks("jsonl").iter().flat_map(|block| block.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        let known = ["from_e", "from_extension"];
        let known = known.map(|side| fits(&format!("{SCHEMA}/{side}"), &line));
        assert!(known.contains(&true), "{line}");
    }
}

/// Every method of the schema stands in the guide, and so does every event.
#[test]
fn nothing_is_left_out() {
    let schema = include_str!("../../docs/schema/extension.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    for (name, rule) in schema["$defs"].as_object().unwrap() {
        let method = rule["properties"]["method"]["const"].as_str();
        let word = method.or_else(|| name.strip_prefix("event:"));
        assert!(word.is_none_or(|word| GUIDE.contains(word)), "{name}");
    }
}
