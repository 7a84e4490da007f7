//! The terminal app: a person at a terminal.

pub mod key;
pub mod style;
