//! Compaction: when the conversation is too long for its model, and what is asked for a summary.
//!
//! Everything here is arithmetic and text; `summarise` steps the turn through it. Token counts are
//! estimates unless the provider measured them.

use crate::chat::{Message, ToolSpec, Voice};
use crate::session::Entry;
use crate::text::{clip_bytes, clip_start};

/// What a summary must have, as level-2 headings.
pub const SECTIONS: [&str; 6] = [
    "Goal",
    "Constraints & Preferences",
    "Progress",
    "Key Decisions",
    "Next Steps",
    "Critical Context",
];

/// The system prompt of the request for a summary.
pub const SYSTEM: &str = "You summarise coding sessions so that another engineer can go on where they \
stopped. Keep exact paths, names, commands, numbers and error texts. Leave out small talk and what is \
obsolete. Answer with the summary alone.";

/// Most bytes of a focus.
const FOCUS: usize = 1024;
/// Room for what is said around the flattened conversation, in bytes.
const MARGIN: usize = 512;
/// Most characters of a result, or of a call's arguments, in the flattened conversation.
const TRIM: usize = 1500;
/// The window assumed for a model that does not tell its own, in tokens.
const ASSUMED_WINDOW: u64 = 128_000;

/// Tokens above which a conversation is compacted. `None` when the window is unknown.
pub fn threshold(window: u64) -> Option<u64> {
    let reserve = (window / 8).clamp(2048.min(window), 16_384);
    (window > 0).then(|| window - reserve)
}

/// Roughly how many tokens a text is: four plain characters each, and the wide scripts, where a
/// character is a word, one each.
pub fn estimate_text(text: &str) -> u64 {
    let (mut plain, mut accented, mut wide) = (0u64, 0u64, 0u64);
    for c in text.chars() {
        match u32::from(c) {
            0..=0x7f => plain += 1,
            0x80..=0x2e7f => accented += 1,
            _ => wide += 1,
        }
    }
    (plain + 2 * accented + 4 * wide).div_ceil(4)
}

/// Roughly how many tokens a message is.
pub fn estimate(message: &Message) -> u64 {
    match message {
        Message::User {
            content, images, ..
        } => estimate_text(content) + 1000 * images.len() as u64,
        Message::Assistant {
            content,
            tool_calls,
        } => {
            let calls = tool_calls
                .iter()
                .map(|call| estimate_text(&call.name) + estimate_text(&call.arguments));
            estimate_text(content) + calls.sum::<u64>()
        }
        Message::Tool { content, .. }
        | Message::Reasoning { content }
        | Message::System { content } => estimate_text(content),
    }
}

/// Roughly how many tokens the advertised tools are.
pub fn estimate_tools(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| {
        estimate_text(&tool.description) + estimate_text(&tool.parameters.to_string())
    };
    tools.iter().map(one).sum()
}

/// Where the kept part of the history begins; what is before it is summarised. `None` when
/// nothing is old enough.
pub fn cut(history: &[Entry], window: u64) -> Option<usize> {
    let window = if window == 0 { ASSUMED_WINDOW } else { window };
    let keep = 20_000.min((window / 4).max(1024));
    let mut sum = 0;
    let reached = history.iter().rposition(|entry| {
        sum += estimate(&entry.message);
        sum >= keep
    })?;
    let mut cut = reached + 1;
    // A result needs its call, and reasoning its reply.
    while cut < history.len()
        && (matches!(*history[cut].message, Message::Tool { .. })
            || matches!(*history[cut - 1].message, Message::Reasoning { .. }))
    {
        cut += 1;
    }
    // What was said last is for answering, not for summarising.
    let asked = matches!(
        history.last()?.message.as_ref(),
        Message::User {
            voice: Voice::Prompt | Voice::Steered,
            ..
        }
    );
    let cut = cut.min(history.len() - usize::from(asked));
    (cut > 0).then_some(cut)
}

