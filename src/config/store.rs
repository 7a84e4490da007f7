//! The JSON files of the home: read without harm, changed by merging under one lock.
//!
//! A write reads the file again, changes only what it is about and replaces the file by rename,
//! so that no other key is lost or spelled anew and no reader sees half a file. What cannot be
//! understood is moved aside, never overwritten.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Home;
use crate::error::{Error, Result, io_text};
use crate::sys::fs::Locked;
use crate::sys::{self, Stage};

/// The version written into every file, and the newest that is read.
const FORMAT_VERSION: u64 = 1;

/// How long a write waits for another process that holds the lock.
const LOCK_DEADLINE: Duration = Duration::from_secs(5);

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 32 << 20;

/// How deep inside a value one is looked for that costs only itself.
const MAX_NESTING: usize = 8;

/// One JSON file of the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The file's name.
    pub name: &'static str,
    /// The mode of a new file, and the most that an old one keeps.
    pub mode: u32,
}

/// What the user prefers.
pub const SETTINGS: Store = Store {
    name: "settings.json",
    mode: 0o644,
};

/// Credentials.
pub const AUTH: Store = Store {
    name: "auth.json",
    mode: 0o600,
};

/// Which directories e may work in.
pub const TRUST: Store = Store {
    name: "trust.json",
    mode: 0o644,
};

/// What state a store's file is in, for diagnostics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is none.
    Missing,
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
    /// It is not a JSON object, for this reason.
    Invalid(String),
    /// It is well-formed and names no version.
    Unversioned,
    /// It is well-formed and of a version that this build reads.
    Version(u64),
    /// It is well-formed and of a version that this build does not read.
    Unsupported(String),
}

/// Why a file's content cannot be used.
enum Broken {
    Unreadable(String),
    Invalid(String),
    Unsupported(String),
}

/// An object as it is written: its keys in order, each with the text of its value.
#[derive(Default)]
pub struct InOrder<'a>(pub Vec<(String, &'a RawValue)>);

/// The JSON object of a file of the user's, with or without a byte-order mark. The error says where it
/// went wrong.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    Ok(Object::parse(bytes)?.values)
}

/// A file's object, and how its values are spelled.
#[derive(Default)]
struct Object {
    values: Map<String, Value>,
    spelled: HashMap<String, Box<RawValue>>,
}

impl Store {
    /// The file's object, empty when there is no file, with warnings about what is wrong with it.
    /// Changes nothing on disk.
    pub fn read(&self, home: &Home) -> (Map<String, Value>, Vec<String>) {
        let Some(path) = home.file(self.name) else {
            return (Map::new(), Vec::new());
        };
        match self.load(&path) {
            Ok(object) => (object.unwrap_or_default().values, Vec::new()),
            Err(broken) => {
                let warning = format!("ignoring `{}`: {}", path.display(), broken.reason());
                (Map::new(), vec![warning])
            }
        }
    }

    /// Changes the file's object and writes it back; every key that `change` leaves alone keeps its
    /// value to the byte. Returns warnings, such as where an unreadable file was moved to. Waits up to 5 s
    /// for other writers.
    pub fn update(
        &self,
        home: &Home,
        change: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Vec<String>> {
        let dir = home.ensure()?;
        let _lock = lock(&dir.join(".store.lock"))?;
        let path = resolve(&dir.join(self.name))?;
        let mut warnings = Vec::new();
        let object = match self.load(&path) {
            Ok(object) => object.unwrap_or_default(),
            Err(Broken::Invalid(reason)) => {
                let aside = quarantine(&path)?;
                warnings.push(format!(
                    "`{}` could not be used ({reason}) and was moved to `{}`",
                    path.display(),
                    aside.display()
                ));
                Object::default()
            }
            Err(broken) => {
                let message = format!("cannot change `{}`: {}", path.display(), broken.reason());
                return Err(Error::failed(message).remedy("mend or move the file"));
            }
        };
        let mut map = object.values.clone();
        change(&mut map);
        map.insert("format_version".into(), FORMAT_VERSION.into());
        let text = object.rewritten(&map);
        replace(&path, text.as_bytes(), self.mode)?;
        Ok(warnings)
    }

    /// What state the file is in.
    pub fn status(&self, home: &Home) -> Status {
        let Some(path) = home.file(self.name) else {
            return Status::Missing;
        };
        match self.load(&path) {
            Ok(None) => Status::Missing,
            Ok(Some(object)) => match object.values.get("format_version").and_then(Value::as_u64) {
                Some(version) => Status::Version(version),
                None => Status::Unversioned,
            },
            Err(Broken::Unreadable(reason)) => Status::Unreadable(reason),
            Err(Broken::Invalid(reason)) => Status::Invalid(reason),
            Err(Broken::Unsupported(reason)) => Status::Unsupported(reason),
        }
    }

    fn load(&self, path: &Path) -> Result<Option<Object>, Broken> {
        let bytes = match sys::fs::read_regular(path, MAX_FILE) {
            Ok(bytes) => bytes,
            Err(error) if sys::fs::is_missing(&error) => return Ok(None),
            Err(error) => return Err(Broken::Unreadable(io_text(&error))),
        };
        let object = Object::parse(&bytes).map_err(Broken::Invalid)?;
        match object.values.get("format_version") {
            Some(version) if version.as_u64().is_none_or(|n| n > FORMAT_VERSION) => {
                Err(Broken::Unsupported(format!(
                    "its format_version is {version}, and this build reads up to {FORMAT_VERSION}"
                )))
            }
            _ => Ok(Some(object)),
        }
    }
}

impl Broken {
    fn reason(&self) -> &str {
        match self {
            Broken::Unreadable(reason) | Broken::Invalid(reason) | Broken::Unsupported(reason) => {
                reason
            }
        }
    }
}

impl Object {
    /// Parses a JSON object, with or without a byte-order mark. A value that e cannot hold, such as
    /// `1e400`, reads as null, wherever it stands. The error says where it went wrong and quotes
    /// nothing: the file may hold a key.
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let InOrder(entries) = serde_json::from_slice(bytes).map_err(|error| {
            let text = error.to_string();
            let problem = match error.classify() {
                Category::Data => "it is not an object",
                // serde_json ends its texts with the position of the fault.
                _ => text.split(" at line ").next().unwrap_or(&text),
            };
            let (line, column) = (error.line().max(1), error.column().max(1));
            format!("{problem} at line {line} column {column}")
        })?;
        let mut object = Self::default();
        for (key, raw) in entries {
            object.values.insert(key.clone(), lenient(raw, MAX_NESTING));
            object.spelled.insert(key, raw.to_owned());
        }
        Ok(object)
    }

