//! Opening sessions: trust first, then what the settings and the command line ask for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::account::Why;
use super::deaf::Deaf;
use super::queue::Queue;
use super::submit::Line;
use super::{App, Done, Effect, Opened, Surface, Turn, transcript_options};
use crate::agent::{
    self, Choice, Input, Origin, Past, Process, Reason, RequestId, Selection, SessionKey,
    SessionSpec, Toolset,
};
use crate::chat::{Message, Voice};
use crate::config::Trust;
use crate::config::build::VERSION;
use crate::config::trust::{self, Decision};
use crate::error::{Error, Kind, Result};
use crate::tui::transcript::Transcript;
use crate::tui::view::trust as panel;

/// What the banner says behind the version.
const HELP: &str = "/help for commands";

/// What trust lets e load.
const LOADS: &str = "Trusting it lets e load the instructions, skills and prompts that the repository carries.\n\
Tools run with your permissions either way: trust is not a sandbox.";

/// Why nothing is recorded.
const HOLDS_HOME: &str =
    "It holds your home directory, so the answer is not recorded. Projects are better places.";

/// The session that is on the screen.
#[derive(Debug)]
pub struct Session {
    /// What the core calls it.
    pub key: SessionKey,
    /// Its id, in whose place a log has another after a fork.
    pub id: String,
    pub workspace: PathBuf,
    pub selection: Selection,
    pub name: Option<String>,
    /// Its log, once it is known.
    pub log: Option<PathBuf>,
    /// It could not be saved, and the person knows.
    pub is_given_up: bool,
    /// The tokens of the newest request, for the share of the window that is used.
    pub context_tokens: u64,
    pub turn: Option<Turn>,
    /// The command that runs between turns.
    pub shell: Option<Turn>,
    /// What the turn or the command was begun with, until the core has begun with it.
    pub asked: Option<Asked>,
}

impl Session {
    /// One that begins with this.
    pub fn new(key: SessionKey, spec: &SessionSpec, past: &Past) -> Self {
        Self {
            key,
            workspace: spec.workspace.clone(),
            selection: spec.selection.clone(),
            name: past.name.clone(),
            log: past.log.as_ref().map(|log| log.path().to_path_buf()),
            id: spec.id.clone(),
            is_given_up: false,
            context_tokens: past.context_tokens,
            turn: None,
            shell: None,
            asked: None,
        }
    }
}

/// A line on its way to the core, which refuses it when something runs that is not known here yet.
#[derive(Debug)]
pub struct Asked {
    pub request: RequestId,
    pub line: Line,
}

impl App {
    /// The first step: asks for trust, or opens a session.
    pub fn start(&mut self) {
        // A session that is resumed has none.
        self.awaits_banner = self.options.resume_picker || self.options.resume_newest;
        if self.layout.banner && !self.awaits_banner {
            self.transcript.push_banner(VERSION, HELP);
        }
        let warnings = std::mem::take(&mut self.warnings);
        self.warn(warnings);
        let (trust, warnings) = Trust::load(&self.process.home, self.process.trusted.clone());
        self.warn(warnings);
        match trust.decision(&self.cwd) {
            Decision::Trusted => self.begin(),
            Decision::Declined => match trust.check(&self.cwd) {
                Err(error) => self.refuse(error),
                Ok(()) => self.begin(),
            },
            Decision::Unasked => {
                let broader = self.broader();
                let path = self.cwd.to_string_lossy();
                let broader = broader.as_deref().map(|path| path.to_string_lossy());
                let lasts = trust::may_last(&self.process.env, &self.cwd);
                let loads = match lasts {
                    true => LOADS.to_owned(),
                    false => format!("{LOADS}\n{HOLDS_HOME}"),
                };
                let asks = panel::Trust::new(&path, broader.as_deref(), &loads, lasts);
                self.surface = Some(Surface::Trust(asks));
                self.deaf = Deaf::Unseen;
            }
        }
    }

    fn refuse(&mut self, error: Error) {
        self.farewell = Some(error.to_string());
        self.effects.push(Effect::Quit(1));
    }

    /// The directory above that may be trusted instead: the top-most one below the person's home,
    /// else the parent, unless that is the root.
    pub(super) fn broader(&self) -> Option<PathBuf> {
        let home = self.process.env.path("HOME");
        if let Some(rest) = home
            .as_deref()
            .and_then(|home| self.cwd.strip_prefix(home).ok())
        {
            let first = rest.components().next()?;
            let top = home?.join(first);
            return Some(top).filter(|top| *top != self.cwd);
        }
        let parent = self.cwd.parent()?;
        trust::may_last(&self.process.env, parent).then(|| parent.to_path_buf())
    }

