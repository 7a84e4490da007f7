//! The rules that real servers enforce on a request, one checker per dialect.

use std::collections::HashSet;

use serde_json::Value;

use super::provider::Received;

/// Chat completions: pairing of calls and results, no empty message, legal names and ids.
pub fn completions(request: &Received) -> Result<(), String> {
    let body = &request.body;
    if !request.endpoint().ends_with("/chat/completions") {
        return Err(format!("path {}", request.path));
    }
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let mut open: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            return Err(format!("message {index}: calls {open:?} have no result"));
        }
        match role {
            "system" if index == 0 => text(&message["content"], index)?,
            "user" => text(&message["content"], index)?,
            "assistant" => {
                let calls = message["tool_calls"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                if calls.is_empty() {
                    text(&message["content"], index)?;
                }
                let mut seen = HashSet::new();
                for call in calls {
                    let id = call["id"].as_str().unwrap_or_default().to_string();
                    let name = call["function"]["name"].as_str().unwrap_or_default();
                    let arguments = call["function"]["arguments"]
                        .as_str()
                        .ok_or("arguments are no text")?;
                    if id.is_empty() || id.len() > 64 || !seen.insert(id.clone()) {
                        return Err(format!("message {index}: call id {id:?}"));
                    }
                    if call["type"] != "function" || !legal(name) {
                        return Err(format!("message {index}: call {call}"));
                    }
                    if !serde_json::from_str::<Value>(arguments)
                        .is_ok_and(|value| value.is_object())
                    {
                        return Err(format!("message {index}: arguments {arguments:?}"));
                    }
                    open.push(id);
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let place = open.iter().position(|one| one == id);
                open.remove(place.ok_or(format!("message {index}: result without call {id:?}"))?);
                message["content"]
                    .as_str()
                    .ok_or(format!("message {index}: result is no text"))?;
            }
            other => return Err(format!("message {index}: role {other:?}")),
        }
    }
    if !open.is_empty() {
        return Err(format!("calls {open:?} have no result"));
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        if tool["type"] != "function"
            || !legal(function["name"].as_str().unwrap_or_default())
            || !function["parameters"].is_object()
        {
            return Err(format!("tool {tool}"));
        }
    }
    Ok(())
}

/// Anthropic messages: the same, with blocks, alternating roles and signatures.
pub fn anthropic(request: &Received) -> Result<(), String> {
    let body = &request.body;
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return Err("no max_tokens".into());
    }
    if request.header("anthropic-version") != Some("2023-06-01") {
        return Err("no anthropic-version".into());
    }
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let mut open: Vec<String> = Vec::new();
    let mut last_role = "assistant";
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == last_role || !matches!(role, "user" | "assistant") {
            return Err(format!(
                "message {index}: role {role:?} after {last_role:?}"
            ));
        }
        last_role = if role == "user" { "user" } else { "assistant" };
        let blocks = match &message["content"] {
            Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks.clone(),
            _ => return Err(format!("message {index}: content")),
        };
        if blocks.is_empty() {
            return Err(format!("message {index} is empty"));
        }
        let mut seen_other = false;
        for block in &blocks {
            let kind = block["type"].as_str().unwrap_or_default();
            if kind == "tool_result" {
                if role != "user" || seen_other {
                    return Err(format!(
                        "message {index}: results come first in a user message"
                    ));
                }
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                let place = open.iter().position(|one| one == id);
                open.remove(place.ok_or(format!("message {index}: result without call {id:?}"))?);
                continue;
            }
            if !open.is_empty() && role == "user" {
                return Err(format!("message {index}: calls {open:?} have no result"));
            }
            seen_other = true;
            match kind {
                "text" => text(&block["text"], index)?,
                "image" if role == "user" => {}
                "thinking" if role == "assistant" => {
                    if block["signature"].as_str().is_none_or(str::is_empty) {
                        return Err(format!("message {index}: thinking without signature"));
                    }
                }
                "redacted_thinking" if role == "assistant" => {}
                "tool_use" if role == "assistant" => {
                    let id = block["id"].as_str().unwrap_or_default().to_string();
                    if !legal(&id)
                        || open.contains(&id)
                        || !block["input"].is_object()
                        || !legal(block["name"].as_str().unwrap_or_default())
                    {
                        return Err(format!("message {index}: call {block}"));
                    }
                    open.push(id);
                }
                other => return Err(format!("message {index}: block {other:?} in {role}")),
            }
        }
    }
    if !open.is_empty() {
        return Err(format!("calls {open:?} have no result"));
    }
    if last_role != "user" {
        return Err("the last message is not the user's".into());
    }
    Ok(())
}

fn text(content: &Value, index: usize) -> Result<(), String> {
    match content {
        Value::String(text) if text.trim().is_empty() => Err(format!("message {index} is empty")),
        Value::Null => Err(format!("message {index} has no content")),
        _ => Ok(()),
    }
}

fn legal(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}
