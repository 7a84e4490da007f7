//! A turn: one prompt carried through to an answer, a failure or a stop.
//!
//! A pure state machine. [`Turn::step`] takes one event and the lasting state, and returns what
//! should be done; it never waits, reads or writes. Phases follow each other like this:
//!
//! ```text
//! Submitting → Expanding → Commanding → Preparing → Asking → Streaming ⇄ Waiting (retry)
//!                                                   ↓ calls                ↑ next step
//!                                                Running → Instructing ────┘
//! any of them → Stopping (tools get a moment) → Finishing (the log gets a moment) → gone
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::action::{Action, Job, SessionEvent, Topic};
use super::batch::Batch;
use super::conversation::{Conversation, Effects};
use super::event::{Answer, Limits, Prompt, RequestId, TurnEvent};
use super::hooks::Pending;
use super::instructions;
use super::report::Report;
use super::stream::{self, Reply};
use super::summarise::{Compaction, Draft, Reason};
use crate::chat::{Message, Outcome, ToolResult};
use crate::extension::EventName;
use crate::provider::Request;

/// Steps after which a turn is stopped even without a limit of its own.
const MAX_STEPS: u32 = 256;
/// How long cancelled tools may take to stop before their results are written off.
const CANCEL_GRACE: Duration = Duration::from_millis(800);
/// How long the end of a turn waits for the log to reach the disk.
const LOG_FLUSH: Duration = Duration::from_secs(5);

/// A running turn.
#[derive(Debug)]
pub struct Turn {
    pub(super) request: RequestId,
    pub(super) limits: Limits,
    pub(super) report: Report,
    pub(super) step: u32,
    pub(super) campaign: stream::Campaign,
    /// The compaction that is under way.
    pub(super) compaction: Option<Compaction>,
    /// The server called a request too long, and compacting was tried.
    pub(super) overflowed: bool,
    /// Whether `turn_start` was emitted, so that `turn_end` must follow. A compaction alone, or a
    /// line that a hook swallowed, has neither.
    announced: bool,
    /// The same for the event of that name that extensions get.
    pub(super) told: bool,
    /// What started it, until the extensions have been told.
    pub(super) prompt: String,
    pub(super) system: Arc<str>,
    pub(super) phase: Phase,
    /// Why the turn stops early, once it does.
    stop: Option<Stop>,
    /// Interrupt requests that are answered when the turn is over.
    interrupters: Vec<RequestId>,
}

#[derive(Debug)]
pub(super) enum Phase {
    /// Extensions look at the submitted line.
    Submitting(Box<Pending>),
    /// The template that the line may name is read.
    Expanding(Box<Pending>),
    /// A command of an extension runs.
    Commanding(Box<Pending>),
    Preparing(Job),
    /// Extensions add to the turn.
    Asking(Job),
    /// Extensions look at a summary.
    Rewriting(Box<(Job, Option<Draft>)>),
    Streaming(Box<Reply>),
    Waiting,
    Running(Batch),
    Instructing(Job),
    Finishing {
        aborted: bool,
        overdue: bool,
    },
}

/// Why a turn stops before it is done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// Somebody asked.
    Interrupted,
    /// A limit was reached; the text names it.
    Limit(String),
}

/// Whether a turn goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It waits for the next event.
    Continues,
    /// It is over and answered.
    Over,
}

impl Turn {
    /// A turn that has not begun.
    pub fn idle(request: RequestId, limits: Limits, conversation: &Conversation) -> Self {
        let (spec, selection) = (&conversation.spec, &conversation.selection);
        let (model, effort) = (selection.model.slug(), selection.effort.clone());
        Self {
            request,
            limits,
            report: Report::new(model, effort, spec.warnings.clone()),
            step: 0,
            campaign: stream::Campaign::new(&spec.settings),
            compaction: None,
            overflowed: false,
            announced: false,
            told: false,
            prompt: String::new(),
            system: "".into(),
            phase: Phase::Waiting,
            stop: None,
            interrupters: Vec::new(),
        }
    }