    /// The question about trust is answered.
    pub(super) fn trust_decided(&mut self, decision: panel::Decision) {
        let directory = match decision {
            panel::Decision::Quit => return self.refuse(trust::refusal(&self.cwd)),
            panel::Decision::Here => self.cwd.clone(),
            panel::Decision::Broader => self.broader().unwrap_or_else(|| self.cwd.clone()),
        };
        self.surface = None;
        if trust::may_last(&self.process.env, &directory) {
            match trust::record(&self.process.home, &self.process.env, &directory, true) {
                Ok(warnings) => {
                    self.warn(warnings);
                    return self.begin();
                }
                Err(error) => self.warn(vec![format!(
                    "this directory is trusted until e ends, no longer: {error}"
                )]),
            }
        }
        self.process = Arc::new(Process {
            trusted: Some(directory),
            ..(*self.process).clone()
        });
        self.begin();
    }

    /// Opens the first session, as the command line asks for it.
    pub(super) fn begin(&mut self) {
        if self.options.resume_picker {
            self.awaits_pick = true;
            self.list_sessions()
        } else if self.options.resume_newest {
            self.resume_newest()
        } else {
            self.open(Reason::Startup)
        }
    }

    pub(super) fn open(&mut self, reason: Reason) {
        let (process, choice) = (self.process.clone(), self.choice());
        let transcript = Transcript::new(transcript_options(&self.settings));
        self.is_opening = true;
        self.task(move || {
            let mut warnings = Vec::new();
            let spec = process.open(choice, &mut warnings);
            Done::Opened(spec.map(|spec| {
                Box::new(Opened {
                    spec,
                    past: Past::default(),
                    transcript,
                    warnings,
                    reason,
                })
            }))
        })
    }

    pub(super) fn choice(&self) -> Choice {
        Choice {
            workspace: self.workspace().to_path_buf(),
            model: self.options.model.clone(),
            effort: self.options.effort.clone(),
            tools: match self.options.no_tools {
                true => Toolset::none(),
                false => Toolset::all(),
            },
            save: !self.options.no_save,
        }
    }

    /// A session can begin, in the place of the one before.
    pub(super) fn opened(&mut self, opened: Result<Box<Opened>>) {
        self.is_opening = false;
        let Opened {
            spec,
            past,
            mut transcript,
            warnings,
            reason,
        } = match opened {
            Ok(opened) => *opened,
            Err(error) => return self.not_opened(&error),
        };
        let awaits_banner = std::mem::take(&mut self.awaits_banner) && reason == Reason::Startup;
        if self.layout.banner && (awaits_banner || reason == Reason::New) {
            transcript.push_banner(VERSION, HELP);
        }
        match self.session.is_some() {
            true => self.transcript.replace(transcript),
            false => self.transcript.begin(transcript),
        }
        self.warn(warnings);
        self.close(Some(reason));
        if reason == Reason::Resume {
            self.composer.complete_history(said(&past));
        }
        let key = self.next_session();
        self.session = Some(Session::new(key, &spec, &past));
        let origin = Origin {
            reason,
            handle: None,
        };
        self.effects
            .push(Effect::Send(Input::Open(key, Arc::new(spec), past, origin)));
        // It was there before anything could be typed.
        let typed = std::mem::take(&mut self.submitted);
        if let Some(prompt) = self.held_prompt.take() {
            self.submit_first(prompt, Instant::now());
        }
        self.submitted.extend(typed);
        self.carry_out(Instant::now());
    }

    /// There is no such session: the present one goes on, else a fresh one is opened.
    fn not_opened(&mut self, error: &Error) {
        let why = error.to_string();
        if self.session.is_some() {
            self.transcript.push_error(&why);
            return self.carry_out(Instant::now());
        }
        // What was to be said to the other session is not said to a fresh one unasked.
        self.give_up_waiting(|_| true);
        if error.kind() == Kind::Usage {
            self.effects.push(Effect::Send(Input::NoSession));
            self.login(Why::Start(why));
            return self.carry_out(Instant::now());
        }
        self.transcript.push_error(&why);
        self.no_session = Some(why);
        let options = &mut self.options;
        let resumed = [&mut options.resume_newest, &mut options.resume_picker];
        if !resumed.into_iter().any(std::mem::take) {
            self.effects.push(Effect::Send(Input::NoSession));
            return self.carry_out(Instant::now());
        }
        if let Some(prompt) = self.held_prompt.take() {
            self.give_back([prompt]);
        }
        self.open(Reason::Startup);
    }

    /// Lets the session go. `next` is why another takes its place.
    pub(super) fn close(&mut self, next: Option<Reason>) {
        let Some(session) = self.session.take() else {
            return;
        };
        self.refuse_questions("the session is another one", Instant::now());
        self.queue = Queue::default();
        self.scroll.follow();
        let request = self.next_request();
        self.effects.push(Effect::Send(Input::Close {
            session: session.key,
            request,
            next,
        }));
        self.clear_shown();
    }
}

/// What the person said, as it was typed.
fn said(past: &Past) -> Vec<String> {
    let prompts = past
        .entries
        .iter()
        .filter_map(|entry| match &*entry.message {
            Message::User {
                content,
                voice: Voice::Prompt | Voice::Steered,
                ..
            } => Some(match agent::shell_parts(content) {
                Some((command, _)) => format!("!{command}"),
                None => content.clone(),
            }),
            _ => None,
        });
    prompts.collect()
}
