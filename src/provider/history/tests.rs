//! Random hostile histories against the rules of each dialect.

use super::*;
use crate::chat::Voice;

const RULES: Rules = Rules {
    tools: true,
    ids: Ids::UpTo(40),
    images: true,
    image_size: 100,
    image_count: 2,
};

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        signature: None,
    }
}

fn reply(content: &str, tool_calls: Vec<ToolCall>) -> Arc<Message> {
    Arc::new(Message::Assistant {
        content: content.into(),
        tool_calls,
    })
}

fn result(id: &str, content: &str) -> Arc<Message> {
    Arc::new(Message::Tool {
        call_id: id.into(),
        content: content.into(),
        outcome: Outcome::Completed,
        summary: String::new(),
    })
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text))
}

/// One line for each entry.
fn lines(messages: &[Arc<Message>], rules: Rules) -> Vec<String> {
    let line = |entry: Entry<'_>| match entry {
        Entry::User { text, images } => format!("user {text:?} {}", images.len()),
        Entry::Assistant {
            reasoning,
            text,
            calls,
        } => {
            let calls: Vec<String> = calls
                .iter()
                .map(|call| format!("{}:{}:{}", call.id, call.name, call.arguments))
                .collect();
            format!("reply {text:?} {} [{}]", reasoning.len(), calls.join(" "))
        }
        Entry::Answers(answers) => {
            let answers: Vec<String> = answers
                .iter()
                .map(|answer| {
                    format!(
                        "{}={}{}",
                        answer.id,
                        answer.content,
                        if answer.failed { "!" } else { "" }
                    )
                })
                .collect();
            format!("answers {}", answers.join(" "))
        }
    };
    normalise(messages, rules, &|item| {
        item.starts_with("mine").then_some(Cow::Borrowed(item))
    })
    .into_iter()
    .map(line)
    .collect()
}

