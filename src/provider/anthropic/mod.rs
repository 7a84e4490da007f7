//! Anthropic messages.

mod decode;
mod request;

use super::{Failure, Lane, Request, Sink, route};
use decode::Decode;

/// Runs one request.
pub(super) fn stream(lane: &Lane, request: &Request, sink: &mut dyn Sink) -> Result<(), Failure> {
    let connection = lane.connection()?;
    let url = route::endpoint(&request.model.base_url, "/v1/messages");
    let mut headers = vec![("anthropic-version", "2023-06-01")];
    if let Some(key) = &request.key {
        headers.push(("x-api-key", key.0.trim()));
    }
    let response = connection.post(&url, &headers, &request::body(request))?;
    connection.read(response, &mut Decode::new(request.model.slug()), sink)
}

#[cfg(test)]
mod tests;
