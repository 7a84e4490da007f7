//! A provider on the loopback address that plays a script and checks every request it gets.

mod frames;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::frames::Frames;
use super::place::PATIENCE;
use super::strict;

/// One reply.
#[derive(Default)]
pub struct Step {
    status: Option<u16>,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    ops: Vec<Op>,
    finish: Option<String>,
    usage: Option<Value>,
    cut: Option<(usize, Cut)>,
    made_for: Option<Make>,
}

/// How a reply breaks off.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// The body ends as HTTP wants it.
    Clean,
    /// The connection closes in the middle.
    Lost,
}

type Make = Box<dyn FnOnce(&Received) -> Step + Send>;

enum Op {
    Text(String),
    Reasoning(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    Raw(Vec<u8>),
    Gate(Receiver<()>),
    Die,
    /// Ends the body well but without the dialect's last frames.
    Stop,
}

/// A reply of text.
pub fn say(text: &str) -> Step {
    Step::default().text(text)
}

/// A reply that calls a tool.
pub fn call(name: &str, arguments: Value) -> Step {
    call_raw(name, &arguments.to_string())
}

/// A reply that depends on the request.
pub fn answer(make: impl FnOnce(&Received) -> Step + Send + 'static) -> Step {
    Step {
        made_for: Some(Box::new(make)),
        ..Step::default()
    }
}

/// A reply that calls a tool with any text as arguments.
pub fn call_raw(name: &str, arguments: &str) -> Step {
    Step::default().and_call_raw(name, arguments)
}

/// An error response with a usual body.
pub fn fails(status: u16) -> Step {
    let error =
        json!({"error": {"message": format!("mock says no {status}"), "type": "mock_error"}});
    Step {
        status: Some(status),
        body: Some(error.to_string().into_bytes()),
        ..Step::default()
    }
}

impl Step {
    /// Adds a delta.
    pub fn text(self, text: &str) -> Self {
        self.op(Op::Text(text.into()))
    }

    /// Adds visible reasoning.
    pub fn reasoning(self, text: &str) -> Self {
        self.op(Op::Reasoning(text.into()))
    }

    /// Adds a call.
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.and_call_raw(name, &arguments.to_string())
    }

    fn and_call_raw(self, name: &str, arguments: &str) -> Self {
        let id = format!("call_{}", self.ops.len());
        self.op(Op::Call {
            id,
            name: name.into(),
            arguments: arguments.into(),
        })
    }

    /// Adds a call whose id is of the test's choosing.
    pub fn and_call_with_id(self, id: &str, name: &str, arguments: Value) -> Self {
        self.op(Op::Call {
            id: id.into(),
            name: name.into(),
            arguments: arguments.to_string(),
        })
    }

    /// Adds bytes of the body as they are.
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.op(Op::Raw(bytes.into()))
    }

    /// Waits here until the sender sends or is dropped.
    pub fn gate(self) -> (Self, Sender<()>) {
        let (open, gate) = channel();
        (self.op(Op::Gate(gate)), open)
    }

    /// Cuts the connection here.
    pub fn die(self) -> Self {
        self.op(Op::Die)
    }

    /// Ends the body here, without a finish.
    pub fn stop(self) -> Self {
        self.op(Op::Stop)
    }

    /// Breaks off after that many bytes of the body.
    pub fn cut(mut self, bytes: usize, how: Cut) -> Self {
        self.cut = Some((bytes, how));
        self
    }

    /// The bytes of the body, for a dialect.
    pub fn bytes(self, api: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        play(self, api.starts_with("anthropic"), &mut |chunk| {
            bytes.extend_from_slice(chunk);
            true
        });
        bytes
    }

    /// Reports this finish reason, in the dialect's words.
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.into());
        self
    }

    /// Reports these counters, in the dialect's words.
    pub fn usage(mut self, usage: Value) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Adds a response header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Answers with this body instead of a stream.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    fn op(mut self, op: Op) -> Self {
        self.ops.push(op);
        self
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// The path with its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The parsed body.
    pub body: Value,
    /// When all of it was there.
    pub at: Instant,
}

