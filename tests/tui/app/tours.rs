//! Walks through the app: one run of e at each size shows many frames, one after another.
//!
//! What `golden` does for a state that has a terminal to itself, this does for states that follow from
//! each other. It is done in full screen, where what was shown before moves nothing. A frame is right when
//! the screen comes to show what the file says under its name.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::replay::timeless;
use crate::support::screen::{bless, golden, is_blessing};
use crate::support::{Actor, Place, Played, Pty, Screen, call, fails, say};

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (200, 50)];

/// Something that is done to the app.
#[derive(Clone, Copy)]
enum Do {
    Type(&'static str),
    See(&'static str),
    /// Until this is gone.
    Miss(&'static str),
    /// The extension asks for something; its parameters are JSON.
    Ask(&'static str, &'static str),
}

use Do::{Ask, Miss, See, Type};

/// Takes an extension through the frames: the name of each, and the steps to it.
#[track_caller]
fn tour(
    name: &str,
    args: &[&str],
    furnish: impl Fn(&Place) -> Option<Played>,
    frames: &[(&str, &[Do])],
) {
    let name = format!("tour-{name}");
    let all = golden(&name);
    let mut shown = String::new();
    for (columns, rows) in SIZES {
        let place = Place::new();
        place.settings(json!({"tui_mode": "fullscreen"}));
        let extension = furnish(&place);
        let mut pty = Pty::open(columns, rows);
        pty.start(place.app(args));
        for (label, steps) in frames {
            for step in *steps {
                match step {
                    Type(keys) => pty.send(keys),
                    See(text) => pty.wait_for(text),
                    Miss(text) => pty.wait(text, |screen| !screen.text().contains(text)),
                    Ask(method, params) => {
                        let params: Value = serde_json::from_str(params).unwrap();
                        let extension = extension.as_ref().expect("an extension");
                        extension.begin(method, params);
                    }
                }
            }
            let head = format!("=== {label} {columns}x{rows}\n");
            let root = place.root().display().to_string();
            let frame = |screen: &Screen| {
                let text = screen.golden().replace(&root, "/tmp/.tmp000000");
                head.clone() + &folded(&timeless(&text))
            };
            if is_blessing() {
                pty.quiet(Duration::from_millis(300));
            } else {
                let reached = pty.reaches(|screen| all.contains(&frame(screen)));
                let is = frame(&pty.screen);
                assert!(
                    reached,
                    "{name} differs; run with E_BLESS=1 and review the diff\n{is}"
                );
            }
            shown.push_str(&frame(&pty.screen));
        }
        place.provider.forget_script();
    }
    bless(&name, &shown);
}

/// A frame with its blank rows counted: most of a large screen is empty.
fn folded(frame: &str) -> String {
    let mut text = String::new();
    let mut blank = 0;
    for line in frame.lines() {
        if line == "|" {
            blank += 1;
            continue;
        }
        match std::mem::take(&mut blank) {
            few @ 0..3 => text.push_str(&"|\n".repeat(few)),
            many => text.push_str(&format!("| {many} blank rows\n")),
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// An extension that does what the tour asks of it.
fn guide(place: &Place) -> Option<Played> {
    let manifest = json!({
        "name": "guide",
        "commands": [
            {"name": "deploy", "description": "ship it", "arguments": "<env>", "completions": true},
        ],
    });
    let items = json!({"items": [
        {"value": "prod", "description": "for everybody"},
        {"value": "staging", "label": "Staging"},
    ]});
    let guide = Actor::new(place, "guide", manifest).says("command.complete", items);
    Some(guide.play())
}

const READY: Do = See("test / high");

#[test]
fn blocks_and_slots_of_an_extension() {
    let show = r#"{"title": "Patch", "format": "diff",
        "body": "--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n fn a() {}\n-let b = 1;\n+let b = 2;\n"}"#;
    tour(
        "blocks",
        &[],
        guide,
        &[
            (
                "notices",
                &[
                    READY,
                    Ask("ui.notify", r#"{"message": "a plain notice"}"#),
                    See("plain"),
                    Ask(
                        "ui.notify",
                        r#"{"message": "nearly full", "tone": "warning"}"#,
                    ),
                    See("warning:"),
                    Ask(
                        "ui.notify",
                        r#"{"message": "all is lost", "tone": "error"}"#,
                    ),
                    See("lost"),
                ],
            ),
            ("diff", &[Ask("ui.show", show), See("● Patch")]),
            (
                "markdown",
                &[
                    Ask(
                        "ui.show",
                        r###"{"title": "Report", "format": "markdown",
                        "body": "## Done\n\n- **two** tests\n- `one` file"}"###,
                    ),
                    See("Report"),
                ],
            ),
            (
                "slots",
                &[
                    Ask("ui.activity", r#"{"text": "build 3 of 7"}"#),
                    Ask("ui.status", r#"{"text": "41 ok"}"#),
                    Ask("ui.status", r#"{"text": "main*", "key": "z"}"#),
                    Ask(
                        "ui.widget",
                        r#"{"key": "b", "lines": [[{"text": "▪ ", "token": "accent"},
                        {"text": "staging is "}, {"text": "3 behind", "token": "warning"}]]}"#,
                    ),
                    Ask(
                        "ui.widget",
                        r#"{"key": "a", "lines": ["first by its key", ""]}"#,
                    ),
                    See("first by"),
                    See("main*"),
                ],
            ),
            (
                "slots that are gone",
                &[
                    Ask("ui.activity", r#"{"text": null}"#),
                    Ask("ui.status", r#"{"text": ""}"#),
                    Ask("ui.widget", r#"{"key": "a", "lines": null}"#),
                    Miss("first by"),
                    See("main*"),
                ],
            ),
        ],
    );
}

#[test]
fn questions_of_an_extension() {
    let select = r#"{"title": "Where to?", "options": ["staging",
        {"label": "production", "description": "3 commits, 41 tests green", "value": "p"}, "nowhere"]}"#;
    tour(
        "questions",
        &[],
        guide,
        &[
            (
                "select",
                &[READY, Ask("ui.select", select), See("Where to?")],
            ),
            ("the second choice", &[Type("\x1b[B")]),
            (
                "confirm",
                &[
                    Type("\r"),
                    Miss("Where"),
                    Ask(
                        "ui.confirm",
                        r#"{"title": "Deploy now?", "message": "3 commits"}"#,
                    ),
                    See("Deploy now?"),
                ],
            ),
            (
                "a long message",
                &[
                    Type("\r"),
                    Miss("Deploy"),
                    Ask(
                        "ui.confirm",
                        r#"{"title": "Run it?", "message": "rm -rf build dist node_modules && make clean all\nIt deletes what was built. It cannot be undone, and building all of it again takes twenty minutes on this machine, more on others, and needs the network.\nSeen 3 times today."}"#,
                    ),
                    See("Run it?"),
                ],
            ),
            (
                "input",
                &[
                    Type("\r"),
                    Miss("Run it?"),
                    Ask(
                        "ui.input",
                        r#"{"title": "Tag", "placeholder": "such as v1.2"}"#,
                    ),
                    See("such as"),
                ],
            ),
            (
                "secret",
                &[
                    Type("\r"),
                    Miss("Tag"),
                    Ask("ui.input", r#"{"title": "Token", "secret": true}"#),
                    See("Token"),
                    Type("hunter2"),
                    See("•••••••"),
                ],
            ),
            (
                "editor",
                &[
                    Type("\r"),
                    Miss("Token"),
                    Ask(
                        "ui.editor",
                        r#"{"title": "Notes", "text": "one\ntwo\nthree"}"#,
                    ),
                    See("┃ three"),
                ],
            ),
            (
                "completions",
                &[
                    Type("\x1b"),
                    Miss("Notes"),
                    Type("/deploy"),
                    See("deploy"),
                    Type(" "),
                    See("prod"),
                    See("Staging"),
                ],
            ),
        ],
    );
}

#[test]
fn panel_of_an_extension() {
    tour(
        "panel",
        &[],
        guide,
        &[
            (
                "spans",
                &[
                    READY,
                    Ask(
                        "ui.panel",
                        r#"{"title": "Board", "interactive": true, "lines": [
                        [{"text": "› ", "token": "accent"}, {"text": "pass", "token": "success"}],
                        [{"text": "  fail", "token": "error"}, {"text": " later", "token": "dim"}],
                        [{"text": "plain ", "token": "sparkle"}, {"text": "user", "token": "userMessageText"}],
                        "a row that is as long as it must be to be cut at the edge of a narrow terminal"]}"#,
                    ),
                    See("Board"),
                ],
            ),
            (
                "more than fits",
                &[Ask("ui.panel", LONG_PANEL), See("Long"), See("row 1")],
            ),
            ("closed", &[Type("\x1b"), Miss("Long")]),
        ],
    );
}

const LONG_PANEL: &str = r#"{"title": "Long", "lines": [
    "row 1", "row 2", "row 3", "row 4", "row 5", "row 6", "row 7", "row 8", "row 9", "row 10",
    "row 11", "row 12", "row 13", "row 14", "row 15", "row 16", "row 17", "row 18", "row 19", "row 20",
    "row 21", "row 22", "row 23", "row 24", "row 25", "row 26", "row 27", "row 28", "row 29", "row 30",
    "row 31", "row 32", "row 33", "row 34", "row 35", "row 36", "row 37", "row 38", "row 39", "row 40",
    "row 41", "row 42", "row 43", "row 44", "row 45", "row 46", "row 47", "row 48", "row 49", "row 50"]}"#;

const PANE: &str = r###"{"id": "review", "title": "Changes", "sections": [
    {"kind": "list", "id": "files", "selected": "b", "items": [
        {"id": "a", "label": "src/a.rs", "detail": "+1 -0"},
        {"id": "b", "label": "src/b.rs", "detail": "+1 -1"},
        {"id": "c", "label": "old.rs", "detail": "gone", "token": "dim"}, "plain"]},
    {"kind": "diff", "id": "patch", "title": "src/b.rs",
     "body": "--- a/src/b.rs\n+++ b/src/b.rs\n@@ -7,3 +7,3 @@\n same\n-let b = 1;\n+let b = 2;\n end\n"},
    {"kind": "text", "id": "log", "title": "Log", "body": "first\nsecond\n"},
    {"kind": "markdown", "id": "notes", "body": "**Note** the `b`."},
    {"kind": "rows", "id": "rows", "lines": [[{"text": "ok", "token": "success"}, {"text": " 41"}]]}]}"###;

#[test]
fn pane_of_an_extension() {
    tour(
        "pane",
        &[],
        guide,
        &[
            // A narrow terminal shows the conversation, and how to reach the pane.
            ("opened", &[READY, Ask("ui.pane", PANE), See("Changes")]),
            ("focused", &[Type("\x14"), See("src/b.rs")]),
            ("next item", &[Type("j")]),
            (
                "selected rows",
                &[Type("\t\x1b[1;2B\x1b[1;2B"), See("let b = 2")],
            ),
            ("attached", &[Type("\r"), See("[src/b.rs · 3 rows]")]),
            (
                "hint of its own",
                &[
                    Type("\x14"),
                    Ask(
                        "ui.pane",
                        r#"{"id": "review", "title": "Changes", "hint": "x drops a file",
                        "sections": [{"kind": "list", "id": "files", "items": []}]}"#,
                    ),
                    See("nothing here"),
                ],
            ),
            ("closed", &[Type("\x1b"), Miss("nothing here")]),
        ],
    );
}

