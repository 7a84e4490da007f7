//! What all sessions cost: every billed reply in the logs, by model.

use std::collections::{BTreeMap, HashSet};
use std::fs::OpenOptions;
use std::path::Path;

use super::head::Head;
use super::lines::{Buffer, Lines, MAX_LINE};
use super::list::list;
use super::piece::is_torn;
use super::record::Envelope;
use crate::chat::Usage;
use crate::config::Home;
use crate::error::{Result, io_text};
use crate::sys::fs::open_regular;

/// What one model was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelUsage {
    /// The provider's name.
    pub provider: String,
    /// The model's id at the provider.
    pub model: String,
    /// Billed replies, those without counters among them.
    pub requests: u64,
    /// The sum of their counters.
    pub usage: Usage,
}

/// A fold over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// By provider, then by model.
    pub models: Vec<ModelUsage>,
    /// Which logs could not be counted, or not as a whole.
    pub warnings: Vec<String>,
}

/// Adds up the billed replies of all listed sessions since a time in Unix milliseconds, each reply
/// once however many copies there are: forks hold some.
pub fn usage(home: &Home, since_ms: u64) -> Result<UsageReport> {
    let mut fold = Fold {
        since_ms,
        ..Fold::default()
    };
    let mut warnings = Vec::new();
    for session in list(home, None)? {
        let damage = fold.add_log(&session.path).err().or(session.damage);
        if let Some(damage) = damage {
            warnings.push(format!("`{}`: {damage}", session.path.display()));
        }
    }
    let models = fold.models.into_iter();
    let models = models.map(|((provider, model), (requests, usage))| ModelUsage {
        provider,
        model,
        requests,
        usage,
    });
    Ok(UsageReport {
        models: models.collect(),
        warnings,
    })
}

#[derive(Default)]
struct Fold {
    since_ms: u64,
    counted: HashSet<String>,
    buffer: Buffer,
    models: BTreeMap<(String, String), (u64, Usage)>,
}

impl Fold {
    fn add_log(&mut self, path: &Path) -> Result<(), String> {
        let failed = |error| format!("it cannot be read: {}", io_text(&error));
        let opened = open_regular(path, OpenOptions::new().read(true));
        let (file, _) = opened.map_err(failed)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut lines = Lines::new(&file, &mut buffer, MAX_LINE);
        while let Some(line) = lines.next().map_err(failed)? {
            let Some(bytes) = line.bytes else { continue };
            if !line.terminated && is_torn(bytes) {
                break;
            }
            // The list tells which lines are damaged.
            let response = Head::of(bytes).and_then(|head| head.response(bytes));
            if let Ok(Some(response)) = response {
                self.add(response);
            }
        }
        self.buffer = buffer;
        Ok(())
    }

    fn add(&mut self, response: Envelope) {
        if response.timestamp < self.since_ms || !self.counted.insert(response.id) {
            return;
        }
        let model = (response.provider, response.model);
        let (requests, sum) = self.models.entry(model).or_default();
        *requests += 1;
        sum.add(&response.usage.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests;
