//! Standard input: the prompt, or context for it, and never a reason to hang.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use crate::support::Place;

#[track_caller]
fn asked(place: &Place) -> String {
    place.provider.received()[0].last_user()
}

#[test]
fn without_an_argument_it_is_the_prompt() {
    let place = Place::new();
    place.p(&[]).stdin("from the\npipe\n").run().ends_with(0);
    assert_eq!(asked(&place).trim_end(), "from the\npipe");
}

#[test]
fn with_an_argument_it_is_context_after_a_blank_line() {
    let place = Place::new();
    let script = "printf 'diff --git a b\\n+x\\n' | $E -p -m $M 'review this diff'";
    place.sh(script).run().ends_with(0);
    let text = asked(&place);
    assert_eq!(text.trim_end(), "review this diff\n\ndiff --git a b\n+x");
}

#[test]
fn a_file_counts_like_a_pipe() {
    let place = Place::new();
    place.write("notes", "remember");
    place.sh("$E -p -m $M < notes").run().ends_with(0);
    place.sh("$E -p -m $M sum up < notes").run().ends_with(0);
    let received = place.provider.received();
    assert_eq!(received[0].last_user(), "remember");
    assert_eq!(received[1].last_user(), "sum up\n\nremember");
}

#[test]
fn nothing_is_added_by_what_holds_nothing() {
    let place = Place::new();
    place.write("empty", "");
    place.write("blank", " \n\n");
    for from in ["< /dev/null", "<&-", "< empty", "< blank"] {
        place
            .sh(&format!("$E -p -m $M hi {from}"))
            .run()
            .ends_with(0);
        let last = place.provider.received().pop().expect("a request");
        assert_eq!(last.last_user(), "hi", "{from}");
        let run = place.sh(&format!("$E -p -m $M {from}")).run().ends_with(2);
        assert!(run.stderr.contains("needs a prompt"), "{from} {run:?}");
    }
    place.sh("true | $E -p -m $M hi").run().ends_with(0);
    place.sh("true | $E -p -m $M").run().ends_with(2);
}

#[test]
fn a_terminal_adds_nothing_and_is_not_read() {
    let place = Place::new();
    if std::process::Command::new("script")
        .arg("--version")
        .output()
        .is_err()
    {
        return println!("skipped: `script` is not installed");
    }
    // `script` gives the command a terminal of its own; nobody types there.
    let command = "$E -p -m $M hi > out 2> err";
    place
        .sh(&format!("script -qec '{command}' /dev/null"))
        .run()
        .ends_with(0);
    assert_eq!(place.read("out"), "ok\n");
    assert_eq!(asked(&place), "hi");
}

#[test]
fn a_prompt_of_any_size_arrives_byte_for_byte() {
    let place = Place::new();
    let mut big = String::with_capacity(5 << 20);
    for line in 0.. {
        big.push_str(&format!(
            "{line} \"quoted\" \\ tab\t zażółć 🦀 \u{2028}\r\n"
        ));
        if big.len() > 5 << 20 {
            break;
        }
    }
    place.p(&[]).stdin(big.clone()).run().ends_with(0);
    assert!(asked(&place) == big, "the prompt was changed on its way");
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_offset() {
    let place = Place::new();
    for args in [&[][..], &["look at this"]] {
        let run = place.p(args).stdin(*b"good\xff\xfebad").run().ends_with(2);
        assert!(run.stderr.contains("not UTF-8 at byte 4"), "{run:?}");
        let json = place.json(args).stdin(*b"\xe2\x82").run().ends_with(2);
        let error = json.result()["error"].to_string();
        assert!(error.contains("not UTF-8 at byte 0"), "{error}");
    }
    assert_eq!(place.provider.received().len(), 0);
}

#[test]
fn a_slow_pipeline_loses_nothing() {
    let place = Place::new();
    let script = "mkfifo one two; { read go < one; printf late; read go < two; printf ' and later'; } | $E -p -m $M review";
    let run = place.sh(script).start();
    run.stderr.wait_for("waiting for standard input");
    for gate in ["one", "two"] {
        std::fs::write(place.workspace.join(gate), "go\n").expect("a word through the gate");
    }
    run.finish().ends_with(0);
    assert_eq!(asked(&place), "review\n\nlate and later");
}

#[test]
fn what_its_owner_forgot_to_close_keeps_nobody_waiting() {
    // All three wait at the same time.
    let [with_argument, without, on_socket] = [(); 3].map(|()| Place::new());
    let (_ours, theirs) = UnixStream::pair().expect("sockets");
    let pipe = |place: &Place, args: &[&str]| place.p(args).stdin_from(Stdio::piped()).start();
    let argued = pipe(&with_argument, &["hi"]);
    let empty = pipe(&without, &[]);
    let talked = on_socket.p(&["hi"]);
    let talked = talked.stdin_from(OwnedFd::from(theirs)).start();
    for (place, run) in [(&with_argument, argued), (&on_socket, talked)] {
        let run = run.finish().ends_with(0);
        assert!(
            run.stderr.contains("standard input stayed silent"),
            "{run:?}"
        );
        assert_eq!(asked(place), "hi");
    }
    let run = empty.finish().ends_with(2);
    assert!(run.stderr.contains("needs a prompt"), "{run:?}");
}

#[test]
fn a_socket_that_talks_is_read() {
    let place = Place::new();
    let (mut ours, theirs) = UnixStream::pair().expect("sockets");
    std::io::Write::write_all(&mut ours, b"by socket").expect("written");
    drop(ours);
    let run = place.p(&["hi"]).stdin_from(OwnedFd::from(theirs));
    run.run().ends_with(0);
    assert_eq!(asked(&place), "hi\n\nby socket");
}

#[test]
fn the_time_limit_bounds_the_wait_for_it() {
    let place = Place::new();
    let turn = "$E -p -j -m $M --max-seconds 1 hi > out; echo $? > status; echo go > gate";
    let run = place
        .sh(&format!(
            "mkfifo gate; {{ read go < gate; }} | {{ {turn}; }}"
        ))
        .run();
    assert!(run.stderr.contains("--max-seconds"), "{run:?}");
    assert_eq!(place.read("status"), "1\n");
    let result: serde_json::Value = serde_json::from_str(&place.read("out")).expect("a result");
    assert_eq!(result["aborted"], true);
    assert!(
        result["error"]
            .as_str()
            .expect("an error")
            .contains("--max-seconds")
    );
    assert_eq!(place.provider.received().len(), 0);
}

#[test]
fn signals_end_the_wait_for_it() {
    for (signal, status) in [("INT", 1), ("TERM", 143), ("HUP", 129)] {
        let place = Place::new();
        let run = place.json(&["hi"]).stdin_from(Stdio::piped()).start();
        // The handlers are in place once e looks at standard input.
        crate::support::until("e waits for input", || {
            let threads = std::fs::read_dir(format!("/proc/{}/task", run.pid()));
            threads.into_iter().flatten().flatten().any(|thread| {
                std::fs::read_to_string(thread.path().join("comm"))
                    .is_ok_and(|name| name.trim() == "e-stdin")
            })
        });
        run.signal(signal);
        let run = run.finish().ends_with(status);
        let result = run.result();
        assert_eq!(result["aborted"], true, "{signal} {run:?}");
        assert_eq!(run.lines().len(), 1);
        assert_eq!(place.provider.received().len(), 0);
    }
}
