//! All extensions of a process, as one value that the loop owns.
//!
//! Nothing here waits. The loop hands in what the threads of the extensions read and what time it
//! is; what comes of it is taken out with [`Host::next`]. Lines to the extensions go into their
//! queues. Only [`Host::wait_until_ready`], [`Host::wait_for`] and [`Host::shut_down`] block, before there
//! is a loop and after it, each with a deadline.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::child::{Child, Exited, MAX_OPEN, Pending, Purpose, State};
use super::discover::Found;
use super::fields;
use super::hooks::{Chain, Hook, Step, Verdict};
use super::manifest::{self, EventName, HookKind};
use super::process::{FromChild, Link, News};
use super::registry::{Declared, Registry, Reserved};
use super::request::{self, Request};
use super::wire::{self, Message};
use super::{AskId, CAPABILITIES, ExtensionId, PROTOCOL, Tap, Ticket};
use crate::chat::Output;
use crate::config::build::VERSION;
use crate::sys::Env;
use crate::sys::process::{Exit, GRACE};

/// How long an extension has to answer `initialize`.
const INITIALIZE: Duration = Duration::from_secs(5);
/// How long a hook may take, each time it is asked.
const HOOK: Duration = Duration::from_secs(5);
/// How long the output of a process is read after its end.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long extensions have to end after `shutdown`.
const SHUTDOWN: Duration = Duration::from_millis(500);
/// How long a killed one is waited for.
const KILLED: Duration = Duration::from_secs(1);
/// News that wait for the loop.
const NEWS: usize = 128;
/// Longest notice of an extension, in bytes.
const NOTICE: usize = 4096;

/// What extensions are started with.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The programs, in declaration order.
    pub files: Vec<Found>,
    /// Their working directory.
    pub cwd: &'a Path,
    /// Their environment.
    pub env: &'a Env,
    /// What the settings hold under `extensions`.
    pub config: Value,
    /// What is served.
    pub serves: Serves,
    /// Sees every line.
    pub tap: Option<Tap>,
}

/// Which requests of extensions reach anybody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serves {
    /// `ui.*`: a frontend decides about each.
    pub ui: bool,
    /// `session.*`: there is one session and it is the extensions'.
    pub session: bool,
}

/// What comes out of the host.
#[derive(Debug)]
pub enum HostEvent {
    /// Something about an extension that a person should know.
    Notice(String),
    /// An extension has something to say.
    Said {
        /// Its name.
        extension: String,
        /// Clean and bounded.
        text: String,
    },
    /// A chain of hooks has ended.
    Hooked(Ticket, Verdict),
    /// Live output of a tool call.
    Update(Ticket, Output, String),
    /// The answer to a call.
    Answered(Ticket, Result<Value, Failure>),
    /// An extension wants something. It is owed one [`Host::answer`].
    Asked(Asked),
    /// Nobody waits for the answer to this any more.
    Withdrawn(AskId),
    /// What this extension shows must go.
    Gone(ExtensionId),
}

/// A request of an extension.
#[derive(Clone, Debug)]
pub struct Asked {
    /// By which it is answered.
    pub ask: AskId,
    /// Whose it is.
    pub from: ExtensionId,
    /// The name of the extension.
    pub extension: String,
    /// As it was sent.
    pub method: String,
    /// As they were sent.
    pub params: Value,
    /// Understood, checked and bounded.
    pub request: Request,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The extension says so.
    Error(String),
    /// It took longer than this.
    TimedOut(Duration),
    /// It has exited.
    Gone,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Error(text) => f.write_str(text),
            Failure::TimedOut(limit) => {
                write!(
                    f,
                    "the extension did not answer within {} seconds",
                    limit.as_secs()
                )
            }
            Failure::Gone => f.write_str("the extension has exited"),
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
    is_question: bool,
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

