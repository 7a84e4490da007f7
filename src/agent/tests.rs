//! Turns as tables: an event goes in, a list of actions comes out. No thread, no file, no clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::action::{Action, Now, SessionEvent, Topic};
use super::event::{Answer, Limits, Prompt, RequestId, TurnEvent, TurnResult};
use super::open::{Past, SessionSpec};
use super::session::Session;
use crate::chat::{Message, Outcome, Pricing, ToolCall, ToolResult, Usage};
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
        let prompt = Prompt {
            text: "hi".into(),
            images: Vec::new(),
        };
        table.check(
            SessionEvent::Prompt(TURN, prompt, limits),
            "turn_start, prepare",
        );
        table.prepared("silence on, ask");
        table
    }

    fn check(&mut self, event: SessionEvent, expected: &str) {
        let mut actions = Vec::new();
        self.session.step(event, self.now, &mut actions);
        let mut shown = Vec::new();
        for action in actions {
            shown.extend(self.show(action));
        }
        assert_eq!(shown.join(", "), expected);
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
            Action::Answer(RequestId(id), Answer::Done) => format!("answer {id}"),
            Action::Answer(RequestId(id), _) => format!("refuse {id}"),
            Action::Prepare(job, _) => {
                self.job = job;
                "prepare".into()
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
            Action::ReadInstructions(job, directories) => {
                self.job = job;
                format!("instructions {}", directories.len())
            }
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
            Message::User {
                content, internal, ..
            } => {
                format!("{}:{content}", if *internal { "internal" } else { "user" })
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
        TurnEvent::SleepStopped(secs) => format!("sleep_stopped {secs}"),
        TurnEvent::Discarded(prompts) => format!("discarded {}", prompts.len()),
        TurnEvent::Instructions(_) => "instructions".into(),
        TurnEvent::TurnEnd { aborted } => format!("turn_end {aborted}"),
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

#[test]
fn a_plain_answer() {
    let mut table = Table::asking(|_| {}, Limits::default());
    table.stream(vec![text("o"), text("k")], "text o, text k");
    table.stream(vec![used(7), done()], "usage 7, turn_end false, result");
    assert_eq!(table.result().final_output(), "ok");
    assert_eq!(table.result().usage.input, 7);
    assert_eq!(table.result().error, None);
}

#[test]
fn tools_run_and_their_results_go_back_in_call_order() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let calls = vec![
        text("look"),
        call("a", "bash", "{\"command\":\"true\"}"),
        call("b", "bash", "{\"command\":\"true\"}"),
        done(),
    ];
    table.stream(calls, "text look, batch 2, run 1, run 2, start 1, start 2");
    table.tool(2, "end 2 completed");
    table.tool(2, "");
    table.tool(1, "end 1 completed, silence on, ask");
    assert_eq!(
        table.history(),
        "user:hi, assistant:look+2, tool a:completed, tool b:completed"
    );
    table.stream(
        vec![text("fine"), done()],
        "text fine, turn_end false, result",
    );
    assert_eq!(table.result().output, "lookfine");
    assert_eq!(table.result().final_output(), "fine");
    assert_eq!((table.result().calls, table.result().failures), (2, 0));
}

#[test]
fn calls_that_name_one_file_run_in_waves() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let write = |id| call(id, "write", "{\"path\":\"a\",\"content\":\"x\"}");
    table.stream(vec![write("a"), write("b"), done()], "batch 2, identify 2");
    let same = || crate::tools::identity(std::path::Path::new("/nowhere/a"));
    table.check(
        SessionEvent::Identified(table.job, vec![same(), same()]),
        "run 1, start 1",
    );
    table.tool(1, "end 1 completed, run 2, start 2");
    table.tool(2, "end 2 completed, silence on, ask");
}

#[test]
fn a_wave_is_bounded() {
    let mut table = Table::asking(|spec| spec.settings.tool_concurrency = 2, Limits::default());
    let calls: Vec<_> = ["a", "b", "c"].map(|id| call(id, "bash", "{}")).into();
    table.stream(
        [calls, vec![done()]].concat(),
        "batch 3, run 1, run 2, start 1, start 2",
    );
    table.tool(1, "end 1 completed");
    table.tool(2, "end 2 completed, run 3, start 3");
}

#[test]
fn a_tool_that_is_switched_off_is_blocked() {
    let mut table = Table::asking(
        |spec| spec.tools = super::Toolset::none(),
        Limits::default(),
    );
    table.stream(
        vec![call("a", "bash", "{}"), done()],
        "batch 1, start 1, end 1 blocked, silence on, ask",
    );
    assert_eq!(table.history(), "user:hi, assistant:+1, tool a:blocked");
}

#[test]
fn failures_are_retried_while_nothing_has_arrived() {
    let mut table = Table::asking(
        |spec| spec.settings.retry_max_attempts = 3,
        Limits::default(),
    );
    table.fails(Cause::Unavailable, "retry 2/3, wait 250 ms");
    table.check(SessionEvent::Timer(Topic::Retry), "silence on, ask");
    table.fails(Cause::RateLimited, "retry 3/3, wait 1000 ms");
    table.check(SessionEvent::Timer(Topic::Retry), "silence on, ask");
    table.stream(vec![text("ok")], "recovered 3/3, text ok");
    table.stream(vec![done()], "turn_end false, result");
    assert_eq!(table.result().warnings.len(), 2);
}

#[test]
fn a_failure_that_stays_ends_the_turn() {
    for (cause, before, expected) in [
        (
            Cause::Auth,
            None,
            "details NotRetryable, error, turn_end false, result",
        ),
        (
            Cause::Overflow,
            None,
            "details NotRetryable, error, turn_end false, result",
        ),
        (
            Cause::Stalled,
            Some(text("par")),
            "details PartialOutput, error, turn_end false, result",
        ),
        (
            Cause::Network,
            Some(StreamEvent::CallProgress(3)),
            "details PartialOutput, error, turn_end false, result",
        ),
    ] {
        let mut table = Table::asking(|_| {}, Limits::default());
        if let Some(before) = before {
            let shown = if matches!(before, StreamEvent::Text(_)) {
                "text par"
            } else {
                ""
            };
            table.stream(vec![before], shown);
        }
        table.fails(cause, expected);
        assert!(table.result().error.is_some());
        assert_eq!(table.result().final_output(), "");
    }
    let mut table = Table::asking(
        |spec| spec.settings.retry_max_attempts = 1,
        Limits::default(),
    );
    table.fails(
        Cause::Network,
        "details Disabled, error, turn_end false, result",
    );
}

#[test]
fn a_cut_reply_keeps_its_text_and_answers_its_calls() {
    let mut table = Table::asking(|_| {}, Limits::default());
    table.stream(vec![text("par"), call("a", "bash", "{}")], "text par");
    table.fails(
        Cause::Stalled,
        "details PartialOutput, error, turn_end false, result",
    );
    let prompt = Prompt {
        text: "again".into(),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, Limits::default()),
        "turn_start, prepare",
    );
    table.prepared("silence on, ask");
    assert_eq!(
        table.history(),
        "user:hi, assistant:par+1, tool a:failed, user:again"
    );
}

