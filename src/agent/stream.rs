//! A reply as it streams in, and what becomes of it: committed, retried, or a failure.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::action::{Action, Job, Topic};
use super::compact;
use super::conversation::{Conversation, Held};
use super::details::{Decision, Details, cause_label};
use super::event::TurnEvent;
use super::summarise::{self, Reason};
use super::turn::Turn;
use crate::chat::{Message, Outcome, ToolCall, Usage};
use crate::config::Settings;
use crate::provider::{Cause, Failure, Finish, Stage, StreamEvent};
use crate::session::{Envelope, Purpose};

/// Sleep of the machine that counts as one.
const SLEEP_SHORTEST: Duration = Duration::from_secs(5);
/// A reply over this many bytes is no reply; it is stopped before it fills the memory.
const REPLY_LARGEST: usize = 64 << 20;
/// A longer wait than this that a provider asks for ends the turn instead.
const RETRY_AFTER_LONGEST: Duration = Duration::from_secs(60);

/// Said when a model reasoned and gave no answer, unless the settings say it otherwise.
const NO_ANSWER: &str = "the model reasoned but gave no answer";

/// What has arrived of a reply.
#[derive(Debug)]
pub struct Reply {
    job: Job,
    sent: Instant,
    heard: Instant,
    opened: Option<(u16, Option<String>)>,
    text: String,
    reasoning: Vec<String>,
    reasoned: bool,
    calls: Vec<ToolCall>,
    argument_bytes: usize,
    /// All that has arrived.
    bytes: usize,
    usage: Option<Usage>,
}

impl Reply {
    /// Nothing yet.
    pub fn new(job: Job, sent: Instant) -> Self {
        Self {
            job,
            sent,
            heard: sent,
            opened: None,
            text: String::new(),
            reasoning: Vec::new(),
            reasoned: false,
            calls: Vec::new(),
            argument_bytes: 0,
            bytes: 0,
            usage: None,
        }
    }

    fn produced_nothing(&self) -> bool {
        self.text.is_empty() && !self.reasoned && self.calls.is_empty() && self.argument_bytes == 0
    }
}

/// The attempts at one step, and what may still be tried.
#[derive(Debug)]
pub struct Campaign {
    attempt: u32,
    limit: u32,
    /// A retry is out and has not been answered yet.
    recovering: bool,
    blank_retried: bool,
    continuations: u64,
}

impl Campaign {
    /// A fresh budget.
    pub fn new(settings: &Settings) -> Self {
        Self {
            attempt: 1,
            limit: settings.retry_max_attempts.clamp(1, 20) as u32,
            recovering: false,
            blank_retried: false,
            continuations: settings.sleep_continuations,
        }
    }

    /// A new step has all attempts before it again.
    pub fn restart(&mut self) {
        self.attempt = 1;
        self.recovering = false;
    }
}

impl Turn {
    /// Takes pieces of a reply, in order.
    pub(super) fn on_stream(
        &mut self,
        job: Job,
        events: Vec<StreamEvent>,
        slept: Duration,
        conversation: &mut Conversation,
    ) {
        for event in events {
            if !matches!(self.reply_mut(), Some(reply) if reply.job == job) {
                return;
            }
            if let StreamEvent::Failed(failure) = event {
                return self.on_failure(*failure, slept, conversation);
            }
            if self.campaign.recovering && !matches!(event, StreamEvent::Opened { .. }) {
                self.campaign.recovering = false;
                let (attempt, limit) = (self.campaign.attempt, self.campaign.limit);
                self.emit(TurnEvent::Recovered { attempt, limit }, conversation);
            }
            let heard = conversation.now.instant;
            let summarises = self.compaction.is_some();
            let Some(reply) = self.reply_mut() else {
                return;
            };
            reply.heard = heard;
            reply.bytes += match &event {
                StreamEvent::Text(deltas) | StreamEvent::Reasoning(deltas) => deltas.text().len(),
                StreamEvent::CallProgress(bytes) => *bytes,
                _ => 0,
            };
            if reply.bytes > REPLY_LARGEST {
                conversation.push(Action::CloseStream);
                let message = format!("the reply is over {} MiB", REPLY_LARGEST >> 20);
                let failure = Failure::new(Cause::Rejected, Stage::Stream, message);
                return self.on_failure(failure, Duration::ZERO, conversation);
            }
            match event {
                StreamEvent::Opened { status, request_id } => {
                    reply.opened = Some((status, request_id));
                }
                StreamEvent::Text(deltas) => {
                    reply.text.push_str(deltas.text());
                    if !summarises {
                        self.emit(TurnEvent::Text(deltas), conversation);
                    }
                }
                StreamEvent::Reasoning(deltas) => {
                    reply.reasoned = true;
                    if !summarises {
                        self.emit(TurnEvent::Reasoning(deltas), conversation);
                    }
                }
                StreamEvent::CallProgress(bytes) => reply.argument_bytes += bytes,
                StreamEvent::Call(call) => {
                    reply.argument_bytes = 0;
                    reply.calls.push(call);
                }
                StreamEvent::ReasoningItem(item) => {
                    reply.reasoned = true;
                    reply.reasoning.push(item);
                }
                StreamEvent::Usage(usage) => reply.usage = Some(usage),
                StreamEvent::Done { finish, malformed } => {
                    self.on_done(finish, malformed, conversation);
                }
                StreamEvent::Failed(_) => {}
            }
        }
    }

