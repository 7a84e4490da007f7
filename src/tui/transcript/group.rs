//! A group of tool calls: a header that counts them, a row for each, what runs previewed.

use super::details::{CallKey, Details, Tail};
use super::options::{Depth, Options, View};
use crate::chat::{Format, Outcome};
use crate::text::{clip_columns, expand_tabs, one_line, width, wrap};
use crate::tools;
use crate::tui::diff::{self, Diff};
use crate::tui::markdown::{Definitions, render};
use crate::tui::rich::{Rich, clipped, prefixed};
use crate::tui::style::{Row, Style, Token, dim};

/// Rows of a detail in the reader's first depth.
const REVIEW_ROWS: usize = 3;
/// Columns of a rail.
const RAIL: usize = 2;

/// Calls that came one after another.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub calls: Vec<Call>,
}

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    /// Its name among the stored details.
    pub key: CallKey,
    pub id: u64,
    pub name: String,
    pub label: tools::Label,
    pub state: State,
    pub summary: String,
    pub output: Tail,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Announced. It has no row yet.
    Pending,
    Running,
    Ended(Outcome),
    /// Nothing tells how it ended.
    Unreported,
}

impl Call {
    /// Whether nothing more will come of it.
    pub fn is_settled(&self) -> bool {
        matches!(self.state, State::Ended(_) | State::Unreported)
    }

    fn is_command(&self) -> bool {
        self.label.category == "command"
    }

    fn verb(&self) -> &str {
        match self.state {
            State::Pending | State::Running => &self.label.running,
            State::Ended(Outcome::Completed) => &self.label.completed,
            State::Ended(Outcome::Failed) if self.is_command() => &self.label.completed,
            State::Ended(Outcome::Failed) => "Failed",
            State::Ended(Outcome::TimedOut) => "Timed out",
            State::Ended(Outcome::Blocked) => "Denied",
            State::Ended(Outcome::Cancelled) => "Cancelled",
            State::Unreported => "Not reported:",
        }
    }

    /// Verb and target on one line.
    fn text(&self, whole: bool) -> String {
        let target = match whole {
            true => &self.label.target,
            false => before_heredoc(&self.label.target),
        };
        let cut = if target.len() < self.label.target.len() {
            "…"
        } else {
            ""
        };
        // A verb that names no tool needs the name of one.
        let own_verb = self.verb() == self.label.running || self.verb() == self.label.completed;
        let target = if target.is_empty() && !own_verb {
            &self.name
        } else {
            target
        };
        let folded: Vec<&str> = target.split_whitespace().collect();
        let text = format!("{} {}{cut}", self.verb(), folded.join(" "));
        text.trim_end().to_owned()
    }

    /// What stands behind the label.
    fn suffix(&self) -> Rich {
        let mut rich = Rich::default();
        if self.state != State::Ended(Outcome::Completed) {
            return rich;
        }
        match (self.name.as_str(), line_counts(&self.summary)) {
            ("edit" | "write", Some((added, removed))) => {
                let mut part = |sign: char, count: &str, token| {
                    if count.bytes().any(|digit| digit != b'0') {
                        if !rich.is_empty() {
                            rich.push(" / ", dim());
                        }
                        rich.push(&format!("{sign}{count}"), Style::colored(token));
                    }
                };
                part('+', added, Token::ToolDiffAddedMarker);
                part('-', removed, Token::ToolDiffRemovedMarker);
            }
            // The built-in tools say with their label all that a row needs.
            (name, _) if tools::builtin(name).is_none() => rich.push(&self.summary, muted()),
            _ => {}
        }
        rich
    }

    /// The look of its label.
    fn style(&self) -> Style {
        let behind = match self.state {
            State::Pending | State::Running => Token::ToolPendingBg,
            State::Ended(Outcome::Completed) => Token::ToolSuccessBg,
            State::Ended(_) | State::Unreported => Token::ToolErrorBg,
        };
        Style::colored(Token::ToolTitle).on(behind)
    }

    /// Why it failed, when that is more than that it did.
    fn reason(&self) -> Option<&str> {
        let failed = matches!(self.state, State::Ended(Outcome::Failed | Outcome::Blocked));
        let says = !matches!(self.summary.as_str(), "" | "error");
        (failed && !self.is_command() && says).then_some(self.summary.as_str())
    }
}

impl Group {
    /// Ends what has not ended: the turn is over.
    pub fn settle(&mut self, state: State) {
        for call in self.calls.iter_mut().filter(|call| !call.is_settled()) {
            call.state = state;
            call.output.clear();
        }
    }

