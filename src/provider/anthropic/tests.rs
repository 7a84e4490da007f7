//! Request bodies and frames of the messages dialect.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::chat::{Image, Message, Outcome, ToolCall, Usage, Voice};
use crate::provider::testing::{
    Collect, Random, Reply, Server, body_of, decode, model, request, run, wild_history,
};
use crate::provider::{Cause, Dialect, Finish, StreamEvent, Thinking};

/// Panics unless a strict server would take this body.
fn check(body: &Value) {
    assert!(body["max_tokens"].as_u64().unwrap() > 0 && body["stream"] == true);
    let offers = body.get("tools").is_some();
    let messages = body["messages"].as_array().expect("messages");
    let mut waiting: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    let mut marks = 0;
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap();
        assert_eq!(
            role,
            if index % 2 == 0 { "user" } else { "assistant" },
            "roles alternate"
        );
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty());
        let mut answered = HashSet::new();
        let mut plain = false;
        for block in blocks {
            marks += usize::from(block.get("cache_control").is_some());
            assert!(block.get("origin").is_none());
            match (role, block["type"].as_str().unwrap()) {
                (_, "text") => {
                    assert!(!block["text"].as_str().unwrap().trim().is_empty());
                    plain = true;
                }
                ("user", "image") => {
                    assert!(
                        block["source"]["media_type"]
                            .as_str()
                            .unwrap()
                            .starts_with("image/")
                    );
                    assert!(!block["source"]["data"].as_str().unwrap().is_empty());
                    plain = true;
                }
                ("user", "tool_result") => {
                    assert!(!plain, "results come first");
                    let id = block["tool_use_id"].as_str().unwrap();
                    assert!(waiting.contains(&id) && answered.insert(id));
                    assert!(!block["content"].as_str().unwrap().trim().is_empty());
                }
                ("assistant", "tool_use") => {
                    assert!(offers, "a call without tools");
                    let id = block["id"].as_str().unwrap();
                    assert!(!id.is_empty() && id.len() <= 64 && id.bytes().all(is_name_byte));
                    assert!(ids.insert(id), "{id} comes twice");
                    assert!(block["input"].is_object());
                    let name = block["name"].as_str().unwrap();
                    assert!(!name.is_empty() && name.len() <= 64 && name.bytes().all(is_name_byte));
                    plain = true;
                }
                ("assistant", "thinking") => {
                    assert!(!plain, "thinking comes first");
                    assert!(!block["signature"].as_str().unwrap().is_empty());
                }
                ("assistant", "redacted_thinking") => assert!(!plain && block["data"].is_string()),
                other => panic!("{other:?}"),
            }
        }
        if role == "user" {
            assert_eq!(
                answered.len(),
                waiting.len(),
                "every call is answered in the next message"
            );
        } else {
            assert!(plain, "a reply of nothing but thinking");
        }
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        waiting = calls.map(|block| block["id"].as_str().unwrap()).collect();
    }
    assert!(
        waiting.is_empty() && messages.len() % 2 == 1,
        "the last word is the user's"
    );
    assert_eq!(marks, 1);
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request::body(request)).unwrap()
}

fn asked() -> Request {
    request(model(Dialect::Anthropic, "http://h"))
}

#[test]
fn any_history_is_sendable() {
    let mut random = Random::new(2);
    let mut thoughts = 0;
    for round in 0..3_000 {
        let mut request = asked();
        request.messages = wild_history(&mut random);
        if round % 5 == 0 {
            request.tools = Arc::default();
        }
        if round % 3 == 0 {
            request.effort = Some("high".to_owned());
        }
        let body = body(&request);
        check(&body);
        thoughts += usize::from(body.to_string().contains("\"thinking\":\"t\""));
    }
    assert!(thoughts > 10, "thinking of this model goes back");
}

