//! Which model answers, and how hard it thinks: `/models`, `/effort`, `/scoped-models` and the
//! keys.
//!
//! The catalog is read from files, so it is read in tasks. What is chosen is used from the next
//! turn on and kept in the settings.

use serde_json::{Value, json};

use super::pickers::Picks;
use super::{App, Done};
use crate::agent::Selection;
use crate::provider::{Catalog, Dialect, Model};
use crate::tui::view::picker::{Item, Picker, Tab};

/// Models that the picker shows at a time.
const ROWS: usize = 20;

/// A model as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    slug: String,
    id: String,
    provider: String,
    window: u64,
    is_offline: bool,
}

/// What a list of models is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To choose one; what was typed after the command.
    One(String),
    /// To choose which ones the keys go through.
    Scope,
    /// To go that many on from the one in use.
    Next(isize),
}

impl App {
    /// Reads the catalog for a list.
    pub(super) fn list_models(&mut self, wanted: Wanted) {
        let process = self.process.clone();
        self.look_up(move || {
            let catalog = Catalog::load(process.home.dir(), &process.env);
            let models = catalog.usable().map(|model| listing(model));
            Done::Models(wanted, models.collect())
        });
    }

    /// The list is there.
    pub(super) fn models_listed(&mut self, wanted: Wanted, models: Vec<Listing>) {
        match wanted {
            Wanted::One(query) => {
                if models.iter().any(|model| model.slug == query) {
                    return self.choose_model(query);
                }
                let current = self.slug();
                let ticked = |model: &Listing| Some(&model.slug) == current.as_ref();
                let (picker, slugs) = model_picker("Models", &models, ticked);
                self.open_picker(picker, Picks::Models(slugs));
                self.filter_picker(Some(&query));
            }
            Wanted::Scope => {
                let scope = &self.settings.scoped_models;
                let ticked = |model: &Listing| scope.contains(&model.slug);
                let (picker, slugs) = model_picker("Models for ctrl+p", &models, ticked);
                self.open_picker(picker, Picks::Scope(slugs));
            }
            Wanted::Next(by) => {
                let scope = in_scope(&models, &self.settings.scoped_models);
                let current = self.slug();
                let at = scope
                    .iter()
                    .position(|slug| Some(*slug) == current.as_deref());
                let next = match at {
                    Some(at) => (at as isize + by).rem_euclid(scope.len() as isize) as usize,
                    None => 0,
                };
                match scope.get(next) {
                    Some(slug) if Some(next) != at => self.choose_model((*slug).to_owned()),
                    _ => {
                        self.cycling = None;
                        self.tell("there is no other model in scope")
                    }
                }
            }
        }
    }

    /// The key for the next model, or the one before. Presses that come while one is looked up are
    /// added up.
    pub(super) fn cycle_model(&mut self, by: isize) {
        match &mut self.cycling {
            Some(more) => *more += by,
            None => {
                self.cycling = Some(0);
                self.list_models(Wanted::Next(by))
            }
        }
    }

    /// Uses a model from now on. Without a session one is opened with it.
    pub(super) fn choose_model(&mut self, slug: String) {
        self.options.model = Some(slug.clone());
        self.save("model", json!(slug));
        let Some(session) = &self.session else {
            self.cycling = None;
            return self.begin();
        };
        let (process, current) = (self.process.clone(), session.selection.clone());
        self.task(move || Done::Selected(process.select(&current, Some(&slug), None)));
    }

    /// The model was looked up.
    pub(super) fn selected(&mut self, selected: crate::error::Result<Selection>) {
        let more = self.cycling.take();
        match selected {
            Err(error) => self.transcript.push_error(&error.to_string()),
            Ok(selection) => {
                if more.is_none() {
                    self.tell(&told(&selection));
                }
                self.options.effort.clone_from(&selection.effort);
                self.select(selection);
                if let Some(by) = more.filter(|by| *by != 0) {
                    self.cycle_model(by);
                }
            }
        }
    }

