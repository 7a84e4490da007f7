//! Commands, pickers and panels: keys go in, what the core is told and what the files hold come out.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::sessions::Next;
use super::{App, Effect, Session, TuiOptions, Turn};
use crate::agent::{
    Answer, Input, Output, Process, RequestId, SessionKey, SessionSpec, TurnEvent, Want,
};
use crate::config::Home;
use crate::extension::{AskId, Asked, ExtensionId, HookKind, Registry, Verdict, request};
use crate::provider;
use crate::sys::Env;
use crate::tui::frame::Size;
use crate::tui::key::{InputEvent, Key, KeyPress, Parser};
use crate::tui::testing::{check, plain};

/// An app without files, with a session.
pub(super) fn app(extensions: Registry) -> App {
    let env = Env::default();
    let process = Process {
        home: Home::at("/nowhere"),
        trusted: None,
        provider: provider::Context::new(&env),
        env: Arc::new(env),
        extensions: Arc::new(extensions),
    };
    let mut app = App::new(
        Arc::new(process),
        "/nowhere".into(),
        TuiOptions {
            no_save: true,
            ..TuiOptions::default()
        },
        crate::tui::Relaunch::new(crate::extension::Host::none),
    );
    let spec = SessionSpec::for_test();
    app.session = Some(Session {
        id: String::new(),
        key: SessionKey(1),
        workspace: spec.workspace,
        selection: spec.selection,
        name: None,
        log: None,
        is_given_up: false,
        context_tokens: 0,
        turn: None,
        shell: None,
        asked: None,
    });
    app
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
        let env = Env::default();
        let process = Process {
            home: Home::at(at.join("home")),
            trusted: Some(at.join("w")),
            provider: provider::Context::new(&env),
            env: Arc::new(env),
            extensions: Arc::new(extensions),
        };
        let relaunch = crate::tui::Relaunch::new(crate::extension::Host::none);
        let app = App::new(
            Arc::new(process),
            at.join("w"),
            TuiOptions::default(),
            relaunch,
        );
        let mut table = Self {
            app,
            root,
            now: Instant::now(),
            is_full: false,
        };
        let effects = table.app.start();
        table.carry_out(effects);
        table.app.after_frame(table.now);
        table
    }

    /// An app with a model.
    fn ready(files: &[(&str, &str)]) -> Self {
        let settings = ("home/settings.json", r#"{"model": "offline/echo"}"#);
        Self::new(&[files, &[settings]].concat())
    }

    /// Runs the tasks among these and all that follow; the rest in short.
    fn carry_out(&mut self, effects: Vec<Effect>) -> String {
        let mut shown = Vec::new();
        let mut pending: std::collections::VecDeque<_> = effects.into();
        while let Some(effect) = pending.pop_front() {
            match effect {
                Effect::Task(task) => pending.extend(self.app.on_done((task.0)())),
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
                Effect::Send(Input::Save { request, .. }) => {
                    let answer = match self.is_full {
                        true => Answer::Refused("1 message is not saved: no room".into()),
                        false => Answer::Done,
                    };
                    let answered = Output::Answer { request, answer };
                    pending.extend(self.app.on_outputs(vec![answered], self.now));
                }
                Effect::Palette(_) => shown.push("palette".into()),
                Effect::Quit(status) => shown.push(format!("quit {status}")),
                Effect::Send(_) | Effect::Write(_) => {}
                other => shown.push(format!("{other:?}")),
            }
        }
        shown.join(", ")
    }

    /// Keys as a terminal sends them; `␛` is the escape key alone.
    fn press(&mut self, keys: &str) -> String {
        let mut events = Vec::new();
        for (index, keys) in keys.split('␛').enumerate() {
            let escape = InputEvent::Key(KeyPress::plain(Key::Escape));
            events.extend((index > 0).then_some(escape));
            let mut parser = Parser::default();
            events.extend(parser.feed(keys.as_bytes()));
            events.extend(parser.flush());
        }
        let mut shown = Vec::new();
        for event in events {
            let InputEvent::Key(press) = event else {
                continue;
            };
            let effects = self.app.on_key(press, self.now);
            shown.push(self.carry_out(effects));
        }
        shown.retain(|text| !text.is_empty());
        shown.join(", ")
    }

    fn screen(&mut self) -> String {
        let size = Size {
            columns: 80,
            rows: 40,
        };
        let frame = self.app.inline_frame(size, 0, self.now, false);
        plain(&[frame.settled, frame.live].concat()).join("\n")
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
    assert!(matches!(
        table.app.once_saved(Next::Quit)[..],
        [Effect::Send(Input::Save { .. })]
    ));
    assert_eq!(table.press("\x04"), "quit 0");
}

const FIX: (&str, &str) = (
    "home/prompts/fix.md",
    "---\nargument-hint: <file>\n---\nfix $1",
);

#[test]
fn commands_are_picked_and_typed() {
    let cases = [
        ("/qui\r", "quit 0", ""),
        // A word that is a command is not the beginning of another one.
        ("/exit\r", "quit 0", ""),
        ("/fi\r", "", "/fix "),
        ("/fi\ra.rs\r", "prompt fix a.rs", ""),
        ("/fix\r", "", "/fix "),
        // Tab runs nothing.
        ("/qui\t", "", "/quit "),
        ("/fi\t", "", "/fix "),
        ("/qui\x1b[Z", "", "/qui"),
        ("/fix a.rs\r", "prompt fix a.rs", ""),
        ("/effo\r", "", "/effort "),
        ("/effort\r", "", ""),
        ("/zzz\r", "", ""),
        ("/usr/bin\r", "prompt /usr/bin", ""),
        ("/␛\r", "prompt /", ""),
        ("/qui␛x\r", "", ""),
        ("/\x1b[A\x1b[B\x1b[B\x1b[Z", "", "/"),
    ];
    for (keys, expected, draft) in cases {
        let mut table = Table::ready(&[FIX]);
        assert_eq!(table.press(keys), expected, "{keys:?}");
        assert_eq!(table.draft(), draft, "{keys:?}");
    }
    let mut table = Table::ready(&[FIX]);
    table.press("/nothing at all\r");
    let screen = table.screen();
    assert!(screen.contains("there is no command /nothing"), "{screen}");
    table.press("/");
    let screen = table.screen();
    assert!(
        screen.contains("Commands 21") && screen.contains("enter run"),
        "{screen}"
    );
}

#[test]
fn files_and_skills_follow_the_last_word() {
    let skill = "---\nname: deploy\ndescription: ship it\n---\nCare.";
    let files = [
        ("w/src/main.rs", ""),
        ("w/src/two words.rs", ""),
        ("w/target/out", ""),
        ("w/.e/skills/deploy/SKILL.md", skill),
    ];
    let cases = [
        ("look at @mai\r", "", "look at src/main.rs "),
        ("@two\r", "", "\"src/two words.rs\" "),
        ("look at @mai\t", "", "look at src/main.rs "),
        ("@sr\r", "", "src/ "),
        // An empty list closes, and only then is the draft submitted.
        ("mail me@x @out\r", "", "mail me@x @out"),
        ("mail me@x @out\r\r", "prompt mail me@x @out", ""),
        ("use $nothing\r", "", "use $nothing"),
        ("use $nothing\ri\r", "prompt use $nothingi", ""),
        ("@zzz and @zzz\r\r", "prompt @zzz and @zzz", ""),
        // What is no search opens none.
        ("mail me @ home\r", "prompt mail me @ home", ""),
        ("mail me@example.org\r", "prompt mail me@example.org", ""),
        ("costs $5\r", "prompt costs $5", ""),
        ("costs $4,99\r", "prompt costs $4,99", ""),
        ("set $PATH\r", "prompt set $PATH", ""),
        (
            "see @mai␛\r\x1b[A\r",
            "prompt see @mai, prompt see @mai",
            "",
        ),
        ("see @mai␛\r", "prompt see @mai", ""),
        ("!echo $dep␛", "", "!echo $dep"),
    ];
    for (keys, expected, draft) in cases {
        let mut table = Table::ready(&files);
        assert_eq!(table.press(keys), expected, "{keys:?}");
        assert_eq!(table.draft(), draft, "{keys:?}");
    }
    // Pasted text opens no list, and narrows one that is open.
    for (typed, pasted, keys, expected) in [
        ("", "def x():\n  @mai", "\r", "prompt def x():\n  @mai"),
        ("", "/qui", "t\r", "quit 0"),
        ("@", "mai", "\r\r", "prompt src/main.rs "),
    ] {
        let mut table = Table::ready(&files);
        table.press(typed);
        let effects = table.app.on_paste(pasted, table.now);
        table.carry_out(effects);
        assert_eq!(table.press(keys), expected, "{pasted:?}");
    }
    let mut table = Table::ready(&files);
    let dir = table.root.path().canonicalize().unwrap();
    let expected = format!(
        "prompt Care.\n\nThe directory of this skill is `{}`.\n\nto staging",
        dir.join("w/.e/skills/deploy").display()
    );
    assert_eq!(table.press("to staging $dep\r"), expected);
    assert!(table.file("history.jsonl").contains("to staging $dep"));
    // What a skill says is no command.
    let bang = "---\nname: bang\ndescription: b\n---\n!rm x";
    let mut loud = Table::ready(&[("w/.e/skills/bang/SKILL.md", bang)]);
    let said = loud.press("$bang\r");
    assert!(said.starts_with("prompt !rm x"), "{said}");
    // The tab of the home has none; the whole list has.
    table.press("$");
    assert!(table.screen().contains("Skills 1"));
    table.press("\t");
    assert!(table.screen().contains("nothing matches"));
    table.press("\r");
    assert_eq!(table.draft(), "$");
}

#[test]
fn models_and_efforts_are_chosen_and_kept() {
    let auth = ("home/auth.json", r#"{"anthropic": {"key": "k"}}"#);
    let mut table = Table::ready(&[auth]);
    assert_eq!(table.press("/models\r"), "");
    assert!(table.screen().contains("Models"), "{}", table.screen());
    assert_eq!(table.press("opus45\r"), "use claude-opus-4-5 high");
    assert!(
        table
            .file("settings.json")
            .contains("anthropic/claude-opus-4-5")
    );
    assert_eq!(table.press("\x1b[Z"), "use claude-opus-4-5 low");
    assert_eq!(
        table.press("/effort medium\r"),
        "use claude-opus-4-5 medium"
    );
    assert_eq!(table.press("/effort most\r"), "");
    assert!(table.screen().contains("does not support effort"));
    assert!(
        table
            .file("settings.json")
            .contains("\"effort\": \"medium\"")
    );
    assert_eq!(table.press("/model offline/demo\r"), "use demo ");

    assert_eq!(table.press("/scoped-models\rclaude \x1b[B \x13"), "");
    assert!(table.screen().contains("goes through 2 models"));
    let first = table.press("\x10");
    assert!(first.starts_with("use claude-"), "{first}");
    let second = table.press("\x10");
    assert!(
        second.starts_with("use claude-") && first != second,
        "{second}"
    );
    assert_eq!(table.press("\x10"), first);
    // Esc discards, and clearing means every model.
    table.press("/scoped-models\r\x18␛");
    assert!(table.file("settings.json").contains("scoped_models"));
    table.press("/scoped-models\r\x18\r");
    assert!(!table.file("settings.json").contains("scoped_models"));
}

#[test]
fn presses_of_the_model_key_add_up() {
    let auth = ("home/auth.json", r#"{"anthropic": {"key": "k"}}"#);
    let mut table = Table::ready(&[auth]);
    let next = KeyPress {
        ctrl: true,
        ..KeyPress::plain(Key::Char('p'))
    };
    let mut effects = table.app.on_key(next, table.now);
    effects.extend(table.app.on_key(next, table.now));
    let shown = table.carry_out(effects);
    assert_eq!(shown.matches("use ").count(), 2, "{shown}");
}

#[test]
fn a_key_goes_into_its_file_and_nowhere_else() {
    const SECRET: &str = "sk-ant-api03-0123456789abcdef";
    let hooked = Registry {
        hooks: [HookKind::Input].into_iter().collect(),
        ..Registry::default()
    };
    let other = ("home/auth.json", r#"{"x": {"odd": 1}}"#);
    let mut table = Table::with(&[other], hooked);
    // Nothing is signed in: the panel is there.
    assert!(table.screen().contains("Sign in"), "{}", table.screen());
    table.press("␛");
    assert_eq!(table.press(&format!(" {SECRET}\r")), "");
    assert_eq!(table.draft(), "");
    let screen = table.screen();
    assert!(
        screen.contains("API key of Anthropic") && !screen.contains("0123"),
        "{screen}"
    );
    assert_eq!(table.press("\r"), "open");
    assert!(table.screen().contains("Signed in"));
    table.press("\r");
    let auth = table.file("auth.json");
    assert!(auth.contains(SECRET) && auth.contains("odd"), "{auth}");
    assert!(!table.file("history.jsonl").contains("0123"));
    assert!(!table.screen().contains("0123"));
    let path = table.root.path().join("home/auth.json");
    assert_eq!(mode(&path), 0o600);
    // Up does not bring it back.
    table.press("\x1b[A");
    assert!(!table.draft().contains("0123"));
}

#[test]
fn a_key_without_a_usable_model_is_stored_and_says_what_is_left() {
    for (provider, left) in [
        ("openai", "this build cannot ask models of OpenAI yet"),
        (
            "openrouter",
            "choose a model by its name: /model openrouter/…",
        ),
    ] {
        let mut table = Table::new(&[]);
        table.press("␛");
        assert_eq!(table.press(&format!("/login {provider}\rk-1\r")), "");
        let screen = table.screen();
        assert!(
            screen.contains("Signed in") && screen.contains("stored in auth.json"),
            "{screen}"
        );
        assert!(screen.contains(left), "{screen}");
        assert_eq!(screen.matches("no model is available yet").count(), 1);
        table.press("\r");
        assert!(table.app.surface.is_none());
    }
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
        let effects = table.app.on_outputs(vec![output], table.now);
        table.carry_out(effects);
    }
    assert_eq!(table.file("history.jsonl"), "\"passed\"\n");
    // What was typed can be had back all the same.
    table.press("\x1b[A\x1b[A");
    assert_eq!(table.draft(), "kept");
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn lines_wait_for_the_session() {
    let mut table = Table::new(&[]);
    table.press("␛hello\r");
    assert_eq!(table.draft(), "hello");
    assert!(table.screen().contains("sign in with /login"));
    // Without a session e's own commands work.
    table.app.composer.clear();
    assert_eq!(table.press("/model offline/echo\r"), "open");
    let effects = table.app.open(crate::agent::Reason::New);
    table.app.session = None;
    assert_eq!(table.press("early\r"), "");
    let shown = table.carry_out(effects);
    assert_eq!(shown, "open, prompt early");
}

#[test]
fn what_is_looked_up_does_not_open_after_all_was_closed() {
    let mut table = Table::ready(&[]);
    for command in [
        "models",
        "scoped-models",
        "settings",
        "trust",
        "login",
        "resume",
    ] {
        let typed = format!("/{command}");
        table.app.composer.set_text(&typed);
        let effects = table.app.submit(table.now);
        table.app.armed_until = None;
        table.app.interrupt_all(table.now);
        table.carry_out(effects);
        assert!(table.app.surface.is_none(), "{command}");
    }
    assert_eq!(table.press("x"), "");
    assert_eq!(table.draft(), "x");
}

#[test]
fn settings_change_at_once() {
    let theme = (
        "home/themes/red.json",
        r##"{"colors": {"accent": "#ff0000"}}"##,
    );
    let mut table = Table::ready(&[theme]);
    assert_eq!(table.press("/settings\r\x1b[D"), "palette");
    assert!(table.screen().contains("‹ red ›"), "{}", table.screen());
    assert_eq!(table.press("\x1b[B\x1b[B\x1b[C␛"), "");
    let settings = table.file("settings.json");
    assert!(
        settings.contains("\"theme\": \"red\"") && settings.contains("\"show_thinking\": \"on\""),
        "{settings}"
    );
    table.press("/trust\r");
    assert!(table.screen().contains("it is trusted"));
    table.press("\x1b[A\r");
    assert!(table.file("trust.json").contains("\"trusted\": false"));
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
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut table = Table::ready(&files);
    for _ in 0..400 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        table.press(keys[random as usize % keys.len()]);
        let size = Size {
            columns: (random >> 20) as u16 % 90 + 3,
            rows: (random >> 40) as u16 % 30,
        };
        let frame = table.app.inline_frame(size, 0, table.now, false);
        check(&frame.live, size.columns.into());
    }
}

#[test]
fn extensions_choose_as_people_do_and_one_after_another() {
    let models = r#"{"providers": {"p": {"base_url": "http://127.0.0.1:9/v1", "models": [
        {"id": "m", "effort": ["low", "high"]}]}}}"#;
    let mut table = Table::ready(&[("home/models.json", models)]);
    let ask = |table: &mut Table, number, method: &str, params: serde_json::Value| {
        table.app.on_outputs(
            vec![Output::Asked(Box::new(Asked {
                ask: AskId::for_test(number),
                from: ExtensionId(0),
                extension: "x".into(),
                method: method.into(),
                request: request::parse(method, &params).unwrap(),
                params,
            }))],
            table.now,
        )
    };
    let mut effects = ask(&mut table, 1, "session.model", json!({"model": "p/m"}));
    // The level is one of the model that is on its way.
    effects.extend(ask(
        &mut table,
        2,
        "session.effort",
        json!({"effort": "low"}),
    ));
    effects.extend(ask(
        &mut table,
        3,
        "session.model",
        json!({"model": "none"}),
    ));
    assert_eq!(table.carry_out(effects), "use m high, use m low");
    let settings: serde_json::Value = serde_json::from_str(&table.file("settings.json")).unwrap();
    assert_eq!(settings["model"], json!("p/m"));
    assert_eq!(settings["effort"], json!("low"));
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
fn a_home_is_trusted_for_one_run_and_nothing_is_recorded() {
    let mut table = Table::ready(&[]);
    let at = table.app.cwd.clone();
    let mut env = Env::default();
    env.set("HOME", at.join("inner"));
    fs::create_dir(at.join("inner")).unwrap();
    table.app.process = Arc::new(Process {
        trusted: None,
        env: Arc::new(env),
        ..(*table.app.process).clone()
    });
    table.app.session = None;
    let effects = table.app.start();
    table.carry_out(effects);
    table.now += Duration::from_secs(2);
    table.app.after_frame(table.now);
    let screen = table.screen();
    assert!(
        screen.contains("› Trust this directory until e ends"),
        "{screen}"
    );
    assert!(!screen.contains("and all below it"), "{screen}");
    table.app.after_frame(table.now);
    assert_eq!(table.press("\r"), "open");
    assert_eq!(table.file("trust.json"), "");
    // What would be refused is not offered later, either.
    table.press("/trust\r");
    let screen = table.screen();
    assert!(screen.contains("› Do not trust this directory"), "{screen}");
    assert!(!screen.contains("  Trust"), "{screen}");
}

