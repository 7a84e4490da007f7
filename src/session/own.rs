//! Messages as e itself writes them, decoded without a JSON parser: most of a long log is their
//! text. A line of any other shape is left to the parser, which reads these, too, with the same
//! result.

use std::sync::Arc;

use super::head::{Head, Kind, MESSAGE, RESPONSE, first_value, plain};
use super::record::{Envelope, Record};
use crate::chat::{Message, Outcome};

/// Reads a line whose keys are in e's own order. `None` says nothing about the line.
pub fn message(line: &[u8]) -> Option<Record> {
    let head = Head::of_our_own(line)?;
    if head.kind != Kind::Message {
        return None;
    }
    let (timestamp, rest) = head.own?;
    let (response, rest) = match rest.strip_prefix(RESPONSE) {
        Some(response) => {
            let (response, rest) = first_value::<Envelope>(response)?;
            (Some(response), rest.strip_prefix(b",")?)
        }
        None => (None, rest),
    };
    Some(Record::Message {
        id: head.id?.into_owned(),
        parent: head.parent?.map(Into::into),
        timestamp,
        response,
        message: Arc::new(body(rest.strip_prefix(MESSAGE)?)?),
    })
}

/// Reads a message behind its opening brace, and the end of the record.
fn body(text: &[u8]) -> Option<Message> {
    let (role, text) = plain(text.strip_prefix(br#""role":""#)?)?;
    let (content, end) = string(text.strip_prefix(br#","content":""#)?)?;
    match (role, end) {
        ("user", b"}}") => Some(Message::user(content)),
        ("user", br#","internal":true}}"#) => Some(Message::internal(content)),
        ("user", br#","internal":true,"steered":true}}"#) => Some(Message::steered(content)),
        ("assistant", b"}}") => Some(Message::Assistant {
            content,
            tool_calls: Vec::new(),
        }),
        ("tool", meta) => {
            let (call_id, meta) = plain(meta.strip_prefix(br#","tool_call_id":""#)?)?;
            let meta = meta.strip_prefix(br#","tool_meta":{"outcome":""#)?;
            let (outcome, meta) = plain(meta)?;
            let (summary, end) = string(meta.strip_prefix(br#","summary":""#)?)?;
            (end == b"}}}").then_some(Message::Tool {
                call_id: call_id.into(),
                content,
                outcome: Outcome::from_record(outcome)?,
                summary,
            })
        }
        _ => None,
    }
}

/// Reads a string behind its opening quote, and returns what follows the closing one.
fn string(text: &[u8]) -> Option<(String, &[u8])> {
    // No escape is shorter than what it stands for, so `to` never overtakes `from`.
    let mut string = vec![0; text.len()];
    let (mut from, mut to) = (0, 0);
    loop {
        while let Some(eight) = text.get(from..from + 8) {
            string[to..to + 8].copy_from_slice(eight);
            let plain = plain_bytes(eight.try_into().ok()?);
            from += plain;
            to += plain;
            if plain < 8 {
                break;
            }
        }
        let byte = *text.get(from)?;
        from += 1;
        string[to] = match byte {
            b'"' => {
                string.truncate(to);
                string.shrink_to_fit();
                return Some((String::from_utf8(string).ok()?, &text[from..]));
            }
            b'\\' => {
                let escape = *text.get(from)?;
                from += 1;
                match escape {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'"' | b'\\' | b'/' => escape,
                    b'b' => 8,
                    b'f' => 12,
                    b'u' => {
                        let code = text.get(from..from + 4)?;
                        from += 4;
                        // What is not ASCII is not written like this.
                        hex(code).filter(u8::is_ascii)?
                    }
                    _ => return None,
                }
            }
            // A bare control character is no JSON.
            0..0x20 => return None,
            plain => plain,
        };
        to += 1;
    }
}

/// How many bytes stand for themselves in a JSON string, before the first that does not.
fn plain_bytes(eight: [u8; 8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(eight);
    // The high bit of each byte below a limit; a borrow can spoil only bytes behind the first.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let special = below(word, 0x20) | equal(b'"') | equal(b'\\');
    special.trailing_zeros() as usize / 8
}

/// Four hexadecimal digits below 256.
fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let value = |sum: u32, byte| Some(sum * 16 + digit(byte)?);
    u8::try_from(digits.iter().try_fold(0, value)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::record::Purpose;

    /// A small generator: the same numbers in every run.
    fn random(state: &mut u64, below: usize) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as usize % below
    }

    fn text(state: &mut u64) -> String {
        const PARTS: [&str; 16] = [
            "a",
            "\"",
            "\\",
            "\n",
            "\t",
            "\r",
            "\u{1b}",
            "\u{8}",
            "\u{c}",
            "\u{7f}",
            "é",
            "🦀",
            "\u{2028}",
            "\0",
            "\",\"internal\":true}}",
            "words and words",
        ];
        let parts = 0..random(state, 12);
        parts.map(|_| PARTS[random(state, PARTS.len())]).collect()
    }

    fn message_of(state: &mut u64) -> Message {
        let content = text(state);
        match random(state, 5) {
            0 => Message::user(content),
            1 => Message::internal(content),
            2 => Message::steered(content),
            3 => Message::Assistant {
                content,
                tool_calls: Vec::new(),
            },
            _ => Message::Tool {
                call_id: "call_1".into(),
                content,
                outcome: Outcome::Failed,
                summary: text(state),
            },
        }
    }

    #[test]
    fn it_reads_what_the_parser_reads_and_nothing_else() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        for n in 0..4000 {
            let response = (random(&mut state, 2) == 0).then(|| Envelope {
                id: text(&mut state),
                timestamp: 2,
                provider: "p".into(),
                model: text(&mut state),
                purpose: Purpose::Turn,
                usage: None,
            });
            let record = Record::Message {
                id: format!("id{n}"),
                parent: (n % 3 > 0).then(|| "p".into()),
                timestamp: n,
                response,
                message: Arc::new(message_of(&mut state)),
            };
            let line = record.to_line();
            let mut line = line.trim_ascii_end().to_vec();
            assert_eq!(message(&line).as_ref(), Some(&record));
            // Damaged lines are none, or they are what the parser makes of them.
            for _ in 0..5 {
                let at = random(&mut state, line.len());
                match random(&mut state, 3) {
                    0 => line[at] = random(&mut state, 256) as u8,
                    1 => drop(line.remove(at)),
                    _ => line.insert(at, b"\"\\}{,u0"[random(&mut state, 7)]),
                }
                if let Some(read) = message(&line) {
                    assert_eq!(Record::parse(&line), Ok(Some(read)));
                }
            }
        }
    }
}
