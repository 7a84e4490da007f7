//! What each command prints, in both forms, and that none of them touches the network.

use serde_json::{Value, json};

use crate::support::{Place, Raw, keys};

#[test]
fn no_command_makes_a_connection() {
    let server = Raw::start();
    let place = Place::new();
    let url = format!("http://{}", server.address);
    let providers = json!({"mock": {"base_url": url}, "openai": {"base_url": url}, "ollama": {"base_url": url}});
    place.write_home("models.json", &json!({"providers": providers}).to_string());
    for line in [
        "auth",
        "providers",
        "providers --json",
        "models",
        "models --json",
        "doctor",
        "doctor --json",
        "doctor --no-network",
        "docs",
        "docs models",
        "help",
        "--help",
        "--version",
        "--version --json",
        "trust .",
        "untrust .",
        "doctro",
        "--nonsense",
        "-p --max-steps 0 x",
        "-p -m nothing/there x",
    ] {
        let run = place.e().args(line.split(' ')).without("NO_PROXY");
        let run = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
            .iter()
            .fold(run, |run, name| run.env(name, &url));
        run.env("OPENAI_API_KEY", "k").run();
        assert!(!server.was_called(), "{line}");
    }
}

#[test]
fn the_version_is_one_line_or_one_object_and_needs_nothing() {
    let place = Place::new();
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        "--version",
        "-v",
        "doctor -v",
        "--version --nonsense",
        "-m -v",
    ] {
        let run = place
            .e()
            .args(line.split(' '))
            .without("HOME")
            .without("E_HOME")
            .run();
        assert_eq!(run.ends_with(0).stdout, format!("e {version}\n"), "{line}");
    }
    for line in ["--version --json", "-j --version", "-jv"] {
        let run = place.e().args(line.split(' ')).run().ends_with(0);
        let object: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(object["version"], version);
        assert!(
            object.get("commit").is_some() && object["target"].is_string(),
            "{object}"
        );
    }
}

