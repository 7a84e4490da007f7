//! From the shell to the first prompt.

use std::time::Duration;

use super::{open, open_with, ready};
use crate::support::{Place, Pty, until};

#[test]
fn a_mute_terminal_is_painted_where_the_cursor_was() {
    for (before, rows) in [
        ("", 12),
        ("$ e\r\n", 12),
        ("$ make\r\na\r\nb\r\n$ e\r\n", 6),
    ] {
        let place = Place::new();
        let mut pty = Pty::open(60, rows);
        pty.screen.feed(before.as_bytes());
        pty.screen.seen_mut().is_mute = true;
        pty.start(place.app(&[]));
        ready(&mut pty);
        pty.send("one\r");
        pty.wait_for("(↑100 ↓10)");
        let first: Vec<_> = before.lines().collect();
        let all = pty.screen.everything();
        assert_eq!(all[..first.len()], first);
        assert!(all[first.len()].starts_with("e "), "{all:#?}");
        assert_eq!(
            all.iter().filter(|row| row.contains("one")).count(),
            1,
            "{all:#?}"
        );
    }
}

#[test]
fn an_answer_that_comes_late_is_no_text_and_mends_the_place() {
    let place = Place::new();
    let mut pty = Pty::open(60, 12);
    pty.screen.feed(b"$ e");
    pty.screen.seen_mut().is_mute = true;
    pty.start(place.app(&[]));
    ready(&mut pty);
    // In pieces, and after the first frame.
    for piece in ["\x1b]11;rgb:ffff/ff", "ff/ffff\x1b", "\\\x1b", "[1;", "4R"] {
        pty.send(piece);
    }
    pty.screen.seen_mut().is_mute = false;
    // The light theme shows that the answers were taken.
    pty.wait("the light theme", |screen| {
        screen.runs(5).iter().any(|run| run.2 == "fg=25")
    });
    pty.resize(50, 12);
    pty.send("x");
    pty.wait_for("┃ x");
    let all = pty.screen.everything();
    assert_eq!(all.len(), 6, "{all:#?}");
    assert_eq!(all[0], "$ e");
    assert!(all[1].starts_with("e "), "{all:#?}");
}

