//! All extensions of a process, as one value that the loop owns.
//!
//! Nothing here waits. The loop hands in what the threads of the extensions read and what time it
//! is; what comes of it is taken out with [`Host::next_event`]. Lines to the extensions go into their
//! queues. Only what `launch` and `ending` hold blocks, before there is a loop and after it, with a
//! deadline each time.

mod chains;
mod ending;
mod event;
mod incoming;
mod launch;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use ending::Ended;
pub use event::{Asked, Failure, HostEvent};
pub use launch::Launch;
#[cfg(test)]
pub(crate) use tests::host_of;

use super::child::{Child, Pending, Purpose, State};
use super::hooks::Chain;
use super::manifest::{self, EventName, HookKind};
use super::process::FromChild;
use super::registry::Registry;
use super::wire;
use super::{AskId, ExtensionId, Ticket};

/// News that wait for the loop.
const NEWS: usize = 128;

/// Events that wait, above which an extension's own words are dropped: nobody takes any out while
/// extensions start.
const CHATTER: usize = 4096;

/// Which requests of extensions reach anybody. What does not is refused whatever it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serves {
    /// Every one: somebody looks at the one session, which is the extensions'.
    Everything,
    /// `session.*`: nobody looks.
    Session,
    /// Words and, when it answers them, questions: somebody may look who is no terminal.
    Client {
        /// Whether it answers questions.
        answers: bool,
    },
    /// None.
    #[default]
    Nothing,
}

impl Serves {
    /// Whether there may be somebody who looks.
    fn has_ui(self) -> bool {
        matches!(self, Serves::Everything | Serves::Client { .. })
    }

    fn includes(self, method: &str) -> bool {
        match (self, method) {
            (Serves::Everything, _) => true,
            (Serves::Session, method) => method.starts_with("session."),
            (Serves::Client { .. }, "ui.notify" | "ui.show") => true,
            (Serves::Client { answers }, "ui.select" | "ui.confirm" | "ui.input" | "ui.editor") => {
                answers
            }
            (Serves::Client { .. } | Serves::Nothing, _) => false,
        }
    }
}

/// The extensions of a process. See the module.
#[derive(Debug)]
pub struct Host {
    children: Vec<Child>,
    registry: Arc<Registry>,
    serves: Serves,
    news: (Sender<FromChild>, Receiver<FromChild>),
    chains: HashMap<Ticket, Chain>,
    open: HashMap<AskId, Open>,
    last_ticket: u64,
    last_ask: u64,
    out: VecDeque<HostEvent>,
    /// Set when nothing that ends is worth a notice any more.
    leaving: bool,
}

#[derive(Debug)]
struct Open {
    from: ExtensionId,
    id: Box<RawValue>,
    kind: Kind,
    /// Bytes that it takes, about.
    size: usize,
    /// The answer when nobody answers.
    cancelled: Value,
}

/// What an open request holds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its extension's clock.
    Question,
    /// The reading of what its extension writes next, when there are many.
    Redraw,
    Other,
}

impl Host {
    /// No extension.
    pub fn none() -> Self {
        Self {
            children: Vec::new(),
            registry: Arc::default(),
            serves: Serves::default(),
            news: bounded(NEWS),
            chains: HashMap::new(),
            open: HashMap::new(),
            last_ticket: 0,
            last_ask: 0,
            out: VecDeque::new(),
            leaving: false,
        }
    }

    /// What all extensions declare.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The extensions that declared this hook, in declaration order. Also one that has exited
    /// since: what it was to guard must not pass unasked.
    pub fn with_hook(&self, kind: HookKind) -> Vec<ExtensionId> {
        let children = self.children.iter().enumerate();
        let has = children.filter(|(_, child)| child.has_hook(kind));
        has.map(|(index, _)| ExtensionId(index)).collect()
    }

