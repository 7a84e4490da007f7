//! HTTP: a request out, an event stream in, and a failure that names what went wrong.
//!
//! One [`Connection`] is one turn's `ureq` agent. Its sockets are kept between the requests of
//! that turn and closed by [`Connection::shutdown`]. How long a silent server is waited for is
//! the agent's decision, since only it knows which events count as a sign of life.

use std::io::Read;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;
use ureq::http::{Response, Uri};
use ureq::tls::TlsConfig;
use ureq::{Agent, Body};

use super::error::{self, Head};
use super::sse::{Flow, Parser};
use super::{Cause, Context, Failure, Sink, Stage, StreamEvent, route};
use crate::text::clip_chars;

/// Longest wait for a name, and longest wait for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// Longest life of an unused connection between two requests.
const IDLE_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait for the body of an error.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);
/// Most bytes of an error's body.
const ERROR_BODY_LIMIT: usize = 64 << 10;
/// How much of a stream is read at once.
const READ_SIZE: usize = 64 << 10;
/// How much of a request is written at once.
const WRITE_SIZE: usize = 16 << 10;

/// A turn's connection to one server.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    agent: Agent,
    /// Host and port, for messages.
    host: String,
    /// The variable that names the proxy in use.
    proxy: Option<&'static str>,
}

/// A dialect's side of an event stream.
pub(super) trait Decoder {
    /// Takes the data of one event. Breaks at the dialect's terminal frame.
    fn frame(&mut self, data: &str, sink: &mut dyn Sink) -> Result<Flow, Failure>;

    /// Whether all of the reply is there although the body ended without the terminal frame.
    fn may_end(&self) -> bool;

    /// The stream is complete: hands on what was held back, and [`StreamEvent::Done`].
    fn finish(&mut self, sink: &mut dyn Sink);
}

