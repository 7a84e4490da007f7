//! The side pane: its keys, the mouse, and who has the focus.

use super::super::super::completion::Listed;
use super::*;
use crate::config::Chord;
use crate::tui::key::{Button, Key, KeyPress, Mouse, MouseKind};

#[test]
fn a_pane_is_read_and_attached_from() {
    let mut table = Table::new();
    table.press("h");
    assert_eq!(table.ask(ME, "ui.pane", pane("p")), "={}");
    // The keys stay where they were.
    assert_eq!(table.press("i"), "");
    assert_eq!(table.draft(), "hi");
    table.press("\x14");
    let select = |method: &str, item: &str| {
        format!(r#"0:{method}{{"pane":"p","section":"files","id":"{item}"}}"#)
    };
    assert_eq!(table.press("\x1b[B"), select("pane.select", "i1"));
    assert_eq!(table.press("k"), select("pane.select", "i0"));
    assert_eq!(table.press("k"), "");
    assert_eq!(table.press("x"), r#"0:pane.key{"pane":"p","key":"x"}"#);
    let keys = [
        ("ctrl+n", "\x0e"),
        ("shift+tab", "\x1b[Z"),
        ("shift+x", "X"),
    ];
    for (name, key) in keys {
        let expected = format!(r#"0:pane.key{{"pane":"p","key":"{name}"}}"#);
        assert_eq!(table.press(key), expected);
    }
    assert_eq!(table.press("\r"), select("pane.activate", "i0"));
    // Enter went on to the next section, where rows are selected and attached.
    table.screen(120, 20);
    assert_eq!(table.press("j\x1b[1;2B\r"), "");
    assert_eq!(table.draft(), "hi\nChanges:\nsecond\nthird\n");
    assert!(table.screen(120, 20)[17].starts_with("┃ hi[Changes · 2 rows]"));
}

#[test]
fn who_comments_from_a_pane_writes_the_comment() {
    let mut table = Table::new();
    table.ask(ME, "ui.pane", pane("p"));
    table.press("\x14");
    let compose = |text: &str| json!({"text": text});
    // Nobody asked for these.
    table.ask(ME, "ui.compose", compose("by itself"));
    assert!(table.press("c").contains("pane.key"));
    table.ask(OTHER, "ui.compose", compose("of another"));
    assert!(table.press("c").contains("pane.key"));
    table.ask(ME, "ui.compose", compose("line 3: "));
    assert_eq!(table.press("why?"), "");
    assert_eq!(table.draft(), "line 3: why?");
}

#[test]
fn a_pane_stands_beside_the_conversation_or_in_its_place() {
    let mut table = Table::new();
    table.ask(ME, "ui.pane", pane("p"));
    assert!(table.app.modes().alternate && table.app.modes().mouse);
    let wide = table.screen(120, 20);
    assert_eq!(wide.len(), 20);
    assert_eq!(wide[0].find('│'), Some(70));
    assert!(wide[0].contains("Changes") && wide[0].ends_with('×'));
    assert!(wide[17].starts_with("┃") && wide[1].ends_with("+1"));
    assert!(wide[19].ends_with("│ ctrl+t to go here"), "{wide:?}");
    let hidden = table.screen(80, 20);
    assert!(hidden[19].ends_with("Changes · ctrl+t"), "{hidden:?}");
    table.press("\x14");
    let shown = table.screen(80, 20);
    assert!(shown[0].starts_with("Changes"));
    assert!(shown[19].ends_with("ctrl+t conversation"));
    assert!(!shown[18].contains("ctrl+t"), "{shown:?}");
    table.app.layout.focus = Chord::parse("alt+p").unwrap();
    let wide = table.screen(160, 20);
    assert!(
        wide[19].ends_with("esc back · alt+p conversation"),
        "{wide:?}"
    );
    // A question has the screen and the keys until it is answered.
    table.now += Duration::from_secs(2);
    table.ask(ME, "ui.confirm", json!({"title": "Sure?"}));
    assert!(table.screen(80, 20).join("\n").contains("Sure?"));
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
    assert!(table.screen(80, 20)[0].starts_with("Changes"));
    for columns in [1, 2, 3, 59, 60, 109, 110, 300] {
        for rows in [1, 2, 3, 8, 50] {
            table.screen(columns, rows);
        }
    }
    assert_eq!(table.press("\x1b"), r#"0:pane.closed{"pane":"p"}"#);
    assert!(!table.app.modes().alternate);
}

/// A question takes the keys, and the person may go to the pane and back before it is answered.
#[test]
fn the_pane_is_reached_while_a_question_is_open() {
    let mut table = Table::new();
    table.ask(ME, "ui.pane", pane("p"));
    table.ask(ME, "ui.confirm", json!({"title": "Sure?"}));
    table.screen(120, 20);
    table.now += Duration::from_secs(2);
    assert!(!table.app.pane_has_focus());
    table.press("\x14");
    assert!(table.press("\x1b[B").contains("pane.select"));
    assert!(table.screen(120, 20)[19].ends_with("ctrl+t conversation"));
    table.press("\x14");
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
}

/// Rows that are attached meanwhile are for the draft.
#[test]
fn no_answer_holds_rows_of_a_pane() {
    for secret in [false, true] {
        let mut table = Table::new();
        table.press("see ");
        table.now += Duration::from_secs(2);
        table.ask(ME, "ui.pane", pane("p"));
        table.ask(ME, "ui.input", json!({"title": "T", "secret": secret}));
        table.screen(120, 20);
        assert_eq!(table.press("an\x14\t\r"), "");
        assert_eq!(table.press("swer\r"), r#"={"text":"answer"}"#);
        assert_eq!(table.draft(), "see \nChanges:\nfirst\n");
    }
}

#[test]
fn the_mouse_finds_its_place_in_a_pane() {
    let mut table = Table::new();
    table.ask(ME, "ui.pane", pane("p"));
    table.screen(120, 20);
    let mut mouse = |kind, column, row| {
        let mouse = Mouse { kind, column, row };
        table.app.on_mouse(mouse);
        (table.told(), table.app.pane_has_focus())
    };
    let left = MouseKind::Press(Button::Left);
    let selected = r#"0:pane.select{"pane":"p","section":"files","id":"i2"}"#;
    assert_eq!(mouse(left, 80, 3), (selected.into(), true));
    assert_eq!(mouse(left, 3, 3), (String::new(), false));
    let (told, focused) = mouse(MouseKind::WheelDown, 80, 3);
    assert!(told.contains("i3") && !focused);
    assert_eq!(mouse(left, 80, 11), (String::new(), true));
    assert_eq!(
        mouse(MouseKind::Drag(Button::Left), 80, 12),
        (String::new(), true)
    );
    table.press("\r");
    assert!(table.draft().contains("second"), "{}", table.draft());
    let mouse = Mouse {
        kind: left,
        column: 119,
        row: 0,
    };
    table.app.on_mouse(mouse);
    assert_eq!(table.told(), r#"0:pane.closed{"pane":"p"}"#);
}

/// A pane that nobody asked for leaves the keys where they are, also when nothing is written yet.
#[test]
fn a_pane_takes_no_keys_of_somebody_else() {
    for typed in ["", "x", "/"] {
        let mut table = Table::new();
        table.press(typed);
        table.ask(ME, "ui.pane", pane("p"));
        assert!(!table.app.pane_has_focus(), "{typed:?}");
        table.press("y");
        assert_eq!(table.draft(), format!("{typed}y"));
    }
}

/// Lists that were read for the draft, and drafts that extensions write, are nobody's typing.
#[test]
fn who_was_called_has_the_focus_until_the_person_types() {
    for (typed, focused) in [("", true), ("x", false)] {
        let mut table = Table::new();
        table.press("/plain\r");
        table.press(typed);
        let read = Listed::Resources(Vec::new(), Vec::new(), Vec::new());
        table.app.on_done(Done::Listed(read));
        table.ask(ME, "ui.compose", json!({"text": "theirs"}));
        table.ask(ME, "ui.pane", pane("p"));
        assert_eq!(table.app.pane_has_focus(), focused, "{typed:?}");
    }
}

#[test]
fn panes_are_replaced_and_closed() {
    let mut table = Table::new();
    table.press("/plain\r");
    table.ask(ME, "ui.pane", pane("p"));
    assert!(table.app.pane_has_focus());
    // It stands beside what ctrl+c closes.
    assert_eq!(table.press("\x03"), "");
    assert_eq!(table.ask(ME, "ui.pane", pane("p")), "={}");
    let replaced = table.ask(OTHER, "ui.pane", pane("q"));
    assert_eq!(replaced, r#"={} 0:pane.closed{"pane":"p"}"#);
    assert_eq!(table.ask(ME, "ui.pane", Value::Null), "={}");
    assert!(table.app.pane_is_open());
    table.app.extension_gone(OTHER, table.now);
    assert!(!table.app.pane_is_open());
    let key = KeyPress::plain(Key::Char('x'));
    table.app.on_key(key, table.now);
    assert_eq!(table.told(), "");
}
