//! The state of the terminal app, and how events change it.
//!
//! One value, stepped by events, without I/O: keys, what the core says, what tasks come to, time.
//! Handlers leave what is to be done in `App::effects`, which the loop takes. What the screen shows
//! is computed from here when a frame is built (`render`); nothing is kept beside it.

mod account;
mod commands;
mod completion;
mod core;
mod deaf;
mod effect;
mod extensions;
mod general;
mod images;
mod keys;
mod look;
mod models;
mod pickers;
mod preferences;
mod queue;
mod reader;
mod reload;
mod render;
mod resume;
mod scroll;
mod session;
mod sessions;
mod shell;
mod submit;
mod surface;
#[cfg(test)]
mod tests;
mod tree;
mod trust;
mod turn;
mod usage;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::composer::Composer;
use super::keymap::Keymap;
use super::theme::Background;
use super::transcript::{Options, Transcript};
use crate::agent::{Process, RequestId, SessionKey};
use crate::chat::Image;
use crate::config::history::History;
use crate::config::layout::Layout;
use crate::config::resources::{Place, places};
use crate::config::{Home, Settings};
use crate::extension::AskId;

pub use commands::names as command_names;
pub use effect::{Done, Effect, Opened, Task};
use reload::Files;
pub use reload::Relaunch;
pub use session::Session;
pub use surface::Surface;
pub use turn::Turn;

/// How long ctrl+c stays armed for the second one.
const ARMED: Duration = Duration::from_millis(1500);

/// What is wrong with the files of a home, as the app tells it at its start.
pub fn warnings(home: &Home) -> Vec<String> {
    Files::load(home).warnings
}

/// What the command line asks of the app.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TuiOptions {
    /// A first prompt.
    pub prompt: Option<String>,
    /// Images that go with it.
    pub images: Vec<Image>,
    /// The model to use.
    pub model: Option<String>,
    /// The effort to use.
    pub effort: Option<String>,
    /// No session offers or runs tools.
    pub no_tools: bool,
    /// No session writes a log.
    pub no_save: bool,
    /// Go on with the newest session of this directory.
    pub resume_newest: bool,
    /// Open the list of sessions.
    pub resume_picker: bool,
}

#[derive(Debug)]
pub struct App {
    /// What is to be done, in this order.
    effects: Vec<Effect>,
    process: Arc<Process>,
    cwd: PathBuf,
    options: TuiOptions,
    settings: Settings,
    layout: Layout,
    keymap: Keymap,
    transcript: Transcript,
    /// Where the conversation is looked at.
    scroll: scroll::Scroll,
    reader: Option<reader::Reader>,
    /// What waits for the turn, or until nothing runs.
    queue: queue::Queue,
    /// An image or a text that is being read for the draft.
    reading: Option<images::Reading>,
    /// Why the image that was pasted last stays a path.
    told_of_image: Option<String>,
    composer: Composer,
    /// The session, once there is one.
    session: Option<Session>,
    surface: Option<Surface>,
    /// Why there is no session, where signing in would not help.
    no_session: Option<String>,
    /// A prompt that waits for a session.
    held_prompt: Option<submit::Line>,
    /// Lines on their way through the input hooks, in the order they were submitted.
    submitted: VecDeque<submit::Submitted>,
    /// What the editor was given: the text, and the question that it answers.
    edits: (Option<AskId>, String),
    /// What the pickers over the draft offer.
    lists: completion::Lists,
    /// Settings on their way into the file.
    unsaved: preferences::Unsaved,
    /// Presses of the keys for the next model while one is looked up.
    cycling: Option<isize>,
    /// A session is being opened, or put in another place: lines wait.
    is_opening: bool,
    /// The list of sessions that e began with is open: a prompt waits for the choice.
    awaits_pick: bool,
    /// A fresh session that opens after all begins with the banner.
    awaits_banner: bool,
    /// Requests of commands whose answers are awaited, and what for.
    awaited: HashMap<RequestId, sessions::Awaited>,
    /// Starts the extensions anew.
    relaunch: Relaunch,
    armed_until: Option<Instant>,
    /// When the person last wrote something.
    typed_at: Option<Instant>,
    deaf: deaf::Deaf,
    /// The field of a secret was taken away from who typed it: keys are dropped.
    lost_secret: deaf::Deaf,
    /// How often everything that opens was closed.
    look_ups: u64,
    extensions: extensions::Extensions,
    /// Where accepted prompts are kept.
    history: History,
    /// What the terminal's background is like, once it is known.
    background: Option<Background>,
    /// What was wrong with files so far.
    warnings: Vec<String>,
    /// Why e ends, when that is to be told on the ordinary screen.
    farewell: Option<String>,
    last_request: u64,
    last_session: u64,
}

