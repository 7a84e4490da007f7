//! Standard output: one thread writes, so lines never interleave and nobody else waits.

use std::io::{self, Write};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::error::Result;
use crate::sys::poll;

const STDOUT: i32 = 1;

/// The writing end, as the loop holds it.
pub struct Writer {
    /// Takes whole lines, one hand-over at a time. Full means that the client is behind.
    pub sender: Sender<Vec<u8>>,
    /// Says once that nobody reads any more.
    pub gone: Receiver<()>,
    /// Closes when all that was handed over is written, or cannot be, after the sender is dropped.
    pub ended: Receiver<()>,
}

/// Starts the writer, and a watcher that notices a client that left while nothing is written.
pub fn start() -> Result<Writer> {
    let (sender, chunks) = bounded::<Vec<u8>>(1);
    // A message for each of the two that may find out, so that neither waits.
    let (tell, gone) = bounded(2);
    let (open, ended) = bounded(0);
    let told = tell.clone();
    std::thread::Builder::new()
        .name("e-stdout".into())
        .spawn(move || {
            let _open = open;
            let mut stdout = io::stdout().lock();
            for chunk in chunks {
                if stdout
                    .write_all(&chunk)
                    .and_then(|()| stdout.flush())
                    .is_err()
                {
                    let _ = told.try_send(());
                    return;
                }
            }
        })?;
    // Without this thread a client that left is still noticed, at the next write.
    let _ = std::thread::Builder::new()
        .name("e-hangup".into())
        .spawn(move || {
            if poll::wait_hangup(STDOUT) {
                let _ = tell.try_send(());
            }
        });
    Ok(Writer {
        sender,
        gone,
        ended,
    })
}
