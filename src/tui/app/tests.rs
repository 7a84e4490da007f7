//! Commands, pickers and panels: keys go in, what the core is told and what the files hold come
//! out.

mod choosing;
mod opening;

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::sessions::Next;
use super::{App, Done, Effect, Session, TuiOptions, Turn};
use crate::agent::{
    Answer, Input, Output, Past, Process, RequestId, SessionKey, SessionSpec, TurnEvent, Want,
};
use crate::config::Home;
use crate::extension::{AskId, Asked, ExtensionId, HookKind, Registry, Verdict, request};
use crate::provider;
use crate::sys::Env;
use crate::tui::clipboard::Clip;
use crate::tui::frame::Size;
use crate::tui::key::{InputEvent, Key, KeyPress, Parser};
use crate::tui::testing::{check, plain};

/// An app in a directory that is trusted.
fn app_in(cwd: PathBuf, home: Home, extensions: Registry) -> App {
    let env = Env::default();
    let process = Process {
        home,
        trusted: Some(cwd.clone()),
        provider: provider::Context::new(&env),
        env: Arc::new(env),
        extensions: Arc::new(extensions),
    };
    let relaunch = crate::tui::Relaunch::new(crate::extension::Host::none);
    App::new(Arc::new(process), cwd, TuiOptions::default(), relaunch)
}

/// An app without files, with a session.
pub(super) fn app(extensions: Registry) -> App {
    let mut app = app_in("/nowhere".into(), Home::at("/nowhere"), extensions);
    app.options.no_save = true;
    let spec = SessionSpec::for_test();
    app.session = Some(Session::new(SessionKey(1), &spec, &Past::default()));
    app
}

const FIX: (&str, &str) = (
    "home/prompts/fix.md",
    "---\nargument-hint: <file>\n---\nfix $1",
);

/// Keys as a terminal sends them; `␛` is the escape key alone.
pub(super) fn keys(keys: &str) -> Vec<KeyPress> {
    let mut events = Vec::new();
    for (index, keys) in keys.split('␛').enumerate() {
        let escape = InputEvent::Key(KeyPress::plain(Key::Escape));
        events.extend((index > 0).then_some(escape));
        let mut parser = Parser::default();
        events.extend(parser.feed(keys.as_bytes()));
        events.extend(parser.flush());
    }
    let press = |event| match event {
        InputEvent::Key(press) => press,
        other => panic!("{other:?}"),
    };
    events.into_iter().map(press).collect()
}

/// The main screen as text.
pub(super) fn screen(app: &mut App, rows: u16, now: Instant) -> String {
    let size = Size { columns: 80, rows };
    let frame = app.inline_frame(size, 0, now, false);
    plain(&[frame.settled, frame.live].concat()).join("\n")
}

/// An app over a real home. Its tasks run at once.
struct Table {
    app: App,
    root: tempfile::TempDir,
    now: Instant,
    /// Whether nothing can be saved.
    is_full: bool,
}

