//! Programs that meddle with the terminal while e has it, and stops and crashes at bad moments.

use std::time::Duration;

use serde_json::json;

use super::{open, open_with, ready, under_a_shell};
use crate::support::{Place, Pty, call, say};

/// The app with the name of its terminal in `T`, for commands that want to reach it.
fn named(place: &Place, columns: u16, rows: u16) -> Pty {
    let mut pty = Pty::open(columns, rows);
    let mut app = place.app(&[]);
    app.env("T", pty.name());
    pty.start(app);
    ready(&mut pty);
    pty
}

fn idle(pty: &mut Pty) {
    pty.wait("the end of the turn", |screen| {
        !screen.text().contains("Thinking")
    });
}

#[test]
fn a_command_that_resets_the_terminal_is_repaired() {
    let place = Place::new();
    let meddle = "printf '\\033[2J\\033[?2004lMED%s' DLED >$T; stty sane <$T";
    place.provider.script([
        call("bash", json!({"command": meddle})),
        say("Did it."),
        say("And on."),
    ]);
    let mut pty = named(&place, 80, 24);
    let raw = pty.line_modes();
    pty.send("go\r");
    pty.wait_for("  Did it.");
    idle(&mut pty);
    // The next frame takes the modes back, and ctrl+l paints what was wiped away.
    pty.send("a");
    pty.wait("raw mode", |_| true);
    pty.wait_for("┃ a");
    assert_eq!(pty.line_modes(), raw);
    assert!(
        pty.screen.modes().starts_with("paste keyboard"),
        "{}",
        pty.screen.modes()
    );
    pty.send("\x0c");
    pty.wait("a whole screen", |screen| {
        let text = screen.text();
        text.contains("  Did it.") && text.contains("┃ a") && !text.contains("MEDDLED")
    });
    pty.send("\x7f!");
    pty.send(&format!("{meddle}; echo done here\r"));
    pty.wait_for("  done here");
    pty.send("\x0c");
    pty.send("next\r");
    pty.wait_for("  And on.");
    assert_eq!(pty.line_modes(), raw);
    // What leaves no trace on the line is mended when the command has ended.
    let modes = pty.screen.modes();
    pty.send("!printf '\\033[?2004l\\033[?1003h\\033[?1000h\\033[?1006h' >$T; echo twice\r");
    pty.wait_for("  twice");
    pty.wait("the modes", |screen| screen.modes() == modes);
    pty.send("\x04");
    assert!(pty.wait_exit().success());
    assert_eq!(pty.screen.modes(), "");
    assert_eq!(pty.line_modes(), Pty::open(8, 8).line_modes());
}

#[test]
fn a_command_has_no_terminal_of_its_own() {
    let place = Place::new();
    let mut pty = named(&place, 80, 24);
    pty.send("!echo owned >/dev/tty; stty sane; tty; read -r line; echo \"read:$line:\"\r");
    pty.wait_for("  read::");
    pty.settle();
    let text = pty.screen.text();
    assert!(text.contains("not a tty"), "{text}");
    assert!(!text.contains("\nowned"), "{text}");
    assert_eq!(pty.screen.modes(), "paste keyboard title");
}

#[test]
fn an_editor_that_fails_costs_no_draft() {
    let place = Place::new();
    place.write(
        "bad.sh",
        "printf '\\033[?1049h\\033[?25l\\033[?1003hA MESS'; stty -echo raw; kill -9 $$\n",
    );
    place.write("binary.sh", "printf '\\377\\376' > \"$1\"\n");
    place.write("gone.sh", "rm \"$1\"\n");
    place.write("directory.sh", "rm \"$1\"; mkdir \"$1\"\n");
    let mut pty = open(&place, 80, 60);
    let modes = (pty.screen.modes(), pty.line_modes());
    pty.send("my draft");
    pty.wait_for("┃ my draft");
    for (round, (editor, words)) in [
        ("no-such-editor", "no-such-editor"),
        ("sh binary.sh", "not UTF-8"),
        ("sh gone.sh", "cannot be read"),
        ("sh directory.sh", "cannot be read"),
        ("sh bad.sh", "signal: 9"),
    ]
    .into_iter()
    .enumerate()
    {
        place.settings(json!({"editor": editor}));
        // The setting is read with the others.
        pty.send("\x15/reload\r");
        pty.wait("the reload", |screen| {
            screen.text().matches("were read again").count() > round
        });
        pty.send(&format!("my draft {round}"));
        pty.wait_for(&format!("┃ my draft {round}"));
        pty.send("\x07");
        pty.wait("the end of it", |screen| {
            let text = screen.text();
            let told = text.matches(words).count();
            told == 1 + usize::from(editor == "sh directory.sh")
        });
        pty.wait_for(&format!("┃ my draft {round}"));
        pty.settle();
        assert_eq!(pty.screen.modes(), modes.0, "{editor}");
        assert_eq!(pty.line_modes(), modes.1, "{editor}");
        pty.send("!");
        pty.wait_for(&format!("┃ my draft {round}!"));
    }
    pty.send("\x0c");
    pty.send("\x03\x03");
    pty.wait_exit();
    assert_eq!(pty.line_modes(), Pty::open(8, 8).line_modes());
}

