//! Conversations on disk: one JSON-lines file each, appended to and never rewritten.
//!
//! A record is a node of a tree; the conversation is the path from the newest node to the root.
//! What a crash or an editor damaged costs the damaged records and what hangs on them, and is
//! said; it never costs the rest.

mod export;
mod failures;
mod head;
mod lines;
mod list;
mod load;
mod lock;
mod log;
mod own;
mod piece;
mod prompts;
mod record;
mod repair;
mod scan;
mod threads;
mod title;
mod tree;
mod usage;
mod wire;

pub use export::{export_html, write_page};
pub use failures::{PastFailure, failures};
pub use list::{Listed, list, newest};
pub use load::{Entry, Loaded, load, load_at};
pub use log::{Log, LogSpec};
pub use prompts::{PastPrompt, prompts};
pub use record::{Envelope, Header, Purpose, Record, message_to_json, summary_message};

pub use usage::{ModelUsage, UsageReport, usage};
