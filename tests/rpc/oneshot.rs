//! Version-1 lines: one turn, one flat answer.

use serde_json::{Value, json};

use crate::support::{Place, RESULT, Rpc, fails, keys, say};

#[test]
fn a_line_runs_one_fresh_turn_without_events() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    rpc.send(
        &json!({"id": "one", "prompt": "prompt-number-one", "model": "mock/test", "effort": "low",
        "tool_mode": "none", "tools": null, "save": false, "images": [], "more": 1}),
    );
    let answer = rpc.response(&json!("one"));
    assert_eq!(keys(&answer)[0], "id");
    assert_eq!(keys(&answer)[1..], RESULT);
    assert_eq!(
        (&answer["effort"], &answer["session"]),
        (&json!("low"), &json!(null))
    );
    rpc.send(&json!({"id": "two", "prompt": "second", "save": true}));
    let answer = rpc.response(&json!("two"));
    assert_eq!(answer["session"], place.logs()[0].to_str().unwrap());
    let requests = place.provider.received();
    assert!(requests[0].tools().is_empty());
    assert!(!requests[1].body.to_string().contains("prompt-number-one"));
    assert_eq!(rpc.lines().len(), 2);
}

#[test]
fn bad_lines_are_refused_and_failures_are_flat() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    for (n, line) in [
        json!({"prompt": ""}),
        json!({"prompt": 5}),
        json!({}),
        json!({"prompt": "x", "save": 1}),
        json!({"prompt": "x", "model": "mock/none"}),
        json!({"prompt": "x", "tools": ["no"]}),
        json!({"prompt": "x", "images": ["none.png"]}),
    ]
    .into_iter()
    .enumerate()
    {
        let mut line = line;
        line["id"] = json!(n);
        rpc.send(&line);
        let answer = rpc.response(&json!(n));
        assert!(
            answer["error"].is_string() && answer.get("output").is_none(),
            "{answer}"
        );
    }
    place.provider.script([fails(400)]);
    rpc.send(&json!({"id": "f", "prompt": "x"}));
    let answer = rpc.response(&json!("f"));
    assert!(answer["error"].is_string() && answer["error_details"].is_object());
}

#[test]
fn a_quick_line_overtakes_and_all_end_after_the_input() {
    let place = Place::new();
    let (step, gate) = say("slow").gate();
    place.provider.script([step]);
    let mut rpc = Rpc::start(&place, &[]);
    rpc.send(&json!({"id": "slow", "prompt": "slow"}));
    place.provider.wait_requests(1);
    for n in 0..100 {
        rpc.send(&json!({"id": n, "prompt": "quick"}));
    }
    rpc.close();
    for n in 0..100 {
        rpc.response(&json!(n));
    }
    assert_eq!(rpc.responses(&json!("slow")), 0);
    drop(gate);
    let (lines, run) = rpc.finish();
    run.ends_with(0);
    assert_eq!(lines.len(), 101);
    let slow: Vec<&Value> = lines.iter().filter(|line| line["id"] == "slow").collect();
    assert_eq!(slow[0]["output"], "slow");
}
