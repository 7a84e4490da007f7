//! The terminal app on an emulator.

mod app;
mod painter;
mod terminal;
