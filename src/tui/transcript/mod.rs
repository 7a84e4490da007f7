//! The transcript: entries made from events, and their rows.
//!
//! Foreign text is cleaned here, when it becomes part of an entry, and nowhere later. Entries keep
//! their text rather than rows: rows are made when they are handed to the terminal's scrollback,
//! once, and again for what a scrolled view shows. So a frame costs what is new and what still
//! changes, and memory grows with the text alone.

mod block;
mod details;
mod entry;
mod events;
mod group;
mod options;
mod restore;
mod window;

pub use block::Block;
pub use entry::body_rows;
pub use group::more_rows;
pub use options::{Depth, Options, View};
pub use window::Place;

use std::collections::VecDeque;
use std::time::Duration;

use details::{CallKey, Detail, Details};
use entry::{Entry, Kind, Shell, State};

use super::figures::{self, Tokens};
use super::style::Row;
use crate::agent::TurnResult;
use crate::chat::Format;
use crate::extension::ui::Show;
use crate::text::{expand_tabs, one_line, sanitize};

/// The entries of a session on this terminal.
#[derive(Debug, Default)]
pub struct Transcript {
    options: Options,
    entries: Vec<Entry>,
    /// Entries before this one are settled, and their rows were handed out.
    given: usize,
    handed: Handed,
    /// Entries that more may be added to, by their kind.
    reply: Option<usize>,
    thinking: Option<usize>,
    group: Option<usize>,
    shell: Option<usize>,
    details: Details,
    calls: u64,
    replies: u32,
    holds_replies: bool,
    /// Rows of another session are above the first entry.
    follows: bool,
    /// The text of the reply that is held and goes on, and those of completed ones.
    held_text: String,
    completed: Vec<String>,
    tokens: Tokens,
    cache: window::Cache,
}

/// The rows of the entries that were handed out last, and the width they were made for.
#[derive(Debug, Default)]
struct Handed {
    columns: usize,
    /// They were made for other settings.
    is_stale: bool,
    /// Rows by entry, of the last ones.
    rows: VecDeque<usize>,
}

/// Rows after which the rest of what has settled waits for the next frame.
const MAX_ROWS: usize = 500;

/// Entries that may be taken back: more than a screen has rows for.
const MAX_HANDED: usize = 1024;

impl Transcript {
    /// An empty one.
    pub fn new(options: Options) -> Self {
        Self {
            options: options.cleaned(),
            ..Self::default()
        }
    }

    /// Uses other settings from now on. What was handed out is taken back with the next frame as far as
    /// it is still on the screen.
    pub fn set_options(&mut self, options: Options) {
        self.options = options.cleaned();
        self.handed.is_stale = true;
        self.cache.clear();
    }

    /// Keeps replies open until [`Transcript::release_reply`]: an extension renders them.
    pub fn hold_replies(&mut self, hold: bool) {
        self.holds_replies = hold;
    }

    /// Shows another session. What was not handed out yet of this one stays above it.
    pub fn replace(&mut self, other: Self) {
        self.entries.drain(..self.given);
        self.follows |= self.given > 0;
        self.given = 0;
        self.handed = Handed::default();
        self.begin(other);
    }

    /// Shows a session below what was said while there was none.
    pub fn begin(&mut self, other: Self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.extend(other.entries);
        *self = Self {
            entries,
            follows: self.follows,
            given: self.given,
            handed: std::mem::take(&mut self.handed),
            holds_replies: self.holds_replies,
            options: self.options.clone(),
            replies: self.replies,
            held_text: std::mem::take(&mut self.held_text),
            completed: std::mem::take(&mut self.completed),
            ..other
        };
    }