/// The user message that asks for a summary of the older part.
pub fn request(older: &[Entry], focus: Option<&str>, window: u64) -> String {
    let window = if window == 0 { ASSUMED_WINDOW } else { window };
    let mut task = String::from("Summarise the session above under these headings:\n\n");
    for section in SECTIONS {
        task.push_str(&format!("## {section}\n"));
    }
    if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
        task.push_str(&format!(
            "\nPay most attention to: {}\n",
            clip_bytes(focus, FOCUS)
        ));
    }
    let taken = SYSTEM.len() + task.len() + FOCUS + MARGIN;
    let room = (2 * window as usize).saturating_sub(taken).max(MARGIN);
    format!("<session>\n{}</session>\n\n{task}", flatten(older, room))
}

/// The headings that a summary lacks.
pub fn missing_sections(summary: &str) -> Vec<&'static str> {
    let has = |section: &str| {
        summary.lines().any(|line| {
            line.strip_prefix("## ")
                .is_some_and(|rest| rest.trim() == section)
        })
    };
    SECTIONS
        .into_iter()
        .filter(|section| !has(section))
        .collect()
}

/// The conversation as text within `room` bytes. What people said is kept before all else, and
/// shortened only when it alone is too long; of the rest the newest counts.
fn flatten(older: &[Entry], room: usize) -> String {
    let mut parts: Vec<Option<String>> = older.iter().map(|entry| render(&entry.message)).collect();
    let is_protected = |n: usize| {
        matches!(
            *older[n].message,
            Message::User { .. } | Message::System { .. }
        )
    };
    let size = |parts: &[Option<String>], n: usize| parts[n].as_ref().map_or(0, String::len);
    let protected: Vec<usize> = (0..parts.len()).filter(|n| is_protected(*n)).collect();
    let mut left = room;
    let mut shortened = false;
    // The longest gives way first: halve the longest until all fit.
    loop {
        let sum: usize = protected.iter().map(|n| size(&parts, *n)).sum();
        let longest = protected.iter().copied().max_by_key(|n| size(&parts, *n));
        match longest {
            Some(n) if sum > room && size(&parts, n) > 200 => {
                let text = parts[n].take().unwrap_or_default();
                parts[n] = Some(middle_out(&text, text.len() / 2));
                shortened = true;
            }
            _ => {
                left = left.saturating_sub(sum);
                break;
            }
        }
    }
    let mut omitted = 0;
    for n in (0..parts.len()).rev().filter(|n| !is_protected(*n)) {
        let size = size(&parts, n);
        if omitted > 0 || size > left {
            omitted += usize::from(parts[n].take().is_some());
        } else {
            left -= size;
        }
    }
    let mut text = String::new();
    if omitted > 0 || shortened {
        text.push_str("[Some of the session did not fit and is left out here.]\n\n");
    }
    parts
        .into_iter()
        .flatten()
        .for_each(|part| text.push_str(&part));
    text
}

fn render(message: &Message) -> Option<String> {
    Some(match message {
        Message::User {
            content, images, ..
        } if images.is_empty() => format!("User: {content}\n\n"),
        Message::User {
            content, images, ..
        } => {
            format!("User ({} images): {content}\n\n", images.len())
        }
        Message::Assistant {
            content,
            tool_calls,
        } => {
            let mut text = format!("Assistant: {content}\n");
            for call in tool_calls {
                text.push_str(&format!("Call {}: {}\n", call.name, trim(&call.arguments)));
            }
            text + "\n"
        }
        Message::Tool {
            content, outcome, ..
        } => {
            format!("Result ({}): {}\n\n", outcome.record_name(), trim(content))
        }
        Message::System { content } => format!("System: {content}\n\n"),
        Message::Reasoning { .. } => return None,
    })
}

fn trim(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(TRIM) else {
        return text.to_string();
    };
    format!("{} [{} more bytes]", &text[..end], text.len() - end)
}

