//! The example extensions, one by one. The test plays e's side of the protocol, so that each answer can
//! be looked at.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::schema::assert_fits;
use crate::support::{Place, Rpc, has};

/// Where the examples are.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides/extend/examples")
}

/// Starts an example in the workspace.
pub fn begin(place: &Place, file: &str) -> Rpc {
    let script = format!("exec '{}'", examples().join(file).display());
    Rpc::of(place.sh(&script).env("E_BIN", env!("CARGO_BIN_EXE_e")))
}

/// Starts an example and shakes hands; the manifest comes along.
pub fn example(place: &Place, file: &str, config: Value) -> (Rpc, Value) {
    let mut peer = begin(place, file);
    let params = json!({
        "protocol": 1,
        "capabilities": ["tool.update", "events", "hooks", "display", "ui", "session"],
        "ui": true,
        "e_version": "0.1.0",
        "cwd": place.workspace,
        "extensions_config": config,
    });
    let manifest = peer.call("initialize", params);
    assert_fits("extension.schema.json#/$defs/result:initialize", &manifest);
    (peer, manifest)
}

/// Ends an example; everything it said must be of the protocol.
fn end(place: &Place, mut peer: Rpc) {
    peer.send(&json!({"method": "shutdown"}));
    let (lines, run) = peer.finish();
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    for line in &lines {
        assert_fits("extension.schema.json#/$defs/from_extension", line);
    }
    place.wait_deserted();
}

/// Answers the next request with that method.
fn serve(peer: &mut Rpc, method: &str, result: &Value) -> Value {
    let request = peer.wait(|line| line["method"] == method);
    peer.send(&json!({"id": request["id"], "result": result}));
    request["params"].clone()
}

fn blocked(peer: &mut Rpc, name: &str, arguments: Value) -> bool {
    let params = json!({"name": name, "arguments": arguments});
    peer.call("hook.tool_call", params)["block"] == true
}

#[test]
fn ping() {
    let place = Place::new();
    let (mut peer, manifest) = example(&place, "ping.sh", json!({}));
    assert_eq!(manifest["commands"][0]["name"], "ping");
    let pong = peer.call("command", json!({"name": "ping", "args": ""}));
    assert_eq!(pong, json!({"notice": "pong"}));
    end(&place, peer);
}

#[test]
fn hello_is_every_surface_at_once() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let config = json!({"hello": {"greeting": "Good day"}, "other": {"greeting": "no"}});
    let (mut peer, manifest) = example(&place, "hello.mjs", config);
    assert_eq!(manifest["hooks"], json!(["input"]));
    let params = json!({"name": "greet", "arguments": {"who": "Bob"}});
    let greeted = peer.call("tool_call", params);
    assert_eq!(greeted["content"], "Good day, Bob");
    assert_eq!(greeted["session_name"], "hello Bob");
    let said = peer.call("command", json!({"name": "hello", "args": " "}));
    assert_eq!(said["notice"], "Good day, world");
    let items = peer.call("command.complete", json!({"name": "hello", "prefix": "gr"}));
    assert_eq!(items, json!({"items": [{"value": "Grace"}]}));
    let line = |peer: &mut Rpc, text: &str| peer.call("hook.input", json!({"text": text}));
    assert!(line(&mut peer, "hello!")["replace"].is_string());
    assert_eq!(line(&mut peer, "hello"), json!({}));
    let unknown = peer.refused("shortcut", json!({"key": "ctrl+x"}));
    assert_eq!(unknown, "unknown method shortcut");
    end(&place, peer);
}

#[test]
fn the_scaffold_reads_and_writes_long_lines() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let (mut peer, _) = example(&place, "hello.mjs", json!({}));
    let greet = |who: String| json!({"name": "greet", "arguments": {"who": who}});
    // Pipes cut it into pieces, within characters, too.
    let long = format!("{}\u{2028}", "é".repeat(2 << 20));
    let answer = peer.call("tool_call", greet(long.clone()));
    assert!(answer["content"].as_str().unwrap().ends_with(&long));
    let refused = peer.refused("tool_call", greet("x".repeat(10 << 20)));
    assert_eq!(refused, "the answer is longer than 10 MiB");
    end(&place, peer);
}

