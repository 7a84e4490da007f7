//! How long a server asks to wait, in the forms in which servers say it.

use std::time::Duration;

use crate::sys::clock::{now_ms, parse_http_date};

/// Reads `retry-after-ms`, then `Retry-After` as seconds or as an HTTP date.
pub(super) fn from_headers(
    milliseconds: Option<&str>,
    retry_after: Option<&str>,
) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if let Some(wait) = milliseconds
        .and_then(number)
        .and_then(|ms| seconds(ms / 1e3))
    {
        return Some(wait);
    }
    let text = retry_after?;
    if let Some(value) = number(text) {
        return seconds(value);
    }
    let wait = parse_http_date(text)?.saturating_sub(now_ms() / 1_000);
    Some(Duration::from_secs(wait))
}

/// Finds `try again in 7m12.5s`, `retry in 300ms` or `"retrydelay": "12s"` in a lower-case body.
pub(super) fn from_text(body: &str) -> Option<Duration> {
    [
        "try again in ",
        "retry in ",
        "retry after ",
        "\"retrydelay\": \"",
        "\"retrydelay\":\"",
    ]
    .iter()
    .find_map(|marker| span(&body[body.find(marker)? + marker.len()..]))
}

/// A sum of numbers with units at the start of `text`.
fn span(mut text: &str) -> Option<Duration> {
    let mut total = None;
    loop {
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let Ok(number) = text[..digits].parse::<f64>() else {
            return total;
        };
        let rest = text[digits..].trim_start();
        let letters = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" | "milliseconds" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => return total,
        };
        total = Some(
            total
                .unwrap_or(Duration::ZERO)
                .saturating_add(seconds(number * unit)?),
        );
        text = rest[letters..].trim_start();
    }
}

fn seconds(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let ms = |value| Some(Duration::from_millis(value));
        for (milliseconds, retry_after, expected) in [
            (None, None, None),
            (None, Some("3"), ms(3_000)),
            (None, Some(" 1.5 "), ms(1_500)),
            (Some("250"), Some("9"), ms(250)),
            (Some("x"), Some("9"), ms(9_000)),
            (None, Some("soon"), None),
            (None, Some("-1"), None),
            (None, Some("1e300"), None),
            (None, Some("NaN"), None),
            (None, Some("Sun, 06 Nov 1994 08:49:37 GMT"), ms(0)),
            (None, Some("Sunday, 06-Nov-94 08:49:37 GMT"), ms(0)),
        ] {
            assert_eq!(
                from_headers(milliseconds, retry_after),
                expected,
                "{milliseconds:?} {retry_after:?}"
            );
        }
        let far = from_headers(None, Some("Fri, 31 Dec 9999 23:59:59 GMT"));
        assert!(far.is_some_and(|wait| wait > Duration::from_secs(1 << 32)));
    }

    #[test]
    fn hints_in_a_body() {
        for (text, milliseconds) in [
            ("please try again in 7m12.5s. visit", Some(432_500)),
            ("try again in 20ms", Some(20)),
            ("please retry in 12.25s.", Some(12_250)),
            ("try again in 2 minutes", Some(120_000)),
            ("{\"retrydelay\": \"34s\"}", Some(34_000)),
            ("try again in a while", None),
            ("try again in 5", None),
            ("try again in ", None),
        ] {
            assert_eq!(
                from_text(text),
                milliseconds.map(Duration::from_millis),
                "{text}"
            );
        }
    }
}
