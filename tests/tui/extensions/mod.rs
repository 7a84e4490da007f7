//! Extensions on a real terminal: what they show, what they ask, and that neither they nor what ends
//! them does anything to the screen.

mod calls;
mod examples;
mod hostile;
mod pane;
mod panel;
mod questions;
mod reload;
mod render;
mod session;
mod shown;

use serde_json::{Value, json};

use crate::support::{Actor, Place, Played, Pty};

/// An extension with nothing but a name, which is its file's, too.
fn plain(place: &Place, name: &str) -> Played {
    Actor::new(place, name, json!({"name": name})).play()
}

/// An extension with commands that the test answers.
fn commanded(place: &Place, name: &str, commands: &[&str]) -> Played {
    let commands: Vec<Value> = commands.iter().map(|name| json!({"name": name})).collect();
    let manifest = json!({"name": name, "commands": commands});
    Actor::new(place, name, manifest).holds("command").play()
}

/// What e answers to a request that it has carried out.
fn done() -> Value {
    json!({"result": {}})
}

/// Why e refuses something.
#[track_caller]
fn why(answer: &Value) -> &str {
    let why = answer["error"].as_str();
    why.unwrap_or_else(|| panic!("not refused: {answer}"))
}

/// Types a line. The terminal is quiet before its end, so that this is no part of a paste.
fn enter(pty: &mut Pty, line: &str) {
    pty.send(line);
    pty.wait_for(line);
    pty.send("\r");
}

/// Everything that an extension can have on the screen; the panel is behind what is open.
fn show_everything(me: &Played, pty: &mut Pty) {
    for (method, params) in [
        ("ui.status", json!({"text": "S-SLOT"})),
        ("ui.activity", json!({"text": "A-SLOT"})),
        ("ui.widget", json!({"lines": ["W-SLOT"]})),
        (
            "ui.panel",
            json!({"title": "P-PANEL", "lines": [], "interactive": true}),
        ),
        (
            "ui.pane",
            json!({"title": "P-PANE", "sections": [{"kind": "text", "body": "PANE-BODY"}]}),
        ),
    ] {
        assert_eq!(me.ask(method, params), done());
    }
    pty.wait("all of it", |screen| {
        let text = screen.text();
        ["A-SLOT", "W-SLOT", "PANE-BODY"]
            .iter()
            .all(|part| text.contains(part))
    });
}

/// The styles of the row in which that text stands, joined.
#[track_caller]
fn styles(pty: &Pty, text: &str) -> String {
    let rows = pty.screen.rows();
    let row = rows.iter().position(|row| row.contains(text));
    let row = row.unwrap_or_else(|| panic!("no {text:?} in {rows:#?}"));
    let runs = pty.screen.runs(u16::try_from(row).unwrap()).into_iter();
    runs.map(|run| run.2).collect::<Vec<_>>().join(", ")
}

/// What no extension may change: everything the terminal keeps besides its cells. A pane takes the
/// alternate screen and the mouse.
#[track_caller]
fn assert_untouched(pty: &Pty) {
    let seen = pty.screen.seen();
    assert_eq!(seen.strange, Vec::<String>::new());
    assert_eq!(seen.clipboard, Vec::<String>::new());
    assert!(seen.title.starts_with("e · "), "{}", seen.title);
    assert_eq!(pty.screen.modes(), "paste keyboard title");
}
