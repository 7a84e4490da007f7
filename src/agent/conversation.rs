//! What a session remembers between turns: the history and its way to the log. Also where the steps
//! of a session collect what they want done.
//!
//! A message is committed once, in memory, and queued for the log in the same breath. One write is
//! in flight at most, so a slow disk never holds up the loop.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use uuid::Uuid;

use super::action::{Action, LogEntry, Now, Saving};
use super::compact;
use super::event::{Answer, Prompt, RequestId, Source};
use super::instructions;
use super::open::{Past, Selection, SessionSpec};
use crate::chat::{Message, ToolSpec};
use crate::extension::{EventName, HookKind};
use crate::session::{Entry, Envelope, Record};

/// The lasting state of a session.
#[derive(Debug)]
pub struct Conversation {
    /// What the session was opened with.
    pub spec: Arc<SessionSpec>,
    /// What answers from the next turn on.
    pub selection: Selection,
    /// Messages in order, all of them sendable.
    pub history: Vec<Entry>,
    /// The display name.
    pub name: Option<String>,
    /// Messages that wait for the running turn.
    pub held: VecDeque<Held>,
    /// Internal messages that go just ahead of the user's next prompt.
    pub next_turn: Vec<String>,
    /// The only tools for now, by the wish of an extension.
    pub narrowed: Option<Vec<String>>,
    /// A compaction for the next step, with its focus.
    pub compact_asked: Option<Option<String>>,
    /// What answers once the running turn is over.
    pub next_selection: Option<Selection>,
    /// Directories whose AGENTS.md has been looked at.
    pub instructed: BTreeSet<PathBuf>,
    /// What the provider counted, and how many messages that was.
    measured: Option<(usize, u64)>,
    /// The number of the next tool call. Never reset, so a late event cannot hit a new row.
    next_call: u64,
    next_job: u64,
    log: Queue,
    /// The facts of the step that is under way.
    pub now: Now,
    /// What that step wants done, in order.
    pub actions: Vec<Action>,
}

/// A message that waits for the running turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its text.
    pub content: String,
    /// Whether only the model sees it.
    pub internal: bool,
    /// By what it can be amended: the request that brought it, or an own id for what an extension says.
    pub from: Option<RequestId>,
}

impl Held {
    /// A message that shows in the transcript.
    pub fn said(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            internal: false,
            from: None,
        }
    }
}

impl From<Held> for Prompt {
    fn from(held: Held) -> Self {
        Self {
            text: held.content,
            images: Vec::new(),
            source: match held.from {
                _ if held.internal => Source::Internal,
                Some(id) if !id.is_own() => Source::Settled,
                _ => Source::Sent,
            },
        }
    }
}

/// Records on their way to the log.
#[derive(Debug, Default)]
struct Queue {
    head: Option<String>,
    /// Whether there is a log, or one on its way.
    begun: bool,
    waiting: Vec<LogEntry>,
    in_flight: bool,
    failing: bool,
    path: Option<PathBuf>,
    /// What is done once all that was said is on the disk.
    saving: Vec<Saving>,
}

impl Conversation {
    /// A conversation that goes on from `past`, whose log is left for its writer.
    pub fn new(spec: Arc<SessionSpec>, past: &mut Past) -> Self {
        let path = past.log.as_ref().map(|log| log.path().to_path_buf());
        // No record may reach the disk before its parent.
        let waiting = match path.is_none() && spec.saves() {
            true => records(past, spec.created_ms),
            false => Vec::new(),
        };
        Self {
            selection: spec.selection.clone(),
            instructed: instructed(&past.entries),
            spec,
            history: std::mem::take(&mut past.entries),
            name: past.name.take(),
            held: VecDeque::new(),
            next_turn: Vec::new(),
            narrowed: None,
            compact_asked: None,
            next_selection: None,
            measured: None,
            next_call: 1,
            next_job: 1,
            log: Queue {
                head: past.head.take(),
                begun: path.is_some() || !waiting.is_empty(),
                path,
                waiting,
                ..Queue::default()
            },
            now: Now {
                instant: Instant::now(),
                wall_ms: 0,
                random: 1.0,
                congested: false,
            },
            actions: Vec::new(),
        }
    }

    /// Wants something done.
    pub fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Answers a request of the frontend.
    pub fn answer(&mut self, request: RequestId, answer: Answer) {
        self.push(Action::Answer(request, answer));
    }

    /// Answers interrupts, once nothing is left to be interrupted.
    pub fn stopped(&mut self, interrupters: Vec<RequestId>) {
        for request in interrupters {
            let running = self.spec.runtime.processes.running();
            self.answer(request, Answer::Stopped(running));
        }
    }

