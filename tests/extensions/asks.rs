//! What extensions ask and say under rpc, relayed to the client.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{hooked, tooled};
use crate::support::{Place, Played, Rpc, call, say};

/// A server with a client that answers questions, and a call of `t` that waits for the test.
fn asking(place: &Place) -> (Rpc, Played, Value, Value) {
    let played = tooled(place, "a", "t").holds("tool_call").play();
    let mut rpc = Rpc::start(place, &[]);
    rpc.call("hello", json!({"ask": true}));
    let session = rpc.create(json!({}));
    place.provider.script([call("t", json!({})), say("done")]);
    let prompt = rpc.begin(&session, "go");
    let request = played.wait("tool_call");
    (rpc, played, prompt, request)
}

fn end(mut rpc: Rpc, played: &Played, prompt: &Value, request: &Value) {
    played.answer(request, json!({"content": "x"}));
    rpc.result(prompt);
    rpc.close();
    rpc.finish();
}

fn reply(rpc: &mut Rpc, ask: &Value, result: Value) -> Value {
    rpc.call("ask.reply", json!({"ask": ask["ask"], "result": result}))
}

#[test]
fn a_question_goes_to_the_client_and_its_answer_comes_back() {
    let place = Place::new();
    let (mut rpc, played, prompt, request) = asking(&place);
    let cases = [
        (
            "ui.select",
            json!({"title": "which?", "options": ["a", {"label": "b", "value": "B"}]}),
            json!({"value": "B", "label": "b"}),
        ),
        (
            "ui.confirm",
            json!({"title": "sure?", "message": "really"}),
            json!({"confirmed": true}),
        ),
        (
            "ui.input",
            json!({"title": "name", "secret": true}),
            json!({"text": "s3"}),
        ),
        (
            "ui.editor",
            json!({"title": "text", "text": "a\nb"}),
            json!({"cancelled": true}),
        ),
    ];
    for (number, (method, params, result)) in cases.into_iter().enumerate() {
        let id = played.begin(method, params.clone());
        let ask = rpc.wait(|line| line["type"] == "ask" && line["ask"] == number + 1);
        let expected = json!({"type": "ask", "ask": number + 1, "extension": "a", "method": method, "params": params});
        assert_eq!(ask, expected);
        assert_eq!(reply(&mut rpc, &ask, result.clone()), json!({}));
        assert_eq!(played.answer_to(&id), json!({"result": result}));
    }
    end(rpc, &played, &prompt, &request);
}

#[test]
fn questions_may_be_answered_in_any_order_and_once() {
    let place = Place::new();
    let (mut rpc, played, prompt, request) = asking(&place);
    let first = played.begin("ui.confirm", json!({"title": "1"}));
    let second = played.begin("ui.confirm", json!({"title": "2"}));
    let ask = |rpc: &mut Rpc, title: &str| rpc.wait(|line| line["params"]["title"] == title);
    let (one, two) = (ask(&mut rpc, "1"), ask(&mut rpc, "2"));
    reply(&mut rpc, &two, json!({"confirmed": true}));
    assert_eq!(
        played.answer_to(&second),
        json!({"result": {"confirmed": true}})
    );
    reply(&mut rpc, &one, json!({"confirmed": false}));
    assert_eq!(
        played.answer_to(&first),
        json!({"result": {"confirmed": false}})
    );
    let why = rpc.refused("ask.reply", json!({"ask": one["ask"], "result": {}}));
    assert!(why.contains("no such"), "{why}");
    end(rpc, &played, &prompt, &request);
}

