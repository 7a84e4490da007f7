//! What a failed request means: status, code and wording in, a [`Failure`] out.
//!
//! Codes are trusted before prose, and prose is looked up in the tables of [`wording`] only.
//! Every text that leaves here is bounded, and [`Failure::redact`] takes the secrets out.

mod body;
mod retry;
mod wording;

use std::time::Duration;

use super::{Cause, Failure, Secret, Stage};
use crate::text::clip_chars;
use body::Report;

/// Most characters of foreign text in a message.
const MESSAGE: usize = 300;
/// Most characters of an error body in a detail.
const DETAIL: usize = 4_096;
/// Most characters of a frame in a detail.
const FRAME: usize = 8_192;
/// Most characters of a request id or an error code.
const NAME: usize = 256;
/// Ends a text that was cut.
const CUT: char = '…';
/// Shorter secrets are ordinary words; replacing them would only garble the text.
const SHORTEST_SECRET: usize = 6;

/// The parts of a response head that a failure is made of.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) reason: &'static str,
    pub(super) request_id: Option<String>,
    pub(super) retry_after: Option<Duration>,
}

impl Head {
    /// Reads the headers that matter, by a function that looks one up.
    pub(super) fn new<'a>(
        status: u16,
        reason: &'static str,
        header: impl Fn(&str) -> Option<&'a str>,
    ) -> Self {
        let ids = [
            "x-request-id",
            "request-id",
            "anthropic-request-id",
            "x-goog-request-id",
        ];
        Self {
            status,
            reason,
            request_id: ids
                .iter()
                .find_map(|name| header(name))
                .map(|id| clip_chars(id, NAME)),
            retry_after: retry::from_headers(header("retry-after-ms"), header("retry-after")),
        }
    }
}

impl Failure {
    /// A failure without a response.
    pub fn new(cause: Cause, stage: Stage, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            cause,
            stage,
            detail: message.clone(),
            message,
            status: None,
            request_id: None,
            code: None,
            retry_after: None,
        }
    }

    /// Replaces a secret wherever a provider repeated it.
    pub(super) fn redact(&mut self, secret: &str) {
        let optional = [&mut self.code, &mut self.request_id].into_iter().flatten();
        for text in [&mut self.message, &mut self.detail]
            .into_iter()
            .chain(optional)
        {
            redact(text, secret);
        }
    }

    /// Takes user names and passwords out of the URLs that a provider named.
    pub(super) fn redact_user_info(&mut self) {
        redact_user_info(&mut self.message);
        redact_user_info(&mut self.detail);
    }

    /// Redacts a request's key.
    pub(super) fn redact_key(&mut self, key: Option<&Secret>) {
        if let Some(Secret(key)) = key {
            self.redact(key.trim());
        }
    }
}

/// Replaces a secret in a text, also where JSON escaped it and where [`clip_chars`] cut it.
pub(super) fn redact(text: &mut String, secret: &str) {
    if secret.len() < SHORTEST_SECRET {
        return;
    }
    for form in [secret, &secret.replace('/', "\\/")] {
        if text.contains(form) {
            *text = text.replace(form, "[key]");
        }
        let Some(kept) = text.strip_suffix(CUT) else {
            continue;
        };
        let ends = form.char_indices().map(|(end, _)| &form[..end]).rev();
        let part = ends
            .take_while(|part| part.len() >= SHORTEST_SECRET)
            .find(|part| kept.ends_with(part));
        if let Some(part) = part {
            *text = format!("{}[key]{CUT}", &kept[..kept.len() - part.len()]);
        }
    }
}

/// Takes what stands before the `@` out of every URL of a text, also where JSON escaped it and where
/// [`clip_chars`] cut it.
fn redact_user_info(text: &mut String) {
    for mark in ["://", r":\/\/"] {
        let mut next = 0;
        while let Some(at) = text[next..].find(mark) {
            next += at + mark.len();
            let ends = |c: char| c.is_whitespace() || "/?#\\\"`<>".contains(c);
            let authority = text[next..].split(ends).next().unwrap_or("");
            let cut = authority
                .strip_suffix(CUT)
                .filter(|part| part.contains(':'));
            if let Some(end) = authority.rfind('@').or(cut.map(str::len)) {
                text.replace_range(next..next + end, "[key]");
            }
        }
    }
}

/// The failure that an error status and its body stand for.
pub(super) fn from_status(head: Head, body: &str) -> Failure {
    let report = Report::of_body(body);
    let retry_after = head.retry_after.or_else(|| retry::from_text(&report.all));
    let title = match head.reason {
        "" => head.status.to_string(),
        reason => format!("{} {reason}", head.status),
    };
    let message = match report.message.is_empty() {
        true => title.clone(),
        false => format!("{title}: {}", one_line(&report.message, MESSAGE)),
    };
    Failure {
        cause: classify_status(head.status, &report, retry_after.is_some()),
        stage: Stage::ResponseHeaders,
        detail: match body.trim() {
            "" => title,
            body => format!("{title}\n{}", clip_chars(body, DETAIL)),
        },
        message,
        status: Some(head.status),
        request_id: head.request_id,
        code: report.code.map(|code| clip_chars(&code, NAME)),
        retry_after,
    }
}

