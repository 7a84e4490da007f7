//! Which words are the prompt, which are options, and what is refused.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use crate::support::{Place, call, say};

/// Runs `e` with these arguments and asserts what the model was asked.
#[track_caller]
fn asks(place: &Place, args: &[&str], prompt: &str) {
    let before = place.provider.received().len();
    let run = place.e().args(args).run().ends_with(0);
    assert_eq!(run.stderr, "", "{args:?}");
    let received = place.provider.received();
    assert_eq!(received.len(), before + 1, "{args:?}");
    assert_eq!(received[before].last_user(), prompt, "{args:?}");
}

/// Runs `e` with these arguments and asserts that it is a usage problem which says all of `parts`,
/// in plain form and with `--json`.
#[track_caller]
fn refuses(place: &Place, args: &[&str], parts: &[&str]) {
    let run = place.e().args(args).run().ends_with(2);
    assert_eq!(run.stdout, "", "{args:?}");
    assert!(run.stderr.starts_with("error: "), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part:?} is not in {run:?}");
    }
    let json = place.e().args(["--json"]).args(args).run().ends_with(2);
    assert_eq!(json.lines().len(), 1, "{json:?}");
    let error = json.result()["error"].as_str().map(String::from);
    assert_eq!(format!("error: {}\n", error.expect("an error")), run.stderr);
    assert_eq!(json.stderr, run.stderr);
    assert_eq!(place.provider.received().len(), 0, "{args:?}");
}

#[test]
fn the_words_are_the_prompt() {
    let place = Place::new();
    let m = "--model=mock/test";
    asks(&place, &["-p", m, "fix", "the", "bug"], "fix the bug");
    asks(&place, &["-p", m, "two  spaces"], "two  spaces");
    asks(&place, &["-p", m, "line\nbreak "], "line\nbreak ");
    asks(&place, &["-p", m, "", "late"], " late");
    asks(&place, &["--print", m, "long name"], "long name");
}

#[test]
fn options_stand_before_between_and_after_the_words() {
    let place = Place::new();
    asks(&place, &["hi", "-p", "--model", "mock/test"], "hi");
    asks(&place, &["-m", "mock/test", "say", "-p", "hi"], "say hi");
    asks(&place, &["-p", "-m=mock/test", "hi"], "hi");
    asks(&place, &["-p", "--model=mock/test", "hi"], "hi");
    let same = ["-p", "hi", "--nt", "--ne", "--ns", "-m", "mock/test"];
    asks(&place, &same, "hi");
    let run = place.e().args(["-pj", "hi", "-m", "mock/test"]).run();
    assert_eq!(run.ends_with(0).result()["output"], "ok");
}

#[test]
fn a_double_dash_makes_everything_prompt() {
    let place = Place::new();
    let m = "--model=mock/test";
    asks(&place, &["-p", m, "--", "--json"], "--json");
    asks(&place, &["-p", m, "a", "--", "-b", "--"], "a -b --");
    asks(&place, &["-p", m, "--", "--version"], "--version");
}

#[test]
fn a_word_that_names_a_command_is_prompt_all_the_same() {
    let place = Place::new();
    for word in ["trust", "doctor", "docter", "help", "version", "rpc"] {
        asks(&place, &["-p", "--model=mock/test", word], word);
        asks(&place, &[word, "-p", "--model=mock/test"], word);
    }
}

#[test]
fn an_option_takes_one_value_and_leaves_the_prompt_alone() {
    let place = Place::new();
    let png = place.write("a.png", b"\x89PNG\r\n\x1a\n");
    let png = png.to_str().expect("a path");
    let m = "--model=mock/test";
    asks(
        &place,
        &["-p", m, "--image", png, "hello world"],
        "hello world",
    );
    asks(
        &place,
        &["-p", m, "--ef", "low", "hello world"],
        "hello world",
    );
    asks(
        &place,
        &["-p", m, "--max-steps", "3", "hello world"],
        "hello world",
    );
}

