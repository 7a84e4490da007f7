//! `edit` on every kind of text: what it names is changed, every other byte stays.

use serde_json::json;

use super::one;
use crate::support::Place;

/// Edits a file of these bytes and gives what became of it.
#[track_caller]
fn edited(before: &[u8], old: &str, new: &str) -> Result<Vec<u8>, String> {
    let place = Place::new();
    let path = place.write("f", before);
    let arguments = json!({"path": "f", "old_string": old, "new_string": new});
    let done = one(&place, "edit", arguments);
    let after = std::fs::read(path).expect("the file");
    match done.outcome.as_str() {
        "completed" => Ok(after),
        _ => {
            assert_eq!(after, before, "a failed edit changes nothing");
            Err(done.content)
        }
    }
}

#[test]
fn line_endings_and_marks_stay_as_they_are() {
    for (before, old, new, after) in [
        (
            &b"a\r\nb\r\nc\r\n"[..],
            "a\nb",
            "x\ny\nz",
            &b"x\r\ny\r\nz\r\nc\r\n"[..],
        ),
        (b"a\r\nb\nc\r\n", "b\nc", "b\nnew\nc", b"a\r\nb\nnew\nc\r\n"),
        (b"\xef\xbb\xbfa\r\nb", "a", "x", b"\xef\xbb\xbfx\r\nb"),
        (
            b"\xef\xbb\xbfone\n",
            "\u{feff}one",
            "two",
            b"\xef\xbb\xbftwo\n",
        ),
        (
            b"tail  \t\nq \xe2\x80\x9cx\xe2\x80\x9d\xc2\xa0\n",
            "q ",
            "r ",
            b"tail  \t\nr \xe2\x80\x9cx\xe2\x80\x9d\xc2\xa0\n",
        ),
        (b"no end", "end", "end\n", b"no end\n"),
        (b"old mac\rb\r", "b", "c", b"old mac\rc\r"),
        (b"nul\0a", "a", "b", b"nul\0b"),
    ] {
        let found = edited(before, old, new);
        assert_eq!(
            found.as_deref(),
            Ok(after),
            "{:?}",
            String::from_utf8_lossy(before)
        );
    }
}

#[test]
fn bytes_that_are_no_text_are_kept_or_the_edit_is_refused() {
    assert_eq!(
        edited(b"caf\xe9 one\n\xff\xfe", "one", "two"),
        Ok(b"caf\xe9 two\n\xff\xfe".to_vec())
    );
    let error = edited(b"caf\xe9 one\n", "one", "zwölf").unwrap_err();
    assert!(error.contains("not UTF-8 (byte 3)"), "{error}");
}

#[test]
fn what_does_not_occur_once_is_refused_with_the_count() {
    for (before, old, new, reason) in [
        (&b"aaa"[..], "aa", "b", "occurs 2 times"),
        (b"x\nx\nx\n", "x", "y", "occurs 3 times"),
        (b"a\r\na\n", "a\n", "b\n", "occurs 2 times"),
        (b"if  (x)\n", "if (x)", "y", "does not occur"),
        (b"\"x\"", "\u{201c}x\u{201d}", "y", "does not occur"),
        (b"x", "", "y", "`old_string` is empty"),
        (b"x", "x", "x", "are the same"),
        (b"a\r\nb", "a\r\nb", "a\nb", "line endings"),
    ] {
        let error = edited(before, old, new).unwrap_err();
        assert!(error.contains(reason), "{reason:?} in {error:?}");
    }
}

#[test]
fn random_edits_change_their_span_alone() {
    // One turn with many edits, against a replacement in memory.
    let place = Place::new();
    let mut state = 77_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let ends = ["\n", "\r\n"];
    let mut expected: Vec<u8> = Vec::new();
    for n in 0..60 {
        let filler = ["", " ", "\t", "é", "\u{1f600}", "\u{feff}"][random(6)];
        expected.extend(format!("{filler}<{n}>{filler}{}", ends[random(2)]).bytes());
    }
    place.write("f", &expected);
    let mut calls = Vec::new();
    for n in 0..60 {
        let (old, new) = (format!("<{n}>"), format!("[{}]", "x".repeat(random(40))));
        let at = expected
            .windows(old.len())
            .position(|part| part == old.as_bytes());
        let at = at.expect("it occurs");
        expected.splice(at..at + old.len(), new.bytes());
        calls.push((
            "edit",
            json!({"path": "f", "old_string": old, "new_string": new}),
        ));
    }
    for done in super::play(&place, &calls) {
        done.completes();
    }
    assert_eq!(place.read("f").into_bytes(), expected);
}
