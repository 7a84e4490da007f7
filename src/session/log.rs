//! The one writer of a log: appends whole records, and keeps what could not be written until it
//! can be.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::load::{self, Loaded, Tail, open_regular};
use super::lock;
use super::record::{FORMAT_VERSION, Header, Record, new_id};
use crate::config::Home;
use crate::config::home::{create_private_dir, path_key};
use crate::error::{Error, Result};
use crate::sys::clock::now_ms;

/// What a new log is about.
#[derive(Clone, Debug)]
pub struct LogSpec {
    /// The home that holds it.
    pub home: Home,
    /// The canonical workspace.
    pub cwd: PathBuf,
    /// The slug of the model at the start.
    pub model: String,
}

/// A session log that this process writes.
#[derive(Debug)]
pub struct Log {
    id: String,
    stage: Stage,
    /// Records that wait for the file, oldest first: it is not there before the first message,
    /// or the disk is full. They share their messages with the history in memory.
    unsaved: VecDeque<Record>,
}

#[derive(Debug)]
enum Stage {
    /// There is no file yet.
    Planned(LogSpec),
    /// There is one, and it is locked.
    Open(Open),
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    lines: Lines,
    /// Diagnostics of provider failures, opened at the first one.
    failures: Option<Lines>,
    _lock: File,
}

impl Log {
    /// A log that comes into being with its first message. No I/O happens here.
    pub fn create(spec: LogSpec) -> Self {
        Self {
            id: new_id(),
            stage: Stage::Planned(spec),
            unsaved: VecDeque::new(),
        }
    }

    /// Opens an existing log for writing: locks it, makes it private, mends its end, loads it.
    pub fn reopen(home: &Home, path: &Path) -> Result<(Self, Loaded)> {
        // One file has one lock, whatever name it was reached by.
        let canonical = path.canonicalize();
        let named = |error: Error| error.context(format!("cannot open `{}`", path.display()));
        let path = canonical.map_err(|error| named(error.into()))?;
        let lock = lock::acquire(&path)?;
        // A home that cannot be made private is no reason to leave a session unsaved.
        let _ = home.ensure();
        let open = || -> Result<(Self, Loaded)> {
            let file = open_regular(&path, OpenOptions::new().read(true).append(true))?;
            let (loaded, tail) = load::read(&file, &path)?;
            make_private(&file)?;
            match tail {
                Tail::Whole => {}
                Tail::Unterminated => (&file).write_all(b"\n")?,
                Tail::Torn(offset) => file.set_len(offset)?,
            }
            let log = Self {
                id: loaded.header.id.clone(),
                stage: Stage::Open(Open {
                    lines: Lines::new(file)?,
                    path: path.clone(),
                    failures: None,
                    _lock: lock,
                }),
                unsaved: VecDeque::new(),
            };
            Ok((log, loaded))
        };
        open().map_err(named)
    }

    /// The session's id, which survives a resume.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The file, once there is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.stage {
            Stage::Planned(_) => None,
            Stage::Open(open) => Some(&open.path),
        }
    }

    /// Appends a record, after those that could not be written before. On an error it is kept and
    /// written with a later one, so that the tree has no holes; the file holds whole records only.
    pub fn append(&mut self, record: Record) -> Result<()> {
        self.unsaved.push_back(record);
        self.save()
    }

    /// Appends the diagnostics of a provider failure to the sidecar. Without a log there is none.
    pub fn append_failure(&mut self, parent: Option<&str>, details: &Value) -> Result<()> {
        let Stage::Open(open) = &mut self.stage else {
            return Ok(());
        };
        let path = open.path.with_extension("errors.jsonl");
        let line = json!({"format_version": 1, "parent": parent, "details": details});
        let lines = match &mut open.failures {
            Some(lines) => lines,
            none => none.insert(open_sidecar(&path).map_err(|e| write_error(&path, e))?),
        };
        lines
            .append(format!("{line}\n").as_bytes())
            .map_err(|error| write_error(&path, error))
    }

    fn save(&mut self) -> Result<()> {
        // A name alone is no reason to create a file.
        let planned = matches!(self.stage, Stage::Planned(_));
        if planned && self.unsaved.iter().all(|record| record.id().is_none()) {
            return Ok(());
        }
        if let Stage::Planned(spec) = &self.stage {
            self.stage = Stage::Open(create(spec, &self.id)?);
        }
        let Stage::Open(open) = &mut self.stage else {
            return Ok(());
        };
        while let Some(record) = self.unsaved.front() {
            open.lines
                .append(&record.to_line())
                .map_err(|error| write_error(&open.path, error))?;
            self.unsaved.pop_front();
        }
        Ok(())
    }
}

impl Drop for Log {
    /// A last chance for what waits: there may be room on the disk by now.
    fn drop(&mut self) {
        if !self.unsaved.is_empty() {
            let _ = self.save();
        }
    }
}

fn create(spec: &LogSpec, id: &str) -> Result<Open> {
    let created = now_ms();
    let dir = spec.home.ensure()?.join("sessions");
    let dir = [dir.clone(), dir.join(path_key(&spec.cwd))];
    for dir in &dir {
        create_private_dir(dir, false).map_err(|error| write_error(dir, error))?;
    }
    let path = dir[1].join(format!("{created}_{id}.jsonl"));
    let lock = lock::acquire(&path)?;
    let header = Record::Session(Header {
        format_version: FORMAT_VERSION,
        id: id.into(),
        cwd: spec.cwd.to_string_lossy().into_owned(),
        created,
        model: spec.model.clone(),
    });
    let begin = || {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let mut lines = Lines::new(file)?;
        lines.append(&header.to_line())?;
        Ok(lines)
    };
    match begin() {
        Ok(lines) => Ok(Open {
            path,
            lines,
            failures: None,
            _lock: lock,
        }),
        Err(error) => {
            // Nobody can know this session yet: leave nothing of it.
            let _ = fs::remove_file(&path);
            let _ = fs::remove_file(path.with_extension("lock"));
            Err(write_error(&path, error))
        }
    }
}

fn open_sidecar(path: &Path) -> io::Result<Lines> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let file = options
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    make_private(&file)?;
    let len = file.metadata()?.len();
    let mut last = [b'\n'];
    if len > 0 {
        file.read_exact_at(&mut last, len - 1)?;
    }
    // A crash may have cut the last line off; the next one does not continue it.
    if last != [b'\n'] {
        (&file).write_all(b"\n")?;
    }
    Lines::new(file)
}

fn make_private(file: &File) -> io::Result<()> {
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    if mode & !0o600 == 0 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(mode & 0o600))
}

fn write_error(path: &Path, error: io::Error) -> Error {
    Error::from(error).context(format!("cannot write `{}`", path.display()))
}

/// A file of whole lines, opened for appending.
#[derive(Debug)]
struct Lines {
    file: File,
    /// The length up to the last whole line.
    len: u64,
    /// Set when a piece of a line could not be taken back: nothing may follow it.
    retired: bool,
}

impl Lines {
    fn new(file: File) -> io::Result<Self> {
        Ok(Self {
            len: file.metadata()?.len(),
            file,
            retired: false,
        })
    }

    /// Writes one line with one call, or leaves the file as it was.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.retired {
            return Err(io::Error::other("an earlier write left it damaged"));
        }
        match (&self.file).write_all(line) {
            Ok(()) => {
                self.len += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.retired = self.file.set_len(self.len).is_err();
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests;
