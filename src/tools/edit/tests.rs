//! Edits of files with every mix of line endings, marks and broken bytes.

use super::*;
use crate::chat::Outcome;
use crate::text::testing::random;
use crate::tools::testing::Bench;
use serde_json::json;

/// Applies one edit to bytes.
fn apply(file: &[u8], old: &str, new: &str) -> Result<Vec<u8>, String> {
    let Replacement { span, with } = plan(file, old, new)?;
    Ok([&file[..span.start], &with, &file[span.end..]].concat())
}

#[test]
fn line_endings_follow_the_place() {
    let cases: &[(&[u8], &str, &str, &[u8])] = &[
        (b"a\r\nb\r\nc\r\n", "a\nb\nc", "a\nx\nc", b"a\r\nx\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\nb\nc\n", "a\r\nb", "x\r\ny", b"x\ny\nc\n"),
        (b"a\r\nb\nc\n", "a\nb", "a\nx\nb", b"a\r\nx\r\nb\nc\n"),
        (b"a\r\nb\nc\n", "b\nc", "b\nx\nc", b"a\r\nb\nx\nc\n"),
        (b"a\nb\r\nc\r\n", "a\nb\nc", "a\nc", b"a\nc\r\n"),
        (b"a\nb\r\nc\r\n", "b\nc", "", b"a\n\r\n"),
        (b"a\nb\r\nc", "c", "c\nd", b"a\nb\r\nc\r\nd"),
        (b"a", "a", "a\nb", b"a\nb"),
        (b"x\ry\r\nz", "x\ry\nz", "x\ry\nw", b"x\ry\r\nw"),
        (b"x\ry\nz", "y", "q", b"x\rq\nz"),
        (b"a\r\nb\r\n", "\nb", "\nc", b"a\r\nc\r\n"),
        (b"a\r\nb\na\nb\n", "a\r\nb", "q", b"q\na\nb\n"),
        (b"a\r\n", "a\r\n", "b\r\n", b"b\r\n"),
        (b"a\r\r\nb\r\n", "a\r\nb", "c\r\nb", b"c\r\r\nb\r\n"),
        (b"a\r\nb", "a\n", "", b"b"),
        (
            b"a\r\nb\r\nc\r\n",
            "a\nb",
            "x\ny\nz",
            b"x\r\ny\r\nz\r\nc\r\n",
        ),
        (b"a\r\nb\nc\r\n", "b\nc", "b\nnew\nc", b"a\r\nb\nnew\nc\r\n"),
        (b"no end", "end", "end\n", b"no end\n"),
        (b"old mac\rb\r", "b", "c", b"old mac\rc\r"),
    ];
    for (file, old, new, expected) in cases {
        let edited = apply(file, old, new).unwrap();
        assert_eq!(
            edited.escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "{old:?} to {new:?}"
        );
    }
}

#[test]
fn marks_and_foreign_bytes_stay() {
    let cases: &[(&[u8], &str, &str, &[u8])] = &[
        (b"\xef\xbb\xbfone\ntwo", "one", "1", b"\xef\xbb\xbf1\ntwo"),
        (b"\xef\xbb\xbfone\ntwo", "two", "2", b"\xef\xbb\xbfone\n2"),
        (
            b"\xef\xbb\xbfone\r\ntwo",
            "\u{feff}one\ntwo",
            "\u{feff}x",
            b"\xef\xbb\xbfx",
        ),
        (b"\xef\xbb\xbfa\r\nb", "a", "x", b"\xef\xbb\xbfx\r\nb"),
        (
            b"\xef\xbb\xbfone\n",
            "\u{feff}one",
            "two",
            b"\xef\xbb\xbftwo\n",
        ),
        (b"caf\xe9 = 1;\n", "= 1", "= 2", b"caf\xe9 = 2;\n"),
        (
            b"caf\xe9 one\n\xff\xfe",
            "one",
            "two",
            b"caf\xe9 two\n\xff\xfe",
        ),
        (b"nul\0a", "a", "b", b"nul\0b"),
        (
            b"tail  \t\nq \xe2\x80\x9cx\xe2\x80\x9d\xc2\xa0\n",
            "q ",
            "r ",
            b"tail  \t\nr \xe2\x80\x9cx\xe2\x80\x9d\xc2\xa0\n",
        ),
        (
            "“a” \u{a0}b  \n".as_bytes(),
            "b",
            "c",
            "“a” \u{a0}c  \n".as_bytes(),
        ),
    ];
    for (file, old, new, expected) in cases {
        assert_eq!(apply(file, old, new).unwrap(), *expected, "{old:?}");
    }
}