#[test]
fn help_is_the_same_however_it_is_asked_for() {
    let place = Place::new();
    let help = place.e().arg("help").run().ends_with(0).stdout;
    for line in [
        "--help",
        "-h",
        "doctor --help",
        "-p -h",
        "--nonsense --help",
    ] {
        assert_eq!(
            place.e().args(line.split(' ')).run().ends_with(0).stdout,
            help,
            "{line}"
        );
    }
    let order = [
        "usage:\n",
        "e -p [message…]",
        "e doctor [--json]",
        "run options:\n",
        "--print, -p",
        "--max-cost <usd>",
    ];
    let places: Vec<_> = order
        .iter()
        .map(|part| help.find(part).unwrap_or_else(|| panic!("{part}")))
        .collect();
    assert!(places.is_sorted(), "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 80));
    // Behind `--` it is a prompt.
    place.p(&["--", "--help"]).run().ends_with(0);
    assert_eq!(place.provider.received()[0].last_user(), "--help");
}

#[test]
fn the_doctor_tells_all_that_its_page_promises() {
    let place = Place::new();
    place.settings(json!({"model": "mock/plain"}));
    let run = place
        .e()
        .args(["doctor", "--json"])
        .env("TERM", "x\u{1b}[31m".repeat(50))
        .run()
        .ends_with(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = [
        "version",
        "channel",
        "commit",
        "target",
        "working_directory",
        "default_model",
        "e_home",
        "home_status",
        "terminal",
        "configuration",
        "providers",
        "extensions",
        "warnings",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!(report["default_model"], "mock/plain");
    assert_eq!(report["e_home"], place.home.to_str().unwrap());
    assert_eq!(report["home_status"], "writable");
    assert_eq!(report["terminal"]["stdin_tty"], false);
    let term = report["terminal"]["term"].as_str().unwrap();
    assert!(
        term.chars().count() <= 80 && !term.contains('\u{1b}'),
        "{term}"
    );
    assert_eq!(report["warnings"], json!([]));
    let mock = report["providers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "mock")
        .unwrap();
    for (key, value) in [
        ("tier", json!("experimental")),
        ("dialect", json!("openai-completions")),
        ("authentication", json!("api_key")),
        ("signed_in", json!(true)),
        ("models", json!(2)),
        ("responses_mount", json!(null)),
    ] {
        assert_eq!(mock[key], value, "{key}");
    }
    assert!(
        mock.get("display").is_some()
            && mock.get("catalog").is_some()
            && mock.get("base_url").is_some()
    );
    let text = place.e().arg("doctor").run().ends_with(0).stdout;
    for part in [
        "mock/plain",
        "writable",
        "experimental",
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_doctor_names_the_state_of_every_file() {
    let cases = [
        (None, "missing"),
        (Some("{"), "invalid"),
        (Some("{}"), "without a version"),
        (Some(r#"{"format_version": 1}"#), "version 1"),
        (Some(r#"{"format_version": 99}"#), "unsupported"),
    ];
    for name in ["settings", "auth", "trust"] {
        for (text, part) in cases {
            let place = Place::new();
            let path = place.home.join(format!("{name}.json"));
            let _ = std::fs::remove_file(&path);
            if let Some(text) = text {
                std::fs::write(&path, text).unwrap();
            }
            let run = place.e().args(["doctor", "--json"]).run().ends_with(0);
            let report: Value = serde_json::from_str(&run.stdout).unwrap();
            let state = report["configuration"][name].as_str().unwrap();
            assert!(state.contains(part), "{name} {text:?}: {state}");
        }
    }
}

#[test]
fn the_doctor_reports_a_home_that_is_no_use() {
    let place = Place::new();
    let file = place.write("file", "");
    for (home, part) in [
        (place.root().join("nowhere"), "missing"),
        (file.clone(), "not a directory"),
        (file.join("below"), "not"),
    ] {
        let run = place
            .e()
            .args(["doctor", "--json"])
            .env("E_HOME", &home)
            .run()
            .ends_with(0);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let state = report["home_status"].as_str().unwrap();
        assert!(state.contains(part), "{}: {state}", home.display());
        assert!(!place.root().join("nowhere").exists());
    }
}

#[test]
fn listings_agree_in_both_forms() {
    let place = Place::new();
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&place.e().args(args).run().ends_with(0).stdout).unwrap()
    };
    let text = |args: &[&str]| place.e().args(args).run().ends_with(0).stdout;
    let providers = json(&["providers", "--json"]);
    let rows = text(&["providers"]);
    assert_eq!(providers.as_array().unwrap().len(), rows.lines().count());
    for provider in providers.as_array().unwrap() {
        assert!(
            rows.contains(provider["name"].as_str().unwrap()),
            "{provider}"
        );
    }
    let models = json(&["models", "--json"]);
    assert_eq!(models["default"], "mock/test");
    let test = &models["models"].as_array().unwrap()[0];
    let expected = json!({"model": "mock/test", "provider": "mock", "id": "test", "effort": ["low", "high"],
        "image_input": true, "tools": true, "context_window": 64000});
    assert_eq!(test, &expected);
    assert!(text(&["models"]).contains("mock/test"));
    // A key for a provider that this build cannot talk to makes none of its models usable.
    let run = place
        .e()
        .env("OPENAI_API_KEY", "k")
        .env("ANTHROPIC_API_KEY", "k");
    let listed = run.arg("models").run().ends_with(0).stdout;
    assert!(
        listed.contains("anthropic/") && !listed.contains("openai/"),
        "{listed}"
    );
    assert_eq!(text(&["auth"]), "mock  api key\n");
}

#[test]
fn hostile_names_cannot_draw_on_the_terminal() {
    let place = Place::new();
    let evil = "ev\u{1b}]0;x\u{7}il\nsecond\u{202e}line";
    let url = format!("http://h/{}", "x");
    let providers = json!({evil.replace(' ', ""): {"base_url": url, "models": [evil]}});
    place.write_home("models.json", &json!({"providers": providers}).to_string());
    place.write_home("auth.json", &json!({evil: {"key": "k"}}).to_string());
    for args in ["auth", "providers", "models", "doctor"] {
        let run = place.e().args([args]).run().ends_with(0);
        let all = run.stdout.clone() + &run.stderr;
        assert!(
            !all.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{args}: {all:?}"
        );
        assert!(
            all.lines().all(|line| !line.starts_with("second")),
            "{args}: {all:?}"
        );
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let place = Place::new();
    let e = env!("CARGO_BIN_EXE_e");
    let script = format!("set -o pipefail; '{e}' doctor --json | head -c 1; '{e}' --help | true");
    place.bash(&script).run().ends_with(0);
    let run = place
        .bash(&format!("'{e}' help > /dev/full"))
        .run()
        .ends_with(1);
    assert!(run.stderr.contains("no space left"), "{run:?}");
}
