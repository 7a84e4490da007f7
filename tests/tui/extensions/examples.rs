//! The examples as a person uses them.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{assert_untouched, enter};
use crate::extensions::examples::examples;
use crate::support::{Place, Pty, call, has, say};
use crate::tui::app::{open, open_with};

/// Puts an example where the guide says.
fn install(place: &Place, name: &str) {
    let home = place.home.join("extensions").join(name);
    std::fs::create_dir_all(&home).unwrap();
    let file = format!("{name}.mjs");
    for (file, mode) in [(file.as_str(), 0o755), ("scaffold.mjs", 0o644)] {
        std::fs::copy(examples().join(file), home.join(file)).unwrap();
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(home.join(file), mode).unwrap();
    }
}

fn idle(pty: &mut Pty) {
    pty.wait("the end of the turn", |screen| {
        !screen.text().contains("Thinking")
    });
}

#[test]
fn hello_greets_in_every_way() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    place.settings(json!({"extensions": {"hello": {"greeting": "Good day"}}}));
    install(&place, "hello");
    place.provider.script([
        call("greet", json!({"who": "Bob"})),
        say("Greeted."),
        say("All of them."),
    ]);
    let mut pty = open(&place, 80, 40);
    // A status slot as soon as the session begins.
    pty.wait_for("Good day, you");
    // The list names the command with its argument, and the names complete themselves.
    pty.send("/hel");
    pty.wait_for("hello <name>");
    pty.send("\x15/hello g");
    pty.wait_for("Grace");
    assert!(!pty.screen.text().contains("Ada"));
    pty.send("\r");
    pty.wait_for("┃ /hello Grace");
    pty.wait("no list", |screen| {
        screen.text().matches("Grace").count() == 1
    });
    pty.send("\r");
    pty.wait_for("  Good day, Grace");
    pty.wait("the title", |screen| {
        screen.seen().title == "e · hello Grace"
    });
    // Its tool has a row of its own.
    enter(&mut pty, "greet Bob");
    pty.wait_for("Greeted Bob");
    pty.wait_for("politely");
    pty.wait_for("  Greeted.");
    idle(&mut pty);
    // The input hook turns a line into a prompt.
    enter(&mut pty, "hello!");
    pty.wait_for("┃ Greet everybody in this repository's history.");
    pty.wait_for("  All of them.");
    assert_untouched(&pty);
    pty.send("\x04");
    assert!(pty.wait_exit().success());
    assert_eq!(pty.screen.modes(), "");
    place.wait_deserted();
}

#[test]
fn plan_narrows_shows_and_carries_out() {
    if !has("node", true) {
        return;
    }
    let place = Place::new();
    install(&place, "plan");
    let plan = json!({"title": "Tidy up", "steps": ["read it", "write it", "test it"], "notes": "a **risk**"});
    place.provider.script([
        call("bash", json!({"command": "touch ran"})),
        call("propose_plan", plan),
        say("There it is."),
        call("bash", json!({"command": "touch ran"})),
        say("Carried out."),
    ]);
    let mut pty = open_with(&place, 140, 40, &["--plan"]);
    let status = |pty: &mut Pty, is_on: bool| {
        pty.wait("the status", |screen| {
            let rows = screen.rows();
            let last = rows.iter().rev().find(|row| !row.is_empty()).unwrap();
            last.ends_with(" plan") == is_on
        });
    };
    // The flag, the shortcut and the command.
    status(&mut pty, true);
    pty.send("\x1b\x10");
    pty.wait_for("plan mode is off");
    status(&mut pty, false);
    enter(&mut pty, "/plan on");
    pty.wait_for("plan mode is on");
    status(&mut pty, true);
    enter(&mut pty, "/plan steps");
    pty.wait_for("there is no plan yet");
    // The model may read and propose, and nothing else.
    enter(&mut pty, "tidy this up");
    pty.wait_for("Planned Tidy up");
    pty.wait_for("Plan: Tidy up");
    assert!(!place.workspace.join("ran").exists());
    let received = place.provider.received();
    assert_eq!(
        received[0].tools(),
        ["read", "grep", "read_result", "propose_plan"]
    );
    assert!(received[0].system().contains("Plan mode is on"));
    let text = pty.screen.text();
    assert!(
        text.contains("│ Tidy up") && text.contains("2. write it") && text.contains("a risk"),
        "{text}"
    );
    assert!(
        text.contains("Carry it out") && text.contains("Think on"),
        "{text}"
    );
    // Think on: the pane has the keys after ctrl+t, and Enter drops a step.
    pty.send("\x1b[A\r");
    pty.wait("no question", |screen| !screen.text().contains("Think on"));
    pty.send("\x14");
    pty.send("j\r");
    pty.wait_for("dropped");
    // The panel shows the same plan and takes it back.
    pty.send("\x14/plan steps");
    pty.wait_for("/plan steps");
    pty.send("\r");
    pty.wait_for("✗ write it");
    pty.send("\x1b[B");
    pty.wait_for("› ✗ write it");
    pty.send(" ");
    pty.wait_for("› ✓ write it");
    pty.send("\x1b[B");
    pty.wait_for("› ✓ test it");
    pty.send(" ");
    pty.wait_for("› ✗ test it");
    pty.send("\x1b");
    pty.wait("no panel", |screen| !screen.text().contains("› ✗"));
    // Another turn hands the plan in again, and now it is carried out.
    let plan = json!({"title": "Tidy up", "steps": ["read it", "write it"]});
    place.provider.forget_script();
    place.provider.script([
        call("propose_plan", plan),
        say("Again."),
        call("bash", json!({"command": "touch ran"})),
        say("Carried out."),
    ]);
    enter(&mut pty, "plan again");
    pty.wait_for("Plan: Tidy up");
    pty.send("\r");
    pty.wait_for("Carry out this plan:");
    pty.wait_for("  Carried out.");
    pty.wait("no pane", |screen| !screen.is_alternate());
    status(&mut pty, false);
    // The pane stays closed when the panel opens, which takes the keys.
    enter(&mut pty, "/plan steps");
    pty.wait_for("› ✓ read it");
    assert!(!pty.screen.is_alternate());
    pty.send(" ");
    pty.wait_for("› ✗ read it");
    pty.send("\x1b");
    pty.wait("no panel", |screen| !screen.text().contains("› ✗"));
    assert!(place.workspace.join("ran").exists());
    assert_untouched(&pty);
}