#[test]
fn entries_and_drafts() {
    let furnish = |place: &Place| {
        std::fs::write(place.workspace.join("a.png"), b"\x89PNG\r\n\x1a\n1234").unwrap();
        let settings = json!({
            "tui_mode": "fullscreen", "tool_history_limit": 2, "paste_placeholder": 20,
        });
        place.settings(settings);
        let mut calls = call("bash", json!({"command": "true"}));
        for name in ["one", "two", "three"] {
            calls = calls.and_call("write", json!({"path": name, "content": "x\n"}));
        }
        place.provider.script([
            say("A picture."),
            calls,
            say("Four calls."),
            fails(503).header("retry-after", "1"),
            say("Recovered."),
        ]);
        None
    };
    tour(
        "entries",
        &[],
        furnish,
        &[
            (
                "image and marker",
                &[
                    READY,
                    Type("\x1b[200~a.png\x1b[201~"),
                    See("[Image 1]"),
                    Type("see \x1b[200~one\ntwo\nthree\nfour\nfive\x1b[201~"),
                    See("[Pasted"),
                ],
            ),
            ("sent with an image", &[Type("\r"), See("picture.")]),
            (
                "folded calls",
                &[Type("go\r"), See("Four calls."), Miss("Thinking")],
            ),
            ("version", &[Type("/version\r"), See("  e 0.")]),
            ("no such command", &[Type("/nothing\r"), See("/help")]),
            ("no command to run", &[Type("!\r"), See("git status")]),
            (
                "name",
                &[Type("/name of the day\r"), See("is called `of the day`")],
            ),
            ("effort", &[Type("\x1b[Z"), See("test / low")]),
            (
                "recovered",
                &[
                    Type("again\r"),
                    See("Recovered."),
                    Miss("Thinking"),
                    Miss("✓"),
                ],
            ),
        ],
    );
}

