//! The panel: its keys, and how much of it is seen.

use super::super::PROMPT;
use super::*;
use crate::tui::clipboard::Clip;
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

/// Only an interactive panel that has the keys gets these two as well.
#[test]
fn reading_and_pasting_come_before_what_extensions_show() {
    let board = json!({"title": "Game", "lines": ["board"], "interactive": true});
    let select = json!({"title": "T", "options": ["on", "off"]});
    let input = json!({"title": "T"});
    let secret = json!({"title": "T", "secret": true});
    let picked = r#"={"value":"off","label":"off"}"#;
    // `^` stands for the end of the read.
    for (method, params, typed, draft, answer) in [
        ("ui.pane", pane("p"), "\x14\x16^", "of\nf", ""),
        ("ui.panel", board, "\x14\x16^", "of\nf", ""),
        ("ui.select", select, "\x16^\r", "", picked),
        ("ui.input", secret, "\x16^\r", "", r#"={"text":"off"}"#),
        // Enter waits for what is being read.
        (
            "ui.input",
            input.clone(),
            "\x16\r^",
            "",
            r#"={"text":"of f"}"#,
        ),
        // What cannot be seen gets nothing, and what is not there any more.
        (
            "ui.input",
            input.clone(),
            "\x0f\x16^␛\r",
            "of\nf",
            r#"={"text":""}"#,
        ),
        ("ui.input", input, "\x16␛^", "", r#"={"cancelled":true}"#),
    ] {
        let mut table = Table::new();
        table.ask(ME, "ui.pane", pane("p"));
        table.ask(ME, method, params);
        let mut told = Vec::new();
        for (index, typed) in typed.split('^').enumerate() {
            if index > 0 {
                let clip = Ok(Clip::Text("of\nf".into()));
                let read = Done::Clip(table.app.last_request, clip);
                table.app.on_done(read);
                told.push(table.told());
            }
            // The task that would read is not run.
            for press in keys(typed) {
                table.app.on_key(press, table.now);
                table
                    .app
                    .effects
                    .retain(|effect| !matches!(effect, Effect::Task(_)));
            }
            told.push(table.told());
        }
        assert_eq!(told.concat(), answer, "{method} {typed:?}");
        assert_eq!(table.draft(), draft, "{method} {typed:?}");
        assert_eq!(table.press("\x0f"), "");
        assert!(table.app.reader.is_some());
    }
}

#[test]
fn widgets_give_way_to_a_panel() {
    let lines = |what: &str| Vec::from_iter((0..8).map(|n| format!("{what} {n}")));
    for (interactive, rows, panel, widgets) in [
        (true, 10, 2, 0),
        (true, 24, 8, 8),
        (true, 20, 8, 4),
        (false, 10, 2, 0),
        (false, 20, 3, 8),
    ] {
        let mut table = Table::new();
        table.ask(ME, "ui.widget", json!({"lines": lines("widget")}));
        let shown = json!({"title": "P", "lines": lines("line"), "interactive": interactive});
        table.ask(ME, "ui.panel", shown);
        let screen = table.screen(60, rows);
        let count = |what: &str| screen.iter().filter(|row| row.contains(what)).count();
        assert!(screen.len() <= rows.into(), "{screen:?}");
        assert!(screen.contains(&"┃".into()), "{screen:?}");
        assert_eq!(
            (count("line "), count("widget ")),
            (panel, widgets),
            "{screen:?}"
        );
    }
}