    /// Bytes of the messages that wait for a turn. Each counts for a little more than its text.
    pub fn waiting(&self) -> usize {
        let held = self.held.iter().map(|held| &held.content);
        held.chain(&self.next_turn)
            .map(|text| text.len() + 64)
            .sum()
    }

    /// Changes a held message, or takes it back.
    pub fn amend(&mut self, message: RequestId, text: Option<String>) -> Answer {
        let held = self.held.iter().position(|held| held.from == Some(message));
        match (held, text) {
            (None, _) => Answer::Refused("that message has been taken already".into()),
            (Some(at), Some(text)) => {
                self.held[at].content = text;
                Answer::Done
            }
            (Some(at), None) => {
                self.held.remove(at);
                Answer::Done
            }
        }
    }

    /// Whether any extension has this hook.
    pub fn has_hook(&self, kind: HookKind) -> bool {
        self.spec.extensions.hooks.contains(&kind)
    }

    /// Tells the extensions that want to know.
    pub fn tell(&mut self, event: EventName, extra: impl FnOnce() -> Value) {
        if self.spec.extensions.events.contains(&event) {
            self.push(Action::Tell(event, extra()));
        }
    }

    /// The tools that the next request offers.
    pub fn advertised(&self) -> Arc<Vec<ToolSpec>> {
        let (spec, model) = (&self.spec, &self.selection.model);
        let narrowed = self.narrowed.as_deref();
        spec.tools.advertised(model, &spec.extensions, narrowed)
    }

    /// Whether a call of this tool may run; if not, what the model is told.
    pub fn permits(&self, tool: &str) -> Result<(), String> {
        self.spec.tools.permits(tool, self.narrowed.as_deref())
    }

    /// Gives the session another display name. `false` when it has it already.
    pub fn rename(&mut self, name: Option<String>) -> bool {
        if self.name == name {
            return false;
        }
        self.name.clone_from(&name);
        // Before the first message there is no log; the name follows that.
        if self.spec.saves() && self.log.begun {
            self.append(Record::Name(name.unwrap_or_default()));
        }
        true
    }

    /// Lets something else answer, from the next turn on.
    pub fn select(&mut self, selection: Selection) {
        self.tell_change(&selection);
        self.selection = selection;
    }

    /// The same while a turn runs.
    pub fn select_next(&mut self, selection: Selection) {
        self.tell_change(&selection);
        self.next_selection = Some(selection);
    }

    fn tell_change(&mut self, to: &Selection) {
        let from = self.next_selection.as_ref().unwrap_or(&self.selection);
        let model = to.model.slug();
        let (other_model, other_effort) = (from.model.slug() != model, from.effort != to.effort);
        if other_model {
            self.tell(EventName::ModelChange, || json!({"model": model}));
        }
        if other_effort {
            self.tell(EventName::EffortChange, || json!({"effort": to.effort}));
        }
    }

    /// What was chosen during a turn takes effect: it is over, or the next one begins.
    pub fn adopt_selection(&mut self) {
        if let Some(selection) = self.next_selection.take() {
            self.selection = selection;
        }
    }

