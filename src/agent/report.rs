//! Folds the events of a turn into its result, so that both always agree.

use super::event::{TurnEvent, TurnResult};
use crate::chat::{Outcome, Pricing, Usage};

/// A result in the making.
#[derive(Debug)]
pub struct Report {
    result: TurnResult,
    final_start: usize,
    settled: u64,
    completed: u64,
    failed: bool,
}

impl Report {
    /// The result of a turn that has not done anything yet.
    pub fn new(model: String, effort: Option<String>, warnings: Vec<String>) -> Self {
        Self {
            result: TurnResult {
                model,
                effort,
                warnings,
                ..TurnResult::default()
            },
            final_start: 0,
            settled: 0,
            completed: 0,
            failed: false,
        }
    }

    /// Another model answers than was thought at first.
    pub fn answered_by(&mut self, model: String, effort: Option<String>) {
        self.result.model = model;
        self.result.effort = effort;
    }

    /// Takes account of an event.
    pub fn observe(&mut self, event: &TurnEvent) {
        let result = &mut self.result;
        match event {
            TurnEvent::Text(deltas) => result.output.push_str(deltas.text()),
            TurnEvent::ToolBatch(calls) => {
                result.calls += calls.len() as u64;
                self.final_start = result.output.len();
            }
            TurnEvent::ToolEnd { outcome, .. } => {
                self.settled += 1;
                self.completed += u64::from(*outcome == Outcome::Completed);
                self.final_start = result.output.len();
            }
            // What comes after it is another answer.
            TurnEvent::Steered(_) => self.final_start = result.output.len(),
            TurnEvent::Usage(usage) => result.usage.add(usage),
            TurnEvent::Warning(message) => result.warnings.push(message.clone()),
            TurnEvent::Retry {
                attempt,
                limit,
                delay_secs,
                cause,
                reason,
            } => {
                let line = retry_line(*attempt, *limit, *delay_secs, cause, reason);
                result.warnings.push(line);
            }
            TurnEvent::ErrorDetails(details) => result.details = Some(details.clone()),
            TurnEvent::Error(message) => {
                result.error = Some(message.clone());
                self.failed = true;
            }
            TurnEvent::TurnEnd { aborted } => result.aborted = *aborted,
            TurnEvent::TurnStart
            | TurnEvent::Reasoning(_)
            | TurnEvent::ToolStart(_)
            | TurnEvent::Compacting
            | TurnEvent::Compacted { .. }
            | TurnEvent::ToolOutput { .. }
            | TurnEvent::Recovered { .. }
            | TurnEvent::Slept(_)
            | TurnEvent::SleepStopped(_)
            | TurnEvent::Discarded(_)
            | TurnEvent::SessionName(_)
            | TurnEvent::Instructions(_) => {}
        }
    }

    /// Tokens used so far.
    pub fn usage(&self) -> &Usage {
        &self.result.usage
    }

    /// Calls that ended, and how many of them did not complete.
    pub fn settled(&self) -> (u64, u64) {
        (self.settled, self.settled - self.completed)
    }

    /// The finished result.
    pub fn finish(
        mut self,
        pricing: Option<&Pricing>,
        log: Option<std::path::PathBuf>,
    ) -> TurnResult {
        let result = &mut self.result;
        result.failures = result.calls - self.completed;
        result.cost_usd = pricing.map(|pricing| result.usage.cost(pricing));
        result.log = log;
        result.final_start = (!self.failed && !result.aborted).then_some(self.final_start);
        self.result
    }
}

/// A retry as one line for a person.
pub fn retry_line(attempt: u32, limit: u32, delay_secs: u64, cause: &str, reason: &str) -> String {
    format!("{cause}: {reason}; attempt {attempt}/{limit} in {delay_secs} s")
}
