//! History to the body of a messages request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::provider::history::{self, Entry, Ids, Rules, normalise};
use crate::provider::{Model, Request, Thinking};

/// Output limit of a model that declares none.
const DEFAULT_OUTPUT: u64 = 32_000;
/// The field of a stored thinking block that names the model it came from.
pub(super) const ORIGIN: &str = "origin";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Block<'a>; 1]>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Content<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    /// A stored thinking block, word for word.
    Stored(Box<RawValue>),
    Block(Block<'a>),
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

const EPHEMERAL: CacheControl = CacheControl {
    r#type: "ephemeral",
};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Option<&'a RawValue>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

/// The body of one request.
pub(super) fn body(request: &Request) -> Vec<u8> {
    let model = &request.model;
    let tools = request.offered_tools();
    let rules = Rules {
        tools: !tools.is_empty(),
        ids: Ids::UpTo(64),
        images: model.image_input,
        // The service counts the base64 text.
        image_size: 5 << 20,
        image_count: 100,
    };
    let slug = model.slug();
    let entries = normalise(&request.messages, rules, &|item| stored(item, &slug));
    let max_tokens = max_tokens(model);
    let (thinking, output_config) = match request.effort.as_deref() {
        None | Some("off") => (None, None),
        Some(effort) => thinking(model, effort, max_tokens, &entries),
    };
    let system = (!history::is_blank(&request.system)).then(|| {
        let kind = Kind::Text {
            text: Cow::Borrowed(&*request.system),
        };
        [Block {
            kind,
            cache_control: Some(EPHEMERAL),
        }]
    });
    let body = Body {
        model: &model.id,
        max_tokens,
        stream: true,
        system,
        messages: messages(entries),
        tools: tools
            .iter()
            .map(|tool| Tool {
                name: &tool.name,
                description: &tool.description,
                input_schema: &tool.parameters,
            })
            .collect(),
        thinking,
        output_config,
    };
    // Strings, numbers and JSON values always serialise.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// Half the window at most, so that an answer always leaves room for the question.
fn max_tokens(model: &Model) -> u64 {
    let most = model.max_output.unwrap_or(DEFAULT_OUTPUT);
    match model.context_window {
        0 => most,
        window => most.min((window / 2).max(1_024)),
    }
}

fn thinking(
    model: &Model,
    effort: &str,
    max_tokens: u64,
    entries: &[Entry<'_>],
) -> (Option<Value>, Option<Value>) {
    match model.thinking {
        Some(Thinking::Adaptive) => (
            Some(json!({"type": "adaptive"})),
            Some(json!({"effort": effort})),
        ),
        // A loop of tool calls that began without a thinking block may not go on with thinking.
        _ if max_tokens < 2_048 || began_without_thinking(entries) => (None, None),
        Some(Thinking::Manual) | None => {
            let budget = match effort {
                "low" => 4_000,
                "high" => 24_000,
                _ => 12_000,
            };
            let budget = budget.min(max_tokens - 1_024);
            (
                Some(json!({"type": "enabled", "budget_tokens": budget})),
                None,
            )
        }
    }
}

/// Whether the first reply after the last words of a user has no thinking block.
fn began_without_thinking(entries: &[Entry<'_>]) -> bool {
    let spoke = entries
        .iter()
        .rposition(|entry| matches!(entry, Entry::User { .. }));
    let reply = entries.get(spoke.map_or(0, |index| index + 1));
    matches!(reply, Some(Entry::Assistant { reasoning, .. }) if reasoning.is_empty())
}

/// Entries as messages whose roles alternate.
fn messages(entries: Vec<Entry<'_>>) -> Vec<Message<'_>> {
    let mut messages: Vec<Message<'_>> = Vec::new();
    for entry in entries {
        let (role, content): (_, Vec<Content<'_>>) = match entry {
            Entry::User { text, images } => {
                let images = images.into_iter().map(|image| Kind::Image {
                    source: Source {
                        r#type: "base64",
                        media_type: &image.media_type,
                        data: &image.data,
                    },
                });
                ("user", images.chain(text_block(text)).map(plain).collect())
            }
            Entry::Assistant {
                reasoning,
                text,
                calls,
            } => {
                let stored = reasoning
                    .iter()
                    .filter_map(|item| RawValue::from_string(item.to_string()).ok());
                let calls = calls.into_iter().map(|call| Kind::ToolUse {
                    id: call.id,
                    name: call.name,
                    input: history::object(call.arguments),
                });
                let blocks = text_block(text).into_iter().chain(calls).map(plain);
                (
                    "assistant",
                    stored.map(Content::Stored).chain(blocks).collect(),
                )
            }
            Entry::Answers(answers) => {
                let results = answers.into_iter().map(|answer| Kind::ToolResult {
                    tool_use_id: answer.id,
                    content: answer.content,
                    is_error: answer.failed,
                });
                ("user", results.map(plain).collect())
            }
        };
        match messages.last_mut() {
            // Two replies become one, and thinking may stand only at the beginning.
            Some(last) if last.role == role => {
                last.content.extend(
                    content
                        .into_iter()
                        .filter(|block| matches!(block, Content::Block(_))),
                );
            }
            _ => messages.push(Message { role, content }),
        }
    }
    if let Some(Content::Block(block)) = messages
        .last_mut()
        .and_then(|message| message.content.last_mut())
    {
        block.cache_control = Some(EPHEMERAL);
    }
    messages
}

fn text_block(text: Cow<'_, str>) -> Option<Kind<'_>> {
    (!text.is_empty()).then_some(Kind::Text { text })
}

fn plain(kind: Kind<'_>) -> Content<'_> {
    Content::Block(Block {
        kind,
        cache_control: None,
    })
}

/// The wire form of a stored item, when it is a thinking block that this model gave. A block of
/// another model carries a signature that this one refuses.
fn stored<'a>(item: &'a str, slug: &str) -> Option<Cow<'a, str>> {
    let mut value: Value = serde_json::from_str(item).ok()?;
    let object = value.as_object_mut()?;
    let text = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let complete = match text("type")? {
        "thinking" => {
            text("signature").is_some() && object.get("thinking").is_some_and(Value::is_string)
        }
        "redacted_thinking" => text("data").is_some(),
        _ => false,
    };
    if !complete {
        return None;
    }
    match object.remove(ORIGIN) {
        None => Some(Cow::Borrowed(item)),
        Some(origin) if origin == slug => Some(Cow::Owned(value.to_string())),
        Some(_) => None,
    }
}
