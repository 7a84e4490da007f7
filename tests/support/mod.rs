//! What every black-box test uses: a sealed place to run e in, and a provider that is scripted.

pub mod extension;
pub mod place;
pub mod program;
pub mod provider;
pub mod pty;
pub mod random;
pub mod raw;
pub mod replay;
pub mod rpc;
pub mod schema;
pub mod screen;
pub mod strict;
pub mod wait;

pub use extension::{Actor, Played};
pub use place::{Place, Run, Running};
pub use program::has;
pub use provider::{Cut, Provider, Step, answer, call, call_raw, fails, say};
pub use pty::Pty;
pub use random::Random;
pub use raw::Raw;
pub use replay::replay;
pub use rpc::Rpc;
pub use screen::{Screen, assert_golden};
pub use wait::{gone, pid_in, until};

/// The fields of a result, in order, behind those that say what it answers.
pub const RESULT: [&str; 12] = [
    "output",
    "final_output",
    "model",
    "effort",
    "aborted",
    "error",
    "error_details",
    "warnings",
    "usage",
    "cost_usd",
    "tools",
    "session",
];

/// The keys of an object, in order.
pub fn keys(value: &serde_json::Value) -> Vec<&str> {
    let fields = value.as_object().expect("an object");
    fields.keys().map(String::as_str).collect()
}
