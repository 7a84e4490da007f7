//! What the app wants done, and what comes back of it.
//!
//! Handlers change state and leave effects; `run` carries them out. Nothing that may take a while
//! is done in a handler: it becomes a task on a thread of its own.

use std::fmt;
use std::path::PathBuf;

use crate::agent::{Input, Past, Reason, RequestId, Selection, SessionSpec};
use crate::chat::Image;
use crate::config::trust::Decision;
use crate::error::Result;
use crate::session::{self, PastPrompt};
use crate::tui::clipboard::Clip;
use crate::tui::theme::Palette;
use crate::tui::transcript::{Block, Transcript};
use crate::tui::view::login::Provider;

use super::account::{SignedIn, Why};
use super::completion::Listed;
use super::extensions::Chosen;
use super::models::{Listing, Wanted};
use super::reload::Reloaded;
use super::tree::Rewound;

#[derive(Debug)]
pub enum Effect {
    Send(Input),
    /// Do this on a thread and hand back what comes of it.
    Task(Task),
    /// Write these bytes to the terminal, behind the next frame.
    Write(Vec<u8>),
    /// Paint the next frame at once: a person waits for it.
    Paint,
    Redraw,
    Palette(Palette),
    /// Edit this text in the user's editor.
    Edit(String),
    /// Stop until the shell continues e.
    Suspend,
    Quit(u8),
}

pub struct Task(pub Box<dyn FnOnce() -> Done + Send>);

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}

/// What came of an effect.
#[derive(Debug)]
pub enum Done {
    Opened(Result<Box<Opened>>),
    /// The editor has ended; the text as it was saved, or why it is not used.
    Edited(std::result::Result<String, String>),
    /// What was read for the draft, under the number of the read.
    Clip(u64, std::result::Result<Clip, String>),
    /// The image that a prompt begins with, if it does.
    Looked(u64, std::result::Result<Vec<Image>, Option<String>>),
    /// What a command looked up, to be opened unless that look-up is given up by now.
    Found(u64, Box<Done>),
    /// A task came to nothing, for this reason.
    Lost(String),
    /// Something to tell, and nothing else.
    Notice(String),
    /// What a picker over the draft offers.
    Listed(Listed),
    /// A line that waits for a file: its text, if there is any for it.
    Read(RequestId, Result<Option<String>>),
    Models(Wanted, Vec<Listing>),
    Selected(Result<Selection>),
    /// A model or an effort was looked up for an extension.
    Chosen(Chosen),
    Saved(Result<Vec<String>>),
    Themes(Vec<String>),
    /// What is recorded about the directory.
    Trusted(Decision),
    /// Who one can sign in to.
    Providers(Why, Vec<Provider>),
    SignedIn(Box<SignedIn>),
    Sessions(Result<Vec<session::Listed>>),
    /// What a person said in the session, on every branch.
    Tree(PathBuf, Result<Vec<PastPrompt>>),
    /// An earlier place of the session was read.
    Rewound(Result<Box<Rewound>>),
    /// Something to be shown: a title and tables.
    Blocks(String, Vec<Block>),
    /// Extensions were started anew, and the files of the home read.
    Reloaded(Box<Reloaded>),
}

/// A session that can begin.
#[derive(Debug)]
pub struct Opened {
    pub spec: SessionSpec,
    pub past: Past,
    pub transcript: Transcript,
    pub warnings: Vec<String>,
    pub reason: Reason,
}
