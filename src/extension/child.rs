//! One extension as the loop knows it: what it was asked, what it asked, and how long it has.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Ticket;
use super::manifest::{HookKind, Manifest};
use super::process::{Link, Posted};
use super::wire::{self, Asking};

/// Requests of an extension that may be unanswered. Of those that only show something anew more may
/// be, and it is not read meanwhile.
pub const MAX_OPEN: usize = 32;

/// An extension from its start on. It stays listed when it is gone.
#[derive(Debug)]
pub(super) struct Child {
    /// The name of its file, for notices.
    pub(super) file: String,
    pub(super) state: State,
    pub(super) manifest: Option<Manifest>,
    link: Option<Link>,
    last_id: u64,
    pending: HashMap<u64, Pending>,
    /// Hooks that wait for the one that is being asked.
    pub(super) hooks: VecDeque<Ticket>,
    /// The request of the hook that is being asked.
    pub(super) asking: Option<u64>,
    /// Its requests that came before its manifest.
    pub(super) early: Vec<Asking>,
    /// Its requests that are not answered, but for redraws.
    pub(super) open: usize,
    /// Those of them that wait for a person.
    questions: usize,
    /// Its redraws that are not answered.
    redraws: usize,
    /// Batches that it may send when fewer of these are.
    held: usize,
    paused_since: Option<Instant>,
    /// Whether its queue was over the mark when something was last put into it.
    over: bool,
    /// How often each hook failed open, and how many of them have been told.
    pub(super) failures: Vec<(HookKind, u32)>,
    /// Batches that it may not send before this time, and how many.
    paced: Option<(Instant, usize)>,
    /// Whether it was told that it prints what is no message.
    pub(super) strayed: bool,
    /// Set when not all of it is there any more.
    pub(super) leaving: Option<Leaving>,
}

/// How far an extension is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has not answered `initialize`.
    Starting,
    /// It takes requests.
    Running,
    /// It could not be used, or has ended.
    Gone,
}

/// An extension of which something has ended.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    /// Its output is read to the end.
    pub(super) mute: bool,
    /// How its process ended, if it has.
    pub(super) dead: Option<String>,
    /// When the rest is not waited for any more.
    pub(super) by: Instant,
}

impl Leaving {
    /// What happened, for a notice.
    pub(super) fn how(&self) -> String {
        match &self.dead {
            Some(how) => how.clone(),
            None if self.mute => "closed its standard output and was stopped".into(),
            None => "closed its standard input and was stopped".into(),
        }
    }
}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) purpose: Purpose,
    pub(super) limit: Duration,
    deadline: Instant,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Initialize,
    Hook(Ticket),
    /// A tool call, whose output is passed on while it runs.
    Tool(Ticket),
    /// Anything else that somebody waits for.
    Call(Ticket),
}

impl Child {
    pub(super) fn new(file: String, link: Option<Link>) -> Self {
        Self {
            file,
            state: match link {
                Some(_) => State::Starting,
                None => State::Gone,
            },
            manifest: None,
            link,
            last_id: 0,
            pending: HashMap::new(),
            hooks: VecDeque::new(),
            asking: None,
            early: Vec::new(),
            open: 0,
            questions: 0,
            redraws: 0,
            held: 0,
            paused_since: None,
            over: false,
            failures: Vec::new(),
            paced: None,
            strayed: false,
            leaving: None,
        }
    }

    /// The name it gave itself, or that of its file.
    pub(super) fn name(&self) -> &str {
        self.manifest
            .as_ref()
            .map_or(&self.file, |manifest| &manifest.name)
    }

    pub(super) fn has_hook(&self, kind: HookKind) -> bool {
        self.manifest
            .as_ref()
            .is_some_and(|manifest| manifest.hooks.contains(&kind))
    }

    /// Lets go of the process, which stops it.
    pub(super) fn take_link(&mut self) -> Option<Link> {
        self.link.take()
    }

    /// Sends a request and notes who waits for it. `None` when the extension is lost.
    pub(super) fn request(
        &mut self,
        method: &str,
        params: &Value,
        purpose: Purpose,
        limit: Duration,
        now: Instant,
    ) -> Option<u64> {
        self.last_id += 1;
        let id = self.last_id;
        let line = wire::request(id, method, params);
        let pending = Pending {
            purpose,
            limit,
            deadline: self.paused_since.unwrap_or(now) + limit,
        };
        self.pending.insert(id, pending);
        self.post(&line, now).then_some(id)
    }

    /// Queues a line. `false` when the extension is lost.
    pub(super) fn post(&mut self, line: &[u8], now: Instant) -> bool {
        let Some(link) = &self.link else {
            return true;
        };
        let posted = link.post(line, now);
        self.over = posted != Posted::Fine;
        posted != Posted::Lost
    }

    pub(super) fn pending(&self, id: u64) -> Option<Pending> {
        self.pending.get(&id).copied()
    }

