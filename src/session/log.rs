//! The one writer of a log: locks it, appends whole records, and mends its end on opening.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::load::{self, Loaded};
use super::lock;
use super::record::{FORMAT_VERSION, Header, Record};
use super::scan::Tail;
use crate::config::Home;
use crate::config::home::{create_private_dir, path_key};
use crate::error::{Error, Result};
use crate::sys::fs::{Locked, is_missing, open_regular, require_regular};

/// Why a file is left alone that is shorter than it was.
const CUT: &str = "something else has cut it short";

/// What a new log is about.
#[derive(Clone, Debug)]
pub struct LogSpec {
    /// The home that holds it.
    pub home: Home,
    /// The canonical workspace.
    pub workspace: PathBuf,
    /// The session's id.
    pub id: String,
    /// When the session began, in Unix milliseconds.
    pub created: u64,
    /// The slug of the model at the start.
    pub model: String,
}

impl LogSpec {
    /// Where the log will be; none without a home.
    pub fn path(&self) -> Option<PathBuf> {
        let sessions = self.home.file("sessions")?;
        let name = format!("{}_{}.jsonl", self.created, self.id);
        Some(sessions.join(path_key(&self.workspace)).join(name))
    }
}

/// A session log that this process writes. Its lock lasts as long as this value.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    lines: Lines,
    /// Diagnostics of provider failures, opened at the first one.
    failures: Option<Lines>,
    /// None only while the log is put back.
    lock: Option<Locked>,
}

impl Log {
    /// Creates a log with its header and nothing else. A failure leaves no file behind.
    pub fn create(spec: &LogSpec) -> Result<Self> {
        let sessions = spec.home.ensure()?.join("sessions");
        let dir = sessions.join(path_key(&spec.workspace));
        for dir in [&sessions, &dir] {
            create_private_dir(dir, false).map_err(|error| write_error(dir, error))?;
        }
        let path = dir.join(format!("{}_{}.jsonl", spec.created, spec.id));
        let lock = lock::acquire(&path)?;
        let header = Record::Session(Header {
            format_version: FORMAT_VERSION,
            id: spec.id.clone(),
            cwd: spec.workspace.to_string_lossy().into_owned(),
            created: spec.created,
            model: spec.model.clone(),
        });
        let failed = |error| write_error(&path, error);
        let file = create_file(&path).map_err(failed)?;
        let lines = Lines::new(file).and_then(|mut lines| {
            lines.append(&header.to_line())?;
            Ok(lines)
        });
        match lines {
            Ok(lines) => Ok(Self {
                path,
                lines,
                failures: None,
                lock: Some(lock),
            }),
            Err(error) => {
                remove(&path);
                Err(failed(error))
            }
        }
    }

    /// Creates a log with a copy of the branch of another that ends at `head`, or at its newest node.
    /// A failure leaves no file behind.
    pub fn fork(original: &Path, head: Option<&str>, spec: &LogSpec) -> Result<Self> {
        let records = load::branch(original, head)?;
        let mut log = Self::create(spec)?;
        for record in &records {
            if let Err(error) = log.append(record) {
                remove(&log.path);
                return Err(error);
            }
        }
        Ok(log)
    }

    /// Opens an existing log for writing: locks it, makes it private, mends its end, loads it.
    pub fn reopen(home: &Home, path: &Path) -> Result<(Self, Loaded)> {
        let named = |error: Error| error.context(format!("cannot open `{}`", path.display()));
        // One file has one lock, whatever name it was reached by.
        let path = path.canonicalize().map_err(|error| named(error.into()))?;
        let lock = lock::acquire(&path)?;
        // A home that cannot be made private is no reason to leave a session unsaved.
        let _ = home.ensure();
        let open = || {
            let (file, _) = open_regular(&path, OpenOptions::new().read(true).append(true))?;
            let (loaded, tail) = load::read(&file, &path)?;
            make_private(&file)?;
            match tail {
                Tail::Whole => {}
                Tail::Unterminated => (&file).write_all(b"\n")?,
                Tail::Torn(offset) => file.set_len(offset)?,
            }
            Ok((Lines::new(file)?, loaded))
        };
        let (lines, loaded) = open().map_err(named)?;
        let log = Self {
            path,
            lines,
            failures: None,
            lock: Some(lock),
        };
        Ok((log, loaded))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sees to it that the name still leads to the log, before something is appended. A log that was
    /// removed is written anew, with all that it held. An error means that nothing may be appended now.
    pub fn ensure_place(&mut self) -> Result<()> {
        let path = self.path.clone();
        let checked = self.lines.is_at(&path).and_then(|is_there| match is_there {
            true => Ok(()),
            false => self.put_back(&path),
        });
        checked.map_err(|error| write_error(&path, error))
    }

    fn put_back(&mut self, path: &Path) -> io::Result<()> {
        create_private_dir(path.parent().unwrap_or(Path::new("/")), true)?;
        // The file of the lock may have gone, too.
        self.lock = None;
        let lock = lock::acquire(path).map_err(|error| io::Error::other(error.to_string()))?;
        self.lock = Some(lock);
        let file = create_file(path)?;
        let old = &self.lines;
        let copied = (&old.file).rewind().and_then(|()| {
            let copied = io::copy(&mut (&old.file).take(old.len), &mut &file)?;
            match copied == old.len {
                true => Lines::new(file),
                false => Err(io::Error::other(CUT)),
            }
        });
        match copied {
            Ok(lines) => self.lines = lines,
            Err(error) => {
                let _ = fs::remove_file(path);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Appends a record. On an error the file holds whole records only, and the same record may
    /// be tried again later.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let written = self.lines.append(&record.to_line());
        written.map_err(|error| write_error(&self.path, error))
    }

    /// Appends the diagnostics of a provider failure to the sidecar.
    pub fn append_failure(&mut self, parent: Option<&str>, details: &Value) -> Result<()> {
        let path = self.path.with_extension("errors.jsonl");
        let line = json!({"format_version": 1, "parent": parent, "details": details});
        let mut write = || {
            let opened = self.failures.take();
            let opened = opened.filter(|lines| lines.is_at(&path).is_ok_and(|is_there| is_there));
            let lines = match opened {
                Some(lines) => lines,
                None => open_sidecar(&path)?,
            };
            let lines = self.failures.insert(lines);
            lines.append(format!("{line}\n").as_bytes())
        };
        write().map_err(|error| write_error(&path, error))
    }
}

/// Leaves nothing of a log that nobody can know yet.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_file(path.with_extension("lock"));
}

fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // What was written must be readable for as long as the file is open.
    options.read(true).append(true).create_new(true).mode(0o600);
    options.open(path)
}

fn open_sidecar(path: &Path) -> io::Result<Lines> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let file = options
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    require_regular(&file.metadata()?)?;
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

    /// Whether a name leads to the file; `false` when nothing has the name.
    fn is_at(&self, path: &Path) -> io::Result<bool> {
        let ours = self.file.metadata()?;
        let named = match fs::metadata(path) {
            Err(error) if is_missing(&error) => return Ok(false),
            named => named?,
        };
        if (named.dev(), named.ino()) != (ours.dev(), ours.ino()) {
            return Err(io::Error::other("another file has taken its place"));
        }
        if ours.len() < self.len {
            return Err(io::Error::other(CUT));
        }
        Ok(true)
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
                self.take_back();
                Err(error)
            }
        }
    }

    /// Removes a piece of a line that a failed write left.
    fn take_back(&mut self) {
        self.retired = self.file.set_len(self.len).is_err();
    }
}

#[cfg(test)]
mod tests;