#[test]
fn a_blank_success_is_asked_again_once() {
    let mut table = Table::asking(|_| {}, Limits::default());
    table.stream(vec![done()], "retry 2/10, wait 1000 ms");
    table.check(SessionEvent::Timer(Topic::Retry), "silence on, ask");
    table.stream(
        vec![text(" \n"), done()],
        "recovered 2/10, text  \n, error, turn_end false, result",
    );
    assert!(
        table
            .result()
            .error
            .as_ref()
            .unwrap()
            .contains("empty response")
    );
}

#[test]
fn reasoning_without_an_answer_is_a_warning() {
    let mut table = Table::asking(|_| {}, Limits::default());
    table.stream(
        vec![StreamEvent::Reasoning("hm".into()), done()],
        "reasoning hm, warning, turn_end false, result",
    );
    assert_eq!(table.result().error, None);
}

#[test]
fn an_interrupt_is_answered_after_the_end() {
    let interrupt = || SessionEvent::Interrupt(Some(RequestId(9)));
    // Before the request.
    let mut table = Table::new(|_| {});
    let prompt = Prompt {
        text: "hi".into(),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, Limits::default()),
        "turn_start, prepare",
    );
    table.check(interrupt(), "turn_end true, result, answer 9");
    table.check(interrupt(), "answer 9");
    // While streaming; late events change nothing.
    let mut table = Table::asking(|_| {}, Limits::default());
    table.stream(vec![text("par"), used(3)], "text par");
    table.check(
        interrupt(),
        "close, usage 3, turn_end true, result, answer 9",
    );
    table.stream(vec![text("late")], "");
    // While waiting to retry.
    let mut table = Table::asking(|_| {}, Limits::default());
    table.fails(Cause::Network, "retry 2/10, wait 250 ms");
    table.check(interrupt(), "turn_end true, result, answer 9");
    table.check(SessionEvent::Timer(Topic::Retry), "");
}