    /// Whether all calls have ended.
    pub fn is_settled(&self) -> bool {
        self.calls.iter().all(Call::is_settled)
    }

    /// The rows of the group.
    pub fn rows(&self, view: View, options: &Options, details: &Details) -> Vec<Row> {
        let mut rows = vec![clipped(&self.header(), muted(), view.columns)];
        let hidden = self.hidden(view.depth, options);
        let shown = self
            .calls
            .iter()
            .filter(|call| call.state != State::Pending);
        let mut folded = 0;
        for call in shown {
            if call.state == State::Ended(Outcome::Completed) && folded < hidden {
                folded += 1;
                if folded == 1 {
                    let hint = options.history_hint.replace("{count}", &hidden.to_string());
                    rows.push(rail("├ ", clipped(&hint, muted(), room(view))));
                }
                continue;
            }
            label_rows(call, view, options, &mut rows);
            let is_told =
                |reason: &&str| view.depth.is_reader() && details.begins(call.key, reason);
            if let Some(reason) = call.reason().filter(|reason| !is_told(reason)) {
                rows.push(rail("│ ", clipped(reason, muted(), room(view))));
            }
            match view.depth {
                Depth::Chat if call.state == State::Running => {
                    preview(&call.output, view, options.preview_rows, &mut rows);
                }
                Depth::Chat => {}
                Depth::Review | Depth::Full => detail(call, details, view, &mut rows),
            }
        }
        if !view.depth.is_reader() {
            rows.push(rail("└ ", clipped(&options.view_hint, dim(), room(view))));
        } else if let [_, .., last] = rows.as_mut_slice() {
            if let Some(span) = last.spans.first_mut() {
                span.text = "└ ".to_owned();
            }
        }
        rows
    }

    /// Completed calls that are folded into one row: the oldest ones over the limit.
    fn hidden(&self, depth: Depth, options: &Options) -> usize {
        let completed = State::Ended(Outcome::Completed);
        let completed = self
            .calls
            .iter()
            .filter(|call| call.state == completed)
            .count();
        match depth {
            Depth::Chat => completed.saturating_sub(options.history_limit),
            Depth::Review | Depth::Full => 0,
        }
    }

    fn header(&self) -> String {
        let mut tally: Vec<(&str, usize)> = Vec::new();
        for call in &self.calls {
            let category = call.label.category.as_str();
            match tally.iter_mut().find(|(known, _)| *known == category) {
                Some((_, count)) => *count += 1,
                None => tally.push((category, 1)),
            }
        }
        tally.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let plural = if self.calls.len() == 1 { "" } else { "s" };
        let mut text = format!("● {} tool call{plural}", self.calls.len());
        for (category, count) in tally {
            let plural = if category == "command" && count > 1 {
                "s"
            } else {
                ""
            };
            text.push_str(&format!(" · {count} {category}{plural}"));
        }
        let ends = [
            (State::Unreported, "unreported"),
            (State::Ended(Outcome::TimedOut), "timed out"),
            (State::Ended(Outcome::Failed), "failed"),
            (State::Ended(Outcome::Blocked), "denied"),
            (State::Ended(Outcome::Cancelled), "cancelled"),
        ];
        for (state, word) in ends {
            let count = self.calls.iter().filter(|call| call.state == state).count();
            if count > 0 {
                text.push_str(&format!(" · {count} {word}"));
            }
        }
        text
    }
}

fn label_rows(call: &Call, view: View, options: &Options, rows: &mut Vec<Row>) {
    let room = room(view);
    let text = call.text(view.depth.is_reader());
    let ranges = wrap(&text, room, room);
    let most = if view.depth.is_reader() {
        usize::MAX
    } else {
        options.label_rows.max(1)
    };
    let kept = ranges.len().min(most);
    let mut used = 0;
    for (index, range) in ranges.iter().take(kept).enumerate() {
        let line = match index + 1 == kept && kept < ranges.len() {
            true => clip_columns(&format!("{} …", &text[range.clone()]), room).replace(" …", "…"),
            false => text[range.clone()].to_owned(),
        };
        used = width(&line);
        rows.push(rail(
            if index == 0 { "├ " } else { "│ " },
            Row::of(line, call.style()),
        ));
    }
    let suffix = call.suffix();
    if !suffix.is_empty() {
        let part = suffix.clip(room);
        match rows.last_mut() {
            Some(row) if used + 1 + part.width() <= room => {
                row.push(" ", muted());
                row.spans.extend(part.spans);
            }
            _ => rows.push(rail("│ ", part)),
        }
    }
}

