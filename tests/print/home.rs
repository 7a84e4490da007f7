//! Homes, directories and environments that are not what one expects.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::{Place, Run, call, say};

const ECHO: [&str; 5] = ["-p", "--model", "offline/echo", "--trust", "hello"];

/// Asserts an answer with one warning that history is not kept.
#[track_caller]
fn answers_without_history(run: Run) {
    let run = run.ends_with(0);
    assert_eq!(run.stdout, "hello\n");
    let warnings: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(warnings.len(), 1, "{run:?}");
    assert!(warnings[0].starts_with("warning: "), "{run:?}");
    assert!(warnings[0].contains("memory only"), "{run:?}");
}

#[test]
fn without_a_home_it_answers_and_warns_once() {
    let place = Place::new();
    let e = || place.e().without("HOME").without("E_HOME");
    answers_without_history(e().args(ECHO).run());
    answers_without_history(e().args(ECHO).env("HOME", "").run());
    let run = e().args(ECHO).args(["--no-save"]).run().ends_with(0);
    assert_eq!(run.stderr, "", "nothing was to be kept");
}

#[test]
fn a_home_that_nobody_can_write_to_never_stops_a_turn() {
    let place = Place::new();
    let file = place.write("file", "not a directory");
    for home in [
        "/dev/null",
        "/dev/null/e",
        "/proc/e",
        file.to_str().expect("a path"),
    ] {
        answers_without_history(place.e().args(ECHO).env("E_HOME", home).run());
        let user = place.e().args(ECHO).without("E_HOME").env("HOME", home);
        answers_without_history(user.run());
    }
}

#[test]
fn a_read_only_home_is_used_as_far_as_it_goes() {
    let place = Place::new();
    // A file in the way of the directory stops root as well.
    fs::write(place.home.join("sessions"), "in the way").expect("a file");
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.result()["session"], json!(null));
    assert_eq!(run.events("warning").len(), 1, "{run:?}");
    assert_eq!(run.result()["warnings"].as_array().map(Vec::len), Some(1));
    fs::remove_file(place.home.join("sessions")).expect("removed");
    if !is_root() {
        fs::set_permissions(&place.home, fs::Permissions::from_mode(0o500)).expect("a mode");
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.events("warning").len(), 1, "{run:?}");
        fs::set_permissions(&place.home, fs::Permissions::from_mode(0o700)).expect("a mode");
    }
}

#[test]
fn a_turn_leaves_nothing_but_its_session_in_a_new_home() {
    let place = Place::new();
    let home = place.root().join("new home");
    place.e().args(ECHO).env("E_HOME", &home).run().ends_with(0);
    let names: Vec<_> = fs::read_dir(&home)
        .expect("the home")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names, ["sessions"]);
    let mode = fs::metadata(&home).expect("the home").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn an_unsaved_turn_touches_no_home_at_all() {
    let place = Place::new();
    let home = place.root().join("new home");
    let run = place
        .e()
        .args(ECHO)
        .args(["--no-save"])
        .env("E_HOME", &home)
        .run();
    run.ends_with(0);
    assert!(!home.exists());
}

#[test]
fn the_home_is_below_the_users_when_it_is_not_named() {
    let place = Place::new();
    for home in [None, Some("")] {
        let run = place.e().args(ECHO).args(["--json"]).without("E_HOME");
        let run = match home {
            None => run,
            Some(home) => run.env("E_HOME", home),
        };
        let log = run.run().ends_with(0).result()["session"].to_string();
        assert!(log.contains("/user/.e/sessions/"), "{log}");
    }
}

#[test]
fn a_relative_home_is_taken_from_the_directory_e_starts_in() {
    let place = Place::new();
    let run = place
        .e()
        .args(ECHO)
        .args(["--json"])
        .env("E_HOME", "here")
        .run();
    let log = run.ends_with(0).result()["session"].to_string();
    assert!(log.contains("/space/here/sessions/"), "{log}");
}

#[test]
fn nothing_of_the_environment_is_needed() {
    let place = Place::new();
    answers_without_history(place.e().without_all().args(ECHO).run());
    let run = place
        .p(&["hi"])
        .without("PATH")
        .env("TMPDIR", "/nonexistent")
        .run();
    assert_eq!(run.ends_with(0).stderr, "");
}

#[test]
fn a_missing_shell_is_named_to_the_model_and_the_turn_goes_on() {
    let place = Place::new();
    place
        .provider
        .script([call("bash", json!({"command": "echo hi"})), say("no shell")]);
    let run = place
        .json(&["hi"])
        .env("PATH", "/nonexistent")
        .run()
        .ends_with(0);
    let end = &run.events("tool_end")[0];
    assert_eq!(end["outcome"], "failed");
    assert!(
        end["content"].as_str().expect("text").contains("bash"),
        "{end}"
    );
    assert!(
        end["content"].as_str().expect("text").contains("PATH"),
        "{end}"
    );
}

#[test]
fn a_working_directory_that_is_gone_is_said_in_words() {
    let place = Place::new();
    let script = "mkdir gone && cd gone && rmdir ../gone && exec $E -p";
    for form in ["-m $M hi", "-m $M hi --json", "-m $M hi --trust"] {
        let run = place.sh(&format!("{script} {form}")).run().ends_with(1);
        assert!(run.stderr.contains("working directory"), "{run:?}");
        assert!(run.stderr.contains("no such file"), "{run:?}");
    }
    assert_eq!(place.provider.received().len(), 0);
}

#[test]
fn a_working_directory_that_goes_away_fails_the_call_and_not_the_turn() {
    let place = Place::new();
    let dir = place.workspace.join("dir");
    fs::create_dir(&dir).expect("a directory");
    place.provider.script([
        call("bash", json!({"command": "rmdir ../dir"})),
        call("bash", json!({"command": "echo hi"})),
        call("bash", json!({"command": "echo hi"})),
        say("done"),
    ]);
    let run = place.json(&["hi"]).in_dir(&dir).run().ends_with(0);
    let ends = run.events("tool_end");
    assert_eq!(ends[0]["outcome"], "completed");
    assert_eq!(ends[1]["outcome"], "failed");
    let said = ends[1]["content"].as_str().expect("text");
    assert!(
        said.contains("directory") && !said.contains("bash"),
        "{said}"
    );
}

#[test]
fn the_root_directory_works_when_it_is_trusted() {
    let place = Place::new();
    place
        .provider
        .script([call("bash", json!({"command": "pwd"})), say("there")]);
    let run = place
        .json(&["hi", "--trust"])
        .in_dir("/")
        .run()
        .ends_with(0);
    assert_eq!(run.events("tool_end")[0]["content"], "/");
    place.p(&["hi"]).in_dir("/").run().ends_with(1);
}

#[test]
fn a_broken_settings_file_is_named_and_left_alone() {
    let place = Place::new();
    let text = "{\n  \"effort\": \"low\",\n}\n";
    place.write_home("settings.json", text);
    let run = place.p(&["hi"]).run().ends_with(0);
    assert_eq!(run.stdout, "ok\n");
    assert!(
        run.stderr.contains("settings.json") && run.stderr.contains("line 3"),
        "{run:?}"
    );
    let kept = fs::read_to_string(place.home.join("settings.json")).expect("settings");
    assert_eq!(kept, text);
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}
