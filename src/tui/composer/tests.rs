//! The composer as data: what was there, which keys, what is there then.
//!
//! `|` is the caret and `^` the other end of a selection. Keys are text and `<chords>`, written as
//! `<left>`, `<c-k>`, `<s-left>`, `<a-s-right>`.

use super::*;
use crate::tui::key::Key;

fn press(name: &str) -> KeyPress {
    let mut press = KeyPress::plain(Key::Enter);
    let mut rest = name;
    loop {
        rest = match rest.split_at_checked(2) {
            Some(("c-", rest)) => {
                press.ctrl = true;
                rest
            }
            Some(("a-", rest)) => {
                press.alt = true;
                rest
            }
            Some(("s-", rest)) => {
                press.shift = true;
                rest
            }
            _ => break,
        };
    }
    press.key = match rest {
        "enter" => Key::Enter,
        "tab" => Key::Tab,
        "bs" => Key::Backspace,
        "del" => Key::Delete,
        "left" => Key::Left,
        "right" => Key::Right,
        "up" => Key::Up,
        "down" => Key::Down,
        "home" => Key::Home,
        "end" => Key::End,
        other => Key::Char(other.chars().next().expect("a key")),
    };
    press
}

/// Types keys; returns what became of the last.
fn type_keys(composer: &mut Composer, keys: &str) -> Handled {
    let keymap = Keymap::default();
    let mut handled = Handled::Ignored;
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let press = match rest
            .strip_prefix('<')
            .and_then(|after| after.split_once('>'))
        {
            Some((name, after)) => {
                rest = after;
                press(name)
            }
            None => {
                rest = &rest[c.len_utf8()..];
                KeyPress::plain(Key::Char(c))
            }
        };
        handled = composer.key(&press, &keymap);
    }
    handled
}

/// A composer with this content.
fn composer(content: &str) -> Composer {
    let mut composer = Composer::new(Vec::new());
    let plain = content.replace(['|', '^'], "");
    composer.set_text(&plain);
    let place = |mark: char| {
        let at = content.find(mark)?;
        let before = content[..at].matches(['|', '^']).count();
        Some(at - before)
    };
    composer
        .draft
        .buffer
        .go(place('|').unwrap_or(plain.len()), false);
    if let Some(anchor) = place('^') {
        let caret = composer.draft.buffer.caret();
        composer.draft.buffer.go(anchor, false);
        composer.draft.buffer.go(caret, true);
    }
    composer
}

fn content(composer: &Composer) -> String {
    let buffer = &composer.draft.buffer;
    let mut marks = vec![(buffer.caret(), '|')];
    if let Some(range) = buffer.selection() {
        let anchor = range.start + range.end - buffer.caret();
        marks.push((anchor, '^'));
    }
    marks.sort_by_key(|mark| std::cmp::Reverse(mark.0));
    let mut text = buffer.text().to_owned();
    for (at, mark) in marks {
        text.insert(at, mark);
    }
    text
}

#[track_caller]
fn check(before: &str, keys: &str, after: &str) {
    let mut composer = composer(before);
    composer.draft.buffer.set_columns(10);
    type_keys(&mut composer, keys);
    assert_eq!(content(&composer), after, "{before:?} and {keys:?}");
}

#[test]
fn typing_and_deleting() {
    for (before, keys, after) in [
        ("|", "hé", "hé|"),
        ("a|b", "x", "ax|b"),
        ("ab|", "<bs>", "a|"),
        ("|ab", "<bs>", "|ab"),
        ("a|b", "<del>", "a|"),
        ("ab|", "<del>", "ab|"),
        ("a|b", "<c-d>", "a|"),
        ("ae\u{301}|b", "<bs>", "a|b"),
        ("a👨\u{200d}👩\u{200d}👧|", "<bs>", "a|"),
        ("🇩🇪🇫🇷|", "<bs>", "🇩🇪|"),
        ("a|b", "<c-j>", "a\n|b"),
        ("a|b", "<s-enter>", "a\n|b"),
        ("a|b", "<a-enter>", "a\n|b"),
        ("a\\|", "<enter>", "a\n|"),
        ("a\\|b", "<enter>", "a\n|b"),
        ("a|", "<enter>", "a|"),
        ("a|b", "<left><c-k>", "|"),
        ("a|bc", "<c-k>", "a|"),
        ("ab|c\nd", "<c-u>", "|c\nd"),
        ("foo bar|", "<c-w>", "foo |"),
        ("foo bar  |", "<a-bs>", "foo |"),
        ("foo(bar)|", "<c-w>", "foo(bar|"),
        ("foo e\u{301}te\u{301}|", "<c-w>", "foo |"),
        ("  |x", "<c-w>", "|x"),
        ("a|b", "<c-h>", "|b"),
        ("a|b", "<tab><c-q><a-x>", "a|b"),
    ] {
        check(before, keys, after);
    }
}

