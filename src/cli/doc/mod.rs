//! What is printed from the table of options and commands: help, manual pages, completions.

mod complete;
mod help;
mod man;

pub use help::help;

/// A text that packagers have `e --generate` print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    /// e(1).
    Man,
    /// e-settings(5).
    ManSettings,
    /// The completion script for bash.
    Bash,
    /// The completion script for zsh.
    Zsh,
    /// The completion script for fish.
    Fish,
}

const NAMES: &[(&str, Generated)] = &[
    ("man", Generated::Man),
    ("man-settings", Generated::ManSettings),
    ("complete-bash", Generated::Bash),
    ("complete-zsh", Generated::Zsh),
    ("complete-fish", Generated::Fish),
];

impl Generated {
    /// The text that a name stands for.
    pub fn by_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// All names.
    pub fn names() -> Vec<&'static str> {
        NAMES.iter().map(|row| row.0).collect()
    }

    /// The text.
    pub fn text(self) -> String {
        match self {
            Generated::Man => man::command(),
            Generated::ManSettings => man::settings(),
            Generated::Bash => complete::bash(),
            Generated::Zsh => complete::zsh(),
            Generated::Fish => complete::fish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flags::{COMMANDS, Flag};
    use crate::sys::{Env, process};
    use std::io::Read;

    #[test]
    fn every_text_names_every_option_and_command() {
        for (name, what) in NAMES.iter().filter(|row| row.1 != Generated::ManSettings) {
            let text = what.text().replace("\\-", "-");
            for (flag, _) in Flag::documented() {
                assert!(text.contains(flag.long), "{name} lacks {}", flag.long);
            }
            for command in COMMANDS {
                assert!(text.contains(command.name), "{name} lacks {}", command.name);
            }
            assert!(
                !text.contains("generate"),
                "{name} shows what is not for users"
            );
        }
        for key in crate::config::settings::KEYS {
            let text = Generated::ManSettings.text();
            assert!(text.contains(&key.name.replace('_', "\\_")) || text.contains(key.name));
        }
    }

    #[test]
    fn shells_accept_their_scripts() {
        let root = tempfile::tempdir().unwrap();
        let script = root.path().join("script");
        for (shell, what) in [
            ("bash", Generated::Bash),
            ("zsh", Generated::Zsh),
            ("fish", Generated::Fish),
        ] {
            std::fs::write(&script, what.text()).unwrap();
            let spawned = process::spawn(process::Spawn {
                program: shell.into(),
                args: vec!["-n".into(), script.clone().into()],
                cwd: root.path().into(),
                env: Env::capture(),
                stdin: process::Stdin::Null,
                owner: process::Owner::new(),
            });
            // A shell that is not installed cannot object.
            let Ok(mut child) = spawned else { continue };
            let mut complaint = String::new();
            child.stderr.read_to_string(&mut complaint).unwrap();
            assert_eq!(complaint, "", "{shell}");
            let exit = child.process.exit().recv().unwrap();
            assert!(exit.status.unwrap().success(), "{shell}");
        }
    }
}
