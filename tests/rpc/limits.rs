//! Limits of a turn: the narrowest of process, session and request counts.

use serde_json::{Value, json};

use crate::support::{Place, Rpc, call, say};

fn steps(place: &Place, count: usize) {
    let step = || call("bash", json!({"command": "true"}));
    place.provider.script((0..count).map(|_| step()));
}

#[test]
fn the_narrowest_limit_counts() {
    for (process, session, prompt, expected) in [
        ("9", json!(null), json!(null), 9),
        ("9", json!({"steps": 2}), json!(null), 2),
        ("9", json!({"steps": 5}), json!({"steps": 1}), 1),
        (
            "2",
            json!({"steps": 5}),
            json!({"steps": 7, "seconds": 500}),
            2,
        ),
    ] {
        let place = Place::new();
        steps(&place, 12);
        let mut rpc = Rpc::start(&place, &["--max-steps", process]);
        let handle = rpc.create(json!({"limits": session}));
        let params = json!({"session": handle, "prompt": "go", "limits": prompt});
        let result = rpc.call("session.prompt", params);
        assert_eq!(result["aborted"], true);
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(&format!("{expected} step")), "{error}");
        assert_eq!(place.provider.received().len(), expected);
    }
}

#[test]
fn a_cost_limit_needs_prices() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let limits = json!({"cost_usd": 1});
    let session = rpc.create(json!({}));
    let refused: [(&str, Value); 2] = [
        ("session.create", json!({"limits": limits})),
        (
            "session.prompt",
            json!({"session": session, "prompt": "x", "limits": limits}),
        ),
    ];
    for (method, params) in refused {
        let why = rpc.refused(method, params);
        assert!(why.contains("prices"), "{why}");
    }
    rpc.send(&json!({"id": "one", "prompt": "x", "limits": limits}));
    assert!(
        rpc.response(&json!("one"))["error"]
            .as_str()
            .unwrap()
            .contains("prices")
    );
    place.provider.script([say("fine")]);
    assert_eq!(rpc.prompt(&session, "x")["output"], "fine");
}
