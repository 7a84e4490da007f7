//! The JSON that `e -p --json` and `e rpc` print: events, results and listings.
//!
//! One place for both, so that the streams cannot drift apart. Keys and their order are part of
//! the contract; types inside e are free to change.

mod event;
mod models;
mod result;

pub use event::{Tag, write_event};
pub use models::{default_model, models};
pub use result::{Place, failed_result, result_object, write_result};
