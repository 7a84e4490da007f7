//! The kinds of entries, and their rows.

use super::block::Block;
use super::details::{Details, Tail};
use super::group::Group;
use super::options::{Depth, Options, View};
use crate::chat::Format;
use crate::text::expand_tabs;
use crate::tui::diff::{self, Diff};
use crate::tui::markdown::{Chunk, Definitions, Streamed, render};
use crate::tui::rich::{Rich, clipped, prefixed};
use crate::tui::style::{Row, Style, Token, dim};

/// Rows of a shell command's output that are shown.
const SHELL_ROWS: usize = 20;
/// Columns before the text of most entries.
const INDENT: usize = 2;

/// One entry, or one part of a long reply. All text is clean.
#[derive(Debug)]
pub(super) struct Entry {
    /// Whether it may still change.
    pub state: State,
    /// What it is.
    pub kind: Kind,
}

/// Whether an entry may still change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It stays as it is.
    Settled,
    /// More of it may come.
    Open,
    /// Part of a reply that an extension may replace: which one.
    Held(u32),
}

#[derive(Debug)]
pub(super) enum Kind {
    Banner {
        version: Box<str>,
        help: Box<str>,
    },
    User {
        text: Box<str>,
        images: usize,
    },
    /// The part of a reply that has settled, and the links it may refer to.
    Chunk(Box<Chunk>, Definitions),
    /// The part of a reply that may still change.
    Reply(Box<Streamed>),
    Thinking {
        text: String,
        first: bool,
    },
    Tools(Box<Group>),
    Shell(Box<Shell>),
    Summary(Box<str>),
    Notice(Box<str>),
    /// A line that an extension wrote to standard error; only the first of a block says whose it is.
    Diagnostic {
        from: Box<str>,
        line: Box<str>,
        first: bool,
    },
    Error(Box<str>),
    System(Box<str>),
    Show {
        title: Box<str>,
        body: Box<str>,
        format: Format,
    },
    /// What e tells in tables.
    Blocks {
        title: Box<str>,
        blocks: Box<[Block]>,
    },
    /// A summary took the place of the messages before.
    Compacted {
        summary: Box<str>,
        note: Box<str>,
    },
}

/// A command that a person ran.
#[derive(Debug)]
pub(super) struct Shell {
    pub command: String,
    pub output: Tail,
    pub running: bool,
}

impl Entry {
    /// Whether it goes on where the entry before ended, without a blank row.
    pub fn continues(&self) -> bool {
        match &self.kind {
            Kind::Chunk(chunk, _) => chunk.continues(),
            Kind::Reply(reply) => reply.continues(),
            Kind::Thinking { first, .. } | Kind::Diagnostic { first, .. } => !first,
            _ => false,
        }
    }

    /// Its rows, without the blank row above.
    pub fn rows(&self, view: View, options: &Options, details: &Details) -> Vec<Row> {
        let columns = view.columns.max(1);
        let room = columns.saturating_sub(INDENT).max(1);
        match &self.kind {
            Kind::Banner { version, help } => {
                let mut rich = Rich::of("e", Style::colored(Token::UserMessageText).bold());
                rich.push(&format!(" {version} · {help}"), dim());
                vec![rich.clip(columns)]
            }
            Kind::User { text, images } => user(text, *images, room),
            Kind::Chunk(chunk, known) => indented(chunk.rows(room, known)),
            Kind::Reply(reply) => indented(reply.tail(room)),
            Kind::Thinking { text, first } => {
                let shown = options.show_thinking || view.depth.is_reader();
                match (shown, first) {
                    _ if text.trim().is_empty() => Vec::new(),
                    (true, _) => indented(thinking(text).wrap_prose(room)),
                    (false, true) => {
                        let style = Style::colored(Token::ThinkingText);
                        indented(vec![clipped(&options.thinking_hint, style, room)])
                    }
                    (false, false) => Vec::new(),
                }
            }
            Kind::Tools(group) => group.rows(view, options, details),
            Kind::Shell(shell) => shell.rows(view, room),
            Kind::Summary(text) => indented(Rich::of(text, dim()).wrap(room)),
            Kind::Notice(text) => indented(Rich::of(text, notice()).wrap_prose(room)),
            Kind::Diagnostic { from, line, first } => {
                let whose = match first {
                    true => format!("extension {from}: "),
                    false => String::new(),
                };
                indented(Rich::of(&format!("{whose}{line}"), notice()).wrap(room))
            }
            Kind::Error(text) => labelled("● Error: ", Style::colored(Token::Error), text, columns),
            Kind::System(text) => labelled("● System: ", label(), text, columns),
            Kind::Show {
                title,
                body,
                format,
            } => {
                let mut rows = Vec::new();
                if !title.is_empty() {
                    rows.push(clipped(&format!("● {title}"), label(), columns));
                }
                rows.extend(indented(body_rows(body, *format, room)));
                rows
            }
            Kind::Blocks { title, blocks } => {
                let mut rows = vec![clipped(&format!("● {title}"), label(), columns)];
                for (number, block) in blocks.iter().enumerate() {
                    rows.extend((number > 0).then(Row::default));
                    rows.extend(indented(block.rows(room)));
                }
                rows
            }
            Kind::Compacted { summary, note } => {
                let mut rows = labelled("● System: ", label(), note, columns);
                if view.depth.is_reader() {
                    rows.extend(indented(render(summary, room, &Definitions::default())));
                }
                rows
            }
        }
    }
}

