//! Questions of extensions: one at a time, first come, and every one of them is answered.

use serde_json::{Value, json};

use super::{enter, plain, why};
use crate::support::{Actor, Place, Played, Pty, say};
use crate::tui::app::open;

fn gone(pty: &mut Pty, text: &str) {
    pty.wait(&format!("no {text}"), |screen| {
        !screen.text().contains(text)
    });
}

#[test]
fn a_person_picks_confirms_and_types() {
    let place = Place::new();
    let me = plain(&place, "me");
    let mut pty = open(&place, 80, 30);
    let long = "x".repeat(100);
    let options = json!([
        "plain",
        {"label": "with words", "description": "what it means"},
        {"label": "with a value", "value": {"n": 7}},
        {"label": long, "value": long},
    ]);
    let select = json!({"title": "Which one?", "options": options});
    let huge = "x".repeat(2 << 20);
    let answered = |value: Value| json!({"result": value});
    let down = "\x1b[B";
    for (method, params, keys, answer) in [
        (
            "ui.select",
            &select,
            vec!["\r"],
            json!({"value": "plain", "label": "plain"}),
        ),
        (
            "ui.select",
            &select,
            vec![down, "\r"],
            json!({"value": "with words", "label": "with words"}),
        ),
        (
            "ui.select",
            &select,
            vec![down, down, "\r"],
            json!({"value": "{\"n\":7}", "label": "with a value"}),
        ),
        (
            "ui.select",
            &select,
            vec!["\x1b"],
            json!({"cancelled": true}),
        ),
        (
            "ui.select",
            &select,
            vec!["\x03"],
            json!({"cancelled": true}),
        ),
        (
            "ui.select",
            &json!({"title": "A huge one?", "options": [huge, "b"]}),
            vec!["\r"],
            json!({"value": huge, "label": huge}),
        ),
        (
            "ui.confirm",
            &json!({"title": "Sure?", "message": huge}),
            vec![down, "\r"],
            json!({"confirmed": false}),
        ),
        (
            "ui.confirm",
            &json!({"title": "Sure?", "message": "very"}),
            vec!["\r"],
            json!({"confirmed": true}),
        ),
        (
            "ui.confirm",
            &json!({"title": "Sure?"}),
            vec![down, "\r"],
            json!({"confirmed": false}),
        ),
        (
            "ui.confirm",
            &json!({"title": "Sure?"}),
            vec!["\x1b"],
            json!({"confirmed": false}),
        ),
        (
            "ui.input",
            &json!({"title": "Say", "prefill": "ab"}),
            vec!["c", "\r"],
            json!({"text": "abc"}),
        ),
        (
            "ui.input",
            &json!({"title": "Say"}),
            vec!["\x1b[200~two\nlines\x1b[201~", "\r"],
            json!({"text": "two lines"}),
        ),
        (
            "ui.input",
            &json!({"title": "Say"}),
            vec!["\r"],
            json!({"text": ""}),
        ),
        (
            "ui.input",
            &json!({"title": "Say"}),
            vec!["x", "\x1b"],
            json!({"cancelled": true}),
        ),
        (
            "ui.editor",
            &json!({"title": "Say", "text": "one"}),
            vec!["\x1b[13;2u", "two", "\r"],
            json!({"text": "one\ntwo"}),
        ),
        (
            "ui.editor",
            &json!({"title": "Say"}),
            vec!["\x1b"],
            json!({"cancelled": true}),
        ),
    ] {
        let title = params["title"].as_str().unwrap();
        let question = me.begin(method, params.clone());
        pty.wait_for(title);
        for key in keys {
            pty.send(key);
            pty.settle();
        }
        assert_eq!(
            me.answer_to(&question),
            answered(answer),
            "{method} {params}"
        );
        gone(&mut pty, title);
    }
    // The value is whole however the label was cut.
    let question = me.begin("ui.select", select.clone());
    pty.wait_for("Which one?");
    assert!(!pty.screen.text().contains(&long));
    pty.send("\x1b[A\r");
    let answer = me.answer_to(&question);
    assert_eq!(answer["result"]["value"], long);
    for (method, params, field) in [
        (
            "ui.select",
            json!({"title": "T", "options": []}),
            "`options`",
        ),
        ("ui.select", json!({"title": "T"}), "`options`"),
        ("ui.select", json!({"options": ["a"]}), "`title`"),
        ("ui.confirm", json!({}), "`title`"),
        ("ui.input", json!({"title": " "}), "`title`"),
    ] {
        let id = json!([method, params]);
        me.send(&json!({"id": id, "method": method, "params": params}));
        let refused = me.answer_to(&id);
        assert!(why(&refused).contains(field), "{refused}");
    }
}

