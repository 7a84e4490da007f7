//! One line of the protocol, in both directions.
//!
//! Lines from an extension are told apart by their keys alone. What is inside a `result` is the
//! business of whoever asked; requests are understood here. Reading happens on the extension's own
//! thread, so a large or strange line costs the loop nothing.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bounded::Bounded;
use super::request::{self, Request};
use crate::chat::Output;
use crate::text::clip_chars;
use crate::text::json::{self, present};

/// Longest line from an extension, in bytes without its end.
pub const MAX_LINE: usize = 10 << 20;

/// Output of a call is joined up to about this many bytes.
const JOINED: usize = 32 << 10;

/// Characters of a line of no recognised form that are kept, to be told.
const NOISE: usize = 120;

/// What a line from an extension says.
#[derive(Debug)]
pub enum Message {
    /// The answer to a request of e.
    Response {
        /// The request.
        id: u64,
        /// Its result; `null` when the answer has neither field.
        result: Result<Value, String>,
    },
    /// Live output of a tool call.
    Update {
        /// The call's request.
        id: u64,
        /// The stream it came from.
        stream: Output,
        /// The text.
        chunk: String,
    },
    /// A line for the transcript.
    Notify(String),
    /// Something e is to do or to ask.
    Request(Box<Asking>),
    /// Bytes that are no text. The line is skipped.
    NotUtf8,
    /// Text of no recognised form. The line is skipped; this is its beginning.
    Noise(String),
}

/// A request of an extension.
#[derive(Debug)]
pub struct Asking {
    /// As it was written, to be echoed.
    pub id: Box<RawValue>,
    /// What.
    pub method: String,
    /// With what, where it may be passed on to somebody else; null otherwise.
    pub params: Value,
    /// Bytes that it takes, about.
    pub size: usize,
    /// What it comes to, or the text of the error answer.
    pub request: Result<Request, String>,
}

impl Asking {
    fn new(id: Box<RawValue>, method: String, json: &str) -> Self {
        let (mut params, mut size) = (Value::Null, 0);
        let request = Bounded::read(json).and_then(|read| {
            let mut request = request::parse(&method, &read.value)?;
            request.left_out(read.left_out);
            if request.is_relayed() {
                params = read.value;
            }
            size = read.size;
            Ok(request)
        });
        Self {
            id,
            method,
            params,
            size,
            request,
        }
    }
}

impl Message {
    /// Whether it belongs to something that e asked for.
    pub fn is_awaited(&self) -> bool {
        match self {
            Message::Response { .. } | Message::Update { .. } => true,
            Message::Notify(_) | Message::Request(_) | Message::NotUtf8 | Message::Noise(_) => {
                false
            }
        }
    }

    /// Takes in what follows, if it is more output of the same call and stream; gives it back if not.
    pub fn join(&mut self, next: Message) -> Option<Message> {
        match (self, next) {
            (
                Message::Update { id, stream, chunk },
                Message::Update {
                    id: next_id,
                    stream: next_stream,
                    chunk: more,
                },
            ) if *id == next_id && *stream == next_stream && chunk.len() < JOINED => {
                chunk.push_str(&more);
                None
            }
            (_, next) => Some(next),
        }
    }
}

/// Reads one line without its end.
pub fn parse(line: &[u8]) -> Message {
    let Ok(line) = std::str::from_utf8(line) else {
        return Message::NotUtf8;
    };
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    compact_update(line)
        .or_else(|| recognise(line))
        .unwrap_or_else(|| Message::Noise(clip_chars(line.trim(), NOISE)))
}

/// A request of e as a line, its end included.
pub fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    let mut line = format!("{{\"id\":{id},\"method\":\"{method}\",\"params\":").into_bytes();
    close(&mut line, params);
    line
}

/// A notification of e as a line, its end included.
pub fn notification(method: &str, params: Option<&Value>) -> Vec<u8> {
    let mut line = format!("{{\"method\":\"{method}\"").into_bytes();
    match params {
        Some(params) => {
            line.extend_from_slice(b",\"params\":");
            close(&mut line, params);
        }
        None => line.extend_from_slice(b"}\n"),
    }
    line
}

/// The answer to a request of an extension as a line, its end included.
pub fn response(id: &RawValue, result: &Result<Value, String>) -> Vec<u8> {
    let mut line = b"{\"id\":".to_vec();
    // Writing to memory does not fail.
    let _ = json::write_value(&mut line, &id);
    match result {
        Ok(result) => {
            line.extend_from_slice(b",\"result\":");
            close(&mut line, result);
        }
        Err(error) => {
            line.extend_from_slice(b",\"error\":");
            json::write_string(&mut line, error);
            line.extend_from_slice(b"}\n");
        }
    }
    line
}

fn close(line: &mut Vec<u8>, value: &Value) {
    let _ = json::write_value(line, value);
    line.extend_from_slice(b"}\n");
}

