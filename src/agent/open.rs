//! Opening a session: what the user chose, checked against what there is.
//!
//! All reading of settings, models, credentials and trust happens here, once per session, on the
//! caller's thread. What comes out is a [`SessionSpec`] that the core only looks at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use uuid::Uuid;

use super::toolset::Toolset;
use crate::chat::Image;
use crate::config::{Home, Settings, Trust};
use crate::error::{Error, Result};
use crate::extension::Registry;
use crate::provider::{self, Catalog, Model, Secret};
use crate::session::{self, Entry, Log, LogSpec};
use crate::sys::{self, Env, clock};
use crate::tools;

/// What all sessions of a process share.
#[derive(Clone, Debug)]
pub struct Process {
    /// Where e keeps its files.
    pub home: Home,
    /// The environment.
    pub env: Arc<Env>,
    /// A directory that this process trusts whatever is recorded, canonical.
    pub trusted: Option<PathBuf>,
    /// Connections, certificates, what was learned about servers.
    pub provider: provider::Context,
    /// What the extensions of this process add.
    pub extensions: Arc<Registry>,
}

/// What a caller asks for. `None` means the user's settings, then e's defaults.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The directory to work in.
    pub workspace: PathBuf,
    /// A model's slug, id, or a part that names one only.
    pub model: Option<String>,
    /// An effort level of that model.
    pub effort: Option<String>,
    /// Which tools.
    pub tools: Toolset,
    /// Whether to write a log.
    pub save: bool,
}

/// What answers in a session. It may change between turns.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The model.
    pub model: Arc<Model>,
    /// The key for it.
    pub key: Option<Secret>,
    /// The effort level, when the model has any.
    pub effort: Option<String>,
}

/// What a session goes on from.
#[derive(Debug, Default)]
pub struct Past {
    /// The history.
    pub entries: Vec<Entry>,
    /// The log's newest node.
    pub head: Option<String>,
    /// The display name.
    pub name: Option<String>,
    /// Tokens of the newest request and its reply, where the log tells them.
    pub context_tokens: u64,
    /// The log, opened for writing.
    pub log: Option<Log>,
}

/// Everything a session needs to know and never changes.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    /// The session's id: the one in the log's name.
    pub id: String,
    /// When it was opened, in Unix milliseconds.
    pub created_ms: u64,
    /// Its directory, canonical.
    pub workspace: PathBuf,
    /// Where e keeps its files.
    pub home: Home,
    /// What answers at first.
    pub selection: Selection,
    /// What it may use.
    pub tools: Toolset,
    /// The user's settings.
    pub settings: Settings,
    /// What was wrong with the configuration.
    pub warnings: Vec<String>,
    /// What the tools of this session share.
    pub runtime: Arc<tools::Runtime>,
    /// Connections of the process.
    pub provider: provider::Context,
    /// What the extensions of the process add.
    pub extensions: Arc<Registry>,
    save: bool,
}

impl Process {
    /// Checks a choice. Errors have the kind of a usage problem where the caller named something
    /// that does not exist. What is wrong with the configuration is added to `warnings`, also
    /// when this fails: it is often the reason.
    pub fn open(&self, choice: Choice, warnings: &mut Vec<String>) -> Result<SessionSpec> {
        let workspace = workspace(&choice.workspace)?;
        let (trust, more) = Trust::load(&self.home, self.trusted.clone());
        warnings.extend(more);
        trust.check(&workspace)?;
        let (settings, more) = Settings::load(&self.home);
        warnings.extend(more);
        let catalog = Catalog::load(self.home.dir(), &self.env);
        warnings.extend(catalog.warnings().iter().cloned());
        let selection = first(
            &catalog,
            &settings,
            choice.model.as_deref(),
            choice.effort,
            warnings,
        )?;
        let saves = choice.save && self.home.dir().is_some();
        if choice.save && !saves {
            warnings.push("there is no home directory, history is in memory only".into());
        }
        let id = Uuid::now_v7().to_string();
        let mut env = (*self.env).clone();
        for name in catalog.key_variables() {
            if !settings.bash_env_keep.contains(name) {
                env.remove(name);
            }
        }
        let spec = SessionSpec {
            created_ms: clock::now_ms(),
            home: self.home.clone(),
            runtime: Arc::new(tools::Runtime::new(workspace.clone(), env)),
            provider: self.provider.clone(),
            extensions: self.extensions.clone(),
            save: saves,
            tools: choice.tools,
            id,
            workspace,
            selection,
            settings,
            warnings: warnings.clone(),
        };
        spec.keep_undo(spec.log_spec().path());
        Ok(spec)
    }