    /// The name of an extension's file.
    pub fn file_name(&self, id: ExtensionId) -> &str {
        self.children.get(id.0).map_or("", |child| &child.file)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// Every extension: its file, its manifest once it has one, and how far it is.
    pub fn list(&self) -> impl Iterator<Item = (&str, Option<&manifest::Manifest>, State)> {
        let children = self.children.iter();
        children.map(|child| (child.file.as_str(), child.manifest.as_ref(), child.state))
    }

    /// Where the threads of the extensions send what they read, for [`Host::on_news`].
    pub fn news(&self) -> &Receiver<FromChild> {
        &self.news.1
    }

    /// What has come of everything so far, oldest first.
    pub fn next_event(&mut self) -> Option<HostEvent> {
        self.out.pop_front()
    }

    /// Adds something that a person should know.
    pub fn add_notice(&mut self, text: String) {
        self.out.push_back(HostEvent::Notice(text));
    }

    /// Takes what a person should know by now.
    pub fn take_notices(&mut self) -> Vec<String> {
        let (notices, rest) = std::mem::take(&mut self.out)
            .into_iter()
            .partition::<Vec<_>, _>(|event| {
                matches!(
                    event,
                    HostEvent::Notice(_) | HostEvent::Diagnostic { .. } | HostEvent::Stray(_)
                )
            });
        self.out = rest.into();
        let text = |event| match event {
            HostEvent::Notice(text) | HostEvent::Stray(text) => Some(text),
            HostEvent::Diagnostic { extension, line } => {
                Some(format!("extension {extension}: {}", line.trim_start()))
            }
            _ => None,
        };
        notices.into_iter().filter_map(text).collect()
    }

    /// Asks one extension to do something within `limit`.
    pub fn call(
        &mut self,
        to: ExtensionId,
        method: &str,
        params: &Value,
        limit: Duration,
        now: Instant,
    ) -> Ticket {
        let ticket = self.ticket();
        let purpose = match method {
            "tool_call" => Purpose::Tool(ticket),
            _ => Purpose::Call(ticket),
        };
        match self.children.get_mut(to.0) {
            Some(child) if child.state == State::Running => {
                if child.request(method, params, purpose, limit, now).is_none() {
                    self.give_up(to, now);
                }
            }
            _ => self
                .out
                .push_back(HostEvent::Answered(ticket, Err(Failure::Gone))),
        }
        ticket
    }

    /// Nobody waits for this any more. Questions that the extension asks a person on its behalf
    /// are taken back.
    pub fn abandon(&mut self, ticket: Ticket, now: Instant) {
        self.chains.remove(&ticket);
        for index in 0..self.children.len() {
            let child = &mut self.children[index];
            if !child.abandon(ticket) {
                continue;
            }
            if !child.is_busy() {
                self.take_back_questions(ExtensionId(index), now);
            }
            self.ask_next(index, now);
        }
    }

    /// Tells something to every extension that wants to know it.
    pub fn tell(&mut self, event: EventName, extra: &Value, now: Instant) {
        let wants = |child: &Child| {
            child.state == State::Running
                && child
                    .manifest
                    .as_ref()
                    .is_some_and(|manifest| manifest.events.contains(&event))
        };
        if self.children.iter().any(wants) {
            let params = json!({"name": event.name(), "extra": extra});
            self.notify_where("event", &params, wants, now);
        }
    }

    /// Tells which flags were passed, to those that declared any.
    pub fn tell_flags(&mut self, flags: &Value, now: Instant) {
        let declares = |child: &Child| {
            let flags = child
                .manifest
                .as_ref()
                .map(|manifest| manifest.flags.as_slice());
            flags.unwrap_or_default().iter().any(|flag| flag.clean)
        };
        self.notify_where("flags", &json!({"flags": flags}), declares, now);
    }

    /// Tells one extension something.
    pub fn notify(&mut self, to: ExtensionId, method: &str, params: &Value, now: Instant) {
        let line = wire::notification(method, Some(params));
        if let Some(child) = self.children.get_mut(to.0) {
            if !child.post(&line, now) {
                self.give_up(to, now);
            }
        }
    }

    /// Other requests reach somebody from now on.
    pub fn serve(&mut self, serves: Serves) {
        self.serves = serves;
    }

    /// Answers a request of an extension. A second answer is dropped.
    pub fn answer(&mut self, ask: AskId, result: Result<Value, String>, now: Instant) {
        let Some(open) = self.open.remove(&ask) else {
            return;
        };
        let Some(child) = self.children.get_mut(open.from.0) else {
            return;
        };
        match open.kind {
            Kind::Redraw => child.redraw_closed(),
            Kind::Question | Kind::Other => child.request_closed(open.size),
        }
        if open.kind == Kind::Question {
            child.question_closed(now);
        }
        if !child.post(&wire::response(&open.id, &result), now) {
            self.give_up(open.from, now);
        }
    }

    /// When [`Host::on_deadline`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.children.iter().filter_map(Child::deadline).min()
    }

