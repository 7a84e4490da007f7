//! Frames of a chat completions stream to events.
//!
//! A frame of the common shape is read straight into a struct; one of another shape goes through
//! a slower path that keeps what can be understood and drops the rest.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::{Calls, Piece};
use crate::chat::Usage;
use crate::provider::http::Decoder;
use crate::provider::repeated::Repeated;
use crate::provider::sse::Flow;
use crate::provider::{Failure, Finish, Sink, StreamEvent, error};
use crate::text::clip_chars;

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Counters>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Piece<'a>>>,
}

#[derive(Deserialize)]
struct Counters {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

impl Frame<'_> {
    /// The text, when the frame says nothing else.
    fn only_text(&self) -> Option<&str> {
        let [choice] = self.choices.as_deref()? else {
            return None;
        };
        let delta = choice.delta.as_ref()?;
        let more = choice.finish_reason.is_some()
            || self.usage.is_some()
            || delta.reasoning_content.is_some()
            || delta.reasoning.is_some()
            || delta.refusal.is_some()
            || delta.tool_calls.is_some();
        delta.content.as_deref().filter(|_| !more)
    }
}

/// The state of one stream.
#[derive(Default)]
pub(super) struct Decode {
    calls: Calls,
    finish: Option<Finish>,
    refused: bool,
    malformed: u32,
    repeated: Repeated,
}

impl Decoder for Decode {
    fn frame(&mut self, data: &str, sink: &mut dyn Sink) -> Result<Flow, Failure> {
        if let Some(piece) = self.repeated.piece(data) {
            sink.text(piece);
            return Ok(Flow::Continue(()));
        }
        let data = data.trim();
        if data == "[DONE]" {
            return Ok(Flow::Break(()));
        }
        if let Ok(frame) = serde_json::from_str(data) {
            self.apply(frame, data, sink)?;
        } else if let Some(tidied) = serde_json::from_str(data).ok().and_then(tidy) {
            match serde_json::from_str(&tidied) {
                Ok(frame) => self.apply(frame, data, sink)?,
                Err(_) => self.malformed += 1,
            }
        } else {
            self.malformed += 1;
        }
        Ok(Flow::Continue(()))
    }

    /// Some servers leave `[DONE]` out; the finish reason says that the reply is whole.
    fn may_end(&self) -> bool {
        self.finish.is_some()
    }

    fn finish(&mut self, sink: &mut dyn Sink) {
        let finish = self.finish.take().unwrap_or(Finish::Normal);
        for call in self.calls.finish(finish == Finish::Length) {
            sink.push(StreamEvent::Call(call));
        }
        let finish = if self.refused && finish == Finish::Normal {
            Finish::Refusal
        } else {
            finish
        };
        sink.push(StreamEvent::Done {
            finish,
            malformed: self.malformed,
        });
    }
}

impl Decode {
    fn apply(&mut self, frame: Frame<'_>, data: &str, sink: &mut dyn Sink) -> Result<(), Failure> {
        if frame.error.is_some() {
            return Err(error::from_frame(data));
        }
        if let Some(text) = frame.only_text() {
            self.repeated.learn(data, "content", text);
        }
        if let Some(choice) = frame.choices.and_then(|choices| choices.into_iter().next()) {
            if let Some(delta) = choice.delta {
                self.apply_delta(delta, sink);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish = Some(finish(reason));
            }
        }
        if let Some(usage) = frame.usage {
            sink.push(StreamEvent::Usage(usage_of(&usage)));
        }
        Ok(())
    }

