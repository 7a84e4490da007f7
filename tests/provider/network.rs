//! The way to a server: names, connections, silence, redirects, proxies, certificates.

use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::json;

use super::{DIALECTS, failure, once};
use crate::support::raw::{read_head, tunnel, wait_close};
use crate::support::{Place, Raw, Running, fails, say};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// A place whose model lives at that address.
fn at(api: &str, base_url: &str) -> Place {
    let place = once(api);
    place.server(api, json!({"base_url": base_url}));
    place
}

#[test]
fn a_refused_connection_is_a_network_failure_and_tried_again() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let place = at(DIALECTS[0], &format!("http://{address}/v1"));
    place.settings(json!({"retry_max_attempts": 2}));
    let run = place.json(&["hi"]).run();
    let details = failure(&run);
    assert_eq!(details["cause"], "network");
    assert_eq!(details["stage"], "request");
    assert_eq!(run.events("retry")[0]["cause"], "Network interrupted");
    assert!(run.stderr.contains(&address), "{run:?}");
    assert!(run.stderr.contains("connection refused"), "{run:?}");
}

#[test]
fn a_name_that_does_not_exist_is_said() {
    let place = at(DIALECTS[1], "http://name.invalid");
    let run = place.json(&["hi"]).run();
    assert_eq!(failure(&run)["cause"], "network");
    assert!(run.stderr.contains("`name.invalid`"), "{run:?}");
}

#[test]
fn a_base_url_that_is_none_is_said() {
    for url in [
        "ftp://h/v1",
        "localhost:8080",
        "http://",
        "no url at all",
        "",
    ] {
        let place = at(DIALECTS[0], url);
        let run = place.p(&["hi"]).run();
        assert!(matches!(run.status, 1 | 2), "{run:?}");
        assert!(run.stderr.contains("base_url"), "{url}: {run:?}");
    }
}