#[test]
fn images_that_cannot_be_sent_are_told_of_or_stay_text() {
    let place = Place::new();
    let png = b"\x89PNG\r\n\x1a\n1234";
    std::fs::write(place.workspace.join("ok.png"), png).unwrap();
    let mut big = png.to_vec();
    big.resize(21 << 20, b'x');
    std::fs::write(place.workspace.join("big.png"), &big).unwrap();
    std::fs::write(place.workspace.join("text.png"), "no image").unwrap();
    std::fs::create_dir(place.workspace.join("dir.png")).unwrap();
    let mut pty = open(&place, 80, 30);
    for (path, why, count) in [
        ("big.png", "MiB", 1),
        ("text.png", "is not a PNG", 2),
        ("dir.png", "directory", 3),
        ("none.png", "", 3),
    ] {
        pty.send(&format!("\x1b[200~{path}\x1b[201~"));
        pty.wait_for(&format!("┃ {path}"));
        let text = pty.screen.text();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(why), "{text}");
        let told = text.matches("stays text").count();
        assert_eq!(told, count, "{text}");
        assert!(!pty.screen.text().contains("[Image"), "{path}");
        pty.send("\x15");
        pty.wait("an empty draft", |screen| {
            !screen.text().contains(&format!("┃ {path}"))
        });
    }
    // A model that takes none gets the path.
    pty.send("\x1b[200~ok.png\x1b[201~");
    pty.wait_for("[Image 1]");
    pty.send("\x03");
    pty.wait("no image", |screen| !screen.text().contains("[Image"));
    pty.send("/models mock/plain\r");
    pty.wait("another model", |screen| {
        screen.text().trim_end().ends_with("plain")
    });
    pty.send("\x1b[200~ok.png\x1b[201~");
    pty.wait_for("┃ ok.png");
    pty.send(" what is it?\r");
    pty.wait_for("  ok\n");
    assert_eq!(
        place.provider.received()[0].last_user(),
        "ok.png what is it?"
    );
    // Once, though the prompt that is sent begins with the same path.
    let text = pty.screen.text();
    assert_eq!(text.matches("takes no image input").count(), 1, "{text}");
}

#[test]
fn a_turn_survives_a_stop_the_background_and_a_stop_nobody_announced() {
    let place = Place::new();
    let (slow, finish) = say("Before the stop.").gate();
    place.provider.script([slow.text(" After it.")]);
    let script = "set -m; \"$0\" \"$@\"; echo; echo \"stopped once\"; read; bg %1; \
        read; jobs; echo \"behind\"; read; fg %1; echo; echo \"stopped twice\"; read; fg %1; echo \"gone: $?\"";
    let mut pty = Pty::open(80, 30);
    under_a_shell(&mut pty, &place, &["go"], script);
    let before = Pty::open(8, 8).line_modes();
    pty.wait_for("Before the stop.");
    pty.send("a draft");
    pty.wait_for("┃ a draft");
    pty.send("\x1a");
    pty.wait_for("stopped once");
    assert_eq!(pty.screen.modes(), "");
    assert_eq!(pty.line_modes(), before);
    // In the background it touches nothing and waits for the foreground.
    pty.send("\r");
    pty.wait_for("&");
    pty.send("\r");
    pty.wait_for("behind");
    pty.quiet(Duration::from_millis(50));
    assert_eq!(pty.screen.modes(), "");
    assert_eq!(pty.line_modes(), before);
    drop(finish);
    pty.send("\r");
    pty.wait_for("After it.");
    pty.wait_for("┃ a draft");
    idle(&mut pty);
    // kill -TSTP from elsewhere is the same as the key.
    let pid = place.processes().into_iter().find(|pid| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim() == "e"
    });
    let pid = pid.expect("e runs").to_string();
    let kill = |signal: &str| {
        let status = std::process::Command::new("kill")
            .args(["-s", signal, &pid])
            .status();
        assert!(status.unwrap().success());
    };
    kill("TSTP");
    pty.wait_for("stopped twice");
    assert_eq!(pty.line_modes(), before);
    pty.send("\r");
    pty.wait_for("┃ a draft");
    pty.send("!");
    pty.wait_for("┃ a draft!");
    pty.send("\x03\x03");
    pty.wait_for("gone: 0");
}

#[test]
fn what_was_said_is_there_after_a_kill_in_the_middle_of_a_turn() {
    let place = Place::new();
    place.provider.script([
        say("One."),
        say("Half of it").and_call("bash", json!({"command": "echo begun; exec sleep 600"})),
        say("Restored."),
    ]);
    let mut pty = open(&place, 80, 40);
    pty.send("first prompt\r");
    pty.wait_for("  One.");
    idle(&mut pty);
    pty.send("second prompt\r");
    pty.wait_for("│ begun");
    pty.send("a steer\r");
    pty.wait_for("1 message");
    pty.signal(libc::SIGKILL);
    pty.wait_exit();
    place.wait_deserted();
    let mut pty = open_with(&place, 80, 40, &["-c"]);
    pty.wait_for("Half of it");
    let text = pty.screen.text();
    for said in [
        "┃ first prompt",
        "  One.",
        "┃ second prompt",
        "echo begun",
        "Not reported: echo begun",
    ] {
        assert!(text.contains(said), "no {said:?} in\n{text}");
    }
    // What was submitted is in the history, the steer too.
    pty.send("\x1b[A");
    pty.wait_for("┃ a steer");
    pty.send("\x1b[A");
    pty.wait_for("┃ second prompt\n\n");
    pty.send("\x15go on\r");
    pty.wait_for("  Restored.");
    let body = place.provider.received()[2].body.to_string();
    assert!(
        body.contains("Half of it") && body.contains("go on"),
        "{body}"
    );
}
