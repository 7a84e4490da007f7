//! The failures that a log's sidecar tells about, for a conversation that is looked at again.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::Value;

use crate::sys::fs::open_regular;

/// The newest part of the sidecar that is read, in bytes.
const MAX_READ: u64 = 1 << 20;

/// A request that failed for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastFailure {
    /// The node that the conversation had come to; none before the first message.
    pub after: Option<String>,
    /// What failed.
    pub message: String,
}

/// The failures of the session in this log, oldest first. The sidecar is a convenience: what cannot be
/// read of it is left out.
pub fn failures(log: &Path) -> Vec<PastFailure> {
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

fn failure(line: &[u8]) -> Option<PastFailure> {
    let line: Value = serde_json::from_slice(line).ok()?;
    Some(PastFailure {
        after: line["parent"].as_str().map(str::to_owned),
        message: line["details"]["summary"].as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("1_a.jsonl");
        assert!(failures(&log).is_empty());
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
            r#"{"parent":null,"details":{"summary":"early"}}"#,
            "",
        ];
        std::fs::write(log.with_extension("errors.jsonl"), lines.join("\n")).unwrap();
        let told = failures(&log).into_iter();
        let told: Vec<_> = told.map(|one| (one.after, one.message)).collect();
        let expected = [
            (Some("u1".into()), "refused".into()),
            (None, "early".into()),
        ];
        assert_eq!(told, expected);
    }
}