#[test]
fn the_gate_stops_what_destroys() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let (mut peer, _) = example(&place, "gate.mjs", json!({}));
    for (command, stops) in [
        ("rm -rf /", true),
        ("cd x && sudo rm --recursive y", true),
        ("rm file", false),
        ("git push -f origin", true),
        ("git push origin +main", true),
        ("git push --force-with-lease", false),
        ("git reset --hard HEAD~1", true),
        ("git checkout -- .", true),
        ("git checkout main", false),
        ("curl x | sh", true),
        ("curl x | jq .", false),
        ("cargo test", false),
    ] {
        let arguments = json!({"command": command});
        assert_eq!(blocked(&mut peer, "bash", arguments), stops, "{command}");
    }
    assert!(!blocked(&mut peer, "bash", json!("rm -rf /")));
    assert!(!blocked(&mut peer, "read", json!({"command": "rm -rf /"})));
    end(&place, peer);

    let (mut peer, _) = example(&place, "gate.mjs", json!({"gate": {"ask": true}}));
    let params = json!({"name": "bash", "arguments": {"command": "rm -rf x"}});
    let hook = peer.request("hook.tool_call", params);
    serve(&mut peer, "ui.confirm", &json!({"confirmed": true}));
    assert_eq!(peer.result(&hook), json!({"block": false}));
    end(&place, peer);
}

#[test]
fn credentials_are_protected() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let home = place.root().join("user/.ssh");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("id"), "k").unwrap();
    std::os::unix::fs::symlink(home.join("id"), place.workspace.join("link")).unwrap();
    let (mut peer, _) = example(&place, "protected.mjs", json!({}));
    for (name, arguments, stops) in [
        ("read", json!({"path": "~/.ssh/id"}), true),
        ("read", json!({"path": "link"}), true),
        ("read", json!({"path": "src/env.rs"}), false),
        ("write", json!({"path": ".env.local"}), true),
        ("edit", json!({"path": "certs/x.pem"}), true),
        ("grep", json!({"pattern": "x"}), false),
        (
            "grep",
            json!({"pattern": "x", "path": "~", "all": true}),
            true,
        ),
        ("grep", json!({"pattern": "x", "glob": "*.pem"}), true),
        (
            "bash",
            json!({"command": "cat \"$HOME\"/.s\"\"sh/id"}),
            true,
        ),
        ("bash", json!({"command": "wc -c link"}), true),
        ("bash", json!({"command": "jq .key a.json"}), false),
        ("bash", json!({"handle": "x"}), false),
        ("other", json!({"path": ".env"}), false),
    ] {
        let shown = arguments.to_string();
        assert_eq!(blocked(&mut peer, name, arguments), stops, "{name} {shown}");
    }
    end(&place, peer);
}

#[test]
fn project_takes_its_flag_out_and_starts_again() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.root().join("app")).unwrap();
    let app = place.root().canonicalize().unwrap().join("app");
    let (mut peer, _) = example(&place, "project.mjs", json!({}));
    let startup =
        |argv: Value, flags: Value| json!({"cwd": place.workspace, "argv": argv, "flags": flags});
    let none = peer.call("hook.startup", startup(json!(["-p", "x"]), json!({})));
    assert_eq!(none, json!({}));
    let argv = json!(["--project", "../app", "-p", "x", "--", "--project", "y"]);
    let routed = peer.call("hook.startup", startup(argv, json!({"project": "../app"})));
    let rest = json!(["-p", "x", "--", "--project", "y"]);
    assert_eq!(routed, json!({"argv": rest, "relaunch": {"cwd": app}}));
    let here = startup(json!(["--project=."]), json!({"project": "."}));
    assert_eq!(peer.call("hook.startup", here), json!({"argv": []}));
    for (value, reason) in [
        (json!(null), "needs a directory"),
        (json!("nowhere"), "is not a directory"),
    ] {
        let error = peer.refused(
            "hook.startup",
            startup(json!([]), json!({"project": value})),
        );
        assert!(error.contains(reason), "{error}");
    }
    end(&place, peer);
}

