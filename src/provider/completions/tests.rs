//! Request bodies and frames of the completions dialect.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::chat::{Message, ToolCall, Usage};
use crate::provider::testing::{
    Collect, Random, Reply, Server, body_of, decode, model, request, wild_history,
};
use crate::provider::{Cause, Dialect, Finish, StreamEvent};

const DONE: &str = "[DONE]";

/// Panics unless a strict server would take this body.
fn check(body: &Value) {
    let messages = body["messages"].as_array().expect("messages");
    let mut waiting: Vec<String> = Vec::new();
    let mut ids = HashSet::new();
    let mut spoke = false;
    for name in body
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        assert!(name["type"] == "function" && name["function"]["name"].is_string());
    }
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().expect("role");
        assert!(
            waiting.is_empty() || role == "tool",
            "a call without an answer before {message}"
        );
        match role {
            "system" => {
                assert_eq!(index, 0);
                assert!(full(&message["content"]));
            }
            "user" => {
                spoke = true;
                match &message["content"] {
                    Value::Array(parts) => {
                        assert!(!parts.is_empty());
                        for part in parts {
                            match part["type"].as_str() {
                                Some("text") => assert!(full(&part["text"])),
                                Some("image_url") => {
                                    let url = part["image_url"]["url"].as_str().unwrap();
                                    assert!(
                                        url.starts_with("data:image/") && !url.ends_with(','),
                                        "{url}"
                                    );
                                }
                                other => panic!("{other:?}"),
                            }
                        }
                    }
                    text => assert!(full(text)),
                }
            }
            "assistant" => {
                assert!(spoke, "the conversation begins with a reply");
                assert!(message.get("content").is_none_or(full));
                let calls = message
                    .get("tool_calls")
                    .map(|calls| calls.as_array().unwrap());
                assert!(
                    message.get("content").is_some()
                        || calls.is_some_and(|calls| !calls.is_empty())
                );
                for call in calls.into_iter().flatten() {
                    let id = call["id"].as_str().unwrap();
                    assert!(
                        !id.is_empty() && id.len() <= 40 && id.bytes().all(is_name_byte),
                        "{id}"
                    );
                    assert!(ids.insert(id.to_owned()), "{id} comes twice");
                    waiting.push(id.to_owned());
                    let name = call["function"]["name"].as_str().unwrap();
                    assert!(
                        !name.is_empty() && name.len() <= 64 && name.bytes().all(is_name_byte),
                        "{name}"
                    );
                    let arguments = call["function"]["arguments"].as_str().unwrap();
                    assert!(
                        serde_json::from_str::<Value>(arguments)
                            .unwrap()
                            .is_object()
                    );
                }
            }
            "tool" => {
                assert!(full(&message["content"]));
                assert_eq!(
                    waiting.remove(0),
                    message["tool_call_id"],
                    "answers are in order"
                );
            }
            other => panic!("{other}"),
        }
    }
    assert!(waiting.is_empty());
    let last = messages.last().expect("a message");
    assert!(last["role"] == "user" || last["role"] == "tool");
}

