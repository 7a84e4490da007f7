//! The terminal app: a person at a terminal.

pub mod style;
