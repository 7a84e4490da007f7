//! Error bodies as servers send them, and the class each must get.

use super::*;

fn status_cause(status: u16, body: &str) -> Cause {
    from_status(
        Head {
            status,
            ..Head::default()
        },
        body,
    )
    .cause
}

/// Bodies as servers send them: status, body, cause.
const STATUS: &[(u16, &str, Cause)] = &[
    // Credentials.
    (
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-***.","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        Cause::Auth,
    ),
    (
        401,
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
        Cause::Auth,
    ),
    (
        401,
        r#"{"error":{"message":"You exceeded your current quota"}}"#,
        Cause::Auth,
    ),
    (401, "", Cause::Auth),
    (
        403,
        r#"{"type":"error","error":{"type":"permission_error","message":"not allowed"}}"#,
        Cause::Auth,
    ),
    (
        403,
        "<html><head><title>403 Forbidden</title></head><body>nginx</body></html>",
        Cause::Auth,
    ),
    (
        403,
        r#"{"error":{"message":"Your credit balance is too low"}}"#,
        Cause::QuotaExhausted,
    ),
    // Limits that pass.
    (
        429,
        r#"{"error":{"message":"Rate limit reached for gpt in organization org on tokens per min (TPM): Limit 30000, Used 25000. Please try again in 1.2s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        Cause::RateLimited,
    ),
    (
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit"}}"#,
        Cause::RateLimited,
    ),
    (
        429,
        r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 22.5s.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"22s"}]}}]"#,
        Cause::RateLimited,
    ),
    (
        429,
        r#"{"message":"Requests rate limit exceeded"}"#,
        Cause::RateLimited,
    ),
    (429, "Too Many Requests", Cause::RateLimited),
    (429, "", Cause::RateLimited),
    (
        429,
        "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>",
        Cause::RateLimited,
    ),
    (
        400,
        r#"{"error":{"message":"ThrottlingException: Too many requests, please wait"}}"#,
        Cause::RateLimited,
    ),
    (420, "throttled", Cause::RateLimited),
    (
        400,
        r#"{"error":"too many concurrent requests"}"#,
        Cause::RateLimited,
    ),
    (
        400,
        r#"{"error":{"type":"rate_limit_error"}}"#,
        Cause::RateLimited,
    ),
    // Limits that do not.
    (
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        Cause::QuotaExhausted,
    ),
    (
        429,
        r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached"}}"#,
        Cause::QuotaExhausted,
    ),
    (
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#,
        Cause::QuotaExhausted,
    ),
    (402, "", Cause::QuotaExhausted),
    (403, "quota exceeded", Cause::QuotaExhausted),
    (429, "Quota exceeded.", Cause::QuotaExhausted),
    (
        429,
        r#"{"error":{"message":"Quota exceeded for quota metric 'Requests' and limit 'Requests per minute'"}}"#,
        Cause::RateLimited,
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
        Cause::QuotaExhausted,
    ),
    (
        400,
        r#"{"error":{"message":"Billing hard limit has been reached","code":"billing_hard_limit_reached"}}"#,
        Cause::QuotaExhausted,
    ),
    (
        404,
        r#"{"error":{"message":"This request requires more credits, or fewer max_tokens."}}"#,
        Cause::QuotaExhausted,
    ),
    // Trouble on their side.
    (
        500,
        r#"{"error":{"message":"The server had an error while processing your request","type":"server_error"}}"#,
        Cause::Unavailable,
    ),
    (
        500,
        r#"{"error":{"message":"billing service says: payment required"}}"#,
        Cause::Unavailable,
    ),
    (
        502,
        "<html><title>502 Bad Gateway</title></html>",
        Cause::Unavailable,
    ),
    (
        503,
        r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
        Cause::Unavailable,
    ),
    (504, "", Cause::Unavailable),
    (520, "error code: 520", Cause::Unavailable),
    (
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        Cause::Unavailable,
    ),
    (408, "", Cause::Unavailable),
    (
        400,
        r#"{"error":{"message":"upstream connect error or disconnect/reset before headers"}}"#,
        Cause::Unavailable,
    ),
    (
        424,
        r#"{"error":{"message":"Service temporarily unavailable"}}"#,
        Cause::Unavailable,
    ),
    // Too large.
    (413, "", Cause::Overflow),
    (
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        Cause::Overflow,
    ),
    (
        400,
        r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
        Cause::Overflow,
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"the request exceeds the available context size"}}"#,
        Cause::Overflow,
    ),
    // Everything else.
    (
        400,
        r#"{"error":{"message":"messages: text content blocks must be non-empty","type":"invalid_request_error"}}"#,
        Cause::Rejected,
    ),
    (
        404,
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        Cause::Rejected,
    ),
    (404, "404 page not found", Cause::Rejected),
    (
        422,
        r#"{"detail":[{"loc":["body"],"msg":"field required","type":"value_error.missing"}]}"#,
        Cause::Rejected,
    ),
    (501, "", Cause::Rejected),
    (418, "\u{0}\u{1}", Cause::Rejected),
];