/// Head and tail of a text, about `bytes` together.
fn middle_out(text: &str, bytes: usize) -> String {
    let (head, tail) = (clip_bytes(text, bytes / 2), clip_start(text, bytes / 2));
    format!("{head}\n[…]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Outcome, ToolCall};
    use std::sync::Arc;

    fn entries(messages: Vec<Message>) -> Vec<Entry> {
        let entry = |message| Entry {
            id: None,
            message: Arc::new(message),
        };
        messages.into_iter().map(entry).collect()
    }

    fn user(tokens: usize) -> Message {
        Message::user("word".repeat(tokens))
    }

    fn reply(calls: usize) -> Message {
        let call = ToolCall {
            id: "c".into(),
            name: "bash".into(),
            arguments: "{}".into(),
            signature: None,
        };
        Message::Assistant {
            content: "ok".into(),
            tool_calls: vec![call; calls],
        }
    }

    fn result(tokens: usize) -> Message {
        let content = "word".repeat(tokens);
        Message::Tool {
            call_id: "c".into(),
            content,
            outcome: Outcome::Completed,
            summary: String::new(),
        }
    }

    #[test]
    fn the_threshold_leaves_room_for_an_answer() {
        for (window, expected) in [
            (0, None),
            (1000, Some(0)),
            (4096, Some(2048)),
            (64_000, Some(56_000)),
            (1_000_000, Some(983_616)),
        ] {
            assert_eq!(threshold(window), expected, "{window}");
        }
    }

    #[test]
    fn wide_scripts_are_not_counted_short() {
        assert_eq!(estimate_text("four char"), 3);
        assert_eq!(estimate_text("漢字漢字"), 4);
        assert_eq!(estimate_text(""), 0);
    }

    #[test]
    fn the_cut_never_parts_a_call_from_its_result() {
        // A window of 8,000 keeps 2,000 tokens.
        let check = |messages: Vec<Message>, expected: Option<usize>| {
            assert_eq!(cut(&entries(messages), 8_000), expected);
        };
        check(vec![user(10), reply(0)], None);
        check(vec![user(9000)], None);
        check(vec![user(10), reply(0), user(9000)], Some(2));
        check(vec![user(3000), user(10), reply(0)], Some(1));
        check(vec![user(10), reply(1), result(3000), user(10)], Some(3));
        check(
            vec![
                user(10),
                user(1900),
                reply(2),
                result(500),
                result(10),
                user(10),
            ],
            Some(2),
        );
        check(
            vec![user(10), reply(2), result(2000), result(2000)],
            Some(4),
        );
        let reasoning = || Message::Reasoning {
            content: "x".into(),
        };
        check(vec![user(10), user(3000), reasoning(), reply(0)], Some(2));
    }

    #[test]
    fn what_people_said_survives_and_the_newest_of_the_rest() {
        let older = entries(vec![
            user(1),
            reply(1),
            result(700),
            user(1),
            reply(1),
            result(300),
        ]);
        let text = flatten(&older, 1500);
        assert_eq!(text.matches("User: word").count(), 2);
        assert_eq!(text.matches("Result (completed)").count(), 1);
        assert!(text.starts_with("[Some of the session"));
        let whole = flatten(&older, 10_000);
        assert!(whole.contains("more bytes]") && !whole.contains("left out"));
        let huge = flatten(&entries(vec![user(100_000), user(2)]), 4_000);
        assert!(huge.len() < 4_500 && huge.contains("[…]") && huge.contains("User: wordword\n"));
    }

    #[test]
    fn sections_are_found_by_their_headings() {
        let all: String = SECTIONS
            .iter()
            .map(|section| format!("## {section}\ntext\n"))
            .collect();
        assert!(missing_sections(&all).is_empty());
        assert_eq!(missing_sections("## Goal\n").len(), 5);
    }
}
