//! `edit` on every kind of text: what it names is changed, every other byte stays.

use serde_json::json;

use super::one;
use crate::support::Place;

#[test]
fn what_is_named_changes_and_a_refused_edit_changes_nothing() {
    let place = Place::new();
    let before = b"\xef\xbb\xbfa\r\nb\ncaf\xe9 one one\r\n";
    let path = place.write("f", before);
    for (old, new, reason) in [
        ("one", "two", "occurs 2 times"),
        ("a", "z\u{f6}", "not UTF-8 (byte 11)"),
        ("none", "two", "does not occur"),
    ] {
        let arguments = json!({"path": "f", "old_string": old, "new_string": new});
        let done = one(&place, "edit", arguments);
        assert!(
            done.content.contains(reason),
            "{reason:?} in {}",
            done.content
        );
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    let arguments = json!({"path": "f", "old_string": "a\nb", "new_string": "x\ny\nz"});
    one(&place, "edit", arguments).completes();
    let after = std::fs::read(&path).unwrap();
    assert_eq!(
        after.escape_ascii().to_string(),
        b"\xef\xbb\xbfx\r\ny\r\nz\ncaf\xe9 one one\r\n"
            .escape_ascii()
            .to_string()
    );
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