#[test]
fn motions_and_selections() {
    for (before, keys, after) in [
        ("ab|", "<left><left><left>", "|ab"),
        ("|ab", "<c-f><right><right>", "ab|"),
        ("foo, bar|", "<a-left>", "foo, |bar"),
        ("foo, bar|", "<a-left><a-left>", "foo|, bar"),
        ("|foo, bar", "<a-right>", "foo|, bar"),
        ("foo| , bar", "<a-right><a-f>", "foo , bar|"),
        ("a\nb|c\nd", "<home>", "|a\nbc\nd"),
        ("a\nb|c\nd", "<c-e>", "a\nbc\nd|"),
        ("a|bc", "<s-right>", "a^b|c"),
        ("a|bc", "<s-right><s-right><s-left>", "a^b|c"),
        ("a|bc", "<s-end>", "a^bc|"),
        ("ab|c", "<s-home>", "|ab^c"),
        ("a foo| b", "<a-s-left>", "a |foo^ b"),
        ("a^bc|d", "<left>", "a|bcd"),
        ("a^bc|d", "<right>", "abc|d"),
        ("a|bc^d", "<right>", "abc|d"),
        ("a^bc|d", "x", "ax|d"),
        ("a^bc|d", "<bs>", "a|d"),
        ("a^bc|d", "<del>", "a|d"),
        ("a^bc|d", "<c-k>", "a|d"),
        ("a^bc|d", "<up>", "a|bcd"),
        ("a^bc|d", "<enter>", "a^bc|d"),
        ("ab\ncd|", "<s-up>", "ab|\ncd^"),
        ("ab\nc|d", "<s-up><s-up>", "|ab\nc^d"),
        ("a|b", "<s-down>", "a^b|"),
    ] {
        check(before, keys, after);
    }
}

#[test]
fn rows_keep_the_column() {
    for (before, keys, after) in [
        ("abcd\nx\nabcd|", "<up>", "abcd\nx|\nabcd"),
        ("abcd\nx\nabcd|", "<up><up>", "abcd|\nx\nabcd"),
        ("abc|d\nx\nabcd", "<down><down>", "abcd\nx\nabc|d"),
        ("abc|d\nx\nabcd", "<down><left><down>", "abcd\nx\n|abcd"),
        // Ten columns: the words break.
        ("hello there world|", "<up>", "hello there| world"),
        ("one two three|", "<up>", "one t|wo three"),
        ("aaaaaaaaaabbb|", "<up>", "aaa|aaaaaaabbb"),
        ("aaaaaaaaa|abbb", "<down>", "aaaaaaaaaabbb|"),
        ("日本語日本語|", "<up>", "日|本語日本語"),
        ("abc\n|", "<up>", "|abc\n"),
    ] {
        check(before, keys, after);
    }
}

#[test]
fn enter_asks_and_unknown_keys_are_free() {
    let mut composer = composer("a|");
    assert_eq!(type_keys(&mut composer, "<enter>"), Handled::Submit);
    assert_eq!(type_keys(&mut composer, "<c-q>"), Handled::Ignored);
    assert_eq!(type_keys(&mut composer, "b"), Handled::Changed);
    let command = KeyPress {
        command: true,
        ..KeyPress::plain(Key::Char('v'))
    };
    assert_eq!(composer.key(&command, &Keymap::default()), Handled::Ignored);
    assert_eq!(content(&composer), "ab|");
}

