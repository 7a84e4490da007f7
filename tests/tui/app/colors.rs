//! A theme in which every name has a colour of its own: each of them is on the screen somewhere.

use serde_json::{Map, Value, json};

use super::ready;
use crate::support::{Actor, Place, Pty, Step, call, fails, say};
use e::tui::style::Token;

/// Nothing has a scroll bar.
const UNUSED: [Token; 1] = [Token::ScrollbarThumb];

const REPLY: &str = "# Heading\n\n[link](https://example.com/a) https://example.com/b `code`\n\n- item\n\n\
> quote\n\n---\n\n```rust\n// comment\nfn main() { let x: Vec = \"s\" + 1; }\n```\n\n\
```diff\n+added\n-removed\n```\n";

/// What selects the colour, without the ground that it is for.
fn sequence(token: Token) -> String {
    format!("8;2;16;{};32", token as usize)
}

fn place() -> Place {
    let place = Place::new();
    let color = |token: &Token| json!(format!("#10{:02x}20", *token as usize));
    let colors = Token::ALL
        .iter()
        .map(|token| (token.name().into(), color(token)));
    let colors: Map<String, Value> = colors.collect();
    std::fs::create_dir(place.home.join("themes")).unwrap();
    place.write_home("themes/all.json", &json!({"colors": colors}).to_string());
    place.settings(json!({"theme": "all", "show_thinking": "on"}));
    let levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
    place.models("openai-completions", json!({"effort": levels}));
    place.write("src/lib.rs", "fn one() {}\nfn two() {}\n");
    place
}

#[test]
fn every_colour_of_a_theme_is_on_the_screen() {
    let place = place();
    let edit =
        json!({"path": "src/lib.rs", "old_string": "fn two() {}", "new_string": "fn 2() {}"});
    place.provider.script([
        fails(503).header("retry-after", "0"),
        Step::default().reasoning("Hm.").and_call("edit", edit),
        call("read", json!({"path": "missing.rs"})).and_call(
            "bash",
            json!({"command": "until [ -e go ]; do sleep 0.05; done"}),
        ),
        say(REPLY),
        fails(400),
    ]);
    let me = Actor::new(&place, "me", json!({"name": "me"})).play();
    let mut pty = Pty::open(140, 50);
    let mut app = place.app(&[]);
    app.env("COLORTERM", "truecolor");
    pty.start(app);
    ready(&mut pty);
    pty.send("fix it\r");
    pty.wait_for("Running until");
    place.write("go", "");
    let steps = [
        ("", "s (↑"),
        ("fail\r", "● Error:"),
        ("/effort off\r", "test / off"),
        ("/effort minimal\r", "test / minimal"),
        ("/effort low\r", "test / low"),
        ("/effort medium\r", "test / medium"),
        ("/effort high\r", "test / high"),
        ("/effort xhigh\r", "test / xhigh"),
        ("/effort max\r", "test / max"),
        ("!echo out\r", "  out"),
        ("/help\r", "The guides"),
        // The reader, and a list.
        ("\x0f", "esc close"),
        ("\x1b[H", "┃ fix it"),
        ("\x0f", "test / max"),
        ("/versio", "Commands 1"),
        ("\x15some words", "┃ some words"),
    ];
    for (keys, seen) in steps {
        pty.send(keys);
        pty.wait_for(seen);
    }
    pty.send("\x1b[1;2D\x1b[1;2D");
    pty.wait("a selection", |screen| screen.golden().contains("reverse"));
    pty.send("\x0b\x15");
    pty.wait("an empty draft", |screen| {
        !screen.text().contains("some wo")
    });
    let sections = json!([
        {"kind": "text", "id": "a", "title": "A", "body": "text"},
        {"kind": "text", "id": "b", "title": "B", "body": "text"},
    ]);
    me.ask("ui.pane", json!({"title": "Pane", "sections": sections}));
    pty.wait_for("Pane");
    pty.send("\x14\r");
    pty.wait_for("[A · 1 row]");
    let bytes = String::from_utf8_lossy(&pty.bytes);
    let missing = Token::ALL.iter().filter(|token| {
        let text = sequence(**token);
        !bytes.contains(&format!("{text}m")) && !bytes.contains(&format!("{text};"))
    });
    assert_eq!(missing.copied().collect::<Vec<_>>(), UNUSED);
}