#[test]
fn the_body_is_as_documented() {
    let mut asked = asked();
    asked.messages = vec![
        Arc::new(Message::User {
            content: "look".to_owned(),
            images: vec![Image {
                media_type: "image/png".to_owned(),
                data: "AAAA".to_owned(),
            }],
            voice: Voice::Prompt,
        }),
        Arc::new(Message::Reasoning {
            content: r#"{"type":"thinking","thinking":"hm","signature":"sig","origin":"test/m"}"#
                .to_owned(),
        }),
        Arc::new(Message::Assistant {
            content: "I look.".to_owned(),
            tool_calls: vec![ToolCall {
                id: "toolu_1".to_owned(),
                name: "bash".to_owned(),
                arguments: "{\"n\":1.10}".to_owned(),
                signature: None,
            }],
        }),
        Arc::new(Message::Tool {
            call_id: "toolu_1".to_owned(),
            content: String::new(),
            outcome: Outcome::Failed,
            summary: String::new(),
        }),
        Arc::new(Message::user("and?")),
    ];
    let bytes = request::body(&asked);
    assert!(
        String::from_utf8_lossy(&bytes).contains("{\"n\":1.10}"),
        "arguments go back as they came"
    );
    assert_eq!(
        body(&asked),
        json!({
            "model": "m",
            "max_tokens": 32000,
            "stream": true,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    {"type": "text", "text": "look"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"n": 1.1}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "(no output)", "is_error": true},
                    {"type": "text", "text": "and?", "cache_control": {"type": "ephemeral"}}]},
            ],
            "tools": [{"name": "bash", "description": "Runs a command.", "input_schema": {"type": "object"}}],
        })
    );
}

#[test]
fn limits_and_thinking() {
    let knobs = |window, most, thinking, effort: Option<&str>| {
        let mut asked = asked();
        let model = Arc::make_mut(&mut asked.model);
        (model.context_window, model.max_output, model.thinking) = (window, most, thinking);
        asked.effort = effort.map(str::to_owned);
        let body = body(&asked);
        let budget = body["thinking"]["budget_tokens"].as_u64();
        let effort = body["output_config"]["effort"].as_str().map(str::to_owned);
        (
            body["max_tokens"].as_u64().unwrap(),
            body["thinking"]["type"].as_str().map(str::to_owned),
            budget,
            effort,
        )
    };
    let manual = Some(Thinking::Manual);
    let enabled = Some("enabled".to_owned());
    assert_eq!(knobs(0, None, manual, None), (32_000, None, None, None));
    assert_eq!(
        knobs(200_000, Some(64_000), manual, Some("off")),
        (64_000, None, None, None)
    );
    assert_eq!(
        knobs(200_000, Some(64_000), manual, Some("low")),
        (64_000, enabled.clone(), Some(4_000), None)
    );
    assert_eq!(
        knobs(200_000, Some(64_000), None, Some("medium")),
        (64_000, enabled.clone(), Some(12_000), None)
    );
    assert_eq!(
        knobs(16_000, None, manual, Some("high")),
        (8_000, enabled, Some(6_976), None)
    );
    assert_eq!(
        knobs(1_000, None, manual, Some("high")),
        (1_024, None, None, None)
    );
    assert_eq!(
        knobs(200_000, None, Some(Thinking::Adaptive), Some("high")),
        (
            32_000,
            Some("adaptive".to_owned()),
            None,
            Some("high".to_owned())
        )
    );
}

#[test]
fn images_over_the_limits_stay_behind_with_a_note() {
    let image = |data: &str| Image {
        media_type: "image/png".to_owned(),
        data: data.to_owned(),
    };
    let mut asked = asked();
    let many = (0..70).map(|_| image("AAAA")).collect::<Vec<_>>();
    let big = vec![image(&"A".repeat((5 << 20) + 1))];
    for images in [big, many.clone(), many] {
        asked.messages.push(Arc::new(Message::User {
            content: String::new(),
            images,
            voice: Voice::Prompt,
        }));
    }
    asked.messages.push(Arc::new(Message::user("go on")));
    let body = body(&asked);
    check(&body);
    let text = body.to_string();
    assert_eq!(text.matches("image/png").count(), 100);
    assert_eq!(text.matches("left out").count(), 2);
}

const START: &str = r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":5,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":3}}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn opened(index: u64, block: Value) -> String {
    json!({"type": "content_block_start", "index": index, "content_block": block}).to_string()
}

