//! The records of a session log and their JSON, both ways.
//!
//! The conversation's own types have shapes on disk that are types of `wire` alone, so that they can
//! move while old logs stay readable.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::own;
use super::wire::{Line, MessageLine};
use crate::chat::{Message, Usage};

/// The version written into new logs, and the newest that is read.
pub const FORMAT_VERSION: u64 = 3;

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The first line.
    Session(Header),
    /// A message: a node of the tree.
    Message {
        /// Unique in the file.
        id: String,
        /// The node it follows; none at the root.
        parent: Option<String>,
        /// Unix milliseconds.
        timestamp: u64,
        /// The billed reply that it came with.
        response: Option<Envelope>,
        /// What was said.
        message: Arc<Message>,
    },
    /// A summary that stands for what came before `first_kept`: a node of the tree.
    Compact {
        /// Unique in the file.
        id: String,
        /// The node it follows.
        parent: Option<String>,
        /// Unix milliseconds.
        timestamp: u64,
        /// The summary as the model wrote it.
        summary: String,
        /// The oldest message on the path that history keeps; none keeps no message.
        first_kept: Option<String>,
        /// The billed reply that it came with.
        response: Option<Envelope>,
    },
    /// A billed reply without a message.
    Response {
        /// What it cost.
        response: Envelope,
    },
    /// The display name from here on; blank for none.
    Name(String),
}

/// The facts about a session that do not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The version of the file's format.
    pub format_version: u64,
    /// The session's id, as in the file's name.
    pub id: String,
    /// The workspace, for people.
    pub cwd: String,
    /// Unix milliseconds.
    pub created: u64,
    /// The slug of the model it began with.
    pub model: String,
}

/// What one request cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Unique over all sessions; a copy of a session keeps it.
    pub id: String,
    /// Unix milliseconds.
    pub timestamp: u64,
    /// The provider's name.
    pub provider: String,
    /// The model's id at the provider.
    pub model: String,
    /// What the request was for.
    pub purpose: Purpose,
    /// Counters, when the provider sent some.
    #[serde(default, with = "super::wire", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A step of a turn.
    Turn,
    /// A summary.
    Compaction,
}

/// The message that stands for the summarised part of a conversation.
pub fn summary_message(summary: &str) -> Message {
    Message::internal(format!(
        "The earlier part of this conversation was summarised to save room. The summary:\n\n{summary}"
    ))
}

/// A message in the shape it has on disk and in `session.messages`.
pub fn message_to_json(message: &Message) -> Value {
    // Strings under string keys: this cannot fail.
    serde_json::to_value(MessageLine::from(message)).unwrap_or_default()
}

impl Record {
    /// The id, when the record is a node of the tree.
    pub fn id(&self) -> Option<&str> {
        match self {
            Record::Message { id, .. } | Record::Compact { id, .. } => Some(id),
            Record::Session(_) | Record::Response { .. } | Record::Name(_) => None,
        }
    }

