//! The terminal app: a person at a terminal.

pub mod composer;
pub mod frame;
pub mod input;
pub mod key;
pub mod keymap;
pub mod style;
pub mod terminal;
pub mod theme;
