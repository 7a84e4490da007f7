//! Limits of the system that e is started under.

use serde_json::json;

use super::results;
use crate::support::{Place, call, say};

#[test]
fn a_file_size_limit_fails_the_call_and_not_e() {
    let place = Place::new();
    place.write("f", "old\n");
    let long = "x".repeat(300_000);
    place.provider.script([
        call("write", json!({"path": "f", "content": long})),
        call(
            "edit",
            json!({"path": "f", "old_string": "old", "new_string": long}),
        ),
        call("write", json!({"path": "new", "content": long})),
        call(
            "bash",
            json!({"command": "ulimit -c 0; head -c 300000 /dev/zero > big"}),
        ),
        say("done"),
    ]);
    // In units of 1024 bytes.
    let run = place
        .json(&["go"])
        .after("ulimit -f 100")
        .run()
        .ends_with(0);
    let dones = results(&run);
    for done in &dones[..3] {
        done.fails("file too large");
    }
    // A command meets the limit as it would in a shell of one's own.
    assert_eq!(dones[3].outcome, "failed", "{:?}", dones[3]);
    assert_eq!(place.read("f"), "old\n");
    assert!(!place.workspace.join("new").exists());
    // The log meets the limit too, and the turn goes on.
    assert!(
        run.stderr.contains("history is in memory only for now"),
        "{}",
        run.stderr
    );
    let log = place.logs().remove(0);
    let loaded = e::session::load(&log).expect("whole records");
    assert_eq!(loaded.warnings, Vec::<String>::new());
}

#[test]
fn too_few_descriptors_fail_calls_and_not_the_turn() {
    let place = Place::new();
    let mut step = call("bash", json!({"command": "sleep 0.2"}));
    for _ in 0..20 {
        step = step.and_call("bash", json!({"command": "sleep 0.2"}));
    }
    place.provider.script([step, say("done")]);
    place.settings(json!({"tool_concurrency": 21}));
    let run = place.json(&["go"]).after("ulimit -n 48").run().ends_with(0);
    let dones = results(&run);
    assert!(dones.iter().any(|done| done.summary == "done"), "{dones:?}");
    for done in dones.iter().filter(|done| done.summary != "done") {
        done.fails("too many open files");
    }
    place.wait_deserted();
}
