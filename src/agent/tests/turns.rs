//! Turns that answer, run tools, retry and fail.

use super::*;

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
fn a_call_that_failed_says_why() {
    let blocked = |reason: &str| ToolResult {
        outcome: Outcome::Blocked,
        ..ToolResult::failed(reason)
    };
    for (result, expected) in [
        (ToolResult::completed("text", ""), ""),
        (ToolResult::completed("text", "3 lines"), "3 lines"),
        (
            ToolResult::failed("\n \nno \x1b[31msuch\tfile\nhint"),
            "no such file",
        ),
        (ToolResult::failed("").summary("stale"), "stale"),
        (ToolResult::failed("why").summary("error"), "error"),
        (ToolResult::failed(" \n"), "error"),
        (blocked("not today"), "not today"),
    ] {
        let mut table = Table::asking(|_| {}, Limits::default());
        let calls = vec![call("a", "read", "{\"path\":\"b\"}"), done()];
        table.stream(calls, "batch 1, run 1, start 1");
        let ends = format!("end 1 {}, silence on, ask", result.outcome.event_name());
        table.check(SessionEvent::ToolDone(1, result), &ends);
        let Some(Message::Tool { summary, .. }) = table.sent.last().map(|last| &**last) else {
            panic!("no result: {}", table.history());
        };
        assert_eq!(summary, expected);
    }
    let mut table = Table::asking(|_| {}, Limits::default());
    let calls = vec![call("a", "read", "{}"), done()];
    table.stream(calls, "batch 1, run 1, start 1");
    let long = ToolResult::failed("x".repeat(1 << 20));
    table.check(
        SessionEvent::ToolDone(1, long),
        "end 1 failed, silence on, ask",
    );
    let Some(Message::Tool { summary, .. }) = table.sent.last().map(|last| &**last) else {
        panic!("no result: {}", table.history());
    };
    assert!(crate::text::width(summary) <= 160, "{summary}");
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
        |spec| spec.tools = crate::agent::Toolset::none(),
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
    table.submits("again", "turn_start, prepare");
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
        "recovered 2/10, text  \n, details NotRetryable, error, turn_end false, result",
    );
    assert!(table.error().contains("empty response"));
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
fn a_steer_joins_the_next_step_or_goes_on_after_the_answer() {
    let steer = |text: &str| Want::Steer(text.into());
    let mut table = Table::asking(|_| {}, Limits::default());
    table.wants(5, steer("left"), "answer 5");
    table.stream(
        vec![text("ok"), done()],
        "text ok, steered left, silence on, ask",
    );
    assert_eq!(table.history(), "user:hi, assistant:ok+0, steered:left");
    table.wants(5, steer("right"), "answer 5");
    table.fails(
        Cause::Auth,
        "details NotRetryable, error, discarded 1, turn_end false, result",
    );
    table.wants(5, steer("late"), "refuse 5");
}

#[test]
fn outcomes_have_two_spellings() {
    assert_eq!(Outcome::TimedOut.event_name(), "timedout");
    assert_eq!(Outcome::TimedOut.record_name(), "timed_out");
}

#[test]
fn a_reply_without_end_is_stopped() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let progress = || StreamEvent::CallProgress(40 << 20);
    table.stream(vec![progress()], "");
    table.stream(
        vec![progress()],
        "close, details NotRetryable, error, turn_end false, result",
    );
}
