//! Lines: requests read off them, responses written onto them.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::methods::{self, Call};
use super::oneshot::{self, OneShot};
use super::params::Params;
use crate::error::{Error, Result};
use crate::text::json::{present, write_value};

/// What a request that waits costs besides its line, in bytes; roughly, for the mark that bounds
/// how much may wait.
const OVERHEAD: usize = 16 * 1024;
/// A one-shot line that waits is only a line.
const ONE_SHOT_OVERHEAD: usize = 1024;

/// The id of a request, exactly as the client wrote it. Whoever holds it owes a response.
#[derive(Debug)]
pub struct Id {
    raw: Box<RawValue>,
    weight: usize,
}

/// What a line asks for.
#[derive(Debug)]
pub enum Request {
    /// A method.
    Call(Call),
    /// A version-1 line.
    OneShot(Box<OneShot>),
}

impl Id {
    /// The id of a line that has none.
    pub fn none() -> Self {
        Self {
            raw: RawValue::NULL.to_owned(),
            weight: OVERHEAD,
        }
    }

    /// The JSON text.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// What the request counts for while it waits; nothing from the second time on.
    pub fn take_weight(&mut self) -> usize {
        std::mem::take(&mut self.weight)
    }

    /// What the request counts for while it waits.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// Understands a line. The id comes along as soon as it is known.
pub fn parse(line: &[u8]) -> (Id, Result<Request>) {
    let invalid = |why: &dyn fmt::Display| {
        let error = Error::usage(format!("invalid request: {why}"));
        (Id::none(), Err(error))
    };
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            return invalid(&format!("it is not UTF-8 at byte {}", error.valid_up_to()));
        }
    };
    if !text.trim_ascii_start().starts_with('{') {
        return invalid(&"it is not a JSON object");
    }
    let envelope: Envelope<'_> = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        Err(error) => return invalid(&plain(&error)),
    };
    let mut id = Id::none();
    if let Some(raw) = envelope.id {
        // Clients parse what they are sent; they need not bear more nesting than e does.
        let nested = raw.get().starts_with(['[', '{']);
        if nested && serde_json::from_str::<Value>(raw.get()).is_err() {
            return invalid(&"the id is nested too deeply");
        }
        id.raw = raw.to_owned();
    }
    id.weight += line.len();
    let request = match envelope.method {
        Some(method) => call(method, envelope.params).map(Request::Call),
        None => {
            id.weight -= OVERHEAD - ONE_SHOT_OVERHEAD;
            object_of(text)
                .and_then(|map| oneshot::parse(Params::new(map)))
                .map(|line| Request::OneShot(Box::new(line)))
        }
    };
    (id, request)
}

fn call(method: &RawValue, params: Option<&RawValue>) -> Result<Call> {
    let method: String = serde_json::from_str(method.get())
        .map_err(|_| Error::usage("invalid request: `method` must be a string"))?;
    let map = params.map_or(Ok(Map::new()), |raw| object_of(raw.get()))?;
    methods::parse(&method, Params::new(map))
}

fn object_of(text: &str) -> Result<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Error::usage("invalid request: `params` must be an object")),
        Err(error) => Err(Error::usage(format!("invalid request: {}", plain(&error)))),
    }
}

/// A parser's words in e's style. The line number would always be 1.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.replacen(" at line 1 column ", " at byte ", 1);
    text.replacen("EOF while parsing", "it ends inside", 1)
}

/// Appends `{"id":…,"result":…}`.
pub fn write_result(out: &mut Vec<u8>, id: &Id, result: &impl Serialize) {
    write_response(out, id, "result", result);
}

/// Appends `{"id":…,"error":…}`.
pub fn write_error(out: &mut Vec<u8>, id: &Id, error: &str) {
    write_response(out, id, "error", &error);
}

fn write_response(out: &mut Vec<u8>, id: &Id, key: &str, value: &impl Serialize) {
    // Writing to memory does not fail.
    out.extend_from_slice(b"{\"id\":");
    let _ = write_value(out, &id.raw);
    out.extend_from_slice(format!(",\"{key}\":").as_bytes());
    let _ = write_value(out, value);
    out.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &[u8]) -> (String, String) {
        let (id, request) = parse(line);
        (id.raw.to_string(), request.unwrap_err().to_string())
    }

    #[test]
    fn ids_come_back_as_they_were() {
        for raw in [
            "1.50",
            "9007199254740993",
            "1e400",
            "\"\\u0041\\ud800\"",
            "[1, {\"a\": null}]",
            "null",
            "{}",
        ] {
            let line = format!("{{\"method\":\"hello\",\"id\": {raw} }}");
            let (id, request) = parse(line.as_bytes());
            assert!(request.is_ok(), "{raw}");
            assert_eq!(id.raw.get(), raw);
        }
        let mut out = Vec::new();
        let line = "{\"id\":[\t\"\u{2028}\"],\"method\":\"hello\"}";
        write_error(&mut out, &parse(line.as_bytes()).0, "x\ny");
        let expected = b"{\"id\":[\t\"\\u2028\"],\"error\":\"x\\ny\"}\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn bad_lines_are_named() {
        let deep = format!("{{\"id\":{}1{}}}", "[".repeat(1000), "]".repeat(1000));
        for line in [
            &b"{"[..],
            b"hello",
            b"[1,2,3]",
            b"5",
            b"null",
            b"{\"id\":1}x",
            b"{\"id\":1,\"id\":2}",
            b"{\"id\":\0}",
            b"\xff\xfe",
            deep.as_bytes(),
        ] {
            let (id, text) = error(line);
            assert_eq!(id, "null");
            assert!(
                text.starts_with("invalid request: it is ") || line[0] == b'{',
                "{text}"
            );
            assert!(text.starts_with("invalid request: "), "{text}");
            // The words of the parser are for its users.
            for word in ["struct", "Envelope", "invalid type", "map"] {
                assert!(!text.contains(word), "{text}");
            }
        }
        let params = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
        for (rest, fragment) in [
            ("\"method\":5", "`method` must be a string"),
            ("\"method\":null", "`method` must be a string"),
            (
                "\"method\":\"hello\",\"params\":[]",
                "`params` must be an object",
            ),
            ("\"method\":\"nope\"", "unknown method `nope`"),
            ("\"method\":\"hello\",\"params\":{\"ask\":1}", "`ask`"),
            (
                "\"method\":\"session.info\",\"params\":{\"session\":\"\\ud800\"}",
                "invalid request",
            ),
            (
                &format!("\"method\":\"hello\",\"params\":{{\"x\":{params}}}"),
                "invalid request",
            ),
            ("\"x\":1", "`prompt` is missing"),
        ] {
            let (id, text) = error(format!("{{\"id\":7,{rest}}}").as_bytes());
            assert_eq!(id, "7", "{rest}");
            assert!(text.contains(fragment), "{text}");
        }
    }

    #[test]
    fn null_params_are_absent() {
        let (_, request) = parse(b" {\"method\":\"hello\",\"params\":null,\"more\":[1]}\r");
        assert!(matches!(
            request,
            Ok(Request::Call(Call::Hello { ask: false }))
        ));
    }
}
