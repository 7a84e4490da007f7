//! Themes: the table, files of every quality, and depths.

use super::*;

fn env(vars: &[(&str, &str)]) -> Env {
    let mut env = Env::default();
    for (name, value) in vars {
        env.set(name, value);
    }
    env
}

#[test]
fn built_in_names_are_tokens_and_named_once() {
    let mut names: Vec<_> = table::BUILT_IN.iter().map(|(name, ..)| *name).collect();
    for name in &names {
        assert!(Theme::empty().set(name, Color::Default).is_some(), "{name}");
    }
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    for (index, token) in Token::ALL.iter().enumerate() {
        assert_eq!(*token as usize, index, "{token:?}");
    }
}

#[test]
fn depths_show_what_they_can() {
    use Color::{Default, Indexed, Rgb};
    let theme = Theme::built_in(Background::Dark);
    let cases = [
        (Token::Accent, Depth::True, Indexed(111)),
        (Token::Accent, Depth::Indexed, Indexed(111)),
        (Token::Accent, Depth::Ansi, Indexed(12)),
        (Token::Accent, Depth::None, Default),
        (Token::Text, Depth::True, Default),
        (
            Token::ToolDiffAddedMarker,
            Depth::True,
            Rgb(0x3f, 0xb9, 0x50),
        ),
        (Token::ToolDiffAddedMarker, Depth::Indexed, Indexed(71)),
        (Token::ToolDiffRemovedMarker, Depth::Indexed, Indexed(167)),
        (Token::Border, Depth::Ansi, Indexed(8)),
    ];
    for (token, depth, expected) in cases {
        assert_eq!(theme.resolve(token, depth), expected, "{token:?} {depth:?}");
    }
    assert_eq!(Depth::Indexed.nearest(Rgb(255, 0, 0)), Indexed(196));
    assert_eq!(Depth::Indexed.nearest(Rgb(8, 8, 8)), Indexed(232));
}

#[test]
fn sixteen_colours_keep_the_hue() {
    use Color::{Indexed, Rgb};
    let hues = [
        (Indexed(111), 12),
        (Indexed(25), 4),
        (Indexed(26), 4),
        (Indexed(114), 2),
        (Indexed(28), 2),
        (Indexed(71), 2),
        (Indexed(203), 9),
        (Indexed(160), 1),
        (Indexed(167), 1),
        (Indexed(179), 3),
        (Indexed(130), 3),
        (Rgb(0x3f, 0xb9, 0x50), 2),
        (Rgb(0x1a, 0x7f, 0x37), 2),
        (Rgb(0xf8, 0x51, 0x49), 9),
        (Rgb(0xcf, 0x22, 0x2e), 1),
        (Rgb(0, 200, 210), 6),
        (Rgb(255, 120, 250), 13),
    ];
    let themes = table::BUILT_IN
        .iter()
        .flat_map(|(_, dark, light)| [*dark, *light]);
    for color in themes.chain(hues.map(|(color, _)| color)) {
        let Indexed(shown) = Depth::Ansi.nearest(color) else {
            panic!("{color:?}");
        };
        match hues.iter().find(|(known, _)| *known == color) {
            Some((_, expected)) => assert_eq!(shown, *expected, "{color:?}"),
            // The rest are greys.
            None => assert!([0, 7, 8, 15].contains(&shown), "{color:?}: {shown}"),
        }
    }
}

#[test]
fn styles_become_sequences() {
    let palette = |depth| Palette::new(Theme::built_in(Background::Dark), depth);
    let style = Style {
        background: Some(Token::SelectedBg),
        dim: true,
        reverse: false,
        ..Style::colored(Token::Error).bold()
    };
    let selected = Style {
        reverse: true,
        ..style.clone()
    };
    let cases = [
        (Style::default(), Depth::True, ""),
        (Style::colored(Token::Text), Depth::True, ""),
        (style.clone(), Depth::True, "\x1b[1;2;38;5;203;48;5;238m"),
        (style.clone(), Depth::Ansi, "\x1b[1;2;91;100m"),
        (style, Depth::None, "\x1b[1;2m"),
        // What is selected has the colours for that, whatever it is, or stands out without any.
        (selected.clone(), Depth::True, "\x1b[1;7;38;5;238;48;5;254m"),
        (selected, Depth::None, "\x1b[1;7m"),
        (
            Style::colored(Token::ToolDiffAddedMarker),
            Depth::True,
            "\x1b[38;2;63;185;80m",
        ),
    ];
    for (style, depth, expected) in cases {
        let mut out = Vec::new();
        palette(depth).sgr(&style, &mut out);
        assert_eq!(
            String::from_utf8_lossy(&out),
            expected,
            "{style:?} {depth:?}"
        );
    }
}

