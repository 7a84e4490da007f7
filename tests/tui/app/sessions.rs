//! Sessions on the terminal: gone on with, gone back in, forked, exported, and what a crash leaves.

use serde_json::{Value, json};

use super::{open, open_with};
use crate::support::{Actor, Place, Played, Pty, Screen, call, fails, say};

/// Types a line; the terminal is quiet before, so that its end is no part of a paste.
fn enter(pty: &mut Pty, line: &str) {
    pty.send(line);
    let end: String = line.chars().rev().take(12).collect();
    let end: String = end.chars().rev().collect();
    pty.wait_for(end.trim());
    pty.send("\r");
}

/// One turn, up to the row that sums it up.
fn turn(pty: &mut Pty, prompt: &str, reply: &str) {
    enter(pty, prompt);
    let is_there = |screen: &Screen| {
        let text = screen.text();
        let at = text.rfind(&format!("  {reply}"));
        at.is_some_and(|at| text[at..].contains("s (↑") && !text.contains("Thinking"))
    };
    pty.wait(reply, is_there);
}

/// The reasons of the events that an extension was told, in order.
fn told(played: &Played, count: usize) -> Vec<String> {
    played.wait_for("events", |lines| {
        let events = lines.iter().filter(|line| line["method"] == "event");
        let told: Vec<String> = events
            .map(|line| {
                let params = &line["params"];
                let reason = params["extra"]["reason"].as_str().unwrap_or_default();
                format!("{} {reason}", params["name"].as_str().unwrap_or_default())
            })
            .collect();
        (told.len() >= count).then_some(told)
    })
}

fn listener(place: &Place) -> Played {
    let manifest = json!({
        "name": "ears",
        "events": ["session_start", "session_shutdown"],
    });
    Actor::new(place, "ears", manifest).play()
}

#[test]
fn a_killed_app_goes_on_where_it_was() {
    let place = Place::new();
    place
        .provider
        .script([say("One."), say("Two."), say("Three.")]);
    let mut pty = open(&place, 80, 30);
    turn(&mut pty, "first prompt", "One.");
    pty.signal(libc::SIGKILL);
    pty.wait_exit();
    let mut pty = open_with(&place, 80, 30, &["-c", "and a prompt with it"]);
    pty.wait_for("  Two.");
    let text = pty.screen.text();
    assert!(
        text.contains("┃ first prompt") && text.contains("  One."),
        "{text}"
    );
    assert_eq!(place.logs().len(), 1);

    // The picker comes first, and what was to be said waits for the choice.
    pty.send("\x04");
    pty.wait_exit();
    let mut pty = Pty::open(80, 30);
    pty.start(place.app(&["-r", "later"]));
    pty.wait_for("Sessions 1");
    assert!(!pty.screen.text().contains("┃ later"));
    pty.send("\r");
    pty.wait_for("  Three.");
    let text = pty.screen.text();
    assert!(
        text.contains("┃ first prompt") && !text.contains("/help for commands"),
        "{text}"
    );
    assert_eq!(place.provider.received()[2].last_user(), "later");
}

#[test]
fn the_picker_at_the_start_can_be_dismissed() {
    let place = Place::new();
    place.provider.script([say("One."), say("Fresh.")]);
    let run = place.p(&["earlier"]).run();
    assert_eq!(run.status, 0, "{run:?}");
    let mut pty = Pty::open(80, 30);
    pty.start(place.app(&["-r", "hello"]));
    pty.wait_for("Sessions 1");
    pty.send("\x1b");
    pty.wait_for("  Fresh.");
    let text = pty.screen.text();
    assert!(!text.contains("earlier"), "{text}");
    // A fresh session has its first line, whenever it opens.
    assert_eq!(text.matches("/help for commands").count(), 1, "{text}");
    assert_eq!(place.logs().len(), 2);
}