/// The failure that an error frame inside a good response stands for.
pub(super) fn from_frame(frame: &str) -> Failure {
    let report = Report::of_body(frame);
    let retry_after = retry::from_text(&report.all);
    Failure {
        cause: classify_frame(&report, retry_after.is_some()),
        stage: Stage::Stream,
        message: match report.message.is_empty() {
            true => "the provider reported an error without a text".to_owned(),
            false => one_line(&report.message, MESSAGE),
        },
        detail: clip_chars(frame, FRAME),
        status: None,
        request_id: None,
        code: report.code.map(|code| clip_chars(&code, NAME)),
        retry_after,
    }
}

/// A response that says well done and then is no event stream.
pub(super) fn not_a_stream(body: &str) -> Failure {
    let report = Report::of_body(body);
    if report.is_error {
        return from_frame(body);
    }
    let text = match report.message.is_empty() {
        true => "something that is no event stream".to_owned(),
        false => one_line(&report.message, MESSAGE),
    };
    let mut failure = Failure::new(
        Cause::Rejected,
        Stage::Stream,
        format!(
            "the server answered with {text} instead of an event stream - check `base_url` and `api`"
        ),
    );
    failure.detail = clip_chars(body, DETAIL);
    failure
}

/// A redirect, which is never followed: it would carry the key to another host.
pub(super) fn redirect(head: Head, from: &str, to: &str) -> Failure {
    let title = format!("{} {}", head.status, head.reason);
    Failure {
        status: Some(head.status),
        request_id: head.request_id,
        ..Failure::new(
            Cause::Rejected,
            Stage::ResponseHeaders,
            format!(
                "{}: `{from}` redirects to `{to}`, and e sends a key only where it was told to - \
                 correct `base_url`",
                title.trim()
            ),
        )
    }
}

/// A body that ended, or a connection that broke, before the terminal frame.
pub(super) fn cut_stream(text: impl Into<String>) -> Failure {
    Failure::new(Cause::Stalled, Stage::Stream, text)
}

/// An event over the size limit.
pub(super) fn oversized_event() -> Failure {
    Failure::new(
        Cause::Rejected,
        Stage::Stream,
        "the provider sent an event of more than 8 MiB",
    )
}

fn classify_status(status: u16, report: &Report, retry_told: bool) -> Cause {
    let client_error = (400..500).contains(&status);
    if status == 401 {
        return Cause::Auth;
    }
    if status == 413 || (status != 403 && status != 429 && report.is_overflow()) {
        return Cause::Overflow;
    }
    if client_error && (is_quota(report, retry_told) || status == 402) {
        return Cause::QuotaExhausted;
    }
    match status {
        403 => Cause::Auth,
        429 => Cause::RateLimited,
        408 => Cause::Unavailable,
        501 | 505 => Cause::Rejected,
        500..=599 => Cause::Unavailable,
        _ => by_wording(report),
    }
}

fn classify_frame(report: &Report, retry_told: bool) -> Cause {
    if report.is_overflow() {
        return Cause::Overflow;
    }
    if is_quota(report, retry_told) {
        return Cause::QuotaExhausted;
    }
    let listed = |list: &[&str]| {
        report
            .codes
            .iter()
            .any(|code| list.iter().any(|entry| code_is(code, entry)))
    };
    if listed(wording::AUTH_CODES) {
        Cause::Auth
    } else if listed(wording::RATE_CODES) {
        Cause::RateLimited
    } else if listed(wording::OUTAGE_CODES) || report.codes.iter().any(|code| is_5xx(code)) {
        Cause::Unavailable
    } else {
        by_wording(report)
    }
}

/// A passing limit often speaks of quotas too. A server that says when to ask again means that.
fn is_quota(report: &Report, retry_told: bool) -> bool {
    let passes = retry_told || report.mentions(wording::PASSING);
    report.is_quota_code() || (!passes && report.mentions(wording::QUOTA))
}

fn by_wording(report: &Report) -> Cause {
    if report.mentions(wording::THROTTLE) {
        Cause::RateLimited
    } else if report.mentions(wording::OUTAGE) {
        Cause::Unavailable
    } else {
        Cause::Rejected
    }
}

/// An entry that ends in `*` is a prefix.
fn code_is(code: &str, entry: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(prefix) => code.starts_with(prefix),
        None => code == entry,
    }
}

fn is_5xx(code: &str) -> bool {
    code.len() == 3 && code.starts_with('5') && code.bytes().all(|byte| byte.is_ascii_digit())
}

/// Foreign text as one line without a final full stop.
fn one_line(text: &str, limit: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    clip_chars(line.strip_suffix('.').unwrap_or(&line), limit)
}

#[cfg(test)]
mod tests;