    /// Fails when there is no such model, or no such effort of it, though there are models.
    pub fn check(
        &self,
        model: Option<&str>,
        effort: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        if model.or(effort).is_none() {
            return Ok(());
        }
        let (settings, more) = Settings::load(&self.home);
        warnings.extend(more);
        let catalog = Catalog::load(self.home.dir(), &self.env);
        warnings.extend(catalog.warnings().iter().cloned());
        let effort = effort.map(str::to_owned);
        match first(&catalog, &settings, model, effort, warnings) {
            Err(error) if catalog.is_signed_in() => Err(error),
            _ => Ok(()),
        }
    }

    /// Another model or effort for a session, checked together.
    pub fn select(
        &self,
        current: &Selection,
        model: Option<&str>,
        asked: Option<String>,
    ) -> Result<Selection> {
        let catalog = Catalog::load(self.home.dir(), &self.env);
        let model = match model {
            Some(name) => catalog.resolve(name)?,
            None => current.model.clone(),
        };
        let effort = effort(&model, asked, current.effort.as_deref())?;
        let key = catalog.key_for(&model);
        Ok(Selection { model, key, effort })
    }

    /// The conversation in a log. With `save` it goes on in that file, which is locked and mended;
    /// without, nothing about the file changes. Also tells the log's id and what was wrong.
    pub fn resume(&self, path: &Path, save: bool) -> Result<(Past, String, Vec<String>)> {
        let (log, loaded) = if save {
            let (log, loaded) = Log::reopen(&self.home, path)?;
            (Some(log), loaded)
        } else {
            (None, session::load(path)?)
        };
        let past = Past {
            entries: loaded.messages,
            head: loaded.head,
            name: loaded.name,
            context_tokens: loaded.context_tokens,
            log,
        };
        Ok((past, loaded.header.id, loaded.warnings))
    }
}

impl SessionSpec {
    /// Whether the session writes a log.
    pub fn saves(&self) -> bool {
        self.save
    }

    /// The same session under a name of its own, with nothing in common but its history.
    pub fn fork(&self, selection: Selection) -> Self {
        let env = self.runtime.env().clone();
        let fork = Self {
            id: Uuid::now_v7().to_string(),
            created_ms: clock::now_ms(),
            runtime: Arc::new(tools::Runtime::new(self.workspace.clone(), env)),
            selection,
            ..self.clone()
        };
        fork.keep_undo(fork.log_spec().path());
        fork
    }

    /// The session that goes on from a past, under the id of its log.
    pub fn resumed(self, id: String, past: &Past) -> Self {
        let log = past.log.as_ref().map(|log| log.path().to_path_buf());
        self.keep_undo(log);
        Self { id, ..self }
    }

    /// Keeps what can be taken back beside a log.
    fn keep_undo(&self, log: Option<PathBuf>) {
        if let Some(log) = log.filter(|_| self.save) {
            self.runtime.keep_undo_in(log.with_extension("undo"));
        }
    }

    /// The same session with other settings and extensions.
    pub fn reloaded(&self, settings: Settings, extensions: Arc<Registry>) -> Self {
        Self {
            settings,
            extensions,
            ..self.clone()
        }
    }

    /// What the log is created from.
    pub fn log_spec(&self) -> LogSpec {
        LogSpec {
            home: self.home.clone(),
            workspace: self.workspace.clone(),
            id: self.id.clone(),
            created: self.created_ms,
            model: self.selection.model.slug(),
        }
    }
}

