//! However e ends or stops, the terminal is what it was and nothing is left.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{open, ready, under_a_shell};
use crate::support::{Place, Pty, call, say};

/// The app with a command running.
fn busy(place: &Place) -> Pty {
    place
        .provider
        .script([call("bash", json!({"command": "sleep 600"}))]);
    let mut pty = Pty::open(80, 24);
    let before = pty.line_modes();
    pty.start(place.app(&["go"]));
    pty.wait_for("Running sleep");
    assert_ne!(pty.line_modes(), before);
    pty
}

#[test]
fn signals_restore_the_terminal() {
    for (signal, status) in [
        (libc::SIGTERM, 143),
        (libc::SIGHUP, 129),
        (libc::SIGQUIT, 131),
        (libc::SIGABRT, 134),
        (libc::SIGSEGV, 139),
        (libc::SIGUSR1, 128 + libc::SIGUSR1),
        (libc::SIGALRM, 142),
    ] {
        let place = Place::new();
        let mut pty = busy(&place);
        pty.signal(signal);
        let ended = pty.wait_exit();
        use std::os::unix::process::ExitStatusExt;
        let code = ended.code().or(ended.signal().map(|signal| 128 + signal));
        assert_eq!(code, Some(status));
        assert_eq!(pty.screen.modes(), "");
        assert_eq!(pty.line_modes(), Pty::open(8, 8).line_modes());
        assert_eq!(pty.screen.seen().title, "");
        place.wait_deserted();
    }
}

/// Of the signals that end a process by themselves, none does so without giving the terminal back.
#[test]
#[cfg(target_os = "linux")]
fn no_signal_ends_e_unnoticed() {
    let place = Place::new();
    let mut pty = open(&place, 80, 24);
    let status = std::fs::read_to_string(format!("/proc/{}/status", pty.pid())).unwrap();
    let mask = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()
    };
    let taken = mask("SigCgt:") | mask("SigIgn:");
    // What stops, what is ignored by itself, what nobody can take, and what the C library keeps.
    let others = [
        libc::SIGKILL,
        libc::SIGSTOP,
        libc::SIGTTIN,
        libc::SIGTTOU,
        libc::SIGURG,
        libc::SIGCHLD,
        32,
        33,
    ];
    for signal in (1..=64).filter(|signal| !others.contains(signal)) {
        assert_ne!(taken & 1 << (signal - 1), 0, "signal {signal}");
    }
    pty.signal(libc::SIGRTMIN());
    pty.wait_exit();
    assert_eq!(pty.line_modes(), Pty::open(8, 8).line_modes());
}

#[test]
fn every_way_to_quit_leaves_the_conversation_and_a_clean_terminal() {
    for keys in ["/quit\r", "\x04", "\x03\x03"] {
        let place = Place::new();
        let mut pty = open(&place, 80, 24);
        pty.send("hello\r");
        pty.wait_for("  ok");
        pty.send(keys);
        assert_eq!(pty.wait_exit().code(), Some(0), "{keys:?}");
        let text = pty.screen.text();
        assert!(text.contains("┃ hello") && text.contains("  ok"), "{text}");
        assert!(!text.contains("test / high"), "{text}");
        assert_eq!(pty.screen.modes(), "");
        assert_eq!(pty.line_modes(), Pty::open(8, 8).line_modes());
        assert_eq!(pty.screen.seen().strange, Vec::<String>::new());
        // The shell's prompt comes below, at the start of a row.
        let rows = pty.screen.text().lines().count();
        assert_eq!(pty.screen.cursor().map(|at| at.1), Some(0));
        assert!(
            usize::from(pty.screen.cursor().unwrap().0) >= rows,
            "{text}"
        );
    }
}

#[test]
fn full_screen_mode_leaves_the_end_of_the_conversation() {
    leaves_the_end(false, "");
    // A terminal that does not tell where its cursor is, or too late.
    leaves_the_end(true, "");
    leaves_the_end(true, "\x1b[3;4R");
}

