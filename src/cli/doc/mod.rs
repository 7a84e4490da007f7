//! What is printed from the table of options and commands: help, manual pages, completions.

mod complete;
mod extensions;
mod help;
mod man;

pub use help::help;

use crate::error::{Error, Result};

/// Prints a text.
type Print = fn() -> String;

/// The texts that packagers have `e --generate` print, by name.
const GENERATED: &[(&str, Print)] = &[
    ("man", man::command),
    ("man-rpc", man::rpc),
    ("man-settings", man::settings),
    ("man-extensions", extensions::page),
    ("complete-bash", complete::bash),
    ("complete-zsh", complete::zsh),
    ("complete-fish", complete::fish),
];

/// The text with that name.
pub fn generated(name: &str) -> Result<String> {
    let row = GENERATED.iter().find(|row| row.0 == name);
    row.map(|(_, text)| text()).ok_or_else(|| {
        let names: Vec<_> = GENERATED.iter().map(|row| row.0).collect();
        Error::usage(format!("`{name}` cannot be generated"))
            .remedy(format!("one of: {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flags::{COMMANDS, CommandId, FLAGS, Flag};
    use crate::sys::{Env, process};
    use std::io::Read;

    #[test]
    fn every_text_names_every_option_and_command() {
        for (name, text) in GENERATED.iter().filter(|row| !row.0.starts_with("man-")) {
            let text = text().replace("\\-", "-");
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
        let rpc = man::rpc().replace("\\-", "-");
        for flag in FLAGS.iter().filter(|flag| flag.help.is_some()) {
            let applies = flag.applies(Some(CommandId::Rpc));
            let row = format!(".B {}", flag.spellings().join(", "));
            assert_eq!(rpc.contains(&row), applies, "{}", flag.long);
        }
        for method in crate::rpc::METHODS {
            assert!(rpc.contains(method.name), "{}", method.name);
        }
        for key in crate::config::settings::KEYS {
            let text = man::settings();
            assert!(text.contains(&key.name.replace('_', "\\_")) || text.contains(key.name));
        }
    }

    #[test]
    fn shells_accept_their_scripts() {
        let root = tempfile::tempdir().unwrap();
        let script = root.path().join("script");
        for shell in ["bash", "zsh", "fish"] {
            std::fs::write(&script, generated(&format!("complete-{shell}")).unwrap()).unwrap();
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
