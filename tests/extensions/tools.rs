//! Tools of extensions: what the model is offered, what it gets, what a client sees meanwhile.

use serde_json::{Value, json};

use super::tooled;
use crate::support::{Actor, Place, Rpc, Run, call, call_raw, say, until};

/// Runs one turn in which the model calls `t`.
fn called(place: &Place, arguments: Value) -> Run {
    place.provider.script([call("t", arguments), say("done")]);
    place.json(&["go"]).run().ends_with(0)
}

/// The one result of a run: its outcome and its content.
fn result(run: &Run) -> (String, String) {
    let ends = run.events("tool_end");
    assert_eq!(ends.len(), 1, "{run:?}");
    let text = |name: &str| ends[0][name].as_str().expect("a text").to_owned();
    (text("outcome"), text("content"))
}

#[test]
fn the_model_is_offered_the_tool_as_declared() {
    let place = Place::new();
    let parameters = json!({
        "type": "object",
        "properties": {"who": {"type": "string", "enum": ["bob"], "x-later": {"deep": [1]}}},
    });
    let tool = json!({"name": "t", "description": "say hi\nto somebody", "parameters": parameters});
    Actor::new(&place, "a", json!({"name": "a", "tools": [tool]})).play();
    place.p(&["go"]).run().ends_with(0);
    let tools = place.provider.received()[0].body["tools"].clone();
    let tools = tools.as_array().unwrap();
    let offered = tools
        .iter()
        .find(|tool| tool["function"]["name"] == "t")
        .expect("the tool");
    assert_eq!(offered["function"]["description"], "say hi\nto somebody");
    assert_eq!(offered["function"]["parameters"], parameters);
}

#[test]
fn the_model_reads_the_content_alone() {
    let place = Place::new();
    let tool = tooled(&place, "a", "t");
    let answer = json!({
        "content": "for the model",
        "summary": "3 rows",
        "display": "for the viewer",
        "format": "markdown",
        "is_error": false,
        "of a later version": true,
    });
    let played = tool.says("tool_call", answer).play();
    let run = called(&place, json!({"who": "bob"}));
    assert_eq!(
        played.params("tool_call"),
        [json!({"name": "t", "arguments": {"who": "bob"}})]
    );
    assert_eq!(place.provider.received()[1].results(), ["for the model"]);
    assert_eq!(run.events("tool_end")[0]["summary"], "3 rows");
    assert_eq!(result(&run), ("completed".into(), "for the model".into()));
    assert!(!run.stdout.contains("for the viewer"), "{run:?}");
}

#[test]
fn answers_of_every_shape() {
    let place = Place::new();
    let answers = [
        (json!({}), "completed", ""),
        (json!(null), "completed", ""),
        (json!({"content": ""}), "completed", ""),
        (json!({"content": "no", "is_error": true}), "failed", "no"),
        (json!({"content": 1}), "failed", "`content`"),
        (
            json!({"content": "x", "is_error": "yes"}),
            "failed",
            "`is_error`",
        ),
        (json!([]), "failed", "not an object"),
        (json!("text"), "failed", "not an object"),
    ];
    let mut results = answers.clone().into_iter().map(|(answer, ..)| answer);
    tooled(&place, "a", "t")
        .on("tool_call", move |_| results.next().expect("an answer"))
        .play();
    let calls = answers.iter().map(|_| call("t", json!({})));
    place.provider.script(calls.chain([say("done")]));
    let run = place.json(&["go"]).run().ends_with(0);
    let ends = run.events("tool_end");
    assert_eq!(ends.len(), answers.len());
    for ((answer, outcome, words), end) in answers.iter().zip(&ends) {
        assert_eq!(end["outcome"], *outcome, "{answer}: {end}");
        let content = end["content"].as_str().unwrap();
        assert!(content.contains(words), "{answer}: {end}");
    }
}

#[test]
fn a_failed_call_is_an_error_result() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").holds("tool_call").play();
    place.provider.script([call("t", json!({})), say("done")]);
    let run = place.json(&["go"]).start();
    let request = played.wait("tool_call");
    played.send(&json!({"id": request["id"], "error": "no such host"}));
    let run = run.finish().ends_with(0);
    assert_eq!(result(&run), ("failed".into(), "no such host".into()));
}

