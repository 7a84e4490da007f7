//! OpenAI chat completions, and the many servers that copy it more or less well.
//!
//! Some servers refuse `stream_options` or `reasoning_effort`. A refusal that names one is
//! answered by asking again without it, and remembered for the process once that worked.

mod calls;
mod decode;
mod request;

use super::context::Field;
use super::{Failure, Lane, Request, Sink, route};
use decode::Decode;

/// Runs one request.
pub(super) fn stream(lane: &Lane, request: &Request, sink: &mut dyn Sink) -> Result<(), Failure> {
    let connection = lane.connection()?;
    let model = &request.model;
    let url = route::endpoint(&model.base_url, "/chat/completions");
    let bearer = request
        .key
        .as_ref()
        .map(|key| format!("Bearer {}", key.0.trim()));
    let headers: Vec<(&str, &str)> = bearer
        .iter()
        .map(|bearer| ("authorization", bearer.as_str()))
        .collect();

    let effort = request
        .effort
        .clone()
        .filter(|effort| effort != "off")
        .map(Field::Effort);
    let mut fields: Vec<Field> = [Some(Field::StreamOptions), effort]
        .into_iter()
        .flatten()
        .filter(|field| !lane.context().is_refused(model, field))
        .collect();
    let mut dropped = Vec::new();
    // Each round drops a field, so there are at most three.
    let response = loop {
        match connection.post(&url, &headers, &request::body(request, &fields)) {
            Ok(response) => break response,
            Err(failure) => match fields.iter().position(|field| is_refused(&failure, field)) {
                Some(index) => dropped.push(fields.remove(index)),
                None => return Err(failure),
            },
        }
    };
    for field in dropped {
        lane.context().refuse(model, field);
    }
    connection.read(response, &mut Decode::default(), sink)
}

/// Whether a failure is about this field.
fn is_refused(failure: &Failure, field: &Field) -> bool {
    let phrases: &[&str] = match field {
        Field::StreamOptions => &["stream_options"],
        Field::Effort(_) => &[
            "reasoning_effort",
            "reasoning effort",
            "thinking cannot be customi",
        ],
    };
    let body = failure.detail.to_lowercase();
    matches!(failure.status, Some(400 | 422)) && phrases.iter().any(|phrase| body.contains(phrase))
}

#[cfg(test)]
mod tests;
