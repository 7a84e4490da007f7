//! `read`: a window of a text file with line numbers.
//!
//! Only the lines before and in the window are looked at, none is held that is too long, and the
//! model is told in words what a window does not show: that there is more, or that there is
//! nothing.

use std::fmt::Write as _;
use std::fs::File;
use std::time::{Duration, Instant};

use super::args::{Args, Parameter};
use super::files::{PathLock, Stamp, cancelled, describe, open};
use super::lines::{Limits, Lines, MAX_LINE, Step, Stop};
use super::{Call, RESULT_CAP, Runtime};
use crate::chat::ToolResult;

/// What a call may say.
pub const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "path",
        "string",
        "The file, absolute or relative to the workspace.",
    ),
    Parameter::optional("offset", "integer", "First line to show, from 1."),
    Parameter::optional("limit", "integer", "Most lines to show."),
];

/// Room for the notice below a cut window, in bytes.
const NOTICE: usize = 128;

/// Longest time for one call: a far offset in a huge file may not be reachable.
const TIME: Duration = Duration::from_secs(20);

/// Runs a call.
pub fn run(runtime: &Runtime, call: &Call<'_>) -> Result<ToolResult, ToolResult> {
    let args = Args::parse(call.arguments, PARAMETERS)?;
    let shown = args.required_path("path")?;
    let offset = args.integer("offset")?.unwrap_or(1).max(1);
    let limit = args.integer("limit")?;
    let limit = limit.filter(|limit| *limit > 0).unwrap_or(u64::MAX);

    let path = runtime.resolve(shown);
    let lock = PathLock::acquire(&path, shown, call.cancel)?;
    let limits = Limits {
        cancel: call.cancel,
        deadline: Instant::now() + TIME,
    };
    // A window that was read while the file changed may mix two states: it is read once more.
    for _ in 0..2 {
        let (file, metadata) = open(&path, shown)?;
        let mut window = Window::new(file, offset, limit, limits);
        let result = window.fill(shown);
        let after = window.lines.file().metadata();
        let after = after.map_err(|error| ToolResult::failed(describe(shown, &error)))?;
        if Stamp::of(&after) == Stamp::of(&metadata) {
            result?;
            runtime.seen.note(lock.key(), Stamp::of(&after));
            return Ok(window.result(shown, after.len()));
        }
    }
    Err(ToolResult::failed(format!(
        "`{shown}` keeps changing while it is read; try again later, or use `tail` in `bash`"
    )))
}

/// The part of a file that a call asks for.
struct Window<'a> {
    lines: Lines<'a>,
    offset: u64,
    limit: u64,
    text: String,
    /// Lines passed so far, shown or not.
    passed: u64,
    /// Lines shown.
    count: u64,
    /// Whether the window ended for want of room.
    cut: bool,
    blank: bool,
}

impl<'a> Window<'a> {
    fn new(file: File, offset: u64, limit: u64, limits: Limits<'a>) -> Self {
        Self {
            lines: Lines::new(file, limits),
            offset,
            limit,
            text: String::new(),
            passed: 0,
            count: 0,
            cut: false,
            blank: true,
        }
    }

    fn fill(&mut self, shown: &str) -> Result<(), ToolResult> {
        while self.count < self.limit {
            let start = self.lines.position();
            let number = self.passed + 1;
            let bytes = match self.lines.next() {
                Err(error) => return Err(ToolResult::failed(describe(shown, &error))),
                Ok(Step::End) => return Ok(()),
                Ok(Step::Stopped(Stop::Cancelled)) => return Err(cancelled()),
                Ok(Step::Stopped(Stop::TimedOut)) => return Err(too_far(shown, number)),
                Ok(Step::Line(_) | Step::TooLong) if number < self.offset => {
                    self.passed = number;
                    continue;
                }
                Ok(Step::TooLong) => return self.stop_at_long(shown, number),
                Ok(Step::Line(bytes)) => bytes,
            };
            let line = match std::str::from_utf8(bytes) {
                Ok(line) if number == 1 => line.strip_prefix('\u{feff}').unwrap_or(line),
                Ok(line) => line,
                Err(error) => {
                    let at = start + error.valid_up_to() as u64;
                    return Err(ToolResult::failed(format!(
                        "`{shown}` is not UTF-8 text (byte {at}); look at it with `file`, `xxd` \
                         or `iconv` in `bash`"
                    )));
                }
            };
            let before = self.text.len();
            if self.count > 0 {
                self.text.push('\n');
            }
            // Writing to a string does not fail.
            let _ = write!(self.text, "{number}\t{line}");
            let blank = line.trim().is_empty();
            if self.text.len() > RESULT_CAP - NOTICE {
                self.text.truncate(before);
                return self.stop_at_long(shown, number);
            }
            self.blank &= blank;
            self.passed = number;
            self.count += 1;
        }
        Ok(())
    }

    /// Ends the window before a line that does not fit it.
    fn stop_at_long(&mut self, shown: &str, number: u64) -> Result<(), ToolResult> {
        self.cut = true;
        match self.count {
            0 => Err(ToolResult::failed(format!(
                "line {number} of `{shown}` is too long to show (lines up to {} bytes are held, \
                 {} shown); skip it with offset {}, or cut it with a command in `bash`",
                MAX_LINE,
                RESULT_CAP - NOTICE,
                number + 1
            ))),
            _ => Ok(()),
        }
    }