    /// The line that stands for it in the file, with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        // Strings, numbers and string keys into memory: this cannot fail.
        let mut line = serde_json::to_vec(&Line::from(self)).unwrap_or_default();
        line.push(b'\n');
        line
    }

    /// Reads a line. `None` is a record of a type that this build does not know.
    pub fn from_line(line: &[u8]) -> Result<Option<Self>, String> {
        match own::message(line) {
            Some(record) => Ok(Some(record)),
            None => Self::parse(line),
        }
    }

    /// Reads a line in any shape.
    pub(super) fn parse(line: &[u8]) -> Result<Option<Self>, String> {
        Ok(
            match serde_json::from_slice(line).map_err(|error| error.to_string())? {
                Line::Session(header) => Some(Record::Session(header.into_owned())),
                Line::Message {
                    id,
                    parent,
                    timestamp,
                    response,
                    message,
                } => Some(Record::Message {
                    id: id.into_owned(),
                    parent: parent.map(Cow::into_owned),
                    timestamp,
                    response: response.map(Cow::into_owned),
                    message: Arc::new(message.into()),
                }),
                Line::Compact {
                    id,
                    parent,
                    timestamp,
                    summary,
                    first_kept,
                    response,
                } => Some(Record::Compact {
                    id: id.into_owned(),
                    parent: parent.map(Cow::into_owned),
                    timestamp,
                    summary: summary.into_owned(),
                    first_kept: first_kept.map(Cow::into_owned),
                    response: response.map(Cow::into_owned),
                }),
                Line::Response { response } => Some(Record::Response {
                    response: response.into_owned(),
                }),
                Line::Name { name } => Some(Record::Name(name.into_owned())),
                Line::Unknown => None,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Image, Outcome, ToolCall, Voice};

    fn envelope(usage: Option<Usage>) -> Envelope {
        Envelope {
            id: "r1".into(),
            timestamp: 2,
            provider: "anthropic".into(),
            model: "m".into(),
            purpose: Purpose::Turn,
            usage,
        }
    }

    fn messages() -> Vec<Message> {
        vec![
            Message::user("list\u{2028}\n\"é\""),
            Message::internal("go on"),
            Message::steered("and the tests"),
            Message::User {
                content: String::new(),
                images: vec![Image {
                    media_type: "image/png".into(),
                    data: "AAAA".into(),
                }],
                voice: Voice::Prompt,
            },
            Message::Assistant {
                content: "hm".into(),
                tool_calls: vec![ToolCall {
                    id: "c".into(),
                    name: "grep".into(),
                    arguments: "{\"pattern\":".into(),
                    signature: Some("s".into()),
                }],
            },
            Message::Tool {
                call_id: "c".into(),
                content: "x\0".into(),
                outcome: Outcome::TimedOut,
                summary: "1 line".into(),
            },
            Message::Reasoning {
                content: "{\"type\":\"x\"}".into(),
            },
            Message::System {
                content: "s".into(),
            },
        ]
    }

    #[test]
    fn records_survive_the_round_trip() {
        let mut records = vec![
            Record::Session(Header {
                format_version: 3,
                id: "s".into(),
                cwd: "/srv".into(),
                created: 1,
                model: "p/m".into(),
            }),
            Record::Response {
                response: envelope(None),
            },
            Record::Name("é".into()),
            Record::Compact {
                id: "k".into(),
                parent: Some("a".into()),
                timestamp: 3,
                summary: "sum".into(),
                first_kept: None,
                response: Some(envelope(Some(Usage {
                    input: u64::MAX,
                    ..Usage::default()
                }))),
            },
        ];
        for message in messages() {
            records.push(Record::Message {
                id: "m".into(),
                parent: None,
                timestamp: 4,
                response: Some(envelope(None)),
                message: Arc::new(message),
            });
        }
        for record in records {
            let line = String::from_utf8(record.to_line()).unwrap();
            assert!(line.starts_with("{\"type\":"), "{line}");
            assert_eq!(line.find('\n'), Some(line.len() - 1));
            assert_eq!(
                Record::from_line(line.trim_end().as_bytes()).unwrap(),
                Some(record)
            );
        }
    }

    #[test]
    fn the_shape_on_disk() {
        let expected = [
            r#"{"role":"user","content":"go on","internal":true}"#,
            r#"{"role":"user","content":"and the tests","internal":true,"steered":true}"#,
            r#"{"role":"user","content":"","images":[{"media_type":"image/png","data":"AAAA"}]}"#,
            r#"{"role":"assistant","content":"hm","tool_calls":[{"id":"c","name":"grep","arguments":"{\"pattern\":","signature":"s"}]}"#,
            r#"{"role":"tool","content":"x\u0000","tool_call_id":"c","tool_meta":{"outcome":"timed_out","summary":"1 line"}}"#,
        ];
        for (message, expected) in messages()[1..].iter().zip(expected) {
            assert_eq!(message_to_json(message).to_string(), expected);
        }
    }

    #[test]
    fn unknown_types_and_fields_are_no_error() {
        assert_eq!(
            Record::from_line(br#"{"type":"later","x":[1]}"#).unwrap(),
            None
        );
        let line = r#"{"new":1,"type":"message","id":"a","parent":null,"timestamp":1,"message":{"role":"user","content":"x","more":{}}}"#;
        assert!(Record::from_line(line.as_bytes()).unwrap().is_some());
    }

    #[test]
    fn what_is_no_record_is_an_error() {
        for line in [
            "",
            "x",
            "[]",
            "{}",
            r#"{"type":"message"}"#,
            r#"{"type":"message","id":"a","parent":null,"timestamp":1,"message":{"role":"wizard"}}"#,
        ] {
            assert!(Record::from_line(line.as_bytes()).is_err(), "{line}");
        }
    }
}
