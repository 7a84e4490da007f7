//! Decodes lines into records. Nearly all bytes of a log are texts of messages; a long one is cut
//! out and decoded apart, in one pass into memory of the right size, before serde sees the rest.

use std::sync::Arc;

use memchr::memchr2;

use super::head::Head;
use super::record::Record;
use crate::chat::Message;

/// Shorter lines are not worth a second look, in bytes.
const LONG: usize = 512;

/// Decodes a line. `None` is a record of a type that this build does not know.
pub fn record(line: &[u8]) -> Result<Option<Record>, String> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
    match long(line) {
        Some(record) => Ok(Some(record)),
        None => Record::from_line(line).map_err(|error| error.to_string()),
    }
}

/// Decodes a long message in e's own order; none for anything else.
fn long(line: &str) -> Option<Record> {
    if line.len() < LONG {
        return None;
    }
    let start = Head::of_our_own(line.as_bytes())?.content_at(line.as_bytes())?;
    let (content, end) = unescape(line, start)?;
    let without = [&line[..start], &line[end..]].concat();
    let mut record = Record::from_line(&without).ok()??;
    let Record::Message { message, .. } = &mut record else {
        return None;
    };
    match Arc::get_mut(message)? {
        Message::User { content: empty, .. }
        | Message::Assistant { content: empty, .. }
        | Message::Tool { content: empty, .. }
        | Message::Reasoning { content: empty }
        | Message::System { content: empty } => *empty = content,
    }
    Some(record)
}

/// The string that begins behind a quote at `start`, and the place of the quote that ends it.
fn unescape(line: &str, start: usize) -> Option<(String, usize)> {
    let bytes = line.as_bytes();
    let mut text = String::with_capacity(line.len() - start);
    let mut from = start;
    let end = loop {
        let at = from + memchr2(b'"', b'\\', &bytes[from..])?;
        text.push_str(&line[from..at]);
        if bytes[at] == b'"' {
            break at;
        }
        let plain = match *bytes.get(at + 1)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            byte @ (b'"' | b'\\' | b'/') => byte.into(),
            b'u' => {
                let digits = line.get(at + 2..at + 6)?;
                let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                // A half of a pair is none; serde puts pairs together.
                text.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?).filter(|_| hex)?);
                from = at + 6;
                continue;
            }
            _ => return None,
        };
        text.push(plain);
        from = at + 2;
    };
    // Looked for at once, which is quicker than byte by byte on the way.
    let control = bytes[start..end]
        .iter()
        .fold(false, |found, byte| found | (*byte < b' '));
    text.shrink_to_fit();
    (!control).then_some((text, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Outcome, ToolCall};

    /// A small generator: the same numbers in every run.
    fn random(state: &mut u64) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as usize
    }

    #[test]
    fn long_messages_decode_as_serde_decodes_them() {
        const PIECES: &[&str] = &[
            "plain text ",
            "\n",
            "\t",
            "\"",
            "\\",
            "/",
            "\0",
            "\u{1b}[1m",
            "\u{7f}",
            "é",
            "👩‍👧",
            "\u{2028}",
            "\\n",
            "\\u0041",
            "\",\"content\":\"",
            "}}",
            "{\"type\":",
            "\r\n",
            "\u{8}\u{c}",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let mut quick = 0;
        for n in 0..4000 {
            let content: String = (0..200)
                .map(|_| PIECES[random(&mut state) % PIECES.len()])
                .collect();
            let message = match n % 4 {
                0 => Message::user(content),
                1 => Message::Reasoning { content },
                2 => Message::Tool {
                    call_id: "c".into(),
                    content,
                    outcome: Outcome::Completed,
                    summary: "s".into(),
                },
                _ => Message::Assistant {
                    tool_calls: vec![ToolCall {
                        id: "c".into(),
                        name: "t".into(),
                        arguments: content.clone(),
                        signature: None,
                    }],
                    content,
                },
            };
            let whole = Record::Message {
                id: "i".into(),
                parent: None,
                timestamp: 1,
                response: None,
                message: Arc::new(message),
            };
            let mut line = whole.to_line();
            line.pop();
            assert_eq!(long(std::str::from_utf8(&line).unwrap()), Some(whole));
            // With a byte or two changed, both agree still.
            for _ in 0..=n % 2 {
                let at = random(&mut state) % line.len();
                line[at] = b"\"\\u{}n0\x01x,\xff"[random(&mut state) % 11];
            }
            let Ok(text) = std::str::from_utf8(&line) else {
                continue;
            };
            if let Some(record) = long(text) {
                quick += 1;
                assert_eq!(Record::from_line(text).unwrap(), Some(record), "{text}");
            }
        }
        assert!(quick > 1000, "{quick}");
    }

    #[test]
    fn surrogates_are_left_to_serde() {
        let escaped = r"\ud83d\udc69 \u0041".repeat(50);
        let line = format!(
            r#"{{"type":"message","id":"a","parent":null,"timestamp":1,"message":{{"role":"user","content":"{escaped}"}}}}"#
        );
        assert_eq!(long(&line), None);
        let Ok(Some(Record::Message { message, .. })) = record(line.as_bytes()) else {
            panic!("it is a message");
        };
        assert_eq!(*message, Message::user("👩 A".repeat(50)));
    }
}