/// The last rows of what a command has said so far.
fn preview(output: &Tail, view: View, most: usize, rows: &mut Vec<Row>) {
    let text = output.text();
    if text.is_empty() || most == 0 {
        return;
    }
    let room = room(view);
    let mut shown = Vec::new();
    let mut hidden = 0;
    for line in text.rsplit('\n') {
        if shown.len() >= most {
            hidden += width(line).div_ceil(room).max(1);
            continue;
        }
        let line = expand_tabs(line);
        let ranges = crate::text::wrap_hard(&line, room, room);
        let cut = ranges.len().saturating_sub(most - shown.len());
        hidden += cut;
        shown.extend(
            ranges[cut..]
                .iter()
                .rev()
                .map(|range| line[range.clone()].to_owned()),
        );
    }
    rows.extend(
        shown
            .into_iter()
            .rev()
            .map(|line| rail("│ ", Row::of(line, dim()))),
    );
    let note = output.note(hidden, "");
    rows.extend(note.map(|note| rail("│ ", clipped(&note, muted(), room))));
}

/// What a call came back with, in the reader.
fn detail(call: &Call, details: &Details, view: View, rows: &mut Vec<Row>) {
    let room = room(view);
    let detail_rail = Style::colored(Token::ToolDetailRail);
    let (text, format) = match (details.get(call.key), call.state) {
        (Some(detail), _) => (&*detail.text, detail.format),
        (None, State::Running) => (call.output.text(), Format::Text),
        (None, State::Ended(_)) => {
            let note = clipped("the result is not kept any more", dim(), room);
            return rows.push(prefixed("│ ", detail_rail, note));
        }
        (None, State::Pending | State::Unreported) => return,
    };
    if text.is_empty() {
        return;
    }
    let lines = match format {
        Format::Text | Format::Markdown => None,
        Format::Diff => Diff::parse(text),
    };
    // The label names the file already.
    let lines = lines.map(|lines| lines.without_name(&call.label.target));
    let most = if view.depth == Depth::Full {
        usize::MAX
    } else {
        REVIEW_ROWS
    };
    let mut shown = Vec::new();
    let mut hidden = 0;
    let mut add = |line: Vec<Row>| {
        let fits = line.len().min(most - shown.len());
        hidden += line.len() - fits;
        shown.extend(line.into_iter().take(fits));
    };
    match lines {
        Some(lines) => lines.rows().for_each(|line| add(diff::wrap(&line, room))),
        None if format == Format::Markdown => {
            let rows = render(text, room, &Definitions::default());
            rows.into_iter().for_each(|row| add(vec![row]));
        }
        None => text.split('\n').for_each(|line| {
            let line = Rich::of(&expand_tabs(line), dim());
            add(line.wrap_hard(room));
        }),
    }
    rows.extend(
        shown
            .into_iter()
            .map(|row| prefixed("│ ", detail_rail.clone(), row)),
    );
    if hidden > 0 {
        let note = format!("{} · → to expand", more_rows(hidden));
        rows.push(prefixed("│ ", detail_rail, clipped(&note, muted(), room)));
    }
}

/// Says that so many rows are not shown.
pub fn more_rows(count: usize) -> String {
    format!("{count} more row{}", if count == 1 { "" } else { "s" })
}

/// Columns behind a rail.
fn room(view: View) -> usize {
    view.columns.saturating_sub(RAIL).max(1)
}

fn rail(mark: &str, row: Row) -> Row {
    prefixed(mark, muted(), row)
}

fn muted() -> Style {
    Style::colored(Token::Muted)
}

/// The counts of `+12 -3`.
fn line_counts(summary: &str) -> Option<(&str, &str)> {
    let (added, removed) = summary.split_once(' ')?;
    let (added, removed) = (added.strip_prefix('+')?, removed.strip_prefix('-')?);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(added) && digits(removed)).then_some((added, removed))
}

/// A command up to the line that opens a heredoc.
fn before_heredoc(command: &str) -> &str {
    let mut end = 0;
    for line in command.split_inclusive('\n') {
        end += line.len();
        let opens = line.match_indices("<<").any(|(at, mark)| {
            let word = line[at + mark.len()..].trim_start_matches(['-', ' ', '"', '\'', '\\']);
            !line[..at].ends_with('<') && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        });
        if opens {
            return command[..end].trim_end();
        }
    }
    command
}

/// A label whose words came from elsewhere, made fit to be shown.
pub(super) fn clean_label(label: tools::Label) -> tools::Label {
    tools::Label {
        category: one_line(&label.category, None),
        running: one_line(&label.running, None),
        completed: one_line(&label.completed, None),
        target: super::clean(&label.target),
    }
}