#[test]
fn trust_that_cannot_be_recorded_lasts_until_e_ends() {
    type Spoils = fn(&Path);
    let cases: [(Spoils, bool); 3] = [
        (
            |home| fs::create_dir_all(home.join("trust.json")).unwrap(),
            true,
        ),
        (
            |home| symlink("trust.json", home.join("trust.json")).unwrap(),
            true,
        ),
        (|home| fs::write(home, "").unwrap(), false),
    ];
    for (spoil, is_home) in cases {
        let mut table = Table::new(&[]);
        let home = table.root.path().join("home");
        let _ = fs::remove_dir_all(&home);
        if is_home {
            fs::create_dir(&home).unwrap();
        }
        spoil(&home);
        table.app.process = Arc::new(Process {
            trusted: None,
            ..(*table.app.process).clone()
        });
        table.app.options.model = Some("offline/echo".into());
        table.app.close(None);
        table.app.surface = None;
        let effects = table.app.start();
        table.carry_out(effects);
        table.app.after_frame(table.now);
        table.now += Duration::from_secs(2);
        table.app.after_frame(table.now);
        assert_eq!(table.press("\r"), "open");
        let screen = table.screen();
        assert_eq!(
            screen.matches("trusted until e ends, no longer").count(),
            1,
            "{screen}"
        );
        assert_eq!(table.press("hi\r"), "prompt hi");
    }
}

