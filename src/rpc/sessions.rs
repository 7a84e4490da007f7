//! The sessions of the process: what each is, and what is asked of it, in the order it came.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::jobs::{Done, Size};
use super::methods::{Create, SHOWN, SessionCall};
use super::server::{Open, Server, Setting};
use super::wire::Id;
use crate::agent::{
    Choice, Input, Limits, Origin, Past, Prompt, Reason, Selection, SessionKey, SessionSpec,
    Toolset, Want, read_images,
};
use crate::chat::Image;
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::provider::{Catalog, Model};
use crate::session::{self, Record};
use crate::text::one_line;
use crate::wire::{self, Tag};

/// A session, as far as the server knows it; the rest is the core's.
#[derive(Debug)]
pub struct Session {
    /// What clients call it.
    pub handle: String,
    /// Its directory.
    pub workspace: PathBuf,
    /// What answers from the next turn on.
    pub selection: Selection,
    /// Its name.
    pub name: Option<String>,
    /// What each of its turns may use up.
    limits: Limits,
    queue: Queue,
}

/// Requests of one session, which are served in the order they came.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(Id, SessionCall)>,
    /// A job or a change of its selection is on its way; the next request needs its outcome.
    busy: bool,
    /// Interrupts that are not answered yet.
    interrupts: usize,
}

/// Everything that a session begins with.
pub struct Created {
    /// What the core is given.
    pub spec: SessionSpec,
    /// What it goes on from.
    pub past: Past,
    /// What each of its turns may use up.
    pub limits: Limits,
}

/// Looks for what a new session needs. Reads files; for jobs.
pub fn create(setting: &Setting, wanted: Create) -> Result<Created> {
    let options = &setting.options;
    let mut tools = options.tools();
    if wanted.no_tools {
        tools = Toolset::none();
    }
    if let Some(names) = wanted.tools {
        tools = tools.narrowed(Toolset::only(names)?);
    }
    let mut warnings = Vec::new();
    let choice = Choice {
        workspace: setting.cwd.join(wanted.cwd.unwrap_or_default()),
        model: wanted.model.or_else(|| options.model.clone()),
        effort: wanted.effort.or_else(|| options.effort.clone()),
        tools,
        save: wanted.save && !options.no_save,
    };
    let opened = setting.process.open(choice, &mut warnings);
    let mut spec = opened.map_err(|error| explained(error, &warnings))?;
    let limits = options.limits.narrowed(wanted.limits);
    check_price(limits, &spec.selection.model)?;
    let mut past = Past::default();
    if let Some(path) = wanted.resume {
        let (resumed, id, warnings) = setting
            .process
            .resume(&setting.cwd.join(path), spec.saves())?;
        past = resumed;
        spec = spec.resumed(id, &past);
        spec.warnings.extend(warnings);
    }
    if let Some(name) = wanted.name {
        if let Some(log) = past
            .log
            .as_mut()
            .filter(|_| past.name.as_ref() != Some(&name))
        {
            log.append(&Record::Name(name.clone()))?;
        }
        past.name = Some(name);
    }
    Ok(Created { spec, past, limits })
}

impl Setting {
    /// The images of a prompt, named from the session's directory.
    pub fn images(&self, paths: &[PathBuf], workspace: &Path, model: &Model) -> Result<Vec<Image>> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| workspace.join(path)).collect();
        read_images(&paths, model)
    }

    /// The answer to `models.list`.
    pub fn models(&self) -> Value {
        let (settings, _) = Settings::load(&self.process.home);
        let catalog = Catalog::load(self.process.home.dir(), &self.process.env);
        wire::models(&catalog, &settings)
    }

    /// The answer to `session.list`.
    pub fn list(&self, cwd: Option<PathBuf>, all: bool) -> Result<Value> {
        let cwd = self.cwd.join(cwd.unwrap_or_default());
        let listed = session::list(&self.process.home, Some(cwd.as_path()).filter(|_| !all))?;
        let sessions: Vec<Value> = listed
            .iter()
            .map(|one| {
                let mut row = json!({
                    "path": one.path.to_string_lossy(),
                    "title": one.name.as_ref().unwrap_or(&one.title),
                    "name": one.name,
                    "modified": one.modified_ms,
                    "messages": one.messages,
                    "turns": one.turns,
                    "cwd": one.cwd,
                });
                if let Some(damage) = &one.damage {
                    row["damage"] = damage.as_str().into();
                }
                row
            })
            .collect();
        Ok(json!({"sessions": sessions}))
    }
}

impl Server {
    /// Begins to make a session.
    pub fn create(&mut self, id: Id, wanted: Create) {
        let setting = self.setting.clone();
        let work = move || create(&setting, wanted).map(Box::new);
        let done = move |created| Done::Created(id, created);
        self.jobs.add(Size::Small, work, done);
    }

