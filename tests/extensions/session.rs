//! `session.*`: served under `-p`, refused under rpc; and `ui.*`, refused under `-p`.

use serde_json::{Value, json};

use super::tooled;
use crate::support::{Actor, Place, Played, Rpc, Run, Running, call, say};

/// A run in which the model has called `t`, which waits for the test.
struct InCall {
    place: Place,
    played: Played,
    run: Running,
    request: Value,
}

impl InCall {
    fn start(events: &[&str]) -> Self {
        let place = Place::new();
        let manifest = json!({"name": "a", "tools": [{"name": "t"}], "events": events});
        let played = Actor::new(&place, "a", manifest).holds("tool_call").play();
        place.provider.script([call("t", json!({}))]);
        let run = place.json(&["go"]).start();
        let request = played.wait("tool_call");
        Self {
            place,
            played,
            run,
            request,
        }
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        self.played.ask(method, params)
    }

    /// Answers the call and lets the turn end.
    fn end(self) -> (Place, Played, Run) {
        self.played
            .answer(&self.request, json!({"content": "result"}));
        (self.place, self.played, self.run.finish())
    }
}

fn ok() -> Value {
    json!({"result": {}})
}

#[test]
fn info_tells_about_the_session() {
    let call = InCall::start(&[]);
    let info = call.ask("session.info", json!({}))["result"].clone();
    let keys: Vec<&str> = info
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let expected = [
        "path",
        "id",
        "name",
        "cwd",
        "model",
        "effort",
        "running",
        "tools",
        "context_tokens",
        "context_window",
    ];
    assert_eq!(keys, expected);
    assert_eq!(info["cwd"], json!(call.place.workspace));
    assert_eq!(info["model"], "mock/test");
    assert_eq!(info["effort"], "high");
    assert_eq!(info["running"], true);
    assert_eq!(info["context_window"], 64000);
    assert!(info["context_tokens"].as_u64().unwrap() > 0);
    assert_eq!(info["tools"].as_array().unwrap().last(), Some(&json!("t")));
    assert_eq!(info["path"], json!(call.place.logs()[0]));
    call.end().2.ends_with(0);
}

#[test]
fn the_answer_has_the_id_of_the_request_whatever_it_is() {
    let call = InCall::start(&[]);
    for id in [
        json!("q"),
        json!(7),
        json!(null),
        json!([1.5, {"b": 1, "a": 2}]),
        json!("\u{2028}"),
    ] {
        let request = json!({"id": id, "method": "session.name", "params": {"name": "n"}});
        call.played.send(&request);
        assert_eq!(call.played.answer_to(&id), ok(), "{id}");
    }
    call.end().2.ends_with(0);
}

#[test]
fn a_steer_joins_the_running_turn() {
    let call = InCall::start(&[]);
    assert_eq!(
        call.ask("session.send", json!({"content": "look at this"})),
        ok()
    );
    assert_eq!(
        call.ask(
            "session.send",
            json!({"content": "hidden", "internal": true, "run": true})
        ),
        ok()
    );
    let (place, _, run) = call.end();
    assert_eq!(run.status, 0, "{run:?}");
    let request = place.provider.received().remove(1);
    let messages = request.body["messages"].to_string();
    assert!(
        messages.contains("look at this") && messages.contains("hidden"),
        "{messages}"
    );
    assert_eq!(run.events("steered").len(), 1, "{run:?}");
    assert_eq!(run.events("steered")[0]["text"], "look at this");
}

