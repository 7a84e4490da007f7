//! What an extension does to the session, as the person sees it.

use serde_json::{Value, json};

use super::{done, enter, plain, show_everything, why};
use crate::support::{Actor, Place, Pty, call, say};
use crate::tui::app::open;

fn idle(pty: &mut Pty) {
    pty.wait("the end of the turn", |screen| {
        !screen.text().contains("Thinking")
    });
}

#[test]
fn requests_behind_the_manifest_wait_for_the_session() {
    let place = Place::new();
    let manifest = json!({"name": "me"});
    let me = Actor::new(&place, "me", manifest.clone());
    let me = me.holds("initialize").play();
    let mut pty = Pty::open(80, 30);
    pty.start(place.app(&[]));
    me.answer(&me.wait("initialize"), manifest);
    let early = [
        ("session.name", json!({"name": "early"})),
        ("ui.notify", json!({"message": "a word"})),
        ("session.info", json!({})),
        ("session.effort", json!({"effort": "low"})),
    ];
    let early = early.map(|(method, params)| me.begin(method, params));
    let answers = early.each_ref().map(|id| me.answer_to(id));
    assert_eq!([&answers[0], &answers[1]], [&done(), &done()]);
    assert_eq!(answers[2]["result"]["name"], "early");
    assert_eq!(answers[3], done());
    pty.wait_for("  a word");
    pty.wait_for("low");
}

#[test]
fn messages_are_sent_in_every_way() {
    let place = Place::new();
    let manifest = json!({"name": "me", "events": ["turn_start", "turn_end"]});
    let me = Actor::new(&place, "me", manifest).play();
    let mut pty = open(&place, 80, 50);
    let send = |params: Value| me.ask("session.send", params);
    let steps = ["A1.", "A2.", "A3."].map(say);
    place.provider.script(steps);
    // A visible one is a prompt.
    assert_eq!(send(json!({"content": "seen and run"})), done());
    pty.wait_for("┃ seen and run");
    pty.wait_for("  A1.");
    idle(&mut pty);
    // One that does not run is there, and goes with the next.
    assert_eq!(send(json!({"content": "seen only", "run": false})), done());
    pty.wait_for("┃ seen only");
    assert_eq!(
        send(json!({"content": "unseen only", "internal": true})),
        done()
    );
    assert_eq!(
        send(json!({"content": "held back", "internal": true, "when": "next_turn"})),
        done()
    );
    assert_eq!(place.provider.received().len(), 1);
    enter(&mut pty, "my prompt");
    pty.wait_for("  A2.");
    idle(&mut pty);
    let sent = place.provider.received()[1].body["messages"].to_string();
    let at = |text: &str| {
        sent.find(text)
            .unwrap_or_else(|| panic!("no {text} in {sent}"))
    };
    assert!(
        at("seen only") < at("unseen only") && at("unseen only") < at("held back"),
        "{sent}"
    );
    assert!(at("held back") < at("my prompt"), "{sent}");
    // An internal one that runs shows its answer alone.
    assert_eq!(
        send(json!({"content": "unseen and run", "internal": true, "run": true})),
        done()
    );
    pty.wait_for("  A3.");
    idle(&mut pty);
    let text = pty.everything().join("\n");
    for hidden in ["unseen", "held back"] {
        assert!(!text.contains(hidden), "{text}");
    }
    // While a turn runs, only what steers it or waits is taken.
    let (slow, finish) = say("Slow").gate();
    place.provider.script([
        slow.and_call("bash", json!({"command": "true"})),
        say("A5."),
    ]);
    enter(&mut pty, "a longer turn");
    pty.wait_for("  Slow");
    assert!(why(&send(json!({"content": "x", "run": false}))).contains("a turn is running"));
    assert!(why(&send(json!({"content": "x", "internal": true}))).contains("a turn is running"));
    assert_eq!(me.ask("session.info", json!({}))["result"]["running"], true);
    assert_eq!(send(json!({"content": "a steer of it"})), done());
    assert_eq!(
        send(json!({"content": "for later", "internal": true, "when": "next_turn"})),
        done()
    );
    drop(finish);
    pty.wait_for("  A5.");
    idle(&mut pty);
    let steered = place.provider.received()[4].last_user();
    assert_eq!(steered, "a steer of it");
    pty.wait_for("┃ a steer of it");
    for (params, field) in [
        (json!({}), "`content`"),
        (json!({"content": " "}), "`content`"),
        (json!({"content": "x", "when": "next_turn"}), "`internal`"),
        (
            json!({"content": "x", "internal": true, "when": "soon"}),
            "`when`",
        ),
    ] {
        me.send(&json!({"id": params, "method": "session.send", "params": params}));
        let refused = me.answer_to(&params);
        assert!(why(&refused).contains(field), "{refused}");
    }
    let names = me.events();
    let starts = names.iter().filter(|name| *name == "turn_start").count();
    assert_eq!(starts, 4, "{names:?}");
}

