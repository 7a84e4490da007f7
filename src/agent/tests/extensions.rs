//! How long extensions have for what they are asked. Real extensions, and a clock that the test sets.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::agent::action::{Action, SessionEvent};
use crate::agent::event::{Answer, Output, RequestId, SessionKey};
use crate::agent::extensions::{Extensions, Happening};
use crate::chat::Outcome;
use crate::extension::{ExtensionId, Failure, Hook, host_of};

const SESSION: SessionKey = SessionKey(1);
const OWNER: ExtensionId = ExtensionId(0);

/// What comes of it in the last moment before `seconds` have passed, and then.
fn after(seconds: u64, begin: impl FnOnce(&mut Extensions, Instant)) -> Vec<Happening> {
    let manifest = json!({"name": "a", "tools": [{"name": "t"}], "hooks": ["input"]});
    let (host, _home) = host_of(&manifest, "cat >/dev/null");
    let mut extensions = Extensions::new(host);
    let now = Instant::now();
    begin(&mut extensions, now);
    let limit = Duration::from_secs(seconds);
    assert_eq!(extensions.deadline(), Some(now + limit));
    extensions.on_deadline(now + limit - Duration::from_millis(1));
    assert!(extensions.next().is_none());
    extensions.on_deadline(now + limit);
    let mut happened = Vec::new();
    while let Some(more) = extensions.next() {
        happened.extend(more);
    }
    extensions.shut_down();
    happened
}

#[test]
fn a_tool_has_five_minutes() {
    let happened = after(300, |extensions, now| {
        let call = Action::CallExtension {
            id: 7,
            owner: OWNER,
            name: "t".into(),
            arguments: json!({}),
        };
        assert!(extensions.perform(SESSION, call, now).is_none());
    });
    let [Happening::Session(SESSION, SessionEvent::ToolDone(7, result))] = &happened[..] else {
        panic!("{happened:?}");
    };
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert_eq!(
        result.content,
        "the extension did not answer within 300 seconds"
    );
}

#[test]
fn commands_shortcuts_and_completions_have_their_time() {
    for (method, seconds) in [("command", 60), ("shortcut", 60), ("command.complete", 3)] {
        let happened = after(seconds, |extensions, now| {
            extensions.call(RequestId(5), OWNER, method, &json!({}), now);
        });
        let [Happening::Output(Output::Answer { request, answer })] = &happened[..] else {
            panic!("{happened:?}");
        };
        assert_eq!(*request, RequestId(5));
        let Answer::Called(Err(Failure::TimedOut(limit))) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(limit.as_secs(), seconds);
    }
    let happened = after(60, |extensions, now| {
        let command = Action::Command(3, OWNER, "c".into(), String::new());
        assert!(extensions.perform(SESSION, command, now).is_none());
    });
    let [Happening::Session(SESSION, SessionEvent::Commanded(3, Err(_)))] = &happened[..] else {
        panic!("{happened:?}");
    };
}

#[test]
fn a_hook_has_five_seconds() {
    let happened = after(5, |extensions, now| {
        let hook = Hook::Input { text: "hi".into() };
        extensions.ask(RequestId(5), hook, now);
    });
    let [
        Happening::Output(Output::Notice(_)),
        Happening::Output(Output::Answer { .. }),
    ] = &happened[..]
    else {
        panic!("{happened:?}");
    };
}
