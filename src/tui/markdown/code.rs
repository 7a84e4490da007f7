//! Code blocks: a rule with the language above, a rule below, the lines tinted between them.

use crate::text::{expand_tabs, wrap_hard};
use crate::tui::highlight::{self, Language, State};
use crate::tui::rich::Rich;
use crate::tui::style::{Row, Style, Token};

/// Widest rule, in columns.
pub(super) const RULE: usize = 60;
/// Below so many columns code stands without rules.
const RULES_FROM: usize = 6;

/// A piece of a code block: whole lines, and what is needed to show them alone.
#[derive(Clone, Debug)]
pub struct Code {
    /// The lines, each with its line break.
    pub lines: Box<str>,
    /// How they are tinted, and what the lines before left open.
    pub tint: Option<(Language, State)>,
    /// Set in the first piece: what the fence says about the language.
    pub opens: Option<Box<str>>,
    /// Set in the last piece.
    pub closes: bool,
}

impl Code {
    pub fn rows(&self, columns: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        let ruled = columns >= RULES_FROM;
        if let Some(label) = self.opens.as_ref().filter(|_| ruled) {
            rows.push(rule(label, columns));
        }
        let mut state = self.tint.map(|(_, state)| state).unwrap_or_default();
        for line in self.lines.split_terminator('\n') {
            state = line_rows(
                line,
                self.tint.map(|tint| tint.0),
                state,
                columns,
                &mut rows,
            );
        }
        if self.closes && ruled {
            rows.push(rule("", columns));
        }
        rows
    }
}

/// What a line leaves open when it begins with `state`.
pub(super) fn state_after(language: Language, state: State, line: &str) -> State {
    highlight::tint(
        language,
        state,
        line,
        &Style::default(),
        &mut Rich::default(),
    )
}

/// The language that a fence names.
pub(super) fn label(info: &str) -> &str {
    info.split([' ', ',', '\t']).next().unwrap_or_default()
}

fn rule(label: &str, columns: usize) -> Row {
    let columns = columns.min(RULE);
    let mut text = String::new();
    if !label.is_empty() {
        text = format!(
            "── {} ",
            crate::text::one_line(label, Some(columns - RULES_FROM + 1))
        );
    }
    let used = crate::text::width(&text);
    text.extend(std::iter::repeat_n('─', columns.saturating_sub(used)));
    Row::of(text, Style::dimmed(Token::MdCodeBlockBorder))
}

fn line_rows(
    line: &str,
    language: Option<Language>,
    state: State,
    columns: usize,
    rows: &mut Vec<Row>,
) -> State {
    let line = expand_tabs(line);
    let base = Style::colored(Token::MdCodeBlock);
    let mut rich = Rich::default();
    let after = match language {
        Some(language) => highlight::tint(language, state, &line, &base, &mut rich),
        None => {
            rich.push(&line, base.clone());
            state
        }
    };
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let indent = if blanks <= columns / 2 { blanks } else { 0 };
    for range in wrap_hard(&line, columns, columns - indent) {
        let mut row = Row::default();
        if range.start > 0 {
            row.push(" ".repeat(indent), base.clone());
        }
        rich.append(range, &mut row);
        rows.push(row);
    }
    after
}
