//! A run that was recorded can be played again.

use super::ready;
use crate::support::{Place, Pty, replay, say};

#[test]
fn a_recorded_run_is_played_again() {
    let place = Place::new();
    let record = place.root().join("run.jsonl");
    let script = || {
        (0..2).map(|round| {
            say(&format!(
                "Reply **{round}**, with `code`.\n\n- one\n- two\n"
            ))
        })
    };
    place.provider.script(script());
    let mut pty = Pty::open(60, 20);
    let mut app = place.app(&[]);
    app.env("E_TUI_RECORD", &record);
    pty.start(app);
    ready(&mut pty);
    pty.send("first A");
    pty.wait_for("first A");
    pty.send("\r");
    pty.wait_for("Reply 0");
    // The activity row has such figures before the turn has ended.
    pty.wait("the end", |screen| {
        let text = screen.text();
        text.contains("(↑100") && !text.contains("Thinking")
    });
    pty.resize(50, 15);
    pty.send("\x1b[200~two\nlines\x1b[201~");
    pty.wait_for("┃ lines");
    pty.send("\x1b[D\x17");
    pty.wait("one word less", |screen| screen.text().contains("┃ s"));
    pty.send("\x1b[13;3u!\r");
    pty.wait_for("Reply 1");
    pty.wait("the end", |screen| {
        screen.text().matches("(↑100").count() == 1 && !screen.text().contains("Thinking")
    });
    pty.quiet(std::time::Duration::from_millis(100));
    drop(pty);
    let again = Place::new();
    again.provider.script(script());
    let record = std::fs::read_to_string(record).unwrap();
    let (now, then) = replay(&record, again.app(&[]));
    assert_eq!(now.screen.rows().len(), then.rows().len());
    let sent = |place: &Place| {
        place
            .provider
            .received()
            .iter()
            .map(|one| one.last_user())
            .collect::<Vec<_>>()
    };
    assert_eq!(sent(&again), sent(&place));
}

#[test]
fn secrets_are_not_recorded() {
    let place = Place::new();
    let record = place.root().join("run.jsonl");
    let mut pty = Pty::open(80, 24);
    let mut app = place.app(&[]);
    app.env("E_TUI_RECORD", &record);
    pty.start(app);
    ready(&mut pty);
    pty.send("/login anthropic\r");
    pty.wait_for("API key");
    pty.send("\r");
    pty.quiet(std::time::Duration::from_millis(50));
    pty.send("qxzqxz");
    pty.wait_for("••••••");
    pty.send("\x1b[200~hunter2\x1b[201~");
    pty.wait_for("•••••••••••••");
    pty.send("\x03\x03");
    pty.wait_exit();
    let record = std::fs::read_to_string(record).unwrap();
    assert!(record.contains("secret"), "{record}");
    for secret in ["hunter2", "\"q\"", "\"x\"", "\"z\""] {
        assert!(!record.contains(secret), "{secret}: {record}");
    }
}
