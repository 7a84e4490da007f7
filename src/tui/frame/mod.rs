//! From rows to the bytes that a terminal gets: rows → cells → changes → bytes.
//!
//! `Screen` knows what is on the terminal and what follows from that; `Writer` hands bytes over
//! without ever making the loop wait; the rest are pure functions. The loop paints like this:
//!
//! 1. While `Writer::busy_since` is some, it only takes notes. `Writer::done` wakes it; after a
//!    failed write it calls `Screen::forget`.
//! 2. Idle and something changed: it reads `Terminal::size` and tells `Screen::resize`. While a
//!    window is being dragged it waits until the size stays, because a frame that meets another
//!    size is what breaks a screen.
//! 3. An inline frame while `Screen::is_lost`: it submits `terminal::ASK_CURSOR`, and
//!    paints after `cursor_is_at`, or `cursor_is_unknown` at a deadline.
//! 4. Otherwise it builds the frame from the newest state, and submits the bytes of `Screen::paint`
//!    and the modes that they need. Settled rows count as shown from here on.

mod cell;
mod diff;
mod encode;
mod inline;
mod screen;
mod surface;
#[cfg(test)]
mod tests;
mod writer;

pub use screen::{Caret, Frame, InlineFrame, Screen};
pub use surface::{Rect, Size, Surface};
pub use writer::Writer;
