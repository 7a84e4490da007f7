//! Waiting for the answer of a thread, or for the thread's end.
//!
//! A request that a thread did not take stays in its channel when the thread ends, and with it the
//! sender of the answer: the answer neither comes nor fails. So who asks waits for both.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, after, bounded, never, select_biased};

/// Lives as long as the thread that holds it.
#[derive(Debug)]
pub struct Alive {
    _open: Sender<()>,
}

/// The end of a thread.
#[derive(Clone, Debug)]
pub struct Ended(Receiver<()>);

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The thread has ended, or has dropped the request.
    Gone,
    /// The time is over.
    Late,
}

/// A token for a thread, and its end for those who ask the thread something.
pub fn alive() -> (Alive, Ended) {
    let (open, ended) = bounded(0);
    (Alive { _open: open }, Ended(ended))
}

impl Ended {
    /// Waits for the answer to a request that was sent to the thread, for at most `limit`.
    pub fn answer<T>(&self, answer: &Receiver<T>, limit: Option<Duration>) -> Result<T, NoAnswer> {
        let late = limit.map_or_else(never, after);
        select_biased! {
            recv(answer) -> answer => answer.map_err(|_| NoAnswer::Gone),
            // It may have answered just before.
            recv(self.0) -> _ => answer.try_recv().map_err(|_| NoAnswer::Gone),
            recv(late) -> _ => Err(NoAnswer::Late),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_nobody_takes_is_not_waited_for() {
        let (requests, taken) = bounded::<Sender<u8>>(1);
        let (alive, ended) = alive();
        let (reply, answer) = bounded(1);
        requests.send(reply.clone()).unwrap();
        let limit = Some(Duration::from_millis(1));
        assert_eq!(ended.answer(&answer, limit), Err(NoAnswer::Late));
        // As the thread ends: what is in the channel stays there, with its sender.
        drop((taken, alive));
        assert_eq!(ended.answer(&answer, None), Err(NoAnswer::Gone));
        reply.send(7).unwrap();
        assert_eq!(ended.answer(&answer, None), Ok(7));
    }
}
