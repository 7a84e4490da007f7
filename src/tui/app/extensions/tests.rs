//! What extensions show and ask, as events and the effects that follow.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::completion::Listed;
use super::super::{App, Done, Effect, Opened, Surface, Task};
use crate::agent::{
    Answer, Input, Past, Reason, RequestId, SessionKey, SessionSpec, TurnEvent, Want,
};
use crate::config::Chord;
use crate::extension::answer::Rendered;
use crate::extension::manifest::{self, Render};
use crate::extension::{AskId, Asked, ExtensionId, Failure, Owned, Registry, request};
use crate::tui::frame::Size;
use crate::tui::key::{Button, InputEvent, Key, KeyPress, Mouse, MouseKind, Parser};
use crate::tui::testing::{check, plain};
use crate::tui::transcript::Transcript;
use crate::tui::view::login::Login;

const ME: ExtensionId = ExtensionId(0);
const OTHER: ExtensionId = ExtensionId(1);

/// An app with a session, a clock that is moved by hand, and what it has sent to the core.
struct Table {
    app: App,
    now: Instant,
    asks: u64,
    /// Whether the last request is painted at once.
    is_prompt: bool,
}

impl Table {
    fn new() -> Self {
        let (manifest, _) = manifest::parse(&json!({
            "name": "me",
            "commands": [{"name": "go", "completions": true}, {"name": "plain"}],
        }))
        .unwrap();
        let owned = |item| Owned { owner: ME, item };
        let registry = Registry {
            commands: manifest.commands.into_iter().map(owned).collect(),
            renders: vec![Render::Assistant, Render::Tool("look".into())],
            ..Registry::default()
        };
        let app = super::super::tests::app(registry);
        Self {
            app,
            now: Instant::now(),
            asks: 0,
            is_prompt: false,
        }
    }

    /// An extension asks; the answer, notices and calls that follow.
    fn ask(&mut self, from: ExtensionId, method: &str, params: Value) -> String {
        self.asks += 1;
        let asked = Asked {
            ask: AskId::for_test(self.asks),
            from,
            extension: ["me", "other"][from.0].into(),
            method: method.into(),
            request: request::parse(method, &params).unwrap(),
            params,
        };
        let effects = self.app.asked(asked);
        self.is_prompt = effects.iter().any(|effect| matches!(effect, Effect::Paint));
        self.app.before_frame(self.now);
        show(effects)
    }

    /// Keys as a terminal sends them.
    fn press(&mut self, keys: &str) -> String {
        let mut parser = Parser::default();
        let mut events = parser.feed(keys.as_bytes());
        events.extend(parser.flush());
        let mut effects = Vec::new();
        for event in events {
            match event {
                InputEvent::Key(press) => {
                    let wanted = self.app.on_key(press, self.now);
                    effects.extend(self.carry_out(wanted));
                }
                other => panic!("{other:?}"),
            }
        }
        self.app.before_frame(self.now);
        show(effects)
    }

    /// Does what tasks do, at once; what is left is for the core.
    fn carry_out(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let mut left = Vec::new();
        for effect in effects {
            match effect {
                Effect::Task(Task(work)) => {
                    let effects = self.app.on_done(work());
                    left.extend(self.carry_out(effects));
                }
                effect => left.push(effect),
            }
        }
        left
    }

    /// The screen as text under what has settled since the last time.
    fn screen(&mut self, columns: u16, rows: u16) -> Vec<String> {
        self.app.before_frame(self.now);
        let size = Size { columns, rows };
        let mut rows = match self.app.full_frame(size, self.now, false) {
            Some((surface, _)) => surface.text(),
            None => {
                let frame = self.app.inline_frame(size, 0, self.now, false);
                check(&frame.live, columns.into());
                plain(&[frame.settled, frame.live].concat())
            }
        };
        for row in &mut rows {
            row.truncate(row.trim_end().len());
        }
        rows
    }

    fn draft(&self) -> String {
        self.app.composer.draft().buffer.expand()
    }
}

