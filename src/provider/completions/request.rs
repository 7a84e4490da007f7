//! History to the body of a chat completions request.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::chat::{Image, ToolSpec};
use crate::provider::Request;
use crate::provider::context::Field;
use crate::provider::history::{Entry, Ids, Rules, normalise};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        #[serde(skip_serializing_if = "str::is_empty")]
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    #[serde(serialize_with = "data_url")]
    url: &'a Image,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a serde_json::Value,
}

/// The body with those optional fields that the server takes.
pub(super) fn body(request: &Request, fields: &[Field]) -> Vec<u8> {
    let model = &request.model;
    let tools = request.offered_tools();
    let rules = Rules {
        // Calls and results are legal here also in a request that offers no tools.
        tools: true,
        // 40 is OpenAI's limit, and Mistral takes its own form only.
        ids: if model.provider == "mistral" {
            Ids::Nine
        } else {
            Ids::UpTo(40)
        },
        images: model.image_input,
        image_size: 28 << 20,
        image_count: 100,
    };
    let system = (!request.system.trim().is_empty()).then_some(Message::System {
        content: &request.system,
    });
    let mut messages: Vec<Message<'_>> = system.into_iter().collect();
    for entry in normalise(&request.messages, rules, &|_| None) {
        add(&mut messages, entry);
    }
    let body = Body {
        model: &model.id,
        messages,
        stream: true,
        stream_options: fields
            .contains(&Field::StreamOptions)
            .then_some(StreamOptions {
                include_usage: true,
            }),
        reasoning_effort: fields.iter().find_map(|field| match field {
            Field::Effort(level) => Some(level.as_str()),
            Field::StreamOptions => None,
        }),
        tools: tools.iter().map(tool).collect(),
    };
    // Strings, numbers and JSON values always serialise.
    serde_json::to_vec(&body).unwrap_or_default()
}

fn add<'a>(messages: &mut Vec<Message<'a>>, entry: Entry<'a>) {
    match entry {
        Entry::User { text, images } if images.is_empty() => {
            messages.push(Message::User {
                content: Content::Text(text),
            });
        }
        Entry::User { text, images } => {
            let text = (!text.is_empty()).then_some(Part::Text { text });
            let images = images.into_iter().map(|url| Part::ImageUrl {
                image_url: ImageUrl { url },
            });
            messages.push(Message::User {
                content: Content::Parts(text.into_iter().chain(images).collect()),
            });
        }
        Entry::Assistant {
            text,
            calls,
            reasoning: _,
        } => {
            let tool_calls = calls
                .into_iter()
                .map(|call| ToolCall {
                    id: call.id,
                    r#type: "function",
                    function: CalledFunction {
                        name: call.name,
                        arguments: call.arguments,
                    },
                })
                .collect();
            messages.push(Message::Assistant {
                content: text,
                tool_calls,
            });
        }
        Entry::Answers(answers) => {
            messages.extend(answers.into_iter().map(|answer| Message::Tool {
                tool_call_id: answer.id,
                content: answer.content,
            }))
        }
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        r#type: "function",
        function: Function {
            name: &spec.name,
            description: &spec.description,
            parameters: &spec.parameters,
        },
    }
}

fn data_url<S: Serializer>(image: &&Image, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!(
        "data:{};base64,{}",
        image.media_type, image.data
    ))
}
