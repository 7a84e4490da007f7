//! Entries that an extension renders: replies in the transcript, results in the reader.

use serde_json::{Value, json};

use super::enter;
use crate::support::{Actor, Place, Step, call, say};
use crate::tui::app::{open, open_with};

#[test]
fn replies_and_results_are_shown_as_rendered() {
    let place = Place::new();
    let manifest =
        json!({"name": "me", "hooks": ["render"], "renders": ["tool:bash", "assistant"]});
    let me = Actor::new(&place, "me", manifest)
        .holds("hook.render")
        .play();
    let bash = |text: &str| call("bash", json!({"command": format!("echo {text}")}));
    place.provider.script([
        bash("the raw output"),
        say("the **plain** reply"),
        bash("as it was"),
        say("left *alone*"),
        say("slow"),
    ]);
    let mut pty = open(&place, 80, 30);
    enter(&mut pty, "go");
    let tool = me.wait("hook.render");
    assert_eq!(tool["params"]["kind"], "tool");
    assert_eq!(tool["params"]["name"], "bash");
    assert!(
        tool["params"]["content"]
            .as_str()
            .unwrap()
            .contains("the raw output")
    );
    let diff = "--- a/x\n+++ b/x\n@@ -4 +4 @@\n-rendered old\n+rendered new\n";
    me.answer(&tool, json!({"body": diff, "format": "diff"}));
    let reply = me.wait_nth("hook.render", 1);
    assert_eq!(reply["params"]["kind"], "assistant");
    assert_eq!(reply["params"]["content"], "the **plain** reply");
    me.answer(
        &reply,
        json!({"body": "a *better*\nreply\u{1b}[31m", "format": "text"}),
    );
    pty.wait_for("  a *better*\n  reply");
    assert!(!pty.screen.text().contains("plain reply"));
    // The model reads what was there, not what is shown.
    let sent = place.provider.received()[1].results()[0].clone();
    assert!(sent.contains("the raw output"), "{sent}");
    pty.send("\x0f");
    pty.wait_for("4 + rendered new");
    assert!(!pty.screen.rows().contains(&"│ the raw output".to_owned()));
    pty.send("\x1b");
    pty.wait("the main screen", |screen| !screen.is_alternate());
    // An empty answer leaves the entry as e paints it.
    enter(&mut pty, "again");
    me.answer(&me.wait_nth("hook.render", 2), json!({}));
    me.answer(&me.wait_nth("hook.render", 3), json!({}));
    pty.wait_for("  left alone");
    pty.send("\x0f");
    pty.wait_for("└ as it was");
    pty.send("\x1b");
    pty.wait("the main screen", |screen| !screen.is_alternate());
    // While one thinks about a reply, the person goes on; its end lets the reply go.
    enter(&mut pty, "third");
    me.wait_nth("hook.render", 4);
    pty.send("a draft");
    pty.wait_for("┃ a draft");
    me.exit();
    pty.wait_for("  slow");
    pty.wait_for("exited");
    assert!(pty.screen.text().contains("┃ a draft"));
}

/// What the model reads is one thing, what the person reads another.
#[test]
fn a_result_has_a_row_and_a_display_of_its_own() {
    let place = Place::new();
    let manifest = json!({"name": "me", "tools": [{
        "name": "patch",
        "label": {"category": "patch", "running": "Patching", "completed": "Patched", "target": "file"},
    }]});
    let me = Actor::new(&place, "me", manifest).holds("tool_call").play();
    place
        .provider
        .script([call("patch", json!({"file": "x.rs"})), say("Patched it.")]);
    let mut pty = open(&place, 80, 30);
    enter(&mut pty, "go");
    pty.wait_for("Patching x.rs");
    let called = me.wait("tool_call");
    let id = called["id"].clone();
    for (stream, chunk) in [
        ("stdout", "step one\n"),
        ("stderr", "a \u{1b}[31mwarning\n"),
        ("void", "nowhere\n"),
    ] {
        let params = json!({"id": id, "stream": stream, "chunk": chunk});
        me.send(&json!({"method": "tool.update", "params": params}));
    }
    pty.wait_for("│ step one\n│ a warning");
    assert!(!pty.screen.text().contains("nowhere"));
    let diff = "--- a/x.rs\n+++ b/x.rs\n@@ -41 +41 @@\n-old\n+new\n";
    me.answer(
        &called,
        json!({"content": "for the model", "summary": "+1 -1", "display": diff, "format": "diff"}),
    );
    pty.wait_for("  Patched it.");
    let text = pty.screen.text();
    assert!(
        text.contains("● 1 tool call · 1 patch") && text.contains("Patched x.rs"),
        "{text}"
    );
    assert!(!text.contains("step one"), "{text}");
    assert_eq!(place.provider.received()[1].results(), ["for the model"]);
    pty.send("\x0f");
    pty.wait_for("41 - old");
    pty.wait_for("41 + new");
    assert!(!pty.screen.text().contains("for the model"));
}

/// Who runs a call decides what its row says, not its name; and a row comes back as it was.
#[test]
fn rows_say_what_came_of_a_call() {
    let place = Place::new();
    let tools = ["read", "bash", "greet"].map(|name| json!({"name": name}));
    let manifest = json!({"name": "me", "tools": tools, "hooks": ["tool_call"]});
    let answers = |params: &Value| match params["arguments"]["as"].as_str() {
        Some("wrong") => {
            json!({"content": "\n\u{1b}[31mno such\tday\nsecond line", "is_error": true})
        }
        Some("summed up") => json!({"content": "no", "is_error": true, "summary": "in short"}),
        _ => json!({"content": "fine", "summary": format!("by {}", params["name"])}),
    };
    let gate = |params: &Value| match params["arguments"]["as"].as_str() {
        Some("blocked") => json!({"block": true, "reason": "not on a Monday"}),
        _ => json!({}),
    };
    let _me = Actor::new(&place, "me", manifest)
        .on("tool_call", answers)
        .on("hook.tool_call", gate)
        .play();
    let kinds = ["wrong", "summed up", "blocked"];
    let greet = |step: Step, kind: &str| step.and_call("greet", json!({"as": kind}));
    let calls = call("read", json!({})).and_call("bash", json!({}));
    place
        .provider
        .script([kinds.into_iter().fold(calls, greet), say("That was it.")]);
    let rows = "├ Ran read by \"read\"\n├ Ran bash by \"bash\"\n├ Failed greet\n│ no such day\n\
                ├ Failed greet\n│ in short\n├ Denied greet\n│ not on a Monday\n└";
    let mut pty = open(&place, 80, 30);
    enter(&mut pty, "go");
    pty.wait_for("  That was it.");
    pty.wait_for(rows);
    pty.send("\x04");
    assert!(pty.wait_exit().success());
    let mut pty = open_with(&place, 80, 30, &["-c"]);
    pty.wait_for(rows);
}
