//! Which files are started, in which order, and what they are told first.

use serde_json::{Value, json};

use super::{hooked, tooled};
use crate::support::{Actor, Place, call, say};

/// A shell extension whose one command has its name.
fn named(name: &str) -> String {
    format!(
        r#"#!/bin/sh
while IFS= read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{{"id":1,"result":{{"name":"{name}","tools":[{{"name":"{name}"}}]}}}}' ;;
    *'"shutdown"'*) exit 0 ;;
  esac
done
"#
    )
}

/// The tools of extensions that the model is offered, in their order.
fn offered(place: &Place) -> Vec<String> {
    place.p(&["go"]).run().ends_with(0);
    let tools = place.provider.received().pop().expect("a request").tools();
    let built_in = ["read", "write", "edit", "bash", "grep", "read_result"];
    tools
        .into_iter()
        .filter(|name| !built_in.contains(&name.as_str()))
        .collect()
}

#[test]
fn executables_and_entry_points_in_path_order() {
    let place = Place::new();
    for (path, name) in [
        ("b.mjs", "top"),
        ("a/index.sh", "index"),
        ("a/a.sh", "not-this"),
        ("c/c.py", "same-name"),
        ("c/other", "not-this"),
        ("d/only", "only"),
        ("e/index.a", "first-index"),
        ("e/index.b", "not-this"),
        ("f/one", "not-this"),
        ("f/two", "not-this"),
        (".hidden", "not-this"),
    ] {
        place.script(path, &named(name));
    }
    let extensions = place.home.join("extensions");
    std::fs::write(extensions.join("d/helper.txt"), "data").unwrap();
    std::fs::write(extensions.join("z.sh"), named("not-executable")).unwrap();
    let expected = ["index", "top", "same-name", "only", "first-index"];
    assert_eq!(offered(&place), expected);
    place.wait_deserted();
}

#[test]
fn a_workspace_contributes_no_extension() {
    let place = Place::new();
    let path = place.script("x.sh", &named("x"));
    let inside = place.workspace.join(".e/extensions");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::rename(path, inside.join("x.sh")).unwrap();
    assert_eq!(offered(&place), [""; 0]);
}

#[test]
fn the_handshake_tells_who_e_is_and_where() {
    let place = Place::new();
    let config = json!({"first": {"deep": [1, {"a": null}]}, "other": true});
    place.settings(json!({"extensions": config}));
    let first = hooked(&place, "first", "input").play();
    place.p(&["go"]).run().ends_with(0);
    let line = first.wait("initialize");
    let keys: Vec<&str> = line
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys, ["id", "method", "params"]);
    assert_eq!(line["id"], 1);
    let expected = json!({
        "protocol": 1,
        "capabilities": [
            "tool.update", "events", "hooks", "display", "ui", "session", "shortcuts", "pane",
            "widget", "render",
        ],
        "ui": false,
        "e_version": env!("CARGO_PKG_VERSION"),
        "cwd": place.workspace,
        "extensions_config": config,
    });
    assert_eq!(line["params"], expected);
}

#[test]
fn without_settings_the_configuration_is_empty() {
    let place = Place::new();
    let first = hooked(&place, "first", "input").play();
    place.p(&["go"]).run().ends_with(0);
    let params = first.wait("initialize")["params"].clone();
    assert_eq!(params["extensions_config"], json!({}));
}

#[test]
fn it_runs_in_the_workspace_with_the_environment_as_it_is() {
    let place = Place::new();
    let seen = place.root().join("seen");
    place.script(
        "a.sh",
        &format!(
            "#!/bin/sh\n{{ pwd; echo \"$SEEN $#\"; }} >'{}'\n",
            seen.display()
        ),
    );
    place.p(&["go"]).env("SEEN", "a key").run().ends_with(0);
    let expected = format!("{}\na key 0\n", place.workspace.display());
    assert_eq!(std::fs::read_to_string(seen).unwrap(), expected);
}

#[test]
fn one_process_serves_the_whole_session() {
    let place = Place::new();
    let tool = tooled(&place, "t", "t")
        .says("tool_call", json!({"content": "x"}))
        .play();
    place
        .provider
        .script([call("t", json!({})), call("t", json!({})), say("done")]);
    place.p(&["go"]).run().ends_with(0);
    assert_eq!(tool.pids().len(), 1);
    let ids: Vec<Value> = tool
        .lines()
        .iter()
        .filter_map(|line| line.get("id").cloned())
        .collect();
    assert_eq!(ids, [1, 2, 3]);
}

#[test]
fn no_extensions_starts_none() {
    let place = Place::new();
    let actor = hooked(&place, "a", "startup").play();
    place.p(&["--no-extensions", "go"]).run().ends_with(0);
    assert!(actor.pids().is_empty());
}

#[test]
fn commands_that_manage_e_start_none() {
    let place = Place::new();
    let actor = hooked(&place, "a", "startup").play();
    for args in [
        &["doctor"][..],
        &["providers"],
        &["models"],
        &["auth", "list"],
        &["docs"],
        &["trust", "."],
        &["untrust", "."],
        &["--version"],
    ] {
        place.e().args(args).run();
    }
    assert!(actor.pids().is_empty());
}

#[test]
fn help_lists_their_flags_and_asks_no_hook() {
    let place = Place::new();
    let manifest = json!({
        "name": "a",
        "hooks": ["startup"],
        "flags": [
            {"name": "project", "type": "string", "description": "relaunch in this directory"},
            {"name": "-x, --example", "description": "not parsed by e"},
        ],
    });
    let actor = Actor::new(&place, "a", manifest).play();
    for args in [&["--help"][..], &["help"]] {
        let help = place.e().args(args).run().ends_with(0).stdout;
        for text in [
            "--project",
            "relaunch in this directory",
            "-x, --example",
            "not parsed by e",
        ] {
            assert!(help.contains(text), "{help}");
        }
    }
    assert_eq!(actor.pids().len(), 2);
    assert!(actor.params("hook.startup").is_empty());
}

#[test]
fn the_shell_example_works_as_written() {
    let place = Place::new();
    place.script(
        "ping.sh",
        r#"#!/bin/sh
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*)
      printf '{"id":%s,"result":{"name":"ping","version":"1","commands":[{"name":"ping","description":"are you there"}]}}\n' "$id" ;;
    *'"command"'*)
      printf '{"id":%s,"result":{"notice":"pong"}}\n' "$id" ;;
    *'"shutdown"'*) exit 0 ;;
  esac
done
"#,
    );
    let run = place.json(&["/ping"]).run().ends_with(0);
    assert_eq!(run.result()["warnings"], json!(["pong"]));
    assert!(place.provider.received().is_empty());
}
