//! How a turn ended, told the same way by the exit status, standard error and `--json`.

use std::time::Duration;

use serde_json::json;

use crate::support::{Place, Run, Step, call, call_raw, fails, say};

/// Plays the script twice, once per form, and asserts that both end with `status`. Gives the
/// plain run and the JSON run.
#[track_caller]
fn ends(status: i32, settings: serde_json::Value, script: impl Fn() -> Vec<Step>) -> (Run, Run) {
    let place = Place::new();
    place.settings(settings);
    place.provider.script(script());
    let plain = place.p(&["hi"]).run().ends_with(status);
    let asked = place.provider.received().len();
    place.provider.script(script());
    let json = place.json(&["hi"]).run().ends_with(status);
    assert_eq!(place.provider.received().len(), 2 * asked);
    assert_eq!(plain.stderr, json.stderr, "both forms say the same");
    let result = json.result();
    assert_eq!(result["error"].is_null(), status == 0, "{json:?}");
    assert_eq!(result["aborted"], false);
    if let Some(error) = result["error"].as_str() {
        let last = plain.stderr.lines().last().expect("the reason");
        assert_eq!(last, format!("error: {error}"));
        assert!(json.events("error").len() == 1, "{json:?}");
    }
    (plain, json)
}

#[test]
fn a_turn_that_completed_is_0_whatever_its_tools_did() {
    ends(0, json!({}), || vec![say("fine")]);
    ends(0, json!({}), || {
        vec![call("read", json!({"path": "none"})), say("gone")]
    });
    ends(0, json!({}), || {
        vec![call("bash", json!({"command": "exit 7"})), say("failed")]
    });
    ends(0, json!({}), || {
        vec![call("nonsense", json!({})), say("no such tool")]
    });
    ends(0, json!({}), || {
        vec![call_raw("bash", "{\"comm"), say("cut")]
    });
}

#[test]
fn a_provider_that_refuses_is_1_with_the_reason_and_empty_output() {
    for status in [400, 401, 403, 404, 413, 422] {
        let (plain, json) = ends(1, json!({}), || vec![fails(status)]);
        assert_eq!(plain.stdout, "");
        assert!(
            plain.stderr.contains(&format!("mock says no {status}")),
            "{plain:?}"
        );
        assert_eq!(
            json.result()["error_details"]["response"]["http_status"],
            status
        );
    }
}

