//! What opens while a draft is written: commands after `/`, files after `@`, skills after `$`.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use super::commands::{self, COMMANDS, SlashCommand};
use super::pickers::{Choosing, Picks};
use super::{App, Done, Surface};
use crate::config::resources::{self, Origin, Skill, Template};
use crate::tools::Walk;
use crate::tui::view::picker::{Item, Picker, Tab};

/// Entries that such a picker shows at a time.
const ROWS: usize = 6;
/// Most files and directories that are offered.
const MAX_FILES: usize = 10_000;
/// How long a workspace is looked through for them.
const WALK: Duration = Duration::from_secs(5);

/// What the pickers that follow the draft offer, read when they open.
#[derive(Debug, Default)]
pub struct Lists {
    /// Files and directories, relative to the workspace.
    files: Option<Vec<String>>,
    skills: Vec<Skill>,
    templates: Vec<Template>,
    /// What was asked for since the draft began to be about it.
    asked: Option<Kind>,
    /// Esc was pressed: nothing opens before the draft is about something else.
    pub(super) dismissed: bool,
}

/// What a draft is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Command,
    File,
    Skill,
}

/// What was read for a picker.
#[derive(Debug)]
pub enum Listed {
    /// The files of the workspace.
    Files(Vec<String>),
    /// Skills and templates, and what is wrong with other files.
    Resources(Vec<Skill>, Vec<Template>, Vec<String>),
}

impl App {
    /// The draft is another one: pickers that follow it do so.
    pub(super) fn draft_changed(&mut self) {
        if self.draft_may_open_list() {
            self.open_list();
        }
    }

    fn open_list(&mut self) {
        // A prompt out of history is walked past; what it ends with is no search.
        let word = self.word().filter(|_| !self.composer.is_recalled());
        let Some((kind, range)) = word else {
            // These have their own answer to come.
            self.surface.take_if(|surface| !surface.offers_arguments());
            self.lists.asked = None;
            self.lists.dismissed = false;
            return;
        };
        if self.lists.asked != Some(kind) {
            self.surface = None;
            self.lists.dismissed = false;
        }
        if self.lists.dismissed {
            return;
        }
        self.ask_for(kind);
        let query = self.composer.draft().buffer.text()[range][1..].to_owned();
        self.narrow(kind, &query);
    }

    /// Whether the place below the draft is free for a list that follows it.
    pub(super) fn draft_may_open_list(&self) -> bool {
        match &self.surface {
            None => !self.composer.is_field() && !self.extension_takes_keys(),
            Some(surface) => !surface.takes_keys(),
        }
    }

    /// Text was pasted. It narrows a list that is open and opens none: code and addresses are no
    /// search.
    pub(super) fn draft_was_pasted_into(&mut self) {
        let is_seen = self.surface.is_none() && !self.composer.is_field();
        let word = self.word().filter(|_| is_seen);
        if let Some((kind, _)) = word {
            self.lists.asked = Some(kind);
            self.lists.dismissed = true;
        }
        self.draft_was_edited();
    }

    /// The word that something may be offered for, its mark included.
    fn word(&self) -> Option<(Kind, Range<usize>)> {
        let buffer = &self.composer.draft().buffer;
        let (text, caret) = (buffer.text(), buffer.caret());
        if let Some(name) = text.strip_prefix('/') {
            let is_name = !name.contains(|c: char| c.is_whitespace() || c == '/');
            return is_name.then_some((Kind::Command, 0..text.len()));
        }
        let start = text[..caret].rfind(char::is_whitespace).map_or(0, |at| {
            at + text[at..].chars().next().map_or(1, char::len_utf8)
        });
        let is_whole = text[caret..].chars().next().is_none_or(char::is_whitespace);
        let kind = match text[start..caret].chars().next()? {
            '@' => Kind::File,
            // In a command of the shell this is a variable.
            '$' if !text.starts_with('!') => Kind::Skill,
            _ => return None,
        };
        is_whole.then_some((kind, start..caret))
    }