    /// Starts every program at once and greets it. Does not wait for any.
    pub fn launch(launch: Launch<'_>) -> Self {
        let mut host = Self::none();
        host.serves = launch.serves;
        let greeting = json!({
            "protocol": PROTOCOL,
            "capabilities": CAPABILITIES,
            "ui": launch.serves.ui,
            "e_version": VERSION,
            "cwd": launch.cwd.to_string_lossy(),
            "extensions_config": launch.config,
        });
        for (index, found) in launch.files.into_iter().enumerate() {
            let (id, now) = (ExtensionId(index), Instant::now());
            let sender = &host.news.0;
            let link = Link::start(
                id,
                &found.path,
                launch.cwd,
                launch.env,
                sender,
                launch.tap.clone(),
            );
            let problem = link.as_ref().err().map(ToString::to_string);
            let mut child = Child::new(found.file_name, link.ok());
            if let Some(problem) = problem {
                host.out.push_back(skipped(&child.file, &problem));
            } else {
                child.request(
                    "initialize",
                    &greeting,
                    Purpose::Initialize,
                    INITIALIZE,
                    now,
                );
            }
            host.children.push(child);
        }
        host
    }

    /// Waits until every extension has answered `initialize` or lost its chance, then settles who
    /// owns which name.
    pub fn wait_until_ready(&mut self, reserved: &Reserved<'_>) {
        while self
            .children
            .iter()
            .any(|child| child.state == State::Starting)
        {
            self.wait();
        }
        let children = self.children.iter().enumerate();
        let declared: Vec<Declared<'_>> = children
            .filter_map(|(index, child)| {
                Some(Declared {
                    id: ExtensionId(index),
                    file_name: &child.file,
                    manifest: child.manifest.as_ref()?,
                })
            })
            .collect();
        let (registry, notices) = Registry::new(&declared, reserved);
        self.registry = Arc::new(registry);
        self.out.extend(notices.into_iter().map(HostEvent::Notice));
    }

    /// Waits for the answer to a call, before there is a loop. Requests that the extension makes
    /// meanwhile are refused: nobody could answer them.
    pub fn wait_for(&mut self, ticket: Ticket) -> Result<Value, Failure> {
        loop {
            let is_it =
                |event: &HostEvent| matches!(event, HostEvent::Answered(one, _) if *one == ticket);
            if let Some(at) = self.out.iter().position(is_it) {
                match self.out.remove(at) {
                    Some(HostEvent::Answered(_, result)) => return result,
                    _ => return Err(Failure::Gone),
                }
            }
            let asked: Vec<AskId> = self.open.keys().copied().collect();
            for ask in asked {
                self.answer(
                    ask,
                    Err("e is starting and nobody can answer yet".into()),
                    Instant::now(),
                );
            }
            self.out
                .retain(|event| !matches!(event, HostEvent::Asked(_)));
            self.wait();
        }
    }

    fn wait(&mut self) {
        let news = match self.deadline() {
            Some(at) => self.news.1.recv_deadline(at).ok(),
            // Whatever is waited for has a deadline; this is for what has just been settled.
            None => self.news.1.try_recv().ok(),
        };
        let now = Instant::now();
        match news {
            Some(news) => self.on_news(news, now),
            None => self.on_deadline(now),
        }
    }

    /// What all extensions declare.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The extensions that have this hook, in declaration order.
    pub fn with_hook(&self, kind: HookKind) -> Vec<ExtensionId> {
        let children = self.children.iter().enumerate();
        let has =
            children.filter(|(_, child)| child.state == State::Running && child.has_hook(kind));
        has.map(|(index, _)| ExtensionId(index)).collect()
    }

    /// The name of an extension's file.
    pub fn file_name(&self, id: ExtensionId) -> &str {
        self.children.get(id.0).map_or("", |child| &child.file)
    }

    /// Adds something that a person should know.
    pub fn add_notice(&mut self, text: String) {
        self.out.push_back(HostEvent::Notice(text));
    }

