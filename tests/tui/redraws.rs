//! Extensions that draw faster than anybody looks.

use serde_json::{Value, json};

use super::app::open;
use crate::support::{Actor, Place};

/// Panels that are sent without waiting for an answer.
const PANELS: usize = 2_000;

#[test]
fn the_newest_of_many_panels_shows_and_none_is_refused() {
    let place = Place::new();
    let played = Actor::new(&place, "storm", json!({"name": "storm"})).play();
    let mut pty = open(&place, 80, 24);
    pty.send("a draft");
    for number in 0..PANELS {
        let lines = vec![format!("panel number {number}"); 20];
        let params = json!({"title": "Storm", "lines": lines});
        played.send(&json!({"id": number, "method": "ui.panel", "params": params}));
    }
    pty.send(" that goes on");
    pty.wait_for("┃ a draft that goes on");
    let newest = format!("panel number {}", PANELS - 1);
    pty.wait(&newest, |screen| {
        screen.rows().iter().any(|row| row.trim_end() == newest)
    });
    let is_refused = |line: &&Value| line.get("error").is_some();
    let is_last = |line: &Value| line["id"] == PANELS - 1 && line.get("method").is_none();
    played.wait_for("last answer", |lines| {
        lines.last().filter(|line| is_last(line)).cloned()
    });
    let lines = played.lines();
    assert_eq!(lines.iter().find(is_refused), None);
}
