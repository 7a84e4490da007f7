//! Frames of a messages stream to events.
//!
//! Calls are held back to the end of the stream: only the stop reason tells whether the last
//! one was cut off.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

use super::request::ORIGIN;
use crate::chat::{ToolCall, Usage};
use crate::provider::http::Decoder;
use crate::provider::repeated::Repeated;
use crate::provider::sse::Flow;
use crate::provider::{Failure, Finish, Sink, StreamEvent, error};
use crate::text::clip_chars;

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    index: Option<u64>,
    delta: Option<Delta>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    message: Option<Start>,
    usage: Option<Counters>,
}

#[derive(Deserialize)]
struct Start {
    usage: Option<Counters>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

/// Counters of a frame. A later frame may leave out what an earlier one had.
#[derive(Clone, Copy, Default, Deserialize)]
struct Counters {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<Creation>,
}

#[derive(Clone, Copy, Deserialize)]
struct Creation {
    ephemeral_5m_input_tokens: Option<u64>,
    ephemeral_1h_input_tokens: Option<u64>,
}

/// A content block.
enum Block {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(Value),
    Call {
        id: String,
        name: String,
        given: Value,
        arguments: String,
    },
    Unknown,
}

impl Frame<'_> {
    /// The text, when the frame says nothing else.
    fn only_text(&self) -> Option<&str> {
        let delta = self
            .delta
            .as_ref()
            .filter(|_| self.kind == "content_block_delta")?;
        let more = self.usage.is_some()
            || delta.thinking.is_some()
            || delta.signature.is_some()
            || delta.partial_json.is_some();
        delta.text.as_deref().filter(|_| !more)
    }
}

/// The state of one stream.
pub(super) struct Decode {
    /// `provider/id` of the model, to mark what only it takes back.
    origin: String,
    /// Open blocks and all calls, in order. A server may use an index again.
    blocks: Vec<(u64, Block)>,
    finish: Option<Finish>,
    counters: Counters,
    malformed: u32,
    repeated: Repeated,
}

impl Decode {
    pub(super) fn new(origin: String) -> Self {
        Self {
            origin,
            blocks: Vec::new(),
            finish: None,
            counters: Counters::default(),
            malformed: 0,
            repeated: Repeated::default(),
        }
    }

    fn open(&mut self, index: u64, raw: &RawValue, sink: &mut dyn Sink) {
        let Ok(Value::Object(block)) = serde_json::from_str(raw.get()) else {
            self.malformed += 1;
            return;
        };
        let text = |name: &str| {
            block
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let opened = match text("type").as_str() {
            "text" => {
                push_text(text("text"), sink);
                Block::Text
            }
            "thinking" => {
                push_reasoning(text("thinking"), sink);
                Block::Thinking {
                    text: text("thinking"),
                    signature: text("signature"),
                }
            }
            "redacted_thinking" => Block::Redacted(Value::Object(block)),
            "tool_use" => {
                sink.push(StreamEvent::CallProgress(0));
                let given = block.get("input").cloned().unwrap_or(Value::Null);
                Block::Call {
                    id: text("id"),
                    name: text("name"),
                    given,
                    arguments: String::new(),
                }
            }
            _ => Block::Unknown,
        };
        self.blocks.push((index, opened));
    }

    fn find(&self, index: u64) -> Option<usize> {
        self.blocks.iter().rposition(|(open, _)| *open == index)
    }

    fn extend(&mut self, index: u64, delta: Delta, sink: &mut dyn Sink) {
        if let Some(text) = delta.text {
            push_text(text, sink);
        }
        let block = self
            .find(index)
            .map(|position| &mut self.blocks[position].1);
        if let Some(piece) = delta.partial_json {
            match block {
                Some(Block::Call { arguments, .. }) => {
                    arguments.push_str(&piece);
                    sink.push(StreamEvent::CallProgress(piece.len()));
                }
                _ => self.malformed += 1,
            }
            return;
        }
        if let Some(Block::Thinking { text, signature }) = block {
            text.push_str(delta.thinking.as_deref().unwrap_or(""));
            signature.push_str(delta.signature.as_deref().unwrap_or(""));
        }
        push_reasoning(delta.thinking.unwrap_or_default(), sink);
    }

    fn close(&mut self, index: u64, sink: &mut dyn Sink) {
        let Some(position) = self.find(index) else {
            return;
        };
        if matches!(self.blocks[position].1, Block::Call { .. }) {
            return;
        }
        let mut item = match self.blocks.remove(position).1 {
            Block::Thinking { text, signature } if !signature.is_empty() => {
                json!({"type": "thinking", "thinking": text, "signature": signature})
            }
            Block::Redacted(block) => block,
            Block::Text | Block::Thinking { .. } | Block::Call { .. } | Block::Unknown => return,
        };
        item[ORIGIN] = Value::String(self.origin.clone());
        sink.push(StreamEvent::ReasoningItem(item.to_string()));
    }

    fn count(&mut self, new: Counters, sink: &mut dyn Sink) {
        let old = self.counters;
        self.counters = Counters {
            input_tokens: new.input_tokens.or(old.input_tokens),
            output_tokens: new.output_tokens.or(old.output_tokens),
            cache_read_input_tokens: new.cache_read_input_tokens.or(old.cache_read_input_tokens),
            cache_creation_input_tokens: new
                .cache_creation_input_tokens
                .or(old.cache_creation_input_tokens),
            cache_creation: new.cache_creation.or(old.cache_creation),
        };
        sink.push(StreamEvent::Usage(usage(&self.counters)));
    }
}

impl Decoder for Decode {
    fn frame(&mut self, data: &str, sink: &mut dyn Sink) -> Result<Flow, Failure> {
        if let Some(piece) = self.repeated.piece(data) {
            sink.text(piece);
            return Ok(Flow::Continue(()));
        }
        let Ok(frame) = serde_json::from_str::<Frame<'_>>(data) else {
            self.malformed += 1;
            return Ok(Flow::Continue(()));
        };
        if let Some(text) = frame.only_text() {
            self.repeated.learn(data, "text", text);
        }
        let index = frame.index.unwrap_or(0);
        match &*frame.kind {
            "content_block_delta" => {
                if let Some(delta) = frame.delta {
                    self.extend(index, delta, sink);
                }
            }
            "content_block_start" => {
                if let Some(block) = frame.content_block {
                    self.open(index, block, sink);
                }
            }
            "content_block_stop" => self.close(index, sink),
            "message_start" => {
                if let Some(usage) = frame.message.and_then(|message| message.usage) {
                    self.count(usage, sink);
                }
            }
            "message_delta" => {
                if let Some(reason) = frame.delta.and_then(|delta| delta.stop_reason) {
                    self.finish = Some(finish(reason));
                }
                if let Some(usage) = frame.usage {
                    self.count(usage, sink);
                }
            }
            "message_stop" => return Ok(Flow::Break(())),
            "error" => return Err(error::from_frame(data)),
            _ => {}
        }
        Ok(Flow::Continue(()))
    }

