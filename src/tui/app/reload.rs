//! `/reload`: extensions started anew, and the files of the home read again.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::look::theme;
use super::sessions::Awaited;
use super::{App, Done, Effect, completion, transcript_options};
use crate::agent::{Input, Process};
use crate::config::layout::Layout;
use crate::config::{Home, Settings};
use crate::extension::{Host, Registry};
use crate::tui::keymap::Keymap;
use crate::tui::theme::Background;

/// Starts the extensions as the command line asked for it, without their startup hooks. Blocks
/// until they are ready.
#[derive(Clone)]
pub struct Relaunch(Arc<dyn Fn() -> Host + Send + Sync>);

impl Relaunch {
    /// One that does this.
    pub fn new(launch: impl Fn() -> Host + Send + Sync + 'static) -> Self {
        Self(Arc::new(launch))
    }
}

impl fmt::Debug for Relaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Relaunch")
    }
}

/// What is to be gone on with.
#[derive(Debug)]
pub struct Reloaded {
    /// The extensions; none once the core has them.
    host: Option<Box<Host>>,
    registry: Arc<Registry>,
    files: Files,
}

/// The files of the home that tell how the app shall be.
#[derive(Debug)]
pub struct Files {
    pub settings: Settings,
    pub layout: Layout,
    pub keymap: Keymap,
    /// What is wrong with them.
    pub warnings: Vec<String>,
}

impl Files {
    pub fn load(home: &Home) -> Self {
        let (settings, mut warnings) = Settings::load(home);
        let (layout, more) = Layout::load(home);
        warnings.extend(more);
        let (keymap, more) = Keymap::load(home);
        warnings.extend(more);
        warnings.extend(theme(home, &settings, Background::Dark).1);
        Self {
            settings,
            layout,
            keymap,
            warnings,
        }
    }
}

impl App {
    /// Lets the extensions go, to start them anew.
    pub(super) fn reload(&mut self) {
        self.is_opening = true;
        self.request(Awaited::LetGo, |_, request| Input::LetGo(request));
    }

    /// The extensions were let go: they end and are started anew while everything goes on.
    pub(super) fn relaunch(&mut self, old: Box<Host>) {
        let (relaunch, home) = (self.relaunch.clone(), self.process.home.clone());
        self.task(move || {
            // One that holds on to something must have let go of it before it is started again.
            old.shut_down();
            let files = Files::load(&home);
            let host = (relaunch.0)();
            Done::Reloaded(Box::new(Reloaded {
                registry: host.registry().clone(),
                host: Some(Box::new(host)),
                files,
            }))
        })
    }

    /// The extensions are ready: the core goes on with them.
    pub(super) fn extend(&mut self, mut reloaded: Reloaded) {
        let Some(host) = reloaded.host.take() else {
            return;
        };
        let settings = Box::new(reloaded.files.settings.clone());
        self.request(Awaited::Extend(Box::new(reloaded)), |_, request| {
            Input::Extend {
                request,
                host,
                settings,
            }
        })
    }

    /// The core goes on with them.
    pub(super) fn reloaded(&mut self, reloaded: Reloaded, now: Instant) {
        self.is_opening = false;
        self.process = Arc::new(Process {
            extensions: reloaded.registry,
            ..(*self.process).clone()
        });
        self.settings = reloaded.files.settings;
        self.layout = reloaded.files.layout;
        self.keymap = reloaded.files.keymap;
        self.lists = completion::Lists::default();
        self.transcript
            .set_options(transcript_options(&self.settings));
        for warning in reloaded.files.warnings {
            self.tell(&format!("warning: {warning}"));
        }
        self.tell("extensions were started anew, and settings were read again");
        self.effects.push(Effect::Palette(self.palette()));
        self.carry_out(now);
    }
}
