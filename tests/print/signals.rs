//! Signals: the turn ends in order, its processes end with it, its log is whole.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Place, Run, Running, Step, call, fails, gone, pid_in, say, until};

const SIGNALS: [(&str, i32); 3] = [("INT", 1), ("TERM", 143), ("HUP", 129)];

/// Starts a command that ignores SIGTERM and has children of all kinds, and gives their ids.
fn stubborn(place: &Place) -> Vec<i32> {
    let names = ["shell", "child", "stray", "orphan"];
    names
        .iter()
        .map(|name| pid_in(&place.workspace.join(name)))
        .collect()
}

fn stubborn_step() -> Step {
    let keeps = "trap '' TERM INT HUP; while :; do read never < hang; done";
    let command = format!(
        "trap '' TERM INT HUP; mkfifo hang; echo $$ > shell; \
         (sh -c 'echo $$ > child; {}' &) ; \
         setsid sh -c 'echo $$ > stray; {}' & \
         (setsid sh -c 'echo $$ > orphan; {}' > /dev/null 2>&1 &) ; \
         {keeps}",
        keeps.replace('\'', "\"\""),
        keeps.replace('\'', "\"\""),
        keeps.replace('\'', "\"\"")
    );
    call("bash", json!({"command": command})).text("Working. ")
}

/// Sends the signal and asserts an end in order within two seconds.
#[track_caller]
fn stops(run: Running, signal: &str, status: i32) -> Run {
    let sent = Instant::now();
    run.signal(signal);
    let run = run.finish().ends_with(status);
    assert!(sent.elapsed() < Duration::from_secs(2), "{signal}: {run:?}");
    if run.stdout.starts_with('{') {
        let result = run.result();
        assert_eq!(result["aborted"], true, "{signal}: {run:?}");
        assert_eq!(result["error"], Value::Null);
        assert_eq!(result["final_output"], "");
        assert_eq!(
            run.events("turn_end"),
            [json!({"type": "turn_end", "aborted": true})]
        );
    }
    assert!(run.stderr.contains("interrupted"), "{run:?}");
    run
}

/// Asserts that the log has whole records and an answer to every call.
#[track_caller]
fn log_is_whole(place: &Place) -> Vec<Value> {
    let logs = place.logs();
    assert_eq!(logs.len(), 1);
    let text = std::fs::read_to_string(&logs[0]).expect("the log");
    assert!(text.ends_with('\n'));
    let records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    let mut open = Vec::new();
    for record in &records {
        let message = &record["message"];
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            open.push(call["id"].clone());
        }
        open.retain(|id| *id != message["tool_call_id"]);
    }
    assert_eq!(open, [Value::Null; 0], "calls without a result");
    records
}

#[test]
fn a_running_command_and_all_it_started_ends_with_the_turn() {
    for (signal, status) in SIGNALS {
        let place = Place::new();
        place.provider.script([stubborn_step()]);
        let run = place.json(&["hi"]).start();
        let pids = stubborn(&place);
        let run = stops(run, signal, status);
        pids.into_iter().for_each(gone);
        assert_eq!(run.events("tool_end")[0]["outcome"], "cancelled");
        assert_eq!(run.result()["tools"], json!({"calls": 1, "failures": 1}));
        assert_eq!(run.result()["output"], "Working. ");
        let records = log_is_whole(&place);
        let last = records.last().expect("a record");
        assert_eq!(last["message"]["tool_meta"]["outcome"], "cancelled");
        assert_eq!(place.provider.received().len(), 1);
    }
}

#[test]
fn a_background_command_ends_with_the_process() {
    for (signal, status) in SIGNALS {
        let place = Place::new();
        let command = json!({"command": "echo $$ > shell; exec sleep 1000", "background": true});
        let (step, _gate) = say("waiting").gate();
        place.provider.script([call("bash", command), step]);
        let run = place.json(&["hi"]).start();
        run.stdout.wait_for("waiting");
        let pid = pid_in(&place.workspace.join("shell"));
        stops(run, signal, status);
        gone(pid);
    }
}

#[test]
fn a_background_command_ends_with_a_turn_that_completes() {
    let place = Place::new();
    let command = json!({"command": "echo $$ > shell; exec sleep 1000", "background": true});
    place.provider.script([call("bash", command)]);
    let run = place.p(&["hi"]).run().ends_with(0);
    assert!(run.elapsed < Duration::from_secs(3), "{run:?}");
    gone(pid_in(&place.workspace.join("shell")));
}

#[test]
fn a_reply_that_streams_is_cut_and_kept() {
    for (signal, status) in SIGNALS {
        let place = Place::new();
        let (step, _gate) = say("FIRST").gate();
        place.provider.script([step.text("SECOND")]);
        let run = place.json(&["hi"]).start();
        run.stdout.wait_for("FIRST");
        let run = stops(run, signal, status);
        assert_eq!(run.result()["output"], "FIRST");
        assert!(place.provider.wait_hangup() < Duration::from_secs(1));
        let records = log_is_whole(&place);
        assert_eq!(
            records.last().expect("a record")["message"]["content"],
            "FIRST"
        );
    }
}

