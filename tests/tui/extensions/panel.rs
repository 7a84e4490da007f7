//! The panel: an extension's frame and the keys for it.

use serde_json::{Value, json};

use super::{assert_untouched, done, enter, plain};
use crate::support::{Place, Played, Pty};
use crate::tui::app::open;

fn panel(title: &str, lines: &[&str], interactive: bool) -> Value {
    json!({"title": title, "lines": lines, "interactive": interactive})
}

/// The keys that an extension was told of so far.
fn keys(me: &Played) -> Vec<String> {
    let keys = me.params("ui.key");
    let keys = keys
        .iter()
        .map(|key| key["key"].as_str().unwrap().to_owned());
    keys.collect()
}

fn shut(pty: &mut Pty, title: &str) {
    pty.wait("no panel", |screen| !screen.text().contains(title));
}

#[test]
fn an_interactive_panel_gets_every_key_but_two() {
    let place = Place::new();
    let me = plain(&place, "me");
    let mut pty = open(&place, 80, 24);
    assert_eq!(me.ask("ui.panel", panel("Game", &["0 keys"], true)), done());
    pty.wait_for("0 keys");
    let mut expected = Vec::new();
    for (typed, name) in [
        ("a", "a"),
        ("\u{e9}", "\u{e9}"),
        ("A", "shift+a"),
        (" ", "space"),
        ("\r", "enter"),
        ("\t", "tab"),
        ("\x1b[Z", "shift+tab"),
        ("\x7f", "backspace"),
        ("\x1b[A", "up"),
        ("\x1b[B", "down"),
        ("\x1b[C", "right"),
        ("\x1b[D", "left"),
        ("\x1b[5~", "pageup"),
        ("\x1b[6~", "pagedown"),
        ("\x1b[H", "home"),
        ("\x1b[F", "end"),
        ("\x18", "ctrl+x"),
        ("\x0f", "ctrl+o"),
        ("\x04", "ctrl+d"),
        ("\x1a", "ctrl+z"),
        ("\x1bx", "alt+x"),
        ("\x1b[15~", "f5"),
        ("\x1b[1;5C", "ctrl+right"),
        ("+", "+"),
        ("/", "/"),
    ] {
        // One after the other, each answered with another frame.
        pty.send(typed);
        expected.push(name.to_owned());
        let count = expected.len();
        me.wait_nth("ui.key", count - 1);
        let told = format!("{count} keys");
        assert_eq!(me.ask("ui.panel", panel("Game", &[&told], true)), done());
        pty.wait_for(&told);
    }
    pty.send("\x1b[200~p\x1b[201~");
    expected.push("p".into());
    me.wait_nth("ui.key", expected.len() - 1);
    assert_eq!(keys(&me), expected);
    // Esc closes it, and so does ctrl+c; neither is told.
    pty.send("\x1b");
    me.wait("ui.panel_closed");
    shut(&mut pty, "Game");
    me.ask("ui.panel", panel("Game", &[], true));
    pty.wait_for("Game");
    pty.send("\x03");
    me.wait_nth("ui.panel_closed", 1);
    pty.wait_for("again to quit");
    assert_eq!(keys(&me), expected);
    enter(&mut pty, "hello");
    pty.wait_for("  ok");
    assert_untouched(&pty);
}

#[test]
fn one_panel_shows_at_a_time() {
    let place = Place::new();
    let [one, two] = ["one", "two"].map(|name| plain(&place, name));
    let mut pty = open(&place, 60, 20);
    let long: Vec<String> = (0..300).map(|row| format!("row {row}")).collect();
    let lines: Vec<&str> = long.iter().map(String::as_str).collect();
    one.ask("ui.panel", panel("First", &lines, false));
    pty.wait_for("row 0");
    pty.resize(60, 260);
    pty.wait_for("row 199");
    pty.wait_for("100 more lines");
    assert!(!pty.screen.text().contains("row 200"));
    pty.resize(60, 20);
    // The composer goes on under a panel that wants no keys.
    pty.send("a draft");
    pty.wait_for("┃ a draft");
    two.ask(
        "ui.panel",
        panel("Second", &["x".repeat(500).as_str()], false),
    );
    pty.wait_for("Second");
    one.wait("ui.panel_closed");
    shut(&mut pty, "First");
    // Null closes one's own alone.
    assert_eq!(one.ask("ui.panel", Value::Null), done());
    two.ask("session.info", json!({}));
    pty.settle();
    assert!(pty.screen.text().contains("Second"));
    assert_eq!(two.ask("ui.panel", Value::Null), done());
    shut(&mut pty, "Second");
    assert!(two.params("ui.panel_closed").is_empty());
    one.ask("ui.panel", panel("Third", &["alive"], true));
    pty.wait_for("alive");
    one.exit();
    shut(&mut pty, "alive");
    pty.send("\r");
    pty.wait_for("  ok");
}
