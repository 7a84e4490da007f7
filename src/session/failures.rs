//! The failures that a log's sidecar tells about, for a conversation that is looked at again. That a turn
//! was stopped is told there, too.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::Value;

use super::load::Entry;
use crate::sys::fs::open_regular;

/// The newest part of the sidecar that is read, in bytes.
const MAX_READ: u64 = 1 << 20;

/// Why a turn came to no good end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastFailure {
    /// What failed, or what stopped it.
    pub message: String,
    /// Whether it was stopped.
    pub is_stop: bool,
}

/// The failures of a conversation with this log, in order, each with the number of entries before it. The
/// sidecar is a convenience: what cannot be read of it is left out.
pub fn failures(log: &Path, entries: &[Entry]) -> Vec<(usize, PastFailure)> {
    let place = |(after, failure): (Option<String>, PastFailure)| match &after {
        None => Some((0, failure)),
        // It may belong to another branch.
        node => {
            let before = entries.iter().position(|entry| entry.id == *node)?;
            Some((before + 1, failure))
        }
    };
    let mut failures: Vec<_> = recorded(log).into_iter().filter_map(place).collect();
    failures.sort_by_key(|(before, _)| *before);
    failures
}

/// What is recorded, oldest first, each with the node that the conversation had come to; none is before
/// the first message.
fn recorded(log: &Path) -> Vec<(Option<String>, PastFailure)> {
    let path = log.with_extension("errors.jsonl");
    let Ok((file, metadata)) = open_regular(&path, OpenOptions::new().read(true)) else {
        return Vec::new();
    };
    let start = metadata.len().saturating_sub(MAX_READ);
    let mut bytes = vec![0; (metadata.len() - start) as usize];
    if file.read_exact_at(&mut bytes, start).is_err() {
        return Vec::new();
    }
    // A line that was cut at the start is no JSON.
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(failure).collect()
}

fn failure(line: &[u8]) -> Option<(Option<String>, PastFailure)> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let details = &line["details"];
    let failure = PastFailure {
        message: details["summary"].as_str()?.to_owned(),
        is_stop: details["cause"] == "interrupted",
    };
    Some((line["parent"].as_str().map(str::to_owned), failure))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chat::Message;

    #[test]
    fn what_is_damaged_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("1_a.jsonl");
        assert!(failures(&log, &[]).is_empty());
        let long = format!(
            r#"{{"parent":"old","details":{{"summary":"{}"}}}}"#,
            "x".repeat(2 << 20)
        );
        let lines = [
            &long,
            r#"{"format_version":1,"parent":"u1","details":{"summary":"refused","step":1}}"#,
            r#"{"parent":"u2","details":{}}"#,
            "torn {",
            "\u{fffd}",
            r#"{"parent":"u1","details":{"summary":"interrupted","cause":"interrupted"}}"#,
            r#"{"parent":null,"details":{"summary":"early"}}"#,
            r#"{"parent":"elsewhere","details":{"summary":"of another branch"}}"#,
            "",
        ];
        std::fs::write(log.with_extension("errors.jsonl"), lines.join("\n")).unwrap();
        let entries = [None, Some("u1".to_owned())].map(|id| Entry {
            id,
            message: Arc::new(Message::user("x")),
        });
        let told = failures(&log, &entries);
        let told: Vec<_> = told
            .iter()
            .map(|(before, one)| (*before, one.message.as_str(), one.is_stop))
            .collect();
        let expected = [
            (0, "early", false),
            (2, "refused", false),
            (2, "interrupted", true),
        ];
        assert_eq!(told, expected);
    }
}
