//! Every encoding as a table, and the promise that cuts do not matter.

use super::*;
use crate::text::testing::random;
use crate::tui::composer::MAX_DRAFT;

/// The events of bytes that arrive at once.
fn events(bytes: &[u8]) -> Vec<InputEvent> {
    Parser::default().feed(bytes)
}

/// The names of the keys in `bytes`, those that only a pause tells included.
fn names(bytes: &[u8]) -> String {
    let mut parser = Parser::default();
    let mut all = parser.feed(bytes);
    all.extend(parser.flush());
    named(all)
}

fn named(events: Vec<InputEvent>) -> String {
    let name = |event| match event {
        InputEvent::Key(press) => press.name().unwrap_or_else(|| "command".into()),
        other => format!("{other:?}"),
    };
    let names: Vec<String> = events.into_iter().map(name).collect();
    names.join(" ")
}

#[test]
fn keys_in_every_common_encoding() {
    let cases: &[(&[u8], &str)] = &[
        (b"a", "a"),
        (b"A", "shift+a"),
        (b" ", "space"),
        ("é日🙂".as_bytes(), "é 日 🙂"),
        (b"\r", "enter"),
        (b"\n", "ctrl+j"),
        (b"\t", "tab"),
        (b"\x7f", "backspace"),
        (b"\x08", "ctrl+h"),
        (
            b"\x00\x01\x1a\x1c\x1f",
            "ctrl+space ctrl+a ctrl+z ctrl+\\ ctrl+_",
        ),
        (b"\x1b", "escape"),
        (b"\x1b\x1b", "escape escape"),
        (b"\x1b\x1b\x1b", "escape escape escape"),
        (b"\x1b\x03", "escape ctrl+c"),
        (b"\x1bb\x1bF", "alt+b alt+shift+f"),
        ("\x1bé".as_bytes(), "alt+é"),
        (b"\x1b\r\x1b\x7f", "alt+enter alt+backspace"),
        (b"\x1b[", "alt+["),
        (b"\x1bO", "alt+shift+o"),
        (b"\x1b]", "alt+]"),
        (b"\x1b]x", "alt+] x"),
        (b"\x1bPx\x1b_x", "alt+shift+p x alt+_ x"),
        // Arrows and their kin.
        (b"\x1b[A\x1bOB\x1b[C\x1bOD", "up down right left"),
        (
            b"\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[7~\x1b[8~",
            "home end home end home end",
        ),
        (
            b"\x1b[2~\x1b[3~\x1b[5~\x1b[6~",
            "insert delete pageup pagedown",
        ),
        (
            b"\x1b[1;5C\x1b[1;2D\x1b[1;3A\x1b[1;8B",
            "ctrl+right shift+left alt+up ctrl+alt+shift+down",
        ),
        (b"\x1b[3;5~\x1b[5;3~", "ctrl+delete alt+pageup"),
        (
            b"\x1b[a\x1b[3$\x1b[3^\x1b[3@\x1bOd",
            "shift+up shift+delete ctrl+delete ctrl+shift+delete ctrl+left",
        ),
        (b"\x1bO5C", "ctrl+right"),
        (b"\x1b\x1b[A\x1b\x1bOC", "alt+up alt+right"),
        (b"\x1b[Z\x1b[1;2Z", "shift+tab shift+tab"),
        (
            b"\x1bOP\x1bOS\x1b[15~\x1b[24~\x1b[[A\x1b[1;5Q\x1b[R",
            "f1 f4 f5 f12 f1 ctrl+f2 f3",
        ),
        (b"\x1bOM\x1bOp\x1bOk", "enter 0 +"),
        // modifyOtherKeys of xterm.
        (b"\x1b[27;2;13~\x1b[27;5;13~", "shift+enter ctrl+enter"),
        (b"\x1b[27;6;80~\x1b[27;5;105~", "ctrl+shift+p tab"),
        (b"\x1b[27;4;63~", "alt+?"),
        // The kitty protocol.
        (
            b"\x1b[13;2u\x1b[27u\x1b[9;2u",
            "shift+enter escape shift+tab",
        ),
        (
            b"\x1b[97;5u\x1b[112;6u\x1b[118;9u",
            "ctrl+a ctrl+shift+p command",
        ),
        (b"\x1b[105;5u\x1b[109;5u\x1b[91;5u", "tab enter escape"),
        (b"\x1b[97;1:1u\x1b[97;1:2u\x1b[97;1:3u", "a a"),
        (
            b"\x1b[97;2u\x1b[47:63;2u\x1b[127;3u",
            "shift+a shift+? alt+backspace",
        ),
        (b"\x1b[57399u\x1b[57414u\x1b[57441;2u\x1b[1;5:3A", "0 enter"),
        (b"\x1b[97;65u\x1b[97;129u", "a a"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(
            names(bytes),
            *expected,
            "{:?}",
            bytes.escape_ascii().to_string()
        );
    }
}

#[test]
fn what_types_nothing() {
    let cases: &[&[u8]] = &[
        b"\x1b[?2026;2$y",
        b"\x1b[>1;10;0c",
        b"\x1bP>|term(1)\x1b\\",
        b"\x1bP1$r0m\x1b\\",
        b"\x1b_Gi=1;OK\x1b\\",
        b"\x1b]4;1;rgb:00/00/00\x07",
        b"\x1b]11;rgb:zz/00/00\x07",
        b"\x1b]11;#\xc3\xa9\x07",
        b"\x1b[M !!",
        b"\x1b[99~",
        b"\x1b[;;;u",
        b"\x1bOZ",
        b"\x1bO5e",
        b"\x1b[99999999999u",
        b"\x1b[55296u",
        b"\x1b[128u",
        b"\xff\xc3\xc0\x80\xe0\x80\x80",
        "\u{85}".as_bytes(),
    ];
    for bytes in cases {
        assert_eq!(events(bytes), [], "{}", bytes.escape_ascii());
    }
    // A sequence that breaks off is gone, and what broke it acts.
    assert_eq!(names(b"\x1b[12\x03x"), "ctrl+c x");
    assert_eq!(names(b"\x1b]11;rgb:\rx"), "enter x");
    assert_eq!(names(b"\x1b[12\x1b[A"), "up");
    assert_eq!(names(b"\x1bO\rx"), "alt+shift+o enter x");
}

#[test]
fn mouse_focus_and_replies() {
    use InputEvent as E;
    let mouse = |kind, column, row| E::Mouse(Mouse { kind, column, row });
    let cases: &[(&[u8], InputEvent)] = &[
        (b"\x1b[<0;1;2M", mouse(MouseKind::Press(Button::Left), 0, 1)),
        (
            b"\x1b[<32;300;5M",
            mouse(MouseKind::Drag(Button::Left), 299, 4),
        ),
        (
            b"\x1b[<2;9;9m",
            mouse(MouseKind::Release(Button::Right), 8, 8),
        ),
        (b"\x1b[<64;1;1M", mouse(MouseKind::WheelUp, 0, 0)),
        (
            b"\x1b[<69;0;99999M",
            mouse(MouseKind::WheelDown, 0, u16::MAX),
        ),
        (
            b"\x1b[12;40R",
            E::Reply(Reply::Cursor {
                row: 11,
                column: 39,
            }),
        ),
        (
            b"\x1b]11;rgb:ffff/8080/0000\x07",
            E::Reply(Reply::Background([255, 128, 0])),
        ),
        (
            b"\x1b]11;rgb:f/8/0\x1b\\",
            E::Reply(Reply::Background([255, 136, 0])),
        ),
        (
            b"\x1b]11;rgba:12/34/56/ff\x07",
            E::Reply(Reply::Background([0x12, 0x34, 0x56])),
        ),
        (
            b"\x1b]11;#1e1e2e\x07",
            E::Reply(Reply::Background([0x1e, 0x1e, 0x2e])),
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(events(bytes), std::slice::from_ref(expected));
    }
    for bytes in [
        &b"\x1b[<35;1;1M"[..],
        b"\x1b[<66;1;1M",
        b"\x1b[<0;1M",
        b"\x1b[<M",
    ] {
        assert_eq!(events(bytes), []);
    }
}

#[test]
fn a_slow_reply_types_nothing_and_a_slow_escape_does_not() {
    let mut parser = Parser::default();
    for byte in b"\x1b]11;rgb:ff/ff" {
        assert_eq!(parser.feed(&[*byte]), []);
    }
    assert!(!parser.is_ambiguous());
    assert_eq!(parser.flush(), []);
    assert_eq!(parser.feed(b"/ff\x07").len(), 1);
    parser.feed(b"\x1b");
    assert!(parser.is_ambiguous());
    assert_eq!(parser.flush().len(), 1);
    assert_eq!(parser.flush(), []);
}

#[test]
fn what_waits_is_known_for_what_it_is() {
    let cases: [(&[u8], bool, bool, bool); 9] = [
        (b"\x1b", true, false, false),
        (b"\x1b[27u\x1b", true, false, true),
        (b"\x1b[97;5u", false, false, true),
        (b"\x1b[Au\x1b[", true, false, false),
        (b"\x1b]", true, false, false),
        (b"\x1b]11;rgb:00", false, true, false),
        (b"\x1bP>|xterm", false, true, false),
        (b"\x1b_Gi=1\x1b", false, true, false),
        (b"\x1b[5;", false, false, false),
    ];
    for (bytes, ambiguous, answer, protocol) in cases {
        let mut parser = Parser::default();
        parser.feed(bytes);
        let found = (
            parser.is_ambiguous(),
            parser.is_inside_answer(),
            parser.has_protocol(),
        );
        assert_eq!(found, (ambiguous, answer, protocol), "{bytes:?}");
    }
}

#[test]
fn an_answer_that_pauses_swallows_its_end_and_no_keys() {
    let cases: [(&[u8], &str); 5] = [
        (b"/00\x1b\\hi", "h i"),
        (b"/00\x07", ""),
        (b"hi\r", "h i enter"),
        (b"\x1b[A", "up"),
        (b"h\x1b[5;1R", "h Reply(Cursor { row: 4, column: 0 })"),
    ];
    for (bytes, expected) in cases {
        let mut parser = Parser::default();
        parser.feed(b"\x1b]11;rgb:00/00");
        assert_eq!(parser.give_up(), []);
        assert!(parser.is_inside() && !parser.is_inside_answer());
        let events = parser.feed(bytes);
        let events = events
            .into_iter()
            .filter(|event| !matches!(event, InputEvent::Reply(Reply::Background(_))));
        assert_eq!(named(events.collect()), expected, "{bytes:?}");
    }
    let mut parser = Parser::default();
    parser.feed(b"\x1b]11;rgb:00/00");
    parser.give_up();
    parser.give_up();
    assert_eq!(named(parser.feed(b"\x07")), "ctrl+g");
}

#[test]
fn pastes_keep_every_byte() {
    let paste = |text: &str| vec![InputEvent::Paste(text.into())];
    assert_eq!(
        events(b"\x1b[200~a\r\nb\tc\x1b[A\x1b\x1b[201~"),
        paste("a\r\nb\tc\x1b[A\x1b")
    );
    assert_eq!(events(b"\x1b[200~\xff\x1b[201~"), paste("\u{fffd}"));
    assert_eq!(events(b"\x1b[200~\x1b[201~"), paste(""));
    assert_eq!(names(b"x\x1b[200~y\x1b[201~z"), "x Paste(\"y\") z");

    let long = "日本\r\n".repeat(1 << 20);
    let mut parser = Parser::default();
    let mut all = parser.feed(b"\x1b[200~");
    for chunk in long.as_bytes().chunks(4093) {
        all.extend(parser.feed(chunk));
    }
    all.extend(parser.feed(b"\x1b[201~"));
    assert!(all == paste(&long));
}

/// A paste that no draft takes comes as one that no draft takes, whether it ends or not.
#[test]
fn a_paste_is_whole_or_too_long() {
    let text = vec![b'x'; 1 << 20];
    for (ends, cut) in [(true, 0), (true, 3), (false, 0)] {
        let mut parser = Parser::default();
        parser.feed(b"\x1b[200~");
        for _ in 0..MAX_DRAFT / text.len() * 3 {
            assert_eq!(parser.feed(&text), []);
        }
        let mut events = match ends {
            true => [&b"\x1b[201~!"[..cut], &b"\x1b[201~!"[cut..]]
                .map(|bytes| parser.feed(bytes))
                .concat(),
            false => parser.give_up(),
        };
        let InputEvent::Paste(text) = events.remove(0) else {
            panic!("no paste");
        };
        assert!(text.len() > MAX_DRAFT && text.len() < MAX_DRAFT + 99);
        assert_eq!(events.len(), usize::from(ends));
        assert!(!parser.is_inside());
    }
}

#[test]
fn any_cut_gives_the_same_events() {
    let pieces: &[&[u8]] = &[
        b"\x1b",
        b"\x1b[",
        b"O",
        b"[",
        b"]11;",
        b"rgb:1/2/3",
        b"\x07",
        b"\x1b\\",
        b"A",
        b"1;5C",
        b"200~",
        b"\x1b[200~",
        b"\x1b[201~",
        b"\x03",
        b"\r",
        b"<0;3;4M",
        b"M",
        b"?1u",
        b"13;2u",
        b"\xc3",
        b"\xa9",
        b"\xf0\x9f",
        b"\x99\x82",
        b"P",
        b"_G",
        b"27;2;13~",
        b"$",
        b"a",
        b"\x00",
        b"\xff",
    ];
    let mut random = random(3);
    for round in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..random(12) {
            match random(8) {
                0 => bytes.push(random(256) as u8),
                _ => bytes.extend_from_slice(pieces[random(pieces.len())]),
            }
        }
        let mut whole = Parser::default();
        let mut expected = whole.feed(&bytes);
        expected.extend(whole.flush());
        let mut cut = Parser::default();
        let mut found = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(1 + random(rest.len().min(4)));
            found.extend(cut.feed(piece));
            rest = after;
        }
        found.extend(cut.flush());
        assert_eq!(found, expected, "round {round}: {}", bytes.escape_ascii());
    }
}

