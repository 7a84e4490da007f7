//! Turns as tables: an event goes in, a list of actions comes out. No thread, no file, no clock.

mod compaction;
mod control;
mod extensions;
mod hooks;
mod log;
mod sessions;
mod stops;
mod turns;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::action::{Action, Now, SessionEvent, Topic};
use super::event::{Answer, Limits, Prompt, RequestId, TurnEvent, TurnResult, Want};
use super::open::{Past, SessionSpec};
use super::session::Session;
use super::shell::shell_parts;
use crate::chat::{self, Message, Outcome, Pricing, ToolCall, ToolResult, Usage, Voice};
use crate::provider::{Cause, Failure, Finish, Model, Stage, StreamEvent};

const TURN: RequestId = RequestId(1);

/// A session, the actions it asked for, and a clock that stands still.
struct Table {
    session: Session,
    now: Now,
    job: u64,
    sent: Vec<Arc<Message>>,
    result: Option<TurnResult>,
}

impl Table {
    fn new(change: impl FnOnce(&mut SessionSpec)) -> Self {
        let mut spec = SessionSpec::for_test();
        change(&mut spec);
        let now = Now {
            instant: Instant::now(),
            wall_ms: 1_000,
            random: 1.0,
            congested: false,
        };
        Self {
            session: Session::new(Arc::new(spec), &mut Past::default()),
            now,
            job: 0,
            sent: Vec::new(),
            result: None,
        }
    }

    /// A turn whose first request is out.
    fn asking(change: impl FnOnce(&mut SessionSpec), limits: Limits) -> Self {
        let mut table = Self::new(change);
        let prompt = Want::Prompt(Prompt::typed("hi"), limits);
        table.wants(1, prompt, "turn_start, prepare");
        table.prepared("silence on, ask");
        table
    }

    fn check(&mut self, event: SessionEvent, expected: &str) {
        let mut shown = Vec::new();
        for action in self.session.step(event, self.now) {
            shown.extend(self.show(action));
        }
        assert_eq!(shown.join(", "), expected);
    }

    fn wants(&mut self, request: u64, want: Want, expected: &str) {
        self.check(SessionEvent::Want(RequestId(request), want), expected);
    }

    fn submits(&mut self, text: impl Into<String>, expected: &str) {
        let prompt = Want::Prompt(Prompt::typed(text), Limits::default());
        self.wants(1, prompt, expected);
    }

    fn prepared(&mut self, expected: &str) {
        self.check(SessionEvent::Prepared(self.job, "system".into()), expected);
    }

    fn stream(&mut self, events: Vec<StreamEvent>, expected: &str) {
        self.check(
            SessionEvent::Stream {
                job: self.job,
                events,
                slept: Duration::ZERO,
            },
            expected,
        );
    }

    fn fails(&mut self, cause: Cause, expected: &str) {
        let failure = Failure::new(cause, Stage::ResponseHeaders, "no luck");
        self.stream(vec![StreamEvent::Failed(Box::new(failure))], expected);
    }

    fn tool(&mut self, id: u64, expected: &str) {
        self.check(
            SessionEvent::ToolDone(id, ToolResult::completed("done", "ok")),
            expected,
        );
    }

    /// What an action looks like in a table. Clearing a deadline that may not exist is left out.
    fn show(&mut self, action: Action) -> Option<String> {
        Some(match action {
            Action::Emit(_, event) => show_event(event),
            Action::Answer(TURN, Answer::Turn(result)) => {
                self.result = Some(*result);
                "result".into()
            }
            Action::Answer(RequestId(id), Answer::Done | Answer::Stopped(_)) => {
                format!("answer {id}")
            }
            Action::Answer(_, Answer::Shell(result)) => format!("shell {}", result.content),
            Action::Answer(RequestId(id), _) => format!("refuse {id}"),
            Action::Prepare(job, _) => {
                self.job = job;
                "prepare".into()
            }
            Action::Expand(job, name, typed) => {
                self.job = job;
                format!("expand {name} {typed}")
            }
            Action::OpenStream(job, request) => {
                self.job = job;
                self.sent = request.messages;
                "ask".into()
            }
            Action::CloseStream => "close".into(),
            Action::Identify(job, paths) => {
                self.job = job;
                format!("identify {}", paths.len())
            }
            Action::RunTool(id, _) => format!("run {id}"),
            Action::CancelTool(id) => format!("cancel {id}"),
            Action::Ask(job, hook) => {
                self.job = job;
                format!("hook {}", hook.kind().name())
            }
            Action::Command(job, _, name, args) => {
                self.job = job;
                format!("command {name} {args}")
            }
            Action::Forget(_) => "forget".into(),
            Action::RunShell(id, command) => format!("shell {id} {command}"),
            Action::CallExtension { id, .. } => format!("call {id}"),
            Action::Held(_, text) => format!("held {text}"),
            Action::Tell(event, extra) => format!("tell {} {extra}", event.name()),
            Action::Reply(_, result) => format!("reply {result:?}"),
            Action::Undo(RequestId(id)) => format!("undo {id}"),
            Action::ReadInstructions(job, directories) => {
                self.job = job;
                format!("instructions {}", directories.len())
            }
            Action::Fork(..) => "fork".into(),
            Action::Append(records) => format!("log {}", records.len()),
            Action::SetTimer(Topic::LogFlush, _) | Action::ClearTimer(_) | Action::EndLane => {
                return None;
            }
            Action::SetTimer(Topic::Retry, at) => {
                format!("wait {} ms", (at - self.now.instant).as_millis())
            }
            Action::SetTimer(Topic::Silence, _) => "silence on".into(),
            Action::SetTimer(topic, _) => format!("timer {topic:?}"),
        })
    }

