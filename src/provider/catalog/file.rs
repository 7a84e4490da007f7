//! Reading `models.json` and the cache `models-store.json`.
//!
//! Both are read leniently, entry by entry: a broken one is skipped with a warning that says
//! where it stands, and the rest is used.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::chat::Pricing;
use crate::config::store::InOrder;
use crate::provider::{Dialect, Model, Thinking};

/// Largest file, in bytes.
const LIMIT: u64 = 16 << 20;

/// An entry of `models.json`, checked.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) base_url: Option<String>,
    pub(super) dialect: Option<Dialect>,
    pub(super) catalog: Option<String>,
    pub(super) mount: Option<String>,
    pub(super) key_env: Option<String>,
    pub(super) facts: Facts,
    /// `None` when the entry lists no models, which is not the same as an empty list.
    pub(super) models: Option<Vec<(String, Facts)>>,
}

/// What an entry says about models. What it leaves out stays as it was.
#[derive(Default, Deserialize)]
pub(super) struct Facts {
    effort: Option<Vec<String>>,
    context_window: Option<u64>,
    thinking: Option<ThinkingName>,
    max_output: Option<u64>,
    supports_tools: Option<bool>,
    image_input: Option<bool>,
    pricing: Option<Prices>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ThinkingName {
    Adaptive,
    Manual,
}

#[derive(Clone, Copy, Deserialize)]
struct Prices {
    input_per_million: f64,
    output_per_million: f64,
    cache_read_per_million: Option<f64>,
    cache_write_5m_per_million: Option<f64>,
    cache_write_1h_per_million: Option<f64>,
}

#[derive(Deserialize)]
struct Head<'a> {
    base_url: Option<String>,
    api: Option<String>,
    catalog: Option<String>,
    responses_mount: Option<String>,
    key_env: Option<String>,
    #[serde(borrow)]
    models: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
struct File<'a> {
    /// Their order matters: the first that is signed in to is the default.
    #[serde(borrow, default)]
    providers: InOrder<'a>,
}

impl Facts {
    /// Lays these facts over a model.
    pub(super) fn apply(&self, model: &mut Model) {
        if let Some(effort) = &self.effort {
            model.effort.clone_from(effort);
        }
        if let Some(window) = self.context_window {
            model.context_window = window;
        }
        if let Some(thinking) = self.thinking {
            model.thinking = Some(match thinking {
                ThinkingName::Adaptive => Thinking::Adaptive,
                ThinkingName::Manual => Thinking::Manual,
            });
        }
        model.max_output = self.max_output.or(model.max_output);
        model.supports_tools = self.supports_tools.unwrap_or(model.supports_tools);
        model.image_input = self.image_input.unwrap_or(model.image_input);
        if let Some(prices) = self.pricing {
            model.pricing = Some(Pricing {
                input: prices.input_per_million,
                output: prices.output_per_million,
                cache_read: prices.cache_read_per_million,
                cache_write_5m: prices.cache_write_5m_per_million,
                cache_write_1h: prices.cache_write_1h_per_million,
            });
        }
    }
}

