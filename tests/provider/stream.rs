//! Event streams that are odd, cut or empty.

use serde_json::json;

use super::{DIALECTS, failure, once};
use crate::support::{Cut, Place, Step, call, call_raw, say};

#[test]
fn a_reply_cut_anywhere_is_never_a_success() {
    for api in DIALECTS {
        let place = once(api);
        let step = || say("Hello ").text("wörld");
        let whole = step().bytes(api);
        let end = end_of_reply(&whole);
        for how in [Cut::Clean, Cut::Lost] {
            for at in (0..end).step_by(29).chain([end - 1]) {
                place.provider.script([step().cut(at, how)]);
                let run = place.json(&["hi"]).run();
                let details = failure(&run);
                assert_eq!(details["cause"], "stalled", "{api} {how:?} {at}");
                let output = run.result()["output"].to_string();
                assert!(
                    "\"Hello wörld\"".starts_with(output.trim_end_matches('"')),
                    "{output}"
                );
            }
        }
    }
}

#[test]
fn a_tool_never_runs_on_a_cut_call() {
    for api in DIALECTS {
        let place = once(api);
        let step = || {
            call(
                "write",
                json!({"path": "made", "content": "0123456789 abcdef"}),
            )
        };
        let whole = step().bytes(api);
        let end = end_of_reply(&whole);
        for how in [Cut::Clean, Cut::Lost] {
            for at in (0..end).step_by(41).chain([end - 1]) {
                place.provider.script([step().cut(at, how)]);
                let run = place.json(&["hi"]).run();
                failure(&run);
                assert!(run.events("tool_start").is_empty(), "{api} {how:?} {at}");
                assert!(!place.workspace.join("made").exists(), "{api} {how:?} {at}");
            }
        }
    }
}

/// Where the dialect's last needed frame ends: before it, a reply is not complete.
fn end_of_reply(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let last = ["\"finish_reason\":\"", "\"message_stop\""];
    let at = last
        .iter()
        .find_map(|part| text.rfind(part))
        .expect("a last frame");
    text[..at].rfind("\n\n").expect("a frame before") + 2
}

#[test]
fn a_call_cut_by_the_output_limit_does_not_run() {
    for (api, reason) in [(DIALECTS[0], "length"), (DIALECTS[1], "max_tokens")] {
        let place = once(api);
        let half = r#"{"path": "made", "content": "0123"#;
        place
            .provider
            .script([call_raw("write", half).finish(reason), say("I see")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.events("tool_end")[0]["outcome"], "failed");
        assert!(!place.workspace.join("made").exists());
        let told = &place.provider.received()[1].results()[0];
        assert!(told.contains("argument"), "{told}");
    }
}

#[test]
fn a_whole_reply_counts_without_the_last_marker() {
    // Several servers leave out `[DONE]`; a finish reason is enough.
    let place = once(DIALECTS[0]);
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    place
        .provider
        .script([say("all").raw(format!("data: {end}\n\n")).stop()]);
    assert_eq!(place.p(&["hi"]).run().ends_with(0).stdout, "all\n");
}

#[test]
fn malformed_frames_are_skipped_and_counted() {
    for api in DIALECTS {
        let place = once(api);
        let noise = "data: {\"half\n\nevent: odd\n\ndata: }{\n\n: comment\n\nid: 7\nretry: 3\n\n";
        place.provider.script([say("one ").raw(noise).text("two")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.result()["output"], "one two");
        let warning = run.events("warning")[0]["message"].to_string();
        assert!(warning.contains("2 malformed frames"), "{warning}");
        assert!(run.stderr.contains("2 malformed frames"), "{run:?}");
    }
}

#[test]
fn unknown_frames_are_passed_over() {
    for api in DIALECTS {
        let place = once(api);
        let noise =
            "data: {\"type\":\"brand_new\",\"x\":1}\n\ndata: null\n\ndata: 7\n\ndata: []\n\n";
        place.provider.script([say("one ").raw(noise).text("two")]);
        assert_eq!(place.p(&["hi"]).run().ends_with(0).stdout, "one two\n");
    }
}

#[test]
fn every_finish_reason_is_told() {
    let cases = [
        (DIALECTS[0], "stop", None),
        (DIALECTS[0], "length", Some("output limit")),
        (DIALECTS[0], "content_filter", Some("content filter")),
        (DIALECTS[0], "odd\u{1b}[2J", Some("`odd")),
        (DIALECTS[1], "end_turn", None),
        (DIALECTS[1], "stop_sequence", None),
        (DIALECTS[1], "max_tokens", Some("output limit")),
        (DIALECTS[1], "refusal", Some("refused")),
        (DIALECTS[1], "pause_turn", Some("`pause_turn`")),
    ];
    for (api, reason, told) in cases {
        let place = once(api);
        place.provider.script([say("text").finish(reason)]);
        let run = place.p(&["hi"]).run().ends_with(0);
        assert_eq!(run.stdout, "text\n");
        match told {
            None => assert_eq!(run.stderr, "", "{reason}"),
            Some(part) => assert!(run.stderr.contains(part), "{reason}: {}", run.stderr),
        }
        assert!(!run.stderr.contains('\u{1b}'));
    }
}

#[test]
fn nothing_said_is_asked_once_more_and_then_a_failure() {
    for api in DIALECTS {
        for blank in ["", " \n"] {
            let place = Place::speaking(api);
            place.provider.script([say(blank), say(blank)]);
            let run = place.json(&["hi"]).run().ends_with(1);
            assert_eq!(run.events("retry").len(), 1);
            assert!(run.result()["error"].to_string().contains("empty response"));
            assert!(run.stderr.contains("empty response"));
            assert_eq!(place.provider.received().len(), 2);
        }
        let place = Place::speaking(api);
        place.provider.script([say(""), say("better")]);
        assert_eq!(place.p(&["hi"]).run().ends_with(0).stdout, "better\n");
    }
}

#[test]
fn reasoning_alone_is_a_warning() {
    for api in DIALECTS {
        let place = once(api);
        place.provider.script([say("").reasoning("hm, hm")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.events("reasoning")[0]["delta"], "hm, hm");
        assert_eq!(run.result()["output"], "");
        assert!(run.stderr.contains("gave no answer"), "{run:?}");
    }
}

#[test]
fn an_event_without_end_is_refused() {
    let place = once(DIALECTS[0]);
    place
        .provider
        .script([say("").raw("data: ").raw(vec![b'x'; 9 << 20]).stop()]);
    let details = failure(&place.json(&["hi"]).run());
    assert_eq!(details["cause"], "rejected");
    assert!(
        details["summary"].as_str().unwrap().contains("8 MiB"),
        "{details}"
    );
}

#[test]
fn lines_may_end_in_any_way_and_events_may_come_in_pieces() {
    let place = once(DIALECTS[0]);
    let frame =
        |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string();
    let (one, two) = (frame("grün "), frame("blau"));
    let mut bytes = format!("\u{feff}data:{one}\r\n\r\n").into_bytes();
    let split = two.split_at(1);
    bytes.extend(format!("data: {}\ndata: {}\n\n", split.0, split.1).bytes());
    let mut step = Step::default();
    for byte in bytes.chunks(1) {
        step = step.raw(byte);
    }
    place.provider.script([step]);
    assert_eq!(place.p(&["hi"]).run().ends_with(0).stdout, "grün blau\n");
}
