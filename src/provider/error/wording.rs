//! The codes and phrases by which servers say what went wrong, all in lower case.
//!
//! Each entry is here because a server is known to send it, and has its own line in the tests.

/// Phrases, each a list of parts that must all occur.
pub(super) type Phrases = &'static [&'static [&'static str]];

/// The request is larger than the model's window.
pub(super) const OVERFLOW: Phrases = &[
    &["maximum context length"], // OpenAI, DeepSeek, vLLM, OpenRouter, Mistral
    &["exceeds the context window"], // OpenAI responses
    &["prompt is too long"],     // Anthropic, Fireworks
    &["exceed context limit"],   // Anthropic, input plus max_tokens
    &["input token count", "exceeds the maximum"], // Google
    &["maximum prompt length"],  // xAI
    &["reduce the length of the messages"], // Groq, Cerebras
    &["exceeds the available context size"], // llama.cpp
    &["greater than the context length"], // LM Studio
    &["input is too long for requested model"], // Bedrock
    &["`inputs` tokens + `max_new_tokens` must be"], // Together, TGI
    &["`inputs` must have less than"], // TGI
    &["longer than the maximum model length"], // vLLM
    &["exceeded max context length"], // Ollama
    &["context window exceeds limit"], // MiniMax
    &["exceeded model token limit"], // Moonshot
    &["prompt token count", "exceeds the limit"], // Copilot
    &["too many tokens", "total number of tokens"], // Cohere
    &["range of input length should be"], // DashScope
    &["prompt exceeds max length"], // Zhipu
    &["maximum allowed input length"], // SGLang
];

/// Codes and types that say the same.
pub(super) const OVERFLOW_CODES: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "request_too_large",
    "string_above_max_length",
];

/// A bill or a used-up allowance.
pub(super) const QUOTA: Phrases = &[
    &["exceeded your current quota"],
    &["quota exceeded"],
    &["quota has been exceeded"],
    &["insufficient credit"],
    &["insufficient balance"],
    &["credit balance is too low"],
    &["requires more credits"],
    &["billing hard limit"],
    &["spending limit"],
    &["usage limit"],
    &["monthly limit"],
    &["payment required"],
];

/// An allowance that is there again after a moment, whatever it is called.
pub(super) const PASSING: Phrases = &[&["per minute"], &["per second"]];

/// Codes and types that say the same.
pub(super) const QUOTA_CODES: &[&str] = &[
    "insufficient_quota",
    "quota_exceeded",
    "billing_hard_limit_reached",
    "billing_error",
    "usage_limit_reached",
];

/// Too fast.
pub(super) const THROTTLE: Phrases = &[
    &["rate limit"],
    &["rate_limit"],
    &["too many requests"],
    &["throttl"],
    &["too many concurrent"],
];

/// The service, or the way to it, has trouble.
pub(super) const OUTAGE: Phrases = &[
    &["overloaded"],
    &["temporarily unavailable"],
    &["service unavailable"],
    &["internal server error"],
    &["bad gateway"],
    &["gateway timeout"],
    &["upstream connect error"],
    &["connection reset"],
    &["at capacity"],
    &["loading model"],
    &["try again later"],
];

/// Codes and types of error frames.
pub(super) const AUTH_CODES: &[&str] = &[
    "401",
    "403",
    "invalid_api_key",
    "authentication_error",
    "permission_error",
];

/// See [`AUTH_CODES`].
pub(super) const RATE_CODES: &[&str] = &["429", "rate_limit*", "resource_exhausted"];

/// See [`AUTH_CODES`]; any 5xx counts as well.
pub(super) const OUTAGE_CODES: &[&str] = &[
    "408",
    "server_error",
    "overloaded_error",
    "api_error",
    "internal*",
    "unavailable",
    "timeout_error",
];
