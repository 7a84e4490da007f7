//! What a person calls an extension by: shortcuts, commands, completions of their arguments.

use serde_json::{Value, json};

use super::{enter, styles};
use crate::support::{Actor, Place, Played};
use crate::tui::app::open;

fn chorded(place: &Place, name: &str, chords: &[&str]) -> Played {
    let shortcuts: Vec<Value> = chords.iter().map(|key| json!({"key": key})).collect();
    let manifest = json!({"name": name, "shortcuts": shortcuts});
    let answer = json!({"notice": format!("{name} was called")});
    Actor::new(place, name, manifest)
        .says("shortcut", answer)
        .play()
}

fn called(who: &Played) -> Vec<String> {
    let calls = who.params("shortcut");
    let keys = calls
        .iter()
        .map(|call| call["key"].as_str().unwrap().to_owned());
    keys.collect()
}

#[test]
fn shortcuts_come_after_everything_that_is_e_s() {
    let place = Place::new();
    place.write_home("keybindings.json", r#"{"ctrl+w": "none"}"#);
    let reserved = [
        "ctrl+c",
        "ctrl+d",
        "ctrl+g",
        "ctrl+i",
        "ctrl+j",
        "ctrl+l",
        "ctrl+m",
        "ctrl+o",
        "ctrl+p",
        "ctrl+shift+p",
        "ctrl+s",
        "ctrl+v",
        "ctrl+shift+v",
        "ctrl+x",
        "ctrl+z",
    ];
    let refused = [&reserved[..], &["a", "shift+a", "ctrl+", "hyper+q"]].concat();
    let bad = chorded(&place, "1bad", &refused);
    let first = chorded(
        &place,
        "2first",
        &["ctrl+alt+g", "ctrl+k", "ctrl+w", "alt+q"],
    );
    let second = chorded(&place, "3second", &["ctrl+alt+g", "ctrl+n"]);
    let mut pty = open(&place, 100, 60);
    let notices = pty.everything().join("\n");
    for chord in refused {
        assert!(
            notices.contains(&format!("`{chord}`")),
            "{chord}\n{notices}"
        );
    }
    let taken = notices.lines().filter(|row| row.contains("3second"));
    assert_eq!(taken.count(), 1, "{notices}");
    for (round, (keys, who, chord)) in [
        ("\x1b\x07", &first, "ctrl+alt+g"),
        ("\x1bq", &first, "alt+q"),
        ("\x0e", &second, "ctrl+n"),
        // The person took it from the composer.
        ("\x17", &first, "ctrl+w"),
    ]
    .into_iter()
    .enumerate()
    {
        let before = called(who).len();
        pty.send(keys);
        who.wait_nth("shortcut", before);
        assert_eq!(called(who).last().unwrap(), chord);
        pty.wait("the notices", |screen| {
            screen.text().matches("was called").count() > round
        });
    }
    // ctrl+k is the composer's, and while a list or a question has the keys no shortcut fires.
    pty.send("some words\x1b[D\x1b[D\x0b");
    pty.wait("the end is gone", |screen| {
        screen.text().contains("┃ some wor\n")
    });
    pty.send("\x15/models\r");
    pty.wait_for("Models");
    pty.send("\x1b\x07");
    pty.send("\x1b");
    pty.wait("no list", |screen| !screen.text().contains("Models"));
    enter(&mut pty, "hello");
    pty.wait_for("  ok");
    assert_eq!(called(&first), ["ctrl+alt+g", "alt+q", "ctrl+w"]);
    assert_eq!(called(&second), ["ctrl+n"]);
    assert!(called(&bad).is_empty());
}

#[test]
fn the_answer_of_a_command_is_carried_out() {
    let place = Place::new();
    let manifest = json!({
        "name": "me",
        "commands": [{"name": "go", "arguments": "<where>"}, {"name": "now"}],
        "shortcuts": [{"key": "ctrl+alt+g"}],
    });
    let me = Actor::new(&place, "me", manifest)
        .holds("command")
        .holds("shortcut")
        .play();
    let mut pty = open(&place, 80, 50);
    // The list leaves one that takes arguments to be finished, and runs the other.
    pty.send("/go");
    pty.wait_for("go <where>");
    pty.send("\r");
    pty.wait("the draft", |screen| {
        screen.text().contains("┃ /go\n") && !screen.text().contains("Commands")
    });
    pty.send("home now");
    enter(&mut pty, " and here");
    let call = me.wait("command");
    assert_eq!(
        call["params"],
        json!({"name": "go", "args": "home now and here"})
    );
    let show = json!({"title": "Shown", "body": "+ a **b**", "format": "markdown"});
    me.answer(
        &call,
        json!({"notice": "noticed", "show": show, "session_name": "named", "prompt": "/now"}),
    );
    // A prompt of an extension runs no command.
    pty.wait_for("  ok");
    assert_eq!(place.provider.received()[0].last_user(), "/now");
    let text = pty.screen.text();
    assert!(
        text.contains("  noticed") && text.contains("● Shown") && text.contains("┃ /now"),
        "{text}"
    );
    assert!(styles(&pty, "● Shown").contains("bold"));
    pty.wait("the title", |screen| screen.seen().title == "e · named");
    // The person may do what they like until the answer comes; one for an earlier session submits
    // nothing.
    pty.send("\x1b\x07");
    let call = me.wait("shortcut");
    enter(&mut pty, "/new");
    pty.wait("another session", |screen| {
        screen.seen().title != "e · named"
    });
    me.answer(
        &call,
        json!({"notice": "late but heard", "prompt": "late", "session_name": "late"}),
    );
    pty.wait_for("late but heard");
    pty.wait_for("meant for another session");
    assert_eq!(place.provider.received().len(), 1);
    // What cannot be done is told, and what cannot be understood.
    for (result, words) in [
        (json!({"error": "no way"}), "no way"),
        (json!({"result": {"show": 7}}), "show"),
        (json!({"result": 7}), "unusable"),
    ] {
        let before = me.params("command").len();
        enter(&mut pty, "/now");
        let call = me.wait_nth("command", before);
        let mut line = result.clone();
        line["id"] = call["id"].clone();
        me.send(&line);
        pty.wait("an error", |screen| {
            let text = screen.text();
            let at = text.rfind("● Error: `/now`:");
            at.is_some_and(|at| text[at..].contains(words))
        });
        pty.send("\x0c");
    }
    // One that dies is told of.
    let before = me.params("command").len();
    enter(&mut pty, "/now");
    me.wait_nth("command", before);
    me.exit();
    pty.wait("its end", |screen| {
        let text = screen.text();
        text.matches("exited").count() >= 2
    });
    enter(&mut pty, "hello");
    pty.wait_for("  ok");
}

#[test]
fn completions_are_offered_for_the_draft_as_it_is() {
    let place = Place::new();
    let manifest = json!({
        "name": "me",
        "commands": [{"name": "go", "completions": true}, {"name": "plain"}],
    });
    let me = Actor::new(&place, "me", manifest)
        .holds("command.complete")
        .play();
    let mut pty = open(&place, 80, 24);
    let asked = |nth: usize, prefix: &str| {
        let asked = me.wait_nth("command.complete", nth);
        assert_eq!(asked["params"], json!({"name": "go", "prefix": prefix}));
        asked
    };
    let items = |values: &[&str]| {
        let items: Vec<Value> = values.iter().map(|value| json!({"value": value})).collect();
        json!({"items": items})
    };
    pty.send("/go ");
    let late = asked(0, "");
    pty.send("p");
    pty.wait_for("┃ /go p");
    // It is about another draft by now: it is dropped, and the new draft is asked about.
    me.answer(&late, items(&["stale"]));
    let now = asked(1, "p");
    assert!(!pty.screen.text().contains("stale"));
    let many: Vec<String> = (0..60).map(|n| format!("p{n}")).collect();
    let mut offered = items(&many.iter().map(String::as_str).collect::<Vec<_>>());
    offered["items"][1] =
        json!({"value": "prod\u{1b}[31muction", "label": "Production", "description": "for all"});
    offered["items"][2] = json!({"label": "no value"});
    me.answer(&now, offered);
    pty.wait_for("Production");
    pty.wait_for("of 50");
    assert!(!pty.screen.text().contains("no value"));
    pty.send("\x1b[B\t");
    pty.wait_for("┃ /go production");
    assert!(!pty.screen.text().contains("Production"));
    // Esc closes the list and keeps the draft; an empty answer opens none.
    pty.send("\x15");
    pty.send("\x1b[200~/go q\x1b[201~");
    let asked_now = me.wait_for("q", |lines| {
        let is_it = |line: &&Value| line["params"]["prefix"] == "q";
        lines.iter().find(is_it).cloned()
    });
    me.answer(&asked_now, items(&["quiet"]));
    pty.wait_for("quiet");
    pty.send("\x1b");
    pty.wait("no list", |screen| {
        !screen.text().contains("quiet") && screen.text().contains("┃ /go q")
    });
    // A command that declared none is not asked.
    let before = me.params("command.complete").len();
    pty.send("\x15/plain x");
    pty.wait_for("┃ /plain x");
    assert_eq!(me.params("command.complete").len(), before);
}