    /// `/effort`: shows the level, or sets it.
    pub(super) fn effort(&mut self, level: &str) {
        let Some(session) = &self.session else {
            return self.tell("there is no model yet: sign in with /login");
        };
        let Selection { model, effort, .. } = &session.selection;
        let (id, levels) = (&model.id, model.effort.join(", "));
        let says = match (level, effort) {
            _ if model.effort.is_empty() => format!("`{id}` has no effort levels"),
            ("", Some(effort)) => format!("effort: {effort} - `{id}` has {levels}"),
            (level, _) if model.effort.iter().any(|one| one == level) => {
                return self.set_effort(level.to_owned());
            }
            (level, _) => format!("`{id}` does not support effort `{level}` - it has {levels}"),
        };
        self.tell(&says);
    }

    /// The key for the next level.
    pub(super) fn next_effort(&mut self) {
        let Some(session) = &self.session else {
            return;
        };
        let Selection { model, effort, .. } = &session.selection;
        let at = model
            .effort
            .iter()
            .position(|one| Some(one) == effort.as_ref());
        let next = at.map_or(0, |at| (at + 1) % model.effort.len());
        match model.effort.get(next).cloned() {
            Some(level) => self.set_effort(level),
            None => self.effort(""),
        }
    }

    /// Uses a level that the model has.
    pub(super) fn set_effort(&mut self, level: String) {
        self.save("effort", json!(level));
        self.options.effort = Some(level.clone());
        if let Some(session) = &self.session {
            let selection = Selection {
                effort: Some(level),
                ..session.selection.clone()
            };
            self.select(selection);
        }
    }

    /// Which models the keys go through was chosen.
    pub(super) fn scope_chosen(&mut self, slugs: Vec<String>) {
        let says = match slugs.len() {
            0 => "ctrl+p goes through every model".to_owned(),
            1 => "ctrl+p stays with one model".to_owned(),
            many => format!("ctrl+p goes through {many} models"),
        };
        self.tell(&says);
        let value = match slugs.is_empty() {
            true => Value::Null,
            false => json!(slugs),
        };
        self.settings.scoped_models = slugs;
        self.save("scoped_models", value);
    }

    fn slug(&self) -> Option<String> {
        Some(self.session.as_ref()?.selection.model.slug())
    }
}

fn listing(model: &Model) -> Listing {
    Listing {
        slug: model.slug(),
        id: model.id.clone(),
        provider: model.provider.clone(),
        window: model.context_window,
        is_offline: model.dialect == Dialect::Offline,
    }
}

/// The models that the keys go through: those of the settings in their order, else all that are
/// real.
fn in_scope<'a>(models: &'a [Listing], scope: &'a [String]) -> Vec<&'a str> {
    let is_there = |slug: &&String| models.iter().any(|model| model.slug == **slug);
    let chosen: Vec<&str> = scope.iter().filter(is_there).map(String::as_str).collect();
    if !chosen.is_empty() {
        return chosen;
    }
    let real = models.iter().filter(|model| !model.is_offline);
    let real: Vec<&str> = real.map(|model| model.slug.as_str()).collect();
    match real.is_empty() {
        true => models.iter().map(|model| model.slug.as_str()).collect(),
        false => real,
    }
}

fn model_picker(
    title: &str,
    models: &[Listing],
    is_ticked: impl Fn(&Listing) -> bool,
) -> (Picker, Vec<String>) {
    let mut providers: Vec<&str> = Vec::new();
    let mut items = Vec::new();
    for model in models {
        let known = providers.iter().position(|one| *one == model.provider);
        let tab = known.unwrap_or_else(|| {
            providers.push(&model.provider);
            providers.len() - 1
        });
        items.push(Item {
            label: model.id.clone(),
            description: format!("{} tokens", crate::tui::figures::count(model.window)),
            group: model.provider.clone(),
            tab: tab + 1,
            ticked: Some(is_ticked(model)),
        });
    }
    let tab = |name: &str, all| Tab {
        name: name.to_owned(),
        all,
    };
    let tabs = providers.iter().map(|name| tab(name, false));
    let tabs: Vec<Tab> = std::iter::once(tab("All", true)).chain(tabs).collect();
    let slugs = models.iter().map(|model| model.slug.clone()).collect();
    let picker = Picker::new(title, items, ROWS);
    match providers.len() {
        0 | 1 => (picker, slugs),
        _ => (picker.with_tabs(tabs, 0), slugs),
    }
}

fn told(selection: &Selection) -> String {
    let slug = selection.model.slug();
    match &selection.effort {
        Some(effort) => format!("`{slug}` answers from now on, effort {effort}"),
        None => format!("`{slug}` answers from now on"),
    }
}