#[test]
fn calls_and_answers_are_paired() {
    let interrupted = format!("b={UNANSWERED}!");
    type Case = (&'static str, Vec<Arc<Message>>, Vec<String>);
    let cases: Vec<Case> = vec![
        (
            "in order, whatever the order in the log",
            vec![
                user("u"),
                reply("", vec![call("a", "x", "{}"), call("b", "x", "{}")]),
                result("b", "2"),
                result("a", "1"),
            ],
            vec![
                "user \"u\" 0".into(),
                "reply \"\" 0 [a:x:{} b:x:{}]".into(),
                "answers a=1 b=2".into(),
            ],
        ),
        (
            "a missing answer is made up",
            vec![
                user("u"),
                reply("t", vec![call("a", "x", "{}"), call("b", "x", "{}")]),
                result("a", "1"),
            ],
            vec![
                "user \"u\" 0".into(),
                "reply \"t\" 0 [a:x:{} b:x:{}]".into(),
                format!("answers a=1 {interrupted}"),
            ],
        ),
        (
            "an answer without a call is dropped",
            vec![
                user("u"),
                result("z", "?"),
                reply("t", vec![]),
                user("v"),
                result("a", "?"),
            ],
            vec![
                "user \"u\" 0".into(),
                "reply \"t\" 0 []".into(),
                "user \"v\" 0".into(),
            ],
        ),
        (
            "a user's word in between comes after the answers",
            vec![
                user("u"),
                reply("", vec![call("a", "x", "{}")]),
                user("v"),
                result("a", "1"),
            ],
            vec![
                "user \"u\" 0".into(),
                "reply \"\" 0 [a:x:{}]".into(),
                "answers a=1".into(),
                "user \"v\" 0".into(),
            ],
        ),
        (
            "a late answer is not stolen from another reply",
            vec![
                user("u"),
                reply("", vec![call("b", "x", "{}")]),
                reply("t", vec![]),
                result("b", "late"),
                user("v"),
            ],
            vec![
                "user \"u\" 0".into(),
                "reply \"\" 0 [b:x:{}]".into(),
                format!("answers {interrupted}"),
                "reply \"t\" 0 []".into(),
                "user \"v\" 0".into(),
            ],
        ),
        (
            "empty output",
            vec![
                user("u"),
                reply("", vec![call("a", "x", "{}")]),
                result("a", " \n"),
            ],
            vec![
                "user \"u\" 0".into(),
                "reply \"\" 0 [a:x:{}]".into(),
                "answers a=(no output)".into(),
            ],
        ),
    ];
    for (name, messages, expected) in cases {
        assert_eq!(lines(&messages, RULES), expected, "{name}");
    }
}

#[test]
fn blank_replies_and_missing_words() {
    assert_eq!(lines(&[], RULES), ["user \"Continue.\" 0"]);
    assert_eq!(lines(&[user(" ")], RULES), ["user \"Continue.\" 0"]);
    assert_eq!(
        lines(&[reply("t", vec![])], RULES),
        [
            "user \"Continue.\" 0",
            "reply \"t\" 0 []",
            "user \"Continue.\" 0"
        ]
    );
    assert_eq!(
        lines(&[user("u"), reply(" \n", vec![])], RULES),
        ["user \"u\" 0"]
    );
}

#[test]
fn reasoning_stays_with_its_reply() {
    let item = |text: &str| {
        Arc::new(Message::Reasoning {
            content: text.into(),
        })
    };
    let messages = [
        user("u"),
        item("mine 1"),
        item("other"),
        item("mine 2"),
        reply("t", vec![]),
        item("mine 3"),
        user("v"),
        reply("w", vec![]),
        user("x"),
    ];
    assert_eq!(
        lines(&messages, RULES),
        [
            "user \"u\" 0",
            "reply \"t\" 2 []",
            "user \"v\" 0",
            "reply \"w\" 0 []",
            "user \"x\" 0"
        ]
    );
}

#[test]
fn ids_are_allowed_unique_and_stable() {
    let long = "x".repeat(200);
    let given = [
        "a",
        "a",
        "toolu_01",
        "a.b:c|d/e",
        "a_b_c_d_e",
        "",
        &long,
        "é",
    ];
    for rules in [Ids::UpTo(40), Ids::Nine] {
        let make = || {
            let mut ids = IdMaker {
                rules,
                used: HashSet::new(),
            };
            given
                .iter()
                .map(|id| ids.make(id).into_owned())
                .collect::<Vec<_>>()
        };
        let made = make();
        assert_eq!(made, make());
        assert_eq!(
            made.iter().collect::<HashSet<_>>().len(),
            given.len(),
            "{made:?}"
        );
        let judge = IdMaker {
            rules,
            used: HashSet::new(),
        };
        assert!(made.iter().all(|id| judge.allows(id)), "{made:?}");
    }
}

#[test]
fn names_and_arguments_are_made_acceptable() {
    let long = "n".repeat(65);
    for (name, expected) in [
        ("bash", "bash"),
        ("", "unknown"),
        ("a b/é", "a_b__"),
        (long.as_str(), &long[..64]),
    ] {
        assert_eq!(tool_name(name), expected);
    }
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for (arguments, expected) in [
        (" {\"a\": 1} ", "{\"a\": 1}"),
        ("", "{}"),
        ("null", "{}"),
        ("[]", "{}"),
        ("{\"a\":", "{}"),
        (deep.as_str(), "{}"),
    ] {
        assert_eq!(object_text(arguments), expected);
    }
}

#[test]
fn without_tools_calls_become_text() {
    let messages = [
        user("u"),
        reply("t", vec![call("a", "x", "{}")]),
        result("a", "1"),
        reply("done", vec![]),
    ];
    assert_eq!(
        lines(
            &messages,
            Rules {
                tools: false,
                ..RULES
            }
        ),
        [
            "user \"u\" 0",
            "reply \"t\\n\\n[called x with {}]\" 0 []",
            "user \"[result of x]\\n1\" 0",
            "reply \"done\" 0 []",
            "user \"Continue.\" 0"
        ]
    );
}

#[test]
fn images_that_cannot_go_leave_a_note() {
    let image = |media_type: &str, size: usize| Image {
        media_type: media_type.into(),
        data: "A".repeat(size),
    };
    let with = |images: Vec<Image>| {
        Arc::new(Message::User {
            content: "u".into(),
            images,
            voice: Voice::Prompt,
        })
    };
    let messages = [
        with(vec![image("image/png", 4), image("image/png", 101)]),
        with(vec![
            image("image/gif", 4),
            image("text/x", 4),
            image("image/png", 0),
            image("image/webp", 4),
        ]),
    ];
    let entries = lines(&messages, RULES);
    assert!(
        entries[0].contains("2 image(s) left out: too large") && entries[0].ends_with(" 0"),
        "{entries:?}"
    );
    assert!(
        entries[1].contains("2 image(s) left out") && entries[1].ends_with(" 2"),
        "{entries:?}"
    );
    let entries = lines(
        &messages,
        Rules {
            images: false,
            ..RULES
        },
    );
    assert!(
        entries[1].contains("4 image(s) left out: this model takes no images"),
        "{entries:?}"
    );
}
