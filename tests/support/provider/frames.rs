//! What a scripted reply looks like in each dialect.

use serde_json::{Value, json};

/// Spells a reply in a dialect.
pub struct Frames {
    anthropic: bool,
    block: usize,
    call: usize,
}

impl Frames {
    pub fn new(anthropic: bool) -> Self {
        Self {
            anthropic,
            block: 0,
            call: 0,
        }
    }

    pub fn start(&self) -> Vec<u8> {
        if !self.anthropic {
            return Vec::new();
        }
        let usage = json!({"input_tokens": 100, "output_tokens": 1});
        frame(
            &json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": usage}}),
        )
    }

    pub fn text(&mut self, text: &str) -> Vec<u8> {
        if self.anthropic {
            return self.block(
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": text}),
            );
        }
        self.delta(json!({"content": text}))
    }

    pub fn reasoning(&mut self, text: &str) -> Vec<u8> {
        if !self.anthropic {
            return self.delta(json!({"reasoning_content": text}));
        }
        let index = self.block;
        let signature = json!({"type": "signature_delta", "signature": "sig"});
        let mut frames = self.block(
            json!({"type": "thinking", "thinking": ""}),
            json!({"type": "thinking_delta", "thinking": text}),
        );
        // The signature comes before the block's end, which is the last frame.
        let stop = frame(&json!({"type": "content_block_stop", "index": index}));
        frames.truncate(frames.len() - stop.len());
        frames.extend(frame(
            &json!({"type": "content_block_delta", "index": index, "delta": signature}),
        ));
        frames.extend(stop);
        frames
    }

    pub fn call(&mut self, id: &str, name: &str, arguments: &str) -> Vec<u8> {
        if self.anthropic {
            return self.block(
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": arguments}),
            );
        }
        let index = self.call;
        self.call += 1;
        let cut = arguments
            .char_indices()
            .nth(arguments.chars().count() / 2)
            .map_or(0, |(at, _)| at);
        let first = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": &arguments[..cut]}});
        let rest = json!({"index": index, "function": {"arguments": &arguments[cut..]}});
        let mut frames = self.delta(json!({"tool_calls": [first]}));
        frames.extend(self.delta(json!({"tool_calls": [rest]})));
        frames
    }

    pub fn end(&self, finish: Option<&str>, calls: bool, usage: Option<Value>) -> Vec<u8> {
        if self.anthropic {
            let reason = finish.unwrap_or(if calls { "tool_use" } else { "end_turn" });
            let usage = usage.unwrap_or_else(|| json!({"output_tokens": 10}));
            let mut frames = frame(
                &json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}),
            );
            frames.extend(frame(&json!({"type": "message_stop"})));
            return frames;
        }
        let reason = finish.unwrap_or(if calls { "tool_calls" } else { "stop" });
        let usage = usage.unwrap_or_else(|| json!({"prompt_tokens": 100, "completion_tokens": 10}));
        let mut frames =
            frame(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
        frames.extend(frame(&json!({"choices": [], "usage": usage})));
        frames.extend(b"data: [DONE]\n\n");
        frames
    }

    fn delta(&self, delta: Value) -> Vec<u8> {
        frame(
            &json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
        )
    }

    fn block(&mut self, start: Value, delta: Value) -> Vec<u8> {
        let index = self.block;
        self.block += 1;
        let mut frames =
            frame(&json!({"type": "content_block_start", "index": index, "content_block": start}));
        frames.extend(frame(
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        ));
        frames.extend(frame(
            &json!({"type": "content_block_stop", "index": index}),
        ));
        frames
    }
}

fn frame(value: &Value) -> Vec<u8> {
    let event = value["type"]
        .as_str()
        .map(|kind| format!("event: {kind}\n"))
        .unwrap_or_default();
    format!("{event}data: {value}\n\n").into_bytes()
}
