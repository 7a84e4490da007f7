//! The session server: what it costs idle, how fast it answers, and how it takes many sessions.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::Reply;
use super::{DELTAS, Place, ROUNDS, median, row, switches};

/// A server, spoken to one line at a time.
pub struct Rpc {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Bytes read from standard output so far.
    bytes: usize,
}

impl Rpc {
    pub fn start(place: &Place) -> Self {
        let mut command = place.command(&place.e);
        command.args(["rpc", "--trust", "-m", "bench/m"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("e rpc starts");
        let stdin = child.stdin.take().expect("stdin");
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        Self {
            child,
            stdin,
            stdout,
            bytes: 0,
        }
    }

    fn send(&mut self, id: u64, method: &str, params: Value) {
        let line = json!({"id": id, "method": method, "params": params});
        writeln!(self.stdin, "{line}").expect("a request");
    }

    /// Reads to the response with that id.
    fn wait(&mut self, id: u64) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.stdout.read_line(&mut line).expect("a line");
            assert!(read > 0, "e rpc ended");
            self.bytes += read;
            if line.starts_with("{\"id\"") {
                let value: Value = serde_json::from_str(&line).expect("JSON");
                assert!(value.get("error").is_none_or(Value::is_null), "{value}");
                if value["id"] == id {
                    return value["result"].clone();
                }
            }
        }
    }

    pub fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(id, method, params);
        self.wait(id)
    }

    fn session(&mut self, id: u64) -> Value {
        self.call(id, "session.create", json!({}))["session"].clone()
    }

    pub fn rss(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("a status");
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .expect("VmRSS");
        line.split_whitespace()
            .nth(1)
            .and_then(|kib| kib.parse().ok())
            .expect("a number")
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// From the start of the process to its first answer.
pub fn hello(place: &Place) {
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut rpc = Rpc::start(place);
        rpc.call(1, "hello", json!({}));
        ours.push(start.elapsed());
        let start = Instant::now();
        Command::new("/bin/true").status().expect("true runs");
        floor.push(start.elapsed());
    }
    row(
        "hello answered after spawn, against /bin/true",
        median(&mut ours),
        median(&mut floor),
    );
}

/// What an idle server holds, and how often it wakes.
pub fn idle(place: &Place) {
    let mut rpc = Rpc::start(place);
    rpc.call(1, "hello", json!({}));
    let alone = rpc.rss();
    rpc.session(2);
    let one = rpc.rss();
    for id in 0..200 {
        rpc.session(10 + id);
    }
    let many = rpc.rss();
    println!(
        "{:<58} {:>6.2} MiB",
        "idle e rpc, RSS",
        alone as f64 / 1024.0
    );
    println!(
        "{:<58} {:>6.1} KiB",
        "each further idle session",
        (many - one) as f64 / 200.0
    );
    std::thread::sleep(Duration::from_millis(500));
    let (_, before) = switches(rpc.child.id());
    std::thread::sleep(Duration::from_secs(10));
    let (_, after) = switches(rpc.child.id());
    println!(
        "{:<58} {:>10}",
        "wake-ups of an idle server in 10 s",
        after - before
    );
}

/// A turn in a session that is there, and what it writes.
pub fn prompt(place: &Place) {
    let mut rpc = Rpc::start(place);
    let session = rpc.session(1);
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for id in 2..2 + 4 * ROUNDS as u64 {
        // A fresh session each time keeps the history as short as the floor's request.
        place.server.reply(Reply::text("ok"));
        let start = Instant::now();
        rpc.call(
            id,
            "session.prompt",
            json!({"session": session, "prompt": "hi"}),
        );
        ours.push(start.elapsed());
        floor.push(place.server.time_of_an_exchange());
    }
    row(
        "a warm prompt answered, against the bare exchange",
        median(&mut ours),
        median(&mut floor),
    );
    place.server.reply(Reply::deltas(2_000));
    let before = rpc.bytes;
    rpc.call(
        9_999,
        "session.prompt",
        json!({"session": session, "prompt": "hi"}),
    );
    let result = 2 * 2_000 * 24;
    let each = (rpc.bytes - before).saturating_sub(result) as f64 / 2_000.0;
    println!(
        "{:<58} {each:>6.0} B",
        "bytes on standard output per delta of 24 bytes"
    );
}