fn delta(index: u64, delta: Value) -> String {
    json!({"type": "content_block_delta", "index": index, "delta": delta}).to_string()
}

fn closed(index: u64) -> String {
    json!({"type": "content_block_stop", "index": index}).to_string()
}

fn stopped(reason: &str) -> String {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 20}}).to_string()
}

fn tool(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

fn input(piece: &str) -> Value {
    json!({"type": "input_json_delta", "partial_json": piece})
}

fn play(frames: &[String]) -> Collect {
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    decode(&mut Decode::new("test/m".to_owned()), &body_of(&frames))
}

#[test]
fn a_whole_reply() {
    let sink = play(&[
        START.to_owned(),
        opened(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        r#"{"type":"ping"}"#.to_owned(),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig"})),
        closed(0),
        opened(1, json!({"type": "redacted_thinking", "data": "d"})),
        closed(1),
        opened(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "hey"})),
        closed(2),
        opened(3, tool("t1", "bash")),
        delta(3, input("{\"a\"")),
        delta(3, input(":1}")),
        closed(3),
        stopped("tool_use"),
        STOP.to_owned(),
    ]);
    let usage = |output| Usage {
        input: 10,
        output,
        cache_read: 5,
        cache_write_5m: 6,
        cache_write_1h: 3,
    };
    let call = ToolCall {
        id: "t1".into(),
        name: "bash".into(),
        arguments: "{\"a\":1}".into(),
        signature: None,
    };
    assert_eq!(
        sink.events,
        [
            StreamEvent::Usage(usage(1)),
            StreamEvent::Reasoning("hm".into()),
            StreamEvent::ReasoningItem(
                r#"{"type":"thinking","thinking":"hm","signature":"sig","origin":"test/m"}"#.into()
            ),
            StreamEvent::ReasoningItem(
                r#"{"type":"redacted_thinking","data":"d","origin":"test/m"}"#.into()
            ),
            StreamEvent::Text("hey".into()),
            StreamEvent::CallProgress(0),
            StreamEvent::CallProgress(4),
            StreamEvent::CallProgress(3),
            StreamEvent::Usage(usage(20)),
            StreamEvent::Call(call),
            StreamEvent::Done {
                finish: Finish::ToolCalls,
                malformed: 0
            },
        ]
    );
}

fn calls(sink: &Collect) -> Vec<String> {
    let row = |event: &StreamEvent| match event {
        StreamEvent::Call(call) => {
            let id = if call.id.starts_with("call_") {
                "*"
            } else {
                &call.id
            };
            Some(format!("{id} {} {}", call.name, call.arguments))
        }
        _ => None,
    };
    sink.events.iter().filter_map(row).collect()
}

