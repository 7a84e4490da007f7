//! Sessions as a whole: another one, a new one, a fork, a page of one, and what is done to one
//! between turns.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::pickers::Picks;
use super::reload::Reloaded;
use super::tree::Rewound;
use super::turn::Phase;
use super::{App, Done, Effect, Opened, Task, Turn, transcript_options};
use crate::agent::{
    self, Answer, Choice, Input, Past, Process, Query, Reason, RequestId, SessionKey,
};
use crate::chat::Message;
use crate::error::Result;
use crate::extension::Registry;
use crate::session::{self, Entry, Listed};
use crate::sys::clock;
use crate::text::one_line;
use crate::tools;
use crate::tui::transcript::{Options, Transcript};
use crate::tui::view::picker::{Item, Picker, Tab};

/// Sessions that the picker shows at a time.
const ROWS: usize = 12;

/// What the answer to a request is for.
#[derive(Debug)]
pub(super) enum Awaited {
    /// The session goes on under this key, and gets this name.
    Fork(SessionKey, Option<String>),
    /// The messages are written to this page.
    Export(PathBuf),
    /// The log of the session is looked through.
    Tree,
    /// The session is at an earlier place.
    Rewind(Box<Rewound>),
    Undo,
    /// The extensions are let go.
    LetGo,
    /// The core goes on with other extensions.
    Extend(Box<Reloaded>),
}

impl App {
    /// Whether a command may change the session now; tells why if not.
    pub(super) fn is_between_turns(&mut self) -> bool {
        let why = if self.is_opening {
            "a session is being opened - wait a moment"
        } else if self.session.is_none() {
            "there is no session yet"
        } else if self.is_busy() {
            "a turn is running - wait for it, or stop it with esc"
        } else {
            return true;
        };
        self.transcript.push_notice(why);
        false
    }

    /// Sends a request about the session whose answer is awaited.
    pub(super) fn request(
        &mut self,
        awaited: Awaited,
        input: impl FnOnce(SessionKey, RequestId) -> Input,
    ) -> Vec<Effect> {
        let Some(session) = self.session.as_ref().map(|session| session.key) else {
            return Vec::new();
        };
        let request = self.next_request();
        self.awaited.insert(request, awaited);
        vec![Effect::Send(input(session, request))]
    }

    /// `/resume`, and what `-r` begins with.
    pub(super) fn list_sessions(&mut self) -> Vec<Effect> {
        if self.session.is_some() && !self.is_between_turns() {
            return Vec::new();
        }
        let home = self.process.home.clone();
        self.look_up(move || Done::Sessions(session::list(&home, None)))
    }

    /// The sessions are known: one is chosen.
    pub(super) fn sessions_listed(&mut self, listed: Result<Vec<Listed>>) -> Vec<Effect> {
        let listed = match listed {
            Ok(listed) if !listed.is_empty() => listed,
            Ok(_) => {
                self.transcript
                    .push_notice("there is no session to go on with");
                return self.picker_closed();
            }
            Err(error) => {
                self.transcript.push_error(&error.to_string());
                return self.picker_closed();
            }
        };
        let here = self.workspace().to_string_lossy().into_owned();
        let now = clock::now_ms();
        let items: Vec<Item> = listed
            .iter()
            .map(|one| Item {
                tab: usize::from(one.cwd != here),
                ..item(one, &listed, now)
            })
            .collect();
        let tab = |name: &str, all| Tab {
            name: name.into(),
            all,
        };
        let tabs = vec![tab("This workspace", false), tab("All", true)];
        let open = usize::from(items.iter().all(|item| item.tab != 0));
        let picker = Picker::new("Sessions", items, ROWS).with_tabs(tabs, open);
        self.open_picker(picker, Picks::Sessions(listed));
        Vec::new()
    }