#[cfg(test)]
impl SessionSpec {
    /// A session that saves nothing, with a model that accepts all.
    pub fn for_test() -> Self {
        let model = Model {
            provider: "test".into(),
            id: "m".into(),
            base_url: "http://127.0.0.1:9".into(),
            dialect: provider::Dialect::Completions,
            context_window: 64_000,
            effort: Vec::new(),
            thinking: None,
            max_output: None,
            supports_tools: true,
            image_input: true,
            pricing: None,
        };
        let workspace = PathBuf::from("/nowhere");
        Self {
            id: "s".into(),
            created_ms: 0,
            runtime: Arc::new(tools::Runtime::new(workspace.clone(), Env::default())),
            workspace,
            home: Home::at("/nowhere"),
            selection: Selection {
                model: Arc::new(model),
                key: None,
                effort: None,
            },
            tools: Toolset::all(),
            settings: Settings::default(),
            warnings: Vec::new(),
            provider: provider::Context::new(&Env::default()),
            extensions: Arc::default(),
            save: false,
        }
    }

    /// Makes it a session that writes a log.
    pub fn save_for_test(&mut self) {
        self.save = true;
    }
}

/// Reads images for a prompt: real ones, within the limits, for a model that takes them.
pub fn read_images(paths: &[PathBuf], model: &Model) -> Result<Vec<Image>> {
    if !paths.is_empty() && !model.image_input {
        let message = format!("`{}` takes no image input", model.slug());
        return Err(Error::usage(message).remedy(
            "choose another model, leave the image out, or set `image_input` in models.json",
        ));
    }
    read_image_files(paths)
}

/// Reads the images of a prompt whose model is not known yet.
pub fn read_image_files(paths: &[PathBuf]) -> Result<Vec<Image>> {
    if paths.len() > Image::MAX_FILES {
        let message = format!(
            "{} images are too many, {} is the most",
            paths.len(),
            Image::MAX_FILES
        );
        return Err(Error::usage(message));
    }
    let mut total = 0;
    paths
        .iter()
        .map(|path| {
            let image = |error: Error| {
                error
                    .with_kind(crate::error::Kind::Usage)
                    .context(format!("image `{}`", path.display()))
            };
            let bytes = sys::fs::read_regular(path, Image::MAX_FILE);
            let bytes = bytes.map_err(|error| image(error.into()))?;
            total += bytes.len() as u64;
            if total > Image::MAX_TOTAL {
                let message = format!(
                    "the images together are over {} MiB",
                    Image::MAX_TOTAL >> 20
                );
                return Err(Error::usage(message));
            }
            let media_type = Image::media_type_of(&bytes)
                .ok_or_else(|| image(Error::usage("is not a PNG, JPEG, GIF or WebP file")))?;
            Ok(Image {
                media_type: media_type.into(),
                data: BASE64.encode(&bytes),
            })
        })
        .collect()
}

fn workspace(path: &Path) -> Result<PathBuf> {
    let real = path
        .canonicalize()
        .map_err(|error| Error::from(error).context(format!("`{}`", path.display())))?;
    if !real.is_dir() {
        return Err(Error::failed(format!(
            "`{}` is not a directory",
            path.display()
        )));
    }
    Ok(real)
}

/// The asked level if the model has it; else the user's, `high`, or the first it has.
/// What answers at first.
fn first(
    catalog: &Catalog,
    settings: &Settings,
    model: Option<&str>,
    asked: Option<String>,
    warnings: &mut Vec<String>,
) -> Result<Selection> {
    let model = match model {
        Some(name) => catalog.resolve(name)?,
        None => {
            let (model, warning) = catalog.default_model(settings.model.as_deref())?;
            warnings.extend(warning);
            model
        }
    };
    let effort = effort(&model, asked, settings.effort.as_deref())?;
    let key = catalog.key_for(&model);
    Ok(Selection { model, key, effort })
}

fn effort(model: &Model, asked: Option<String>, preferred: Option<&str>) -> Result<Option<String>> {
    let levels = &model.effort;
    if let Some(level) = asked {
        if levels.contains(&level) {
            return Ok(Some(level));
        }
        let message = format!("`{}` does not support effort `{level}`", model.slug());
        return Err(Error::usage(message).remedy(if levels.is_empty() {
            "its levels: none; models.json can name some as `effort`".into()
        } else {
            format!("its levels: {}", levels.join(", "))
        }));
    }
    let find = |level: &str| levels.iter().find(|one| *one == level);
    Ok(preferred
        .and_then(find)
        .or_else(|| find("high"))
        .or(levels.first())
        .cloned())
}
