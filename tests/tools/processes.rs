//! No process outlives its owner, and no call waits for anything but its command.

use std::time::Duration;

use serde_json::json;

use super::{bash, gated, one, play, results};
use crate::support::{Place, answer, call, say, until};

/// Far below what a command that is waited for would take.
const SOON: Duration = Duration::from_secs(15);

#[track_caller]
fn pid(text: &str) -> i32 {
    let line = text.lines().find(|line| !line.starts_with('['));
    line.and_then(|line| line.parse().ok())
        .unwrap_or_else(|| panic!("no process id in {text:?}"))
}

fn lives(place: &Place, pid: i32) -> bool {
    place.processes().contains(&pid)
}

#[test]
fn what_a_command_leaves_running_ends_with_the_call() {
    let place = Place::new();
    let done = one(&place, "bash", json!({"command": "sleep 300 & echo $!"}));
    let text = done.completes();
    assert!(!lives(&place, pid(text)));
    assert!(
        text.contains("1 process that the command left running was stopped"),
        "{text}"
    );
    place.wait_deserted();
}

#[test]
fn a_server_that_holds_the_pipe_does_not_hold_the_call() {
    let place = Place::new();
    place.provider.script([
        call(
            "bash",
            json!({"command": "(while :; do echo tick; sleep 0.01; done) & sleep 0.1; echo ok"}),
        ),
        call("bash", json!({"command": "setsid sleep 300 & echo ok"})),
        say("done"),
    ]);
    let run = place.json(&["go"]).run().ends_with(0);
    assert!(run.elapsed < SOON, "{:?}", run.elapsed);
    assert!(results(&run).iter().all(|done| done.summary == "done"));
    place.wait_deserted();
}

#[test]
fn a_stray_lives_as_long_as_the_session_and_is_counted() {
    let place = Place::new();
    for stray in [
        "setsid bash -c 'touch up; exec sleep 300' </dev/null >/dev/null 2>&1 &",
        "(setsid bash -c 'sleep 300 & touch up; exit' >/dev/null 2>&1 &)",
        "setsid bash -c 'trap \"\" TERM HUP; touch up; while :; do sleep 1; done' >&2 &",
    ] {
        let command = format!("rm -f up\n{stray}\nuntil [ -e up ]; do sleep 0.02; done");
        let dones = play(&place, &[bash(&command), bash("true")]);
        for done in dones {
            let text = done.completes();
            assert!(
                text.contains("live on until the session ends")
                    || text.contains("lives on until the session ends"),
                "{stray}: {text}"
            );
        }
        place.wait_deserted();
    }
}

#[test]
fn a_timeout_ends_the_group_in_order() {
    let place = Place::new();
    let tidy = "trap 'rm lock; exit' TERM; touch lock; sleep 300 & wait";
    let stubborn = "trap '' TERM; while :; do sleep 300; done";
    let dones = play(
        &place,
        &[
            ("bash", json!({"command": tidy, "timeout": 1})),
            ("bash", json!({"command": stubborn, "timeout": "1"})),
        ],
    );
    for done in dones {
        assert_eq!((&*done.outcome, &*done.summary), ("timedout", "timeout 1s"));
        assert!(done.content.contains("killed by timeout after 1 s"));
    }
    assert!(!place.workspace.join("lock").exists());
    place.wait_deserted();
}

#[test]
fn an_interrupt_ends_a_command_that_ignores_sigterm() {
    let place = Place::new();
    let command = "trap '' TERM INT; echo ready; while :; do sleep 300; done";
    place
        .provider
        .script([call("bash", json!({"command": command}))]);
    for (signal, status) in [("INT", 1), ("TERM", 143), ("HUP", 129)] {
        place
            .provider
            .script([call("bash", json!({"command": command}))]);
        let run = place.json(&["go"]).start();
        run.stdout.wait_for("ready");
        run.signal(signal);
        run.finish().ends_with(status);
        place.wait_deserted();
    }
}

/// What a result says about itself, such as the handle of a command.
fn field(result: &str, name: &str) -> String {
    let found = result.lines().find_map(|line| line.strip_prefix(name));
    found
        .unwrap_or_else(|| panic!("no {name:?} in {result:?}"))
        .to_string()
}

#[test]
fn a_background_command_ends_with_the_session() {
    let place = Place::new();
    let (step, gate) = gated();
    place.provider.script([
        call(
            "bash",
            json!({"command": "echo up; exec sleep 300", "background": true}),
        ),
        step,
    ]);
    let run = place.json(&["go"]).start();
    let started = place.provider.wait_requests(2)[1].results()[0].clone();
    let pid = field(&started, "pid: ").parse().expect("a process id");
    assert!(lives(&place, pid));
    drop(gate);
    let run = run.finish().ends_with(0);
    let handle = field(&started, "handle: ");
    assert_eq!(results(&run)[0].summary, format!("background {handle}"));
    place.wait_deserted();
}

#[test]
fn a_handle_tells_state_and_output_and_ends_the_command() {
    let place = Place::new();
    let start = |command: &str| call("bash", json!({"command": command, "background": true}));
    let ask = |extra: &'static str| {
        answer(move |request| {
            let mut newest = request.results().into_iter().rev();
            let started = newest.find(|text| text.contains("handle: "));
            let handle = field(&started.expect("a start"), "handle: ");
            let mut arguments = json!({"handle": handle});
            if !extra.is_empty() {
                arguments["signal"] = extra.into();
            }
            call("bash", arguments)
        })
    };
    place.provider.script([
        start("echo out; echo err >&2; touch up; exit 3"),
        call(
            "bash",
            json!({"command": "until [ -e up ]; do sleep 0.02; done; sleep 0.3"}),
        ),
        ask(""),
        start("echo working; exec sleep 300"),
        ask(""),
        ask("kill"),
        ask("kill"),
        call("bash", json!({"handle": "nonsense"})),
        say("done"),
    ]);
    let run = place.json(&["go"]).run().ends_with(0);
    let dones = results(&run);
    let ended = &dones[2];
    assert_eq!((&*ended.outcome, &*ended.summary), ("failed", "exit 3"));
    assert_eq!(ended.content, "out\nerr\n[exit status 3]");
    assert_eq!(dones[4].summary, "running");
    assert!(dones[4].completes().contains("[running with pid "));
    for killed in &dones[5..7] {
        assert_eq!(
            (&*killed.outcome, &*killed.summary),
            ("cancelled", "killed")
        );
        assert_eq!(killed.content, "working\n[killed]");
    }
    dones[7].fails("there is no background command `nonsense`");
}

#[test]
fn five_hundred_commands_leave_neither_zombie_nor_descriptor() {
    let place = Place::new();
    for _ in 0..10 {
        let mut step = call("bash", json!({"command": "(exit 0) & exit 0"}));
        for _ in 1..50 {
            step = step.and_call("bash", json!({"command": "(exit 0) & exit 0"}));
        }
        place.provider.script([step]);
    }
    let (step, gate) = gated();
    place.provider.script([step]);
    let run = place.json(&["go"]).start();
    place.provider.wait_requests(11);
    let pid = run.pid();
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors");
    assert!(open.count() < 40);
    let children = || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("its threads");
        let list = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children"));
        let lists: String = tasks.flatten().filter_map(|task| list(task).ok()).collect();
        lists.split_whitespace().count()
    };
    // The guard is the one that stays.
    until("all children are reaped", || children() <= 1);
    drop(gate);
    let run = run.finish().ends_with(0);
    let dones = results(&run);
    assert_eq!(dones.len(), 500);
    assert!(dones.iter().all(|done| done.summary == "done"));
    place.wait_deserted();
}
