//! `grep`: lines that match a regular expression, found without any outside program.
//!
//! Matching is linear in the text. Files are read in a fixed order and bounded memory, and when
//! little was found the result says what was not searched.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::overrides::{Override, OverrideBuilder};
use regex::Regex;

use super::args::{Args, Parameter};
use super::files::{describe, open};
use super::lines::{Limits, Lines, MAX_LINE, Step, Stop};
use super::walk::{Skipped, Walk};
use super::{Call, Runtime};
use crate::chat::{Outcome, ToolResult};
use crate::text::{clip_bytes, one_line};

/// What a call may say.
pub const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "pattern",
        "string",
        "Regular expression without look-around, matched line by line; `(?i)` ignores case.",
    ),
    Parameter::optional(
        "path",
        "string",
        "Directory or file to search; the workspace by default.",
    ),
    Parameter::optional(
        "glob",
        "string",
        "Only files like `*.rs` or `src/**/*.{ts,tsx}`.",
    ),
    Parameter::optional(
        "all",
        "boolean",
        "Search hidden, ignored and build directories too.",
    ),
];

/// Most matches of one call.
const MAX_MATCHES: usize = 200;

/// With fewer matches than this the result tells what was not searched.
const FEW: usize = 5;

/// Longest text of one match, in bytes.
const MAX_HIT: usize = 4096;

/// Longest time for one call.
const TIME: Duration = Duration::from_secs(60);

/// Runs a call.
pub fn run(runtime: &Runtime, call: &Call<'_>) -> Result<ToolResult, ToolResult> {
    let args = Args::parse(call.arguments, PARAMETERS)?;
    let pattern = args.required_string("pattern")?;
    let shown = args
        .path("path")?
        .filter(|path| !path.is_empty())
        .unwrap_or(".");
    let glob = args.string("glob")?.filter(|glob| !glob.is_empty());
    let all = args.boolean("all")?;
    if pattern.len() > MAX_LINE {
        return Err(format!("`pattern` is too long, {MAX_LINE} bytes is the most").into());
    }
    let regex = Regex::new(pattern).map_err(|error| {
        format!(
            "`pattern` is no regular expression that works here, escape what is meant \
                 literally with a backslash: {error}"
        )
    })?;

    let root = runtime.resolve(shown);
    let root = root
        .canonicalize()
        .map_err(|error| describe(shown, &error))?;
    let workspace = runtime.workspace();
    let workspace = workspace
        .canonicalize()
        .unwrap_or_else(|_| workspace.to_owned());
    let limits = Limits {
        cancel: call.cancel,
        deadline: Instant::now() + TIME,
    };
    let mut search = Search::new(regex, workspace, limits);
    if !root.is_dir() {
        search.file(&root, Some(shown))?;
        return Ok(search.result(Skipped::default()));
    }
    let base = if root.starts_with(&search.workspace) {
        &search.workspace
    } else {
        &root
    };
    let glob = glob.map(|glob| build_glob(base, glob)).transpose()?;
    let mut walk = Walk::new(&root, all);
    while search.ended.is_none() {
        search.ended = limits.reached().map(End::Stopped);
        let Some(step) = walk.step() else { break };
        let wanted = |path: &PathBuf| {
            glob.as_ref()
                .is_none_or(|glob| !glob.matched(path, false).is_ignore())
        };
        if let Some(path) = step.filter(wanted) {
            search.file(&path, None)?;
        }
    }
    Ok(search.result(walk.skipped()))
}

/// A glob without a slash is for the file name, one with a slash for the path from `base`.
fn build_glob(base: &Path, glob: &str) -> Result<Override, String> {
    let fail = |error| format!("`glob` is not a pattern: {error}");
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    OverrideBuilder::new(base)
        .add(glob)
        .map_err(fail)?
        .build()
        .map_err(fail)
}

/// Why a search ended before it had seen everything.
enum End {
    Full,
    Stopped(Stop),
}

struct Search<'a> {
    regex: Regex,
    workspace: PathBuf,
    limits: Limits<'a>,
    hits: String,
    matches: usize,
    files: u64,
    files_not_text: u64,
    files_unreadable: u64,
    lines_too_long: u64,
    ended: Option<End>,
}

impl<'a> Search<'a> {
    fn new(regex: Regex, workspace: PathBuf, limits: Limits<'a>) -> Self {
        Self {
            regex,
            workspace,
            limits,
            hits: String::new(),
            matches: 0,
            files: 0,
            files_not_text: 0,
            files_unreadable: 0,
            lines_too_long: 0,
            ended: None,
        }
    }

