//! The seam against a real socket: interrupts, redirects, proxies, and servers that misbehave.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;

use super::testing::{Collect, Reply, Server, model, read_request, request, run};
use super::*;
use crate::sys::Env;

/// How soon a server must see an interrupt.
const AT_ONCE: Duration = Duration::from_millis(200);
const TEXT: &str = r#"{"choices":[{"delta":{"content":"ok"}}]}"#;
const DONE: &str = "[DONE]";

fn asked(url: &str) -> Request {
    request(model(Dialect::Completions, url))
}

/// Tells when text arrives.
struct Signal(crossbeam_channel::Sender<StreamEvent>);

impl Sink for Signal {
    fn push(&mut self, event: StreamEvent) {
        let _ = self.0.send(event);
    }

    fn flush(&mut self) -> bool {
        true
    }
}

#[test]
fn an_interrupt_closes_the_socket_at_once() {
    for (reply, events_before) in [(Reply::silence(), 0), (Reply::open_events(&[TEXT]), 2)] {
        let server = Server::start(vec![reply]);
        let request = asked(&server.url);
        let lane = Lane::new(&Context::new(&Env::default()), &request.model).unwrap();
        let (sender, events) = bounded(16);
        let worker = {
            let lane = lane.clone();
            thread::spawn(move || stream(&lane, &request, &mut Signal(sender)))
        };
        server.next();
        for _ in 0..events_before {
            events.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        let start = Instant::now();
        lane.shutdown();
        let closed = server.closed.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(closed.duration_since(start) < AT_ONCE);
        worker.join().unwrap();
        assert!(start.elapsed() < AT_ONCE);
        let last = events.iter().last().unwrap();
        assert!(
            matches!(&last, StreamEvent::Failed(failure) if failure.message.contains("interrupted")),
            "{last:?}"
        );
    }
}

#[test]
fn nothing_is_sent_after_a_shutdown() {
    let server = Server::start(vec![]);
    let request = asked(&server.url);
    let lane = Lane::new(&Context::new(&Env::default()), &request.model).unwrap();
    lane.shutdown();
    let mut sink = Collect::default();
    stream(&lane, &request, &mut sink);
    assert!(sink.failure().message.contains("interrupted"));
    assert!(server.seen.try_recv().is_err());
}

#[test]
fn the_requests_of_a_turn_share_a_connection() {
    let server = Server::start((0..3).map(|_| Reply::events(&[TEXT, DONE])).collect());
    let request = asked(&server.url);
    let lane = Lane::new(&Context::new(&Env::default()), &request.model).unwrap();
    for _ in 0..3 {
        let mut sink = Collect::default();
        stream(&lane, &request, &mut sink);
        assert_eq!(sink.text(), "ok");
        assert_eq!(server.next().connection, 0);
    }
}

/// A sink that stops listening after the first flush.
struct Gone(u32);

impl Sink for Gone {
    fn push(&mut self, _: StreamEvent) {}

    fn flush(&mut self) -> bool {
        self.0 += 1;
        self.0 < 2
    }
}

#[test]
fn a_stream_stops_when_nobody_listens() {
    let server = Server::start(vec![Reply::open_events(&[TEXT])]);
    let request = asked(&server.url);
    let lane = Lane::new(&Context::new(&Env::default()), &request.model).unwrap();
    stream(&lane, &request, &mut Gone(0));
    server.closed.recv_timeout(Duration::from_secs(10)).unwrap();
}

#[test]
fn redirects_are_refused_and_both_hosts_named() {
    let other = Server::start(vec![]);
    for (status, target) in [
        (
            "301 Moved Permanently",
            format!("{}/v1/chat/completions?key=sk-test-key", other.url),
        ),
        ("302 Found", format!("{}/", other.url)),
        (
            "307 Temporary Redirect",
            "https://elsewhere.test/v1".to_owned(),
        ),
        ("308 Permanent Redirect", "/other".to_owned()),
        ("302 Found", String::new()),
    ] {
        let server = Server::start(vec![Reply::plain(
            &format!("{status}\r\nlocation: {target}"),
            "",
        )]);
        let failure = run(&asked(&server.url)).failure().clone();
        assert_eq!(
            (failure.cause, failure.stage),
            (Cause::Rejected, Stage::ResponseHeaders)
        );
        let (_, host) = server.url.split_once("//").unwrap();
        assert!(failure.message.contains(host), "{}", failure.message);
        if target.contains("//") {
            let target_host = target.split('/').nth(2).unwrap();
            assert!(failure.message.contains(target_host), "{}", failure.message);
        }
        assert!(!failure.message.contains("sk-test-key"));
    }
    assert!(other.seen.try_recv().is_err(), "the other host was asked");
}

#[test]
fn broken_servers_are_named() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let failure = run(&asked(&closed)).failure().clone();
    assert_eq!(
        (failure.cause, failure.stage),
        (Cause::Network, Stage::Request)
    );
    assert!(
        failure.message.contains("connection refused"),
        "{}",
        failure.message
    );

    let failure = run(&asked("ftp://u:secret1@h/v1?k=secret2"))
        .failure()
        .clone();
    assert!(
        failure.message.contains("ftp://h/v1") && !format!("{failure:?}").contains("secret"),
        "{failure:?}"
    );

    let whole = format!("HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\ndata: {TEXT}\n\n");
    let cases: &[(&[u8], Cause, &str)] = &[
        (b"", Cause::Stalled, "without an answer"),
        (b"HTTP/1.1 200", Cause::Stalled, "without an answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", Cause::Network, "HTTP"),
        (
            b"HTTP/1.1 200 OK\r\n\r\n",
            Cause::Stalled,
            "before the reply was complete",
        ),
        (
            b"HTTP/1.1 200 OK\r\n\r\n: ping\n\n",
            Cause::Stalled,
            "before the reply was complete",
        ),
        (whole.as_bytes(), Cause::Stalled, "was lost"),
        (
            b"HTTP/1.1 200 OK\r\n\r\n{\"error\":{\"message\":\"no\",\"type\":\"server_error\"}}",
            Cause::Unavailable,
            "no",
        ),
        (
            b"HTTP/1.1 200 OK\r\n\r\n <html><title>Login</title>",
            Cause::Rejected,
            "Login",
        ),
        (
            b"HTTP/1.1 503 Down\r\n\r\n<html><h1>x</h1></html>",
            Cause::Unavailable,
            "an HTML page",
        ),
        (
            b"HTTP/1.1 400 Bad\r\ncontent-length: 999\r\n\r\n{\"error\":\"cut",
            Cause::Rejected,
            "{\"error\":\"cut",
        ),
    ];
    for (bytes, cause, text) in cases {
        let server = Server::start(vec![Reply::raw(bytes)]);
        let failure = run(&asked(&server.url)).failure().clone();
        assert!(
            failure.cause == *cause && failure.message.contains(text),
            "{} gives {failure:?}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn a_key_that_no_header_can_carry_is_not_shown() {
    let mut request = asked("http://127.0.0.1:9");
    request.key = Some(Secret("sk-bad\nkey-value".to_owned()));
    let failure = run(&request).failure().clone();
    assert_eq!(failure.cause, Cause::Auth);
    assert!(
        failure.message.contains("key") && !format!("{failure:?}").contains("sk-bad"),
        "{failure:?}"
    );
}

#[test]
fn a_certificate_that_cannot_be_read_is_named_with_its_variable() {
    let mut env = Env::default();
    env.set("SSL_CERT_FILE", "/missing.pem");
    let context = Context::new(&env);
    let failure =
        Lane::new(&context, &model(Dialect::Completions, "https://h.test/v1")).unwrap_err();
    assert!(failure.message.contains("SSL_CERT_FILE") && failure.message.contains("/missing.pem"));
    // Plain HTTP needs none.
    assert!(Lane::new(&context, &model(Dialect::Completions, "http://h.test/v1")).is_ok());
}

#[test]
fn a_server_without_tls_is_a_network_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let failure = run(&asked(&format!("https://{address}/v1")))
        .failure()
        .clone();
    assert_eq!(failure.cause, Cause::Network, "{failure:?}");
    assert!(failure.message.contains(&address.to_string()));
}

#[test]
fn requests_go_through_the_proxy_of_the_environment() {
    // A CONNECT proxy that takes every target to one server.
    let server = Server::start(vec![Reply::events(&[TEXT, DONE])]);
    let target = server.url.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = listener.local_addr().unwrap();
    let (asked_for, heads) = bounded(4);
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let (head, _) = read_request(&mut client).unwrap();
            let refused = head.contains("refused.test");
            asked_for.send(head).unwrap();
            if refused {
                client.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").unwrap();
                continue;
            }
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            let mut upstream = std::net::TcpStream::connect(&target).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to));
            thread::spawn(move || std::io::copy(&mut upstream, &mut client));
        }
    });
    let mut env = Env::default();
    env.set("http_proxy", format!("http://user:proxypass@{proxy}"));
    let context = Context::new(&env);
    let ask = |url: &str| {
        let request = asked(url);
        let lane = Lane::new(&context, &request.model).unwrap();
        let mut sink = Collect::default();
        stream(&lane, &request, &mut sink);
        lane.shutdown();
        sink
    };
    assert_eq!(ask("http://model.test/v1").text(), "ok");
    let head = heads.recv().unwrap();
    assert!(
        head.starts_with("connect model.test:80 ") && head.contains("proxy-authorization: basic "),
        "{head}"
    );
    assert!(!head.contains("sk-test-key"));
    let failure = ask("http://refused.test/v1").failure().clone();
    assert_eq!(failure.cause, Cause::Network);
    assert!(failure.message.contains("http_proxy"), "{failure:?}");
    assert!(!format!("{failure:?}").contains("proxypass"), "{failure:?}");
}

#[test]
fn a_dialect_of_later_is_refused_clearly() {
    for dialect in [Dialect::Responses, Dialect::Google] {
        let failure = run(&request(model(dialect, "http://h"))).failure().clone();
        assert!(
            failure.message.contains(dialect.name()),
            "{}",
            failure.message
        );
    }
}

#[test]
fn dialect_names() {
    for dialect in [
        Dialect::Completions,
        Dialect::Responses,
        Dialect::Anthropic,
        Dialect::Google,
    ] {
        assert_eq!(Dialect::from_name(dialect.name()), Some(dialect));
    }
    assert_eq!(
        Dialect::from_name("completions"),
        Some(Dialect::Completions)
    );
    assert_eq!(Dialect::from_name("anthropic"), Some(Dialect::Anthropic));
    assert_eq!(Dialect::from_name("offline"), None);
}