impl Table {
    /// An app whose workspace holds these files, and which has been started.
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, Registry::default())
    }

    fn with(files: &[(&str, &str)], extensions: Registry) -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = root.path().canonicalize().unwrap();
        fs::create_dir_all(at.join("w")).unwrap();
        for (path, text) in files {
            let path = at.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut table = Self {
            app: app_in(at.join("w"), Home::at(at.join("home")), extensions),
            root,
            now: Instant::now(),
            is_full: false,
        };
        table.app.start();
        table.carry_out();
        table.app.after_frame(table.now);
        table
    }

    /// An app with a model.
    fn ready(files: &[(&str, &str)]) -> Self {
        let settings = ("home/settings.json", r#"{"model": "offline/echo"}"#);
        Self::new(&[files, &[settings]].concat())
    }

    /// Runs the tasks that are wanted and all that follow; the rest in short.
    fn carry_out(&mut self) -> String {
        let mut shown = Vec::new();
        let mut pending = VecDeque::from(self.app.take_effects());
        while let Some(effect) = pending.pop_front() {
            match effect {
                Effect::Task(task) => self.app.on_done((task.0)()),
                Effect::Send(Input::Want(_, _, Want::Prompt(prompt, _))) => {
                    shown.push(format!("prompt {}", prompt.text));
                    self.app.session.as_mut().unwrap().turn = None;
                }
                Effect::Send(Input::Hook(..)) => shown.push("hook".into()),
                Effect::Send(Input::Want(_, _, Want::Configure { selection, .. })) => {
                    let effort = selection.effort.unwrap_or_default();
                    shown.push(format!("use {} {effort}", selection.model.id));
                }
                Effect::Send(Input::Open(..)) => shown.push("open".into()),
                Effect::Send(Input::NoSession) => shown.push("no session".into()),
                Effect::Send(Input::Save { request, .. }) => {
                    let answer = match self.is_full {
                        true => Answer::Refused("1 message is not saved: no room".into()),
                        false => Answer::Done,
                    };
                    let answered = Output::Answer { request, answer };
                    self.app.on_outputs(vec![answered], self.now);
                }
                Effect::Palette(_) => shown.push("palette".into()),
                Effect::Quit(status) => shown.push(format!("quit {status}")),
                Effect::Send(_) | Effect::Write(_) => {}
                other => shown.push(format!("{other:?}")),
            }
            pending.extend(self.app.take_effects());
        }
        shown.join(", ")
    }

    /// Keys; what comes of them.
    fn press(&mut self, typed: &str) -> String {
        let mut shown = Vec::new();
        for press in keys(typed) {
            self.app.on_key(press, self.now);
            shown.push(self.carry_out());
        }
        shown.retain(|text| !text.is_empty());
        shown.join(", ")
    }

    fn screen(&mut self) -> String {
        screen(&mut self.app, 40, self.now)
    }

    fn draft(&self) -> String {
        self.app.composer.draft().buffer.expand()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.root.path().join("home").join(name)).unwrap_or_default()
    }
}

