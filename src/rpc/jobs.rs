//! Work that blocks, each on a short-lived thread that sends one message back.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::Value;

use super::sessions::Created;
use super::wire::Id;
use crate::agent::{Limits, Prompt, Selection, SessionKey};
use crate::error::{Error, Result};
use crate::sys::lock;

/// Jobs that run at a time; the rest wait.
const AT_ONCE: usize = 8;

/// What came of a job.
pub enum Done {
    /// A request is answered.
    Answer(Id, Result<Value>),
    /// A session can begin.
    Created(Id, Result<Box<Created>>),
    /// A session gets another model or effort.
    Selected(Id, SessionKey, Result<Selection>),
    /// A prompt has its images.
    Prompt(Id, SessionKey, Limits, Result<Prompt>),
    /// A one-shot line has its session and prompt.
    OneShot(Id, Result<Box<(Created, Prompt)>>),
}

/// Whether the answer of a job may be large, so that it waits while the client does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// It is a few lines at most.
    Small,
    /// It may be megabytes.
    Large,
}

/// Runs, or is told why it may not.
type Job = Box<dyn FnOnce(Result<()>) -> Done + Send>;

/// Jobs that wait and run.
pub struct Jobs {
    waiting: VecDeque<(Size, Job)>,
    running: usize,
    sender: Sender<Done>,
    /// What has been done.
    pub done: Receiver<Done>,
}

impl Jobs {
    /// None yet.
    pub fn new() -> Self {
        // Room for all that run: a job never waits for the loop.
        let (sender, done) = bounded(AT_ONCE);
        Self {
            waiting: VecDeque::new(),
            running: 0,
            sender,
            done,
        }
    }

    /// Adds a job, to be started by [`Jobs::start`]. A panic in `work` is its failure.
    pub fn add<T: 'static>(
        &mut self,
        size: Size,
        work: impl FnOnce() -> Result<T> + Send + 'static,
        done: impl FnOnce(Result<T>) -> Done + Send + 'static,
    ) {
        let run = || {
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
                let message = "this request crashed; this is a bug in e";
                Err(Error::failed(message))
            })
        };
        let job: Job = Box::new(move |may| done(may.and_then(|()| run())));
        self.waiting.push_back((size, job));
    }

    /// Starts what may run now; `room` tells whether a large answer could be handed on.
    pub fn start(&mut self, room: bool) {
        while self.running < AT_ONCE {
            let may_run = |(size, _): &(Size, Job)| room || *size == Size::Small;
            let Some(at) = self.waiting.iter().position(may_run) else {
                return;
            };
            if let Some((_, job)) = self.waiting.remove(at) {
                self.running += 1;
                self.run(job);
            }
        }
    }

    /// Takes note that a job's message was received.
    pub fn ended(&mut self) {
        self.running -= 1;
    }

    /// Ends those that wait without running them.
    pub fn refuse(&mut self, why: &Error) -> Vec<Done> {
        let waiting = std::mem::take(&mut self.waiting);
        let refuse = |(_, job): (Size, Job)| job(Err(why.clone()));
        waiting.into_iter().map(refuse).collect()
    }

    /// Whether none waits or runs.
    pub fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    fn run(&self, job: Job) {
        // Kept reachable from here, for when no thread can be started.
        let slot = Arc::new(Mutex::new(Some(job)));
        let (taken, sender) = (slot.clone(), self.sender.clone());
        let started = std::thread::Builder::new()
            .name("e-request".into())
            .spawn(move || {
                let job = lock(&taken).take();
                if let Some(job) = job {
                    let _ = sender.send(job(Ok(())));
                }
            });
        if let Err(error) = started {
            let why = Error::from(error).context("no thread could be started");
            if let Some(job) = lock(&slot).take() {
                let _ = self.sender.send(job(Err(why)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(done: Done) -> Result<Value> {
        match done {
            Done::Answer(_, answer) => answer,
            _ => panic!("another kind"),
        }
    }

    fn add(jobs: &mut Jobs, size: Size, work: impl FnOnce() -> Result<Value> + Send + 'static) {
        jobs.add(size, work, |answer| Done::Answer(Id::none(), answer));
    }

    #[test]
    fn a_crash_is_an_answer_and_large_ones_wait_for_room() {
        let mut jobs = Jobs::new();
        add(&mut jobs, Size::Large, || Ok(Value::Null));
        add(&mut jobs, Size::Small, || panic!("expected by this test"));
        jobs.start(false);
        let error = answer(jobs.done.recv().unwrap()).unwrap_err();
        assert!(error.to_string().contains("bug in e"));
        jobs.ended();
        assert!(!jobs.is_idle());
        jobs.start(true);
        assert_eq!(answer(jobs.done.recv().unwrap()).unwrap(), Value::Null);
        jobs.ended();
        assert!(jobs.is_idle());
    }

    #[test]
    fn what_waits_is_refused_without_running() {
        let mut jobs = Jobs::new();
        add(&mut jobs, Size::Small, || panic!("never runs"));
        let refused = jobs.refuse(&Error::failed("no"));
        let answers: Vec<_> = refused.into_iter().map(answer).collect();
        assert_eq!(answers[0].as_ref().unwrap_err().to_string(), "no");
        assert!(jobs.is_idle());
    }
}