fn full(text: &Value) -> bool {
    !text.as_str().expect("text").trim().is_empty()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn body(request: &Request, fields: &[Field]) -> Value {
    serde_json::from_slice(&request::body(request, fields)).unwrap()
}

#[test]
fn any_history_is_sendable() {
    let mut random = Random::new(1);
    for round in 0..3_000 {
        let mut request = request(model(Dialect::Completions, "http://h"));
        request.messages = wild_history(&mut random);
        if round % 5 == 0 {
            request.tools = Arc::default();
        }
        if round % 7 == 0 {
            Arc::make_mut(&mut request.model).image_input = false;
        }
        let body = body(&request, &[]);
        check(&body);
        assert_eq!(
            body,
            self::body(&request, &[]),
            "the same history gives the same body"
        );
        assert!(!body.to_string().contains("signature"));
    }
}

#[test]
fn the_body_is_as_documented() {
    let mut asked = request(model(Dialect::Completions, "http://h"));
    asked.messages = vec![
        Arc::new(Message::user("look")),
        Arc::new(Message::Assistant {
            content: String::new(),
            tool_calls: vec![ToolCall {
                id: "call_a".to_owned(),
                name: "bash".to_owned(),
                arguments: "{\"command\":\"ls\"}".to_owned(),
                signature: None,
            }],
        }),
        Arc::new(Message::Tool {
            call_id: "call_a".to_owned(),
            content: "README".to_owned(),
            outcome: crate::chat::Outcome::Completed,
            summary: String::new(),
        }),
    ];
    let fields = [Field::StreamOptions, Field::Effort("high".to_owned())];
    assert_eq!(
        body(&asked, &fields),
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "look"},
                {"role": "assistant", "tool_calls": [
                    {"id": "call_a", "type": "function",
                     "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]},
                {"role": "tool", "tool_call_id": "call_a", "content": "README"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "reasoning_effort": "high",
            "tools": [{"type": "function", "function":
                {"name": "bash", "description": "Runs a command.", "parameters": {"type": "object"}}}],
        })
    );
    Arc::make_mut(&mut asked.model).provider = "mistral".to_owned();
    let id = body(&asked, &[])["messages"][2]["tool_calls"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{id}"
    );
}

fn chunk(delta: Value) -> String {
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
        .to_string()
}

fn end(reason: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string()
}

fn play(frames: &[&str]) -> Collect {
    decode(&mut Decode::default(), &body_of(frames))
}

fn done(finish: Finish, malformed: u32) -> StreamEvent {
    StreamEvent::Done { finish, malformed }
}

#[test]
fn a_whole_reply() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":40}}}"#;
    let sink = play(&[
        &chunk(json!({"role": "assistant", "content": ""})),
        &chunk(json!({"reasoning_content": "hm", "reasoning": "hm"})),
        &chunk(json!({"reasoning": " so"})),
        &chunk(json!({"content": "he"})),
        &chunk(json!({"content": "y \"é\""})),
        &chunk(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "bash", "arguments": "{"}}]}),
        ),
        &chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]})),
        &end("tool_calls"),
        usage,
        DONE,
    ]);
    let call = ToolCall {
        id: "a".into(),
        name: "bash".into(),
        arguments: "{}".into(),
        signature: None,
    };
    assert_eq!(
        sink.events,
        [
            StreamEvent::Reasoning("hm".into()),
            StreamEvent::Reasoning(" so".into()),
            StreamEvent::Text("he".into()),
            StreamEvent::Text("y \"é\"".into()),
            StreamEvent::CallProgress(1),
            StreamEvent::CallProgress(1),
            StreamEvent::Usage(Usage {
                input: 60,
                output: 7,
                cache_read: 40,
                ..Usage::default()
            }),
            StreamEvent::Call(call),
            done(Finish::ToolCalls, 0),
        ]
    );
}

#[test]
fn finish_reasons() {
    for (reason, expected) in [
        ("stop", Finish::Normal),
        ("tool_calls", Finish::ToolCalls),
        ("length", Finish::Length),
        ("content_filter", Finish::ContentFilter),
        ("odd", Finish::Other("odd".into())),
    ] {
        assert_eq!(play(&[&end(reason), DONE]).events, [done(expected, 0)]);
    }
    assert_eq!(play(&[DONE]).events, [done(Finish::Normal, 0)]);
    let refused = play(&[&chunk(json!({"refusal": "no"})), &end("stop"), DONE]);
    assert_eq!(refused.events.last(), Some(&done(Finish::Refusal, 0)));
}

