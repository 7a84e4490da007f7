//! The side pane: where it stands, who has the keys, and what its owner is told.

use serde_json::{Value, json};

use super::{commanded, done, plain, why};
use crate::support::{Place, Played, Pty, Screen};
use crate::tui::app::open;

const DIFF: &str =
    "--- a/b.rs\n+++ b/b.rs\n@@ -7,3 +7,3 @@\n same\n-let b = 1;\n+let b = 2;\n end\n";

fn items(count: usize) -> Vec<Value> {
    let item = |n| json!({"id": format!("i{n}"), "label": format!("item {n}."), "detail": "+1"});
    (0..count).map(item).collect()
}

fn pane(id: &str, count: usize, log: &str) -> Value {
    json!({"id": id, "title": "Changes", "sections": [
        {"kind": "list", "id": "files", "items": items(count)},
        {"kind": "diff", "id": "patch", "title": "b.rs", "body": DIFF},
        {"kind": "text", "id": "log", "title": "Log", "body": log},
        {"kind": "markdown", "id": "notes", "body": "some **bold** words"},
        {"kind": "rows", "id": "rows", "lines": [[{"text": "41 ok", "token": "success"}]]},
        {"kind": "sculpture", "id": "odd", "body": "no such kind"},
    ]})
}

/// Also what is not of the protocol.
fn show(me: &Played, pane: Value) -> Value {
    let id = json!(pane.to_string());
    me.send(&json!({"id": id, "method": "ui.pane", "params": pane}));
    me.answer_to(&id)
}

/// The pane opens focused for who has just been called.
fn open_pane(place: &Place, columns: u16, rows: u16) -> (Played, Pty) {
    let me = commanded(place, "me", &["review"]);
    let mut pty = open(place, columns, rows);
    pty.send("/review\r");
    let command = me.wait("command");
    assert_eq!(show(&me, pane("p", 12, "first\nsecond\nthird\n")), done());
    me.answer(&command, json!({}));
    pty.wait_for("Changes");
    (me, pty)
}

/// Waits until the extension has been told that, as `method params`.
#[track_caller]
fn told(me: &Played, expected: &str) {
    let is_it = |line: &Value| {
        let method = line["method"].as_str().unwrap_or_default();
        let params = &line["params"];
        let words =
            ["section", "id", "key"].map(|field| params[field].as_str().unwrap_or_default());
        let words = words.into_iter().filter(|word| !word.is_empty());
        let text = std::iter::once(method)
            .chain(words)
            .collect::<Vec<_>>()
            .join(" ");
        text == expected && params["pane"] == "p"
    };
    me.wait_for(expected, |lines| {
        lines.iter().rev().any(is_it).then_some(())
    });
}

fn count(me: &Played, method: &str) -> usize {
    me.params(method).len()
}

/// The rows right of the divider.
fn right(screen: &Screen) -> Vec<String> {
    let cut = |row: &String| row.split_once('│').map(|cut| cut.1.trim().to_owned());
    screen.rows().iter().filter_map(cut).collect()
}

