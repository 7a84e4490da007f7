//! A key is sent to its server and shows nowhere else, whatever that server sends back.

use std::path::Path;

use serde_json::json;

use super::{DIALECTS, once};
use crate::support::{Place, Run, call, fails, say};

const KEY: &str = "secret-key-of-mock";

/// Fails when the key is in the output or in any file but `auth.json`.
#[track_caller]
fn stays_hidden(place: &Place, run: &Run, key: &str) {
    assert!(!run.stdout.contains(key), "{run:?}");
    assert!(!run.stderr.contains(key), "{run:?}");
    let mut todo = vec![place.root().to_path_buf()];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if is_text_with(&path, key) {
            assert_eq!(path.file_name().unwrap(), "auth.json", "{}", path.display());
        }
    }
}

fn is_text_with(path: &Path, key: &str) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).contains(key)
}

#[test]
fn a_server_that_echoes_the_key_shows_it_to_nobody() {
    let echo = format!("bad header `Authorization: Bearer {KEY}` in request");
    let far = format!("{}{KEY}", "x".repeat(290));
    let bodies = [
        json!({"error": {"message": echo, "code": KEY, "type": KEY}}).to_string(),
        echo.clone(),
        format!("<html><title>{echo}</title>{KEY}</html>"),
        json!({"error": {"message": far}}).to_string(),
        format!("{}{KEY}", "y".repeat(4_090)),
        format!("{}{KEY}", "y".repeat(65_530)),
    ];
    for api in DIALECTS {
        let place = once(api);
        for body in &bodies {
            place
                .provider
                .script([fails(400).header("x-request-id", KEY).body(body.as_str())]);
            let run = place.json(&["hi"]).run().ends_with(1);
            stays_hidden(&place, &run, KEY);
            // Nor does most of it, where a text was cut.
            stays_hidden(&place, &run, "secret-key");
        }
    }
}

#[test]
fn a_key_in_an_error_frame_or_a_retry_reason_is_hidden() {
    for api in DIALECTS {
        let place = Place::speaking(api);
        let frame = json!({"type": "error", "error": {"type": "overloaded_error", "message": format!("overloaded: {KEY}")}});
        let body = json!({"error": {"message": format!("try later, {KEY}")}});
        place.provider.script([
            fails(503).body(body.to_string()),
            call("grep", json!({"pattern": "x"})),
            say("x")
                .raw(format!("event: error\ndata: {frame}\n\n"))
                .stop(),
        ]);
        let run = place.json(&["hi"]).run().ends_with(1);
        assert_eq!(run.events("retry").len(), 1);
        stays_hidden(&place, &run, KEY);
    }
}

#[test]
fn secrets_in_the_base_url_are_hidden() {
    let place = once(DIALECTS[0]);
    let host = place
        .provider
        .url()
        .trim_start_matches("http://")
        .to_string();
    let base = format!("http://user:urlpassword@{host}/v1?key=querysecret");
    place.server(DIALECTS[0], json!({"base_url": base}));
    let text = format!("no: http://user:urlpassword@{host}/v1/chat/completions?key=querysecret");
    place.provider.script([fails(400).body(text)]);
    let turn = place.json(&["hi"]).run().ends_with(1);
    assert!(
        place.provider.received()[0]
            .path
            .ends_with("?key=querysecret")
    );
    for secret in ["urlpassword", "querysecret"] {
        assert!(
            !turn.stdout.contains(secret) && !turn.stderr.contains(secret),
            "{turn:?}"
        );
        for command in ["providers", "doctor", "models"] {
            for json in [&[command][..], &[command, "--json"]] {
                let run = place.e().args(json).run().ends_with(0);
                assert!(!run.stdout.contains(secret), "{command}: {run:?}");
            }
        }
    }
}

#[test]
fn a_key_that_no_header_can_carry_is_an_error_that_hides_it() {
    for key in [
        "line\nbreak-of-a-key",
        "nül-\u{0}-in-a-key-so-long",
        "with-é-and-more",
    ] {
        for api in DIALECTS {
            let place = once(api);
            place.write_home("auth.json", &json!({"mock": {"key": key}}).to_string());
            let run = place.json(&["hi"]).run().ends_with(1);
            assert!(run.stderr.contains("key"), "{run:?}");
            stays_hidden(&place, &run, key);
            assert!(place.provider.received().is_empty(), "{key:?}");
        }
    }
}

#[test]
fn listings_hold_no_key() {
    let place = once(DIALECTS[0]);
    for args in [
        "auth",
        "providers",
        "providers --json",
        "models",
        "models --json",
        "doctor",
        "doctor --json",
    ] {
        let run = place
            .e()
            .args(args.split(' '))
            .env("GROQ_API_KEY", "gsk-very-secret")
            .run();
        let run = run.ends_with(0);
        assert!(
            !run.stdout.contains(KEY) && !run.stdout.contains("very-secret"),
            "{args}"
        );
        assert!(
            !run.stderr.contains(KEY) && !run.stderr.contains("very-secret"),
            "{args}"
        );
    }
}

#[test]
fn a_file_of_keys_that_is_broken_is_not_quoted() {
    let place = once(DIALECTS[0]);
    for text in [
        format!("\"{KEY}\""),
        KEY.to_string(),
        format!("[\"{KEY}\"]"),
        format!("{{\"mock\": \"{KEY}\"}}"),
        format!("{{\"mock\": {{\"key\": [\"{KEY}\"]}}}}"),
        format!("{{\"mock\": {{\"key\": \"{KEY}\"}},}}"),
        format!("{{\"{KEY}\": 1, }}"),
    ] {
        place.write_home("auth.json", &text);
        for args in [
            "doctor",
            "doctor --json",
            "auth",
            "models",
            "-p --json -m offline/echo hi",
        ] {
            let run = place.e().args(args.split(' ')).run();
            assert!(!run.stdout.contains(KEY), "{args}: {run:?}");
            assert!(!run.stderr.contains(KEY), "{args}: {run:?}");
        }
    }
}