    /// The roles and texts of the last request.
    fn history(&self) -> String {
        let show = |message: &Arc<Message>| match message.as_ref() {
            Message::User { content, voice, .. } => {
                format!(
                    "{}:{content}",
                    match voice {
                        Voice::Prompt => "user",
                        Voice::Steered => "steered",
                        Voice::Internal => "internal",
                    }
                )
            }
            Message::Assistant {
                content,
                tool_calls,
            } => {
                format!("assistant:{content}+{}", tool_calls.len())
            }
            Message::Tool {
                call_id, outcome, ..
            } => {
                format!("tool {call_id}:{}", outcome.record_name())
            }
            Message::Reasoning { .. } => "reasoning".into(),
            Message::System { .. } => "system".into(),
        };
        self.sent.iter().map(show).collect::<Vec<_>>().join(", ")
    }

    fn error(&self) -> &str {
        self.result().error.as_deref().unwrap_or_default()
    }

    fn result(&self) -> &TurnResult {
        self.result.as_ref().expect("the turn has ended")
    }
}

fn show_event(event: TurnEvent) -> String {
    match event {
        TurnEvent::TurnStart => "turn_start".into(),
        TurnEvent::Text(text) => format!("text {}", text.text()),
        TurnEvent::Reasoning(text) => format!("reasoning {}", text.text()),
        TurnEvent::ToolBatch(calls) => format!("batch {}", calls.len()),
        TurnEvent::ToolStart(id) => format!("start {id}"),
        TurnEvent::ToolOutput { id, .. } => format!("output {id}"),
        TurnEvent::ToolEnd { id, outcome, .. } => format!("end {id} {}", outcome.event_name()),
        TurnEvent::Compacting => "compacting".into(),
        TurnEvent::Compacted { summary, .. } => format!("compacted {summary}"),
        TurnEvent::Usage(usage) => format!("usage {}", usage.input),
        TurnEvent::Warning(_) => "warning".into(),
        TurnEvent::ErrorDetails(details) => format!("details {:?}", details.decision),
        TurnEvent::Error(_) => "error".into(),
        TurnEvent::Retry { attempt, limit, .. } => format!("retry {attempt}/{limit}"),
        TurnEvent::Recovered { attempt, limit } => format!("recovered {attempt}/{limit}"),
        TurnEvent::Steered(text) => format!("steered {text}"),
        TurnEvent::Slept(secs) => format!("slept {secs}"),
        TurnEvent::SessionName(name) => format!("name {}", name.unwrap_or_default()),
        TurnEvent::SleepStopped(secs) => format!("sleep_stopped {secs}"),
        TurnEvent::Discarded(prompts) => format!("discarded {}", prompts.len()),
        TurnEvent::Instructions(_) => "instructions".into(),
        TurnEvent::TurnEnd { aborted } => format!("turn_end {aborted}"),
    }
}

fn compact(focus: Option<&str>, during_turn: bool) -> Want {
    Want::Compact {
        focus: focus.map(String::from),
        during_turn,
    }
}

fn text(text: &str) -> StreamEvent {
    StreamEvent::Text(text.into())
}

fn done() -> StreamEvent {
    StreamEvent::Done {
        finish: Finish::Normal,
        malformed: 0,
    }
}

fn call(id: &str, name: &str, arguments: &str) -> StreamEvent {
    let (id, name, arguments) = (id.into(), name.into(), arguments.into());
    StreamEvent::Call(ToolCall {
        id,
        name,
        arguments,
        signature: None,
    })
}

fn used(input: u64) -> StreamEvent {
    StreamEvent::Usage(Usage {
        input,
        ..Usage::default()
    })
}
