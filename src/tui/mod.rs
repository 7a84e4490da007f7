//! The terminal app: a person at a terminal.

pub mod composer;
pub mod diff;
pub mod figures;
pub mod frame;
pub mod highlight;
pub mod input;
pub mod key;
pub mod keymap;
pub mod markdown;
pub mod rich;
pub mod style;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod transcript;
pub mod view;
