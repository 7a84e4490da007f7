//! What a person adds as text: skills, which tell the model how to do a kind of work, and prompt
//! templates, which become slash commands.
//!
//! Both are read anew on each use, from the workspace, then from the home; of two with one name the
//! workspace's wins. A file that cannot be used costs that file, and is told. Whoever calls has made sure that the
//! workspace is trusted.

mod front_matter;
mod skills;
mod templates;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Home;
use crate::sys;
pub use skills::{Skill, catalog, said_to_skill, skills};
pub use templates::{Template, template, templates};

/// Largest file of a skill or a template, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Most entries of one directory that are looked at.
const MAX_ENTRIES: usize = 1000;

/// Where a resource comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The home: it is there in every workspace.
    Global,
    /// The workspace.
    Workspace,
}

impl Origin {
    /// Its name for a person.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Global => "Global",
            Origin::Workspace => "Workspace",
        }
    }
}

/// A directory that may hold `skills` and `prompts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is.
    pub origin: Origin,
    /// The directory.
    pub dir: PathBuf,
}

/// Where to look; of two resources with one name the one of the earlier place wins. `workspace` is a
/// trusted one.
pub fn places(home: &Home, workspace: Option<&Path>) -> Vec<Place> {
    let place = |origin, dir| Place { origin, dir };
    let workspace = workspace.map(|dir| place(Origin::Workspace, dir.join(".e")));
    let home = home
        .dir()
        .map(|dir| place(Origin::Global, dir.to_path_buf()));
    workspace.into_iter().chain(home).collect()
}

/// Everything of a kind, by name: what `read` makes of the entries of the directories `kind`. What is left
/// out of it for a reason is told.
fn collect<T>(
    places: &[Place],
    kind: &str,
    read: impl Fn(&Path, Origin) -> Result<Option<(String, T)>, String>,
) -> (Vec<T>, Vec<String>) {
    let (mut found, mut warnings) = (BTreeMap::new(), Vec::new());
    for place in places {
        for path in entries(&place.dir.join(kind)) {
            match read(&path, place.origin) {
                Ok(Some((name, resource))) => {
                    found.entry(name).or_insert(resource);
                }
                Ok(None) => {}
                Err(why) => warnings.push(format!("ignoring `{}`: {why}", path.display())),
            }
        }
    }
    (found.into_values().collect(), warnings)
}

/// The paths in a directory, in the order of their names.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let entries = entries.flatten().take(MAX_ENTRIES);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read_text(path: &Path) -> io::Result<String> {
    let bytes = sys::fs::read_regular(path, MAX_FILE)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