    /// The silence limit passed: fails the stream unless content came meanwhile, or e itself was
    /// held up by a slow reader.
    pub(super) fn on_silence(&mut self, conversation: &mut Conversation) {
        let limit = Duration::from_secs(conversation.spec.settings.stall_seconds);
        let now = conversation.now;
        let Some(reply) = self.reply_mut() else {
            return;
        };
        if now.congested {
            reply.heard = now.instant;
        }
        let due = reply.heard + limit;
        if due > now.instant {
            return conversation.push(Action::SetTimer(Topic::Silence, due));
        }
        conversation.push(Action::CloseStream);
        let message = format!("the provider sent nothing for {} s", limit.as_secs());
        let failure = Failure::new(Cause::Stalled, Stage::Stream, message);
        self.on_failure(failure, Duration::ZERO, conversation);
    }

    /// Keeps what streamed before a stop or a failure, with an answer for every call.
    pub(super) fn commit_partial(
        &mut self,
        mut reply: Reply,
        outcome: Outcome,
        conversation: &mut Conversation,
    ) {
        if self.compaction.is_some() {
            let (_, response) = self.take_summary(reply, conversation);
            if response.usage.is_some() {
                conversation.commit_response(response);
            }
            return;
        }
        let calls = std::mem::take(&mut reply.calls);
        self.commit_reply(reply, calls.clone(), conversation);
        let why = match outcome {
            Outcome::Cancelled => "the turn was interrupted before this call ran",
            _ => "the reply broke off before this call ran",
        };
        for call in calls {
            let result = Message::Tool {
                call_id: call.id,
                content: why.into(),
                outcome,
                summary: outcome.record_name().into(),
            };
            conversation.commit(result, None);
        }
    }

    fn on_done(&mut self, finish: Finish, malformed: u32, conversation: &mut Conversation) {
        let Some(mut reply) = self.take_reply(conversation) else {
            return;
        };
        if self.compaction.is_some() {
            return self.on_summary(reply, &finish, malformed, conversation);
        }
        let blank = reply.text.trim().is_empty();
        if blank && reply.calls.is_empty() && !reply.reasoned && conversation.held.is_empty() {
            return self.on_blank(reply, finish, malformed, conversation);
        }
        let unanswered = blank && reply.calls.is_empty() && conversation.held.is_empty();
        let calls = std::mem::take(&mut reply.calls);
        self.commit_reply(reply, calls.clone(), conversation);
        self.warn_of_finish(&finish, malformed, conversation);
        if !calls.is_empty() {
            return self.run_batch(calls, conversation);
        }
        if unanswered {
            let message = conversation.spec.settings.no_answer_message.clone();
            let message = message.unwrap_or_else(|| NO_ANSWER.into());
            self.emit(TurnEvent::Warning(message), conversation);
        }
        if conversation.held.is_empty() {
            self.end(false, conversation)
        } else {
            self.next_step(conversation)
        }
    }

    /// A stream that ended well and said nothing: ask once more, then call it a failure.
    fn on_blank(
        &mut self,
        mut reply: Reply,
        finish: Finish,
        malformed: u32,
        conversation: &mut Conversation,
    ) {
        self.warn_of_finish(&finish, malformed, conversation);
        if self.campaign.blank_retried || self.campaign.limit < 2 {
            let message = "the provider gave an empty response - send the prompt again or choose another model";
            let mut failure = Failure::new(Cause::Unavailable, Stage::Stream, message);
            if let Some((status, request_id)) = reply.opened.take() {
                failure.status = Some(status);
                failure.request_id = request_id;
            }
            let decision = match self.campaign.blank_retried {
                true => Decision::NotRetryable,
                false => Decision::Disabled,
            };
            return self.fail(failure, decision, reply, conversation);
        }
        self.commit_reply(reply, Vec::new(), conversation);
        self.campaign.blank_retried = true;
        self.campaign.attempt = 2;
        self.campaign.recovering = true;
        let event = TurnEvent::Retry {
            attempt: 2,
            limit: self.campaign.limit,
            delay_secs: 1,
            cause: cause_label(Cause::Unavailable),
            reason: "empty response".into(),
        };
        self.emit(event, conversation);
        self.wait_to_retry(
            conversation.now.instant + Duration::from_secs(1),
            conversation,
        );
    }

