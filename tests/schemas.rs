//! What e writes is what docs/schema says, and the schemas notice what is wrong.

use serde_json::{Value, json};

use crate::support::schema::{assert_fits, fits};
use crate::support::{Place, Rpc, call, call_raw, fails, say};

fn check_print(place: &Place, status: i32) {
    let run = place
        .json(&["--max-steps", "3", "go"])
        .run()
        .ends_with(status);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty());
    for line in &lines {
        assert_fits("events.schema.json", line);
    }
}

#[test]
fn lines_of_print() {
    let place = Place::new();
    place.provider.script([
        call("bash", json!({"command": "echo out; echo err >&2; exit 3"})),
        fails(503),
        call_raw("nothing", "{"),
        say("done"),
    ]);
    check_print(&place, 0);
    place.provider.script([fails(401)]);
    check_print(&place, 1);
}

#[test]
fn lines_of_rpc() {
    let place = Place::new();
    place.write("a", "b\n");
    let mut rpc = Rpc::start(&place, &[]);
    let result = |rpc: &mut Rpc, method: &str, params: Value| {
        let request = rpc.line(method, params);
        assert_fits("rpc.schema.json#/$defs/request", &request);
        rpc.send(&request);
        let result = rpc.result(&request["id"]);
        assert_fits(&format!("rpc.schema.json#/$defs/result:{method}"), &result);
        result
    };
    result(&mut rpc, "hello", json!({"ask": true}));
    result(&mut rpc, "models.list", json!({}));
    let params = json!({"save": true, "name": "n", "limits": {"steps": 9}});
    let session = result(&mut rpc, "session.create", params)["session"].clone();
    place
        .provider
        .script([call("read", json!({"path": "a"})), say("it is b")]);
    let params = json!({"session": session, "prompt": "go"});
    result(&mut rpc, "session.prompt", params);
    for method in [
        "session.info",
        "session.messages",
        "session.fork",
        "session.interrupt",
        "session.set",
        "session.compact",
        "session.export",
        "session.close",
    ] {
        result(&mut rpc, method, json!({"session": session}));
    }
    result(&mut rpc, "session.list", json!({"all": true}));
    place.provider.script([say("hi")]);
    let one_shot = json!({"id": ["x"], "prompt": "go", "tool_mode": "none"});
    assert_fits("rpc.schema.json#/$defs/request:one-shot", &one_shot);
    rpc.send(&one_shot);
    let answer = rpc.response(&json!(["x"]));
    assert_fits("rpc.schema.json#/$defs/one-shot", &answer);
    rpc.send_raw("nonsense\n");
    result(&mut rpc, "shutdown", json!({}));
    let (lines, _) = rpc.finish();
    assert!(lines.iter().any(|line| line["id"].is_null()));
    for line in &lines {
        assert_fits("rpc.schema.json#/$defs/line", line);
    }
}

#[test]
fn wrong_lines_are_noticed() {
    for (schema, value) in [
        ("events.schema.json", json!({"type": "text", "delta": 1})),
        (
            "events.schema.json",
            json!({"type": "text", "delta": "x", "more": 1}),
        ),
        ("events.schema.json", json!({"type": "moonrise"})),
        ("rpc.schema.json#/$defs/line", json!({"type": "turn_start"})),
        ("rpc.schema.json#/$defs/line", json!({"id": 1})),
        (
            "rpc.schema.json#/$defs/request",
            json!({"id": 1, "method": "session.info", "params": {}}),
        ),
        (
            "extension.schema.json#/$defs/from_e",
            json!({"id": 2, "method": "hook.input", "params": {"text": "x", "more": 1}}),
        ),
        (
            "extension.schema.json#/$defs/from_e",
            json!({"method": "event", "params": {"name": "turn_end", "extra": {}}}),
        ),
        (
            "extension.schema.json#/$defs/result:initialize",
            json!({"name": "x", "tools": [{"name": "a b"}]}),
        ),
    ] {
        assert!(!fits(schema, &value), "{value}");
    }
    let open = json!({"name": "x", "later": 1});
    assert_fits("extension.schema.json#/$defs/result:initialize", &open);
}