    /// Makes the session that was looked for.
    pub fn created(&mut self, id: Id, created: Result<Box<Created>>) {
        let Created { spec, past, limits } = match created {
            Ok(created) => *created,
            Err(error) => return self.refuse(id, &error),
        };
        let session = Session {
            handle: Uuid::now_v7().to_string(),
            workspace: spec.workspace.clone(),
            selection: spec.selection.clone(),
            name: past.name.clone(),
            limits,
            queue: Queue::default(),
        };
        let log = past.log.as_ref().map(|log| log.path().to_string_lossy());
        let answer = json!({
            "session": session.handle,
            "model": session.selection.model.slug(),
            "effort": session.selection.effort,
            "cwd": session.workspace.to_string_lossy(),
            "path": log,
        });
        let key = self.next_session();
        let origin = Origin {
            reason: match past.entries.is_empty() && past.log.is_none() {
                true => Reason::New,
                false => Reason::Resume,
            },
            handle: Some(session.handle.clone()),
        };
        self.send(Input::Open(key, Arc::new(spec), past, origin));
        self.add_session(key, session);
        self.answer(id, &answer);
    }

    /// Makes a session known to the client.
    pub fn add_session(&mut self, key: SessionKey, session: Session) {
        self.handles.insert(session.handle.clone(), key);
        self.sessions.insert(key, session);
    }

    /// Takes a request of a session; it is served when those before it allow.
    pub fn session_call(&mut self, id: Id, handle: &str, call: SessionCall) {
        let key = self.handles.get(handle).copied();
        match key.and_then(|key| Some((key, self.sessions.get_mut(&key)?))) {
            Some((key, session)) => {
                session.queue.waiting.push_back((id, call));
                self.serve(key);
            }
            None => self.refuse(id, &unknown(handle)),
        }
    }

    /// Serves what waits in a session, as far as it can be.
    pub fn serve(&mut self, key: SessionKey) {
        while let Some(session) = self.sessions.get_mut(&key) {
            let queue = &mut session.queue;
            let waits = match queue.waiting.front() {
                None => return,
                // The core forks idle sessions only, and this one is about to be.
                Some((_, SessionCall::Fork)) => queue.busy || queue.interrupts > 0,
                Some(_) => queue.busy,
            };
            if waits {
                return;
            }
            if let Some((id, call)) = queue.waiting.pop_front() {
                self.carry_out(key, id, call);
            }
        }
    }

    /// What a session waited for has come.
    pub fn free(&mut self, key: SessionKey) {
        if let Some(session) = self.sessions.get_mut(&key) {
            session.queue.busy = false;
        }
        self.serve(key);
    }

    /// An interrupt of a session was answered.
    pub fn interrupted(&mut self, key: SessionKey) {
        if let Some(session) = self.sessions.get_mut(&key) {
            session.queue.interrupts -= 1;
        }
        self.serve(key);
    }

    /// Stops whatever runs in a session; nobody is told.
    pub fn stop(&mut self, session: SessionKey) {
        self.ask(session, Want::Interrupt, Open::Nobody);
    }

    /// Refuses what waits in sessions: the process is ending.
    pub fn refuse_waiting(&mut self) {
        let waiting: Vec<(Id, SessionCall)> = self
            .sessions
            .values_mut()
            .flat_map(|session| std::mem::take(&mut session.queue.waiting))
            .collect();
        for (id, _) in waiting {
            self.refuse_ending(id);
        }
    }

