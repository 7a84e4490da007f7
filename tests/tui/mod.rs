//! The terminal app on an emulator.

pub mod app;
mod extensions;
mod painter;
mod redraws;
mod terminal;
