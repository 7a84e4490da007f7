//! One turn's way to its model: the connection that its requests share, and the switch that
//! closes it.

use std::sync::{Arc, Mutex};

use super::http::Connection;
use super::{
    Cause, Context, Dialect, Failure, Model, Request, Secret, Sink, Stage, StreamEvent, anthropic,
    completions, offline,
};
use crate::sys::cancel::{CancelToken, Canceller, cancel_pair};
use crate::sys::lock;

/// What the requests of one turn share. Clones are the same lane: a worker streams on one, and
/// the owner of the turn keeps another to shut it down.
///
/// The owner shuts it down when the turn is over, too: a thread may still wait there for a
/// server that does not close its side.
#[derive(Clone, Debug)]
pub struct Lane {
    context: Context,
    /// `None` for the offline provider.
    connection: Option<Connection>,
    stop: Arc<Mutex<Option<Canceller>>>,
    stopped: CancelToken,
}

impl Lane {
    /// Gets ready to talk to a model's server, without talking to it yet.
    pub fn new(context: &Context, model: &Model) -> Result<Self, Failure> {
        if !model.dialect.is_spoken() {
            return Err(unspoken(model.dialect));
        }
        let connection = match model.dialect {
            Dialect::Offline => None,
            _ => Some(Connection::new(context, &model.base_url)?),
        };
        let (stop, stopped) = cancel_pair();
        Ok(Self {
            context: context.clone(),
            connection,
            stop: Arc::new(Mutex::new(Some(stop))),
            stopped,
        })
    }

    /// Closes the connection. A request that waits for its server ends at once with a failure,
    /// and so does every later one. Name look-up and connecting go on for up to 30 s; the thread
    /// that does it is best left behind.
    pub fn shutdown(&self) {
        lock(&self.stop).take();
        if let Some(connection) = &self.connection {
            connection.shutdown();
        }
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Becomes ready when the lane is shut down.
    pub(super) fn stopped(&self) -> &CancelToken {
        &self.stopped
    }

    pub(super) fn connection(&self) -> Result<&Connection, Failure> {
        self.connection.as_ref().ok_or_else(interrupted)
    }
}

/// Runs one request to its end on the calling thread. The last event is `Done` or `Failed`,
/// unless the sink says that nobody listens.
///
/// It may return some time after the last event: it waits for the server to end the response,
/// so that the next request finds the connection free.
pub fn stream(lane: &Lane, request: &Request, sink: &mut dyn Sink) {
    match lane.context.recorder() {
        Some(recorder) => {
            let mut tee = recorder.tee(sink, request.key.as_ref());
            run(lane, request, &mut tee);
        }
        None => run(lane, request, sink),
    }
}

fn run(lane: &Lane, request: &Request, sink: &mut dyn Sink) {
    let outcome = match request.model.dialect {
        _ if !request.key.as_ref().is_none_or(fits_a_header) => Err(unusable_key(&request.model)),
        Dialect::Completions => completions::stream(lane, request, sink),
        Dialect::Anthropic => anthropic::stream(lane, request, sink),
        Dialect::Offline => offline::stream(lane, request, sink),
        Dialect::Responses | Dialect::Google => Err(unspoken(request.model.dialect)),
    };
    if let Err(mut failure) = outcome {
        if lane.stopped.is_cancelled() {
            failure = interrupted();
        }
        failure.redact_key(request.key.as_ref());
        super::route::redact_url(&mut failure, &request.model.base_url);
        failure.redact_user_info();
        sink.push(StreamEvent::Failed(Box::new(failure)));
        sink.flush();
    }
}

fn fits_a_header(key: &Secret) -> bool {
    key.0
        .trim()
        .bytes()
        .all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

fn unusable_key(model: &Model) -> Failure {
    let text = format!(
        "the key of `{}` holds a line break or a character that no key has - paste it again",
        model.provider
    );
    Failure::new(Cause::Auth, Stage::Authorization, text)
}

fn unspoken(dialect: Dialect) -> Failure {
    let text = format!("this build does not speak `{}` yet", dialect.name());
    Failure::new(Cause::Rejected, Stage::Request, text)
}

pub(super) fn interrupted() -> Failure {
    Failure::new(
        Cause::Network,
        Stage::Request,
        "the request was interrupted",
    )
}