    /// The texts of held replies that have been completed since the last time, in order. Each
    /// waits for one [`Transcript::release_reply`].
    pub fn take_completed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.completed)
    }

    /// Shows another text for a finished call in the reader.
    pub fn replace_detail(&mut self, id: u64, body: &str, format: Format) {
        let calls = self
            .entries
            .iter()
            .rev()
            .filter_map(|entry| match &entry.kind {
                Kind::Tools(group) => Some(&group.calls),
                _ => None,
            });
        let mut calls = calls.flat_map(|calls| calls.iter().rev());
        if let Some(key) = calls.find(|call| call.id == id).map(|call| call.key) {
            let text = clean(body).into();
            self.details.replace(key, Detail { text, format });
            self.cache.clear();
        }
    }

    /// The first line of a fresh session.
    pub fn push_banner(&mut self, version: &str, help: &str) {
        self.push(Kind::Banner {
            version: one_line(version, None).into(),
            help: one_line(help, None).into(),
        });
    }

    /// What the person said.
    pub fn push_user(&mut self, text: &str, images: usize) {
        self.close_all();
        let text = clean(text.trim_end());
        self.push(Kind::User {
            text: text.into(),
            images,
        });
    }

    /// Something worth knowing.
    pub fn push_notice(&mut self, text: &str) {
        self.push(Kind::Notice(clean(text.trim()).into()));
    }

    /// A line of the standard error of an extension. It continues the one before of the same one.
    pub fn push_diagnostic(&mut self, extension: &str, line: &str) {
        let from = one_line(extension, None);
        let last = self.entries.last().map(|entry| &entry.kind);
        let first = !matches!(last, Some(Kind::Diagnostic { from: last, .. }) if **last == *from);
        self.push(Kind::Diagnostic {
            from: from.into(),
            line: clean(line).into(),
            first,
        });
    }

    /// Something that failed.
    pub fn push_error(&mut self, text: &str) {
        self.push(Kind::Error(clean(text.trim()).into()));
    }

    /// Something that e did or that was done to it.
    pub fn push_system(&mut self, text: &str) {
        self.push(Kind::System(clean(text.trim()).into()));
    }

    /// A block that an extension shows.
    pub fn push_show(&mut self, show: &Show) {
        self.push(Kind::Show {
            title: one_line(&show.title, None).into(),
            body: clean(&show.body).into(),
            format: show.format,
        });
    }

    /// Something that e tells in tables. Clean.
    pub fn push_blocks(&mut self, title: &str, blocks: Vec<Block>) {
        let title = title.into();
        let blocks = blocks.into();
        self.push(Kind::Blocks { title, blocks });
    }

    /// A command of the person begins to run.
    pub fn start_shell(&mut self, command: &str) {
        self.shell = Some(self.entries.len());
        self.push_open(Kind::Shell(Box::new(Shell {
            command: clean(command.trim()),
            output: Default::default(),
            running: true,
        })));
    }

    /// It wrote something.
    pub fn push_shell_output(&mut self, chunk: &str) {
        if let Some(shell) = self.shell() {
            shell.output.push(&sanitize(chunk));
        }
    }

    /// It ended. What it wrote in all takes the place of what was seen so far, if that is known.
    pub fn end_shell(&mut self, output: Option<&str>) {
        if let Some(shell) = self.shell() {
            shell.running = false;
            if let Some(output) = output {
                shell.output.clear();
                shell.output.push(&sanitize(output));
            }
        }
        if let Some(index) = self.shell.take() {
            self.entries[index].state = State::Settled;
        }
    }

    /// Ends a turn with the row that sums it up, and why it failed. There is nothing to sum up of a
    /// summary between turns, which has no `elapsed`.
    pub fn end_turn(&mut self, result: &TurnResult, elapsed: Option<Duration>) {
        self.settle_all(group::State::Unreported);
        if result.aborted {
            let why = result.error.as_deref().unwrap_or("interrupted");
            return self.push_system(why);
        }
        if let Some(elapsed) = elapsed {
            let mut parts = vec![figures::duration(elapsed), self.tokens.text()];
            parts.push(figures::cost(result.cost_usd.unwrap_or(0.0)));
            parts.retain(|part| !part.is_empty());
            self.push(Kind::Summary(parts.join(" ").into()));
        }
        if let Some(error) = &result.error {
            self.push_error(error);
        }
    }

    /// Ends the wait for the oldest held reply: it settles as it is, or with another body.
    pub fn release_reply(&mut self, replacement: Option<(&str, Format)>) {
        let held = |entry: &Entry| match entry.state {
            State::Held(reply) => Some(reply),
            State::Settled | State::Open => None,
        };
        let waiting = &self.entries[self.given..];
        let Some(reply) = waiting.iter().find_map(held) else {
            return;
        };
        let is_part = |entry: &Entry| entry.state == State::Held(reply);
        let first = self.given + waiting.iter().position(is_part).unwrap_or(0);
        if let Some((body, format)) = replacement {
            let before = self.entries.len();
            self.cache.clear();
            self.entries.retain(|entry| !is_part(entry));
            let removed = before - self.entries.len();
            let shown = Kind::Show {
                title: "".into(),
                body: clean(body).into(),
                format,
            };
            self.entries.insert(
                first,
                Entry {
                    state: State::Settled,
                    kind: shown,
                },
            );
            // One came, `removed` went.
            for open in [
                &mut self.reply,
                &mut self.thinking,
                &mut self.group,
                &mut self.shell,
            ] {
                *open = open.map(|index| {
                    if index > first {
                        index + 1 - removed
                    } else {
                        index
                    }
                });
            }
        } else {
            for entry in self.entries[first..]
                .iter_mut()
                .filter(|entry| is_part(entry))
            {
                entry.state = State::Settled;
            }
        }
    }

    /// Tokens of the running turn, or of the last one.
    pub fn tokens(&self) -> Tokens {
        self.tokens
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The rows that have settled since the last time, in order: each is handed out once. Of very many
    /// the rest waits for the next time, see [`Transcript::has_settled`].
    pub fn settled_rows(&mut self, columns: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        while self.has_settled() && rows.len() < MAX_ROWS {
            let entry = self.spaced(self.given, View::chat(columns));
            self.handed.rows.push_back(entry.len());
            rows.extend(entry);
            self.given += 1;
        }
        let excess = self.handed.rows.len().saturating_sub(MAX_HANDED);
        self.handed.rows.drain(..excess);
        self.handed.columns = columns;
        rows
    }

    /// Nothing more comes: what is open settles as it is.
    pub fn finish(&mut self) {
        self.end_shell(None);
        self.settle_all(group::State::Unreported);
    }

    /// Leaves out, of what was not handed out yet, all but the entries of the last `most` rows.
    pub fn keep_last(&mut self, columns: usize, most: usize) {
        let view = View::chat(columns);
        let (mut from, mut rows) = (self.entries.len(), 0);
        while from > self.given && rows < most {
            from -= 1;
            rows += self.spaced(from, view).len();
        }
        self.given = from;
        self.handed = Handed::default();
    }

    /// Whether rows wait to be handed out.
    pub fn has_settled(&self) -> bool {
        let next = self.entries.get(self.given);
        next.is_some_and(|entry| entry.state == State::Settled)
    }

    /// Takes back what was handed out for another width or other settings, to be handed out again: the
    /// whole entries among the last `on_screen` rows. Returns how many rows they had.
    pub fn take_back(&mut self, on_screen: usize, columns: usize) -> usize {
        let is_stale = std::mem::take(&mut self.handed.is_stale);
        if self.handed.columns == columns && !is_stale {
            return 0;
        }
        let mut taken = 0;
        while let Some(rows) = self.handed.rows.pop_back() {
            if taken + rows > on_screen {
                break;
            }
            taken += rows;
            self.given -= 1;
        }
        // The terminal has the others for good.
        self.handed.rows.clear();
        taken
    }

    /// The rows below those that [`Transcript::settled_rows`] handed out: at most the last `most`.
    pub fn live_rows(&self, columns: usize, most: usize) -> Vec<Row> {
        let view = View::chat(columns);
        let mut parts = Vec::new();
        let mut count = 0;
        for index in (self.given..self.entries.len()).rev() {
            if count >= most {
                break;
            }
            let rows = self.spaced(index, view);
            count += rows.len();
            parts.push(rows);
        }
        let rows = parts.into_iter().rev().flatten();
        rows.skip(count.saturating_sub(most)).collect()
    }

    /// The rows of an entry under the blank row that divides it from the one above.
    fn spaced(&self, index: usize, view: View) -> Vec<Row> {
        let entry = &self.entries[index];
        let mut rows = entry.rows(view, &self.options, &self.details);
        let is_first = index == 0 && !self.follows;
        if !is_first && !rows.is_empty() && !entry.continues() {
            rows.insert(0, Row::default());
        }
        rows
    }

    fn push(&mut self, kind: Kind) {
        self.close_group();
        let state = State::Settled;
        self.entries.push(Entry { state, kind });
    }

    fn push_open(&mut self, kind: Kind) {
        let state = State::Open;
        self.entries.push(Entry { state, kind });
    }

    fn shell(&mut self) -> Option<&mut Shell> {
        match &mut self.entries.get_mut(self.shell?)?.kind {
            Kind::Shell(shell) => Some(shell),
            _ => None,
        }
    }

    fn next_call(&mut self) -> CallKey {
        self.calls += 1;
        CallKey(self.calls)
    }
}

/// The one door for text from elsewhere.
fn clean(text: &str) -> String {
    expand_tabs(&sanitize(text)).into_owned()
}

#[cfg(test)]
mod tests;
