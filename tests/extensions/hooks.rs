//! Hooks: what each may change, in which order extensions are asked, and what a failure costs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{answering, hooked};
use crate::support::{Actor, Place, Rpc, Run, call, say};

/// Runs a turn in which the model runs `echo hi`, and gives the result that it read.
fn with_bash(place: &Place) -> (Run, String) {
    place
        .provider
        .script([call("bash", json!({"command": "echo hi"})), say("done")]);
    let run = place.json(&["go"]).run().ends_with(0);
    let result = place.provider.received()[1].results().remove(0);
    (run, result)
}

#[test]
fn a_gate_may_block_a_call_with_a_reason() {
    let place = Place::new();
    let answer = json!({"block": true, "reason": "not on a Monday"});
    let played = answering(&place, "gate", "tool_call", answer);
    let (run, result) = with_bash(&place);
    assert_eq!(result, "not on a Monday");
    assert_eq!(run.events("tool_end")[0]["outcome"], "blocked");
    let asked = json!({"name": "bash", "arguments": {"command": "echo hi"}});
    assert_eq!(played.params("hook.tool_call"), [asked]);
}

#[test]
fn whatever_does_not_block_lets_the_call_run() {
    let place = Place::new();
    let mut answers = [json!({"block": false}), json!({}), json!(null)].into_iter();
    let gate = hooked(&place, "gate", "tool_call");
    let played = gate
        .on("hook.tool_call", move |_| answers.next().unwrap())
        .play();
    let bash = || call("bash", json!({"command": "echo hi"}));
    place.provider.script([bash(), bash(), bash(), say("done")]);
    let run = place.json(&["go"]).run().ends_with(0);
    let outcomes: Vec<_> = run
        .events("tool_end")
        .into_iter()
        .map(|end| end["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["completed"; 3]);
    assert_eq!(run.stderr, "");
    assert_eq!(played.params("hook.tool_call").len(), 3);
}

#[test]
fn gates_are_asked_in_path_order_until_one_blocks() {
    let place = Place::new();
    let gate = |file: &str| hooked(&place, file, "tool_call");
    let first = gate("1").play();
    let second = gate("2")
        .says("hook.tool_call", json!({"block": true}))
        .play();
    let third = gate("3").play();
    let (_, result) = with_bash(&place);
    assert!(result.contains("blocked by 2"), "{result}");
    assert_eq!(first.params("hook.tool_call").len(), 1);
    assert_eq!(second.params("hook.tool_call").len(), 1);
    assert!(third.params("hook.tool_call").is_empty());
}

#[test]
fn a_gate_sees_calls_of_extension_tools_too() {
    let place = Place::new();
    let manifest = json!({"name": "a", "hooks": ["tool_call"], "tools": [{"name": "t"}]});
    let block = json!({"block": true, "reason": "no"});
    let played = Actor::new(&place, "a", manifest)
        .says("hook.tool_call", block)
        .play();
    place
        .provider
        .script([call("t", json!({"a": 1})), say("done")]);
    place.json(&["go"]).run().ends_with(0);
    assert_eq!(place.provider.received()[1].results(), ["no"]);
    assert!(played.params("tool_call").is_empty());
}

#[test]
fn results_are_rewritten_in_declaration_order_before_anybody_sees_them() {
    let place = Place::new();
    let rewriter = |file: &str| {
        let name = file.to_owned();
        hooked(&place, file, "tool_result").on("hook.tool_result", move |params| {
            json!({"content": format!("{}<{name}>", super::content(params).trim_end())})
        })
    };
    let (first, second) = (rewriter("1").play(), rewriter("2").play());
    let silent = hooked(&place, "3", "tool_result").play();
    let (run, result) = with_bash(&place);
    assert_eq!(result, "hi<1><2>");
    assert_eq!(run.events("tool_end")[0]["content"], result);
    let seen = |content: &str| [json!({"name": "bash", "content": content, "is_error": false})];
    assert_eq!(first.params("hook.tool_result"), seen("hi"));
    assert_eq!(second.params("hook.tool_result"), seen("hi<1>"));
    assert_eq!(silent.params("hook.tool_result"), seen("hi<1><2>"));
    let log = std::fs::read_to_string(&place.logs()[0]).unwrap();
    assert!(log.contains("hi<1><2>"), "{log}");
}

#[test]
fn a_result_hook_sees_failures_and_may_empty_a_result() {
    let place = Place::new();
    let played = answering(&place, "a", "tool_result", json!({"content": ""}));
    place
        .provider
        .script([call("read", json!({"path": "secret"})), say("done")]);
    place.json(&["go"]).run().ends_with(0);
    assert_eq!(played.params("hook.tool_result")[0]["is_error"], true);
    let result = place.provider.received()[1].results().remove(0);
    assert!(!result.contains("secret"), "{result}");
}

#[test]
fn what_a_result_hook_removes_cannot_be_read_with_read_result() {
    let place = Place::new();
    let trim = hooked(&place, "a", "tool_result").on("hook.tool_result", |params| {
        match super::content(params).contains("secret") {
            true => json!({"content": "redacted"}),
            false => json!({}),
        }
    });
    trim.play();
    let long = "i=0; while [ $i -lt 9000 ]; do echo secret $i; i=$((i+1)); done";
    place.provider.script([
        call("bash", json!({"command": long})),
        call("read_result", json!({"id": 1, "offset": 1})),
        say("done"),
    ]);
    let run = place.json(&["go"]).run().ends_with(0);
    assert_eq!(place.provider.received()[1].results(), ["redacted"]);
    // The live preview shows what no hook has seen yet.
    for end in run.events("tool_end") {
        let text = end["content"].as_str().unwrap();
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn a_turn_gets_suffixes_and_messages_before_its_first_request() {
    let place = Place::new();
    let says = |file: &str, answer: Value| answering(&place, file, "before_turn", answer);
    let first = says("1", json!({"system_suffix": "first suffix"}));
    let _second = says(
        "2",
        json!({"message": {"content": "hidden context"}, "system_suffix": " "}),
    );
    let _third = says(
        "3",
        json!({"message": {"content": "shown context", "internal": false}, "system_suffix": "second suffix"}),
    );
    let bash = call("bash", json!({"command": "true"}));
    place.provider.script([bash, say("done")]);
    let run = place.json(&["the prompt"]).run().ends_with(0);
    assert_eq!(
        first.params("hook.before_turn"),
        [json!({"prompt": "the prompt"})]
    );
    let requests = place.provider.received();
    for request in &requests {
        let system = request.system();
        assert!(
            system.ends_with("first suffix\n\nsecond suffix"),
            "{system}"
        );
    }
    let messages = requests[0].body["messages"].to_string();
    let at = |text: &str| {
        messages
            .find(text)
            .unwrap_or_else(|| panic!("no {text} in {messages}"))
    };
    assert!(at("the prompt") < at("hidden context"));
    assert!(at("hidden context") < at("shown context"));
    assert!(!run.stdout.contains("hidden context"), "{run:?}");
    assert_eq!(run.events("steered")[0]["text"], "shown context");
    // It was of that turn alone.
    assert_eq!(requests.len(), 2);
}

#[test]
fn the_first_input_hook_that_decides_wins_and_all_notices_show() {
    let place = Place::new();
    let says = |file: &str, answer: Value| answering(&place, file, "input", answer);
    let first = says("1", json!({"notice": "one lets it through"}));
    let second = says(
        "2",
        json!({"replace": "rewritten", "notice": "two rewrites"}),
    );
    let third = says("3", json!({"consume": true}));
    let run = place.json(&["as typed"]).run().ends_with(0);
    assert_eq!(first.params("hook.input"), [json!({"text": "as typed"})]);
    assert_eq!(second.params("hook.input"), [json!({"text": "as typed"})]);
    assert!(third.params("hook.input").is_empty());
    assert_eq!(place.provider.received()[0].last_user(), "rewritten");
    assert_eq!(
        run.result()["warnings"],
        json!(["one lets it through", "two rewrites"])
    );
}

#[test]
fn a_consumed_line_makes_no_request() {
    let place = Place::new();
    let answer = json!({"consume": true, "replace": "not this", "notice": "swallowed"});
    answering(&place, "a", "input", answer);
    let run = place.json(&["go"]).run().ends_with(0);
    assert!(place.provider.received().is_empty());
    assert_eq!(run.result()["warnings"], json!(["swallowed"]));
    assert!(run.stderr.contains("swallowed"), "{run:?}");
}

#[test]
fn an_empty_replacement_is_none() {
    let place = Place::new();
    answering(
        &place,
        "a",
        "input",
        json!({"consume": false, "replace": ""}),
    );
    place.p(&["as typed"]).run().ends_with(0);
    assert_eq!(place.provider.received()[0].last_user(), "as typed");
}

#[test]
fn a_line_of_a_one_shot_request_passes_the_input_hooks() {
    let place = Place::new();
    let played = answering(&place, "a", "input", json!({"replace": "rewritten"}));
    let run = place
        .e()
        .args(["rpc"])
        .stdin("{\"prompt\":\"as typed\",\"model\":\"mock/test\"}\n")
        .run();
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(played.params("hook.input"), [json!({"text": "as typed"})]);
    assert_eq!(place.provider.received()[0].last_user(), "rewritten");
}

#[test]
fn the_last_word_on_a_summary() {
    let place = Place::new();
    let manifest = |name: &str| json!({"name": name, "hooks": ["compact_summary"], "events": ["compact_start", "compact_end"]});
    let add = |file: &str, text: &'static str| {
        Actor::new(&place, file, manifest(file)).on("hook.compact_summary", move |params| {
            json!({"summary": format!("{} {text}", params["summary"].as_str().unwrap())})
        })
    };
    let (first, second) = (add("1", "and one").play(), add("2", "and two").play());
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    // More than is kept beside a summary.
    for _ in 0..3 {
        rpc.prompt(&session, &"remember this ".repeat(4_000));
    }
    place.provider.script([say("in short")]);
    rpc.call("session.compact", json!({"session": session}));
    let compacted = rpc.event("compacted");
    assert_eq!(
        first.params("hook.compact_summary"),
        [json!({"summary": "in short"})]
    );
    assert_eq!(
        second.params("hook.compact_summary"),
        [json!({"summary": "in short and one"})]
    );
    assert!(
        compacted["summary"]
            .as_str()
            .unwrap()
            .contains("in short and one and two"),
        "{compacted}"
    );
    first.wait_nth("event", 1);
    assert_eq!(first.events(), ["compact_start", "compact_end"]);
    let end = first.event("compact_end");
    assert!(
        end["summary"]
            .as_str()
            .unwrap()
            .contains("in short and one and two"),
        "{end}"
    );
    rpc.close();
    rpc.finish();
}

#[test]
fn an_answer_of_a_wrong_shape_changes_nothing_and_is_told_once() {
    let place = Place::new();
    let bad = hooked(&place, "bad", "tool_result").says("hook.tool_result", json!({"content": 7}));
    bad.play();
    answering(&place, "good", "tool_result", json!({"content": "checked"}));
    let bash = || call("bash", json!({"command": "echo hi"}));
    place.provider.script([bash(), bash(), bash(), say("done")]);
    let run = place.json(&["go"]).run().ends_with(0);
    for end in run.events("tool_end") {
        assert_eq!(end["content"], "checked");
    }
    let told: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.contains("tool_result"))
        .collect();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        told[0].contains("extension bad") && told[0].contains("`content`"),
        "{told:?}"
    );
    assert!(told[1].contains("2 more times"), "{told:?}");
}

#[test]
fn a_gate_that_fails_lets_the_call_run_and_says_so() {
    let place = Place::new();
    let played = hooked(&place, "gate", "tool_call")
        .holds("hook.tool_call")
        .play();
    place
        .provider
        .script([call("bash", json!({"command": "echo hi"})), say("done")]);
    let run = place.json(&["go"]).start();
    let request = played.wait("hook.tool_call");
    played.send(&json!({"id": request["id"], "error": "broken"}));
    let run = run.finish().ends_with(0);
    assert_eq!(run.events("tool_end")[0]["outcome"], "completed");
    assert!(
        run.stderr.contains("gate")
            && run.stderr.contains("tool_call")
            && run.stderr.contains("broken"),
        "{run:?}"
    );
}

#[test]
fn silence_fails_open_after_five_seconds() {
    let place = Place::new();
    let gate = hooked(&place, "a", "tool_call")
        .holds("hook.tool_call")
        .play();
    let other = hooked(&place, "z", "tool_call").play();
    let bash = || call("bash", json!({"command": "echo hi"}));
    // The calls of one reply wait for the same silence once.
    let two = bash().and_call("bash", json!({"command": "echo ho"}));
    place.provider.script([two, say("done")]);
    let start = Instant::now();
    let run = place.json(&["go"]).run().ends_with(0);
    let elapsed = start.elapsed();
    assert!(
        (Duration::from_secs(5)..Duration::from_secs(9)).contains(&elapsed),
        "{elapsed:?}"
    );
    for end in run.events("tool_end") {
        assert_eq!(end["outcome"], "completed", "{end}");
    }
    assert!(
        run.stderr.contains("tool_call") && run.stderr.contains("5 seconds"),
        "{}",
        run.stderr
    );
    assert_eq!(gate.params("hook.tool_call").len(), 1);
    assert_eq!(other.params("hook.tool_call").len(), 2);
}

#[test]
fn an_interrupt_acts_while_a_hook_is_asked() {
    for hook in ["input", "before_turn", "tool_call", "tool_result"] {
        let place = Place::new();
        let played = hooked(&place, "a", hook)
            .holds(&format!("hook.{hook}"))
            .play();
        let mut rpc = Rpc::start(&place, &[]);
        let session = rpc.create(json!({}));
        place
            .provider
            .script([call("bash", json!({"command": "echo hi"})), say("done")]);
        let prompt = rpc.begin(&session, "go");
        let request = played.wait(&format!("hook.{hook}"));
        let start = Instant::now();
        rpc.call("session.interrupt", json!({"session": session}));
        assert!(
            start.elapsed().as_millis() < 200 * super::SLOW,
            "{hook}: {:?}",
            start.elapsed()
        );
        assert_eq!(rpc.result(&prompt)["aborted"], true, "{hook}");
        // Whatever it says now is of no interest.
        played.answer(
            &request,
            json!({"block": true, "consume": true, "content": "late"}),
        );
        let info = rpc.call("session.info", json!({"session": session}));
        assert_eq!(info["running"], false, "{info}");
        rpc.close();
        rpc.finish();
    }
}

#[test]
fn a_session_asks_and_serves_an_extension_that_is_being_asked() {
    let place = Place::new();
    let played = hooked(&place, "gate", "tool_call")
        .holds("hook.tool_call")
        .play();
    place
        .provider
        .script([call("bash", json!({"command": "echo hi"})), say("done")]);
    let run = place.json(&["go"]).start();
    let request = played.wait("hook.tool_call");
    let info = played.ask("session.info", json!({}));
    assert_eq!(info["result"]["running"], true, "{info}");
    assert_eq!(
        played.ask("ui.confirm", json!({"title": "may it?"})),
        json!({"error": "no ui"})
    );
    played.answer(
        &request,
        json!({"block": true, "reason": "nobody was there"}),
    );
    let run = run.finish().ends_with(0);
    assert_eq!(
        super::content(&run.events("tool_end")[0]),
        "nobody was there"
    );
}
