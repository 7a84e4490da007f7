//! The built-in tools: read, write, edit, grep, read_result, bash.
//!
//! One table row per tool holds its name, prompt line, labels, schema and runner, so that
//! prompt, transcript and dispatcher cannot disagree. A tool runs on a thread of its own, may
//! block there, looks at its cancel token, and never panics on what a model or a file says.

mod args;
mod bash;
mod edit;
mod files;
mod grep;
mod lines;
mod publish;
mod read;
mod results;
mod runtime;
#[cfg(test)]
mod testing;
mod undo;
mod walk;
mod write;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::chat::{Output, ToolResult, ToolSpec};
use crate::sys::{CancelToken, process};
use crate::text::{clip_chars, one_line, sanitize};

pub use bash::{Running, run_shell};
pub use files::{Identity, identity};
pub use results::KeptResults;
pub use runtime::Runtime;
pub use walk::Walk;

/// Most bytes of one result that a model reads.
pub const RESULT_CAP: usize = 32 * 1024;
/// Widest reason on the row of a failed call, in columns.
/// One call of a built-in tool.
pub struct Call<'a> {
    /// The arguments as the model wrote them.
    pub arguments: &'a str,
    /// Set when the turn is interrupted.
    pub cancel: &'a CancelToken,
    /// Takes live output: a preview that the caller may drop.
    pub output: &'a (dyn Fn(Output, &str) + Sync),
}

/// How a call shows in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The noun used to tally a batch.
    pub category: String,
    /// Verb while it runs.
    pub running: String,
    /// Verb after it ended.
    pub completed: String,
    /// What it works on, as the arguments say.
    pub target: String,
    /// Whether the summary of its result stands behind it. The label of a built-in tool says all
    /// that a row needs.
    pub has_suffix: bool,
}

/// Which arguments tell what a call works on.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// The path of a file, which the call reads or changes.
    Path,
    /// An argument that may name a file, though another one is shown.
    Shown(&'static str),
    /// The id of a kept result.
    Id,
    /// The first of these that is given, line breaks kept.
    Command(&'static [&'static str]),
}