#[test]
fn a_provider_that_stays_away_is_1_when_all_attempts_are_used() {
    for status in [429, 500, 502, 503, 504, 529] {
        let settings = json!({"retry_max_attempts": 2});
        let (plain, json) = ends(1, settings, || vec![fails(status), fails(status)]);
        assert_eq!(plain.stdout, "");
        assert!(plain.stderr.contains("(2/2)"), "{plain:?}");
        assert_eq!(
            json.result()["error_details"]["retry_decision"],
            "exhausted"
        );
        assert_eq!(json.result()["warnings"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn what_follows_in_the_shell_does_not_run_after_a_failure() {
    let place = Place::new();
    place.provider.script([fails(401)]);
    let run = place.sh("$E -p -m $M x && touch done").run().ends_with(1);
    assert_eq!(run.stdout, "");
    assert!(!place.workspace.join("done").exists());
}

#[test]
fn a_used_up_quota_ends_the_run_at_once() {
    let body = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    let body = body.to_string();
    let (plain, json) = ends(1, json!({}), || vec![fails(429).body(body.clone())]);
    assert!(plain.elapsed < Duration::from_secs(5));
    assert_eq!(json.result()["error_details"]["cause"], "quota_exhausted");
    let frame = format!("data: {body}\n\n");
    let (plain, _) = ends(1, json!({}), || {
        vec![Step::default().raw(frame.clone()).stop()]
    });
    assert!(plain.elapsed < Duration::from_secs(5));
}

#[test]
fn an_empty_success_is_a_failure_after_one_more_try() {
    let blank = || vec![Step::default(), Step::default()];
    let (plain, json) = ends(1, json!({}), blank);
    assert_eq!(plain.stdout, "");
    assert!(plain.stderr.contains("empty response"), "{plain:?}");
    assert_eq!(json.events("retry").len(), 1);
    let details = &json.result()["error_details"];
    assert_eq!(details["cause"], "provider_unavailable", "{details}");
    assert_eq!(details["response"]["http_status"], 200, "{details}");
    let once = json!({"retry_max_attempts": 1});
    let (_, json) = ends(1, once, || vec![Step::default()]);
    assert_eq!(json.result()["error_details"]["retry_decision"], "disabled");
}

#[test]
fn a_blank_answer_is_an_empty_one() {
    let place = Place::new();
    place.provider.script([say(" \n"), say("\t")]);
    let run = place.p(&["hi"]).run().ends_with(1);
    assert!(run.stderr.contains("empty response"), "{run:?}");
}

#[test]
fn reasoning_alone_is_a_warning() {
    let (plain, json) = ends(0, json!({}), || vec![Step::default().reasoning("hmm")]);
    assert_eq!(plain.stdout, "");
    assert_eq!(
        plain.stderr,
        "warning: the model reasoned but gave no answer\n"
    );
    assert_eq!(json.events("warning").len(), 1);
    let settings = json!({"no_answer_message": "nothing came"});
    let (plain, _) = ends(0, settings, || vec![Step::default().reasoning("hmm")]);
    assert_eq!(plain.stderr, "warning: nothing came\n");
}

#[test]
fn a_reply_that_breaks_off_is_1_and_what_came_is_shown() {
    let (plain, json) = ends(1, json!({}), || vec![say("Half of").die()]);
    assert_eq!(plain.stdout, "Half of\n");
    assert_eq!(json.result()["output"], "Half of");
    assert_eq!(json.result()["final_output"], "");
    ends(1, json!({}), || vec![say("Half of").stop()]);
}

#[test]
fn a_call_that_was_cut_never_runs() {
    let ways: [fn(Step) -> Step; 3] = [Step::die, Step::stop, |step| step.finish("length")];
    for way in ways {
        let place = Place::new();
        let cut = call_raw("bash", "{\"command\": \"touch ran\"");
        place.provider.script([way(cut), say("ok"), say("ok")]);
        place.json(&["hi"]).run();
        assert!(!place.workspace.join("ran").exists());
    }
}

#[test]
fn an_unusual_end_is_a_warning() {
    for (finish, said) in [
        ("length", "output limit"),
        ("content_filter", "content filter"),
        ("weird", "`weird`"),
    ] {
        let (plain, _) = ends(0, json!({}), || vec![say("text").finish(finish)]);
        assert_eq!(plain.stdout, "text\n");
        assert!(plain.stderr.starts_with("warning: "), "{plain:?}");
        assert!(plain.stderr.contains(said), "{plain:?}");
    }
}

#[test]
fn a_provider_that_is_not_there_is_1() {
    let place = Place::new();
    place.settings(json!({"retry_max_attempts": 1}));
    let models = std::fs::read_to_string(place.home.join("models.json")).expect("models");
    // Nothing listens on the port for discarding.
    let models = models.replace(place.provider.url(), "http://127.0.0.1:9");
    place.write_home("models.json", &models);
    let plain = place.p(&["hi"]).run().ends_with(1);
    assert_eq!(plain.stdout, "");
    assert!(plain.stderr.contains("127.0.0.1"), "{plain:?}");
    let json = place.json(&["hi"]).run().ends_with(1);
    assert_eq!(json.result()["error_details"]["cause"], "network");
}

#[test]
fn keys_are_never_shown() {
    let place = Place::new();
    let echo = json!({"error": {"message": "bad key: Bearer secret-key-of-mock"}}).to_string();
    place.provider.script([fails(401).body(echo)]);
    let run = place.json(&["hi"]).run().ends_with(1);
    let key = "secret-key-of-mock";
    assert!(
        !run.stdout.contains(key) && !run.stderr.contains(key),
        "{run:?}"
    );
    let found = place.sh(&format!("grep -rl {key} \"$E_HOME\"")).run();
    assert_eq!(found.stdout.lines().count(), 1, "{found:?}");
    assert!(found.stdout.ends_with("auth.json\n"));
}