#[derive(Deserialize)]
struct Head<'a> {
    /// Present also when it is null.
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Update<'a> {
    id: u64,
    #[serde(borrow, default)]
    stream: Option<Cow<'a, str>>,
    #[serde(borrow)]
    chunk: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Notify<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
}

/// Reads an object alone: a derived form would also take its fields as a list.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    text.trim_start().starts_with('{').then_some(())?;
    serde_json::from_str(text).ok()
}

/// A line of live output as most programs write it. There are many of these, so they are gone through
/// once; a line with anything else in it is no JSON to this, and recognised the long way.
fn compact_update(line: &str) -> Option<Message> {
    let rest = line.strip_prefix("{\"method\":\"tool.update\",\"params\":")?;
    update(object(rest.strip_suffix('}')?)?)
}

fn update(update: Update<'_>) -> Option<Message> {
    let stream = match update.stream.as_deref() {
        Some("stdout") | None => Output::Stdout,
        Some("stderr") => Output::Stderr,
        Some(_) => return None,
    };
    (!update.chunk.is_empty()).then(|| Message::Update {
        id: update.id,
        stream,
        chunk: update.chunk.into_owned(),
    })
}

fn recognise(line: &str) -> Option<Message> {
    let head: Head<'_> = object(line)?;
    let params = head.params.map_or("null", RawValue::get);
    match head.method.as_deref() {
        Some("tool.update") => update(object(params)?),
        Some("notify") => {
            let notify: Notify<'_> = object(params)?;
            Some(Message::Notify(notify.message.into_owned()))
        }
        Some(method) => {
            let asking = Asking::new(head.id?.to_owned(), method.to_owned(), params);
            Some(Message::Request(Box::new(asking)))
        }
        None => {
            let id = head.id?.get().parse().ok()?;
            let result = match head.error {
                Some(error) => Err(error_text(error)),
                None => {
                    let result = head.result.map_or("null", RawValue::get);
                    Bounded::read(result).map(|read| read.value)
                }
            };
            Some(Message::Response { id, result })
        }
    }
}

