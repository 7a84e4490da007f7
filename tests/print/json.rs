//! The lines of `--json`: their types, their keys, their order.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Place, RESULT, Run, Step, call, call_raw, fails, say};

const DETAILS: &[&str] = &[
    "summary",
    "detail",
    "cause",
    "stage",
    "response",
    "provider_code",
    "provider",
    "model",
    "timestamp_ms",
    "attempt_elapsed_ms",
    "step",
    "attempt",
    "max_attempts",
    "retry_after_secs",
    "partial_tool_argument_bytes",
    "retry_decision",
    "partial_text_bytes",
    "reasoning_received",
    "unexecuted_tool_calls",
    "settled_tools",
    "failed_tools",
    "recovery",
];
const COUNTERS: &[&str] = &[
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
];

/// Asserts that an object has these keys and no others.
#[track_caller]
fn has_keys(value: &Value, expected: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value}"));
    let keys: BTreeSet<&str> = object.keys().map(String::as_str).collect();
    assert_eq!(keys, expected.iter().copied().collect(), "{value}");
}

/// Asserts what holds for every run: known types, exact keys, one `turn_end`, the result last.
#[track_caller]
fn is_well_formed(run: &Run) {
    let lines = run.lines();
    let result = [&["type"][..], &RESULT].concat();
    for line in &lines {
        let keys: &[&str] = match line["type"].as_str().expect("a type") {
            "turn_start" => &["type"],
            "text" | "reasoning" => &["type", "delta"],
            "tool_batch" => &["type", "calls"],
            "tool_start" => &["type", "id"],
            "tool_output" => &["type", "id", "stream", "chunk"],
            "tool_end" => &["type", "id", "outcome", "summary", "content"],
            "usage" => &[
                "type",
                COUNTERS[0],
                COUNTERS[1],
                COUNTERS[2],
                COUNTERS[3],
                COUNTERS[4],
            ],
            "warning" | "error" => &["type", "message"],
            "error_details" => &["type", "details"],
            "retry" => &["type", "attempt", "limit", "delay_secs", "cause", "reason"],
            "recovered" => &["type", "attempt", "limit"],
            "instructions" => &["type", "path"],
            "turn_end" => &["type", "aborted"],
            "result" => &result,
            other => panic!("unknown type {other:?}"),
        };
        has_keys(line, keys);
        for call in line["calls"].as_array().into_iter().flatten() {
            has_keys(call, &["id", "name", "arguments", "category", "target"]);
        }
        if line["type"] == "error_details" {
            has_keys(&line["details"], DETAILS);
            has_keys(&line["details"]["response"], &["http_status", "request_id"]);
        }
    }
    let result = run.result();
    let mut counters = COUNTERS.to_vec();
    counters.push("prompt_tokens");
    has_keys(&result["usage"], &counters);
    has_keys(&result["tools"], &["calls", "failures"]);
    assert!(result["warnings"].is_array());
    assert_eq!(run.events("result").len(), 1);
    let ends = run.events("turn_end");
    assert_eq!(ends.len(), run.events("turn_start").len());
    if let Some(end) = ends.first() {
        assert_eq!(
            lines.len() - 2,
            lines.iter().position(|line| line == end).expect("the end")
        );
        assert_eq!(end["aborted"], result["aborted"]);
        assert_eq!(lines[0], json!({"type": "turn_start"}));
    }
    let texts: String = run
        .events("text")
        .iter()
        .map(|text| text["delta"].as_str().expect("text"))
        .collect();
    assert_eq!(result["output"], texts);
    let sum = |name: &str| -> u64 {
        let usage = run.events("usage");
        usage
            .iter()
            .map(|one| one[name].as_u64().expect("a count"))
            .sum()
    };
    for name in COUNTERS {
        assert_eq!(result["usage"][name], sum(name), "{name}");
    }
}

