//! A client of `e rpc` that reads lines as they come and finds them in any order.

use std::io::Write;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::place::{Builder, Place, Run, Running, Watched};

/// A running server and what it has said.
pub struct Rpc {
    /// The process.
    pub process: Running,
    requests: UnixStream,
    stdout: Watched,
    read: usize,
    partial: Vec<u8>,
    lines: Vec<Value>,
    count: u64,
}

impl Rpc {
    /// `e rpc --model mock/test` with these arguments.
    pub fn start(place: &Place, args: &[&str]) -> Self {
        Self::of(place.e().args(["rpc", "--model", "mock/test"]).args(args))
    }

    /// A server that was put together elsewhere.
    pub fn of(e: Builder) -> Self {
        let (requests, stdin) = UnixStream::pair().expect("a pair of sockets");
        let process = e.stdin_from(Stdio::from(OwnedFd::from(stdin))).start();
        Self {
            requests,
            stdout: process.stdout.clone(),
            process,
            read: 0,
            partial: Vec::new(),
            lines: Vec::new(),
            count: 0,
        }
    }

    /// Writes bytes as they are. A server that has ended takes nothing.
    pub fn send_raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.takes(bytes.as_ref());
    }

    /// Writes bytes as they are, and tells whether somebody took them.
    pub fn takes(&mut self, bytes: &[u8]) -> bool {
        self.requests.write_all(bytes).is_ok()
    }

    /// Writes one object.
    pub fn send(&mut self, request: &Value) {
        self.send_raw(format!("{request}\n"));
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let line = self.line(method, params);
        self.send(&line);
        line["id"].clone()
    }

    /// A request with an id of its own, not sent.
    pub fn line(&mut self, method: &str, params: Value) -> Value {
        self.count += 1;
        json!({"id": self.count, "method": method, "params": params})
    }

    /// Sends a request and returns its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.result(&id)
    }

    /// Sends a request that must be refused and returns why.
    #[track_caller]
    pub fn refused(&mut self, method: &str, params: Value) -> String {
        let id = self.request(method, params);
        let response = self.response(&id);
        let error = response["error"].as_str();
        error
            .unwrap_or_else(|| panic!("{method} was accepted: {response}"))
            .into()
    }

    /// Makes a session.
    #[track_caller]
    pub fn create(&mut self, params: Value) -> String {
        let created = self.call("session.create", params);
        created["session"].as_str().expect("a session").into()
    }

    /// Runs a turn to its end.
    #[track_caller]
    pub fn prompt(&mut self, session: &str, text: &str) -> Value {
        self.call(
            "session.prompt",
            json!({"session": session, "prompt": text}),
        )
    }

    /// Begins a turn.
    pub fn begin(&mut self, session: &str, text: &str) -> Value {
        self.request(
            "session.prompt",
            json!({"session": session, "prompt": text}),
        )
    }

    /// Waits for the response to a request.
    #[track_caller]
    pub fn response(&mut self, id: &Value) -> Value {
        self.wait(|line| line.get("type").is_none() && line["id"] == *id)
    }

    /// Waits for the response to a request, or for that many lines in all. Whether it was the
    /// response.
    #[track_caller]
    pub fn responds_within(&mut self, lines: usize, id: &Value) -> bool {
        while self.responses(id) == 0 {
            if self.lines.len() >= lines {
                return false;
            }
            assert!(self.read_more(), "the server has ended: {:#?}", self.lines);
        }
        true
    }

    /// Waits for the response to a request that must succeed.
    #[track_caller]
    pub fn result(&mut self, id: &Value) -> Value {
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Waits for an event of that type.
    #[track_caller]
    pub fn event(&mut self, kind: &str) -> Value {
        self.wait(|line| line["type"] == kind)
    }

    /// The first line, said or to come, that fits.
    #[track_caller]
    pub fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let mut seen = 0;
        loop {
            if let Some(line) = self.lines[seen..].iter().find(|line| fits(line)) {
                return line.clone();
            }
            seen = self.lines.len();
            assert!(self.read_more(), "the server has ended: {:#?}", self.lines);
        }
    }

    /// Every line so far.
    pub fn lines(&self) -> &[Value] {
        &self.lines
    }

    /// The types of the events of a request so far.
    pub fn types(&self, id: &Value) -> Vec<String> {
        let events = self.lines.iter().filter(|line| line["request"] == *id);
        events
            .filter_map(|line| line["type"].as_str().map(String::from))
            .collect()
    }

    /// How many responses a request has got so far.
    pub fn responses(&self, id: &Value) -> usize {
        let is_response = |line: &&Value| line.get("type").is_none() && line["id"] == *id;
        self.lines.iter().filter(is_response).count()
    }

    /// Ends the input.
    pub fn close(&mut self) {
        let _ = self.requests.shutdown(Shutdown::Write);
    }

    /// Reads to the end and waits for it. The lines stay with the caller.
    #[track_caller]
    pub fn finish(mut self) -> (Vec<Value>, Run) {
        while self.read_more() {}
        assert!(self.partial.is_empty(), "a line without an end");
        let run = self.process.finish();
        (self.lines, run)
    }

    fn read_more(&mut self) -> bool {
        let Some(bytes) = self.stdout.wait_behind(self.read) else {
            return false;
        };
        self.read += bytes.len();
        self.partial.extend_from_slice(&bytes);
        while let Some(end) = self.partial.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            let value = serde_json::from_slice(&line);
            let shown = || String::from_utf8_lossy(&line).into_owned();
            self.lines
                .push(value.unwrap_or_else(|error| panic!("{error}: {}", shown())));
        }
        true
    }
}