/// One built-in tool.
pub struct Builtin {
    /// The name the model calls.
    pub name: &'static str,
    /// One line for the system prompt.
    pub prompt: &'static str,
    /// One paragraph for the schema.
    pub description: &'static str,
    /// The noun of its label.
    pub category: &'static str,
    /// Its verb while running.
    pub running: &'static str,
    /// Its verb afterwards.
    pub completed: &'static str,
    /// What its label shows it works on.
    pub subject: Subject,
    /// What a call may say.
    pub parameters: &'static [args::Parameter],
    /// Runs it. Both results are for the model.
    pub run: fn(&Runtime, &Call<'_>) -> Result<ToolResult, ToolResult>,
}

/// All built-in tools, in the order the model sees them.
pub const BUILTINS: &[Builtin] = &[
    Builtin {
        name: "read",
        prompt: "read a text file, with line numbers",
        description: "Reads a text file. Each line is shown as its number, a tab and its text. \
                      Long files are cut; a notice tells the offset to go on from.",
        category: "read",
        running: "Reading",
        completed: "Read",
        subject: Subject::Path,
        parameters: read::PARAMETERS,
        run: read::run,
    },
    Builtin {
        name: "write",
        prompt: "create a file or replace its whole content",
        description: "Writes a whole file, creating directories as needed. Read an existing file \
                      first; use `edit` for a small change.",
        category: "write",
        running: "Writing",
        completed: "Wrote",
        subject: Subject::Path,
        parameters: write::PARAMETERS,
        run: write::run,
    },
    Builtin {
        name: "edit",
        prompt: "replace one exact piece of a file",
        description: "Replaces `old_string`, which must occur exactly once in the file, by \
                      `new_string`. Quote enough lines to make it unique, without the line \
                      numbers of `read`. Line endings of the file are kept.",
        category: "edit",
        running: "Editing",
        completed: "Edited",
        subject: Subject::Path,
        parameters: edit::PARAMETERS,
        run: edit::run,
    },
    Builtin {
        name: "grep",
        prompt: "search files for a regular expression",
        description: "Finds lines that match a regular expression and shows them as \
                      path:line: text. Hidden and ignored files and build output are left out \
                      unless `all` is true or the path names them.",
        category: "read",
        running: "Searching",
        completed: "Searched",
        subject: Subject::Shown("pattern"),
        parameters: grep::PARAMETERS,
        run: grep::run,
    },
    Builtin {
        name: "read_result",
        prompt: "read more of a result that was cut",
        description: "Reads more of an earlier result whose notice gave an id: a range of bytes, \
                      or the lines that contain a text.",
        category: "read",
        running: "Reading result",
        completed: "Read result",
        subject: Subject::Id,
        parameters: results::PARAMETERS,
        run: results::run,
    },
    Builtin {
        name: "bash",
        prompt: "run a shell command in the workspace",
        description: "Runs a command in a fresh shell in the workspace, without input and without \
                      a terminal, and returns the end of its output. What it leaves running is \
                      stopped; start servers with `background` and use the handle to look at \
                      them or end them.",
        category: "command",
        running: "Running",
        completed: "Ran",
        subject: Subject::Command(&["command", "handle"]),
        parameters: bash::PARAMETERS,
        run: bash::run,
    },
];

/// The built-in tool of a name.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// What a request says about a tool.
pub fn spec(builtin: &Builtin) -> ToolSpec {
    ToolSpec {
        name: builtin.name.to_owned(),
        description: builtin.description.to_owned(),
        parameters: args::schema(builtin.parameters),
    }
}

/// Runs a call on this thread. Whatever the name and the arguments are, there is a result.
pub fn run(runtime: &Runtime, name: &str, call: &Call<'_>) -> ToolResult {
    match builtin(name) {
        Some(builtin) => match process::can_enter(runtime.workspace()) {
            Ok(()) => (builtin.run)(runtime, call).unwrap_or_else(|failure| failure),
            Err(gone) => ToolResult::failed(gone.to_string()),
        },
        None => unknown(
            name,
            &BUILTINS
                .iter()
                .map(|builtin| builtin.name)
                .collect::<Vec<_>>(),
        ),
    }
}

/// The answer to a call of a tool that is not there, or may not be called now.
pub fn unknown(name: &str, available: &[&str]) -> ToolResult {
    let shown = short_name(name);
    let lower = shown.to_lowercase();
    let close = similar::get_close_matches(lower.as_str(), available, 1, 0.6)
        .first()
        .copied();
    let near = close.or_else(|| {
        // `read_file`, `functions.edit`
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.find_map(|word| available.iter().copied().find(|name| *name == word))
    });
    let hint = near
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    let list = match available {
        [] => "no tool can be called now".to_owned(),
        names => format!("the tools are {}", names.join(", ")),
    };
    ToolResult::failed(format!("there is no tool `{shown}`{hint} ({list})"))
}

/// How a call of any tool shows, with arguments that need not fit it.
pub fn label(name: &str, arguments: Option<&Value>) -> Label {
    let Some(builtin) = builtin(name) else {
        let name = short_name(name);
        return Label {
            running: format!("Running {name}"),
            completed: format!("Ran {name}"),
            category: name,
            target: String::new(),
            has_suffix: true,
        };
    };
    let argument = |name: &str| match arguments.and_then(|arguments| arguments.get(name)) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let line = |name: &str| argument(name).map(|text| one_line(&text, None));
    let target = match builtin.subject {
        Subject::Path => line("path"),
        Subject::Shown(name) => line(name),
        Subject::Id => line("id").map(|id| format!("#{id}")),
        Subject::Command(names) => names
            .iter()
            .find_map(|name| argument(name))
            .map(|text| sanitize(&text)),
    };
    Label {
        category: builtin.category.to_owned(),
        running: builtin.running.to_owned(),
        completed: builtin.completed.to_owned(),
        target: target.unwrap_or_default(),
        has_suffix: false,
    }
}

/// The path a call works on, made absolute, for tools that work on one: the file of `read`,
/// `write` and `edit`, and what `grep` is told to search.
pub fn target_path(name: &str, arguments: &Value, workspace: &Path) -> Option<PathBuf> {
    match builtin(name)?.subject {
        Subject::Path | Subject::Shown(_) => {
            let path = arguments
                .get("path")?
                .as_str()
                .filter(|path| !path.is_empty())?;
            Some(workspace.join(path))
        }
        Subject::Id | Subject::Command(_) => None,
    }
}

/// A tool name as a model spelt it, fit to be shown.
fn short_name(name: &str) -> String {
    one_line(&clip_chars(name, 64), None)
}

#[cfg(test)]
mod tests {
    use super::testing::Bench;
    use super::*;
    use crate::chat::Outcome;
    use serde_json::json;

