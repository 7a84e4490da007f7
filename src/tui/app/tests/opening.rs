//! What opens by itself: trust, sign-in, and lines that come before there is a session.

use super::super::submit::Line;
use super::super::{Done, Opened};
use super::*;
use crate::agent::Reason;
use crate::chat::{Image, Message};
use crate::session::Entry;
use crate::tui::composer::Composer;
use crate::tui::transcript::Transcript;

#[test]
fn lines_wait_for_the_session() {
    let mut table = Table::new(&[]);
    table.press("␛hello\r");
    assert_eq!(table.draft(), "hello");
    assert!(table.screen().contains("sign in with /login"));
    // Without a session e's own commands work.
    table.app.composer.clear();
    assert_eq!(table.press("/model offline/echo\r"), "open");
    table.app.open(crate::agent::Reason::New);
    let opens = table.app.take_effects();
    table.app.session = None;
    assert_eq!(table.press("early\r"), "");
    table.app.effects = opens;
    assert_eq!(table.carry_out(), "open, prompt early");
}

#[test]
fn lines_that_wait_for_a_session_end_with_what_they_wait_for() {
    // All was stopped: what was on its way is in history.
    let mut table = Table::ready(&[]);
    table.app.is_opening = true;
    assert_eq!(table.press("early\r\x03"), "");
    table.app.is_opening = false;
    assert_eq!(table.press("\x1b[A"), "");
    assert_eq!(table.draft(), "early");
    // None is opened: e's own commands are carried out, what is said comes back.
    let mut table = Table::ready(&[]);
    table.app.session = None;
    table.app.is_opening = true;
    table.press("said\r/help\r");
    let help = "quit, when the draft is empty";
    assert!(!table.screen().contains(help));
    table.app.is_opening = false;
    table
        .app
        .on_done(Done::Opened(Err(crate::error::Error::failed("broken"))));
    table.carry_out();
    let screen = table.screen();
    assert!(
        screen.contains("broken") && screen.contains(help),
        "{screen}"
    );
    assert_eq!(table.draft(), "said");
}

#[test]
fn what_an_extension_says_is_no_command_while_a_session_opens() {
    let mut table = Table::ready(&[]);
    table.app.is_opening = true;
    table.app.submit_prompt("/help me".into(), table.now);
    assert_eq!(table.carry_out(), "");
    table.app.is_opening = false;
    table.app.carry_out(table.now);
    assert_eq!(table.carry_out(), "prompt /help me");
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
        table.app.submit(table.now);
        table.app.armed_until = None;
        table.app.interrupt_all(table.now);
        table.carry_out();
        assert!(table.app.surface.is_none(), "{command}");
    }
    assert_eq!(table.press("x"), "");
    assert_eq!(table.draft(), "x");
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
    table.app.start();
    table.carry_out();
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
        table.app.start();
        table.carry_out();
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
    table.app.start();
    assert_eq!(table.carry_out(), "no session");

    let mut table = Table::ready(&[]);
    table.app.close(None);
    fs::remove_dir(table.root.path().join("w")).unwrap();
    table.app.start();
    assert_eq!(table.carry_out(), "no session");
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
    let type_in = |app: &mut App, typed: &str, now| {
        for press in keys(typed) {
            app.on_key(press, now);
            assert!(app.effects.is_empty(), "{press:?}");
        }
    };
    app.start();
    assert!(app.effects.is_empty());
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
    app.on_key(enter, later);
    let escape = KeyPress::plain(Key::Escape);
    app.on_key(escape, later);
    assert!(matches!(
        app.effects[..],
        [Effect::Quit(1), Effect::Quit(1)]
    ));
    let farewell = app.farewell.unwrap_or_default();
    assert!(farewell.contains("must be trusted to run e") && farewell.contains("e trust"));
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

/// A session that opens with this past.
fn opened(past: Past, reason: Reason, takes_images: bool) -> Done {
    let mut spec = SessionSpec::for_test();
    if !takes_images {
        Arc::make_mut(&mut spec.selection.model).image_input = false;
    }
    Done::Opened(Ok(Box::new(Opened {
        spec,
        past,
        transcript: Transcript::default(),
        warnings: Vec::new(),
        reason,
    })))
}

#[test]
fn the_first_prompt_goes_with_its_images() {
    let image = || Image {
        media_type: "image/png".into(),
        data: "AA==".into(),
    };
    for takes_images in [true, false] {
        let mut app = app(Registry::default());
        app.session = None;
        app.held_prompt = Some(Line {
            images: vec![image()],
            ..Line::of("look".into())
        });
        app.on_done(opened(Past::default(), Reason::Startup, takes_images));
        let sent = app
            .take_effects()
            .into_iter()
            .find_map(|effect| match effect {
                Effect::Send(Input::Want(_, _, Want::Prompt(prompt, _))) => Some(prompt.images),
                _ => None,
            });
        let draft = app.composer.draft();
        if takes_images {
            assert_eq!(sent, Some(vec![image()]));
            assert!(draft.is_blank());
        } else {
            assert_eq!(sent, None);
            assert_eq!(
                (draft.buffer.text(), &*draft.images),
                ("look", &[image()][..])
            );
        }
    }
}

#[test]
fn what_was_said_in_a_session_is_its_history() {
    let entry = |message| Entry {
        id: None,
        message: Arc::new(message),
    };
    let mut app = app(Registry::default());
    let past = Past {
        entries: vec![
            entry(Message::user("one")),
            entry(Message::internal("not said")),
            entry(Message::steered("two")),
        ],
        context_tokens: 32_000,
        ..Past::default()
    };
    app.composer = Composer::new(vec!["one".into(), "three".into()]);
    app.on_done(opened(past, Reason::Resume, true));
    let now = Instant::now();
    assert!(screen(&mut app, 20, now).contains("m · 50%"));
    for expected in ["two", "three", "one", "one"] {
        app.on_key(KeyPress::plain(Key::Up), now);
        assert_eq!(app.composer.draft().buffer.text(), expected);
    }
}

#[test]
fn the_title_names_the_last_two_directories() {
    let mut env = Env::default();
    env.set("HOME", "/home/u");
    for (cwd, expected) in [
        ("/", "e · /"),
        ("/srv/a/b", "e · a/b"),
        ("/home/u", "e · ~"),
        ("/home/u/proj", "e · ~/proj"),
        ("/home/u/src/deep/proj", "e · ~/deep/proj"),
    ] {
        let mut app = app_in(cwd.into(), Home::at("/nowhere"), Registry::default());
        app.process = Arc::new(Process {
            env: Arc::new(env.clone()),
            ..(*app.process).clone()
        });
        assert_eq!(app.title(), expected);
    }
}

#[test]
fn attachments_stand_above_what_waits_and_the_draft() {
    let mut app = app(Registry::default());
    app.composer.attach_image(Image {
        media_type: "image/png".into(),
        data: "AA==".into(),
    });
    let now = Instant::now();
    let rows = |app: &mut App| {
        let screen = screen(app, 20, now);
        let rows: Vec<String> = screen.lines().take(6).map(String::from).collect();
        rows
    };
    assert_eq!(rows(&mut app)[..4], ["", "[Image 1]", "", "┃ "]);
    app.queue.later(Line::of("after".into()));
    let shown = rows(&mut app);
    assert_eq!(shown[1], "[Image 1]");
    assert!(
        shown[2].starts_with('─') && shown[3].starts_with("1 message"),
        "{shown:?}"
    );
    assert_eq!(shown[4..], ["", "┃ "]);
}
