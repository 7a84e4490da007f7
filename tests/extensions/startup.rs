//! Startup hooks: what they may change of a launch, and that a failing one stops it.

use serde_json::{Value, json};

use super::hooked;
use crate::support::{Actor, Place, call, say};

#[test]
fn it_sees_the_raw_arguments_and_the_parsed_flags_after_they_were_told() {
    let place = Place::new();
    let manifest = json!({"name": "s", "hooks": ["startup"], "flags": [{"name": "project", "type": "string"}]});
    let played = Actor::new(&place, "s", manifest).play();
    place.p(&["--project", "../app", "a b"]).run().ends_with(0);
    let expected = json!({
        "cwd": place.workspace,
        "argv": ["-p", "--model", "mock/test", "--project", "../app", "a b"],
        "flags": {"project": "../app"},
    });
    assert_eq!(played.params("hook.startup"), [expected]);
    let order: Vec<Value> = played
        .lines()
        .iter()
        .take(3)
        .map(|line| line["method"].clone())
        .collect();
    assert_eq!(order, ["initialize", "flags", "hook.startup"]);
    assert_eq!(place.provider.received()[0].last_user(), "a b");
}

#[test]
fn each_sees_the_arguments_as_the_one_before_left_them() {
    let place = Place::new();
    let manifest =
        |file: &str| json!({"name": file, "hooks": ["startup"], "flags": [{"name": "plan"}]});
    let rewrite = |file: &str, argv: Value| {
        Actor::new(&place, file, manifest(file))
            .says("hook.startup", json!({"argv": argv}))
            .play()
    };
    let base = ["-p", "-m", "mock/test"];
    let first = rewrite("1", json!([base[0], base[1], base[2], "--plan", "one"]));
    let second = rewrite("2", json!([base[0], base[1], base[2], "--no-plan", "two"]));
    place.p(&["typed"]).run().ends_with(0);
    assert_eq!(first.params("hook.startup")[0]["flags"], json!({}));
    let seen = second.params("hook.startup").remove(0);
    assert_eq!(
        seen["argv"],
        json!([base[0], base[1], base[2], "--plan", "one"])
    );
    assert_eq!(seen["flags"], json!({"plan": true}));
    // The flags that a hook put there are taken out as well; the notification is not sent again.
    assert_eq!(place.provider.received()[0].last_user(), "two");
    assert_eq!(first.params("flags"), [json!({"flags": {}})]);
}

#[test]
fn the_environment_changes_for_e_and_its_children() {
    let place = Place::new();
    let env = json!({"ADDED": "by the hook", "REMOVED": null, "E_OFFLINE_SCRIPT": null});
    hooked(&place, "s", "startup")
        .says("hook.startup", json!({"env": env}))
        .play();
    let command = "echo $ADDED/${REMOVED-gone}/$KEPT";
    place
        .provider
        .script([call("bash", json!({"command": command})), say("done")]);
    place
        .p(&["go"])
        .env("REMOVED", "x")
        .env("KEPT", "kept")
        .run()
        .ends_with(0);
    assert_eq!(
        place.provider.received()[1].results(),
        ["by the hook/gone/kept"]
    );
}

#[test]
fn the_environment_counts_where_e_looks_things_up() {
    let place = Place::new();
    let key = json!({"env": {"MOCK_KEY": "key-of-the-hook"}});
    hooked(&place, "s", "startup")
        .says("hook.startup", key)
        .play();
    place.write_home("auth.json", "{}");
    let entry = json!({"base_url": place.base("openai-completions"), "key_env": "MOCK_KEY"});
    place.server("openai-completions", entry);
    place.p(&["go"]).run().ends_with(0);
    let request = place.provider.received().remove(0);
    assert_eq!(
        request.header("authorization"),
        Some("Bearer key-of-the-hook")
    );
}

