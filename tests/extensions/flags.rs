//! Flags of extensions on e's command line.

use serde_json::{Value, json};

use crate::support::{Actor, Place, Played};

fn flagged(place: &Place) -> Played {
    let flags = json!([
        {"name": "project", "type": "string"},
        {"name": "plan", "type": "boolean", "default": true},
        {"name": "quiet"},
        {"name": "sandbox"},
        {"name": "no-sandbox"},
        {"name": "-x, --example"},
    ]);
    Actor::new(place, "f", json!({"name": "f", "flags": flags})).play()
}

/// What the extension is told of these arguments, and the prompt that is left.
fn passed(place: &Place, played: &Played, args: &[&str]) -> (Value, String) {
    let before = (
        played.params("flags").len(),
        place.provider.received().len(),
    );
    place.p(args).run().ends_with(0);
    let flags = played.params("flags");
    let requests = place.provider.received();
    assert_eq!(
        (flags.len(), requests.len()),
        (before.0 + 1, before.1 + 1),
        "{args:?}"
    );
    (
        flags[before.0]["flags"].clone(),
        requests[before.1].last_user(),
    )
}

#[test]
fn every_bullet_of_the_table() {
    let place = Place::new();
    let played = flagged(&place);
    let cases: &[(&[&str], Value, &str)] = &[
        // None was passed: told all the same, without defaults.
        (&["go"], json!({}), "go"),
        // A boolean.
        (&["--quiet", "go"], json!({"quiet": true}), "go"),
        (&["--quiet=true", "go"], json!({"quiet": true}), "go"),
        (&["--plan=false", "go"], json!({"plan": false}), "go"),
        (&["--no-plan", "go"], json!({"plan": false}), "go"),
        (&["--quiet", "true"], json!({"quiet": true}), "true"),
        (&["--no-sandbox", "go"], json!({"no-sandbox": true}), "go"),
        // A string.
        (
            &["--project=../app", "go"],
            json!({"project": "../app"}),
            "go",
        ),
        (
            &["--project", "../app", "go"],
            json!({"project": "../app"}),
            "go",
        ),
        (&["--project=", "go"], json!({"project": ""}), "go"),
        // A following `-` token is no value, and neither is the end.
        (
            &["go", "--project", "--quiet"],
            json!({"project": null, "quiet": true}),
            "go",
        ),
        (&["go", "--project"], json!({"project": null}), "go"),
        // The last occurrence wins, also one without a value.
        (&["--plan", "--no-plan", "go"], json!({"plan": false}), "go"),
        (
            &["--project=a", "go", "--project"],
            json!({"project": null}),
            "go",
        ),
        // `--` stops parsing.
        (
            &["--quiet", "--", "--plan", "--project", "x"],
            json!({"quiet": true}),
            "--plan --project x",
        ),
    ];
    for (args, flags, prompt) in cases {
        assert_eq!(
            passed(&place, &played, args),
            (flags.clone(), prompt.to_string()),
            "{args:?}"
        );
    }
}

#[test]
fn a_name_that_is_not_clean_is_never_parsed() {
    let place = Place::new();
    let played = flagged(&place);
    for args in [
        &["--example", "go"][..],
        &["-x", "go"],
        &["--project-x=1", "go"],
    ] {
        let run = place.p(args).run().ends_with(2);
        assert!(run.stderr.contains("error"), "{run:?}");
    }
    assert!(place.provider.received().is_empty());
    assert!(played.params("hook.startup").is_empty());
}

#[test]
fn every_extension_that_declares_a_typed_flag_is_told_all_of_them() {
    let place = Place::new();
    let actor = |file: &str, flags: Value| {
        Actor::new(&place, file, json!({"name": file, "flags": flags})).play()
    };
    let one = actor("1", json!([{"name": "a"}, {"name": "b", "type": "string"}]));
    let two = actor("2", json!([{"name": "a"}]));
    let untyped = actor("3", json!([{"name": "-x"}]));
    let none = actor("4", json!([]));
    place.p(&["--a", "--b", "c", "go"]).run().ends_with(0);
    let told = [json!({"flags": {"a": true, "b": "c"}})];
    assert_eq!(one.params("flags"), told);
    assert_eq!(two.params("flags"), told);
    assert!(untyped.params("flags").is_empty());
    assert!(none.params("flags").is_empty());
}

#[test]
fn one_of_es_own_options_stays_es() {
    let place = Place::new();
    let flags = json!([{"name": "model", "type": "string"}, {"name": "json"}]);
    let played = Actor::new(&place, "f", json!({"name": "f", "flags": flags})).play();
    let run = place.json(&["go"]).run().ends_with(0);
    assert_eq!(run.result()["model"], "mock/test");
    assert!(
        run.stderr.contains("`model`") && run.stderr.contains("`json`"),
        "{run:?}"
    );
    assert_eq!(played.params("flags"), [json!({"flags": {}})]);
}

#[test]
fn flags_work_before_and_behind_a_subcommand() {
    let place = Place::new();
    let played = flagged(&place);
    let args = ["--quiet", "rpc", "--project", "x"];
    place.e().args(args).run().ends_with(0);
    assert_eq!(
        played.params("flags"),
        [json!({"flags": {"quiet": true, "project": "x"}})]
    );
}

#[test]
fn flags_are_taken_out_before_a_command_that_manages_e_and_no_hook_runs() {
    let place = Place::new();
    let manifest = json!({
        "name": "f", "flags": [{"name": "project", "type": "string"}], "hooks": ["startup"],
    });
    let played = Actor::new(&place, "f", manifest).play();
    for args in [
        &["--project", "x", "untrust", "."][..],
        &["trust", ".", "--project=x"],
        &["--project", "x", "help"],
        &["--project", "x", "doctor"],
    ] {
        place.e().args(args).run().ends_with(0);
    }
    assert_eq!(played.params("hook.startup"), [json!(null); 0]);
    assert_eq!(played.params("initialize").len(), 4);
    let run = place.e().args(["--projekt", "x", "trust"]).run();
    let run = run.ends_with(2);
    assert!(run.stderr.contains("unknown option `--projekt`"), "{run:?}");
    // Without such an option nothing is started.
    place.e().args(["--json", "doctor"]).run().ends_with(0);
    assert_eq!(played.params("initialize").len(), 5);
}
