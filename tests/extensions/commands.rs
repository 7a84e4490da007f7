//! Commands without a terminal.

use serde_json::{Value, json};

use crate::support::{Actor, Place, Rpc, say};

fn commander(place: &Place, answer: Value) -> Actor {
    let commands = json!([{"name": "do", "description": "does it"}]);
    Actor::new(place, "c", json!({"name": "c", "commands": commands})).says("command", answer)
}

#[test]
fn the_rest_of_the_line_is_its_argument() {
    let place = Place::new();
    let played = commander(&place, json!({})).play();
    for (prompt, args) in [
        ("/do", ""),
        ("/do this  and that ", "this  and that"),
        ("/do\ta\nb", "a\nb"),
    ] {
        place.p(&[prompt]).run().ends_with(0);
        let asked = played.params("command").pop();
        assert_eq!(asked, Some(json!({"name": "do", "args": args})));
    }
    assert!(place.provider.received().is_empty());
}

#[test]
fn any_other_slash_is_plain_text() {
    let place = Place::new();
    let played = commander(&place, json!({})).play();
    for prompt in ["/dont", "/do/it", "/", "do", " /do"] {
        place.p(&[prompt]).run().ends_with(0);
    }
    assert_eq!(place.provider.received().len(), 5);
    assert!(played.params("command").is_empty());
}

#[test]
fn what_it_answers_is_shown_said_and_named() {
    let place = Place::new();
    let answer = json!({
        "notice": "a notice",
        "show": {"title": "a title", "body": "the body", "format": "text"},
        "prompt": "ask the model this",
        "session_name": "named",
    });
    commander(&place, answer).play();
    place.provider.script([say("answered")]);
    let run = place.json(&["/do"]).run().ends_with(0);
    assert_eq!(
        place.provider.received()[0].last_user(),
        "ask the model this"
    );
    assert_eq!(run.events("session_name")[0]["name"], "named");
    let result = run.result();
    assert_eq!(result["output"], "answered");
    let warnings = result["warnings"].to_string();
    for text in ["a notice", "a title", "the body"] {
        assert!(warnings.contains(text), "{warnings}");
    }
}

#[test]
fn a_failing_command_is_an_error_that_names_it() {
    let place = Place::new();
    let played = commander(&place, json!({})).holds("command").play();
    let run = place.json(&["/do"]).start();
    let request = played.wait("command");
    played.send(&json!({"id": request["id"], "error": "cannot"}));
    let run = run.finish().ends_with(1);
    let error = run.result()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("/do") && error.contains("cannot"), "{error}");

    let run = place.json(&["/do"]).start();
    played.wait_nth("command", 1);
    played.exit();
    let run = run.finish().ends_with(1);
    let error = run.result()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("/do") && error.contains("exited"), "{error}");
}

#[test]
fn rpc_runs_commands_too() {
    let place = Place::new();
    let played = commander(&place, json!({"notice": "done", "prompt": "and now this"})).play();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let result = rpc.prompt(&session, "/do it");
    assert_eq!(
        played.params("command"),
        [json!({"name": "do", "args": "it"})]
    );
    assert_eq!(result["output"], "ok");
    assert_eq!(rpc.event("warning")["message"], "done");
    assert_eq!(place.provider.received()[0].last_user(), "and now this");
    rpc.close();
    rpc.finish();
}

#[test]
fn a_one_shot_line_is_taken_literally() {
    let place = Place::new();
    let played = commander(&place, json!({})).play();
    let line = "{\"prompt\":\"/do it\",\"model\":\"mock/test\"}\n";
    place.e().args(["rpc"]).stdin(line).run().ends_with(0);
    assert_eq!(place.provider.received()[0].last_user(), "/do it");
    assert!(played.params("command").is_empty());
}

#[test]
fn an_input_hook_may_turn_a_line_into_a_command() {
    let place = Place::new();
    let manifest = json!({"name": "c", "hooks": ["input"], "commands": [{"name": "do"}]});
    let played = Actor::new(&place, "c", manifest)
        .says("hook.input", json!({"replace": "/do it"}))
        .play();
    place.p(&["please"]).run().ends_with(0);
    assert_eq!(
        played.params("command"),
        [json!({"name": "do", "args": "it"})]
    );
}

#[test]
fn an_interrupt_acts_while_a_command_runs() {
    let place = Place::new();
    let played = commander(&place, json!({})).holds("command").play();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let prompt = rpc.begin(&session, "/do");
    let request = played.wait("command");
    let start = std::time::Instant::now();
    rpc.call("session.interrupt", json!({"session": session}));
    assert!(
        start.elapsed().as_millis() < 200 * super::SLOW,
        "{:?}",
        start.elapsed()
    );
    assert_eq!(rpc.result(&prompt)["aborted"], true);
    played.answer(&request, json!({"prompt": "late", "session_name": "late"}));
    let info = rpc.call("session.info", json!({"session": session}));
    assert_eq!(info["running"], false);
    assert!(place.provider.received().is_empty());
    rpc.close();
    rpc.finish();
}
