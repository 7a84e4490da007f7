//! Which shell runs a command, and in what surroundings.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::sys::Env;
use crate::sys::process::{self, Child, Owner, Spawn, Stdin};

/// Where programs are looked for when `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// An editor that fails. A command has no terminal to edit in, and an editor that does nothing
/// would let `git rebase -i` rewrite history. One quoted shell command, so that it fails in
/// programs that split it at blanks as well.
const NO_EDITOR: &str = "sh -c 'echo \"e: a command has no editor; pass the text as an argument \
                         or a file (git commit -m, git rebase without -i)\" >&2; exit 1' e";

/// What every command of a session shares.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The directory commands start in. It may be gone for a while.
    pub workspace: PathBuf,
    /// Their environment, without the keys of providers.
    pub env: Env,
}

impl Shell {
    /// Starts a command line.
    pub(super) fn start(&self, command: &str, owner: &Owner) -> Result<Child> {
        let (program, options) = match (self.find("bash"), self.find("sh")) {
            (Some(bash), _) => (bash, "-lc"),
            (None, Some(sh)) => (sh, "-c"),
            (None, None) => {
                return Err(Error::failed("neither `bash` nor `sh` is in the PATH")
                    .remedy("install one of them"));
            }
        };
        process::spawn(Spawn {
            program,
            args: vec![options.into(), command.into()],
            cwd: self.workspace.clone(),
            env: self.environment(),
            stdin: Stdin::Null,
            owner: owner.clone(),
        })
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self
            .env
            .get("PATH")
            .map_or_else(|| DEFAULT_PATH.into(), OsString::from);
        std::env::split_paths(&path)
            .map(|directory| directory.join(name))
            .find(|program| {
                let executable = |metadata: std::fs::Metadata| {
                    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
                };
                program.is_absolute() && program.metadata().is_ok_and(executable)
            })
    }

    /// Nobody is there to answer a question, turn a page or edit a text.
    fn environment(&self) -> Env {
        let mut env = self.env.clone();
        for (name, value) in [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("EDITOR", NO_EDITOR),
            ("VISUAL", NO_EDITOR),
            ("GIT_EDITOR", NO_EDITOR),
        ] {
            env.set(name, value);
        }
        env
    }
}
