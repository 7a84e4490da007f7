//! Slips at the prompt of a shell are told from prompts, and never guessed at.

use serde_json::Value;

use crate::support::Place;

#[test]
fn a_word_that_is_nearly_a_command_is_no_prompt() {
    let place = Place::new();
    for (word, part) in [
        ("doctro", "e doctor"),
        ("tust", "e trust"),
        ("dcos", "e docs"),
        ("version", "--version"),
        ("modles", "e models"),
        ("Auth", "e auth"),
        ("helpp", "e help"),
        ("untrus", "e untrust"),
    ] {
        let run = place.e().arg(word).run().ends_with(2);
        assert!(run.stderr.contains(part), "{word}: {run:?}");
        assert_eq!(run.stdout, "");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        // With -p it is a prompt like any other.
        place.p(&[word]).run().ends_with(0);
        assert_eq!(place.provider.received().last().unwrap().last_user(), word);
    }
}

#[test]
fn an_unknown_option_is_an_error_with_a_suggestion() {
    let place = Place::new();
    for (line, part) in [
        ("-p --modle x hi", "`--model`"),
        ("-p --max-step 3 hi", "`--max-steps`"),
        ("-p hi --no-toolz", "`--no-tools`"),
        ("--doctor", "see `e --help`"),
        ("-x", "see `e --help`"),
        ("-pz hi", "see `e --help`"),
        ("trust --force", "e trust [dir]"),
        ("doctor --jsn", "e doctor [--json]"),
        ("--ne=yes -p hi", "takes no value"),
        ("-p --json=1 hi", "takes no value"),
    ] {
        let run = place.e().args(line.split(' ')).run().ends_with(2);
        assert!(run.stderr.contains(part), "{line}: {run:?}");
        if !part.contains("takes") {
            assert!(run.stderr.contains("unknown option"), "{line}: {run:?}");
        }
    }
    assert!(place.provider.received().is_empty());
}

#[test]
fn a_missing_value_is_an_error_that_names_the_option_in_full() {
    let place = Place::new();
    for line in [
        "-p hi -m",
        "-p -m -j hi",
        "-p --model= hi",
        "-p -m= hi",
        "-p --model --json hi",
    ] {
        let run = place.e().args(line.split(' ')).run().ends_with(2);
        assert!(
            run.stderr.contains("`--model` requires a value"),
            "{line}: {run:?}"
        );
    }
    let run = place.e().args(["-p", "--ef"]).run().ends_with(2);
    assert!(
        run.stderr.contains("`--effort` requires a value"),
        "{run:?}"
    );
}

#[test]
fn every_spelling_of_an_option_is_the_same_option() {
    let place = Place::new();
    for line in [
        "-p -m mock/test --effort low hi",
        "--print --model=mock/test --ef=low hi",
        "hi -p -mmock/test --ef low",
        "-p -m=mock/test --effort=low -- hi",
        "-pj --model mock/test --effort low hi",
        "-p -m gone/x -m mock/test --ef high --ef low hi",
    ] {
        place.e().args(line.split(' ')).run().ends_with(0);
        let request = place.provider.received().pop().unwrap();
        assert_eq!(request.body["model"], "test", "{line}");
        assert_eq!(request.body["reasoning_effort"], "low", "{line}");
        assert_eq!(request.last_user(), "hi", "{line}");
    }
}

#[test]
fn json_asks_for_an_object_also_when_there_is_an_error() {
    let place = Place::new();
    for line in [
        "doctor --json x",
        "--json doctro",
        "auth --json",
        "help -j",
        "docs --json models",
        "trust -j",
        "-j",
    ] {
        let run = place.e().args(line.split(' ')).run().ends_with(2);
        let object: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{line}: {e} {run:?}"));
        assert_eq!(
            object.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["error"],
            "{line}"
        );
        assert!(run.stderr.starts_with("error: "), "{line}");
    }
}

#[test]
fn commands_refuse_what_they_do_not_take() {
    let place = Place::new();
    for (line, part) in [
        ("auth login", "/login"),
        ("doctor now", "usage: e doctor"),
        ("help me", "usage: e help"),
        ("trust a b", "usage: e trust"),
        ("docs a b", "usage: e docs"),
        ("docs nothing", "`nothing`"),
        ("doctor --model x", "--model"),
        ("models --no-save", "--no-save"),
        ("-p --no-network hi", "--no-network"),
    ] {
        let run = place.e().args(line.split(' ')).run().ends_with(2);
        assert!(run.stderr.contains(part), "{line}: {run:?}");
        assert_eq!(run.stdout, "", "{line}");
    }
}

#[test]
fn a_model_or_an_effort_that_is_not_there_is_a_usage_problem() {
    let place = Place::new();
    for (args, part) in [
        (["-m", "nothing/there"], "is unavailable"),
        (["-m", "tst"], "mock/test"),
        (["-m", "openai/gpt-9"], "OPENAI_API_KEY"),
        (["--effort", "extreme"], "does not support effort"),
        (["--effort", "extreme"], "low, high"),
    ] {
        let run = place.p(&args).arg("hi").run().ends_with(2);
        assert!(run.stderr.contains(part), "{args:?}: {run:?}");
        // Of the terminal app, too, before it opens.
        let run = place.e().args(args).run().ends_with(2);
        assert!(run.stderr.contains(part), "{args:?}: {run:?}");
    }
    let run = place
        .e()
        .args(["-p", "-m", "mock/plain", "--effort", "low", "hi"])
        .run()
        .ends_with(2);
    assert!(run.stderr.contains("none"), "{run:?}");
    assert!(place.provider.received().is_empty());
}

#[test]
fn without_a_frontend_the_way_to_one_is_told() {
    let place = Place::new();
    for line in ["hello there", "--no-tools", "-m mock/test"] {
        let run = place.e().args(line.split(' ')).run().ends_with(2);
        assert!(run.stderr.contains("e -p"), "{line}: {run:?}");
    }
    place.e().run().ends_with(2);
}