#[test]
fn history_keeps_the_draft() {
    let mut composer = Composer::new(vec!["one".into(), "two\nrows".into()]);
    let up = |composer: &mut Composer, keys: &str| {
        type_keys(composer, keys);
        content(composer)
    };
    composer
        .paste(
            "draft",
            PasteStyle {
                placeholder: 2,
                label: "[#{id}]",
            },
        )
        .unwrap();
    assert_eq!(up(&mut composer, "<up>"), "two\nrows|");
    assert_eq!(up(&mut composer, "<up>"), "one|");
    assert_eq!(up(&mut composer, "!<up>"), "one!|");
    assert_eq!(up(&mut composer, "<down>"), "two\nrows|");
    assert_eq!(up(&mut composer, "<left><up>"), "two|\nrows");
    assert_eq!(up(&mut composer, "<down><down>"), "[#1]|");
    assert_eq!(composer.draft().buffer.expand(), "draft");
    assert_eq!(up(&mut composer, "<down>"), "[#1]|");
    assert_eq!(up(&mut composer, "<up><up>"), "one!|");
    // Another prompt is sent: the draft is still to be found.
    assert_eq!(composer.take().buffer.text(), "one!");
    composer.remember("one!");
    composer.remember("one!");
    assert_eq!(up(&mut composer, "<up>"), "one!|");
    assert_eq!(up(&mut composer, "<up>"), "draft|");
    assert_eq!(up(&mut composer, "<up><up>"), "one|");
    composer.set_text("cleared");
    composer.clear();
    assert_eq!(content(&composer), "|");
    assert_eq!(up(&mut composer, "<up>"), "cleared|");
}

#[test]
fn history_is_bounded() {
    let mut composer = Composer::new(vec!["oldest".into()]);
    for n in 0..5000 {
        composer.remember(&format!("entry {n}"));
    }
    // Who stands somewhere stays there.
    type_keys(&mut composer, "mine<up><up>");
    assert_eq!(content(&composer), "entry 4998|");
    composer.remember("one more");
    type_keys(&mut composer, "<down><down>");
    assert_eq!(content(&composer), "one more|");
    type_keys(&mut composer, "<down>");
    assert_eq!(content(&composer), "mine|");
    for _ in 0..3000 {
        type_keys(&mut composer, "<up>");
    }
    assert_eq!(content(&composer), "entry 3001|");
    composer.remember("another");
    assert_eq!(content(&composer), "entry 3001|");
}

#[test]
fn markers_go_whole() {
    let style = PasteStyle {
        placeholder: 3,
        label: "[{id}:{chars}c {lines} line{plural}]",
    };
    let with_marker = |before: &str| {
        let mut composer = composer(before);
        composer.paste("p\r\nq\rr\n", style).unwrap();
        composer
    };
    let cases = [
        ("", "a[1:6c 3 lines]|b"),
        ("<left>", "a|[1:6c 3 lines]b"),
        ("<left><right>", "a[1:6c 3 lines]|b"),
        ("<a-left>", "a|[1:6c 3 lines]b"),
        ("<bs>", "a|b"),
        ("<left><del>", "a|b"),
        ("<left><s-right>x", "ax|b"),
        ("<c-w>", "a|b"),
        ("<c-u>", "|b"),
    ];
    for (keys, expected) in cases {
        let mut composer = with_marker("a|b");
        type_keys(&mut composer, keys);
        assert_eq!(content(&composer), expected, "{keys:?}");
        let expanded = expected
            .replace('|', "")
            .replace("[1:6c 3 lines]", "p\nq\nr\n");
        assert_eq!(composer.draft().buffer.expand(), expanded, "{keys:?}");
    }
    // An edit inside one, as a picker could make it.
    let mut composer = with_marker("a|b");
    composer.replace(3..4, "x");
    assert_eq!(content(&composer), "ax|b");
    // One that takes several rows is crossed as one.
    let mut composer = with_marker("\n|\n");
    composer.draft.buffer.set_columns(5);
    for (keys, expected) in [
        ("<home>", "|\n[1:6c 3 lines]\n"),
        ("<down>", "\n|[1:6c 3 lines]\n"),
        ("<down>", "\n[1:6c 3 lines]|\n"),
        ("<down>", "\n[1:6c 3 lines]\n|"),
        ("<up>", "\n|[1:6c 3 lines]\n"),
    ] {
        type_keys(&mut composer, keys);
        assert_eq!(content(&composer), expected, "{keys:?}");
    }
    // The highest number counts, and retyping a label brings nothing back.
    let mut composer = with_marker("|");
    composer.paste("second", style).unwrap();
    assert_eq!(content(&composer), "[1:6c 3 lines][2:6c 1 line]|");
    type_keys(&mut composer, "<home><del>");
    composer.paste("third", style).unwrap();
    assert_eq!(content(&composer), "[3:5c 1 line]|[2:6c 1 line]");
    assert_eq!(composer.draft().buffer.expand(), "thirdsecond");
    composer.clear();
    type_keys(&mut composer, "[1:6c 3 lines]");
    assert_eq!(composer.draft().buffer.expand(), "[1:6c 3 lines]");
}