impl Received {
    /// The path without its query.
    pub fn endpoint(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(one, _)| one == name)
            .map(|(_, value)| value.as_str())
    }

    /// The text of the last user message, in either dialect.
    pub fn last_user(&self) -> String {
        let mut messages = self.messages().iter().rev();
        let user = messages.find(|message| message["role"] == "user");
        user.map(|message| flat(&message["content"]))
            .unwrap_or_default()
    }

    /// The texts of all tool results, in either dialect.
    pub fn results(&self) -> Vec<String> {
        let mut results = Vec::new();
        for message in self.messages() {
            if message["role"] == "tool" {
                results.push(flat(&message["content"]));
            }
            for block in message["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_result" {
                    results.push(flat(&block["content"]));
                }
            }
        }
        results
    }

    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The system prompt, in either dialect.
    pub fn system(&self) -> String {
        match &self.body["system"] {
            Value::Null => flat(&self.body["messages"][0]["content"]),
            system => flat(system),
        }
    }

    /// The names of the advertised tools.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| {
            tool["function"]["name"]
                .as_str()
                .or(tool["name"].as_str())
                .map(String::from)
        };
        tools.iter().filter_map(name).collect()
    }
}

fn flat(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(flat).collect();
            let said = texts.into_iter().filter(|text| !text.is_empty());
            said.collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => part
            .get("text")
            .or(part.get("content"))
            .map(flat)
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// The running server. Dropping it fails the test if a request broke the dialect's rules.
pub struct Provider {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    steps: Vec<Step>,
    received: Vec<Received>,
    connections: usize,
    hangups: usize,
    problems: Vec<String>,
}

impl Provider {
    /// Starts on a free port. Without a script every reply is `ok`.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Arc::new(Shared::default());
        let served = shared.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let shared = served.clone();
                shared.state.lock().expect("the lock").connections += 1;
                std::thread::spawn(move || serve(connection, &shared));
            }
        });
        Self { url, shared }
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds replies, one per request.
    pub fn script(&self, steps: impl IntoIterator<Item = Step>) {
        self.shared
            .state
            .lock()
            .expect("the lock")
            .steps
            .extend(steps);
    }

    /// Drops the replies that nobody has asked for.
    pub fn forget_script(&self) {
        self.shared.state.lock().expect("the lock").steps.clear();
    }

    /// All requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.shared.state.lock().expect("the lock").received.clone()
    }

    /// How many connections were made so far, used or not.
    pub fn connections(&self) -> usize {
        self.shared.state.lock().expect("the lock").connections
    }

    /// Waits for that many requests.
    #[track_caller]
    pub fn wait_requests(&self, count: usize) -> Vec<Received> {
        self.wait(|state| state.received.len() >= count, "requests")
            .received
            .clone()
    }

    /// Waits until a client went away before its reply was complete.
    #[track_caller]
    pub fn wait_hangup(&self) -> Duration {
        let start = Instant::now();
        drop(self.wait(|state| state.hangups > 0, "a hangup"));
        start.elapsed()
    }

    #[track_caller]
    fn wait(&self, until: impl Fn(&State) -> bool, what: &str) -> std::sync::MutexGuard<'_, State> {
        let state = self.shared.state.lock().expect("the lock");
        let (state, timeout) = self
            .shared
            .changed
            .wait_timeout_while(state, PATIENCE, |state| !until(state))
            .expect("the lock");
        assert!(
            !timeout.timed_out(),
            "no {what} came; requests: {}",
            state.received.len()
        );
        state
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // A test that failed in a wait has poisoned the lock, and must not panic once more.
        if !std::thread::panicking() {
            let problems = &self.shared.state.lock().expect("the lock").problems;
            assert!(
                problems.is_empty(),
                "requests that the dialect refuses: {problems:#?}"
            );
        }
    }
}

