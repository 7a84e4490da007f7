//! `/reload`: the old processes are gone, new ones are there, and nothing is there twice.

use serde_json::{Value, json};

use super::{enter, show_everything};
use crate::support::{Actor, Place, Played, call, gone, say};
use crate::tui::app::open;

fn cast(place: &Place) -> [Played; 2] {
    let manifest = json!({
        "name": "me",
        "tools": [{"name": "greet"}],
        "commands": [{"name": "dance", "description": "a few steps"}],
        "shortcuts": [{"key": "ctrl+alt+g"}],
        "hooks": ["input"],
        "events": ["session_start", "session_shutdown", "turn_start"],
    });
    let me = Actor::new(place, "me", manifest).says("shortcut", json!({"notice": "called once"}));
    let stubborn = Actor::new(place, "stubborn", json!({"name": "stubborn"})).survives();
    [me.play(), stubborn.play()]
}

#[test]
fn a_reload_leaves_nothing_of_the_old_processes() {
    let place = Place::new();
    place
        .provider
        .script([call("greet", json!({})), say("Greeted.")]);
    let [me, stubborn] = cast(&place);
    let mut pty = open(&place, 130, 40);
    for round in 1..=2 {
        // The line is written before anything takes the keys.
        pty.send("/reload");
        pty.wait_for("start extensions anew");
        show_everything(&me, &mut pty);
        let old = [me.pids(), stubborn.pids()].concat();
        pty.send("\r");
        for pid in old {
            gone(pid);
        }
        me.wait_nth("initialize", round);
        stubborn.wait_nth("initialize", round);
        pty.wait("nothing of them", |screen| {
            let text = screen.text();
            text.matches("were started anew").count() == round
                && !text.contains("SLOT")
                && !text.contains("PANE")
        });
        assert_eq!(
            (me.pids().len(), stubborn.pids().len()),
            (round + 1, round + 1)
        );
    }
    me.wait_for("the last start", |lines| {
        let starts = lines
            .iter()
            .filter(|line| line["params"]["name"] == "session_start");
        (starts.count() == 3).then_some(())
    });
    let reasons: Vec<Value> = me
        .params("event")
        .iter()
        .map(|event| event["extra"]["reason"].clone())
        .collect();
    assert_eq!(reasons, ["startup", "reload", "reload", "reload", "reload"]);
    // One command, one shortcut, one hook, one tool.
    pty.send("/dance");
    pty.wait_for("Commands 1");
    assert_eq!(pty.screen.text().matches("a few steps").count(), 1);
    pty.send("\x15\x1b\x07");
    pty.wait_for("called once");
    assert_eq!(me.params("shortcut").len(), 1);
    enter(&mut pty, "greet me");
    pty.wait_for("  Greeted.");
    let tools = place.provider.received()[0].tools();
    assert_eq!(
        tools.iter().filter(|name| *name == "greet").count(),
        1,
        "{tools:?}"
    );
    let hooked = me.params("hook.input");
    let hooked: Vec<_> = hooked.iter().map(|params| &params["text"]).collect();
    assert_eq!(hooked, ["/reload", "/reload", "greet me"]);
    assert_eq!(
        (
            me.params("tool_call").len(),
            me.events()
                .iter()
                .filter(|name| *name == "turn_start")
                .count()
        ),
        (1, 1)
    );
    pty.send("\x04");
    assert!(pty.wait_exit().success());
    place.wait_deserted();
}
