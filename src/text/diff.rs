//! Diff rows as the viewer shows them: a path row, then numbered rows with three rows of context.
//!
//! What both texts share at the two ends is set aside before anything is compared, so an edit of
//! one line costs the same in a file of any size; the comparison itself has a deadline, after
//! which the rest counts as replaced.

use std::fmt::Write as _;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// Unchanged rows around a change.
const CONTEXT: usize = 3;

/// Longest time for one comparison.
const DEADLINE: Duration = Duration::from_millis(200);

/// The rows of what changed from `old` to `new` under a row with `path`. Lines end at `\n` and
/// are numbered as `read` numbers them. The last row has no line break.
pub fn diff_rows(path: &str, old: &str, new: &str) -> String {
    let (start, old_end, new_end) = changed_part(old.as_bytes(), new.as_bytes());
    let skipped = old.as_bytes()[..start]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count();
    let old_lines: Vec<&str> = old[start..old_end].split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new[start..new_end].split_inclusive('\n').collect();
    let diff = TextDiff::configure()
        .timeout(DEADLINE)
        .diff_slices(&old_lines, &new_lines);

    let mut rows = path.to_owned();
    for (index, hunk) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            rows.push_str("\n      ⋯");
        }
        for change in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, line) = match change.tag() {
                ChangeTag::Equal => (' ', change.new_index()),
                ChangeTag::Delete => ('-', change.old_index()),
                ChangeTag::Insert => ('+', change.new_index()),
            };
            let number = skipped + line.unwrap_or(0) + 1;
            let text = change.value().trim_end_matches('\n');
            let text = text.strip_suffix('\r').unwrap_or(text);
            // Writing to a string does not fail.
            let _ = write!(rows, "\n{number:>5} {sign} {text}");
        }
    }
    rows
}

/// Where the part that differs starts in both texts and ends in each, widened to whole lines
/// and by the context rows.
fn changed_part(old: &[u8], new: &[u8]) -> (usize, usize, usize) {
    let shared = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let start = line_starts_before(&old[..shared], CONTEXT + 1);
    let shared_end = old[shared..]
        .iter()
        .rev()
        .zip(new[shared..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let tail = &old[old.len() - shared_end..];
    let kept = tail
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(CONTEXT)
        .map_or(shared_end, |(at, _)| at + 1);
    let after = shared_end - kept;
    (start, old.len() - after, new.len() - after)
}

/// The start of the line that is `lines - 1` lines above the end of `text`.
fn line_starts_before(text: &[u8], lines: usize) -> usize {
    text.iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(lines - 1)
        .map_or(0, |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::random;

    fn numbered(count: usize) -> String {
        (1..=count)
            .map(|number| format!("line {number}\n"))
            .collect()
    }

    #[test]
    fn rows_carry_real_line_numbers() {
        let old = numbered(20);
        let new = old.replace("line 12\n", "new 12\nnew 13\n");
        let expected = "f.txt
    9   line 9
   10   line 10
   11   line 11
   12 - line 12
   12 + new 12
   13 + new 13
   14   line 13
   15   line 14
   16   line 15";
        assert_eq!(diff_rows("f.txt", &old, &new), expected);
    }

    #[test]
    fn far_changes_make_two_hunks() {
        let old = numbered(30);
        let new = old.replace("line 2\n", "").replace("line 29\n", "x\r\n");
        let rows = diff_rows("f", &old, &new);
        assert_eq!(rows.matches("\n      ⋯").count(), 1, "{rows}");
        assert!(
            rows.contains("\n    2 - line 2\n") && rows.ends_with("\n   29   line 30"),
            "{rows}"
        );
        assert!(rows.contains("\n   28 + x\n"), "{rows}");
    }

    #[test]
    fn edges() {
        assert_eq!(diff_rows("f", "", ""), "f");
        assert_eq!(diff_rows("f", "a\n", "a\n"), "f");
        assert_eq!(diff_rows("f", "", "a\rb"), "f\n    1 + a\rb");
        assert_eq!(diff_rows("f", "a\nb", ""), "f\n    1 - a\n    2 - b");
        assert_eq!(diff_rows("f", "é", "è"), "f\n    1 - é\n    1 + è");
        assert_eq!(
            diff_rows("f", "a\na\n", "a\na\na\n").matches('+').count(),
            1
        );
    }

    #[test]
    fn rows_rebuild_the_new_text() {
        let mut random = random(11);
        for _ in 0..300 {
            let old: Vec<&str> = (0..random(12))
                .map(|_| ["a\n", "b\n", "é\n"][random(3)])
                .collect();
            let mut new = old.clone();
            for _ in 0..random(4) {
                let at = random(new.len() + 1);
                new.insert(at, ["x\n", "a\n"][random(2)]);
            }
            let rows = diff_rows("f", &old.concat(), &new.concat());
            for row in rows.lines().skip(1).filter(|row| !row.ends_with('⋯')) {
                let number: usize = row[..5].trim().parse().unwrap();
                let text = format!("{}\n", &row[8..]);
                let side = if row.as_bytes()[6] == b'-' {
                    &old
                } else {
                    &new
                };
                assert_eq!(side[number - 1], text, "{rows}");
            }
        }
    }

    #[test]
    fn huge_different_texts_end_in_time() {
        let old: String = (0..60_000)
            .map(|n: u64| format!("{}\n", n * 7919 % 60_001))
            .collect();
        let new: String = (0..60_000)
            .map(|n: u64| format!("{}\n", n * 104_729 % 60_001))
            .collect();
        let begun = std::time::Instant::now();
        assert!(diff_rows("f", &old, &new).len() > old.len());
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