    /// Compacts the conversation and does nothing else.
    pub fn start_compaction(
        &mut self,
        focus: Option<String>,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) -> Flow {
        self.compact(Reason::Asked, focus, conversation, fx);
        self.settle(conversation, fx)
    }

    /// Begins with a prompt.
    pub fn start(
        prompt: Prompt,
        limits: Limits,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) -> Self {
        let request = fx.request.unwrap_or(RequestId(0));
        let mut turn = Self::idle(request, limits, conversation);
        if let Some(seconds) = limits.seconds {
            let at = fx.now.instant + Duration::from_secs(seconds);
            fx.push(Action::SetTimer(Topic::Budget, at));
        }
        turn.submit(prompt, conversation, fx);
        turn
    }

    /// Tells the frontend that a turn begins.
    pub(super) fn announce(&mut self, fx: &mut Effects<'_>) {
        self.announced = true;
        self.emit(TurnEvent::TurnStart, fx);
    }

    /// Takes one event. Other requests than interrupts are the session's business and never arrive
    /// here.
    pub fn step(
        &mut self,
        event: SessionEvent,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) -> Flow {
        match event {
            SessionEvent::Prompt(..)
            | SessionEvent::Steer(..)
            | SessionEvent::Amend(..)
            | SessionEvent::Shell(..)
            | SessionEvent::Compact(..)
            | SessionEvent::Configure(..)
            | SessionEvent::Rename(..)
            | SessionEvent::Rewind(..)
            | SessionEvent::Undo(..)
            | SessionEvent::Undone(..)
            | SessionEvent::Save(..)
            | SessionEvent::Query(..)
            | SessionEvent::Asked(..) => {}
            SessionEvent::Interrupt(from) => {
                self.interrupters.extend(from);
                self.stop(Stop::Interrupted, conversation, fx);
            }
            SessionEvent::Prepared(job, system) => {
                if matches!(self.phase, Phase::Preparing(expected) if expected == job) {
                    self.system = system;
                    self.prepared(conversation, fx);
                }
            }
            SessionEvent::Hooked(job, verdict) => self.hooked(job, verdict, conversation, fx),
            SessionEvent::Expanded(job, filled) => self.expanded(job, filled, conversation, fx),
            SessionEvent::Commanded(job, result) => self.commanded(job, result, conversation, fx),
            SessionEvent::Named(name) => self.rename(Some(name), conversation, fx),
            SessionEvent::Stream { job, events, slept } => {
                self.on_stream(job, events, slept, conversation, fx);
            }
            SessionEvent::Identified(job, identities) => {
                if let Phase::Running(batch) = &mut self.phase {
                    batch.identified(job, identities);
                    self.advance_batch(conversation, fx);
                }
            }
            SessionEvent::ToolOutput(id, stream, chunk) => {
                if matches!(&self.phase, Phase::Running(batch) if batch.is_running(id)) {
                    self.emit(TurnEvent::ToolOutput { id, stream, chunk }, fx);
                }
            }
            SessionEvent::ToolDone(id, result) => self.on_tool_done(id, result, conversation, fx),
            SessionEvent::Instructions(job, found) => {
                if matches!(self.phase, Phase::Instructing(expected) if expected == job) {
                    for one in found {
                        self.join_instructions(one, conversation, fx);
                    }
                    self.next_step(conversation, fx);
                }
            }
            SessionEvent::Appended { error, path } => {
                if let Some(warning) = conversation.appended(error, path, fx) {
                    self.emit(TurnEvent::Warning(warning), fx);
                }
            }
            SessionEvent::Timer(topic) => self.on_timer(topic, conversation, fx),
        }
        self.settle(conversation, fx)
    }

    /// Ends the turn when it is over and logged.
    fn settle(&mut self, conversation: &mut Conversation, fx: &mut Effects<'_>) -> Flow {
        match self.phase {
            Phase::Finishing { aborted, overdue } if overdue || conversation.log_settled() => {
                self.finish(aborted, conversation, fx);
                Flow::Over
            }
            _ => Flow::Continues,
        }
    }

