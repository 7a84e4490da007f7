//! The terminal app: a person at a terminal.

pub mod diff;
pub mod figures;
pub mod highlight;
pub mod markdown;
pub mod rich;
pub mod style;
#[cfg(test)]
mod testing;
pub mod transcript;
pub mod view;
