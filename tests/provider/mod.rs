//! Models behind HTTP, as e meets them: what goes over the wire, and what becomes of every way in
//! which a server or the way to it can fail.

mod errors;
mod history;
mod network;
mod retry;
mod secrets;
mod stream;
mod wire;

use serde_json::{Value, json};

use crate::support::{Place, Run};

/// Both wire formats.
const DIALECTS: [&str; 2] = ["openai-completions", "anthropic-messages"];

/// A place in which no request is made twice.
fn once(api: &str) -> Place {
    let place = Place::speaking(api);
    place.settings(json!({"retry_max_attempts": 1}));
    place
}

/// The details of the failure that ended this run.
#[track_caller]
fn failure(run: &Run) -> Value {
    assert_eq!(run.status, 1, "{run:?}");
    let result = run.result();
    assert!(result["error"].is_string(), "{result}");
    assert_eq!(run.events("error_details").len(), 1, "{run:?}");
    result["error_details"].clone()
}