#[test]
fn refusals_name_the_cause() {
    let cases: &[(&[u8], &str, &str, &str)] = &[
        (b"abc", "", "x", "empty"),
        (b"abc", "b", "b", "the same"),
        (b"abc", "x", "y", "does not occur"),
        (b"aaa", "aa", "b", "occurs 2 times"),
        (b"x\nx\nx\n", "x", "y", "occurs 3 times"),
        (b"a\r\na\n", "a\n", "b\n", "occurs 2 times"),
        (b"a\r\nb", "a\r\nb", "a\nb", "line endings only"),
        (b"if  (x)\n", "if (x)", "y", "does not occur"),
        (b"\"x\"", "\u{201c}x\u{201d}", "y", "does not occur"),
        (b"caf\xe9 one\n", "one", "zwölf", "not UTF-8 (byte 3)"),
        (b"a\r\nb\na\nb\n", "a\nb", "q", "occurs 2 times"),
        (b"a\r\nb", "a\nb", "a\r\nb", "line endings only"),
        (b"caf\xe9 x", "x", "é", "not UTF-8 (byte 3)"),
        ("a\u{a0}b".as_bytes(), "a b", "c", "does not occur"),
        (b"\ta: 1\n", "    a: 1", "b", "does not occur"),
        (b"\xef\xbb\xbfa", "\u{feff}", "b", "does not occur"),
        (b"", "a", "b", "does not occur"),
        (b"a\r\nb\r\n", "a\r", "c", "does not occur"),
        (b"\r\n\ra\n\n\ra\r\n", "\n\ra\n", "c", "occurs 2 times"),
    ];
    for (file, old, new, reason) in cases {
        let error = apply(file, old, new).unwrap_err();
        assert!(error.contains(reason), "{old:?} gave {error}");
    }
}

#[test]
fn matching_is_linear() {
    let text = "a".repeat(4 << 20);
    let needle = "a".repeat(1 << 20);
    assert_eq!(
        occurrences(text.as_bytes(), needle.as_bytes(), true).0,
        (3 << 20) + 1
    );
}

#[test]
fn random_edits_touch_nothing_else() {
    let mut random = random(3);
    let pieces: [&[u8]; 10] = [
        b"\n",
        b"\r\n",
        b"\r",
        b"a",
        b"b",
        b"ab",
        "é".as_bytes(),
        b"\t ",
        b"\xff",
        MARK,
    ];
    let (mut edited, mut refused) = (0, 0);
    for round in 0..20_000 {
        // Half of the files are valid UTF-8.
        let kinds = if round % 2 == 0 { 8 } else { 10 };
        let mut file = if random(4) == 0 {
            MARK.to_vec()
        } else {
            Vec::new()
        };
        (0..random(24)).for_each(|_| file.extend(pieces[random(kinds)]));
        let skipped = if file.starts_with(MARK) { 3 } else { 0 };
        let (from, to) = (
            skipped + random(file.len() + 1),
            skipped + random(file.len() + 1),
        );
        let (from, to) = (from.min(to), from.max(to));
        // A line break was shown whole or not at all.
        let splits = |at: usize| file[..at].ends_with(b"\r") && file[at..].starts_with(b"\n");
        if to > file.len() || splits(from) || splits(to) {
            continue;
        }
        let Ok(slice) = std::str::from_utf8(&file[from..to]) else {
            continue;
        };
        // What the model saw: line breaks without carriage returns.
        let old = slice.replace("\r\n", "\n");
        let new: String = (0..random(5))
            .map(|_| ["\n", "x", "é", "ab"][random(4)])
            .collect();
        match apply(&file, &old, &new) {
            Ok(result) => {
                edited += 1;
                let before = plain_lines(&file);
                let at = before[skipped..]
                    .windows(old.len())
                    .position(|window| window == old.as_bytes());
                let at = skipped + at.expect("the old text is in the file");
                let expected = [&before[..at], new.as_bytes(), &before[at + old.len()..]].concat();
                // A carriage return that gets a line break behind it becomes part of it.
                if !expected.windows(2).any(|pair| pair == b"\r\n") {
                    assert_eq!(plain_lines(&result), expected, "{file:?} {old:?} {new:?}");
                }
                let head = forth(&file, 0, at);
                let tail = forth(&file, head, old.len());
                assert!(
                    result.starts_with(&file[..head]),
                    "{file:?} {old:?} {new:?}"
                );
                assert!(result.ends_with(&file[tail..]), "{file:?} {old:?} {new:?}");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(edited > 1000 && refused > 100, "{edited} {refused}");
}

#[test]
fn what_read_shows_is_what_edit_matches() {
    let bench = Bench::new();
    bench.put("f", b"\xef\xbb\xbfone\r\ntwo\rhalf\r\nthree\r\nfour\r\n");
    let shown = bench.run("read", r#"{"path":"f","limit":3}"#).content;
    let text: Vec<&str> = shown
        .split('\n')
        .map(|line| line.split_once('\t').unwrap().1)
        .collect();
    let arguments = json!({"path": "f", "old_string": text.join("\n"), "new_string": "new\nlines"});
    let result = bench.run("edit", &arguments.to_string());
    assert_eq!(result.outcome, Outcome::Completed, "{}", result.content);
    assert_eq!(bench.read("f"), b"\xef\xbb\xbfnew\r\nlines\r\nfour\r\n");
    assert_eq!(
        (result.summary.as_str(), result.content.as_str()),
        ("+2 -3", "edited `f`")
    );
}

#[test]
fn the_display_is_a_diff_with_real_numbers() {
    let bench = Bench::new();
    bench.put("f", b"1\n2\n3\n4\n5\n6\n");
    let result = bench.run(
        "edit",
        r#"{"path":"f","old_string":"5","new_string":"five"}"#,
    );
    let expected = "f\n    2   2\n    3   3\n    4   4\n    5 - 5\n    5 + five\n    6   6";
    assert_eq!(result.display.unwrap().text, expected);
}

#[test]
fn a_missing_file_is_for_write() {
    let bench = Bench::new();
    let result = bench.run("edit", r#"{"path":"f","old_string":"5","new_string":"x"}"#);
    assert!(
        result.content.contains("create it with `write`"),
        "{}",
        result.content
    );
}