#[test]
fn a_rich_turn_is_well_formed_in_both_dialects() {
    for api in ["openai-completions", "anthropic-messages"] {
        let place = Place::speaking(api);
        place.write("sub/AGENTS.md", "be kind");
        place.write("sub/a.txt", "alpha\n");
        let batch = call("bash", json!({"command": "echo out; echo err >&2; exit 3"}))
            .reasoning("let me see")
            .text("Looking. ")
            .and_call("read", json!({"path": "sub/a.txt"}))
            .and_call("nonsense", json!({"a": 1}));
        let steps = [batch, say("All ").text("done."), fails(500)];
        place.provider.script(steps);
        let run = place.json(&["hi"]).run().ends_with(0);
        is_well_formed(&run);
        let outcomes: BTreeSet<String> = run
            .events("tool_end")
            .iter()
            .map(|end| end["outcome"].to_string())
            .collect();
        assert_eq!(
            outcomes,
            ["\"completed\"", "\"failed\""].map(String::from).into()
        );
        let mut outputs: Vec<_> = run
            .events("tool_output")
            .iter()
            .map(|output| (output["stream"].clone(), output["chunk"].clone()))
            .collect();
        outputs.sort_by_key(|(stream, _)| stream.to_string());
        let expected = [("stderr", "err\n"), ("stdout", "out\n")];
        assert_eq!(
            outputs,
            expected.map(|(stream, chunk)| (stream.into(), chunk.into()))
        );
        let path = place.workspace.join("sub/AGENTS.md");
        assert_eq!(
            run.events("instructions")[0]["path"],
            path.to_str().expect("a path")
        );
        assert_eq!(run.result()["tools"], json!({"calls": 3, "failures": 2}));
        assert_eq!(run.result()["final_output"], "All done.");
    }
}

