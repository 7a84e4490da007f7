//! The JSON of a session log, as serde types that borrow from a record or are read into one.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::record::{Envelope, Header, Record};
use crate::chat::{Image, Message, Outcome, ToolCall, Usage, Voice};

/// A record on disk. What old versions lack has a default here; the tree fills in ids.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    Session(Cow<'a, Header>),
    Message {
        #[serde(default)]
        id: Cow<'a, str>,
        parent: Option<Cow<'a, str>>,
        #[serde(default)]
        timestamp: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<Cow<'a, Envelope>>,
        message: MessageLine<'a>,
    },
    Compact {
        id: Cow<'a, str>,
        parent: Option<Cow<'a, str>>,
        timestamp: u64,
        summary: Cow<'a, str>,
        first_kept: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<Cow<'a, Envelope>>,
    },
    Response {
        response: Cow<'a, Envelope>,
    },
    Name {
        name: Cow<'a, str>,
    },
    #[serde(other)]
    Unknown,
}

/// The counters of an [`Envelope`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Usage", default = "Usage::default")]
struct UsageLine {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write_5m: u64,
    cache_write_1h: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum MessageLine<'a> {
    User {
        content: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<ImageLine<'a>>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        internal: bool,
        /// Of internal ones: people saw it all the same.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        steered: bool,
    },
    Assistant {
        content: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<CallLine<'a>>,
    },
    Tool {
        content: Cow<'a, str>,
        tool_call_id: Cow<'a, str>,
        #[serde(default)]
        tool_meta: MetaLine<'a>,
    },
    Reasoning {
        content: Cow<'a, str>,
    },
    System {
        content: Cow<'a, str>,
    },
}

#[derive(Serialize, Deserialize)]
pub(super) struct ImageLine<'a> {
    media_type: Cow<'a, str>,
    data: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CallLine<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Cow<'a, str>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct MetaLine<'a> {
    outcome: Cow<'a, str>,
    summary: Cow<'a, str>,
}

impl<'a> From<&'a Record> for Line<'a> {
    fn from(record: &'a Record) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        match record {
            Record::Session(header) => Line::Session(Cow::Borrowed(header)),
            Record::Message {
                id,
                parent,
                timestamp,
                response,
                message,
            } => Line::Message {
                id: id.as_str().into(),
                parent: text(parent),
                timestamp: *timestamp,
                response: response.as_ref().map(Cow::Borrowed),
                message: message.as_ref().into(),
            },
            Record::Compact {
                id,
                parent,
                timestamp,
                summary,
                first_kept,
                response,
            } => Line::Compact {
                id: id.as_str().into(),
                parent: text(parent),
                timestamp: *timestamp,
                summary: summary.as_str().into(),
                first_kept: text(first_kept),
                response: response.as_ref().map(Cow::Borrowed),
            },
            Record::Response { response } => Line::Response {
                response: Cow::Borrowed(response),
            },
            Record::Name(name) => Line::Name {
                name: name.as_str().into(),
            },
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Counters(#[serde(with = "UsageLine")] Usage);

/// Writes the counters of an [`Envelope`].
pub(super) fn serialize<S: Serializer>(usage: &Option<Usage>, to: S) -> Result<S::Ok, S::Error> {
    usage.map(Counters).serialize(to)
}

/// Reads them.
pub(super) fn deserialize<'de, D>(from: D) -> Result<Option<Usage>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(Option::<Counters>::deserialize(from)?.map(|counters| counters.0))
}

impl<'a> From<&'a Message> for MessageLine<'a> {
    fn from(message: &'a Message) -> Self {
        match message {
            Message::User {
                content,
                images,
                voice,
            } => MessageLine::User {
                content: content.as_str().into(),
                images: images
                    .iter()
                    .map(|image| ImageLine {
                        media_type: image.media_type.as_str().into(),
                        data: image.data.as_str().into(),
                    })
                    .collect(),
                internal: *voice != Voice::Prompt,
                steered: *voice == Voice::Steered,
            },
            Message::Assistant {
                content,
                tool_calls,
            } => MessageLine::Assistant {
                content: content.as_str().into(),
                tool_calls: tool_calls
                    .iter()
                    .map(|call| CallLine {
                        id: call.id.as_str().into(),
                        name: call.name.as_str().into(),
                        arguments: call.arguments.as_str().into(),
                        signature: call.signature.as_deref().map(Cow::Borrowed),
                    })
                    .collect(),
            },
            Message::Tool {
                call_id,
                content,
                outcome,
                summary,
            } => MessageLine::Tool {
                content: content.as_str().into(),
                tool_call_id: call_id.as_str().into(),
                tool_meta: MetaLine {
                    outcome: outcome.record_name().into(),
                    summary: summary.as_str().into(),
                },
            },
            Message::Reasoning { content } => MessageLine::Reasoning {
                content: content.as_str().into(),
            },
            Message::System { content } => MessageLine::System {
                content: content.as_str().into(),
            },
        }
    }
}

impl From<MessageLine<'_>> for Message {
    fn from(line: MessageLine<'_>) -> Self {
        match line {
            MessageLine::User {
                content,
                images,
                internal,
                steered,
            } => Message::User {
                content: content.into_owned(),
                images: images
                    .into_iter()
                    .map(|image| Image {
                        media_type: image.media_type.into_owned(),
                        data: image.data.into_owned(),
                    })
                    .collect(),
                voice: match (internal, steered) {
                    (false, _) => Voice::Prompt,
                    (true, true) => Voice::Steered,
                    (true, false) => Voice::Internal,
                },
            },
            MessageLine::Assistant {
                content,
                tool_calls,
            } => Message::Assistant {
                content: content.into_owned(),
                tool_calls: tool_calls
                    .into_iter()
                    .map(|call| ToolCall {
                        id: call.id.into_owned(),
                        name: call.name.into_owned(),
                        arguments: call.arguments.into_owned(),
                        signature: call.signature.map(Cow::into_owned),
                    })
                    .collect(),
            },
            MessageLine::Tool {
                content,
                tool_call_id,
                tool_meta,
            } => Message::Tool {
                call_id: tool_call_id.into_owned(),
                content: content.into_owned(),
                // Old logs have no outcome; all that is known is that an answer came.
                outcome: Outcome::from_record(&tool_meta.outcome).unwrap_or(Outcome::Completed),
                summary: tool_meta.summary.into_owned(),
            },
            MessageLine::Reasoning { content } => Message::Reasoning {
                content: content.into_owned(),
            },
            MessageLine::System { content } => Message::System {
                content: content.into_owned(),
            },
        }
    }
}
