//! AGENTS.md: which files hold instructions, how they are read, how the model sees them.
//!
//! The home's and the workspace's file are part of the system prompt. A file in a directory below
//! the workspace joins the conversation when a tool first touches that directory.

use std::fs::OpenOptions;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::action::Instructions;
use crate::chat::{Message, Voice};
use crate::sys;
use crate::text::clip_bytes;

/// The file's name, everywhere.
pub const FILE: &str = "AGENTS.md";
const OPENING: &str = "Instructions for work in ";
/// Most bytes of one file that the model sees.
const CAP: usize = 32 * 1024;
/// How many directories below the workspace are looked at: a model can name a path of any depth.
const DEEPEST: usize = 100;

/// Directories whose instructions apply to a call, outermost first: those between the workspace
/// and the file, neither the workspace itself nor anything reached through `..`.
pub fn directories(tool: &str, arguments: &Value, workspace: &Path) -> Vec<PathBuf> {
    if !matches!(tool, "read" | "write" | "edit" | "grep") {
        return Vec::new();
    }
    let Some(path) = arguments.get("path").and_then(Value::as_str) else {
        return Vec::new();
    };
    let path = workspace.join(path);
    if path.components().any(|part| part == Component::ParentDir) {
        return Vec::new();
    }
    let Ok(inside) = path.strip_prefix(workspace) else {
        return Vec::new();
    };
    let steps = inside.components().count();
    let steps = if tool == "grep" {
        steps
    } else {
        steps.saturating_sub(1)
    };
    let mut directory = workspace.to_path_buf();
    let parts = inside.components().take(steps.min(DEEPEST));
    parts
        .map(|part| {
            directory.push(part);
            directory.clone()
        })
        .collect()
}

/// Reads one directory's file. It must be a regular file that is really inside the workspace.
pub fn read_nested(directory: PathBuf, workspace: &Path) -> Instructions {
    let path = directory.join(FILE);
    let inside = path
        .canonicalize()
        .is_ok_and(|real| real.starts_with(workspace));
    let text = if inside { read(&path) } else { None };
    Instructions { directory, text }
}

/// The message that carries nested instructions. Its first line names the directory.
pub fn nested_message(directory: &Path, text: &str) -> String {
    let name = serde_json::Value::from(directory.to_string_lossy()).to_string();
    format!("{OPENING}{name}:\n{}", element(&directory.join(FILE), text))
}

/// The directory that a message is about, if it holds a [`nested_message`].
pub fn directory_of(message: &Message) -> Option<PathBuf> {
    let Message::User {
        content,
        voice: Voice::Internal,
        ..
    } = message
    else {
        return None;
    };
    let line = content
        .lines()
        .next()?
        .strip_prefix(OPENING)?
        .strip_suffix(':')?;
    Some(PathBuf::from(serde_json::from_str::<String>(line).ok()?))
}

/// A file's instructions: trimmed, bounded, none when blank, unreadable or no regular file.
pub fn read(path: &Path) -> Option<String> {
    let (file, _) = sys::fs::open_regular(path, OpenOptions::new().read(true)).ok()?;
    let mut bytes = Vec::new();
    file.take(CAP as u64 + 4).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim().trim_end_matches('\u{fffd}');
    if text.is_empty() {
        return None;
    }
    let cut = clip_bytes(text, CAP);
    Some(if cut.len() < text.len() {
        format!("{cut}\n[cut at 32 KiB]")
    } else {
        cut.to_string()
    })
}

/// Wraps instructions so that the model sees where they come from.
pub fn element(path: &Path, text: &str) -> String {
    let path = path.to_string_lossy();
    let path = path
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace(['\n', '\r'], " ");
    format!("<instructions path=\"{path}\">\n{text}\n</instructions>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn directories_between_the_workspace_and_the_file() {
        let workspace = Path::new("/w");
        let check = |tool: &str, path: &str, expected: &[&str]| {
            let found = directories(tool, &json!({"path": path}), workspace);
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{tool} {path}");
        };
        check("read", "a.txt", &[]);
        check("read", "x/y/a.txt", &["/w/x", "/w/x/y"]);
        check("edit", "/w/x/a.txt", &["/w/x"]);
        check("grep", "x/y", &["/w/x", "/w/x/y"]);
        check("read", "x/../y/a.txt", &[]);
        check("read", "/elsewhere/a.txt", &[]);
        check("bash", "x/a.txt", &[]);
        assert_eq!(
            directories("read", &json!({"path": 7}), workspace),
            Vec::<PathBuf>::new()
        );
    }

    #[test]
    fn a_message_tells_its_directory() {
        let directory = Path::new("/w/a \"b\"");
        let about = |text: &str| directory_of(&Message::internal(text));
        let message = nested_message(directory, "be kind");
        assert_eq!(about(&message).as_deref(), Some(directory));
        assert_eq!(about("Instructions for work in x"), None);
        assert_eq!(directory_of(&Message::user(message)), None);
    }

    #[test]
    fn a_hostile_path_stays_inside_its_attribute() {
        let text = element(Path::new("/w/\"><x>\n&"), "be kind");
        assert_eq!(
            text,
            "<instructions path=\"/w/&quot;>&lt;x> &amp;\">\nbe kind\n</instructions>"
        );
    }
}