#[test]
fn a_relaunch_starts_the_same_e_elsewhere_once() {
    let place = Place::new();
    let elsewhere = place.workspace.join("inner");
    std::fs::create_dir(&elsewhere).unwrap();
    let target = elsewhere.clone();
    let relaunch = move |params: &Value| {
        assert!(params["argv"].is_array());
        json!({
            "argv": ["-p", "-m", "mock/test", "again"],
            "env": {"FIRST": "1"},
            "relaunch": {"cwd": "inner", "env": {"SECOND": "2"}},
        })
    };
    let first = hooked(&place, "1", "startup")
        .on("hook.startup", relaunch)
        .play();
    let behind = hooked(&place, "2", "startup").play();
    let command = "pwd; echo $FIRST$SECOND; env | grep -c '^E_RELAUNCHED' || true";
    place
        .provider
        .script([call("bash", json!({"command": command})), say("done")]);
    let run = place.p(&["typed"]).run().ends_with(0);
    assert_eq!(run.stdout, "done\n");
    // Asked in both processes: there it was told why it is not done once more.
    let asked = first.params("hook.startup");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1]["cwd"], json!(target));
    assert_eq!(asked[1]["argv"], json!(["-p", "-m", "mock/test", "again"]));
    assert!(
        run.stderr.contains("extension 1") && run.stderr.contains("once more"),
        "{run:?}"
    );
    // The first relaunch ends the chain.
    assert!(behind.params("hook.startup").len() <= 1);
    assert_eq!(first.pids().len(), 2);
    let results = place.provider.received()[1].results();
    let expected = format!("{}\n12\n0", target.display());
    assert_eq!(results, [expected]);
    place.wait_deserted();
}

#[test]
fn a_relaunch_that_cannot_be_done_stops_the_launch() {
    let place = Place::new();
    let answer = json!({"relaunch": {"cwd": "/no/such/place"}});
    hooked(&place, "s", "startup")
        .says("hook.startup", answer)
        .play();
    let run = place.p(&["go"]).run().ends_with(1);
    assert!(run.stderr.contains("/no/such/place"), "{run:?}");
    assert!(place.provider.received().is_empty());
    place.wait_deserted();
}

#[test]
fn a_failing_startup_hook_stops_the_launch_and_says_how_to_go_on() {
    let place = Place::new();
    for (answer, words) in [
        (json!({"argv": "x"}), "`argv`"),
        (json!([]), "not an object"),
        (json!({"env": {"A=B": "c"}}), "no variable"),
        (json!({"relaunch": {}}), "`relaunch.cwd`"),
    ] {
        let _ = std::fs::remove_file(place.root().join("s.sock"));
        hooked(&place, "s", "startup")
            .says("hook.startup", answer)
            .play();
        let run = place.p(&["--json", "go"]).run().ends_with(1);
        let error = run.result()["error"].as_str().unwrap().to_owned();
        for text in [words, "s", "--no-extensions"] {
            assert!(error.contains(text), "{error}");
        }
    }
    assert!(place.provider.received().is_empty());
    place.p(&["--no-extensions", "go"]).run().ends_with(0);
    place.wait_deserted();
}

#[test]
fn a_startup_hook_that_errs_or_dies_stops_the_launch() {
    let place = Place::new();
    let played = hooked(&place, "s", "startup").holds("hook.startup").play();
    for round in 0..2 {
        let run = place.p(&["go"]).start();
        let request = played.wait_nth("hook.startup", round);
        match round {
            0 => played.send(&json!({"id": request["id"], "error": "no such project"})),
            _ => played.exit(),
        }
        let run = run.finish().ends_with(1);
        let words = ["no such project", "exited"][round];
        assert!(
            run.stderr.contains(words) && run.stderr.contains("--no-extensions"),
            "{run:?}"
        );
    }
    assert!(place.provider.received().is_empty());
}

#[test]
fn a_silent_startup_hook_stops_the_launch_after_five_seconds() {
    let place = Place::new();
    let played = hooked(&place, "s", "startup").holds("hook.startup").play();
    let run = place.p(&["go"]).start();
    played.wait("hook.startup");
    // Nobody can answer yet, and nobody has to wait for that.
    let answer = played.ask("session.info", json!({}));
    assert!(answer["error"].is_string(), "{answer}");
    let run = run.finish().ends_with(1);
    assert!(run.stderr.contains("5 seconds"), "{run:?}");
    assert!(
        (5.0..8.0).contains(&run.elapsed.as_secs_f64()),
        "{:?}",
        run.elapsed
    );
    assert!(place.provider.received().is_empty());
}
