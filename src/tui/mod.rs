//! The terminal app: a person at a terminal.

pub mod frame;
pub mod style;
pub mod terminal;
pub mod theme;