#[test]
fn what_a_running_turn_cannot_take_is_refused() {
    let call = InCall::start(&[]);
    for params in [
        json!({"content": "x", "run": false}),
        json!({"content": "x", "internal": true}),
        json!({"content": " \n"}),
        json!({"content": "x", "when": "next_turn"}),
        json!({"content": "x", "internal": true, "when": "later"}),
        json!({}),
    ] {
        let id = json!(format!("r{params}"));
        call.played
            .send(&json!({"id": id, "method": "session.send", "params": params}));
        let answer = call.played.answer_to(&id);
        assert!(answer["error"].is_string(), "{params}: {answer}");
    }
    let answer = call.ask(
        "session.send",
        json!({"content": "later", "internal": true, "when": "next_turn"}),
    );
    assert_eq!(answer, ok());
    let (place, _, run) = call.end();
    run.ends_with(0);
    assert!(
        !place.provider.received()[1]
            .body
            .to_string()
            .contains("later")
    );
}

#[test]
fn a_name_is_shown_and_kept() {
    let call = InCall::start(&[]);
    assert_eq!(
        call.ask("session.name", json!({"name": "plan \u{1b}[1mB"})),
        ok()
    );
    assert_eq!(
        call.ask("session.info", json!({}))["result"]["name"],
        "plan B"
    );
    let (place, _, run) = call.end();
    assert_eq!(run.events("session_name")[0]["name"], "plan B");
    let log = std::fs::read_to_string(&place.logs()[0]).unwrap();
    assert!(log.contains("plan B"), "{log}");
}

#[test]
fn narrowed_tools_are_neither_offered_nor_run() {
    let call = InCall::start(&[]);
    assert_eq!(
        call.ask("session.tools", json!({"names": ["read", "no_such"]})),
        ok()
    );
    assert_eq!(
        call.ask("session.info", json!({}))["result"]["tools"],
        json!(["read"])
    );
    call.place.provider.script([
        crate::support::call("bash", json!({"command": "touch ran"})).and_call("t", json!({})),
        say("done"),
    ]);
    let (place, played, run) = call.end();
    run.ends_with(0);
    let requests = place.provider.received();
    assert_eq!(requests[1].tools(), ["read"]);
    for result in &requests[2].results()[1..] {
        assert!(result.contains("switched off"), "{result}");
    }
    assert!(!place.workspace.join("ran").exists());
    assert_eq!(played.params("tool_call").len(), 1);
}

#[test]
fn null_restores_the_tools() {
    let call = InCall::start(&[]);
    let before = call.ask("session.info", json!({}))["result"]["tools"].clone();
    call.ask("session.tools", json!({"names": []}));
    assert_eq!(
        call.ask("session.info", json!({}))["result"]["tools"],
        json!([])
    );
    call.ask("session.tools", json!({"names": null}));
    assert_eq!(
        call.ask("session.info", json!({}))["result"]["tools"],
        before
    );
    call.end().2.ends_with(0);
}

#[test]
fn another_model_is_chosen_by_name() {
    let call = InCall::start(&["model_change", "effort_change"]);
    let answer = call.ask("session.model", json!({"model": "no/such"}));
    assert!(
        answer["error"].as_str().unwrap().contains("no/such"),
        "{answer}"
    );
    let answer = call.ask("session.effort", json!({"effort": "extreme"}));
    assert!(
        answer["error"].as_str().unwrap().contains("extreme"),
        "{answer}"
    );
    assert_eq!(call.ask("session.effort", json!({"effort": "low"})), ok());
    assert_eq!(
        call.ask("session.model", json!({"model": "mock/plain"})),
        ok()
    );
    let (_, played, run) = call.end();
    run.ends_with(0);
    assert_eq!(played.event("effort_change"), json!({"effort": "low"}));
    assert_eq!(played.event("model_change"), json!({"model": "mock/plain"}));
}

#[test]
fn it_may_interrupt_its_own_turn() {
    let call = InCall::start(&[]);
    assert_eq!(call.ask("session.interrupt", json!({})), ok());
    let run = call.run.finish().ends_with(1);
    assert_eq!(run.result()["aborted"], true);
    assert_eq!(run.events("tool_end")[0]["outcome"], "cancelled");
}

