//! What the tests of this folder share: a sink that keeps everything, random numbers, and a
//! server that checks what it is asked.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::http::{Decoder, pump};
use super::{
    Context, Dialect, Failure, Lane, Message, Model, Request, Secret, Sink, StreamEvent, ToolCall,
    ToolSpec, stream,
};
use crate::chat::{Image, Outcome, Voice};
use crate::sys::Env;

/// Keeps all events.
#[derive(Default)]
pub(super) struct Collect {
    pub(super) events: Vec<StreamEvent>,
}

impl Sink for Collect {
    fn push(&mut self, event: StreamEvent) {
        self.events.push(event);
    }

    fn flush(&mut self) -> bool {
        true
    }
}

impl Collect {
    /// The failure that ended the stream.
    pub(super) fn failure(&self) -> &Failure {
        match self.events.last() {
            Some(StreamEvent::Failed(failure)) => failure,
            other => panic!("no failure but {other:?}"),
        }
    }

    /// All text.
    pub(super) fn text(&self) -> String {
        let text = |event: &StreamEvent| match event {
            StreamEvent::Text(text) => Some(text.text().to_owned()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }
}

/// A small deterministic generator (xorshift).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A server on the loopback address that plays one reply for each request.
pub(super) struct Server {
    /// Its address with scheme.
    pub(super) url: String,
    /// What was asked, in order.
    pub(super) seen: Receiver<Seen>,
    /// When a client closed a connection that a reply left hanging.
    pub(super) closed: Receiver<Instant>,
}

/// A request as the server got it.
pub(super) struct Seen {
    /// Request line and headers, in lower case.
    pub(super) head: String,
    pub(super) body: String,
    /// The number of the connection it came on.
    pub(super) connection: usize,
}

/// What a server does with a request.
pub(super) struct Reply {
    bytes: Vec<u8>,
    then: Then,
}

enum Then {
    KeepAlive,
    Close,
    Hang,
}

impl Reply {
    /// A head and a body of known length.
    pub(super) fn plain(head: &str, body: &str) -> Self {
        let bytes = format!(
            "HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Self {
            bytes: bytes.into_bytes(),
            then: Then::KeepAlive,
        }
    }

    /// An event stream of these frames, complete.
    pub(super) fn events(frames: &[&str]) -> Self {
        let mut reply = Self::open_events(frames);
        reply.bytes.extend_from_slice(b"0\r\n\r\n");
        reply.then = Then::KeepAlive;
        reply
    }

    /// An event stream that goes silent after these frames.
    pub(super) fn open_events(frames: &[&str]) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut bytes = head.as_bytes().to_vec();
        for frame in frames {
            let data = format!("data: {frame}\n\n");
            bytes.extend_from_slice(format!("{:x}\r\n{data}\r\n", data.len()).as_bytes());
        }
        Self {
            bytes,
            then: Then::Hang,
        }
    }

    /// Nothing at all, and no end.
    pub(super) fn silence() -> Self {
        Self {
            bytes: Vec::new(),
            then: Then::Hang,
        }
    }

    /// These bytes, then the end of the connection.
    pub(super) fn raw(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            then: Then::Close,
        }
    }
}

impl Server {
    pub(super) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen_sender, seen) = unbounded();
        let (closed_sender, closed) = unbounded();
        let replies = Arc::new(Mutex::new(VecDeque::from(replies)));
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().flatten().enumerate() {
                let (seen, closed, replies) =
                    (seen_sender.clone(), closed_sender.clone(), replies.clone());
                thread::spawn(move || serve(stream, connection, &replies, &seen, &closed));
            }
        });
        Self { url, seen, closed }
    }

    pub(super) fn next(&self) -> Seen {
        self.seen
            .recv_timeout(Duration::from_secs(10))
            .expect("a request")
    }
}

fn serve(
    mut stream: TcpStream,
    connection: usize,
    replies: &Mutex<VecDeque<Reply>>,
    seen: &Sender<Seen>,
    closed: &Sender<Instant>,
) {
    while let Some((head, body)) = read_request(&mut stream) {
        let reply = replies
            .lock()
            .unwrap()
            .pop_front()
            .expect("a reply for every request");
        let _ = seen.send(Seen {
            head,
            body,
            connection,
        });
        if stream.write_all(&reply.bytes).is_err() {
            return;
        }
        match reply.then {
            Then::KeepAlive => {}
            Then::Close => return,
            Then::Hang => {
                while matches!(stream.read(&mut [0; 1024]), Ok(1..)) {}
                let _ = closed.send(Instant::now());
                return;
            }
        }
    }
}

/// Reads a head and as much body as it announces. The head is in lower case.
pub(super) fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head
                .split("content-length: ")
                .nth(1)
                .and_then(|rest| rest.lines().next());
            let length = length.map_or(0, |digits| digits.parse::<usize>().unwrap());
            while bytes.len() < end + 4 + length {
                match stream.read(&mut buffer) {
                    Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
                    _ => return None,
                }
            }
            return Some((head, String::from_utf8(bytes[end + 4..].to_vec()).unwrap()));
        }
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
}