    /// Reads what is to be offered, once while the draft is about it.
    fn ask_for(&mut self, kind: Kind) {
        if self.lists.asked == Some(kind) {
            return;
        }
        self.lists.asked = Some(kind);
        match kind {
            Kind::File => {
                self.lists.files = None;
                let workspace = self.workspace().to_path_buf();
                self.task(move || Done::Listed(Listed::Files(files(&workspace))));
            }
            Kind::Command | Kind::Skill => {
                let places = self.places();
                self.task(move || {
                    let (skills, mut warnings) = resources::skills(&places);
                    let (templates, more) = resources::templates(&places);
                    warnings.extend(more);
                    Done::Listed(Listed::Resources(skills, templates, warnings))
                });
            }
        }
    }

    /// What a picker offers has been read.
    pub(super) fn listed(&mut self, listed: Listed) {
        match listed {
            Listed::Files(files) => self.lists.files = Some(files),
            Listed::Resources(skills, templates, warnings) => {
                self.warn(warnings);
                self.lists.skills = skills;
                self.lists.templates = templates;
            }
        }
        if self.draft_may_open_list() {
            // One that is open stays, whatever has come behind it.
            self.surface.take_if(|surface| !surface.offers_arguments());
            self.open_list();
        }
    }

    /// Shows what matches. Where nothing does, the empty list takes Enter for a word that is a
    /// search, and there is none for others, so that Enter submits.
    fn narrow(&mut self, kind: Kind, query: &str) {
        if !matches!(self.surface, Some(Surface::Picker(_))) {
            match kind {
                Kind::Command => self.offer_commands(),
                Kind::File => self.offer_files(),
                Kind::Skill => self.offer_skills(),
            }
        }
        if let Some(Surface::Picker(choosing)) = &mut self.surface {
            let Choosing { picker, .. } = &mut **choosing;
            picker.set_query(query);
            let searches = match kind {
                // What there is no command for is said when it is run.
                Kind::Command => false,
                Kind::File => true,
                // Sums and variables are no names of skills.
                Kind::Skill => {
                    query.starts_with(|c: char| c.is_ascii_lowercase())
                        && !query.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                }
            };
            if picker.items().is_empty() || picker.chosen().is_none() && !searches {
                self.surface = None;
            }
        }
    }

    fn offer_commands(&mut self) {
        let mut words: Vec<(String, String)> = Vec::new();
        let mut items = Vec::new();
        let mut offer = |name: &str, label: &str, arguments: &str, help: &str, group: &str| {
            if words.iter().any(|(taken, _)| taken == name) {
                return;
            }
            words.push((name.to_owned(), arguments.to_owned()));
            items.push(Item {
                label: format!("{label} {arguments}").trim_end().to_owned(),
                description: help.to_owned(),
                group: group.to_owned(),
                ..Item::default()
            });
        };
        let mut own: Vec<_> = COMMANDS.iter().collect();
        own.sort_by_key(|command| command.name);
        for command in own {
            let name = command.name;
            // What a name begins with finds it already.
            let others = command.aliases.iter().copied();
            let others = others.filter(|alias| !name.starts_with(alias));
            let label: Vec<_> = [name].into_iter().chain(others).collect();
            let SlashCommand { help, group, .. } = command;
            offer(name, &label.join(", "), command.arguments, help, group);
        }
        for template in &self.lists.templates {
            if commands::find(&template.name).is_none() {
                let help = &template.description;
                let name = &template.name;
                offer(name, name, &template.arguments, help, "Prompt");
            }
        }
        for command in &self.process.extensions.commands {
            let command = &command.item;
            let arguments = command.arguments.as_deref().unwrap_or_default();
            let help = &command.description;
            offer(&command.name, &command.name, arguments, help, "Extension");
        }
        self.open_picker(Picker::new("Commands", items, ROWS), Picks::Commands(words));
    }