#[test]
fn the_last_of_a_repeated_option_counts() {
    let place = Place::new();
    let args = ["-p", "-p", "-m", "no/such", "--model", "mock/test", "hi"];
    asks(&place, &args, "hi");
}

#[test]
fn the_other_words_for_print_mode_are_obeyed_first() {
    let place = Place::new();
    let version = place.e().args(["-p", "hi", "--version"]).run().ends_with(0);
    assert!(version.stdout.starts_with("e "), "{version:?}");
    let help = place.e().args(["-p", "--bogus", "-h"]).run().ends_with(0);
    assert!(help.stdout.contains("usage:"), "{help:?}");
    assert_eq!(place.provider.received().len(), 0);
}

#[test]
fn an_unknown_option_is_named_and_never_prompt() {
    let place = Place::new();
    refuses(
        &place,
        &["-p", "--frobnicate", "hi"],
        &["unknown option", "`--frobnicate`", "e --help"],
    );
    refuses(
        &place,
        &["-p", "hi", "--modle", "x"],
        &["unknown option", "`--modle`", "`--model`"],
    );
    refuses(&place, &["-p", "-Z", "hi"], &["unknown option", "`-Z`"]);
    refuses(&place, &["-p", "-5"], &["unknown option", "`-5`"]);
}

#[test]
fn a_value_is_required_where_one_belongs() {
    let place = Place::new();
    for args in [
        &["-p", "hi", "--model"][..],
        &["-p", "hi", "-m"],
        &["-p", "--model=", "hi"],
        &["-p", "--model", "", "hi"],
        &["-p", "--model", "--no-save", "hi"],
    ] {
        refuses(&place, args, &["`--model` requires a value"]);
    }
    refuses(
        &place,
        &["-p", "hi", "--ef"],
        &["`--effort` requires a value"],
    );
    refuses(&place, &["-p", "hi", "-i"], &["`--image` requires a value"]);
    refuses(
        &place,
        &["-p", "--no-save=yes", "hi"],
        &["`--no-save` takes no value"],
    );
}

#[test]
fn limits_must_be_numbers_above_zero() {
    let place = Place::new();
    for option in ["--max-steps", "--max-seconds", "--max-cost"] {
        for value in ["0", "1e999", "ten", "1,5", " 1", "nan"] {
            refuses(&place, &["-p", option, value, "hi"], &[option, value]);
        }
        let inline = format!("{option}=-1");
        refuses(&place, &["-p", &inline, "hi"], &[option, "-1"]);
    }
}

#[test]
fn a_prompt_is_needed() {
    let place = Place::new();
    let m = "--model=mock/test";
    for args in [
        &["-p", m][..],
        &["-p", m, ""],
        &["-p", m, " \n\t"],
        &["-p", m, "--"],
    ] {
        refuses(&place, args, &["needs a prompt"]);
    }
}

#[test]
fn a_prompt_that_is_no_text_is_refused() {
    let place = Place::new();
    let bytes = OsStr::from_bytes(b"caf\xe9");
    let run = place.p(&[]).args([bytes]).run().ends_with(2);
    assert!(run.stderr.contains("not UTF-8"), "{run:?}");
    assert_eq!(place.provider.received().len(), 0);
}

#[test]
fn a_long_argument_arrives_whole() {
    let place = Place::new();
    let long = "wörd ".repeat(20_000);
    asks(&place, &["-p", "--model=mock/test", &long], &long);
}

#[test]
fn a_model_is_found_by_its_slug_or_a_part_that_names_one_only() {
    let place = Place::new();
    asks(&place, &["-p", "-m", "mock/plain", "hi"], "hi");
    asks(&place, &["-p", "-m", "plain", "hi"], "hi");
    let ids: Vec<_> = place.provider.received();
    assert!(ids.iter().all(|request| request.body["model"] == "plain"));
}