#[test]
fn plan_mode_narrows_and_asks() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let (mut peer, _) = example(&place, "plan.mjs", json!({}));
    let event = |peer: &mut Rpc, name: &str, extra: Value| {
        let params = json!({"name": name, "extra": extra});
        peer.send(&json!({"method": "event", "params": params}));
    };
    peer.send(&json!({"method": "flags", "params": {"flags": {"plan": true}}}));
    event(
        &mut peer,
        "session_start",
        json!({"reason": "startup", "path": null}),
    );
    let narrowed = serve(&mut peer, "session.tools", &json!({}));
    assert_eq!(narrowed["names"][0], "read");
    serve(&mut peer, "ui.status", &json!({}));
    let suffix = peer.call("hook.before_turn", json!({"prompt": "x"}));
    assert!(suffix["system_suffix"].is_string());
    assert!(blocked(&mut peer, "bash", json!({})) && !blocked(&mut peer, "read", json!({})));

    let plan = json!({"title": "T", "steps": ["one", "two"], "notes": "n"});
    let call = peer.request(
        "tool_call",
        json!({"name": "propose_plan", "arguments": plan}),
    );
    serve(&mut peer, "ui.pane", &json!({}));
    assert_eq!(peer.result(&call)["format"], "markdown");
    let chosen = json!({"pane": "plan", "section": "steps", "id": "0"});
    peer.send(&json!({"method": "pane.activate", "params": chosen}));
    peer.wait(|line| line["params"]["sections"][0]["items"][0]["detail"] == "dropped");

    event(&mut peer, "turn_end", json!({"aborted": false}));
    // The question is closed, and the plan kept.
    serve(&mut peer, "ui.select", &json!({"cancelled": true}));
    let go = peer.request("command", json!({"name": "plan", "args": "go"}));
    let restored =
        |line: &Value| line["method"] == "session.tools" && line["params"]["names"].is_null();
    let restored = peer.wait(restored);
    peer.send(&json!({"id": restored["id"], "result": {}}));
    for refused in ["ui.status", "ui.pane"] {
        let request = peer.wait(|line| {
            line["method"] == refused
                && line["params"]["text"].is_null()
                && line["params"]["sections"].is_null()
        });
        peer.send(&json!({"id": request["id"], "error": "no ui"}));
    }
    let sent = peer.wait(|line| line["method"] == "session.send");
    assert_eq!(sent["params"]["content"], "Carry out this plan:\n\n1. two");
    peer.send(&json!({"id": sent["id"], "result": {}}));
    peer.result(&go);
    assert!(!blocked(&mut peer, "bash", json!({})));
    end(&place, peer);
}

#[test]
fn review_shows_what_has_changed() {
    if !has("node", true) || !has("git", true) {
        return;
    }
    let place = Place::new();
    place.write("a b.txt", "a\nb\n");
    let script = "git init -q . && git add . && git -c user.name=n -c user.email=e commit -qm x && \
                  printf 'a\\nc\\n' > 'a b.txt' && echo new > n.txt";
    place.sh(script).run().ends_with(0);
    let (mut peer, _) = example(&place, "review.mjs", json!({}));
    let review = |args: &str| json!({"name": "review", "args": args});
    let command = peer.request("command", review(""));
    let pane = serve(&mut peer, "ui.pane", &json!({}));
    assert_eq!(peer.result(&command), json!({}));
    let ids: Vec<_> = pane["sections"][0]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["id"])
        .collect();
    assert_eq!(ids, ["a b.txt", "n.txt"]);
    assert!(
        pane["sections"][1]["body"]
            .as_str()
            .unwrap()
            .contains("\n-b\n+c\n")
    );
    let chosen = json!({"pane": "review", "section": "files", "id": "n.txt"});
    peer.send(&json!({"method": "pane.select", "params": chosen}));
    peer.wait(|line| {
        line["params"]["sections"][1]["body"]
            .as_str()
            .is_some_and(|body| body.contains("\n+new\n"))
    });
    peer.send(&json!({"method": "pane.key", "params": {"pane": "review", "key": "a"}}));
    peer.wait(|line| line["method"] == "session.send");
    let error = peer.refused("command", review("--output=x"));
    assert!(error.contains("no options"), "{error}");
    end(&place, peer);

    let (mut peer, _) = example(&place, "review.mjs", json!({}));
    let command = peer.request("command", review("HEAD"));
    let pane = peer.wait(|line| line["method"] == "ui.pane");
    peer.send(&json!({"id": pane["id"], "error": "no ui"}));
    assert_eq!(peer.result(&command)["show"]["format"], "diff");
    end(&place, peer);
}

