//! Entries from events, and what is shown of them.

mod windows;

use serde_json::{Value, json};

use super::*;
use crate::agent::{BatchCall, TurnEvent};
use crate::chat::{self, Outcome, ToolCall};
use crate::text::testing::random;
use crate::tools;
use crate::tui::testing::{check, plain, styled};

fn call(id: u64, name: &str, arguments: Value) -> BatchCall {
    let label = tools::label(name, Some(&arguments));
    BatchCall {
        id,
        name: name.to_owned(),
        category: label.category,
        target: label.target,
        running: label.running,
        completed: label.completed,
        arguments,
    }
}

fn bash(id: u64, command: &str) -> BatchCall {
    call(id, "bash", json!({"command": command}))
}

fn read(id: u64, path: &str) -> BatchCall {
    call(id, "read", json!({"path": path}))
}

fn ended(id: u64, outcome: Outcome, summary: &str, content: &str) -> TurnEvent {
    TurnEvent::ToolEnd {
        id,
        outcome,
        summary: summary.to_owned(),
        content: content.to_owned(),
        display: None,
    }
}

fn done(id: u64, summary: &str) -> TurnEvent {
    ended(id, Outcome::Completed, summary, "content")
}

fn output(id: u64, chunk: &str) -> TurnEvent {
    TurnEvent::ToolOutput {
        id,
        stream: chat::Output::Stdout,
        chunk: chunk.to_owned(),
    }
}

fn after(events: &[TurnEvent]) -> Transcript {
    let mut transcript = Transcript::default();
    events.iter().for_each(|event| transcript.apply(event));
    transcript
}

fn live(transcript: &Transcript, columns: usize) -> Vec<String> {
    let rows = transcript.live_rows(columns, 1000);
    check(&rows, columns);
    plain(&rows)
}

fn reader(transcript: &Transcript, depth: Depth) -> Vec<String> {
    plain(&transcript.window(Place::default(), 1000, View { columns: 50, depth }))
}

#[test]
fn plain_entries() {
    let mut transcript = Transcript::default();
    transcript.push_banner("0.1.0", "/help for commands");
    transcript.push_user("why does the\tparser drop the last line?\n", 1);
    transcript.push_notice("a notice that is long enough to wrap here");
    transcript.push_error("it failed for a reason that wraps");
    transcript.push_system("interrupted");
    transcript.push_show(&Show {
        title: "title".to_owned(),
        body: "- item".to_owned(),
        format: Format::Markdown,
    });
    let rows = transcript.settled_rows(30);
    check(&rows, 30);
    let expected = [
        "⟨userMessageText bold|e⟩⟨dim dim| 0.1.0 · /help for commands⟩",
        "",
        "⟨userMessageText on:userMessageBg|┃ ⟩⟨dim dim|[Image 1] ⟩⟨on:userMessageBg bold|why does the⟩",
        "⟨userMessageText on:userMessageBg|┃ ⟩⟨on:userMessageBg bold|parser drop the last line?⟩",
        "",
        "  ⟨on:customMessageBg|a notice that is long enough⟩",
        "  ⟨on:customMessageBg|to wrap here⟩",
        "",
        "⟨error|● Error: ⟩⟨customMessageText on:customMessageBg|it failed for a⟩",
        "  ⟨customMessageText on:customMessageBg|reason that wraps⟩",
        "",
        "⟨customMessageLabel on:customMessageBg bold|● System: ⟩⟨customMessageText on:customMessageBg|interrupted⟩",
        "",
        "⟨customMessageLabel on:customMessageBg bold|● title⟩",
        "  ⟨mdListBullet dim|• ⟩item",
    ];
    assert_eq!(styled(&rows), expected);
    assert!(transcript.settled_rows(30).is_empty() && live(&transcript, 30).is_empty());
}