    #[test]
    fn labels_follow_the_table() {
        let cases = [
            (
                "read",
                json!({"path": "a\n\x1b[31mb"}),
                "Reading",
                "Read",
                "a b",
            ),
            ("write", json!({"path": 5}), "Writing", "Wrote", "5"),
            ("edit", json!({"path": null}), "Editing", "Edited", ""),
            (
                "grep",
                json!({"pattern": "x", "path": "y"}),
                "Searching",
                "Searched",
                "x",
            ),
            (
                "read_result",
                json!({"id": 3}),
                "Reading result",
                "Read result",
                "#3",
            ),
            (
                "my\ttool",
                json!({"path": "x"}),
                "Running my tool",
                "Ran my tool",
                "",
            ),
        ];
        for (name, arguments, running, completed, target) in cases {
            let label = label(name, Some(&arguments));
            let found = (
                label.running.as_str(),
                label.completed.as_str(),
                label.target.as_str(),
            );
            assert_eq!(found, (running, completed, target), "{name}");
        }
        assert_eq!(label("nothing", None).category, "nothing");
        assert_eq!(label("read", Some(&json!([1]))).target, "");
    }

    #[test]
    fn target_paths_are_absolute() {
        let at = |name: &str, arguments: Value| target_path(name, &arguments, Path::new("/w"));
        assert_eq!(
            at("read", json!({"path": "a"})),
            Some(PathBuf::from("/w/a"))
        );
        assert_eq!(
            at("grep", json!({"path": "/b", "pattern": "x"})),
            Some(PathBuf::from("/b"))
        );
        assert_eq!(at("grep", json!({"pattern": "x"})), None);
        assert_eq!(at("read", json!({"path": 1})), None);
        assert_eq!(at("read", json!("x")), None);
        assert_eq!(at("nothing", json!({"path": "a"})), None);
    }

    #[test]
    fn every_call_has_a_result() {
        let bench = Bench::new();
        let deep = "[".repeat(10_000);
        let arguments = [
            "",
            "null",
            "7",
            "[]",
            "{",
            "{\"path\":",
            "{\"x\":1}",
            "\"\"",
            "{\"path\":\"\"}",
            deep.as_str(),
        ];
        for builtin in BUILTINS {
            for arguments in arguments {
                let result = bench.run(builtin.name, arguments);
                assert_eq!(
                    result.outcome,
                    Outcome::Failed,
                    "{} {arguments:.20}",
                    builtin.name
                );
                assert!(result.content.starts_with(|c: char| !c.is_uppercase()));
            }
        }
        let result = bench.run("read", "{\"path\":\"a\\u0000b\"}");
        assert_eq!(result.outcome, Outcome::Failed);
    }

    #[test]
    fn commands_run_in_the_workspace() {
        let bench = Bench::new();
        bench.run("write", r#"{"path":"f","content":"one\n"}"#);
        let result = bench.run("bash", r#"{"command":"cat f; echo two > f"}"#);
        assert_eq!(
            (result.content.as_str(), result.summary.as_str()),
            ("one", "done")
        );
        // What a command changed is not overwritten unseen.
        let result = bench.run(
            "edit",
            r#"{"path":"f","old_string":"two","new_string":"three"}"#,
        );
        assert_eq!(result.summary, "stale");
    }

    #[test]
    fn unknown_tools_get_a_hint() {
        let bench = Bench::new();
        let cases = [
            ("Read", Some("read")),
            ("reed", Some("read")),
            ("read_file", Some("read")),
            ("functions.edit", Some("edit")),
            ("read-result", Some("read_result")),
            ("zzz", None),
            ("", None),
        ];
        for (name, near) in cases {
            let content = bench.run(name, "{}").content;
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            assert_eq!(
                content.contains("did you mean"),
                hint.is_some(),
                "{content}"
            );
            assert!(content.contains(&hint.unwrap_or_default()), "{content}");
            assert!(content.contains("the tools are read, write"), "{content}");
        }
        assert!(
            unknown("read", &[])
                .content
                .contains("no tool can be called now")
        );
        assert!(unknown(&"x".repeat(1 << 20), &["read"]).content.len() < 400);
    }

    #[test]
    fn schemas_are_objects_that_name_their_required_parameters() {
        for builtin in BUILTINS {
            let parameters = spec(builtin).parameters;
            assert_eq!(parameters["type"], "object");
            for name in parameters["required"].as_array().unwrap() {
                assert!(
                    parameters["properties"]
                        .get(name.as_str().unwrap())
                        .is_some()
                );
            }
        }
    }
}
