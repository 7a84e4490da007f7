//! What a check found, for a person and for a program.

use std::time::Duration;

use serde_json::{Value, json};

use super::COLUMNS;
use crate::cli::output;
use crate::extension::discover::Found;
use crate::extension::manifest::{FlagKind, Manifest, Render};
use crate::text::one_line;

/// A request that was sent, and what came of it.
pub struct Asked {
    /// What for.
    pub method: &'static str,
    /// With what.
    pub params: Value,
    /// How long the answer took.
    pub took: Duration,
    /// One line: the answer as JSON, or the error.
    pub answer: String,
}

/// What came of a check.
pub struct Report {
    /// What was started.
    pub found: Found,
    /// What it declares, as e understands it; none when it was skipped.
    pub manifest: Option<Manifest>,
    /// From the start of the program to its manifest.
    pub handshake: Option<Duration>,
    /// What was asked of it.
    pub asked: Vec<Asked>,
    /// What it told people.
    pub notices: Vec<String>,
    /// What it asked of e.
    pub requests: Vec<String>,
    /// Its standard error.
    pub diagnostics: Vec<String>,
    /// How long it took to end, when it did by itself.
    pub shutdown: Option<Duration>,
    /// Everything that is wrong with it.
    pub problems: Vec<String>,
}

impl Report {
    /// As one object.
    pub fn to_json(&self) -> Value {
        let asked = self.asked.iter().map(|asked| {
            json!({
                "method": asked.method,
                "params": asked.params,
                "ms": ms(asked.took),
                "answer": asked.answer,
            })
        });
        json!({
            "path": self.found.path.to_string_lossy(),
            "clean": self.problems.is_empty(),
            "handshake_ms": self.handshake.map(ms),
            "manifest": self.manifest.as_ref().map(declared),
            "asked": asked.collect::<Vec<_>>(),
            "requests": self.requests,
            "notices": self.notices,
            "stderr": self.diagnostics,
            "shutdown_ms": self.shutdown.map(ms),
            "problems": self.problems,
        })
    }
}

/// The same for a person: a row for each thing, as soon as it is known.
#[derive(Clone, Copy)]
pub struct Rows {
    /// Whether a person looks.
    pub shown: bool,
}

impl Rows {
    /// One row.
    pub fn tell(self, name: &str, value: &str) {
        if self.shown {
            // A reader that went away changes nothing about the check.
            output::print(&format!("{name:9}  {}\n", one_line(value, None)));
        }
    }

    /// It is running.
    pub fn begun(self, handshake: Option<Duration>, manifest: Option<&Manifest>) {
        if let Some(took) = handshake {
            self.tell("handshake", &format!("{} ms", ms(took)));
        }
        for (name, value) in manifest.into_iter().flat_map(in_words) {
            self.tell(name, &value);
        }
    }

    /// A request is sent.
    pub fn asking(self, method: &str, params: &Value) {
        let params = one_line(&params.to_string(), Some(COLUMNS));
        self.tell("asked", &format!("{method} {params}"));
    }

    /// It was answered, or was not.
    pub fn answered(self, asked: &Asked) {
        self.tell("", &format!("{} ms: {}", ms(asked.took), asked.answer));
    }

    /// It has ended.
    pub fn ended(self, report: &Report) {
        if let Some(took) = report.shutdown {
            self.tell("shutdown", &format!("{} ms", ms(took)));
        }
        let lists = [
            ("request", &report.requests),
            ("notice", &report.notices),
            ("stderr", &report.diagnostics),
            ("problem", &report.problems),
        ];
        for (name, lines) in lists {
            lines.iter().for_each(|line| self.tell(name, line));
        }
        let result = match report.problems.len() {
            0 => "clean".to_owned(),
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        self.tell("result", &result);
    }
}

fn ms(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// A manifest as e understands it.
fn declared(manifest: &Manifest) -> Value {
    let tools = manifest.tools.iter().map(|tool| {
        json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
    });
    let commands = manifest.commands.iter().map(|command| {
        json!({
            "name": command.name,
            "description": command.description,
            "arguments": command.arguments,
            "completions": command.completions,
        })
    });
    let flags = manifest.flags.iter().map(|flag| {
        json!({
            "name": flag.name,
            "type": kind(flag.kind),
            "description": flag.description,
            "default": flag.default,
            "parsed": flag.clean,
        })
    });
    let shortcuts = manifest.shortcuts.iter();
    let shortcuts =
        shortcuts.map(|shortcut| json!({"key": shortcut.key, "description": shortcut.description}));
    json!({
        "name": manifest.name,
        "version": manifest.version,
        "tools": tools.collect::<Vec<_>>(),
        "commands": commands.collect::<Vec<_>>(),
        "flags": flags.collect::<Vec<_>>(),
        "hooks": manifest.hooks.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "renders": manifest.renders.iter().map(entry).collect::<Vec<_>>(),
        "events": manifest.events.iter().map(|event| event.name()).collect::<Vec<_>>(),
        "shortcuts": shortcuts.collect::<Vec<_>>(),
    })
}

/// The same as rows for a person.
fn in_words(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let described = |name: &str, description: &str| match description {
        "" => name.to_owned(),
        text => format!("{name} - {}", one_line(text, Some(COLUMNS))),
    };
    let mut rows = vec![("name", format!("{} {}", manifest.name, manifest.version))];
    for tool in &manifest.tools {
        rows.push(("tool", described(&tool.name, &tool.description)));
    }
    for command in &manifest.commands {
        let name = format!("/{}", command.name);
        rows.push(("command", described(&name, &command.description)));
    }
    for flag in &manifest.flags {
        let name = match flag.clean {
            true => format!("--{} ({})", flag.name, kind(flag.kind)),
            false => format!("{} (for the help text alone)", flag.name),
        };
        rows.push(("flag", described(&name, &flag.description)));
    }
    for shortcut in &manifest.shortcuts {
        rows.push(("shortcut", described(&shortcut.key, &shortcut.description)));
    }
    let hooks: Vec<_> = manifest
        .hooks
        .iter()
        .map(|kind| kind.name().to_owned())
        .collect();
    let renders: Vec<_> = manifest.renders.iter().map(entry).collect();
    let events: Vec<_> = manifest
        .events
        .iter()
        .map(|event| event.name().to_owned())
        .collect();
    for (name, list) in [("hooks", hooks), ("renders", renders), ("events", events)] {
        if !list.is_empty() {
            rows.push((name, list.join(", ")));
        }
    }
    rows
}

fn kind(kind: FlagKind) -> &'static str {
    match kind {
        FlagKind::Boolean => "boolean",
        FlagKind::Text => "string",
    }
}

fn entry(render: &Render) -> String {
    match render {
        Render::EveryTool => "tool:*".into(),
        Render::Tool(name) => format!("tool:{name}"),
        Render::Assistant => "assistant".into(),
    }
}