    /// Takes what a person should know by now.
    pub fn take_notices(&mut self) -> Vec<String> {
        let (notices, rest) = std::mem::take(&mut self.out)
            .into_iter()
            .partition::<Vec<_>, _>(|event| matches!(event, HostEvent::Notice(_)));
        self.out = rest.into();
        let text = |event| match event {
            HostEvent::Notice(text) => Some(text),
            _ => None,
        };
        notices.into_iter().filter_map(text).collect()
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
    pub fn next(&mut self) -> Option<HostEvent> {
        self.out.pop_front()
    }

    /// Asks every extension that declared this hook.
    pub fn ask(&mut self, hook: Hook, now: Instant) -> Ticket {
        let ticket = self.ticket();
        self.chains.insert(ticket, Chain::new(hook));
        self.advance(ticket, now);
        ticket
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

    /// Answers a request of an extension. A second answer is dropped.
    pub fn answer(&mut self, ask: AskId, result: Result<Value, String>, now: Instant) {
        let Some(open) = self.open.remove(&ask) else {
            return;
        };
        let Some(child) = self.children.get_mut(open.from.0) else {
            return;
        };
        child.open -= 1;
        if open.is_question {
            child.question_closed(now);
        }
        if !child.post(&wire::response(&open.id, &result), now) {
            self.give_up(open.from, now);
        }
    }

    /// How often hooks failed open since the last time this was asked, beyond what was told.
    pub fn take_failures(&mut self) -> Vec<String> {
        let mut notices = Vec::new();
        for child in &mut self.children {
            for (kind, count) in &mut child.failures {
                match std::mem::take(count) {
                    0 => {}
                    1 => notices.push(format!(
                        "extension {}: its hook {} failed open once more",
                        child.file,
                        kind.name()
                    )),
                    count => notices.push(format!(
                        "extension {}: its hook {} failed open {count} more times",
                        child.file,
                        kind.name()
                    )),
                }
            }
        }
        notices
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
            if child.is_stuck(now) {
                self.retire(
                    id,
                    "has not read what e sent it for 5 seconds and was stopped",
                    now,
                );
            } else if let Some(exited) = child.exited.take_if(|exited| exited.by <= now) {
                self.retire(id, &exited.how, now);
            }
        }
    }

    /// Takes what a thread of an extension read.
    pub fn on_news(&mut self, from: FromChild, now: Instant) {
        let FromChild { child: id, news } = from;
        let Some(child) = self.children.get_mut(id.0) else {
            return;
        };
        match news {
            News::Messages(messages) => {
                for message in messages {
                    self.on_message(id, message, now);
                }
                if let Some(link) = self.children[id.0].link() {
                    link.give_credit();
                }
            }
            News::Diagnostics(lines, lost) => {
                if let Some(link) = child.link() {
                    link.give_stderr_credit();
                }
                let file = child.file.clone();
                let more = (lost > 0).then(|| format!("… and {lost} more lines"));
                for line in lines.into_iter().chain(more) {
                    let text = format!("extension {file}: {}", fields::line(&line, usize::MAX));
                    self.notice(text);
                }
            }
            News::Closed(Some(why)) => self.retire(id, &format!("was stopped: {why}"), now),
            News::Closed(None) => {
                let how = child.exited.take();
                self.retire(id, how.as_ref().map_or("exited", |exited| &exited.how), now);
            }
            News::Deaf => {
                // It may have exited, and what it wrote last is on its way.
                let by = now + LAST_WORDS;
                let how = "closed its standard input and was stopped".to_owned();
                child.exited.get_or_insert(Exited { how, by });
            }
            News::Exited(exit) => {
                let (how, by) = (exit_text(exit), now + LAST_WORDS);
                if child.state != State::Gone {
                    child.exited = Some(Exited { how, by });
                }
            }
        }
    }

    /// Ends every extension: tells it, waits a moment, kills what is left. Dropping does the same.
    pub fn shut_down(self) {}

    fn end(&mut self) {
        let now = Instant::now();
        self.leaving = true;
        let asked: Vec<AskId> = self.open.keys().copied().collect();
        for ask in asked {
            self.answer(ask, Err("e is shutting down".into()), now);
        }
        let farewell = wire::notification("shutdown", None);
        let mut left: Vec<Link> = Vec::new();
        let mut waited: Vec<ExtensionId> = Vec::new();
        for (index, child) in self.children.iter_mut().enumerate() {
            child.post(&farewell, now);
            if let Some(mut link) = child.take_link() {
                link.close_input();
                left.push(link);
                waited.push(ExtensionId(index));
            }
        }
        self.wait_for_exits(&mut waited, now + SHUTDOWN);
        for link in &left {
            link.stop(Duration::ZERO);
        }
        self.wait_for_exits(&mut waited, Instant::now() + KILLED);
    }

    fn wait_for_exits(&self, waited: &mut Vec<ExtensionId>, until: Instant) {
        while !waited.is_empty() {
            match self.news.1.recv_deadline(until) {
                Ok(FromChild {
                    child,
                    news: News::Exited(_),
                }) => waited.retain(|one| *one != child),
                Ok(_) => {}
                Err(_) => return,
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

    fn on_message(&mut self, id: ExtensionId, message: Message, now: Instant) {
        let child = &mut self.children[id.0];
        if child.state == State::Gone {
            return;
        }
        match message {
            Message::Response {
                id: request,
                result,
            } => self.on_response(id, request, result, now),
            Message::Update {
                id: call,
                stream,
                chunk,
            } => {
                if let Some(Pending {
                    purpose: Purpose::Tool(ticket),
                    ..
                }) = child.pending(call)
                {
                    self.out.push_back(HostEvent::Update(ticket, stream, chunk));
                }
            }
            Message::Notify(text) => {
                let text = fields::block(&text, NOTICE).trim_end().to_owned();
                let extension = child.name().to_owned();
                if !text.is_empty() {
                    self.out.push_back(HostEvent::Said { extension, text });
                }
            }
            Message::Request {
                id: request,
                method,
                params,
            } => match child.state {
                State::Starting if child.early.len() < MAX_OPEN => {
                    child.early.push((request, method, params));
                }
                _ => self.on_request(id, request, method, params, now),
            },
            Message::NotUtf8 => {
                let text = format!(
                    "extension {}: a line that is not UTF-8 was skipped",
                    child.file
                );
                self.notice(text);
            }
            Message::Noise => {}
        }
    }

    fn on_response(
        &mut self,
        id: ExtensionId,
        request: u64,
        result: Result<Value, String>,
        now: Instant,
    ) {
        let child = &mut self.children[id.0];
        // Late, doubled and invented answers end here.
        let Some(pending) = child.settle(request) else {
            return;
        };
        match pending.purpose {
            Purpose::Initialize => self.initialized(id, result, now),
            Purpose::Hook(ticket) => {
                self.hook_answered(id, ticket, result, now);
                self.ask_next(id.0, now);
            }
            Purpose::Tool(ticket) | Purpose::Call(ticket) => {
                let result = result.map_err(|error| Failure::Error(fields::block(&error, NOTICE)));
                self.out.push_back(HostEvent::Answered(ticket, result));
            }
        }
    }

    fn initialized(&mut self, id: ExtensionId, result: Result<Value, String>, now: Instant) {
        let parsed = result
            .map_err(|error| format!("it refused to start: {}", fields::line(&error, 200)))
            .and_then(|manifest| manifest::parse(&manifest));
        let child = &mut self.children[id.0];
        match parsed {
            Ok((manifest, problems)) => {
                child.manifest = Some(manifest);
                child.state = State::Running;
                let early = std::mem::take(&mut child.early);
                let file = child.file.clone();
                for problem in problems {
                    self.notice(format!("extension {file}: {problem}"));
                }
                for (request, method, params) in early {
                    self.on_request(id, request, method, params, now);
                }
            }
            Err(problem) => self.skip(id, &problem),
        }
    }

    fn on_request(
        &mut self,
        from: ExtensionId,
        id: Box<RawValue>,
        method: String,
        params: Value,
        now: Instant,
    ) {
        let child = &mut self.children[from.0];
        let served = match method.split_once('.') {
            Some(("ui", _)) => self.serves.ui,
            Some(("session", _)) => self.serves.session,
            _ => true,
        };
        let request = match () {
            () if child.open >= MAX_OPEN => Err(format!(
                "{MAX_OPEN} of your requests are unanswered; wait for an answer"
            )),
            () if !served => Err("no ui".into()),
            () => request::parse(&method, &params),
        };
        match request {
            Err(error) => {
                if !child.post(&wire::response(&id, &Err(error)), now) {
                    self.give_up(from, now);
                }
            }
            Ok(request) => {
                let is_question = request.is_question();
                child.open += 1;
                if is_question {
                    child.question_opened(now);
                }
                let extension = child.name().to_owned();
                self.last_ask += 1;
                let ask = AskId(self.last_ask);
                let open = Open {
                    from,
                    id,
                    is_question,
                };
                self.open.insert(ask, open);
                self.out.push_back(HostEvent::Asked(Asked {
                    ask,
                    from,
                    extension,
                    method,
                    params,
                    request,
                }));
            }
        }
    }

    /// Brings a chain to the next extension that has the hook, or to its end.
    fn advance(&mut self, ticket: Ticket, now: Instant) {
        loop {
            let Some(chain) = self.chains.get_mut(&ticket) else {
                return;
            };
            let index = chain.next;
            let Some(child) = self.children.get_mut(index) else {
                return self.decide(ticket);
            };
            chain.next += 1;
            let concerned = child
                .manifest
                .as_ref()
                .is_some_and(|manifest| chain.concerns(manifest));
            match child.state {
                State::Running if concerned => {
                    child.hooks.push_back(ticket);
                    return self.ask_next(index, now);
                }
                // Its exit was told; only the count goes on.
                State::Gone if concerned => {
                    let kind = chain.kind();
                    child.count_failure(kind);
                }
                _ => {}
            }
        }
    }

    fn decide(&mut self, ticket: Ticket) {
        if let Some(chain) = self.chains.remove(&ticket) {
            self.out
                .push_back(HostEvent::Hooked(ticket, chain.into_verdict()));
        }
    }

    /// Asks the extension the oldest hook that waits for it, if it is not being asked.
    fn ask_next(&mut self, index: usize, now: Instant) {
        let child = &mut self.children[index];
        while child.asking.is_none() {
            let Some(ticket) = child.hooks.pop_front() else {
                return;
            };
            if let Some(chain) = self.chains.get(&ticket) {
                let (method, params) = (chain.kind().method(), chain.params());
                child.asking = child.request(method, &params, Purpose::Hook(ticket), HOOK, now);
                if child.asking.is_none() {
                    return self.give_up(ExtensionId(index), now);
                }
            }
        }
    }

    fn hook_answered(
        &mut self,
        id: ExtensionId,
        ticket: Ticket,
        result: Result<Value, String>,
        now: Instant,
    ) {
        let name = self.children[id.0].name().to_owned();
        let Some(chain) = self.chains.get_mut(&ticket) else {
            return;
        };
        let kind = chain.kind();
        let step = match result {
            Ok(answer) => chain.take(&name, &answer),
            Err(error) => Err(format!("it answered: {}", fields::line(&error, 200))),
        };
        match step {
            Ok(Step::Decided) => self.decide(ticket),
            Ok(Step::Next) => self.advance(ticket, now),
            Err(why) => {
                self.failed_open(id, kind, &why);
                self.advance(ticket, now);
            }
        }
    }

    /// A hook did not do its part. Told once for each hook of an extension, counted after that.
    fn failed_open(&mut self, id: ExtensionId, kind: HookKind, why: &str) {
        let child = &mut self.children[id.0];
        if child.count_failure(kind) {
            let (file, hook) = (child.file.clone(), kind.name());
            self.notice(format!(
                "extension {file}: its hook {hook} failed and was passed over ({why}) - it does not guard while it fails"
            ));
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

    /// An extension cannot be used at all.
    fn skip(&mut self, id: ExtensionId, problem: &str) {
        let child = &mut self.children[id.0];
        child.state = State::Gone;
        child.exited = None;
        child.take_all();
        if let Some(link) = child.take_link() {
            link.stop(Duration::ZERO);
        }
        let notice = skipped(&child.file, problem);
        self.out.push_back(notice);
    }

    fn give_up(&mut self, id: ExtensionId, now: Instant) {
        self.retire(id, "does not read what e sends it and was stopped", now);
    }

    /// An extension has ended, or is ended now. What waits for it fails, once.
    fn retire(&mut self, id: ExtensionId, how: &str, now: Instant) {
        let child = &mut self.children[id.0];
        match child.state {
            State::Gone => return,
            State::Starting => return self.skip(id, &format!("it {how} before it was ready")),
            State::Running => child.state = State::Gone,
        }
        child.exited = None;
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
        self.children[id.0].open = 0;
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

    fn asked_by(&self, id: ExtensionId) -> impl Iterator<Item = AskId> {
        let open = self.open.iter();
        open.filter(move |(_, open)| open.from == id)
            .map(|(ask, _)| *ask)
    }

    fn take_back_questions(&mut self, id: ExtensionId, now: Instant) {
        let questions: Vec<AskId> = self
            .asked_by(id)
            .filter(|ask| self.open.get(ask).is_some_and(|open| open.is_question))
            .collect();
        for ask in questions {
            self.answer(ask, Ok(json!({"cancelled": true})), now);
            self.out.push_back(HostEvent::Withdrawn(ask));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

fn skipped(file: &str, problem: &str) -> HostEvent {
    HostEvent::Notice(format!("extension {file} was skipped: {problem}"))
}

fn exit_text(exit: Exit) -> String {
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
