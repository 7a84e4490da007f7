//! `offline/demo`: shows what a turn looks like, on the workspace at hand.
//!
//! It lists the files with `bash`, reads the README and the build file with `read`, and tells
//! what it found. It knows where it is by the calls since the user last spoke, so it keeps no
//! state and can be interrupted anywhere.

use serde_json::json;

use super::{PACE, Player};
use crate::chat::{Message, ToolCall, Voice};
use crate::provider::{Failure, Finish, Request, Sink, StreamEvent};

/// Files that tell how a project is built, the most telling first.
const BUILD_FILES: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "CMakeLists.txt",
    "meson.build",
    "build.gradle",
    "pom.xml",
    "setup.py",
    "Makefile",
];

const LIST: &str = "ls -1A | head -n 200";

pub(super) fn play(
    player: &Player<'_>,
    request: &Request,
    sink: &mut dyn Sink,
) -> Result<(), Failure> {
    let offers = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    let seen = Seen::of(request);
    player.open(sink);
    let (text, calls) = match (&seen.listing, seen.reads.is_empty()) {
        (None, _) if offers("bash") && offers("read") => (
            "I'll look around first.\n\n".to_owned(),
            vec![call("bash", 1, json!({"command": LIST}))],
        ),
        (None, _) => (
            "This is e's offline demo. It needs the tools `bash` and `read`.".to_owned(),
            Vec::new(),
        ),
        (Some(listing), true) if !interesting(listing).is_empty() => {
            let files = interesting(listing);
            let calls = files
                .iter()
                .zip(2..)
                .map(|(file, n)| call("read", n, json!({"path": file, "limit": 40})));
            (
                format!("{} tell what this is.\n\n", files.join(" and ")),
                calls.collect(),
            )
        }
        (Some(listing), _) => (report(listing, &seen.reads), Vec::new()),
    };
    player.say(&text, PACE, sink)?;
    let finish = if calls.is_empty() {
        Finish::Normal
    } else {
        Finish::ToolCalls
    };
    for call in calls {
        sink.push(StreamEvent::CallProgress(call.arguments.len()));
        player.wait(PACE, sink)?;
        sink.push(StreamEvent::Call(call));
    }
    player.end(request, text.len(), finish, sink);
    Ok(())
}

/// What the calls since the user last spoke have shown.
#[derive(Default)]
struct Seen<'a> {
    listing: Option<&'a str>,
    /// Path and numbered lines.
    reads: Vec<(String, &'a str)>,
}

impl<'a> Seen<'a> {
    fn of(request: &'a Request) -> Self {
        let spoke = |message: &Message| {
            matches!(
                message,
                Message::User {
                    voice: Voice::Prompt,
                    ..
                }
            )
        };
        let start = request
            .messages
            .iter()
            .rposition(|message| spoke(message))
            .unwrap_or(0);
        let mut seen = Self::default();
        let mut open: Vec<&ToolCall> = Vec::new();
        for message in &request.messages[start..] {
            match &**message {
                Message::Assistant { tool_calls, .. } => open.extend(tool_calls),
                Message::Tool {
                    call_id, content, ..
                } => {
                    let Some(position) = open.iter().position(|call| call.id == *call_id) else {
                        continue;
                    };
                    let call = open.remove(position);
                    if call.name == "bash" {
                        seen.listing = Some(content);
                    } else {
                        let arguments: serde_json::Value =
                            serde_json::from_str(&call.arguments).unwrap_or_default();
                        let path = arguments["path"].as_str().unwrap_or("").to_owned();
                        seen.reads.push((path, content));
                    }
                }
                Message::User { .. } | Message::Reasoning { .. } | Message::System { .. } => {}
            }
        }
        seen
    }
}

fn call(name: &str, number: usize, arguments: serde_json::Value) -> ToolCall {
    ToolCall {
        id: format!("demo_{number}"),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        signature: None,
    }
}

/// The README and the build file among the listed names.
fn interesting(listing: &str) -> Vec<&str> {
    let names: Vec<&str> = listing.lines().map(str::trim).collect();
    let readme = names
        .iter()
        .find(|name| name.to_ascii_lowercase().starts_with("readme"));
    let build = BUILD_FILES.iter().find(|file| names.contains(file));
    readme.into_iter().chain(build).copied().collect()
}

fn report(listing: &str, reads: &[(String, &str)]) -> String {
    let names: Vec<&str> = listing
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let mut text = format!("I found {} entries here", names.len());
    let shown: Vec<String> = names
        .iter()
        .take(6)
        .map(|name| format!("`{name}`"))
        .collect();
    if !shown.is_empty() {
        text.push_str(&format!(
            ": {}{}",
            shown.join(", "),
            if names.len() > shown.len() {
                " and more"
            } else {
                ""
            }
        ));
    }
    text.push_str(".\n\n");
    for (path, content) in reads {
        let first = content
            .lines()
            .map(without_number)
            .find(|line| !line.trim().is_empty());
        match first {
            Some(line) => text.push_str(&format!(
                "- `{path}` begins with: {}\n",
                line.trim_start_matches('#').trim()
            )),
            None => text.push_str(&format!("- `{path}` is empty\n")),
        }
    }
    text.push_str(
        "\nThis was the offline demo: the tools ran for real, the words came from e itself.",
    );
    text
}

/// A line of the `read` tool without its number.
fn without_number(line: &str) -> &str {
    match line.split_once('\t') {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => line,
    }
}
