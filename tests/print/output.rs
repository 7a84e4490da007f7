//! What reaches standard output, whoever reads it and however slowly.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use serde_json::json;

use crate::support::{Place, Step, call, fails, gone, pid_in, say, until};

#[test]
fn the_text_is_passed_on_as_it_is() {
    let place = Place::new();
    let text = "# head\n\n**bold** `code`\t- zażółć 🦀\r\n  trailing  ";
    place.provider.script([say(text)]);
    let run = place.p(&["hi"]).run().ends_with(0);
    assert_eq!(run.stdout, format!("{text}\n"));
    assert_eq!(run.stderr, "");
}

#[test]
fn nothing_but_text_is_printed_in_a_turn_with_tools() {
    let place = Place::new();
    let command = json!({"command": "echo from-stdout; echo from-stderr >&2"});
    let steps = [
        call("bash", command).reasoning("hmm").text("One. "),
        say("Two."),
    ];
    place.provider.script(steps);
    let run = place.p(&["hi"]).run().ends_with(0);
    assert_eq!(run.stdout, "One. Two.\n");
    assert_eq!(run.stderr, "");
}

#[test]
fn warnings_and_errors_go_to_standard_error_without_colour() {
    let place = Place::new();
    place.settings(json!({"tool_concurrency": "many"}));
    place.provider.script([fails(400)]);
    let run = place.p(&["hi"]).run().ends_with(1);
    assert_eq!(run.stdout, "");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{run:?}");
    assert!(lines[0].starts_with("warning: ") && lines[0].contains("tool_concurrency"));
    assert!(lines[1].starts_with("error: ") && lines[1].contains("mock says no"));
    assert!(!run.stderr.contains('\x1b'));
}

#[test]
fn a_character_cut_by_the_network_prints_whole() {
    let place = Place::new();
    let frame = json!({"choices": [{"index": 0, "delta": {"content": "café 🦀 fin"}}]});
    let frame = format!("data: {frame}\n\n").into_bytes();
    let crab = frame.windows(4).position(|four| four == "🦀".as_bytes());
    let cut = crab.expect("the crab") + 2;
    let (step, gate) = Step::default().raw(&frame[..cut]).gate();
    place.provider.script([step.raw(&frame[cut..])]);
    let run = place.p(&["hi"]).start();
    place.provider.wait_requests(1);
    drop(gate);
    assert_eq!(run.finish().ends_with(0).stdout, "café 🦀 fin\n");
}

/// Two megabytes in deltas of a kilobyte.
fn two_megabytes() -> Step {
    let line = format!("{}\n", "0123456789abcde ".repeat(64));
    (0..2048).fold(Step::default(), |step, _| step.text(&line))
}

#[test]
fn a_slow_reader_gets_every_byte() {
    let place = Place::new();
    place.provider.script([two_megabytes(), two_megabytes()]);
    let turn = "$E -p --no-save -m $M hi";
    place.sh(&format!("{turn} > file")).run().ends_with(0);
    let expected = place.read("file");
    let script = format!("mkfifo gate; {turn} | {{ read go < gate; cat; }}");
    let run = place.sh(&script).start();
    place.provider.wait_requests(2);
    std::fs::write(place.workspace.join("gate"), "go\n").expect("a word through the gate");
    assert!(run.finish().ends_with(0).stdout == expected);
}

#[test]
fn a_slow_reader_gets_the_result_line_too() {
    let place = Place::new();
    place.provider.script([two_megabytes()]);
    let script = "mkfifo gate; $E -p --json --no-save -m $M hi | { read go < gate; cat; }";
    let run = place.sh(script).start();
    place.provider.wait_requests(1);
    std::fs::write(place.workspace.join("gate"), "go\n").expect("a word through the gate");
    let run = run.finish().ends_with(0);
    assert_eq!(
        run.result()["output"].as_str().map(str::len),
        Some(2048 * 1025)
    );
    assert_eq!(run.events("turn_end").len(), 1);
}

