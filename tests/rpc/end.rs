//! Every way to the end, from every state: each request has its response, nothing lives on.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, Rpc, call, gone, pid_in, say};

/// What runs when the end comes.
#[derive(Clone, Copy, Debug)]
enum During {
    Nothing,
    Stream,
    Command,
}

/// How the end comes.
#[derive(Clone, Copy, Debug)]
enum End {
    Input,
    Method,
    Signal(&'static str, i32),
}

fn check(during: During, end: End) {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let (stream, _gate) = say("A").gate();
    let command = "(setsid sh -c 'echo $$ > new; mv new stray; exec sleep 300' &) ; echo $$ > n; mv n pid; sleep 300; true";
    let mut owed = Vec::new();
    let mut pids = Vec::new();
    match during {
        During::Nothing => {}
        During::Stream => {
            place.provider.script([stream]);
            owed.push(rpc.begin(&session, "x"));
            rpc.event("text");
        }
        During::Command => {
            place
                .provider
                .script([call("bash", json!({"command": command}))]);
            owed.push(rpc.begin(&session, "x"));
            for file in ["pid", "stray"] {
                pids.push(pid_in(&place.workspace.join(file)));
            }
        }
    }
    let turns = owed.clone();
    let status = match end {
        End::Input => {
            owed.push(rpc.request("session.info", json!({"session": session})));
            rpc.close();
            0
        }
        End::Method => {
            let stop = rpc.line("shutdown", json!({}));
            let late = rpc.line("hello", json!({}));
            rpc.send_raw(format!("{stop}\n{late}\n"));
            owed.extend([stop["id"].clone(), late["id"].clone()]);
            0
        }
        End::Signal(name, status) => {
            rpc.process.signal(name);
            status
        }
    };
    let (lines, run) = rpc.finish();
    assert_eq!(run.status, status, "{during:?} {end:?} {run:?}");
    let response = |id: &Value| -> Vec<&Value> {
        let fits = |line: &&Value| line.get("type").is_none() && line["id"] == *id;
        lines.iter().filter(fits).collect()
    };
    for id in &owed {
        assert_eq!(response(id).len(), 1, "{during:?} {end:?} {id}: {lines:#?}");
    }
    for id in &turns {
        assert_eq!(
            response(id)[0]["result"]["aborted"],
            true,
            "{during:?} {end:?}"
        );
        let mut events = lines.iter().filter(|line| line["request"] == *id);
        assert_eq!(events.next_back().unwrap()["type"], "turn_end");
    }
    for pid in pids {
        gone(pid);
    }
}

#[test]
fn each_end_in_each_state() {
    for during in [During::Nothing, During::Stream, During::Command] {
        for end in [
            End::Input,
            End::Method,
            End::Signal("TERM", 143),
            End::Signal("HUP", 129),
        ] {
            check(during, end);
        }
    }
}

#[test]
fn prompts_that_were_read_before_the_end_are_answered() {
    let place = Place::new();
    place.write("a.png", [0x89, b'P', b'N', b'G', 13, 10, 26, 10]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let other = rpc.create(json!({}));
    let set = rpc.line("session.set", json!({"session": session, "effort": "low"}));
    let image = json!({"session": session, "prompt": "x", "images": ["a.png"]});
    let prompt = rpc.line("session.prompt", image);
    let plain = rpc.line("session.prompt", json!({"session": other, "prompt": "y"}));
    let last = rpc.line("session.create", json!({}));
    rpc.send_raw(format!("{set}\n{prompt}\n{plain}\n{last}\n"));
    rpc.close();
    let (lines, run) = rpc.finish();
    run.ends_with(0);
    for request in [set, prompt, plain, last] {
        let fits = |line: &&Value| line.get("type").is_none() && line["id"] == request["id"];
        let found: Vec<&Value> = lines.iter().filter(fits).collect();
        assert_eq!(found.len(), 1, "{request}");
        assert!(found[0].get("result").is_some(), "{}", found[0]);
    }
}

#[test]
fn a_client_that_leaves_ends_the_server() {
    let place = Place::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_e"))
        .args(["rpc", "--model", "mock/test"])
        .current_dir(&place.workspace)
        .env_clear()
        .env("E_HOME", &place.home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"{\"id\":1,\"method\":\"hello\"}\n")
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    drop(lines);
    // The input is still open.
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

#[test]
fn it_works_without_a_home_and_without_a_writable_place() {
    let place = Place::new();
    let e = place.e().without("HOME").without("E_HOME").args([
        "rpc",
        "--trust",
        "--model",
        "offline/echo",
    ]);
    let mut rpc = Rpc::of(e);
    assert_eq!(rpc.call("hello", json!({}))["home"], json!(null));
    let created = rpc.call("session.create", json!({"save": true}));
    let result = rpc.prompt(created["session"].as_str().unwrap(), "hi");
    assert_eq!(
        (&result["output"], &result["path"]),
        (&json!("hi"), &json!(null))
    );
    assert!(
        result["warnings"][0]
            .as_str()
            .unwrap()
            .contains("memory only")
    );
    assert_eq!(rpc.call("session.list", json!({}))["sessions"], json!([]));
}

#[test]
fn it_ends_when_standard_output_is_a_file_or_nothing() {
    let place = Place::new();
    for target in ["out", "/dev/null"] {
        let e = place.e().args(["rpc", "--model", "mock/test"]);
        let line = "{\"id\":1,\"method\":\"hello\"}\n";
        let run = e.after(&format!("exec >{target}")).stdin(line).run();
        assert_eq!(run.status, 0, "{run:?}");
    }
    assert!(place.read("out").starts_with("{\"id\":1,\"result\":"));
}
