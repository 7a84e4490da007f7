//! A client that does not read: nothing is lost, memory stays bounded, requests still act, and the
//! commands of other sessions go on.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, Step, call, say, until};

const DELTAS: usize = 60_000;
const SESSIONS: usize = 2;
/// Ends when it is told to, and says so.
const COMMAND: &str = "until [ -e go ]; do sleep 0.01; done; touch gone";

fn flood(mark: &str) -> Step {
    (0..DELTAS).fold(say(mark), |step, n| {
        step.text(&format!(" {mark} number {n:09}"))
    })
}

fn peak_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() / 1024
}

#[test]
fn a_client_that_does_not_read_loses_nothing() {
    let place = Place::new();
    place.provider.script([
        call("bash", json!({"command": COMMAND})),
        flood("A"),
        flood("B"),
    ]);
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let end = |stream: &UnixStream| Stdio::from(OwnedFd::from(stream.try_clone().unwrap()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_e"))
        .args(["rpc", "--model", "mock/test"])
        .current_dir(&place.workspace)
        .env_clear()
        .env("E_HOME", &place.home)
        .env("NO_PROXY", "127.0.0.1")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(end(&theirs))
        .stdout(end(&theirs))
        .spawn()
        .unwrap();
    drop(theirs);
    let mut lines = BufReader::new(ours.try_clone().unwrap()).lines();
    let mut next =
        move || -> Value { serde_json::from_str(&lines.next().expect("a line").unwrap()).unwrap() };
    let mut handles = Vec::new();
    for _ in 0..=SESSIONS {
        writeln!(ours, "{}", json!({"id": "c", "method": "session.create"})).unwrap();
        handles.push(next()["result"]["session"].as_str().unwrap().to_string());
    }
    let busy = handles.pop().unwrap();
    let params = json!({"session": busy, "prompt": "go"});
    let prompt = json!({"id": "busy", "method": "session.prompt", "params": params});
    writeln!(ours, "{prompt}").unwrap();
    while next()["type"] != "tool_start" {}
    for (n, handle) in handles.iter().enumerate() {
        let params = json!({"session": handle, "prompt": "go"});
        writeln!(
            ours,
            "{}",
            json!({"id": n, "method": "session.prompt", "params": params})
        )
        .unwrap();
    }
    place.provider.wait_requests(1 + SESSIONS);
    // Nothing is read now. An interrupt of the second session acts all the same: the provider
    // sees the connection go.
    let params = json!({"session": handles[1]});
    writeln!(
        ours,
        "{}",
        json!({"id": "i", "method": "session.interrupt", "params": params})
    )
    .unwrap();
    place.provider.wait_hangup();
    until("the server is idle", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        stat.rsplit(')').next().unwrap().trim().starts_with('S')
    });
    let peak = peak_mib(child.id());
    assert!(peak < 60, "{peak} MiB");
    place.write("go", "");
    until("the command has ended", || {
        place.workspace.join("gone").exists()
    });
    let mut text = String::new();
    let mut results = 0;
    while results < 1 + SESSIONS {
        let line = next();
        if line["type"] == "text" && line["request"] == 0 {
            text.push_str(line["delta"].as_str().unwrap());
        }
        let of = |id: Value| line.get("type").is_none() && line["id"] == id;
        if of(json!(0)) {
            assert_eq!(line["result"]["output"], text.as_str());
            assert_eq!(line["result"]["aborted"], false);
        }
        if of(json!(1)) {
            assert_eq!(line["result"]["aborted"], true);
        }
        if of(json!("busy")) {
            assert_eq!(line["result"]["final_output"], "ok");
        }
        results += usize::from(
            line.get("result")
                .is_some_and(|result| result.get("output").is_some()),
        );
    }
    // Which session got which reply is up to the order of their requests.
    assert!(text.ends_with(&format!(" number {:09}", DELTAS - 1)));
    let peak = peak_mib(child.id());
    assert!(peak < 100, "{peak} MiB");
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(child.wait().unwrap().success());
}
