//! settings.json, auth.json and models.json in every state that hands and programs leave behind.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::Place;

/// Files that are not what they should be.
const BROKEN: [&str; 9] = [
    "{\n  \"a\": 1,\n}",
    "{\"a\": 1} // comment",
    "{\"a\": 'b'}",
    "[]",
    "\"text\"",
    "7",
    "",
    "{\"a\": ",
    "\u{0}\u{0}\u{0}",
];

#[test]
fn a_broken_file_costs_that_file_and_keeps_its_bytes() {
    for (name, models_still_there) in [
        ("settings.json", true),
        ("auth.json", true),
        ("models.json", false),
    ] {
        for text in BROKEN {
            let place = Place::new();
            place.write_home(name, text);
            let model = if models_still_there {
                "mock/test"
            } else {
                "offline/echo"
            };
            let run = place
                .e()
                .args(["-p", "--json", "-m", model, "hi"])
                .run()
                .ends_with(0);
            assert_eq!(place.read_home(name), text, "{name}");
            let warning = run.result()["warnings"].to_string();
            assert!(warning.contains(name), "{name} {text:?}: {warning}");
            assert!(
                warning.contains("line ") && warning.contains("column "),
                "{name} {text:?}: {warning}"
            );
            assert!(run.stderr.contains(name), "{run:?}");
            for args in ["doctor", "providers", "models", "auth"] {
                let told = place.e().args([args]).run().ends_with(0);
                let about_catalog = name != "settings.json" || args == "doctor" || args == "models";
                let all = told.stdout + &told.stderr;
                assert!(
                    !about_catalog || all.contains("line "),
                    "{name} {args}: {all}"
                );
            }
            assert_eq!(place.read_home(name), text, "{name}");
        }
    }
}

#[test]
fn the_place_of_a_fault_is_told() {
    let place = Place::new();
    place.write_home("settings.json", "{\n  \"model\": \"mock/test\",\n}\n");
    let run = place.p(&["hi"]).run().ends_with(0);
    assert!(run.stderr.contains("line 3 column 1"), "{run:?}");
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    let place = Place::new();
    for name in ["settings.json", "auth.json", "models.json"] {
        let text = match name {
            "settings.json" => r#"{"effort": "low"}"#.to_string(),
            name => place.read_home(name),
        };
        place.write_home(name, &format!("\u{feff}{text}"));
    }
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.result()["effort"], "low");
    assert_eq!(run.result()["warnings"], json!([]));
    let request = &place.provider.received()[0];
    assert_eq!(
        request.header("authorization"),
        Some("Bearer secret-key-of-mock")
    );
}

#[test]
fn what_is_no_regular_file_is_said_and_waited_for_by_nobody() {
    let make_pipe = |path: &Path| {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    let kinds: [&dyn Fn(&Path); 3] = [
        &|path| std::fs::create_dir(path).unwrap(),
        &make_pipe,
        &|path| symlink("/dev/zero", path).unwrap(),
    ];
    for name in ["settings.json", "auth.json", "models.json"] {
        for make in kinds {
            let place = Place::new();
            let path = place.home.join(name);
            let _ = std::fs::remove_file(&path);
            make(&path);
            let args = ["-p", "-m", "offline/echo", "hi"];
            let run = place.e().args(args).run().ends_with(0);
            assert!(run.stderr.contains(name), "{run:?}");
        }
    }
}

#[test]
fn one_bad_setting_costs_that_setting() {
    let cases = [
        (json!({"effort": 7, "stall_seconds": 20}), "effort"),
        (json!({"model": ["x"], "effort": "low"}), "model"),
        (json!({"retry_max_attempts": "many"}), "retry_max_attempts"),
        (json!({"retry_max_attempts": 21}), "retry_max_attempts"),
        (json!({"retry_max_attempts": -1}), "retry_max_attempts"),
        (json!({"retry_max_attempts": 2.5}), "retry_max_attempts"),
        (json!({"stall_seconds": 9}), "stall_seconds"),
        (json!({"tool_concurrency": "8"}), "tool_concurrency"),
        (json!({"bash_env_keep": "HOME"}), "bash_env_keep"),
        (json!({"bash_env_keep": [1]}), "bash_env_keep"),
        (json!({"system_prompt": {}}), "system_prompt"),
    ];
    for (settings, key) in cases {
        let place = Place::new();
        place.settings(settings.clone());
        let run = place.json(&["hi"]).run().ends_with(0);
        let warnings = run.result()["warnings"].to_string();
        assert!(
            warnings.contains(&format!("`{key}`")),
            "{settings}: {warnings}"
        );
        if settings["effort"] == "low" {
            assert_eq!(run.result()["effort"], "low");
        }
    }
}

#[test]
fn unknown_keys_are_nobody_s_business() {
    let place = Place::new();
    place.settings(
        json!({"theme": "dark", "of_a_later_version": {"x": [1]}, "tool_concurrency": 99}),
    );
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.result()["warnings"], json!([]));
}

