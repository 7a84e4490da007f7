//! Markdown at several widths, whole and streamed.

use super::*;
use crate::text::testing::random;
use crate::tui::style::Row;
use crate::tui::testing::{check, plain, styled};

fn whole(source: &str, columns: usize) -> Vec<Row> {
    render(source, columns, &Definitions::default())
}

/// The rows of a reply that arrived in these pieces, as a transcript would put them together.
fn streamed<'a>(pieces: impl Iterator<Item = &'a str>, columns: usize) -> Vec<Row> {
    let mut reply = Streamed::default();
    let mut chunks = Vec::new();
    for piece in pieces {
        reply.push(piece);
        chunks.extend(reply.settle(false));
        check(&reply.tail(columns), columns);
    }
    chunks.extend(reply.settle(true));
    assert!(reply.rest.is_empty() && !reply.continues());
    joined(&chunks, &reply, columns)
}

fn joined(chunks: &[Chunk], reply: &Streamed, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for chunk in chunks {
        let own = chunk.rows(columns, reply.known());
        if !rows.is_empty() && !own.is_empty() && !chunk.continues() {
            rows.push(Row::default());
        }
        rows.extend(own);
    }
    rows
}

const SAMPLE: &str = "\
# A *title* here
Some **bold words** and `code`, a [link](https://a.b/c) and https://x.y/z.

1. one
10. ten, which is a longer item
    - inner
- [x] done
- [ ] open

> quoted text
> > deeper

| name | n |
|:-----|--:|
| a    | 1 |
| long name | 22 |

```rust
fn main() {
	call();
}
```
---
~~gone~~ <b>html</b>
";

#[test]
fn deeper_headings_are_plainer() {
    let rows = whole("# a\n## b\n### c **d**\n###### e", 80);
    let rows: Vec<_> = styled(&rows)
        .into_iter()
        .filter(|row| !row.is_empty())
        .collect();
    let expected = [
        "⟨mdHeading bold underline|a⟩",
        "⟨mdHeading bold|b⟩",
        "⟨mdHeading bold dim|c ⟩⟨mdHeading bold|d⟩",
        "⟨mdHeading bold dim|e⟩",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn wide() {
    let expected = [
        "⟨mdHeading bold underline|A ⟩⟨mdHeading bold italic underline|title⟩⟨mdHeading bold underline| here⟩",
        "",
        "Some ⟨bold|bold words⟩ and ⟨mdCode|code⟩, a ⟨mdLink underline →https://a.b/c|link⟩ and ⟨mdLinkUrl underline →https://x.y/z|https://x.y/z⟩.",
        "",
        "⟨mdListBullet dim|1. ⟩one",
        "⟨mdListBullet dim|10. ⟩ten, which is a longer item",
        "⟨mdListBullet dim|    ⟩⟨mdListBullet dim|• ⟩inner",
        "",
        "⟨mdListBullet dim|✓ ⟩done",
        "⟨mdListBullet dim|☐ ⟩open",
        "",
        "⟨mdQuoteBorder dim|│ ⟩⟨mdQuote|quoted text⟩",
        "⟨mdQuoteBorder dim|│ ⟩",
        "⟨mdQuoteBorder dim|│ ⟩⟨mdQuoteBorder dim|│ ⟩⟨mdQuote|deeper⟩",
        "",
        "⟨bold|name⟩     ⟨mdHr dim| │ ⟩ ⟨bold|n⟩",
        "⟨mdHr dim|──────────┼───⟩",
        "a        ⟨mdHr dim| │ ⟩ 1",
        "long name⟨mdHr dim| │ ⟩22",
        "",
        "⟨mdCodeBlockBorder dim|── rust ────────────────────────────────────────────────────⟩",
        "⟨syntaxKeyword|fn⟩⟨mdCodeBlock| ⟩⟨syntaxFunction|main⟩⟨syntaxPunctuation|()⟩⟨mdCodeBlock| ⟩⟨syntaxPunctuation|{⟩",
        "⟨mdCodeBlock|    ⟩⟨syntaxFunction|call⟩⟨syntaxPunctuation|();⟩",
        "⟨syntaxPunctuation|}⟩",
        "⟨mdCodeBlockBorder dim|────────────────────────────────────────────────────────────⟩",
        "",
        "⟨mdHr dim|────────────────────────────────────────────────────────────⟩",
        "",
        "⟨strike|gone⟩ <b>html</b>",
    ];
    assert_eq!(styled(&whole(SAMPLE, 80)), expected);
}

#[test]
fn narrow() {
    let expected = [
        "A title here",
        "",
        "Some bold words and",
        "code, a link",
        "and https://x.y/z.",
        "",
        "1. one",
        "10. ten, which is a",
        "    longer item",
        "    • inner",
        "",
        "✓ done",
        "☐ open",
        "",
        "│ quoted text",
        "│ ",
        "│ │ deeper",
        "",
        "name      │  n",
        "──────────┼───",
        "a         │  1",
        "long name │ 22",
        "",
        "── rust ────────────",
        "fn main() {",
        "    call();",
        "}",
        "────────────────────",
        "",
        "────────────────────",
        "",
        "gone <b>html</b>",
    ];
    assert_eq!(plain(&whole(SAMPLE, 20)), expected);
}

#[test]
fn tiny() {
    for columns in 0..16 {
        check(&whole(SAMPLE, columns), columns.max(1));
    }
    let rows = plain(&whole("| name | n |\n|--|--|\n| long name | 22 |\n", 9));
    assert_eq!(rows, ["name │ n", "─────┼───", "long │ 22", "name │ "]);
    let rows = plain(&whole("```\n  abcdefgh\n```", 5));
    assert_eq!(rows, ["  abc", "  def", "  gh"]);
}

#[test]
fn loose_lists_and_blocks_in_items() {
    let rows = plain(&whole(
        "1. one\n\n   more\n\n2. two\n   ```\n   x\n   ```\n\n3.\n",
        40,
    ));
    assert_eq!(
        rows,
        [
            "1. one",
            "",
            "   more",
            "",
            "2. two",
            "",
            "   ─────────────────────────────────────",
            "   x",
            "   ─────────────────────────────────────",
            "",
            "3. ",
        ]
    );
}

#[test]
fn images_are_links() {
    let rows = styled(&whole(
        "![alt](https://a.b) ![](https://c.d) ![](x.png)",
        60,
    ));
    let expected = "⟨mdLink underline →https://a.b|alt⟩ ⟨mdLinkUrl underline →https://c.d|https://c.d⟩ \
                    ⟨mdLinkUrl underline|x.png⟩";
    assert_eq!(rows, [expected]);
}

#[test]
fn hostile_text_stays_text() {
    let cases = [
        "&#27;[31m &#x9b;x &NewLine;a&Tab;b &#x202e;evil",
        "[x](https://a&#27;b) ![](javascript:x) <javascript:alert(1)>",
        "```&#27;]0;x\n\u{2028}```",
        "| a |\n|--|\n| &#10; b \\| c |",
        "<div>\n\tx\n</div>",
    ];
    for source in cases {
        for columns in [1, 7, 80] {
            check(&whole(source, columns), columns);
            check(&streamed(source.split_inclusive(' '), columns), columns);
        }
    }
    let deep = "> ".repeat(3_000) + "x";
    check(&whole(&deep, 40), 40);
    let deep: String = (0..300).map(|level| "  ".repeat(level) + "- x\n").collect();
    check(&whole(&deep, 40), 40);
    check(&whole(&"[".repeat(20_000), 40), 40);
    check(&whole(&"*a **b ".repeat(5_000), 40), 40);
}

#[test]
fn streaming_gives_what_the_whole_gives() {
    let parts = [
        "# head\n",
        "para one\ntwo ",
        "**bold** words",
        "\n",
        "\n\n",
        "- item\n",
        "- [x] task\n",
        "  - inner\n",
        "1. one\n",
        "2) two\n",
        "> quote\n",
        "lazy\n",
        "```rust\n",
        "```\n",
        "~~~ py\n",
        "~~~\n",
        "let a = \"x\n",
        "  indented\n",
        "| a | b |\n",
        "|---|---|\n",
        "| 1 | 2 |\n",
        "---\n",
        "===\n",
        "    code\n",
        "<div>\n",
        "</div>\n",
        "`tick",
        "``",
        "日本語 🙂\n",
        "#",
        "-",
    ];
    let mut random = random(9);
    for _ in 0..1_500 {
        let source: String = (0..random(14))
            .map(|_| parts[random(parts.len())])
            .collect();
        let mut cuts: Vec<usize> = (0..random(8)).map(|_| random(source.len() + 1)).collect();
        cuts.retain(|at| source.is_char_boundary(*at));
        cuts.extend([0, source.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &source[pair[0]..pair[1]]);
        assert_eq!(
            plain(&streamed(pieces, 30)),
            plain(&whole(&source, 30)),
            "{source:?}"
        );
    }
}

#[test]
fn long_code_leaves_in_portions() {
    let mut reply = Streamed::default();
    let mut chunks = Vec::new();
    let mut source = String::from("text\n\n```python\n");
    reply.push(&source);
    for number in 0..200 {
        let line = format!("x = {number}\n");
        source.push_str(&line);
        for piece in line.split_inclusive('=') {
            reply.push(piece);
            chunks.extend(reply.settle(false));
            assert!(reply.tail(40).len() <= 19);
        }
    }
    assert!(chunks.len() > 10 && reply.continues());
    chunks.extend(reply.settle(true));
    assert_eq!(
        plain(&joined(&chunks, &reply, 40)),
        plain(&whole(&source, 40))
    );
}

#[test]
fn later_parts_know_the_links_of_earlier_ones() {
    let source = "[one]: https://one.example\n\ntext\n\n- see [One] and [two]\n\nend\n";
    let rows = styled(&streamed(source.split_inclusive('\n'), 60));
    assert_eq!(
        rows[2],
        "⟨mdListBullet dim|• ⟩see ⟨mdLink underline →https://one.example|One⟩ and [two]"
    );
}

#[test]
fn a_long_reply_costs_what_it_brings() {
    let begun = std::time::Instant::now();
    let mut reply = Streamed::default();
    let mut settled = 0;
    for number in 0..10_000 {
        for piece in ["Para **", "graph** number ", "x\n", "\n", "- item\n", "\n"] {
            reply.push(piece);
            settled += reply.settle(false).len();
        }
        if number % 10 == 0 {
            assert!(reply.tail(80).len() < 10);
        }
    }
    assert!(settled >= 19_990);
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_block_without_an_end_is_cut() {
    for piece in [
        "x",
        "word ",
        "- item\n",
        "```\nx",
        "| a | b |\n|---|---|\n",
        "> ",
    ] {
        let mut reply = Streamed::default();
        let mut chunks = Vec::new();
        for _ in 0..60 {
            reply.push(&piece.repeat(4096));
            chunks.extend(reply.settle(false));
            assert!(reply.rest.len() < 2 * 64 * 1024, "{piece:?}");
        }
        chunks.extend(reply.settle(true));
        assert!(
            chunks.len() >= 2 || piece == "> ",
            "{piece:?}: {}",
            chunks.len()
        );
    }
}
