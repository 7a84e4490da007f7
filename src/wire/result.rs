//! The result object that ends a run.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::event::usage_fields;
use crate::agent::TurnResult;
use crate::text::json::write_value;

/// Where a result is written, which decides what stands around its fields.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// The last line of `e -p --json`.
    Print,
    /// The answer to a one-shot line with this id.
    OneShot(&'a RawValue),
    /// The answer to a request of this session.
    Session(&'a str),
}

/// Serialised by reference: `output` may be many megabytes.
#[derive(Serialize)]
struct ResultObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    output: &'a str,
    final_output: &'a str,
    model: Option<&'a str>,
    effort: Option<&'a str>,
    aborted: bool,
    error: Option<&'a str>,
    error_details: Option<Value>,
    warnings: &'a [String],
    usage: Value,
    cost_usd: Option<f64>,
    tools: Tools,
    session: Option<Cow<'a, str>>,
    /// Inside, the value; outside, whether there is such a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Option<Cow<'a, str>>>,
}

#[derive(Serialize)]
struct Tools {
    calls: u64,
    failures: u64,
}

/// Writes a result as a line with `type: "result"`, piece by piece; `session` is the log's path.
pub fn write_result(line: &mut impl Write, result: &TurnResult) -> io::Result<()> {
    write_value(line, &result_object(result, Place::Print))?;
    line.write_all(b"\n")
}

/// A result as the object that a place calls for.
pub fn result_object<'a>(result: &'a TurnResult, place: Place<'a>) -> impl Serialize + 'a {
    let mut usage = usage_fields(&result.usage);
    usage["prompt_tokens"] = result.usage.prompt().into();
    let log = result.log.as_ref().map(|path| path.to_string_lossy());
    let (id, kind, session, path) = match place {
        Place::Print => (None, Some("result"), log, None),
        Place::OneShot(id) => (Some(id), None, log, None),
        Place::Session(handle) => (None, None, Some(handle.into()), Some(log)),
    };
    ResultObject {
        id,
        kind,
        output: &result.output,
        final_output: result.final_output(),
        model: Some(result.model.as_str()).filter(|model| !model.is_empty()),
        effort: result.effort.as_deref(),
        aborted: result.aborted,
        error: result.error.as_deref(),
        error_details: result.details.as_ref().map(|details| details.to_json()),
        warnings: &result.warnings,
        usage,
        cost_usd: result.cost_usd,
        tools: Tools {
            calls: result.calls,
            failures: result.failures,
        },
        session,
        path,
    }
}

/// The result of a run that never began.
pub fn failed_result(error: &str) -> TurnResult {
    TurnResult {
        error: Some(error.to_string()),
        ..TurnResult::default()
    }
}
