//! A server without manners: it accepts, and the test does the talking.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::place::PATIENCE;

/// Accepts every connection on a loopback port.
pub struct Raw {
    /// `127.0.0.1:port`.
    pub address: String,
    incoming: Receiver<TcpStream>,
}

impl Raw {
    /// Starts on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (sender, incoming) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if sender.send(stream).is_err() {
                    return;
                }
            }
        });
        Self { address, incoming }
    }

    /// Waits for the next connection.
    #[track_caller]
    pub fn accept(&self) -> TcpStream {
        let stream = self.incoming.recv_timeout(PATIENCE);
        let stream = stream.expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Whether somebody connected that nobody accepted.
    pub fn was_called(&self) -> bool {
        self.incoming.try_recv().is_ok()
    }
}

/// Reads a request's head, and its body too when there is one.
pub fn read_head(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        assert!(reader.read_line(&mut head).expect("a line") > 0, "{head:?}");
        let line = head[start..].to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    reader.read_exact(&mut vec![0; length]).expect("a body");
    head
}

/// Waits until the other side closes, and tells how long that took.
pub fn wait_close(mut stream: &TcpStream) -> Duration {
    let start = Instant::now();
    let mut buffer = [0; 1024];
    // A reset is a close as well; only silence is none.
    while let Ok(1..) = stream.read(&mut buffer) {}
    let elapsed = start.elapsed();
    assert!(elapsed < PATIENCE, "it stays open");
    elapsed
}

/// Passes bytes both ways until one side ends.
pub fn tunnel(client: TcpStream, server: TcpStream) {
    let mut ways = [
        (
            client.try_clone().expect("a handle"),
            server.try_clone().expect("a handle"),
        ),
        (server, client),
    ];
    let copy = |(from, to): &mut (TcpStream, TcpStream)| {
        let _ = std::io::copy(from, to);
        let _ = to.flush();
        let _ = to.shutdown(std::net::Shutdown::Write);
    };
    let [one, two] = &mut ways;
    std::thread::scope(|scope| {
        scope.spawn(|| copy(one));
        copy(two);
    });
}
