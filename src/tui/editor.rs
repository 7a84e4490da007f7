//! The person's own editor for long drafts.
//!
//! The draft is a private file while the editor has it, and gone afterwards, however that ends.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::composer::MAX_DRAFT;
use crate::error::{Error, Result, io_text};
use crate::sys::Env;
use crate::sys::fs::read_regular;
use crate::sys::process::{Foreground, Program, run_foreground};

/// A draft that is being edited.
#[derive(Debug)]
pub struct Editing {
    pub program: Foreground,
    file: DraftFile,
}

impl Editing {
    /// Starts an editor, a program and its arguments, with a draft. The terminal is its own from
    /// here on.
    pub fn start(words: &[String], cwd: &Path, env: &Env, text: &str) -> Result<Self> {
        let (program, args) = words
            .split_first()
            .ok_or_else(|| Error::failed("no editor is set"))?;
        let file = DraftFile::create(env, text)
            .map_err(|error| Error::from(error).context("the draft cannot be put into a file"))?;
        let args = args.iter().map(OsString::from);
        let program = run_foreground(Program {
            program: program.into(),
            args: args.chain([file.0.clone().into()]).collect(),
            cwd: cwd.to_owned(),
            env: env.clone(),
        });
        let hint = "set `editor` in settings.json, or the variable EDITOR";
        Ok(Self {
            program: program.map_err(|error| error.remedy(hint))?,
            file,
        })
    }

    /// What was saved, without line ends at its end, or why the draft stays as it was.
    pub fn finish(self, status: ExitStatus) -> std::result::Result<String, String> {
        if !status.success() {
            return Err(format!("the draft stays as it was: editor: {status}"));
        }
        let text = read_regular(&self.file.0, MAX_DRAFT as u64)
            .map_err(|error| format!("the edited draft cannot be read: {}", io_text(&error)))?;
        let text = String::from_utf8(text)
            .map_err(|_| "the edited draft is not UTF-8, so the draft stays as it was")?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Ok(text.trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// A file that is removed when this is dropped.
#[derive(Debug)]
struct DraftFile(PathBuf);

impl DraftFile {
    fn create(env: &Env, text: &str) -> std::io::Result<Self> {
        let directory = env.path("TMPDIR").unwrap_or_else(|| "/tmp".into());
        let name = format!("e-{}.md", uuid::Uuid::new_v4().simple());
        let path = directory.join(name);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let draft = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(draft)
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        // Where it cannot be removed, the directory cleans up some day.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The editor as a program and its arguments: the setting, `VISUAL`, `EDITOR`, or vi.
pub fn words(setting: Option<&str>, env: &Env) -> Vec<String> {
    let split = |text: &str| -> Vec<String> { text.split_whitespace().map(String::from).collect() };
    let named = [setting, env.text("VISUAL"), env.text("EDITOR")];
    let mut named = named.into_iter().flatten().map(split);
    named
        .find(|words| !words.is_empty())
        .unwrap_or_else(|| vec!["vi".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn the_first_that_is_set_is_the_editor() {
        let mut env = Env::default();
        assert_eq!(words(None, &env), ["vi"]);
        env.set("EDITOR", "nano");
        assert_eq!(words(None, &env), ["nano"]);
        env.set("VISUAL", "code --wait");
        assert_eq!(words(Some("  "), &env), ["code", "--wait"]);
        assert_eq!(words(Some("hx"), &env), ["hx"]);
    }

    #[test]
    fn the_draft_is_private_and_goes_away() {
        let dir = tempfile::tempdir().unwrap();
        let mut env = Env::default();
        env.set("TMPDIR", dir.path());
        env.set("PATH", "/usr/bin:/bin");
        let editor = ["sh", "-c", "printf 'new\\r\\n\\n' > \"$1\"", "e"];
        let editor = editor.map(String::from);
        let editing = Editing::start(&editor, dir.path(), &env, "old").unwrap();
        let path = editing.file.0.clone();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let limit = std::time::Duration::from_secs(20);
        let status = editing.program.exit().recv_timeout(limit).unwrap();
        editing.program.take_terminal();
        assert_eq!(editing.finish(status).unwrap(), "new");
        assert!(!path.exists());

        let fails = ["false".to_owned()];
        let editing = Editing::start(&fails, dir.path(), &env, "old").unwrap();
        let error = editing.finish(ExitStatus::from_raw(256)).unwrap_err();
        assert_eq!(error, "the draft stays as it was: editor: exit status: 1");
        let none = Editing::start(&["no-such-editor".into()], dir.path(), &env, "x");
        assert!(
            none.unwrap_err()
                .to_string()
                .contains("`no-such-editor` was not found")
        );
    }
}
