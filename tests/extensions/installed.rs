//! The example extensions as a user has them: installed in the home, under a real run.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use super::examples::examples;
use crate::support::schema::assert_fits;
use crate::support::{Place, Rpc, Run, call, has, say};

/// Puts an example where its head says.
fn install(place: &Place, file: &str) {
    let stem = file.split('.').next().unwrap();
    let text = std::fs::read_to_string(examples().join(file)).unwrap();
    let directory = place.home.join("extensions");
    let directory = match text.contains("./scaffold.mjs") {
        true => directory.join(stem),
        false => directory,
    };
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::copy(examples().join(file), directory.join(file)).unwrap();
    if text.contains("./scaffold.mjs") {
        let helper = "scaffold.mjs";
        std::fs::copy(examples().join(helper), directory.join(helper)).unwrap();
    }
}

/// A run of `e -p --json`, in which the model makes these calls one after another.
fn turn(place: &Place, args: &[&str], calls: &[(&str, Value)]) -> Run {
    let calls = calls
        .iter()
        .map(|(name, arguments)| call(name, arguments.clone()));
    place
        .provider
        .script(calls.collect::<Vec<_>>().into_iter().chain([say("done")]));
    let e = place.json(args).env("E_BIN", env!("CARGO_BIN_EXE_e"));
    let run = e.run().ends_with(0);
    assert_eq!(run.result()["final_output"], "done", "{run:?}");
    for line in run.stdout.lines() {
        assert_fits("events.schema.json", &serde_json::from_str(line).unwrap());
    }
    run
}

/// What the model reads of each call, behind how the call ended.
fn results(run: &Run) -> Vec<String> {
    let ends = run.events("tool_end");
    ends.iter()
        .map(|end| {
            let text = |key: &str| end[key].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", text("outcome"), text("content"))
        })
        .collect()
}

#[test]
fn ping_answers_without_a_request() {
    let place = Place::new();
    install(&place, "ping.sh");
    let run = place.json(&["/ping"]).run().ends_with(0);
    assert_eq!(run.result()["warnings"], json!(["pong"]));
    assert!(place.provider.received().is_empty());
    place.wait_deserted();
}

#[test]
fn everything_in_javascript_at_once() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    for file in [
        "gate.mjs",
        "hello.mjs",
        "plan.mjs",
        "project.mjs",
        "protected.mjs",
        "review.mjs",
    ] {
        install(&place, file);
    }
    place.settings(json!({"extensions": {"hello": {"greeting": "Good day"}}}));
    place.write(".env", "SECRET");
    let calls = [
        ("greet", json!({"who": "Bob"})),
        ("greet", json!({})),
        ("bash", json!({"command": "rm -rf x"})),
        ("read", json!({"path": ".env"})),
        ("bash", json!({"command": "echo fine"})),
    ];
    let run = turn(&place, &["go"], &calls);
    let results = results(&run);
    assert_eq!(results[0], "completed: Good day, Bob");
    assert!(results[1].contains("`who` is missing"), "{results:?}");
    assert!(results[2].starts_with("blocked: the gate stopped this command"));
    assert!(results[3].starts_with("blocked: `.env` looks like a credential"));
    assert_eq!(results[4], "completed: fine");
    assert_eq!(run.events("session_name")[0]["name"], "hello Bob");
    assert_eq!(run.events("tool_batch")[0]["calls"][0]["target"], "Bob");
    assert_eq!(run.stderr, "");
    place.wait_deserted();
}

#[test]
fn plan_mode_by_flag() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    install(&place, "plan.mjs");
    let calls = [
        ("bash", json!({"command": "touch x"})),
        ("propose_plan", json!({"title": "T", "steps": ["a"]})),
    ];
    let run = turn(&place, &["--plan", "go"], &calls);
    let results = results(&run);
    assert!(results[0].starts_with("blocked: "), "{results:?}");
    assert_eq!(results[1], "completed: The user has the plan.");
    assert!(!place.workspace.join("x").exists());
    let first = &place.provider.received()[0];
    assert!(first.system().contains("Plan mode is on."));
    assert_eq!(first.last_user(), "go");
    let mut tools = first.tools();
    tools.sort();
    assert_eq!(tools, ["grep", "propose_plan", "read", "read_result"]);
    place.wait_deserted();
}

