//! What an extension shows without being asked: notices, blocks, slots, and text in the composer.

use serde_json::{Value, json};

use super::{done, enter, plain, styles, why};
use crate::support::{Place, say};
use crate::tui::app::open;

#[test]
fn notices_and_blocks_join_the_transcript() {
    let place = Place::new();
    let me = plain(&place, "me");
    let mut pty = open(&place, 80, 60);
    let diff = "--- a/x.rs\n+++ b/x.rs\n@@ -41,2 +41,2 @@\n same\n-old\n+new\n";
    let tone = |tone: &str| json!({"message": format!("a tone of {tone}"), "tone": tone});
    let show = |title: &str, body: &str, format: &str| json!({"title": title, "body": body, "format": format});
    for (method, params, rows, style) in [
        (
            "ui.notify",
            json!({"message": "no tone\ntwo rows"}),
            "  no tone\n  two rows",
            "",
        ),
        ("ui.notify", tone("info"), "\n  a tone of info", ""),
        (
            "ui.notify",
            tone("warning"),
            "  warning: a tone of warning",
            "",
        ),
        (
            "ui.notify",
            tone("error"),
            "● Error: a tone of error",
            "fg=203",
        ),
        (
            "ui.show",
            show("Text", "a **b**\n\tc", "text"),
            "● Text\n  a **b**\n",
            "bold fg=252",
        ),
        (
            "ui.show",
            show("Mark", "a **b**\n\n- c", "markdown"),
            "● Mark\n  a b\n\n  • c",
            "bold fg=252",
        ),
        (
            "ui.show",
            show("", diff, "diff"),
            "     41   same\n     42 - old\n     42 + new",
            "dim fg=246",
        ),
        (
            "ui.show",
            show("Odd", "as **it** is", "html"),
            "● Odd\n  as **it** is",
            "bold fg=252",
        ),
    ] {
        let line = json!({"id": rows, "method": method, "params": params});
        me.send(&line);
        assert_eq!(me.answer_to(&json!(rows)), done(), "{method} {params}");
        pty.wait_for(rows);
        let first = rows.trim_start_matches('\n').lines().next().unwrap();
        assert_eq!(
            styles(&pty, first).split(", ").next().unwrap(),
            style,
            "{params}"
        );
    }
    assert!(
        styles(&pty, "42 - old").contains("fg=#f85149")
            || styles(&pty, "42 - old").contains("fg=167")
    );
    // The notification needs no answer.
    me.send(&json!({"method": "notify", "params": {"message": "by the way"}}));
    pty.wait_for("  by the way");
    // What is too long ends early and says so.
    let long: String = (0..200)
        .map(|row| format!("row {row} {}\n", "x".repeat(500)))
        .collect();
    assert_eq!(
        me.ask("ui.show", json!({"body": long, "format": "text"})),
        done()
    );
    pty.wait("the end of the block", |screen| {
        let text = screen.text();
        !text.contains("row 199 ") && text.contains("[cut]")
    });
    for (method, params, field) in [
        ("ui.notify", json!({}), "`message`"),
        ("ui.notify", json!({"message": 7}), "`message`"),
        ("ui.show", json!({"title": ""}), "`body`"),
        ("ui.shout", json!({}), "`ui.shout`"),
    ] {
        me.send(&json!({"id": field, "method": method, "params": params}));
        let answer = me.answer_to(&json!(field));
        assert!(why(&answer).contains(field), "{answer}");
        me.send(&json!({"id": "next", "method": "session.info"}));
    }
    enter(&mut pty, "hello");
    pty.wait_for("  ok");
}

