//! Asking again: when, how long after, and when no more.

use std::time::Duration;

use serde_json::json;

use super::{DIALECTS, failure};
use crate::support::{Cut, Place, call, fails, say};

#[test]
fn a_passing_failure_is_tried_again_and_told() {
    for api in DIALECTS {
        let place = Place::speaking(api);
        place.provider.script([fails(503), say("there")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        let retry = &run.events("retry")[0];
        assert_eq!(retry["attempt"], 2);
        assert_eq!(retry["cause"], "Provider unavailable");
        assert!(
            retry["reason"].as_str().unwrap().starts_with("503"),
            "{retry}"
        );
        assert_eq!(run.events("recovered").len(), 1);
        assert_eq!(run.result()["output"], "there");
        assert_eq!(run.result()["error"], json!(null));
        assert!(run.stderr.contains("503"), "{run:?}");
    }
}

#[test]
fn the_budget_ends_and_is_named() {
    let place = Place::new();
    place.settings(json!({"retry_max_attempts": 2}));
    place.provider.script([fails(500), fails(500)]);
    let run = place.json(&["hi"]).run();
    let details = failure(&run);
    assert_eq!(details["retry_decision"], "exhausted");
    assert_eq!(
        (&details["attempt"], &details["max_attempts"]),
        (&json!(2), &json!(2))
    );
    assert!(run.stderr.contains("Provider unavailable (2/2)"), "{run:?}");
    assert_eq!(place.provider.received().len(), 2);
}

#[test]
fn no_budget_means_one_request() {
    for attempts in [0, 1] {
        let place = Place::new();
        place.settings(json!({"retry_max_attempts": attempts}));
        place.provider.script([fails(503)]);
        let details = failure(&place.json(&["hi"]).run());
        assert_eq!(details["retry_decision"], "disabled");
        assert_eq!(place.provider.received().len(), 1);
    }
}

#[test]
fn each_step_has_the_whole_budget() {
    let place = Place::new();
    place.settings(json!({"retry_max_attempts": 2}));
    let look = call("grep", json!({"pattern": "x"}));
    place
        .provider
        .script([fails(503), look, fails(503), say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.events("retry").len(), 2);
}

#[test]
fn the_server_says_how_long_to_wait() {
    for (name, value, least) in [
        ("retry-after", "1", 1_000),
        ("retry-after-ms", "600", 600),
        ("retry-after", "0", 0),
        ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", 0),
    ] {
        let place = Place::new();
        place
            .provider
            .script([fails(429).header(name, value), say("there")]);
        let run = place.p(&["hi"]).run().ends_with(0);
        let received = place.provider.received();
        let gap = received[1].at - received[0].at;
        let least = Duration::from_millis(least);
        assert!(gap >= least, "{name} {value}: {gap:?}");
        assert!(
            gap < least + Duration::from_secs(2),
            "{name} {value}: {gap:?}"
        );
        assert_eq!(run.stdout, "there\n");
    }
}

#[test]
fn a_wait_of_many_minutes_is_told_instead_of_waited() {
    for (name, value) in [
        ("retry-after", "600"),
        ("retry-after-ms", "600000"),
        ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] {
        let place = Place::new();
        place.provider.script([fails(429).header(name, value)]);
        let run = place.json(&["hi"]).run();
        let details = failure(&run);
        assert_eq!(details["cause"], "rate_limited");
        assert!(details["retry_after_secs"].as_u64().unwrap() >= 600);
        assert!(run.stderr.contains("wait until "), "{run:?}");
        assert!(run.stderr.contains(" UTC"), "{run:?}");
        assert_eq!(place.provider.received().len(), 1);
    }
}

#[test]
fn a_wait_in_words_counts_and_an_interrupt_ends_it() {
    let place = Place::new();
    let body = json!({"error": {"message": "Rate limit reached, please try again in 30s."}});
    place.provider.script([fails(429).body(body.to_string())]);
    let run = place.json(&["hi"]).start();
    run.stdout.wait_for("\"retry\"");
    let asked = std::time::Instant::now();
    run.signal("INT");
    let run = run.finish().ends_with(1);
    assert!(
        asked.elapsed() < Duration::from_secs(1),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(run.events("retry")[0]["delay_secs"], 30);
    assert_eq!(run.result()["aborted"], true);
    assert_eq!(place.provider.received().len(), 1);
}

#[test]
fn what_was_shown_is_never_asked_for_again() {
    for (step, decision) in [
        (say("half"), "partial_output"),
        (say("").reasoning("hm"), "partial_output"),
        (
            call("write", json!({"path": "x", "content": "y"})),
            "partial_output",
        ),
    ] {
        let place = Place::new();
        place.provider.script([step.die()]);
        let details = failure(&place.json(&["hi"]).run());
        assert_eq!(details["cause"], "stalled");
        assert_eq!(details["retry_decision"], decision);
        assert_eq!(place.provider.received().len(), 1);
        assert!(!place.workspace.join("x").exists());
    }
}

#[test]
fn a_connection_lost_before_the_first_word_is_made_again() {
    for how in [Cut::Clean, Cut::Lost] {
        let place = Place::new();
        place
            .provider
            .script([say("never seen").cut(0, how), say("there")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.events("retry")[0]["cause"], "No response from provider");
        assert_eq!(run.result()["output"], "there");
    }
}