#[test]
fn the_saved_model_and_effort_serve_when_none_is_named() {
    let place = Place::new();
    place.settings(json!({"model": "mock/test", "effort": "low"}));
    let result = place.e().args(["-pj", "hi"]).run().ends_with(0).result();
    assert_eq!(result["model"], "mock/test");
    assert_eq!(result["effort"], "low");
    let other = place.e().args(["-pj", "hi", "--ef=high"]).run().result();
    assert_eq!(other["effort"], "high");
    let saved = std::fs::read_to_string(place.home.join("settings.json")).expect("settings");
    assert_eq!(
        saved,
        json!({"model": "mock/test", "effort": "low"}).to_string()
    );
}

#[test]
fn a_model_that_is_not_there_is_a_usage_problem() {
    let place = Place::new();
    let remedy = "sign";
    refuses(
        &place,
        &["-p", "-m", "nobody/nothing", "hi"],
        &["`nobody/nothing` is unavailable", remedy],
    );
    refuses(
        &place,
        &["-p", "-m", "mock/tset", "hi"],
        &["is unavailable", "mock/test"],
    );
    refuses(
        &place,
        &["-p", "-m", "openai/gpt-5", "hi"],
        &["is unavailable", remedy],
    );
}

#[test]
fn an_effort_the_model_lacks_is_a_usage_problem() {
    let place = Place::new();
    refuses(
        &place,
        &["-p", "-m", "mock/test", "--ef", "max", "hi"],
        &["does not support effort `max`", "low, high"],
    );
    refuses(
        &place,
        &["-p", "-m", "mock/plain", "--effort=high", "hi"],
        &["does not support effort `high`", "none"],
    );
}

#[test]
fn without_tools_none_are_offered_and_none_run() {
    let place = Place::new();
    for option in ["--no-tools", "--nt"] {
        let before = place.provider.received().len();
        let touch = call("bash", json!({"command": "touch ran"}));
        place
            .provider
            .script([touch.and_call("nonsense", json!({})), say("fine")]);
        let run = place.json(&[option, "hi"]).run().ends_with(0);
        let received = &place.provider.received()[before..];
        assert_eq!(received[0].tools(), [""; 0]);
        assert!(received[0].system().contains("No tools"));
        for end in run.events("tool_end") {
            assert_eq!(end["outcome"], "blocked");
        }
        assert!(received[1].results()[0].contains("tools are switched off"));
        assert_eq!(run.result()["tools"], json!({"calls": 2, "failures": 2}));
        assert!(!place.workspace.join("ran").exists());
    }
}

#[test]
fn tools_are_offered_otherwise() {
    let place = Place::new();
    place.p(&["hi"]).run().ends_with(0);
    let mut tools = place.provider.received()[0].tools();
    tools.sort();
    assert_eq!(
        tools,
        ["bash", "edit", "grep", "read", "read_result", "write"]
    );
}

#[test]
fn an_untrusted_directory_is_refused_until_it_is_trusted() {
    let place = Place::new();
    let other = place.root().join("other");
    std::fs::create_dir(&other).expect("a directory");
    let run = place.p(&["hi"]).in_dir(&other).run().ends_with(1);
    assert!(run.stderr.contains("must be trusted to run e"), "{run:?}");
    assert!(run.stderr.contains("e trust"), "{run:?}");
    assert_eq!(run.stdout, "");
    let json = place.json(&["hi"]).in_dir(&other).run().ends_with(1);
    assert!(json.result()["error"].is_string());
    assert_eq!(place.provider.received().len(), 0);

    let recorded = || std::fs::read(place.home.join("trust.json")).expect("decisions");
    let before = recorded();
    place
        .p(&["hi", "--trust"])
        .in_dir(&other)
        .run()
        .ends_with(0);
    assert_eq!(recorded(), before, "--trust writes nothing");
    place.p(&["hi"]).in_dir(&other).run().ends_with(1);
    place.e().args(["trust"]).in_dir(&other).run().ends_with(0);
    place.p(&["hi"]).in_dir(&other).run().ends_with(0);
    place
        .e()
        .args(["untrust"])
        .in_dir(&other)
        .run()
        .ends_with(0);
    place.p(&["hi"]).in_dir(&other).run().ends_with(1);
}