#[test]
fn plain_output_ends_with_a_newline_and_names_the_log() {
    let place = Place::new();
    let (step, _gate) = say("FIRST").gate();
    place.provider.script([step]);
    let run = place.p(&["hi"]).start();
    run.stdout.wait_for("FIRST");
    let run = stops(run, "INT", 1);
    assert_eq!(run.stdout, "FIRST\n");
    let log = place.logs()[0].display().to_string();
    assert!(run.stderr.contains(&log), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}

#[test]
fn the_wait_for_an_answer_is_cut() {
    for (signal, status) in SIGNALS {
        let place = Place::new();
        let (step, _gate) = Step::default().gate();
        place.provider.script([step]);
        let run = place.json(&["hi"]).start();
        place.provider.wait_requests(1);
        stops(run, signal, status);
        place.provider.wait_hangup();
        log_is_whole(&place);
    }
}

#[test]
fn the_wait_for_a_retry_is_cut() {
    for (signal, status) in SIGNALS {
        let place = Place::new();
        place
            .provider
            .script([fails(503).header("retry-after", "30")]);
        let run = place.json(&["hi"]).start();
        run.stdout.wait_for("\"retry\"");
        stops(run, signal, status);
        assert_eq!(place.provider.received().len(), 1);
        log_is_whole(&place);
    }
}

#[test]
fn a_connection_that_never_comes_about_is_cut() {
    let place = Place::new();
    // A listener with a full queue: the system answers no further connection.
    let full = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = full.local_addr().expect("an address");
    let models = std::fs::read_to_string(place.home.join("models.json")).expect("models");
    place.write_home(
        "models.json",
        &models.replace(place.provider.url(), &format!("http://{address}")),
    );
    let run = place.json(&["hi"]).start();
    run.stdout.wait_for("turn_start");
    stops(run, "INT", 1);
    log_is_whole(&place);
}

#[test]
fn an_ignored_interrupt_is_obeyed_and_an_ignored_hangup_is_not() {
    let place = Place::new();
    let (first, _gate) = say("FIRST").gate();
    let (second, gate) = say("FIRST").gate();
    place.provider.script([first, second]);
    let run = place.sh("trap '' INT; exec $E -p -m $M hi").start();
    run.stdout.wait_for("FIRST");
    stops(run, "INT", 1);
    let run = place.sh("trap '' HUP; exec $E -p -m $M hi").start();
    run.stdout.wait_for("FIRST");
    run.signal("HUP");
    drop(gate);
    assert_eq!(run.finish().ends_with(0).stdout, "FIRST\n");
}

#[test]
fn a_second_interrupt_ends_a_turn_that_winds_down() {
    let place = Place::new();
    place.provider.script([stubborn_step()]);
    let run = place.json(&["hi"]).start();
    let pids = stubborn(&place);
    run.signal("INT");
    run.signal("INT");
    let run = run.finish().ends_with(1);
    assert_eq!(run.result()["aborted"], true);
    pids.into_iter().for_each(gone);
    log_is_whole(&place);
}

#[test]
fn the_result_waits_for_a_slow_reader_after_a_signal() {
    let place = Place::new();
    let (step, _gate) = say("FIRST").gate();
    place.provider.script([step]);
    let turn = "sh -c 'echo $$ > pid; exec $E -p --json -m $M hi'";
    let script = format!("mkfifo gate; {turn} | {{ read go < gate; cat; }}");
    let run = place.sh(&script).start();
    place.provider.wait_requests(1);
    let pid = pid_in(&place.workspace.join("pid"));
    place.sh(&format!("kill -s INT {pid}")).run().ends_with(0);
    gone(pid);
    std::fs::write(place.workspace.join("gate"), "go\n").expect("a word through the gate");
    let run = run.finish();
    assert_eq!(run.result()["aborted"], true);
}

#[test]
fn a_reader_that_reads_nothing_holds_up_no_signal() {
    for (signal, status) in SIGNALS {
        let place = Place::new();
        // More than a pipe holds.
        place.provider.script([say(&"x".repeat(300_000))]);
        let turn = "sh -c 'echo $$ > pid; exec $E -p --json -m $M hi'";
        let script = format!(
            "mkfifo gate; {{ {turn}; echo $? > status; echo go > gate; }} | {{ read go < gate; }}"
        );
        let run = place.sh(&script).start();
        let pid = pid_in(&place.workspace.join("pid"));
        // The last record of the log tells that the reply is complete.
        until("the reply is logged", || {
            let log = place.logs().pop().map(std::fs::read_to_string);
            log.is_some_and(|text| text.is_ok_and(|text| text.lines().count() == 3))
        });
        let sent = Instant::now();
        place
            .sh(&format!("kill -s {signal} {pid}"))
            .run()
            .ends_with(0);
        gone(pid);
        assert!(sent.elapsed() < Duration::from_secs(2), "{signal}");
        run.finish();
        assert_eq!(place.read("status"), format!("{status}\n"));
    }
}
