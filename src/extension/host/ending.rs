//! How extensions end: one that cannot be used, one that has exited, and all of them with e.

use std::time::{Duration, Instant};

use super::{Failure, Host, HostEvent};
use crate::extension::child::{Purpose, State};
use crate::extension::manifest::HookKind;
use crate::extension::process::{FromChild, Link, News};
use crate::extension::{AskId, ExtensionId, Ticket, wire};
use crate::sys::process::{Exit, GRACE};

/// How long extensions have to end after `shutdown`.
const SHUTDOWN: Duration = Duration::from_millis(500);

/// How long a killed one is waited for.
const KILLED: Duration = Duration::from_secs(1);

/// How an extension ended that was told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which one.
    pub id: ExtensionId,
    /// How long it took; none when it had to be killed.
    pub after: Option<Duration>,
    /// Processes that it left running and that were stopped then.
    pub left_running: usize,
}

impl Host {
    /// Ends every extension: tells it, waits a moment, kills what is left. Dropping does the same.
    /// Gives those that were still running.
    pub fn shut_down(mut self) -> Vec<Ended> {
        self.end()
    }

    /// Refuses every open request, and takes questions back.
    pub fn refuse_open(&mut self, why: &str, now: Instant) {
        let asked: Vec<AskId> = self.open.keys().copied().collect();
        for ask in asked {
            self.answer(ask, Err(why.into()), now);
            self.out.push_back(HostEvent::Withdrawn(ask));
        }
    }

    /// Lets every extension go before it is shut down: what waits for it fails, what it shows must go.
    pub fn let_go(&mut self, now: Instant) {
        self.leaving = true;
        self.refuse_open("e reloads its extensions", now);
        let chains: Vec<Ticket> = self.chains.keys().copied().collect();
        for ticket in chains {
            self.decide(ticket);
        }
        for (index, child) in self.children.iter_mut().enumerate() {
            child.hooks.clear();
            for pending in child.take_all() {
                if let Purpose::Tool(ticket) | Purpose::Call(ticket) = pending.purpose {
                    let gone = Err(Failure::Gone);
                    self.out.push_back(HostEvent::Answered(ticket, gone));
                }
            }
            self.out.push_back(HostEvent::Gone(ExtensionId(index)));
        }
    }

    /// Numbers everything behind what another host has numbered, whose place this one takes: a
    /// late answer to that one means nothing here.
    pub fn follow(&mut self, before: &Self) {
        let moved = |ask: AskId| AskId(ask.0 + before.last_ask);
        let open = std::mem::take(&mut self.open).into_iter();
        self.open = open.map(|(ask, open)| (moved(ask), open)).collect();
        for event in &mut self.out {
            match event {
                HostEvent::Asked(asked) => asked.ask = moved(asked.ask),
                HostEvent::Withdrawn(ask) => *ask = moved(*ask),
                _ => {}
            }
        }
        self.last_ask += before.last_ask;
        self.last_ticket += before.last_ticket;
    }

    fn end(&mut self) -> Vec<Ended> {
        let now = Instant::now();
        self.leaving = true;
        self.refuse_open("e is shutting down", now);
        let farewell = wire::notification("shutdown", None);
        let mut left: Vec<Link> = Vec::new();
        let mut ended: Vec<Ended> = Vec::new();
        for (index, child) in self.children.iter_mut().enumerate() {
            child.post(&farewell, now);
            if let Some(mut link) = child.take_link() {
                link.close_input();
                left.push(link);
                ended.push(Ended {
                    id: ExtensionId(index),
                    after: None,
                    left_running: 0,
                });
            }
        }
        self.wait_for_exits(&mut ended, now, now + SHUTDOWN);
        for link in &left {
            link.stop(Duration::ZERO);
        }
        // That they end now is no merit of theirs and not told.
        let mut killed = ended.clone();
        self.wait_for_exits(&mut killed, now, Instant::now() + KILLED);
        ended
    }

    fn wait_for_exits(&self, waited: &mut [Ended], since: Instant, until: Instant) {
        while waited.iter().any(|one| one.after.is_none()) {
            match self.news.1.recv_deadline(until) {
                Ok(FromChild {
                    child,
                    news: News::Exited(_, left_running),
                }) => {
                    for one in waited.iter_mut().filter(|one| one.id == child) {
                        one.after = Some(since.elapsed());
                        one.left_running = left_running;
                    }
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// An extension cannot be used at all.
    pub(super) fn skip(&mut self, id: ExtensionId, problem: &str) {
        let child = &mut self.children[id.0];
        child.state = State::Gone;
        child.leaving = None;
        child.take_all();
        if let Some(link) = child.take_link() {
            link.stop(Duration::ZERO);
        }
        let notice = skipped(&child.file, problem);
        self.out.push_back(notice);
    }

    pub(super) fn give_up(&mut self, id: ExtensionId, now: Instant) {
        self.retire(id, "does not read what e sends it and was stopped", now);
    }

    /// An extension has ended, or is ended now. What waits for it fails, once.
    pub(super) fn retire(&mut self, id: ExtensionId, how: &str, now: Instant) {
        let child = &mut self.children[id.0];
        match child.state {
            State::Gone => return,
            State::Starting => return self.skip(id, &format!("it {how} before it was ready")),
            State::Running => child.state = State::Gone,
        }
        child.leaving = None;
        if let Some(link) = child.take_link() {
            link.stop(GRACE);
        }
        let hooks: Vec<&str> = HookKind::ALL
            .iter()
            .filter(|kind| **kind != HookKind::Startup && child.has_hook(**kind))
            .map(|kind| kind.name())
            .collect();
        for kind in HookKind::ALL {
            if child.has_hook(kind) {
                // The notice below tells it.
                child.count_failure(kind);
            }
        }
        let mut text = format!("extension {} {how}", child.file);
        if !hooks.is_empty() {
            let (s, verb) = if hooks.len() == 1 {
                ("", "applies")
            } else {
                ("s", "apply")
            };
            let hooks = hooks.join(", ");
            text.push_str(&format!(
                " - its hook{s} {hooks} no longer {verb}, nothing is checked by it"
            ));
        }
        let pending = child.take_all();
        let waiting = std::mem::take(&mut child.hooks);
        self.notice(text);
        let asked: Vec<AskId> = self.asked_by(id).collect();
        for ask in asked {
            self.open.remove(&ask);
            self.out.push_back(HostEvent::Withdrawn(ask));
        }
        for pending in pending {
            match pending.purpose {
                Purpose::Initialize => {}
                Purpose::Hook(ticket) => self.advance(ticket, now),
                Purpose::Tool(ticket) | Purpose::Call(ticket) => {
                    self.out
                        .push_back(HostEvent::Answered(ticket, Err(Failure::Gone)));
                }
            }
        }
        for ticket in waiting {
            self.advance(ticket, now);
        }
        self.out.push_back(HostEvent::Gone(id));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

pub(super) fn skipped(file: &str, problem: &str) -> HostEvent {
    HostEvent::Notice(format!("extension {file} was skipped: {problem}"))
}

pub(super) fn exit_text(exit: Exit) -> String {
    use std::os::unix::process::ExitStatusExt;
    let Some(status) = exit.status else {
        return "exited".into();
    };
    match (status.code(), status.signal()) {
        (Some(0), _) => "exited".into(),
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "exited".into(),
    }
}
