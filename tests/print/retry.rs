//! Asking again: when, how often, and what is said about it.

use std::time::Duration;

use serde_json::json;

use crate::support::{Place, Step, fails, say};

#[test]
fn a_passing_failure_is_retried_and_told() {
    for status in [429, 500, 502, 503, 504, 529] {
        let place = Place::new();
        place
            .provider
            .script([fails(status).header("retry-after", "0"), say("recovered")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        let types: Vec<String> = run
            .lines()
            .iter()
            .map(|line| line["type"].as_str().expect("a type").to_string())
            .collect();
        let expected = [
            "turn_start",
            "retry",
            "recovered",
            "text",
            "usage",
            "turn_end",
            "result",
        ];
        assert_eq!(types, expected, "{status}");
        let retry = &run.events("retry")[0];
        assert_eq!(retry["attempt"], 2);
        assert_eq!(retry["limit"], 10);
        assert_eq!(retry["delay_secs"], 0);
        let cause = if status == 429 {
            "Rate limited"
        } else {
            "Provider unavailable"
        };
        assert_eq!(retry["cause"], cause);
        assert!(
            retry["reason"]
                .as_str()
                .expect("a reason")
                .contains(&status.to_string())
        );
        let recovered = json!({"type": "recovered", "attempt": 2, "limit": 10});
        assert_eq!(run.events("recovered"), [recovered]);
        let result = run.result();
        assert_eq!(result["error"], json!(null));
        assert_eq!(result["final_output"], "recovered");
        let line = result["warnings"][0].as_str().expect("one line per retry");
        assert_eq!(run.stderr, format!("{line}\n"));
    }
}

#[test]
fn a_connection_that_breaks_before_anything_came_is_retried() {
    let place = Place::new();
    place
        .provider
        .script([Step::default().die(), say("recovered")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.events("retry").len(), 1);
    assert_eq!(run.result()["output"], "recovered");
}

#[test]
fn what_the_provider_asks_for_is_waited() {
    let place = Place::new();
    place
        .provider
        .script([fails(429).header("retry-after", "1"), say("recovered")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.events("retry")[0]["delay_secs"], 1);
    assert!(run.elapsed >= Duration::from_secs(1), "{run:?}");
}

#[test]
fn a_wait_that_is_too_long_ends_the_turn_and_says_until_when() {
    let place = Place::new();
    place
        .provider
        .script([fails(429).header("retry-after", "3600")]);
    let run = place.json(&["hi"]).run().ends_with(1);
    assert!(
        run.result()["error"]
            .as_str()
            .expect("an error")
            .contains("wait until")
    );
    assert_eq!(run.result()["error_details"]["retry_after_secs"], 3600);
    assert_eq!(place.provider.received().len(), 1);
}

#[test]
fn every_step_has_all_attempts_before_it() {
    let place = Place::new();
    place.settings(json!({"retry_max_attempts": 2}));
    let busy = || fails(503).header("retry-after", "0");
    let read = crate::support::call("read", json!({"path": "none"}));
    place.provider.script([busy(), read, busy(), say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.events("retry").len(), 2);
    assert_eq!(run.events("recovered").len(), 2);
}

#[test]
fn the_setting_bounds_the_attempts() {
    for (attempts, requests) in [(0, 1), (1, 1), (3, 3)] {
        let place = Place::new();
        place.settings(json!({"retry_max_attempts": attempts}));
        let busy = || fails(503).header("retry-after", "0");
        place.provider.script([busy(), busy(), busy(), busy()]);
        let run = place.json(&["hi"]).run().ends_with(1);
        assert_eq!(place.provider.received().len(), requests);
        let decision = if requests == 1 {
            "disabled"
        } else {
            "exhausted"
        };
        assert_eq!(run.result()["error_details"]["retry_decision"], decision);
    }
}

#[test]
fn nothing_is_asked_again_once_part_of_an_answer_came() {
    let parts = [
        say("PART"),
        Step::default().reasoning("hmm"),
        Step::default().raw(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"comm\"}}]}}]}\n\n",
        ),
    ];
    for part in parts {
        let place = Place::new();
        place.provider.script([part.die(), say("AGAIN")]);
        let run = place.json(&["hi"]).run().ends_with(1);
        assert_eq!(run.events("retry").len(), 0);
        assert_eq!(
            run.result()["error_details"]["retry_decision"],
            "partial_output"
        );
        assert_eq!(place.provider.received().len(), 1);
    }
}

#[test]
fn a_retry_sends_the_same_conversation() {
    let place = Place::new();
    place
        .provider
        .script([fails(503).header("retry-after", "0"), say("ok")]);
    place.p(&["hi"]).run().ends_with(0);
    let received = place.provider.received();
    assert_eq!(received[0].body, received[1].body);
}

#[test]
fn an_empty_answer_is_asked_for_again_once() {
    let place = Place::new();
    place.provider.script([Step::default(), say("there")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    let retry = &run.events("retry")[0];
    assert_eq!(retry["attempt"], 2);
    assert_eq!(retry["delay_secs"], 1);
    assert_eq!(run.result()["final_output"], "there");
}