#[test]
fn recorded_bodies() {
    assert!(STATUS.len() >= 40);
    for (status, body, expected) in STATUS {
        assert_eq!(status_cause(*status, body), *expected, "{status} {body}");
    }
}

#[test]
fn overflow_texts_of_many_servers() {
    let texts = [
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        "Your input exceeds the context window of this model.",
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "the request exceeds the available context size. try increasing the context size",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "ValidationException: Input is too long for requested model.",
        "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000",
        "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "prompt too long; exceeded max context length by 4 tokens",
        "invalid params, context window exceeds limit",
        "Your request exceeded model token limit: 262144 (requested: 291351)",
        "prompt token count of 135000 exceeds the limit of 128000",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081",
        "Range of input length should be [1, 98304]",
        "Prompt exceeds max length",
        "The input (9000 tokens) is longer than the maximum allowed input length (8192 tokens).",
    ];
    assert_eq!(texts.len(), wording::OVERFLOW.len());
    for (text, phrase) in texts.iter().zip(wording::OVERFLOW) {
        let lower = text.to_lowercase();
        assert!(
            phrase.iter().all(|part| lower.contains(part)),
            "{phrase:?} is not in {text}"
        );
        let body = serde_json::json!({"error": {"message": text}}).to_string();
        assert_eq!(status_cause(400, &body), Cause::Overflow, "{text}");
        assert_eq!(from_frame(&body).cause, Cause::Overflow, "{text}");
    }
    for code in wording::OVERFLOW_CODES {
        let body = serde_json::json!({"error": {"message": "x", "type": code}}).to_string();
        assert_eq!(status_cause(400, &body), Cause::Overflow, "{code}");
    }
}

/// Every entry of the other tables does its work.
#[test]
fn every_wording_and_code() {
    for (phrases, cause) in [
        (wording::QUOTA, Cause::QuotaExhausted),
        (wording::THROTTLE, Cause::RateLimited),
        (wording::OUTAGE, Cause::Unavailable),
    ] {
        for phrase in phrases {
            let body = serde_json::json!({"error": {"message": phrase.join(" ").to_uppercase()}})
                .to_string();
            assert_eq!(status_cause(400, &body), cause, "{phrase:?}");
            assert_eq!(from_frame(&body).cause, cause, "{phrase:?}");
        }
    }
    for (codes, cause) in [
        (wording::QUOTA_CODES, Cause::QuotaExhausted),
        (wording::AUTH_CODES, Cause::Auth),
        (wording::RATE_CODES, Cause::RateLimited),
        (wording::OUTAGE_CODES, Cause::Unavailable),
        (&["500", "503", "599"][..], Cause::Unavailable),
        (&["400", "nonsense"][..], Cause::Rejected),
    ] {
        for code in codes {
            let code = code.replace('*', "_x").to_uppercase();
            let body = serde_json::json!({"error": {"type": code, "message": "no"}}).to_string();
            assert_eq!(from_frame(&body).cause, cause, "{code}");
        }
    }
    assert_eq!(
        from_frame(r#"{"error":{"code":503,"message":"x"}}"#).cause,
        Cause::Unavailable
    );
}

#[test]
fn texts_for_a_person() {
    let message = |status, reason, body| {
        from_status(
            Head {
                status,
                reason,
                ..Head::default()
            },
            body,
        )
        .message
    };
    for (status, reason, body, expected) in [
        (
            429,
            "Too Many Requests",
            r#"{"error":{"message":"Slow down."}}"#,
            "429 Too Many Requests: Slow down",
        ),
        (
            400,
            "Bad Request",
            r#"{"error":"bad\n  thing"}"#,
            "400 Bad Request: bad thing",
        ),
        (400, "", r#"{"detail":"no"}"#, "400: no"),
        (
            422,
            "",
            r#"{"detail":[{"msg":"field required"}]}"#,
            "422: field required",
        ),
        (
            400,
            "",
            r#"{"errors":[{"message":"first"},{"message":"second"}]}"#,
            "400: first",
        ),
        (
            502,
            "Bad Gateway",
            "<html><head><title> </title>",
            "502 Bad Gateway: an HTML page",
        ),
        (
            502,
            "Bad Gateway",
            "<html><TITLE lang=x>Oops</TITLE><p>x",
            "502 Bad Gateway: an HTML page, \"Oops\"",
        ),
        (
            500,
            "Internal Server Error",
            "",
            "500 Internal Server Error",
        ),
        (500, "", "null", "500"),
        (
            400,
            "",
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"inner text\"}}"}}}"#,
            "400: inner text",
        ),
    ] {
        assert_eq!(message(status, reason, body), expected, "{body}");
    }
    let long = "x".repeat(10_000);
    let failure = from_status(
        Head {
            status: 400,
            ..Head::default()
        },
        &long,
    );
    assert!(failure.message.chars().count() < 320 && failure.detail.chars().count() < 4_200);
    let frame = from_frame(&format!(
        "{{\"error\":{{\"message\":\"{long}\",\"code\":\"{long}\"}}}}"
    ));
    assert!(frame.detail.chars().count() <= 8_192 && frame.code.unwrap().chars().count() <= 256);
}

