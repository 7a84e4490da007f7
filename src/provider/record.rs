//! `E_RECORD`: writes the provider events of a run as a script for `offline/script`.
//!
//! The file is a complete JSON list after every request, so a run that ends in any way leaves a
//! script that plays. Keys are taken out.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::offline::record;
use super::{Failure, Secret, Sink, StreamEvent, error, route};
use crate::error::io_text;
use crate::sys::lock;

/// What closes the list. The next step is written over it.
const END: &[u8] = b"\n]\n";

/// A recording, begun with the first request.
pub(super) struct Recorder {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

/// A sink that notes what passes on to another.
pub(super) struct Tee<'a> {
    recorder: &'a Recorder,
    inner: &'a mut dyn Sink,
    key: Option<&'a Secret>,
    actions: Vec<Value>,
}

impl Recorder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: Mutex::new(None),
        }
    }

    pub(super) fn tee<'a>(&'a self, inner: &'a mut dyn Sink, key: Option<&'a Secret>) -> Tee<'a> {
        Tee {
            recorder: self,
            inner,
            key,
            actions: Vec::new(),
        }
    }

    fn write(&self, step: &str) -> std::io::Result<()> {
        let mut slot = lock(&self.file);
        let (mut file, before) = match slot.take() {
            Some(mut file) => {
                file.seek(SeekFrom::End(-(END.len() as i64)))?;
                (file, ",\n")
            }
            None => (File::create(&self.path)?, "[\n"),
        };
        let mut bytes = Vec::with_capacity(step.len() + 8);
        bytes.extend_from_slice(before.as_bytes());
        bytes.extend_from_slice(step.as_bytes());
        bytes.extend_from_slice(END);
        file.write_all(&bytes)?;
        *slot = Some(file);
        Ok(())
    }
}

impl Sink for Tee<'_> {
    fn push(&mut self, event: StreamEvent) {
        self.actions.extend(record(&event));
        let is_last = matches!(event, StreamEvent::Done { .. } | StreamEvent::Failed(_));
        if !is_last {
            return self.inner.push(event);
        }
        let mut step = json!({"actions": std::mem::take(&mut self.actions)}).to_string();
        if let Some(Secret(key)) = self.key {
            error::redact(&mut step, key.trim());
        }
        match self.recorder.write(&step) {
            Ok(()) => self.inner.push(event),
            Err(error) => {
                let path = self.recorder.path.display();
                let failure: Failure =
                    route::unusable(format!("`E_RECORD`: `{path}`: {}", io_text(&error)));
                self.inner.push(StreamEvent::Failed(Box::new(failure)));
            }
        }
    }

    fn flush(&mut self) -> bool {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::Collect;
    use crate::provider::{Finish, Usage};

    #[test]
    fn a_recording_is_a_complete_script_after_each_step() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        let recorder = Recorder::new(path.clone());
        let key = Secret("sk-secret".to_owned());
        for step in 1..=3 {
            let mut sink = Collect::default();
            let mut tee = recorder.tee(&mut sink, Some(&key));
            tee.push(StreamEvent::Text("the key is sk-secret".into()));
            tee.push(StreamEvent::Usage(Usage::default()));
            tee.push(StreamEvent::Done {
                finish: Finish::Normal,
                malformed: 0,
            });
            assert_eq!(sink.events.len(), 3);
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("sk-secret"));
            let steps: Vec<Value> = serde_json::from_str(&text).unwrap();
            assert_eq!(steps.len(), step);
            assert_eq!(steps[0]["actions"][0]["text"], "the key is [key]");
        }
    }

    #[test]
    fn a_recording_that_cannot_be_written_is_said() {
        let recorder = Recorder::new("/missing/run.json".into());
        let mut sink = Collect::default();
        recorder.tee(&mut sink, None).push(StreamEvent::Done {
            finish: Finish::Normal,
            malformed: 0,
        });
        let failure = sink.failure();
        assert!(
            failure.message.contains("E_RECORD") && failure.message.contains("/missing/run.json")
        );
    }
}
