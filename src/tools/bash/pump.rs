//! The thread that reads what a command writes.
//!
//! One thread for both streams, so that their order is kept as well as it can be observed. It
//! ends when the pipes do or when it is told to, whoever may hold the other ends.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use crate::chat::Output;
use crate::sys::poll;

/// Most bytes of one read: what a pipe usually holds.
const CHUNK: usize = 64 * 1024;

/// A running reader. Dropping it makes the thread take what is in the pipes at that moment, and
/// nothing that comes later, and end.
#[derive(Debug)]
pub struct Pump {
    stop: UnixStream,
    thread: JoinHandle<()>,
}

impl Pump {
    /// Starts to hand what arrives to `sink`, until that returns `false`. The sink may block;
    /// the command then waits too.
    pub fn start(
        stdout: File,
        stderr: File,
        mut sink: impl FnMut(Output, &[u8]) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = UnixStream::pair()?;
        let thread = thread::Builder::new()
            .name("command output".into())
            .spawn(move || {
                // An error means that nothing can be read any more, which is the end as well.
                let _ = run([stdout, stderr], &stopped, &mut sink);
            })?;
        Ok(Self { stop, thread })
    }

    /// Takes what is in the pipes, and returns when the sink has got it. Only for a sink that
    /// does not block.
    pub fn finish(self) {
        drop(self.stop);
        // A panic of the sink was reported by the thread itself.
        let _ = self.thread.join();
    }
}

fn run(
    pipes: [File; 2],
    stopped: &UnixStream,
    sink: &mut impl FnMut(Output, &[u8]) -> bool,
) -> io::Result<()> {
    let mut pipes = pipes.map(Some);
    let mut buffer = vec![0; CHUNK];
    while pipes.iter().any(Option::is_some) {
        let [stdout, stderr] = &pipes;
        let fds = [stdout.as_ref(), stderr.as_ref()].map(|pipe| pipe.map(File::as_fd));
        let [stdout, stderr, stop] = poll::wait_any([fds[0], fds[1], Some(stopped.as_fd())])?;
        let streams = [(Output::Stdout, stdout), (Output::Stderr, stderr)];
        for (slot, (stream, ready)) in pipes.iter_mut().zip(streams) {
            let Some(pipe) = slot else { continue };
            // A ready pipe gives what it has without blocking: nobody else reads from it.
            let mut wanted = match stop {
                true => poll::pending(pipe.as_fd())?,
                false if ready => 1,
                false => 0,
            };
            while wanted > 0 {
                let count = pipe.read(&mut buffer)?;
                if count == 0 {
                    *slot = None;
                    break;
                }
                if !sink(stream, &buffer[..count]) {
                    return Ok(());
                }
                wanted = wanted.saturating_sub(count);
            }
        }
        if stop {
            return Ok(());
        }
    }
    Ok(())
}
