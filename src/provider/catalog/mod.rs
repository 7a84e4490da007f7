//! Which providers and models there are, and which of them can be used now.
//!
//! Built-in table, then the cache of fetched lists, then `models.json`: later ones win. Nothing
//! is fetched here.

mod builtin;
mod file;
mod known;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::auth::{Credentials, Stored};
use super::offline;
use super::{Dialect, Model, Secret, route};
use crate::error::Error;
use crate::sys::Env;
use builtin::{Auth, BUILTIN};
use known::Provider;

/// All providers, models and credentials, as they were when loaded.
#[derive(Debug)]
pub struct Catalog {
    providers: Vec<Provider>,
    credentials: Credentials,
    key_variables: Vec<String>,
    warnings: Vec<String>,
}

/// One row of a list of providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInfo {
    /// The part of a slug before the slash.
    pub name: String,
    /// The name for a person.
    pub display: String,
    /// `native`, `compatible` or `experimental`.
    pub tier: &'static str,
    /// The name of its wire format.
    pub dialect: &'static str,
    /// The kind of list its models can be asked for in.
    pub catalog: String,
    /// The path of the responses dialect, for providers that speak it.
    pub responses_mount: Option<String>,
    /// Where requests go, without user info, query and fragment.
    pub base_url: String,
    /// What it is signed in with.
    pub authentication: Authentication,
    /// How a person can sign in.
    pub sign_in: SignIn,
    /// Whether its models can be used.
    pub signed_in: bool,
    /// How many models are listed for it.
    pub models: usize,
}

/// How a person signs in to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignIn {
    /// With a key.
    Key,
    /// With an account, in a browser.
    Account,
    /// It needs nothing.
    None,
}

/// What a provider is signed in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// A key.
    ApiKey,
    /// A browser sign-in.
    OAuth,
    /// Nothing, and it needs nothing.
    None,
    /// Nothing, and it needs something.
    Missing,
}

impl Authentication {
    /// The spelling in listings.
    pub fn name(self) -> &'static str {
        match self {
            Authentication::ApiKey => "api_key",
            Authentication::OAuth => "oauth",
            Authentication::None => "none",
            Authentication::Missing => "missing",
        }
    }
}

impl Catalog {
    /// Reads `models.json`, `models-store.json` and `auth.json` of the home, where there is one.
    /// What is broken is skipped with a warning.
    pub fn load(home: Option<&Path>, env: &Env) -> Self {
        let mut warnings = Vec::new();
        let mut providers: Vec<Provider> = BUILTIN.iter().map(Provider::builtin).collect();
        if let Some(home) = home {
            for (name, models) in file::read_store(home) {
                if let Some(provider) = providers
                    .iter_mut()
                    .find(|provider| provider.template.provider == name)
                {
                    provider.add_cached(models);
                }
            }
            let is_known = |name: &str| BUILTIN.iter().any(|builtin| builtin.name == name);
            for entry in file::read(home, &is_known, &mut warnings) {
                if entry.name == offline::PROVIDER {
                    warnings.push(
                        "models.json: provider `offline` is skipped: the name is taken".to_owned(),
                    );
                    continue;
                }
                match providers
                    .iter_mut()
                    .find(|provider| provider.template.provider == entry.name)
                {
                    Some(provider) => provider.apply(entry),
                    None => providers.push(Provider::declared(entry)),
                }
            }
        }
        providers.push(Provider::offline());
        let variables = providers.iter().filter_map(|provider| {
            Some((
                provider.template.provider.as_str(),
                provider.variable.as_deref()?,
            ))
        });
        // A provider that takes its key from another variable leaves a key in the usual one.
        let usual = BUILTIN.iter().filter_map(|row| match row.auth {
            Auth::Key(variable) => Some(variable),
            Auth::Browser | Auth::Local => None,
        });
        let used = variables.clone().map(|(_, variable)| variable);
        let key_variables: BTreeSet<String> = usual.chain(used).map(str::to_owned).collect();
        let (credentials, more) = Credentials::load(home, env, variables);
        warnings.extend(more);
        Self {
            providers,
            credentials,
            key_variables: key_variables.into_iter().collect(),
            warnings,
        }
    }

    /// What was wrong with the files, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The credentials.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The key for a model's provider, if there is one.
    pub fn key_for(&self, model: &Model) -> Option<Secret> {
        self.credentials.key_for(&model.provider)
    }

    /// Every environment variable that may hold a provider key.
    pub fn key_variables(&self) -> &[String] {
        &self.key_variables
    }

    /// The models that can be used now, in the order of listings; the offline ones come last.
    pub fn models(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.providers
            .iter()
            .filter(|provider| self.is_open(provider))
            .flat_map(|provider| &provider.models)
    }

    /// The models that this build can ask.
    pub fn usable(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.models().filter(|model| model.dialect.is_spoken())
    }

    /// Whether anything but the offline models can be asked.
    pub fn is_signed_in(&self) -> bool {
        self.usable().any(|model| model.dialect != Dialect::Offline)
    }

    /// All providers with their state.
    pub fn providers(&self) -> impl Iterator<Item = ProviderInfo> {
        self.providers.iter().map(|provider| ProviderInfo {
            name: provider.template.provider.clone(),
            display: provider.display.clone(),
            tier: provider.tier,
            dialect: provider.template.dialect.name(),
            catalog: provider.catalog.clone(),
            responses_mount: provider.mount.clone(),
            base_url: route::safe_url(&provider.template.base_url),
            authentication: self.authentication(provider),
            sign_in: match (provider.auth, provider.template.dialect) {
                (_, Dialect::Offline) => SignIn::None,
                (Auth::Browser, _) => SignIn::Account,
                (Auth::Local, _) if !provider.declared => SignIn::None,
                (Auth::Key(_) | Auth::Local, _) => SignIn::Key,
            },
            signed_in: self.is_open(provider),
            models: provider.models.len(),
        })
    }