#[test]
fn calls_of_every_kind() {
    let end = |reason| [stopped(reason), STOP.to_owned()];
    let cases: Vec<(&str, Vec<String>, Vec<&str>)> = vec![
        (
            "no arguments",
            vec![opened(0, tool("a", "x")), closed(0)],
            vec!["a x {}"],
        ),
        (
            "arguments at once",
            vec![
                opened(
                    0,
                    json!({"type": "tool_use", "id": "a", "name": "x", "input": {"k": 1}}),
                ),
                closed(0),
            ],
            vec![r#"a x {"k":1}"#],
        ),
        (
            "index used again",
            vec![
                opened(0, tool("a", "x")),
                delta(0, input("{\"k\":1}")),
                closed(0),
                opened(0, tool("b", "y")),
                delta(0, input("{}")),
                closed(0),
            ],
            vec![r#"a x {"k":1}"#, "b y {}"],
        ),
        (
            "same id twice, no id",
            vec![
                opened(0, tool("a", "x")),
                opened(1, tool("a", "y")),
                opened(2, tool("", "z")),
            ],
            vec!["a x {}", "* y {}", "* z {}"],
        ),
        (
            "no name",
            vec![opened(0, tool("a", "")), delta(0, input("{}")), closed(0)],
            vec![],
        ),
    ];
    for (name, mut frames, expected) in cases {
        frames.extend(end("tool_use"));
        assert_eq!(calls(&play(&frames)), expected, "{name}");
    }
    let mut cut = vec![
        opened(0, tool("a", "x")),
        delta(0, input("{\"k")),
        closed(0),
        opened(1, tool("b", "y")),
    ];
    cut.extend(end("max_tokens"));
    assert_eq!(calls(&play(&cut)), ["a x {\"k", "b y "]);
}

#[test]
fn stop_reasons() {
    for (reason, expected) in [
        ("end_turn", Finish::Normal),
        ("stop_sequence", Finish::Normal),
        ("tool_use", Finish::ToolCalls),
        ("max_tokens", Finish::Length),
        ("refusal", Finish::Refusal),
        ("pause_turn", Finish::Other("pause_turn".into())),
    ] {
        let sink = play(&[stopped(reason), STOP.to_owned()]);
        assert_eq!(
            sink.events.last(),
            Some(&StreamEvent::Done {
                finish: expected,
                malformed: 0
            })
        );
    }
}

#[test]
fn broken_and_unknown_frames() {
    let sink = play(&[
        "{".to_owned(),
        "{\"type\":7}".to_owned(),
        r#"{"type":"new_thing","index":0}"#.to_owned(),
        delta(9, json!({"type": "text_delta", "text": "a"})),
        delta(9, input("{}")),
        closed(9),
        STOP.to_owned(),
    ]);
    assert_eq!(sink.text(), "a");
    assert_eq!(
        sink.events.last(),
        Some(&StreamEvent::Done {
            finish: Finish::Normal,
            malformed: 3
        })
    );
    let error =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#.to_owned();
    let failure = play(&[START.to_owned(), error]).failure().clone();
    assert_eq!(
        (failure.cause, failure.message.as_str()),
        (Cause::Unavailable, "Overloaded")
    );
    assert_eq!(failure.code.as_deref(), Some("overloaded_error"));
}

/// Cut anywhere, nothing runs that was not meant to.
#[test]
fn a_stream_cut_at_every_byte() {
    let frames = [
        START.to_owned(),
        opened(0, tool("a", "write")),
        delta(0, input("{\"path\":\"a\",\"content\":\"")),
        delta(0, input("0123456789\"}")),
        closed(0),
        stopped("tool_use"),
        STOP.to_owned(),
    ];
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let body = body_of(&frames);
    for cut in 0..body.len() - 2 {
        let sink = decode(&mut Decode::new(String::new()), &body[..cut]);
        assert_eq!(sink.failure().cause, Cause::Stalled, "cut at {cut}");
        assert!(calls(&sink).is_empty(), "cut at {cut}");
    }
    assert_eq!(
        calls(&decode(&mut Decode::new(String::new()), &body)).len(),
        1
    );
}

#[test]
fn over_the_wire() {
    let server = Server::start(vec![
        Reply::events(&[
            START,
            &delta(0, json!({"type": "text_delta", "text": "ok"})),
            &stopped("end_turn"),
            STOP,
        ]),
        Reply::plain(
            "529 Overloaded\r\nrequest-id: req_7\r\nretry-after: 2",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"sk-test-key is overloaded"}}"#,
        ),
    ]);
    let mut asked = asked();
    Arc::make_mut(&mut asked.model)
        .base_url
        .clone_from(&server.url);
    assert_eq!(run(&asked).text(), "ok");
    let seen = server.next();
    for line in [
        "post /v1/messages http/1.1",
        "x-api-key: sk-test-key",
        "anthropic-version: 2023-06-01",
        "content-type: application/json",
        concat!("user-agent: e/", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(seen.head.contains(line), "{line} is not in {}", seen.head);
    }
    assert!(!seen.head.contains("authorization"));
    check(&serde_json::from_str(&seen.body).unwrap());

    let failure = run(&asked).failure().clone();
    assert_eq!(
        (failure.cause, failure.status),
        (Cause::Unavailable, Some(529))
    );
    assert_eq!(failure.request_id.as_deref(), Some("req_7"));
    assert_eq!(failure.retry_after, Some(std::time::Duration::from_secs(2)));
    assert!(
        !format!("{failure:?}").contains("sk-test-key"),
        "{failure:?}"
    );
}
