//! Questions: one at a time, and what becomes of those that nobody answers.

use super::super::super::Surface;
use super::super::super::completion::Listed;
use super::*;
use crate::tui::view::login::Login;

#[test]
fn lists_are_picked_from() {
    let select = json!({"title": "T", "options": ["one", {"label": "two", "value": 2}, "three"]});
    for (keys, answer) in [
        ("\r", r#"={"value":"one","label":"one"}"#),
        ("\x1b[B\r", r#"={"value":"2","label":"two"}"#),
        ("\x1b[A\r", r#"={"value":"three","label":"three"}"#),
        ("thr\r", r#"={"value":"three","label":"three"}"#),
        ("zz\r", r#"={"cancelled":true}"#),
        ("zz\x7f\x7ftw\r", r#"={"value":"2","label":"two"}"#),
        ("\x1b", r#"={"cancelled":true}"#),
        ("\x03", r#"={"cancelled":true}"#),
    ] {
        let mut table = Table::new();
        assert_eq!(table.ask(ME, "ui.select", select.clone()), "");
        assert_eq!(table.press(keys), answer, "{keys:?}");
        assert_eq!(table.draft(), "", "{keys:?}");
    }
    let confirm = json!({"title": "T", "message": "M"});
    for (keys, answer) in [
        ("\r", r#"={"confirmed":true}"#),
        ("\x1b[B\r", r#"={"confirmed":false}"#),
        ("n", r#"={"confirmed":false}"#),
        ("\x1b[BY", r#"={"confirmed":true}"#),
        // Nothing else that is typed hides an answer.
        ("zo\x7f\r", r#"={"confirmed":true}"#),
        ("\x1b", r#"={"confirmed":false}"#),
        ("\x03", r#"={"confirmed":false}"#),
    ] {
        let mut table = Table::new();
        table.ask(ME, "ui.confirm", confirm.clone());
        assert_eq!(table.press(keys), answer, "{keys:?}");
    }
    let mut table = Table::new();
    let message = "word ".repeat(200) + "END";
    table.ask(ME, "ui.confirm", json!({"title": "T", "message": message}));
    assert!(!table.screen(40, 20).concat().contains("END"));
    assert_eq!(table.press(&"\x1b[6~".repeat(9)), "");
    assert!(table.screen(40, 20).concat().contains("END"));
    table.press("\x1b[5~");
    assert!(!table.screen(40, 20).concat().contains("END"));
}

#[test]
fn a_field_takes_the_composer_for_a_while() {
    let mut table = Table::new();
    table.press("x\ny\x15my draft");
    table.now += Duration::from_secs(2);
    table.ask(
        ME,
        "ui.input",
        json!({"title": "Name", "placeholder": "who", "prefill": "a"}),
    );
    // What has several lines does not come back into a row.
    table.press("\x19\x15\x19");
    assert_eq!(table.draft(), "a");
    assert_eq!(table.press("b\x1b\r"), "");
    assert_eq!(table.press("\r"), r#"={"text":"ab"}"#);
    assert_eq!(table.draft(), "my draft");
    // What ends in a backslash is answered, too, and nothing of it is kept.
    table.ask(ME, "ui.input", json!({"title": "Key", "secret": true}));
    table.press("s3cret\\");
    assert!(!table.screen(40, 10).concat().contains("s3cret"));
    assert_eq!(table.press("\r"), r#"={"text":"s3cret\\"}"#);
    table.ask(ME, "ui.editor", json!({"title": "Text", "text": "one"}));
    assert_eq!(table.press("\ntwo\x1b[A"), "");
    assert_eq!(table.press("\r"), r#"={"text":"one\ntwo"}"#);
    table.ask(ME, "ui.editor", json!({"title": "Text"}));
    assert_eq!(table.press("gone\x1b"), r#"={"cancelled":true}"#);
    assert_eq!(table.draft(), "my draft");
    table.ask(
        ME,
        "ui.input",
        json!({"title": "Empty", "placeholder": "who are you?"}),
    );
    let screen = table.screen(40, 10);
    assert_eq!(screen[1], "┃ who are you?");
    assert!(screen[3].starts_with("Empty") && screen[3].ends_with("me"));
    assert_eq!(table.press("\r"), r#"={"text":""}"#);
}

/// An editor may be left when what it was opened for is over, or something else has come.
#[test]
fn what_an_editor_leaves_goes_where_it_was_meant_for() {
    let mut table = Table::new();
    let edited = |table: &mut Table, text: &str| {
        table.app.on_done(Done::Edited(Ok(text.into())));
        table.app.before_frame();
        table.app.after_frame(table.now);
    };
    table.press("mine");
    table.now += Duration::from_secs(2);
    table.ask(ME, "ui.editor", json!({"title": "T", "text": "given"}));
    table.press("\x07");
    edited(&mut table, "answer");
    assert_eq!(table.press("\r"), r#"={"text":"answer"}"#);
    // The asker has gone.
    for other in [false, true] {
        table.now += Duration::from_secs(2);
        table.ask(ME, "ui.editor", json!({"title": "T", "text": "given"}));
        table.press("\x07");
        table.app.extension_gone(ME, table.now);
        if other {
            table.ask(OTHER, "ui.input", json!({"title": "T"}));
        }
        edited(&mut table, "answer");
        table.now += Duration::from_secs(2);
        if other {
            assert_eq!(table.press("\r"), r#"={"text":""}"#);
        }
        assert_eq!(table.draft(), "mine");
        let shown = table.screen(80, 40).join("\n");
        assert!(shown.contains("the question is over - ↑"), "{shown}");
        table.press("\x1b[A");
        assert_eq!(table.draft(), "answer");
        table.press("\x1b[B");
    }
    // The draft is behind a question now, or another one.
    table.now += Duration::from_secs(2);
    table.press("\x07");
    table.ask(OTHER, "ui.input", json!({"title": "T"}));
    edited(&mut table, "mine!");
    assert_eq!(table.press("\r"), r#"={"text":""}"#);
    assert_eq!(table.draft(), "mine!");
    table.press("\x07");
    table.app.composer.put_above("back");
    edited(&mut table, "mine?");
    assert_eq!(table.draft(), "mine?");
    table.press("\x1b[A");
    assert_eq!(table.draft(), "back\nmine!");
    // One that nothing was changed in brings nothing back that is gone.
    table.press("\x07");
    table.app.composer.clear();
    edited(&mut table, "back\nmine!");
    assert_eq!(table.draft(), "");
}

#[test]
fn questions_wait_for_their_turn() {
    let question = |title: &str| json!({"title": title, "options": ["x"]});
    let mut table = Table::new();
    table.app.surface = Some(Surface::Login(Login::new(Vec::new(), None)));
    table.ask(ME, "ui.select", question("FIRST"));
    table.ask(OTHER, "ui.select", question("SECOND"));
    let titles = |table: &mut Table| {
        let screen = table.screen(40, 12).join("\n");
        ["FIRST", "SECOND"].map(|title| screen.contains(title))
    };
    let last = table.screen(40, 12).pop().unwrap();
    assert_eq!(last, "me asks: FIRST · esc to answer");
    let last = table.screen(80, 12).pop().unwrap();
    assert!(last.starts_with("↑/↓") && last.ends_with("  me asks: FIRST · esc to answer"));
    table.app.surface = None;
    assert_eq!(titles(&mut table), [true, false]);
    table.app.withdrawn(AskId::for_test(1), table.now);
    assert_eq!(titles(&mut table), [false, true]);
    table.ask(ME, "ui.input", question("THIRD"));
    table.app.extension_gone(OTHER, table.now);
    table.app.before_frame();
    assert!(table.app.composer.is_field());
    table.ask(ME, "ui.confirm", question("FOURTH"));
    table
        .app
        .refuse_questions("the session is another one", table.now);
    assert_eq!(
        table.told(),
        "!the session is another one !the session is another one"
    );
    assert!(!table.app.composer.is_field());
}

#[test]
fn what_was_typed_for_a_question_that_goes_is_not_lost() {
    let input = |secret: bool| json!({"title": "Who?", "prefill": "a", "secret": secret});
    for (params, typed, is_kept) in [
        (input(false), "bc", true),
        (input(false), "", false),
        (input(true), "bc", false),
    ] {
        for end in ["withdrawn", "gone", "another session"] {
            let mut table = Table::new();
            table.ask(ME, "ui.input", params.clone());
            table.press(typed);
            match end {
                "withdrawn" => table.app.withdrawn(AskId::for_test(1), table.now),
                "gone" => table.app.extension_gone(ME, table.now),
                _ => table.app.refuse_questions(end, table.now),
            }
            let told = table
                .screen(80, 20)
                .concat()
                .contains("the question of me is over");
            table.press("\x1b[A");
            assert_eq!(table.draft() == "abc", is_kept, "{end}");
            assert_eq!(told, is_kept, "{end}");
        }
    }
}

/// Also its own asker's, and one that takes no keys. Nobody waits unseen.
#[test]
fn a_question_waits_behind_a_panel_and_says_so() {
    for (owner, interactive) in [(OTHER, true), (ME, true), (OTHER, false), (ME, false)] {
        let mut table = Table::new();
        let panel = json!({"title": "Game", "lines": ["board"], "interactive": interactive});
        table.ask(owner, "ui.panel", panel);
        table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
        let screen = table.screen(60, 16);
        assert!(screen.contains(&"board".into()), "{screen:?}");
        let last = screen.last().unwrap();
        let asks = "me asks: Delete? · esc to answer";
        assert!(last.starts_with("esc close") && last.ends_with(asks));
        // Behind the reader, too, and where a pane fills the screen.
        table.app.open_reader();
        assert!(table.screen(60, 16)[15].ends_with(asks));
        table.app.reader = None;
        table.ask(OTHER, "ui.pane", pane("p"));
        if !table.app.pane_has_focus() {
            table.press("\x14");
        }
        assert_eq!(table.screen(30, 16)[15], "me asks: Delete?");
        table.app.extensions.pane = None;
        table.press("x");
        let closed = format!("{}:ui.panel_closed{{}}", owner.0);
        assert_eq!(table.press("\x1b"), closed);
        assert!(table.screen(60, 16).join("\n").contains("y yes"));
        // Who played or wrote may have pressed the next key for that.
        assert_eq!(table.press("y"), "");
        table.now += Duration::from_secs(1);
        assert_eq!(table.press("y"), r#"={"confirmed":true}"#);
    }
}

/// A panel that comes later waits for the answer.
#[test]
fn an_open_question_stays() {
    let mut table = Table::new();
    table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    table.ask(OTHER, "ui.panel", panel);
    assert!(table.screen(60, 16).join("\n").contains("Delete?"));
    assert_eq!(table.press("y"), r#"={"confirmed":true}"#);
    assert!(table.screen(60, 16).join("\n").contains("board"));
    assert_eq!(table.press("y"), r#"1:ui.key{"key":"y"}"#);
}

#[test]
fn who_is_typing_answers_nothing_by_accident() {
    let mut table = Table::new();
    table.press("half a sen");
    table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
    for keys in ["\r", "tence", " y", "es", "\r"] {
        assert_eq!(table.press(keys), "");
        table.now += Duration::from_millis(299);
    }
    assert_eq!(
        table.app.composer.draft().buffer.text(),
        "half a sentence yes"
    );
    // Esc writes nothing, so it does not keep the question deaf.
    assert_eq!(table.press("␛"), "");
    table.now += Duration::from_millis(1);
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
    // Who has just answered is not typing.
    table.ask(ME, "ui.confirm", json!({"title": "Sure?"}));
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
}

/// Nor does a list that was read meanwhile open over a question.
#[test]
fn a_list_that_comes_late_covers_no_question() {
    let mut table = Table::new();
    table.press("see @");
    // As long as no file is known.
    table.app.surface = None;
    table.now += Duration::from_secs(2);
    table.ask(ME, "ui.confirm", json!({"title": "Sure?"}));
    let files = Listed::Files(vec!["a.rs".into()]);
    table.app.on_done(Done::Listed(files));
    assert!(table.app.surface.is_none());
    assert_eq!(table.press("y"), r#"={"confirmed":true}"#);
}

/// Nor does one that was open make room for a panel.
#[test]
fn a_list_that_is_read_anew_stays() {
    let mut table = Table::new();
    table.press("/plai");
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    table.ask(OTHER, "ui.panel", panel);
    let read = Listed::Resources(Vec::new(), Vec::new(), Vec::new());
    table.app.on_done(Done::Listed(read));
    assert!(table.app.surface.is_some());
    assert_eq!(table.press("\r"), r#"command{"name":"plain","args":""}"#);
}

/// A question that ignores keys for a moment takes that moment with it.
#[test]
fn a_list_that_the_person_opens_hears_every_key() {
    let mut table = Table::new();
    table.press("half");
    table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
    table
        .app
        .refuse_questions("the session is another one", table.now);
    table.press("\x15/plai");
    let screen = table.screen(60, 20).join("\n");
    assert!(
        screen.contains("Commands 1") && screen.contains("plain"),
        "{screen}"
    );
}

/// What comes of a key is looked at by who pressed it, and what comes by itself is not.
#[test]
fn a_question_that_answers_a_key_hears_the_answer() {
    for (turns, draft, is_wanted) in [
        ("/plain\r", "", true),
        ("draft\x1by", "draft", true),
        ("draft\x1bym", "draftmme", false),
        // A key of the panel, or of the pane.
        ("panel x", "", true),
        ("pane \x14\x1b[Bx", "", true),
    ] {
        let mut table = Table::new();
        let turns = match turns.split_once(' ') {
            Some((shown, keys)) => {
                let mut params = pane("p");
                params["interactive"] = json!(true);
                params["lines"] = json!(["board"]);
                table.ask(ME, &format!("ui.{shown}"), params);
                keys
            }
            None => turns,
        };
        assert!(!table.press(turns).is_empty());
        table.ask(ME, "ui.panel", Value::Null);
        table.ask(ME, "ui.input", json!({"title": "Who?"}));
        let answer = if is_wanted { r#"={"text":"me"}"# } else { "" };
        assert_eq!(table.press("me\r"), answer, "{turns:?}");
        assert_eq!(table.app.composer.own_draft().buffer.text(), draft);
    }
}

#[test]
fn a_secret_that_comes_too_early_stands_nowhere() {
    let mut table = Table::new();
    table.press("half a sen");
    table.ask(ME, "ui.input", json!({"title": "Key", "secret": true}));
    assert_eq!(table.press("hunter2\r"), "");
    table.now += Duration::from_secs(1);
    assert_eq!(table.press("x\r"), r#"={"text":"x"}"#);
    assert_eq!(table.draft(), "half a sen");
}

/// Neither draft, model nor another's panel or question gets the end of a secret.
#[test]
fn the_rest_of_a_secret_goes_nowhere() {
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    for (method, params) in [
        ("", Value::Null),
        ("ui.panel", panel),
        ("ui.input", json!({"title": "Name"})),
        ("ui.confirm", json!({"title": "Delete?"})),
    ] {
        let mut table = Table::new();
        table.press("draft ");
        table.now += Duration::from_secs(2);
        table.ask(ME, "ui.input", json!({"title": "Key", "secret": true}));
        table.press("hun");
        if !method.is_empty() {
            table.ask(OTHER, method, params);
        }
        // Also who has stopped for a while may go on.
        table.now += Duration::from_secs(2);
        table.app.withdrawn(AskId::for_test(1), table.now);
        assert_eq!(table.press("te"), "", "{method}");
        for typed in ["y", "r2", "\r"] {
            table.now += Duration::from_millis(299);
            table.app.on_paste("p4ste", table.now);
            assert!(table.app.hides_keys(table.now), "{method}");
            assert_eq!(table.press(typed), "", "{method}");
        }
        assert_eq!(table.app.composer.own_draft().buffer.text(), "draft ");
        table.now += Duration::from_millis(300);
        let told = match method {
            "" => "prompt draft yes",
            "ui.panel" => {
                r#"1:ui.key{"key":"y"} 1:ui.key{"key":"e"} 1:ui.key{"key":"s"} 1:ui.key{"key":"enter"}"#
            }
            "ui.input" => r#"={"text":"yes"}"#,
            _ => r#"={"confirmed":true}"#,
        };
        assert!(table.press("yes\r").starts_with(told), "{method}");
    }
}

#[test]
fn the_rest_of_an_answer_is_none_to_what_comes_up_next() {
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    for (method, params) in [
        ("ui.panel", panel),
        ("ui.pane", pane("p")),
        ("ui.input", json!({"title": "Name"})),
        ("ui.confirm", json!({"title": "Delete?"})),
    ] {
        for is_gone in [true, false] {
            let mut table = Table::new();
            if method == "ui.pane" {
                table.ask(OTHER, method, params.clone());
                table.press("\x14");
                assert!(table.app.pane_has_focus());
                table.now += Duration::from_secs(2);
            }
            table.ask(ME, "ui.input", json!({"title": "Who"}));
            table.press("bo");
            if method != "ui.pane" {
                table.ask(OTHER, method, params.clone());
            }
            match is_gone {
                true => table.app.extension_gone(ME, table.now),
                false => table.app.withdrawn(
                    AskId::for_test(table.asks - u64::from(method != "ui.pane")),
                    table.now,
                ),
            }
            assert_eq!(table.press("by\r"), "", "{method}");
            table.now += Duration::from_millis(299);
            table.app.on_paste("by", table.now);
            assert_eq!(table.told(), "");
            table.now += Duration::from_millis(300);
            assert_ne!(table.press("y\x1b[B\r"), "", "{method}");
        }
    }
}

/// The same asker's is heard as soon as it is seen, another's when nobody types any more.
#[test]
fn what_is_pressed_twice_answers_one_question() {
    for (next, hears_when_seen) in [(ME, true), (OTHER, false)] {
        for asks_early in [true, false] {
            let mut table = Table::new();
            table.press("draft");
            table.now += Duration::from_secs(2);
            let sure = json!({"title": "Sure?"});
            table.ask(ME, "ui.input", json!({"title": "Who"}));
            if asks_early {
                table.ask(next, "ui.confirm", sure.clone());
                assert_eq!(table.press("bob\r\r"), r#"={"text":"bob"}"#);
                table.now += Duration::from_millis(99);
                assert_eq!(table.press("\r"), "");
                table.now += Duration::from_millis(300);
            } else {
                assert_eq!(table.press("bob\r"), r#"={"text":"bob"}"#);
                table.ask(next, "ui.confirm", sure);
            }
            let is_heard = asks_early || hears_when_seen;
            let told = if is_heard {
                r#"={"confirmed":true}"#
            } else {
                ""
            };
            assert_eq!(table.press("\r"), told, "{next:?} {asks_early}");
            assert_eq!(table.draft(), "draft");
        }
    }
    // A wizard: each is on the screen before it is answered.
    let mut table = Table::new();
    for _ in 0..3 {
        table.ask(ME, "ui.input", json!({"title": "Who"}));
    }
    for _ in 0..3 {
        assert_eq!(table.press("a\r"), r#"={"text":"a"}"#);
    }
}

#[test]
fn what_is_pasted_over_a_secret_stands_nowhere() {
    let mut table = Table::new();
    table.ask(ME, "ui.input", json!({"title": "Key", "secret": true}));
    table.app.open_reader();
    table.app.on_paste("hunter2", table.now);
    table.app.reader = None;
    assert_eq!(table.app.composer.own_draft().buffer.text(), "");
    assert_eq!(table.press("x\r"), r#"={"text":"x"}"#);
}

/// Also who has only looked so far was about to press a key, and who answers one after the other is
/// not kept waiting.
#[test]
fn a_question_that_takes_a_place_hears_its_answer() {
    for is_gone in [true, false] {
        let mut table = Table::new();
        let sure = json!({"title": "Sure?"});
        table.ask(ME, "ui.confirm", sure.clone());
        table.ask(OTHER, "ui.confirm", sure);
        let answer = r#"={"confirmed":true}"#;
        let deaf = if is_gone {
            table.app.withdrawn(AskId::for_test(1), table.now);
            table.screen(40, 10);
            290
        } else {
            assert_eq!(table.press("\r"), answer);
            99
        };
        table.now += Duration::from_millis(deaf);
        assert!(table.app.is_deaf(table.now), "{is_gone}");
        table.now += Duration::from_millis(10);
        assert_eq!(table.press("\r"), answer, "{is_gone}");
    }
}
