//! A conversation: replies as they come, tools as they run, and what is typed meanwhile.

use serde_json::json;

use super::open;
use crate::support::{Place, Screen, call, say};

fn is_idle(screen: &Screen) -> bool {
    !screen.text().contains("Thinking")
}

#[test]
fn a_turn_with_tools_is_seen_as_it_runs() {
    let place = Place::new();
    let script = "echo one; echo two; read line < gate; echo three";
    let (answer, finish) = say("Done: ").gate();
    place.provider.script([
        say("Let me look.").and_call("bash", json!({"command": script})),
        answer.text("**all** three."),
    ]);
    std::process::Command::new("mkfifo")
        .arg(place.workspace.join("gate"))
        .status()
        .unwrap();
    let mut pty = open(&place, 80, 24);
    pty.send("go\r");
    pty.wait_for("Running echo one");
    pty.wait_for("│ two");
    place.write("gate", "go\n");
    pty.wait_for("  Done:");
    let text = pty.screen.text();
    assert!(
        text.contains("├ Ran echo one") || text.contains("Ran echo one"),
        "{text}"
    );
    assert!(!text.contains("│ two"), "the preview is gone:\n{text}");
    drop(finish);
    pty.wait_for("Done: all three.");
    pty.wait("the end", is_idle);
    assert!(place.provider.received()[1].results()[0].contains("three"));
}

#[test]
fn a_prompt_during_a_turn_steers_it() {
    let place = Place::new();
    let (slow, finish) = say("First").gate();
    place.provider.script([
        slow.and_call("bash", json!({"command": "true"})),
        say("Second"),
    ]);
    let mut pty = open(&place, 80, 24);
    pty.send("go\r");
    pty.wait_for("First");
    pty.send("and the tests\r");
    pty.wait_for("1 message");
    drop(finish);
    pty.wait_for("  Second");
    let received = place.provider.received();
    assert_eq!(received[1].last_user(), "and the tests");
    let text = pty.screen.text();
    assert!(text.contains("┃ and the tests"), "{text}");
    assert!(!text.contains("waiting"), "{text}");
}

#[test]
fn escape_interrupts_and_the_next_prompt_works() {
    let place = Place::new();
    let (slow, _never) = say("Half an answer").gate();
    place.provider.script([slow, say("whole")]);
    let mut pty = open(&place, 80, 24);
    pty.send("go\r");
    pty.wait_for("Half an answer");
    pty.send("\x1b");
    pty.wait_for("● System:");
    pty.wait("the end", is_idle);
    pty.send("again\r");
    pty.wait_for("  whole");
    assert!(pty.screen.text().contains("Half an answer"));
}

#[test]
fn control_c_stops_a_command_and_a_second_one_ends() {
    let place = Place::new();
    place.provider.script([call(
        "bash",
        json!({"command": "echo $$ > pid; exec sleep 600"}),
    )]);
    let mut pty = open(&place, 80, 24);
    pty.send("go\r");
    pty.wait_for("Running");
    let pid = crate::support::pid_in(&place.workspace.join("pid"));
    pty.send("unsent");
    pty.wait_for("unsent");
    pty.send("\x03");
    pty.wait_for("again to quit");
    assert!(!pty.screen.text().contains("unsent"));
    crate::support::gone(pid);
    pty.send("\x03");
    assert_eq!(pty.wait_exit().code(), Some(0));
    assert_eq!(pty.screen.modes(), "");
    place.wait_deserted();
}

#[test]
fn a_retry_counts_down_and_recovers() {
    let place = Place::new();
    place
        .provider
        .script([crate::support::fails(503), say("there")]);
    let mut pty = open(&place, 80, 24);
    pty.send("go\r");
    pty.wait_for("esc");
    pty.wait_for("  there");
}

#[test]
fn keys_are_echoed_while_a_reply_streams() {
    let place = Place::new();
    let (mut slow, finish) = say("").gate();
    for line in 0..300 {
        slow = slow.text(&format!("line {line}\n\n"));
    }
    place.provider.script([slow]);
    let mut pty = open(&place, 80, 24);
    pty.send("go\r");
    pty.wait_for("Thinking");
    drop(finish);
    for letter in "typed".chars() {
        pty.send(&letter.to_string());
    }
    pty.wait_for("┃ typed");
    pty.wait_for("line 299");
    pty.wait("the end", is_idle);
    let all = pty.everything();
    for line in 0..300 {
        let wanted = format!("  line {line}");
        assert_eq!(
            all.iter().filter(|row| **row == wanted).count(),
            1,
            "{wanted}: {all:#?}"
        );
    }
}