#[test]
fn pastes_below_the_limit_are_text() {
    let paste = |text: &str, placeholder, label| {
        let mut composer = composer("a^b|c");
        composer
            .paste(text, PasteStyle { placeholder, label })
            .unwrap();
        content(&composer)
    };
    assert_eq!(paste("x\r\ny\x1b\tz", 100, "[{id}]"), "ax\ny\x1b\tz|c");
    assert_eq!(paste("日本語", 3, "[{id}]"), "a日本語|c");
    assert_eq!(paste("日本語", 2, "[{id}]"), "a[1]|c");
    assert_eq!(paste("日本語", 0, "[{id}]"), "a日本語|c");
    assert_eq!(paste("日本語", 2, " "), "a日本語|c");
    assert_eq!(paste("日本語", 2, "{nothing}"), "a日本語|c");
    let mut composer = composer("|");
    let huge = "x".repeat(MAX_DRAFT / 2 + 1);
    assert!(composer.paste(&huge, PasteStyle::default()).is_ok());
    assert!(composer.paste(&huge, PasteStyle::default()).is_err());
    assert_eq!(composer.draft().buffer.expand().len(), huge.len());
}

#[test]
fn a_pane_is_attached_once_and_deleted_in_two_steps() {
    let mut composer = composer("ask |");
    composer.attach_pane("[Changes · 2 rows]", "old".into());
    composer.attach_pane("[Changes · 1 row]", "new".into());
    assert_eq!(content(&composer), "ask [Changes · 1 row] |");
    assert_eq!(composer.draft().buffer.expand(), "ask \nnew\n");
    type_keys(&mut composer, "<bs>");
    assert_eq!(content(&composer), "ask ^[Changes · 1 row] |");
    type_keys(&mut composer, "<bs>");
    assert_eq!(content(&composer), "ask |");
    composer.attach_pane("[Log]", "rows".into());
    type_keys(&mut composer, "<c-w>");
    assert_eq!(content(&composer), "ask |");
    // What is sent begins with the rows, and they stand on lines of their own.
    for (before, keys, sent) in [
        ("|", "why?", "rows\nwhy?"),
        ("|", "<c-j>why?", "rows\nwhy?"),
        ("see\n|", "", "see\nrows\n"),
        ("a|b", "", "a\nrows\nb"),
    ] {
        let mut composer = super::tests::composer(before);
        composer.attach_pane("[Log]", "rows".into());
        type_keys(&mut composer, keys);
        assert_eq!(composer.draft().buffer.expand(), sent, "{before:?}");
    }
}

