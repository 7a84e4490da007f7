//! Extensions: programs beside e that add tools, commands, hooks and things to look at.
//!
//! What they declare and what they send is data from a stranger. It is checked, cleaned and cut
//! to a bound where it comes in, so that nothing behind this folder meets a wrong type, a control
//! character or a text without an end. [`Host`] is all of them as one value; the threads of a
//! child are in `process`, its lines in `wire`.

pub mod answer;
mod bounded;
mod child;
pub mod discover;
mod fields;
pub mod flags;
mod hooks;
mod host;
pub mod manifest;
mod process;
mod registry;
pub mod request;
mod startup;
pub mod ui;
pub mod wire;

use std::fmt;
use std::sync::Arc;

pub use child::State;
pub use hooks::{Entry, Hook, TurnMessage, Verdict};
#[cfg(test)]
pub(crate) use host::host_of;
pub use host::{Asked, Ended, Failure, Host, HostEvent, Launch, Serves};
pub use manifest::{EventName, HookKind};
pub use process::{Direction, FromChild};
pub use registry::{Bound, ExtensionId, Owned, Registry, Reserved};
pub use startup::StartupAnswer;

/// The protocol that e speaks.
pub const PROTOCOL: u32 = 1;

/// What e speaks beyond version 1.
pub const CAPABILITIES: [&str; 10] = [
    "tool.update",
    "events",
    "hooks",
    "display",
    "ui",
    "session",
    "shortcuts",
    "pane",
    "widget",
    "render",
];

/// Names something that the host was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Names a request of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(u64);

#[cfg(test)]
impl AskId {
    /// One that no host gave out.
    pub fn for_test(number: u64) -> Self {
        Self(number)
    }
}

/// Sees every line between e and its extensions, on the threads that move them.
#[derive(Clone)]
pub struct Tap(pub Arc<Sees>);

/// What a [`Tap`] does with a line that is given without its end.
pub type Sees = dyn Fn(ExtensionId, Direction, &[u8]) + Send + Sync;

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