fn serve(mut connection: TcpStream, shared: &Shared) {
    let Ok(reader) = connection.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(reader);
    while let Some(request) = read_request(&mut reader) {
        let anthropic = request.endpoint().ends_with("/messages");
        let step = {
            let mut state = shared.state.lock().expect("the lock");
            let problem = if anthropic {
                strict::anthropic(&request)
            } else {
                strict::completions(&request)
            };
            state.problems.extend(problem.err());
            let mut step = match state.steps.is_empty() {
                true => say("ok"),
                false => state.steps.remove(0),
            };
            if let Some(make) = step.made_for.take() {
                step = make(&request);
            }
            state.received.push(request);
            step
        };
        shared.changed.notify_all();
        if !reply(&mut connection, step, anthropic) {
            shared.state.lock().expect("the lock").hangups += 1;
            shared.changed.notify_all();
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Received> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_string();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_lowercase(), value.to_string()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![
        0;
        length
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0)
    ];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Received {
        path,
        headers,
        body,
        at: Instant::now(),
    })
}

/// `false` when the client went away.
fn reply(connection: &mut TcpStream, step: Step, anthropic: bool) -> bool {
    let status = step.status.unwrap_or(200);
    let mut head = format!("HTTP/1.1 {status} Mock\r\n");
    for (name, value) in &step.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(body) = &step.body {
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        return connection
            .write_all(head.as_bytes())
            .and_then(|()| connection.write_all(body))
            .is_ok();
    }
    head.push_str("content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    if connection.write_all(head.as_bytes()).is_err() {
        return false;
    }
    let (mut left, how) = match step.cut {
        Some((bytes, how)) => (bytes, how),
        None => (usize::MAX, Cut::Clean),
    };
    let ended = play(step, anthropic, &mut |bytes| {
        let most = bytes.len().min(left);
        left -= most;
        write_chunk(connection, &bytes[..most])
    });
    match ended {
        Ended::Gone => false,
        Ended::Well if left == 0 && matches!(how, Cut::Lost) => {
            connection.shutdown(std::net::Shutdown::Both).is_ok()
        }
        Ended::Well => connection.write_all(b"0\r\n\r\n").is_ok(),
        Ended::Died => {
            let _ = connection.shutdown(std::net::Shutdown::Both);
            true
        }
    }
}

enum Ended {
    Well,
    Died,
    Gone,
}

/// Sends the frames of a step one by one; `send` is `false` when the client went away.
fn play(step: Step, anthropic: bool, send: &mut dyn FnMut(&[u8]) -> bool) -> Ended {
    let mut frames = Frames::new(anthropic);
    if !send(&frames.start()) {
        return Ended::Gone;
    }
    let has_calls = step.ops.iter().any(|op| matches!(op, Op::Call { .. }));
    for op in step.ops {
        let sent = match op {
            Op::Text(text) => send(&frames.text(&text)),
            Op::Reasoning(text) => send(&frames.reasoning(&text)),
            Op::Call {
                id,
                name,
                arguments,
            } => send(&frames.call(&id, &name, &arguments)),
            Op::Raw(bytes) => send(&bytes),
            Op::Gate(gate) => loop {
                let timeout = gate.recv_timeout(Duration::from_millis(20));
                if timeout != Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    break true;
                }
                // A comment shows whether the client is still there; it is not content.
                if !send(b": still here\n\n") {
                    break false;
                }
            },
            Op::Die => return Ended::Died,
            Op::Stop => return Ended::Well,
        };
        if !sent {
            return Ended::Gone;
        }
    }
    match send(&frames.end(step.finish.as_deref(), has_calls, step.usage)) {
        true => Ended::Well,
        false => Ended::Gone,
    }
}

fn write_chunk(connection: &mut TcpStream, bytes: &[u8]) -> bool {
    if bytes.is_empty() {
        return true;
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    connection.write_all(&chunk).is_ok()
}
