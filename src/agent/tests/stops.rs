//! Turns that are stopped, limited, put to sleep, or held up by their log.

use super::*;

#[test]
fn an_interrupt_is_answered_after_the_end() {
    // Before the request.
    let mut table = Table::new(|_| {});
    table.submits("hi", "turn_start, prepare");
    table.wants(9, Want::Interrupt, "turn_end true, result, answer 9");
    table.wants(9, Want::Interrupt, "answer 9");
    // While streaming; late events change nothing.
    let mut table = Table::asking(|_| {}, Limits::default());
    table.stream(vec![text("par"), used(3)], "text par");
    table.wants(
        9,
        Want::Interrupt,
        "close, usage 3, turn_end true, result, answer 9",
    );
    table.stream(vec![text("late")], "");
    // While waiting to retry.
    let mut table = Table::asking(|_| {}, Limits::default());
    table.fails(Cause::Network, "retry 2/10, wait 250 ms");
    table.wants(9, Want::Interrupt, "turn_end true, result, answer 9");
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
    table.check(SessionEvent::Stop, "cancel 1, cancel 2, timer CancelGrace");
    table.tool(1, "end 1 completed");
    table.check(
        SessionEvent::Timer(Topic::CancelGrace),
        "end 2 cancelled, turn_end true, result",
    );
    table.tool(2, "");
    table.submits("again", "turn_start, prepare");
    table.prepared("silence on, ask");
    let expected =
        "user:hi, assistant:+3, tool a:completed, tool b:cancelled, tool c:cancelled, user:again";
    assert_eq!(table.history(), expected);
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
    assert!(table.error().contains("--max-steps"));

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
    let prompt = Prompt::typed("hi");
    let seconds = Limits {
        seconds: Some(1),
        ..Limits::default()
    };
    table.wants(
        1,
        Want::Prompt(prompt, seconds),
        "timer Budget, turn_start, prepare",
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
        "user:hi, assistant:par+0, steered:continue exactly where you stopped"
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
    table.submits("hi", "turn_start, log 1, prepare");
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
    table.submits("hi", "turn_start, log 1, prepare");
    table.check(SessionEvent::Stop, "");
    table.check(
        SessionEvent::Timer(Topic::LogFlush),
        "warning, turn_end true, result",
    );
}

#[test]
fn a_second_prompt_is_refused_and_changes_nothing() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let prompt = Prompt::typed("me too");
    table.wants(8, Want::Prompt(prompt, Limits::default()), "refuse 8");
    table.stream(vec![text("ok"), done()], "text ok, turn_end false, result");
}

#[test]
fn held_messages_can_be_changed_until_they_are_taken() {
    let amend =
        |message, text: Option<&str>| Want::Amend(RequestId(message), text.map(String::from));
    let mut table = Table::asking(|_| {}, Limits::default());
    for (request, text) in [(11, "one"), (12, "two"), (13, "three")] {
        table.wants(
            request,
            Want::Steer(text.into()),
            &format!("answer {request}"),
        );
    }
    table.wants(14, amend(12, Some("TWO")), "answer 14");
    table.wants(15, amend(11, None), "answer 15");
    table.wants(16, amend(11, Some("gone")), "refuse 16");
    table.stream(
        vec![text("ok"), done()],
        "text ok, steered TWO, steered three, silence on, ask",
    );
    table.wants(17, amend(12, Some("late")), "refuse 17");
    let expected = "user:hi, assistant:ok+0, steered:TWO, steered:three";
    assert_eq!(table.history(), expected);
}

#[test]
fn a_command_runs_between_turns_and_joins_the_history() {
    let shell = |command: &str| Want::Shell {
        command: command.into(),
        aside: command == "aside",
    };
    let mut table = Table::new(|_| {});
    table.wants(5, shell("ls"), "shell 1 ls");
    table.wants(6, shell("pwd"), "refuse 6");
    table.submits("hi", "refuse 1");
    let output = SessionEvent::ToolOutput(1, chat::Output::Stdout, "a\n".into());
    table.check(output, "output 1");
    table.wants(7, Want::Interrupt, "cancel 1");
    table.tool(2, "");
    assert!(table.session.is_running());
    table.tool(1, "shell done, answer 7");
    assert!(!table.session.is_running());
    table.tool(1, "");
    table.wants(9, shell("aside"), "shell 2 aside");
    table.tool(2, "shell done");
    table.submits("hi", "turn_start, prepare");
    table.wants(8, shell("ls"), "refuse 8");
    table.prepared("silence on, ask");
    let message = "The user ran this command in a shell:\n\n$ ls\n\nIt wrote:\n\ndone";
    assert_eq!(table.history(), format!("user:{message}, user:hi"));
    assert_eq!(shell_parts(message), Some(("ls", "done")));
}
