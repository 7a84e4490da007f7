//! Events as lines.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::agent::{BatchCall, TurnEvent};
use crate::chat::{Deltas, Usage};
use crate::text::json::{write_string, write_value};

/// Whose events they are: what stands behind an event's own keys, ready to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag(Vec<u8>);

impl Tag {
    /// The tag of a stream that has one session only.
    pub fn none() -> Self {
        Self::default()
    }

    /// A session and the request that is served.
    pub fn of(session: &str, request: &RawValue) -> Self {
        let mut tag = b",\"session\":".to_vec();
        write_string(&mut tag, session);
        tag.extend_from_slice(b",\"request\":");
        // Writing to memory does not fail.
        let _ = write_value(&mut tag, &request);
        Self(tag)
    }
}

/// Appends one event as JSON, one line each for pieces of text. These, by far the most frequent,
/// take a short cut.
pub fn write_event(lines: &mut Vec<u8>, event: &TurnEvent, tag: &Tag) {
    match event {
        TurnEvent::Text(deltas) => write_deltas(lines, "text", deltas, tag),
        TurnEvent::Reasoning(deltas) => write_deltas(lines, "reasoning", deltas, tag),
        event => {
            // Writing to memory does not fail.
            let _ = write_value(lines, &to_json(event));
            // An event is an object with a key at least; the tag goes before its end.
            lines.pop();
            end_line(lines, tag);
        }
    }
}

/// Token counters, in the words of the wire.
pub(super) fn usage_fields(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_5m_tokens": usage.cache_write_5m,
        "cache_write_1h_tokens": usage.cache_write_1h,
    })
}

fn end_line(lines: &mut Vec<u8>, tag: &Tag) {
    lines.extend_from_slice(&tag.0);
    lines.extend_from_slice(b"}\n");
}

fn write_deltas(lines: &mut Vec<u8>, kind: &str, deltas: &Deltas, tag: &Tag) {
    for delta in deltas.iter() {
        lines.extend_from_slice(b"{\"type\":\"");
        lines.extend_from_slice(kind.as_bytes());
        lines.extend_from_slice(b"\",\"delta\":");
        write_string(lines, delta);
        end_line(lines, tag);
    }
}

fn to_json(event: &TurnEvent) -> Value {
    match event {
        TurnEvent::TurnStart => json!({"type": "turn_start"}),
        TurnEvent::Text(deltas) => json!({"type": "text", "delta": deltas.text()}),
        TurnEvent::Reasoning(deltas) => json!({"type": "reasoning", "delta": deltas.text()}),
        TurnEvent::ToolBatch(calls) => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"type": "tool_batch", "calls": calls})
        }
        TurnEvent::ToolStart(id) => json!({"type": "tool_start", "id": id}),
        TurnEvent::ToolOutput { id, stream, chunk } => {
            json!({"type": "tool_output", "id": id, "stream": stream.name(), "chunk": chunk})
        }
        TurnEvent::ToolEnd {
            id,
            outcome,
            summary,
            content,
            display: _,
        } => json!({
            "type": "tool_end",
            "id": id,
            "outcome": outcome.event_name(),
            "summary": summary,
            "content": content,
        }),
        TurnEvent::Compacting => json!({"type": "compacting"}),
        TurnEvent::Compacted {
            summary,
            context_tokens,
        } => json!({"type": "compacted", "summary": summary, "context_tokens": context_tokens}),
        TurnEvent::Usage(usage) => {
            let mut value = json!({"type": "usage"});
            if let (Value::Object(value), Value::Object(fields)) = (&mut value, usage_fields(usage))
            {
                value.extend(fields);
            }
            value
        }
        TurnEvent::SessionName(name) => json!({"type": "session_name", "name": name}),
        TurnEvent::Warning(message) => json!({"type": "warning", "message": message}),
        TurnEvent::ErrorDetails(details) => {
            json!({"type": "error_details", "details": details.to_json()})
        }
        TurnEvent::Error(message) => json!({"type": "error", "message": message}),
        TurnEvent::Retry {
            attempt,
            limit,
            delay_secs,
            cause,
            reason,
        } => json!({
            "type": "retry",
            "attempt": attempt,
            "limit": limit,
            "delay_secs": delay_secs,
            "cause": cause,
            "reason": reason,
        }),
        TurnEvent::Recovered { attempt, limit } => {
            json!({"type": "recovered", "attempt": attempt, "limit": limit})
        }
        TurnEvent::Steered(text) => json!({"type": "steered", "text": text}),
        TurnEvent::Slept(secs) => json!({"type": "slept", "duration_secs": secs}),
        TurnEvent::SleepStopped(secs) => json!({"type": "sleep_stopped", "duration_secs": secs}),
        TurnEvent::Discarded(prompts) => json!({"type": "discarded", "prompts": prompts}),
        TurnEvent::Instructions(path) => {
            json!({"type": "instructions", "path": path.to_string_lossy()})
        }
        TurnEvent::TurnEnd { aborted } => json!({"type": "turn_end", "aborted": aborted}),
    }
}

fn call(call: &BatchCall) -> Value {
    json!({
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "category": call.label.category,
        "target": call.label.target,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_behind_the_keys_of_the_event() {
        let request: &RawValue = serde_json::from_str("[1.0]").unwrap();
        let tag = Tag::of("s", request);
        let mut deltas = Deltas::from("a");
        deltas.push("b");
        let line = |event: TurnEvent, tag: &Tag| {
            let mut lines = Vec::new();
            write_event(&mut lines, &event, tag);
            String::from_utf8(lines).unwrap()
        };
        assert_eq!(
            line(TurnEvent::Text(deltas), &tag),
            "{\"type\":\"text\",\"delta\":\"a\",\"session\":\"s\",\"request\":[1.0]}\n\
             {\"type\":\"text\",\"delta\":\"b\",\"session\":\"s\",\"request\":[1.0]}\n"
        );
        let end = || TurnEvent::TurnEnd { aborted: true };
        assert_eq!(
            line(end(), &tag),
            "{\"type\":\"turn_end\",\"aborted\":true,\"session\":\"s\",\"request\":[1.0]}\n"
        );
        assert_eq!(
            line(end(), &Tag::none()),
            "{\"type\":\"turn_end\",\"aborted\":true}\n"
        );
    }
}