    fn apply_delta(&mut self, delta: Delta<'_>, sink: &mut dyn Sink) {
        let full = |text: &String| !text.is_empty();
        // Servers that send both names repeat the same text.
        if let Some(text) = delta
            .reasoning_content
            .filter(full)
            .or(delta.reasoning.filter(full))
        {
            sink.push(StreamEvent::Reasoning(text.into()));
        }
        if let Some(text) = delta.content.filter(full) {
            sink.text(&text);
        }
        if let Some(text) = delta.refusal.filter(full) {
            self.refused = true;
            sink.text(&text);
        }
        for piece in delta.tool_calls.into_iter().flatten() {
            let bytes = self.calls.add(piece);
            sink.push(StreamEvent::CallProgress(bytes));
        }
    }
}

fn finish(reason: String) -> Finish {
    match reason.as_str() {
        "stop" => Finish::Normal,
        "tool_calls" => Finish::ToolCalls,
        "length" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        _ => Finish::Other(clip_chars(&reason, 100)),
    }
}

fn usage_of(counters: &Counters) -> Usage {
    let cached = counters
        .prompt_tokens_details
        .as_ref()
        .and_then(|details| details.cached_tokens)
        .unwrap_or(0);
    Usage {
        input: counters.prompt_tokens.unwrap_or(0).saturating_sub(cached),
        output: counters.completion_tokens.unwrap_or(0),
        cache_read: cached,
        ..Usage::default()
    }
}

/// Brings a frame of an unusual shape into the common one, as text. What has the wrong type is
/// dropped, lists of text parts are joined. `None` for what is no object.
fn tidy(frame: Value) -> Option<String> {
    let Value::Object(mut frame) = frame else {
        return None;
    };
    if let Some(Value::Array(choices)) = frame.get_mut("choices") {
        choices.retain(Value::is_object);
        for choice in choices {
            keep(choice, "finish_reason", Value::is_string);
            keep(choice, "delta", Value::is_object);
            if let Some(delta) = choice.get_mut("delta") {
                tidy_delta(delta);
            }
        }
    } else {
        frame.remove("choices");
    }
    let counts = |value: &Value| serde_json::from_value::<Counters>(value.clone()).is_ok();
    let mut frame = Value::Object(frame);
    keep(&mut frame, "usage", counts);
    Some(frame.to_string())
}

fn tidy_delta(delta: &mut Value) {
    for name in ["content", "reasoning_content", "reasoning", "refusal"] {
        let parts = delta.get(name).and_then(Value::as_array);
        if let Some(text) = parts.map(|parts| joined(parts, "text")) {
            // One server nests its reasoning among the parts of the content.
            let thought = parts
                .map(|parts| joined_thoughts(parts))
                .unwrap_or_default();
            delta[name] = Value::String(text);
            if !thought.is_empty() {
                delta["reasoning"] = Value::String(thought);
            }
        }
        keep(delta, name, Value::is_string);
    }
    keep(delta, "tool_calls", Value::is_array);
    for call in delta
        .get_mut("tool_calls")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(number) = call.get("id").filter(|id| id.is_number()) {
            call["id"] = Value::String(number.to_string());
        }
        keep(call, "id", Value::is_string);
        keep(call, "index", Value::is_u64);
        keep(call, "function", Value::is_object);
        if let Some(function) = call.get_mut("function") {
            keep(function, "name", Value::is_string);
        }
    }
    if let Some(calls) = delta.get_mut("tool_calls").and_then(Value::as_array_mut) {
        calls.retain(Value::is_object);
    }
}

fn joined(parts: &[Value], name: &str) -> String {
    parts
        .iter()
        .filter_map(|part| part.get(name)?.as_str())
        .collect()
}

fn joined_thoughts(parts: &[Value]) -> String {
    parts
        .iter()
        .filter_map(|part| Some(joined(part.get("thinking")?.as_array()?, "text")))
        .collect()
}

/// Removes a field of the wrong type.
fn keep(object: &mut Value, name: &str, right: impl Fn(&Value) -> bool) {
    if let Some(object) = object.as_object_mut() {
        if object
            .get(name)
            .is_some_and(|value| !value.is_null() && !right(value))
        {
            object.remove(name);
        }
    }
}