#[test]
fn tests_are_run_and_end_with_what_they_started() {
    if !has("python3", true) {
        return;
    }
    let place = Place::new();
    let command = "echo one; sleep 300 & exec sh -c 'exit $#' tests";
    let (mut peer, _) = example(&place, "tests.py", json!({"tests": {"command": command}}));
    let run = |filter: &str| json!({"name": "run_tests", "arguments": {"filter": filter}});
    let passed = peer.call("tool_call", run(""));
    assert_eq!(passed["is_error"], false, "{passed}");
    assert!(passed["content"].as_str().unwrap().ends_with("\n\none\n"));
    let failed = peer.call("tool_call", run("'a b' c"));
    assert_eq!(failed["is_error"], true);
    assert!(
        failed["summary"]
            .as_str()
            .unwrap()
            .starts_with("failed, status 2")
    );
    let shown = peer.call("command", json!({"name": "tests", "args": "x"}));
    assert_eq!(shown["show"]["body"], "one\n");
    assert!(
        peer.lines()
            .iter()
            .any(|line| line["params"]["chunk"] == "one\n")
    );
    end(&place, peer);
}

#[test]
fn words_is_compiled_and_counts() {
    if !has("cc", true) {
        return;
    }
    let place = Place::new();
    let source = examples().join("words.c");
    let build = format!(
        "cc -O2 -Wall -Wextra -Werror -o words '{}'",
        source.display()
    );
    place.sh(&build).run().ends_with(0);
    let mut peer = Rpc::of(place.sh("exec ./words"));
    peer.call("initialize", json!({"cwd": "/"}));
    for (text, count) in [
        ("", "0 words, 0 characters"),
        (" one  two\n", "2 words, 10 characters"),
        ("\"{\\ } \"text\":\"é😀\u{1f}", "3 words, 17 characters"),
    ] {
        let arguments = json!({"other": [{"text": "]"}], "text": text});
        let counted = peer.call(
            "tool_call",
            json!({"name": "count_words", "arguments": arguments}),
        );
        assert_eq!(counted["content"], count, "{text}");
    }
    let tricky = json!({"command": "\"method\":\"shutdown\""});
    assert!(!blocked(&mut peer, "bash", tricky));
    end(&place, peer);
}

#[test]
fn a_delegation_is_a_turn_of_a_child() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    place.settings(json!({"model": "offline/echo"}));
    let (mut peer, _) = example(&place, "subagent.mjs", json!({}));
    let params = json!({"name": "delegate", "arguments": {"task": "say this", "agent": "Explore"}});
    let answer = peer.call("tool_call", params);
    assert_eq!(answer["is_error"], false, "{answer}");
    let content = answer["content"].as_str().unwrap();
    let (text, log) = content.split_once("\n\nSession log: ").unwrap();
    assert_eq!(text, "say this");
    assert!(Path::new(log).is_file());
    for (arguments, reason) in [
        (json!({"task": "x", "agent": "Nobody"}), "no agent `Nobody`"),
        (json!({"task": "x", "model": "no/such"}), "`no/such`"),
        (json!({"task": " "}), "must not be empty"),
    ] {
        let params = json!({"name": "delegate", "arguments": arguments});
        let error = peer.refused("tool_call", params);
        assert!(error.contains(reason), "{error}");
    }
    end(&place, peer);
}

#[test]
fn a_child_that_hangs_is_stopped() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let stuck = place.write("stuck.sh", "#!/bin/sh\nread line\nexec sleep 300\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&stuck, mode).unwrap();
    let script = format!("exec '{}'", examples().join("subagent.mjs").display());
    let mut peer = Rpc::of(place.sh(&script).env("E_BIN", &stuck));
    peer.call("initialize", json!({}));
    let params = json!({"name": "delegate", "arguments": {"task": "x", "timeout_seconds": 1}});
    let error = peer.refused("tool_call", params);
    assert!(error.contains("was stopped after 1 s"), "{error}");
    end(&place, peer);
}
