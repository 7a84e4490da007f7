//! Where the extensions have a say: each hook is an event that the turn waits for.

use super::*;
use crate::extension::manifest::Command;
use crate::extension::{ExtensionId, HookKind, Owned, Registry, TurnMessage, Verdict};

/// A session whose extensions have these hooks.
fn hooked(kinds: &[HookKind]) -> impl FnOnce(&mut SessionSpec) + use<'_> {
    |spec| {
        spec.extensions = Arc::new(Registry {
            hooks: kinds.iter().copied().collect(),
            events: crate::extension::EventName::ALL.into_iter().collect(),
            ..Registry::default()
        });
    }
}

fn input(consumed: bool, replacement: Option<&str>) -> Verdict {
    Verdict::Input {
        consumed,
        replacement: replacement.map(String::from),
        notices: vec!["seen".into()],
    }
}

impl Table {
    fn verdict(&mut self, verdict: Verdict, expected: &str) {
        self.check(SessionEvent::Hooked(self.job, verdict), expected);
    }
}

#[test]
fn a_swallowed_line_starts_no_turn() {
    let mut table = Table::new(hooked(&[HookKind::Input]));
    table.submits("hi", "hook input");
    table.verdict(input(true, None), "warning, result");
    let result = table.result.take().unwrap();
    assert!(result.error.is_none() && !result.aborted);
    assert_eq!(result.warnings, ["seen"]);
}

#[test]
fn a_rewritten_line_is_what_the_turn_is_about() {
    let mut table = Table::new(hooked(&[HookKind::Input, HookKind::BeforeTurn]));
    table.submits("hi", "hook input");
    // A late verdict of another question changes nothing.
    table.check(SessionEvent::Hooked(99, input(true, None)), "");
    table.verdict(input(false, Some("hello")), "warning, turn_start, prepare");
    table.prepared("hook before_turn");
    let joined = Verdict::BeforeTurn {
        suffixes: vec!["be brief".into()],
        messages: vec![
            TurnMessage {
                content: "hidden".into(),
                internal: true,
            },
            TurnMessage {
                content: "shown".into(),
                internal: false,
            },
        ],
    };
    table.verdict(
        joined,
        "steered shown, tell turn_start {\"prompt\":\"hello\"}, silence on, ask",
    );
    assert_eq!(
        table.history(),
        "user:hello, internal:hidden, steered:shown"
    );
}

#[test]
fn a_slash_word_may_be_a_template() {
    let command = Owned {
        owner: ExtensionId(0),
        item: Command {
            name: "fix".into(),
            description: String::new(),
            arguments: None,
            completions: false,
        },
    };
    let cases = [
        (Some("mend it"), "turn_start, prepare"),
        (None, "command fix a b"),
    ];
    for (filled, expected) in cases {
        let mut table = Table::new(|spec| {
            spec.extensions = Arc::new(Registry {
                commands: vec![command.clone()],
                ..Registry::default()
            });
        });
        table.submits("/fix a b", "expand fix a b");
        // A late answer to another question changes nothing.
        table.check(SessionEvent::Expanded(99, Some("no".into())), "");
        let filled = filled.map(String::from);
        table.check(SessionEvent::Expanded(table.job, filled.clone()), expected);
        if filled.is_some() {
            table.prepared("silence on, ask");
            assert_eq!(table.history(), "user:mend it");
        }
    }
    let mut table = Table::new(|_| {});
    table.submits("/fix a b", "expand fix a b");
    table.check(
        SessionEvent::Expanded(table.job, None),
        "turn_start, prepare",
    );
    table.prepared("silence on, ask");
    assert_eq!(table.history(), "user:/fix a b");

    let mut table = Table::new(|_| {});
    table.submits("/fix a", "expand fix a");
    table.check(
        SessionEvent::Expanded(table.job, Some(" \n".into())),
        "error, result",
    );

    let mut table = Table::new(|_| {});
    table.submits("/fix a b", "expand fix a b");
    table.wants(
        2,
        Want::Interrupt,
        "turn_start, turn_end true, result, answer 2",
    );
    table.check(SessionEvent::Expanded(table.job, None), "");
}

#[test]
fn an_interrupt_forgets_the_question() {
    let mut table = Table::new(hooked(&[HookKind::Input]));
    table.submits("hi", "hook input");
    table.wants(
        2,
        Want::Interrupt,
        "turn_start, forget, turn_end true, result, answer 2",
    );
    table.verdict(input(false, None), "");
}

#[test]
fn a_call_waits_for_its_gate_and_its_result_for_its_filter() {
    let hooks = [HookKind::ToolCall, HookKind::ToolResult];
    let mut table = Table::new(hooked(&hooks));
    table.submits("hi", "turn_start, prepare");
    table.prepared("tell turn_start {\"prompt\":\"hi\"}, silence on, ask");
    table.stream(
        vec![call("a", "bash", "{}"), call("b", "bash", "{}"), done()],
        "batch 2, tell tool_start {\"id\":1,\"name\":\"bash\",\"arguments\":{}}, hook tool_call, \
         tell tool_start {\"id\":2,\"name\":\"bash\",\"arguments\":{}}, hook tool_call, start 1, start 2",
    );
    let first = table.job - 1;
    table.check(
        SessionEvent::Hooked(first, Verdict::ToolCall(Some("no".into()))),
        "tell tool_end {\"id\":1,\"name\":\"bash\",\"outcome\":\"blocked\",\"content\":\"no\"}, end 1 blocked",
    );
    table.verdict(Verdict::ToolCall(None), "run 2");
    table.tool(2, "hook tool_result");
    // A second result of the same call is late.
    table.tool(2, "");
    table.verdict(
        Verdict::ToolResult(Some("REDACTED".into())),
        "tell tool_end {\"id\":2,\"name\":\"bash\",\"outcome\":\"completed\",\"content\":\"REDACTED\"}, \
         end 2 completed, silence on, ask",
    );
    let read = |message: &&Arc<Message>| matches!(&***message, Message::Tool { content, .. } if content == "REDACTED");
    assert_eq!(table.sent.iter().filter(read).count(), 1);
}