#[test]
fn project_moves_the_run() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    install(&place, "project.mjs");
    let app = place.workspace.join("app");
    std::fs::create_dir(&app).unwrap();
    let calls = [("bash", json!({"command": "pwd"}))];
    let run = turn(&place, &["--project", "app", "go"], &calls);
    assert_eq!(results(&run), [format!("completed: {}", app.display())]);
    assert_eq!(place.provider.received()[0].last_user(), "go");
    let run = place
        .json(&["--project", "nowhere", "go"])
        .run()
        .ends_with(1);
    let error = run.result()["error"].to_string();
    assert!(error.contains("is not a directory"), "{error}");
    place.wait_deserted();
}

#[test]
fn a_delegation_inside_a_turn() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    install(&place, "subagent.mjs");
    place.settings(json!({"model": "offline/echo"}));
    let calls = [("delegate", json!({"task": "say this", "agent": "Plan"}))];
    let run = turn(&place, &["go"], &calls);
    let results = results(&run);
    assert!(
        results[0].starts_with("completed: say this\n\nSession log: /"),
        "{results:?}"
    );
    assert_eq!(place.logs().len(), 2);
    place.wait_deserted();
}

#[test]
fn the_bridge_inside_a_turn() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    install(&place, "mcp.mjs");
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extensions/server.mjs");
    let config = json!({"mcp": {"command": "node", "args": [server]}});
    place.settings(json!({"extensions": config}));
    let calls = [("slow", json!({})), ("die", json!({})), ("slow", json!({}))];
    let run = turn(&place, &["go"], &calls);
    let results = results(&run);
    assert!(results[0].starts_with("completed: slow "), "{results:?}");
    assert_eq!(
        results[1],
        "failed: the MCP server ended with status 7: last words"
    );
    assert!(results[2].starts_with("completed: slow ") && results[2] != results[0]);
    // What comes at once may come as one.
    let first = &run.events("tool_output")[0]["chunk"];
    assert!(
        first
            .as_str()
            .is_some_and(|chunk| chunk.starts_with("1/2 é\n")),
        "{first}"
    );
    place.wait_deserted();
}

#[test]
fn tests_in_python_and_words_in_c() {
    if !has("python3", true) || !has("cc", true) {
        return;
    }
    let place = Place::new();
    install(&place, "tests.py");
    let words = place.home.join("extensions/words");
    let source = examples().join("words.c");
    let build = format!("cc -O2 -o '{}' '{}'", words.display(), source.display());
    place.sh(&build).run().ends_with(0);
    place.settings(json!({"extensions": {"tests": {"command": "echo one; exit 3"}}}));
    let calls = [
        ("run_tests", json!({})),
        ("count_words", json!({"text": "a b \"c\" é"})),
    ];
    let run = turn(&place, &["go"], &calls);
    let results = results(&run);
    assert!(
        results[0].starts_with("failed: echo one; exit 3: failed, status 3"),
        "{results:?}"
    );
    assert_eq!(results[1], "completed: 4 words, 9 characters");
    place.wait_deserted();
}

#[test]
fn review_answers_with_the_diff_where_there_is_no_terminal() {
    if !has("node", true) || !has("git", true) {
        return;
    }
    let place = Place::new();
    install(&place, "review.mjs");
    let script = "git init -q . && echo a > a && git add . && \
                  git -c user.name=n -c user.email=e commit -qm x && echo b >> a";
    place.sh(script).run().ends_with(0);
    let run = place.json(&["/review"]).run().ends_with(0);
    let warning = run.result()["warnings"][0].to_string();
    assert!(warning.contains("+b"), "{warning}");
    place.wait_deserted();
}