#[test]
fn a_label_gives_the_row_its_words() {
    let place = Place::new();
    let tools = json!([
        {"name": "greet", "label": {"category": "greeting", "running": "Greeting", "completed": "Greeted", "target": "who"}},
        {"name": "plain"},
        {"name": "part", "label": {"target": "n"}},
    ]);
    Actor::new(&place, "a", json!({"name": "a", "tools": tools})).play();
    place.provider.script([
        call("greet", json!({"who": "bob"}))
            .and_call("plain", json!({"who": "bob"}))
            .and_call("part", json!({"n": 7})),
        say("done"),
    ]);
    let run = place.json(&["go"]).run().ends_with(0);
    let batch = run.events("tool_batch").remove(0);
    let row = |index: usize| {
        let call = &batch["calls"][index];
        (call["category"].clone(), call["target"].clone())
    };
    assert_eq!(row(0), (json!("greeting"), json!("bob")));
    assert_eq!(row(1), (json!("plain"), json!("")));
    assert_eq!(row(2), (json!("part"), json!("7")));
}

#[test]
fn a_tool_named_like_a_built_in_takes_its_place() {
    let place = Place::new();
    place.write("a.txt", "on the disk\n");
    let tool =
        tooled(&place, "a", "read").says("tool_call", json!({"content": "of the extension"}));
    let played = tool.play();
    // Arguments that the built-in tool would refuse.
    place
        .provider
        .script([call("read", json!({"any": 1})), say("done")]);
    let run = place.json(&["go"]).run().ends_with(0);
    assert_eq!(
        result(&run),
        ("completed".into(), "of the extension".into())
    );
    assert_eq!(played.params("tool_call").len(), 1);
    let offered = place.provider.received()[0].tools();
    assert_eq!(offered.iter().filter(|name| *name == "read").count(), 1);
}