#[test]
fn the_session_is_steered() {
    let place = Place::new();
    place.models("openai-completions", json!({}));
    let manifest = json!({"name": "me", "events": ["model_change", "effort_change", "turn_end"]});
    let me = Actor::new(&place, "me", manifest).play();
    let mut pty = open(&place, 80, 40);
    // The name.
    assert_eq!(
        me.ask("session.name", json!({"name": "a \u{1b}[31mname"})),
        done()
    );
    pty.wait("the title", |screen| screen.seen().title == "e · a name");
    assert_eq!(
        me.ask("session.info", json!({}))["result"]["name"],
        "a name"
    );
    assert_eq!(me.ask("session.name", json!({"name": " "})), done());
    pty.wait("no name", |screen| screen.seen().title == "e · ~/space");
    // Model and effort, as the status row shows them.
    assert_eq!(me.ask("session.effort", json!({"effort": "low"})), done());
    pty.wait_for("test / low");
    assert!(
        me.ask("session.effort", json!({"effort": "utmost"}))
            .get("error")
            .is_some()
    );
    assert_eq!(
        me.ask("session.model", json!({"model": "mock/plain"})),
        done()
    );
    pty.wait("another model", |screen| {
        screen.text().trim_end().ends_with("plain")
    });
    assert!(
        me.ask("session.model", json!({"model": "mock/none"}))
            .get("error")
            .is_some()
    );
    assert_eq!(
        me.ask("session.model", json!({"model": "mock/test"})),
        done()
    );
    assert_eq!(me.event("model_change")["model"], "mock/plain");
    // The tools, in what is advertised and in what is carried out.
    assert_eq!(
        me.ask("session.tools", json!({"names": ["read", "nothing"]})),
        done()
    );
    place.provider.script([
        call("bash", json!({"command": "echo ran > ran"})),
        say("Narrow."),
    ]);
    enter(&mut pty, "first");
    pty.wait_for("  Narrow.");
    idle(&mut pty);
    assert_eq!(place.provider.received()[0].tools(), ["read"]);
    assert!(!place.workspace.join("ran").exists());
    assert_eq!(me.ask("session.tools", json!({"names": null})), done());
    let (slow, _never) = say("Endless").gate();
    place.provider.script([slow]);
    enter(&mut pty, "second");
    pty.wait_for("  Endless");
    assert!(place.provider.received()[2].tools().len() > 3);
    // The interrupt.
    assert_eq!(me.ask("session.interrupt", json!({})), done());
    pty.wait_for("● System:");
    idle(&mut pty);
    assert_eq!(me.ask("session.interrupt", json!({})), done());
}

#[test]
fn a_summary_is_asked_for() {
    let place = Place::new();
    let manifest = json!({"name": "me", "events": ["compact_start", "compact_end"]});
    let me = Actor::new(&place, "me", manifest).play();
    let mut pty = open(&place, 80, 40);
    for round in 0..4 {
        let reply = format!("{} R{round}.", "reply words ".repeat(700));
        place.provider.script([say(&reply)]);
        let prompt = format!("{round} {}", "prompt words ".repeat(1900));
        pty.send(&format!("\x1b[200~{prompt}\x1b[201~"));
        pty.wait_for("[Pasted");
        pty.send("\r");
        pty.wait_for(&format!("R{round}."));
        idle(&mut pty);
    }
    place.provider.script([say("THE SUMMARY"), say("After.")]);
    assert_eq!(
        me.ask("session.compact", json!({"focus": "the parser"})),
        done()
    );
    me.wait_nth("event", 1);
    assert_eq!(me.events(), ["compact_start", "compact_end"]);
    assert!(
        me.event("compact_end")["summary"]
            .as_str()
            .unwrap()
            .contains("THE SUMMARY")
    );
    assert!(
        place.provider.received()[4]
            .body
            .to_string()
            .contains("the parser")
    );
    pty.wait("the end of it", |screen| {
        let text = screen.text();
        text.contains("● System:") && !text.contains("Compacting")
    });
    enter(&mut pty, "and on");
    pty.wait_for("  After.");
    assert!(
        place.provider.received()[5]
            .body
            .to_string()
            .contains("THE SUMMARY")
    );
}

