//! How sessions begin, end and take each other's place, and what extensions are told of it.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::action::{Saving, SessionEvent};
use super::event::{Answer, Origin, Reason, RequestId, SessionKey};
use super::exec::{self, Forking, Leaving, Workers};
use super::open::{Past, SessionSpec};
use super::runtime::Runtime;
use super::session::{Fork, Session};
use crate::config::Settings;
use crate::extension::{EventName, Host};

impl Runtime {
    /// Begins a session.
    pub(super) fn open(
        &mut self,
        key: SessionKey,
        spec: Arc<SessionSpec>,
        mut past: Past,
        origin: Origin,
    ) {
        self.handles
            .extend(origin.handle.map(|handle| (key, handle)));
        self.current = Some(key);
        let session = Session::new(spec.clone(), &mut past);
        let workers = Workers::new(key, spec, past.log, self.events.clone());
        self.sessions.insert(key, (session, workers));
        self.tell_start(key, origin.reason);
        self.serve_early();
    }

    fn tell_start(&mut self, key: SessionKey, reason: Reason) {
        let session = self.sessions.get(&key);
        let path = session.and_then(|(session, _)| session.conversation.log_path());
        let extra = json!({"reason": reason.name(), "path": path});
        self.tell(key, EventName::SessionStart, extra);
    }

    /// Tells extensions something about a session.
    fn tell(&mut self, key: SessionKey, event: EventName, mut extra: Value) {
        if let Some(handle) = self.handles.get(&key) {
            extra["session"] = handle.as_str().into();
        }
        self.extensions.tell(event, &extra, Instant::now());
    }

    /// Tells that a session is over, and why.
    pub(super) fn tell_shutdown(&mut self, key: SessionKey, reason: &str) {
        self.tell(key, EventName::SessionShutdown, json!({"reason": reason}));
        self.handles.remove(&key);
    }

    /// Ends a session. One whose place another takes is told off at once, before that is told on.
    pub(super) fn leave(
        &mut self,
        key: SessionKey,
        request: Option<RequestId>,
        next: Option<Reason>,
    ) {
        let is_told = next.is_some();
        self.leaving.insert(key, Leaving { request, is_told });
        if let Some(reason) = next {
            let why = "another session takes the place of this one";
            self.extensions.refuse_open(why, Instant::now());
            self.settle_extensions();
            self.tell_shutdown(key, reason.name());
        }
        self.let_go(key);
    }

    /// Begins a session with the history of another, once that is on the disk and copied.
    pub(super) fn fork(&mut self, session: SessionKey, wanted: Forking) {
        let forked = match self.sessions.get(&session) {
            Some((session, _)) => session.fork(),
            None => Err("unknown session".into()),
        };
        let fork = match forked {
            Err(why) => return self.answer(wanted.request, Answer::Refused(why)),
            Ok(fork) => fork,
        };
        if !fork.is_saved {
            return self.forked(wanted, fork.spec, fork.past);
        }
        let saving = Saving::Fork(wanted, Box::new(fork));
        self.step(session, SessionEvent::Save(saving));
    }

    /// Begins a fork once its history is on the disk, or cannot be.
    pub(super) fn copy_log(&mut self, session: SessionKey, wanted: Forking, fork: Fork) {
        if !fork.is_saved {
            return self.forked(wanted, fork.spec, fork.past);
        }
        let session = self.sessions.get(&session);
        let original = session.and_then(|(session, _)| session.conversation.log_path());
        let events = self.events.clone();
        if original.is_some_and(|original| exec::fork_log(wanted, fork, original, events)) {
            self.jobs += 1;
        } else {
            let why = "no thread could be started to copy the log";
            self.answer(wanted.request, Answer::Refused(why.into()));
        }
    }

    /// The log of a fork is there, where it has one.
    pub(super) fn forked(&mut self, wanted: Forking, spec: Arc<SessionSpec>, past: Past) {
        let path = past.log.as_ref().map(|log| log.path().to_path_buf());
        if let Some(original) = wanted.replaces {
            self.step(original, SessionEvent::Stop);
            self.leave(original, None, Some(Reason::Fork));
        }
        let origin = Origin {
            reason: Reason::Fork,
            handle: None,
        };
        self.open(wanted.fork, spec, past, origin);
        self.answer(wanted.request, Answer::Forked(path));
    }

    /// Lets the extensions go to whoever asked for it.
    pub(super) fn let_extensions_go(&mut self) {
        let sessions: Vec<SessionKey> = self.sessions.keys().copied().collect();
        let extra = json!({"reason": Reason::Reload.name()});
        for key in sessions {
            self.tell(key, EventName::SessionShutdown, extra.clone());
        }
        for request in std::mem::take(&mut self.letting_go) {
            self.extensions.let_go(Instant::now());
            self.settle_extensions();
            let host = self.extensions.replace(Host::none());
            self.answer(request, Answer::Extensions(Box::new(host)));
        }
        self.respec(|spec| spec.reloaded(spec.settings.clone(), Arc::default()));
    }

    /// Goes on with other extensions and settings.
    pub(super) fn extend(&mut self, request: RequestId, host: Host, settings: &Settings) {
        let registry = host.registry().clone();
        // There is none to be shut down: they were let go.
        self.extensions.replace(host);
        self.respec(|spec| spec.reloaded(settings.clone(), registry.clone()));
        self.answer(request, Answer::Done);
        let sessions: Vec<SessionKey> = self.sessions.keys().copied().collect();
        for key in sessions {
            self.tell_start(key, Reason::Reload);
        }
    }

    fn respec(&mut self, change: impl Fn(&SessionSpec) -> SessionSpec) {
        for (session, workers) in self.sessions.values_mut() {
            let spec = Arc::new(change(&session.conversation.spec));
            session.conversation.spec = spec.clone();
            workers.set_spec(spec);
        }
    }

    /// Ends a session that was closed, once its turn is over.
    pub(super) fn let_go(&mut self, key: SessionKey) {
        let idle = self
            .sessions
            .get(&key)
            .is_some_and(|(session, _)| !session.is_needed());
        if !idle || !self.leaving.contains_key(&key) {
            return;
        }
        if let (Some((_, workers)), Some(leaving)) =
            (self.sessions.remove(&key), self.leaving.remove(&key))
        {
            self.extensions.forget(key, Instant::now());
            if workers.end(key, leaving) {
                self.jobs += 1;
            } else {
                self.closed(key, leaving);
            }
        }
    }

    /// Nothing is left of a session.
    pub(super) fn closed(&mut self, key: SessionKey, leaving: Leaving) {
        if let Some(request) = leaving.request {
            self.answer(request, Answer::Done);
        }
        if !leaving.is_told {
            self.tell_shutdown(key, "quit");
        }
    }
}