#[test]
fn silence_ends_in_a_failure_whatever_keeps_the_line_warm() {
    // The shortest limit is ten seconds, so all cases wait side by side.
    type Case = (&'static str, Option<&'static [u8]>, &'static [u8]);
    let cases: [Case; 5] = [
        (DIALECTS[0], None, b""),
        (DIALECTS[0], Some(HEAD), b""),
        (DIALECTS[0], Some(HEAD), b": ping\n\n"),
        (
            DIALECTS[1],
            Some(HEAD),
            b"event: ping\ndata: {\"type\": \"ping\"}\n\n",
        ),
        (DIALECTS[1], Some(b"HTTP/1.1 100 Continue\r\n\r\n"), b""),
    ];
    std::thread::scope(|scope| {
        for (api, head, ping) in cases {
            scope.spawn(move || {
                let server = Raw::start();
                let place = at(api, &format!("http://{}", server.address));
                place.settings(json!({"retry_max_attempts": 1, "stall_seconds": 10}));
                let run = place.json(&["hi"]).start();
                let mut stream = server.accept();
                read_head(&stream);
                stream.write_all(head.unwrap_or_default()).unwrap();
                let pinger = stream.try_clone().unwrap();
                let (stop, stopped) = std::sync::mpsc::channel::<()>();
                let pings = scope.spawn(move || {
                    let mut pinger = pinger;
                    let beat = Duration::from_millis(300);
                    while stopped.recv_timeout(beat) == Err(RecvTimeoutError::Timeout)
                        && pinger.write_all(ping).is_ok()
                    {}
                });
                let run = run.finish();
                drop(stop);
                pings.join().unwrap();
                let details = failure(&run);
                assert_eq!(details["cause"], "stalled", "{details}");
                assert!(run.stderr.contains("10 s"), "{run:?}");
                assert!(run.elapsed >= Duration::from_secs(10), "{:?}", run.elapsed);
                assert!(run.elapsed < Duration::from_secs(14), "{:?}", run.elapsed);
            });
        }
    });
}

#[test]
fn max_seconds_ends_a_wait_for_a_silent_server() {
    let server = Raw::start();
    let place = at(DIALECTS[0], &format!("http://{}", server.address));
    let run = place.json(&["--max-seconds", "1", "hi"]).start();
    let stream = server.accept();
    read_head(&stream);
    let run = run.finish().ends_with(1);
    assert!(run.elapsed < Duration::from_secs(4), "{:?}", run.elapsed);
    assert_eq!(run.result()["aborted"], true);
    assert!(
        run.stderr.contains("max-seconds") || run.stderr.contains("1 s"),
        "{run:?}"
    );
    wait_close(&stream);
}

#[test]
fn an_interrupt_closes_the_socket_at_once_in_every_phase() {
    let delta = br#"data: {"choices": [{"index": 0, "delta": {"content": "half"}}]}"#;
    let call = br#"data: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "read", "arguments": "{\"pa"}}]}}]}"#;
    let text = [HEAD, delta, b"\n\n"].concat();
    let in_call = [HEAD, delta, b"\n\n", call, b"\n\n"].concat();
    let in_error = b"HTTP/1.1 500 No\r\ncontent-length: 1000\r\n\r\nhalf of it".to_vec();
    let phases: [(&str, Vec<u8>, Option<&str>); 5] = [
        ("before the head", Vec::new(), None),
        ("after the head", HEAD.to_vec(), None),
        ("in the text", text, Some("half")),
        ("in a call", in_call, Some("half")),
        ("in the body of an error", in_error, None),
    ];
    for (phase, sent, shown) in phases {
        // The machine may be busy; one of three must be quick.
        let quickest = (0..3).map(|_| {
            let server = Raw::start();
            let place = at(DIALECTS[0], &format!("http://{}", server.address));
            let run = place.json(&["hi"]).start();
            let mut stream = server.accept();
            read_head(&stream);
            stream.write_all(&sent).unwrap();
            if let Some(shown) = shown {
                run.stdout.wait_for(shown);
            }
            let took = interrupt(&run, &stream);
            let run = run.finish().ends_with(1);
            assert_eq!(run.result()["aborted"], true, "{phase}");
            took
        });
        let quickest = quickest.min().unwrap();
        assert!(
            quickest < Duration::from_millis(200),
            "{phase}: {quickest:?}"
        );
    }
}

fn interrupt(run: &Running, stream: &TcpStream) -> Duration {
    run.signal("INT");
    wait_close(stream)
}

#[test]
fn redirects_are_refused_and_the_key_stays() {
    for api in DIALECTS {
        for status in [301, 302, 303, 307, 308] {
            let other = Raw::start();
            let place = once(api);
            let target = format!("http://{}/elsewhere?token=abcdef", other.address);
            place
                .provider
                .script([fails(status).header("location", &target)]);
            let run = place.json(&["hi"]).run();
            let details = failure(&run);
            assert_eq!(details["retry_decision"], "not_retryable");
            let here = place.provider.url().trim_start_matches("http://");
            assert!(run.stderr.contains(here), "{run:?}");
            assert!(run.stderr.contains(&other.address), "{run:?}");
            assert!(!run.stderr.contains("abcdef"), "{run:?}");
            assert!(!other.was_called(), "{api} {status}");
            assert_eq!(place.provider.received().len(), 1);
        }
    }
    for target in [
        "/v2/other",
        "//evil.invalid/x",
        "https://evil.invalid/x",
        "file:///etc/passwd",
        "http://[bad",
    ] {
        let place = once(DIALECTS[0]);
        place
            .provider
            .script([fails(307).header("location", target)]);
        let run = place.p(&["hi"]).run().ends_with(1);
        assert!(run.stderr.contains("redirects to"), "{target}: {run:?}");
    }
}

/// Plays a proxy for one connection: answers CONNECT, then passes bytes to `server`.
fn proxy(through: &Raw, server: &str) -> String {
    let mut client = through.accept();
    let head = read_head(&client);
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let server = TcpStream::connect(server.trim_start_matches("http://")).unwrap();
    tunnel(client, server);
    head
}

#[test]
fn requests_go_through_the_proxy_in_either_spelling_without_showing_it_the_key() {
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        let through = Raw::start();
        let place = once(DIALECTS[0]);
        let value = format!("http://user:pass%40word@{}", through.address);
        let run = place
            .p(&["hi"])
            .env("NO_PROXY", "")
            .env(name, value)
            .start();
        let head = proxy(&through, place.provider.url());
        let run = run.finish().ends_with(0);
        assert_eq!(run.stdout, "ok\n");
        let here = place.provider.url().trim_start_matches("http://");
        assert!(
            head.starts_with(&format!("CONNECT {here} HTTP/1.1")),
            "{head}"
        );
        assert!(
            head.to_lowercase().contains("proxy-authorization: basic"),
            "{head}"
        );
        assert!(!head.contains("secret-key-of-mock"), "{head}");
    }
}