    /// The request is answered, or nobody waits for it any more.
    pub(super) fn settle(&mut self, id: u64) -> Option<Pending> {
        let pending = self.pending.remove(&id);
        if self.asking == Some(id) {
            self.asking = None;
        }
        pending
    }

    /// Forgets whatever waits under this ticket. `true` when something did.
    pub(super) fn abandon(&mut self, ticket: Ticket) -> bool {
        let is_it = |purpose: &Purpose| match purpose {
            Purpose::Initialize => false,
            Purpose::Hook(one) | Purpose::Tool(one) | Purpose::Call(one) => *one == ticket,
        };
        let found = self
            .pending
            .iter()
            .find(|(_, pending)| is_it(&pending.purpose));
        let found = found.map(|(id, _)| *id);
        if let Some(id) = found {
            self.settle(id);
        }
        let waiting = self.hooks.len();
        self.hooks.retain(|one| *one != ticket);
        found.is_some() || waiting != self.hooks.len()
    }

    /// Everything that waits for it, oldest first.
    pub(super) fn take_all(&mut self) -> Vec<Pending> {
        self.asking = None;
        let mut all: Vec<(u64, Pending)> = self.pending.drain().collect();
        all.sort_by_key(|(id, _)| *id);
        all.into_iter().map(|(_, pending)| pending).collect()
    }

    /// Whether it works on anything that it was asked.
    pub(super) fn is_busy(&self) -> bool {
        !self.pending.is_empty()
    }

    /// A person is asked on its behalf: its own time stands still.
    pub(super) fn question_opened(&mut self, now: Instant) {
        self.questions += 1;
        self.paused_since.get_or_insert(now);
    }

    /// The person answered, or was spared the question.
    pub(super) fn question_closed(&mut self, now: Instant) {
        self.questions = self.questions.saturating_sub(1);
        if self.questions > 0 {
            return;
        }
        if let Some(since) = self.paused_since.take() {
            let pause = now.saturating_duration_since(since);
            for pending in self.pending.values_mut() {
                pending.deadline += pause;
            }
        }
    }

    /// When something of it is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let answers = match self.paused_since {
            Some(_) => None,
            None => self.pending.values().map(|pending| pending.deadline).min(),
        };
        let queue = self
            .link
            .as_ref()
            .filter(|_| self.over)
            .and_then(Link::stuck_at);
        let exit = self.leaving.as_ref().map(|leaving| leaving.by);
        let paced = self.paced.map(|(at, _)| at);
        [answers, queue, exit, paced].into_iter().flatten().min()
    }

    /// A request whose time is over.
    pub(super) fn overdue(&mut self, now: Instant) -> Option<Pending> {
        if self.paused_since.is_some() {
            return None;
        }
        let mut pending = self.pending.iter();
        let id = pending
            .find(|(_, pending)| pending.deadline <= now)
            .map(|(id, _)| *id)?;
        self.settle(id)
    }

    /// It draws something anew.
    pub(super) fn redraw_opened(&mut self) {
        self.redraws += 1;
    }

    /// Somebody took what it drew.
    pub(super) fn redraw_closed(&mut self) {
        self.redraws = self.redraws.saturating_sub(1);
        if self.redraws < MAX_OPEN {
            let held = std::mem::take(&mut self.held);
            self.give_credits(held);
        }
    }

    /// It may send one more batch: now, then, or when enough of what it drew was taken.
    pub(super) fn owe_credit(&mut self, then: Option<Instant>) {
        if self.redraws >= MAX_OPEN {
            self.held += 1;
            return;
        }
        match (then, &mut self.paced) {
            (Some(then), None) => self.paced = Some((then, 1)),
            (Some(_), Some((_, count))) => *count += 1,
            (None, _) => self.give_credits(1),
        }
    }

    /// Lets it send what it may send by now.
    pub(super) fn pay_credits(&mut self, now: Instant) {
        if let Some((_, count)) = self.paced.take_if(|(at, _)| *at <= now) {
            self.give_credits(count);
        }
    }

    fn give_credits(&self, count: usize) {
        for _ in 0..count {
            self.link.iter().for_each(Link::give_credit);
        }
    }

    /// Whether it has not read what was sent to it for too long.
    pub(super) fn is_stuck(&mut self, now: Instant) -> bool {
        if !self.over {
            return false;
        }
        let stuck_at = self.link.as_ref().and_then(Link::stuck_at);
        self.over = stuck_at.is_some();
        stuck_at.is_some_and(|at| at <= now)
    }

    /// One more time that a hook did not guard. `true` for the first.
    pub(super) fn count_failure(&mut self, kind: HookKind) -> bool {
        match self.failures.iter_mut().find(|(one, _)| *one == kind) {
            Some((_, count)) => {
                *count += 1;
                false
            }
            None => {
                self.failures.push((kind, 0));
                true
            }
        }
    }
}