#[test]
fn a_compaction_waits_for_the_next_step() {
    let call = InCall::start(&["compact_start", "compact_end"]);
    assert_eq!(
        call.ask("session.compact", json!({"focus": "the names"})),
        ok()
    );
    let (_, _, run) = call.end();
    // There is nothing old enough yet; it is asked for, and said.
    assert!(run.status == 0, "{run:?}");
    assert!(run.stdout.contains("compact"), "{run:?}");
}

#[test]
fn without_a_terminal_nobody_answers_a_question() {
    let call = InCall::start(&[]);
    let requests = [
        ("ui.notify", json!({"message": "x"})),
        ("ui.show", json!({"body": "x", "format": "text"})),
        ("ui.select", json!({"title": "x", "options": ["a"]})),
        ("ui.confirm", json!({"title": "x"})),
        ("ui.input", json!({"title": "x"})),
        ("ui.editor", json!({"title": "x"})),
        ("ui.status", json!({"text": "x"})),
        ("ui.activity", json!({"text": "x"})),
        ("ui.compose", json!({"text": "x"})),
        ("ui.panel", json!({"title": "x", "lines": []})),
        ("ui.widget", json!({"lines": null})),
        ("ui.pane", json!(null)),
    ];
    for (method, params) in requests {
        assert_eq!(
            call.ask(method, params),
            json!({"error": "no ui"}),
            "{method}"
        );
    }
    call.played.is_refused("ui.confirm", json!("x"));
    call.played.is_refused("explode", json!({}));
    call.end().2.ends_with(0);
}

#[test]
fn an_unknown_method_is_named() {
    let call = InCall::start(&[]);
    let id = json!("u");
    call.played
        .send(&json!({"id": id, "method": "session.explode", "params": {}}));
    let answer = call.played.answer_to(&id);
    assert!(
        answer["error"]
            .as_str()
            .unwrap()
            .contains("session.explode"),
        "{answer}"
    );
    call.end().2.ends_with(0);
}

#[test]
fn requests_before_the_manifest_are_served_right_after_it() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").holds("initialize").play();
    let run = place.json(&["go"]).start();
    let initialize = played.wait("initialize");
    let early = played.begin("ui.confirm", json!({"title": "?"}));
    let name = played.begin("session.name", json!({"name": "early"}));
    let info = played.begin("session.info", json!({}));
    played.answer(&initialize, json!({"name": "a"}));
    assert_eq!(played.answer_to(&early), json!({"error": "no ui"}));
    assert_eq!(played.answer_to(&name), ok());
    assert_eq!(played.answer_to(&info)["result"]["name"], "early");
    let lines = played.lines();
    let at = |id: &Value| {
        lines
            .iter()
            .position(|line| line["id"] == *id && line["method"].is_null())
    };
    assert!(at(&early) < at(&name) && at(&name) < at(&info));
    run.finish().ends_with(0);
}

/// What waits for the session is answered also when there is none.
#[test]
fn a_launch_that_stops_answers_what_was_early() {
    let place = Place::new();
    let waits = tooled(&place, "a", "t").play();
    let stops = Actor::new(&place, "b", json!({"name": "b", "hooks": ["startup"]}));
    let stops = stops.holds("hook.startup").play();
    let run = place.json(&["go"]).start();
    let hook = stops.wait("hook.startup");
    let early = waits.begin("session.info", json!({}));
    // The one that is waited for hears at once that nobody can answer.
    let own = stops.ask("session.info", json!({}));
    assert!(own["error"].as_str().unwrap().contains("starting"), "{own}");
    stops.send(&json!({"id": hook["id"], "error": "not today"}));
    let answer = waits.answer_to(&early);
    assert!(answer["error"].is_string(), "{answer}");
    run.finish().ends_with(1);
}

