//! The result object that ends a run.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::event::usage_fields;
use crate::agent::TurnResult;
use crate::text::json::write_value;

/// Serialised by reference: `output` may be many megabytes.
#[derive(Serialize)]
struct ResultLine<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
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
    session: Option<&'a str>,
}

#[derive(Serialize)]
struct Tools {
    calls: u64,
    failures: u64,
}

/// Writes a result as a line with `type: "result"`, piece by piece; `session` is the log's path.
pub fn write_result(line: &mut impl Write, result: &TurnResult) -> io::Result<()> {
    let mut usage = usage_fields(&result.usage);
    usage["prompt_tokens"] = result.usage.prompt().into();
    let session = result.log.as_ref().map(|path| path.to_string_lossy());
    let object = ResultLine {
        kind: "result",
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
        session: session.as_deref(),
    };
    write_value(line, &object)?;
    line.write_all(b"\n")
}

/// The result of a run that never began.
pub fn failed_result(error: &str) -> TurnResult {
    TurnResult {
        error: Some(error.to_string()),
        ..TurnResult::default()
    }
}
