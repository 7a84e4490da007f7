//! What goes over the line between e and the extension that is checked, as far as the host passes
//! over it in silence: stray output, refused requests, the manifest as it was written.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::extension::wire::{self, Asking, Message};
use crate::extension::{Direction, Tap};
use crate::sys::lock;
use crate::text::one_line;

/// Lines of one kind that are kept; more are counted.
const MAX_LINES: usize = 20;
/// Columns of a line that is kept.
const COLUMNS: usize = 120;
/// Requests of the extension that are remembered by their ids.
const MAX_ASKED: usize = 64;

/// Sees what an extension and e say to each other.
#[derive(Clone)]
pub struct Watch(Arc<Mutex<Seen>>);

/// What was seen.
pub struct Seen {
    started: Instant,
    /// Requests of e that have no answer yet.
    open: HashSet<u64>,
    /// Requests of the extension: their ids as JSON, and what they ask for.
    asked: HashMap<String, String>,
    /// The manifest, and how long it took from the start of the program.
    pub manifest: Option<(Value, Duration)>,
    /// What the extension asked for.
    pub requests: Lines,
    /// What e refused, and why.
    pub refused: Lines,
    /// Lines of standard output that e ignores.
    pub stray: Lines,
    /// Lines of standard error.
    pub diagnostics: Lines,
}

/// The first lines of a kind.
#[derive(Default)]
pub struct Lines {
    lines: Vec<String>,
    more: usize,
}

impl Lines {
    fn add(&mut self, text: &str) {
        match self.lines.len() {
            0..MAX_LINES => self.lines.push(one_line(text, Some(COLUMNS))),
            _ => self.more += 1,
        }
    }

    /// The lines, and one that counts those that were not kept.
    pub fn all(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("… and {} more", self.more));
        self.lines.iter().cloned().chain(more).collect()
    }
}

impl Watch {
    /// Nothing was seen yet.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Seen {
            started: Instant::now(),
            open: HashSet::new(),
            asked: HashMap::new(),
            manifest: None,
            requests: Lines::default(),
            refused: Lines::default(),
            stray: Lines::default(),
            diagnostics: Lines::default(),
        })))
    }

    /// Watches a host that has one extension.
    pub fn tap(&self) -> Tap {
        let watch = self.clone();
        Tap(Arc::new(move |_, direction, line| {
            let mut seen = watch.seen();
            match direction {
                Direction::ToExtension => seen.sent(line),
                Direction::FromExtension => seen.received(line),
                Direction::Diagnostic => {
                    let text = String::from_utf8_lossy(line);
                    if !text.trim().is_empty() {
                        seen.diagnostics.add(&text);
                    }
                }
            }
        }))
    }

    /// What was seen so far.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.0)
    }
}

impl Seen {
    fn sent(&mut self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        match (message["id"].as_u64(), message.get("method")) {
            (Some(id), Some(_)) => {
                self.open.insert(id);
            }
            (_, Some(_)) => {}
            (_, None) => {
                let method = self.asked.remove(&message["id"].to_string());
                if let Some(error) = message["error"].as_str() {
                    let method = method.as_deref().unwrap_or("a request");
                    self.refused.add(&format!("{method}: {error}"));
                }
            }
        }
    }

    fn received(&mut self, line: &[u8]) {
        let why = match wire::parse(line) {
            Message::Response { id, result } if self.open.remove(&id) => {
                if let (1, None, Ok(manifest)) = (id, &self.manifest, result) {
                    self.manifest = Some((manifest, self.started.elapsed()));
                }
                return;
            }
            Message::Response { .. } => "it answers no open request",
            Message::Update { id, .. } if self.open.contains(&id) => return,
            Message::Update { .. } => "it belongs to no open call",
            Message::Request(asking) => {
                let Asking { id, method, .. } = *asking;
                self.requests.add(&method);
                if self.asked.len() < MAX_ASKED {
                    // e writes ids as they came, but for white space inside of them.
                    let id = serde_json::from_str::<Value>(id.get());
                    self.asked
                        .insert(id.unwrap_or_default().to_string(), method);
                }
                return;
            }
            // The host tells about the first; the second is for people.
            Message::NotUtf8 | Message::Notify(_) => return,
            Message::Noise(_) => match serde_json::from_slice::<Value>(line) {
                Ok(_) => "it is JSON of no form that e knows",
                Err(_) => "it is not JSON",
            },
        };
        let text = String::from_utf8_lossy(line);
        let text = one_line(&text, Some(COLUMNS / 2));
        self.stray.add(&format!("`{text}`: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::ExtensionId;

    #[test]
    fn what_the_host_passes_over_is_kept() {
        let watch = Watch::new();
        let tap = watch.tap();
        let see = |direction, line: &str| (tap.0)(ExtensionId(0), direction, line.as_bytes());
        see(
            Direction::ToExtension,
            r#"{"id":1,"method":"initialize","params":{}}"#,
        );
        for line in [
            "hello \u{1b}[31m",
            r#"{"id":1,"result":{"name":"x"}}"#,
            r#"{"id":1,"result":{"name":"y"}}"#,
            r#"{"id":"q","method":"ui.panel","params":7}"#,
            r#"{"method":"notify","params":{"message":"hi"}}"#,
            r#"{"method":"tool.update","params":{"id":9,"chunk":"c"}}"#,
            r#"{"method":"ui.show"}"#,
        ] {
            see(Direction::FromExtension, line);
        }
        see(
            Direction::ToExtension,
            r#"{"id":"q","error":"no such panel"}"#,
        );
        for _ in 0..MAX_LINES + 5 {
            see(Direction::Diagnostic, "warning");
        }
        see(Direction::Diagnostic, "  ");

        let seen = watch.seen();
        assert_eq!(seen.manifest.as_ref().unwrap().0["name"], "x");
        let reasons: Vec<_> = seen.stray.all();
        assert_eq!(
            reasons,
            [
                "`hello`: it is not JSON",
                r#"`{"id":1,"result":{"name":"y"}}`: it answers no open request"#,
                r#"`{"method":"tool.update","params":{"id":9,"chunk":"c"}}`: it belongs to no open call"#,
                r#"`{"method":"ui.show"}`: it is JSON of no form that e knows"#,
            ]
        );
        assert_eq!(seen.requests.all(), ["ui.panel"]);
        assert_eq!(seen.refused.all(), ["ui.panel: no such panel"]);
        let diagnostics = seen.diagnostics.all();
        assert_eq!(diagnostics.len(), MAX_LINES + 1);
        assert_eq!(diagnostics.last().unwrap(), "… and 5 more");
    }
}
