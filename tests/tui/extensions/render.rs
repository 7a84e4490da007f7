//! Entries that an extension renders: replies in the transcript, results in the reader.

use serde_json::json;

use super::enter;
use crate::support::{Actor, Place, call, say};
use crate::tui::app::open;

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