#[test]
fn what_is_printed_grows_no_faster_than_what_comes() {
    let place = Place::new();
    let mut printed = Vec::new();
    for size in [50_000, 100_000] {
        let arguments = json!({"path": "big.txt", "content": "x".repeat(size)}).to_string();
        let mut step = Step::default();
        for (index, piece) in arguments.as_bytes().chunks(5).enumerate() {
            let piece = std::str::from_utf8(piece).expect("ASCII");
            let mut call = json!({"index": 0, "function": {"arguments": piece}});
            if index == 0 {
                call["id"] = "call_1".into();
                call["type"] = "function".into();
                call["function"]["name"] = "write".into();
            }
            let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            step = step.raw(format!("data: {delta}\n\n"));
        }
        place
            .provider
            .script([step.finish("tool_calls"), say("done")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(place.read("big.txt").len(), size);
        printed.push(run.stdout.len());
        assert!(
            run.stdout.len() < 4 * size,
            "{} for {size}",
            run.stdout.len()
        );
    }
    assert!(printed[1] < 2 * printed[0], "{printed:?}");
}

#[test]
fn a_reader_that_wants_one_line_ends_the_turn() {
    let place = Place::new();
    let (step, _gate) = say("first\n").gate();
    place.provider.script([step.text("second\n")]);
    let script = "{ $E -p -m $M hi; echo $? > status; } | head -n 1";
    let run = place.sh(script).run().ends_with(0);
    assert_eq!(run.stdout, "first\n");
    until("e has ended", || place.workspace.join("status").exists());
    assert_eq!(place.read("status"), "141\n");
    assert_eq!(run.stderr, "");
    place.provider.wait_hangup();
}

#[test]
fn a_reader_that_left_is_noticed_while_nothing_is_written() {
    let place = Place::new();
    let command = json!({"command": "echo $$ > pid; trap '' TERM; while :; do sleep 1; done"});
    place.provider.script([call("bash", command)]);
    let script = "mkfifo gate; { $E -p -m $M hi; echo $? > status; } | { read go < gate; }";
    let run = place.sh(script).start();
    let pid = pid_in(&place.workspace.join("pid"));
    std::fs::write(place.workspace.join("gate"), "go\n").expect("a word through the gate");
    let run = run.finish().ends_with(0);
    assert_eq!(run.stderr, "");
    until("e has ended", || place.workspace.join("status").exists());
    gone(pid);
    assert_eq!(place.read("status"), "141\n");
}

#[test]
fn a_disk_that_is_full_is_an_error() {
    let place = Place::new();
    for form in ["", "--json"] {
        let run = place
            .sh(&format!("$E -p {form} -m $M hi > /dev/full"))
            .run();
        let run = run.ends_with(1);
        assert!(
            run.stderr.contains("error: standard output: no space left"),
            "{run:?}"
        );
    }
}

#[test]
fn closed_descriptors_hurt_nobody() {
    let place = Place::new();
    place.sh("$E -p -m $M hi >&-").run().ends_with(0);
    place.sh("$E -p -m $M hi <&- >&- 2>&-").run().ends_with(0);
    let run = place.sh("$E -p -m nobody/none hi 2>&-").run();
    assert_eq!(run.ends_with(2).stdout, "");
    let run = place.sh("$E -p -m $M hi 2>/dev/full").run().ends_with(0);
    assert_eq!(run.stdout, "ok\n");
}

#[test]
fn a_standard_error_that_nobody_reads_keeps_nobody_waiting() {
    let place = Place::new();
    place.settings(json!({"tool_concurrency": "many", "tool_label_rows": "many"}));
    place.provider.script([say("done")]);
    let path = place.root().join("stderr");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    let fifo = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&path);
    let mut fifo = fifo.expect("the pipe");
    while fifo.write(&[b'x'; 4096]).is_ok() {}
    let run = place
        .p(&["hi"])
        .after(&format!("exec 2>'{}'", path.display()));
    let run = run.run().ends_with(0);
    assert_eq!(run.stdout, "done\n");
}