#[test]
fn going_back_begins_another_branch_of_the_same_file() {
    let place = Place::new();
    place
        .provider
        .script([say("One."), say("Two."), say("Other."), say("Fork.")]);
    let played = listener(&place);
    let mut pty = open(&place, 80, 40);
    turn(&mut pty, "first prompt", "One.");
    turn(&mut pty, "second prompt", "Two.");
    enter(&mut pty, "/tree");
    pty.wait_for("Messages 2");
    pty.send("\r");
    pty.wait_for("back before this message");
    pty.wait("the draft", |screen| {
        screen.text().trim_end().contains("┃ second prompt\n")
    });
    pty.send("\x15");
    turn(&mut pty, "other prompt", "Other.");
    let sent = &place.provider.received()[2];
    assert_eq!(sent.last_user(), "other prompt");
    assert!(
        !sent.body.to_string().contains("second prompt"),
        "{}",
        sent.body
    );
    let log = std::fs::read_to_string(&place.logs()[0]).unwrap();
    assert!(log.contains("second prompt") && log.contains("other prompt"));

    enter(&mut pty, "/fork my fork");
    pty.wait_for("this session is called `my fork`");
    turn(&mut pty, "in the fork", "Fork.");
    let logs: Vec<String> = place
        .logs()
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let fork = logs.iter().find(|log| log.contains("in the fork")).unwrap();
    assert!(
        fork.contains("other prompt") && !fork.contains("second prompt"),
        "{fork}"
    );
    assert!(fork.contains("my fork"));
    enter(&mut pty, "/export page.html");
    pty.wait_for("page.html`");
    assert!(place.read("page.html").contains("in the fork"));
    enter(&mut pty, "/new");
    assert_eq!(
        told(&played, 5),
        [
            "session_start startup",
            "session_shutdown fork",
            "session_start fork",
            "session_shutdown new",
            "session_start new",
        ]
    );
}

#[test]
fn changes_are_taken_back_after_a_resume() {
    let place = Place::new();
    place.write("notes", "old\n");
    place.provider.script([
        call("write", json!({"path": "notes", "content": "new\n"})),
        say("Written."),
    ]);
    let mut pty = open(&place, 80, 30);
    turn(&mut pty, "write it", "Written.");
    assert_eq!(place.read("notes"), "new\n");
    pty.signal(libc::SIGKILL);
    pty.wait_exit();
    let mut pty = open_with(&place, 80, 30, &["-c"]);
    pty.wait_for("  Written.");
    enter(&mut pty, "/undo");
    pty.wait_for("restored `notes`");
    assert_eq!(place.read("notes"), "old\n");
    enter(&mut pty, "/undo");
    pty.wait_for("there is nothing to undo");
}

#[test]
fn a_reload_starts_extensions_anew() {
    let place = Place::new();
    place.provider.script([say("One.")]);
    let played = listener(&place);
    let mut pty = open(&place, 80, 30);
    enter(&mut pty, "/reload");
    pty.wait_for("extensions were started anew");
    assert_eq!(
        told(&played, 3),
        [
            "session_start startup",
            "session_shutdown reload",
            "session_start reload"
        ]
    );
    turn(&mut pty, "still there", "One.");
    let greeted = played.wait_for("greetings", |lines: &[Value]| {
        let greetings = lines.iter().filter(|line| line["method"] == "initialize");
        Some(greetings.count())
    });
    assert_eq!(greeted, 2);
}

#[test]
fn what_failed_is_told_again_where_it_failed() {
    let place = Place::new();
    place.provider.script([fails(400), say("Two.")]);
    let mut pty = open(&place, 80, 24);
    enter(&mut pty, "first");
    pty.wait_for("mock says no");
    turn(&mut pty, "second", "Two.");
    pty.send("\x04");
    pty.wait_exit();
    let mut pty = open_with(&place, 80, 24, &["-c"]);
    pty.wait_for("Two.");
    let all = pty.everything();
    let row = |text: &str| all.iter().position(|row| row.contains(text));
    let rows = ["┃ first", "● Error: ", "┃ second", "Two."].map(row);
    assert!(rows.is_sorted() && rows[0].is_some(), "{rows:?} {all:#?}");
}