impl Connection {
    pub(super) fn new(context: &Context, base_url: &str) -> Result<Self, Failure> {
        let uri = base_url.parse::<Uri>().ok().filter(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.host().is_some_and(|host| !host.is_empty())
        });
        let Some(uri) = uri else {
            let text = format!(
                "`{}` is no http or https address - correct `base_url`",
                route::safe_url(base_url)
            );
            return Err(route::unusable(text));
        };
        let via = route::proxy(context.env(), &uri)?;
        let https_proxy = via
            .as_ref()
            .is_some_and(|via| via.proxy.uri().scheme_str() == Some("https"));
        // A limit on the look-up costs a thread, and an address needs none.
        let looked_up = via.is_some() || !is_address(&uri);
        let mut config = Agent::config_builder()
            .user_agent(concat!("e/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(via.as_ref().map(|via| via.proxy.clone()))
            .timeout_resolve(looked_up.then_some(CONNECT_LIMIT))
            .input_buffer_size(READ_SIZE)
            .output_buffer_size(WRITE_SIZE)
            .timeout_connect(Some(CONNECT_LIMIT))
            .max_idle_age(IDLE_LIMIT);
        if https_proxy || uri.scheme_str() == Some("https") {
            config = config.tls_config(TlsConfig::builder().root_certs(context.roots()?).build());
        }
        let host = host_of(&uri);
        Ok(Self {
            agent: config.build().into(),
            host,
            proxy: via.map(|via| via.variable),
        })
    }

    /// Closes every socket and refuses new requests.
    pub(super) fn shutdown(&self) {
        self.agent.clone().shutdown();
    }

    /// Sends a JSON body and waits for a good response head. Errors come with their body read.
    pub(super) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response<Body>, Failure> {
        let mut request = self
            .agent
            .post(url)
            .header("content-type", "application/json")
            .header("accept", "text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send(body).map_err(|error| self.failure(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let head = head_of(&response);
        if status.is_redirection() {
            let target = response
                .headers()
                .get("location")
                .and_then(|value| value.to_str().ok());
            return Err(error::redirect(
                head,
                &self.host,
                &self.target_host(target.unwrap_or("")),
            ));
        }
        let body = bounded_text(response.into_body().into_reader(), Vec::new());
        Err(error::from_status(head, &body))
    }

    /// Reads an event stream to its end.
    pub(super) fn read(
        &self,
        response: Response<Body>,
        decoder: &mut dyn Decoder,
        sink: &mut dyn Sink,
    ) -> Result<(), Failure> {
        let head = head_of(&response);
        sink.push(StreamEvent::Opened {
            status: head.status,
            request_id: head.request_id,
        });
        pump(
            response.into_body().into_reader(),
            &self.host,
            decoder,
            sink,
        )
    }

    /// What an error before the response head means.
    fn failure(&self, error: &ureq::Error) -> Failure {
        let host = &self.host;
        let text = error.to_string();
        let (cause, stage, message) = match error {
            ureq::Error::HostNotFound => (
                Cause::Network,
                Stage::Request,
                format!("there is no host `{host}`, or no name service to ask"),
            ),
            ureq::Error::Timeout(_) => (
                Cause::Network,
                Stage::Request,
                format!("no connection to `{host}` within 30 s"),
            ),
            ureq::Error::ConnectProxyFailed(reason) => (
                Cause::Network,
                Stage::Request,
                format!(
                    "the proxy refused to CONNECT to `{host}`: {}",
                    reason.rsplit('/').next().unwrap_or(reason)
                ),
            ),
            ureq::Error::Http(_) | ureq::Error::BadUri(_) => (
                Cause::Rejected,
                Stage::Request,
                format!(
                    "the request to `{host}` cannot be built - check `base_url` for stray characters"
                ),
            ),
            _ if text.contains("certificate") || text.contains("CertificateError") => (
                Cause::Network,
                Stage::Request,
                certificate_text(host, &text),
            ),
            ureq::Error::Io(io) if is_lost(io.kind()) => (
                Cause::Stalled,
                Stage::ResponseHeaders,
                format!("`{host}` closed the connection without an answer"),
            ),
            ureq::Error::Io(io) => {
                let reason = crate::error::io_text(io);
                (
                    Cause::Network,
                    Stage::Request,
                    format!("cannot connect to `{host}`: {reason}"),
                )
            }
            ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => (
                Cause::Network,
                Stage::ResponseHeaders,
                format!("`{host}` does not answer in HTTP as it should"),
            ),
            _ => (
                Cause::Network,
                Stage::Request,
                format!("cannot connect to `{host}`: {text}"),
            ),
        };
        let message = match self.proxy {
            Some(variable) if cause == Cause::Network => format!(
                "{message} (by the proxy of `{variable}`) - correct it, or name the host in `NO_PROXY`"
            ),
            _ => message,
        };
        let mut failure = Failure::new(cause, stage, message);
        failure.detail = clip_chars(&format!("{}\n{text}", failure.message), 4_096);
        failure
    }

    fn target_host(&self, location: &str) -> String {
        match location.parse::<Uri>() {
            Ok(uri) if uri.host().is_some() => match uri.scheme_str() {
                Some(scheme) => format!("{scheme}://{}", host_of(&uri)),
                None => host_of(&uri),
            },
            Ok(_) => format!("{}{}", self.host, route::safe_url(location)),
            Err(_) => "an unreadable address".to_owned(),
        }
    }
}

/// Reads the body of an event stream to its end, or to the dialect's terminal frame.
pub(super) fn pump<R: Read + Send + 'static>(
    mut reader: R,
    host: &str,
    decoder: &mut dyn Decoder,
    sink: &mut dyn Sink,
) -> Result<(), Failure> {
    let mut parser = Parser::default();
    let mut buffer = vec![0; READ_SIZE];
    let mut begun = false;
    loop {
        if !sink.flush() {
            return Ok(());
        }
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => {
                let mut failure = error::cut_stream(format!("the connection to `{host}` was lost"));
                failure.detail = format!("{}: {error}", failure.message);
                return Err(failure);
            }
        };
        let chunk = &buffer[..count];
        if !begun {
            // No line of an event stream starts like this, but JSON and HTML do.
            match chunk.trim_ascii_start().first() {
                Some(b'{' | b'[' | b'<') => {
                    return Err(error::not_a_stream(&bounded_text(reader, chunk.to_vec())));
                }
                Some(_) => begun = true,
                None => {}
            }
        }
        if parser
            .feed(chunk, &mut |data| decoder.frame(data, sink))?
            .is_break()
        {
            decoder.finish(sink);
            sink.flush();
            // The connection can be used again only when the body was read to its end.
            while matches!(reader.read(&mut buffer), Ok(1..)) {}
            return Ok(());
        }
    }
    let ended = parser
        .finish(&mut |data| decoder.frame(data, sink))?
        .is_break();
    if !ended && !decoder.may_end() {
        return Err(error::cut_stream(format!(
            "`{host}` ended the stream before the reply was complete"
        )));
    }
    decoder.finish(sink);
    sink.flush();
    Ok(())
}

