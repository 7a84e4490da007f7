//! What is picked, typed and set, and what the files hold then.

use super::*;

#[test]
fn commands_are_picked_and_typed() {
    let cases = [
        ("/qui\r", "quit 0", ""),
        // A word that is a command is not the beginning of another one.
        ("/exit\r", "quit 0", ""),
        ("/exi\r", "quit 0", ""),
        ("/EXI\r", "quit 0", ""),
        ("/QUIT\r", "quit 0", ""),
        ("/clea\t", "", "/new "),
        // What is only like what was typed is shown before it runs.
        ("/qit\r", "", "/quit "),
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
    assert!(
        screen.contains("there is no command `/nothing`"),
        "{screen}"
    );
    table.press("/");
    let screen = table.screen();
    assert!(
        screen.contains("Commands 21") && screen.contains("enter run"),
        "{screen}"
    );
}

#[test]
fn what_is_wrong_with_a_template_is_told_once() {
    let files = [
        FIX,
        ("home/prompts/empty.md", "---\ndescription: x\n---\n\n"),
        ("home/prompts/two words.md", "x"),
    ];
    let mut table = Table::ready(&files);
    assert_eq!(table.press("/empty\r"), "");
    let screen = table.screen();
    assert!(
        screen.contains("not sent: `/empty` makes an empty prompt"),
        "{screen}"
    );
    assert_eq!(screen.matches("two words.md`: ").count(), 1, "{screen}");
    assert_eq!(table.press("/fix it\r"), "prompt fix it");
    let screen = table.screen();
    assert!(!screen.contains("two words.md"), "{screen}");
}

#[test]
fn files_and_skills_follow_the_last_word() {
    let skill = "---\nname: deploy\ndescription: ship it\n---\nCare.";
    let files = [
        ("w/@ats", ""),
        ("w/$dollar", ""),
        ("w/src/main.rs", ""),
        ("w/src/two words.rs", ""),
        ("w/target/out", ""),
        ("w/.e/skills/deploy/SKILL.md", skill),
    ];
    let cases = [
        ("look at @mai\r", "", "look at src/main.rs"),
        ("@two\r", "", "\"src/two words.rs\""),
        ("look at @mai\t", "", "look at src/main.rs"),
        ("@sr\rlib.rs", "", "src/lib.rs"),
        // The list does not open again over what was taken.
        ("@ats\r\r", "prompt @ats", ""),
        ("@ats\r and @mai\r", "", "@ats and src/main.rs"),
        ("@dol\r\r", "prompt $dollar", ""),
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
        ("@", "mai", "\r\r", "prompt src/main.rs"),
    ] {
        let mut table = Table::ready(&files);
        table.press(typed);
        table.app.on_paste(pasted, table.now);
        table.carry_out();
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
    table.app.on_key(next, table.now);
    table.app.on_key(next, table.now);
    let shown = table.carry_out();
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
        assert_eq!(
            table.press(&format!("/login {provider}\rk-1\r")),
            "no session"
        );
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

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
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
    ask(&mut table, 1, "session.model", json!({"model": "p/m"}));
    // The level is one of the model that is on its way.
    ask(&mut table, 2, "session.effort", json!({"effort": "low"}));
    ask(&mut table, 3, "session.model", json!({"model": "none"}));
    assert_eq!(table.carry_out(), "use m high, use m low");
    let settings: serde_json::Value = serde_json::from_str(&table.file("settings.json")).unwrap();
    assert_eq!(settings["model"], json!("p/m"));
    assert_eq!(settings["effort"], json!("low"));
}

#[test]
fn help_lists_templates_and_how_to_quit() {
    let nameless = ("home/prompts/mend.md", "mend it");
    let shadowed = ("home/prompts/quit.md", "x");
    let mut table = Table::ready(&[FIX, nameless, shadowed]);
    table.press("/help\r");
    let screen = screen(&mut table.app, 200, table.now);
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

/// The reader and the clipboard are reached whatever of e's own is open.
#[test]
fn what_is_open_keeps_nobody_from_reading_and_pasting() {
    for (opens, draft) in [
        ("", "off"),
        ("/re", "/reoff"),
        ("/settings\r", "off"),
        // These have a use for text of their own, or it may be a key.
        ("/models\r", ""),
        ("/trust\r", ""),
        ("/login\r", ""),
    ] {
        for from_reader in [false, true] {
            let mut table = Table::ready(&[]);
            table.press(opens);
            table.press("\x0f");
            assert!(table.app.reader.is_some(), "{opens:?}");
            if !from_reader {
                table.press("␛");
            } else {
                table.app.on_paste("nothing", table.now);
            }
            table.app.on_key(keys("\x16")[0], table.now);
            table.app.effects.clear();
            let clip = Ok(Clip::Text("off".into()));
            let read = Done::Clip(table.app.last_request, clip);
            table.app.on_done(read);
            // Who reads sees no list.
            let draft = match from_reader && !draft.contains("off") {
                true => "off",
                false => draft,
            };
            assert_eq!(table.draft(), draft, "{opens:?}");
        }
    }
}

/// A key that was read for one list must not come to stand in the filter of another.
#[test]
fn what_is_read_for_one_surface_goes_to_no_other() {
    for (first, second, is_taken) in [
        ("/login\r", "/models\r", false),
        ("/models\r", "/trust\r", false),
        ("/models\r", "/models\r", true),
    ] {
        let mut table = Table::ready(&[]);
        table.press(first);
        table.app.on_key(keys("\x16")[0], table.now);
        table.app.effects.clear();
        table.press("␛");
        table.press(second);
        let clip = Ok(Clip::Text("k3y".into()));
        table.app.on_done(Done::Clip(table.app.last_request, clip));
        let screen = screen(&mut table.app, 80, table.now);
        assert_eq!(screen.contains("k3y"), is_taken, "{first:?} {screen}");
        assert_eq!(table.draft(), "");
    }
}