/// What was shown in one session is not taken along into another; what its start draws stays.
#[test]
fn another_session_begins_with_nothing_on_the_screen() {
    let place = Place::new();
    let manifest = json!({"name": "me", "events": ["session_start", "session_shutdown"]});
    let me = Actor::new(&place, "me", manifest).play();
    let mut pty = open(&place, 130, 40);
    enter(&mut pty, "hello");
    pty.wait_for("  ok");
    idle(&mut pty);
    for (round, (line, seen)) in [
        ("/fork", "session of its own"),
        ("/resume", "Sessions 2"),
        ("/new", "begin a new session"),
    ]
    .into_iter()
    .enumerate()
    {
        pty.send(line);
        pty.wait_for(line);
        if line == "/resume" {
            pty.send("\r");
        }
        pty.wait_for(seen);
        show_everything(&me, &mut pty);
        pty.send(if line == "/resume" { "\x1b[B\r" } else { "\r" });
        // The shutdown and the start of each round, after the first start.
        me.wait_nth("event", 2 * round + 2);
        let text = format!("N-SLOT {round}");
        assert_eq!(me.ask("ui.status", json!({"text": text})), done());
        pty.wait_for(&text);
        let shown = pty.screen.text();
        for old in ["A-SLOT", "W-SLOT", "S-SLOT", "PANE"] {
            assert!(!shown.contains(old), "{line}: {old} in {shown}");
        }
        let told = |line: &Value| match line["method"].as_str()? {
            "event" => Some(line["params"]["name"].to_string()),
            method => Some(method.to_owned()),
        };
        let told: Vec<String> = me.lines().iter().filter_map(told).collect();
        let ends = told.iter().rposition(|one| one.contains("session_start"));
        let told = &told[..ends.unwrap()];
        for closed in ["pane.closed", "ui.panel_closed"] {
            let count = told.iter().filter(|one| *one == closed).count();
            assert_eq!(count, round + 1, "{line}: {told:?}");
        }
    }
}

/// e asks an extension about every line a person submits, commands and `!` lines, too.
#[test]
fn input_hooks_see_every_submitted_line() {
    let place = Place::new();
    let hook = |params: &Value| match params["text"].as_str().unwrap() {
        "eat me" => json!({"consume": true, "notice": "it was eaten"}),
        "change me" => json!({"replace": "changed"}),
        "note me" => json!({"notice": "noted"}),
        _ => json!({}),
    };
    let manifest = json!({"name": "me", "hooks": ["input"]});
    let me = Actor::new(&place, "me", manifest)
        .on("hook.input", hook)
        .play();
    let after = plain(&place, "z-other");
    let mut pty = open(&place, 80, 40);
    for (line, seen) in [
        ("eat me", "it was eaten"),
        ("change me", "┃ changed"),
        ("note me", "  noted"),
        ("!echo from-the-shell", "  from-the-shell"),
        ("/version", "  e 0."),
    ] {
        pty.send(line);
        pty.wait_for(line.trim_start_matches('!'));
        pty.send("\r");
        pty.wait_for(seen);
        idle(&mut pty);
    }
    let lines: Vec<_> = me
        .params("hook.input")
        .iter()
        .map(|params| params["text"].clone())
        .collect();
    assert_eq!(
        lines,
        [
            "eat me",
            "change me",
            "note me",
            "!echo from-the-shell",
            "/version"
        ]
    );
    let sent: Vec<_> = place
        .provider
        .received()
        .iter()
        .map(|one| one.last_user())
        .collect();
    assert_eq!(sent, ["changed", "note me"]);
    assert!(after.params("hook.input").is_empty());
}