    fn offer_files(&mut self) {
        let files = self.lists.files.clone().unwrap_or_default();
        let items = files.iter().map(|path| Item {
            label: path.clone(),
            ..Item::default()
        });
        let picker = Picker::new("Files", items.collect(), ROWS);
        self.open_picker(picker, Picks::Files(files));
    }

    fn offer_skills(&mut self) {
        let skills = self.lists.skills.clone();
        let items = skills.iter().map(|skill| Item {
            label: skill.name.clone(),
            description: skill.description.clone(),
            group: skill.origin.name().to_owned(),
            tab: skill.origin as usize + 1,
            ticked: None,
        });
        let origins = [Origin::Global, Origin::Workspace].map(Origin::name);
        let tabs = ["All"].into_iter().chain(origins).map(|name| Tab {
            name: name.to_owned(),
            all: name == "All",
        });
        let picker = Picker::new("Skills", items.collect(), ROWS);
        let picker = picker.with_tabs(tabs.collect(), 0);
        self.open_picker(picker, Picks::Skills(skills));
    }

    /// Runs a command, or leaves its name for the person to finish. A name that was typed in full
    /// is run as it is, unless something must follow it.
    pub(super) fn command_picked(&mut self, word: &(String, String), runs: bool, now: Instant) {
        let (name, arguments) = word;
        let typed = self.composer.draft().buffer.text();
        let typed = typed.strip_prefix('/').unwrap_or_default();
        // A word that is a command in itself is not taken for the beginning of another.
        if runs && commands::find(typed).is_some() {
            return self.submit(now);
        }
        let typed = typed.to_lowercase();
        let is_typed = typed == name.to_lowercase() && !arguments.starts_with('<');
        // What is only like what was typed is shown before it runs.
        let aliases = commands::find(name).map_or(&[][..], |command| command.aliases);
        let mut words = std::iter::once(name.as_str()).chain(aliases.iter().copied());
        let is_begun = words.any(|word| word.to_lowercase().starts_with(&typed));
        if runs && is_begun && (arguments.is_empty() || is_typed) {
            self.composer.set_text(&format!("/{name}"));
            return self.submit(now);
        }
        self.composer.set_text(&format!("/{name} "));
        self.draft_was_edited();
    }

    /// Puts a path in the place of the word, with nothing behind it: that of a directory can be
    /// gone on with.
    pub(super) fn file_picked(&mut self, path: &str) {
        if let Some((Kind::File, range)) = self.word() {
            let path = match path.contains(char::is_whitespace) {
                true => format!("\"{path}\""),
                false => path.to_owned(),
            };
            self.composer.replace(range, &path);
        }
        // The name may look like another search.
        self.draft_was_pasted_into();
    }

    pub(super) fn skill_picked(&mut self, skill: Skill) {
        let Some((Kind::Skill, range)) = self.word() else {
            return;
        };
        let typed = self.composer.draft().buffer.expand();
        self.composer.replace(range, "");
        let draft = self.composer.take();
        self.lists.asked = None;
        self.composer.remember(&typed);
        let said = draft.buffer.expand();
        self.submit_skill(skill, typed, said, draft.images);
    }
}

/// Files and the directories that hold them, these with a slash, in the order of a walk.
fn files(workspace: &Path) -> Vec<String> {
    let until = Instant::now() + WALK;
    let mut walk = Walk::new(workspace, false);
    let mut found = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while let Some(step) = walk.step() {
        let Some(path) = step else {
            if Instant::now() > until {
                break;
            }
            continue;
        };
        // A name that is not UTF-8 could not be typed back.
        let path = path.strip_prefix(workspace).unwrap_or(&path).to_str();
        let Some(path) = path else { continue };
        for (at, _) in path.match_indices('/') {
            let directory = &path[..=at];
            if seen.insert(directory.to_owned()) {
                found.push(directory.to_owned());
            }
        }
        found.push(path.to_owned());
        if found.len() >= MAX_FILES {
            found.truncate(MAX_FILES);
            break;
        }
    }
    found
}