#[test]
fn running_tools_get_a_moment_to_stop() {
    let mut table = Table::asking(|spec| spec.settings.tool_concurrency = 2, Limits::default());
    let calls: Vec<_> = ["a", "b", "c"].map(|id| call(id, "bash", "{}")).into();
    table.stream(
        [calls, vec![done()]].concat(),
        "batch 3, run 1, run 2, start 1, start 2",
    );
    table.check(
        SessionEvent::Interrupt(None),
        "cancel 1, cancel 2, timer CancelGrace",
    );
    table.tool(1, "end 1 completed");
    table.check(
        SessionEvent::Timer(Topic::CancelGrace),
        "end 2 cancelled, turn_end true, result",
    );
    table.tool(2, "");
    let prompt = Prompt {
        text: "again".into(),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, Limits::default()),
        "turn_start, prepare",
    );
    table.prepared("silence on, ask");
    let expected =
        "user:hi, assistant:+3, tool a:completed, tool b:cancelled, tool c:cancelled, user:again";
    assert_eq!(table.history(), expected);
}

#[test]
fn a_steer_joins_the_next_step_or_goes_on_after_the_answer() {
    let steer = |text: &str| SessionEvent::Steer(RequestId(5), text.into());
    let mut table = Table::asking(|_| {}, Limits::default());
    table.check(steer("left"), "answer 5");
    table.stream(
        vec![text("ok"), done()],
        "text ok, steered left, silence on, ask",
    );
    assert_eq!(table.history(), "user:hi, assistant:ok+0, internal:left");
    table.check(steer("right"), "answer 5");
    table.fails(
        Cause::Auth,
        "details NotRetryable, error, discarded 1, turn_end false, result",
    );
    table.check(steer("late"), "refuse 5");
}

#[test]
fn limits_stop_a_turn_like_an_interrupt() {
    let steps = Limits {
        steps: Some(1),
        ..Limits::default()
    };
    let mut table = Table::asking(|_| {}, steps);
    table.stream(
        vec![call("a", "bash", "{}"), done()],
        "batch 1, run 1, start 1",
    );
    table.tool(1, "end 1 completed, error, turn_end true, result");
    assert!(
        table
            .result()
            .error
            .as_ref()
            .unwrap()
            .contains("--max-steps")
    );

    let priced = |spec: &mut SessionSpec| {
        let pricing = Pricing {
            input: 1e6,
            output: 0.0,
            cache_read: None,
            cache_write_5m: None,
            cache_write_1h: None,
        };
        spec.selection.model = Arc::new(Model {
            pricing: Some(pricing),
            ..(*spec.selection.model).clone()
        });
    };
    let mut table = Table::asking(
        priced,
        Limits {
            cost_usd: Some(3.0),
            ..Limits::default()
        },
    );
    table.stream(
        vec![used(3), call("a", "bash", "{}"), done()],
        "usage 3, batch 1, run 1, start 1",
    );
    table.tool(1, "end 1 completed, error, turn_end true, result");
    assert_eq!(table.result().cost_usd, Some(3.0));

    let mut table = Table::new(|_| {});
    let prompt = Prompt {
        text: "hi".into(),
        images: Vec::new(),
    };
    let seconds = Limits {
        seconds: Some(1),
        ..Limits::default()
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, seconds),
        "turn_start, timer Budget, prepare",
    );
    table.prepared("silence on, ask");
    table.check(
        SessionEvent::Timer(Topic::Budget),
        "close, error, turn_end true, result",
    );
}

