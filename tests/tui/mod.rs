//! The terminal app on an emulator.

pub mod app;
mod painter;
mod redraws;
mod terminal;