#[test]
fn a_client_that_does_not_answer_questions_is_not_asked() {
    for hello in [None, Some(json!({})), Some(json!({"ask": false}))] {
        let place = Place::new();
        let played = tooled(&place, "a", "t").holds("tool_call").play();
        let mut rpc = Rpc::start(&place, &[]);
        let greeted = hello.is_some();
        if let Some(hello) = hello {
            rpc.call("hello", hello);
        }
        let session = rpc.create(json!({}));
        place.provider.script([call("t", json!({})), say("done")]);
        let prompt = rpc.begin(&session, "go");
        let request = played.wait("tool_call");
        assert_eq!(
            played.ask("ui.confirm", json!({"title": "?"})),
            json!({"error": "no ui"})
        );
        played.is_refused("ui.select", json!({}));
        played.is_refused("ui.input", json!(3));
        assert_eq!(
            played.ask("ui.notify", json!({"message": "hi"})),
            json!({"result": {}})
        );
        let show = json!({"title": "t", "body": "b", "format": "diff"});
        assert_eq!(played.ask("ui.show", show.clone()), json!({"result": {}}));
        played.send(&json!({"method": "notify", "params": {"message": "plain"}}));
        played.answer(&request, json!({"content": "x"}));
        rpc.result(&prompt);
        rpc.close();
        let (lines, _) = rpc.finish();
        let notices: Vec<&Value> = lines
            .iter()
            .filter(|line| line["type"] == "notice")
            .collect();
        assert_eq!(notices.len(), if greeted { 3 } else { 0 }, "{notices:#?}");
        if greeted {
            let notify = json!({"type": "notice", "extension": "a", "method": "ui.notify", "params": {"message": "hi"}});
            assert_eq!(*notices[0], notify);
            assert_eq!(notices[1]["params"], show);
            assert_eq!(notices[2]["message"], "plain");
        }
    }
}

#[test]
fn the_clock_of_a_hook_stands_still_while_a_person_is_asked() {
    let place = Place::new();
    let played = hooked(&place, "gate", "tool_call")
        .holds("hook.tool_call")
        .play();
    let mut rpc = Rpc::start(&place, &[]);
    rpc.call("hello", json!({"ask": true}));
    let session = rpc.create(json!({}));
    place
        .provider
        .script([call("bash", json!({"command": "touch ran"})), say("done")]);
    let prompt = rpc.begin(&session, "go");
    let request = played.wait("hook.tool_call");
    let question = played.begin("ui.confirm", json!({"title": "may it?"}));
    let ask = rpc.event("ask");
    // A person who thinks for longer than a hook may take. Nothing else tells that this time is over.
    std::thread::sleep(Duration::from_millis(5600));
    reply(&mut rpc, &ask, json!({"confirmed": false}));
    played.answer_to(&question);
    played.answer(
        &request,
        json!({"block": true, "reason": "the person said no"}),
    );
    rpc.result(&prompt);
    assert_eq!(
        place.provider.received()[1].results(),
        ["the person said no"]
    );
    rpc.close();
    rpc.finish();
}

#[test]
fn an_interrupt_takes_back_the_question_of_what_it_interrupts() {
    let place = Place::new();
    let (mut rpc, played, prompt, request) = asking(&place);
    let session = rpc
        .lines()
        .iter()
        .find_map(|line| line["result"]["session"].as_str().map(String::from))
        .unwrap();
    let question = played.begin("ui.confirm", json!({"title": "?"}));
    let ask = rpc.event("ask");
    let start = Instant::now();
    rpc.call("session.interrupt", json!({"session": session}));
    assert!(
        start.elapsed().as_millis() < 200 * super::SLOW,
        "{:?}",
        start.elapsed()
    );
    assert_eq!(rpc.result(&prompt)["aborted"], true);
    assert_eq!(
        played.answer_to(&question),
        json!({"result": {"confirmed": false}})
    );
    let why = rpc.refused(
        "ask.reply",
        json!({"ask": ask["ask"], "result": {"confirmed": true}}),
    );
    assert!(why.contains("no such"), "{why}");
    played.answer(&request, json!({"content": "late"}));
    rpc.close();
    rpc.finish();
}