    fn on_failure(
        &mut self,
        mut failure: Failure,
        slept: Duration,
        conversation: &mut Conversation,
    ) {
        let Some(mut reply) = self.take_reply(conversation) else {
            return;
        };
        if let Some((status, request_id)) = reply.opened.take() {
            failure.status.get_or_insert(status);
            failure.request_id = failure.request_id.or(request_id);
        }
        if slept >= SLEEP_SHORTEST && self.compaction.is_none() {
            return self.on_sleep(reply, slept, conversation);
        }
        let overflow = failure.cause == Cause::Overflow && reply.produced_nothing();
        let may_help = || {
            let window = conversation.selection.model.context_window;
            compact::cut(&conversation.history, window).is_some()
        };
        if overflow && self.compaction.is_none() && !self.overflowed && may_help() {
            self.overflowed = true;
            return self.compact(Reason::TooLong, None, conversation);
        }
        let campaign = &mut self.campaign;
        let too_long = failure
            .retry_after
            .is_some_and(|wait| wait > RETRY_AFTER_LONGEST);
        let decision = if !retryable(failure.cause) || too_long {
            Decision::NotRetryable
        } else if !reply.produced_nothing() {
            Decision::PartialOutput
        } else if campaign.limit < 2 {
            Decision::Disabled
        } else if campaign.attempt >= campaign.limit {
            Decision::Exhausted
        } else {
            let delay = retry_delay(
                campaign.attempt,
                failure.retry_after,
                conversation.now.random,
            );
            campaign.attempt += 1;
            campaign.recovering = true;
            let event = TurnEvent::Retry {
                attempt: campaign.attempt,
                limit: campaign.limit,
                delay_secs: delay.as_secs(),
                cause: cause_label(failure.cause),
                reason: failure.message,
            };
            self.emit(event, conversation);
            return self.wait_to_retry(conversation.now.instant + delay, conversation);
        };
        self.fail(failure, decision, reply, conversation);
    }

    fn fail(
        &mut self,
        failure: Failure,
        decision: Decision,
        reply: Reply,
        conversation: &mut Conversation,
    ) {
        let model = conversation.selection.model.clone();
        let failure_is_overflow = failure.cause == Cause::Overflow;
        let (settled_tools, failed_tools) = self.report.settled();
        let mut message = error_text(
            &failure,
            decision,
            self.campaign.attempt,
            self.campaign.limit,
            conversation.now.wall_ms,
        );
        let details = Details {
            provider: model.provider.clone(),
            model: model.id.clone(),
            timestamp_ms: conversation.now.wall_ms,
            attempt_elapsed_ms: conversation
                .now
                .instant
                .duration_since(reply.sent)
                .as_millis() as u64,
            step: self.step,
            attempt: self.campaign.attempt,
            max_attempts: self.campaign.limit,
            partial_argument_bytes: reply.argument_bytes,
            decision,
            partial_text_bytes: reply.text.len(),
            reasoning_received: reply.reasoned,
            unexecuted_calls: reply.calls.len(),
            settled_tools,
            failed_tools,
            failure,
        };
        self.commit_partial(reply, Outcome::Failed, conversation);
        if failure_is_overflow {
            let overhead = summarise::overhead(self.system(), conversation);
            message = format!("{message}; {overhead}");
        }
        if self.compaction.take().is_some() {
            message = format!("the conversation was not compacted and is unchanged: {message}");
        }
        conversation.commit_failure(details.to_json());
        self.emit(TurnEvent::ErrorDetails(Box::new(details)), conversation);
        self.emit(TurnEvent::Error(message), conversation);
        self.end(false, conversation);
    }

    /// The machine slept while the request was out: go on where that makes sense.
    fn on_sleep(&mut self, reply: Reply, slept: Duration, conversation: &mut Conversation) {
        let secs = slept.as_secs();
        let window = Duration::from_secs(conversation.spec.settings.sleep_window_secs);
        if slept < window && reply.produced_nothing() {
            self.emit(TurnEvent::Slept(secs), conversation);
            return self.send_request(conversation);
        }
        let goes_on = slept < window && self.campaign.continuations > 0;
        self.commit_partial(reply, Outcome::Cancelled, conversation);
        if goes_on {
            self.campaign.continuations -= 1;
            self.emit(TurnEvent::Slept(secs), conversation);
            conversation
                .held
                .push_front(Held::said("continue exactly where you stopped"));
            return self.next_step(conversation);
        }
        self.emit(TurnEvent::SleepStopped(secs), conversation);
        let message =
            format!("the machine slept for {secs} s during the reply, the turn was stopped");
        self.emit(TurnEvent::Warning(message), conversation);
        self.end(true, conversation);
    }