#[test]
fn an_end_before_the_answer_leaves_no_answer_to_the_shell() {
    let place = Place::new();
    let mut pty = Pty::open(60, 12);
    pty.screen.seen_mut().is_mute = true;
    // The shell reads what is left on the terminal once e is gone.
    let mut shell = std::process::Command::new("bash");
    let e = place.app(&[]);
    shell.args([
        "-c",
        "\"$0\" \"$@\"; stty -icanon min 0 time 2; echo \"left:$(od -c | head -1):\"",
    ]);
    shell.arg(e.get_program()).args(e.get_args()).env_clear();
    shell.envs(
        e.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.current_dir(&place.workspace);
    pty.start(shell);
    ready(&mut pty);
    pty.send("\x04");
    pty.send("\x1b[1;1R");
    pty.wait_for("left:");
    pty.wait_for("left:0000000:");
}

#[test]
fn odd_terminals_get_what_they_can_show() {
    let place = Place::new();
    let colors = |term: &str, more: &[(&str, &str)]| {
        let mut pty = Pty::open(60, 12);
        let mut app = place.app(&[]);
        app.env("TERM", term).envs(more.iter().copied());
        pty.start(app);
        ready(&mut pty);
        (0..12)
            .flat_map(|row| pty.screen.runs(row))
            .map(|run| run.2)
            .collect::<Vec<_>>()
    };
    for (term, more, status) in [
        ("xterm-256color", &[][..], "fg=111"),
        ("tmux-256color", &[], "fg=111"),
        ("xterm-256color", &[("NO_COLOR", "1")], "none"),
        ("xterm-256color", &[("COLORFGBG", "0;15")], "fg=25"),
        ("linux", &[], "16"),
        ("screen", &[], "16"),
        ("vt100", &[], "16"),
    ] {
        let styles = colors(term, more);
        match status {
            "none" => assert!(
                styles.iter().all(|style| !style.contains("fg=")),
                "{styles:?}"
            ),
            "16" => {
                let index = |style: &str| style.split("fg=").nth(1)?.parse::<u32>().ok();
                let all = styles
                    .iter()
                    .filter_map(|style| index(style))
                    .all(|index| index < 16);
                assert!(all, "{term}: {styles:?}");
            }
            color => assert!(
                styles.iter().any(|style| style == color),
                "{term}: {styles:?}"
            ),
        }
    }
}

#[test]
fn a_dumb_terminal_is_refused_with_the_ways_that_work() {
    let place = Place::new();
    let mut pty = Pty::open(200, 12);
    let mut app = place.app(&[]);
    app.env("TERM", "dumb");
    pty.start(app);
    let status = pty.wait_exit();
    assert_eq!(status.code(), Some(2));
    assert!(
        pty.screen.text().contains("`e -p`"),
        "{}",
        pty.screen.text()
    );
    assert_eq!(pty.screen.modes(), "");
}

#[test]
fn trust_is_asked_once_and_quitting_records_nothing() {
    let place = Place::new();
    let trusted = place.read_home("trust.json");
    std::fs::remove_file(place.home.join("trust.json")).unwrap();
    let start = || {
        let mut pty = Pty::open(80, 24);
        pty.start(place.app(&[]));
        pty.wait_for("Trust this directory?");
        pty
    };
    // Quit is the last choice, and Esc and ctrl+c twice are other ways out.
    for keys in [&["\x1b[A", "\r"][..], &["\x1b"], &["\x03", "\x03"]] {
        let mut pty = start();
        for key in keys {
            pty.send(key);
        }
        pty.wait_exit();
        assert_eq!(pty.screen.modes(), "");
        assert!(!place.home.join("trust.json").exists());
    }
    // A sentence decides nothing, and is a draft.
    let mut pty = start();
    for key in "fix the bug\r".chars() {
        pty.send(&key.to_string());
        pty.quiet(Duration::from_millis(30));
    }
    pty.quiet(Duration::from_millis(350));
    assert!(pty.screen.text().contains("Trust this directory?"));
    assert!(!place.home.join("trust.json").exists());
    pty.send("\r");
    pty.wait("trust", |screen| {
        !screen.text().contains("Trust this directory?")
    });
    pty.wait_for("┃ fix the bug");
    until("trust is recorded", || {
        place.home.join("trust.json").exists()
    });
    assert_eq!(
        place.read_home("trust.json").lines().count(),
        trusted.lines().count()
    );
    open(&place, 80, 24);
}

#[test]
fn the_prompt_of_the_command_line_waits_for_trust() {
    let place = Place::new();
    std::fs::remove_file(place.home.join("trust.json")).unwrap();
    let mut pty = Pty::open(80, 24);
    pty.start(place.app(&["what is this"]));
    pty.wait_for("Trust this directory?");
    pty.quiet(Duration::from_millis(50));
    assert!(place.provider.received().is_empty());
    pty.send("\r");
    pty.wait_for("  ok");
    assert_eq!(place.provider.received()[0].last_user(), "what is this");
}

#[test]
fn broken_files_of_the_home_cost_one_notice_each() {
    let place = Place::new();
    for name in ["layout.json", "keybindings.json"] {
        place.write_home(name, "{\"x\": ");
    }
    place.settings(serde_json::json!({"theme": "mine"}));
    std::fs::create_dir(place.home.join("themes")).unwrap();
    place.write_home("themes/mine.json", "{\"x\": ");
    std::fs::create_dir(place.home.join("history")).unwrap();
    std::fs::create_dir(place.home.join("history.jsonl")).unwrap();
    let mut pty = open_with(&place, 100, 30, &[]);
    pty.send("hi\r");
    pty.wait_for("  ok");
    let text = pty.screen.text();
    for name in ["layout.json", "keybindings.json", "theme `mine`"] {
        let count = text.lines().filter(|line| line.contains(name)).count();
        assert_eq!(count, 1, "{name}\n{text}");
    }
    place.write_home("settings.json", "{\"x\": ");
    let mut pty = open_with(&place, 100, 30, &[]);
    pty.send("hi\r");
    pty.wait_for("  ok");
    let text = pty.screen.text();
    let rows: Vec<_> = text.lines().collect();
    assert!(rows[0].starts_with("e "), "the banner is first:\n{text}");
    assert_eq!(text.matches("settings.json").count(), 1, "{text}");
    for name in ["settings.json", "layout.json", "keybindings.json"] {
        assert_eq!(place.read_home(name), "{\"x\": ");
    }
}

#[test]
fn a_line_that_is_typed_while_e_starts_is_sent() {
    let place = Place::new();
    let mut pty = Pty::open(80, 24);
    pty.send("before all\r");
    pty.start(place.app(&[]));
    pty.wait_for("  ok");
    assert_eq!(place.provider.received()[0].last_user(), "before all");

    // The question that nobody has seen yet is not answered by it.
    std::fs::remove_file(place.home.join("trust.json")).unwrap();
    let mut pty = Pty::open(80, 24);
    pty.send("too early for trust\r");
    pty.start(place.app(&[]));
    pty.wait_for("Trust this directory?");
    pty.wait_for("┃ too early for trust");
    pty.quiet(Duration::from_secs(1));
    assert!(!place.home.join("trust.json").exists());
    pty.send("\r");
    ready(&mut pty);
    pty.send("\r");
    pty.wait_for("  ok");
    assert_eq!(
        place.provider.received()[1].last_user(),
        "too early for trust"
    );
}
