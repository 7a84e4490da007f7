//! Which sessions there are: enough of each log to choose one, and no contents.

use std::fs::{self, DirEntry, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::head::{Author, Head, Kind};
use super::lines::{Buffer, Lines, MAX_LINE};
use super::piece::{self, is_torn};
use super::record::{Header, Record};
use super::scan::{self, Damage, check_version};
use super::threads;
use super::title::title_of;
use crate::chat::Message;
use crate::config::Home;
use crate::config::home::path_key;
use crate::error::{Error, Result, io_text};
use crate::sys::fs::open_regular;

/// One session of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its log; what cannot be read may be a folder of logs.
    pub path: PathBuf,
    /// A title from its first message.
    pub title: String,
    /// The display name, which goes before the title.
    pub name: Option<String>,
    /// When it was last written, in Unix milliseconds.
    pub modified_ms: u64,
    /// Messages on all branches.
    pub messages: u64,
    /// Messages among them that a person wrote.
    pub turns: u64,
    /// The workspace as the log names it; empty when it names none.
    pub cwd: String,
    /// What of it cannot be read.
    pub damage: Option<String>,
}

/// The sessions of a workspace, or of all, the one written last first. Logs without a header, of a
/// newer format or without a word from a person are left out; what the system does not let e read
/// is listed with the reason.
pub fn list(home: &Home, cwd: Option<&Path>) -> Result<Vec<Listed>> {
    let Some(sessions) = sessions_of(home) else {
        return Ok(Vec::new());
    };
    let mut listed = Vec::new();
    let mut logs = Vec::new();
    match cwd {
        Some(cwd) => logs = logs_in(&sessions, cwd)?,
        None => {
            let dirs = entries(&sessions).map_err(|error| unreadable(&sessions, &error))?;
            for dir in dirs.iter().map(DirEntry::path).filter(|dir| dir.is_dir()) {
                match logs_of(&dir) {
                    Ok(found) => logs.extend(found),
                    Err(error) => listed.push(Listed::unread(dir, &error)),
                }
            }
        }
    }
    listed.extend(
        threads::map(&logs, |buffer, path| entry(path, buffer))
            .into_iter()
            .flatten(),
    );
    listed.sort_by(|a, b| (b.modified_ms, &b.path).cmp(&(a.modified_ms, &a.path)));
    Ok(listed)
}

/// The session of a workspace that was written last. Only the newest logs are looked into, down to the first
/// that is one.
pub fn newest(home: &Home, cwd: &Path) -> Result<Option<Listed>> {
    let Some(sessions) = sessions_of(home) else {
        return Ok(None);
    };
    let logs = logs_in(&sessions, cwd)?.into_iter();
    let mut logs: Vec<_> = logs.map(|path| (modified_ms(&path), path)).collect();
    logs.sort_unstable_by(|a, b| b.cmp(a));
    let mut buffer = Buffer::default();
    let mut sessions = logs.iter().filter_map(|(_, path)| entry(path, &mut buffer));
    // What cannot be read at all has no workspace.
    Ok(sessions.find(|one| !one.cwd.is_empty()))
}

/// Where the sessions are. A home that is none holds none.
fn sessions_of(home: &Home) -> Option<PathBuf> {
    let sessions = home.file("sessions")?;
    let is_in_home = sessions.parent().is_some_and(Path::is_dir);
    is_in_home.then_some(sessions)
}

