//! Requests of every method, with wrong types everywhere.

use super::*;
use serde_json::json;

fn ok(method: &str, params: Value) -> Request {
    parse(method, &params).unwrap()
}

fn slot(key: Option<&str>, value: Option<&str>) -> Slot<String> {
    Slot {
        key: key.map(String::from),
        value: value.map(String::from),
    }
}

#[test]
fn ui_requests() {
    let cases = [
        (
            "ui.notify",
            json!({"message": "a\x1b[1m\nb", "tone": "warning"}),
            Ui::Notify {
                message: "a\nb".into(),
                tone: Tone::Warning,
            },
        ),
        (
            "ui.notify",
            json!({"message": "x", "tone": "sparkly"}),
            Ui::Notify {
                message: "x".into(),
                tone: Tone::Info,
            },
        ),
        (
            "ui.confirm",
            json!({"title": "Deploy?", "message": "to\nprod"}),
            Ui::Confirm {
                title: "Deploy?".into(),
                message: "to\nprod".into(),
            },
        ),
        (
            "ui.input",
            json!({"title": "T", "prefill": "p\x07", "secret": true}),
            Ui::Input {
                title: "T".into(),
                placeholder: String::new(),
                prefill: "p".into(),
                secret: true,
            },
        ),
        (
            "ui.editor",
            json!({"title": "T", "text": "a\nb", "placeholder": "p"}),
            Ui::Editor {
                title: "T".into(),
                text: "a\nb".into(),
                placeholder: "p".into(),
            },
        ),
        (
            "ui.status",
            json!({"text": "a\nb", "key": "k"}),
            Ui::Status(slot(Some("k"), Some("a b"))),
        ),
        (
            "ui.status",
            json!({"text": null}),
            Ui::Status(slot(None, None)),
        ),
        ("ui.status", json!(null), Ui::Status(slot(None, None))),
        (
            "ui.activity",
            json!({"text": " ", "key": ""}),
            Ui::Activity(slot(None, None)),
        ),
        (
            "ui.activity",
            json!({"text": "x".repeat(50)}),
            Ui::Activity(slot(None, Some(&format!("{}…", "x".repeat(39))))),
        ),
        (
            "ui.widget",
            json!({"lines": null, "key": "k"}),
            Ui::Widget(Slot {
                key: Some("k".into()),
                value: None,
            }),
        ),
        (
            "ui.widget",
            json!({"lines": []}),
            Ui::Widget(Slot {
                key: None,
                value: None,
            }),
        ),
        (
            "ui.compose",
            json!({"text": "draft"}),
            Ui::Compose("draft".into()),
        ),
        (
            "ui.compose",
            json!({"text": ""}),
            Ui::Compose(String::new()),
        ),
        ("ui.panel", json!(null), Ui::Panel(None)),
        ("ui.pane", json!(null), Ui::Pane(None)),
    ];
    for (method, params, expected) in cases {
        assert_eq!(ok(method, params), Request::Ui(expected), "{method}");
    }
    let Request::Ui(Ui::Widget(widget)) = ok("ui.widget", json!({"lines": vec!["x"; 100]})) else {
        panic!("no widget");
    };
    assert_eq!(widget.value.unwrap().len(), WIDGET_ROWS);
}

#[test]
fn session_requests() {
    let send = |internal, run, next_turn| Session::Send {
        content: " c\x07".into(),
        internal,
        run,
        next_turn,
    };
    let cases = [
        (
            "session.send",
            json!({"content": " c\x07"}),
            send(false, true, false),
        ),
        (
            "session.send",
            json!({"content": " c\x07", "run": false}),
            send(false, false, false),
        ),
        (
            "session.send",
            json!({"content": " c\x07", "internal": true}),
            send(true, false, false),
        ),
        (
            "session.send",
            json!({"content": " c\x07", "internal": true, "run": true}),
            send(true, true, false),
        ),
        (
            "session.send",
            json!({"content": " c\x07", "internal": true, "when": "next_turn"}),
            send(true, false, true),
        ),
        ("session.info", json!(null), Session::Info),
        (
            "session.name",
            json!({"name": " a\nb "}),
            Session::Name("a b".into()),
        ),
        (
            "session.name",
            json!({"name": " "}),
            Session::Name(String::new()),
        ),
        (
            "session.model",
            json!({"model": " p/m "}),
            Session::Model("p/m".into()),
        ),
        (
            "session.effort",
            json!({"effort": "high"}),
            Session::Effort("high".into()),
        ),
        (
            "session.tools",
            json!({"names": ["read", "none"]}),
            Session::Tools(Some(vec!["read".into(), "none".into()])),
        ),
        (
            "session.tools",
            json!({"names": []}),
            Session::Tools(Some(vec![])),
        ),
        (
            "session.tools",
            json!({"names": null}),
            Session::Tools(None),
        ),
        ("session.interrupt", json!({}), Session::Interrupt),
        (
            "session.compact",
            json!({"focus": "tests"}),
            Session::Compact {
                focus: Some("tests".into()),
            },
        ),
        (
            "session.compact",
            json!({"focus": " "}),
            Session::Compact { focus: None },
        ),
    ];
    for (method, params, expected) in cases {
        assert_eq!(ok(method, params), Request::Session(expected), "{method}");
    }
}

