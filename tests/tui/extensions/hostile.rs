//! The hostile kit against the terminal app: whatever an extension does, the next prompt is answered,
//! the terminal is what e made it, and nothing is left running.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{assert_untouched, enter};
use crate::extensions::kit;
use crate::support::{Place, Screen, call, say};
use crate::tui::app::open;

/// The title of the open question.
fn title(screen: &Screen) -> Option<String> {
    let text = screen.text();
    let start = text.find("no ")?;
    let end = text[start..].find('?')?;
    Some(text[start..=start + end].to_owned())
}

#[track_caller]
fn trial(name: &str) {
    let place = Place::new();
    place.script("bad.sh", &kit::script(name));
    place
        .provider
        .script([call("bad", json!({})), say("The end."), say("Still here.")]);
    let mut pty = open(&place, 80, 24);
    enter(&mut pty, "go");
    if name.contains("asks") {
        // A person answers those that may be open at once.
        pty.wait_for("esc cancel");
        while let Some(title) = title(&pty.screen) {
            pty.send("\x1b");
            pty.wait("the next question", |screen| {
                !screen.text().contains(&title)
            });
        }
    }
    pty.wait_for("  The end.");
    pty.wait("the end of the turn", |screen| {
        !screen.text().contains("Thinking")
    });
    enter(&mut pty, "and now?");
    pty.wait_for("  Still here.");
    assert_untouched(&pty);
    pty.send("\x04");
    let ended = Instant::now();
    assert!(pty.wait_exit().success(), "{name}");
    assert!(ended.elapsed() < Duration::from_secs(5), "{name}");
    assert_eq!(pty.screen.modes(), "", "{name}");
    place.wait_deserted();
}

/// Each part runs in an app of its own; the tests run beside each other.
fn part(number: usize) {
    const PARTS: usize = 3;
    let names = kit::ON_CALL.iter().chain(kit::AFTER_MANIFEST);
    for (name, _) in names.skip(number).step_by(PARTS) {
        trial(name);
    }
}

#[test]
fn the_first_part_of_the_kit() {
    part(0);
}

#[test]
fn the_second_part_of_the_kit() {
    part(1);
}

#[test]
fn the_third_part_of_the_kit() {
    part(2);
}