/// Colours of a selection and of what is a part of something else, where a theme lacks some.
#[test]
fn a_theme_may_name_a_part() {
    let reverse = Style {
        reverse: true,
        ..Style::colored(Token::Error)
    };
    let cases = [
        ("{}", reverse.clone(), "\x1b[7m"),
        (r#"{"selectedBg":9}"#, reverse.clone(), "\x1b[101m"),
        (
            r#"{"selectedBg":9,"error":20}"#,
            reverse.clone(),
            "\x1b[38;5;20;101m",
        ),
        (r#"{"selectedText":9}"#, reverse, "\x1b[91m"),
        (r#"{"text":9}"#, Style::default(), "\x1b[91m"),
        (r#"{"text":9}"#, Style::colored(Token::Error), ""),
        (
            r#"{"muted":9}"#,
            Style::colored(Token::ToolTitle),
            "\x1b[91m",
        ),
        (
            r#"{"muted":9,"toolTitle":20}"#,
            Style::colored(Token::ToolTitle),
            "\x1b[38;5;20m",
        ),
        (
            r#"{"mdCodeBlock":9}"#,
            Style::colored(Token::SyntaxType),
            "\x1b[91m",
        ),
    ];
    for (colors, style, expected) in cases {
        let (theme, bad) = Theme::parse(format!(r#"{{"colors":{colors}}}"#).as_bytes()).unwrap();
        assert!(bad.is_empty());
        let mut out = Vec::new();
        Palette::new(theme, Depth::True).sgr(&style, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expected, "{colors}");
    }
}

#[test]
fn theme_files_of_every_quality() {
    let cases = [
        ("{", None, Color::Indexed(111)),
        ("[]", None, Color::Indexed(111)),
        ("{}", Some(""), Color::Default),
        (
            r##"{"colors":{"accent":"#0A0b0C"}}"##,
            Some(""),
            Color::Rgb(10, 11, 12),
        ),
        (r#"{"colors":{"accent":7}}"#, Some(""), Color::Indexed(7)),
        (r#"{"colors":{"accent":""}}"#, Some(""), Color::Default),
        (
            r#"{"vars":{"blue":4},"colors":{"accent":"blue"}}"#,
            Some(""),
            Color::Indexed(4),
        ),
        (
            r#"{"colors":{"accent":256}}"#,
            Some("`accent`"),
            Color::Default,
        ),
        (
            r#"{"colors":{"accent":-1}}"#,
            Some("`accent`"),
            Color::Default,
        ),
        (
            r#"{"colors":{"accent":1.5}}"#,
            Some("`accent`"),
            Color::Default,
        ),
        (
            r##"{"colors":{"accent":"#+12345"}}"##,
            Some("`accent`"),
            Color::Default,
        ),
        (
            r#"{"colors":{"accent":"blue"}}"#,
            Some("`accent`"),
            Color::Default,
        ),
        (
            r#"{"colors":{"nope":1,"accent":3}}"#,
            Some("`nope`"),
            Color::Indexed(3),
        ),
        (
            r#"{"colors":{"accent":3,"dim":1e400}}"#,
            Some("`dim`"),
            Color::Indexed(3),
        ),
        (r#"{"colors":[]}"#, Some("`colors`"), Color::Default),
        (
            r#"{"vars":7,"colors":{"a":1,"b":2,"c":3}}"#,
            Some("`vars`, `a`, `b`, 1 more"),
            Color::Default,
        ),
    ];
    let dir = tempfile::tempdir().unwrap();
    let dirs = [dir.path().join("none"), dir.path().to_owned()];
    for (text, ignored, accent) in cases {
        std::fs::write(dir.path().join("mine.json"), text).unwrap();
        let (theme, warning) = Theme::load("mine", &dirs, Background::Dark);
        assert_eq!(theme.resolve(Token::Accent, Depth::True), accent, "{text}");
        match ignored {
            None => assert!(warning.is_some_and(|text| text.contains("built-in"))),
            Some("") => assert_eq!(warning, None, "{text}"),
            Some(names) => assert_eq!(
                warning,
                Some(format!("theme `mine`: ignored {names}")),
                "{text}"
            ),
        }
    }
    for name in ["none", "../mine", ".."] {
        let (theme, warning) = Theme::load(name, &dirs[1..], Background::Light);
        assert_eq!(theme, Theme::built_in(Background::Light));
        assert!(warning.is_some(), "{name}");
    }
    std::fs::create_dir(dir.path().join("folder.json")).unwrap();
    std::fs::write(dir.path().join("dark.json"), "{}").unwrap();
    let names = ["auto", "light", "dark", "folder", "mine"];
    assert_eq!(Theme::names(&[&dirs[..], &dirs].concat()), names);
    std::fs::write(dir.path().join("bom.json"), "\u{feff}{}").unwrap();
    std::fs::write(dir.path().join("empty.json"), "").unwrap();
    std::fs::write(
        dir.path().join("large.json"),
        vec![b' '; MAX_FILE as usize + 1],
    )
    .unwrap();
    for (name, says) in [
        ("bom", None),
        ("folder", Some("folder")),
        ("large", Some("larger than")),
        ("empty", Some("at line 1 column 1")),
        ("absent", Some("there is no file of that name")),
    ] {
        let (_, warning) = Theme::load(name, &dirs, Background::Dark);
        let as_said = match (&warning, says) {
            (Some(warning), Some(says)) => warning.contains(says),
            (warning, says) => warning.is_none() && says.is_none(),
        };
        assert!(as_said, "{name}: {warning:?}");
    }
}

#[test]
fn files_replace_the_built_in_themes() {
    use Background::{Dark, Light};
    let dir = tempfile::tempdir().unwrap();
    let dirs = [dir.path().to_owned()];
    let load = |name, background| Theme::load(name, &dirs, background);
    for (name, background, is) in [
        ("auto", Dark, Dark),
        ("auto", Light, Light),
        ("", Light, Light),
        ("dark", Light, Dark),
        ("light", Dark, Light),
    ] {
        assert_eq!(load(name, background), (Theme::built_in(is), None));
    }
    std::fs::write(dir.path().join("dark.json"), r#"{"colors":{"accent":77}}"#).unwrap();
    std::fs::write(dir.path().join("light.json"), "{").unwrap();
    for (name, background) in [("dark", Light), ("auto", Dark)] {
        let (theme, warning) = load(name, background);
        assert_eq!(
            theme.resolve(Token::Accent, Depth::True),
            Color::Indexed(77)
        );
        assert_eq!(warning, None);
    }
    for (name, background) in [("light", Dark), ("auto", Light)] {
        let (theme, warning) = load(name, background);
        assert_eq!(theme, Theme::built_in(Light));
        assert!(warning.is_some_and(|text| text.starts_with("theme `light`")));
    }
}

#[test]
fn backgrounds_are_told() {
    use Background::{Dark, Light};
    for (color, expected) in [
        ([0, 0, 0], Dark),
        ([0x1e, 0x1e, 0x2e], Dark),
        ([0, 0, 255], Dark),
        ([0xfd, 0xf6, 0xe3], Light),
        ([0, 255, 0], Light),
    ] {
        assert_eq!(Background::of(color), expected, "{color:?}");
    }
    let cases = [
        ("15;0", Some(Dark)),
        ("0;default;15", Some(Light)),
        ("0;7", Some(Light)),
        ("7;8", Some(Dark)),
        ("0;99", None),
        ("default", None),
    ];
    for (value, expected) in cases {
        let env = env(&[("COLORFGBG", value)]);
        assert_eq!(Background::from_env(&env), expected, "{value}");
    }
}

#[test]
fn depth_comes_from_the_environment() {
    let cases: [(&[(&str, &str)], Depth); 7] = [
        (&[("TERM", "xterm-256color")], Depth::Indexed),
        (
            &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
            Depth::True,
        ),
        (&[("TERM", "xterm-kitty")], Depth::True),
        (&[("TERM", "linux")], Depth::Ansi),
        (&[], Depth::Ansi),
        (
            &[("COLORTERM", "truecolor"), ("NO_COLOR", "1")],
            Depth::None,
        ),
        (&[("COLORTERM", "24bit"), ("NO_COLOR", "")], Depth::True),
    ];
    for (vars, expected) in cases {
        assert_eq!(Depth::detect(&env(vars)), expected, "{vars:?}");
    }
}

#[test]
fn the_built_in_themes_can_be_files() {
    for background in [Background::Dark, Background::Light] {
        let text = Theme::built_in_json(background);
        let (theme, bad) = Theme::parse(text.as_bytes()).unwrap();
        assert_eq!((theme, bad), (Theme::built_in(background), vec![]));
        let names = Token::ALL.iter().map(|token| token.name());
        for name in names.chain(["name", ADDED_FALLBACK, REMOVED_FALLBACK]) {
            assert!(text.contains(&format!("\"{name}\": ")), "{name}");
        }
    }
}

#[test]
fn the_guide_names_every_token() {
    let guide = include_str!("../../../docs/guides/usage/themes.md");
    for token in Token::ALL {
        let name = format!("`{}`", token.name());
        assert!(guide.contains(&name), "{name}");
    }
}