#[test]
fn a_group_at_work() {
    let transcript = after(&[
        TurnEvent::ToolBatch(vec![
            read(1, "src/main.rs"),
            call(2, "edit", json!({"path": "src/lib.rs"})),
            bash(3, "cargo test"),
            bash(4, "cargo build --release"),
        ]),
        TurnEvent::ToolStart(1),
        done(1, "12 lines"),
        TurnEvent::ToolStart(2),
        done(2, "+12 -3"),
        TurnEvent::ToolStart(3),
        ended(3, Outcome::Failed, "exit 1", "x"),
        TurnEvent::ToolStart(4),
        output(
            4,
            "one\ntwo\nthree\nfour\nfive\nsix\n\x1b[32mseven\x1b[0m\n",
        ),
    ]);
    let expected = [
        "⟨muted|● 4 tool calls · 2 commands · 1 read · 1 edit · 1 failed⟩",
        "⟨muted|├ ⟩⟨toolTitle on:toolSuccessBg|Read src/main.rs⟩",
        "⟨muted|├ ⟩⟨toolTitle on:toolSuccessBg|Edited src/lib.rs⟩⟨muted| ⟩⟨toolDiffAddedMarker|+12⟩⟨dim dim| / ⟩⟨toolDiffRemovedMarker|-3⟩",
        "⟨muted|├ ⟩⟨toolTitle on:toolErrorBg|Ran cargo test⟩",
        "⟨muted|├ ⟩⟨toolTitle on:toolPendingBg|Running cargo build --release⟩",
        "⟨muted|│ ⟩⟨dim dim|three⟩",
        "⟨muted|│ ⟩⟨dim dim|four⟩",
        "⟨muted|│ ⟩⟨dim dim|five⟩",
        "⟨muted|│ ⟩⟨dim dim|six⟩",
        "⟨muted|│ ⟩⟨dim dim|seven⟩",
        "⟨muted|│ ⟩⟨muted|2 more rows⟩",
        "⟨muted|└ ⟩⟨dim dim|ctrl+o to view⟩",
    ];
    assert_eq!(styled(&transcript.live_rows(60, 99)), expected);
    let narrow = live(&transcript, 19);
    assert_eq!(
        &narrow[..4],
        [
            "● 4 tool calls · 2…",
            "├ Read src/main.rs",
            "├ Edited src/lib.rs",
            "│ +12 / -3"
        ]
    );
    for columns in 0..12 {
        transcript.live_rows(columns, 99);
    }
}

#[test]
fn labels_are_bounded() {
    let long = format!("echo {}", "word ".repeat(30));
    let heredoc = "cat > x <<'EOF'\nsecret\nEOF";
    let transcript = after(&[
        TurnEvent::ToolBatch(vec![
            bash(1, &long),
            bash(2, heredoc),
            bash(3, "a <<< b\nc"),
        ]),
        TurnEvent::ToolStart(1),
        TurnEvent::ToolStart(2),
        TurnEvent::ToolStart(3),
    ]);
    let expected = [
        "● 3 tool calls · 3 commands",
        "├ Running echo word word word",
        "│ word word word word word…",
        "├ Running cat > x <<'EOF'…",
        "├ Running a <<< b c",
        "└ ctrl+o to view",
    ];
    assert_eq!(live(&transcript, 30), expected);
    assert_eq!(reader(&transcript, Depth::Review).len(), 1 + 4 + 1 + 1);
}

#[test]
fn every_end_has_its_verb() {
    let mut calls: Vec<BatchCall> = (1..=6).map(|id| read(id, &format!("f{id}"))).collect();
    calls.push(call(7, "greet", json!({})));
    let mut events = vec![TurnEvent::ToolBatch(calls)];
    events.extend((1..=5).map(TurnEvent::ToolStart));
    events.extend([
        ended(1, Outcome::Failed, "stale", "it is stale: read it"),
        ended(2, Outcome::Failed, "error", ""),
        ended(3, Outcome::TimedOut, "timeout 1s", ""),
        ended(4, Outcome::Blocked, "not allowed here", ""),
        ended(7, Outcome::Completed, "said\nhi", ""),
    ]);
    let mut transcript = after(&events);
    let expected = [
        "● 7 tool calls · 6 read · 1 greet · 1 timed out · 2 failed · 1 denied",
        "├ Failed f1",
        "│ stale",
        "├ Failed f2",
        "├ Timed out f3",
        "├ Denied f4",
        "│ not allowed here",
        "├ Reading f5",
        "├ Ran greet said hi",
        "└ ctrl+o to view",
    ];
    assert_eq!(live(&transcript, 80), expected);
    // The reader tells a reason once: with more about it when there is more.
    let read = reader(&transcript, Depth::Review).join("\n");
    assert!(read.contains("f1\n│ it is stale: read it\n├"), "{read}");
    assert!(read.contains("f4\n│ not allowed here\n├"), "{read}");
    transcript.apply(&TurnEvent::TurnEnd { aborted: true });
    transcript.apply(&done(5, "late"));
    let rows = plain(&transcript.settled_rows(99));
    assert!(
        rows.contains(&"├ Cancelled f5".to_owned()) && rows.contains(&"├ Cancelled f6".to_owned())
    );
    assert!(rows[0].ends_with("2 cancelled"), "{rows:?}");
}

