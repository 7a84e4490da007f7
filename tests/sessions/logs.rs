//! What a log holds, and who may read it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use e::config::Home;
use e::session::{Log, load};
use serde_json::json;

use super::{records, roles};
use crate::support::{Place, call, fails, say};

#[test]
fn a_turn_is_a_chain_of_records_under_a_header() {
    let place = Place::new();
    place.write("f", "x\n");
    place.provider.script([
        call("read", json!({"path": "f"})).and_call("grep", json!({"pattern": "x"})),
        say("done"),
    ]);
    place.p(&["hi"]).run().ends_with(0);
    let log = place.logs().remove(0);
    let records = records(&log);
    let header = &records[0];
    assert_eq!(header["type"], "session");
    assert_eq!(header["format_version"], 3);
    assert_eq!(header["model"], "mock/test");
    assert_eq!(header["cwd"], place.workspace.to_str().unwrap());
    let name = log.file_stem().unwrap().to_str().unwrap();
    assert_eq!(
        name,
        format!("{}_{}", header["created"], header["id"].as_str().unwrap())
    );
    assert_eq!(
        roles(&records),
        ["user", "assistant", "tool", "tool", "assistant"]
    );
    let mut parent = json!(null);
    for record in &records[1..] {
        assert_eq!(record["parent"], parent);
        parent = record["id"].clone();
    }
    assert_eq!(records[2]["response"]["usage"]["input"], 100);
    assert_eq!(records[3]["message"]["tool_meta"]["outcome"], "completed");
}

#[test]
fn logs_are_private_whatever_the_umask() {
    let place = Place::new();
    place.provider.script([fails(400)]);
    place.p(&["hi"]).after("umask 000").run().ends_with(1);
    let log = place.logs().remove(0);
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o7777;
    for file in [
        &log,
        &log.with_extension("lock"),
        &log.with_extension("errors.jsonl"),
    ] {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    for directory in log.ancestors().skip(1).take(3) {
        assert_eq!(mode(directory), 0o700, "{}", directory.display());
    }
}

#[test]
fn nothing_is_saved_of_a_run_without_saving() {
    let place = Place::new();
    place.p(&["--no-save", "hi"]).run().ends_with(0);
    assert!(!place.home.join("sessions").exists());
}

#[test]
fn an_interrupted_turn_is_whole_in_the_log() {
    let place = Place::new();
    place
        .provider
        .script([call("bash", json!({"command": "echo ready; sleep 300"}))
            .and_call("bash", json!({"command": "sleep 300"}))
            .text("Let me see. ")]);
    place.settings(json!({"tool_concurrency": 1}));
    let run = place.json(&["hi"]).start();
    run.stdout.wait_for("ready");
    run.signal("TERM");
    run.finish().ends_with(143);
    let log = place.logs().remove(0);
    let records = records(&log);
    assert_eq!(roles(&records), ["user", "assistant", "tool", "tool"]);
    for record in &records[3..] {
        assert_eq!(record["message"]["tool_meta"]["outcome"], "cancelled");
    }
    let (_writer, loaded) = Log::reopen(&Home::at(&place.home), &log).expect("it reopens");
    assert_eq!(loaded.messages.len(), 4);
    assert!(loaded.warnings.is_empty());
    let (_, page) = e::session::export_html(None, &loaded.messages, Some(&log));
    let end = page.split("</details>").last().expect("an end");
    assert!(end.contains(">interrupted<"), "{page}");
}

#[test]
fn a_running_session_has_one_writer() {
    let place = Place::new();
    let (step, gate) = say("FIRST").gate();
    place.provider.script([step]);
    let run = place.p(&["hi"]).start();
    run.stdout.wait_for("FIRST");
    let log = place.logs().remove(0);
    let error = Log::reopen(&Home::at(&place.home), &log)
        .unwrap_err()
        .to_string();
    assert!(error.contains("already active in process"), "{error}");
    assert!(error.contains(&run.pid().to_string()), "{error}");
    assert_eq!(load(&log).expect("reading needs no lock").messages.len(), 1);
    drop(gate);
    run.finish().ends_with(0);
    Log::reopen(&Home::at(&place.home), &log).expect("free again");
}

#[test]
fn twenty_runs_in_one_directory_do_not_meet() {
    let place = Place::new();
    let prompts: Vec<_> = (0..20).map(|n| format!("prompt {n}")).collect();
    let runs: Vec<_> = prompts
        .iter()
        .map(|text| place.p(&[text]).start())
        .collect();
    for run in runs {
        assert_eq!(run.finish().ends_with(0).stdout, "ok\n");
    }
    let mut found = Vec::new();
    for log in place.logs() {
        let records = records(&log);
        assert_eq!(roles(&records), ["user", "assistant"]);
        found.push(
            records[1]["message"]["content"]
                .as_str()
                .unwrap()
                .to_string(),
        );
    }
    let mut expected = prompts;
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}
