//! Extensions at their worst. Whatever one does, the turn and the other extensions go on, memory is
//! bounded, and nothing is left running.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ends::after_manifest;
use super::{hooked, kit, tooled};
use crate::support::{Actor, Place, Rpc, Run, call, say, until};

/// More than e may take for anything that one extension does, in KiB: an idle debug build needs about
/// 15 MiB, a line of 10 MiB is held a few times over.
const MEMORY: u64 = 120 << 10;

/// A run of one turn with a hostile extension, a well-behaved one and calls of both.
struct Trial {
    run: Run,
    /// The result of the call of the hostile one.
    bad: Value,
}

impl Trial {
    /// The notices about the hostile extension.
    fn notices(&self) -> Vec<&str> {
        let lines = self.run.stderr.lines();
        lines
            .filter(|line| line.contains("extension bad.sh"))
            .collect()
    }

    #[track_caller]
    fn tells(&self, words: &str) -> &Self {
        let told = self.notices().iter().any(|line| line.contains(words));
        assert!(told, "no {words:?} in {}", self.run.stderr);
        self
    }

    #[track_caller]
    fn fails(&self, words: &str) -> &Self {
        assert_eq!(self.bad["outcome"], "failed", "{}", self.bad);
        let content = super::content(&self.bad);
        assert!(content.contains(words), "no {words:?} in {content}");
        self
    }

    #[track_caller]
    fn completes(&self) -> &Self {
        assert_eq!(
            self.bad["outcome"], "completed",
            "{} {}",
            self.bad, self.run.stderr
        );
        self
    }
}

/// Runs what has that name in the kit.
#[track_caller]
fn trial(name: &str) -> Trial {
    let script = kit::script(name);
    let place = Place::new();
    place.script("bad.sh", &script);
    let manifest =
        json!({"name": "good", "tools": [{"name": "good"}], "hooks": ["tool_call", "input"]});
    let good = Actor::new(&place, "good", manifest);
    let good = good
        .says("tool_call", json!({"content": "unharmed"}))
        .play();
    let (last, end) = say("done").gate();
    let calls = call("bad", json!({})).and_call("good", json!({}));
    place
        .provider
        .script([calls, call("bash", json!({"command": "echo alive"})), last]);
    let run = place.json(&["go"]).start();
    place.provider.wait_requests(3);
    let peak = peak(run.pid());
    drop(end);
    let run = run.finish().ends_with(0);
    let ends = run.events("tool_end");
    assert_eq!(ends.len(), 3, "{run:?}");
    let end = |id: u64| {
        ends.iter()
            .find(|end| end["id"] == id)
            .expect("a result")
            .clone()
    };
    assert_eq!(super::content(&end(2)), "unharmed");
    assert_eq!(super::content(&end(3)), "alive");
    assert_eq!(
        good.params("hook.tool_call").len(),
        2 + usize::from(good.params("hook.tool_call").len() == 3)
    );
    assert_eq!(good.params("hook.input").len(), 1);
    assert_eq!(run.result()["output"], "done");
    assert!(peak < MEMORY, "{peak} KiB");
    place.wait_deserted();
    Trial { bad: end(1), run }
}

/// The most memory that process ever held, in KiB.
fn peak(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a peak").parse().expect("a number")
}

#[test]
fn it_answers_twice_and_what_was_never_asked() {
    let answered = trial("answers twice and what was never asked");
    assert_eq!(super::content(&answered.completes().bad), "first");
    assert_eq!(answered.notices(), [""; 0]);
}

#[test]
fn it_writes_a_log_to_its_output() {
    let log = trial("writes a log to its output");
    assert_eq!(super::content(&log.completes().bad), "fine");
    let told = "extension bad.sh: what it prints is no message and was skipped: INFO starting";
    assert_eq!(log.notices(), [format!("warning: {told}")]);
}

#[test]
fn it_writes_a_line_without_an_end() {
    let endless = trial("writes a line without an end");
    endless.fails("exited").tells("more than 10 MiB");
}

