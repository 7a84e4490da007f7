//! Session logs on disk, whatever happens to their writer.

mod killed;
mod logs;
mod page;
mod resumed;
mod trouble;

use std::path::Path;

use serde_json::Value;

/// The records of a log, each line of which must be whole.
#[track_caller]
fn records(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).expect("a log");
    assert!(text.ends_with('\n'), "{text:?}");
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(parse).collect()
}

/// What was said, one letter and text per message.
fn roles(records: &[Value]) -> Vec<String> {
    let messages = records.iter().filter(|record| record["type"] == "message");
    messages
        .map(|record| {
            record["message"]["role"]
                .as_str()
                .expect("a role")
                .to_string()
        })
        .collect()
}
