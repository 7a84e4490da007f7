//! Whatever a model writes as arguments: there is a result, it names what is wrong, nothing ran.

use serde_json::{Value, json};

use super::{Done, SCALE, one, play, play_raw};
use crate::support::{Place, strict};

const TOOLS: [&str; 6] = ["read", "write", "edit", "grep", "read_result", "bash"];

/// Arguments with which each tool would do something.
fn good(tool: &str) -> Value {
    match tool {
        "read" => json!({"path": "f"}),
        "write" => json!({"path": "f", "content": "RAN"}),
        "edit" => json!({"path": "f", "old_string": "old", "new_string": "RAN"}),
        "grep" => json!({"pattern": "old"}),
        "read_result" => json!({"id": 1}),
        _ => json!({"command": "echo RAN > f"}),
    }
}

/// Plays every call, checks that the file is as it was, and gives the results.
#[track_caller]
fn refused(calls: Vec<(&str, String)>) -> Vec<Done> {
    let place = Place::new();
    place.write("f", "old\n");
    let dones = play_raw(&place, &calls);
    for (done, (tool, arguments)) in dones.iter().zip(&calls) {
        assert_eq!(done.outcome, "failed", "{tool} {arguments:.80} {done:?}");
        assert!(done.content.len() < 1000, "{done:?}");
    }
    assert_eq!(place.read("f"), "old\n");
    // What the model is shown afterwards is still a history that servers accept.
    for request in place.provider.received() {
        strict::completions(&request).expect("a legal request");
    }
    dones
}

#[test]
fn text_that_is_no_object_never_runs() {
    let deep = format!("{{\"path\":{}", "[".repeat(100_000));
    let mut calls = Vec::new();
    for tool in TOOLS {
        let whole = good(tool).to_string();
        for text in [
            &whole[..whole.len() - 1],
            &whole[..whole.len() / 2],
            &format!("{whole} {whole}"),
            &format!("[{whole}]"),
            "7",
            "\"x\"",
            "{path: 'f'}",
            "{'path':'f'}",
            "<path>f</path>",
            "\u{feff}{}",
            &deep,
        ] {
            calls.push((tool, text.to_string()));
        }
    }
    for done in refused(calls) {
        assert!(done.content.contains("nothing was run"), "{done:?}");
    }
}

#[test]
fn no_arguments_name_what_is_missing() {
    let calls = TOOLS
        .iter()
        .flat_map(|tool| ["", "  ", "null", "{}"].map(|text| (*tool, text.to_string())));
    for done in refused(calls.collect()) {
        assert!(done.content.contains("is missing"), "{done:?}");
    }
}

#[test]
fn an_unknown_parameter_is_named_with_the_known_ones() {
    let calls = TOOLS.map(|tool| {
        let mut arguments = good(tool);
        arguments["cwd"] = "/".into();
        (tool, arguments.to_string())
    });
    for done in refused(calls.to_vec()) {
        assert!(
            done.content
                .starts_with("unknown parameter `cwd`; the parameters are `"),
            "{done:?}"
        );
    }
}

#[test]
fn a_value_of_the_wrong_type_is_named() {
    let mut calls = Vec::new();
    for tool in TOOLS {
        for (name, _) in good(tool).as_object().expect("an object") {
            for value in [
                json!(true),
                json!([1]),
                json!({"a": 1}),
                json!(-1),
                json!(1.5),
            ] {
                let mut arguments = good(tool);
                arguments[name] = value;
                calls.push((tool, arguments.to_string()));
            }
        }
    }
    for done in refused(calls.clone()) {
        assert!(done.content.contains("must be"), "{done:?}");
    }
}