#[test]
fn a_secret_is_known_to_its_asker_alone() {
    let place = Place::new();
    let me = plain(&place, "me");
    let spy = json!({
        "name": "spy",
        "hooks": ["input", "before_turn"],
        "events": ["turn_start", "turn_end", "session_start"],
    });
    let spy = Actor::new(&place, "spy", spy).play();
    let mut pty = open(&place, 80, 24);
    let question = me.begin("ui.input", json!({"title": "Token", "secret": true}));
    pty.wait_for("Token");
    pty.send("\x1b[200~hunter2 \x1b[201~");
    pty.send("and more\\");
    pty.wait_for("•••••••••••••••••");
    pty.send("\r");
    let answer = json!({"result": {"text": "hunter2 and more\\"}});
    assert_eq!(me.answer_to(&question), answer);
    gone(&mut pty, "Token");
    pty.send("\x1b[A");
    enter(&mut pty, "an ordinary prompt");
    pty.wait_for("  ok");
    let all = pty.everything().join("\n");
    let told = spy.lines().iter().map(Value::to_string).collect::<String>();
    assert!(told.contains("an ordinary prompt"), "{told}");
    let mut files = String::new();
    for entry in std::fs::read_dir(&place.home).unwrap().flatten() {
        files += &std::fs::read_to_string(entry.path()).unwrap_or_default();
    }
    for log in place.logs() {
        files += &std::fs::read_to_string(log).unwrap();
    }
    assert!(files.contains("an ordinary prompt"));
    let asked = place.provider.received()[0].body.to_string();
    let bytes = String::from_utf8_lossy(&pty.bytes).into_owned();
    for place in [&all, &told, &files, &asked, &bytes] {
        assert!(
            !place.contains("hunter2") && !place.contains("and more"),
            "{place}"
        );
    }
}

#[test]
fn a_long_answer_is_written_in_the_editor() {
    let place = Place::new();
    place.write("editor.sh", "printf 'more\\n\\n' >> \"$1\"\n");
    place.settings(json!({"editor": "sh editor.sh"}));
    let me = plain(&place, "me");
    let mut pty = open(&place, 80, 24);
    pty.send("my draft");
    pty.wait_for("┃ my draft");
    let question = me.begin("ui.editor", json!({"title": "Notes", "text": "one\n"}));
    pty.wait_for("Notes");
    // Who was typing has a moment in which keys are not taken for answers.
    pty.quiet(std::time::Duration::from_millis(350));
    pty.send("\x07");
    pty.wait_for("┃ more");
    pty.send("\r");
    assert_eq!(
        me.answer_to(&question),
        json!({"result": {"text": "one\nmore"}})
    );
    pty.wait_for("┃ my draft");
}

/// Who types a secret goes on for a moment when its asker is gone.
#[test]
fn the_end_of_a_secret_is_no_prompt() {
    let place = Place::new();
    let me = plain(&place, "me");
    let mut pty = open(&place, 80, 24);
    me.begin("ui.input", json!({"title": "Password", "secret": true}));
    pty.wait_for("Password");
    pty.send("hun");
    pty.wait_for("•••");
    me.exit();
    gone(&mut pty, "Password");
    pty.send("ter2\r");
    pty.quiet(std::time::Duration::from_millis(350));
    pty.send("draft");
    pty.wait_for("┃ draft");
}

