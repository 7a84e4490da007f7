//! Extensions: the examples, and what e does with programs that add to it.

mod asks;
mod bridge;
mod commands;
mod discovery;
mod ends;
mod events;
pub mod examples;
mod flags;
mod guide;
mod hooks;
mod hostile;
mod installed;
pub mod kit;
mod session;
mod startup;
mod tools;

use serde_json::{Value, json};

use crate::support::{Actor, Place, Played};

/// How much longer things may take than what is promised: machines that run tests are busy.
const SLOW: u128 = 5;

/// An extension that has this hook.
fn hooked(place: &Place, file: &str, hook: &str) -> Actor {
    Actor::new(place, file, json!({"name": file, "hooks": [hook]}))
}

/// The same, with its one answer.
fn answering(place: &Place, file: &str, hook: &str, answer: Value) -> Played {
    hooked(place, file, hook)
        .says(&format!("hook.{hook}"), answer)
        .play()
}

/// An extension with one tool, which may be called with anything.
fn tooled(place: &Place, file: &str, tool: &str) -> Actor {
    Actor::new(
        place,
        file,
        json!({"name": file, "tools": [{"name": tool}]}),
    )
}

/// The content of the one message in `value` that a tool result has.
fn content(value: &Value) -> &str {
    value["content"].as_str().expect("a content")
}