#[test]
fn fields_stand_in_for_the_draft() {
    let image = || Image {
        media_type: "image/png".into(),
        data: String::new(),
    };
    let mut composer = composer("dra|ft");
    composer.attach_image(image());
    composer.open_field("", true);
    composer
        .paste(
            "sk-1\r\n",
            PasteStyle {
                placeholder: 1,
                label: "[{id}]",
            },
        )
        .unwrap();
    assert_eq!(type_keys(&mut composer, "<up>"), Handled::Ignored);
    assert_eq!(type_keys(&mut composer, "<c-j>"), Handled::Ignored);
    assert_eq!(type_keys(&mut composer, "\\<enter>"), Handled::Submit);
    assert_eq!(text(&composer.view(20, 5)), ["┃ •••••"]);
    assert_eq!(composer.attachments(), None);
    // Another question replaces the field, not the draft.
    composer.open_field("!pre", false);
    assert_eq!(text(&composer.view(20, 5)), ["┃ !pre"]);
    composer.clear();
    type_keys(&mut composer, "!");
    assert_eq!(text(&composer.view(20, 5)), ["┃ !"]);
    assert_eq!(composer.close_field().as_deref(), Some("!"));
    assert_eq!(
        (content(&composer).as_str(), composer.close_field()),
        ("dra|ft", None)
    );
    composer.attach_image(image());
    let labels = composer.attachments().map(|row| row.spans[0].text.clone());
    assert_eq!(labels.as_deref(), Some("[Image 1] [Image 2]"));
    type_keys(&mut composer, "<home><bs>");
    assert_eq!(composer.draft().images.len(), 1);
}

/// The rows of a view as plain text.
fn text(view: &super::view::View) -> Vec<String> {
    let spans =
        |row: &crate::tui::style::Row| row.spans.iter().map(|span| span.text.as_str()).collect();
    view.rows.iter().map(spans).collect()
}

#[test]
fn rows_have_rails_and_the_caret_its_place() {
    let cases: &[(&str, usize, &str, (usize, usize))] = &[
        ("|", 20, "┃ ", (0, 2)),
        ("one two three|", 13, "┃ one two \n┃ three", (1, 7)),
        ("one two |three", 13, "┃ one two \n┃ three", (1, 2)),
        ("aaaaaaaaaa|", 13, "┃ aaaaaaaaaa", (0, 12)),
        ("aaaaaaaaaa    |b", 13, "┃ aaaaaaaaaa\n┃ b", (1, 2)),
        ("aaaaaaaaaa   | b", 13, "┃ aaaaaaaaaa\n┃ b", (0, 12)),
        ("aaaaaaaaaaa|", 13, "┃ aaaaaaaaaa\n┃ a", (1, 3)),
        ("a\n\n|", 13, "┃ a\n┃ \n┃ ", (2, 2)),
        ("日本語日本語|", 13, "┃ 日本語日本\n┃ 語", (1, 4)),
        ("a\tb\x1b\u{202e}c|", 20, "┃ a b\u{fffd}\u{fffd}c", (0, 8)),
        (
            "\u{200e}\u{61c}🏴\u{e0067}\u{e007f}|",
            20,
            "┃ \u{fffd}\u{fffd}🏴\u{e0067}\u{e007f}",
            (0, 6),
        ),
        ("!|ls", 20, "! ls", (0, 2)),
        ("! l|s", 20, "! ls", (0, 3)),
        ("!| ls", 20, "! ls", (0, 1)),
        ("|! ls", 20, "! ls", (0, 0)),
        ("! 0123456789|a", 13, "! 0123456789\n┃ a", (1, 2)),
        (" !|", 20, "┃  !", (0, 4)),
        ("ab|", 0, "┃ a\n┃ b", (1, 0)),
        ("日|", 2, "┃ 日", (0, 1)),
    ];
    for (before, width, rows, caret) in cases {
        let view = composer(before).view(*width, 10);
        assert_eq!(
            (text(&view).join("\n").as_str(), view.caret),
            (*rows, *caret),
            "{before:?} at {width}"
        );
    }
}

#[test]
fn a_long_draft_scrolls_around_the_caret() {
    let mut composer = composer("1\n2\n3\n4\n5|");
    assert_eq!(text(&composer.view(20, 3)), ["┃↑3", "┃ 4", "┃ 5"]);
    type_keys(&mut composer, "<up><up>");
    assert_eq!(composer.view(20, 3).caret, (0, 3));
    type_keys(&mut composer, "<up>");
    assert_eq!(text(&composer.view(20, 3)), ["┃↑2", "┃ 3", "┃ 4"]);
    type_keys(&mut composer, "<home>");
    assert_eq!(text(&composer.view(20, 3)), ["┃ 1", "┃ 2", "┃ 3"]);
    type_keys(&mut composer, "<end>");
    assert_eq!(text(&composer.view(20, 0)), ["┃↑5"]);
    assert_eq!(text(&composer.view(20, 9)).len(), 5);
}