#[test]
fn rpc_refuses_the_session_to_extensions() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").holds("tool_call").play();
    let mut rpc = Rpc::start(&place, &[]);
    rpc.call("hello", json!({"ask": true}));
    let session = rpc.create(json!({}));
    place.provider.script([call("t", json!({})), say("done")]);
    let prompt = rpc.begin(&session, "go");
    let request = played.wait("tool_call");
    for (method, params) in [
        ("session.send", json!({"content": "x"})),
        ("session.info", json!({})),
        ("session.name", json!({"name": "x"})),
        ("session.model", json!({"model": "x"})),
        ("session.effort", json!({"effort": "low"})),
        ("session.tools", json!({"names": []})),
        ("session.interrupt", json!({})),
        ("session.compact", json!({})),
        ("ui.status", json!({"text": "x"})),
        ("ui.activity", json!({"text": "x"})),
        ("ui.compose", json!({"text": "x"})),
        ("ui.panel", json!({"title": "x", "lines": []})),
        ("ui.widget", json!({"lines": ["x"]})),
        (
            "ui.pane",
            json!({"sections": [{"kind": "text", "body": "x"}]}),
        ),
    ] {
        assert_eq!(
            played.ask(method, params),
            json!({"error": "no ui"}),
            "{method}"
        );
    }
    played.is_refused("ui.panel", json!({"lines": 3}));
    played.is_refused("session.tools", json!({}));
    played.is_refused("explode", json!({}));
    played.answer(&request, json!({"content": "x"}));
    rpc.result(&prompt);
    rpc.close();
    rpc.finish();
}

/// A command that waits for the test, and a run that has begun with it.
fn in_command(events: &[&str]) -> InCall {
    let place = Place::new();
    let manifest = json!({"name": "a", "commands": [{"name": "do"}], "events": events});
    let played = Actor::new(&place, "a", manifest).holds("command").play();
    let run = place.json(&["/do"]).start();
    let request = played.wait("command");
    InCall {
        place,
        played,
        run,
        request,
    }
}

#[test]
fn a_model_that_a_command_chooses_answers_its_prompt() {
    let call = in_command(&[]);
    assert_eq!(
        call.ask("session.model", json!({"model": "mock/plain"})),
        ok()
    );
    call.played
        .answer(&call.request, json!({"prompt": "say it"}));
    let run = call.run.finish().ends_with(0);
    assert_eq!(call.place.provider.received()[0].body["model"], "plain");
    assert_eq!(run.result()["model"], "mock/plain");
}

#[test]
fn what_a_command_sends_starts_a_turn() {
    let call = in_command(&[]);
    assert_eq!(
        call.ask("session.info", json!({}))["result"]["running"],
        false
    );
    assert_eq!(
        call.ask(
            "session.send",
            json!({"content": "context", "internal": true})
        ),
        ok()
    );
    assert_eq!(
        call.ask("session.send", json!({"content": "the question"})),
        ok()
    );
    assert_eq!(
        call.ask("session.send", json!({"content": "and this"})),
        ok()
    );
    call.played.answer(&call.request, json!({}));
    let run = call.run.finish().ends_with(0);
    assert!(run.events("discarded").is_empty(), "{run:?}");
    assert_eq!(run.result()["output"], "ok");
    let messages = call.place.provider.received()[0].body["messages"].to_string();
    let at = |text: &str| {
        messages
            .find(text)
            .unwrap_or_else(|| panic!("no {text} in {messages}"))
    };
    assert!(at("context") < at("the question") && at("the question") < at("and this"));
}

#[test]
fn an_input_hook_may_swallow_a_line_and_send_another() {
    let place = Place::new();
    let played = super::hooked(&place, "a", "input")
        .holds("hook.input")
        .play();
    let run = place.json(&["as typed"]).start();
    let request = played.wait("hook.input");
    assert_eq!(
        played.ask("session.send", json!({"content": "instead"})),
        ok()
    );
    played.answer(&request, json!({"consume": true}));
    run.finish().ends_with(0);
    assert_eq!(place.provider.received()[0].last_user(), "instead");
    assert_eq!(played.params("hook.input").len(), 1);
}