#[test]
fn unusual_frames() {
    let cases: &[(&str, &str)] = &[
        (
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}"#,
            "ab",
        ),
        (
            r#"{"choices":[{"delta":{"content":"a","tool_calls":null,"reasoning":7}}],"usage":null}"#,
            "a",
        ),
        (
            r#"{"choices":[{"delta":{"content":"a"},"finish_reason":3}],"usage":{"prompt_tokens":-1}}"#,
            "a",
        ),
        (
            r#"{"choices":[{"delta":{"content":"a","tool_calls":[{"index":"0","id":5,"function":{"name":9}}]}}]}"#,
            "a",
        ),
        (r#"{"choices":[null,{"delta":{"content":"a"}}]}"#, "a"),
        (r#"{"choices":{"delta":{}}}"#, ""),
        (r#"{"choices":[]}"#, ""),
        (r#"{"choices":null}"#, ""),
        (r#"{}"#, ""),
        (
            r#"{"error":null,"choices":[{"delta":{"content":"a"}}]}"#,
            "a",
        ),
    ];
    for (frame, text) in cases {
        let sink = play(&[frame, DONE]);
        assert_eq!(sink.text(), *text, "{frame}");
        assert_eq!(
            sink.events.last(),
            Some(&done(Finish::Normal, 0)),
            "{frame}"
        );
    }
    let thought = play(&[
        r#"{"choices":[{"delta":{"content":[{"thinking":[{"text":"hm"}]}]}}]}"#,
        DONE,
    ]);
    assert_eq!(thought.events[0], StreamEvent::Reasoning("hm".into()));
    let broken = play(&[
        "{not json",
        "[]",
        "7",
        &chunk(json!({"content": "a"})),
        DONE,
    ]);
    assert_eq!(broken.text(), "a");
    assert_eq!(broken.events.last(), Some(&done(Finish::Normal, 3)));
}

#[test]
fn an_error_frame_ends_the_stream() {
    let sink = play(&[
        &chunk(json!({"content": "a"})),
        r#"{"error":{"message":"Overloaded","code":503}}"#,
        DONE,
    ]);
    assert_eq!(sink.failure().cause, Cause::Unavailable);
    assert_eq!(sink.failure().message, "Overloaded");
}

/// Cut anywhere, nothing runs that was not meant to.
#[test]
fn a_stream_cut_at_every_byte() {
    let arguments = r#"{"path":"a","content":"0123456789"}"#;
    let (head, tail) = arguments.split_at(12);
    let frames = [
        chunk(json!({"content": "on it"})),
        chunk(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "write", "arguments": head}}]}),
        ),
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": tail}}]})),
        end("tool_calls"),
        DONE.to_owned(),
    ];
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let body = body_of(&frames);
    let finished = body_of(&frames[..4]).len() - 2;
    for cut in 0..=body.len() {
        let sink = decode(&mut Decode::default(), &body[..cut]);
        let calls: Vec<_> = sink
            .events
            .iter()
            .filter(|event| matches!(event, StreamEvent::Call(_)))
            .collect();
        if cut < finished {
            assert_eq!(sink.failure().cause, Cause::Stalled, "cut at {cut}");
            assert!(calls.is_empty(), "cut at {cut}");
        } else {
            assert!(
                matches!(
                    sink.events.last(),
                    Some(StreamEvent::Done {
                        finish: Finish::ToolCalls,
                        ..
                    })
                ),
                "cut at {cut}"
            );
            assert!(matches!(calls[..], [StreamEvent::Call(call)] if call.arguments == arguments));
        }
    }
}

#[test]
fn cut_arguments_are_handed_on_as_they_are() {
    let piece = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "write", "arguments": "{\"path\":\"a"}}]});
    for reason in ["length", "tool_calls", "stop"] {
        let sink = play(&[&chunk(piece.clone()), &end(reason), DONE]);
        let arguments = sink.events.iter().find_map(|event| match event {
            StreamEvent::Call(call) => Some(call.arguments.as_str()),
            _ => None,
        });
        assert_eq!(arguments, Some("{\"path\":\"a"), "{reason}");
    }
}

#[test]
fn fields_that_a_server_refuses_are_dropped_and_remembered() {
    let refusal = |field: &str| {
        Reply::plain(
            "400 Bad Request",
            &json!({"error": {"message": format!("unknown field {field}")}}).to_string(),
        )
    };
    let good = || Reply::events(&[r#"{"choices":[{"delta":{"content":"ok"}}]}"#, DONE]);
    let server = Server::start(vec![
        refusal("stream_options"),
        refusal("reasoning_effort"),
        good(),
        good(),
        good(),
        refusal("reasoning_effort"),
        refusal("model"),
    ]);
    let mut asked = request(model(Dialect::Completions, &server.url));
    asked.effort = Some("high".to_owned());
    let lane = Lane::new(
        &crate::provider::Context::new(&Default::default()),
        &asked.model,
    )
    .unwrap();
    let ask = |asked: &Request| {
        let mut sink = Collect::default();
        crate::provider::stream(&lane, asked, &mut sink);
        sink
    };
    let sent = || {
        let seen = server.next();
        assert!(
            seen.head.contains("post /chat/completions "),
            "{}",
            seen.head
        );
        assert!(seen.head.contains("authorization: bearer sk-test-key"));
        let body: Value = serde_json::from_str(&seen.body).unwrap();
        check(&body);
        (
            body.get("stream_options").is_some(),
            body.get("reasoning_effort").is_some(),
        )
    };
    assert_eq!(ask(&asked).text(), "ok");
    assert_eq!(
        [sent(), sent(), sent()],
        [(true, true), (false, true), (false, false)]
    );
    assert_eq!(ask(&asked).text(), "ok");
    assert_eq!(sent(), (false, false));
    // Another level was not refused yet.
    asked.effort = Some("low".to_owned());
    assert_eq!(ask(&asked).text(), "ok");
    assert_eq!(sent(), (false, true));
    // What did not help is not remembered, and the failure of the last attempt is told.
    let failure = ask(&asked).failure().clone();
    assert_eq!(
        (failure.cause, failure.status),
        (Cause::Rejected, Some(400))
    );
    assert!(failure.message.contains("model"));
    lane.shutdown();
}
