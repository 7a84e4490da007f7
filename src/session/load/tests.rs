//! Logs of every format version, whole, torn and damaged.

use std::fs;

use super::*;
use crate::chat::Outcome;
use crate::session::record::message_to_json;

const HEADER: &str =
    r#"{"type":"session","format_version":3,"id":"s","cwd":"/","created":1,"model":"p/m"}"#;

/// A message record whose content is its id.
fn user(id: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or("null".into(), |parent| format!("{parent:?}"));
    format!(
        r#"{{"type":"message","id":"{id}","parent":{parent},"timestamp":1,"message":{{"role":"user","content":"{id}"}}}}"#
    )
}

fn load_text(text: impl AsRef<[u8]>) -> Result<Loaded> {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("1_s.jsonl");
    fs::write(&path, &text).unwrap();
    let loaded = load(&path);
    assert_eq!(
        fs::read(&path).unwrap(),
        text.as_ref(),
        "loading changes nothing"
    );
    loaded
}

fn load_lines(lines: &[String]) -> Result<Loaded> {
    load_text(
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    )
}

fn contents(loaded: &Loaded) -> Vec<String> {
    let content = |entry: &Entry| {
        message_to_json(&entry.message)["content"]
            .as_str()
            .unwrap()
            .to_string()
    };
    loaded.messages.iter().map(content).collect()
}