#[test]
fn ids_count_up_through_the_turn_and_name_the_calls() {
    let place = Place::new();
    let read = || call("read", json!({"path": "a"})).and_call("read", json!({"path": "b"}));
    place.provider.script([read(), read(), say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    is_well_formed(&run);
    let announced: Vec<u64> = run
        .events("tool_batch")
        .iter()
        .flat_map(|batch| batch["calls"].as_array().expect("calls").clone())
        .map(|call| call["id"].as_u64().expect("an integer"))
        .collect();
    assert_eq!(announced, [1, 2, 3, 4]);
    for kind in ["tool_start", "tool_end"] {
        let mut ids: Vec<_> = run
            .events(kind)
            .iter()
            .map(|one| one["id"].as_u64())
            .collect();
        ids.sort();
        assert_eq!(ids, [1, 2, 3, 4].map(Some), "{kind}");
    }
}

#[test]
fn every_tool_has_a_category_and_a_target() {
    let place = Place::new();
    place.write("a.txt", "one\n");
    let calls = [
        ("read", json!({"path": "a.txt"}), "read", "a.txt"),
        (
            "write",
            json!({"path": "b.txt", "content": ""}),
            "write",
            "b.txt",
        ),
        (
            "edit",
            json!({"path": "a.txt", "old_string": "one", "new_string": "two"}),
            "edit",
            "a.txt",
        ),
        ("grep", json!({"pattern": "o.e"}), "read", "o.e"),
        ("read_result", json!({"id": 7}), "read", "#7"),
        (
            "bash",
            json!({"command": "echo a\necho b"}),
            "command",
            "echo a\necho b",
        ),
        ("nonsense", json!({"path": "x"}), "nonsense", ""),
    ];
    let step = calls
        .iter()
        .fold(Step::default(), |step, (name, arguments, ..)| {
            step.and_call(name, arguments.clone())
        });
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    let announced = run.events("tool_batch")[0]["calls"].clone();
    for (index, (name, arguments, category, target)) in calls.into_iter().enumerate() {
        let expected = json!({"id": index + 1, "name": name, "arguments": arguments, "category": category, "target": target});
        assert_eq!(announced[index], expected);
    }
}

#[test]
fn arguments_that_do_not_parse_are_shown_as_they_came_and_never_run() {
    let hostile = [
        "{\"command\": \"touch ran",
        "{\"command\": \"touch ran\"",
        "touch ran",
        "\"touch ran\"",
        "[\"touch ran\"]",
        "{\"command\": \"touch ran\"} {}",
    ];
    for arguments in hostile {
        let place = Place::new();
        place
            .provider
            .script([call_raw("bash", arguments), say("ok")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        is_well_formed(&run);
        assert!(!place.workspace.join("ran").exists(), "{arguments}");
        let shown = &run.events("tool_batch")[0]["calls"][0]["arguments"];
        let parsed = serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| arguments.into());
        assert_eq!(shown, &parsed);
        assert_eq!(run.events("tool_end")[0]["outcome"], "failed");
        assert_eq!(run.result()["final_output"], "ok");
    }
}

#[test]
fn a_call_nobody_can_run_is_told_to_the_model() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    for (name, arguments) in [
        ("nonsense", "{}"),
        ("raed", "{\"path\": \"a\"}"),
        ("read", "null"),
        ("read", "7"),
        ("read", &deep),
        ("bad name!", "{}"),
    ] {
        let place = Place::new();
        place
            .provider
            .script([call_raw(name, arguments), say("ok")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        is_well_formed(&run);
        assert_eq!(run.events("tool_end")[0]["outcome"], "failed", "{name}");
        let results = place.provider.received()[1].results();
        assert_eq!(
            results,
            [run.events("tool_end")[0]["content"].as_str().expect("text")]
        );
    }
}

#[test]
fn a_command_that_takes_too_long_has_timed_out() {
    let place = Place::new();
    let command = json!({"command": "echo begun; sleep 100", "timeout": 1});
    place.provider.script([call("bash", command), say("ok")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    is_well_formed(&run);
    assert_eq!(run.events("tool_end")[0]["outcome"], "timedout");
    assert_eq!(run.result()["tools"], json!({"calls": 1, "failures": 1}));
}

#[test]
fn output_of_a_command_comes_while_it_runs() {
    let place = Place::new();
    let command = json!({"command": "echo early; mkfifo gate; read go < gate; echo $go"});
    place.provider.script([call("bash", command), say("ok")]);
    let run = place.json(&["hi"]).start();
    run.stdout.wait_for("\"chunk\":\"early\\n\"");
    let gate = place.workspace.join("gate");
    crate::support::until("the gate", || gate.exists());
    std::fs::write(gate, "late\n").expect("a word through the gate");
    let run = run.finish().ends_with(0);
    is_well_formed(&run);
    assert_eq!(run.events("tool_end")[0]["content"], "early\nlate");
}

#[test]
fn a_failure_is_told_in_order_and_in_detail() {
    let place = Place::new();
    place
        .provider
        .script([fails(400).header("x-request-id", "req-1")]);
    let run = place.json(&["hi"]).run().ends_with(1);
    is_well_formed(&run);
    let types: Vec<String> = run
        .lines()
        .iter()
        .map(|line| line["type"].as_str().expect("a type").into())
        .collect();
    let expected = ["turn_start", "error_details", "error", "turn_end", "result"];
    assert_eq!(types, expected);
    let result = run.result();
    assert_eq!(
        result["error_details"],
        run.events("error_details")[0]["details"]
    );
    assert_eq!(result["error"], run.events("error")[0]["message"]);
    assert_eq!(result["final_output"], "");
    assert_eq!(result["aborted"], false);
    let details = &result["error_details"];
    assert_eq!(details["cause"], "rejected");
    assert_eq!(details["stage"], "response_headers");
    assert_eq!(
        details["response"],
        json!({"http_status": 400, "request_id": "req-1"})
    );
    assert_eq!(details["retry_decision"], "not_retryable");
    assert_eq!(details["provider"], "mock");
    assert_eq!(details["model"], "test");
    assert_eq!(details["step"], 1);
    assert_eq!(details["attempt"], 1);
    assert_eq!(details["max_attempts"], 10);
}

#[test]
fn a_failure_after_tools_counts_what_was_done() {
    let place = Place::new();
    place.write("a.txt", "x");
    let batch = call("read", json!({"path": "a.txt"})).and_call("read", json!({"path": "none"}));
    place
        .provider
        .script([batch.text("First. "), say("Part").die()]);
    let run = place.json(&["hi"]).run().ends_with(1);
    is_well_formed(&run);
    let result = run.result();
    assert_eq!(result["output"], "First. Part");
    assert_eq!(result["final_output"], "");
    assert_eq!(result["tools"], json!({"calls": 2, "failures": 1}));
    let details = &result["error_details"];
    assert_eq!(details["step"], 2);
    assert_eq!(details["settled_tools"], 2);
    assert_eq!(details["failed_tools"], 1);
    assert_eq!(details["partial_text_bytes"], 4);
    assert_eq!(details["retry_decision"], "partial_output");
}

#[test]
fn details_are_bounded() {
    let place = Place::new();
    let message = format!(
        "{{\"error\":{{\"message\":\"{}\"}}}}",
        "A".repeat(3_000_000)
    );
    place.provider.script([fails(400).body(message)]);
    let run = place.json(&["hi"]).run().ends_with(1);
    is_well_formed(&run);
    assert!(run.stdout.len() < 100_000, "{}", run.stdout.len());
    assert!(run.stderr.len() < 20_000, "{}", run.stderr.len());
}

#[test]
fn a_run_that_never_began_has_the_whole_result_too() {
    let place = Place::new();
    let elsewhere = place.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a directory");
    let runs = [
        place.json(&["--bogus", "hi"]).run().ends_with(2),
        place.json(&[]).run().ends_with(2),
        place.json(&["--model", "no/such", "hi"]).run().ends_with(2),
        place
            .json(&["--image", "none.png", "hi"])
            .run()
            .ends_with(2),
        place.json(&["hi"]).in_dir(&elsewhere).run().ends_with(1),
    ];
    for run in runs {
        is_well_formed(&run);
        let result = run.result();
        assert!(result["error"].is_string());
        assert_eq!(result["session"], Value::Null);
        assert_eq!(result["output"], "");
        assert_eq!(
            run.stderr,
            format!("error: {}\n", result["error"].as_str().expect("text"))
        );
    }
}

#[test]
fn line_separators_are_escaped_so_that_every_reader_sees_the_same_lines() {
    let place = Place::new();
    let odd = "a\u{2028}b\u{2029}c\u{85}d\r\ne\u{0}f";
    let command = json!({"command": "printf 'x\\342\\200\\250y'"});
    place
        .provider
        .script([call("bash", command).text(odd), say(odd)]);
    let run = place.json(&["hi"]).run().ends_with(0);
    is_well_formed(&run);
    assert!(
        !run.stdout
            .contains(['\u{2028}', '\u{2029}', '\u{85}', '\r', '\u{0}'])
    );
    assert_eq!(run.result()["final_output"], odd);
}

#[test]
fn counters_are_disjoint_and_costs_follow_the_prices() {
    let place = Place::new();
    let pricing =
        json!({"input_per_million": 1.0, "output_per_million": 2.0, "cache_read_per_million": 0.5});
    place.models("openai-completions", json!({"pricing": pricing}));
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 500, "prompt_tokens_details": {"cached_tokens": 400}});
    place.provider.script([say("x").usage(usage)]);
    let run = place.json(&["hi"]).run().ends_with(0);
    is_well_formed(&run);
    let usage = &run.result()["usage"];
    assert_eq!(usage["input_tokens"], 600);
    assert_eq!(usage["cache_read_tokens"], 400);
    assert_eq!(usage["prompt_tokens"], 1000);
    let cost = run.result()["cost_usd"].as_f64().expect("a cost");
    let expected = (600.0 * 1.0 + 400.0 * 0.5 + 500.0 * 2.0) / 1e6;
    assert!((cost - expected).abs() < 1e-9, "{cost}");
}

#[test]
fn without_prices_there_is_no_cost_and_unsaved_no_session() {
    let place = Place::new();
    let run = place.json(&["--no-save", "hi"]).run().ends_with(0);
    assert_eq!(run.result()["cost_usd"], Value::Null);
    assert_eq!(run.result()["session"], Value::Null);
    assert_eq!(run.result()["effort"], "high");
    let plain = place.e().args(["-pj", "-m", "mock/plain", "hi"]).run();
    assert_eq!(plain.result()["effort"], Value::Null);
}

#[test]
fn output_holds_everything_and_final_output_the_answer() {
    let place = Place::new();
    let read = || call("read", json!({"path": "a"}));
    place
        .provider
        .script([read().text("One. "), read().text("Two. "), say("Three.")]);
    let result = place.json(&["hi"]).run().ends_with(0).result();
    assert_eq!(result["output"], "One. Two. Three.");
    assert_eq!(result["final_output"], "Three.");
}

#[test]
fn configuration_warnings_are_in_the_result_and_on_standard_error() {
    let place = Place::new();
    place.settings(json!({"retry_max_attempts": 99}));
    let run = place.json(&["hi"]).run().ends_with(0);
    is_well_formed(&run);
    let warnings = run.result()["warnings"].clone();
    let warning = warnings[0].as_str().expect("a warning");
    assert!(warning.contains("retry_max_attempts"), "{warning}");
    assert_eq!(run.stderr, format!("warning: {warning}\n"));
}

#[test]
fn what_a_terminal_acts_on_is_escaped() {
    let place = Place::new();
    let text = "a\u{9b}31mb\u{7f}c\u{202e}d\u{2066}e\u{1b}[m";
    place.provider.script([say(text)]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.result()["output"], text);
    let acts = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}".contains(c));
    assert!(!run.stdout.contains(acts), "{:?}", run.stdout);
}