    fn may_end(&self) -> bool {
        false
    }

    fn finish(&mut self, sink: &mut dyn Sink) {
        let finish = self.finish.take().unwrap_or(Finish::Normal);
        let mut ids: Vec<String> = Vec::new();
        for (_, block) in std::mem::take(&mut self.blocks) {
            let Block::Call {
                id,
                name,
                given,
                arguments,
            } = block
            else {
                continue;
            };
            if name.trim().is_empty() {
                continue;
            }
            let taken = id.trim().is_empty() || ids.contains(&id);
            let id = if taken {
                format!("call_{}", Uuid::new_v4().simple())
            } else {
                id
            };
            ids.push(id.clone());
            let arguments = match arguments.trim().is_empty() {
                false => arguments,
                // Cut before they began: the empty text keeps the call from running.
                true if finish == Finish::Length => String::new(),
                true if given.is_object() => given.to_string(),
                true => "{}".to_owned(),
            };
            sink.push(StreamEvent::Call(ToolCall {
                id,
                name,
                arguments,
                signature: None,
            }));
        }
        sink.push(StreamEvent::Done {
            finish,
            malformed: self.malformed,
        });
    }
}

fn push_text(text: String, sink: &mut dyn Sink) {
    if !text.is_empty() {
        sink.text(&text);
    }
}

fn push_reasoning(text: String, sink: &mut dyn Sink) {
    if !text.is_empty() {
        sink.push(StreamEvent::Reasoning(text.into()));
    }
}

fn finish(reason: String) -> Finish {
    match reason.as_str() {
        "end_turn" | "stop_sequence" => Finish::Normal,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" => Finish::Length,
        "refusal" => Finish::Refusal,
        _ => Finish::Other(clip_chars(&reason, 100)),
    }
}

fn usage(counters: &Counters) -> Usage {
    let creation = counters.cache_creation.map(|creation| {
        (
            creation.ephemeral_5m_input_tokens.unwrap_or(0),
            creation.ephemeral_1h_input_tokens.unwrap_or(0),
        )
    });
    let (five_minutes, one_hour) = creation.unwrap_or((0, 0));
    let rest = counters
        .cache_creation_input_tokens
        .unwrap_or(0)
        .saturating_sub(five_minutes.saturating_add(one_hour));
    Usage {
        input: counters.input_tokens.unwrap_or(0),
        output: counters.output_tokens.unwrap_or(0),
        cache_read: counters.cache_read_input_tokens.unwrap_or(0),
        cache_write_5m: five_minutes.saturating_add(rest),
        cache_write_1h: one_hour,
    }
}
