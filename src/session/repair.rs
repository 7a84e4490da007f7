//! Makes a loaded history whole, in memory: what a crash left out is filled in or dropped.

use std::sync::Arc;

use super::load::Entry;
use crate::chat::{Message, Outcome, ToolCall};

/// Told to the model in place of a result that was never recorded.
const NO_RESULT: &str = "The session ended before this call reported a result. It may have run in \
                         part or in full; check before running it again.";

/// Drops reasoning that leads to no reply, and answers calls that have no result.
pub fn repair(entries: Vec<Entry>) -> Vec<Entry> {
    let mut whole: Vec<Entry> = Vec::with_capacity(entries.len());
    // Calls of the last reply that have no result yet.
    let mut open: Vec<ToolCall> = Vec::new();
    for entry in entries {
        if let Message::Tool { call_id, .. } = &*entry.message {
            if let Some(n) = open.iter().position(|call| call.id == *call_id) {
                open.remove(n);
            }
            drop_reasoning(&mut whole);
        } else {
            answer(&mut whole, &mut open);
            match &*entry.message {
                Message::Assistant { tool_calls, .. } => open.clone_from(tool_calls),
                Message::User { .. } | Message::System { .. } => drop_reasoning(&mut whole),
                Message::Reasoning { .. } | Message::Tool { .. } => {}
            }
        }
        whole.push(entry);
    }
    answer(&mut whole, &mut open);
    drop_reasoning(&mut whole);
    whole
}

fn drop_reasoning(whole: &mut Vec<Entry>) {
    while whole
        .last()
        .is_some_and(|entry| matches!(*entry.message, Message::Reasoning { .. }))
    {
        whole.pop();
    }
}

fn answer(whole: &mut Vec<Entry>, open: &mut Vec<ToolCall>) {
    whole.extend(open.drain(..).map(|call| Entry {
        id: None,
        message: Arc::new(Message::Tool {
            call_id: call.id,
            content: NO_RESULT.into(),
            outcome: Outcome::Cancelled,
            summary: "no result".into(),
        }),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter per message: `u`ser, `r`easoning, `a`ssistant, `1`–`9` result of call n, and
    /// `A` with calls 1 and 2.
    fn history(spec: &str) -> Vec<Entry> {
        spec.chars()
            .map(|letter| {
                let call = |n: u32| ToolCall {
                    id: n.to_string(),
                    name: "t".into(),
                    arguments: String::new(),
                    signature: None,
                };
                let message = match letter {
                    'u' => Message::user("x"),
                    'r' => Message::Reasoning {
                        content: String::new(),
                    },
                    'a' | 'A' => Message::Assistant {
                        content: String::new(),
                        tool_calls: if letter == 'A' {
                            vec![call(1), call(2)]
                        } else {
                            vec![]
                        },
                    },
                    digit => Message::Tool {
                        call_id: digit.to_string(),
                        content: String::new(),
                        outcome: Outcome::Completed,
                        summary: String::new(),
                    },
                };
                Entry {
                    id: Some(String::new()),
                    message: Arc::new(message),
                }
            })
            .collect()
    }

    fn spell(entries: &[Entry]) -> String {
        entries
            .iter()
            .map(|entry| match &*entry.message {
                Message::User { .. } | Message::System { .. } => "u".into(),
                Message::Reasoning { .. } => "r".into(),
                Message::Assistant { tool_calls, .. } if tool_calls.is_empty() => "a".into(),
                Message::Assistant { .. } => "A".into(),
                Message::Tool {
                    call_id, outcome, ..
                } => match outcome {
                    Outcome::Cancelled => format!("({call_id})"),
                    _ => call_id.clone(),
                },
            })
            .collect()
    }

    #[test]
    fn histories_are_made_whole() {
        for (before, after) in [
            ("", ""),
            ("uraua", "uraua"),
            ("urrA12ra", "urrA12ra"),
            ("ur", "u"),
            ("urua", "uua"),
            ("urrua", "uua"),
            ("uA", "uA(1)(2)"),
            ("uA2", "uA2(1)"),
            ("uA1ua", "uA1(2)ua"),
            ("uAAu", "uA(1)(2)A(1)(2)u"),
            ("uA12r", "uA12"),
            ("uA1ra", "uA1(2)ra"),
            ("u7a", "u7a"),
        ] {
            assert_eq!(spell(&repair(history(before))), after, "{before}");
        }
    }
}
