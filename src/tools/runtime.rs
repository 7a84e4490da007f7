//! What the tools of one session share.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::bash::{Processes, Shell};
use super::files::{PathLock, Seen};
use super::publish::Target;
use super::results::KeptResults;
use super::undo::{Before, Change, UndoList};
use crate::chat::ToolResult;
use crate::error::io_text;
use crate::sys::cancel::cancel_pair;
use crate::sys::process::Owner;
use crate::sys::{Env, lock};

/// Workspace, processes, file observations, kept results and changes of one session.
#[derive(Debug)]
pub struct Runtime {
    /// The workspace, where relative paths start, and the environment of commands.
    pub(super) shell: Shell,
    /// The processes that commands started. They end with the session.
    pub processes: Processes,
    /// The files as they were last seen.
    pub(super) seen: Seen,
    /// Results too long for the model. The agent puts them here after its hooks.
    pub results: KeptResults,
    undo: Mutex<UndoList>,
}

impl Runtime {
    /// The tools of a new session. `env` is what commands get: provider keys are out of it.
    pub fn new(workspace: PathBuf, env: Env) -> Self {
        Self {
            shell: Shell { workspace, env },
            processes: Processes::new(Owner::new()),
            seen: Seen::default(),
            results: KeptResults::default(),
            undo: Mutex::default(),
        }
    }

    /// Keeps what can be taken back in this directory, too, and takes up what is there already.
    pub fn keep_undo_in(&self, directory: PathBuf) {
        lock(&self.undo).keep_in(directory);
    }

    /// What commands get as their environment.
    pub fn env(&self) -> &Env {
        &self.shell.env
    }

    /// Where relative paths start.
    pub fn workspace(&self) -> &Path {
        &self.shell.workspace
    }

    /// A path as a model writes it, made absolute.
    pub(super) fn resolve(&self, path: &str) -> PathBuf {
        self.shell.workspace.join(path)
    }

    /// Writes `bytes` to `target`, notes the new state, and remembers what was there before. `by` says to
    /// people what does it.
    pub(super) fn publish(
        &self,
        path_lock: &PathLock,
        target: &Target,
        shown: &str,
        bytes: &[u8],
        before: Before,
        by: &str,
    ) -> Result<(), ToolResult> {
        let stamp = target
            .publish(bytes, shown, &self.scratch())
            .map_err(ToolResult::failed)?;
        self.seen.note(path_lock.key(), stamp);
        let path = path_lock.key().to_owned();
        lock(&self.undo).push(Change {
            path,
            shown: shown.to_owned(),
            by: by.to_owned(),
            before,
            after: stamp,
        });
        Ok(())
    }

    /// Takes back the newest change of `write` or `edit` and says what was done. A change that
    /// cannot be taken back now, because the file is not as e left it, stays the newest.
    pub fn undo(&self) -> Result<String, String> {
        let Some(change) = lock(&self.undo).pop() else {
            return Err("there is nothing to undo".to_owned());
        };
        let shown = &change.shown;
        if change.before == Before::TooLarge {
            return Err(format!(
                "`{shown}` was too large to keep its old content, so that change stays; the next \
                 undo goes to the one before"
            ));
        }
        match self.revert(&change) {
            Ok(done) => Ok(match lock(&self.undo).count() {
                0 => format!("{done}; no more changes can be undone"),
                1 => format!("{done}; 1 more change can be undone"),
                more => format!("{done}; {more} more changes can be undone"),
            }),
            Err(why) => {
                lock(&self.undo).push(change);
                Err(why)
            }
        }
    }

    fn revert(&self, change: &Change) -> Result<String, String> {
        let Change {
            path,
            shown,
            by,
            before,
            after,
        } = change;
        // Undo runs between turns, when no call can hold the path for long.
        let (_canceller, token) = cancel_pair();
        let path_lock =
            PathLock::acquire(path, shown, &token).map_err(|failure| failure.content)?;
        let target = Target::open(path, shown)?;
        if target.stamp().is_some_and(|now| now != *after) {
            return Err(format!("`{shown}` changed since, so it was left alone"));
        }
        match (before, target) {
            (Before::Bytes(bytes), target) => {
                let stamp = target.publish(bytes, shown, &self.scratch())?;
                self.seen.note(path_lock.key(), stamp);
                lock(&self.undo).reverted(path, stamp);
                Ok(format!("restored `{shown}` as it was before {by}"))
            }
            (_, Target::Missing(_)) => Ok(format!("`{shown}` is gone already")),
            (_, Target::Existing(_)) => match std::fs::remove_file(path) {
                Ok(()) => Ok(format!("removed `{shown}`, which had been created")),
                Err(error) => Err(format!("`{shown}`: {}", io_text(&error))),
            },
        }
    }

    /// A directory for short-lived copies.
    fn scratch(&self) -> PathBuf {
        self.shell
            .env
            .path("TMPDIR")
            .unwrap_or_else(|| PathBuf::from("/tmp"))
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Bench;
    use crate::tools::undo;

    #[test]
    fn undo_goes_back_step_by_step() {
        let bench = Bench::new();
        bench.put("f", b"one\r\n");
        bench.run(
            "edit",
            r#"{"path":"f","old_string":"one","new_string":"two"}"#,
        );
        bench.run("write", r#"{"path":"f","content":"three"}"#);
        bench.run("write", r#"{"path":"d/new","content":"x"}"#);
        let runtime = bench.runtime();
        assert_eq!(
            runtime.undo().unwrap(),
            "removed `d/new`, which had been created; 2 more changes can be undone"
        );
        assert!(!bench.path("d/new").exists());
        assert_eq!(
            runtime.undo().unwrap(),
            "restored `f` as it was before a write; 1 more change can be undone"
        );
        assert_eq!(bench.read("f"), b"two\r\n");
        assert_eq!(
            runtime.undo().unwrap(),
            "restored `f` as it was before an edit; no more changes can be undone"
        );
        assert_eq!(bench.read("f"), b"one\r\n");
        assert_eq!(runtime.undo().unwrap_err(), "there is nothing to undo");
        let result = bench.run("write", r#"{"path":"f","content":"after"}"#);
        assert_eq!(result.summary, "+1 -1");
    }

    #[test]
    fn a_failed_undo_stays_and_a_large_change_says_so() {
        let bench = Bench::new();
        bench.put("f", b"one");
        bench.run("write", r#"{"path":"f","content":"two"}"#);
        bench.put("f", b"theirs");
        for _ in 0..2 {
            let error = bench.runtime().undo().unwrap_err();
            assert!(error.contains("changed since"), "{error}");
        }
        bench.put("g", &vec![b'x'; undo::MAX_BYTES as usize + 1]);
        bench.run("write", r#"{"path":"g","content":"small"}"#);
        assert!(bench.runtime().undo().unwrap_err().contains("too large"));
        assert!(
            bench
                .runtime()
                .undo()
                .unwrap_err()
                .contains("changed since")
        );
    }
}