    /// Whether something is said to the model, or about to be. While extensions look at the line, and
    /// while a command runs, that is open.
    pub fn has_begun(&self) -> bool {
        !matches!(self.phase, Phase::Submitting(_) | Phase::Commanding(_))
    }

    /// Whether it only winds down: nothing that is said to it now is heard.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_some() || matches!(self.phase, Phase::Finishing { .. })
    }

    /// Whether it does nothing but put a summary in the place of older messages.
    pub fn is_compaction(&self) -> bool {
        let compacts = self.compaction.is_some() || matches!(self.phase, Phase::Rewriting(_));
        compacts && !self.announced
    }

    /// Tells the frontend, and takes the event into the result.
    pub(super) fn emit(&mut self, event: TurnEvent, fx: &mut Effects<'_>) {
        self.report.observe(&event);
        fx.push(Action::Emit(Some(self.request), event));
    }

    /// Begins the next step: held messages first, then a request.
    pub(super) fn next_step(&mut self, conversation: &mut Conversation, fx: &mut Effects<'_>) {
        if let Some(stop) = self.limit_reached(conversation) {
            return self.stop(stop, conversation, fx);
        }
        if self.step >= MAX_STEPS {
            let message = format!(
                "the turn made {MAX_STEPS} requests and was stopped - send `continue` to go on"
            );
            self.emit(TurnEvent::Error(message), fx);
            return self.end(false, conversation, fx);
        }
        self.step += 1;
        for held in std::mem::take(&mut conversation.held) {
            self.join(held.content, held.internal, conversation, fx);
        }
        self.campaign.restart();
        if let Some(focus) = conversation.compact_asked.take() {
            return self.compact(Reason::Queued, focus, conversation, fx);
        }
        if self.should_compact(conversation) {
            return self.compact(Reason::TooLong, None, conversation, fx);
        }
        self.send_request(conversation, fx);
    }

    /// What somebody says joins the turn. People see it if it is not internal.
    pub(super) fn join(
        &mut self,
        content: String,
        internal: bool,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) {
        if internal {
            return conversation.commit(Message::internal(content), None, fx);
        }
        self.emit(TurnEvent::Steered(content.clone()), fx);
        conversation.commit(Message::steered(content), None, fx);
    }

    /// Sends the history as it stands. Also how a retry is made.
    pub(super) fn send_request(&mut self, conversation: &mut Conversation, fx: &mut Effects<'_>) {
        let (spec, selection) = (&conversation.spec, &conversation.selection);
        let request = Request {
            model: selection.model.clone(),
            key: selection.key.clone(),
            system: self.system.clone(),
            messages: conversation.messages(),
            effort: selection.effort.clone(),
            tools: conversation.advertised(),
            session_id: spec.id.clone(),
        };
        self.open_stream(request, conversation, fx);
    }

    pub(super) fn open_stream(
        &mut self,
        request: Request,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) {
        let silence = Duration::from_secs(conversation.spec.settings.stall_seconds);
        let job = conversation.job();
        self.phase = Phase::Streaming(Box::new(Reply::new(job, fx.now.instant)));
        fx.push(Action::SetTimer(Topic::Silence, fx.now.instant + silence));
        fx.push(Action::OpenStream(job, Box::new(request)));
    }

    /// The system prompt of this turn.
    pub(super) fn system(&self) -> &str {
        &self.system
    }

    /// Waits until `at`, then asks again.
    pub(super) fn wait_to_retry(&mut self, at: Instant, fx: &mut Effects<'_>) {
        self.phase = Phase::Waiting;
        fx.push(Action::SetTimer(Topic::Retry, at));
    }

    /// The open stream, when there is one.
    pub(super) fn reply_mut(&mut self) -> Option<&mut Reply> {
        match &mut self.phase {
            Phase::Streaming(reply) => Some(reply),
            _ => None,
        }
    }

    /// Takes the stream's reply out; the phase is left to the caller to set.
    pub(super) fn take_reply(&mut self, fx: &mut Effects<'_>) -> Option<Reply> {
        fx.push(Action::ClearTimer(Topic::Silence));
        match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Streaming(reply) => Some(*reply),
            other => {
                self.phase = other;
                None
            }
        }
    }

    /// Runs the calls of a committed assistant message.
    pub(super) fn run_batch(
        &mut self,
        calls: Vec<crate::chat::ToolCall>,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) {
        let (batch, announced) = Batch::new(calls, conversation);
        self.emit(TurnEvent::ToolBatch(announced), fx);
        self.phase = Phase::Running(batch);
        self.advance_batch(conversation, fx);
    }

    /// Ends the turn: the log gets its moment, then `turn_end` and the answer.
    pub(super) fn end(
        &mut self,
        aborted: bool,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) {
        for topic in [
            Topic::Retry,
            Topic::Silence,
            Topic::CancelGrace,
            Topic::Budget,
        ] {
            fx.push(Action::ClearTimer(topic));
        }
        fx.push(Action::EndLane);
        if aborted && self.announced {
            let why = match &self.stop {
                Some(Stop::Limit(limit)) => limit,
                _ => "interrupted",
            };
            conversation.commit_failure(json!({"summary": why, "cause": "interrupted"}), fx);
        }
        let held = conversation.held.drain(..).filter(|held| !held.internal);
        let held: Vec<String> = held.map(|held| held.content).collect();
        if !held.is_empty() {
            self.emit(TurnEvent::Discarded(held), fx);
        }
        self.phase = Phase::Finishing {
            aborted,
            overdue: false,
        };
        fx.push(Action::SetTimer(
            Topic::LogFlush,
            fx.now.instant + LOG_FLUSH,
        ));
    }

    fn finish(&mut self, aborted: bool, conversation: &mut Conversation, fx: &mut Effects<'_>) {
        fx.push(Action::ClearTimer(Topic::LogFlush));
        let end = TurnEvent::TurnEnd { aborted };
        if self.announced {
            self.emit(end, fx);
        } else {
            self.report.observe(&end);
        }
        if self.told {
            conversation.tell(EventName::TurnEnd, || json!({"aborted": aborted}), fx);
        }
        let empty = Report::new(String::new(), None, Vec::new());
        let report = std::mem::replace(&mut self.report, empty);
        let pricing = conversation.selection.model.pricing.as_ref();
        let result = report.finish(pricing, conversation.log_path());
        conversation.adopt_selection();
        fx.push(Action::Answer(self.request, Answer::Turn(Box::new(result))));
        for request in self.interrupters.drain(..) {
            fx.push(Action::Answer(request, conversation.stopped()));
        }
    }

    fn on_timer(&mut self, topic: Topic, conversation: &mut Conversation, fx: &mut Effects<'_>) {
        match topic {
            Topic::Retry => {
                if matches!(self.phase, Phase::Waiting) {
                    if self.compaction.is_some() {
                        self.ask_for_summary(conversation, fx);
                    } else {
                        self.send_request(conversation, fx);
                    }
                }
            }
            Topic::Silence => self.on_silence(conversation, fx),
            Topic::CancelGrace => {
                if let Phase::Running(batch) = &mut self.phase {
                    for event in batch.write_off(conversation, fx) {
                        self.emit(event, fx);
                    }
                    self.advance_batch(conversation, fx);
                }
            }
            Topic::Budget => {
                let seconds = self.limits.seconds.unwrap_or_default();
                let unit = if seconds == 1 { "second" } else { "seconds" };
                let limit = format!("the limit of {seconds} {unit} was reached (--max-seconds)");
                self.stop(Stop::Limit(limit), conversation, fx);
            }
            Topic::LogFlush => {
                if let Phase::Finishing { overdue, .. } = &mut self.phase {
                    *overdue = true;
                    let message = "the session log was not written in time, its end may be missing";
                    self.emit(TurnEvent::Warning(message.into()), fx);
                }
            }
        }
    }

    fn on_tool_done(
        &mut self,
        id: u64,
        result: ToolResult,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) {
        let Phase::Running(batch) = &mut self.phase else {
            return;
        };
        if let Some(event) = batch.settle(id, result, conversation, fx) {
            self.emit(event, fx);
        }
        self.advance_batch(conversation, fx);
    }

    /// Starts what may start, commits what is done, and moves on when all is.
    pub(super) fn advance_batch(&mut self, conversation: &mut Conversation, fx: &mut Effects<'_>) {
        let Phase::Running(batch) = &mut self.phase else {
            return;
        };
        let mut events = Vec::new();
        batch.advance(conversation, fx, &mut events);
        let done = batch.is_done();
        let directories = if done {
            batch.new_directories(conversation)
        } else {
            Vec::new()
        };
        for event in events {
            self.emit(event, fx);
        }
        if !done {
            return;
        }
        if let Some(stop) = self.stop.clone() {
            return self.end_stopped(stop, conversation, fx);
        }
        if directories.is_empty() {
            return self.next_step(conversation, fx);
        }
        let job = conversation.job();
        conversation.instructed.extend(directories.iter().cloned());
        self.phase = Phase::Instructing(job);
        fx.push(Action::ReadInstructions(job, directories));
    }

    fn join_instructions(
        &mut self,
        found: super::action::Instructions,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) {
        if let Some(text) = found.text {
            let message = instructions::nested_message(&found.directory, &text);
            conversation.commit(Message::internal(message), None, fx);
            self.emit(
                TurnEvent::Instructions(found.directory.join(instructions::FILE)),
                fx,
            );
        }
    }

    /// Stops the turn wherever it is. What streamed is kept; running tools get a moment.
    pub(super) fn stop(
        &mut self,
        stop: Stop,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
    ) {
        if self.stop.is_some() || matches!(self.phase, Phase::Finishing { .. }) {
            return;
        }
        self.stop = Some(stop.clone());
        match &mut self.phase {
            Phase::Running(batch) if !batch.is_done() => {
                let mut events = Vec::new();
                batch.cancel(conversation, fx, &mut events);
                for event in events {
                    self.emit(event, fx);
                }
                fx.push(Action::SetTimer(
                    Topic::CancelGrace,
                    fx.now.instant + CANCEL_GRACE,
                ));
                return self.advance_batch(conversation, fx);
            }
            Phase::Submitting(_) | Phase::Expanding(_) | Phase::Commanding(_)
                if !self.announced =>
            {
                self.announce(fx);
            }
            Phase::Rewriting(_) => self.drop_draft(conversation, fx),
            _ => {}
        }
        self.forget_question(fx);
        if let Some(reply) = self.take_reply(fx) {
            fx.push(Action::CloseStream);
            self.commit_partial(reply, Outcome::Cancelled, conversation, fx);
        }
        self.compaction = None;
        self.end_stopped(stop, conversation, fx);
    }

    fn end_stopped(&mut self, stop: Stop, conversation: &mut Conversation, fx: &mut Effects<'_>) {
        if let Stop::Limit(message) = stop {
            self.emit(TurnEvent::Error(message), fx);
        }
        self.end(true, conversation, fx);
    }

    fn limit_reached(&self, conversation: &Conversation) -> Option<Stop> {
        if let Some(steps) = self.limits.steps.filter(|steps| self.step >= *steps) {
            let unit = if steps == 1 { "step" } else { "steps" };
            return Some(Stop::Limit(format!(
                "the limit of {steps} {unit} was reached (--max-steps)"
            )));
        }
        let (limit, pricing) = self
            .limits
            .cost_usd
            .zip(conversation.selection.model.pricing)?;
        let cost = self.report.usage().cost(&pricing);
        (cost >= limit)
            .then(|| Stop::Limit(format!("the limit of {limit} USD was reached (--max-cost)")))
    }
}