#[test]
fn a_setting_chooses_the_model_and_an_option_wins() {
    let place = Place::new();
    place.settings(json!({"model": "mock/plain"}));
    let model = |args: &[&str]| {
        let run = place
            .e()
            .args(["-p", "--json"])
            .args(args)
            .arg("hi")
            .run()
            .ends_with(0);
        run.result()["model"].clone()
    };
    assert_eq!(model(&[]), "mock/plain");
    assert_eq!(model(&["-m", "mock/test"]), "mock/test");
    assert_eq!(model(&["-m", "test"]), "mock/test");
    place.settings(json!({"model": "gone/away"}));
    let run = place.e().args(["-p", "--json", "hi"]).run().ends_with(0);
    assert_eq!(run.result()["model"], "mock/test");
    assert!(run.stderr.contains("`gone/away`"), "{run:?}");
}

#[test]
fn a_setting_replaces_the_system_prompt_s_base() {
    let place = Place::new();
    place.settings(json!({"system_prompt": "You are a teapot."}));
    place.p(&["hi"]).run().ends_with(0);
    let system = place.provider.received()[0].system();
    assert!(system.starts_with("You are a teapot."), "{system}");
    assert!(
        system.contains(place.workspace.to_str().unwrap()),
        "{system}"
    );
}

#[test]
fn broken_entries_of_models_json_are_skipped_and_placed() {
    let cases = [
        (r#"{"api": "openai-completions"}"#, "base_url"),
        (
            r#"{"base_url": "http://h", "api": "telepathy"}"#,
            "telepathy",
        ),
        (r#"{"base_url": 7}"#, "string"),
        (r#"[]"#, "object"),
        (r#"{"base_url": "http://h", "models": "x"}"#, "sequence"),
        (
            r#"{"base_url": "http://h", "models": [{"context_window": 1}]}"#,
            "id",
        ),
        (
            r#"{"base_url": "http://h", "models": [{"id": "a", "thinking": "hard"}]}"#,
            "hard",
        ),
        (r#"{"base_url": "http://h", "models": [7]}"#, "no text"),
        (
            r#"{"base_url": "http://h", "models": [{"id": "a", "pricing": {"input_per_million": 1}}]}"#,
            "output_per_million",
        ),
    ];
    for (entry, part) in cases {
        let place = Place::new();
        let good = format!(
            r#"{{"base_url": "{}/v1", "models": ["test"]}}"#,
            place.provider.url()
        );
        let text = format!("{{\"providers\": {{\n \"bad\": {entry},\n \"mock\": {good}\n}}}}");
        place.write_home("models.json", &text);
        let run = place.json(&["hi"]).run().ends_with(0);
        let warnings = run.result()["warnings"].to_string();
        assert!(
            warnings.contains("models.json") && warnings.contains("`bad`"),
            "{entry}: {warnings}"
        );
        assert!(
            warnings.contains("line 2") && warnings.contains(part),
            "{entry}: {warnings}"
        );
        assert_eq!(place.read_home("models.json"), text);
    }
}

#[test]
fn a_built_in_provider_may_be_pointed_elsewhere() {
    let place = Place::new();
    let entry = json!({"providers": {"anthropic": {"base_url": place.provider.url()}}});
    place.write_home("models.json", &entry.to_string());
    let run = place
        .e()
        .args(["-p", "-m", "anthropic/any-new-model", "hi"])
        .env("ANTHROPIC_API_KEY", "k-from-env");
    assert_eq!(run.run().ends_with(0).stdout, "ok\n");
    let request = &place.provider.received()[0];
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some("k-from-env"));
    assert_eq!(request.body["model"], "any-new-model");
}

#[test]
fn a_run_writes_nothing_but_its_log() {
    let place = Place::new();
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(&place.home)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let before = names();
    place.p(&["--no-save", "hi"]).run().ends_with(0);
    for args in [
        "doctor",
        "models",
        "providers",
        "auth",
        "docs",
        "help",
        "--version",
    ] {
        place.e().args([args]).run().ends_with(0);
    }
    assert_eq!(names(), before);
    place.p(&["hi"]).run().ends_with(0);
    let mut after = before;
    after.push("sessions".into());
    after.sort();
    assert_eq!(names(), after);
}

#[test]
fn what_e_creates_is_private_under_any_umask() {
    let place = Place::new();
    let home = place.root().join("fresh");
    let script = format!("umask 000; exec '{}' trust .", env!("CARGO_BIN_EXE_e"));
    let run = place.bash(&script).env("E_HOME", &home).run();
    run.ends_with(0);
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    assert_eq!(mode(&home.join(".store.lock")), 0o600);
    assert_eq!(mode(&home.join("trust.json")), 0o644);
}

#[test]
fn what_is_broken_is_told_also_when_it_keeps_a_run_from_starting() {
    let place = Place::new();
    place.write_home("models.json", "{");
    let run = place.json(&["hi"]).run().ends_with(2);
    assert!(run.stderr.contains("is unavailable"), "{run:?}");
    assert!(run.stderr.contains("models.json: "), "{run:?}");
    assert!(
        run.result()["warnings"]
            .to_string()
            .contains("models.json: "),
        "{run:?}"
    );
}
