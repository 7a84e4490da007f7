//! Looking back: the reader, reading back in the conversation, full screen.

use serde_json::json;

use super::open;
use crate::support::{Place, Pty, Screen, call, say};

/// A conversation of a command with 30 rows and a reply of 60.
fn long(place: &Place, rows: u16) -> Pty {
    let reply: Vec<String> = (1..=60).map(|row| format!("row {row}.")).collect();
    place.provider.script([
        call("bash", json!({"command": "seq -f 'out %g' 30"})),
        say(&reply.join("\n\n")),
    ]);
    let mut pty = open(place, 80, rows);
    pty.send("go\r");
    pty.wait("the end", |screen| {
        let text = screen.text();
        text.contains("row 60.") && !text.contains("Thinking")
    });
    pty
}

#[test]
fn the_reader_unfolds_everything_and_leaves_the_screen_alone() {
    let place = Place::new();
    let mut pty = long(&place, 24);
    pty.settle();
    let before = pty.screen.text();
    pty.send("\x0f");
    pty.wait_for("┃ Review");
    pty.wait_for("row 60.");
    assert!(pty.screen.is_alternate() && pty.screen.modes().contains("mouse"));
    pty.send("typed\x1b[H");
    pty.wait_for("27 more rows");
    pty.send("\x1b[C");
    pty.wait_for("┃ Full");
    pty.wait_for("│ out 12");
    pty.send("\x1b[6~");
    pty.wait_for("out 30");
    for _ in 0..2 {
        pty.send("\x1b[<64;3;3M");
    }
    pty.wait("the wheel", |screen| !screen.text().contains("out 30"));
    pty.send("\x1b[F");
    pty.wait_for("row 60.");
    pty.send("\x1b");
    pty.wait("the main screen", |screen| !screen.is_alternate());
    pty.settle();
    assert_eq!(pty.screen.text(), before);
    assert!(!pty.screen.modes().contains("mouse"));
    // ctrl+c closes it and acts.
    pty.send("\x0f");
    pty.wait_for("┃ Review");
    pty.send("\x03");
    pty.wait_for("again to quit");
    assert!(!pty.screen.is_alternate());
}

fn top_of(screen: &Screen) -> String {
    screen.rows()[..2].concat()
}

#[test]
fn reading_back_keeps_its_place_until_the_end_is_wanted() {
    let place = Place::new();
    let mut pty = long(&place, 20);
    let (slow, finish) = say("").gate();
    place.provider.script([slow.text("more and more")]);
    pty.send("\x1b[5~\x1b[5~");
    // The draft can be edited, and submitting goes to the end.
    pty.send("a draft");
    pty.wait_for("┃ a draft");
    pty.wait_for("reading back");
    let top = top_of(&pty.screen);
    assert!(top.contains("row "), "{top}");
    pty.resize(60, 22);
    pty.wait("another size", |screen| top_of(screen) == top);
    pty.send("\x0f");
    pty.wait_for("┃ Review");
    pty.send("\x0f");
    pty.wait_for("reading back");
    assert_eq!(top_of(&pty.screen), top);
    pty.send("\r");
    pty.wait_for("• Thinking");
    assert!(!pty.screen.is_alternate());
    pty.send("\x1b[5~");
    pty.wait_for("reading back");
    let top = top_of(&pty.screen);
    drop(finish);
    pty.wait("the end of the turn", |screen| {
        !screen.text().contains("Thinking")
    });
    assert_eq!(top_of(&pty.screen), top);
    pty.send("\x1b[F");
    pty.wait_for("more and more");
    assert!(!pty.screen.text().contains("reading back"));
}

#[test]
fn full_screen_has_the_composer_at_the_bottom_and_the_mouse() {
    let place = Place::new();
    place.write_home("settings.json", r#"{"tui_mode":"fullscreen"}"#);
    let mut pty = long(&place, 20);
    assert_eq!(
        pty.screen.modes(),
        "alternate paste mouse keyboard alternate keyboard title"
    );
    assert!(pty.screen.rows()[19].starts_with("test / "));
    pty.send("\x1b[<64;3;3M");
    pty.wait_for("reading back");
    pty.send("\x1b[<65;3;3M");
    pty.wait("the end", |screen| !screen.text().contains("reading back"));
    pty.send("\x04");
    assert!(pty.wait_exit().success());
    assert_eq!(pty.screen.modes(), "");
    // The last screenful is on the main screen, and no more than that.
    let all = pty.screen.everything();
    assert!((10..25).contains(&all.len()), "{all:#?}");
}
