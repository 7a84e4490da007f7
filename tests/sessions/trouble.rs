//! A log that cannot be written costs a warning and no turn.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::{records, roles};
use crate::support::{Place, call, fails, say};

#[test]
fn a_log_that_cannot_be_created_is_caught_up_later() {
    let place = Place::new();
    // A file in the directory's place stops root as well.
    let sessions = place.home.join("sessions");
    std::fs::write(&sessions, "in the way").unwrap();
    let (step, gate) = call("bash", json!({"command": "true"}))
        .text("FIRST")
        .gate();
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).start();
    run.stderr.wait_for("history is in memory only for now");
    std::fs::remove_file(&sessions).unwrap();
    drop(gate);
    let run = run.finish().ends_with(0);
    assert_eq!(
        run.stderr.matches("in memory only").count(),
        1,
        "{}",
        run.stderr
    );
    let log = run.result()["session"].as_str().expect("a log").to_string();
    let records = records(log.as_ref());
    assert_eq!(roles(&records), ["user", "assistant", "tool", "assistant"]);
}

#[test]
fn a_log_that_can_never_be_written_costs_one_warning() {
    let place = Place::new();
    std::fs::write(place.home.join("sessions"), "in the way").unwrap();
    place
        .provider
        .script([call("bash", json!({"command": "true"})), say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(run.stderr.matches("warning:").count(), 1, "{}", run.stderr);
    assert_eq!(run.result()["final_output"], "done");
    assert_eq!(run.result()["session"], json!(null));
}

#[test]
fn a_log_that_was_deleted_under_a_run_is_written_anew() {
    let place = Place::new();
    let (step, gate) = call("bash", json!({"command": "true"}))
        .text("FIRST")
        .gate();
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).start();
    run.stdout.wait_for("FIRST");
    std::fs::remove_dir_all(place.home.join("sessions")).unwrap();
    drop(gate);
    let run = run.finish().ends_with(0);
    assert_eq!(run.result()["final_output"], "done");
    let log = run.result()["session"].as_str().expect("a log").to_string();
    let records = records(log.as_ref());
    assert_eq!(records[0]["type"], "session");
    assert_eq!(roles(&records), ["user", "assistant", "tool", "assistant"]);
}

#[test]
fn a_full_disk_costs_a_warning_and_leaves_whole_records() {
    let place = Place::new();
    let sessions = place.home.join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    let mount = |program: &str, args: &[&str]| {
        let output = std::process::Command::new(program)
            .args(args)
            .arg(&sessions)
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs"]) {
        println!("skipped: this user may not mount a file system");
        return;
    }
    place.provider.script([
        call("bash", json!({"command": "seq 1 20000"})),
        call("bash", json!({"command": "seq 1 20000"})),
        call("bash", json!({"command": "seq 1 20000"})),
        say("done"),
    ]);
    let run = place.json(&["hi"]).run();
    let loaded = e::session::load(&place.logs()[0]);
    assert!(mount("umount", &[]));
    let run = run.ends_with(0);
    assert!(run.stderr.contains("no space left"), "{}", run.stderr);
    let loaded = loaded.expect("whole records");
    assert!(loaded.messages.len() >= 3 && loaded.warnings.is_empty());
}

#[test]
fn the_sidecar_tells_a_failure_and_follows_no_link() {
    let place = Place::new();
    place.provider.script([fails(400)]);
    place.p(&["hi"]).run().ends_with(1);
    let log = place.logs().remove(0);
    let lines = records(&log.with_extension("errors.jsonl"));
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["format_version"], 1);
    assert_eq!(lines[0]["parent"], records(&log)[1]["id"]);
    assert!(lines[0]["details"].is_object());

    let (step, gate) = say("FIRST").gate();
    place.provider.script([step.die(), fails(400)]);
    let run = place.p(&["hi"]).start();
    run.stdout.wait_for("FIRST");
    let log = place.logs().pop().expect("the newest log");
    let victim = place.write("victim", "mine");
    symlink(&victim, log.with_extension("errors.jsonl")).unwrap();
    drop(gate);
    run.finish();
    assert_eq!(place.read("victim"), "mine");
}