#[test]
fn silence_counts_content_and_not_e_s_own_delay() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let silence = || SessionEvent::Timer(Topic::Silence);
    table.now.instant += Duration::from_secs(100);
    table.stream(vec![text("a")], "text a");
    table.now.instant += Duration::from_secs(100);
    table.check(silence(), "silence on");
    table.now.instant += Duration::from_secs(100);
    table.now.congested = true;
    table.check(silence(), "silence on");
    table.now.congested = false;
    table.now.instant += Duration::from_secs(180);
    table.check(
        silence(),
        "close, details PartialOutput, error, turn_end false, result",
    );
}

#[test]
fn a_sleeping_machine_goes_on_where_it_can() {
    let slept = |table: &mut Table, secs, expected: &str| {
        let failure = Failure::new(Cause::Stalled, Stage::Stream, "gone");
        let events = vec![StreamEvent::Failed(Box::new(failure))];
        let slept = Duration::from_secs(secs);
        table.check(
            SessionEvent::Stream {
                job: table.job,
                events,
                slept,
            },
            expected,
        );
    };
    let mut table = Table::asking(|_| {}, Limits::default());
    slept(&mut table, 60, "slept 60, silence on, ask");
    table.stream(vec![text("par")], "text par");
    slept(
        &mut table,
        60,
        "slept 60, steered continue exactly where you stopped, silence on, ask",
    );
    assert_eq!(
        table.history(),
        "user:hi, assistant:par+0, internal:continue exactly where you stopped"
    );
    slept(
        &mut table,
        301,
        "sleep_stopped 301, warning, turn_end true, result",
    );
}

#[test]
fn the_turn_waits_for_its_log_but_not_for_ever() {
    let saving = |spec: &mut SessionSpec| spec.save_for_test();
    let mut table = Table::new(saving);
    let prompt = Prompt {
        text: "hi".into(),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, Limits::default()),
        "turn_start, log 1, prepare",
    );
    table.prepared("silence on, ask");
    table.stream(vec![text("ok"), done()], "text ok");
    let wrote = |error: Option<&str>| SessionEvent::Appended {
        error: error.map(String::from),
        path: Some("/log".into()),
    };
    table.check(wrote(None), "log 1");
    table.check(wrote(Some("full")), "warning, turn_end false, result");
    assert_eq!(
        table.result().log.as_deref(),
        Some(std::path::Path::new("/log"))
    );

    let mut table = Table::new(saving);
    let prompt = Prompt {
        text: "hi".into(),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, Limits::default()),
        "turn_start, log 1, prepare",
    );
    table.check(SessionEvent::Interrupt(None), "");
    table.check(
        SessionEvent::Timer(Topic::LogFlush),
        "warning, turn_end true, result",
    );
}

#[test]
fn a_second_prompt_is_refused_and_changes_nothing() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let prompt = Prompt {
        text: "me too".into(),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(RequestId(8), prompt, Limits::default()),
        "refuse 8",
    );
    table.stream(vec![text("ok"), done()], "text ok, turn_end false, result");
}

