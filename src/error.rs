//! The one error type: what went wrong, what to do about it, and which exit status it means.
//!
//! Messages start lower-case, have no final full stop and quote user input in backticks. The
//! remedy is kept apart so that a frontend may print it after a dash or leave it out.

use std::fmt;

/// What class of failure this is. It decides the exit status and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The caller asked for something that cannot be understood or does not exist: status 2.
    Usage,
    /// The request was understood and failed: status 1.
    Failed,
}

/// A failure that reaches a person or a client.
#[derive(Clone, Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    remedy: Option<String>,
}

/// Shorthand used across the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A mistake in how e was called.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Usage,
            message: message.into(),
            remedy: None,
        }
    }

    /// A failure of something that was asked for correctly.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Failed,
            message: message.into(),
            remedy: None,
        }
    }

    /// Adds what the reader can do about it, shown after a dash.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Puts `prefix: ` before the message, where the path or name is known.
    pub fn context(mut self, prefix: impl fmt::Display) -> Self {
        self.message = format!("{prefix}: {}", self.message);
        self
    }

    /// The class of this failure.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The same failure as another class, for a caller that knows better.
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The process exit status that this failure stands for.
    pub fn status(&self) -> u8 {
        match self.kind {
            Kind::Usage => 2,
            Kind::Failed => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, " - {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::failed(io_text(&error))
    }
}

/// An I/O error in e's style: the system's text, lower-case, without the `(os error N)` tail.
pub fn io_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