/// From the server's write of a piece to its line on standard output.
pub fn latency(place: &Place) {
    let mut rpc = Rpc::start(place);
    let session = rpc.session(1);
    let written = place.server.reply_slowly(500);
    let params = json!({"session": session, "prompt": "hi"});
    rpc.send(2, "session.prompt", params);
    let mut late = Vec::new();
    let mut line = String::new();
    while !line.starts_with("{\"id\"") {
        line.clear();
        assert!(
            rpc.stdout.read_line(&mut line).expect("a line") > 0,
            "e rpc ended"
        );
        if line.starts_with("{\"type\":\"text\"") {
            late.push(written.recv().expect("a time").elapsed());
        }
    }
    late.sort();
    let at = |part: usize| late[late.len() * part / 100].as_secs_f64() * 1e3;
    println!(
        "{:<58} {:>7.3} ms {:>7.3} ms",
        "latency of an event, median and 99th of 100",
        at(50),
        at(99)
    );
}

/// What 50 long turns leave in memory beside their text.
pub fn memory(place: &Place) {
    let mut rpc = Rpc::start(place);
    let session = rpc.session(1);
    let before = rpc.rss();
    place.server.reply(Reply::deltas(400_000 / 24));
    for id in 0..50 {
        let params = json!({"session": session, "prompt": "hi"});
        rpc.call(10 + id, "session.prompt", params);
    }
    let text = 50 * 400_000 / 1024;
    let above = (rpc.rss() - before) as f64 - text as f64;
    println!(
        "{:<58} {:>6.2} MiB",
        "RSS after 50 turns of 400 KB, above the text itself",
        above / 1024.0
    );
}

/// 64 sessions at once against one that streams as much alone.
pub fn crowd(place: &Place) {
    let sessions = 64;
    let each = DELTAS / 100;
    let mut rpc = Rpc::start(place);
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for round in 0..9u64 {
        let base = 1_000 + 1_000 * round;
        // Fresh ones on both sides: a history would be sent along.
        let all: Vec<Value> = (0..sessions).map(|n| rpc.session(base + 600 + n)).collect();
        place.server.reply(Reply::deltas(each));
        let start = Instant::now();
        for (n, session) in all.iter().enumerate() {
            rpc.send(
                base + n as u64,
                "session.prompt",
                json!({"session": session, "prompt": "hi"}),
            );
        }
        // Responses come in any order; the last id may not be the last line.
        let mut left: Vec<u64> = (0..sessions).map(|n| base + n).collect();
        let mut line = String::new();
        while !left.is_empty() {
            line.clear();
            assert!(
                rpc.stdout.read_line(&mut line).expect("a line") > 0,
                "e rpc ended"
            );
            if line.starts_with("{\"id\"") {
                let value: Value = serde_json::from_str(&line).expect("JSON");
                left.retain(|id| value["id"] != *id);
            }
        }
        ours.push(start.elapsed());
        place.server.reply(Reply::deltas(each * sessions as usize));
        let alone = rpc.session(base + 500);
        let start = Instant::now();
        rpc.call(
            base + 501,
            "session.prompt",
            json!({"session": alone, "prompt": "hi"}),
        );
        floor.push(start.elapsed());
    }
    row(
        "64 sessions × 2,000 deltas, against one with all",
        median(&mut ours),
        median(&mut floor),
    );
}

/// A long list of sessions.
pub fn list(place: &Place) {
    let cwd = place.root.path().join("listed");
    let sessions = place.root.path().join("home/sessions");
    let directory = sessions.join(e::config::home::path_key(&cwd));
    std::fs::create_dir_all(&directory).expect("a directory");
    for n in 0..2_000 {
        let header = json!({"type": "session", "format_version": 3, "id": format!("id{n}"), "cwd": "/srv", "created": n, "model": "bench/m"});
        let message = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parent": parent, "timestamp": 1, "message": message});
        let mut text = format!("{header}\n");
        let mut parent = Value::Null;
        for turn in 0..4 {
            for role in ["user", "assistant"] {
                let id = format!("{role}{turn}");
                let body =
                    json!({"role": role, "content": "some words that were said ".repeat(10)});
                text.push_str(&format!("{}\n", message(&id, parent, body)));
                parent = id.into();
            }
        }
        std::fs::write(directory.join(format!("{n}_id{n}.jsonl")), text).expect("a log");
    }
    let mut rpc = Rpc::start(place);
    let mut times = Vec::new();
    for id in 0..ROUNDS as u64 {
        let start = Instant::now();
        let listed = rpc.call(1 + id, "session.list", json!({"cwd": cwd}));
        times.push(start.elapsed());
        assert!(listed["sessions"].as_array().expect("sessions").len() == 2_000);
    }
    let ms = median(&mut times).as_secs_f64() * 1e3;
    println!("{:<58} {ms:>7.3} ms", "session.list of 2,000 sessions");
}