#[test]
fn slots_stay_until_they_are_emptied_or_their_owner_is_gone() {
    let place = Place::new();
    let layout = json!({
        "status": {"right": ["[{status:two}]", "{status}"]},
        "activity": "{phase} {elapsed} <{activity}>",
    });
    place.write_home("layout.json", &layout.to_string());
    let [one, two] = ["one", "two"].map(|name| plain(&place, name));
    let mut pty = open(&place, 80, 30);
    let ask = |who: &crate::support::Played, method: &str, params: Value| {
        assert_eq!(who.ask(method, params), done());
    };
    ask(&one, "ui.status", json!({"text": "41 ok"}));
    ask(&one, "ui.status", json!({"text": "main*", "key": "branch"}));
    ask(&two, "ui.status", json!({"text": "x".repeat(60)}));
    let cut = format!("{}…", "x".repeat(39));
    pty.wait("every status slot", |screen| {
        let last = screen.rows().into_iter().rev().find(|row| !row.is_empty());
        let last = last.unwrap_or_default();
        last.contains(&format!("[{cut}]")) || last.ends_with(&cut)
    });
    ask(&two, "ui.status", json!({"text": null}));
    pty.wait_for("41 ok · main*");

    // Between turns the text stands alone, in a turn within the template.
    ask(&one, "ui.activity", json!({"text": "build 3/7"}));
    ask(&two, "ui.activity", json!({"text": "watching"}));
    pty.wait_for("\n  build 3/7 · watching\n");
    let (slow, finish) = say("So far").gate();
    place.provider.script([slow]);
    enter(&mut pty, "go");
    pty.wait_for("<build 3/7 · watching>");
    assert!(pty.screen.text().contains("Thinking ("));
    drop(finish);
    pty.wait_for("s (↑");
    ask(&one, "ui.activity", json!({"text": " "}));
    pty.wait_for("\n  watching\n");

    // Widgets in the order of their keys, eight rows over all extensions.
    let rows = |name: &str, count: usize| -> Vec<String> {
        (0..count).map(|row| format!("{name} {row}")).collect()
    };
    ask(
        &two,
        "ui.widget",
        json!({"key": "a", "lines": rows("w-a", 3)}),
    );
    ask(
        &one,
        "ui.widget",
        json!({"key": "z", "lines": rows("w-z", 4)}),
    );
    ask(
        &one,
        "ui.widget",
        json!({"key": "b", "lines": rows("w-b", 4)}),
    );
    pty.wait_for("w-b 3");
    pty.wait("eight rows", |screen| {
        screen.text().matches("w-").count() == 8
    });
    let text = pty.screen.text();
    let widgets: Vec<_> = text.lines().filter(|row| row.contains("w-")).collect();
    let mut sorted = widgets.clone();
    sorted.sort_by_key(|row| row.trim().split(' ').next().unwrap().to_owned());
    assert_eq!(widgets.len(), 8);
    let keyed = |key: &str| widgets.iter().filter(|row| row.contains(key)).count();
    assert!(keyed("w-b") == 4, "{widgets:?}");
    ask(&one, "ui.widget", json!({"key": "b", "lines": null}));
    pty.wait("the other rows", |screen| {
        screen.text().matches("w-z").count() == 4
    });
    let spans = json!([{"text": "plain", "token": "sparkle"}, {"text": " bad", "token": "error"}]);
    ask(&one, "ui.widget", json!({"key": "z", "lines": [spans]}));
    pty.wait_for("plain bad");
    assert_eq!(styles(&pty, "plain bad"), "fg=203");

    // Nothing of one that has died stays.
    one.exit();
    pty.wait("its end", |screen| {
        let text = screen.text();
        !text.contains("plain bad") && !text.contains("41 ok") && text.contains("watching")
    });
    pty.wait_for("w-a 2");
}

#[test]
fn a_composed_text_is_a_draft() {
    let place = Place::new();
    let me = plain(&place, "me");
    let mut pty = open(&place, 80, 24);
    pty.send("my own words");
    pty.wait_for("┃ my own words");
    assert_eq!(
        me.ask("ui.compose", json!({"text": "two\nlines\u{1b}[31m"})),
        done()
    );
    pty.wait_for("┃ two\n┃ lines");
    // What was written is not lost.
    pty.send("\x1b[A\x1b[A");
    pty.wait_for("┃ my own words");
    pty.send("\x1b[B");
    let question = me.begin("ui.input", json!({"title": "Who?"}));
    pty.wait_for("Who?");
    // Who was typing has a moment in which keys are not taken for answers.
    pty.quiet(std::time::Duration::from_millis(350));
    let refused = me.ask("ui.compose", json!({"text": "x"}));
    assert!(why(&refused).contains("answering a question"), "{refused}");
    pty.send("\x1b");
    assert_eq!(
        me.answer_to(&question),
        json!({"result": {"cancelled": true}})
    );
    me.ask("ui.compose", json!({"text": "send this"}));
    pty.wait_for("┃ send this");
    pty.send("\r");
    pty.wait_for("  ok");
    assert_eq!(place.provider.received()[0].last_user(), "send this");
}
