//! The facts behind a failed turn: `error_details` in events, results and the log's sidecar.

use serde_json::{Value, json};

use crate::provider::{Cause, Failure, Stage};

/// Why the agent did not ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Part of a reply had arrived, so asking again could say things twice.
    PartialOutput,
    /// Asking again would not help.
    NotRetryable,
    /// The settings allow one attempt only.
    Disabled,
    /// All attempts were used.
    Exhausted,
}

/// A provider failure with what the turn had done so far. Holds no request and no credential.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// What the provider layer knows.
    pub failure: Failure,
    /// The provider's name.
    pub provider: String,
    /// The model's id.
    pub model: String,
    /// Unix milliseconds of the failure.
    pub timestamp_ms: u64,
    /// How long the failed attempt took.
    pub attempt_elapsed_ms: u64,
    /// The step of the turn, from 1.
    pub step: u32,
    /// The attempt of this step, from 1.
    pub attempt: u32,
    /// Most attempts.
    pub max_attempts: u32,
    /// Argument bytes of a call that never became whole.
    pub partial_argument_bytes: usize,
    /// Why there is no further attempt.
    pub decision: Decision,
    /// Bytes of the reply that had arrived.
    pub partial_text_bytes: usize,
    /// Whether reasoning had arrived.
    pub reasoning_received: bool,
    /// Whole calls that arrived and never ran.
    pub unexecuted_calls: usize,
    /// Calls of the turn that ended.
    pub settled_tools: u64,
    /// How many of them did not complete.
    pub failed_tools: u64,
}

impl Details {
    /// The JSON object of the wire and of the sidecar.
    pub fn to_json(&self) -> Value {
        let failure = &self.failure;
        json!({
            "summary": failure.message,
            "detail": failure.detail,
            "cause": cause_name(failure.cause),
            "stage": stage_name(failure.stage),
            "response": {"http_status": failure.status, "request_id": failure.request_id},
            "provider_code": failure.code,
            "provider": self.provider,
            "model": self.model,
            "timestamp_ms": self.timestamp_ms,
            "attempt_elapsed_ms": self.attempt_elapsed_ms,
            "step": self.step,
            "attempt": self.attempt,
            "max_attempts": self.max_attempts,
            "retry_after_secs": failure.retry_after.map(|wait| wait.as_secs()),
            "partial_tool_argument_bytes": self.partial_argument_bytes,
            "retry_decision": match self.decision {
                Decision::PartialOutput => "partial_output",
                Decision::NotRetryable => "not_retryable",
                Decision::Disabled => "disabled",
                Decision::Exhausted => "exhausted",
            },
            "partial_text_bytes": self.partial_text_bytes,
            "reasoning_received": self.reasoning_received,
            "unexecuted_tool_calls": self.unexecuted_calls,
            "settled_tools": self.settled_tools,
            "failed_tools": self.failed_tools,
            "recovery": self.recovery(),
        })
    }

    /// What a person can do about it.
    pub fn recovery(&self) -> String {
        match self.failure.cause {
            Cause::Auth => {
                let provider = &self.provider;
                return format!(
                    "use another key: `/login {provider}`, or its environment variable"
                );
            }
            Cause::Network => "check the network, the proxy variables and the provider's base URL",
            Cause::Stalled => {
                "send the prompt again; raise `stall_seconds` if the model is only slow"
            }
            Cause::RateLimited => "wait, then send the prompt again",
            Cause::Unavailable => {
                "wait, then send the prompt again, or choose another model (`/models`)"
            }
            Cause::QuotaExhausted => "check the plan or the balance of this account",
            Cause::Overflow => {
                "start a new session (`/new`) or choose a model with a larger window (`/models`)"
            }
            Cause::Rejected => "read the message; the same request will be refused again",
        }
        .to_owned()
    }
}

#[cfg(test)]
impl Details {
    /// A failure of a class, at the first attempt.
    pub fn for_test(cause: Cause) -> Self {
        Self {
            failure: Failure::new(cause, Stage::Stream, "it failed"),
            provider: "openai".into(),
            model: "m".into(),
            timestamp_ms: 0,
            attempt_elapsed_ms: 0,
            step: 1,
            attempt: 1,
            max_attempts: 1,
            partial_argument_bytes: 0,
            decision: Decision::NotRetryable,
            partial_text_bytes: 0,
            reasoning_received: false,
            unexecuted_calls: 0,
            settled_tools: 0,
            failed_tools: 0,
        }
    }
}

/// The class as events and logs spell it.
pub fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Auth => "auth",
        Cause::Network => "network",
        Cause::Stalled => "stalled",
        Cause::RateLimited => "rate_limited",
        Cause::Unavailable => "provider_unavailable",
        Cause::QuotaExhausted => "quota_exhausted",
        Cause::Overflow => "context_overflow",
        Cause::Rejected => "rejected",
    }
}

/// The class as a person reads it in a retry line.
pub fn cause_label(cause: Cause) -> &'static str {
    match cause {
        Cause::Auth => "Authentication",
        Cause::Network => "Network interrupted",
        Cause::Stalled => "No response from provider",
        Cause::RateLimited => "Rate limited",
        Cause::Unavailable => "Provider unavailable",
        Cause::QuotaExhausted => "Quota exhausted",
        Cause::Overflow => "Context window exceeded",
        Cause::Rejected => "Request failed",
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Authorization => "authorization",
        Stage::Request => "request",
        Stage::ResponseHeaders => "response_headers",
        Stage::ResponseBody => "response_body",
        Stage::Stream => "stream",
    }
}
