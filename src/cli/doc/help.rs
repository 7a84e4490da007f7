//! The help text.

use crate::cli::flags::{COMMANDS, Flag, RUNS};
use crate::extension::manifest::FlagKind;
use crate::extension::{Owned, Registry};

/// Where descriptions begin.
const COLUMN: usize = 28;
/// The widest line.
const WIDTH: usize = 80;

/// What `e --help` prints.
pub fn help(extensions: &Registry) -> String {
    let mut text = String::from("e - a coding agent in one small binary\n\nusage:\n");
    for (form, help) in RUNS {
        row(&mut text, form, help);
    }
    for command in COMMANDS {
        row(&mut text, &command.usage(), command.help);
    }
    text.push_str("\nrun options:\n");
    for (flag, help) in Flag::documented() {
        let value = flag
            .value
            .map_or(String::new(), |value| format!(" <{value}>"));
        row(&mut text, &(flag.spellings().join(", ") + &value), help);
    }
    if !extensions.flags.is_empty() {
        text.push_str("\noptions of extensions:\n");
    }
    for Owned { item: flag, .. } in &extensions.flags {
        let term = match (flag.clean, flag.kind) {
            // What e does not parse is shown as it was declared.
            (false, _) => flag.name.clone(),
            (true, FlagKind::Boolean) => format!("--{}", flag.name),
            (true, FlagKind::Text) => format!("--{} <text>", flag.name),
        };
        row(&mut text, &term, &flag.description);
    }
    text
}

/// Adds a row: the term, then the description, wrapped under itself.
fn row(text: &mut String, term: &str, help: &str) {
    let mut line = format!("  {term}");
    if line.chars().count() + 2 > COLUMN {
        text.push_str(&line);
        text.push('\n');
        line.clear();
    }
    pad(&mut line);
    let mut is_first = true;
    for word in help.split(' ') {
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line.clear();
            pad(&mut line);
        } else if !is_first {
            line.push(' ');
        }
        line.push_str(word);
        is_first = false;
    }
    text.push_str(&line);
    text.push('\n');
}

fn pad(line: &mut String) {
    let width = line.chars().count();
    line.extend(std::iter::repeat_n(' ', COLUMN.saturating_sub(width)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_descriptions_stand_in_one_column() {
        let help = help(&Registry::default());
        let mut lines = help.lines();
        assert!(lines.next().unwrap().starts_with("e - "));
        for line in lines.filter(|line| line.starts_with(' ')) {
            assert!(line.chars().count() <= WIDTH, "{line}");
            let description = line.get(COLUMN..).filter(|_| line.is_ascii());
            assert!(
                !description.is_some_and(|text| text.starts_with(' ')),
                "{line}"
            );
            assert_eq!(line.trim_end(), line);
        }
        assert!(help.contains("e -p [message…]"));
        assert!(help.contains("--effort, --ef <level>"));
        assert!(help.contains("usage:\n") && help.contains("run options:\n"));
    }

    #[test]
    fn long_terms_get_a_line_of_their_own() {
        let mut text = String::new();
        row(&mut text, &"x".repeat(40), &"word ".repeat(20));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].trim(), "x".repeat(40));
        assert!(
            lines[1..]
                .iter()
                .all(|line| line.starts_with(&" ".repeat(COLUMN)))
        );
    }
}
