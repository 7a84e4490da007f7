//! What waits: messages for the running turn, lines behind a command, reads for the draft.

use serde_json::json;

use super::open;
use crate::support::{Place, say};

#[test]
fn waiting_messages_are_reviewed_edited_and_deleted() {
    let place = Place::new();
    let (slow, finish) = say("First").gate();
    place.provider.script([
        slow.and_call("bash", json!({"command": "true"})),
        say("Second"),
    ]);
    let mut pty = open(&place, 80, 24);
    pty.send("go\r");
    pty.wait_for("First");
    for (count, text) in (1..).zip(["one", "two", "three"]) {
        pty.send(text);
        pty.wait_for(&format!("┃ {text}"));
        pty.send("\r");
        pty.wait_for(&format!("{count} message"));
    }
    pty.send("\x1b[A");
    pty.wait_for("editing 3 of 3");
    pty.send("\x1b[A");
    pty.wait_for("editing 2 of 3");
    pty.send("!!");
    pty.wait_for("┃ two!!");
    pty.send("\r");
    pty.wait_for("↑ to review");
    pty.send("\x1b[A\x1b[A\x1b[A");
    pty.wait_for("editing 1 of 3");
    pty.send("\x15\x7f");
    pty.wait_for("editing 1 of 2");
    pty.send("\x1b[B\x1b[B");
    pty.wait_for("2 messages waiting · both steer · ↑ to review");
    drop(finish);
    pty.wait_for("  Second");
    assert_eq!(place.provider.received()[1].last_user(), "three");
    let text = pty.screen.text();
    assert!(
        text.contains("┃ two!!") && !text.contains("┃ one"),
        "{text}"
    );
}

#[test]
fn a_command_of_the_person_joins_the_history() {
    let place = Place::new();
    place.provider.script([say("I see.")]);
    let mut pty = open(&place, 80, 24);
    std::process::Command::new("mkfifo")
        .arg(place.workspace.join("gate"))
        .status()
        .unwrap();
    pty.send("!echo from-\"the\"-shell; read x < gate; exit 3\r");
    pty.wait_for("$ echo");
    pty.send("what was that?\r");
    pty.wait_for("1 message waiting");
    place.write("gate", "go\n");
    pty.wait_for("  I see.");
    assert!(pty.screen.text().contains("exit status 3"));
    let sent = place.provider.received()[0].body.to_string();
    assert!(
        sent.contains("$ echo from-") && sent.contains("from-the-shell"),
        "{sent}"
    );
    // Escape stops one, and what waits goes on.
    pty.send("!sleep 600\r");
    pty.wait_for("$ sleep 600");
    pty.send("!echo next-$((1+1))\r");
    pty.wait_for("1 message waiting");
    pty.send("\x1b");
    pty.wait_for("cancelled; the command was stopped");
    pty.wait_for("next-2");
}

#[test]
fn the_editor_has_the_terminal_to_itself() {
    let place = Place::new();
    let script = "#!/bin/sh\necho \"editing: $(cat \"$2\")\"; read line\nprintf '%s\\n\\n' \"$line\" >> \"$2\"\nexit ${line%%x*}\n";
    place.write("editor.sh", script);
    place.write_home("settings.json", r#"{"editor":"sh editor.sh --wait"}"#);
    let mut pty = open(&place, 80, 24);
    let modes = pty.screen.modes();
    pty.send("my draft ");
    pty.wait_for("┃ my draft");
    pty.send("\x07");
    pty.wait_for("editing: my draft");
    assert_eq!(pty.screen.modes(), "");
    pty.send("0x is better\n");
    pty.wait_for("┃ my draft 0x is better");
    assert_eq!(pty.screen.modes(), modes);
    pty.send("\x07");
    pty.wait_for("editing: my draft 0x");
    pty.send("7x\n");
    pty.wait_for("the draft stays as it was");
    pty.wait_for("┃ my draft 0x is better");
    let tmp = place.workspace.parent().unwrap().join("tmp");
    assert_eq!(std::fs::read_dir(tmp).unwrap().count(), 0);
    // One that runs when e has to end goes with it.
    pty.send("\x07");
    pty.wait_for("0x is better\n");
    pty.signal(libc::SIGTERM);
    assert_eq!(pty.wait_exit().code(), Some(143));
    assert_eq!(pty.screen.modes(), "");
    place.wait_deserted();
}

#[test]
fn images_come_from_the_clipboard_and_from_paths() {
    let place = Place::new();
    let png = b"\x89PNG\r\n\x1a\n1234";
    std::fs::write(place.workspace.join("a b.png"), png).unwrap();
    place.helper(
        "wl-paste",
        "case $* in *image*) cat \"$HOME/space/a b.png\";; esac",
    );
    place.provider.script([say("one"), say("two")]);
    let mut pty = open(&place, 80, 24);
    pty.send("\x16");
    pty.wait_for("[Image 1]");
    pty.send("\x1b[200~'a b.png'\x1b[201~");
    pty.wait_for("[Image 1] [Image 2]");
    pty.send("\r");
    pty.wait_for("┃ [Image 1] [Image 2] What does this image show?");
    pty.wait_for("s (↑100");
    pty.send("'a b.png' and this?\r");
    pty.wait_for("┃ [Image 1] and this?");
    pty.wait_for("  two");
    let sent = place.provider.received()[1].body.to_string();
    assert_eq!(sent.matches("data:image/png").count(), 3, "{sent}");
    // A command takes none.
    pty.send("\x16");
    pty.wait("an image", |screen| screen.text().contains("\n[Image 1]\n"));
    pty.send("!true\r");
    pty.wait_for("the images were left out");
}
