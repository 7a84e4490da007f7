//! A chat-completions server that costs as little as possible: replies are bytes made beforehand.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A whole HTTP response.
#[derive(Clone)]
pub struct Reply(Arc<Vec<u8>>);

impl Reply {
    /// A short text.
    pub fn text(text: &str) -> Self {
        Self::frames(&[format!(r#"{{"content":"{text}"}}"#)], "stop")
    }

    /// A call of bash.
    pub fn bash(command: &str) -> Self {
        let arguments = format!(r#"{{\"command\":\"{command}\"}}"#);
        let call = format!(
            r#"{{"tool_calls":[{{"index":0,"id":"c1","type":"function","function":{{"name":"bash","arguments":"{arguments}"}}}}]}}"#
        );
        Self::frames(&[call], "tool_calls")
    }

    /// Many deltas of about 20 bytes.
    pub fn deltas(count: usize) -> Self {
        let deltas: Vec<String> = (0..count)
            .map(|index| format!(r#"{{"content":"a delta, number {index:>6} "}}"#))
            .collect();
        Self::frames(&deltas, "stop")
    }

    /// That many paragraphs of one row each.
    pub fn paragraphs(count: usize) -> Self {
        let deltas: Vec<String> = (0..count)
            .map(|index| format!(r#"{{"content":"paragraph number {index}.\n\n"}}"#))
            .collect();
        Self::frames(&deltas, "stop")
    }

    fn frames(deltas: &[String], finish: &str) -> Self {
        let mut body = String::new();
        for delta in deltas {
            body.push_str(&format!(
                "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n"
            ));
        }
        body.push_str(&format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{finish}\"}}]}}\n\n"));
        body.push_str("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n");
        let mut bytes =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for chunk in body.as_bytes().chunks(16 * 1024) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
            bytes.extend(chunk);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
        Self(Arc::new(bytes))
    }
}

/// Scripted replies, the standing one, and one that is sent piece by piece.
type State = (VecDeque<Reply>, Reply, Option<Slow>);

/// A reply of `count` pieces, `together` of them at once with a pause behind.
struct Slow {
    count: usize,
    together: usize,
    pause: Duration,
    written: Sender<Instant>,
}

/// The server: scripted replies first, then the standing one.
pub struct Server {
    url: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    /// Starts on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new((VecDeque::new(), Reply::text("ok"), None)));
        let served = state.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = served.clone();
                std::thread::spawn(move || serve(connection, &state));
            }
        });
        Self { url, state }
    }

    /// Sets the next reply to pieces a millisecond apart, and tells when each was written.
    pub fn reply_slowly(&self, count: usize) -> Receiver<Instant> {
        self.reply_at_pace(count, 1, Duration::from_millis(1))
    }

    /// The same with `together` pieces at once, and that pause behind them.
    pub fn reply_at_pace(
        &self,
        count: usize,
        together: usize,
        pause: Duration,
    ) -> Receiver<Instant> {
        let (written, times) = channel();
        self.state.lock().expect("the lock").2 = Some(Slow {
            count,
            together,
            pause,
            written,
        });
        times
    }

    /// How long a client that does nothing else waits for the standing reply.
    pub fn time_of_an_exchange(&self) -> Duration {
        let address = self.url.trim_start_matches("http://");
        let start = Instant::now();
        let mut stream = TcpStream::connect(address).expect("a connection");
        let body = "x".repeat(8_000);
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != "0\r\n" {
            line.clear();
            assert!(
                reader.read_line(&mut line).expect("a line") > 0,
                "the reply is cut"
            );
        }
        start.elapsed()
    }

    /// The base of its URLs.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets the standing reply.
    pub fn reply(&self, reply: Reply) {
        *self.state.lock().expect("the lock") = (VecDeque::new(), reply, None);
    }

    /// Sets the next replies.
    pub fn script<const N: usize>(&self, replies: [Reply; N]) {
        self.state.lock().expect("the lock").0 = replies.into();
    }
}

fn serve(mut connection: TcpStream, state: &Mutex<State>) {
    let _ = connection.set_nodelay(true);
    let mut reader = BufReader::new(connection.try_clone().expect("a handle"));
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let slow = state.lock().expect("the lock").2.take();
        if let Some(slow) = slow {
            if send_slowly(&mut connection, &slow).is_err() {
                return;
            }
            continue;
        }
        let reply = {
            let mut state = state.lock().expect("the lock");
            state.0.pop_front().unwrap_or_else(|| state.1.clone())
        };
        if connection.write_all(&reply.0).is_err() {
            return;
        }
    }
}

fn send_slowly(connection: &mut TcpStream, slow: &Slow) -> std::io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.write_all(head.as_bytes())?;
    let chunk = |frame: &str| format!("{:x}\r\n{frame}\r\n", frame.len());
    for piece in 0..slow.count {
        // A paragraph every now and then, as in a real reply.
        let text = if piece % 40 == 39 {
            "\\n\\n"
        } else {
            "a piece of text "
        };
        let frame = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
        );
        // Told first: what is measured must not come before it.
        let _ = slow.written.send(Instant::now());
        connection.write_all(chunk(&frame).as_bytes())?;
        if (piece + 1) % slow.together == 0 {
            std::thread::sleep(slow.pause);
        }
    }
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    connection.write_all(chunk(end).as_bytes())?;
    connection.write_all(b"0\r\n\r\n")
}