#[test]
fn exempt_hosts_are_reached_directly() {
    for (name, value) in [
        ("NO_PROXY", "*"),
        ("no_proxy", "example.org, 127.0.0.1"),
        ("NO_PROXY", "127.0.0.1"),
    ] {
        let through = Raw::start();
        let place = once(DIALECTS[0]);
        let run = place.p(&["hi"]).without("NO_PROXY").env(name, value);
        let run = run
            .env("HTTP_PROXY", format!("http://{}", through.address))
            .run();
        assert_eq!(run.ends_with(0).stdout, "ok\n");
        assert!(!through.was_called(), "{value}");
    }
}

#[test]
fn a_proxy_that_fails_is_named_by_its_variable() {
    let dead = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for value in [
        dead.as_str(),
        "http://name.invalid:3128",
        "nonsense://x",
        "http://",
    ] {
        let place = once(DIALECTS[0]);
        let run = place
            .p(&["hi"])
            .env("NO_PROXY", "")
            .env("HTTP_PROXY", value)
            .run();
        let run = run.ends_with(1);
        assert!(run.stderr.contains("HTTP_PROXY"), "{value}: {run:?}");
    }
    let through = Raw::start();
    let place = once(DIALECTS[0]);
    let value = format!("http://user:geheim12@{}", through.address);
    let run = place
        .p(&["hi"])
        .env("NO_PROXY", "")
        .env("http_proxy", value)
        .start();
    let mut client = through.accept();
    read_head(&client);
    client
        .write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        .unwrap();
    let run = run.finish().ends_with(1);
    for part in ["http_proxy", "403", "CONNECT", "NO_PROXY"] {
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
    assert!(!run.stderr.contains("geheim12"), "{run:?}");
}

#[test]
fn certificate_variables_that_lead_nowhere_are_named() {
    let place = at(DIALECTS[0], "https://127.0.0.1:1/v1");
    let empty = place.write("empty.pem", "no certificate");
    for (name, value) in [
        ("SSL_CERT_FILE", "/nonexistent/ca.pem"),
        ("SSL_CERT_FILE", empty.to_str().unwrap()),
        ("SSL_CERT_FILE", "/"),
        ("SSL_CERT_DIR", "/nonexistent"),
    ] {
        let run = place.p(&["hi"]).env(name, value).run().ends_with(1);
        assert!(
            run.stderr.contains(name) && run.stderr.contains(value),
            "{run:?}"
        );
    }
}

#[test]
fn a_server_without_tls_is_told_from_one_with() {
    let server = Raw::start();
    let place = at(DIALECTS[0], &format!("https://{}/v1", server.address));
    let run = place.json(&["hi"]).start();
    server
        .accept()
        .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        .unwrap();
    let run = run.finish();
    assert_eq!(failure(&run)["cause"], "network");
    assert!(run.stderr.contains(&server.address), "{run:?}");
}

#[test]
fn an_answer_that_is_no_http_is_said() {
    let server = Raw::start();
    let place = at(DIALECTS[0], &format!("http://{}/v1", server.address));
    let run = place.p(&["hi"]).start();
    let mut stream = server.accept();
    read_head(&stream);
    stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n\r\n").unwrap();
    drop(stream);
    let run = run.finish().ends_with(1);
    assert!(run.stderr.contains("HTTP"), "{run:?}");
}

#[test]
fn one_turn_uses_one_connection() {
    let place = once(DIALECTS[0]);
    place.write("a", "one\n");
    let look = || crate::support::call("read", json!({"path": "a"}));
    place.provider.script([look(), look(), say("done")]);
    place.p(&["hi"]).run().ends_with(0);
    assert_eq!(place.provider.connections(), 1);
}
