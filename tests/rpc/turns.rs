//! Turns: events, results, steering, interrupting, compacting.

use serde_json::{Value, json};

use crate::support::{Place, RESULT, Rpc, call, fails, keys, say};

#[test]
fn events_come_before_the_response_and_are_tagged() {
    let place = Place::new();
    place.write("README.md", "alpha\n");
    place.provider.script([
        call("read", json!({"path": "README.md"})).text("Looking. "),
        say("Small."),
    ]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let id = json!(["p", 1.5, null]);
    rpc.send(&json!({"id": id, "method": "session.prompt",
        "params": {"session": session, "prompt": "look"}}));
    let result = rpc.result(&id);
    let expected = [
        "turn_start",
        "text",
        "usage",
        "tool_batch",
        "tool_start",
        "tool_end",
        "text",
        "usage",
        "turn_end",
    ];
    assert_eq!(rpc.types(&id), expected);
    let last = rpc.lines().last().unwrap();
    assert!(last.get("result").is_some());
    for event in rpc.lines().iter().filter(|line| line.get("type").is_some()) {
        assert_eq!(event["session"], session.as_str());
        let keys: Vec<&String> = event.as_object().unwrap().keys().collect();
        assert_eq!(keys[keys.len() - 2..], ["session", "request"]);
    }
    let (fields, path) = (keys(&result), RESULT.len());
    assert_eq!(fields[..path], RESULT);
    assert_eq!(fields[path..], ["path"]);
    assert_eq!(result["output"], "Looking. Small.");
    assert_eq!(result["final_output"], "Small.");
    assert_eq!(
        (&result["session"], &result["path"]),
        (&json!(session), &json!(null))
    );
}

#[test]
fn a_second_prompt_is_refused_and_changes_nothing() {
    let place = Place::new();
    let (step, gate) = say("A").gate();
    place.provider.script([step.text("B"), say("C")]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let id = rpc.begin(&session, "one");
    rpc.event("text");
    for (method, params) in [
        (
            "session.prompt",
            json!({"session": session, "prompt": "two"}),
        ),
        ("session.compact", json!({"session": session})),
        ("session.set", json!({"session": session, "effort": "low"})),
        ("session.fork", json!({"session": session})),
    ] {
        let why = rpc.refused(method, params);
        assert!(why.contains("running"), "{method}: {why}");
    }
    assert_eq!(
        rpc.call("session.info", json!({"session": session}))["running"],
        true
    );
    let steered = rpc.call(
        "session.steer",
        json!({"session": session, "text": "three"}),
    );
    assert_eq!(steered, json!({"held": true}));
    drop(gate);
    let result = rpc.result(&id);
    assert_eq!(result["output"], "ABC");
    assert_eq!(result["final_output"], "C");
    assert!(rpc.types(&id).contains(&"steered".to_string()));
    assert!(place.provider.received()[1].last_user().contains("three"));
}

#[test]
fn an_interrupt_is_answered_when_the_turn_has_ended() {
    let place = Place::new();
    let (step, _gate) = say("A").gate();
    place.provider.script([step]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    assert_eq!(
        rpc.call("session.interrupt", json!({"session": session})),
        json!({})
    );
    let id = rpc.begin(&session, "one");
    rpc.event("text");
    assert_eq!(
        rpc.call("session.interrupt", json!({"session": session})),
        json!({})
    );
    assert_eq!(rpc.responses(&id), 1);
    let result = rpc.result(&id);
    assert_eq!(
        (&result["aborted"], &result["final_output"]),
        (&json!(true), &json!(""))
    );
    assert_eq!(rpc.event("turn_end")["aborted"], true);
    place.provider.wait_hangup();
}

#[test]
fn an_interrupt_tells_what_goes_on_in_the_background() {
    let place = Place::new();
    let background = json!({"command": "sleep 300", "background": true});
    place
        .provider
        .script([call("bash", background), say("started")]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    rpc.prompt(&session, "go");
    let (step, _gate) = say("A").gate();
    place.provider.script([step]);
    let told = rpc.call("session.interrupt", json!({"session": session}));
    let id = rpc.begin(&session, "one");
    rpc.event("turn_start");
    rpc.wait(|line| line["type"] == "text" && line["request"] == id);
    // Idle or not, it tells the same.
    assert_eq!(
        told,
        rpc.call("session.interrupt", json!({"session": session}))
    );
    let left = told["background"].as_array().unwrap();
    assert_eq!((left.len(), &left[0]["command"]), (1, &json!("sleep 300")));
    assert!(
        left[0]["handle"].is_string() && told["remedy"].as_str().unwrap().contains("session.close")
    );
    rpc.call("session.close", json!({"session": session}));
    crate::support::gone(left[0]["pid"].as_i64().unwrap() as i32);
}

#[test]
fn every_prompt_behind_an_interrupt_is_accepted() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let mut gates = Vec::new();
    let mut prompts = Vec::new();
    for round in 0..200 {
        let (step, gate) = say(&format!("<{round}>")).gate();
        place.provider.script([step]);
        gates.push(gate);
        let stop = rpc.line("session.interrupt", json!({"session": session}));
        let text = format!("round {round}");
        let start = rpc.line(
            "session.prompt",
            json!({"session": session, "prompt": text}),
        );
        rpc.send_raw(format!("{stop}\n{start}\n"));
        prompts.push(start["id"].clone());
        let text = format!("<{round}>");
        rpc.wait(|line| line["type"] == "text" && line["delta"] == text.as_str());
    }
    rpc.call("session.interrupt", json!({"session": session}));
    let requests: Vec<Value> = rpc
        .lines()
        .iter()
        .filter(|line| line.get("type").is_some())
        .map(|line| line["request"].clone())
        .collect();
    assert!(requests.is_sorted_by_key(|id| id.as_u64()), "{requests:?}");
    for id in prompts {
        assert_eq!(rpc.responses(&id), 1);
        assert_eq!(rpc.types(&id).last().unwrap(), "turn_end");
        assert_eq!(rpc.result(&id)["aborted"], true);
    }
}

#[test]
fn both_ways_to_run_a_turn_tell_the_same() {
    let place = Place::new();
    place.write("README.md", "alpha\n");
    let script = || {
        let step = call("read", json!({"path": "README.md"}))
            .and_call("read", json!({"path": "./README.md"}));
        [
            step.reasoning("Hm. ").text("Looking. "),
            fails(529).header("retry-after", "0"),
            say("Small."),
        ]
    };
    place.provider.script(script());
    let printed = place.json(&["--no-save", "look"]).run().ends_with(0);
    place.provider.script(script());
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let mut served = rpc.prompt(&session, "look");
    let mut events: Vec<Value> = rpc
        .lines()
        .iter()
        .filter(|line| line.get("type").is_some())
        .cloned()
        .collect();
    for event in &mut events {
        let event = event.as_object_mut().unwrap();
        assert!(event.shift_remove("session").is_some() && event.shift_remove("request").is_some());
    }
    let mut lines = printed.lines();
    let mut result = lines.pop().unwrap();
    assert_eq!(lines, events);
    // The one names its log, the other its session.
    for (result, own) in [
        (&mut result, &["type", "session"]),
        (&mut served, &["session", "path"]),
    ] {
        let result = result.as_object_mut().unwrap();
        assert!(own.iter().all(|key| result.shift_remove(*key).is_some()));
    }
    assert_eq!(result, served);
}

#[test]
fn a_turn_stays_active_while_it_is_compacted() {
    let place = Place::new();
    place.models("openai-completions", json!({"context_window": 20_000}));
    let usage = |input| json!({"prompt_tokens": input, "completion_tokens": 1});
    let (summary, gate) = say("## Goal\nTHE SUMMARY ").usage(usage(300)).gate();
    place.provider.script([
        call("bash", json!({"command": "true"}))
            .text("Before. ")
            .usage(usage(20_000)),
        summary,
        say("After.").usage(usage(5)),
    ]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let id = rpc.begin(&session, &"prompt words ".repeat(3_000));
    rpc.event("compacting");
    place.provider.wait_requests(2);
    let info = rpc.call("session.info", json!({"session": session}));
    assert_eq!(info["running"], true);
    let second = json!({"session": session, "prompt": "two"});
    assert!(rpc.refused("session.prompt", second).contains("running"));
    drop(gate);
    let result = rpc.result(&id);
    assert_eq!(
        (&result["error"], &result["aborted"]),
        (&json!(null), &json!(false))
    );
    assert_eq!(
        (&result["output"], &result["final_output"]),
        (&json!("Before. After."), &json!("After."))
    );
    // What the summary cost is among it.
    assert_eq!(result["usage"]["prompt_tokens"], 20_305);
    let types = rpc.types(&id);
    let of_compaction: Vec<&String> = types
        .iter()
        .filter(|kind| kind.starts_with("compact"))
        .collect();
    assert_eq!(of_compaction, ["compacting", "compacted"]);
    assert_eq!(
        (types[0].as_str(), types.last().unwrap().as_str()),
        ("turn_start", "turn_end")
    );
    assert_eq!(
        types
            .iter()
            .filter(|kind| kind.starts_with("turn_"))
            .count(),
        2
    );
    assert!(
        place.provider.received()[2]
            .body
            .to_string()
            .contains("THE SUMMARY")
    );
}

#[test]
fn a_failed_turn_is_a_result_and_the_session_goes_on() {
    let place = Place::new();
    place.provider.script([fails(400), say("fine")]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({"save": true}));
    let failed = rpc.prompt(&session, "one");
    assert!(failed["error"].as_str().unwrap().contains("mock says no"));
    assert!(failed["error_details"].is_object());
    let beside = place.logs()[0].with_extension("errors.jsonl");
    let written: Value = serde_json::from_slice(&std::fs::read(beside).unwrap()).unwrap();
    assert_eq!(written["details"], failed["error_details"]);
    assert_eq!(rpc.prompt(&session, "two")["output"], "fine");
}

#[test]
fn compacting_is_a_request_with_events_of_its_own() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    for round in 0..4 {
        place.provider.script([say(&"reply words ".repeat(700))]);
        rpc.prompt(
            &session,
            &format!("{round} {}", "prompt words ".repeat(1900)),
        );
    }
    place.provider.script([say("THE SUMMARY")]);
    let id = rpc.request(
        "session.compact",
        json!({"session": session, "focus": "the parser"}),
    );
    let result = rpc.result(&id);
    assert_eq!(result["error"], json!(null), "{result}");
    assert_eq!(result["session"], session.as_str());
    let types = rpc.types(&id);
    assert!(types.contains(&"compacting".into()) && types.contains(&"compacted".into()));
    assert!(
        !types.iter().any(|kind| kind.starts_with("turn_")),
        "{types:?}"
    );
    let asked = place.provider.received().pop().unwrap();
    assert!(asked.body.to_string().contains("the parser"));
    rpc.prompt(&session, "after");
    let request = place.provider.received().pop().unwrap();
    assert!(request.body.to_string().contains("THE SUMMARY"));
}

#[test]
fn images_are_named_from_the_sessions_directory() {
    let place = Place::new();
    let png = [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 0];
    place.write("sub/a.png", png);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({"cwd": "sub"}));
    let ask = |images: Value| json!({"session": session, "prompt": "look", "images": images});
    rpc.call("session.prompt", ask(json!(["a.png"])));
    let body = place.provider.received()[0].body.to_string();
    assert_eq!(body.matches("base64,").count(), 1);
    for (images, fragment) in [
        (json!(["/nope.png"]), "/nope.png"),
        (json!(vec!["a.png"; 11]), "10"),
        (json!(["."]), "image `"),
    ] {
        let why = rpc.refused("session.prompt", ask(images));
        assert!(why.contains(fragment), "{why}");
    }
    rpc.call(
        "session.set",
        json!({"session": session, "model": "mock/plain"}),
    );
    let why = rpc.refused("session.prompt", ask(json!(["a.png"])));
    assert!(why.contains("no image input"), "{why}");
    assert_eq!(place.provider.received().len(), 1);
}

#[test]
fn what_commands_write_stays_off_the_protocol() {
    let place = Place::new();
    let command = "echo stray; echo stray >&2; echo stray > /dev/stdout; echo stray > /proc/self/fd/1; printf '\\033[31m'";
    place
        .provider
        .script([call("bash", json!({"command": command})), say("done")]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    // Every line was parsed on the way.
    assert_eq!(rpc.prompt(&session, "go")["final_output"], "done");
}