    fn result(self, shown: &str, size: u64) -> ToolResult {
        let Self {
            mut text,
            passed,
            count,
            cut,
            ..
        } = self;
        let lines = |count: u64| format!("{count} {}", if count == 1 { "line" } else { "lines" });
        if cut {
            let _ = write!(
                text,
                "\n[lines {}-{passed} shown; the file has {size} bytes; go on with offset {}]",
                passed + 1 - count,
                passed + 1
            );
            return ToolResult::completed(text, format!("{count}+ lines"));
        }
        if count == 0 && passed == 0 {
            text = format!("[`{shown}` is empty]");
        } else if count == 0 {
            let offset = self.offset;
            text = format!(
                "[offset {offset} is past the end: `{shown}` has {}]",
                lines(passed)
            );
        } else if self.blank {
            text.push_str("\n[all of these lines are blank]");
        }
        ToolResult::completed(text, lines(count))
    }
}

fn too_far(shown: &str, number: u64) -> ToolResult {
    ToolResult::failed(format!(
        "`{shown}` is too large to reach that line: {} s went by before line {number}; use `bash`",
        TIME.as_secs()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Outcome;
    use crate::tools::testing::Bench;

    fn check(file: &[u8], arguments: &str, content: &str, summary: &str) {
        let bench = Bench::new();
        bench.put("f", file);
        let result = bench.run("read", &format!("{{\"path\":\"f\"{arguments}}}"));
        assert_eq!(
            (result.content.as_str(), result.summary.as_str()),
            (content, summary)
        );
        assert_eq!(result.outcome, Outcome::Completed);
    }

    #[test]
    fn windows() {
        check(b"a\r\nb\n\nc", "", "1\ta\n2\tb\n3\t\n4\tc", "4 lines");
        check(b"a\nb\nc\n", ",\"offset\":2,\"limit\":1", "2\tb", "1 line");
        check(b"a\nb\n", ",\"offset\":0,\"limit\":\"1\"", "1\ta", "1 line");
        check(
            b"\xef\xbb\xbfa\n\xef\xbb\xbfb",
            "",
            "1\ta\n2\t\u{feff}b",
            "2 lines",
        );
        check(b"a\0b\rc\n", "", "1\ta\0b\rc", "1 line");
    }

    #[test]
    fn absence_is_said_in_words() {
        check(b"", "", "[`f` is empty]", "0 lines");
        check(
            b"a\nb\n",
            ",\"offset\":3",
            "[offset 3 is past the end: `f` has 2 lines]",
            "0 lines",
        );
        check(
            b"\n\n",
            "",
            "1\t\n2\t\n[all of these lines are blank]",
            "2 lines",
        );
    }

    #[test]
    fn a_cut_window_says_how_to_go_on_and_loses_no_line() {
        let bench = Bench::new();
        let text: String = (1..=20_000).map(|n| format!("line {n} é\n")).collect();
        bench.put("f", text.as_bytes());
        let (mut offset, mut seen) = (1, String::new());
        loop {
            let result = bench.run("read", &format!("{{\"path\":\"f\",\"offset\":{offset}}}"));
            assert!(result.content.len() <= RESULT_CAP);
            let lines = result.content.lines().filter(|line| !line.starts_with('['));
            lines.for_each(|line| seen += &format!("{}\n", line.split_once('\t').unwrap().1));
            match result.content.rsplit_once("go on with offset ") {
                Some((_, rest)) => offset = rest.trim_end_matches(']').parse().unwrap(),
                None => break,
            }
            assert!(result.summary.ends_with("+ lines"));
        }
        assert_eq!(seen, text);
    }

    #[test]
    fn long_lines_end_a_window_and_can_be_skipped() {
        let bench = Bench::new();
        for length in [RESULT_CAP, MAX_LINE + 5] {
            bench.put("f", format!("a\n{}\nb\n", "x".repeat(length)).as_bytes());
            let result = bench.run("read", r#"{"path":"f"}"#);
            assert!(
                result.content.starts_with("1\ta\n[lines 1-1 shown"),
                "{}",
                result.content
            );
            let result = bench.run("read", r#"{"path":"f","offset":2}"#);
            assert!(
                result.content.contains("skip it with offset 3"),
                "{}",
                result.content
            );
            assert_eq!(
                bench.run("read", r#"{"path":"f","offset":3}"#).content,
                "3\tb"
            );
        }
    }

    #[test]
    fn what_is_no_text_file_fails_at_once() {
        let bench = Bench::new();
        bench.put("latin", b"ok\ncaf\xe9");
        let sparse = File::create(bench.path("sparse")).unwrap();
        sparse.set_len(10 << 30).unwrap();
        bench.run("bash", r#"{"command":"mkfifo fifo"}"#);
        let begun = Instant::now();
        let cases = [
            ("latin", "not UTF-8 text (byte 6)"),
            ("sparse", "line 1 of `sparse` is too long"),
            ("fifo", "fifo"),
            ("/dev/zero", "a device"),
            (".", "a directory"),
            ("none", "no such file"),
            ("/proc/self/mem", "`/proc/self/mem`"),
        ];
        for (path, reason) in cases {
            let result = bench.run("read", &format!("{{\"path\":\"{path}\"}}"));
            assert_eq!(result.outcome, Outcome::Failed, "{path}");
            assert!(result.content.contains(reason), "{}", result.content);
        }
        let result = bench.run("read", r#"{"path":"/proc/self/status","limit":1}"#);
        assert!(result.content.starts_with("1\tName:"), "{}", result.content);
        assert!(begun.elapsed() < Duration::from_secs(5));
        let result = bench.run("read", r#"{"path":"latin","limit":1}"#);
        assert_eq!(result.content, "1\tok");
    }
}