#[track_caller]
fn leaves_the_end(is_mute: bool, late: &str) {
    let place = Place::new();
    place.settings(json!({"tui_mode": "fullscreen"}));
    let lines: Vec<String> = (0..60).map(|line| format!("row {line}.")).collect();
    place
        .provider
        .script([say(&lines.join("\n\n")), say("short")]);
    let mut pty = Pty::open(80, 24);
    pty.screen.feed(b"$ ls\r\na b c\r\n$ e");
    pty.screen.seen_mut().is_mute = is_mute;
    pty.start(place.app(&[]));
    ready(&mut pty);
    pty.send(late);
    pty.send("go\r");
    pty.wait_for("row 59.");
    pty.wait_for("(↑100");
    pty.send("again\r");
    pty.wait_for("  short");
    pty.send("\x04");
    assert_eq!(pty.wait_exit().code(), Some(0));
    assert_eq!(pty.screen.modes(), "");
    let all = pty.screen.everything();
    assert_eq!(all[..3], ["$ ls", "a b c", "$ e"]);
    assert!(all.iter().any(|row| row == "┃ again"), "{all:#?}");
    assert!(all.iter().any(|row| row == "  short"), "{all:#?}");
    assert!(
        all.len() < 40 && !all.contains(&"  row 3.".to_owned()),
        "{all:#?}"
    );
    assert!(
        !all.iter().any(|row| row.contains("test / high")),
        "{all:#?}"
    );
    assert_eq!(pty.screen.cursor().map(|at| at.1), Some(0));
}

#[test]
fn an_end_in_the_first_moments_restores_the_terminal() {
    for delay in 0..8 {
        let place = Place::new();
        let mut pty = Pty::open(80, 24);
        pty.start(place.app(&[]));
        // Some bytes are enough: it is anywhere in its start.
        pty.quiet(Duration::from_millis(delay * 3));
        pty.signal(libc::SIGTERM);
        pty.wait_exit();
        assert_eq!(
            pty.screen.modes(),
            "",
            "after {delay}: {}",
            pty.bytes.escape_ascii()
        );
        assert_eq!(pty.line_modes(), Pty::open(8, 8).line_modes());
    }
}

#[test]
fn a_closed_terminal_ends_everything_soon() {
    let place = Place::new();
    let mut pty = busy(&place);
    let mut child = pty.child.take().unwrap();
    let start = Instant::now();
    pty.close();
    child.wait().unwrap();
    place.wait_deserted();
    // A tenth of a second where nothing else runs; in a crowd it takes what the crowd leaves.
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_stop_is_a_pause() {
    let place = Place::new();
    let mut pty = Pty::open(80, 24);
    let before = pty.line_modes();
    let script = "set -m; \"$0\" \"$@\"; echo; echo \"stopped here\"; read; fg; echo \"gone: $?\"";
    under_a_shell(&mut pty, &place, &[], script);
    ready(&mut pty);
    pty.send("a draft");
    pty.wait_for("a draft");
    pty.send("\x1a");
    pty.wait_for("stopped here");
    assert_eq!(pty.screen.modes(), "");
    assert_eq!(pty.line_modes(), before);
    pty.resize(70, 20);
    pty.send("\r");
    pty.wait_for("┃ a draft");
    pty.send("!");
    pty.wait_for("┃ a draft!");
    pty.send("\x03\x03");
    pty.wait_for("gone: 0");
}

#[test]
fn a_kill_leaves_a_terminal_that_reset_mends_and_no_process() {
    let place = Place::new();
    let mut pty = busy(&place);
    pty.signal(libc::SIGKILL);
    pty.wait_exit();
    place.wait_deserted();
    // Nothing is on that would keep the shell from being read or from being typed into.
    assert!(!pty.screen.is_alternate());
    assert!(
        !pty.screen.modes().contains("mouse"),
        "{}",
        pty.screen.modes()
    );
}
