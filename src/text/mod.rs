//! Text as such: cleaning, cutting, wrapping, measuring, comparing, finding, and writing it as JSON.
//!
//! Pure functions without I/O. Nothing here knows a tool, a provider or a terminal.

mod clip;
mod diff;
mod fuzzy;
pub mod json;
mod sanitize;
#[cfg(test)]
pub mod testing;
mod width;
mod wrap;

pub use clip::{clip_bytes, clip_chars, clip_start, floor_char};
pub use diff::diff_rows;
pub use fuzzy::{Filter, Match, Query};
pub use sanitize::{is_unsafe, one_line, sanitize};
pub use width::{clip_columns, width};
pub use wrap::{expand_tabs, wrap, wrap_hard, wrap_prose};
