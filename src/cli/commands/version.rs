//! `e --version`.

use serde_json::json;

use crate::config::build::{COMMIT, VERSION, target};

/// The version line, or a JSON object with commit and target.
pub fn version(json: bool) -> String {
    match json {
        true => format!(
            "{}\n",
            json!({"version": VERSION, "commit": COMMIT, "target": target()})
        ),
        false => format!("e {VERSION}\n"),
    }
}
