//! What goes back to the model after replies of every kind. The strict servers of the kit refuse a
//! history that a real one would refuse; a test fails when one did.

use serde_json::{Value, json};

use super::{DIALECTS, once};
use crate::support::{Place, Step, call, call_raw, say};

#[test]
fn a_turn_goes_on_after_every_odd_call() {
    let steps = || -> Vec<Step> {
        vec![
            call("nothing_like_it", json!({})),
            call("", json!({"path": "x"})).and_call("read", json!({"path": "a"})),
            call_raw("read", ""),
            call_raw("read", "null"),
            call_raw("read", "7"),
            call_raw("read", "[1, 2]"),
            call_raw("read", "\"text\""),
            call_raw("read", "{\"path\": \"a\""),
            call_raw("read", "{\"path\": \"a\"} {\"path\": \"b\"}"),
            call("read", json!({"path": "a"})).text("\n \n"),
            call("näme with/odd:parts", json!({})),
            call(&"n".repeat(200), json!({})),
            call("bash", json!({"command": "true"})),
            call("read", json!({"path": "a"})).reasoning("after the call"),
            say("")
                .reasoning("hm")
                .and_call("read", json!({"path": "a"})),
            call_raw("read", &("[".repeat(5_000) + &"]".repeat(5_000))),
        ]
    };
    for api in DIALECTS {
        let place = Place::speaking(api);
        place.write("a", "one\n");
        let count = steps().len();
        place
            .provider
            .script(steps().into_iter().chain([say("done")]));
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(
            run.result()["output"].as_str().unwrap().trim(),
            "done",
            "{api}"
        );
        assert_eq!(place.provider.received().len(), count + 1, "{api}");
    }
}

#[test]
fn ids_of_every_kind_stay_paired() {
    let ids = ["", "x", "a.b:c|d/e", &"i".repeat(200), "x", "é", "x"];
    for api in DIALECTS {
        let place = once(api);
        place.write("a", "one\n");
        let mut step = say("looking");
        for id in ids {
            step = step.and_call_with_id(id, "read", json!({"path": "a"}));
        }
        place.provider.script([step, say("done")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.events("tool_end").len(), ids.len(), "{api}");
        assert_eq!(
            place.provider.received()[1].results().len(),
            ids.len(),
            "{api}"
        );
    }
}

#[test]
fn calls_with_one_index_or_none_are_told_apart() {
    let delta = |call: Value| {
        let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        format!("data: {delta}\n\n")
    };
    let read = |index: Value, id: &str, path: &str| {
        let arguments = json!({"path": path}).to_string();
        delta(
            json!({"index": index, "id": id, "function": {"name": "read", "arguments": arguments}}),
        )
    };
    let object =
        json!({"index": 9, "id": "o", "function": {"name": "read", "arguments": {"path": "c"}}});
    for frames in [
        [
            read(json!(0), "i1", "a"),
            read(json!(0), "i2", "b"),
            delta(object.clone()),
        ],
        [
            read(Value::Null, "i1", "a"),
            read(Value::Null, "i2", "b"),
            delta(object.clone()),
        ],
        [
            read(json!(1), "", "a"),
            read(json!(2), "", "b"),
            delta(object.clone()),
        ],
        [
            read(json!(0), "same", "a"),
            read(json!(1), "same", "b"),
            delta(object),
        ],
    ] {
        let place = once(DIALECTS[0]);
        for name in ["a", "b", "c"] {
            place.write(name, format!("content of {name}\n"));
        }
        let step = say("").raw(frames.concat()).finish("tool_calls");
        place.provider.script([step, say("done")]);
        place.p(&["hi"]).run().ends_with(0);
        let results = place.provider.received()[1].results();
        assert_eq!(results.len(), 3, "{frames:?}: {results:?}");
        for (result, name) in results.iter().zip(["a", "b", "c"]) {
            assert!(
                result.contains(&format!("content of {name}")),
                "{frames:?}: {results:?}"
            );
        }
    }
}

#[test]
fn a_finish_reason_that_lies_does_not_lose_a_call() {
    for (api, reason) in [(DIALECTS[0], "stop"), (DIALECTS[1], "end_turn")] {
        let place = once(api);
        place.write("a", "one\n");
        place.provider.script([
            call("read", json!({"path": "a"})).finish(reason),
            say("done"),
        ]);
        place.p(&["hi"]).run().ends_with(0);
        assert!(place.provider.received()[1].results()[0].contains("one"));
    }
}

#[test]
fn thinking_goes_back_word_for_word_with_its_signature() {
    let place = once(DIALECTS[1]);
    place.models(DIALECTS[1], json!({"thinking": "adaptive"}));
    place.write("a", "one\n");
    let redacted = json!({"type": "redacted_thinking", "data": "opaque=="});
    let frames = [
        json!({"type": "content_block_start", "index": 7, "content_block": redacted}),
        json!({"type": "content_block_stop", "index": 7}),
    ];
    let frames: String = frames
        .iter()
        .map(|frame| format!("data: {frame}\n\n"))
        .collect();
    let step = say("")
        .reasoning("first \"I\" look")
        .raw(frames)
        .and_call("read", json!({"path": "a"}));
    place.provider.script([step, say("done")]);
    place.p(&["hi"]).run().ends_with(0);
    let body = &place.provider.received()[1].body;
    let blocks = body["messages"][1]["content"].as_array().unwrap();
    let thinking = json!({"type": "thinking", "thinking": "first \"I\" look", "signature": "sig"});
    assert_eq!(blocks[0], thinking);
    assert_eq!(blocks[1], redacted);
    assert_eq!(blocks[2]["type"], "tool_use");
}

#[test]
fn thinking_without_a_signature_stays_behind() {
    let place = once(DIALECTS[1]);
    place.write("a", "one\n");
    let frames = [
        json!({"type": "content_block_start", "index": 7, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 7, "delta": {"type": "thinking_delta", "thinking": "unsigned"}}),
        json!({"type": "content_block_stop", "index": 7}),
    ];
    let frames: String = frames
        .iter()
        .map(|frame| format!("data: {frame}\n\n"))
        .collect();
    place.provider.script([
        say("").raw(frames).and_call("read", json!({"path": "a"})),
        say("done"),
    ]);
    place.p(&["hi"]).run().ends_with(0);
    let sent = place.provider.received()[1].body.to_string();
    assert!(!sent.contains("unsigned"), "{sent}");
}

#[test]
fn what_completions_think_is_shown_and_not_sent_back() {
    for field in ["reasoning_content", "reasoning"] {
        let place = once(DIALECTS[0]);
        place.write("a", "one\n");
        let delta = json!({"choices": [{"index": 0, "delta": {field: "my thought"}}]});
        let step = say("")
            .raw(format!("data: {delta}\n\n"))
            .and_call("read", json!({"path": "a"}));
        place.provider.script([step, say("done")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.events("reasoning")[0]["delta"], "my thought");
        assert!(
            !place.provider.received()[1]
                .body
                .to_string()
                .contains("my thought")
        );
    }
}
