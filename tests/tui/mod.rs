//! The terminal app on an emulator.

mod painter;
mod terminal;