    /// Commits a reply. A blank one without calls leaves only its bill: no dialect accepts an
    /// empty message later.
    fn commit_reply(
        &mut self,
        reply: Reply,
        tool_calls: Vec<ToolCall>,
        conversation: &mut Conversation,
    ) {
        let usage = reply.usage;
        let envelope = self.envelope(Purpose::Turn, usage, conversation);
        if reply.text.trim().is_empty() && tool_calls.is_empty() {
            if usage.is_some() {
                conversation.commit_response(envelope);
            }
            return;
        }
        for content in reply.reasoning {
            conversation.commit(Message::Reasoning { content }, None);
        }
        let message = Message::Assistant {
            content: reply.text,
            tool_calls,
        };
        conversation.commit(message, Some(envelope));
        if let Some(usage) = usage {
            conversation.measure(usage.prompt().saturating_add(usage.output));
        }
    }

    /// The text of a summary and its bill.
    pub(super) fn take_summary(
        &mut self,
        reply: Reply,
        conversation: &mut Conversation,
    ) -> (String, Envelope) {
        let envelope = self.envelope(Purpose::Compaction, reply.usage, conversation);
        (reply.text, envelope)
    }

    /// Bills a request: to the frontend as an event, to the log as what comes out.
    fn envelope(
        &mut self,
        purpose: Purpose,
        usage: Option<Usage>,
        conversation: &mut Conversation,
    ) -> Envelope {
        if let Some(usage) = usage {
            self.emit(TurnEvent::Usage(usage), conversation);
        }
        let model = &conversation.selection.model;
        Envelope {
            id: Uuid::now_v7().to_string(),
            timestamp: conversation.now.wall_ms,
            provider: model.provider.clone(),
            model: model.id.clone(),
            purpose,
            usage,
        }
    }

    fn warn_of_finish(&mut self, finish: &Finish, malformed: u32, conversation: &mut Conversation) {
        let warning = match finish {
            Finish::Normal | Finish::ToolCalls => None,
            Finish::Length => Some("the reply was cut at the model's output limit".to_string()),
            Finish::Refusal => Some("the model refused to answer".to_string()),
            Finish::ContentFilter => {
                Some("the provider's content filter cut the reply".to_string())
            }
            Finish::Other(reason) => Some(format!("the reply ended for the reason `{reason}`")),
        };
        if let Some(warning) = warning {
            self.emit(TurnEvent::Warning(warning), conversation);
        }
        if malformed > 0 {
            let (frames, were) = match malformed {
                1 => ("frame", "was"),
                _ => ("frames", "were"),
            };
            let warning = format!("{malformed} malformed {frames} of the reply {were} skipped");
            self.emit(TurnEvent::Warning(warning), conversation);
        }
    }
}

fn retryable(cause: Cause) -> bool {
    match cause {
        Cause::Network | Cause::Stalled | Cause::RateLimited | Cause::Unavailable => true,
        Cause::Auth | Cause::QuotaExhausted | Cause::Overflow | Cause::Rejected => false,
    }
}

/// 0.25, 1, 2, 4, 8, 16, then 30 seconds, times a factor in (0.75, 1]; or what the provider asked.
fn retry_delay(attempt: u32, asked: Option<Duration>, random: f64) -> Duration {
    if let Some(asked) = asked {
        return asked.min(RETRY_AFTER_LONGEST);
    }
    let seconds = match attempt {
        0 | 1 => 0.25,
        2..=6 => f64::from(1u32 << (attempt - 2)),
        _ => 30.0,
    };
    Duration::from_secs_f64(seconds * (0.75 + 0.25 * random))
}

fn error_text(
    failure: &Failure,
    decision: Decision,
    attempt: u32,
    limit: u32,
    wall_ms: u64,
) -> String {
    let message = &failure.message;
    let mut text = match (decision, failure.cause) {
        (Decision::Exhausted, cause) => {
            format!("{} ({attempt}/{limit}): {message}", cause_label(cause))
        }
        (_, Cause::QuotaExhausted) => format!("{}: {message}", cause_label(failure.cause)),
        _ => message.clone(),
    };
    if let Some(wait) = failure
        .retry_after
        .filter(|wait| *wait > RETRY_AFTER_LONGEST)
    {
        let until = crate::sys::clock::utc_time(wall_ms + wait.as_millis() as u64);
        text.push_str(&format!(" - the provider asks to wait until {until}"));
    }
    text
}