#[test]
fn shutdown_answers_open_questions_with_an_error() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").survives().play();
    let mut rpc = Rpc::start(&place, &[]);
    rpc.call("hello", json!({"ask": true}));
    let question = played.begin("ui.confirm", json!({"title": "?"}));
    rpc.event("ask");
    rpc.close();
    rpc.finish();
    let answer = played.answer_to(&question);
    assert!(answer["error"].is_string(), "{answer}");
    let lines = played.lines();
    let at = |found: fn(&Value) -> bool| lines.iter().position(found).expect("a line");
    assert!(at(|line| line["id"] == "q1") < at(|line| line["method"] == "shutdown"));
    place.wait_deserted();
}

#[test]
fn a_question_of_an_extension_that_has_gone_cannot_be_answered() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").play();
    let mut rpc = Rpc::start(&place, &[]);
    rpc.call("hello", json!({"ask": true}));
    played.begin("ui.confirm", json!({"title": "?"}));
    let ask = rpc.event("ask");
    played.exit();
    rpc.wait(|line| {
        line["type"] == "notice"
            && line["message"]
                .as_str()
                .is_some_and(|text| text.contains("exited"))
    });
    let why = rpc.refused(
        "ask.reply",
        json!({"ask": ask["ask"], "result": {"confirmed": true}}),
    );
    assert!(why.contains("no such"), "{why}");
    rpc.close();
    rpc.finish();
}

#[test]
fn notices_about_extensions_are_kept_until_the_client_greets() {
    let place = Place::new();
    place.script("broken.sh", "#!/bin/sh\nexit 3\n");
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    rpc.prompt(&session, "go");
    assert!(rpc.lines().iter().all(|line| line["type"] != "notice"));
    rpc.call("hello", json!({}));
    let notice = rpc.event("notice");
    let text = notice["message"].as_str().unwrap();
    assert!(
        text.contains("broken.sh") && text.contains("skipped"),
        "{text}"
    );
    rpc.close();
    let (lines, _) = rpc.finish();
    assert_eq!(
        lines.iter().filter(|line| line["type"] == "notice").count(),
        1
    );
}

#[test]
fn a_failed_start_is_told_without_anything_else_happening() {
    let place = Place::new();
    place.script("broken.sh", "#!/bin/sh\nexit 3\n");
    let mut rpc = Rpc::start(&place, &[]);
    rpc.call("hello", json!({}));
    let notice = rpc.event("notice");
    assert!(notice["message"].as_str().unwrap().contains("broken.sh"));
}

#[test]
fn the_newest_64_notices_are_kept() {
    let place = Place::new();
    // A hundred lines of diagnostics, then a process that is quiet until its input ends.
    place.script("loud.sh", "#!/bin/bash\nfor i in {1..100}; do read -r -t 0.002 <> <(:); echo \"line $i\" >&2; done\ntouch spoken\nread line\necho '{\"id\":1,\"result\":{\"name\":\"loud\"}}'\ncat >/dev/null\n");
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    rpc.prompt(&session, "go");
    rpc.call("hello", json!({}));
    rpc.wait(|line| {
        line["message"]
            .as_str()
            .is_some_and(|text| text.contains("line 100") || text.contains("more lines"))
    });
    rpc.close();
    let (lines, _) = rpc.finish();
    let notices = lines.iter().filter(|line| line["type"] == "notice").count();
    assert!((1..=64).contains(&notices), "{notices}");
}

#[test]
fn the_33rd_open_request_is_refused() {
    let place = Place::new();
    let (mut rpc, played, prompt, request) = asking(&place);
    let ids: Vec<Value> = (0..33)
        .map(|_| played.begin("ui.confirm", json!({"title": "?"})))
        .collect();
    let answer = played.answer_to(&ids[32]);
    assert!(answer["error"].as_str().unwrap().contains("32"), "{answer}");
    let ask = rpc.event("ask");
    reply(&mut rpc, &ask, json!({"confirmed": true}));
    played.answer_to(&ids[0]);
    // There is room for one more now.
    played.begin("ui.confirm", json!({"title": "again"}));
    rpc.wait(|line| line["params"]["title"] == "again");
    end(rpc, &played, &prompt, &request);
}