#[test]
fn review_walks_through_a_git_diff() {
    if !has("node", true) || !has("git", true) {
        return;
    }
    let place = Place::new();
    install(&place, "review");
    place.write("src/a.rs", "fn a() {}\nfn b() {}\n");
    place.write("z.txt", "one\ntwo\n");
    let git = "git init -q . && git add . && git -c user.name=n -c user.email=e commit -qm x";
    place.sh(git).run().ends_with(0);
    let mut pty = open(&place, 140, 40);
    enter(&mut pty, "/review");
    pty.wait_for("nothing has changed");
    place.write("src/a.rs", "fn a() {}\nfn c() {}\n");
    place.write("z.txt", "one\n2\n");
    place.write("new.md", "brand new\n");
    place
        .provider
        .script([say("Looks right."), say("It is a name.")]);
    enter(&mut pty, "/review");
    pty.wait_for("Changes, 3 files");
    pty.wait_for("2 + fn c() {}");
    let text = pty.screen.text();
    assert!(text.contains("+1 -1") && text.contains("new.md"), "{text}");
    // Moving through the files shows each one's diff.
    pty.send("j");
    pty.wait_for("2 + 2");
    pty.send("j");
    pty.wait_for("1 + brand new");
    pty.send("k\x1b[A");
    pty.wait_for("2 + fn c() {}");
    // Lines are attached to a prompt.
    pty.send("\t");
    pty.send("\x1b[F");
    pty.send("\r");
    pty.wait_for("1 row]");
    enter(&mut pty, "why?");
    pty.wait_for("  Looks right.");
    idle(&mut pty);
    let sent = place.provider.received()[0].last_user();
    assert!(
        sent.contains("fn c() {}") && sent.contains("why?"),
        "{sent}"
    );
    // The keys of its own: a comment, a question, another look.
    pty.send("\x14");
    pty.send("c");
    pty.wait_for("In `src/a.rs`:");
    pty.send("good");
    pty.wait_for("In `src/a.rs`: good");
    pty.send("\x14");
    pty.send("a");
    pty.wait_for("┃ Review the change of `src/a.rs`");
    pty.wait_for("  It is a name.");
    idle(&mut pty);
    place
        .sh("git checkout -q . && rm new.md")
        .run()
        .ends_with(0);
    place.write("z.txt", "one\n3\n");
    pty.send("r");
    pty.wait_for("Changes, 1 file");
    pty.wait_for("2 + 3");
    // Back to the files, then out.
    pty.send("\x1b");
    pty.quiet(std::time::Duration::from_millis(50));
    pty.send("\x1b");
    pty.wait("no pane", |screen| !screen.is_alternate());
    pty.wait_for("In `src/a.rs`:");
    assert_untouched(&pty);
}
