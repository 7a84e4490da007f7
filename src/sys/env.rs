//! A snapshot of the environment that every look-up and every child uses.
//!
//! Changing the process environment while threads run is undefined, so it is read once at start
//! and changed only as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Environment variables as a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
}

impl Env {
    /// The environment this process was started with.
    pub fn capture() -> Self {
        Self {
            vars: std::env::vars_os().collect(),
        }
    }

    /// The raw value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// A variable as text, when it is set, not blank, and UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?
            .to_str()
            .filter(|value| !value.trim().is_empty())
    }

    /// A variable as a path, when it is set and not empty.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    }

    /// Sets a variable in this snapshot.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.vars.insert(name.into(), value.into());
    }

    /// Removes a variable from this snapshot.
    pub fn remove(&mut self, name: &str) {
        self.vars.remove(OsStr::new(name));
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}