#[test]
fn old_calls_fold() {
    let mut transcript = Transcript::new(Options {
        history_limit: 2,
        ..Options::default()
    });
    for id in 1..=5 {
        transcript.apply(&TurnEvent::ToolBatch(vec![read(id, &format!("f{id}"))]));
        transcript.apply(&TurnEvent::ToolStart(id));
        let outcome = if id == 2 {
            Outcome::Failed
        } else {
            Outcome::Completed
        };
        transcript.apply(&ended(id, outcome, "error", "x"));
    }
    let expected = [
        "● 5 tool calls · 5 read · 1 failed",
        "├ 2 earlier calls",
        "├ Failed f2",
        "├ Read f4",
        "├ Read f5",
        "└ ctrl+o to view",
    ];
    assert_eq!(live(&transcript, 60), expected);
    assert_eq!(reader(&transcript, Depth::Full).len(), 11);
}

#[test]
fn what_an_extension_writes_to_standard_error_is_one_block() {
    let mut transcript = Transcript::default();
    transcript.push_diagnostic("x.py", "Traceback:");
    let first = plain(&transcript.settled_rows(30));
    for (from, line) in [
        ("x.py", "  File \"x.py\", line 1"),
        ("x.py", "\traise\x1b[31m it"),
        ("y.sh", "warning"),
    ] {
        transcript.push_diagnostic(from, line);
    }
    transcript.push_notice("other");
    transcript.push_diagnostic("y.sh", "more");
    let rows = [first, plain(&transcript.settled_rows(30))].concat();
    assert_eq!(
        rows,
        [
            "  extension x.py: Traceback:",
            "    File \"x.py\", line 1",
            "      raise it",
            "",
            "  extension y.sh: warning",
            "",
            "  other",
            "",
            "  extension y.sh: more",
        ]
    );
}

#[test]
fn a_reply_ends_a_group_and_a_notice_does_too() {
    let mut transcript = after(&[
        TurnEvent::ToolBatch(vec![read(1, "a")]),
        TurnEvent::ToolStart(1),
    ]);
    transcript.push_notice("meanwhile");
    assert!(transcript.settled_rows(40).is_empty());
    transcript.apply(&done(1, ""));
    transcript.apply(&TurnEvent::ToolBatch(vec![read(2, "b")]));
    let rows = plain(&transcript.settled_rows(40));
    assert_eq!(
        rows,
        [
            "● 1 tool call · 1 read",
            "├ Read a",
            "└ ctrl+o to view",
            "",
            "  meanwhile"
        ]
    );
    transcript.apply(&TurnEvent::ToolStart(2));
    transcript.apply(&done(2, ""));
    transcript.apply(&TurnEvent::Text("ok".into()));
    assert_eq!(plain(&transcript.settled_rows(40)).len(), 4);
    assert_eq!(live(&transcript, 40), ["", "  ok"]);
}

#[test]
fn the_reader_unfolds() {
    let mut transcript = after(&[
        TurnEvent::Reasoning("**Plan** first\nthen ".into()),
        TurnEvent::Reasoning("act".into()),
        TurnEvent::ToolBatch(vec![bash(1, "ls"), call(2, "edit", json!({"path": "f"}))]),
        TurnEvent::ToolStart(1),
        ended(1, Outcome::Completed, "done", "a\nb\nc\nd"),
        TurnEvent::ToolStart(2),
        TurnEvent::ToolEnd {
            id: 2,
            outcome: Outcome::Completed,
            summary: "+1 -1".to_owned(),
            content: "edited".to_owned(),
            display: Some(chat::Display {
                text: crate::text::diff_rows("f", "x\n", "y\n"),
                format: chat::Format::Diff,
            }),
        },
    ]);
    let expected = [
        "  Plan first",
        "  then act",
        "",
        "● 2 tool calls · 1 command · 1 edit",
        "├ Ran ls",
        "│ a",
        "│ b",
        "│ c",
        "│ 1 more row · → to expand",
        "├ Edited f +1 / -1",
        "│     1 - x",
        "└     1 + y",
    ];
    assert_eq!(reader(&transcript, Depth::Review), expected);
    assert_eq!(reader(&transcript, Depth::Full)[8], "│ d");
    let hint = transcript.options.thinking_hint.clone();
    assert_eq!(plain(&transcript.settled_rows(80)), [format!("  {hint}")]);
    transcript.set_options(Options {
        show_thinking: true,
        ..Options::default()
    });
    let rows = transcript.window(Place::default(), 2, View::chat(80));
    let shown = "  ⟨thinkingText bold|Plan⟩⟨thinkingText| first⟩";
    assert_eq!(styled(&rows)[0], shown);
    // What is on the main screen comes again, once; what has left it stays.
    assert_eq!(transcript.take_back(1, 80), 1);
    assert_eq!(styled(&transcript.settled_rows(80))[0], shown);
    assert_eq!(transcript.take_back(9, 80), 0);
    transcript.set_options(Options::default());
    assert_eq!(transcript.take_back(0, 80), 0);
    assert!(transcript.settled_rows(80).is_empty());
}

