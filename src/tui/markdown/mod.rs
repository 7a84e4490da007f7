//! Markdown as rows.
//!
//! `writer` turns a whole text into rows. `stream` takes a reply apart while it arrives, into chunks
//! that will not change any more and a short tail, so that a long reply costs no more than its
//! new part. Text comes in clean; what entities in it decode to is cleaned again here.

mod code;
mod link;
mod shallow;
mod stream;
mod table;
mod writer;

pub use link::Definitions;
pub use stream::{Chunk, Streamed};
pub use writer::render;

use pulldown_cmark::Options;

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

#[cfg(test)]
mod tests;
