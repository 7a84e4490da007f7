//! What a line of a log is, told without decoding it.
//!
//! e writes the keys of a record in one order, so that a look at the first bytes is enough. A line
//! in any other shape is read as JSON, with the same result.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::record::Envelope;
use crate::text::json::present;

/// What a record is, and its place in the tree.
#[derive(Deserialize)]
pub struct Head<'a> {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its id.
    pub id: Option<Cow<'a, str>>,
    /// The node it follows. The outer `None` is a missing field.
    #[serde(default, deserialize_with = "present")]
    pub parent: Option<Option<Cow<'a, str>>>,
    /// The timestamp and what follows it, in a line in e's own order.
    #[serde(skip)]
    pub own: Option<(u64, &'a [u8])>,
}

/// The type of a record.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The header.
    Session,
    /// A message.
    Message,
    /// A summary.
    Compact,
    /// A billed reply without a message.
    Response,
    /// A display name.
    Name,
    /// A type of another build.
    #[serde(other)]
    Other,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A person who began a turn.
    User,
    /// A person, while a turn ran.
    Steering,
    /// The model, a tool, or e itself.
    Other,
}

impl<'a> Head<'a> {
    /// Reads the head of a line. The error says why the line is no record.
    pub fn of(line: &'a [u8]) -> Result<Self, String> {
        match Self::of_our_own(line) {
            Some(head) => Ok(head),
            None => slow(line),
        }
    }