#[test]
fn a_client_of_rpc_answers_the_gate() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    install(&place, "gate.mjs");
    place.settings(json!({"extensions": {"gate": {"ask": true}}}));
    let mut rpc = Rpc::start(&place, &[]);
    rpc.call("hello", json!({"ask": true}));
    let session = rpc.create(json!({}));
    for (confirmed, outcome) in [(true, "completed"), (false, "blocked")] {
        let command = json!({"command": "rm -rf nothing"});
        place.provider.script([call("bash", command), say("done")]);
        let turn = rpc.begin(&session, "go");
        let number = if confirmed { 1 } else { 2 };
        let ask = rpc.wait(|line| line["ask"] == number);
        assert_fits("rpc.schema.json#/$defs/line", &ask);
        assert_eq!(ask["method"], "ui.confirm");
        let answer = json!({"ask": number, "result": {"confirmed": confirmed}});
        rpc.call("ask.reply", answer);
        rpc.result(&turn);
        rpc.wait(|line| line["type"] == "tool_end" && line["outcome"] == outcome);
    }
    rpc.close();
    rpc.finish();
    place.wait_deserted();
}

/// An extension that asks for everything, notes every line of e, and answers nothing in particular.
const RECORDER: &str = r#"#!/bin/sh
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$TMPDIR/lines"
  id=$(printf '%s' "$line" | sed -n 's/^{"id":\([0-9][0-9]*\),"method".*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      printf '{"id":%s,"result":%s}\n' "$id" "$MANIFEST"
      printf '{"id":[1.0],"method":"ui.confirm","params":{"title":"t"}}\n' ;;
    *'"name":"session_start"'*) printf '{"id":"i","method":"session.info"}\n' ;;
    *'"method":"shutdown"'*) exit 0 ;;
    *) [ -z "$id" ] || printf '{"id":%s,"result":{}}\n' "$id" ;;
  esac
done
"#;

#[test]
fn what_e_writes_is_what_the_schema_says() {
    let place = Place::new();
    let path = place.home.join("extensions/recorder.sh");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, RECORDER).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let events = [
        "session_start",
        "session_shutdown",
        "turn_start",
        "turn_end",
        "tool_start",
        "tool_end",
        "compact_start",
        "compact_end",
        "model_change",
        "effort_change",
    ];
    let hooks = [
        "startup",
        "input",
        "before_turn",
        "tool_call",
        "tool_result",
        "compact_summary",
        "render",
    ];
    let manifest = json!({
        "name": "recorder",
        "hooks": hooks, "events": events, "renders": ["assistant", "tool:*"],
        "flags": [{"name": "bare", "type": "string"}, {"name": "plan"}],
        "commands": [{"name": "note"}],
        "tools": [{"name": "noted"}],
    });
    let steps = [
        call("noted", json!({"any": [1]})),
        call("bash", json!({"command": "echo hi; exit 1"})),
        say("done"),
    ];
    place.provider.script(steps);
    let run = |args: &[&str]| {
        let e = place.json(args).env("MANIFEST", manifest.to_string());
        e.run().ends_with(0);
    };
    run(&["--plan", "go", "--bare"]);
    run(&["/note it"]);
    let lines = std::fs::read_to_string(place.root().join("tmp/lines")).unwrap();
    for line in lines.lines() {
        let value = serde_json::from_str(line).unwrap();
        assert_fits("extension.schema.json#/$defs/from_e", &value);
    }
    for method in [
        "initialize",
        "hook.startup",
        "flags",
        "hook.input",
        "hook.before_turn",
        "hook.tool_call",
        "tool_call",
        "hook.tool_result",
        "command",
        "shutdown",
    ] {
        assert!(
            lines.contains(&format!("\"method\":\"{method}\"")),
            "no {method}: {lines}"
        );
    }
    for event in &events[..6] {
        assert!(
            lines.contains(&format!("\"name\":\"{event}\"")),
            "no {event}: {lines}"
        );
    }
    assert!(
        lines.contains("{\"id\":[1.0],\"error\":\"no ui\"}"),
        "{lines}"
    );
    assert!(
        lines.contains("{\"id\":\"i\",\"result\":{\"path\":"),
        "{lines}"
    );
}
