//! The composer as data: what was there, which keys, what is there then.
//!
//! `|` is the caret and `^` the other end of a selection. Keys are text and `<chords>`, written as
//! `<left>`, `<c-k>`, `<s-left>`, `<a-s-right>`.

mod rows;

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

fn text(view: &super::view::View) -> Vec<String> {
    let spans =
        |row: &crate::tui::style::Row| row.spans.iter().map(|span| span.text.as_str()).collect();
    view.rows.iter().map(spans).collect()
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
        ("a|b", "<s-right><c-y>", "a^b|"),
        ("a b c|", "<c-w><c-w><c-y><c-y>", "a b cb c|"),
        ("foo bar|", "<c-w>x<c-w><c-y>", "foo x|"),
        ("ab|cd", "<c-u><c-k><c-k>e<c-y>", "eabcd|"),
        ("a|bc", "<s-right><c-k><c-w><c-y>", "ab|c"),
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
        ("<c-u><c-y>", "ap\nq\nr\n|b"),
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
    // It does not come back elsewhere.
    type_keys(&mut composer, "<c-u>");
    // Another question replaces the field, not the draft.
    composer.open_field("!pre", false);
    assert_eq!(text(&composer.view(20, 5)), ["┃ !pre"]);
    composer.clear();
    type_keys(&mut composer, "<c-y>!");
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
