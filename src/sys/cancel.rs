//! Cancellation that a waiting thread notices at once.
//!
//! A token is a flag to look at between steps and a channel to put into a `select!`; cancelling
//! closes the channel, so a sleeper wakes without polling.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};

/// The end that cancels. Dropping it cancels as well: work without an owner has no use.
#[derive(Debug)]
pub struct Canceller {
    flag: Arc<AtomicBool>,
    _open: Sender<()>,
}

/// The end that a worker looks at and waits on.
#[derive(Clone, Debug)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    closed: Receiver<()>,
}

/// A connected pair.
pub fn cancel_pair() -> (Canceller, CancelToken) {
    let flag = Arc::new(AtomicBool::new(false));
    let (open, closed) = bounded(0);
    (
        Canceller {
            flag: flag.clone(),
            _open: open,
        },
        CancelToken { flag, closed },
    )
}

impl Canceller {
    /// Cancels all tokens of this pair.
    pub fn cancel(self) {}
}

impl Drop for Canceller {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Release);
    }
}

impl CancelToken {
    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Becomes ready (disconnected) when the work is cancelled. Nothing is ever sent on it.
    pub fn closed(&self) -> &Receiver<()> {
        &self.closed
    }
}
