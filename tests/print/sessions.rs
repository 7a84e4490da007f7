//! The log that a turn leaves, and what stands beside it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, call, fails, say};

#[track_caller]
fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a log");
    assert!(text.ends_with('\n'));
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(parse).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("metadata").permissions().mode() & 0o777
}

/// All paths below the home's sessions, by the end of their names.
fn with_end(place: &Place, end: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![place.home.join("sessions")];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_turn_is_logged_record_by_record() {
    let place = Place::new();
    place.write("a.txt", "alpha\n");
    place.provider.script([
        call("read", json!({"path": "a.txt"})).text("Looking. "),
        say("Done."),
    ]);
    let result = place.json(&["look"]).run().ends_with(0).result();
    let log = result["session"].as_str().expect("a path");
    let records = records(Path::new(log));
    let types: Vec<_> = records
        .iter()
        .map(|record| record["type"].clone())
        .collect();
    assert_eq!(
        types,
        ["session", "message", "message", "message", "message"]
    );
    let header = &records[0];
    assert_eq!(header["format_version"], 3);
    assert_eq!(header["cwd"], place.workspace.to_str().expect("a path"));
    assert_eq!(header["model"], "mock/test");
    let id = header["id"].as_str().expect("an id");
    let name = format!("{}_{id}.jsonl", header["created"]);
    assert!(log.ends_with(&name), "{log}");
    let mut parent = Value::Null;
    for record in &records[1..] {
        assert_eq!(record["parent"], parent);
        parent = record["id"].clone();
        assert!(record["timestamp"].is_u64());
    }
    assert_eq!(
        records[1]["message"],
        json!({"role": "user", "content": "look"})
    );
    assert_eq!(records[2]["message"]["content"], "Looking. ");
    assert_eq!(records[2]["message"]["tool_calls"][0]["name"], "read");
    assert_eq!(records[2]["response"]["purpose"], "turn");
    assert_eq!(records[2]["response"]["usage"]["input"], 100);
    assert_eq!(records[3]["message"]["role"], "tool");
    assert_eq!(records[3]["message"]["tool_meta"]["outcome"], "completed");
    assert_eq!(records[4]["message"]["content"], "Done.");
}

#[test]
fn logs_are_private_whatever_the_umask() {
    let place = Place::new();
    place.provider.script([fails(400)]);
    place
        .sh("umask 000; exec $E -p -m $M hi")
        .run()
        .ends_with(1);
    let log = &place.logs()[0];
    assert_eq!(mode(log), 0o600);
    assert_eq!(mode(log.parent().expect("a directory")), 0o700);
    assert_eq!(mode(&place.home.join("sessions")), 0o700);
    for end in [".lock", ".errors.jsonl"] {
        assert_eq!(mode(&with_end(&place, end)[0]), 0o600, "{end}");
    }
}

#[test]
fn the_directory_is_named_by_the_workspace() {
    let place = Place::new();
    let link = place.root().join("link");
    std::os::unix::fs::symlink(&place.workspace, &link).expect("a link");
    place.p(&["hi"]).run().ends_with(0);
    place.p(&["hi"]).in_dir(&link).run().ends_with(0);
    let logs = place.logs();
    assert_eq!(logs.len(), 2);
    assert_eq!(logs[0].parent(), logs[1].parent());
    let name = logs[0].parent().and_then(Path::file_name).expect("a name");
    let name = name.to_string_lossy();
    let hex = name.strip_prefix("sha256-").expect("the prefix");
    assert!(hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit()));
}

#[test]
fn a_failure_is_written_beside_the_log() {
    let place = Place::new();
    place.provider.script([fails(400)]);
    let result = place.json(&["hi"]).run().ends_with(1).result();
    let sidecars = with_end(&place, ".errors.jsonl");
    let lines = records(&sidecars[0]);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["details"], result["error_details"]);
    let log = result["session"].as_str().expect("a log");
    assert_eq!(
        sidecars[0].to_str(),
        Some(log.replace(".jsonl", ".errors.jsonl").as_str())
    );
}

#[test]
fn nothing_stands_beside_the_log_of_a_turn_that_went_well() {
    let place = Place::new();
    place.p(&["hi"]).run().ends_with(0);
    assert_eq!(with_end(&place, ".errors.jsonl").len(), 0);
}

#[test]
fn an_unsaved_turn_leaves_nothing() {
    let place = Place::new();
    place.provider.script([say("ok"), fails(400), say("ok")]);
    place.p(&["--no-save", "hi"]).run().ends_with(0);
    place.p(&["--ns", "hi"]).run().ends_with(1);
    assert!(!place.home.join("sessions").exists());
}

#[test]
fn a_run_that_never_began_leaves_nothing() {
    let place = Place::new();
    place.p(&["--ef", "max", "hi"]).run().ends_with(2);
    place.p(&[]).run().ends_with(2);
    assert!(!place.home.join("sessions").exists());
}

#[test]
fn many_runs_in_one_directory_do_not_meet() {
    let place = Place::new();
    let count = 20;
    let runs: Vec<_> = (0..count)
        .map(|number| place.json(&[&format!("prompt {number}")]).start())
        .collect();
    let mut logs = BTreeSet::new();
    for (number, run) in runs.into_iter().enumerate() {
        let result = run.finish().ends_with(0).result();
        let log = result["session"].as_str().expect("a log").to_string();
        let records = records(Path::new(&log));
        assert_eq!(records[1]["message"]["content"], format!("prompt {number}"));
        assert_eq!(records.len(), 3);
        logs.insert(log);
    }
    assert_eq!(logs.len(), count);
}

#[test]
fn images_and_reasoning_are_in_the_log() {
    let place = Place::new();
    place.write("a.png", b"\x89PNG\r\n\x1a\n");
    place.provider.script([say("seen").reasoning("hmm")]);
    place.p(&["-i", "a.png", "hi"]).run().ends_with(0);
    let records = records(&place.logs()[0]);
    assert_eq!(
        records[1]["message"]["images"],
        json!([{"media_type": "image/png", "data": "iVBORw0KGgo="}])
    );
}
