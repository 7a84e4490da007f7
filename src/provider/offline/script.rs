//! `offline/script`: plays a file of steps, and the form in which a real run is written as one.
//!
//! docs/guides/offline.md describes the file. Each request of a session plays the next step,
//! whatever the history says; so a step that fails is followed, on the retry, by the next one,
//! and every session of a process plays the script from its beginning.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Player;
use crate::chat::{ToolCall, Usage};
use crate::provider::error::{self, Head};
use crate::provider::{Cause, Failure, Finish, Request, Sink, Stage, StreamEvent, route};
use crate::sys::Env;

/// Largest script, in bytes.
const LIMIT: u64 = 64 << 20;
/// The causes by the names that events use.
const CAUSES: &[(&str, Cause)] = &[
    ("auth", Cause::Auth),
    ("network", Cause::Network),
    ("stalled", Cause::Stalled),
    ("rate_limited", Cause::RateLimited),
    ("provider_unavailable", Cause::Unavailable),
    ("quota_exhausted", Cause::QuotaExhausted),
    ("overflow", Cause::Overflow),
    ("rejected", Cause::Rejected),
];

/// A script, read and checked.
#[derive(Debug)]
pub(in crate::provider) struct Script {
    path: String,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    actions: Vec<Action>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Text(String),
    Reasoning(String),
    ReasoningItem(Value),
    Call(CallAction),
    DelayMs(u64),
    Usage(UsageAction),
    Finish(String),
    Malformed(u32),
    Error(ErrorAction),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallAction {
    name: String,
    #[serde(default)]
    arguments: Value,
    id: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct UsageAction {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_5m_tokens: u64,
    cache_write_1h_tokens: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorAction {
    status: Option<u16>,
    #[serde(default)]
    message: String,
    code: Option<String>,
    cause: Option<String>,
    retry_after_ms: Option<u64>,
}

impl Script {
    /// Reads the file that `E_OFFLINE_SCRIPT` names.
    pub(in crate::provider) fn load(env: &Env) -> Result<Self, Failure> {
        let Some(path) = env.path("E_OFFLINE_SCRIPT") else {
            return Err(route::unusable(
                "`offline/script` plays a file - name it in `E_OFFLINE_SCRIPT`",
            ));
        };
        let shown = path.display().to_string();
        let bytes = crate::sys::fs::read_regular(&path, LIMIT).map_err(|error| {
            route::unusable(format!(
                "`E_OFFLINE_SCRIPT`: `{shown}`: {}",
                crate::error::io_text(&error)
            ))
        })?;
        Self::parse(shown, &bytes)
    }

    fn parse(path: String, bytes: &[u8]) -> Result<Self, Failure> {
        let steps: Vec<Step> = serde_json::from_slice(bytes)
            .map_err(|error| route::unusable(format!("`{path}`: {error}")))?;
        for action in steps.iter().flat_map(|step| &step.actions) {
            if let Action::Error(ErrorAction {
                cause: Some(cause), ..
            }) = action
            {
                if !CAUSES.iter().any(|(name, _)| name == cause) {
                    return Err(route::unusable(format!(
                        "`{path}`: there is no cause `{cause}`"
                    )));
                }
            }
        }
        Ok(Self { path, steps })
    }
}

pub(super) fn play(
    player: &Player<'_>,
    request: &Request,
    sink: &mut dyn Sink,
) -> Result<(), Failure> {
    let script = player.lane.context().script()?;
    let index = player.lane.context().next_step(&request.session_id);
    let Some(step) = script.steps.get(index) else {
        return Err(route::unusable(format!(
            "`{}` has {} steps, and this is request {} - add a step",
            script.path,
            script.steps.len(),
            index + 1
        )));
    };
    let mut opened = false;
    let mut finish = None;
    let mut malformed = 0;
    let mut calls = 0;
    for action in &step.actions {
        let is_content = !matches!(action, Action::Error(_) | Action::DelayMs(_));
        if is_content && !std::mem::replace(&mut opened, true) {
            player.open(sink);
        }
        match action {
            Action::Text(text) if text.is_empty() => {}
            Action::Text(text) => sink.text(text),
            Action::Reasoning(text) if text.is_empty() => {}
            Action::Reasoning(text) => sink.push(StreamEvent::Reasoning(text.as_str().into())),
            Action::ReasoningItem(item) => sink.push(StreamEvent::ReasoningItem(item.to_string())),
            Action::Call(call) => {
                calls += 1;
                let arguments = match &call.arguments {
                    Value::Null => "{}".to_owned(),
                    Value::String(raw) => raw.clone(),
                    value => value.to_string(),
                };
                let id = call
                    .id
                    .clone()
                    .unwrap_or_else(|| format!("call_{}_{calls}", index + 1));
                sink.push(StreamEvent::CallProgress(arguments.len()));
                sink.push(StreamEvent::Call(ToolCall {
                    id,
                    name: call.name.clone(),
                    arguments,
                    signature: None,
                }));
            }
            Action::DelayMs(time) => player.wait(Duration::from_millis(*time), sink)?,
            Action::Usage(usage) => sink.push(StreamEvent::Usage(usage.counters())),
            Action::Finish(name) => finish = Some(finish_of(name)),
            Action::Malformed(count) => malformed = *count,
            Action::Error(error) => return Err(error.failure(opened)),
        }
    }
    if !opened {
        player.open(sink);
    }
    let finish = finish.unwrap_or(if calls > 0 {
        Finish::ToolCalls
    } else {
        Finish::Normal
    });
    sink.push(StreamEvent::Done { finish, malformed });
    sink.flush();
    Ok(())
}

impl UsageAction {
    fn counters(&self) -> Usage {
        Usage {
            input: self.input_tokens,
            output: self.output_tokens,
            cache_read: self.cache_read_tokens,
            cache_write_5m: self.cache_write_5m_tokens,
            cache_write_1h: self.cache_write_1h_tokens,
        }
    }
}

impl ErrorAction {
    /// The failure, classified as a server's answer would be unless the script says a cause.
    fn failure(&self, opened: bool) -> Failure {
        let body = json!({"error": {"message": self.message, "code": self.code}}).to_string();
        let mut failure = match self.status {
            Some(status) => {
                let reason = ureq::http::StatusCode::from_u16(status)
                    .ok()
                    .and_then(|status| status.canonical_reason());
                error::from_status(
                    Head {
                        status,
                        reason: reason.unwrap_or(""),
                        ..Head::default()
                    },
                    &body,
                )
            }
            None => error::from_frame(&body),
        };
        if let Some(cause) = &self.cause {
            // The names were checked when the script was read.
            failure.cause = CAUSES
                .iter()
                .find(|(name, _)| name == cause)
                .map_or(Cause::Rejected, |(_, cause)| *cause);
        }
        if opened {
            failure.stage = Stage::Stream;
        }
        failure.retry_after = self
            .retry_after_ms
            .map(Duration::from_millis)
            .or(failure.retry_after);
        failure
    }
}

fn finish_of(name: &str) -> Finish {
    match name {
        "normal" => Finish::Normal,
        "tool_calls" => Finish::ToolCalls,
        "length" => Finish::Length,
        "refusal" => Finish::Refusal,
        "content_filter" => Finish::ContentFilter,
        other => Finish::Other(other.to_owned()),
    }
}

/// The actions that play an event again. Events without content have none.
pub(in crate::provider) fn record(event: &StreamEvent) -> Vec<Value> {
    match event {
        StreamEvent::Opened { .. } | StreamEvent::CallProgress(_) => Vec::new(),
        StreamEvent::Text(text) => text.iter().map(|text| json!({"text": text})).collect(),
        StreamEvent::Reasoning(text) => {
            text.iter().map(|text| json!({"reasoning": text})).collect()
        }
        StreamEvent::ReasoningItem(item) => {
            let item: Value =
                serde_json::from_str(item).unwrap_or_else(|_| Value::String(item.clone()));
            vec![json!({"reasoning_item": item})]
        }
        // As text: arguments need not be JSON.
        StreamEvent::Call(call) => {
            vec![json!({"call": {"id": call.id, "name": call.name, "arguments": call.arguments}})]
        }
        StreamEvent::Usage(usage) => vec![json!({"usage": {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_read_tokens": usage.cache_read,
            "cache_write_5m_tokens": usage.cache_write_5m,
            "cache_write_1h_tokens": usage.cache_write_1h,
        }})],
        StreamEvent::Done { finish, malformed } => {
            let name = match finish {
                Finish::Normal => "normal",
                Finish::ToolCalls => "tool_calls",
                Finish::Length => "length",
                Finish::Refusal => "refusal",
                Finish::ContentFilter => "content_filter",
                Finish::Other(name) => name,
            };
            let malformed = (*malformed > 0).then(|| json!({"malformed": malformed}));
            malformed
                .into_iter()
                .chain([json!({"finish": name})])
                .collect()
        }
        StreamEvent::Failed(failure) => {
            let cause = CAUSES
                .iter()
                .find(|(_, cause)| *cause == failure.cause)
                .map_or("rejected", |(name, _)| *name);
            let mut error = Map::new();
            error.insert("message".to_owned(), json!(failure.message));
            error.insert("cause".to_owned(), json!(cause));
            let retry = failure
                .retry_after
                .map(|wait| json!(wait.as_millis() as u64));
            for (name, value) in [
                ("code", failure.code.as_ref().map(|code| json!(code))),
                ("retry_after_ms", retry),
            ] {
                error.extend(value.map(|value| (name.to_owned(), value)));
            }
            vec![json!({"error": error})]
        }
    }
}