#[test]
fn a_turn_ends_with_what_it_came_to() {
    let mut transcript = after(&[
        TurnEvent::TurnStart,
        TurnEvent::Usage(chat::Usage {
            input: 9_000,
            output: 400,
            ..Default::default()
        }),
        TurnEvent::Usage(chat::Usage {
            input: 11_000,
            output: 290,
            ..Default::default()
        }),
        TurnEvent::TurnEnd { aborted: false },
    ]);
    let mut result = TurnResult {
        cost_usd: Some(0.0412),
        ..TurnResult::default()
    };
    transcript.end_turn(&result, Some(Duration::from_millis(4_250)));
    result.error = Some("the server said no".to_owned());
    transcript.end_turn(&result, Some(Duration::from_secs(61)));
    result.aborted = true;
    transcript.end_turn(&result, Some(Duration::from_secs(61)));
    let expected = [
        "  4.2s (↑11k ↓690) $0.0412",
        "",
        "  1m1s (↑11k ↓690) $0.0412",
        "",
        "● Error: the server said no",
        "",
        "● System: the server said no",
    ];
    assert_eq!(plain(&transcript.settled_rows(60)), expected);
}

#[test]
fn a_shell_command_shows_its_end() {
    let mut transcript = Transcript::default();
    transcript.start_shell("seq 30");
    transcript.push_shell_output(&(1..=30).map(|n| format!("{n}\n")).collect::<String>());
    assert!(transcript.settled_rows(40).is_empty());
    transcript.end_shell(None);
    let rows = transcript.settled_rows(40);
    assert_eq!(
        styled(&rows)[..2],
        [
            "⟨bashMode bold|$ ⟩⟨bashMode bold|seq 30⟩",
            "  ⟨dim dim|10 more rows above⟩"
        ]
    );
    assert_eq!((rows.len(), plain(&rows)[21].as_str()), (22, "  30"));
}

#[test]
fn a_held_reply_waits_for_its_renderer() {
    let mut transcript = Transcript::default();
    transcript.hold_replies(true);
    transcript.apply(&TurnEvent::Text("one\n\ntwo\n\n".into()));
    transcript.apply(&TurnEvent::ToolBatch(vec![read(1, "a")]));
    assert!(transcript.settled_rows(40).is_empty());
    assert_eq!(live(&transcript, 40)[..4], ["  one", "", "  two", ""]);
    transcript.release_reply(Some(("instead", Format::Text)));
    assert_eq!(plain(&transcript.settled_rows(40)), ["  instead"]);
    transcript.apply(&TurnEvent::ToolStart(1));
    transcript.apply(&done(1, ""));
    transcript.apply(&TurnEvent::Text("three".into()));
    transcript.apply(&TurnEvent::TurnEnd { aborted: false });
    assert_eq!(plain(&transcript.settled_rows(40)).len(), 4);
    transcript.release_reply(None);
    assert_eq!(plain(&transcript.settled_rows(40)), ["", "  three"]);
}

#[test]
fn history_comes_back() {
    let calls = |ids: &[&str]| {
        ids.iter()
            .map(|id| ToolCall {
                id: (*id).to_owned(),
                name: "read".to_owned(),
                arguments: format!("{{\"path\":\"{id}\"}}"),
                signature: None,
            })
            .collect()
    };
    let assistant = |content: &str, ids: &[&str]| chat::Message::Assistant {
        content: content.to_owned(),
        tool_calls: calls(ids),
    };
    let result = |id: &str| chat::Message::Tool {
        call_id: id.to_owned(),
        content: "text".to_owned(),
        outcome: Outcome::Completed,
        summary: String::new(),
    };
    let messages = [
        chat::Message::user("go"),
        chat::Message::internal("hidden"),
        assistant("I look", &["a", "b"]),
        result("b"),
        result("x"),
        assistant("", &["a"]),
        result("a"),
        chat::Message::steered("hurry"),
        assistant("done", &[]),
    ];
    let messages: Vec<_> = messages.into_iter().map(std::sync::Arc::new).collect();
    let mut transcript = Transcript::default();
    let failure = |message: &str, is_stop| crate::session::PastFailure {
        message: message.into(),
        is_stop,
    };
    let failures = [
        (1, failure("refused", false)),
        (7, failure("interrupted", true)),
        (9, failure("no network", false)),
    ];
    transcript.restore(&messages, &failures, tools::label);
    let expected = [
        "┃ go",
        "",
        "● Error: refused",
        "",
        "  I look",
        "",
        "● 3 tool calls · 3 read · 1 unreported",
        "├ Not reported: a",
        "├ Read b",
        "├ Read a",
        "└ ctrl+o to view",
        "",
        "● System: interrupted",
        "",
        "┃ hurry",
        "",
        "  done",
        "",
        "● Error: no network",
    ];
    assert_eq!(plain(&transcript.settled_rows(60)), expected);
}