#[test]
fn a_pane_is_walked_through_with_keys() {
    let place = Place::new();
    let (me, mut pty) = open_pane(&place, 130, 40);
    assert_eq!(
        pty.screen.modes(),
        "alternate paste hidden mouse keyboard alternate keyboard title"
    );
    let seen = right(&pty.screen).join("\n");
    for text in [
        "Changes",
        "×",
        "item 7.",
        "b.rs",
        "let b = 2;",
        "Log",
        "third",
        "some bold words",
        "41 ok",
    ] {
        assert!(seen.contains(text), "no {text:?} in\n{seen}");
    }
    assert!(
        !seen.contains("item 8.") && !seen.contains("sculpture"),
        "{seen}"
    );
    for (keys, expected) in [
        ("\x1b[B", "pane.select files i1"),
        ("j", "pane.select files i2"),
        ("k", "pane.select files i1"),
        ("\x1b[F", "pane.select files i11"),
        ("\x1b[H", "pane.select files i0"),
        ("\x1b[6~", "pane.select files i8"),
        ("x", "pane.key x"),
        ("X", "pane.key shift+x"),
        ("\x0e", "pane.key ctrl+n"),
        ("\x1b[Z", "pane.key shift+tab"),
        ("\x0b", "pane.key ctrl+k"),
        ("\r", "pane.activate files i8"),
    ] {
        pty.send(keys);
        told(&me, expected);
    }
    // Nothing is told of moves in what is no list; Enter attaches what is selected.
    let moves = count(&me, "pane.select");
    pty.send("j\x1b[1;2B");
    pty.send("\r");
    pty.wait_for("┃ [b.rs · 2 rows]");
    assert_eq!(count(&me, "pane.select"), moves);
    pty.send("why this?");
    pty.wait_for("why this?");
    pty.send("\r");
    pty.wait_for("  ok");
    let sent = place.provider.received()[0].last_user();
    assert!(
        sent.contains("let b = 1;") && sent.contains("let b = 2;"),
        "{sent}"
    );
    assert!(
        !sent.contains("same") && sent.contains("why this?"),
        "{sent}"
    );
    // Esc goes back to the first section, then closes the pane.
    pty.send("\x14\x1b");
    // An escape alone is one when nothing follows it for a moment.
    pty.quiet(std::time::Duration::from_millis(60));
    pty.send("j");
    told(&me, "pane.select files i9");
    assert_eq!(count(&me, "pane.closed"), 0);
    pty.send("\x1b");
    told(&me, "pane.closed");
    pty.wait("the main screen", |screen| !screen.is_alternate());
    assert_eq!(pty.screen.modes(), "paste keyboard title");
    pty.wait_for("  ok");
}

#[test]
fn a_refresh_keeps_the_place_and_null_closes_in_silence() {
    let place = Place::new();
    let (me, mut pty) = open_pane(&place, 130, 40);
    pty.send("jjj");
    told(&me, "pane.select files i3");
    // The item is elsewhere by now, and the log is another one.
    let mut other = pane("p", 12, "FIRST\nsecond\n");
    other["sections"][0]["items"]
        .as_array_mut()
        .unwrap()
        .swap(3, 6);
    other["sections"].as_array_mut().unwrap().swap(1, 2);
    show(&me, other);
    pty.wait_for("FIRST");
    pty.send("j");
    told(&me, "pane.select files i7");
    // Another one in its place is another pane: its owner is told of the old one's end.
    let closed = count(&me, "pane.closed");
    me.ask(
        "ui.pane",
        json!({"id": "q", "title": "Other", "sections": [{"kind": "text", "body": "words"}]}),
    );
    told(&me, "pane.closed");
    pty.wait_for("words");
    assert_eq!(count(&me, "pane.closed"), closed + 1);
    assert_eq!(me.ask("ui.pane", Value::Null), done());
    pty.wait("the main screen", |screen| !screen.is_alternate());
    assert_eq!(count(&me, "pane.closed"), closed + 1);
    for (params, field) in [
        (json!({"id": "p"}), "`sections`"),
        (json!({"sections": []}), "`sections`"),
        (json!({"sections": 7}), "`sections`"),
        (
            json!({"sections": [{"kind": "list", "items": 7}]}),
            ".items`",
        ),
    ] {
        me.send(&json!({"id": params, "method": "ui.pane", "params": params}));
        let refused = me.answer_to(&params);
        assert!(why(&refused).contains(field), "{refused}");
    }
    // One that is too large ends early and says so.
    let big = format!("{}the end", "a row of text\n".repeat(30_000));
    me.ask(
        "ui.pane",
        json!({"id": "p", "sections": [{"kind": "text", "id": "t", "body": big}]}),
    );
    pty.send("\x14\x1b[F");
    pty.wait("the last row", |screen| {
        let text = right(screen).join("\n");
        text.contains("a row of text") && text.contains("256 KiB") && !text.contains("the end")
    });
    let many: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
    me.ask(
        "ui.pane",
        json!({"id": "p", "sections": [{"kind": "list", "id": "l", "items": many}]}),
    );
    pty.wait("a long list", |screen| {
        right(screen).iter().any(|row| row == "7")
    });
    me.exit();
    pty.wait("the main screen", |screen| !screen.is_alternate());
    pty.send("still here");
    pty.wait_for("┃ still here");
}

