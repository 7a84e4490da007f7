//! Events: which ones come, in which order, with what in them.

use serde_json::{Value, json};

use crate::support::{Actor, Place, Played, Rpc, call, say};

const ALL: [&str; 10] = [
    "session_start",
    "session_shutdown",
    "turn_start",
    "turn_end",
    "tool_start",
    "tool_end",
    "compact_start",
    "compact_end",
    "model_change",
    "effort_change",
];

fn listener(place: &Place) -> Played {
    Actor::new(place, "l", json!({"name": "l", "events": ALL})).play()
}

/// The events as they came, names and extras.
fn told(played: &Played) -> Vec<(String, Value)> {
    let events = played.params("event").into_iter();
    events
        .map(|event| {
            (
                event["name"].as_str().unwrap().to_owned(),
                event["extra"].clone(),
            )
        })
        .collect()
}

#[test]
fn a_headless_run_from_start_to_end() {
    let place = Place::new();
    let played = listener(&place);
    place
        .provider
        .script([call("bash", json!({"command": "echo hi"})), say("done")]);
    place.p(&["the prompt"]).run().ends_with(0);
    let arguments = json!({"command": "echo hi"});
    let expected = [
        ("session_start", json!({"reason": "startup", "path": null})),
        ("turn_start", json!({"prompt": "the prompt"})),
        (
            "tool_start",
            json!({"id": 1, "name": "bash", "arguments": arguments}),
        ),
        (
            "tool_end",
            json!({"id": 1, "name": "bash", "outcome": "completed", "content": "hi"}),
        ),
        ("turn_end", json!({"aborted": false})),
        ("session_shutdown", json!({"reason": "quit"})),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(name, extra)| (name.to_owned(), extra))
        .collect();
    assert_eq!(told(&played), expected);
}

#[test]
fn only_what_was_asked_for() {
    let place = Place::new();
    let actor = |file: &str, manifest: Value| Actor::new(&place, file, manifest).play();
    let version_1 = actor("1", json!({"name": "1"}));
    let nothing = actor("2", json!({"name": "2", "events": []}));
    let two = actor(
        "3",
        json!({"name": "3", "events": ["tool_end", "no_such_event", "session_start"]}),
    );
    place
        .provider
        .script([call("bash", json!({"command": "true"})), say("done")]);
    place.p(&["go"]).run().ends_with(0);
    assert_eq!(version_1.events(), ["turn_end"]);
    assert_eq!(nothing.events(), [""; 0]);
    assert_eq!(two.events(), ["session_start", "tool_end"]);
}

#[test]
fn sessions_of_rpc_are_told_apart() {
    let place = Place::new();
    let played = listener(&place);
    let mut rpc = Rpc::start(&place, &[]);
    let first = rpc.create(json!({"save": true}));
    let second = rpc.create(json!({}));
    rpc.prompt(&first, "go");
    rpc.call("session.close", json!({"session": first}));
    rpc.close();
    rpc.finish();
    let sessions: Vec<_> = told(&played)
        .into_iter()
        .filter(|(name, _)| name.starts_with("session_"))
        .map(|(name, extra)| {
            (
                name,
                extra["session"].as_str().unwrap().to_owned(),
                extra["reason"].clone(),
            )
        })
        .collect();
    let expected = [
        ("session_start".to_owned(), first.clone(), json!("new")),
        ("session_start".to_owned(), second.clone(), json!("new")),
        ("session_shutdown".to_owned(), first, json!("quit")),
        ("session_shutdown".to_owned(), second, json!("quit")),
    ];
    assert_eq!(sessions, expected);
}

#[test]
fn an_interrupted_turn_ends_aborted() {
    let place = Place::new();
    let played = listener(&place);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    place
        .provider
        .script([call("bash", json!({"command": "touch ready; sleep 60"}))]);
    let prompt = rpc.begin(&session, "go");
    let ready = place.workspace.join("ready");
    crate::support::until("it runs", || ready.exists());
    rpc.call("session.interrupt", json!({"session": session}));
    rpc.result(&prompt);
    rpc.close();
    rpc.finish();
    assert_eq!(played.event("tool_end")["outcome"], "cancelled");
    assert_eq!(played.event("turn_end"), json!({"aborted": true}));
    // Every start has its end, in order.
    let events = played.events();
    let at = |name: &str| events.iter().position(|one| one == name).expect(name);
    assert!(
        at("turn_start") < at("tool_start")
            && at("tool_start") < at("tool_end")
            && at("tool_end") < at("turn_end")
    );
}

#[test]
fn every_tool_that_starts_also_ends() {
    let place = Place::new();
    let manifest =
        json!({"name": "l", "events": ["tool_start", "tool_end"], "hooks": ["tool_call"]});
    let block = |params: &Value| json!({"block": params["arguments"]["command"] == "blocked"});
    let played = Actor::new(&place, "l", manifest)
        .on("hook.tool_call", block)
        .play();
    let calls = call("bash", json!({"command": "blocked"}))
        .and_call("no_such_tool", json!({}))
        .and_call("read", json!({"path": "missing"}))
        .and_call("bash", json!({"command": "true"}));
    place.provider.script([calls, say("done")]);
    place.p(&["go"]).run().ends_with(0);
    let ids = |name: &str| {
        let told = told(&played).into_iter().filter(|(one, _)| one == name);
        let mut ids: Vec<u64> = told
            .map(|(_, extra)| extra["id"].as_u64().unwrap())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("tool_start"), [1, 2, 3, 4]);
    assert_eq!(ids("tool_end"), [1, 2, 3, 4]);
}

#[test]
fn another_model_or_effort() {
    let place = Place::new();
    let played = listener(&place);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({"effort": "low"}));
    rpc.call("session.set", json!({"session": session, "effort": "high"}));
    rpc.call("session.set", json!({"session": session, "effort": "high"}));
    rpc.call(
        "session.set",
        json!({"session": session, "model": "mock/plain"}),
    );
    rpc.close();
    rpc.finish();
    let changes: Vec<_> = told(&played)
        .into_iter()
        .filter(|(name, _)| name.ends_with("_change"))
        .collect();
    assert_eq!(
        changes[0],
        ("effort_change".to_owned(), json!({"effort": "high"}))
    );
    assert_eq!(
        changes[1],
        ("model_change".to_owned(), json!({"model": "mock/plain"}))
    );
}

#[test]
fn a_session_that_goes_on_from_another_says_so() {
    let place = Place::new();
    let played = listener(&place);
    let mut rpc = Rpc::start(&place, &[]);
    let first = rpc.create(json!({"save": true}));
    rpc.prompt(&first, "go");
    let path = place.logs()[0].clone();
    rpc.call("session.fork", json!({"session": first}));
    rpc.call("session.close", json!({"session": first}));
    rpc.create(json!({"resume": path, "save": true}));
    rpc.close();
    rpc.finish();
    let starts: Vec<Value> = told(&played)
        .into_iter()
        .filter(|(name, _)| name == "session_start")
        .map(|(_, extra)| extra)
        .collect();
    let reasons: Vec<&Value> = starts.iter().map(|extra| &extra["reason"]).collect();
    assert_eq!(reasons, ["new", "fork", "resume"]);
    assert_eq!(starts[0]["path"], json!(null));
    assert!(starts[1]["path"].is_string() && starts[1]["path"] != json!(path));
    assert_eq!(starts[2]["path"], json!(path));
}