#[test]
fn markers_and_selections_have_their_looks() {
    let mut composer = composer("ab|");
    composer
        .paste(
            "long",
            PasteStyle {
                placeholder: 1,
                label: "[{id}]",
            },
        )
        .unwrap();
    type_keys(&mut composer, "c<home><s-right>");
    let view = composer.view(20, 5);
    let looks: Vec<_> = view.rows[0]
        .spans
        .iter()
        .map(|span| (span.text.as_str(), span.style.reverse, span.style.dim))
        .collect();
    let expected = [
        ("┃ ", false, false),
        ("a", true, false),
        ("b", false, false),
        ("[1]", false, true),
        ("c", false, false),
    ];
    assert_eq!(looks, expected);
}

/// A small generator of numbers below a bound.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    }
}

#[test]
fn random_editing_keeps_rows_and_markers_true() {
    let keys = [
        "<left>",
        "<right>",
        "<up>",
        "<down>",
        "<home>",
        "<end>",
        "<a-left>",
        "<a-right>",
        "<s-left>",
        "<s-up>",
        "<s-down>",
        "<a-s-right>",
        "<bs>",
        "<del>",
        "<c-w>",
        "<c-k>",
        "<c-u>",
        "<c-j>",
        "a",
        " ",
        "!",
        "日",
        "e",
        "\u{301}",
        "🇩",
        "\u{200d}",
        "👩",
        "\t",
        "\x1b",
        "word",
        "   ",
    ];
    let mut random = random(5);
    for round in 0..300 {
        let mut composer = Composer::new(vec!["earlier prompt".into(), "! two\nrows".into()]);
        let mut width = 4 + random(20);
        for _ in 0..60 {
            match random(12) {
                0 => {
                    let style = PasteStyle {
                        placeholder: 4,
                        label: "[#{id} {chars}]",
                    };
                    composer
                        .paste(["short", "x", "a b c d\n\n e", "!"][random(4)], style)
                        .unwrap();
                }
                1 => composer.attach_pane("!pane rows", "rows".into()),
                2 => {
                    let length = composer.draft().buffer.text().len();
                    let (start, end) = (random(length + 2), random(length + 2));
                    composer.replace(start..end, ["", "new text", "\r\n"][random(3)]);
                }
                3 => width = random(24),
                _ => {
                    type_keys(&mut composer, keys[random(keys.len())]);
                }
            }
            let max_rows = random(6);
            let view = composer.view(width, max_rows);
            let buffer = &composer.draft.buffer;
            // The rows are those of a fresh break.
            let mut fresh = layout::Layout::new(buffer.layout().columns());
            fresh.set(buffer.layout().columns(), buffer.text(), buffer.gutter());
            let rows = |layout: &layout::Layout| -> Vec<_> {
                (0..layout.rows())
                    .map(|row| layout.row(row, buffer.text()))
                    .collect()
            };
            assert_eq!(
                rows(buffer.layout()),
                rows(&fresh),
                "round {round}: {:?}",
                buffer.text()
            );
            assert_eq!(view.rows.len(), fresh.rows().min(max_rows.max(1)));
            assert!(view.caret.0 < view.rows.len() && view.caret.1 <= width.max(1));
            if width >= 5 {
                assert!(view.rows.iter().all(|row| row.width() <= width), "{view:?}");
            }
            // Every marker shows its label, and the caret is inside none.
            for (range, mark) in buffer.marks() {
                let label = &buffer.text()[range.clone()];
                match mark {
                    Mark::Paste { number, .. } => {
                        assert!(label.starts_with(&format!("[#{number} ")))
                    }
                    Mark::Pane { .. } => assert_eq!(label, "!pane rows "),
                }
                assert!(buffer.caret() <= range.start || range.end <= buffer.caret());
            }
        }
    }
}
