//! The system prompt, built anew for every submission.

use std::path::Path;

use super::instructions::{self, FILE};
use super::open::SessionSpec;
use crate::config::resources::{catalog, places, skills};
use crate::provider::Model;
use crate::tools;

/// Reads what the prompt is made of and puts it together. Blocks on files.
pub fn system_prompt(spec: &SessionSpec, model: &Model, today: &str) -> String {
    let home = spec.home.dir();
    let files = [home, Some(spec.workspace.as_path())];
    let context: Vec<String> = files
        .into_iter()
        .flatten()
        .map(|directory| directory.join(FILE))
        .filter_map(|path| Some(instructions::element(&path, &instructions::read(&path)?)))
        .collect();

    let mut parts = vec![spec.settings.system_prompt.clone().unwrap_or_else(base)];
    if !context.is_empty() {
        parts.push(format!("<project>\n{}\n</project>", context.join("\n")));
    }
    if spec.tools.permits("read", None).is_ok() {
        let (found, _) = skills(&places(&spec.home, Some(&spec.workspace)));
        parts.extend(catalog(&found));
    }
    parts.push(surroundings(&spec.workspace, today));
    parts.extend(spec.tools.notice(model, &spec.settings));
    parts.join("\n\n")
}

fn base() -> String {
    let mut text = String::from(
        "You are e, a coding agent that works in the user's directory. You read, search, change and \
         run code with tools, and you say what you did.\n\nTools:\n",
    );
    for tool in tools::BUILTINS {
        text.push_str(&format!("- {}: {}\n", tool.name, tool.prompt));
    }
    text.push_str(
        "More tools may be offered with a request.\n\n\
         Be brief. Name the paths of the files you mean.\n\n\
         Only when the user asks about e itself: `e docs` lists its guides, `e docs <topic>` prints one.",
    );
    text
}

fn surroundings(workspace: &Path, today: &str) -> String {
    // A JSON string, so that a hostile path cannot add lines.
    let workspace = serde_json::Value::from(workspace.to_string_lossy());
    format!(
        "Working directory: {workspace}\nPlatform: {}\nDate: {today}",
        std::env::consts::OS
    )
}
