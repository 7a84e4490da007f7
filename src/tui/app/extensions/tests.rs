//! What extensions show and ask, as events and the effects that follow.

mod pane;
mod panel;
mod questions;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::submit::Line;
use super::super::tests::{app, keys};
use super::super::{App, Done, Effect, Opened, Task};
use crate::agent::{
    Answer, Input, Past, Reason, RequestId, SessionKey, SessionSpec, TurnEvent, Want,
};
use crate::extension::answer::Rendered;
use crate::extension::manifest::{self, Render};
use crate::extension::{AskId, Asked, Bound, ExtensionId, Failure, Owned, Registry, request};
use crate::tui::frame::Size;
use crate::tui::testing::{check, plain};
use crate::tui::transcript::Transcript;

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
            "shortcuts": [{"key": "alt+y"}],
        }))
        .unwrap();
        fn owned<T>(item: T) -> Owned<T> {
            Owned { owner: ME, item }
        }
        let registry = Registry {
            commands: manifest.commands.into_iter().map(owned).collect(),
            shortcuts: Vec::from_iter(manifest.shortcuts.into_iter().map(|shortcut| {
                let chord = shortcut.key.clone();
                owned(Bound { chord, shortcut })
            })),
            renders: vec![Render::Assistant, Render::Tool("look".into())],
            ..Registry::default()
        };
        Self {
            app: app(registry),
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
        self.app.asked(asked);
        let is_paint = |effect: &Effect| matches!(effect, Effect::Paint);
        self.is_prompt = self.app.effects.iter().any(is_paint);
        self.app.before_frame();
        let told = self.told();
        self.app.after_frame(self.now);
        told
    }

    /// Keys; what goes to the core because of them.
    fn press(&mut self, typed: &str) -> String {
        let mut effects = Vec::new();
        for press in keys(typed) {
            self.app.on_key(press, self.now);
            effects.extend(self.carry_out());
        }
        self.app.before_frame();
        self.app.after_frame(self.now);
        show(effects)
    }

    /// Does what tasks do, at once; what is left is for the core.
    fn carry_out(&mut self) -> Vec<Effect> {
        let mut left = Vec::new();
        for effect in self.app.take_effects() {
            match effect {
                Effect::Task(Task(work)) => {
                    self.app.on_done(work());
                    left.extend(self.carry_out());
                }
                effect => left.push(effect),
            }
        }
        left
    }

    /// What goes to the core.
    fn told(&mut self) -> String {
        show(self.app.take_effects())
    }

    /// The screen as text under what has settled since the last time.
    fn screen(&mut self, columns: u16, rows: u16) -> Vec<String> {
        self.app.before_frame();
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
        self.app.after_frame(self.now);
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
fn a_choice_whose_task_is_lost_is_answered() {
    let mut table = Table::new();
    for _ in 0..2 {
        let told = table.ask(ME, "session.effort", json!({"effort": "low"}));
        assert!(!told.contains("no thread"), "{told}");
        table.app.on_done(Done::Lost("no thread".into()));
        assert_eq!(table.told(), "!no thread");
    }
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
    table.app.extension_gone(ME, table.now);
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
    // Neither is a message that waits replaced.
    table.app.composer.clear();
    table.app.queue.later(Line::of("waits".into()));
    table.press("\x1b[A!");
    table.ask(ME, "ui.compose", json!({"text": "theirs"}));
    table.press("?");
    assert_eq!(table.draft(), "theirs?");
    table.app.composer.clear();
    table.press("\x1b[A");
    assert_eq!(table.draft(), "waits!");
    table.press("\x1b");
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
    table.app.called(request, Ok(answer.clone()), table.now);
    assert_eq!(table.told(), "name N prompt /plain");
    assert!(table.screen(40, 12).concat().contains("done"));
    // Another session has come meanwhile.
    table.press("/plain\r");
    let request = RequestId(table.app.last_request);
    table.app.session.as_mut().unwrap().key = SessionKey(2);
    table.app.called(request, Ok(answer), table.now);
    assert_eq!(table.told(), "");
    table.press("/plain\r");
    let request = RequestId(table.app.last_request);
    table.app.called(request, Err(Failure::Gone), table.now);
    assert!(table.screen(80, 30).join("\n").contains("`/plain`: "));
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
    table.app.called(request, Ok(items.clone()), table.now);
    let again = r#"command.complete{"name":"go","prefix":"p"}"#;
    assert_eq!(table.told(), again);
    let request = RequestId(table.app.last_request);
    table.app.called(request, Ok(items), table.now);
    assert_eq!(table.told(), "");
    assert!(table.screen(60, 12).join("\n").contains("Preview"));
    table.press("\x1b[B\r");
    assert_eq!(table.draft(), "/go prev ");
    assert!(!table.screen(60, 12).join("\n").contains("Preview"));
    assert_eq!(table.press("\r"), r#"command{"name":"go","args":"prev"}"#);
    // What is written in full already is run.
    table.press("/go prev");
    for _ in 0..2 {
        let request = RequestId(table.app.last_request);
        let prev = json!({"items": [{"value": "prev"}]});
        table.app.called(request, Ok(prev), table.now);
    }
    table.told();
    assert!(table.app.surface.is_some());
    assert_eq!(table.press("\r"), r#"command{"name":"go","args":"prev"}"#);
    // A failure shows nothing.
    table.press("/go x");
    let request = RequestId(table.app.last_request);
    let failed = Err(Failure::TimedOut(Duration::from_secs(3)));
    table.app.called(request, failed, table.now);
    let again = r#"command.complete{"name":"go","prefix":"x"}"#;
    assert_eq!(table.told(), again);
}

#[test]
fn replies_wait_for_their_rendering() {
    let mut table = Table::new();
    let mut event = |event: TurnEvent| {
        table.app.prepare_renders(&event);
        table.app.transcript.apply(&event);
        table.app.ask_renders(&event);
        table.app.take_effects().len()
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
    table.app.fork("");
    let told = table.told().replace("Send(Fork", "FORK");
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
    table.app.on_done(Done::Opened(Ok(Box::new(opened))));
    let told = table.told();
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