    pub(super) fn session_picked(&mut self, listed: Listed) -> Vec<Effect> {
        let current = self
            .session
            .as_ref()
            .and_then(|session| session.log.as_ref());
        if current == Some(&listed.path) {
            return self.tell("that is the session that is open");
        }
        if self.session.is_some() && !self.is_between_turns() {
            return Vec::new();
        }
        self.awaits_pick = false;
        self.is_opening = true;
        let opening = self.resuming();
        vec![Effect::Task(Task::new(move || {
            Done::Opened(opening.resume(&listed))
        }))]
    }

    /// A picker was closed without a choice. At the start, a fresh session is opened then.
    pub(super) fn picker_closed(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.awaits_pick) {
            true => self.open(Reason::Startup),
            false => Vec::new(),
        }
    }

    /// `-c`: goes on with the newest session of the directory.
    pub(super) fn resume_newest(&mut self) -> Vec<Effect> {
        self.is_opening = true;
        let opening = self.resuming();
        vec![Effect::Task(Task::new(move || {
            Done::Opened(opening.newest())
        }))]
    }

    fn resuming(&self) -> Resuming {
        Resuming {
            process: self.process.clone(),
            choice: self.choice(),
            options: transcript_options(&self.settings),
        }
    }

    pub(super) fn new_session(&mut self) -> Vec<Effect> {
        match self.is_between_turns() {
            true => self.open(Reason::New),
            false => Vec::new(),
        }
    }

    pub(super) fn fork(&mut self, name: &str) -> Vec<Effect> {
        if !self.is_between_turns() {
            return Vec::new();
        }
        self.is_opening = true;
        let fork = self.next_session();
        let name = label(name);
        self.request(Awaited::Fork(fork, name), |session, request| Input::Fork {
            session,
            request,
            fork,
            handle: None,
            replaces: true,
        })
    }

    pub(super) fn name(&mut self, name: &str) -> Vec<Effect> {
        let request = self.next_request();
        let Some(session) = &self.session else {
            self.is_between_turns();
            return Vec::new();
        };
        let (session, name) = (session.key, label(name));
        self.transcript.push_notice(&match &name {
            Some(name) => format!("this session is called `{name}`"),
            None => "this session has no name".into(),
        });
        vec![Effect::Send(Input::Rename {
            session,
            request,
            name,
        })]
    }

    pub(super) fn export(&mut self, path: &str) -> Vec<Effect> {
        if !self.is_between_turns() {
            return Vec::new();
        }
        let Some(session) = &self.session else {
            return Vec::new();
        };
        let home = self.process.env.path("HOME");
        let path = match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if path.is_empty() => {
                // The end of an id tells sessions of the same minute apart.
                let start = session.id.len().saturating_sub(8);
                let short = session.id.get(start..).unwrap_or_default();
                format!("e-session-{short}.html").into()
            }
            _ => path.into(),
        };
        let path = session.workspace.join(path);
        self.request(Awaited::Export(path), |session, request| Input::Query {
            session,
            request,
            query: Query::Messages,
        })
    }

    pub(super) fn compact(&mut self, focus: &str, now: Instant) -> Vec<Effect> {
        if self.turn().is_none() && !self.is_between_turns() {
            return Vec::new();
        }
        let request = self.next_request();
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        match &session.turn {
            Some(_) => self
                .transcript
                .push_notice("the summary is made with the turn's next step"),
            None => {
                let mut turn = Turn::new(request, now);
                turn.phase = Phase::Compacting;
                turn.summarises = true;
                session.turn = Some(turn);
            }
        }
        vec![Effect::Send(Input::Compact {
            session: session.key,
            request,
            focus: Some(focus.to_owned()).filter(|focus| !focus.is_empty()),
            during_turn: true,
        })]
    }

    pub(super) fn undo(&mut self) -> Vec<Effect> {
        match self.is_between_turns() {
            true => self.request(Awaited::Undo, |session, request| Input::Undo {
                session,
                request,
            }),
            false => Vec::new(),
        }
    }

    /// The core has answered a request.
    pub(super) fn awaited(
        &mut self,
        request: RequestId,
        answer: Answer,
        now: Instant,
    ) -> Vec<Effect> {
        let Some(awaited) = self.awaited.remove(&request) else {
            if let (Answer::Done, Some(session)) = (answer, &mut self.session) {
                // It became a part of a turn that an extension had begun.
                session.turn.take_if(|turn| turn.request == request);
            }
            return Vec::new();
        };
        match (awaited, answer) {
            (Awaited::Fork(key, name), Answer::Forked(log)) => self.forked(key, name, log, now),
            (Awaited::Export(path), Answer::Messages(messages)) => self.write_page(path, messages),
            (Awaited::Tree, Answer::Info(info)) => self.look_through(info.log, info.head),
            (Awaited::Rewind(rewound), Answer::Done) => self.rewound(*rewound, now),
            (Awaited::LetGo, Answer::Extensions(old)) => self.relaunch(old),
            (Awaited::Extend(reloaded), Answer::Done) => self.reloaded(*reloaded, now),
            (Awaited::Undo, Answer::Undone(done)) => {
                match done {
                    Ok(text) => self.transcript.push_notice(&text),
                    Err(why) => self.transcript.push_error(&why),
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The core has refused a request; why is told already.
    pub(super) fn refused(&mut self, request: RequestId, now: Instant) -> Vec<Effect> {
        match self.awaited.remove(&request) {
            Some(Awaited::Fork(..) | Awaited::Rewind(_)) => {
                self.is_opening = false;
                self.carry_out(now)
            }
            _ => Vec::new(),
        }
    }

    fn forked(
        &mut self,
        key: SessionKey,
        name: Option<String>,
        log: Option<PathBuf>,
        now: Instant,
    ) -> Vec<Effect> {
        self.is_opening = false;
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        session.key = key;
        session.turn = None;
        if let Some(id) = log.as_deref().and_then(id_of) {
            session.id = id;
        }
        session.log = log;
        self.transcript.push_notice(
            "forked: from here on this is a session of its own; the one before stays as it is",
        );
        let mut effects = match &name {
            Some(name) => self.name(name),
            None => Vec::new(),
        };
        effects.extend(self.carry_out(now));
        effects
    }

    fn write_page(&mut self, path: PathBuf, messages: Vec<Arc<Message>>) -> Vec<Effect> {
        let name = self
            .session
            .as_ref()
            .and_then(|session| session.name.clone());
        let work = move || {
            let title = name.unwrap_or_else(|| session::title(&messages));
            let page = session::export_html(&title, &messages);
            Done::Notice(match session::write_page(&path, page.as_bytes()) {
                Ok(()) => format!("this session was written to `{}`", path.display()),
                Err(error) => format!("error: {error}"),
            })
        };
        vec![Effect::Task(Task::new(work))]
    }
}

/// What it takes to go on with a session, on a thread.
struct Resuming {
    process: Arc<Process>,
    choice: Choice,
    options: Options,
}

impl Resuming {
    fn resume(self, listed: &Listed) -> Result<Box<Opened>> {
        let mut warnings = Vec::new();
        let choice = Choice {
            workspace: match listed.cwd.is_empty() {
                true => self.choice.workspace,
                false => listed.cwd.clone().into(),
            },
            ..self.choice
        };
        let spec = self.process.open(choice, &mut warnings)?;
        let (past, id, more) = self.process.resume(&listed.path, spec.saves())?;
        warnings.extend(more);
        let extensions = &self.process.extensions;
        let transcript = restored(self.options, &past.entries, &listed.path, extensions);
        let spec = spec.resumed(id, &past);
        Ok(Box::new(Opened {
            spec,
            past,
            transcript,
            warnings,
            reason: Reason::Resume,
        }))
    }

    /// The newest session of the workspace, or a fresh one.
    fn newest(self) -> Result<Box<Opened>> {
        let listed = session::list(&self.process.home, Some(&self.choice.workspace))?;
        // What cannot be read at all has no workspace.
        if let Some(newest) = listed.iter().find(|one| !one.cwd.is_empty()) {
            return self.resume(newest);
        }
        let mut warnings = Vec::new();
        let spec = self.process.open(self.choice, &mut warnings)?;
        warnings.push("there was no session of this directory to go on with".into());
        Ok(Box::new(Opened {
            spec,
            past: Past::default(),
            transcript: Transcript::new(self.options),
            warnings,
            reason: Reason::Startup,
        }))
    }
}

/// What shows of a history in a log. Reads what failed from the file beside it.
pub(super) fn restored(
    options: Options,
    entries: &[Entry],
    log: &Path,
    extensions: &Registry,
) -> Transcript {
    let mut transcript = Transcript::new(options);
    // A result that nobody recorded stands in for one, for the model alone.
    let is_stand_in =
        |entry: &&Entry| entry.id.is_none() && matches!(&*entry.message, Message::Tool { .. });
    let entries: Vec<&Entry> = entries.iter().filter(|one| !is_stand_in(one)).collect();
    let messages: Vec<_> = entries.iter().map(|entry| entry.message.clone()).collect();
    let after = |failure: &session::PastFailure| match &failure.after {
        None => Some(0),
        // It may belong to another branch.
        node => Some(1 + entries.iter().position(|entry| entry.id == *node)?),
    };
    let failures = session::failures(log).into_iter();
    let mut errors: Vec<(usize, String)> = failures
        .filter_map(|failure| Some((after(&failure)?, failure.message)))
        .collect();
    errors.sort_by_key(|(at, _)| *at);
    let label = |name: &str, arguments: Option<&_>| match extensions.tool(name) {
        Some(tool) => agent::extension_label(&tool.item, arguments),
        None => tools::label(name, arguments),
    };
    transcript.restore(&messages, &errors, label);
    transcript
}

/// A display name that was typed; a blank one is none.
fn label(text: &str) -> Option<String> {
    Some(one_line(text, None).trim().to_owned()).filter(|name| !name.is_empty())
}

/// The session's id in the name of its log.
fn id_of(log: &Path) -> Option<String> {
    let (_, id) = log.file_stem()?.to_str()?.split_once('_')?;
    Some(id.to_owned())
}

fn item(one: &Listed, all: &[Listed], now: u64) -> Item {
    let age = age(now.saturating_sub(one.modified_ms));
    let turns = match one.turns {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    };
    let mut description = place(&one.cwd, all);
    if one.damage.is_some() {
        description.push_str(" · damaged");
    }
    Item {
        label: one.name.clone().unwrap_or_else(|| one.title.clone()),
        description,
        group: format!("{turns} · {age}"),
        ..Item::default()
    }
}

/// The last part of a directory, or all of it where another has the same last part.
fn place(cwd: &str, all: &[Listed]) -> String {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let short = last(cwd);
    let is_other = |one: &Listed| one.cwd != cwd && last(&one.cwd) == short;
    match short.is_empty() || all.iter().any(is_other) {
        true => cwd.to_owned(),
        false => short,
    }
}

/// `now`, `5m`, `3h`, `2d`.
fn age(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => "now".into(),
        1..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        _ => format!("{}d", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_places_are_short() {
        for (ms, expected) in [
            (0, "now"),
            (60_000, "1m"),
            (3_600_000, "1h"),
            (172_800_000, "2d"),
            (u64::MAX, "213503982334d"),
        ] {
            assert_eq!(age(ms), expected);
        }
        let listed = |cwd: &str| Listed {
            path: PathBuf::new(),
            title: "t".into(),
            name: None,
            modified_ms: 0,
            messages: 1,
            turns: 1,
            cwd: cwd.into(),
            damage: None,
        };
        let all = ["/a/app", "/b/app", "/c/tool", "/", ""].map(listed);
        let places: Vec<_> = all.iter().map(|one| place(&one.cwd, &all)).collect();
        assert_eq!(places, ["/a/app", "/b/app", "tool", "/", ""]);
        let id = id_of(Path::new("/x/17_0192-ab.jsonl"));
        assert_eq!(id.as_deref(), Some("0192-ab"));
    }
}
