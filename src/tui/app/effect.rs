//! What the app wants done, and what comes back of it.
//!
//! Handlers change state and return effects; `run` carries them out. Nothing that may take a while
//! is done in a handler: it becomes a task on a thread of its own.

use std::fmt;
use std::path::PathBuf;

use crate::agent::{Input, Past, Reason, RequestId, Selection, SessionSpec};
use crate::chat::Image;
use crate::config::trust::Decision;
use crate::error::Result;
use crate::extension::ui::Show;
use crate::session::{self, PastPrompt};
use crate::tui::clipboard::Clip;
use crate::tui::theme::Palette;
use crate::tui::transcript::Transcript;
use crate::tui::view::login::Provider;

use super::account::{SignedIn, Why};
use super::completion::Listed;
use super::models::{Listing, Wanted};
use super::reload::Reloaded;
use super::tree::Rewound;

/// Something to be done.
#[derive(Debug)]
pub enum Effect {
    /// Tell the core.
    Send(Input),
    /// Do this on a thread and hand back what comes of it.
    Task(Task),
    /// Write these bytes to the terminal, behind the next frame.
    Write(Vec<u8>),
    /// Paint the next frame at once: a person waits for it.
    Paint,
    /// Paint everything anew.
    Redraw,
    /// Use these colours.
    Palette(Palette),
    /// Edit this text in the user's editor.
    Edit(String),
    /// Stop until the shell continues e.
    Suspend,
    /// End with this status.
    Quit(u8),
}

/// Work for a thread.
pub struct Task(pub Box<dyn FnOnce() -> Done + Send>);

impl Task {
    /// Work for a thread.
    pub fn new(work: impl FnOnce() -> Done + Send + 'static) -> Self {
        Self(Box::new(work))
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}

/// What came of an effect.
#[derive(Debug)]
pub enum Done {
    /// A session was opened, or could not be.
    Opened(Result<Box<Opened>>),
    /// The editor has ended; the text as it was saved, or why it is not used.
    Edited(std::result::Result<String, String>),
    /// What was read for the draft, under the number of the read.
    Clip(u64, std::result::Result<Clip, String>),
    /// The image that a prompt begins with, if it does.
    Looked(u64, Vec<Image>),
    /// A task came to nothing, for this reason.
    Lost(String),
    /// Something to tell, and nothing else.
    Notice(String),
    /// What a picker over the draft offers.
    Listed(Listed),
    /// A line that waits for a file: its text, if there is any for it.
    Read(RequestId, Result<Option<String>>),
    /// The models that can be used.
    Models(Wanted, Vec<Listing>),
    /// Another model was looked up.
    Selected(Result<Selection>),
    /// Settings were written.
    Saved(Result<Vec<String>>),
    /// The theme files.
    Themes(Vec<String>),
    /// What is recorded about the directory.
    Trusted(Decision),
    /// Who one can sign in to.
    Providers(Why, Vec<Provider>),
    /// A key was stored.
    SignedIn(Box<SignedIn>),
    /// The sessions there are.
    Sessions(Result<Vec<session::Listed>>),
    /// What a person said in the session, on every branch.
    Tree(PathBuf, Result<Vec<PastPrompt>>),
    /// An earlier place of the session was read.
    Rewound(Result<Box<Rewound>>),
    /// What all sessions cost, as a table.
    Usage(Show),
    /// Extensions were started anew, and the files of the home read.
    Reloaded(Box<Reloaded>),
}

/// A session that can begin.
#[derive(Debug)]
pub struct Opened {
    /// It.
    pub spec: SessionSpec,
    /// What it goes on from.
    pub past: Past,
    /// What shows of that.
    pub transcript: Transcript,
    /// What was wrong with the configuration, or with the log.
    pub warnings: Vec<String>,
    /// Why it begins.
    pub reason: Reason,
}
