//! The guides and the schemas of the protocols, embedded at build time, and how `e docs` prints
//! them.

use crate::error::{Error, Result};
use crate::tui::theme::{Background, Theme};

/// A guide: its path below docs/guides without `.md`, and the file.
struct Guide {
    path: &'static str,
    text: &'static str,
}

macro_rules! guides {
    ($($path:literal),* $(,)?) => {
        &[$(Guide {
            path: $path,
            text: include_str!(concat!("../../docs/guides/", $path, ".md")),
        }),*]
    };
}

/// Every guide. A test checks that none on disk is missing here.
const GUIDES: &[Guide] = guides![
    "automation",
    "channels",
    "command-line",
    "compatibility",
    "extend/debugging",
    "extend/examples/README",
    "extend/extensions",
    "extend/gallery",
    "getting-started",
    "models",
    "offline",
    "rpc",
    "sandboxing",
    "sessions",
    "settings",
    "tools",
    "trust",
    "usage/commands",
    "usage/instructions",
    "usage/keybindings",
    "usage/layout",
    "usage/prompt-templates",
    "usage/skills",
    "usage/themes",
];

/// The schemas: the topic that prints each, one line about it, and the file.
const SCHEMAS: &[(&str, &str, &str)] = &[
    (
        "schema-events",
        "JSON Schema of the lines of e -p --json",
        include_str!("../../docs/schema/events.schema.json"),
    ),
    (
        "schema-rpc",
        "JSON Schema of the lines of e rpc",
        include_str!("../../docs/schema/rpc.schema.json"),
    ),
    (
        "schema-extension",
        "JSON Schema of the lines between e and extensions",
        include_str!("../../docs/schema/extension.schema.json"),
    ),
];

/// The built-in themes, as files.
const THEMES: &[(&str, &str, Background)] = &[
    (
        "theme-dark",
        "the built-in theme for dark terminals, as a file",
        Background::Dark,
    ),
    (
        "theme-light",
        "the built-in theme for light terminals, as a file",
        Background::Light,
    ),
];

impl Guide {
    /// The file's stem, by which it is asked for; a README speaks for its directory.
    fn topic(&self) -> &'static str {
        let path = self.path.strip_suffix("/README").unwrap_or(self.path);
        path.rsplit('/').next().unwrap_or(path)
    }

    /// The value of a front matter key.
    fn front(&self, key: &str) -> Option<&'static str> {
        let (front, _) = split(self.text)?;
        front
            .lines()
            .find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()))
    }
}

/// The topics, in reading order, each with one line about it.
fn all() -> Vec<(&'static str, &'static str)> {
    let guides = in_order().into_iter();
    let guides = guides.map(|guide| (guide.topic(), guide.front("blurb").unwrap_or_default()));
    let schemas = SCHEMAS.iter().map(|(topic, blurb, _)| (*topic, *blurb));
    let themes = THEMES.iter().map(|(topic, blurb, _)| (*topic, *blurb));
    guides.chain(themes).chain(schemas).collect()
}

/// The topics, in reading order.
pub fn topics() -> Vec<&'static str> {
    all().into_iter().map(|(topic, _)| topic).collect()
}

/// All topics, each with one line about it.
pub fn list() -> String {
    let all = all();
    let width = all.iter().map(|(topic, _)| topic.len()).max().unwrap_or(0);
    let line = |(topic, blurb): &(&str, &str)| format!("{topic:width$}  {blurb}\n");
    all.iter().map(line).collect()
}

/// One guide as plain Markdown, or one schema or theme as it is.
pub fn guide(topic: &str) -> Result<String> {
    if let Some((_, _, schema)) = SCHEMAS.iter().find(|(name, ..)| *name == topic) {
        return Ok((*schema).to_owned());
    }
    if let Some((_, _, background)) = THEMES.iter().find(|(name, ..)| *name == topic) {
        return Ok(Theme::built_in_json(*background));
    }
    match GUIDES.iter().find(|guide| guide.topic() == topic) {
        Some(guide) => Ok(plain(
            split(guide.text).map_or(guide.text, |(_, body)| body),
        )),
        None => {
            Err(Error::usage(format!("there is no guide `{topic}`")).remedy("`e docs` lists them"))
        }
    }
}

fn in_order() -> Vec<&'static Guide> {
    let mut guides: Vec<_> = GUIDES.iter().collect();
    let order = |guide: &Guide| {
        guide
            .front("order")
            .and_then(|order| order.parse::<u32>().ok())
    };
    guides.sort_by_key(|guide| (order(guide).unwrap_or(u32::MAX), guide.path));
    guides
}

/// Front matter and body.
fn split(text: &str) -> Option<(&str, &str)> {
    let (front, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    Some((front, body.trim_start()))
}

/// Turns alert markers such as `> [!NOTE]` into words.
fn plain(body: &str) -> String {
    body.lines()
        .map(|line| {
            let marker = line
                .strip_prefix("> [!")
                .and_then(|rest| rest.strip_suffix(']'));
            match marker {
                Some(marker) => {
                    let mut label = marker.to_lowercase();
                    if let Some(first) = label.get_mut(..1) {
                        first.make_ascii_uppercase();
                    }
                    format!("> {label}:\n")
                }
                None => format!("{line}\n"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn on_disk(dir: &Path, prefix: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            if path.is_dir() {
                on_disk(&path, &format!("{prefix}{stem}/"), found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(format!("{prefix}{stem}"));
            }
        }
    }

    #[test]
    fn every_guide_on_disk_is_listed() {
        let mut found = Vec::new();
        on_disk(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides"),
            "",
            &mut found,
        );
        found.sort();
        let mut listed: Vec<_> = GUIDES.iter().map(|guide| guide.path.to_string()).collect();
        listed.sort();
        assert_eq!(listed, found);
    }

    #[test]
    fn every_guide_has_a_blurb_and_a_place() {
        for guide in GUIDES {
            assert!(
                guide.front("blurb").is_some_and(|blurb| !blurb.is_empty()),
                "{}",
                guide.path
            );
            assert!(
                guide
                    .front("order")
                    .is_some_and(|order| order.parse::<u32>().is_ok()),
                "{}",
                guide.path
            );
        }
        assert!(topics().starts_with(&["getting-started"]));
        let list = list();
        assert_eq!(
            list.lines().count(),
            GUIDES.len() + THEMES.len() + SCHEMAS.len()
        );
        let columns = list.find("  ").unwrap();
        for line in list.lines() {
            assert!(line.len() > columns + 10 && line.len() <= 110, "{line}");
        }
    }

    #[test]
    fn printing_leaves_out_what_is_for_machines() {
        for topic in in_order().iter().map(|guide| guide.topic()) {
            let text = guide(topic).unwrap();
            assert!(text.starts_with("# "), "{topic}");
            assert!(!text.contains("[!"), "{topic}");
        }
        for (topic, _, schema) in SCHEMAS {
            assert_eq!(guide(topic).unwrap(), *schema);
            serde_json::from_str::<serde_json::Value>(schema).unwrap();
        }
        assert_eq!(plain("> [!WARNING]\n> x"), "> Warning:\n> x\n");
        assert!(guide("nothing").is_err());
    }
}
