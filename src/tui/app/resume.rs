//! Going on with another session: the list of them, `-c` and `-r`.

use std::path::Path;
use std::sync::Arc;

use super::pickers::Picks;
use super::sessions::Next;
use super::{App, Done, Opened, transcript_options};
use crate::agent::{self, Choice, Past, Process, Reason};
use crate::chat::Message;
use crate::error::Result;
use crate::extension::Registry;
use crate::session::{self, Entry, Listed};
use crate::sys::clock;
use crate::tools;
use crate::tui::transcript::{Options, Transcript};
use crate::tui::view::picker::{Item, Picker, Tab};

/// Sessions that the picker shows at a time.
const ROWS: usize = 12;

impl App {
    /// `/resume`, and what `-r` begins with.
    pub(super) fn list_sessions(&mut self) {
        if self.session.is_some() && !self.is_between_turns() {
            return;
        }
        let home = self.process.home.clone();
        self.look_up(move || Done::Sessions(session::list(&home, None)));
    }

    /// The sessions are known: one is chosen.
    pub(super) fn sessions_listed(&mut self, listed: Result<Vec<Listed>>) {
        let listed = match listed {
            Ok(listed) if !listed.is_empty() => listed,
            Ok(_) => {
                self.tell("there is no session to go on with");
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
    }

    pub(super) fn session_picked(&mut self, listed: Listed) {
        let current = self
            .session
            .as_ref()
            .and_then(|session| session.log.as_ref());
        if current == Some(&listed.path) {
            return self.tell("that is the session that is open");
        }
        if self.session.is_some() && !self.is_between_turns() {
            return;
        }
        self.awaits_pick = false;
        self.once_saved(Next::Resume(Box::new(listed)));
    }

    pub(super) fn resume(&mut self, listed: Listed) {
        self.is_opening = true;
        let opening = self.resuming();
        self.task(move || Done::Opened(opening.resume(&listed)));
    }

    /// A picker was closed without a choice. At the start, a fresh session is opened then.
    pub(super) fn picker_closed(&mut self) {
        if std::mem::take(&mut self.awaits_pick) {
            self.open(Reason::Startup);
        }
    }

    /// `-c`: goes on with the newest session of the directory.
    pub(super) fn resume_newest(&mut self) {
        self.is_opening = true;
        let opening = self.resuming();
        self.task(move || Done::Opened(opening.newest()));
    }

    fn resuming(&self) -> Resuming {
        Resuming {
            process: self.process.clone(),
            choice: self.choice(),
            options: transcript_options(&self.settings),
        }
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
        let newest = session::newest(&self.process.home, &self.choice.workspace)?;
        if let Some(newest) = newest {
            return self.resume(&newest);
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
    let recorded = entries.iter().filter(|entry| !is_stand_in(entry));
    let recorded: Vec<Entry> = recorded.cloned().collect();
    let messages: Vec<_> = recorded.iter().map(|entry| entry.message.clone()).collect();
    let failures = session::failures(log, &recorded);
    let label = |name: &str, arguments: Option<&_>| match extensions.tool(name) {
        Some(tool) => agent::extension_label(&tool.item, arguments),
        None => tools::label(name, arguments),
    };
    transcript.restore(&messages, &failures, label);
    transcript
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
            path: "".into(),
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
    }
}
