//! Sums over logs that share replies, and over damaged ones.

use std::fs;
use std::sync::Arc;

use super::*;
use crate::chat::Message;
use crate::session::{Log, LogSpec, Purpose, Record};

fn spec(home: &Home, id: &str) -> LogSpec {
    LogSpec {
        home: home.clone(),
        workspace: "/w".into(),
        id: id.into(),
        created: 1,
        model: "p/m".into(),
    }
}

fn billed(id: &str, timestamp: u64, model: &str, input: Option<u64>) -> Envelope {
    Envelope {
        id: id.into(),
        timestamp,
        provider: "p".into(),
        model: model.into(),
        purpose: Purpose::Turn,
        usage: input.map(|input| Usage {
            input,
            output: 1,
            ..Usage::default()
        }),
    }
}

fn message(id: &str, parent: Option<&str>, response: Option<Envelope>) -> Record {
    Record::Message {
        id: id.into(),
        parent: parent.map(str::to_owned),
        timestamp: 1,
        response,
        message: Arc::new(Message::user(id)),
    }
}

fn rows(home: &Home, since_ms: u64) -> Vec<(String, u64, u64, u64)> {
    let report = usage(home, since_ms).unwrap();
    assert_eq!(report.warnings, [""; 0]);
    let row = |row: ModelUsage| (row.model, row.requests, row.usage.input, row.usage.output);
    report.models.into_iter().map(row).collect()
}

#[test]
fn every_reply_counts_once() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path());
    let mut log = Log::create(&spec(&home, "s1")).unwrap();
    for record in [
        message("a", None, None),
        message("b", Some("a"), Some(billed("r1", 10, "m", Some(5)))),
        Record::Response {
            response: billed("r2", 20, "m", None),
        },
        message("c", Some("b"), Some(billed("r3", 30, "n", Some(u64::MAX)))),
        Record::Compact {
            id: "k".into(),
            parent: Some("c".into()),
            timestamp: 1,
            summary: "s".into(),
            first_kept: Some("b".into()),
            response: Some(billed("r4", 40, "n", Some(7))),
        },
        message("d", Some("k"), Some(billed("r1", 10, "m", Some(5)))),
    ] {
        log.append(&record).unwrap();
    }
    Log::fork(log.path(), None, &spec(&home, "s2")).unwrap();
    let all = [("m".into(), 2, 5, 1), ("n".into(), 2, u64::MAX, 2)];
    assert_eq!(rows(&home, 0), all);
    assert_eq!(rows(&home, 20), [("m".into(), 1, 0, 0), all[1].clone()]);
    assert_eq!(rows(&home, 40), [("n".into(), 1, 7, 1)]);
    assert_eq!(rows(&home, 41), []);
    assert_eq!(usage(&Home::default(), 0).unwrap(), UsageReport::default());

    let path = log.path().to_owned();
    let text = fs::read_to_string(&path).unwrap();
    let foreign = r#"{ "response": {"id":"r9","timestamp":50,"provider":"p","model":"o","purpose":"turn"}, "type": "response" }"#;
    fs::write(&path, format!("{text}broken\n{foreign}\n{{\"type\":\"resp")).unwrap();
    let report = usage(&home, 41).unwrap();
    assert_eq!(report.models[0].model, "o");
    assert!(report.warnings[0].contains("cannot be used"), "{report:?}");
}
