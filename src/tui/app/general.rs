//! Commands that only tell something: `/help`, `/version`, `/copy`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::commands::{COMMANDS, find};
use super::sessions::Awaited;
use super::{App, Done, Effect};
use crate::agent::Want;
use crate::chat::Message;
use crate::config::build::VERSION;
use crate::config::resources::{Template, templates};
use crate::session::Entry;
use crate::text::clip_bytes;
use crate::tui::key::{Key, KeyPress};
use crate::tui::transcript::Block;

/// Most bytes of a reply that go to the clipboard: terminals drop longer sequences.
const MAX_COPY: usize = 74_000;

impl App {
    pub(super) fn version(&mut self) {
        self.tell(&format!("e {VERSION}"));
    }

    /// Shows every command and every key.
    pub(super) fn help(&mut self) {
        let own = COMMANDS.iter().map(|command| {
            let names = [command.name]
                .into_iter()
                .chain(command.aliases.iter().copied());
            let names: Vec<String> = names.map(|name| format!("/{name}")).collect();
            let label = format!("{} {}", names.join(", "), command.arguments);
            (label.trim_end().to_owned(), command.help.to_owned())
        });
        let added = self.process.extensions.commands.iter().map(|command| {
            let command = &command.item;
            let arguments = command.arguments.as_deref().unwrap_or_default();
            let label = format!("/{} {arguments}", command.name);
            (label.trim_end().to_owned(), command.description.clone())
        });
        let (own, added): (Vec<_>, Vec<_>) = (own.collect(), added.collect());
        let keys = self.keymap.help().into_iter();
        let keys: Vec<_> = keys
            .map(|(chords, help)| (chords, help.to_owned()))
            .collect();
        let shortcuts = self.process.extensions.shortcuts.iter().map(|bound| {
            let shortcut = &bound.item.shortcut;
            (bound.item.chord.clone(), shortcut.description.clone())
        });
        let focus = self.layout.focus.to_string();
        let focus = [(focus, "to the side pane and back".to_owned())];
        let end = KeyPress {
            ctrl: true,
            ..KeyPress::plain(Key::Char('d'))
        };
        let end = self.ends(&end).then(|| {
            let help = "quit, when the draft is empty";
            ("ctrl+d".to_owned(), help.to_owned())
        });
        let keys = keys.into_iter().chain(end).chain(focus).chain(shortcuts);
        let keys: Vec<_> = keys.collect();
        let signs = [
            ("!command", "run a command of the shell"),
            ("!!command", "the same, and the model is not told"),
            ("@", "name a file of the workspace"),
            ("$", "use a skill"),
        ];
        let signs = signs.map(|(sign, help)| (sign.to_owned(), help.to_owned()));
        let places = self.places();
        self.task(move || {
            let is_free = |one: &Template| find(&one.name).is_none();
            let templates = templates(&places).0.into_iter().filter(is_free);
            let templates = templates.map(|one| {
                let label = format!("/{} {}", one.name, one.arguments);
                let help = match one.description.is_empty() {
                    true => "a prompt of yours".to_owned(),
                    false => one.description,
                };
                (label.trim_end().to_owned(), help)
            });
            let commands = own.into_iter().chain(templates).chain(added).collect();
            let tables = [commands, signs.to_vec(), keys].map(Block::Meanings);
            let guides = Block::Text("The guides: e docs".into());
            Done::Blocks("Help".into(), tables.into_iter().chain([guides]).collect())
        })
    }

    /// Asks the core for the last reply.
    pub(super) fn copy(&mut self) {
        if self.session.is_none() {
            return self.tell("there is no reply to copy yet");
        }
        self.ask(Awaited::Copy, Want::Messages);
    }

    /// Hands the last reply to the terminal's clipboard.
    pub(super) fn copy_last(&mut self, entries: &[Entry]) {
        let said = |entry: &Entry| match &*entry.message {
            Message::Assistant { content, .. } if !content.trim().is_empty() => {
                Some(content.trim().to_owned())
            }
            _ => None,
        };
        let Some(reply) = entries.iter().rev().find_map(said) else {
            return self.tell("there is no reply to copy yet");
        };
        let text = clip_bytes(&reply, MAX_COPY);
        let says = match text.len() == reply.len() {
            true => "the last reply is on the clipboard, if this terminal allows that".to_owned(),
            false => format!(
                "the first {} of {} bytes of the last reply are on the clipboard, if this terminal allows that",
                text.len(),
                reply.len()
            ),
        };
        self.tell(&says);
        let in_tmux = self.process.env.text("TMUX").is_some();
        self.effects.push(Effect::Write(clipboard(text, in_tmux)));
    }
}

/// OSC 52. Inside tmux the terminal around it is told, too.
fn clipboard(text: &str, in_tmux: bool) -> Vec<u8> {
    let plain = format!("\x1b]52;c;{}\x07", BASE64.encode(text));
    match in_tmux {
        false => plain.into_bytes(),
        true => format!("{plain}\x1bPtmux;\x1b{plain}\x1b\\").into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clipboard_is_written_through_tmux() {
        assert_eq!(clipboard("hi", false), b"\x1b]52;c;aGk=\x07");
        assert_eq!(
            clipboard("hi", true),
            b"\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
        );
    }
}
