//! Extensions: programs beside e that add tools, commands, hooks and things to look at.
//!
//! What they declare and what they send is data from a stranger. It is checked, cleaned and cut
//! to a bound where it comes in, so that nothing behind this folder meets a wrong type, a control
//! character or a text without an end.

pub mod answer;
pub mod discover;
mod fields;
pub mod flags;
pub mod manifest;
pub mod registry;
pub mod request;
pub mod ui;