#[test]
fn arguments_that_do_not_fit_are_not_passed_on() {
    let place = Place::new();
    let parameters = json!({
        "type": "object",
        "properties": {
            "s": {"type": "string"},
            "n": {"type": ["integer", "null"]},
            "deep": {"type": "object", "properties": {"x": {"type": "string"}}},
        },
        "required": ["s"],
    });
    let manifest = json!({"name": "a", "tools": [{"name": "t", "parameters": parameters}]});
    let played = Actor::new(&place, "a", manifest).play();
    let cases = [
        (r#"{}"#, "`s` is missing"),
        (r#"{"s":1}"#, "`s` must be of type string"),
        (r#"{"s":"","n":1.5}"#, "`n` must be of type integer or null"),
        (r#"["s"]"#, "not a JSON object"),
        (r#"{"s":"cut"#, "not valid JSON"),
        // What is deeper, or not declared, is the extension's business.
        (r#"{"s":"","n":null,"deep":{"x":1},"more":[]}"#, ""),
    ];
    let calls = cases.iter().map(|(arguments, _)| call_raw("t", arguments));
    place.provider.script(calls.chain([say("done")]));
    let run = place.json(&["go"]).run().ends_with(0);
    for ((arguments, words), end) in cases.iter().zip(run.events("tool_end")) {
        let outcome = if words.is_empty() {
            "completed"
        } else {
            "failed"
        };
        assert_eq!(end["outcome"], outcome, "{arguments}: {end}");
        assert!(
            end["content"].as_str().unwrap().contains(words),
            "{arguments}: {end}"
        );
    }
    let passed = json!({"s": "", "n": null, "deep": {"x": 1}, "more": []});
    assert_eq!(
        played.params("tool_call"),
        [json!({"name": "t", "arguments": passed})]
    );
}

#[test]
fn updates_come_in_order_and_before_the_result() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").holds("tool_call").play();
    place.provider.script([call("t", json!({})), say("done")]);
    let run = place.json(&["go"]).start();
    let request = played.wait("tool_call");
    let update = |params: Value| json!({"method": "tool.update", "params": params});
    let id = &request["id"];
    for params in [
        json!({"id": id, "stream": "stdout", "chunk": "one\n"}),
        json!({"id": 77, "stream": "stdout", "chunk": "of no call"}),
        json!({"id": id, "stream": "stdlog", "chunk": "of no stream"}),
        json!({"id": id, "stream": "stdout", "chunk": ""}),
        json!({"id": id, "stream": "stderr", "chunk": "two\n"}),
        json!({"id": id, "chunk": "three \u{2028}é\n"}),
    ] {
        played.send(&update(params));
    }
    played.answer(&request, json!({"content": "result"}));
    played.send(&update(
        json!({"id": id, "stream": "stdout", "chunk": "too late"}),
    ));
    let run = run.finish().ends_with(0);
    let lines = run.lines();
    let tool: Vec<_> = lines
        .iter()
        .filter(|line| line["type"].as_str().unwrap().starts_with("tool_"))
        .map(|line| match line["type"].as_str().unwrap() {
            "tool_output" => format!("{}: {}", line["stream"], line["chunk"]),
            kind => kind.to_owned(),
        })
        .collect();
    let expected = [
        "tool_batch",
        "tool_start",
        "\"stdout\": \"one\\n\"",
        "\"stderr\": \"two\\n\"",
        "\"stdout\": \"three \u{2028}é\\n\"",
        "tool_end",
    ];
    // Neighbours of one stream may have been joined.
    assert_eq!(tool, expected);
    assert_eq!(result(&run).1, "result");
}

#[test]
fn a_long_result_is_cut_and_the_rest_can_be_read() {
    let place = Place::new();
    let text: String = (0..90_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    tooled(&place, "a", "t")
        .says("tool_call", json!({"content": text}))
        .play();
    let run = called(&place, json!({}));
    let (_, content) = result(&run);
    assert!(content.len() <= 34 << 10, "{}", content.len());
    assert!(
        content.contains("read_result"),
        "{}",
        &content[content.len() - 500..]
    );
}

#[test]
fn a_result_may_name_the_session() {
    let place = Place::new();
    tooled(&place, "a", "t")
        .says(
            "tool_call",
            json!({"content": "x", "session_name": "the \u{1b}[31mname\n"}),
        )
        .play();
    let run = called(&place, json!({}));
    assert_eq!(run.events("session_name")[0]["name"], "the name");
}

#[test]
fn calls_of_one_reply_run_at_the_same_time() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").holds("tool_call").play();
    let calls = call("t", json!({"n": 0})).and_call("t", json!({"n": 1}));
    place.provider.script([calls, say("done")]);
    let run = place.json(&["go"]).start();
    let (first, second) = (played.wait("tool_call"), played.wait_nth("tool_call", 1));
    played.answer(&second, json!({"content": "second"}));
    played.answer(&first, json!({"content": "first"}));
    run.finish().ends_with(0);
    assert_eq!(place.provider.received()[1].results(), ["first", "second"]);
}

#[test]
fn an_allowlist_of_a_session_offers_no_tool_of_extensions() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").play();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({"tools": ["read"]}));
    place.provider.script([call("t", json!({})), say("done")]);
    rpc.prompt(&session, "go");
    assert_eq!(place.provider.received()[0].tools(), ["read"]);
    assert_eq!(rpc.event("tool_end")["outcome"], "blocked");
    assert!(played.params("tool_call").is_empty());
    rpc.close();
    rpc.finish();
}

#[test]
fn an_interrupt_abandons_the_call_at_once_and_a_late_answer_is_ignored() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").holds("tool_call").play();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    place.provider.script([call("t", json!({})), say("after")]);
    let prompt = rpc.begin(&session, "go");
    let request = played.wait("tool_call");
    let start = std::time::Instant::now();
    rpc.call("session.interrupt", json!({"session": session}));
    assert!(
        start.elapsed().as_millis() < 200 * super::SLOW,
        "{:?}",
        start.elapsed()
    );
    let result = rpc.result(&prompt);
    assert_eq!(result["aborted"], true);
    assert_eq!(rpc.event("tool_end")["outcome"], "cancelled");
    played.answer(&request, json!({"content": "late"}));
    assert_eq!(rpc.prompt(&session, "again")["output"], "after");
    let text = place.provider.received()[1].body.to_string();
    assert!(!text.contains("late"), "{text}");
    rpc.close();
    rpc.finish();
}

#[test]
fn a_call_of_an_extension_that_has_exited_fails() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").holds("tool_call").play();
    place
        .provider
        .script([call("t", json!({})), call("t", json!({})), say("done")]);
    let run = place.json(&["go"]).start();
    played.wait("tool_call");
    played.exit();
    let run = run.finish().ends_with(0);
    for end in run.events("tool_end") {
        assert_eq!(end["outcome"], "failed", "{end}");
        assert!(end["content"].as_str().unwrap().contains("exited"), "{end}");
    }
    assert_eq!(run.events("tool_end").len(), 2);
    let exits = run.stderr.matches("extension a exited").count();
    assert_eq!(exits, 1, "{}", run.stderr);
    until("its process is gone", || place.processes().is_empty());
}