#[test]
fn what_helps_is_named_where_there_is_no_session() {
    let mut table = Table::new(&[]);
    table.press("␛hi\r");
    assert!(table.screen().contains("there is no session: sign in"));

    let mut table = Table::ready(&[]);
    table.app.close(None);
    fs::remove_dir(table.root.path().join("w")).unwrap();
    let effects = table.app.start();
    table.carry_out(effects);
    table.press("hi\r");
    let screen = table.screen();
    assert!(screen.contains("again when that is mended"), "{screen}");
    assert!(!screen.contains("/login"), "{screen}");
    assert_eq!(table.draft(), "hi");
}

#[test]
fn what_opens_by_itself_leaves_the_keys_to_who_is_typing() {
    let root = tempfile::tempdir().unwrap();
    let mut app = app(Registry::default());
    app.session = None;
    app.cwd = root.path().to_owned();
    let now = Instant::now();
    let type_in = |app: &mut App, keys: &str, now| {
        for event in Parser::default().feed(keys.as_bytes()) {
            if let InputEvent::Key(press) = event {
                assert!(app.on_key(press, now).is_empty(), "{press:?}");
            }
        }
    };
    assert!(app.start().is_empty());
    type_in(&mut app, "helo\x7flo\r", now);
    app.on_paste("!", now);
    app.after_frame(now);
    type_in(&mut app, "?\r", now);
    assert_eq!(app.composer.draft().buffer.text(), "hello!?");
    // As long as keys keep coming, nobody has looked.
    let mut later = now;
    for keys in [" f", "ix", "\r"] {
        later += Duration::from_millis(250);
        type_in(&mut app, keys, later);
    }
    assert_eq!(app.composer.draft().buffer.text(), "hello!? fix");
    // Nor has who begins a sentence later.
    later += Duration::from_secs(9);
    type_in(&mut app, " it\r", later);
    app.on_paste("!", later + Duration::from_secs(9));
    type_in(&mut app, "\r", later + Duration::from_secs(9));
    assert_eq!(app.composer.draft().buffer.text(), "hello!? fix it!");
    // Who did not type before decides at once.
    later += Duration::from_secs(20);
    type_in(&mut app, "\x1b[A", later);
    let enter = KeyPress::plain(Key::Enter);
    assert!(matches!(app.on_key(enter, later)[..], [Effect::Quit(1)]));
    let escape = KeyPress::plain(Key::Escape);
    assert!(matches!(app.on_key(escape, later)[..], [Effect::Quit(1)]));
}

#[test]
fn a_sentence_chooses_no_provider_to_sign_in_to() {
    let mut table = Table::new(&[]);
    assert!(table.screen().contains("Sign in"), "{}", table.screen());
    let before = table.screen();
    table.press("fix it\r");
    assert_eq!(table.draft(), "fix it");
    assert_eq!(table.screen().replace("fix it", ""), before);
    table.now += Duration::from_millis(301);
    table.press("\r");
    assert_ne!(table.screen().replace("fix it", ""), before);
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

#[test]
fn help_lists_templates_and_how_to_quit() {
    let nameless = ("home/prompts/mend.md", "mend it");
    let shadowed = ("home/prompts/quit.md", "x");
    let mut table = Table::ready(&[FIX, nameless, shadowed]);
    table.press("/help\r");
    let size = Size {
        columns: 80,
        rows: 200,
    };
    let frame = table.app.inline_frame(size, 0, table.now, false);
    let screen = plain(&[frame.settled, frame.live].concat()).join("\n");
    for part in [
        "/fix <file>",
        "/mend",
        "a prompt of yours",
        "quit, when the draft is empty",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!(screen.matches("/quit").count(), 1, "{screen}");
}