#[test]
fn pickers_and_panels() {
    let furnish = |place: &Place| {
        place
            .provider
            .script([say("One."), say("Two."), say("Other.")]);
        guide(place)
    };
    tour(
        "pickers",
        &["first"],
        furnish,
        &[
            (
                "nothing matches",
                &[
                    See("One."),
                    Miss("Thinking"),
                    Type("/"),
                    See("Commands"),
                    Type("zzz"),
                    See("/zzz"),
                ],
            ),
            (
                "command of an extension",
                &[Type("\x15/dep"), See("deploy <env>")],
            ),
            ("left for its argument", &[Type("\r"), See("┃ /deploy")]),
            (
                "branches",
                &[
                    Type("\x15second\r"),
                    See("Two."),
                    Miss("Thinking"),
                    Type("/tree\r"),
                    See("Messages 2"),
                    Type("\r"),
                    See("back before"),
                    Type("\x15other\r"),
                    See("Other."),
                    Miss("Thinking"),
                    Type("/tree\r"),
                    See("Messages 3"),
                ],
            ),
            (
                "sessions of all places",
                &[
                    Type("\x1b"),
                    Miss("Messages"),
                    Type("/resume\r"),
                    See("Sessions"),
                    Type("\t"),
                ],
            ),
            (
                "providers",
                &[
                    Type("\x1b"),
                    Miss("Sessions"),
                    Type("/login\r"),
                    See("API key"),
                    Type("\r"),
                    See("Anthropic"),
                ],
            ),
            (
                "key",
                &[Type("\r"), Miss("choose"), Type("sk-123"), See("••••••")],
            ),
            ("key that is stored", &[Type("\r"), See("stored")]),
            (
                "a setting that was changed",
                &[
                    Type("\r"),
                    Miss("stored"),
                    Type("/settings\r"),
                    See("Settings"),
                    Type("\x1b[C"),
                ],
            ),
            (
                "models of one provider",
                &[
                    Type("\x1b"),
                    Miss("Settings"),
                    Type("/models plain\r"),
                    See("Models"),
                    Type("\t"),
                ],
            ),
            (
                "level of effort",
                &[
                    Type("\x1b"),
                    Miss("Models"),
                    Type("/effort\r"),
                    Miss("/effort"),
                    Miss("Commands"),
                ],
            ),
        ],
    );
}
