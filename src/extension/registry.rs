//! Who owns a name: tools, commands, flags and shortcuts over all extensions.
//!
//! Extensions are taken in declaration order and the first owner of a name keeps it, so the
//! same files give the same owners on every start. Who comes later is told by a notice.

use std::collections::BTreeSet;

use super::manifest::{Command, EventName, Flag, HookKind, Manifest, Render, Shortcut, Tool};

/// An extension, by its place in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExtensionId(pub usize);

/// One extension that answered with a manifest.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    /// Which one it is.
    pub id: ExtensionId,
    /// What people know it by.
    pub file_name: &'a str,
    /// What it adds.
    pub manifest: &'a Manifest,
}

/// What no extension can have.
#[derive(Clone, Copy)]
pub struct Reserved<'a> {
    /// The built-in slash commands.
    pub commands: &'a [&'a str],
    /// The long names of e's own options, without the dashes.
    pub options: &'a [&'a str],
    /// The canonical form of a chord that a shortcut may have, or why it may not.
    pub chord: fn(&str) -> Result<String, String>,
}

/// Something an extension declared, and who it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned<T> {
    /// Who is asked for it.
    pub owner: ExtensionId,
    /// What was declared.
    pub item: T,
}

/// A shortcut that may fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The canonical form of the chord.
    pub chord: String,
    /// As declared; its `key` is what the extension is sent.
    pub shortcut: Shortcut,
}

/// What all extensions add together, in declaration order; names are unique in each list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    /// The tools. One that is named like a built-in takes its place.
    pub tools: Vec<Owned<Tool>>,
    /// The commands, those of the same name as a built-in left out.
    pub commands: Vec<Owned<Command>>,
    /// The flags, those that the help text alone shows included.
    pub flags: Vec<Owned<Flag>>,
    /// The shortcuts that may be had.
    pub shortcuts: Vec<Owned<Bound>>,
    /// The hooks that anybody has.
    pub hooks: BTreeSet<HookKind>,
    /// The entries that anybody renders.
    pub renders: Vec<Render>,
    /// The events that anybody wants to be told.
    pub events: BTreeSet<EventName>,
}

