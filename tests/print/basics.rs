//! One turn, answered: what goes where.

use serde_json::json;

use crate::support::{Place, call, say};

#[test]
fn the_reply_is_all_of_standard_output() {
    let place = Place::new();
    place
        .provider
        .script([say("Hello ").text("wor").text("ld")]);
    let run = place.p(&["hi"]).run().ends_with(0);
    assert_eq!(run.stdout, "Hello world\n");
    assert_eq!(run.stderr, "");
    assert_eq!(place.provider.received()[0].last_user(), "hi");
}

#[test]
fn a_newline_is_added_only_where_none_is() {
    let place = Place::new();
    place.provider.script([say("line\n")]);
    assert_eq!(place.p(&["hi"]).run().ends_with(0).stdout, "line\n");
}

#[test]
fn it_streams() {
    let place = Place::new();
    let (step, gate) = say("FIRST").gate();
    place.provider.script([step.text(" SECOND")]);
    let run = place.p(&["hi"]).start();
    run.stdout.wait_for("FIRST");
    assert!(!run.stdout.text().contains("SECOND"));
    drop(gate);
    assert_eq!(run.finish().ends_with(0).stdout, "FIRST SECOND\n");
}

#[test]
fn events_and_the_result_tell_one_story() {
    let place = Place::new();
    place.write("README.md", "alpha\nbeta\n");
    let steps = [
        call("read", json!({"path": "README.md"})).text("Looking. "),
        say("The repo").text(" is small."),
    ];
    place.provider.script(steps);
    let run = place.json(&["look"]).run().ends_with(0);
    let types: Vec<String> = run
        .lines()
        .iter()
        .map(|line| line["type"].as_str().unwrap_or_default().into())
        .collect();
    let expected = [
        "turn_start",
        "text",
        "usage",
        "tool_batch",
        "tool_start",
        "tool_end",
        "text",
        "text",
        "usage",
        "turn_end",
        "result",
    ];
    assert_eq!(types, expected);
    let call = &run.events("tool_batch")[0]["calls"][0];
    let expected = json!({"id": 1, "name": "read", "arguments": {"path": "README.md"}, "category": "read", "target": "README.md"});
    assert_eq!(call, &expected);
    let end = &run.events("tool_end")[0];
    assert_eq!(end["outcome"], "completed");
    assert_eq!(end["summary"], "2 lines");
    assert_eq!(
        place.provider.received()[1].results(),
        [end["content"].as_str().unwrap()]
    );
    let result = run.result();
    assert_eq!(result["output"], "Looking. The repo is small.");
    assert_eq!(result["final_output"], "The repo is small.");
    assert_eq!(result["model"], "mock/test");
    assert_eq!(result["effort"], "high");
    assert_eq!(result["aborted"], false);
    assert_eq!(result["error"], json!(null));
    assert_eq!(result["tools"], json!({"calls": 1, "failures": 0}));
    assert_eq!(result["usage"]["input_tokens"], 200);
    assert_eq!(result["usage"]["prompt_tokens"], 200);
    let log = result["session"].as_str().expect("a log");
    assert_eq!(place.logs(), [std::path::PathBuf::from(log)]);
}