    /// The model that a name stands for: a slug or an id, any id of a provider whose models are
    /// not all known, or a part of just one slug. Offline models are meant when no other is.
    pub fn resolve(&self, name: &str) -> Result<Arc<Model>, Error> {
        let name = name.trim();
        let wanted = name.to_lowercase();
        let part = |offline: bool| {
            let mut matches = self
                .models()
                .filter(|model| (model.dialect == Dialect::Offline) == offline)
                .filter(|model| model.slug().to_lowercase().contains(&wanted));
            let first = matches.next().filter(|_| !wanted.is_empty());
            // Of several none is meant, not even an offline one.
            first.map(|first| matches.next().is_none().then(|| first.clone()))
        };
        let model = self
            .models()
            .find(|model| model.slug() == name)
            .or_else(|| self.models().find(|model| model.id == name))
            .cloned()
            .or_else(|| self.unlisted(name))
            .or_else(|| part(false).or_else(|| part(true)).flatten())
            .ok_or_else(|| self.unavailable(name))?;
        if model.dialect.is_spoken() {
            return Ok(model);
        }
        let text = format!(
            "model `{name}` is unavailable: this build does not speak `{}` yet",
            model.dialect.name()
        );
        Err(Error::usage(text).remedy("choose a model of another provider, or sign in to one"))
    }

    /// The model of the settings when it can be used, else the first that can. A text comes
    /// along when the settings name a model that cannot.
    pub fn default_model(
        &self,
        setting: Option<&str>,
    ) -> Result<(Arc<Model>, Option<String>), Error> {
        let mut notice = None;
        if let Some(name) = setting {
            match self.resolve(name) {
                Ok(model) => return Ok((model, None)),
                Err(error) => notice = Some(error.to_string()),
            }
        }
        let first = self
            .models()
            .find(|model| model.dialect.is_spoken() && model.dialect != Dialect::Offline);
        match (first, notice) {
            (Some(model), notice) => Ok((model.clone(), notice)),
            (None, Some(notice)) => Err(Error::usage(notice)),
            (None, None) => Err(Error::usage("no model is available").remedy(
                "sign in with a variable like `ANTHROPIC_API_KEY`, name a server in models.json, \
                 or try `--model offline/demo`, which needs neither key nor network",
            )),
        }
    }

    /// A model that no list has, of a provider whose list is not closed.
    fn unlisted(&self, name: &str) -> Option<Arc<Model>> {
        let (provider, id) = name.split_once('/')?;
        let provider = self.provider(provider)?;
        // A server on this machine is open when it is named.
        let open = self.is_open(provider) || provider.auth == Auth::Local;
        let accepts = open && !provider.listed && provider.template.dialect != Dialect::Offline;
        (accepts && !id.trim().is_empty()).then(|| Arc::new(provider.model(id)))
    }

    fn unavailable(&self, name: &str) -> Error {
        let error = Error::usage(format!("model `{name}` is unavailable"));
        let of_provider = name.split_once('/').map_or(name, |(provider, _)| provider);
        let known = self.provider(of_provider);
        if let Some(provider) = known.filter(|provider| !self.is_open(provider)) {
            let variable = provider
                .variable
                .as_ref()
                .map(|name| format!("set `{name}`, or "))
                .unwrap_or_default();
            return error.remedy(format!(
                "sign in to {}: {variable}put its key into auth.json",
                provider.display
            ));
        }
        let slugs: Vec<String> = self.models().map(|model| model.slug()).collect();
        let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
        let wanted = name.to_lowercase();
        let mut near = slugs.clone();
        near.retain(|slug| !wanted.is_empty() && slug.to_lowercase().contains(&wanted));
        if near.is_empty() {
            near = similar::get_close_matches(name, &slugs, 3, 0.5);
        }
        near.truncate(5);
        let near: Vec<String> = near.iter().map(|slug| format!("`{slug}`")).collect();
        match near.is_empty() {
            true => error.remedy(
                "see `e models` for what there is, or sign in to its provider (`e providers`)",
            ),
            false => error.remedy(format!(
                "did you mean {}, or sign in to another provider?",
                near.join(" or ")
            )),
        }
    }

    fn provider(&self, name: &str) -> Option<&Provider> {
        let mut providers = self.providers.iter();
        providers.find(|provider| provider.template.provider == name)
    }

    fn is_open(&self, provider: &Provider) -> bool {
        match provider.auth {
            _ if provider.declared => true,
            Auth::Local => !provider.models.is_empty(),
            Auth::Key(_) => self
                .credentials
                .key_for(&provider.template.provider)
                .is_some(),
            Auth::Browser => self
                .credentials
                .stored_for(&provider.template.provider)
                .is_some(),
        }
    }

    fn authentication(&self, provider: &Provider) -> Authentication {
        let name = &provider.template.provider;
        if self.credentials.key_for(name).is_some() {
            Authentication::ApiKey
        } else if matches!(
            self.credentials.stored_for(name),
            Some(Stored::OAuth { .. })
        ) {
            Authentication::OAuth
        } else if provider.declared || provider.auth == Auth::Local {
            Authentication::None
        } else {
            Authentication::Missing
        }
    }
}

#[cfg(test)]
mod tests;