#[test]
fn the_end_key_ends_it_where_it_is_not_bound_to_something_else() {
    for (bindings, expected) in [
        ("{}", "quit 0"),
        (r#"{"ctrl+d": "none"}"#, ""),
        (r#"{"ctrl+d": "kill_to_start"}"#, ""),
    ] {
        let mut table = Table::ready(&[("home/keybindings.json", bindings)]);
        assert_eq!(table.press("\x04"), expected, "{bindings}");
    }
}

#[test]
fn what_cannot_be_saved_is_left_behind_by_a_person_alone() {
    for keys in ["/new\r", "/quit\r", "\x04", "\x03\x03"] {
        let done = if keys.starts_with("/new") {
            "open"
        } else {
            "quit 0"
        };
        let mut table = Table::ready(&[]);
        assert_eq!(table.press(keys), done, "{keys:?}");

        let mut table = Table::ready(&[]);
        table.is_full = true;
        assert_eq!(table.press(keys), "");
        let screen = table.screen();
        assert!(
            screen.contains("1 message is not saved: no room"),
            "{screen}"
        );
        assert!(screen.contains("do it once more"), "{screen}");
        // Another turn may have more to lose.
        assert_eq!(table.press("hi\r"), "prompt hi");
        let session = table.app.session.as_ref().unwrap().key;
        let begun = Output::Event {
            session,
            request: None,
            event: TurnEvent::TurnStart,
        };
        table.app.on_outputs(vec![begun], table.now);
        table.app.session.as_mut().unwrap().turn = None;
        assert_eq!(table.press(keys), "");
        assert!(table.press(keys).starts_with(done));
        if done == "open" {
            assert_eq!(table.press(keys), "");
        }
    }
}

#[test]
fn a_core_that_does_not_answer_keeps_nobody() {
    let mut table = Table::ready(&[]);
    table.app.once_saved(Next::Quit);
    assert!(matches!(
        table.app.take_effects()[..],
        [Effect::Send(Input::Save { .. })]
    ));
    assert_eq!(table.press("\x04"), "quit 0");
}

#[test]
fn a_line_that_an_extension_keeps_is_in_no_file() {
    let hooked = Registry {
        hooks: [HookKind::Input].into_iter().collect(),
        ..Registry::default()
    };
    let settings = ("home/settings.json", r#"{"model": "offline/echo"}"#);
    let mut table = Table::with(&[settings], hooked);
    for (typed, consumed) in [("kept", true), ("passed", false)] {
        assert_eq!(table.press(&format!("{typed}\r")), "hook");
        assert!(!table.file("history.jsonl").contains(typed));
        let verdict = Verdict::Input {
            consumed,
            replacement: Some("said".into()),
            notices: Vec::new(),
        };
        let request = RequestId(table.app.last_request);
        let answer = Answer::Hooked(Box::new(verdict));
        let output = Output::Answer { request, answer };
        table.app.on_outputs(vec![output], table.now);
        table.carry_out();
    }
    assert_eq!(table.file("history.jsonl"), "\"passed\"\n");
    // What was typed can be had back all the same.
    table.press("\x1b[A\x1b[A");
    assert_eq!(table.draft(), "kept");
}

#[test]
fn no_key_breaks_it() {
    let files = [FIX, ("w/a/b.rs", ""), ("home/skills/s/SKILL.md", "s")];
    let keys = [
        "/",
        "@",
        "$",
        "!",
        "a",
        "e",
        " ",
        "\t",
        "\x1b[Z",
        "␛",
        "\x1b[A",
        "\x1b[B",
        "\x1b[C",
        "\x1b[D",
        "\x1b[5~",
        "\x1b[6~",
        "\r",
        "\x7f",
        "\x15",
        "\x10",
        "\x13",
        "\x18",
        "é",
        "/login\r",
        "/settings\r",
        "/models\r",
        "/scoped-models\r",
        "/trust\r",
        "/help\r",
    ];
    let mut random = crate::text::testing::random(1);
    let mut table = Table::ready(&files);
    for _ in 0..400 {
        table.press(keys[random(keys.len())]);
        let size = Size {
            columns: random(90) as u16 + 3,
            rows: random(30) as u16,
        };
        let frame = table.app.inline_frame(size, 0, table.now, false);
        check(&frame.live, size.columns.into());
    }
}

#[test]
fn what_runs_says_so_and_how_it_is_stopped() {
    let mut table = Table::ready(&[]);
    table.press("!sleep 5\r");
    table.now += Duration::from_secs(3);
    let screen = table.screen();
    assert!(
        screen.contains("Running (3s) · esc to interrupt"),
        "{screen}"
    );
    assert!(table.app.deadline(table.now).is_some());
    // Esc closes the list first, so the row does not promise anything else.
    table.press("/");
    assert!(!table.screen().contains("to interrupt"));
    table.press("␛\x7f␛");
    assert!(
        table.screen().contains("Stopping (3s)\n"),
        "{}",
        table.screen()
    );
    let result = crate::chat::ToolResult::failed("");
    table.app.shell_done(&result, table.now);
    assert!(table.app.deadline(table.now).is_none());

    let session = table.app.session.as_mut().unwrap();
    session.turn = Some(Turn::new(RequestId(1), table.now));
    assert!(
        table
            .screen()
            .contains("Thinking (0s) · esc to interrupt\n")
    );
    for (columns, hint) in [
        (34, "· esc to interrupt"),
        (33, "· esc stops"),
        (26, ""),
        (1, ""),
    ] {
        let size = Size { columns, rows: 20 };
        let frame = table.app.inline_frame(size, 0, table.now, false);
        check(&frame.live, columns.into());
        let shown = plain(&frame.live).join("\n");
        assert_eq!(shown.contains("· esc"), !hint.is_empty(), "{shown}");
        assert!(shown.contains(hint), "{shown}");
    }
}

#[test]
fn a_summary_says_when_it_is_made() {
    let mut table = Table::ready(&[]);
    table.press("/compact\r/compact\r");
    let screen = table.screen();
    assert!(screen.contains("another summary is made after this one"));
    assert!(!screen.contains("next step"), "{screen}");
    table.press("␛/compact\r");
    assert!(table.screen().contains("made when this has stopped"));
    let session = table.app.session.as_mut().unwrap();
    session.turn = Some(Turn::new(RequestId(1), table.now));
    table.press("/compact\r");
    assert!(table.screen().contains("the turn's next step"));
}

#[test]
fn paths_and_templates_of_the_layout_are_clean() {
    let layout = r#"{"status": {"left": ["x\u202ey\u001b[31m {model}"]}}"#;
    let mut table = Table::ready(&[("home/layout.json", layout)]);
    table.app.cwd = "/tmp/a\u{202e}b\x1b[31mc".into();
    let status = table.screen();
    assert!(status.contains("xy echo"), "{status}");
    table.press("/trust\r");
    let screen = status + &table.screen();
    assert!(screen.contains("Trust in /tmp/abc"), "{screen}");
    assert!(!screen.contains(['\u{202e}', '\x1b']), "{screen}");
}
