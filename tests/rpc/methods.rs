//! What each method answers and what it refuses.

use serde_json::json;

use crate::support::{Place, Rpc, call, keys, say};

#[test]
fn hello_says_who_is_there() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let hello = rpc.call("hello", json!({"ask": true, "more": [1]}));
    let expected = [
        "protocol", "version", "channel", "commit", "cwd", "home", "methods", "ask",
    ];
    assert_eq!(keys(&hello), expected);
    assert_eq!(
        (&hello["protocol"], &hello["ask"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(hello["cwd"], place.workspace.to_str().unwrap());
    assert_eq!(hello["home"], place.home.to_str().unwrap());
    assert_eq!(hello["methods"].as_array().unwrap().len(), 16);
    assert_eq!(rpc.call("hello", json!({"ask": null}))["ask"], false);
    let models = rpc.call("models.list", json!({}));
    let test = &models["models"].as_array().unwrap()[0];
    assert_eq!(
        keys(test),
        [
            "model",
            "provider",
            "id",
            "effort",
            "image_input",
            "tools",
            "context_window"
        ]
    );
    assert_eq!(models["default"], "mock/test");
}

#[test]
fn a_session_is_made_told_about_and_closed() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &["--ef", "low"]);
    let created = rpc.call("session.create", json!({"name": "n", "save": null}));
    assert_eq!(
        keys(&created),
        ["session", "model", "effort", "cwd", "path"]
    );
    let session = created["session"].as_str().unwrap();
    assert_eq!(created["effort"], "low");
    assert_eq!(rpc.prompt(session, "hi")["output"], "ok");
    let info = rpc.call("session.info", json!({"session": session}));
    let expected = json!({"session": session, "model": "mock/test", "effort": "low",
        "cwd": place.workspace, "path": null, "name": "n", "messages": 2, "running": false});
    assert_eq!(info, expected);
    let messages = rpc.call("session.messages", json!({"session": session}))["messages"].clone();
    assert_eq!(
        messages,
        json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}])
    );
    assert_eq!(
        rpc.call("session.close", json!({"session": session})),
        json!({})
    );
    for method in ["session.info", "session.close", "session.fork"] {
        let why = rpc.refused(method, json!({"session": session}));
        assert!(why.contains("unknown session"), "{why}");
    }
}

#[test]
fn a_wrong_type_is_named_before_anything_happens() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let s = session.as_str();
    for (method, params, name) in [
        ("hello", json!({"ask": "yes"}), "ask"),
        ("session.create", json!({"cwd": 5}), "cwd"),
        ("session.create", json!({"model": []}), "model"),
        ("session.create", json!({"effort": true}), "effort"),
        ("session.create", json!({"tools": "read"}), "tools"),
        ("session.create", json!({"tools": [1]}), "tools"),
        ("session.create", json!({"tools": ["reed"]}), "reed"),
        ("session.create", json!({"tool_mode": false}), "tool_mode"),
        ("session.create", json!({"tool_mode": "some"}), "tool_mode"),
        ("session.create", json!({"save": "yes"}), "save"),
        ("session.create", json!({"resume": 1}), "resume"),
        ("session.create", json!({"name": {}}), "name"),
        ("session.create", json!({"limits": 3}), "limits"),
        (
            "session.create",
            json!({"limits": {"steps": 0}}),
            "limits.steps",
        ),
        ("session.list", json!({"all": 1}), "all"),
        ("session.list", json!({"cwd": 1}), "cwd"),
        ("session.info", json!({}), "session"),
        ("session.info", json!({"session": 4}), "session"),
        ("session.prompt", json!({"session": s}), "prompt"),
        (
            "session.prompt",
            json!({"session": s, "prompt": " \n"}),
            "prompt",
        ),
        (
            "session.prompt",
            json!({"session": s, "prompt": "x", "images": "a"}),
            "images",
        ),
        ("session.steer", json!({"session": s, "text": 1}), "text"),
        (
            "session.compact",
            json!({"session": s, "focus": 1}),
            "focus",
        ),
        ("session.set", json!({"session": s, "model": 1}), "model"),
        ("session.export", json!({"session": s, "path": 1}), "path"),
        ("ask.reply", json!({}), "ask"),
        ("ask.reply", json!({"ask": "1"}), "ask"),
    ] {
        let why = rpc.refused(method, params.clone());
        assert!(
            why.contains(&format!("`{name}`")),
            "{method} {params}: {why}"
        );
    }
    for (method, params, fragment) in [
        ("nope", json!({}), "unknown method"),
        ("session.info", json!({"session": "x"}), "unknown session"),
        ("ask.reply", json!({"ask": 1}), "no such open ask"),
        (
            "session.steer",
            json!({"session": s, "text": "x"}),
            "no turn is running",
        ),
        ("session.create", json!({"cwd": "nowhere"}), "nowhere"),
        (
            "session.create",
            json!({"model": "mock/none"}),
            "is unavailable",
        ),
        (
            "session.create",
            json!({"effort": "x"}),
            "does not support effort",
        ),
        (
            "session.create",
            json!({"resume": "none.jsonl"}),
            "none.jsonl",
        ),
        (
            "session.create",
            json!({"cwd": place.root()}),
            "must be trusted to run e",
        ),
        ("session.create", json!({"cwd": "a\0b"}), "a\0b"),
    ] {
        let why = rpc.refused(method, params.clone());
        assert!(why.contains(fragment), "{method} {params}: {why}");
    }
    assert_eq!(place.provider.received().len(), 0);
    assert_eq!(rpc.prompt(s, "still here")["output"], "ok");
}