#[test]
fn outcomes_have_two_spellings() {
    assert_eq!(Outcome::TimedOut.event_name(), "timedout");
    assert_eq!(Outcome::TimedOut.record_name(), "timed_out");
}

/// A session of `turns` answered prompts, each of about 700 tokens, in a window of 4,096.
fn long(turns: usize, change: impl FnOnce(&mut SessionSpec)) -> Table {
    let mut table = Table::new(|spec| {
        let window = 4096;
        let model = (*spec.selection.model).clone();
        spec.selection.model = Arc::new(Model {
            context_window: window,
            ..model
        });
        change(spec);
    });
    for n in 0..turns {
        let prompt = Prompt {
            text: format!("{n}{}", "word".repeat(700)),
            images: Vec::new(),
        };
        table.check(
            SessionEvent::Prompt(TURN, prompt, Limits::default()),
            "turn_start, prepare",
        );
        table.prepared("silence on, ask");
        table.stream(vec![text("ok"), done()], "text ok, turn_end false, result");
    }
    table
}

fn ask_again(table: &mut Table, expected: &str) {
    let prompt = Prompt {
        text: format!("last{}", "word".repeat(700)),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, Limits::default()),
        "turn_start, prepare",
    );
    table.prepared(expected);
}

fn summary() -> Vec<StreamEvent> {
    let headings = super::compact::SECTIONS.map(|section| format!("## {section}\n"));
    vec![StreamEvent::Text(headings.concat().into()), used(5), done()]
}

fn summarised(after: &str) -> String {
    let text = super::compact::SECTIONS
        .map(|section| format!("## {section}\n"))
        .concat();
    format!("usage 5, compacted {}, {after}", text.trim())
}

#[test]
fn a_long_conversation_is_compacted_before_the_request_that_would_not_fit() {
    let mut table = long(2, |_| {});
    ask_again(&mut table, "compacting, silence on, ask");
    assert_eq!(table.sent.len(), 1);
    table.stream(summary(), &summarised("silence on, ask"));
    assert!(
        table.history().starts_with("internal:The earlier part"),
        "{}",
        table.history()
    );
    assert!(table.history().contains("user:last"));
    table.stream(
        vec![text("fine"), done()],
        "text fine, turn_end false, result",
    );
    assert_eq!(table.result().final_output(), "fine");
    assert_eq!(table.result().usage.input, 5);
}

#[test]
fn a_failed_compaction_leaves_the_history_alone() {
    let failed = |end: Vec<StreamEvent>, expected: &str| {
        let mut table = long(2, |_| {});
        ask_again(&mut table, "compacting, silence on, ask");
        table.stream(end, expected);
        assert!(table.result().error.as_ref().unwrap().contains("unchanged"));
        // The next prompt tries again, with everything still there.
        ask_again(&mut table, "compacting, silence on, ask");
        let Message::User { content, .. } = table.sent[0].as_ref() else {
            panic!("no request")
        };
        assert!(content.contains("0word") && content.contains("1word"));
    };
    failed(vec![text(" "), done()], "error, turn_end false, result");
    failed(
        vec![StreamEvent::Done {
            finish: Finish::Length,
            malformed: 0,
        }],
        "error, turn_end false, result",
    );
    failed(
        vec![StreamEvent::Done {
            finish: Finish::Normal,
            malformed: 2,
        }],
        "error, turn_end false, result",
    );
    let failure = Failure::new(Cause::Auth, Stage::ResponseHeaders, "no");
    failed(
        vec![StreamEvent::Failed(Box::new(failure))],
        "details NotRetryable, error, turn_end false, result",
    );
    failed(
        vec![text(&"word".repeat(9000)), done()],
        "error, turn_end false, result",
    );
}

