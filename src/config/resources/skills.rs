//! Skills: a directory with a `SKILL.md` that tells how a kind of work is done.

use std::io;
use std::path::PathBuf;

use super::{Origin, Place, collect, front_matter, read_text};
use crate::error::{Error, Result, io_text};
use crate::sys::fs::is_missing;
use crate::text::one_line;

/// The file that makes a directory a skill.
const FILE: &str = "SKILL.md";
/// Most columns of a description in the system prompt.
const DESCRIPTION: usize = 1000;

/// What the place of a skill is told with, between its text and what the person says to it.
const PLACE: &str = "The directory of this skill is `";

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is called.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The directory that holds its file and whatever that names.
    pub dir: PathBuf,
    /// Whether the model is told about it.
    pub is_offered: bool,
}

/// All skills, by name, and what is wrong with other files.
pub fn skills(places: &[Place]) -> (Vec<Skill>, Vec<String>) {
    collect(places, "skills", |dir, origin| {
        let text = match read_text(&dir.join(FILE)) {
            Err(error) if is_missing(&error) => return Ok(None),
            text => text.map_err(|error| io_text(&error))?,
        };
        let (keys, _) = front_matter::parse(&text);
        let text = |key: &str| keys.get(key).map(|text| one_line(text, None));
        let folder = dir.file_name().unwrap_or_default().to_string_lossy();
        let name = text("name").filter(|name| !name.trim().is_empty());
        let name = name.unwrap_or_else(|| one_line(&folder, None));
        let is_hidden = keys.get("disable-model-invocation");
        let skill = Skill {
            name: name.trim().to_owned(),
            description: text("description").unwrap_or_default(),
            origin,
            dir: dir.to_path_buf(),
            is_offered: is_hidden.is_none_or(|value| value != "true"),
        };
        Ok(Some((skill.name.clone(), skill)))
    })
}

/// What the system prompt says about skills; nothing when none is to be offered.
pub fn catalog(skills: &[Skill]) -> Option<String> {
    let lines: Vec<String> = skills
        .iter()
        .filter(|skill| skill.is_offered)
        .map(|skill| {
            let path = skill.file().to_string_lossy().into_owned();
            let path = serde_json::Value::from(path);
            let description = one_line(&skill.description, Some(DESCRIPTION));
            format!("- {}: {description} {path}", skill.name)
        })
        .collect();
    (!lines.is_empty()).then(|| {
        format!(
            "<skills>\nInstructions for kinds of work, each in a file. When the task is of such a \
             kind, `read` its file first and follow it; paths in it are relative to its directory.\n\
             {}\n</skills>",
            lines.join("\n")
        )
    })
}

impl Skill {
    /// The file that holds its text.
    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// The prompt that uses it: its text, where it lies, and what the person says to it.
    pub fn prompt(&self, said: &str) -> Result<String> {
        let path = self.file();
        let cannot = |error: io::Error| {
            Error::from(error).context(format!("cannot read `{}`", path.display()))
        };
        let text = read_text(&path).map_err(cannot)?;
        let (_, body) = front_matter::parse(&text);
        let place = format!("{PLACE}{}`.", self.dir.display());
        let parts = [body.trim(), &place, said.trim()];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        Ok(parts.collect::<Vec<_>>().join("\n\n"))
    }
}

/// What a person said to the skill that a prompt uses, or its directory's name when that was nothing.
/// None for a prompt that uses none.
pub fn said_to_skill(prompt: &str) -> Option<&str> {
    let (before, after) = prompt.split_once(PLACE)?;
    let (dir, said) = after.split_once("`.")?;
    if !(before.is_empty() || before.ends_with("\n\n")) {
        return None;
    }
    match said.trim() {
        "" => dir.rsplit('/').next(),
        said => Some(said),
    }
}
