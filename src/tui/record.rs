//! `E_TUI_RECORD`: writes what happens on the terminal to a file, so that a bug report becomes a test.
//!
//! One JSON object per line, each with the milliseconds since the start: `size`, `key` by the name
//! of its chord, `paste`, `mouse` in the words of the terminal, and `out`, which is what e wrote.
//! Together with a script of `E_RECORD`, `tests/support/replay.rs` plays it again. What is typed
//! into a secret field is not written. This is for people who work on e, so no help mentions it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Instant;

use serde_json::{Value, json};

use super::frame::Size;
use super::key::InputEvent;
use crate::error::{Error, Result, io_text};
use crate::sys::Env;
use crate::text::json::to_line;

#[derive(Debug)]
pub(super) struct Recorder {
    file: File,
    start: Instant,
}

impl Recorder {
    /// Begins a record when the environment asks for one. It must be a file that can be written.
    pub fn from_env(env: &Env) -> Result<Option<Self>> {
        let Some(path) = env.path("E_TUI_RECORD") else {
            return Ok(None);
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(&path).map_err(|error| {
            let why = io_text(&error);
            Error::usage(format!("`E_TUI_RECORD`: `{}`: {why}", path.display()))
        })?;
        let start = Instant::now();
        Ok(Some(Self { file, start }))
    }

    /// The size that frames are painted for from now on.
    pub fn size(&mut self, size: Size) {
        self.line("size", json!([size.columns, size.rows]));
    }

    /// What a person did. Answers of the terminal are its own business.
    pub fn input(&mut self, event: &InputEvent, is_secret: bool) {
        match event {
            InputEvent::Key(_) | InputEvent::Paste(_) if is_secret => {
                self.line("secret", json!(true));
            }
            InputEvent::Key(press) => self.line("key", json!(press.name())),
            InputEvent::Paste(text) => self.line("paste", json!(text)),
            InputEvent::Mouse(mouse) => self.line("mouse", json!(format!("{mouse:?}"))),
            InputEvent::Reply(_) | InputEvent::Closed => {}
        }
    }

    pub fn output(&mut self, bytes: &[u8]) {
        self.line("out", json!(String::from_utf8_lossy(bytes)));
    }

    fn line(&mut self, what: &str, value: Value) {
        let at = self.start.elapsed().as_millis() as u64;
        let line = to_line(&json!({"at": at, what: value}));
        // A record that cannot be kept is cut; e goes on.
        let _ = self.file.write_all(format!("{line}\n").as_bytes());
    }
}