/// An error is text; anything else is shown as the JSON that it is, but for the `message` of an
/// object, which is what programs that speak JSON-RPC send.
fn error_text(error: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Object {
        message: String,
    }
    let json = error.get();
    let text = match json.as_bytes().first() {
        Some(b'"') => serde_json::from_str(json).ok(),
        Some(b'{') => serde_json::from_str(json)
            .ok()
            .map(|Object { message }| message),
        _ => None,
    };
    text.unwrap_or_else(|| json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::request::Ui;
    use serde_json::json;

    fn show(line: &str) -> String {
        match parse(line.as_bytes()) {
            Message::Response { id, result } => format!("response {id} {result:?}"),
            Message::Update { id, stream, chunk } => {
                format!("update {id} {} {chunk}", stream.name())
            }
            Message::Notify(text) => format!("notify {text}"),
            Message::Request(asking) => {
                let Asking {
                    id,
                    method,
                    params,
                    request,
                    ..
                } = *asking;
                let problem = request.err().map_or(String::new(), |why| format!(" {why}"));
                format!("request {id} {method} {params}{problem}")
            }
            Message::NotUtf8 => "not text".into(),
            Message::Noise(_) => "noise".into(),
        }
    }

    #[test]
    fn lines_are_told_apart_by_their_keys() {
        for (line, expected) in [
            (
                r#"{"id":1,"result":{"a":1}}"#,
                r#"response 1 Ok(Object {"a": Number(1)})"#,
            ),
            (r#"{"id":1}"#, "response 1 Ok(Null)"),
            ("\u{feff}{\"id\":1}", "response 1 Ok(Null)"),
            (r#"{"id":1,"result":null}"#, "response 1 Ok(Null)"),
            (r#"{"id":2,"error":"no"}"#, r#"response 2 Err("no")"#),
            (
                r#"{"id":2,"error":{"code":1}}"#,
                r#"response 2 Err("{\"code\":1}")"#,
            ),
            (
                r#"{"id":2,"error":{"message":"why"}}"#,
                r#"response 2 Err("why")"#,
            ),
            (
                r#"{"method":"notify","params":{"message":"hi"}}"#,
                "notify hi",
            ),
            (
                r#"{"id":7,"method":"notify","params":{"message":"hi"}}"#,
                "notify hi",
            ),
            (
                r#"{"method":"tool.update","params":{"id":3,"chunk":"a\n"}}"#,
                "update 3 stdout a\n",
            ),
            (
                r#"{"method":"tool.update","params":{"id":3,"stream":"stderr","chunk":"a"}}"#,
                "update 3 stderr a",
            ),
            (
                r#"{ "params": {"chunk": "a", "id": 3}, "method": "tool.update"}"#,
                "update 3 stdout a",
            ),
            (
                r#"{"method":"tool.update","params":{"id":3,"chunk":"a"},"id":7}"#,
                "update 3 stdout a",
            ),
            (
                r#"{"id":"q","method":"ui.x","params":{"a":[]}}"#,
                r#"request "q" ui.x null unknown method `ui.x`"#,
            ),
            (
                r#"{"id":null,"method":"ui.panel"}"#,
                "request null ui.panel null",
            ),
            (
                r#"{"id":{"k":[1.0]},"method":"ui.notify","params":{"message":"m"}}"#,
                r#"request {"k":[1.0]} ui.notify {"message":"m"}"#,
            ),
            // No recognised form.
            ("hello", "noise"),
            ("[1]", "noise"),
            (r#"{"method":"ui.x"}"#, "noise"),
            (r#"{"id":"x","result":1}"#, "noise"),
            (r#"{"id":-1}"#, "noise"),
            (
                r#"{"method":"tool.update","params":{"id":3,"chunk":""}}"#,
                "noise",
            ),
        ] {
            assert_eq!(show(line), expected);
        }
        assert!(matches!(parse(b"\xff{}"), Message::NotUtf8));
        let deep = format!(r#"{{"id":1,"result":{}}}"#, "[".repeat(100_000));
        assert!(matches!(parse(deep.as_bytes()), Message::Noise(_)));
    }

    #[test]
    fn output_of_one_call_and_stream_is_joined() {
        let line = |id: u64, stream: &str, chunk: &str| {
            let params = json!({"id": id, "stream": stream, "chunk": chunk});
            parse(&notification("tool.update", Some(&params)))
        };
        let mut first = line(1, "stdout", "a\n");
        assert!(first.join(line(1, "stdout", "b\n")).is_none());
        assert!(first.join(line(1, "stderr", "c")).is_some());
        assert!(first.join(line(2, "stdout", "c")).is_some());
        assert!(first.join(Message::NotUtf8).is_some());
        let Message::Update { chunk, .. } = first else {
            panic!("no update");
        };
        assert_eq!(chunk, "a\nb\n");
        assert!(Message::NotUtf8.join(line(1, "stdout", "a")).is_some());
        let mut long = line(1, "stdout", &"x".repeat(JOINED));
        assert!(long.join(line(1, "stdout", "y")).is_some());
    }

    #[test]
    fn lists_of_very_many_values_end_early() {
        let many = format!("[{}1]", "\"x\",".repeat(300_000));
        let line = |rest: &str| parse(format!(r#"{{"id":3,{rest}}}"#).as_bytes());
        let Message::Request(asking) = line(&format!(
            r#""method":"ui.panel","params":{{"lines":{many},"interactive":true}}"#
        )) else {
            panic!("no request");
        };
        let Ok(Request::Ui(Ui::Panel(Some(panel)))) = asking.request else {
            panic!("{:?}", asking.request);
        };
        assert_eq!(panel.lines.len() + panel.left_out, 300_001);
        assert!(panel.interactive && asking.size < 32 << 20 && asking.params.is_null());
        let Message::Request(asking) = line(&format!(
            r#""method":"ui.pane","params":{{"sections":[{{"kind":"rows","lines":[{}[]]}}]}}"#,
            "[],".repeat(250_000)
        )) else {
            panic!("no request");
        };
        let Ok(Request::Ui(Ui::Pane(Some(pane)))) = asking.request else {
            panic!("{:?}", asking.request);
        };
        assert_eq!(pane.sections.len(), 2);
        let answer = line(&format!(r#""result":{{"items":{many},"block":true}}"#));
        assert!(
            matches!(answer, Message::Response { id: 3, result: Ok(result) } if result["block"] == true)
        );
        let deep = format!(r#""result":{}{}"#, "[".repeat(200), "]".repeat(200));
        assert!(matches!(
            line(&deep),
            Message::Response {
                id: 3,
                result: Err(_)
            }
        ));
    }

    #[test]
    fn lines_of_e_are_compact_and_in_order() {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let id: Box<RawValue> = serde_json::from_str("[1.50, \"a\"]").unwrap();
        assert_eq!(
            text(request(
                1,
                "command",
                &json!({"name": "ping", "args": "a\u{2028}b"})
            )),
            "{\"id\":1,\"method\":\"command\",\"params\":{\"name\":\"ping\",\"args\":\"a\\u2028b\"}}\n"
        );
        assert_eq!(
            text(notification("shutdown", None)),
            "{\"method\":\"shutdown\"}\n"
        );
        assert_eq!(
            text(response(&id, &Ok(json!({})))),
            "{\"id\":[1.50, \"a\"],\"result\":{}}\n"
        );
        assert_eq!(
            text(response(&id, &Err("no ui".into()))),
            "{\"id\":[1.50, \"a\"],\"error\":\"no ui\"}\n"
        );
    }
}
