//! The panel: its keys, and how much of it is seen.

use super::super::PROMPT;
use super::*;
use crate::tui::key::{Key, KeyPress};

#[test]
fn an_interactive_panel_gets_every_key_but_two() {
    let mut table = Table::new();
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    assert_eq!(table.ask(ME, "ui.panel", panel.clone()), "={}");
    let keys = "a\u{c9} \r\t\x1b[Z\x18\x0f\x1b[5~\x1bx+";
    let names = [
        "a",
        "shift+é",
        "space",
        "enter",
        "tab",
        "shift+tab",
        "ctrl+x",
        "ctrl+o",
        "pageup",
        "alt+x",
        "+",
    ];
    let expected = names.map(|name| format!(r#"0:ui.key{{"key":"{name}"}}"#));
    assert_eq!(table.press(keys), expected.join(" "));
    table.app.on_paste("a\r\nB", table.now);
    let expected = ["a", "enter", "shift+b"].map(|name| format!(r#"0:ui.key{{"key":"{name}"}}"#));
    assert_eq!(table.told(), expected.join(" "));
    table.app.on_paste(&"x".repeat(65), table.now);
    assert_eq!(table.told(), "");
    // Another's panel replaces it, and null closes only one's own.
    let replaced = table.ask(OTHER, "ui.panel", json!({"title": "O", "lines": []}));
    assert_eq!(replaced, "={} 0:ui.panel_closed{}");
    assert_eq!(table.ask(ME, "ui.panel", Value::Null), "={}");
    assert!(table.screen(40, 12).concat().contains("other"));
    // One that is not interactive leaves the keys to the composer.
    assert_eq!(table.press("hi"), "");
    assert_eq!(table.draft(), "hi");
    assert_eq!(table.press("\x03"), "1:ui.panel_closed{}");
}

#[test]
fn what_answers_a_key_is_painted_at_once() {
    let mut table = Table::new();
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    let prompt = |table: &mut Table, from, count: usize| {
        let mut asked = || {
            table.ask(from, "ui.panel", panel.clone());
            table.is_prompt
        };
        (0..count).filter(|_| asked()).count()
    };
    // Nobody waits for the first one, nor for what moves by itself.
    assert_eq!(prompt(&mut table, ME, 9), 0);
    table.press("a");
    assert_eq!(prompt(&mut table, ME, 9), PROMPT);
    table.press("a");
    assert_eq!(prompt(&mut table, OTHER, 9), 0);
    table.press("\x1b");
    table.press("/plain\r");
    assert_eq!(prompt(&mut table, ME, 9), PROMPT);
}

#[test]
fn a_panel_that_is_only_looked_at_scrolls() {
    let mut table = Table::new();
    let lines: Vec<String> = (0..30).map(|n| format!("line {n}")).collect();
    let panel = |title: &str, lines: &[String]| json!({"title": title, "lines": lines});
    table.ask(ME, "ui.panel", panel("P", &lines));
    let seen = |table: &mut Table| table.screen(40, 16).join("\n");
    assert!(seen(&mut table).contains("lines 1-"));
    table.press("\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~");
    assert!(
        seen(&mut table).contains("line 29\nlines 2"),
        "{}",
        seen(&mut table)
    );
    // What is drawn anew stays where it was, as far as it goes.
    table.ask(ME, "ui.panel", panel("P", &lines[..12]));
    assert!(seen(&mut table).contains("line 11\n"));
    table.press("\x1b[5~\x1b[5~\x1b[5~");
    assert!(seen(&mut table).contains("line 0\n"));
    // With nothing more to see the keys are for the conversation again.
    table.ask(ME, "ui.panel", panel("P", &lines[..2]));
    seen(&mut table);
    let down = KeyPress::plain(Key::PageDown);
    assert!(!table.app.panel_key(down));
}
