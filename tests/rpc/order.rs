//! A thousand random commands: each request has one response, each start its end, and nothing of a
//! turn comes after its response.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::{Place, Random, Rpc};

fn random_request(random: &mut Random, sessions: &[String]) -> (&'static str, Value) {
    let session = match random.below(12) {
        0 => "gone".to_string(),
        n => sessions[n as usize % sessions.len()].clone(),
    };
    let of = |more: Value| {
        let mut params = json!({"session": session});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    match random.below(20) {
        0..=5 => (
            "session.prompt",
            of(json!({"prompt": "word ".repeat(random.below(200) as usize + 1)})),
        ),
        6..=8 => ("session.interrupt", of(json!({}))),
        9 => ("session.steer", of(json!({"text": "aside"}))),
        10 => (
            "session.set",
            of(json!({"effort": (["low", "high", "bogus"][random.below(3) as usize])})),
        ),
        11 => ("session.info", of(json!({}))),
        12 => ("session.messages", of(json!({}))),
        13 => ("session.fork", of(json!({}))),
        14 => ("session.compact", of(json!({}))),
        15 => ("session.prompt", of(json!({"prompt": 5}))),
        16 => ("models.list", json!({})),
        17 => ("session.create", json!({"tools": ["read"]})),
        18 => ("nope", json!({})),
        _ => (
            "session.prompt",
            of(json!({"prompt": "x", "images": ["none.png"]})),
        ),
    }
}

fn check(seed: u64) {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let mut random = Random(seed);
    let sessions: Vec<String> = (0..4).map(|_| rpc.create(json!({}))).collect();
    let mut ids = Vec::new();
    for _ in 0..250 {
        let mut burst = String::new();
        for _ in 0..=random.below(4) {
            let (method, params) = random_request(&mut random, &sessions);
            let line = rpc.line(method, params);
            ids.push((line["id"].as_u64().unwrap(), method));
            burst.push_str(&format!("{line}\n"));
        }
        rpc.send_raw(burst);
        if random.below(3) == 0 {
            let (id, _) = ids[random.below(ids.len() as u64) as usize];
            rpc.response(&json!(id));
        }
    }
    rpc.close();
    let (lines, run) = rpc.finish();
    run.ends_with(0);
    let mut responses: HashMap<u64, usize> = HashMap::new();
    let mut open: HashMap<u64, Vec<String>> = HashMap::new();
    for line in &lines {
        match line["type"].as_str() {
            None => {
                let id = line["id"].as_u64().expect("an id");
                *responses.entry(id).or_default() += 1;
                let events = open.remove(&id).unwrap_or_default();
                let count = |kind: &str| events.iter().filter(|one| *one == kind).count();
                assert_eq!(
                    count("turn_start"),
                    count("turn_end"),
                    "seed {seed}, id {id}"
                );
                if count("turn_start") > 0 {
                    assert_eq!(events[0], "turn_start");
                    assert_eq!(events.last().unwrap(), "turn_end");
                }
            }
            Some(kind) => {
                let request = line["request"].as_u64().expect("a request");
                assert!(
                    !responses.contains_key(&request),
                    "seed {seed}: {line} is late"
                );
                open.entry(request).or_default().push(kind.into());
            }
        }
    }
    assert!(open.is_empty(), "seed {seed}: {open:?}");
    for (id, method) in ids {
        assert_eq!(responses.get(&id), Some(&1), "seed {seed}: {method} {id}");
    }
}

#[test]
fn random_commands_leave_one_response_each() {
    for seed in [1, 2, 3, 4] {
        check(seed);
    }
}

#[test]
fn many_sessions_keep_their_events_apart() {
    let place = Place::new();
    let e = place.e().args(["rpc", "--model", "offline/echo"]);
    let mut rpc = Rpc::of(e);
    let sessions: Vec<String> = (0..32).map(|_| rpc.create(json!({}))).collect();
    let ids: Vec<Value> = sessions
        .iter()
        .enumerate()
        .map(|(n, session)| rpc.begin(session, &format!("<{n}> ").repeat(200)))
        .collect();
    for (n, (session, id)) in sessions.iter().zip(&ids).enumerate() {
        let result = rpc.result(id);
        assert_eq!(result["session"], session.as_str());
        let mut text = String::new();
        for line in rpc.lines().iter().filter(|line| line["request"] == *id) {
            assert_eq!(line["session"], session.as_str());
            text.push_str(line["delta"].as_str().unwrap_or_default());
        }
        assert_eq!(text.trim(), format!("<{n}> ").repeat(200).trim());
        assert_eq!(result["output"], text.as_str());
    }
}