/// What goes to the core, in short: `ask=result`, `method{params}`.
fn show(effects: Vec<Effect>) -> String {
    let effects = effects.into_iter();
    let shown = effects.filter(|effect| !matches!(effect, Effect::Paint));
    let shown = shown.map(|effect| match effect {
        Effect::Send(Input::Reply(_, Ok(result))) => format!("={result}"),
        Effect::Send(Input::Reply(_, Err(why))) => format!("!{why}"),
        Effect::Send(Input::Notify(to, method, params)) => format!("{}:{method}{params}", to.0),
        Effect::Send(Input::Call { method, params, .. }) => format!("{method}{params}"),
        Effect::Send(Input::Want(_, _, Want::Prompt(prompt, _))) => {
            format!("prompt {}", prompt.text)
        }
        Effect::Send(Input::Name(_, name)) => format!("name {name}"),
        other => format!("{other:?}"),
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn lists_are_picked_from() {
    let select = json!({"title": "T", "options": ["one", {"label": "two", "value": 2}, "three"]});
    for (keys, answer) in [
        ("\r", r#"={"value":"one","label":"one"}"#),
        ("\x1b[B\r", r#"={"value":"2","label":"two"}"#),
        ("\x1b[A\r", r#"={"value":"three","label":"three"}"#),
        ("thr\r", r#"={"value":"three","label":"three"}"#),
        ("zz\r\x7f\x7ftw\r", r#"={"value":"2","label":"two"}"#),
        ("\x1b", r#"={"cancelled":true}"#),
        ("\x03", r#"={"cancelled":true}"#),
    ] {
        let mut table = Table::new();
        assert_eq!(table.ask(ME, "ui.select", select.clone()), "");
        assert_eq!(table.press(keys), answer, "{keys:?}");
        assert_eq!(table.draft(), "", "{keys:?}");
    }
    let confirm = json!({"title": "T", "message": "M"});
    for (keys, answer) in [
        ("\r", r#"={"confirmed":true}"#),
        ("\x1b[B\r", r#"={"confirmed":false}"#),
        ("n", r#"={"confirmed":false}"#),
        ("\x1b[BY", r#"={"confirmed":true}"#),
        // Nothing else that is typed hides an answer.
        ("zo\x7f\r", r#"={"confirmed":true}"#),
        ("\x1b", r#"={"confirmed":false}"#),
        ("\x03", r#"={"confirmed":false}"#),
    ] {
        let mut table = Table::new();
        table.ask(ME, "ui.confirm", confirm.clone());
        assert_eq!(table.press(keys), answer, "{keys:?}");
    }
}

#[test]
fn a_field_takes_the_composer_for_a_while() {
    let mut table = Table::new();
    table.press("my draft");
    table.now += Duration::from_secs(2);
    table.ask(
        ME,
        "ui.input",
        json!({"title": "Name", "placeholder": "who", "prefill": "a"}),
    );
    assert_eq!(table.press("b\x1b\r"), "");
    assert_eq!(table.press("\r"), r#"={"text":"ab"}"#);
    assert_eq!(table.draft(), "my draft");
    // What ends in a backslash is answered, too, and nothing of it is kept.
    table.ask(ME, "ui.input", json!({"title": "Key", "secret": true}));
    table.press("s3cret\\");
    assert!(!table.screen(40, 10).concat().contains("s3cret"));
    assert_eq!(table.press("\r"), r#"={"text":"s3cret\\"}"#);
    table.ask(ME, "ui.editor", json!({"title": "Text", "text": "one"}));
    assert_eq!(table.press("\ntwo\x1b[A"), "");
    assert_eq!(table.press("\r"), r#"={"text":"one\ntwo"}"#);
    table.ask(ME, "ui.editor", json!({"title": "Text"}));
    assert_eq!(table.press("gone\x1b"), r#"={"cancelled":true}"#);
    assert_eq!(table.draft(), "my draft");
    table.ask(
        ME,
        "ui.input",
        json!({"title": "Empty", "placeholder": "who are you?"}),
    );
    let screen = table.screen(40, 10);
    assert_eq!(screen[1], "┃ who are you?");
    assert!(screen[3].starts_with("Empty") && screen[3].ends_with("me"));
    assert_eq!(table.press("\r"), r#"={"text":""}"#);
}

#[test]
fn questions_wait_for_their_turn() {
    let question = |title: &str| json!({"title": title, "options": ["x"]});
    let mut table = Table::new();
    table.app.surface = Some(Surface::Login(Login::new(Vec::new(), None)));
    table.ask(ME, "ui.select", question("FIRST"));
    table.ask(OTHER, "ui.select", question("SECOND"));
    let titles = |table: &mut Table| {
        let screen = table.screen(40, 12).join("\n");
        ["FIRST", "SECOND"].map(|title| screen.contains(title))
    };
    let last = table.screen(40, 12).pop().unwrap();
    assert_eq!(last, "me asks: FIRST · esc to answer");
    let last = table.screen(80, 12).pop().unwrap();
    assert!(last.starts_with("↑/↓") && last.ends_with("  me asks: FIRST · esc to answer"));
    table.app.surface = None;
    assert_eq!(titles(&mut table), [true, false]);
    table.app.withdrawn(AskId::for_test(1));
    assert_eq!(titles(&mut table), [false, true]);
    table.ask(ME, "ui.input", question("THIRD"));
    table.app.extension_gone(OTHER);
    table.app.before_frame(table.now);
    assert!(table.app.composer.is_field());
    table.ask(ME, "ui.confirm", question("FOURTH"));
    let refused = show(table.app.refuse_questions("the session is another one"));
    assert_eq!(
        refused,
        "!the session is another one !the session is another one"
    );
    assert!(!table.app.composer.is_field());
}

#[test]
fn what_was_typed_for_a_question_that_goes_is_not_lost() {
    let input = |secret: bool| json!({"title": "Who?", "prefill": "a", "secret": secret});
    for (params, typed, is_kept) in [
        (input(false), "bc", true),
        (input(false), "", false),
        (input(true), "bc", false),
    ] {
        for end in ["withdrawn", "gone", "another session"] {
            let mut table = Table::new();
            table.ask(ME, "ui.input", params.clone());
            table.press(typed);
            match end {
                "withdrawn" => table.app.withdrawn(AskId::for_test(1)),
                "gone" => table.app.extension_gone(ME),
                _ => drop(table.app.refuse_questions(end)),
            }
            let told = table
                .screen(80, 20)
                .concat()
                .contains("the question of me is over");
            table.press("\x1b[A");
            assert_eq!(table.draft() == "abc", is_kept, "{end}");
            assert_eq!(told, is_kept, "{end}");
        }
    }
}

/// Also its own asker's, and one that takes no keys. Nobody waits unseen.
#[test]
fn a_question_waits_behind_a_panel_and_says_so() {
    for (owner, interactive) in [(OTHER, true), (ME, true), (OTHER, false), (ME, false)] {
        let mut table = Table::new();
        let panel = json!({"title": "Game", "lines": ["board"], "interactive": interactive});
        table.ask(owner, "ui.panel", panel);
        table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
        let screen = table.screen(60, 16);
        assert!(screen.contains(&"board".into()), "{screen:?}");
        let last = screen.last().unwrap();
        let asks = "me asks: Delete? · esc to answer";
        assert!(last.starts_with("esc close") && last.ends_with(asks));
        // Behind the reader, too, and where a pane fills the screen.
        table.app.open_reader();
        assert!(table.screen(60, 16)[15].ends_with(asks));
        table.app.reader = None;
        table.ask(OTHER, "ui.pane", pane("p"));
        if !table.app.pane_has_focus() {
            table.press("\x14");
        }
        assert_eq!(table.screen(30, 16)[15], "me asks: Delete?");
        table.app.extensions.pane = None;
        table.press("x");
        let closed = format!("{}:ui.panel_closed{{}}", owner.0);
        assert_eq!(table.press("\x1b"), closed);
        assert!(table.screen(60, 16).join("\n").contains("y yes"));
        // Who played or wrote may have pressed the next key for that.
        assert_eq!(table.press("y"), "");
        table.now += Duration::from_secs(1);
        assert_eq!(table.press("y"), r#"={"confirmed":true}"#);
    }
}

/// A panel that comes later waits for the answer.
#[test]
fn an_open_question_stays() {
    let mut table = Table::new();
    table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    table.ask(OTHER, "ui.panel", panel);
    assert!(table.screen(60, 16).join("\n").contains("Delete?"));
    assert_eq!(table.press("y"), r#"={"confirmed":true}"#);
    assert!(table.screen(60, 16).join("\n").contains("board"));
    assert_eq!(table.press("y"), r#"1:ui.key{"key":"y"}"#);
}

#[test]
fn who_is_typing_answers_nothing_by_accident() {
    let mut table = Table::new();
    table.press("half a sen");
    table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
    assert_eq!(table.press("\r"), "");
    table.now += Duration::from_millis(301);
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
    // Who has just answered is not typing.
    table.ask(ME, "ui.confirm", json!({"title": "Sure?"}));
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
}

#[test]
fn an_interactive_panel_gets_every_key_but_two() {
    let mut table = Table::new();
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    assert_eq!(table.ask(ME, "ui.panel", panel.clone()), "={}");
    let keys = "a\u{c9} \r\t\x1b[Z\x18\x0f\x1b[5~\x1bx+";
    let names = [
        "a",
        "shift+é",
        "space",
        "enter",
        "tab",
        "shift+tab",
        "ctrl+x",
        "ctrl+o",
        "pageup",
        "alt+x",
        "+",
    ];
    let expected = names.map(|name| format!(r#"0:ui.key{{"key":"{name}"}}"#));
    assert_eq!(table.press(keys), expected.join(" "));
    let pasted = show(table.app.on_paste("a\r\nB", table.now));
    let expected = ["a", "enter", "shift+b"].map(|name| format!(r#"0:ui.key{{"key":"{name}"}}"#));
    assert_eq!(pasted, expected.join(" "));
    assert_eq!(show(table.app.on_paste(&"x".repeat(65), table.now)), "");
    // Another's panel replaces it, and null closes only one's own.
    let replaced = table.ask(OTHER, "ui.panel", json!({"title": "O", "lines": []}));
    assert_eq!(replaced, "={} 0:ui.panel_closed{}");
    assert_eq!(table.ask(ME, "ui.panel", Value::Null), "={}");
    assert!(table.screen(40, 12).concat().contains("other"));
    // One that is not interactive leaves the keys to the composer.
    assert_eq!(table.press("hi"), "");
    assert_eq!(table.draft(), "hi");
    assert_eq!(table.press("\x03"), "1:ui.panel_closed{}");
}

#[test]
fn what_answers_a_key_is_painted_at_once() {
    let mut table = Table::new();
    let panel = json!({"title": "Game", "lines": ["board"], "interactive": true});
    let prompt = |table: &mut Table, from, count: usize| {
        let mut asked = || {
            table.ask(from, "ui.panel", panel.clone());
            table.is_prompt
        };
        (0..count).filter(|_| asked()).count()
    };
    // Nobody waits for the first one, nor for what moves by itself.
    assert_eq!(prompt(&mut table, ME, 9), 0);
    table.press("a");
    assert_eq!(prompt(&mut table, ME, 9), super::PROMPT);
    table.press("a");
    assert_eq!(prompt(&mut table, OTHER, 9), 0);
    table.press("\x1b");
    table.press("/plain\r");
    assert_eq!(prompt(&mut table, ME, 9), super::PROMPT);
}

#[test]
fn a_panel_that_is_only_looked_at_scrolls() {
    let mut table = Table::new();
    let lines: Vec<String> = (0..30).map(|n| format!("line {n}")).collect();
    let panel = |title: &str, lines: &[String]| json!({"title": title, "lines": lines});
    table.ask(ME, "ui.panel", panel("P", &lines));
    let seen = |table: &mut Table| table.screen(40, 16).join("\n");
    assert!(seen(&mut table).contains("lines 1-"));
    table.press("\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~\x1b[6~");
    assert!(
        seen(&mut table).contains("line 29\nlines 2"),
        "{}",
        seen(&mut table)
    );
    // What is drawn anew stays where it was, as far as it goes.
    table.ask(ME, "ui.panel", panel("P", &lines[..12]));
    assert!(seen(&mut table).contains("line 11\n"));
    table.press("\x1b[5~\x1b[5~\x1b[5~");
    assert!(seen(&mut table).contains("line 0\n"));
    // With nothing more to see the keys are for the conversation again.
    table.ask(ME, "ui.panel", panel("P", &lines[..2]));
    seen(&mut table);
    let down = KeyPress::plain(Key::PageDown);
    assert!(table.app.panel_key(down).is_none());
}

#[test]
fn slots_show_where_they_belong() {
    let mut table = Table::new();
    table.ask(ME, "ui.status", json!({"text": "41 ok"}));
    table.ask(OTHER, "ui.status", json!({"text": "b\x1b[1m", "key": "k"}));
    table.ask(ME, "ui.activity", json!({"text": "3 builds"}));
    table.ask(ME, "ui.widget", json!({"lines": ["row b"], "key": "b"}));
    table.ask(ME, "ui.widget", json!({"lines": ["row a"], "key": "a"}));
    let expected = [
        "",
        "  3 builds",
        "  row a",
        "  row b",
        "",
        "┃",
        "",
        "m                  41 ok · b",
    ];
    assert_eq!(table.screen(28, 12), expected);
    // Without an activity row a blank one divides widgets from what is above.
    table.ask(ME, "ui.activity", json!({"text": " "}));
    table.app.transcript.push_notice("said");
    let expected = ["  said", "", "  row a", "  row b", "", "┃"];
    assert_eq!(table.screen(28, 12)[..6], expected);
    table.app.extension_gone(ME);
    let expected = ["", "┃", "", "m                          b"];
    assert_eq!(table.screen(28, 12), expected);
}

#[test]
fn a_composed_text_loses_no_draft() {
    let mut table = Table::new();
    table.press("mine");
    assert_eq!(
        table.ask(ME, "ui.compose", json!({"text": "theirs"})),
        "={}"
    );
    assert_eq!(table.draft(), "theirs");
    table.press("\x1b[A");
    assert_eq!(table.draft(), "mine");
    table.now += Duration::from_secs(2);
    table.ask(ME, "ui.input", json!({"title": "T"}));
    let busy = table.ask(ME, "ui.compose", json!({"text": "x"}));
    assert!(busy.starts_with("!the composer is answering"), "{busy}");
}

#[test]
fn commands_are_carried_out() {
    let mut table = Table::new();
    assert_eq!(
        table.press("/plain a  b\r"),
        r#"command{"name":"plain","args":"a  b"}"#
    );
    let request = RequestId(table.app.last_request);
    let answer = json!({"notice": "done", "prompt": "/plain", "session_name": "N"});
    let after = show(table.app.called(request, Ok(answer.clone()), table.now));
    assert_eq!(after, "name N prompt /plain");
    assert!(table.screen(40, 12).concat().contains("done"));
    // Another session has come meanwhile.
    table.press("/plain\r");
    let request = RequestId(table.app.last_request);
    table.app.session.as_mut().unwrap().key = SessionKey(2);
    let after = show(table.app.called(request, Ok(answer), table.now));
    assert_eq!(after, "");
    table.press("/plain\r");
    let request = RequestId(table.app.last_request);
    table.app.called(request, Err(Failure::Gone), table.now);
    assert!(table.screen(80, 30).join("\n").contains("/plain: "));
}

#[test]
fn completions_follow_the_draft() {
    let mut table = Table::new();
    let items = json!({"items": [{"value": "prod"}, {"value": "prev", "label": "Preview"}]});
    assert_eq!(
        table.press("/go p"),
        r#"command.complete{"name":"go","prefix":""}"#
    );
    // The answer is about another draft by now.
    let request = RequestId(table.app.last_request);
    let again = show(table.app.called(request, Ok(items.clone()), table.now));
    assert_eq!(again, r#"command.complete{"name":"go","prefix":"p"}"#);
    let request = RequestId(table.app.last_request);
    assert_eq!(show(table.app.called(request, Ok(items), table.now)), "");
    assert!(table.screen(60, 12).join("\n").contains("Preview"));
    table.press("\x1b[B\r");
    assert_eq!(table.draft(), "/go prev ");
    assert!(!table.screen(60, 12).join("\n").contains("Preview"));
    assert_eq!(table.press("\r"), r#"command{"name":"go","args":"prev"}"#);
    // A failure shows nothing.
    table.press("/go x");
    let request = RequestId(table.app.last_request);
    let failed = Err(Failure::TimedOut(Duration::from_secs(3)));
    assert_eq!(
        show(table.app.called(request, failed, table.now)),
        r#"command.complete{"name":"go","prefix":"x"}"#
    );
}

#[test]
fn replies_wait_for_their_rendering() {
    let mut table = Table::new();
    let mut event = |event: TurnEvent| {
        table.app.prepare_renders(&event);
        table.app.transcript.apply(&event);
        table.app.ask_renders(&event).len()
    };
    assert_eq!(event(TurnEvent::TurnStart), 0);
    assert_eq!(event(TurnEvent::Text("one".into())), 0);
    assert_eq!(event(TurnEvent::Reasoning("hm".into())), 1);
    assert_eq!(event(TurnEvent::Text("two".into())), 0);
    assert_eq!(event(TurnEvent::TurnEnd { aborted: false }), 1);
    let shown = |body: &str| {
        Some(Rendered {
            body: body.into(),
            format: Default::default(),
        })
    };
    let last = table.app.last_request;
    table.app.rendered(RequestId(last), shown("SECOND"));
    let settled = |table: &mut Table| plain(&table.app.transcript.settled_rows(40)).join("\n");
    assert_eq!(settled(&mut table), "");
    table.app.rendered(RequestId(last - 1), None);
    let rows = settled(&mut table);
    assert!(
        rows.contains("one") && rows.contains("SECOND") && !rows.contains("two"),
        "{rows}"
    );
}

/// A new or resumed session, and a fork, begin with an empty screen.
#[test]
fn nothing_is_taken_along_into_another_session() {
    let mut table = Table::new();
    let show_all = |table: &mut Table| {
        for (method, params) in [
            ("ui.status", json!({"text": "SLOT"})),
            ("ui.activity", json!({"text": "SLOT"})),
            ("ui.widget", json!({"lines": ["SLOT"]})),
            ("ui.panel", json!({"title": "SLOT"})),
            (
                "ui.pane",
                json!({"sections": [{"kind": "text", "body": "SLOT"}]}),
            ),
        ] {
            table.ask(ME, method, params);
        }
        assert_eq!(table.screen(120, 30).concat().matches("SLOT").count(), 4);
    };
    let closed = r#"0:pane.closed{"pane":"pane"} 0:ui.panel_closed{}"#;
    show_all(&mut table);
    let told = show(table.app.fork("")).replace("Send(Fork", "FORK");
    assert!(told.starts_with(&format!("{closed} FORK")), "{told}");
    table.ask(ME, "ui.status", json!({"text": "SLOT"}));
    let fork = RequestId(table.app.last_request);
    table.app.awaited(fork, Answer::Forked(None), table.now);
    assert!(!table.screen(120, 30).concat().contains("SLOT"));
    show_all(&mut table);
    let opened = Opened {
        spec: SessionSpec::for_test(),
        past: Past::default(),
        transcript: Transcript::new(Default::default()),
        warnings: Vec::new(),
        reason: Reason::New,
    };
    let told = show(table.app.on_done(Done::Opened(Ok(Box::new(opened)))));
    let at = |text: &str| {
        told.find(text)
            .unwrap_or_else(|| panic!("no {text} in {told}"))
    };
    assert!(at("Close") < at(closed) && at(closed) < at("Open("));
    assert!(!table.screen(120, 30).concat().contains("SLOT"));
}

fn pane(id: &str) -> Value {
    let items: Vec<Value> = (0..12)
        .map(|n| json!({"id": format!("i{n}"), "label": format!("item {n}"), "detail": "+1"}))
        .collect();
    json!({"id": id, "title": "Changes", "sections": [
        {"kind": "list", "id": "files", "items": items},
        {"kind": "text", "id": "log", "body": "first\nsecond\nthird\n"},
    ]})
}

#[test]
fn a_pane_is_read_and_attached_from() {
    let mut table = Table::new();
    table.press("h");
    assert_eq!(table.ask(ME, "ui.pane", pane("p")), "={}");
    // The keys stay where they were.
    assert_eq!(table.press("i"), "");
    assert_eq!(table.draft(), "hi");
    table.press("\x14");
    let select = |method: &str, item: &str| {
        format!(r#"0:{method}{{"pane":"p","section":"files","id":"{item}"}}"#)
    };
    assert_eq!(table.press("\x1b[B"), select("pane.select", "i1"));
    assert_eq!(table.press("k"), select("pane.select", "i0"));
    assert_eq!(table.press("k"), "");
    assert_eq!(table.press("x"), r#"0:pane.key{"pane":"p","key":"x"}"#);
    let keys = [
        ("ctrl+n", "\x0e"),
        ("shift+tab", "\x1b[Z"),
        ("shift+x", "X"),
    ];
    for (name, key) in keys {
        let expected = format!(r#"0:pane.key{{"pane":"p","key":"{name}"}}"#);
        assert_eq!(table.press(key), expected);
    }
    assert_eq!(table.press("\r"), select("pane.activate", "i0"));
    // Enter went on to the next section, where rows are selected and attached.
    table.screen(120, 20);
    assert_eq!(table.press("j\x1b[1;2B\r"), "");
    assert_eq!(table.draft(), "hi\nChanges:\nsecond\nthird\n");
    assert!(table.screen(120, 20)[17].starts_with("┃ hi[Changes · 2 rows]"));
}

#[test]
fn a_pane_stands_beside_the_conversation_or_in_its_place() {
    let mut table = Table::new();
    table.ask(ME, "ui.pane", pane("p"));
    table.press("\x14");
    assert!(table.app.modes().alternate && table.app.modes().mouse);
    let wide = table.screen(120, 20);
    assert_eq!(wide.len(), 20);
    assert_eq!(wide[0].find('│'), Some(70));
    assert!(wide[0].contains("Changes") && wide[0].ends_with('×'));
    assert!(wide[17].starts_with("┃") && wide[1].ends_with("+1"));
    assert!(wide[19].ends_with("│ ctrl+t to go here"), "{wide:?}");
    let hidden = table.screen(80, 20);
    assert!(hidden[19].ends_with("Changes · ctrl+t"), "{hidden:?}");
    table.press("\x14");
    let shown = table.screen(80, 20);
    assert!(shown[0].starts_with("Changes"));
    assert!(shown[19].ends_with("ctrl+t conversation"));
    assert!(!shown[18].contains("ctrl+t"), "{shown:?}");
    table.app.layout.focus = Chord::parse("alt+p").unwrap();
    let wide = table.screen(160, 20);
    assert!(
        wide[19].ends_with("esc back · alt+p conversation"),
        "{wide:?}"
    );
    // A question has the screen and the keys until it is answered.
    table.now += Duration::from_secs(2);
    table.ask(ME, "ui.confirm", json!({"title": "Sure?"}));
    assert!(table.screen(80, 20).join("\n").contains("Sure?"));
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
    assert!(table.screen(80, 20)[0].starts_with("Changes"));
    for columns in [1, 2, 3, 59, 60, 109, 110, 300] {
        for rows in [1, 2, 3, 8, 50] {
            table.screen(columns, rows);
        }
    }
    assert_eq!(table.press("\x1b"), r#"0:pane.closed{"pane":"p"}"#);
    assert!(!table.app.modes().alternate);
}

/// A question takes the keys, and the person may go to the pane and back before it is answered.
#[test]
fn the_pane_is_reached_while_a_question_is_open() {
    let mut table = Table::new();
    table.ask(ME, "ui.pane", pane("p"));
    table.ask(ME, "ui.confirm", json!({"title": "Sure?"}));
    table.screen(120, 20);
    table.now += Duration::from_secs(2);
    assert!(!table.app.pane_has_focus());
    table.press("\x14");
    assert!(table.press("\x1b[B").contains("pane.select"));
    assert!(table.screen(120, 20)[19].ends_with("ctrl+t conversation"));
    table.press("\x14");
    assert_eq!(table.press("\r"), r#"={"confirmed":true}"#);
}

#[test]
fn the_mouse_finds_its_place_in_a_pane() {
    let mut table = Table::new();
    table.ask(ME, "ui.pane", pane("p"));
    table.screen(120, 20);
    let mut mouse = |kind, column, row| {
        let mouse = Mouse { kind, column, row };
        let effects = show(table.app.on_mouse(mouse));
        (effects, table.app.pane_has_focus())
    };
    let left = MouseKind::Press(Button::Left);
    let selected = r#"0:pane.select{"pane":"p","section":"files","id":"i2"}"#;
    assert_eq!(mouse(left, 80, 3), (selected.into(), true));
    assert_eq!(mouse(left, 3, 3), (String::new(), false));
    let (effects, focused) = mouse(MouseKind::WheelDown, 80, 3);
    assert!(effects.contains("i3") && !focused);
    assert_eq!(mouse(left, 80, 11), (String::new(), true));
    assert_eq!(
        mouse(MouseKind::Drag(Button::Left), 80, 12),
        (String::new(), true)
    );
    table.press("\r");
    assert!(table.draft().contains("second"), "{}", table.draft());
    let mouse = Mouse {
        kind: left,
        column: 119,
        row: 0,
    };
    assert_eq!(
        show(table.app.on_mouse(mouse)),
        r#"0:pane.closed{"pane":"p"}"#
    );
}

/// A pane opens focused, unless somebody writes or something else takes the keys.
#[test]
fn a_pane_takes_no_keys_of_somebody_else() {
    for (typed, focused) in [("", true), ("x", false), ("x\x7f", true), ("/", false)] {
        let mut table = Table::new();
        table.press(typed);
        table.ask(ME, "ui.pane", pane("p"));
        assert_eq!(table.app.pane_has_focus(), focused, "{typed:?}");
    }
    for (method, params) in [
        ("ui.confirm", json!({"title": "Sure?"})),
        ("ui.input", json!({"title": "Who?"})),
        ("ui.panel", json!({"title": "G", "interactive": true})),
    ] {
        let mut table = Table::new();
        table.ask(OTHER, method, params);
        table.ask(ME, "ui.pane", pane("p"));
        table.app.refuse_questions("");
        assert!(!table.app.pane_has_focus(), "{method}");
    }
}

/// Lists that were read for the draft, and drafts that extensions write, are nobody's typing.
#[test]
fn who_was_called_has_the_focus_until_the_person_types() {
    for (typed, focused) in [("", true), ("x", false)] {
        let mut table = Table::new();
        table.press("/plain\r");
        table.press(typed);
        let read = Listed::Resources(Vec::new(), Vec::new());
        table.app.on_done(Done::Listed(read));
        table.ask(ME, "ui.compose", json!({"text": "theirs"}));
        table.ask(ME, "ui.pane", pane("p"));
        assert_eq!(table.app.pane_has_focus(), focused, "{typed:?}");
    }
}

/// A question that ignores keys for a moment takes that moment with it.
#[test]
fn a_list_that_the_person_opens_hears_every_key() {
    let mut table = Table::new();
    table.press("half");
    table.ask(ME, "ui.confirm", json!({"title": "Delete?"}));
    table.app.refuse_questions("the session is another one");
    table.press("\x15/plai");
    let screen = table.screen(60, 20).join("\n");
    assert!(
        screen.contains("Commands 1") && screen.contains("plain"),
        "{screen}"
    );
}

#[test]
fn panes_are_replaced_and_closed() {
    let mut table = Table::new();
    table.press("/plain\r");
    table.ask(ME, "ui.pane", pane("p"));
    assert!(table.app.pane_has_focus());
    assert_eq!(table.ask(ME, "ui.pane", pane("p")), "={}");
    let replaced = table.ask(OTHER, "ui.pane", pane("q"));
    assert_eq!(replaced, r#"={} 0:pane.closed{"pane":"p"}"#);
    assert_eq!(table.ask(ME, "ui.pane", Value::Null), "={}");
    assert!(table.app.pane_is_open());
    table.app.extension_gone(OTHER);
    assert!(!table.app.pane_is_open());
    let key = KeyPress::plain(Key::Char('x'));
    assert_eq!(show(table.app.on_key(key, table.now)), "");
}