    /// The messages alone.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.history
            .iter()
            .map(|entry| entry.message.clone())
            .collect()
    }

    /// A number for a tool call.
    pub fn call_id(&mut self) -> u64 {
        self.next_call += 1;
        self.next_call - 1
    }

    /// A number for a job.
    pub fn job(&mut self) -> u64 {
        self.next_job += 1;
        self.next_job - 1
    }

    /// Appends a message to the history and to the log.
    pub fn commit(&mut self, message: Message, response: Option<Envelope>) {
        let message = Arc::new(message);
        let id = self.spec.saves().then(|| Uuid::now_v7().to_string());
        self.history.push(Entry {
            id: id.clone(),
            message: message.clone(),
        });
        if let Some(id) = id {
            let is_first = !std::mem::replace(&mut self.log.begun, true);
            let parent = self.log.head.replace(id.clone());
            let timestamp = self.now.wall_ms;
            self.append(Record::Message {
                id,
                parent,
                timestamp,
                message,
                response,
            });
            if let Some(name) = self.name.clone().filter(|_| is_first) {
                self.append(Record::Name(name));
            }
        }
    }

    /// Puts a compacted history in the place of the old one; the log gets one record of it.
    pub fn replace(&mut self, history: Vec<Entry>, record: Record) {
        self.history = history;
        self.measured = None;
        if self.spec.saves() {
            self.log.head = record.id().map(String::from);
            self.append(record);
        }
    }

    /// Goes on from an earlier node, whose history this is. Nothing is written: the next record
    /// begins another branch.
    pub fn rewind(&mut self, history: Vec<Entry>, head: Option<String>) {
        self.instructed = instructed(&history);
        self.history = history;
        self.measured = None;
        self.log.head = head;
    }

    /// The provider counted the history as it stands now.
    pub fn measure(&mut self, tokens: u64) {
        self.measured = Some((self.history.len(), tokens));
    }

    /// How many tokens the next request is about: as measured, plus estimates of what came since.
    pub fn context_tokens(&self, system: &str) -> u64 {
        let (counted, tokens) = self.measured.unwrap_or((0, compact::estimate_text(system)));
        let since = self.history[counted..].iter();
        tokens
            + since
                .map(|entry| compact::estimate(&entry.message))
                .sum::<u64>()
    }

    /// Logs a response that left no message.
    pub fn commit_response(&mut self, response: Envelope) {
        if self.spec.saves() {
            self.append(Record::Response { response });
        }
    }

    /// Logs beside the conversation that a turn failed or was stopped.
    pub fn commit_failure(&mut self, details: Value) {
        if self.spec.saves() && self.log.begun {
            let parent = self.log.head.clone();
            self.log.waiting.push(LogEntry::Failure { parent, details });
            self.write();
        }
    }

    /// Does something once all that was said is on the disk, for which one more write is tried. What
    /// cannot be written refuses it.
    pub fn save(&mut self, saving: Saving) {
        if !self.log.begun {
            return self.push(saving.done());
        }
        self.log.saving.push(saving);
        self.write();
    }

    /// Whether something waits for that.
    pub fn is_saving(&self) -> bool {
        !self.log.saving.is_empty()
    }

    /// Takes the outcome of a write. Returns a warning for the first failure of an episode. The
    /// log's writer keeps what it could not write and tries again with the next record.
    pub fn appended(&mut self, error: Option<String>, path: Option<PathBuf>) -> Option<String> {
        let log = &mut self.log;
        log.in_flight = false;
        log.path = path.or(log.path.take());
        let first = error.is_some() && !log.failing;
        log.failing = error.is_some();
        if error.is_some() || log.waiting.is_empty() {
            let saved = log.saving.drain(..);
            self.actions.extend(saved.map(|saving| match &error {
                None => saving.done(),
                Some(why) => saving.refused(why),
            }));
        }
        self.write();
        error
            .filter(|_| first)
            .map(|error| format!("history is in memory only for now: {error}"))
    }

    /// The newest node of the log.
    pub fn head(&self) -> Option<&str> {
        self.log.head.as_deref()
    }

    /// Whether everything that can be written has been.
    pub fn log_settled(&self) -> bool {
        !self.log.in_flight && self.log.waiting.is_empty()
    }

    /// Where the log is, once it exists.
    pub fn log_path(&self) -> Option<PathBuf> {
        self.log.path.clone()
    }

    fn append(&mut self, record: Record) {
        self.log.waiting.push(LogEntry::Record(record));
        self.write();
    }

    fn write(&mut self) {
        let log = &mut self.log;
        let is_wanted = !log.waiting.is_empty() || !log.saving.is_empty();
        if is_wanted && !log.in_flight {
            log.in_flight = true;
            let waiting = std::mem::take(&mut log.waiting);
            self.push(Action::Append(waiting));
        }
    }
}

/// The records of a history that is in no log yet. What it ends with becomes the head.
fn records(past: &mut Past, timestamp: u64) -> Vec<LogEntry> {
    past.head = None;
    let messages = past.entries.iter_mut().map(|entry| {
        let id = entry.id.get_or_insert_with(|| Uuid::now_v7().to_string());
        Record::Message {
            id: id.clone(),
            parent: past.head.replace(id.clone()),
            timestamp,
            response: None,
            message: entry.message.clone(),
        }
    });
    let mut records: Vec<_> = messages.map(LogEntry::Record).collect();
    if let (Some(name), false) = (&past.name, records.is_empty()) {
        records.push(LogEntry::Record(Record::Name(name.clone())));
    }
    records
}

/// The directories whose AGENTS.md the history holds.
fn instructed(history: &[Entry]) -> BTreeSet<PathBuf> {
    let messages = history.iter().map(|entry| &entry.message);
    messages
        .filter_map(|message| instructions::directory_of(message))
        .collect()
}
