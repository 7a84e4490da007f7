//! Budgets of an unattended run.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Place, Run, Step, call, gone, pid_in, say};

/// Asserts that the run ended because of that limit.
#[track_caller]
fn stopped_by(run: Run, option: &str) -> Value {
    let run = run.ends_with(1);
    let result = run.result();
    assert_eq!(result["aborted"], true, "{run:?}");
    let error = result["error"].as_str().expect("an error");
    assert!(error.contains(option), "{error}");
    assert!(run.stderr.contains(error), "{run:?}");
    assert_eq!(result["final_output"], "");
    assert_eq!(
        run.events("turn_end"),
        [json!({"type": "turn_end", "aborted": true})]
    );
    result
}

fn read() -> Step {
    call("read", json!({"path": "a.txt"}))
}

#[test]
fn steps_are_requests() {
    let place = Place::new();
    place.write("a.txt", "x");
    place.provider.script([read(), read(), say("done")]);
    let run = place.json(&["--max-steps", "2", "hi"]).run();
    let result = stopped_by(run, "--max-steps");
    assert_eq!(place.provider.received().len(), 2);
    assert_eq!(result["tools"], json!({"calls": 2, "failures": 0}));
}

#[test]
fn a_turn_that_needs_just_as_many_steps_completes() {
    let place = Place::new();
    place.provider.script([read(), say("done")]);
    place.p(&["--max-steps", "2", "hi"]).run().ends_with(0);
    place.p(&["--max-steps=1", "hi"]).run().ends_with(0);
}

#[test]
fn seconds_count_while_the_provider_is_silent() {
    let place = Place::new();
    let (step, _gate) = say("begun").gate();
    place.provider.script([step]);
    let run = place.json(&["--max-seconds", "1", "hi"]).run();
    assert!(run.elapsed < Duration::from_secs(3), "{run:?}");
    let result = stopped_by(run, "--max-seconds");
    assert_eq!(result["output"], "begun");
    place.provider.wait_hangup();
}

#[test]
fn seconds_count_while_a_command_runs_and_it_is_ended() {
    let place = Place::new();
    let command = json!({"command": "echo $$ > pid; sleep 100"});
    place.provider.script([call("bash", command)]);
    let run = place.json(&["--max-seconds", "1", "hi"]).run();
    assert!(run.elapsed < Duration::from_secs(4), "{run:?}");
    assert_eq!(run.events("tool_end")[0]["outcome"], "cancelled");
    stopped_by(run, "--max-seconds");
    gone(pid_in(&place.workspace.join("pid")));
}

#[test]
fn seconds_count_while_a_retry_is_awaited() {
    let place = Place::new();
    let busy = crate::support::fails(503).header("retry-after", "30");
    place.provider.script([busy]);
    let run = place.json(&["--max-seconds", "1", "hi"]).run();
    assert!(run.elapsed < Duration::from_secs(3), "{run:?}");
    stopped_by(run, "--max-seconds");
}

#[test]
fn dollars_are_counted_by_the_listed_prices() {
    let place = Place::new();
    let pricing = json!({"input_per_million": 1.0, "output_per_million": 1.0});
    place.models("openai-completions", json!({"pricing": pricing}));
    let usage = json!({"prompt_tokens": 500_000, "completion_tokens": 100_000});
    place
        .provider
        .script([read().usage(usage), say("never asked")]);
    let run = place.json(&["--max-cost", "0.5", "hi"]).run();
    let result = stopped_by(run, "--max-cost");
    assert_eq!(place.provider.received().len(), 1);
    assert!((result["cost_usd"].as_f64().expect("a cost") - 0.6).abs() < 1e-9);
}

#[test]
fn dollars_cannot_be_counted_without_prices() {
    let place = Place::new();
    let run = place.json(&["--max-cost", "1", "hi"]).run().ends_with(2);
    let error = run.result()["error"].to_string();
    assert!(
        error.contains("--max-cost") && error.contains("mock/test"),
        "{error}"
    );
    assert_eq!(place.provider.received().len(), 0);
}
