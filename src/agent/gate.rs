//! A gate that a provider stream passes before it hands on what it read.
//!
//! The loop closes it while the frontend is behind, so the stream stops reading and the provider
//! is slowed by its own connection. Abandoning it frees the stream for good.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::sys::lock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Closed,
    Abandoned,
}

/// Shared between the loop and one stream.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    /// An open gate, or a closed one.
    pub fn new(open: bool) -> Self {
        let state = if open { State::Open } else { State::Closed };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Lets the stream pass or makes it wait.
    pub fn set_open(&self, open: bool) {
        self.change(if open { State::Open } else { State::Closed });
    }

    /// Tells the stream that nobody listens any more.
    pub fn abandon(&self) {
        self.change(State::Abandoned);
    }

    /// Waits until the gate is open. `false` means abandoned.
    pub fn pass(&self) -> bool {
        let waits = |state: &mut State| *state == State::Closed;
        let wait = self.changed.wait_while(lock(&self.state), waits);
        *wait.unwrap_or_else(PoisonError::into_inner) == State::Open
    }

    fn change(&self, to: State) {
        let mut state = lock(&self.state);
        if *state != State::Abandoned {
            *state = to;
        }
        drop(state);
        self.changed.notify_all();
    }
}