#[test]
fn the_mouse_works_in_a_pane() {
    let place = Place::new();
    let (me, mut pty) = open_pane(&place, 130, 40);
    let at = |screen: &Screen, text: &str| -> (usize, usize) {
        let rows = screen.rows();
        let row = rows.iter().position(|row| row.contains(text)).unwrap();
        let before = rows[row].split(text).next().unwrap();
        (row + 1, before.chars().count() + 1)
    };
    let mouse = |button: u8, (row, column): (usize, usize), end: char| {
        format!("\x1b[<{button};{column};{row}{end}")
    };
    let item = at(&pty.screen, "item 2.");
    pty.send(&mouse(0, item, 'M'));
    pty.send(&mouse(0, item, 'm'));
    told(&me, "pane.select files i2");
    pty.send(&mouse(65, item, 'M'));
    told(&me, "pane.select files i3");
    pty.send(&mouse(64, item, 'M'));
    told(&me, "pane.select files i2");
    // A drag selects rows; Enter attaches them.
    let (first, last) = (at(&pty.screen, "let b = 1;"), at(&pty.screen, "end"));
    pty.send(&mouse(0, first, 'M'));
    pty.send(&mouse(32, last, 'M'));
    pty.send(&mouse(0, last, 'm'));
    pty.send("\r");
    pty.wait_for("┃ [b.rs · 3 rows]");
    // A click on the conversation takes the keys back.
    pty.send(&mouse(0, item, 'M'));
    pty.send(&mouse(0, (3, 3), 'M'));
    pty.send(&mouse(0, (3, 3), 'm'));
    pty.send("typed");
    pty.wait_for("typed");
    let cross = at(&pty.screen, "×");
    pty.send(&mouse(0, cross, 'M'));
    told(&me, "pane.closed");
    pty.wait("the main screen", |screen| !screen.is_alternate());
    assert!(!pty.screen.modes().contains("mouse"));
}

#[test]
fn the_layout_of_the_person_decides() {
    let place = Place::new();
    let layout = json!({
        "split_min": 60, "focus": "ctrl+y",
        "panes": {"p": {"side": "left", "width": 50}, "*": {"width": 30}},
    });
    place.write_home("layout.json", &layout.to_string());
    let me = plain(&place, "me");
    let mut pty = open(&place, 100, 24);
    let sided = |id: &str, side: &str| json!({"id": id, "title": "Changes", "side": side, "sections": [{"kind": "text", "body": "words"}]});
    let divider = |screen: &Screen| {
        let row = screen.rows().swap_remove(3);
        row.chars().position(|c| c == '│')
    };
    for (id, side, at) in [("p", "right", 51), ("q", "right", 68), ("q", "left", 31)] {
        me.ask("ui.pane", sided(id, side));
        pty.wait(&format!("{id} {side}"), |screen| {
            divider(screen) == Some(at)
        });
    }
    // Nobody asked for it, so the keys stayed in the conversation.
    pty.send("typed");
    pty.wait_for("┃ typed");
    // Too narrow to be split: the one with the keys fills the screen, and says how to reach the other.
    pty.resize(50, 24);
    pty.wait("the conversation", |screen| {
        let text = screen.text();
        text.contains("┃ typed") && text.ends_with("Changes · ctrl+y") && !text.contains("words")
    });
    pty.send("\x19");
    pty.wait("the pane", |screen| {
        let text = screen.text();
        text.contains("words") && text.contains("ctrl+y") && !text.contains("typed")
    });
    for (columns, rows) in [(1, 1), (2, 3), (59, 2), (61, 3), (300, 60)] {
        pty.resize(columns, rows);
        pty.quiet(std::time::Duration::from_millis(5));
    }
    pty.resize(100, 24);
    pty.wait_for("words");
    pty.send("\x19!");
    pty.wait_for("┃ typed!");
}
