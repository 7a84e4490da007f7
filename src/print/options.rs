//! What the command line asks of `e -p`.

use std::path::PathBuf;

use crate::agent::Limits;

/// Options of one headless turn, already parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintOptions {
    /// The positional words, joined by spaces for the prompt.
    pub prompt: Vec<String>,
    /// Event lines instead of text.
    pub json: bool,
    /// The model to use.
    pub model: Option<String>,
    /// The effort level to use.
    pub effort: Option<String>,
    /// Images to attach.
    pub images: Vec<PathBuf>,
    /// Offer and run no tools.
    pub no_tools: bool,
    /// Keep the session in memory.
    pub no_save: bool,
    /// What the turn may use up.
    pub limits: Limits,
}
