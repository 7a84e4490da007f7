//! A workspace of its own for each test.

use std::path::PathBuf;

use super::{Call, Runtime, run};
use crate::chat::ToolResult;
use crate::sys::Env;
use crate::sys::cancel::cancel_pair;

/// A temporary workspace with its tools.
pub struct Bench {
    directory: tempfile::TempDir,
    runtime: Runtime,
}

impl Bench {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::new(directory.path().to_owned(), Env::capture());
        Self { directory, runtime }
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs one call to its end.
    pub fn run(&self, name: &str, arguments: &str) -> ToolResult {
        let (_keep, cancel) = cancel_pair();
        run(
            &self.runtime,
            name,
            &Call {
                arguments,
                cancel: &cancel,
                output: &|_, _| {},
            },
        )
    }
}
