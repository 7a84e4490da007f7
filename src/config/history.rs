//! `history.jsonl`: the prompts of earlier sessions, one JSON string per line, oldest first.
//!
//! Losing it costs a convenience, so nothing here fails aloud.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::Home;
use super::home::tighten;
use crate::error::io_text;
use crate::sys::Stage;
use crate::sys::fs::{is_missing, open_regular};
use crate::text::json;

const FILE: &str = "history.jsonl";

/// Prompts that are loaded, and that are left when the file is cut.
const KEPT: usize = 1000;

/// Lines above which the file is cut.
const MAX_LINES: usize = 2000;

/// The newest part of the file that is looked at, in bytes.
const MAX_READ: u64 = 16 << 20;

/// The file, and what is known of it. A run that saves nothing reads it and appends nothing.
#[derive(Debug, Default)]
pub struct History {
    home: Home,
    last: Option<String>,
    lines: usize,
}

impl History {
    /// Opens the history of a home and reads its newest prompts, oldest first. Changes nothing. A
    /// home that is none keeps nothing.
    pub fn open(home: &Home) -> (Self, Vec<String>) {
        let (entries, lines) = read(home).unwrap_or_default();
        let history = Self {
            home: home.clone(),
            last: entries.last().cloned(),
            lines,
        };
        (history, entries)
    }

    /// Why the file cannot be used, for a report: while e runs nothing is said of it.
    pub fn problem(home: &Home) -> Option<String> {
        let path = home.file(FILE)?;
        match open_regular(&path, OpenOptions::new().read(true)) {
            Err(error) if !is_missing(&error) => Some(format!(
                "ignoring `{}`: {}",
                path.display(),
                io_text(&error)
            )),
            _ => None,
        }
    }

    /// Adds an accepted prompt, unless it is blank or the same as the one before.
    pub fn append(&mut self, text: &str) {
        if text.trim().is_empty() || self.last.as_deref() == Some(text) {
            return;
        }
        self.last = Some(text.to_owned());
        if self.write(text).is_ok() {
            self.lines += 1;
        }
        if self.lines > MAX_LINES && self.cut().is_ok() {
            self.lines = KEPT;
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let dir = self.home.ensure().map_err(io::Error::other)?;
        let path = dir.join(FILE);
        let mut options = OpenOptions::new();
        // Made first: what is opened below must be a regular file that is there.
        match options.write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let (mut file, metadata) = open_regular(&path, OpenOptions::new().read(true).append(true))?;
        tighten(&path, 0o600)?;
        let mut line = json::to_line(&text);
        line.push('\n');
        // A line that was cut off must not swallow this one.
        if ends_inside_a_line(&file, metadata.len())? {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())
    }

    /// Leaves the newest prompts alone in the file.
    fn cut(&self) -> io::Result<()> {
        let (entries, _) = read(&self.home).ok_or(io::ErrorKind::NotFound)?;
        let path = self.home.file(FILE).ok_or(io::ErrorKind::NotFound)?;
        // A link stays one; its target is replaced.
        let path = path.canonicalize()?;
        let lines: String = entries
            .iter()
            .map(|entry| json::to_line(entry) + "\n")
            .collect();
        let stage = Stage::create(path.parent().unwrap_or(Path::new("/")), 0o600)?;
        stage.file().write_all(lines.as_bytes())?;
        stage.file().sync_all()?;
        stage.replace(&path)
    }
}

/// The newest prompts, oldest first, and how many lines the file has.
fn read(home: &Home) -> Option<(Vec<String>, usize)> {
    let path = home.file(FILE)?;
    let (mut file, metadata) = open_regular(&path, OpenOptions::new().read(true)).ok()?;
    let skipped = metadata.len().saturating_sub(MAX_READ);
    file.seek(SeekFrom::Start(skipped)).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_READ).read_to_end(&mut bytes).ok()?;
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    // What was cut into is no line.
    let lines = &lines[usize::from(skipped > 0).min(lines.len())..];
    let parse = |line: &&[u8]| serde_json::from_slice::<String>(line).ok();
    let prompts = lines.iter().rev().filter_map(parse);
    let prompts = prompts.filter(|prompt| !prompt.trim().is_empty());
    let mut entries: Vec<String> = prompts.take(KEPT).collect();
    entries.reverse();
    let count = match skipped {
        0 => lines.iter().filter(|line| !line.is_empty()).count(),
        // Too large, however few lines it has.
        _ => MAX_LINES,
    };
    Some((entries, count))
}

fn ends_inside_a_line(file: &File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else {
        return Ok(false);
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn home_with(content: &str) -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), content).unwrap();
        let home = Home::at(dir.path());
        (dir, home)
    }

    #[test]
    fn prompts_come_back_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("new"));
        let (mut history, entries) = History::open(&home);
        assert!(entries.is_empty() && !home.dir().unwrap().exists());
        for prompt in [
            "one",
            "two\nrows \u{2028}",
            "two\nrows \u{2028}",
            " \n",
            "one",
        ] {
            history.append(prompt);
        }
        let (mut history, entries) = History::open(&home);
        assert_eq!(entries, ["one", "two\nrows \u{2028}", "one"]);
        history.append("one");
        assert_eq!(History::open(&home).1.len(), 3);
        let mode = fs::metadata(home.file(FILE).unwrap())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn bad_lines_are_skipped_and_swallow_nothing() {
        let (_dir, home) = home_with("\"a\"\n{\"x\":1}\n3\n\"  \"\nnonsense\n\"b\"\n\"torn");
        let (mut history, entries) = History::open(&home);
        assert_eq!(entries, ["a", "b"]);
        history.append("c");
        assert_eq!(History::open(&home).1, ["a", "b", "c"]);
    }

    #[test]
    fn a_long_file_is_cut_once() {
        let lines: String = (0..MAX_LINES)
            .map(|number| format!("\"{number}\"\n"))
            .collect();
        let (dir, home) = home_with(&lines);
        let link = dir.path().join("elsewhere");
        fs::rename(dir.path().join(FILE), &link).unwrap();
        std::os::unix::fs::symlink(&link, dir.path().join(FILE)).unwrap();
        let (mut history, entries) = History::open(&home);
        assert_eq!((entries.len(), entries[0].as_str()), (KEPT, "1000"));
        history.append("new");
        let text = fs::read_to_string(&link).unwrap();
        assert_eq!(
            (text.lines().count(), text.lines().last()),
            (KEPT, Some("\"new\""))
        );
        history.append("newer");
        assert_eq!(fs::read_to_string(&link).unwrap().lines().count(), KEPT + 1);
    }

    #[test]
    fn a_huge_file_costs_its_end_only() {
        let long = "x".repeat(9 << 20);
        let (_dir, home) = home_with(&format!("\"{long}\"\n\"{long}\"\n\"end\"\n"));
        let (mut history, entries) = History::open(&home);
        assert_eq!(entries.len(), 2);
        history.append("more");
        assert!(fs::metadata(home.file(FILE).unwrap()).unwrap().len() < 10 << 20);
        assert_eq!(
            History::open(&home).1.last().map(String::as_str),
            Some("more")
        );
    }

    #[test]
    fn nowhere_to_write_is_no_failure() {
        let (mut history, entries) = History::open(&Home::default());
        history.append("a");
        assert!(entries.is_empty());
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(FILE)).unwrap();
        let (mut history, entries) = History::open(&Home::at(dir.path()));
        history.append("a");
        assert!(entries.is_empty());
    }
}
