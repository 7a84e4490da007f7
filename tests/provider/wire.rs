//! What a request holds: the model, effort, images, cache marks; and what a reply's numbers mean.

use serde_json::{Value, json};

use super::{DIALECTS, once};
use crate::support::{Place, Run, call, fails, say};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on";

#[test]
fn requests_go_where_the_dialect_says_with_the_key_where_it_belongs() {
    for (api, path, header, value) in [
        (
            DIALECTS[0],
            "/v1/chat/completions",
            "authorization",
            "Bearer secret-key-of-mock",
        ),
        (
            DIALECTS[1],
            "/v1/messages",
            "x-api-key",
            "secret-key-of-mock",
        ),
    ] {
        let place = once(api);
        place.p(&["hi"]).run().ends_with(0);
        let request = &place.provider.received()[0];
        assert_eq!(request.path, path);
        assert_eq!(request.header(header), Some(value));
        assert_eq!(request.header("accept"), Some("text/event-stream"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        let agent = format!("e/{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(request.header("user-agent"), Some(agent.as_str()));
        assert_eq!(request.body["model"], "test");
        assert_eq!(request.body["stream"], true);
    }
}

#[test]
fn nobody_hears_more_about_the_user_than_the_dialect_needs() {
    let known = [
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
        "content-type",
        "content-length",
        "authorization",
        "x-api-key",
        "anthropic-version",
    ];
    for api in DIALECTS {
        let place = once(api);
        place.p(&["hi"]).run().ends_with(0);
        for (name, _) in &place.provider.received()[0].headers {
            assert!(known.contains(&name.as_str()), "{api}: {name}");
        }
    }
}

#[test]
fn without_a_key_none_is_sent() {
    for api in DIALECTS {
        let place = once(api);
        place.write_home("auth.json", "{}");
        place.p(&["hi"]).run().ends_with(0);
        let request = &place.provider.received()[0];
        assert_eq!(request.header("authorization"), None);
        assert_eq!(request.header("x-api-key"), None);
    }
}

#[test]
fn a_key_comes_from_the_file_or_else_from_the_variable() {
    let place = once(DIALECTS[0]);
    place.server(
        DIALECTS[0],
        json!({"base_url": place.base(DIALECTS[0]), "key_env": "MOCK_KEY"}),
    );
    let sent = |place: &Place| {
        place
            .p(&["hi"])
            .env("MOCK_KEY", " from-the-variable ")
            .run()
            .ends_with(0);
        place
            .provider
            .received()
            .last()
            .unwrap()
            .header("authorization")
            .map(String::from)
    };
    assert_eq!(sent(&place).as_deref(), Some("Bearer secret-key-of-mock"));
    place.write_home("auth.json", r#"{"mock": {"key": "  "}}"#);
    assert_eq!(sent(&place).as_deref(), Some("Bearer from-the-variable"));
}

#[test]
fn effort_is_on_the_wire_in_the_dialect_s_words() {
    let body = |api: &str, extra: Value, args: &[&str]| {
        let place = once(api);
        place.models(api, extra);
        place.p(args).args(["hi"]).run().ends_with(0);
        place.provider.received()[0].body.clone()
    };
    let [completions, anthropic] = DIALECTS;
    assert_eq!(
        body(completions, json!({}), &[])["reasoning_effort"],
        "high"
    );
    assert_eq!(
        body(completions, json!({}), &["--effort", "low"])["reasoning_effort"],
        "low"
    );
    let none = body(completions, json!({"effort": []}), &[]);
    assert_eq!(none.get("reasoning_effort"), None);
    let off = body(
        completions,
        json!({"effort": ["off", "low"]}),
        &["--effort", "off"],
    );
    assert_eq!(off.get("reasoning_effort"), None);

    let adaptive = body(
        anthropic,
        json!({"thinking": "adaptive"}),
        &["--effort", "low"],
    );
    assert_eq!(adaptive["thinking"], json!({"type": "adaptive"}));
    assert_eq!(adaptive["output_config"], json!({"effort": "low"}));
    let manual = body(
        anthropic,
        json!({"thinking": "manual"}),
        &["--effort", "low"],
    );
    assert_eq!(
        manual["thinking"],
        json!({"type": "enabled", "budget_tokens": 4000})
    );
    assert_eq!(manual.get("output_config"), None);
    let small = body(
        anthropic,
        json!({"thinking": "manual", "max_output": 2047}),
        &[],
    );
    assert_eq!(small.get("thinking"), None);
    let tight = body(
        anthropic,
        json!({"thinking": "manual", "max_output": 3000}),
        &[],
    );
    assert_eq!(tight["thinking"]["budget_tokens"], 3000 - 1024);
    assert_eq!(tight["max_tokens"], 3000);
    let window = body(
        anthropic,
        json!({"context_window": 8000, "effort": []}),
        &[],
    );
    assert_eq!(window["max_tokens"], 4000);
    assert_eq!(window.get("thinking"), None);
}

#[test]
fn a_field_that_the_server_refuses_is_left_out_and_stays_out() {
    for field in ["stream_options", "reasoning_effort"] {
        for status in [400, 422] {
            let place = once(DIALECTS[0]);
            let refusal = json!({"error": {"message": format!("unknown field `{field}`")}});
            let look = call("grep", json!({"pattern": "x"}));
            let steps = [fails(status).body(refusal.to_string()), look, say("done")];
            place.provider.script(steps);
            let run = place.json(&["hi"]).run().ends_with(0);
            assert!(run.events("retry").is_empty(), "it is no retry");
            let has: Vec<bool> = place
                .provider
                .received()
                .iter()
                .map(|r| r.body.get(field).is_some())
                .collect();
            assert_eq!(has, [true, false, false], "{field}");
        }
    }
}

#[test]
fn images_go_in_the_dialect_s_form_and_only_to_a_model_that_sees() {
    let part = |api: &str, bytes: &[u8]| {
        let place = once(api);
        place.write("pic.txt", bytes);
        place.p(&["-i", "pic.txt", "what is it"]).run().ends_with(0);
        place.provider.received()[0].body["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()["content"]
            .clone()
    };
    let data = "iVBORw0KGgogYW5kIHNvIG9u";
    let url = json!({"url": format!("data:image/png;base64,{data}")});
    let content = part(DIALECTS[0], PNG);
    assert!(
        content
            .as_array()
            .unwrap()
            .contains(&json!({"type": "image_url", "image_url": url})),
        "{content}"
    );
    let content = part(DIALECTS[1], PNG);
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    let mut images = content
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "image");
    assert_eq!(images.next().unwrap()["source"], source);
    assert!(content.to_string().contains("what is it"));
    for api in DIALECTS {
        let place = once(api);
        place.write("pic.png", PNG);
        let run = place
            .e()
            .args(["-p", "-m", "mock/plain", "-i", "pic.png", "hi"])
            .run()
            .ends_with(2);
        assert!(run.stderr.contains("image"), "{run:?}");
        assert!(place.provider.received().is_empty());
    }
}

#[test]
fn cache_marks_stand_on_the_system_prompt_and_the_last_block() {
    let place = once(DIALECTS[1]);
    place.write("a", "one\n");
    place
        .provider
        .script([call("read", json!({"path": "a"})), say("done")]);
    place.p(&["hi"]).run().ends_with(0);
    let mark = json!({"type": "ephemeral"});
    for request in place.provider.received() {
        assert_eq!(request.body["system"][0]["cache_control"], mark);
        let messages = request.body["messages"].as_array().unwrap();
        let marked: Vec<&Value> = messages
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap())
            .filter(|block| block.get("cache_control").is_some())
            .collect();
        assert_eq!(marked.len(), 1, "{messages:?}");
        let last = messages.last().unwrap()["content"]
            .as_array()
            .unwrap()
            .last()
            .unwrap();
        assert_eq!(marked[0], last);
    }
}

#[test]
fn the_beginning_of_a_conversation_never_changes() {
    // Servers cache by prefix: what was sent once is sent the same way again.
    for api in DIALECTS {
        let place = once(api);
        place.write("a", "one\n");
        let look = || call("read", json!({"path": "a"})).text("so. ");
        place.provider.script([look(), look(), say("done")]);
        place.p(&["hi"]).run().ends_with(0);
        let clean = |body: &Value| {
            let text = body["messages"]
                .to_string()
                .replace(r#","cache_control":{"type":"ephemeral"}"#, "");
            text.trim_end_matches(']').to_string()
        };
        let texts: Vec<String> = place
            .provider
            .received()
            .iter()
            .map(|r| clean(&r.body))
            .collect();
        for pair in texts.windows(2) {
            assert!(pair[1].starts_with(&pair[0]), "{api}: {pair:#?}");
        }
    }
}

#[track_caller]
fn usage(run: &Run, expected: [u64; 5]) {
    let usage = run.result()["usage"].clone();
    let names = [
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_5m_tokens",
        "cache_write_1h_tokens",
    ];
    let found = names.map(|name| usage[name].as_u64().unwrap());
    assert_eq!(found, expected, "{usage}");
    let prompt = expected[0] + expected[2] + expected[3] + expected[4];
    assert_eq!(usage["prompt_tokens"], prompt, "{usage}");
}

#[test]
fn counters_of_completions_do_not_overlap() {
    for (counters, expected) in [
        (
            json!({"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 600}}),
            [400, 20, 600, 0, 0],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 60}}),
            [0, 2, 60, 0, 0],
        ),
        (
            json!({"prompt_tokens": 7, "prompt_tokens_details": null}),
            [7, 0, 0, 0, 0],
        ),
    ] {
        let place = once(DIALECTS[0]);
        place.provider.script([say("x").usage(counters)]);
        usage(&place.json(&["hi"]).run().ends_with(0), expected);
    }
}

#[test]
fn counters_of_anthropic_do_not_overlap() {
    let begin = |usage: Value| {
        let start = json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": usage}});
        format!("data: {start}\n\n")
    };
    for (counters, expected) in [
        (
            json!({"input_tokens": 5, "cache_read_input_tokens": 70}),
            [5, 9, 70, 0, 0],
        ),
        (
            json!({"input_tokens": 5, "cache_creation_input_tokens": 30,
                "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 15}}),
            [5, 9, 0, 15, 15],
        ),
        (
            json!({"input_tokens": 5, "cache_creation_input_tokens": 30}),
            [5, 9, 0, 30, 0],
        ),
    ] {
        let place = once(DIALECTS[1]);
        // A second message_start overrides the kit's own.
        place.provider.script([say("")
            .raw(begin(counters))
            .text("x")
            .usage(json!({"output_tokens": 9}))]);
        usage(&place.json(&["hi"]).run().ends_with(0), expected);
    }
}

#[test]
fn the_cost_is_by_the_prices_of_the_file() {
    let place = once(DIALECTS[0]);
    let pricing = json!({"input_per_million": 2.0, "output_per_million": 10.0, "cache_read_per_million": 0.5});
    place.models(DIALECTS[0], json!({"pricing": pricing}));
    let counters = json!({"prompt_tokens": 1_500_000, "completion_tokens": 100_000, "prompt_tokens_details": {"cached_tokens": 500_000}});
    place.provider.script([say("x").usage(counters)]);
    let cost = place.json(&["hi"]).run().ends_with(0).result()["cost_usd"]
        .as_f64()
        .unwrap();
    assert!((cost - (2.0 + 1.0 + 0.25)).abs() < 1e-9, "{cost}");

    let place = once(DIALECTS[0]);
    assert_eq!(place.json(&["hi"]).run().result()["cost_usd"], json!(null));
}