impl App {
    /// The app before its first event.
    pub fn new(
        process: Arc<Process>,
        cwd: PathBuf,
        mut options: TuiOptions,
        relaunch: Relaunch,
    ) -> Self {
        let images = std::mem::take(&mut options.images);
        let held_prompt = options.prompt.take().map(|text| submit::Line {
            images,
            ..submit::Line::of(text)
        });
        let (history, earlier) = History::open(&process.home);
        let Files {
            settings,
            layout,
            keymap,
            warnings,
        } = Files::load(&process.home);
        Self {
            effects: Vec::new(),
            transcript: Transcript::new(transcript_options(&settings)),
            keymap,
            scroll: scroll::Scroll::default(),
            reader: None,
            queue: queue::Queue::default(),
            reading: None,
            told_of_image: None,
            composer: Composer::new(earlier),
            held_prompt,
            process,
            cwd,
            options,
            settings,
            layout,
            session: None,
            surface: None,
            no_session: None,
            submitted: VecDeque::new(),
            edits: (None, String::new()),
            lists: completion::Lists::default(),
            unsaved: preferences::Unsaved::default(),
            cycling: None,
            is_opening: false,
            awaits_pick: false,
            awaits_banner: false,
            awaited: HashMap::new(),
            relaunch,
            armed_until: None,
            typed_at: None,
            deaf: deaf::Deaf::No,
            lost_secret: deaf::Deaf::No,
            look_ups: 0,
            extensions: extensions::Extensions::default(),
            history,
            background: None,
            warnings,
            farewell: None,
            last_request: 0,
            last_session: 0,
        }
    }

