//! The offline models, and recording a run that is played back.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::*;
use crate::chat::{Outcome, ToolSpec};
use crate::provider::testing::{Collect, model, request};
use crate::provider::{Cause, Context, Dialect, stream};
use crate::sys::Env;

fn asked(id: &str) -> Request {
    let mut request = request(model(Dialect::Offline, ""));
    Arc::make_mut(&mut request.model).id = id.to_owned();
    request.key = None;
    let read = ToolSpec {
        name: "read".to_owned(),
        ..request.tools[0].clone()
    };
    Arc::make_mut(&mut request.tools).push(read);
    request
}

fn ask(context: &Context, request: &Request) -> Collect {
    let lane = Lane::new(context, &request.model).unwrap();
    let mut sink = Collect::default();
    super::super::stream(&lane, request, &mut sink);
    sink
}

struct Played {
    _dir: tempfile::TempDir,
    context: Context,
}

fn script(text: &str) -> Played {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("script.json");
    std::fs::write(&path, text).unwrap();
    let mut env = Env::default();
    env.set("E_OFFLINE_SCRIPT", path.as_os_str());
    Played {
        context: Context::new(&env),
        _dir: dir,
    }
}

#[test]
fn echo_says_the_last_visible_words() {
    let mut request = asked("echo");
    request.messages.push(Arc::new(Message::internal("hidden")));
    let sink = ask(&Context::new(&Env::default()), &request);
    assert_eq!(sink.text(), "hello");
    assert!(matches!(
        sink.events.last(),
        Some(StreamEvent::Done {
            finish: Finish::Normal,
            ..
        })
    ));
    assert!(
        ask(&Context::new(&Env::default()), &asked("other"))
            .failure()
            .message
            .contains("offline/other")
    );
}

#[test]
fn the_demo_looks_around_with_real_calls() {
    let context = Context::new(&Env::default());
    let mut request = asked("demo");
    let mut steps = 0;
    let last = loop {
        let sink = ask(&context, &request);
        let calls: Vec<_> = sink
            .events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::Call(call) => Some(call.clone()),
                _ => None,
            })
            .collect();
        if calls.is_empty() {
            break sink;
        }
        steps += 1;
        request.messages.push(Arc::new(Message::Assistant {
            content: sink.text(),
            tool_calls: calls.clone(),
        }));
        for call in calls {
            let content = match call.name.as_str() {
                "bash" => "src\nREADME.md\nCargo.toml".to_owned(),
                _ if call.arguments.contains("README.md") => "1\t\n2\t# A tool".to_owned(),
                _ => "1\t[package]".to_owned(),
            };
            request.messages.push(Arc::new(Message::Tool {
                call_id: call.id,
                content,
                outcome: Outcome::Completed,
                summary: String::new(),
            }));
        }
    };
    assert_eq!(steps, 2);
    let text = last.text();
    for part in [
        "3 entries",
        "`README.md` begins with: A tool",
        "`Cargo.toml` begins with: [package]",
    ] {
        assert!(text.contains(part), "{text}");
    }
    request.messages.clear();
    request.tools = Arc::default();
    assert!(ask(&context, &request).text().contains("needs the tools"));
}

