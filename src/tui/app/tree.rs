//! `/tree`: going back to an earlier message of the session, on any branch.

use std::path::PathBuf;
use std::time::Instant;

use super::pickers::Picks;
use super::resume::restored;
use super::sessions::Awaited;
use super::submit::Line;
use super::{App, Done, transcript_options};
use crate::agent::Want;
use crate::error::Result;
use crate::session::{self, Entry, PastPrompt};
use crate::text::one_line;
use crate::tui::transcript::Transcript;
use crate::tui::view::picker::{Item, Picker};

/// Messages that the picker shows at a time.
const ROWS: usize = 12;
/// Longest start of a message, in columns.
const COLUMNS: usize = 60;
/// Branches in branches that are told apart.
const MAX_DEPTH: usize = 12;

/// An earlier place of the session, before a message.
#[derive(Debug)]
pub struct Rewound {
    /// The history up to there.
    entries: Vec<Entry>,
    /// Its last node.
    head: Option<String>,
    /// What shows of it.
    transcript: Transcript,
    /// The message, for the composer.
    text: String,
}

impl App {
    /// It is known where the session is.
    pub(super) fn look_through(&mut self, log: Option<PathBuf>, head: Option<String>) {
        let Some(log) = log else {
            return self
                .tell("there is nothing to go back to: this session has no message in a file");
        };
        self.look_up(move || {
            let prompts = session::prompts(&log, head.as_deref());
            Done::Tree(log, prompts)
        })
    }

    /// The messages are known: one is chosen.
    pub(super) fn open_tree(&mut self, log: PathBuf, prompts: Result<Vec<PastPrompt>>) {
        let prompts = match prompts {
            Ok(prompts) => prompts,
            Err(error) => return self.transcript.push_error(&error.to_string()),
        };
        let last = prompts.iter().rposition(|prompt| prompt.is_living);
        let mut picker = Picker::new("Messages", prompts.iter().map(item).collect(), ROWS);
        picker.step(last.map_or(-1, |last| last as isize));
        self.open_picker(picker, Picks::Tree(log, prompts));
    }

    /// A message was chosen: reads what was before it.
    pub(super) fn go_back(&mut self, log: PathBuf, prompt: PastPrompt) {
        if !self.is_between_turns() {
            return;
        }
        self.is_opening = true;
        let options = transcript_options(&self.settings);
        let extensions = self.process.extensions.clone();
        self.task(move || {
            let entries = session::load_at(&log, prompt.before.as_deref());
            Done::Rewound(entries.map(|entries| {
                Box::new(Rewound {
                    transcript: restored(options, &entries, &log, &extensions),
                    entries,
                    head: prompt.before,
                    text: prompt.text,
                })
            }))
        })
    }

    /// What was before the message is read.
    pub(super) fn rewind(&mut self, rewound: Result<Box<Rewound>>) {
        match rewound {
            Ok(mut rewound) => {
                let entries = std::mem::take(&mut rewound.entries);
                let head = rewound.head.clone();
                self.ask(Awaited::Rewind(rewound), Want::Rewind(entries, head))
            }
            Err(error) => {
                self.is_opening = false;
                self.transcript.push_error(&error.to_string());
                self.carry_out(Instant::now())
            }
        }
    }

    pub(super) fn rewound(&mut self, rewound: Rewound, now: Instant) {
        self.is_opening = false;
        self.transcript.replace(rewound.transcript);
        self.tell("back before this message; what came after it stays in the file");
        if let Some(session) = &mut self.session {
            session.context_tokens = 0;
        }
        self.give_back([Line::prompt(rewound.text)]);
        self.carry_out(now);
    }
}

fn item(prompt: &PastPrompt) -> Item {
    let first = prompt.text.trim_start().lines().next().unwrap_or_default();
    let text = match one_line(first, Some(COLUMNS)) {
        text if text.is_empty() => "(no text)".into(),
        text => text,
    };
    Item {
        label: rails(prompt) + &text,
        description: match prompt.branches {
            true => "branches here".into(),
            false => String::new(),
        },
        group: match prompt.is_living {
            true => String::new(),
            false => "other branch".into(),
        },
        ..Item::default()
    }
}

/// One rail for each branch that the message is in.
fn rails(prompt: &PastPrompt) -> String {
    let depth = prompt.depth.min(MAX_DEPTH);
    match prompt.begins_branch {
        true => "│ ".repeat(depth.saturating_sub(1)) + "├ ",
        false => "│ ".repeat(depth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_as_one_line_with_their_marks() {
        let shown = |text: &str, branches, is_living| {
            let item = item(&PastPrompt {
                before: None,
                text: text.into(),
                timestamp: 0,
                branches,
                is_living,
                depth: 2 * usize::from(branches),
                begins_branch: branches && is_living,
            });
            [item.label, item.description, item.group].join("|")
        };
        assert_eq!(shown("one", true, true), "│ ├ one|branches here|");
        assert_eq!(shown("one\ntwo", false, true), "one||");
        assert_eq!(
            shown("\n \x1b[31mred", true, false),
            "│ │ red|branches here|other branch"
        );
        assert_eq!(shown("", false, true), "(no text)||");
        assert!(crate::text::width(&shown(&"宽".repeat(200), false, true)) <= COLUMNS + 2);
    }
}