impl Shell {
    fn rows(&self, view: View, room: usize) -> Vec<Row> {
        let style = match self.running {
            true => dim(),
            false => Style::colored(Token::BashMode).bold(),
        };
        let mut rows = Vec::new();
        for row in Rich::of(&self.command, style.clone()).wrap(room) {
            rows.push(prefixed(
                if rows.is_empty() { "$ " } else { "  " },
                style.clone(),
                row,
            ));
        }
        let most = match view.depth {
            Depth::Chat | Depth::Review => SHELL_ROWS,
            Depth::Full => usize::MAX,
        };
        let text = self.output.text();
        if text.is_empty() {
            return rows;
        }
        let shown = Style::colored(Token::ToolOutput);
        let lines = text.split('\n').flat_map(|line| {
            let line = Rich::of(&expand_tabs(line), shown.clone());
            line.wrap_hard(room)
        });
        let lines: Vec<Row> = lines.collect();
        let hidden = lines.len().saturating_sub(most);
        let note = self.output.note(hidden, " above");
        let note = note.map(|note| clipped(&note, dim(), room)).into_iter();
        let shown = note.chain(lines.into_iter().skip(hidden));
        rows.extend(indented(shown.collect()));
        rows
    }
}

/// Rows of a clean text by its format: blocks in the transcript, sections of a pane.
pub fn body_rows(body: &str, format: Format, columns: usize) -> Vec<Row> {
    let diff = match format {
        Format::Diff => Diff::parse(body),
        Format::Text | Format::Markdown => None,
    };
    match (format, diff) {
        (_, Some(lines)) => lines
            .rows()
            .flat_map(|line| diff::wrap(&line, columns))
            .collect(),
        (Format::Markdown, None) => render(body, columns, &Definitions::default()),
        (Format::Text | Format::Diff, None) => match body.trim().is_empty() {
            true => Vec::new(),
            false => {
                let text = expand_tabs(body.trim_end());
                Rich::of(&text, custom()).wrap(columns)
            }
        },
    }
}

/// What a person said.
fn user(text: &str, images: usize, room: usize) -> Vec<Row> {
    let mut rich = Rich::default();
    for number in 1..=images {
        rich.push(&format!("[Image {number}] "), dim());
    }
    rich.push(text, Style::default().bold().on(Token::UserMessageBg));
    let rail = Style::colored(Token::UserMessageText).on(Token::UserMessageBg);
    let rows = rich.wrap(room).into_iter();
    rows.map(|row| prefixed("┃ ", rail.clone(), row)).collect()
}

/// Reasoning, what stands between two `**` in bold.
fn thinking(text: &str) -> Rich {
    let mut rich = Rich::default();
    for (index, line) in expand_tabs(text.trim()).split('\n').enumerate() {
        if index > 0 {
            rich.push("\n", Style::default());
        }
        let parts: Vec<&str> = line.split("**").collect();
        for (index, part) in parts.iter().enumerate() {
            // An odd mark opens nothing.
            let pair = index % 2 == 1 && index + 1 < parts.len();
            let style = Style::colored(Token::ThinkingText);
            rich.push(part, if pair { style.bold() } else { style });
        }
    }
    rich
}

/// A label and text that goes on under an indent.
fn labelled(mark: &str, style: Style, text: &str, columns: usize) -> Vec<Row> {
    let mut rich = Rich::of(mark, style);
    rich.push(text, custom());
    let rest = columns.saturating_sub(INDENT).max(1);
    let ranges = crate::text::wrap_prose(rich.text(), columns, rest);
    let mut rows = rich.rows(ranges);
    for row in rows.iter_mut().skip(1) {
        *row = prefixed("  ", Style::default(), std::mem::take(row));
    }
    rows
}

fn indented(rows: Vec<Row>) -> Vec<Row> {
    let indent = |row: Row| match row.spans.is_empty() {
        true => row,
        false => prefixed("  ", Style::default(), row),
    };
    rows.into_iter().map(indent).collect()
}

fn label() -> Style {
    Style::colored(Token::CustomMessageLabel)
        .on(Token::CustomMessageBg)
        .bold()
}

fn notice() -> Style {
    Style::default().on(Token::CustomMessageBg)
}

/// The text of what is no part of the conversation.
pub(super) fn custom() -> Style {
    Style::colored(Token::CustomMessageText).on(Token::CustomMessageBg)
}