/// The logs of a workspace.
fn logs_in(sessions: &Path, cwd: &Path) -> Result<Vec<PathBuf>> {
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let dir = sessions.join(path_key(&cwd));
    logs_of(&dir).map_err(|error| unreadable(&dir, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::failed(format!(
        "cannot list `{}`: {}",
        path.display(),
        io_text(error)
    ))
}

/// What a directory holds; nothing when there is none.
fn entries(dir: &Path) -> io::Result<Vec<DirEntry>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn logs_of(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let is_log = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.ends_with(b".jsonl") && !name.ends_with(b".errors.jsonl")
    };
    let entries = entries(dir)?;
    Ok(entries.iter().map(DirEntry::path).filter(is_log).collect())
}

/// One entry of the list; none for a file that is not listed.
fn entry(path: &Path, buffer: &mut Buffer) -> Option<Listed> {
    match look_at(path, buffer) {
        Ok(listed) => listed,
        // It went away since the folder was read.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Listed::unread(path.to_owned(), &error)),
    }
}

/// One log. `None` is a file that is not listed.
fn look_at(path: &Path, buffer: &mut Buffer) -> io::Result<Option<Listed>> {
    let (file, metadata) = open_regular(path, OpenOptions::new().read(true))?;
    let mut lines = Lines::new(&file, buffer, MAX_LINE);
    let first = lines.next()?.and_then(|line| line.bytes);
    let header = first.and_then(|line| scan::header(line).ok());
    let Some(header) = header.filter(|header| check_version(header).is_ok()) else {
        return Ok(None);
    };
    let mut found = Found::default();
    while let Some(line) = lines.next()? {
        let outcome = match line.bytes {
            Some(bytes) if !line.terminated && is_torn(bytes) => break,
            Some(bytes) => found.take(bytes),
            None => Err(format!("it is longer than {MAX_LINE} bytes")),
        };
        if let Err(reason) = outcome {
            found.damage.add(line.place.line, reason);
        }
    }
    Ok(found.listed(path, header, metadata.modified()?))
}

/// What one pass over a log finds.
#[derive(Default)]
struct Found {
    title: Option<String>,
    name: Option<String>,
    messages: u64,
    turns: u64,
    /// Whether a summary stands for messages that are elsewhere, as in a fork.
    summarised: bool,
    damage: Damage,
}

impl Found {
    /// Takes in one line. The error says why it cannot be used.
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let head = Head::of(line)?;
        match head.kind {
            Kind::Session => return Err("it is a second header".into()),
            Kind::Message => {
                if head.author(line)? == Author::User {
                    if self.title.is_none() {
                        self.title = Some(title_in(line)?);
                    }
                    self.turns += 1;
                }
                self.messages += 1;
            }
            Kind::Compact => self.summarised = true,
            Kind::Name => self.name = piece::name(line).or(self.name.take()),
            Kind::Response | Kind::Other => {}
        }
        Ok(())
    }

    fn listed(self, path: &Path, header: Header, modified: SystemTime) -> Option<Listed> {
        let damage = self.damage.text(0);
        (self.turns > 0 || self.summarised).then(|| Listed {
            path: path.to_owned(),
            title: self.title.unwrap_or_else(|| title_of("")),
            name: self.name.filter(|name| !name.trim().is_empty()),
            modified_ms: milliseconds(modified),
            messages: self.messages,
            turns: self.turns,
            cwd: header.cwd,
            damage: Some(damage).filter(|damage| !damage.is_empty()),
        })
    }
}

impl Listed {
    /// What the system does not let e read.
    fn unread(path: PathBuf, error: &io::Error) -> Self {
        Self {
            title: title_of(""),
            name: None,
            modified_ms: modified_ms(&path),
            messages: 0,
            turns: 0,
            cwd: String::new(),
            damage: Some(format!("it cannot be read: {}", io_text(error))),
            path,
        }
    }
}

/// The title that a person's message gives.
fn title_in(line: &[u8]) -> Result<String, String> {
    match Record::from_line(line)? {
        Some(Record::Message { message, .. }) => match &*message {
            Message::User { content, .. } => Ok(title_of(content)),
            _ => Err("it is no message of a person".into()),
        },
        _ => Err("it is no message".into()),
    }
}

/// When a file was last written; long ago where the system does not tell.
fn modified_ms(path: &Path) -> u64 {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.map_or(0, milliseconds)
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