#[test]
fn model_and_effort_change_together_or_not_at_all() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let (one, other) = (rpc.create(json!({})), rpc.create(json!({})));
    for params in [
        json!({"session": one, "model": "mock/plain", "effort": "high"}),
        json!({"session": one, "model": "mock/none", "effort": "low"}),
        json!({"session": one, "effort": "bogus"}),
    ] {
        rpc.refused("session.set", params);
    }
    let info = |rpc: &mut Rpc, session: &str| {
        let info = rpc.call("session.info", json!({"session": session}));
        (info["model"].clone(), info["effort"].clone())
    };
    assert_eq!(info(&mut rpc, &one), (json!("mock/test"), json!("high")));
    let set = rpc.call("session.set", json!({"session": one, "effort": "low"}));
    assert_eq!(set, json!({"model": "mock/test", "effort": "low"}));
    rpc.call(
        "session.set",
        json!({"session": one, "model": "mock/plain"}),
    );
    assert_eq!(info(&mut rpc, &one), (json!("mock/plain"), json!(null)));
    assert_eq!(info(&mut rpc, &other), (json!("mock/test"), json!("high")));
    let fork = rpc.call("session.fork", json!({"session": one}));
    let fork = fork["session"].as_str().unwrap().to_string();
    assert_eq!(info(&mut rpc, &fork), (json!("mock/plain"), json!(null)));
    assert!(!place.home.join("settings.json").exists());
}

#[test]
fn tools_are_narrowed_and_never_widened() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    for (params, expected) in [
        (json!({"tools": ["read", "grep"]}), 2),
        (json!({"tools": []}), 0),
        (json!({"tool_mode": "none"}), 0),
        (json!({"tools": ["read"], "tool_mode": "none"}), 0),
        (json!({"tools": null, "tool_mode": null}), 6),
    ] {
        let session = rpc.create(params.clone());
        rpc.prompt(&session, "hi");
        let request = place.provider.received().pop().unwrap();
        assert_eq!(request.tools().len(), expected, "{params}");
    }
    place
        .provider
        .script([call("bash", json!({"command": "touch x"})), say("no")]);
    let session = rpc.create(json!({"tools": ["read"]}));
    let result = rpc.prompt(&session, "hi");
    assert_eq!(result["tools"], json!({"calls": 1, "failures": 1}));
    assert!(!place.workspace.join("x").exists());
    let mut none = Rpc::start(&place, &["--no-tools"]);
    let session = none.create(json!({"tools": ["read"], "tool_mode": "all"}));
    none.prompt(&session, "hi");
    assert!(place.provider.received().pop().unwrap().tools().is_empty());
}