    /// Searches one file. Trouble with it is an error when it was `asked` for by name.
    fn file(&mut self, path: &Path, asked: Option<&str>) -> Result<(), String> {
        let file = match (open(path, asked.unwrap_or_default()), asked) {
            (Ok((file, _)), _) => file,
            (Err(error), Some(_)) => return Err(error),
            (Err(_), None) => {
                self.files_unreadable += 1;
                return Ok(());
            }
        };
        self.files += 1;
        let name = path.strip_prefix(&self.workspace).unwrap_or(path);
        let name = one_line(&name.to_string_lossy(), None);
        let mut lines = Lines::new(file, self.limits);
        let (mut number, mut not_text) = (0, false);
        loop {
            number += 1;
            let line = match lines.next() {
                Ok(Step::Line(line)) => line,
                Ok(Step::TooLong) => {
                    self.lines_too_long += 1;
                    continue;
                }
                Ok(Step::End) => break,
                Ok(Step::Stopped(stop)) => {
                    self.ended = Some(End::Stopped(stop));
                    break;
                }
                Err(error) => match asked {
                    Some(shown) if number == 1 => return Err(describe(shown, &error)),
                    _ => {
                        self.files_unreadable += 1;
                        break;
                    }
                },
            };
            match std::str::from_utf8(line) {
                Err(_) => not_text = true,
                Ok(line) if !self.regex.is_match(line) => {}
                Ok(_) if self.matches == MAX_MATCHES => {
                    self.ended = Some(End::Full);
                    break;
                }
                Ok(line) => {
                    self.matches += 1;
                    self.hits +=
                        &format!("{name}:{number}: {}\n", clip_bytes(line.trim(), MAX_HIT));
                }
            }
        }
        self.files_not_text += u64::from(not_text);
        Ok(())
    }

    fn result(mut self, skipped: Skipped) -> ToolResult {
        let mut notices = Vec::new();
        match self.ended {
            Some(End::Full) => notices.push(format!(
                "stopped at {MAX_MATCHES} matches; narrow the pattern, path or glob"
            )),
            Some(End::Stopped(Stop::TimedOut)) => notices.push(format!(
                "stopped after {} s and {} files; narrow the path or glob",
                TIME.as_secs(),
                self.files
            )),
            Some(End::Stopped(Stop::Cancelled)) => notices.push("cancelled".to_owned()),
            None => {}
        }
        if self.matches < FEW {
            notices.extend(self.not_searched(skipped));
        }
        notices
            .iter()
            .for_each(|notice| self.hits += &format!("[{notice}]\n"));
        let more = if self.ended.is_some() { "+" } else { "" };
        let noun = if self.matches == 1 && more.is_empty() {
            "match"
        } else {
            "matches"
        };
        let summary = format!("{}{more} {noun}", self.matches);
        let result = ToolResult::completed(self.hits.trim_end_matches('\n'), summary);
        match self.ended {
            Some(End::Stopped(Stop::Cancelled)) => ToolResult {
                outcome: Outcome::Cancelled,
                ..result
            }
            .summary("cancelled"),
            Some(End::Stopped(Stop::TimedOut)) => ToolResult {
                outcome: Outcome::TimedOut,
                ..result
            },
            Some(End::Full) | None => result,
        }
    }