#[test]
fn it_writes_what_is_no_text() {
    let odd = trial("writes what is no text");
    odd.completes().tells("not UTF-8");
    assert_eq!(super::content(&odd.bad), "nul \u{0} line \u{2028}");
    assert_eq!(odd.run.stderr.matches("not UTF-8").count(), 2);
}

#[test]
fn its_result_has_ten_mebibytes() {
    let big = trial("answers ten mebibytes");
    assert!(super::content(&big.completes().bad).len() < 40 << 10);
    let bigger = trial("answers more than ten mebibytes");
    bigger.fails("exited").tells("more than 10 MiB");
}

#[test]
fn its_answer_is_deep() {
    let deep = trial("answers deeply");
    assert_eq!(super::content(&deep.completes().bad), "fine");
}

#[test]
fn it_sends_notices_without_number() {
    trial("sends notices without number").completes();
}

#[test]
fn it_fills_standard_error() {
    let flood = trial("fills standard error");
    flood.completes();
    assert!(
        flood.run.stderr.len() < 40 << 20,
        "{}",
        flood.run.stderr.len()
    );
}

#[test]
fn it_asks_a_thousand_things_at_once() {
    let flood = trial("asks two thousand things at once");
    assert_eq!(super::content(&flood.completes().bad), "2000 answers");
}

#[test]
fn it_closes_its_input_and_lives_on() {
    let deaf = trial("closes its input and lives on");
    deaf.fails("exited").tells("standard input");
}

#[test]
fn it_closes_its_output_and_lives_on() {
    let mute = trial("closes its output and lives on");
    mute.fails("exited").tells("standard output");
}

#[test]
fn it_forks_and_exits() {
    let forked = trial("forks and exits");
    forked.fails("exited").tells("exited");
}

#[test]
fn it_escapes_its_group() {
    let escaped = trial("escapes its group and exits");
    escaped.fails("exited").tells("status 3");
    trial("escapes its group and answers").completes();
}

#[test]
fn it_ends_in_the_middle_of_a_line() {
    let cut = trial("ends in the middle of a line");
    cut.fails("exited").tells("exited");
    // A whole answer that lacks only its line end is one.
    let whole = trial("ends without a line end");
    assert_eq!(super::content(&whole.completes().bad), "whole");
}

#[test]
fn it_ignores_every_signal_and_every_word() {
    let stubborn = trial("ignores every signal and every word");
    stubborn.completes();
    assert!(
        stubborn.run.elapsed < Duration::from_secs(6),
        "{:?}",
        stubborn.run.elapsed
    );
}

#[test]
fn it_sends_escape_sequences_in_every_field() {
    let fields = trial("sends escape sequences in every field");
    fields.completes();
    assert!(
        !fields
            .run
            .stderr
            .contains(['\x1b', '\x07', '\u{9b}', '\u{202e}']),
        "{:?}",
        fields.run.stderr
    );
    assert_eq!(fields.bad["summary"], "summary");
    assert_eq!(fields.run.events("session_name")[0]["name"], "name");
}

#[test]
fn its_manifest_has_wrong_types_everywhere() {
    let wrong = json!([null, true, 7, "text", [], {}, [[]], [7], [null], [{}], [{"name": 7}], {"name": "x"}]);
    let good = json!({
        "name": "bad", "version": "1", "tools": [{"name": "bad"}], "commands": [{"name": "c"}],
        "flags": [{"name": "f"}], "hooks": ["input"], "renders": ["assistant"], "events": [],
        "shortcuts": [{"key": "ctrl+alt+g"}],
    });
    let place = Place::new();
    let mut manifests = Vec::new();
    for name in good.as_object().unwrap().keys() {
        for value in wrong.as_array().unwrap() {
            let mut manifest = good.clone();
            manifest[name] = value.clone();
            manifests.push(manifest);
        }
    }
    manifests.extend(wrong.as_array().unwrap().iter().cloned());
    let count = manifests.len();
    let mut next = manifests.into_iter();
    // Every start meets another one.
    let bad = Actor::new(&place, "bad", json!({}))
        .on("initialize", move |_| next.next().unwrap_or_default());
    let bad = bad.play();
    let good = tooled(&place, "good", "t").play();
    let starts = count.min(30);
    for _ in 0..starts {
        let help = place.e().args(["--help"]).run().ends_with(0);
        assert!(help.stdout.contains("usage"), "{help:?}");
    }
    place.p(&["go"]).run().ends_with(0);
    assert_eq!(
        (bad.pids().len(), good.pids().len()),
        (starts + 1, starts + 1)
    );
}

