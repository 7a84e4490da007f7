//! One provider of the catalog: where it comes from, and how `models.json` is laid over it.

use std::sync::Arc;

use super::builtin::{Auth, Builtin, Seed};
use super::file;
use crate::chat::Pricing;
use crate::provider::{Dialect, Model, offline};

/// The window of a model that nobody told one for.
pub(super) const DEFAULT_WINDOW: u64 = 200_000;

/// A provider and the models it is known to have.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) display: String,
    pub(super) tier: &'static str,
    pub(super) catalog: String,
    pub(super) mount: Option<String>,
    pub(super) auth: Auth,
    /// The variable that may hold the key.
    pub(super) variable: Option<String>,
    /// `models.json` says where it is, so it may be used without a key.
    pub(super) declared: bool,
    /// `models.json` says which models it has, so there are no others.
    pub(super) listed: bool,
    /// What is assumed of a model that nothing is known about. Its id is empty.
    pub(super) template: Model,
    pub(super) models: Vec<Arc<Model>>,
}

impl Provider {
    pub(super) fn builtin(row: &Builtin) -> Self {
        let template = Model {
            image_input: row.images,
            ..template(row.name, row.base_url, row.dialect)
        };
        let native = matches!(
            row.dialect,
            Dialect::Anthropic | Dialect::Google | Dialect::Responses
        );
        Self {
            display: row.display.to_owned(),
            tier: if native { "native" } else { "compatible" },
            catalog: row.catalog.to_owned(),
            mount: row.mount.map(str::to_owned),
            auth: row.auth,
            variable: match row.auth {
                Auth::Key(variable) => Some(variable.to_owned()),
                Auth::Browser | Auth::Local => None,
            },
            declared: false,
            listed: false,
            models: row
                .models
                .iter()
                .map(|seed| Arc::new(seeded(&template, seed)))
                .collect(),
            template,
        }
    }

    pub(super) fn declared(entry: file::Entry) -> Self {
        let base_url = entry.base_url.clone().unwrap_or_default();
        let mut provider = Self {
            display: entry.name.clone(),
            tier: "experimental",
            catalog: "openai".to_owned(),
            mount: None,
            auth: Auth::Local,
            variable: None,
            declared: true,
            listed: false,
            template: template(&entry.name, &base_url, Dialect::Completions),
            models: Vec::new(),
        };
        provider.apply(entry);
        provider
    }

    pub(super) fn offline() -> Self {
        let template = template(offline::PROVIDER, "", Dialect::Offline);
        let models = offline::MODELS.iter().map(|id| {
            Arc::new(Model {
                id: (*id).to_owned(),
                ..template.clone()
            })
        });
        Self {
            display: "Offline".to_owned(),
            tier: "native",
            catalog: "none".to_owned(),
            mount: None,
            auth: Auth::Local,
            variable: None,
            declared: true,
            listed: true,
            models: models.collect(),
            template,
        }
    }

    pub(super) fn model(&self, id: &str) -> Model {
        Model {
            id: id.to_owned(),
            ..self.template.clone()
        }
    }

    pub(super) fn add_cached(&mut self, models: file::Listing) {
        for (id, window) in models {
            let model = self.entry(&id);
            model.context_window = window.unwrap_or(model.context_window);
        }
    }

    /// Lays an entry of `models.json` over this provider.
    pub(super) fn apply(&mut self, entry: file::Entry) {
        if let Some(base_url) = &entry.base_url {
            base_url
                .trim_end_matches('/')
                .clone_into(&mut self.template.base_url);
            self.declared = true;
        }
        self.template.dialect = entry.dialect.unwrap_or(self.template.dialect);
        entry.facts.apply(&mut self.template);
        for model in &mut self.models {
            let model = Arc::make_mut(model);
            model.base_url.clone_from(&self.template.base_url);
            model.dialect = self.template.dialect;
            entry.facts.apply(model);
        }
        self.catalog = entry
            .catalog
            .unwrap_or_else(|| std::mem::take(&mut self.catalog));
        self.mount = entry.mount.or_else(|| self.mount.take());
        self.variable = entry.key_env.or_else(|| self.variable.take());
        self.listed |= entry.models.is_some();
        for (id, facts) in entry.models.into_iter().flatten() {
            facts.apply(self.entry(&id));
        }
    }

    /// The model of this id, added when there is none.
    fn entry(&mut self, id: &str) -> &mut Model {
        let position = self
            .models
            .iter()
            .position(|model| model.id == id)
            .unwrap_or_else(|| {
                self.models.push(Arc::new(self.model(id)));
                self.models.len() - 1
            });
        Arc::make_mut(&mut self.models[position])
    }
}

fn template(provider: &str, base_url: &str, dialect: Dialect) -> Model {
    Model {
        provider: provider.to_owned(),
        id: String::new(),
        base_url: base_url.to_owned(),
        dialect,
        context_window: DEFAULT_WINDOW,
        effort: Vec::new(),
        thinking: None,
        max_output: None,
        supports_tools: true,
        image_input: false,
        pricing: None,
    }
}

fn seeded(template: &Model, seed: &Seed) -> Model {
    Model {
        id: seed.id.to_owned(),
        context_window: seed.window,
        effort: seed
            .effort
            .iter()
            .map(|level| (*level).to_owned())
            .collect(),
        thinking: seed.thinking,
        max_output: seed.max_output,
        image_input: seed.images,
        pricing: seed
            .prices
            .map(|[input, output, cache_read, cache_write]| Pricing {
                input,
                output,
                cache_read: Some(cache_read),
                cache_write_5m: Some(cache_write),
                cache_write_1h: None,
            }),
        ..template.clone()
    }
}