    fn carry_out(&mut self, key: SessionKey, id: Id, call: SessionCall) {
        let Some(session) = self.sessions.get_mut(&key) else {
            return;
        };
        match call {
            SessionCall::Info => self.ask(key, Want::Info, Open::Info(id, key)),
            SessionCall::Messages => self.ask(key, Want::Messages, Open::Messages(id)),
            SessionCall::Export { path } => {
                self.ask(key, Want::Messages, Open::Export(id, key, path));
            }
            SessionCall::Prompt {
                text,
                images,
                limits,
            } => {
                let limits = session.limits.narrowed(limits);
                let prompt = Prompt::typed(text);
                if images.is_empty() {
                    return self.prompt(id, key, limits, Ok(prompt));
                }
                session.queue.busy = true;
                let setting = self.setting.clone();
                let model = session.selection.model.clone();
                let workspace = session.workspace.clone();
                let work = move || {
                    let images = setting.images(&images, &workspace, &model)?;
                    Ok(Prompt { images, ..prompt })
                };
                let done = move |prompt| Done::Prompt(id, key, limits, prompt);
                self.jobs.add(Size::Small, work, done);
            }
            SessionCall::Steer(text) => {
                self.ask(key, Want::Steer(text), Open::Steer(id));
            }
            SessionCall::Interrupt => {
                session.queue.interrupts += 1;
                self.ask(key, Want::Interrupt, Open::Interrupt(id, key));
            }
            SessionCall::Compact { focus } => {
                let tag = Tag::of(&session.handle, id.raw());
                let compact = Want::Compact {
                    focus,
                    during_turn: false,
                };
                self.ask(key, compact, Open::Turn(id, key, tag));
                self.stop_if_ending(key);
            }
            SessionCall::Set { model, effort } => {
                session.queue.busy = true;
                let setting = self.setting.clone();
                let (current, limits) = (session.selection.clone(), session.limits);
                let work = move || {
                    let selection = setting.process.select(&current, model.as_deref(), effort)?;
                    check_price(limits, &selection.model)?;
                    Ok(selection)
                };
                let done = move |selection| Done::Selected(id, key, selection);
                self.jobs.add(Size::Small, work, done);
            }
            SessionCall::Fork => {
                let forked = Session {
                    handle: Uuid::now_v7().to_string(),
                    workspace: session.workspace.clone(),
                    selection: session.selection.clone(),
                    name: session.name.clone(),
                    limits: session.limits,
                    queue: Queue::default(),
                };
                let handle = Some(forked.handle.clone());
                let fork = self.next_session();
                let request = self.open(Open::Fork(id, fork, Box::new(forked)));
                self.send(Input::Fork {
                    session: key,
                    request,
                    fork,
                    handle,
                    replaces: false,
                });
            }
            SessionCall::Close => {
                let handle = session.handle.clone();
                let waiting = std::mem::take(&mut session.queue.waiting);
                self.handles.remove(&handle);
                let request = self.open(Open::Close(id, key));
                self.send(Input::Close {
                    session: key,
                    request,
                    next: None,
                });
                for (id, _) in waiting {
                    self.refuse(id, &unknown(&handle));
                }
            }
        }
    }

    /// Goes on with a prompt whose images have been read.
    pub fn prompt_is_read(
        &mut self,
        id: Id,
        key: SessionKey,
        limits: Limits,
        prompt: Result<Prompt>,
    ) {
        self.prompt(id, key, limits, prompt);
        self.free(key);
    }

    /// Gives a selection that was looked up to the core.
    pub fn selected(&mut self, id: Id, session: SessionKey, selection: Result<Selection>) {
        let selection = match selection {
            Ok(selection) => selection,
            Err(error) => {
                self.refuse(id, &error);
                return self.free(session);
            }
        };
        // The session stays busy until the core has answered.
        let open = Open::Set(id, session, selection.clone());
        let configure = Want::Configure {
            selection,
            during_turn: false,
        };
        self.ask(session, configure, open);
    }

    fn prompt(&mut self, id: Id, key: SessionKey, limits: Limits, prompt: Result<Prompt>) {
        let Some(session) = self.sessions.get(&key) else {
            return self.refuse_ending(id);
        };
        let priced = check_price(limits, &session.selection.model);
        let prompt = match priced.and(prompt) {
            Ok(prompt) => prompt,
            Err(error) => return self.refuse(id, &error),
        };
        let tag = Tag::of(&session.handle, id.raw());
        self.ask(key, Want::Prompt(prompt, limits), Open::Turn(id, key, tag));
        self.stop_if_ending(key);
    }

    /// After the end of the input a turn that was asked for before is stopped as if it had run.
    fn stop_if_ending(&mut self, key: SessionKey) {
        if self.is_ending() {
            self.stop(key);
        }
    }

    fn ask(&mut self, session: SessionKey, want: Want, open: Open) {
        let request = self.open(open);
        self.send(Input::Want(session, request, want));
    }
}

/// What is wrong with the configuration is often why a session cannot be.
fn explained(error: Error, warnings: &[String]) -> Error {
    match warnings.is_empty() {
        true => error,
        false => {
            let message = format!("{error} ({})", warnings.join("; "));
            Error::failed(message).with_kind(error.kind())
        }
    }
}

fn unknown(handle: &str) -> Error {
    let shown = one_line(handle, Some(SHOWN));
    Error::usage(format!("unknown session `{shown}`"))
}

/// A limit in money needs a model with prices.
fn check_price(limits: Limits, model: &Model) -> Result<()> {
    if limits.cost_usd.is_none() || model.pricing.is_some() {
        return Ok(());
    }
    let message = format!("a cost limit needs prices, and `{}` has none", model.slug());
    Err(Error::usage(message).remedy("add `pricing` to models.json"))
}