#[test]
fn it_claims_the_names_of_others() {
    let place = Place::new();
    let manifest = |name: &str| {
        json!({
            "name": name,
            "tools": [{"name": "mine"}, {"name": "not a name!"}, {"name": name}],
            "commands": [{"name": "do"}, {"name": "a/b"}],
            "flags": [{"name": "plan"}, {"name": "model"}],
        })
    };
    let first = Actor::new(&place, "1", manifest("same"))
        .says("tool_call", json!({"content": "the first"}))
        .play();
    let second = Actor::new(&place, "2", manifest("same")).play();
    place
        .provider
        .script([call("mine", json!({})), say("done")]);
    let run = place.p(&["--plan", "go"]).run().ends_with(0);
    assert_eq!(place.provider.received()[1].results(), ["the first"]);
    assert!(second.params("tool_call").is_empty());
    for words in [
        "`mine`",
        "`/do`",
        "`not a name!`",
        "`a/b`",
        "`model`",
        "named `same`",
    ] {
        assert!(run.stderr.contains(words), "no {words} in {}", run.stderr);
    }
    let flags = [json!({"flags": {"plan": true}})];
    assert_eq!(first.params("flags"), flags);
    assert_eq!(second.params("flags"), flags);
}

/// It reads nothing, and is told of calls whose arguments are megabytes.
#[test]
fn a_queue_that_is_full_for_five_seconds_retires_its_reader() {
    let place = Place::new();
    let manifest = json!({"name": "bad", "events": ["tool_end", "tool_start"], "hooks": []});
    place.script("bad.sh", &after_manifest(&manifest, "sleep 300"));
    let good = hooked(&place, "good", "tool_result").play();
    let text = "x".repeat(600_000);
    let steps = (0..10).map(|_| call("write", json!({"path": "a", "content": text})));
    let (last, end) = say("done").gate();
    place.provider.script(steps.chain([last]));
    let run = place.p(&["go"]).start();
    run.stderr.wait_for("bad.sh has not read");
    drop(end);
    let run = run.finish().ends_with(0);
    assert_eq!(run.stderr.matches("bad.sh").count(), 1, "{}", run.stderr);
    assert_eq!(good.params("hook.tool_result").len(), 10);
    place.wait_deserted();
}

#[test]
fn a_flood_does_not_hold_up_an_interrupt() {
    let place = Place::new();
    let flood = "yes '{\"method\":\"notify\",\"params\":{\"message\":\"x\"}}' &
        yes '{\"id\":1,\"method\":\"session.info\"}' &
        yes oops >&2 &
        wait";
    place.script("bad.sh", &after_manifest(&json!({"name": "bad"}), flood));
    let gate = hooked(&place, "gate", "tool_call")
        .holds("hook.tool_call")
        .play();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    place
        .provider
        .script([call("bash", json!({"command": "true"}))]);
    let prompt = rpc.begin(&session, "go");
    gate.wait("hook.tool_call");
    let start = Instant::now();
    rpc.call("session.interrupt", json!({"session": session}));
    let elapsed = start.elapsed();
    assert!(elapsed.as_millis() < 200 * super::SLOW, "{elapsed:?}");
    rpc.result(&prompt);
    let held = peak(rpc.process.pid());
    assert!(held < MEMORY, "{held} KiB");
    rpc.close();
    rpc.finish();
    until("nothing is left", || place.processes().is_empty());
}