#[test]
fn errors_name_the_field_or_the_method() {
    let cases = [
        ("ui.hologram", json!({}), "unknown method `ui.hologram`"),
        ("a\x1b[1m\nb", json!({}), "unknown method `a b`"),
        ("ui.notify", json!([]), "`params` is not an object"),
        ("ui.notify", json!({}), "`message` is missing"),
        (
            "ui.notify",
            json!({"message": " "}),
            "`message` must not be blank",
        ),
        (
            "ui.notify",
            json!({"message": "x", "tone": 1}),
            "`tone` must be a string",
        ),
        ("ui.show", json!({}), "`title` or `body` is needed"),
        (
            "ui.select",
            json!({"title": "T"}),
            "`options` has nothing to pick from",
        ),
        ("ui.confirm", json!({}), "`title` is missing"),
        (
            "ui.confirm",
            json!({"title": "T", "message": 1}),
            "`message` must be a string",
        ),
        (
            "ui.input",
            json!({"title": "T", "secret": "yes"}),
            "`secret` must be true or false",
        ),
        (
            "ui.editor",
            json!({"title": " "}),
            "`title` must not be blank",
        ),
        ("ui.status", json!({"text": 1}), "`text` must be a string"),
        (
            "ui.status",
            json!({"text": "x", "key": 1}),
            "`key` must be a string",
        ),
        ("ui.widget", json!({"lines": "x"}), "`lines` must be a list"),
        ("ui.compose", json!({}), "`text` is missing"),
        ("ui.panel", json!([]), "the panel is not an object"),
        ("ui.pane", json!({}), "`sections` has nothing to show"),
        ("session.send", json!({}), "`content` is missing"),
        (
            "session.send",
            json!({"content": "\n"}),
            "`content` must not be blank",
        ),
        (
            "session.send",
            json!({"content": "x", "when": "later"}),
            "`when` must be `next_turn`",
        ),
        (
            "session.send",
            json!({"content": "x", "when": "next_turn"}),
            "`when` needs `internal`: only an internal message waits for the next prompt",
        ),
        (
            "session.send",
            json!({"content": "x", "internal": true, "run": true, "when": "next_turn"}),
            "`run` and `when` cannot go together",
        ),
        ("session.name", json!({}), "`name` is missing"),
        (
            "session.model",
            json!({"model": ""}),
            "`model` must not be blank",
        ),
        (
            "session.effort",
            json!({"effort": 1}),
            "`effort` must be a string",
        ),
        (
            "session.tools",
            json!({}),
            "`names` is missing; null restores the tools",
        ),
        (
            "session.tools",
            json!({"names": "read"}),
            "`names` must be a list",
        ),
        (
            "session.tools",
            json!({"names": [1]}),
            "`names[0]` must be a string",
        ),
        (
            "session.compact",
            json!({"focus": 1}),
            "`focus` must be a string",
        ),
    ];
    for (method, params, expected) in cases {
        assert_eq!(
            parse(method, &params),
            Err(expected.to_owned()),
            "{method} {params}"
        );
    }
}

#[test]
fn only_questions_wait_for_a_person() {
    let params = json!({
        "title": "T", "message": "m", "text": "t", "options": ["a"], "lines": ["l"],
        "sections": [{"kind": "text", "body": "b"}],
    });
    let questions = ["ui.select", "ui.confirm", "ui.input", "ui.editor"];
    let others = [
        "ui.notify",
        "ui.show",
        "ui.status",
        "ui.activity",
        "ui.compose",
        "ui.panel",
        "ui.widget",
        "ui.pane",
    ];
    for (methods, expected) in [(&questions[..], true), (&others[..], false)] {
        for method in methods {
            let Request::Ui(ui) = ok(method, params.clone()) else {
                panic!("{method} is no ui request");
            };
            assert_eq!(ui.is_question(), expected, "{method}");
        }
    }
}

#[test]
fn huge_and_deep_requests_stay_small() {
    let huge = "w\x1b[1m\n".repeat(1 << 20);
    let deep = (0..120).fold(json!("x"), |value, _| json!([value]));
    let methods = [
        "ui.notify",
        "ui.show",
        "ui.confirm",
        "ui.input",
        "ui.editor",
        "ui.status",
        "ui.activity",
        "ui.compose",
        "session.name",
    ];
    let fields = [
        "title",
        "message",
        "text",
        "body",
        "prefill",
        "placeholder",
        "name",
    ];
    let params: Value = fields.map(|name| (name, json!(huge))).into_iter().collect();
    for method in methods {
        let request = parse(method, &params).unwrap();
        assert!(format!("{request:?}").len() < 2 << 20, "{method}");
    }
    for (method, name) in [
        ("ui.panel", "lines"),
        ("ui.pane", "sections"),
        ("ui.widget", "lines"),
        ("ui.select", "options"),
    ] {
        for params in [deep.clone(), json!({"title": "T", name: deep})] {
            assert!(parse(method, &params).is_err(), "{method}");
        }
    }
}
