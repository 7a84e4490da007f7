//! How extensions end: told, by themselves, badly; and what is said about it.

use serde_json::{Value, json};

use super::{hooked, tooled};
use crate::support::{Actor, Place, Rpc, call, gone, pid_in, say, until};

/// A shell extension that answers `initialize` with this manifest and then does this.
pub fn after_manifest(manifest: &Value, then: &str) -> String {
    format!("#!/bin/bash\nread -r line\necho '{{\"id\":1,\"result\":{manifest}}}'\n{then}\n")
}

/// Every notice on standard error that names the extension.
fn notices<'a>(stderr: &'a str, file: &str) -> Vec<&'a str> {
    let named = format!("extension {file}");
    stderr
        .lines()
        .filter(|line| line.contains(&named))
        .collect()
}

#[test]
fn at_the_end_it_is_told_and_has_time_to_tidy_up() {
    let place = Place::new();
    let tidied = place.root().join("tidied");
    let then = format!(
        "while read -r line; do [[ $line == *shutdown* ]] && break; done\nsleep 0.1\necho \"$line\" >'{}'",
        tidied.display()
    );
    place.script("a.sh", &after_manifest(&json!({"name": "a"}), &then));
    let run = place.p(&["go"]).run().ends_with(0);
    assert_eq!(
        std::fs::read_to_string(tidied).unwrap(),
        "{\"method\":\"shutdown\"}\n"
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn one_that_does_not_leave_is_killed_after_half_a_second() {
    let place = Place::new();
    let pid = place.root().join("pid");
    let then = format!(
        "trap '' TERM INT HUP\necho $BASHPID >'{}'\nwhile :; do sleep 60; done",
        pid.display()
    );
    place.script("a.sh", &after_manifest(&json!({"name": "a"}), &then));
    let run = place.p(&["go"]).run().ends_with(0);
    assert!(run.elapsed.as_secs_f64() < 3.0, "{:?}", run.elapsed);
    assert_eq!(run.stderr, "");
    gone(pid_in(&pid));
    place.wait_deserted();
}

#[test]
fn leaving_early_costs_no_grace() {
    let place = Place::new();
    for file in ["a", "b", "c"] {
        hooked(&place, file, "input").play();
    }
    let run = place.p(&["go"]).run().ends_with(0);
    place.wait_deserted();
    assert_eq!(run.stderr, "");
}

#[test]
fn a_crash_is_told_once_with_the_hooks_that_no_longer_apply() {
    let place = Place::new();
    let manifest =
        json!({"name": "x", "hooks": ["tool_call", "tool_result"], "tools": [{"name": "t"}]});
    let played = Actor::new(&place, "guard", manifest)
        .holds("tool_call")
        .play();
    let bash = || call("bash", json!({"command": "echo hi"}));
    place
        .provider
        .script([call("t", json!({})), bash(), bash(), say("done")]);
    let run = place.json(&["go"]).start();
    played.wait("tool_call");
    played.exit();
    let run = run.finish().ends_with(0);
    let notices = notices(&run.stderr, "guard");
    assert!(notices[0].contains("exited"), "{notices:#?}");
    assert!(
        notices[0].contains("tool_call") && notices[0].contains("tool_result"),
        "{notices:#?}"
    );
    assert_eq!(
        notices
            .iter()
            .filter(|line| line.contains("exited"))
            .count(),
        1,
        "{notices:#?}"
    );
    let outcomes: Vec<_> = run
        .events("tool_end")
        .into_iter()
        .map(|end| end["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["failed", "completed", "completed"]);
}

#[test]
fn an_exit_right_after_the_manifest_is_one_notice_too() {
    for (then, how) in [
        ("exit 0", "exited"),
        ("exit 7", "7"),
        ("kill -SEGV $$", "signal 11"),
    ] {
        let place = Place::new();
        let manifest = json!({"name": "a", "hooks": ["tool_call", "input"]});
        place.script("a.sh", &after_manifest(&manifest, then));
        place
            .provider
            .script([call("bash", json!({"command": "echo hi"})), say("done")]);
        let run = place.p(&["go"]).run().ends_with(0);
        let notices = notices(&run.stderr, "a.sh");
        let exits: Vec<_> = notices.iter().filter(|line| line.contains(how)).collect();
        assert_eq!(exits.len(), 1, "{then}: {notices:#?}");
        assert!(
            exits[0].contains("tool_call") && exits[0].contains("input"),
            "{notices:#?}"
        );
    }
}

#[test]
fn what_cannot_be_used_is_skipped_with_a_reason() {
    let place = Place::new();
    place.script("a.sh", "#!/no/such/interpreter\n");
    place.script("b.sh", "#!/bin/sh\nexit 4\n");
    place.script(
        "c.sh",
        "#!/bin/sh\nread -r line\necho '{\"id\":1,\"error\":\"no licence\"}'\ncat >/dev/null\n",
    );
    place.script("d.sh", "#!/bin/sh\nread -r line\necho '{\"id\":1,\"result\":{\"version\":\"1\"}}'\ncat >/dev/null\n");
    place.script("e.sh", "not a program");
    let good = tooled(&place, "f", "t")
        .says("tool_call", json!({"content": "fine"}))
        .play();
    place.provider.script([call("t", json!({})), say("done")]);
    let run = place.p(&["go"]).run().ends_with(0);
    for (file, reason) in [
        ("a.sh", "interpreter"),
        ("b.sh", "status 4"),
        ("c.sh", "no licence"),
        ("d.sh", "`name`"),
        ("e.sh", "skipped"),
    ] {
        let notices = notices(&run.stderr, file);
        let skipped: Vec<_> = notices
            .iter()
            .filter(|line| line.contains("skipped"))
            .collect();
        assert_eq!(skipped.len(), 1, "{}", run.stderr);
        assert!(skipped[0].contains(reason), "{skipped:?}");
    }
    assert_eq!(good.params("tool_call").len(), 1);
    place.wait_deserted();
}

#[test]
fn no_answer_to_initialize_within_five_seconds() {
    let place = Place::new();
    let silent = hooked(&place, "silent", "input").holds("initialize").play();
    let good = tooled(&place, "good", "t")
        .says("tool_call", json!({"content": "fine"}))
        .play();
    place.provider.script([call("t", json!({})), say("done")]);
    let run = place.p(&["go"]).run().ends_with(0);
    assert!(
        (5.0..8.0).contains(&run.elapsed.as_secs_f64()),
        "{:?}",
        run.elapsed
    );
    let notices = notices(&run.stderr, "silent");
    assert!(notices[0].contains("5 seconds"), "{notices:?}");
    assert_eq!(good.params("tool_call").len(), 1);
    gone(silent.pids()[0]);
}

#[test]
fn twenty_slow_starts_cost_one() {
    let place = Place::new();
    for number in 0..20 {
        let script = "#!/bin/bash\nread -r line\nsleep 0.5\necho '{\"id\":1,\"result\":{\"name\":\"slow\"}}'\nread -r line\n";
        place.script(&format!("{number}.sh"), script);
    }
    let run = place.p(&["go"]).run().ends_with(0);
    assert!(run.elapsed.as_secs_f64() < 5.0, "{:?}", run.elapsed);
}

#[test]
fn processes_of_an_extension_end_with_it() {
    let place = Place::new();
    let (child, stray) = (place.root().join("child"), place.root().join("stray"));
    let then = format!(
        "sleep 300 & echo $! >'{}'\nsetsid bash -c 'echo $$ >\"{}\"; exec sleep 300' </dev/null >/dev/null 2>&1 &\nuntil [ -s '{}' ]; do sleep 0.01; done\nread -r line",
        child.display(),
        stray.display(),
        stray.display(),
    );
    let files = [&child, &stray];
    let manifest = json!({"name": "a", "tools": [{"name": "t"}]});
    place.script("a.sh", &after_manifest(&manifest, &then));
    // It exits by itself when it is asked for something, in the middle of the session.
    let (last, go_on) = say("done").gate();
    place.provider.script([call("t", json!({})), last]);
    let mut run = place.p(&["go"]).start();
    for file in files {
        gone(pid_in(file));
    }
    assert!(run.is_running());
    drop(go_on);
    run.finish().ends_with(0);
    place.wait_deserted();
}

#[test]
fn after_a_kill_of_e_extensions_see_the_end_of_their_input() {
    let place = Place::new();
    let played = tooled(&place, "a", "t").play();
    let mut rpc = Rpc::start(&place, &[]);
    rpc.create(json!({}));
    let pid = played.pids()[0];
    rpc.process.signal("KILL");
    gone(pid);
    until("everything is gone", || place.processes().is_empty());
}

#[test]
fn diagnostics_are_notices_where_somebody_looks_and_never_output() {
    let place = Place::new();
    let then =
        "echo 'to stderr \x1b[31mred' >&2; echo >&2; head -c 300000 /dev/zero | tr '\\0' x >&2
        echo >&2; printf 'no end' >&2; exec 2>&-
        echo '{\"method\":\"notify\",\"params\":{\"message\":\"said\"}}'
        cat >/dev/null";
    place.script("a.sh", &after_manifest(&json!({"name": "a"}), then));
    let run = place.p(&["go"]).run().ends_with(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("ok\n", ""));

    let mut rpc = Rpc::start(&place, &[]);
    rpc.call("hello", json!({}));
    for expected in [
        "extension a.sh: to stderr red",
        "extension a.sh: … and 1 more line",
        "extension a.sh: no end",
        "said",
    ] {
        rpc.wait(|line| line["type"] == "notice" && line["message"] == expected);
    }
    rpc.close();
    rpc.finish();
}