fn fixture(version: u32) -> Loaded {
    let path = format!(
        "{}/tests/fixtures/sessions/v{version}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let loaded = load(Path::new(&path)).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    loaded
}

#[test]
fn every_format_version_loads() {
    for version in [0, 1] {
        let loaded = fixture(version);
        assert_eq!(contents(&loaded), ["list the tests", "there are two"]);
        assert_eq!(loaded.header.format_version, u64::from(version));
        assert_eq!(loaded.head, loaded.messages[1].id);
        assert!(loaded.head.is_some());
    }
    let v2 = fixture(2);
    assert_eq!(v2.head.as_deref(), Some("a3"));
    assert_eq!(v2.name.as_deref(), Some("test inventory"));
    assert!(matches!(
        &*v2.messages[2].message,
        Message::Tool { outcome: Outcome::Completed, call_id, .. } if call_id == "c1"
    ));
    let v3 = fixture(3);
    assert_eq!(v3.head.as_deref(), Some("a6"));
    assert_eq!(
        v3.messages[0].message,
        Arc::new(summary_message("## Goal\nfirst things"))
    );
    assert_eq!(contents(&v3)[1..], ["second", "two", "third", "three"]);
}

#[test]
fn a_newer_version_is_refused_and_both_are_named() {
    let error = load_text(HEADER.replace(":3", ":17") + "\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("17") && error.contains("up to 3"), "{error}");
}

#[test]
fn what_is_no_log_is_refused() {
    for text in [
        "",
        "\n",
        "{}\n",
        "hello\n",
        "{\"type\":\"message\"}\n",
        &HEADER[..20],
    ] {
        assert!(load_text(text).is_err(), "{text:?}");
    }
    assert!(load(Path::new("/")).is_err());
    assert!(load(Path::new("/nonexistent/x.jsonl")).is_err());
}

#[test]
fn a_bad_line_in_the_middle_costs_what_hangs_on_it() {
    let lines = [
        HEADER.into(),
        user("a", None),
        user("b", Some("a")),
        "{\"type\":\"message\",".into(),
        user("d", Some("c")),
        user("e", Some("b")),
        user("f", Some("d")),
    ];
    let loaded = load_lines(&lines).unwrap();
    assert_eq!(contents(&loaded), ["a", "b", "e"]);
    assert_eq!(loaded.head.as_deref(), Some("e"));
    let warning = &loaded.warnings[0];
    assert!(
        warning.contains("line 4") && warning.contains("2 messages"),
        "{warning}"
    );
}

#[test]
fn a_message_that_only_decoding_finds_bad_is_left_out_too() {
    let lines = [
        HEADER.into(),
        user("a", None),
        user("b", Some("a")).replace("\"user\"", "\"wizard\""),
        user("c", Some("b")),
        user("d", Some("a")),
        user("e", Some("c")),
    ];
    let loaded = load_lines(&lines).unwrap();
    assert_eq!(contents(&loaded), ["a", "d"]);
    assert!(
        loaded.warnings[0].contains("line 3"),
        "{:?}",
        loaded.warnings
    );
}

#[test]
fn when_nothing_is_left_loading_fails() {
    let error = load_lines(&[HEADER.into(), "x".into(), user("b", Some("a"))]).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    assert!(contents(&load_lines(&[HEADER.into()]).unwrap()).is_empty());
}

#[test]
fn an_id_that_is_taken_costs_its_line() {
    let lines = [
        HEADER.into(),
        user("a", None),
        user("b", Some("a")),
        user("a", Some("b")),
        user("c", Some("b")),
    ];
    let loaded = load_lines(&lines).unwrap();
    assert_eq!(contents(&loaded), ["a", "b", "c"]);
    let warning = &loaded.warnings[0];
    assert!(warning.contains("line 4 cannot be used"), "{warning}");
    assert!(warning.contains("id `a`"), "{warning}");
    // Where records follow the line before, the next one follows the one before that.
    let old = |line: &String| line.replace(":3", ":1").replace(r#""parent":"b","#, "");
    let loaded = load_lines(&lines.each_ref().map(old)).unwrap();
    assert_eq!(contents(&loaded), ["a", "b", "c"]);
    // At the end it is no head.
    let loaded = load_lines(&lines[..4]).unwrap();
    assert_eq!(loaded.head.as_deref(), Some("b"));
}

#[test]
fn what_is_its_own_ancestor_costs_what_hangs_on_it() {
    let lines = [
        HEADER.into(),
        user("r", None),
        user("a", Some("b")),
        user("b", Some("a")),
        user("c", Some("b")),
        user("s", Some("r")),
        user("t", Some("t")),
    ];
    let loaded = load_lines(&lines).unwrap();
    assert_eq!(contents(&loaded), ["r", "s"]);
    let warning = &loaded.warnings[0];
    for part in ["line 3", "line 7", "its own ancestor", "4 messages"] {
        assert!(warning.contains(part), "{warning}");
    }
    assert!(load_lines(&[HEADER.into(), user("a", Some("a"))]).is_err());
}

#[test]
fn a_line_over_the_limit_costs_that_line() {
    let long = "x".repeat(500);
    let whole = [
        HEADER.into(),
        user("a", None),
        user(&long, Some("a")),
        user("b", Some("a")),
    ]
    .join("\n");
    // With the long line in the middle, at the end, and at the end without its newline.
    let end = whole.len() - user("b", Some("a")).len();
    for (text, newest, tail) in [
        (whole.clone() + "\n", Some(1), Tail::Whole),
        (whole[..end].into(), Some(0), Tail::Whole),
        (whole[..end - 1].into(), Some(0), Tail::Unterminated),
    ] {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let mut scan = Scan::run(&file, 400).unwrap();
        assert!(scan.tree.connect().is_empty());
        assert_eq!((scan.tree.newest(), scan.tail), (newest, tail));
        assert!(scan.damage.text(0).starts_with("line 3 cannot be used"));
    }
}

#[test]
fn much_damage_is_told_in_few_words() {
    let mut lines = vec![HEADER.to_string(), user("a", None)];
    lines.extend((0..1000).map(|n| format!("bad {n}")));
    let loaded = load_lines(&lines).unwrap();
    assert!(
        loaded.warnings[0].contains("nor can 995 more lines"),
        "{:?}",
        loaded.warnings
    );
    assert!(loaded.warnings[0].len() < 1000);
}

#[test]
fn the_last_name_wins_and_a_blank_one_clears() {
    let name = |name: &str| format!("{{\"type\":\"name\",\"name\":{name:?}}}");
    let loaded = load_lines(&[HEADER.into(), name("x"), name("y")]).unwrap();
    assert_eq!(loaded.name.as_deref(), Some("y"));
    let loaded = load_lines(&[HEADER.into(), name("x"), name(" ")]).unwrap();
    assert_eq!(loaded.name, None);
}

#[test]
fn the_newest_count_is_known_until_its_subject_is_summarised() {
    let reply = r#"{"type":"message","id":"b","parent":"a","timestamp":1,"message":{"role":"assistant","content":"b"},"response":{"id":"r","timestamp":1,"provider":"p","model":"m","purpose":"turn","usage":{"input":70,"output":8,"cache_read":20}}}"#;
    let compact =
        r#"{"type":"compact","id":"k","parent":"c","timestamp":1,"summary":"s","first_kept":"b"}"#;
    let lines = [
        HEADER.into(),
        user("a", None),
        reply.into(),
        user("c", Some("b")),
        compact.into(),
    ];
    for (count, expected) in [(2, 0), (3, 98), (4, 98), (5, 0)] {
        let loaded = load_lines(&lines[..count]).unwrap();
        assert_eq!(loaded.context_tokens, expected, "{count} lines");
    }
}

#[test]
fn a_summary_without_its_first_message_keeps_what_followed() {
    let compact = |kept: &str| {
        format!(
            r#"{{"type":"compact","id":"k","parent":"b","timestamp":1,"summary":"s","first_kept":{kept}}}"#
        )
    };
    for (kept, expected) in [
        ("\"b\"", &["b", "c"][..]),
        ("null", &["c"]),
        ("\"gone\"", &["c"]),
    ] {
        let lines = [
            HEADER.into(),
            user("a", None),
            user("b", Some("a")),
            compact(kept),
            user("c", Some("k")),
        ];
        assert_eq!(
            contents(&load_lines(&lines).unwrap())[1..],
            *expected,
            "{kept}"
        );
        let at_the_end = load_lines(&lines[..4]).unwrap();
        assert_eq!(at_the_end.head.as_deref(), Some("k"));
    }
}

/// A small generator: the same numbers in every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

#[test]
fn no_damage_makes_loading_panic_or_invent_messages() {
    let whole: String = [
        HEADER.into(),
        user("a", None),
        user("b", Some("a")),
        user("c", Some("b")),
        user("d", Some("a")),
    ]
    .map(|line: String| line + "\n")
    .concat();
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3000 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..=random(&mut state) % 3 {
            let at = random(&mut state) % bytes.len();
            match random(&mut state) % 3 {
                0 => bytes[at] = random(&mut state) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, random(&mut state) as u8),
            }
        }
        if let Ok(loaded) = load_text(&bytes) {
            assert!(loaded.messages.len() <= 4);
        }
    }
}
