//! What all requests of a process share, loaded when first needed and never before.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use ureq::tls::RootCerts;

use super::offline::Script;
use super::record::Recorder;
use super::{Failure, Model, route};
use crate::sys::{Env, lock};

/// Proxies, certificates, what was learned about servers. Cheap to make and to clone.
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
}

struct Shared {
    env: Env,
    roots: OnceLock<Result<RootCerts, Failure>>,
    refused: Mutex<HashSet<(String, Field)>>,
    script: OnceLock<Result<Script, Failure>>,
    played: Mutex<HashMap<String, usize>>,
    recorder: Option<Recorder>,
}

/// A request field that not every server takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Field {
    /// `stream_options`.
    StreamOptions,
    /// `reasoning_effort` at this level.
    Effort(String),
}

impl Context {
    /// A context that looks everything up in this environment.
    pub fn new(env: &Env) -> Self {
        Self {
            shared: Arc::new(Shared {
                env: env.clone(),
                roots: OnceLock::new(),
                refused: Mutex::default(),
                script: OnceLock::new(),
                played: Mutex::default(),
                recorder: env.path("E_RECORD").map(Recorder::new),
            }),
        }
    }

    pub(super) fn env(&self) -> &Env {
        &self.shared.env
    }

    /// The certificates to trust, read once.
    pub(super) fn roots(&self) -> Result<RootCerts, Failure> {
        self.shared
            .roots
            .get_or_init(|| route::root_certificates(self.env()))
            .clone()
    }

    /// The script of `offline/script`, read once.
    pub(super) fn script(&self) -> Result<&Script, Failure> {
        self.shared
            .script
            .get_or_init(|| Script::load(self.env()))
            .as_ref()
            .map_err(Failure::clone)
    }

    /// Counts a request of this session to `offline/script`: 0 for the first.
    pub(super) fn next_step(&self, session: &str) -> usize {
        let mut played = lock(&self.shared.played);
        let count = played.entry(session.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// The recorder that `E_RECORD` asks for.
    pub(super) fn recorder(&self) -> Option<&Recorder> {
        self.shared.recorder.as_ref()
    }

    /// Whether this model's server refused a field before.
    pub(super) fn is_refused(&self, model: &Model, field: &Field) -> bool {
        lock(&self.shared.refused).contains(&(server(model), field.clone()))
    }

    /// Remembers for the rest of the process that it did.
    pub(super) fn refuse(&self, model: &Model, field: Field) {
        lock(&self.shared.refused).insert((server(model), field));
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment holds keys.
        f.write_str("Context(…)")
    }
}

fn server(model: &Model) -> String {
    format!("{}\n{}\n{}", model.provider, model.base_url, model.id)
}
