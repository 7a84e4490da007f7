//! Sessions from the keyboard: what was said is there again, and goes to the model again.

use super::{open, open_with, ready};
use crate::support::{Place, Pty, say};

/// Says a line and waits for the answer.
fn say_line(pty: &mut Pty, line: &str, answer: &str) {
    pty.send(line);
    pty.send("\r");
    pty.wait_for(answer);
    pty.wait("the end", |screen| !screen.text().contains("Thinking"));
}

fn quit(mut pty: Pty) {
    pty.send("\x03\x03");
    assert_eq!(pty.wait_exit().code(), Some(0));
}

/// All that the user said in the last request.
fn asked(place: &Place) -> Vec<String> {
    let last = place.provider.received().pop().unwrap();
    let messages = last.body["messages"].as_array().unwrap().clone();
    let users = messages.iter().filter(|message| message["role"] == "user");
    users
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_session_is_resumed_by_option_and_by_picker() {
    let place = Place::new();
    place
        .provider
        .script([say("The first answer."), say("Again."), say("And again.")]);
    let mut pty = open(&place, 80, 24);
    say_line(&mut pty, "remember me", "The first answer.");
    quit(pty);
    let mut pty = open_with(&place, 80, 24, &["-c"]);
    pty.wait_for("The first answer.");
    say_line(&mut pty, "still there?", "Again.");
    assert_eq!(asked(&place), ["remember me", "still there?"]);
    quit(pty);
    let mut pty = Pty::open(80, 24);
    pty.start(place.app(&["-r"]));
    pty.wait_for("Sessions");
    pty.send("\r");
    pty.wait_for("Again.");
    ready(&mut pty);
    say_line(&mut pty, "third", "And again.");
    assert_eq!(asked(&place), ["remember me", "still there?", "third"]);
    assert_eq!(place.logs().len(), 1);
}

#[test]
fn the_tree_goes_back_and_fork_leaves_the_old_one_alone() {
    let place = Place::new();
    place
        .provider
        .script([say("One."), say("Two."), say("Three."), say("Four.")]);
    let mut pty = open(&place, 80, 24);
    say_line(&mut pty, "first", "One.");
    say_line(&mut pty, "second", "Two.");
    pty.send("/tree\r");
    pty.wait_for("Messages");
    pty.send("second");
    pty.wait_for("Messages 1");
    pty.send("\r");
    // Its text is in the composer again, and what followed is gone.
    pty.wait("its text", |screen| {
        let text = screen.text();
        text.ends_with("test / high") && !text.contains("Messages") && text.contains("┃ second")
    });
    pty.send("\x15");
    say_line(&mut pty, "another way", "Three.");
    assert!(
        !asked(&place).contains(&"second".to_owned()),
        "{:?}",
        asked(&place)
    );
    pty.send("/fork\r");
    pty.quiet(std::time::Duration::from_millis(100));
    say_line(&mut pty, "after the fork", "Four.");
    assert_eq!(place.logs().len(), 2);
}

#[test]
fn export_and_new() {
    let place = Place::new();
    place
        .provider
        .script([say("One <b>bold</b>."), say("Two.")]);
    let mut pty = open(&place, 80, 24);
    say_line(&mut pty, "first", "One");
    pty.send("/export page.html\r");
    pty.wait_for("page.html");
    crate::support::until("the page", || place.workspace.join("page.html").exists());
    assert!(place.read("page.html").contains("One &lt;b&gt;"));
    pty.send("/new\r");
    pty.quiet(std::time::Duration::from_millis(100));
    say_line(&mut pty, "second", "Two.");
    assert_eq!(asked(&place), ["second"]);
}

#[test]
fn a_killed_e_loses_nothing_that_was_said() {
    let place = Place::new();
    let (slow, _gate) = say("Half of it").gate();
    place.provider.script([say("Whole."), slow, say("Later.")]);
    let mut pty = open(&place, 80, 24);
    say_line(&mut pty, "first", "Whole.");
    pty.send("second\r");
    pty.wait_for("Half of it");
    pty.signal(libc::SIGKILL);
    pty.wait_exit();
    let mut pty = open_with(&place, 80, 24, &["-c"]);
    pty.wait_for("Whole.");
    say_line(&mut pty, "third", "Later.");
    let asked = asked(&place);
    assert_eq!(asked.first().map(String::as_str), Some("first"));
    assert_eq!(asked.last().map(String::as_str), Some("third"));
}