    /// The text of the file with these values in place of the old ones.
    fn rewritten(&self, values: &Map<String, Value>) -> String {
        let entries = values.iter().map(|(key, value)| {
            let kept = self.spelled.get(key);
            let text = match kept.filter(|_| self.values.get(key) == Some(value)) {
                Some(raw) => raw.get().to_owned(),
                None => format!("{value:#}").replace('\n', "\n  "),
            };
            format!("  {}: {text}", Value::from(key.as_str()))
        });
        format!("{{\n{}\n}}\n", entries.collect::<Vec<_>>().join(",\n"))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for InOrder<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = InOrder<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(InOrder(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// A value, with null for what e cannot hold of it.
fn lenient(raw: &RawValue, nesting: usize) -> Value {
    let text = raw.get();
    let inner = |raw| lenient(raw, nesting - 1);
    if let Ok(value) = serde_json::from_str(text) {
        value
    } else if nesting == 0 {
        Value::Null
    } else if let Ok(InOrder(entries)) = serde_json::from_str(text) {
        let entries = entries.into_iter();
        Value::Object(entries.map(|(key, raw)| (key, inner(raw))).collect())
    } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        Value::Array(items.into_iter().map(inner).collect())
    } else {
        Value::Null
    }
}

/// Takes the lock that serves every store. The file lock also keeps threads of this process
/// apart, because each opens the file for itself.
fn lock(path: &Path) -> Result<Locked> {
    let failed =
        |error: io::Error| Error::from(error).context(format!("cannot lock `{}`", path.display()));
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    if sys::fs::lock_exclusive(&file, false).map_err(failed)? {
        return Ok(Locked::new(file));
    }
    // flock has no time limit of its own, so another thread does the waiting. Past the deadline
    // it is left behind; it lets go of the lock as soon as it gets it.
    let (sender, receiver) = crossbeam_channel::bounded(1);
    std::thread::Builder::new()
        .name("store-lock".into())
        .spawn(move || {
            let locked = sys::fs::lock_exclusive(&file, true);
            let _ = sender.send(locked.map(|_| Locked::new(file)));
        })
        .map_err(failed)?;
    match receiver.recv_timeout(LOCK_DEADLINE) {
        Ok(file) => file.map_err(failed),
        Err(_) => Err(
            Error::failed(format!("another process holds `{}`", path.display()))
                .remedy("end it, or try again"),
        ),
    }
}

/// The file that a write replaces: the target of a symbolic link, so that the link stays.
fn resolve(path: &Path) -> Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(path) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            Ok(path.to_owned())
        }
        Err(error) => {
            Err(Error::from(error).context(format!("cannot change `{}`", path.display())))
        }
    }
}

fn quarantine(path: &Path) -> Result<PathBuf> {
    let aside = path.with_extension(format!("corrupt-{}", sys::clock::now_ms()));
    fs::rename(path, &aside).map_err(|error| {
        Error::from(error)
            .context(format!("cannot move the broken `{}` aside", path.display()))
            .remedy("mend or move the file")
    })?;
    Ok(aside)
}

/// Puts `bytes` in the place of `path` by rename, private from the first byte.
fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let failed =
        |error: io::Error| Error::from(error).context(format!("cannot write `{}`", path.display()));
    // What the owner took away stays away.
    let mode = match fs::metadata(path) {
        Ok(old) if !sys::fs::is_writable_mode(&old) => {
            let message = format!("`{}` is read-only", path.display());
            return Err(Error::failed(message).remedy("make it writable to change it"));
        }
        Ok(old) => old.permissions().mode() & mode,
        Err(_) => mode,
    };
    let write = || {
        let stage = Stage::create(path.parent().unwrap_or(Path::new("/")), 0o600)?;
        stage.file().write_all(bytes)?;
        stage.file().set_permissions(Permissions::from_mode(mode))?;
        stage.file().sync_all()?;
        stage.replace(path)
    };
    write().map_err(failed)
}

#[cfg(test)]
mod tests;
