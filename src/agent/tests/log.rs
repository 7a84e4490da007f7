//! The log's writer against a model: whatever happens to the disk, what is loaded is what was said, in
//! order, up to what still waits.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use super::*;
use crate::agent::action::LogEntry;
use crate::agent::exec::write_waiting;
use crate::config::Home;
use crate::session::{Log, Record, load};
use crate::text::testing::random;

struct Model {
    spec: SessionSpec,
    log: Option<Log>,
    waiting: VecDeque<LogEntry>,
    /// The ids of what was said, which are the texts as well.
    said: Vec<String>,
    sessions: u64,
}

impl Model {
    fn anew(&mut self) {
        self.sessions += 1;
        self.spec.id = format!("s{}", self.sessions);
        self.said.clear();
    }

    fn path(&self) -> PathBuf {
        self.spec.log_spec().path().unwrap()
    }

    fn say(&mut self, text: String) {
        self.waiting.push_back(LogEntry::Record(Record::Message {
            id: text.clone(),
            parent: self.said.last().cloned(),
            timestamp: 1,
            response: None,
            message: Arc::new(Message::user(text.clone())),
        }));
        self.said.push(text);
    }

    /// What can be loaded, which is the beginning of what was said.
    fn check(&self, context: &str) -> usize {
        let loaded = load(&self.path()).unwrap_or_else(|error| panic!("{context}: {error}"));
        let ids = loaded.messages.iter().map(|entry| entry.id.clone());
        let ids: Vec<_> = ids.flatten().collect();
        assert!(self.said.starts_with(&ids), "{context}");
        assert!(loaded.warnings.iter().all(|one| one.contains("cut off")));
        ids.len()
    }

    /// The process is gone, maybe in the middle of its last write; another one goes on.
    fn kill(&mut self, torn: usize, context: &str) {
        let was_open = self.log.take().is_some();
        let unwritten = self.waiting.len();
        self.waiting.clear();
        let path = self.path();
        if !was_open || !path.exists() {
            return self.anew();
        }
        let written = self.said.len() - unwritten;
        let text = fs::read(&path).unwrap();
        let last = text[..text.len() - 1]
            .iter()
            .rposition(|byte| *byte == b'\n');
        let torn = torn % (text.len() - last.unwrap_or(text.len()) + 1).max(1);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        // The header is written before anybody knows of the log.
        let torn = if last.is_some() { torn } else { 0 };
        file.set_len((text.len() - torn) as u64).unwrap();
        self.said.truncate(self.check(context));
        assert!(self.said.len() + 1 >= written, "{context}");
        let reopened = Log::reopen(&self.spec.home, &path);
        let (log, loaded) = reopened.unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_eq!(loaded.head.as_ref(), self.said.last(), "{context}");
        self.log = Some(log);
    }
}

#[test]
fn what_was_written_is_loaded_whatever_the_disk_does() {
    let mut random = random(9);
    for round in 0..12 {
        let root = tempfile::tempdir().unwrap();
        let sessions = root.path().join("home/sessions");
        let mut spec = SessionSpec::for_test();
        spec.home = Home::at(root.path().join("home"));
        let mut model = Model {
            spec,
            log: None,
            waiting: VecDeque::new(),
            said: Vec::new(),
            sessions: 0,
        };
        model.anew();
        for step in 0..60 {
            let context = format!("round {round}, step {step}");
            let blocked = |path: &Path| path.is_file();
            match random(9) {
                0 => drop(fs::remove_dir_all(&sessions)),
                // Something else takes the place of the directory, and goes again.
                1 if !sessions.exists() => fs::write(&sessions, "").unwrap_or_default(),
                1 | 2 if blocked(&sessions) => fs::remove_file(&sessions).unwrap(),
                3 => {
                    let torn = random(4000);
                    model.kill(torn, &context);
                }
                _ => {
                    for n in 0..=random(3) {
                        let long = "x".repeat(random(3000));
                        model.say(format!("{round}.{step}.{n} {long}"));
                    }
                    let written = write_waiting(&mut model.log, &model.spec, &mut model.waiting);
                    assert_eq!(written.is_ok(), model.waiting.is_empty(), "{context}");
                    if model.path().is_file() {
                        let whole = model.said.len() - model.waiting.len();
                        assert_eq!(model.check(&context), whole, "{context}: {written:?}");
                    }
                }
            }
        }
        // Where there is a directory again, nothing is missing.
        if sessions.is_file() {
            fs::remove_file(&sessions).unwrap();
        }
        model.say(format!("{round} end"));
        write_waiting(&mut model.log, &model.spec, &mut model.waiting).unwrap();
        assert_eq!(model.check("end"), model.said.len());
    }
}