    /// One sentence about what the search left out.
    fn not_searched(&self, skipped: Skipped) -> Option<String> {
        let counts = [
            (skipped.hidden, "hidden", true),
            (skipped.ignored, "ignored by .gitignore or .ignore", true),
            (skipped.output, "named target, node_modules or dist", true),
            (skipped.links, "symlinks", false),
            (
                self.files_not_text,
                "files with lines that are not UTF-8",
                false,
            ),
            (
                self.files_unreadable + skipped.unreadable,
                "not readable",
                false,
            ),
            (self.lines_too_long, "lines over 64 KiB", false),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _, _)| *count > 0)
            .map(|(count, what, _)| format!("{count} {what}"))
            .collect();
        let remedy = match counts
            .iter()
            .any(|(count, _, by_rule)| *by_rule && *count > 0)
        {
            true => "; `\"all\": true` searches what is hidden, ignored or build output",
            false => "",
        };
        (!parts.is_empty()).then(|| format!("not searched: {}{remedy}", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::cancel::cancel_pair;
    use crate::text::testing::random;
    use crate::tools::testing::Bench;
    use serde_json::json;

    const _: () = assert!(MAX_LINE == 64 << 10, "the notice above names it");

    #[test]
    fn hits_come_in_byte_order_with_line_numbers() {
        let bench = Bench::new();
        bench.put("b/x.rs", b"one\r\n\tneedle$  \r\n");
        bench.put("b.rs", b"needle\nno\nneedle");
        bench.put("a.md", b"needle");
        let result = bench.run("grep", r#"{"pattern":"needle"}"#);
        assert_eq!(
            result.content,
            "a.md:1: needle\nb.rs:1: needle\nb.rs:3: needle\nb/x.rs:2: needle$"
        );
        assert_eq!(result.summary, "4 matches");
        let cases = [
            ("*.rs", "b.rs:1: needle\nb.rs:3: needle\nb/x.rs:2: needle$"),
            ("b/*", "b/x.rs:2: needle$"),
            ("**/x.rs", "b/x.rs:2: needle$"),
            ("**/b.?s", "b.rs:1: needle\nb.rs:3: needle"),
            ("*.{md,txt}", "a.md:1: needle"),
            ("./*.md", "a.md:1: needle"),
            ("!*.rs", "a.md:1: needle"),
        ];
        for (glob, expected) in cases {
            let arguments = json!({"pattern": "needle", "glob": glob, "path": ""});
            assert_eq!(
                bench.run("grep", &arguments.to_string()).content,
                expected,
                "{glob}"
            );
        }
        let result = bench.run("grep", r#"{"pattern":"^needle\\$ *$","path":"b"}"#);
        assert_eq!(result.content, "");
        assert_eq!(
            (result.summary.as_str(), result.outcome),
            ("0 matches", Outcome::Completed)
        );
    }

    #[test]
    fn bad_patterns_globs_and_paths_are_errors() {
        let bench = Bench::new();
        let cases = [
            (json!({"pattern": "("}), "no regular expression"),
            (json!({"pattern": "(?=a)"}), "no regular expression"),
            (json!({"pattern": "a", "glob": "[a"}), "`glob`"),
            (
                json!({"pattern": "a", "path": "none"}),
                "`none`: no such file",
            ),
            (json!({"pattern": "a", "path": "/dev/zero"}), "a device"),
            (json!({}), "`pattern` is missing"),
        ];
        for (arguments, reason) in cases {
            let result = bench.run("grep", &arguments.to_string());
            assert_eq!(result.outcome, Outcome::Failed);
            assert!(result.content.contains(reason), "{}", result.content);
        }
    }

    #[test]
    fn what_was_not_searched_is_said() {
        let bench = Bench::new();
        bench.put(".github/ci.yml", b"needle");
        bench.put("target/out", b"needle");
        bench.put("latin", b"needle caf\xe9\nneedle");
        bench.put("long", format!("needle{}", "x".repeat(MAX_LINE)).as_bytes());
        let result = bench.run("grep", r#"{"pattern":"needle"}"#);
        assert_eq!(
            result.content,
            "latin:2: needle\n[not searched: 1 hidden, 1 named target, node_modules or dist, 1 files \
             with lines that are not UTF-8, 1 lines over 64 KiB; `\"all\": true` searches what is \
             hidden, ignored or build output]"
        );
        let result = bench.run("grep", r#"{"pattern":"needle","all":true}"#);
        assert!(
            result
                .content
                .starts_with(".github/ci.yml:1: needle\nlatin:2: needle\ntarget/out:1")
        );
        let result = bench.run(
            "grep",
            r#"{"pattern":"needle","path":".github/ci.yml","glob":"*.rs"}"#,
        );
        assert_eq!(result.content, ".github/ci.yml:1: needle");
        let result = bench.run("grep", r#"{"pattern":"needle","path":"target"}"#);
        assert_eq!(result.content, "target/out:1: needle");
    }

    #[test]
    fn two_hundred_matches_are_enough() {
        let bench = Bench::new();
        bench.put("f", "x\n".repeat(MAX_MATCHES).as_bytes());
        assert_eq!(
            bench.run("grep", r#"{"pattern":"x"}"#).summary,
            "200 matches"
        );
        bench.put("f", "x\n".repeat(MAX_MATCHES + 1).as_bytes());
        let result = bench.run("grep", r#"{"pattern":"x"}"#);
        assert_eq!(result.summary, "200+ matches");
        assert!(
            result
                .content
                .ends_with("[stopped at 200 matches; narrow the pattern, path or glob]")
        );
    }

    #[test]
    fn a_cancelled_search_and_a_pipe_end_at_once() {
        let bench = Bench::new();
        bench.put("f", b"needle");
        bench.run("bash", r#"{"command":"mkfifo pipe"}"#);
        assert_eq!(
            bench.run("grep", r#"{"pattern":"needle"}"#).summary,
            "1 match"
        );
        let (canceller, cancel) = cancel_pair();
        canceller.cancel();
        let call = Call {
            arguments: r#"{"pattern":"needle"}"#,
            cancel: &cancel,
            output: &|_, _| {},
        };
        assert_eq!(
            run(bench.runtime(), &call).unwrap().outcome,
            Outcome::Cancelled
        );
    }

    #[test]
    fn agrees_with_a_naive_search() {
        let mut random = random(5);
        let bench = Bench::new();
        let mut expected = Vec::new();
        for name in ["a", "b", "c/d", "c/e", "c.x"] {
            let text: String = (0..2000)
                .map(|_| ["a", "b", "é", "\n", "\r\n", " "][random(6)])
                .collect();
            bench.put(name, text.as_bytes());
            for (index, line) in text.lines().enumerate() {
                if line.contains("ab") {
                    expected.push((name, format!("{name}:{}: {}", index + 1, line.trim())));
                }
            }
        }
        expected.sort_by(|one, other| one.0.cmp(other.0));
        let found = bench.run("grep", r#"{"pattern":"ab"}"#).content;
        let expected: Vec<String> = expected.into_iter().map(|(_, hit)| hit).take(200).collect();
        assert_eq!(
            found
                .lines()
                .filter(|line| !line.starts_with('['))
                .collect::<Vec<_>>(),
            expected
        );
    }
}
