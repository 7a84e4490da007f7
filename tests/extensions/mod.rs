//! Extensions: the examples, and what e does with them.

mod bridge;
mod examples;
mod guide;
mod installed;
