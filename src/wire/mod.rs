//! The JSON that `e -p --json` prints and that `e rpc` will print with tags: events and results.
//!
//! One place for both, so that the streams cannot drift apart. Keys and their order are part of
//! the contract; types inside e are free to change.

mod event;
mod result;

pub use event::write_event;
pub use result::{failed_result, write_result};
