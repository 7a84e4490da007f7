//! Error responses: which class each is, and what the user reads.

use serde_json::json;

use super::{DIALECTS, failure, once};
use crate::support::{Place, fails, say};

#[test]
fn every_status_has_its_class() {
    let plain = |text: &str| json!({"error": {"message": text, "type": "x"}}).to_string();
    let coded = |code: &str| json!({"error": {"message": "no", "code": code}}).to_string();
    let cases = [
        (401, plain("wrong key"), "auth"),
        (403, plain("not yours"), "auth"),
        (402, String::new(), "quota_exhausted"),
        (429, coded("insufficient_quota"), "quota_exhausted"),
        (429, plain("slow down"), "rate_limited"),
        (408, plain("too slow"), "provider_unavailable"),
        (500, String::new(), "provider_unavailable"),
        (
            502,
            "<html><title>Bad Gateway</title></html>".into(),
            "provider_unavailable",
        ),
        (
            503,
            plain("exceeded your current quota"),
            "provider_unavailable",
        ),
        (504, "\u{0}\u{1b}[2J binary".into(), "provider_unavailable"),
        (529, plain("Overloaded"), "provider_unavailable"),
        (400, plain("no such parameter"), "rejected"),
        (400, "not json at all".into(), "rejected"),
        (404, plain("no such model"), "rejected"),
        (
            404,
            "<!doctype html><TITLE>Nothing here</TITLE>".into(),
            "rejected",
        ),
        (418, String::new(), "rejected"),
        (422, "[]".into(), "rejected"),
        (400, "[".repeat(10_000), "rejected"),
    ];
    for api in DIALECTS {
        let place = once(api);
        for (status, body, cause) in &cases {
            place.provider.script([fails(*status).body(body.as_str())]);
            let run = place.json(&["hi"]).run();
            let details = failure(&run);
            assert_eq!(details["cause"], *cause, "{api} {status} {body:.80}");
            assert_eq!(details["response"]["http_status"], *status);
            assert!(run.stderr.contains(&status.to_string()), "{run:?}");
            assert!(!run.stderr.contains('\u{1b}'), "{run:?}");
            assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        }
        assert_eq!(place.provider.received().len(), cases.len());
    }
}

#[test]
fn a_page_is_named_by_its_title() {
    let place = once(DIALECTS[0]);
    let page = "<!DOCTYPE html><html><head><title>Sign in to Wi-Fi</title></head></html>";
    for step in [fails(404), say("").header("content-type", "text/html")] {
        place.provider.script([step.body(page)]);
        let run = place.p(&["hi"]).run().ends_with(1);
        assert!(run.stderr.contains("Sign in to Wi-Fi"), "{run:?}");
        assert!(!run.stderr.contains("<html"), "{run:?}");
    }
}

#[test]
fn an_error_inside_a_good_response_is_the_error_it_says() {
    let cases = [
        (
            DIALECTS[0],
            json!({"error": {"message": "slow", "code": 429}}),
            "rate_limited",
        ),
        (
            DIALECTS[0],
            json!({"error": {"message": "no", "code": "invalid_api_key"}}),
            "auth",
        ),
        (
            DIALECTS[1],
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "provider_unavailable",
        ),
        (
            DIALECTS[1],
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
            "rejected",
        ),
    ];
    for (api, frame, cause) in cases {
        let place = once(api);
        let frame = format!("event: error\ndata: {frame}\n\n");
        place.provider.script([say("half").raw(frame).stop()]);
        let run = place.json(&["hi"]).run();
        let details = failure(&run);
        assert_eq!(details["cause"], cause, "{details}");
        let passing = ["rate_limited", "provider_unavailable"].contains(&cause);
        let decision = if passing {
            "partial_output"
        } else {
            "not_retryable"
        };
        assert_eq!(details["retry_decision"], decision);
        assert_eq!(details["partial_text_bytes"], 4);
        assert_eq!(run.result()["output"], "half");
    }
}

#[test]
fn the_request_id_and_the_code_are_kept_for_support() {
    for (api, header) in [(DIALECTS[0], "x-request-id"), (DIALECTS[1], "request-id")] {
        let place = once(api);
        let body = json!({"error": {"message": "no", "code": "odd_code"}}).to_string();
        place
            .provider
            .script([fails(400).header(header, "req-77").body(body)]);
        let details = failure(&place.json(&["hi"]).run());
        assert_eq!(details["response"]["request_id"], "req-77");
        assert_eq!(details["provider_code"], "odd_code");
        assert_eq!(details["stage"], "response_headers");
    }
}

#[test]
fn a_class_that_cannot_pass_is_not_tried_again() {
    for status in [400, 401, 402, 403, 404, 422] {
        let place = Place::new();
        place.provider.script([fails(status)]);
        let details = failure(&place.json(&["hi"]).run());
        assert_eq!(details["retry_decision"], "not_retryable", "{status}");
        assert_eq!(place.provider.received().len(), 1, "{status}");
    }
}

#[test]
fn a_huge_error_body_is_bounded() {
    let place = once(DIALECTS[0]);
    place
        .provider
        .script([fails(400).body("x".repeat(9 << 20))]);
    let run = place.json(&["hi"]).run().ends_with(1);
    assert!(run.stdout.len() < 16_000, "{}", run.stdout.len());
    assert!(run.stderr.len() < 1_000, "{}", run.stderr.len());
}

#[test]
fn a_request_that_is_too_large_ends_in_an_error_that_says_so() {
    for api in DIALECTS {
        for (status, text) in [(413, "no"), (400, "prompt is too long: 9 tokens")] {
            let place = once(api);
            let body = json!({"error": {"message": text}}).to_string();
            let steps = (0..9).map(|_| fails(status).body(body.as_str()));
            place.provider.script(steps);
            let run = place.json(&["hi"]).run().ends_with(1);
            assert!(run.stderr.contains("does not fit"), "{run:?}");
            assert!(place.provider.received().len() <= 3);
        }
    }
}
