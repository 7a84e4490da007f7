//! The hostile kit against the terminal app: whatever an extension does, the next prompt is answered,
//! the terminal is what e made it, and nothing is left running.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{assert_untouched, enter};
use crate::extensions::kit;
use crate::support::{Place, call, say};
use crate::tui::app::open;

/// Runs each of these in an app of its own.
fn trials(names: impl Iterator<Item = &'static str>) {
    for name in names {
        trial(name);
    }
}

#[track_caller]
fn trial(name: &str) {
    let start = Instant::now();
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
        while pty.screen.text().contains("esc cancel") {
            pty.send("\x1b");
            // An escape alone is one when nothing follows it for a moment.
            pty.quiet(Duration::from_millis(60));
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
    eprintln!("{name}: {:?}", start.elapsed());
}

#[test]
fn the_kit_on_a_terminal() {
    trials(kit::ON_CALL.iter().map(|one| one.0));
}

#[test]
fn the_rest_of_the_kit_on_a_terminal() {
    trials(kit::AFTER_MANIFEST.iter().map(|one| one.0));
}