#[test]
fn a_summary_is_retried_interrupted_and_asked_for() {
    let mut table = long(2, |_| {});
    let compact = || SessionEvent::Compact(RequestId(7), Some("tests".into()));
    table.check(compact(), "compacting, silence on, ask");
    table.fails(Cause::Unavailable, "retry 2/10, wait 250 ms");
    table.check(SessionEvent::Timer(Topic::Retry), "silence on, ask");
    table.check(
        SessionEvent::Prompt(RequestId(8), Prompt::default(), Limits::default()),
        "refuse 8",
    );
    table.check(
        SessionEvent::Interrupt(Some(RequestId(9))),
        "close, refuse 7, answer 9",
    );
    table.check(compact(), "compacting, silence on, ask");
    table.stream(summary(), &summarised("refuse 7"));
    let mut table = long(0, |_| {});
    table.check(compact(), "warning, refuse 7");
}

#[test]
fn an_overflow_is_compacted_once() {
    let mut table = long(2, |spec| {
        let model = (*spec.selection.model).clone();
        spec.selection.model = Arc::new(Model {
            context_window: 6000,
            ..model
        });
    });
    ask_again(&mut table, "silence on, ask");
    table.fails(Cause::Overflow, "compacting, silence on, ask");
    table.stream(summary(), &summarised("silence on, ask"));
    table.fails(
        Cause::Overflow,
        "details NotRetryable, error, turn_end false, result",
    );
    // Nothing is old enough: the error names what fills the window.
    let mut table = Table::asking(|_| {}, Limits::default());
    table.fails(
        Cause::Overflow,
        "details NotRetryable, error, turn_end false, result",
    );
    assert!(
        table
            .result()
            .error
            .as_ref()
            .unwrap()
            .contains("instructions and tools take")
    );
}

#[test]
fn huge_results_at_the_end_are_summarised_too() {
    let mut table = long(0, |spec| spec.settings.tool_concurrency = 2);
    let prompt = Prompt {
        text: "hi".into(),
        images: Vec::new(),
    };
    table.check(
        SessionEvent::Prompt(TURN, prompt, Limits::default()),
        "turn_start, prepare",
    );
    table.prepared("silence on, ask");
    let calls = vec![call("a", "bash", "{}"), call("b", "bash", "{}"), done()];
    table.stream(calls, "batch 2, run 1, run 2, start 1, start 2");
    let huge = || ToolResult::completed("word".repeat(4000), "ok");
    table.check(SessionEvent::ToolDone(1, huge()), "end 1 completed");
    table.check(
        SessionEvent::ToolDone(2, huge()),
        "end 2 completed, compacting, silence on, ask",
    );
    table.stream(summary(), &summarised("silence on, ask"));
    assert_eq!(table.sent.len(), 1);
}

#[test]
fn nested_instructions_are_kept_word_for_word() {
    let nested = super::instructions::nested_message(std::path::Path::new("/nowhere/x"), "be kind");
    let mut table = long(0, |_| {});
    table.check(
        SessionEvent::Prompt(
            TURN,
            Prompt {
                text: "hi".into(),
                images: Vec::new(),
            },
            Limits::default(),
        ),
        "turn_start, prepare",
    );
    table.prepared("silence on, ask");
    table.check(
        SessionEvent::Steer(RequestId(5), nested.clone()),
        "answer 5",
    );
    let steered = format!("text ok, steered {nested}, silence on, ask");
    table.stream(vec![text("ok"), done()], &steered);
    table.stream(
        vec![text(&"word".repeat(1500)), done()],
        &format!("text {}, turn_end false, result", "word".repeat(1500)),
    );
    table.check(
        SessionEvent::Compact(RequestId(7), None),
        "compacting, silence on, ask",
    );
    table.stream(summary(), &summarised("refuse 7"));
    table.check(
        SessionEvent::Prompt(
            TURN,
            Prompt {
                text: "go".into(),
                images: Vec::new(),
            },
            Limits::default(),
        ),
        "turn_start, prepare",
    );
    table.prepared("silence on, ask");
    assert!(
        table.history().contains(&format!("internal:{nested}")),
        "{}",
        table.history()
    );
}