#[test]
fn a_script_plays_step_by_step_in_each_session() {
    let played = script(
        r#"[
        {"actions": [{"reasoning": "hm"}, {"reasoning_item": {"type": "thinking"}}, {"text": "I "}, {"text": "run"},
            {"call": {"name": "bash", "arguments": {"command": "ls"}}},
            {"call": {"id": "x", "name": "bash", "arguments": "{\"cut"}},
            {"call": {"name": "list"}}, {"usage": {"input_tokens": 5, "output_tokens": 2}}]},
        {"actions": [{"error": {"status": 503, "message": "down", "retry_after_ms": 20}}]},
        {"actions": [{"text": "par"}, {"error": {"cause": "stalled", "message": "lost"}}]},
        {"actions": [{"malformed": 2}, {"finish": "length"}]}
    ]"#,
    );
    let mut request = asked("script");
    let first = ask(&played.context, &request);
    let call = |id: &str, name: &str, arguments: &str| {
        StreamEvent::Call(crate::chat::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            signature: None,
        })
    };
    assert_eq!(
        first.events,
        [
            StreamEvent::Opened {
                status: 200,
                request_id: None
            },
            StreamEvent::Reasoning("hm".into()),
            StreamEvent::ReasoningItem("{\"type\":\"thinking\"}".into()),
            StreamEvent::Text("I ".into()),
            StreamEvent::Text("run".into()),
            StreamEvent::CallProgress(16),
            call("call_1_1", "bash", "{\"command\":\"ls\"}"),
            StreamEvent::CallProgress(5),
            call("x", "bash", "{\"cut"),
            StreamEvent::CallProgress(2),
            call("call_1_3", "list", "{}"),
            StreamEvent::Usage(Usage {
                input: 5,
                output: 2,
                ..Usage::default()
            }),
            StreamEvent::Done {
                finish: Finish::ToolCalls,
                malformed: 0
            },
        ]
    );
    let second = ask(&played.context, &request);
    assert_eq!(second.events.len(), 1);
    let failure = second.failure();
    assert_eq!(
        (failure.cause, failure.status),
        (Cause::Unavailable, Some(503))
    );
    assert_eq!(failure.retry_after, Some(Duration::from_millis(20)));
    assert_eq!(failure.message, "503 Service Unavailable: down");
    let third = ask(&played.context, &request);
    assert_eq!(
        (third.text().as_str(), third.failure().cause),
        ("par", Cause::Stalled)
    );
    let fourth = ask(&played.context, &request);
    assert_eq!(
        fourth.events.last(),
        Some(&StreamEvent::Done {
            finish: Finish::Length,
            malformed: 2
        })
    );
    assert!(
        ask(&played.context, &request)
            .failure()
            .message
            .contains("has 4 steps, and this is request 5")
    );
    request.session_id = "another".to_owned();
    assert_eq!(ask(&played.context, &request).events, first.events);
}

#[test]
fn a_script_that_cannot_be_played_is_explained() {
    for (text, part) in [
        ("[{\"actions\": [{\"txt\": \"a\"}]}]", "line 1 column"),
        ("{}", "script.json"),
        ("[{\"actions\": [], \"extra\": 1}]", "unknown field `extra`"),
        (
            "[{\"actions\": [{\"error\": {\"cause\": \"fate\"}}]}]",
            "no cause `fate`",
        ),
        ("[]", "has 0 steps"),
    ] {
        let played = script(text);
        let failure = ask(&played.context, &asked("script")).failure().clone();
        assert!(failure.message.contains(part), "{}", failure.message);
    }
    let missing = ask(&Context::new(&Env::default()), &asked("script"));
    assert!(missing.failure().message.contains("E_OFFLINE_SCRIPT"));
}

#[test]
fn a_delay_ends_with_the_lane() {
    let played = script(r#"[{"actions": [{"delay_ms": 600000}, {"text": "late"}]}]"#);
    let request = asked("script");
    let lane = Lane::new(&played.context, &request.model).unwrap();
    let worker = {
        let lane = lane.clone();
        thread::spawn(move || {
            let mut sink = Collect::default();
            stream(&lane, &request, &mut sink);
            sink
        })
    };
    let start = Instant::now();
    lane.shutdown();
    let sink = worker.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(sink.failure().message.contains("interrupted"));
}

/// What was recorded plays the same events again.
#[test]
fn a_recording_plays_again() {
    let text = r#"[{"actions": [{"reasoning": "hm"}, {"reasoning_item": {"type": "t"}}, {"text": "a"},
        {"call": {"id": "i", "name": "n", "arguments": "{\"cut"}}, {"usage": {"cache_read_tokens": 3}},
        {"malformed": 1}, {"finish": "odd"}]},
        {"actions": [{"error": {"status": 429, "message": "slow", "code": "c", "retry_after_ms": 5}}]}]"#;
    let dir = tempfile::tempdir().unwrap();
    let (source, copy) = (dir.path().join("source.json"), dir.path().join("copy.json"));
    std::fs::write(&source, text).unwrap();
    let mut env = Env::default();
    env.set("E_OFFLINE_SCRIPT", source.as_os_str());
    env.set("E_RECORD", copy.as_os_str());
    let context = Context::new(&env);
    let request = asked("script");
    let first = [ask(&context, &request), ask(&context, &request)];
    env.set("E_OFFLINE_SCRIPT", copy.as_os_str());
    env.remove("E_RECORD");
    let context = Context::new(&env);
    let again = [ask(&context, &request), ask(&context, &request)];
    assert_eq!(first[0].events, again[0].events);
    let (told, retold) = (first[1].failure(), again[1].failure());
    assert_eq!(
        (told.cause, &told.code, told.retry_after),
        (retold.cause, &retold.code, retold.retry_after)
    );
    assert_eq!(retold.message, told.message);
}
