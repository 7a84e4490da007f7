//! Text as such: cleaning, cutting, measuring, comparing, and writing it as JSON.
//!
//! Pure functions without I/O. Nothing here knows a tool, a provider or a terminal.

mod sanitize;
mod width;

pub use sanitize::{one_line, sanitize};
pub use width::{clip_columns, width};
