//! The start of a host, before there is a loop: the only part that waits for answers, each with a
//! deadline.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ending::skipped;
use super::{Failure, Host, HostEvent, Serves};
use crate::config::build::VERSION;
use crate::extension::child::{Child, Purpose, State};
use crate::extension::discover::Found;
use crate::extension::process::Link;
use crate::extension::registry::{Declared, Registry, Reserved};
use crate::extension::{AskId, CAPABILITIES, ExtensionId, PROTOCOL, Tap, Ticket};
use crate::sys::Env;

/// How long an extension has to answer `initialize`.
const INITIALIZE: Duration = Duration::from_secs(5);

/// What extensions are started with.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The programs, in declaration order.
    pub files: Vec<Found>,
    /// Their working directory.
    pub cwd: &'a Path,
    /// Their environment.
    pub env: &'a Env,
    /// What the settings hold under `extensions`.
    pub config: Value,
    /// What is served.
    pub serves: Serves,
    /// Sees every line.
    pub tap: Option<Tap>,
}

impl Host {
    /// Starts every program at once and greets it. Does not wait for any.
    pub fn launch(launch: Launch<'_>) -> Self {
        let mut host = Self::none();
        host.serves = launch.serves;
        let greeting = json!({
            "protocol": PROTOCOL,
            "capabilities": CAPABILITIES,
            "ui": launch.serves.has_ui(),
            "e_version": VERSION,
            "cwd": launch.cwd.to_string_lossy(),
            "extensions_config": launch.config,
        });
        for (index, found) in launch.files.into_iter().enumerate() {
            let (id, now) = (ExtensionId(index), Instant::now());
            let sender = &host.news.0;
            let link = Link::start(
                id,
                &found.path,
                launch.cwd,
                launch.env,
                sender,
                launch.tap.clone(),
            );
            let problem = link.as_ref().err().map(ToString::to_string);
            let mut child = Child::new(found.file_name, link.ok());
            if let Some(problem) = problem {
                host.out.push_back(skipped(&child.file, &problem));
            } else {
                child.request(
                    "initialize",
                    &greeting,
                    Purpose::Initialize,
                    INITIALIZE,
                    now,
                );
            }
            host.children.push(child);
        }
        host
    }

    /// Waits until every extension has answered `initialize` or lost its chance, then settles who
    /// owns which name.
    pub fn wait_until_ready(&mut self, reserved: &Reserved<'_>) {
        while self
            .children
            .iter()
            .any(|child| child.state == State::Starting)
        {
            self.wait();
        }
        let children = self.children.iter().enumerate();
        let declared: Vec<Declared<'_>> = children
            .filter_map(|(index, child)| {
                Some(Declared {
                    id: ExtensionId(index),
                    file_name: &child.file,
                    manifest: child.manifest.as_ref()?,
                })
            })
            .collect();
        let (registry, notices) = Registry::new(&declared, reserved);
        self.registry = Arc::new(registry);
        self.out.extend(notices.into_iter().map(HostEvent::Notice));
    }

    /// Waits for what this extension answers to a call, before there is a loop. Its own requests are
    /// refused: nobody could answer them, and its answer may wait for theirs.
    pub fn wait_for(&mut self, from: ExtensionId, ticket: Ticket) -> Result<Value, Failure> {
        loop {
            let is_it =
                |event: &HostEvent| matches!(event, HostEvent::Answered(one, _) if *one == ticket);
            if let Some(at) = self.out.iter().position(is_it) {
                match self.out.remove(at) {
                    Some(HostEvent::Answered(_, result)) => return result,
                    _ => return Err(Failure::Gone),
                }
            }
            let asked: Vec<AskId> = self.asked_by(from).collect();
            for ask in asked {
                self.answer(
                    ask,
                    Err("e is starting and nobody can answer yet".into()),
                    Instant::now(),
                );
            }
            let is_its =
                |event: &HostEvent| matches!(event, HostEvent::Asked(asked) if asked.from == from);
            self.out.retain(|event| !is_its(event));
            self.wait();
        }
    }

    /// Waits for news or for the next deadline, and acts on it.
    pub fn wait(&mut self) {
        let news = match self.deadline() {
            Some(at) => self.news.1.recv_deadline(at).ok(),
            // Whatever is waited for has a deadline; this is for what has just been settled.
            None => self.news.1.try_recv().ok(),
        };
        let now = Instant::now();
        if let Some(news) = news {
            self.on_news(news, now);
        }
        // One that floods does not keep the time of the others from running out.
        self.on_deadline(now);
    }
}