    /// Does what is due.
    pub fn on_deadline(&mut self, now: Instant) {
        for index in 0..self.children.len() {
            let id = ExtensionId(index);
            while let Some(pending) = self.children[index].overdue(now) {
                self.timed_out(id, pending, now);
            }
            let child = &mut self.children[index];
            child.pay_credits(now);
            if child.is_stuck(now) {
                self.retire(
                    id,
                    "has not read what e sent it for 5 seconds and was stopped",
                    now,
                );
            } else if let Some(leaving) = child.leaving.take_if(|leaving| leaving.by <= now) {
                self.retire(id, &leaving.how(), now);
            }
        }
    }

    fn timed_out(&mut self, id: ExtensionId, pending: Pending, now: Instant) {
        let seconds = pending.limit.as_secs();
        match pending.purpose {
            Purpose::Initialize => {
                self.skip(id, &format!("it did not answer within {seconds} seconds"));
            }
            Purpose::Hook(ticket) => {
                // Those behind it would only wait for the same silence.
                let mut silent = vec![ticket];
                silent.extend(std::mem::take(&mut self.children[id.0].hooks));
                for ticket in silent {
                    if let Some(kind) = self.chains.get(&ticket).map(Chain::kind) {
                        self.failed_open(id, kind, &format!("no answer within {seconds} seconds"));
                        self.advance(ticket, now);
                    }
                }
            }
            Purpose::Tool(ticket) | Purpose::Call(ticket) => {
                let failure = Failure::TimedOut(pending.limit);
                self.out
                    .push_back(HostEvent::Answered(ticket, Err(failure)));
            }
        }
    }

    fn notify_where(
        &mut self,
        method: &str,
        params: &Value,
        wants: impl Fn(&Child) -> bool,
        now: Instant,
    ) {
        let line = wire::notification(method, Some(params));
        for index in 0..self.children.len() {
            let child = &mut self.children[index];
            if wants(child) && !child.post(&line, now) {
                self.give_up(ExtensionId(index), now);
            }
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.last_ticket += 1;
        Ticket(self.last_ticket)
    }

    fn notice(&mut self, text: String) {
        if !self.leaving {
            self.out.push_back(HostEvent::Notice(text));
        }
    }

    /// Adds what an extension says by itself. What nobody takes out in time is dropped, and its own
    /// words where nobody looks.
    fn chat(&mut self, event: HostEvent) {
        let is_own = matches!(event, HostEvent::Said { .. } | HostEvent::Diagnostic { .. });
        if self.out.len() < CHATTER && (self.serves.has_ui() || !is_own) {
            self.out.push_back(event);
        }
    }

    fn asked_by(&self, id: ExtensionId) -> impl Iterator<Item = AskId> {
        let open = self.open.iter();
        open.filter(move |(_, open)| open.from == id)
            .map(|(ask, _)| *ask)
    }

    fn take_back_questions(&mut self, id: ExtensionId, now: Instant) {
        let open = self.asked_by(id).filter_map(|ask| {
            let open = self.open.get(&ask)?;
            (open.kind == Kind::Question).then(|| (ask, open.cancelled.clone()))
        });
        let questions: Vec<(AskId, Value)> = open.collect();
        for (ask, cancelled) in questions {
            self.answer(ask, Ok(cancelled), now);
            self.out.push_back(HostEvent::Withdrawn(ask));
        }
    }
}
