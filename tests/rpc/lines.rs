//! Lines of every kind, good and bad: the server names what is wrong and goes on.

use serde_json::{Value, json};

use crate::support::{Place, Rpc};

const LIMIT: usize = 10 << 20;

#[test]
fn ids_come_back_as_they_were_written() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let ids = [
        "\"s\"",
        "\"\"",
        "0",
        "-7",
        "9007199254740993",
        "1.50",
        "true",
        "null",
        "[1,[2,{\"a\":null}]]",
        "{\"k\":{}}",
        "\"\\u2028 \\ud83e\\udd80\"",
        "1e400",
    ];
    for id in ids {
        rpc.send_raw(format!("{{\"id\":{id},\"method\":\"hello\"}}\n"));
    }
    rpc.close();
    let stdout = rpc.process.finish().ends_with(0).stdout;
    let heads: Vec<String> = ids
        .iter()
        .map(|id| format!("{{\"id\":{id},\"result\":"))
        .collect();
    assert_eq!(stdout.lines().count(), ids.len());
    for (line, head) in stdout.lines().zip(&heads) {
        assert!(line.starts_with(head), "{line}");
    }
}

#[test]
fn bad_lines_get_one_error_each() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let deep = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let bad: [&[u8]; 8] = [
        b"{\"id\":1,\"method\":\n",
        b"hello\n",
        b"[1]\n",
        b"7\n",
        b"\"x\"\n",
        b"{\"id\":\0}\n",
        b"\xff\xfe{}\n",
        deep.as_bytes(),
    ];
    for line in bad {
        rpc.send_raw(line);
    }
    rpc.send_raw("\n   \n\r\n{\"id\":\"ok\",\"method\":\"hello\"}\r\n");
    rpc.response(&json!("ok"));
    assert_eq!(rpc.responses(&Value::Null), bad.len());
    for line in &rpc.lines()[..bad.len()] {
        let error = line["error"].as_str().unwrap();
        assert!(error.starts_with("invalid request"), "{error}");
    }
    rpc.close();
    rpc.finish().1.ends_with(0);
}

#[test]
fn a_mark_at_the_start_and_a_missing_end_are_fine() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    rpc.send_raw("\u{feff}{\"id\":1,\"method\":\"hello\"}\n{\"id\":2,\"method\":\"hello\"}");
    rpc.close();
    let (lines, run) = rpc.finish();
    run.ends_with(0);
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.get("result").is_some()));
}

#[test]
fn a_gigabyte_without_an_end_is_refused_early_and_costs_little() {
    let place = Place::new();
    // What it may hold at all: allocating more would end it with another status.
    let e = place.e().args(["rpc", "--model", "mock/test"]);
    let mut rpc = Rpc::of(e.after("ulimit -d 131072"));
    rpc.call("hello", json!({}));
    let piece = vec![b'x'; 1 << 20];
    let mut taken = 0;
    // The other end of a server that has ended takes nothing.
    while taken < 1 << 30 && rpc.takes(&piece) {
        taken += piece.len();
    }
    assert!(taken < 4 * LIMIT, "{taken} bytes were taken");
    let (lines, run) = rpc.finish();
    run.ends_with(1);
    assert_eq!(lines.len(), 2, "{lines:?}");
    let error = lines[1]["error"].as_str().unwrap();
    assert!(
        lines[1]["id"].is_null() && error.contains("10 MiB"),
        "{error}"
    );
}

#[test]
fn ten_mebibytes_are_a_line_and_more_are_the_end() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let (head, tail) = ("{\"id\":\"big\",\"method\":\"hello\",\"pad\":\"", "\"}");
    let pad = "a".repeat(LIMIT - head.len() - tail.len());
    rpc.send_raw(format!("{head}{pad}{tail}\n"));
    rpc.result(&json!("big"));
    let (step, _gate) = crate::support::say("A").gate();
    place.provider.script([step]);
    let prompt = rpc.begin(&session, "x");
    rpc.event("text");
    rpc.send_raw(format!(
        "{head}{pad}a{tail}\n{{\"id\":\"late\",\"method\":\"hello\"}}\n"
    ));
    let (lines, run) = rpc.finish();
    run.ends_with(1);
    let count = |id: &Value| {
        let response = |line: &&Value| line.get("type").is_none() && line["id"] == *id;
        lines.iter().filter(response).count()
    };
    assert_eq!(count(&json!("big")), 1);
    assert_eq!(count(&json!(null)), 1);
    assert_eq!(count(&prompt), 1);
}
