//! The core: sessions, their turns, and the loop that owns them.
//!
//! A frontend starts a [`Core`], sends [`Input`] and reads [`Output`]; it never touches state.
//! Inside, `session`, `turn`, `stream` and `batch` are state machines that take an event and
//! return actions; `runtime` is the loop, `exec` carries actions out on threads.

mod action;
mod batch;
mod compact;
mod control;
mod conversation;
mod details;
mod event;
mod exec;
mod extensions;
mod gate;
mod hooks;
mod instructions;
mod open;
mod outbox;
mod prompt;
mod report;
mod runtime;
mod session;
mod sessions;
mod shell;
mod stream;
mod summarise;
mod timers;
mod toolset;
mod turn;

#[cfg(test)]
mod tests;

pub use crate::tools::Running;
pub use details::{Details, cause_label, cause_name};
pub use event::{
    Answer, BatchCall, Input, Limits, Origin, Output, Prompt, Reason, RequestId, SessionInfo,
    SessionKey, Source, TurnEvent, TurnResult, Want,
};
pub use extensions::label as extension_label;
pub use open::{Choice, Past, Process, Selection, SessionSpec, read_image_files, read_images};
pub use report::retry_line;
pub use shell::shell_parts;
pub use toolset::Toolset;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::error::Result;
use crate::extension::Host;
use crate::sys::signal::Signal;

/// Requests that may wait for the loop.
const INPUTS: usize = 64;
/// Worker events that may wait for the loop.
const EVENTS: usize = 128;
/// Hand-overs that may wait for the frontend.
const OUTPUTS: usize = 4;

/// A running core, as a frontend holds it.
///
/// `output` closes when the core has shut down: after [`Input::Shutdown`], after a signal, or
/// when `input` is dropped. A frontend reads it until then.
pub struct Core {
    /// Requests go here.
    pub input: Sender<Input>,
    /// Events and answers come from here, several at a time, in order.
    pub output: Receiver<Vec<Output>>,
}

impl Core {
    /// Starts the loop. Signals that `signals` delivers are acted on: the first SIGINT stops the
    /// turns, a second ends the process; SIGTERM and SIGHUP stop everything.
    pub fn start(signals: Receiver<Signal>, extensions: Host) -> Result<Self> {
        let (input, requests) = bounded(INPUTS);
        let (out, output) = bounded(OUTPUTS);
        let runtime = runtime::Runtime::new(requests, signals, bounded(EVENTS), out, extensions);
        std::thread::Builder::new()
            .name("e-core".into())
            .spawn(move || runtime.run())?;
        Ok(Self { input, output })
    }
}
