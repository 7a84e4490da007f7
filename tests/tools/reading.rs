//! `read` and `read_result`: windows of files and of results that were cut.

use serde_json::json;

use super::{Done, bash, one, play};
use crate::support::{Place, answer, call, say};

const CAP: usize = 32 * 1024;

#[test]
fn a_window_of_a_long_file_leads_through_all_of_it() {
    let place = Place::new();
    let text: String = (1..=3000)
        .map(|n| format!("line {n} of a long file\n"))
        .collect();
    place.write("long", &text);
    let (mut offset, mut seen) = (1, String::new());
    loop {
        let done = one(&place, "read", json!({"path": "long", "offset": offset}));
        let content = done.completes();
        assert!(content.len() <= CAP);
        for line in content.lines().filter(|line| !line.starts_with('[')) {
            seen += line.split_once('\t').expect("a number and a line").1;
            seen.push('\n');
        }
        let Some((_, next)) = content.rsplit_once("go on with offset ") else {
            break;
        };
        assert!(done.summary.ends_with("+ lines"), "{}", done.summary);
        offset = next.trim_end_matches(']').parse().expect("a number");
    }
    assert_eq!(seen, text);
}

#[test]
fn empty_and_past_the_end_are_said_in_words() {
    let place = Place::new();
    place.write("empty", "");
    place.write("two", "a\nb");
    let dones = play(
        &place,
        &[
            ("read", json!({"path": "empty"})),
            ("read", json!({"path": "two", "offset": 9})),
            ("read", json!({"path": "two", "offset": 0, "limit": 1})),
            ("read", json!({"path": "none"})),
            ("read", json!({"path": "~/two"})),
        ],
    );
    assert_eq!(dones[0].completes(), "[`empty` is empty]");
    assert!(dones[1].completes().contains("`two` has 2 lines"));
    assert_eq!(dones[2].completes(), "1\ta");
    dones[3].fails("no such file");
    dones[4].fails("`~` is not expanded");
}

#[test]
fn what_could_hang_or_flood_fails_at_once() {
    let place = Place::new();
    let sparse = std::fs::File::create(place.workspace.join("sparse")).expect("a file");
    sparse.set_len(50 << 30).expect("a sparse file");
    let _socket = std::os::unix::net::UnixListener::bind(place.workspace.join("socket"));
    place.write("latin", b"caf\xe9\n");
    let mut calls = vec![bash("mkfifo fifo; ln -s loop loop; ln -s fifo link")];
    let cases = [
        (
            "fifo",
            "it is a named pipe, not a regular file; use `bash` for it",
        ),
        ("link", "a named pipe"),
        ("socket", "a socket"),
        (".", "a directory"),
        ("/dev/zero", "a device"),
        ("/dev/stdin", "a device"),
        ("loop", "symbolic link"),
        ("sparse", "too long to show"),
        ("latin", "not UTF-8 text (byte 3)"),
    ];
    calls.extend(cases.map(|(path, _)| ("read", json!({"path": path}))));
    let dones = play(&place, &calls);
    for (done, (_, reason)) in dones[1..].iter().zip(cases) {
        done.fails(reason);
    }
}

#[test]
fn a_file_of_the_kernel_that_claims_to_be_empty_is_read() {
    let place = Place::new();
    let done = one(
        &place,
        "read",
        json!({"path": "/proc/self/status", "limit": 1}),
    );
    assert!(done.completes().starts_with("1\tName:\te"), "{done:?}");
}

/// The results of a turn that makes a long result and then asks for more of it.
fn ask_again(place: &Place, command: &str, questions: Vec<serde_json::Value>) -> Vec<Done> {
    place
        .provider
        .script([call("bash", json!({"command": command}))]);
    for mut question in questions {
        place.provider.script([answer(move |request| {
            let results = request.results();
            let (_, rest) = results[0]
                .split_once("`read_result` with id ")
                .expect("an id");
            let id: u64 = rest.split(' ').next().unwrap().parse().expect("a number");
            if question.get("id").is_none() {
                question["id"] = id.into();
            }
            call("read_result", question)
        })]);
    }
    place.provider.script([say("done")]);
    super::results(&place.json(&["go"]).run().ends_with(0))
}

#[test]
fn a_cut_result_can_be_read_in_full() {
    let place = Place::new();
    let dones = ask_again(
        &place,
        "seq 1 20000; echo é",
        vec![
            json!({}),
            json!({"offset": "5", "limit": 10}),
            json!({"offset": 108_894}),
            json!({"query": "19999"}),
            json!({"query": "no such line"}),
            json!({"offset": 108_897, "limit": 1}),
            json!({"offset": 200_000}),
            json!({"id": 99}),
        ],
    );
    let cut = dones[0].completes();
    assert!(cut.len() <= CAP);
    assert!(
        cut.starts_with("[cut: 108896 bytes in all, the last "),
        "{cut:.200}"
    );
    assert!(cut.ends_with("20000\né"));
    let first = dones[1].completes();
    assert!(first.starts_with("1\n2\n3\n") && first.len() <= CAP);
    assert!(first.contains("of 108896; go on with offset "));
    assert_eq!(
        dones[2].completes(),
        "\n4\n5\n6\n7\n8\n[bytes 5-15 of 108896; go on with offset 15]"
    );
    assert_eq!(
        dones[3].completes(),
        "é\n[bytes 108894-108896 of 108896; the end]"
    );
    assert_eq!(dones[4].completes(), "19999\t19999");
    dones[5].completes();
    dones[6].fails("past the end");
    dones[7].fails("past the end");
    dones[8].fails("no result with id 99 is kept");
}

#[test]
fn without_read_result_no_notice_names_it() {
    let place = Place::new();
    place
        .provider
        .script([call("bash", json!({"command": "seq 1 20000"})), say("done")]);
    place.settings(json!({"tools": ["bash"]}));
    let run = place.json(&["go"]).run();
    let cut = &super::results(&run)[0].content;
    assert!(cut.len() <= CAP);
    if !place.provider.received()[0]
        .tools()
        .contains(&"read_result".into())
    {
        assert!(!cut.contains("read_result"), "{cut:.200}");
    }
}