impl Registry {
    /// Settles the names. `declared` is in declaration order. The list holds a notice for
    /// everything that did not get its name.
    pub fn new(declared: &[Declared<'_>], reserved: &Reserved<'_>) -> (Self, Vec<String>) {
        let mut registry = Self::default();
        let mut notices = Vec::new();
        let mut names = BTreeSet::new();
        for extension in declared {
            let name = &extension.manifest.name;
            if !names.insert(name) {
                let file = extension.file_name;
                notices.push(format!(
                    "extension {file}: another extension is named `{name}`, too; both run"
                ));
            }
            registry.add(extension, reserved, &mut notices);
            registry.hooks.extend(&extension.manifest.hooks);
            registry.renders.extend(extension.manifest.renders.clone());
            registry.events.extend(&extension.manifest.events);
        }
        (registry, notices)
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Owned<Tool>> {
        self.tools.iter().find(|tool| tool.item.name == name)
    }

    /// The command of this name.
    pub fn command(&self, name: &str) -> Option<&Owned<Command>> {
        self.commands
            .iter()
            .find(|command| command.item.name == name)
    }

    /// The shortcut of this chord in its canonical form.
    pub fn shortcut(&self, chord: &str) -> Option<&Owned<Bound>> {
        self.shortcuts
            .iter()
            .find(|bound| bound.item.chord == chord)
    }

    /// Whether anybody renders replies.
    pub fn renders_replies(&self) -> bool {
        self.renders.contains(&Render::Assistant)
    }

    /// Whether anybody renders the results of this tool.
    pub fn renders_tool(&self, name: &str) -> bool {
        let is_it = |render: &Render| match render {
            Render::EveryTool => true,
            Render::Tool(tool) => tool == name,
            Render::Assistant => false,
        };
        self.renders.iter().any(is_it)
    }

    fn add(
        &mut self,
        extension: &Declared<'_>,
        reserved: &Reserved<'_>,
        notices: &mut Vec<String>,
    ) {
        let owner = extension.id;
        let mut notice = |what: &str, why: &str| {
            notices.push(format!("extension {}: {what} {why}", extension.file_name));
        };
        for item in &extension.manifest.tools {
            match self.tool(&item.name) {
                Some(_) => notice(&format!("the tool `{}`", item.name), TAKEN),
                None => self.tools.push(Owned {
                    owner,
                    item: item.clone(),
                }),
            }
        }
        for item in &extension.manifest.commands {
            let what = format!("the command `/{}`", item.name);
            if reserved.commands.contains(&item.name.as_str()) {
                notice(&what, "is one of e's own, which stays");
            } else if self.command(&item.name).is_some() {
                notice(&what, TAKEN);
            } else {
                self.commands.push(Owned {
                    owner,
                    item: item.clone(),
                });
            }
        }
        for item in &extension.manifest.flags {
            let what = format!("the flag `{}`", item.name);
            let first = self.flags.iter().find(|flag| flag.item.name == item.name);
            match first {
                _ if reserved.options.contains(&item.name.as_str()) => {
                    notice(&what, "is one of e's own options, which stays");
                }
                // Every declarer gets the value; only how it is read can disagree.
                Some(first) if first.item.kind != item.kind => {
                    notice(
                        &what,
                        "is read with the type that another extension declares",
                    );
                }
                Some(_) => {}
                None => self.flags.push(Owned {
                    owner,
                    item: item.clone(),
                }),
            }
        }
        for shortcut in &extension.manifest.shortcuts {
            let what = format!("the shortcut `{}`", shortcut.key);
            match (reserved.chord)(&shortcut.key) {
                Err(problem) => notice("a shortcut is dropped:", &problem),
                Ok(chord) if self.shortcut(&chord).is_some() => notice(&what, TAKEN),
                Ok(chord) => {
                    let shortcut = shortcut.clone();
                    self.shortcuts.push(Owned {
                        owner,
                        item: Bound { chord, shortcut },
                    });
                }
            }
        }
    }
}

/// What happened to a name that somebody had already.
const TAKEN: &str = "is already taken; the first declaration is used";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::manifest;
    use serde_json::{Value, json};

    fn settle(manifests: &[(&str, Value)]) -> (Registry, Vec<String>) {
        let parsed: Vec<_> = manifests
            .iter()
            .map(|(file, value)| (*file, manifest::parse(value).unwrap().0))
            .collect();
        let declared: Vec<_> = parsed
            .iter()
            .enumerate()
            .map(|(index, (file_name, manifest))| Declared {
                id: ExtensionId(index),
                file_name,
                manifest,
            })
            .collect();
        let reserved = Reserved {
            commands: &["help", "quit"],
            options: &["model", "no-tools"],
            chord: |text| match text.strip_prefix("ctrl+") {
                Some(key) => Ok(format!("ctrl+{}", key.to_lowercase())),
                None => Err(format!("`{text}` cannot be a shortcut")),
            },
        };
        Registry::new(&declared, &reserved)
    }

    #[test]
    fn the_first_owner_keeps_a_name() {
        let (registry, notices) = settle(&[
            (
                "a.sh",
                json!({
                    "name": "a",
                    "tools": [{"name": "read"}, {"name": "t", "description": "first"}],
                    "commands": [{"name": "help"}, {"name": "go"}],
                    "flags": [{"name": "plan"}, {"name": "model"}, {"name": "-x, --example"}],
                    "shortcuts": [{"key": "ctrl+K"}, {"key": "x"}],
                }),
            ),
            (
                "b.sh",
                json!({
                    "name": "a",
                    "tools": [{"name": "t", "description": "second"}, {"name": "u"}],
                    "commands": [{"name": "go"}, {"name": "stop"}],
                    "flags": [{"name": "plan"}, {"name": "out", "type": "string"}],
                    "shortcuts": [{"key": "ctrl+k"}, {"key": "ctrl+j"}],
                }),
            ),
            ("c.sh", json!({"name": "c", "flags": [{"name": "out"}]})),
        ]);
        let owners = |names: Vec<(&str, ExtensionId)>| -> Vec<String> {
            names
                .iter()
                .map(|(name, id)| format!("{name}:{}", id.0))
                .collect()
        };
        let tools = registry
            .tools
            .iter()
            .map(|t| (t.item.name.as_str(), t.owner));
        assert_eq!(owners(tools.collect()), ["read:0", "t:0", "u:1"]);
        let commands = registry
            .commands
            .iter()
            .map(|c| (c.item.name.as_str(), c.owner));
        assert_eq!(owners(commands.collect()), ["go:0", "stop:1"]);
        let flags = registry
            .flags
            .iter()
            .map(|f| (f.item.name.as_str(), f.owner));
        assert_eq!(
            owners(flags.collect()),
            ["plan:0", "-x, --example:0", "out:1"]
        );
        let chords = registry
            .shortcuts
            .iter()
            .map(|s| (s.item.chord.as_str(), s.owner));
        assert_eq!(owners(chords.collect()), ["ctrl+k:0", "ctrl+j:1"]);
        assert_eq!(registry.tool("t").unwrap().item.description, "first");
        assert_eq!(
            registry.shortcut("ctrl+k").unwrap().item.shortcut.key,
            "ctrl+K"
        );
        assert!(registry.command("help").is_none());
        assert_eq!(
            notices,
            [
                "extension a.sh: the command `/help` is one of e's own, which stays",
                "extension a.sh: the flag `model` is one of e's own options, which stays",
                "extension a.sh: a shortcut is dropped: `x` cannot be a shortcut",
                "extension b.sh: another extension is named `a`, too; both run",
                "extension b.sh: the tool `t` is already taken; the first declaration is used",
                "extension b.sh: the command `/go` is already taken; the first declaration is used",
                "extension b.sh: the shortcut `ctrl+k` is already taken; the first declaration is used",
                "extension c.sh: the flag `out` is read with the type that another extension declares",
            ]
        );
    }

    #[test]
    fn without_extensions_there_is_nothing() {
        assert_eq!(settle(&[]), (Registry::default(), Vec::new()));
    }
}
