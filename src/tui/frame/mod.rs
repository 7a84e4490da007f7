//! From rows to the bytes that a terminal gets: rows → cells → changes → bytes.
//!
//! `screen` knows what is on the terminal and what follows from that; the rest are pure
//! functions. `writer` hands the bytes over without ever making the loop wait.

pub mod cell;
pub mod diff;
pub mod encode;
mod inline;
pub mod screen;
pub mod surface;
pub mod writer;

pub use screen::{Caret, Frame, InlineFrame, Screen};
pub use surface::{Rect, Size, Surface};
pub use writer::Writer;