/// A model of a provider called `test`.
pub(super) fn model(dialect: Dialect, base_url: &str) -> Model {
    Model {
        provider: "test".to_owned(),
        id: "m".to_owned(),
        base_url: base_url.to_owned(),
        dialect,
        context_window: 64_000,
        effort: vec!["low".to_owned(), "high".to_owned()],
        thinking: None,
        max_output: None,
        supports_tools: true,
        image_input: true,
        pricing: None,
    }
}

/// A request of one user message, with one tool.
pub(super) fn request(model: Model) -> Request {
    Request {
        model: Arc::new(model),
        key: Some(Secret("sk-test-key".to_owned())),
        system: "Be brief.".into(),
        messages: vec![Arc::new(Message::user("hello"))],
        effort: None,
        tools: Arc::new(vec![ToolSpec {
            name: "bash".to_owned(),
            description: "Runs a command.".to_owned(),
            parameters: serde_json::json!({"type": "object"}),
        }]),
        session_id: "s".to_owned(),
    }
}

/// Runs a request to its end on a new lane.
pub(super) fn run(request: &Request) -> Collect {
    let context = Context::new(&Env::default());
    let mut sink = Collect::default();
    match Lane::new(&context, &request.model) {
        Ok(lane) => stream(&lane, request, &mut sink),
        Err(failure) => sink.push(StreamEvent::Failed(Box::new(failure))),
    }
    sink
}

/// Plays the bytes of a body through a decoder, as a connection that closes after them would.
pub(super) fn decode(decoder: &mut dyn Decoder, body: &[u8]) -> Collect {
    let mut sink = Collect::default();
    if let Err(failure) = pump(
        std::io::Cursor::new(body.to_vec()),
        "host",
        decoder,
        &mut sink,
    ) {
        sink.push(StreamEvent::Failed(Box::new(failure)));
    }
    sink
}

/// An event stream body of these frames.
pub(super) fn body_of(frames: &[&str]) -> Vec<u8> {
    frames
        .iter()
        .flat_map(|frame| format!("data: {frame}\n\n").into_bytes())
        .collect()
}

/// A history as crashes, interrupts, other providers and editors leave it.
pub(super) fn wild_history(random: &mut Random) -> Vec<Arc<Message>> {
    let long = "x".repeat(200);
    let ids = [
        "call_1",
        "call_1",
        "toolu_9",
        "a.b:c|d/e",
        "",
        "abcdefghi",
        long.as_str(),
        "é",
    ];
    let texts = ["", " \n", "text", "more text ", "\u{0}", "été"];
    let names = ["bash", "", "no such tool!", long.as_str()];
    let arguments = [
        "{}",
        "",
        "{\"a\":1}",
        "{\"a\":",
        "null",
        "[1]",
        "\"x\"",
        "nonsense",
    ];
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let items = [
        r#"{"type":"thinking","thinking":"t","signature":"s","origin":"test/m"}"#,
        r#"{"type":"thinking","thinking":"t","signature":"s","origin":"other/m"}"#,
        r#"{"type":"thinking","thinking":"t","signature":""}"#,
        r#"{"type":"redacted_thinking","data":"d","origin":"test/m"}"#,
        r#"{"type":"reasoning","encrypted_content":"x"}"#,
        "not json",
        "null",
    ];
    let images = |random: &mut Random| {
        let one = |random: &mut Random| Image {
            media_type: (*random.pick(&["image/png", "image/webp", "text/plain"])).to_owned(),
            data: (*random.pick(&["", "AAAA"])).to_owned(),
        };
        (0..random.below(3)).map(|_| one(random)).collect()
    };
    let message = |random: &mut Random| match random.below(8) {
        0 | 1 => Message::User {
            content: (*random.pick(&texts)).to_owned(),
            images: images(random),
            voice: *random.pick(&[Voice::Prompt, Voice::Steered, Voice::Internal]),
        },
        2 | 3 => {
            let call = |random: &mut Random| ToolCall {
                id: (*random.pick(&ids)).to_owned(),
                name: (*random.pick(&names)).to_owned(),
                arguments: match random.below(20) {
                    0 => deep.clone(),
                    _ => (*random.pick(&arguments)).to_owned(),
                },
                signature: None,
            };
            let tool_calls = (0..random.below(4)).map(|_| call(random)).collect();
            Message::Assistant {
                content: (*random.pick(&texts)).to_owned(),
                tool_calls,
            }
        }
        4..=6 if random.below(4) > 0 => Message::Tool {
            call_id: (*random.pick(&ids)).to_owned(),
            content: (*random.pick(&texts)).to_owned(),
            outcome: *random.pick(&[Outcome::Completed, Outcome::Failed, Outcome::Cancelled]),
            summary: String::new(),
        },
        7 => Message::System {
            content: (*random.pick(&texts)).to_owned(),
        },
        _ => Message::Reasoning {
            content: (*random.pick(&items)).to_owned(),
        },
    };
    (0..random.below(14))
        .map(|_| Arc::new(message(random)))
        .collect()
}
