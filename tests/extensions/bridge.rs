//! The MCP bridge, against a scripted server and, where they are installed, real ones. The test plays
//! e's side of the protocol.

use std::path::Path;

use serde_json::{Value, json};

use super::examples::{begin, example};
use crate::support::{Place, Rpc, has};

fn server(env: Value) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extensions/server.mjs");
    json!({"mcp": {"command": "node", "args": [script], "env": env}})
}

fn tools(manifest: &Value) -> Vec<&str> {
    let tools = manifest["tools"].as_array().expect("tools");
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

fn call(peer: &mut Rpc, name: &str, arguments: Value) -> Value {
    peer.call("tool_call", json!({"name": name, "arguments": arguments}))
}

#[test]
fn every_page_of_tools_under_legal_names() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let (mut peer, manifest) = example(&place, "mcp.mjs", server(json!({})));
    let expected = [
        "mcp_read", "a_b", "a_b_2", "die", "slow", "refuse", "blocks",
    ];
    assert_eq!(tools(&manifest), expected);
    let content = |answer: Value| answer["content"].as_str().unwrap_or_default().to_owned();
    assert!(content(call(&mut peer, "a_b", json!({}))).starts_with("a.b "));
    assert!(content(call(&mut peer, "a_b_2", json!({}))).starts_with("a_b "));
    assert_eq!(call(&mut peer, "refuse", json!({}))["is_error"], true);
    assert_eq!(
        content(call(&mut peer, "blocks", json!({}))),
        "one\n[image, image/png, 1 KiB, not shown]\n[resource x:y]"
    );
    let slow = peer.request("tool_call", json!({"name": "slow", "arguments": {}}));
    peer.result(&slow);
    let updates: Vec<_> = peer
        .lines()
        .iter()
        .filter(|line| line["method"] == "tool.update")
        .map(|line| line["params"].clone())
        .collect();
    let update = |text| json!({"id": slow, "stream": "stdout", "chunk": text});
    assert_eq!(updates, [update("1/2 é\n"), update("2/2 é\n")]);
    peer.close();
    peer.finish();
    place.wait_deserted();
}

#[test]
fn a_server_that_died_is_started_once_more_by_the_next_call() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    let (mut peer, _) = example(&place, "mcp.mjs", server(json!({})));
    for _ in 0..2 {
        let dead = peer.refused("tool_call", json!({"name": "die", "arguments": {}}));
        assert_eq!(dead, "the MCP server ended with status 7: last words");
        let alive = call(&mut peer, "a_b", json!({}));
        assert!(alive["content"].as_str().unwrap().starts_with("a.b "));
    }
    peer.send(&json!({"method": "shutdown"}));
    peer.finish();
    place.wait_deserted();
}

#[test]
fn a_server_that_cannot_be_used_is_named() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    for (config, reason) in [
        (json!({}), "no server: set extensions.mcp.command"),
        (
            json!({"mcp": {"command": "/no/such"}}),
            "could not be started",
        ),
        (
            json!({"mcp": {"command": "sh", "args": ["-c", "echo oops >&2; exit 3"]}}),
            "status 3: oops",
        ),
        (server(json!({"REVISION": "1999-01-01"})), "revision 1999"),
    ] {
        let mut peer = begin(&place, "mcp.mjs");
        let params = json!({"e_version": "1", "cwd": place.workspace, "extensions_config": config});
        let error = peer.refused("initialize", params);
        assert!(error.contains(reason), "{error}");
        peer.close();
        peer.finish();
    }
    place.wait_deserted();
}

/// The directory of installed packages that `E_TEST_NODE_MODULES` names.
fn real(package: &str) -> Option<String> {
    let script = std::env::var("E_TEST_NODE_MODULES")
        .map(|modules| format!("{modules}/@modelcontextprotocol/{package}/dist/index.js"))
        .ok()
        .filter(|script| Path::new(script).is_file());
    if script.is_none() {
        println!("skipped: E_TEST_NODE_MODULES names no directory with {package}");
    }
    script.filter(|_| has("node", true))
}

#[test]
fn the_filesystem_server() {
    let Some(script) = real("server-filesystem") else {
        return;
    };
    let place = Place::new();
    let path = place.write("a.txt", "what is in it");
    let config = json!({"mcp": {"command": "node", "args": [script, place.workspace]}});
    let (mut peer, manifest) = example(&place, "mcp.mjs", config);
    assert!(tools(&manifest).contains(&"read_text_file"));
    let read = call(&mut peer, "read_text_file", json!({"path": path}));
    assert_eq!(read["content"], "what is in it");
    let refused = call(&mut peer, "read_text_file", json!({"path": "/etc/passwd"}));
    assert_eq!(refused["is_error"], true);
    peer.close();
    peer.finish();
    place.wait_deserted();
}

#[test]
fn the_everything_server() {
    let Some(script) = real("server-everything") else {
        return;
    };
    let place = Place::new();
    let config = json!({"mcp": {"command": "node", "args": [script]}});
    let (mut peer, manifest) = example(&place, "mcp.mjs", config);
    assert!(tools(&manifest).contains(&"echo"));
    let echo = call(&mut peer, "echo", json!({"message": "hé"}));
    assert_eq!(echo["content"], "Echo: hé");
    let arguments = json!({"duration": 0.1, "steps": 2});
    call(&mut peer, "trigger-long-running-operation", arguments);
    let updates = peer
        .lines()
        .iter()
        .filter(|line| line["method"] == "tool.update");
    assert_eq!(updates.count(), 2);
    peer.close();
    peer.finish();
    place.wait_deserted();
}
