//! The thread that writes frames, so that a terminal which does not read never stops the loop.
//!
//! It takes one frame at a time. The loop builds the next one only when it is idle again, from the
//! newest state: no frame is built in vain, and none that was built is dropped.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::tui::terminal::{Modes, Terminal};

/// The handle of the writing thread. Dropping it ends the thread, also in the middle of a write.
#[derive(Debug)]
pub struct Writer {
    frames: Option<Sender<(Modes, Vec<u8>)>>,
    done: Receiver<io::Result<()>>,
    /// When the frame was submitted that is being written.
    since: Option<Instant>,
    terminal: Arc<Terminal>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub fn start(terminal: Arc<Terminal>) -> io::Result<Self> {
        let (frames, queue) = bounded::<(Modes, Vec<u8>)>(1);
        let (results, done) = bounded(1);
        let to = terminal.clone();
        let thread = thread::Builder::new()
            .name("painter".into())
            .spawn(move || {
                for (modes, bytes) in queue {
                    if results.send(to.write(modes, &bytes)).is_err() {
                        break;
                    }
                }
            })?;
        Ok(Self {
            frames: Some(frames),
            done,
            since: None,
            terminal,
            thread: Some(thread),
        })
    }

    /// Since when a frame is being written; none when the next one can be submitted.
    pub fn busy_since(&self) -> Option<Instant> {
        self.since
    }

    /// Hands over a frame and the modes that it needs. Only while idle.
    pub fn submit(&mut self, modes: Modes, bytes: Vec<u8>) {
        debug_assert!(self.since.is_none(), "a frame is being written");
        // The queue is empty while idle, and the thread ends only with this handle.
        let frames = self.frames.as_ref();
        if frames.is_some_and(|frames| frames.try_send((modes, bytes)).is_ok()) {
            self.since = Some(Instant::now());
        }
    }

    /// How each frame ended. A message is passed to `finished`.
    pub fn done(&self) -> &Receiver<io::Result<()>> {
        &self.done
    }

    /// The frame was written, or not: then the screen has to be forgotten.
    pub fn finished(&mut self) {
        self.since = None;
    }

    /// Waits for the frame that is being written. `false` when that takes longer.
    pub fn drain(&mut self, timeout: Duration) -> bool {
        if self.since.is_some() && self.done.recv_timeout(timeout).is_ok() {
            self.finished();
        }
        self.since.is_none()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.frames = None;
        if self.since.is_some() {
            self.terminal.stop_writing();
        }
        if let Some(thread) = self.thread.take() {
            // A panic there has nothing left to harm.
            let _ = thread.join();
        }
    }
}
