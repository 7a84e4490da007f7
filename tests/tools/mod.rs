//! The built-in tools as a model uses them: what it asks for, what it gets, what is on the disk.

mod arguments;
mod commands;
mod edits;
mod files;
mod floods;
mod limits;
mod processes;
mod reading;
mod search;

use serde_json::Value;

use crate::support::{Place, Run, Step, call_raw, say};

/// A debug build takes a while for each byte; a fraction is still far more than is ever kept.
const SCALE: usize = if cfg!(debug_assertions) { 8 } else { 1 };

/// What came of one call.
#[derive(Debug)]
struct Done {
    outcome: String,
    summary: String,
    content: String,
}

impl Done {
    /// Asserts that the call failed with these words in its content.
    #[track_caller]
    fn fails(&self, words: &str) {
        assert_eq!(self.outcome, "failed", "{self:?}");
        assert!(self.content.contains(words), "no {words:?} in {self:?}");
    }

    /// Asserts success and gives the content.
    #[track_caller]
    fn completes(&self) -> &str {
        assert_eq!(self.outcome, "completed", "{self:?}");
        &self.content
    }
}

/// Plays the calls in one turn, one request each.
#[track_caller]
fn play(place: &Place, calls: &[(&str, Value)]) -> Vec<Done> {
    let raw: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| (*name, arguments.to_string()))
        .collect();
    play_raw(place, &raw)
}

/// The same with any text as arguments.
#[track_caller]
fn play_raw(place: &Place, calls: &[(&str, String)]) -> Vec<Done> {
    let steps = calls
        .iter()
        .map(|(name, arguments)| call_raw(name, arguments));
    place.provider.script(steps.chain([say("done")]));
    let run = place.json(&["go"]).run().ends_with(0);
    assert_eq!(run.result()["final_output"], "done");
    let results = results(&run);
    assert_eq!(results.len(), calls.len());
    results
}

/// Plays one call.
#[track_caller]
fn one(place: &Place, name: &str, arguments: Value) -> Done {
    play(place, &[(name, arguments)]).remove(0)
}

/// The results of a run, in the order of their calls.
fn results(run: &Run) -> Vec<Done> {
    let mut ends = run.events("tool_end");
    ends.sort_by_key(|end| end["id"].as_u64());
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    ends.iter()
        .map(|end| Done {
            outcome: text(&end["outcome"]),
            summary: text(&end["summary"]),
            content: text(&end["content"]),
        })
        .collect()
}

/// A shell command in the foreground.
fn bash(command: &str) -> (&'static str, Value) {
    ("bash", serde_json::json!({"command": command}))
}

/// A last reply that comes when the sender is dropped, so that e can be looked at meanwhile.
fn gated() -> (Step, std::sync::mpsc::Sender<()>) {
    let (step, gate) = say("done").gate();
    (step, gate)
}
