//! Plain data that every layer shares: messages, tools, images, usage.
//!
//! Nothing here does I/O, knows a wire format or derives serde; each edge (provider dialect,
//! session log, JSON output) spells these types in its own words.

mod deltas;
mod image;
mod message;
mod tool;
mod usage;

pub use deltas::Deltas;
pub use image::Image;
pub use message::{Message, ToolCall, Voice};
pub use tool::{Display, Format, Keep, Outcome, Output, ToolResult, ToolSpec};
pub use usage::{Pricing, Usage};