#[test]
fn null_counts_as_not_given() {
    let place = Place::new();
    place.write("f", "one\n");
    let dones = play(
        &place,
        &[
            ("read", json!({"path": "f", "offset": null, "limit": null})),
            (
                "grep",
                json!({"pattern": "one", "path": null, "glob": null, "all": null}),
            ),
            (
                "bash",
                json!({"command": "echo ran", "handle": null, "signal": null, "background": null, "timeout": null}),
            ),
            ("read", json!({"path": null})),
        ],
    );
    assert_eq!(dones[0].completes(), "1\tone");
    assert_eq!(dones[1].completes(), "f:1: one");
    assert_eq!(dones[2].completes(), "ran");
    dones[3].fails("`path` is missing");
}

#[test]
fn numbers_and_booleans_may_come_as_text() {
    let place = Place::new();
    place.write("f", "1\n2\n3\n");
    let dones = play(
        &place,
        &[
            ("read", json!({"path": "f", "offset": "2", "limit": 1.0})),
            ("grep", json!({"pattern": "3", "all": "True"})),
            (
                "bash",
                json!({"command": "echo ran", "background": "false", "timeout": "5"}),
            ),
            ("read", json!({"path": "f", "offset": "two"})),
            ("read", json!({"path": "f", "limit": 1e300})),
            ("bash", json!({"command": "true", "background": "yes"})),
        ],
    );
    assert_eq!(dones[0].completes(), "2\t2");
    assert_eq!(dones[1].completes(), "f:3: 3");
    assert_eq!(dones[2].completes(), "ran");
    dones[3].fails("`offset` must be a whole number");
    dones[4].fails("`limit` must be a whole number");
    dones[5].fails("`background` must be true or false");
}

#[test]
fn a_nul_or_an_endless_name_is_no_path() {
    let place = Place::new();
    let long = "x".repeat(5000);
    let paths = ["a\0b", "", &long, &"d/".repeat(4000), "f/", "."];
    for path in paths {
        let dones = play(
            &place,
            &[
                ("read", json!({"path": path})),
                ("write", json!({"path": path, "content": "x"})),
                (
                    "edit",
                    json!({"path": path, "old_string": "a", "new_string": "b"}),
                ),
            ],
        );
        for done in dones {
            assert_eq!(done.outcome, "failed", "{path:.20} {done:?}");
        }
    }
    one(&place, "grep", json!({"pattern": "x", "path": "a\0b"})).fails("`path` contains a NUL");
    one(&place, "bash", json!({"command": "echo a\0b"})).fails("cannot be started");
    assert_eq!(
        std::fs::read_dir(&place.workspace)
            .expect("a directory")
            .count(),
        0
    );
}

#[test]
fn ten_megabytes_are_written_or_refused() {
    let place = Place::new();
    let text = "0123456789".repeat((1 << 20) / SCALE);
    // A turn each, so that no request carries the texts of all of them.
    let dones = [
        ("write", json!({"path": "big", "content": text})),
        (
            "edit",
            json!({"path": "big", "old_string": text, "new_string": "small"}),
        ),
        ("grep", json!({"pattern": text})),
        ("read", json!({"path": text})),
        ("bash", json!({"command": format!(": {text}")})),
        ("bash", json!({"handle": text})),
    ]
    .map(|(name, arguments)| one(&place, name, arguments));
    dones[0].completes();
    dones[1].completes();
    assert_eq!(place.read("big"), "small");
    dones[2].fails("`pattern` is too long");
    dones[3].fails("`path` is too long");
    dones[4].fails("longer than the system allows");
    dones[5].fails("there is no background command");
    for done in &dones {
        assert!(done.content.len() < 1000, "{done:?}");
    }
}

#[test]
fn a_tool_that_does_not_exist_is_answered_with_those_that_do() {
    let place = Place::new();
    let names = ["Bash", "str_replace", "read\u{1b}[31m", "x.y z"];
    let calls: Vec<_> = names.iter().map(|name| (*name, json!({}))).collect();
    let dones = play(&place, &calls);
    for done in &dones {
        done.fails("the tools are read, write, edit, grep, read_result, bash");
        assert!(!done.content.contains('\u{1b}'));
    }
    assert!(dones[0].content.contains("did you mean `bash`?"));
}
