//! How a draft looks, whatever was typed.

use super::*;
use crate::text::testing::random;

/// The rows of a view as plain text.
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