    /// Reads the head of a message or summary whose keys are in e's own order.
    pub fn of_our_own(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(br#"{"type":""#)?;
        let (kind, rest) = match rest.strip_prefix(br#"message","id":""#) {
            Some(rest) => (Kind::Message, rest),
            None => (Kind::Compact, rest.strip_prefix(br#"compact","id":""#)?),
        };
        let (id, rest) = plain(rest)?;
        let rest = rest.strip_prefix(br#","parent":"#)?;
        let (parent, rest) = match rest.strip_prefix(b"null") {
            Some(rest) => (None, rest),
            None => {
                let (parent, rest) = plain(rest.strip_prefix(b"\"")?)?;
                (Some(parent), rest)
            }
        };
        let rest = rest.strip_prefix(br#","timestamp":"#)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        // JSON has no leading zeros.
        let plain_number = !rest.starts_with(b"0") || digits == 1;
        let timestamp = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        let rest = rest[digits..].strip_prefix(b",")?;
        // A piece of a record that another was written behind looks whole at both ends.
        let whole = plain_number && line.ends_with(b"}") && RECORD.find(rest).is_none();
        whole.then_some(Self {
            kind,
            id: Some(id.into()),
            parent: Some(parent.map(Cow::from)),
            own: Some((timestamp, rest)),
        })
    }

    /// Who wrote the message of this head's line.
    pub fn author(&self, line: &[u8]) -> Result<Author, String> {
        if let Some(author) = self.own.and_then(|(_, rest)| own_author(rest)) {
            return Ok(author);
        }
        let body: Body<IgnoredAny> = slow(line)?;
        let Said {
            role,
            internal,
            steered,
        } = body.message;
        Ok(match (&*role, internal, steered) {
            ("user", false, _) => Author::User,
            ("user", true, true) => Author::Steering,
            _ => Author::Other,
        })
    }

    /// The billed reply that came with the record of this head's line.
    pub fn response(&self, line: &[u8]) -> Result<Option<Envelope>, String> {
        if let (Kind::Message, Some((_, rest))) = (self.kind, self.own) {
            if rest.starts_with(MESSAGE) {
                return Ok(None);
            }
            let response = rest.strip_prefix(RESPONSE).and_then(first_value);
            if let Some((response, _)) = response {
                return Ok(Some(response));
            }
        }
        let body: Body<Envelope> = slow(line)?;
        Ok(body.response)
    }
}

/// What is before the fields of a message.
pub const MESSAGE: &[u8] = br#""message":{"#;
/// What is before the billed reply.
pub const RESPONSE: &[u8] = br#""response":"#;

/// How a record begins. A string cannot hold it: its quotes would be escaped there.
static RECORD: LazyLock<Finder> = LazyLock::new(|| Finder::new(br#"{"type":"#));

static INTERNAL: LazyLock<Finder> = LazyLock::new(|| Finder::new(br#""internal":"#));

/// The part of a record that is not its head.
#[derive(Deserialize)]
struct Body<R> {
    response: Option<R>,
    #[serde(default)]
    message: Said,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    role: String,
    internal: bool,
    steered: bool,
}

fn slow<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
    serde_json::from_str(line).map_err(|error| error.to_string())
}

/// A string without escapes, up to and over the quote that ends it.
pub fn plain(text: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr(b'"', text)?;
    let string = std::str::from_utf8(&text[..end]).ok()?;
    let escaped = |byte| byte == b'\\' || byte < b' ';
    (!string.bytes().any(escaped)).then_some((string, &text[end + 1..]))
}

/// Reads one JSON value, and returns what follows it too.
pub fn first_value<T: DeserializeOwned>(text: &[u8]) -> Option<(T, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// The role of the message, and what follows it.
fn own_message(rest: &[u8]) -> Option<(&str, &[u8])> {
    let rest = match rest.strip_prefix(RESPONSE) {
        Some(response) => first_value::<IgnoredAny>(response)?.1.strip_prefix(b",")?,
        None => rest,
    };
    plain(rest.strip_prefix(MESSAGE)?.strip_prefix(br#""role":""#)?)
}

fn own_author(rest: &[u8]) -> Option<Author> {
    let (role, message) = own_message(rest)?;
    if role != "user" {
        return Some(Author::Other);
    }
    // No string holds this key with its quotes, so a line without it is a person's.
    if INTERNAL.find(message).is_none() {
        Some(Author::User)
    } else if message.ends_with(br#","internal":true,"steered":true}}"#) {
        Some(Author::Steering)
    } else {
        let is_own = message.ends_with(br#","internal":true}}"#);
        is_own.then_some(Author::Other)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chat::{Message, Outcome, Usage};
    use crate::session::record::{Purpose, Record};

    /// Everything that a head tells of a line.
    fn told(line: &[u8], head: &Head) -> String {
        let author = (head.kind == Kind::Message).then(|| head.author(line));
        let response = head.response(line);
        format!(
            "{:?} {:?} {:?} {author:?} {response:?}",
            head.kind, head.id, head.parent
        )
    }

    fn check(line: &[u8], own: bool) {
        let quick = Head::of_our_own(line);
        assert_eq!(quick.is_some(), own, "{}", String::from_utf8_lossy(line));
        if let Some(quick) = quick {
            assert_eq!(told(line, &quick), told(line, &slow(line).unwrap()));
        }
    }

    #[test]
    fn a_quick_look_tells_the_same() {
        let envelope = |usage| Envelope {
            id: "r\"1".into(),
            timestamp: 2,
            provider: "a".into(),
            model: "},\"message\":{\"role\":\"user\"".into(),
            purpose: Purpose::Turn,
            usage,
        };
        let tricky = r#"{"type":"x"},"internal":true}} \","message":{"role":"user"#;
        let messages = [
            Message::user("a"),
            Message::user(tricky),
            Message::internal("a"),
            Message::internal(tricky),
            Message::steered(tricky),
            Message::Assistant {
                content: tricky.into(),
                tool_calls: vec![],
            },
            Message::Tool {
                call_id: "c".into(),
                content: tricky.into(),
                outcome: Outcome::Failed,
                summary: String::new(),
            },
            Message::Reasoning {
                content: tricky.into(),
            },
        ];
        for message in messages.map(Arc::new) {
            for response in [
                None,
                Some(envelope(None)),
                Some(envelope(Some(Usage::default()))),
            ] {
                for parent in [None, Some("p".to_owned())] {
                    let record = Record::Message {
                        id: "i".into(),
                        parent,
                        timestamp: 5,
                        response: response.clone(),
                        message: message.clone(),
                    };
                    let line = record.to_line();
                    check(line.trim_ascii_end(), true);
                }
            }
        }
        let compact = Record::Compact {
            id: "k".into(),
            parent: Some("a".into()),
            timestamp: 3,
            summary: tricky.into(),
            first_kept: None,
            response: Some(envelope(None)),
        };
        check(compact.to_line().trim_ascii_end(), true);
    }

    #[test]
    fn other_shapes_are_read_as_json() {
        for line in [
            r#"{"type":"name","name":"x"}"#,
            r#"{"type": "message","id":"a","parent":null,"timestamp":1,"message":{"role":"user"}}"#,
            r#"{"id":"a","type":"message","parent":"b","message":{"role":"user","internal":true}}"#,
            r#"{"type":"message","id":"\u0061","parent":null,"timestamp":1,"message":{}}"#,
            r#"{"type":"message","id":"a","parent":null,"timestamp":1.5,"message":{}}"#,
            r#"{"type":"message","id":"a","parent":null,"timestamp":1,"x":{"type":"y"},"message":{}}"#,
            r#"{"type":"later"}"#,
        ] {
            check(line.as_bytes(), false);
            assert!(Head::of(line.as_bytes()).is_ok(), "{line}");
        }
        // Strange, but in order: each is asked for what its beginning does not tell.
        for line in [
            r#"{"type":"message","id":"a","parent":null,"timestamp":1,"message":{"role":"user","internal":true,"content":"x"}}"#,
            r#"{"type":"message","id":"a","parent":null,"timestamp":1,"message":{"content":"x","role":"user"}}"#,
            r#"{"type":"message","id":"a","parent":null,"timestamp":1,"new":[],"message":{"role":"user","content":"x"}}"#,
        ] {
            check(line.as_bytes(), true);
        }
    }

    #[test]
    fn two_records_on_one_line_are_none() {
        let record = r#"{"type":"message","id":"a","parent":null,"timestamp":1,"message":{"role":"user","content":"x"}}"#;
        for end in 1..record.len() {
            let glued = [&record[..end], record].concat();
            assert!(Head::of(glued.as_bytes()).is_err(), "{glued}");
        }
    }
}