/// Whether the host is an address, not a name.
fn is_address(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or("");
    host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

fn host_of(uri: &Uri) -> String {
    let host = uri.host().unwrap_or("");
    uri.port_u16()
        .map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

fn head_of(response: &Response<Body>) -> Head {
    let status = response.status();
    Head::new(
        status.as_u16(),
        status.canonical_reason().unwrap_or(""),
        |name| response.headers().get(name)?.to_str().ok(),
    )
}

/// Whether an error can only come from a connection that was made.
fn is_lost(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::*;
    matches!(
        kind,
        UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe
    )
}

/// Says what is wrong with a certificate. The library spells some problems as words and some as
/// names of its own.
fn certificate_text(host: &str, text: &str) -> String {
    let plain = text.to_lowercase().replace(' ', "");
    let known = [
        (
            "unknownissuer",
            "its issuer is not known here - name more authorities in `SSL_CERT_FILE`",
        ),
        ("causedasendentity", "it is an authority's, not a server's"),
        (
            "notvalidforname",
            "it is for another host - check `base_url`",
        ),
        ("notvalidyet", "it is not valid yet - check the clock"),
        ("expired", "it has expired - or the clock is wrong"),
        ("revoked", "it was revoked"),
    ];
    let problem = known
        .iter()
        .find(|(part, _)| plain.contains(part))
        .map_or(text, |(_, problem)| problem);
    format!("the certificate of `{host}` is not accepted: {problem}")
}

/// Reads what is left of a short body, bounded in size and time. The reading thread is left
/// behind when time is up; closing the lane ends it.
fn bounded_text(mut reader: impl Read + Send + 'static, mut bytes: Vec<u8>) -> String {
    let (sender, receiver) = bounded::<Vec<u8>>(1);
    let spawned = std::thread::Builder::new()
        .name("error-body".to_owned())
        .spawn(move || {
            let mut buffer = [0; 8 << 10];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
    if spawned.is_ok() {
        let deadline = Instant::now() + ERROR_BODY_WAIT;
        while bytes.len() < ERROR_BODY_LIMIT {
            match receiver.recv_deadline(deadline) {
                Ok(more) => bytes.extend_from_slice(&more),
                Err(_) => break,
            }
        }
    }
    bytes.truncate(ERROR_BODY_LIMIT);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_problems_in_words() {
        for (text, part) in [
            (
                "io: invalid peer certificate: UnknownIssuer",
                "SSL_CERT_FILE",
            ),
            (
                "invalid peer certificate: certificate not valid for name \"h\"",
                "another host",
            ),
            (
                "invalid peer certificate: certificate expired: verification time 1",
                "expired",
            ),
            ("invalid peer certificate: NotValidYet", "not valid yet"),
            (
                "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
                "authority",
            ),
            ("invalid peer certificate: BadEncoding", "BadEncoding"),
        ] {
            let message = certificate_text("h", text);
            assert!(
                message.contains("`h`") && message.contains(part),
                "{message}"
            );
        }
    }
}