#[test]
fn answers_that_are_no_stream() {
    let failure = not_a_stream(r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#);
    assert_eq!(failure.cause, Cause::Unavailable);
    let failure = not_a_stream("<html><title>Sign in</title></html>");
    assert_eq!(failure.cause, Cause::Rejected);
    assert!(
        failure.message.contains("Sign in") && failure.message.contains("base_url"),
        "{}",
        failure.message
    );
}

#[test]
fn heads() {
    let headers = [
        ("retry-after", "7"),
        ("request-id", "req_1"),
        ("x-goog-request-id", "no"),
    ];
    let find = |name: &str| {
        headers
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    };
    let failure = from_status(Head::new(429, "Too Many Requests", find), "");
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(failure.request_id.as_deref(), Some("req_1"));
    assert_eq!(failure.status, Some(429));
    let hinted = from_status(
        Head {
            status: 429,
            ..Head::default()
        },
        "Please try again in 6m0s.",
    );
    assert_eq!(hinted.retry_after, Some(Duration::from_secs(360)));
}

#[test]
fn secrets_are_replaced_everywhere() {
    let body = r#"{"error":{"message":"bad header: Bearer sk-live-1","code":"sk-live-1"}}"#;
    let mut failure = from_status(
        Head {
            status: 400,
            ..Head::default()
        },
        body,
    );
    failure.redact_key(Some(&Secret(" sk-live-1\n".to_owned())));
    assert!(!format!("{failure:?}").contains("sk-live-1"), "{failure:?}");
    for (text, secret, expected) in [
        ("x sk-live-1", "sk-live-1", "x [key]"),
        ("x sk-liv…", "sk-live-1", "x [key]…"),
        ("x sk-liv", "sk-live-1", "x sk-liv"),
        ("x sk-l…", "sk-live-1", "x sk-l…"),
        (r"x sk\/live\/1 sk\/li…", "sk/live/1", "x [key] [key]…"),
        ("x schlüss…", "schlüssel", "x [key]…"),
    ] {
        let mut text = text.to_owned();
        redact(&mut text, secret);
        assert_eq!(text, expected);
    }
    for (text, expected) in [
        (
            "at https://me:pa$$@h/v1, see http://h/a@b",
            "at https://[key]@h/v1, see http://h/a@b",
        ),
        (
            r#"{"u":"https:\/\/me:p@w@h\/v1"}"#,
            r#"{"u":"https:\/\/[key]@h\/v1"}"#,
        ),
        ("socks5://token@h:1080", "socks5://[key]@h:1080"),
        ("https://me:secr…", "https://[key]…"),
        ("https://h.exam…", "https://h.exam…"),
        ("a:// b@c ://é@ü", "a:// b@c ://[key]@ü"),
    ] {
        let mut text = text.to_owned();
        redact_user_info(&mut text);
        assert_eq!(text, expected);
    }
    // A one-letter key of a local server must not garble the text.
    failure.redact_key(Some(&Secret("e".to_owned())));
    assert!(failure.message.contains("header"));
}