    /// Tells what is wrong with a file. What was told already is not told again.
    fn warn(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.tell(&format!("warning: {warning}"));
                self.warnings.push(warning);
            }
        }
    }

    /// Hands out what is to be done since this was last called, in order.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// When [`App::on_time`] has something to do.
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        let turn = self.running().and_then(|turn| turn.next_change(now));
        [self.armed_until, turn].into_iter().flatten().min()
    }

    pub fn on_time(&mut self, now: Instant) {
        self.armed_until = self.armed_until.filter(|until| now < *until);
    }

    /// A task or the editor has ended.
    pub fn on_done(&mut self, done: Done) {
        match done {
            Done::Opened(opened) => self.opened(opened),
            Done::Clip(number, clip) => self.clip_read(number, clip, Instant::now()),
            Done::Looked(number, images) => self.looked(number, images, Instant::now()),
            Done::Edited(Ok(text)) => self.edited(&text),
            Done::Edited(Err(why)) | Done::Notice(why) => self.tell(&why),
            Done::Found(number, done) => {
                if number == self.look_ups {
                    self.on_done(*done);
                }
            }
            Done::Lost(why) => self.task_lost(&why),
            Done::Listed(listed) => self.listed(listed),
            Done::Read(request, text) => self.read(request, text, Instant::now()),
            Done::Models(wanted, models) => self.models_listed(wanted, models),
            Done::Selected(selected) => self.selected(selected),
            Done::Chosen(chosen) => self.extension_chose(chosen),
            Done::Saved(saved) => self.settings_saved(saved),
            Done::Themes(themes) => self.open_settings(themes),
            Done::Trusted(decision) => self.offer_trust(decision),
            Done::Providers(why, providers) => self.open_login(why, providers),
            Done::SignedIn(done) => self.signed_in(*done),
            Done::Sessions(listed) => self.sessions_listed(listed),
            Done::Tree(log, prompts) => self.open_tree(log, prompts),
            Done::Rewound(rewound) => self.rewind(rewound),
            Done::Blocks(title, blocks) => self.transcript.push_blocks(&title, blocks),
            Done::Reloaded(reloaded) => self.extend(*reloaded),
        }
    }

    /// Says something in the transcript.
    fn tell(&mut self, text: &str) {
        self.transcript.push_notice(text);
    }

    /// Looks up what is to be opened. Who closes everything meanwhile does not want it any more.
    fn look_up(&mut self, work: impl FnOnce() -> Done + Send + 'static) {
        let number = self.look_ups;
        self.task(move || Done::Found(number, Box::new(work())));
    }

    /// Hands a thread some work.
    fn task(&mut self, work: impl FnOnce() -> Done + Send + 'static) {
        self.effects.push(Effect::Task(Task(Box::new(work))));
    }

    /// Which task came to nothing is not known, so nothing waits for one any longer.
    fn task_lost(&mut self, why: &str) {
        self.transcript.push_error(why);
        self.is_opening = false;
        self.reading = None;
        self.cycling = None;
        self.unsaved.is_writing = false;
        self.refuse_choices(why);
        self.give_up_waiting(|line| line.awaits_task());
        if self.session.is_none() {
            self.give_up_waiting(|_| true);
        }
        self.carry_out(Instant::now());
    }

    /// The directory that is worked in.
    fn workspace(&self) -> &Path {
        let session = self.session.as_ref();
        session.map_or(&self.cwd, |session| &session.workspace)
    }

    /// Where skills and templates are looked for. A session means that its workspace is trusted.
    fn places(&self) -> Vec<Place> {
        let workspace = self.session.as_ref().map(|session| &*session.workspace);
        places(&self.process.home, workspace)
    }

    fn turn(&self) -> Option<&Turn> {
        self.session.as_ref()?.turn.as_ref()
    }

    /// The running turn or command.
    fn running(&self) -> Option<&Turn> {
        let session = self.session.as_ref()?;
        session.turn.as_ref().or(session.shell.as_ref())
    }

    /// Something to be said on the ordinary screen at the end.
    pub fn set_farewell(&mut self, why: &str) {
        self.farewell = Some(why.to_owned());
    }

    /// What is to be said on the ordinary screen at the end.
    pub fn farewell(&self) -> Option<&str> {
        self.farewell.as_deref()
    }

    fn history_append(&mut self, text: &str) {
        if !self.options.no_save {
            self.history.append(text);
        }
    }

    fn next_request(&mut self) -> RequestId {
        self.last_request += 1;
        RequestId(self.last_request)
    }

    fn next_session(&mut self) -> SessionKey {
        self.last_session += 1;
        SessionKey(self.last_session)
    }
}

fn transcript_options(settings: &Settings) -> Options {
    let or = |text: &Option<String>, default: String| {
        text.as_deref()
            .map_or(default, |text| crate::text::one_line(text, None))
    };
    let defaults = Options::default();
    Options {
        show_thinking: settings.show_thinking.as_deref() == Some("on"),
        label_rows: settings.tool_label_rows as usize,
        preview_rows: settings.tool_preview_rows as usize,
        history_limit: settings.tool_history_limit as usize,
        thinking_hint: or(&settings.thinking_hint, defaults.thinking_hint),
        history_hint: or(&settings.tool_history_hint, defaults.history_hint),
        view_hint: defaults.view_hint,
    }
}