/// The sound entries of `models.json`, in the order of the file. `is_known` tells the names
/// that need no base URL.
pub(super) fn read(
    home: &Path,
    is_known: &dyn Fn(&str) -> bool,
    warnings: &mut Vec<String>,
) -> Vec<Entry> {
    let mut warn = |text: String| warnings.push(format!("models.json: {text}"));
    let bytes = match crate::sys::fs::read_regular(&home.join("models.json"), LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if crate::sys::fs::is_missing(&error) => return Vec::new(),
        Err(error) => {
            warn(crate::error::io_text(&error));
            return Vec::new();
        }
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        warn("it is not UTF-8".to_owned());
        return Vec::new();
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: File<'_> = match serde_json::from_str(text) {
        // Serde takes a list for a struct.
        Ok(_) if !text.trim_start().starts_with('{') => {
            warn("it is not an object at line 1 column 1".to_owned());
            return Vec::new();
        }
        Ok(file) => file,
        Err(error) => {
            warn(error.to_string());
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    for (name, raw) in file.providers.0 {
        match entry(text, &name, raw, is_known, &mut warn) {
            Ok(entry) => entries.push(entry),
            Err(problem) => warn(format!("provider `{name}` is skipped: {problem}")),
        }
    }
    entries
}

fn entry(
    text: &str,
    name: &str,
    raw: &RawValue,
    is_known: &dyn Fn(&str) -> bool,
    warn: &mut dyn FnMut(String),
) -> Result<Entry, String> {
    let here = |problem: &str| {
        let (line, column) = position(text, raw);
        format!("{problem} at line {line} column {column}")
    };
    if name.is_empty() || name.contains(['/', ' ']) {
        return Err(here("its name has a slash or a space, or is empty"));
    }
    if !raw.get().starts_with('{') {
        return Err(here("it is no object"));
    }
    let head: Head<'_> = parse(text, raw)?;
    if head.base_url.is_none() && !is_known(name) {
        return Err(here("it has no `base_url`"));
    }
    if head.base_url.as_deref().is_some_and(|url| !is_web(url)) {
        return Err(here("its `base_url` is no http or https URL"));
    }
    let dialect = match &head.api {
        Some(api) => {
            Some(Dialect::from_name(api).ok_or_else(|| here(&format!("there is no api `{api}`")))?)
        }
        None => None,
    };
    let mut models = head
        .models
        .as_ref()
        .map(|list| Vec::with_capacity(list.len()));
    for raw in head.models.into_iter().flatten() {
        let model = match raw.get().starts_with('"') {
            true => parse::<String>(text, raw).map(|id| (id, Facts::default())),
            false if !raw.get().starts_with('{') => Err(here("it is no text and no object")),
            false => parse::<Named>(text, raw).and_then(|named| Ok((named.id, parse(text, raw)?))),
        };
        match model {
            Ok(model) if !model.0.trim().is_empty() => models.get_or_insert_default().push(model),
            Ok(_) => warn(format!(
                "a model of `{name}` is skipped: {}",
                here("it has no id")
            )),
            Err(problem) => warn(format!("a model of `{name}` is skipped: {problem}")),
        }
    }
    Ok(Entry {
        name: name.to_owned(),
        base_url: head.base_url,
        dialect,
        catalog: head.catalog,
        mount: head.responses_mount,
        key_env: head.key_env,
        facts: parse(text, raw)?,
        models,
    })
}

/// Parses a part of the file; an error says where in the whole file it is.
fn parse<'a, T: Deserialize<'a>>(text: &str, raw: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| {
        let (line, column) = position(text, raw);
        let (line, column) = match error.line() {
            0 | 1 => (line, column + error.column().saturating_sub(1)),
            below => (line + below - 1, error.column()),
        };
        let problem = error.to_string();
        let problem = problem
            .split(" at line ")
            .next()
            .unwrap_or(&problem)
            .to_owned();
        format!("{problem} at line {line} column {column}")
    })
}

/// Line and column, both from 1, at which a part of the text begins.
fn position(text: &str, raw: &RawValue) -> (usize, usize) {
    let offset = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    (
        line,
        before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1,
    )
}

/// The ids that a provider listed when last asked, each with the window it gave.
pub(super) type Listing = Vec<(String, Option<u64>)>;

/// The cached lists, by provider.
pub(super) fn read_store(home: &Path) -> Vec<(String, Listing)> {
    #[derive(Deserialize)]
    struct Cached {
        models: Vec<Listed>,
    }
    #[derive(Deserialize)]
    struct Listed {
        id: String,
        context_window: Option<u64>,
    }
    // A cache is rebuilt when it is asked for again, so a broken one is as good as none.
    let Ok(bytes) = crate::sys::fs::read_regular(&home.join("models-store.json"), LIMIT) else {
        return Vec::new();
    };
    let Ok(InOrder(entries)) = serde_json::from_slice(&bytes) else {
        return Vec::new();
    };
    entries
        .into_iter()
        .filter_map(|(name, raw)| {
            let cached: Cached = serde_json::from_str(raw.get()).ok()?;
            Some((
                name,
                cached
                    .models
                    .into_iter()
                    .map(|model| (model.id, model.context_window))
                    .collect(),
            ))
        })
        .collect()
}

fn is_web(url: &str) -> bool {
    let uri = url.parse::<ureq::http::Uri>();
    uri.is_ok_and(|uri| uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https")))
}