/// Passes reads through a burst; `None` is a moment of quiet. Keys are named, pastes quoted.
fn burst(reads: &[Option<&str>]) -> String {
    let mut parser = Parser::default();
    let mut burst = Burst::default();
    let mut all = Vec::new();
    for read in reads {
        match read {
            Some(bytes) => all.extend(burst.pass(parser.feed(bytes.as_bytes()))),
            None => all.extend(burst.quiet()),
        }
    }
    let name = |event| match event {
        InputEvent::Key(press) => press.name().unwrap_or_default(),
        InputEvent::Paste(text) => format!("{text:?}"),
        other => format!("{other:?}"),
    };
    all.into_iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_paste_without_brackets_submits_nothing() {
    let cases: &[(&[Option<&str>], &str)] = &[
        (&[Some("a"), Some("\r")], "a enter"),
        (&[Some("ab\r"), Some("c\r")], "a b enter c enter"),
        (&[Some("abcdefgh\r")], "a b c d e f g h"),
        (&[Some("ab\r"), None], "a b enter"),
        (&[Some("a\rb")], "\"a\\rb\""),
        (&[Some("a\r\nb\r\n")], "\"a\\r\\nb\\r\\n\""),
        (&[Some("a\r\n")], "\"a\\r\\n\""),
        (&[Some("\ra")], "enter a"),
        (&[Some("\x1b[A\r")], "up enter"),
        (
            &[Some("abcdefgh\r"), Some("\x1b[A")],
            "a b c d e f g h enter up",
        ),
        (
            &[Some("abcdefgh"), Some("\r"), Some("i"), None],
            "a b c d e f g h \"\\ri\"",
        ),
        (
            &[Some("abcdefgh"), Some("\r"), None],
            "a b c d e f g h enter",
        ),
        (
            &[Some("abcdefgh"), None, Some("\r")],
            "a b c d e f g h enter",
        ),
        (&[Some("abcdefgh"), Some("\ti")], "a b c d e f g h \"\\ti\""),
        (&[Some("\x1b[200~a\x1b[201~\r"), None], "\"a\" enter"),
        (&[Some("\x1b[200~\n\x1b[201~")], "\"\\n\""),
        // A paste that holds the end of pastes.
        (
            &[Some("\x1b[200~a\x1b[201~b\r\x1b[201~"), None],
            "\"ab\\r\"",
        ),
        (
            &[Some("abcdefgh\r"), Some("\x1b[I"), Some("i"), None],
            "a b c d e f g h \"\\ri\"",
        ),
        (&[Some("\n")], "ctrl+j"),
        (&[Some("\t")], "tab"),
        (&[Some("jj")], "j j"),
    ];
    for (reads, expected) in cases {
        assert_eq!(burst(reads), *expected, "{reads:?}");
    }
    let line = "x".repeat(64);
    assert_eq!(burst(&[Some(&line)]), format!("{line:?}"));
}

#[test]
fn a_paste_in_small_writes_loses_nothing() {
    let mut random = random(9);
    for _ in 0..200 {
        let text: String = (0..600)
            .map(|_| ["a", "b", "é", " ", "\t", "\r", "\r\n", "\n"][random(8)])
            .collect();
        let text = format!("long beginning{text}");
        let mut parser = Parser::default();
        let mut burst = Burst::default();
        let mut found = String::new();
        let mut take = |events: Vec<InputEvent>| {
            for event in events {
                match event {
                    InputEvent::Paste(text) => found.push_str(&text),
                    InputEvent::Key(press) if press.key == Key::Tab => found.push('\t'),
                    InputEvent::Key(press) => match press.text() {
                        Some(c) => found.push(c),
                        None => assert_eq!(press.name().as_deref(), Some("ctrl+j")),
                    },
                    other => panic!("{other:?}"),
                }
            }
        };
        for chunk in text.as_bytes().chunks(64) {
            take(burst.pass(parser.feed(chunk)));
        }
        let held = burst.quiet().len();
        assert_eq!(found, text.strip_suffix(&"\r".repeat(held)).unwrap());
    }
}
