//! `write`: a whole file from the model's bytes.

use std::fs::File;
use std::io::{self, Read, Seek};

use super::args::{Args, Parameter};
use super::files::{PathLock, describe};
use super::publish::{Existing, Target};
use super::undo::{self, Before};
use super::{Call, Runtime};
use crate::chat::{Display, Format, ToolResult};
use crate::text::diff_rows;

/// What a call may say.
pub const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "path",
        "string",
        "The file, absolute or relative to the workspace. Missing directories are created.",
    ),
    Parameter::required(
        "content",
        "string",
        "The whole new content, written byte for byte.",
    ),
];

/// Longest text on either side that is compared for the viewer, in bytes.
const MAX_DIFF: usize = 2 << 20;

/// Runs a call.
pub fn run(runtime: &Runtime, call: &Call<'_>) -> Result<ToolResult, ToolResult> {
    let args = Args::parse(call.arguments, PARAMETERS)?;
    let shown = args.required_path("path")?;
    let content = args.required_string("content")?;

    let path = runtime.resolve(shown);
    let lock = PathLock::acquire(&path, shown, call.cancel)?;
    let target = Target::open(&path, shown)?;
    runtime.seen.check(lock.key(), target.stamp(), shown)?;
    let (removed, before) = match &target {
        Target::Missing(_) => (0, Before::Missing),
        Target::Existing(existing) => old(existing, shown)?,
    };
    let added = count_lines(content.as_bytes());
    let display = match &before {
        Before::Missing if content.len() <= MAX_DIFF => diff_rows(shown, "", content),
        Before::Bytes(bytes) if bytes.len().max(content.len()) <= MAX_DIFF => {
            diff_rows(shown, &String::from_utf8_lossy(bytes), content)
        }
        _ => format!("{shown}\n{added} lines replaced {removed} lines"),
    };
    runtime.publish(&lock, &target, shown, content.as_bytes(), before, "a write")?;

    let lines = if added == 1 { "line" } else { "lines" };
    Ok(ToolResult {
        display: Some(Display {
            text: display,
            format: Format::Diff,
        }),
        ..ToolResult::completed(
            format!("wrote `{shown}` ({added} {lines})"),
            format!("+{added} -{removed}"),
        )
    })
}

/// How many lines a write replaces, and with which bytes. The file must be UTF-8; a large one is
/// looked at piece by piece.
fn old(existing: &Existing, shown: &str) -> Result<(usize, Before), String> {
    let fail = |error: io::Error| describe(shown, &error);
    let mut bytes = Vec::new();
    (&existing.file)
        .take(undo::MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    let large = bytes.len() as u64 > undo::MAX_BYTES;
    let (valid, lines) = match large {
        false => (std::str::from_utf8(&bytes).is_ok(), count_lines(&bytes)),
        true => scan(&existing.file).map_err(fail)?,
    };
    match valid {
        false => Err(format!(
            "`{shown}` is not UTF-8 text and was left alone; use `bash` to replace it"
        )),
        true if large => Ok((lines, Before::TooLarge)),
        true => Ok((lines, Before::Bytes(bytes))),
    }
}

/// Whether a file is UTF-8, and its number of lines, in constant memory.
fn scan(mut file: &File) -> io::Result<(bool, usize)> {
    file.rewind()?;
    let mut buffer = vec![0; 64 * 1024];
    let (mut carried, mut lines, mut last) = (0, 0, b'\n');
    loop {
        let count = file.read(&mut buffer[carried..])?;
        let filled = carried + count;
        let rest = match std::str::from_utf8(&buffer[..filled]) {
            Ok(_) => 0,
            Err(error) if error.error_len().is_none() && count > 0 => filled - error.valid_up_to(),
            Err(_) => return Ok((false, lines)),
        };
        lines += buffer[carried..filled]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        if count == 0 {
            return Ok((true, lines + usize::from(last != b'\n')));
        }
        last = buffer[filled - 1];
        buffer.copy_within(filled - rest..filled, 0);
        carried = rest;
    }
}

/// Lines of a text; a last one without a line break counts.
pub fn count_lines(text: &[u8]) -> usize {
    let breaks = text.iter().filter(|&&byte| byte == b'\n').count();
    breaks + usize::from(text.last().is_some_and(|&byte| byte != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Outcome;
    use crate::tools::testing::Bench;
    use std::io::Write;

    #[test]
    fn a_write_reports_lines_and_a_diff() {
        let bench = Bench::new();
        let result = bench.run("write", r#"{"path":"a/b.txt","content":"one\ntwo"}"#);
        assert_eq!(result.content, "wrote `a/b.txt` (2 lines)");
        assert_eq!(result.summary, "+2 -0");
        assert_eq!(
            result.display.unwrap().text,
            "a/b.txt\n    1 + one\n    2 + two"
        );
        let result = bench.run("write", r#"{"path":"a/b.txt","content":"one\n"}"#);
        assert_eq!(
            (result.outcome, result.summary.as_str()),
            (Outcome::Completed, "+1 -2")
        );
        assert_eq!(bench.read("a/b.txt"), b"one\n");
    }

    #[test]
    fn a_changed_file_is_stale() {
        let bench = Bench::new();
        bench.put("f", b"one\n");
        bench.run("read", r#"{"path":"f"}"#);
        bench.put("f", b"other\n");
        let result = bench.run("write", r#"{"path":"f","content":"x"}"#);
        assert_eq!(
            (result.outcome, result.summary.as_str()),
            (Outcome::Failed, "stale")
        );
        assert_eq!(bench.read("f"), b"other\n");
        std::fs::remove_file(bench.path("f")).unwrap();
        assert_eq!(
            bench.run("write", r#"{"path":"f","content":"x"}"#).outcome,
            Outcome::Completed
        );
        assert_eq!(
            bench.run("write", r#"{"path":"f","content":"y"}"#).outcome,
            Outcome::Completed
        );
    }

    #[test]
    fn bytes_that_are_not_text_are_left_alone() {
        let bench = Bench::new();
        let mut large = vec![b'x'; undo::MAX_BYTES as usize];
        large.extend(b"\xffend");
        for bytes in [b"\xff\xfe".as_slice(), &large] {
            bench.put("f", bytes);
            let result = bench.run("write", r#"{"path":"f","content":"x"}"#);
            assert!(result.content.contains("not UTF-8"), "{}", result.content);
            assert_eq!(bench.read("f"), bytes);
        }
    }

    #[test]
    fn scanning_agrees_with_reading() {
        let mut file = tempfile::tempfile().unwrap();
        let text = "aé日🙂\n".repeat(60_000);
        for (end, valid) in [("", true), ("é", true), ("\u{e9}\n", true)] {
            file.rewind().unwrap();
            file.set_len(0).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.write_all(end.as_bytes()).unwrap();
            let whole = format!("{text}{end}");
            assert_eq!(scan(&file).unwrap(), (valid, count_lines(whole.as_bytes())));
        }
        file.write_all(b"\xc3").unwrap();
        assert!(!scan(&file).unwrap().0);
    }
}