#[test]
fn ten_extensions_ask_at_once_and_are_served_in_order() {
    let place = Place::new();
    let names: Vec<String> = (0..10).map(|number| format!("x{number}")).collect();
    let cast: Vec<Played> = names.iter().map(|name| plain(&place, name)).collect();
    let mut pty = open(&place, 80, 24);
    let ask = |(number, who): (usize, &Played)| {
        let title = format!("Question {number}?");
        let id = match number % 3 {
            0 => who.begin("ui.confirm", json!({"title": title})),
            1 => who.begin("ui.select", json!({"title": title, "options": ["yes"]})),
            _ => who.begin("ui.input", json!({"title": title, "prefill": "yes"})),
        };
        // Lines of one extension are served in order: the question is known by then.
        who.ask("session.info", json!({}));
        id
    };
    let ids: Vec<Value> = cast.iter().enumerate().map(ask).collect();
    for (number, (who, id)) in cast.iter().zip(&ids).enumerate().take(7) {
        if number == 5 {
            continue;
        }
        pty.wait_for(&format!("Question {number}?"));
        pty.wait_for(&names[number]);
        assert_eq!(pty.screen.text().matches("Question").count(), 1);
        // The second press of the key before would come within this time.
        pty.quiet(std::time::Duration::from_millis(100));
        if number == 4 {
            // One that waits is gone with its asker; the one behind it is next.
            cast[5].exit();
            pty.wait_for("x5");
            pty.send("\r");
            who.answer_to(id);
            continue;
        }
        pty.send("\r");
        let answer = who.answer_to(id);
        assert!(answer["result"].is_object(), "{answer}");
    }
    // ctrl+c dismisses those that are left.
    pty.send("\x03");
    for (number, (who, id)) in cast.iter().zip(&ids).enumerate().skip(7) {
        let expected = match number % 3 {
            0 => json!({"result": {"confirmed": false}}),
            _ => json!({"result": {"cancelled": true}}),
        };
        assert_eq!(who.answer_to(id), expected, "{number}");
    }
    gone(&mut pty, "Question");
}

/// Whatever ends a session answers what was open, and tells the extension why it ends.
#[test]
fn what_ends_a_session_answers_everything() {
    let place = Place::new();
    place.provider.script([say("One."), say("Two.")]);
    let manifest = json!({"name": "me", "events": ["session_start", "session_shutdown"]});
    let me = Actor::new(&place, "me", manifest).play();
    let mut pty = open(&place, 80, 40);
    for (prompt, reply) in [("first", "  One."), ("second", "  Two.")] {
        enter(&mut pty, prompt);
        pty.wait_for(reply);
        pty.wait("the end of the turn", |screen| {
            !screen.text().contains("Thinking")
        });
        if prompt == "first" {
            enter(&mut pty, "/new");
            pty.wait("a fresh session", |screen| {
                !screen.text().contains("Commands")
            });
            me.wait_nth("event", 2);
        }
    }
    let mut expected = ["startup", "new"].map(String::from).to_vec();
    for (line, seen, reason) in [
        ("/fork", "session of its own", "fork"),
        ("/resume", "Sessions 3", "resume"),
        ("/new", "begin a new session", "new"),
        ("/reload", "start extensions anew", "reload"),
        ("/quit", "end e", "quit"),
    ] {
        // What is asked while a list is open waits for it.
        enter_list(&mut pty, line, seen);
        let questions = [
            me.begin("ui.select", json!({"title": "Open?", "options": ["a"]})),
            me.begin("ui.input", json!({"title": "Waiting?"})),
        ];
        me.ask("session.info", json!({}));
        assert!(!pty.screen.text().contains("Open?"));
        pty.send(if reason == "resume" { "\x1b[B\r" } else { "\r" });
        for question in &questions {
            let answer = me.answer_to(question);
            assert!(!why(&answer).is_empty());
        }
        expected.push(reason.to_owned());
        let reasons = |lines: &[Value], name: &str| -> Vec<String> {
            let events = lines.iter().filter(|line| line["params"]["name"] == name);
            let reasons = events.map(|event| event["params"]["extra"]["reason"].as_str());
            reasons
                .map(|reason| reason.unwrap_or_default().to_owned())
                .collect()
        };
        let ends = expected[1..].to_vec();
        me.wait_for("the end", |lines| {
            (reasons(lines, "session_shutdown") == ends).then_some(())
        });
        if reason != "quit" {
            let starts = expected.clone();
            me.wait_for("the start", |lines| {
                (reasons(lines, "session_start") == starts).then_some(())
            });
        }
    }
    assert!(pty.wait_exit().success());
    assert_eq!(pty.screen.modes(), "");
    me.wait("shutdown");
    place.wait_deserted();
}

/// Types a command up to its Enter, or up to the list that it opens.
fn enter_list(pty: &mut Pty, line: &str, seen: &str) {
    pty.send(line);
    pty.wait_for(line);
    if line == "/resume" {
        pty.send("\r");
    }
    pty.wait_for(seen);
}
