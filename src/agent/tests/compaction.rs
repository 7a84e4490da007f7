//! Turns that compact their conversation.

use super::*;
use crate::extension::{AskId, request};

/// A session of `turns` answered prompts, each of about 700 tokens, in a window of 4,096.
pub(super) fn long(turns: usize, change: impl FnOnce(&mut SessionSpec)) -> Table {
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
        table.submits(format!("{n}{}", "word".repeat(700)), "turn_start, prepare");
        table.prepared("silence on, ask");
        table.stream(vec![text("ok"), done()], "text ok, turn_end false, result");
    }
    table
}

fn ask_again(table: &mut Table, expected: &str) {
    table.submits(format!("last{}", "word".repeat(700)), "turn_start, prepare");
    table.prepared(expected);
}

fn summary() -> Vec<StreamEvent> {
    let headings = crate::agent::compact::SECTIONS.map(|section| format!("## {section}\n"));
    vec![StreamEvent::Text(headings.concat().into()), used(5), done()]
}

fn summarised(after: &str) -> String {
    let text = crate::agent::compact::SECTIONS
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
        assert!(table.error().contains("unchanged"));
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
    let asked = || compact(Some("tests"), false);
    table.wants(7, asked(), "compacting, silence on, ask");
    table.fails(Cause::Unavailable, "retry 2/10, wait 250 ms");
    table.check(SessionEvent::Timer(Topic::Retry), "silence on, ask");
    table.wants(
        8,
        Want::Prompt(Prompt::default(), Limits::default()),
        "refuse 8",
    );
    table.wants(9, Want::Interrupt, "close, refuse 7, answer 9");
    table.wants(7, asked(), "compacting, silence on, ask");
    table.stream(summary(), &summarised("refuse 7"));
    let mut table = long(0, |_| {});
    table.wants(7, asked(), "warning, refuse 7");
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
    assert!(table.error().contains("instructions and tools take"));
}

#[test]
fn huge_results_at_the_end_are_summarised_too() {
    let mut table = long(0, |spec| spec.settings.tool_concurrency = 2);
    table.submits("hi", "turn_start, prepare");
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
    let nested =
        crate::agent::instructions::nested_message(std::path::Path::new("/nowhere/x"), "be kind");
    let mut table = long(0, |_| {});
    table.submits("hi", "turn_start, prepare");
    table.prepared("silence on, ask");
    let said = request::Session::Send {
        content: nested.clone(),
        internal: true,
        run: true,
        next_turn: false,
    };
    let asked = SessionEvent::Asked(AskId::for_test(1), said);
    table.check(asked, "reply Ok(Object {})");
    table.stream(vec![text("ok"), done()], "text ok, silence on, ask");
    table.stream(
        vec![text(&"word".repeat(1500)), done()],
        &format!("text {}, turn_end false, result", "word".repeat(1500)),
    );
    table.wants(7, compact(None, false), "compacting, silence on, ask");
    table.stream(summary(), &summarised("refuse 7"));
    table.submits("go", "turn_start, prepare");
    table.prepared("silence on, ask");
    assert!(
        table.history().contains(&format!("internal:{nested}")),
        "{}",
        table.history()
    );
}
