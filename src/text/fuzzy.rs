//! Finding entries of a list by a few letters of them.
//!
//! A query matches where its characters occur in order, in any case. A match costs the less the
//! earlier it begins and the tighter it is; lists are shown by falling rank, ties in their own order.

/// A text that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// What it costs: lower is better.
    pub score: u32,
    /// Byte offsets of the characters that matched, in order.
    pub positions: Vec<usize>,
}

/// Where `query` occurs in `text`. An empty query matches everything. White space in the query
/// is left out.
pub fn fuzzy(query: &str, text: &str) -> Option<Match> {
    let wanted: Vec<char> = folded(query).collect();
    let ascii = text.is_ascii();
    if ascii && !may_match(&wanted, text.as_bytes()) {
        return None;
    }
    let mut best: Option<Match> = None;
    let first = match wanted.first() {
        None => {
            return Some(Match {
                score: 0,
                positions: Vec::new(),
            });
        }
        Some(first) => *first,
    };
    for (start, c) in text.char_indices() {
        if fold(c) != first {
            continue;
        }
        let Some(positions) = from(&wanted, text, start) else {
            break;
        };
        let score = score(text, &positions);
        if best.as_ref().is_none_or(|best| score < best.score) {
            best = Some(Match { score, positions });
        }
        if best.is_some() && start > MAX_START {
            break;
        }
    }
    best
}

/// Beginnings after this byte are not tried once there is a match: a bound on the work.
const MAX_START: usize = 512;

/// A list that is filtered while a query is typed: a longer query looks only at what the shorter
/// one left.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    query: String,
    /// What is left, best first.
    hits: Vec<(usize, u32)>,
    filled: bool,
}

impl Filter {
    /// Applies a query to `count` entries, which must be the same as before unless
    /// [`Filter::forget`] was called. `score` tells what a match costs; what does not match a query
    /// must not match a longer one.
    pub fn apply(&mut self, query: &str, count: usize, score: impl Fn(usize) -> Option<u32>) {
        let narrower = self.filled && query.starts_with(&self.query);
        if narrower && query.len() == self.query.len() {
            return;
        }
        let rank = |index: usize| score(index).map(|score| (index, score));
        self.hits = match narrower {
            true => {
                let left = self.hits.iter();
                left.filter_map(|(index, _)| rank(*index)).collect()
            }
            false => (0..count).filter_map(rank).collect(),
        };
        self.hits
            .sort_unstable_by_key(|(index, score)| (*score, *index));
        self.query = query.to_owned();
        self.filled = true;
    }

    /// The texts changed.
    pub fn forget(&mut self) {
        self.filled = false;
    }

    /// The indices of what matches, best first.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.hits.iter().map(|(index, _)| *index)
    }
}

fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| !c.is_whitespace()).map(fold)
}

fn fold(c: char) -> char {
    match c.is_ascii() {
        true => c.to_ascii_lowercase(),
        false => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Whether the characters occur in order: one pass, without keeping anything.
fn may_match(wanted: &[char], text: &[u8]) -> bool {
    let mut bytes = text
        .iter()
        .map(|byte| char::from(byte.to_ascii_lowercase()));
    wanted.iter().all(|wanted| bytes.any(|c| c == *wanted))
}

/// The match that begins at `start` and takes each next character as early as it can.
fn from(wanted: &[char], text: &str, start: usize) -> Option<Vec<usize>> {
    let mut positions = Vec::with_capacity(wanted.len());
    let mut chars = text[start..].char_indices();
    for wanted in wanted {
        let (at, _) = chars.find(|(_, c)| fold(*c) == *wanted)?;
        positions.push(start + at);
    }
    Some(positions)
}

fn score(text: &str, positions: &[usize]) -> u32 {
    let begins_word = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric())
    };
    let first = positions.first().copied().unwrap_or(0);
    let last = positions.last().copied().unwrap_or(0);
    let gaps = (last - first + 1).saturating_sub(positions.len());
    let breaks = positions
        .windows(2)
        .filter(|pair| pair[1] > pair[0] + 1 && !begins_word(pair[1]))
        .count();
    let start = if begins_word(first) { 0 } else { 8 };
    (gaps * 4 + breaks * 8 + first.min(64) + start).min(u32::MAX as usize) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(query: &str, text: &str) -> Option<u32> {
        fuzzy(query, text).map(|found| found.score)
    }

    #[test]
    fn early_and_tight_hits_come_first() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            (
                "mod",
                &["model", "src/mod.rs", "my_odd", "xyz"],
                &["model", "src/mod.rs", "my_odd"],
            ),
            ("VW", &["view.rs", "v/w", "w/v"], &["v/w", "view.rs"]),
            ("", &["b", "a"], &["b", "a"]),
            ("é", &["cafe", "café", "É"], &["É", "café"]),
            ("a b", &["ab", "a-b"], &["ab", "a-b"]),
        ];
        for (query, texts, expected) in cases {
            let mut filter = Filter::default();
            filter.apply(query, texts.len(), |n| cost(query, texts[n]));
            let found: Vec<&str> = filter.hits().map(|index| texts[index]).collect();
            assert_eq!(found, *expected, "{query}");
        }
    }

    #[test]
    fn positions_tell_what_matched() {
        let found = fuzzy("mrs", "src/mod.rs").expect("a match");
        assert_eq!(found.positions, [4, 8, 9]);
        let found = fuzzy("語x", "日本語 x").expect("a match");
        assert_eq!(found.positions, [6, 10]);
        assert!(fuzzy("ba", "ab").is_none());
    }

    #[test]
    fn narrowing_gives_what_a_fresh_filter_gives() {
        let texts: Vec<String> = (0..5000u64)
            .map(|n| format!("src/{:x}/{:x}.rs", n * 7919 % 4093, n * 104_729 % 8191))
            .collect();
        let mut typed = Filter::default();
        for query in ["", "s", "sa", "sa1", "sa1r", "sa", "b"] {
            typed.apply(query, texts.len(), |n| cost(query, &texts[n]));
            let mut fresh = Filter::default();
            fresh.apply(query, texts.len(), |n| cost(query, &texts[n]));
            assert_eq!(typed.hits, fresh.hits, "{query}");
        }
    }

    #[test]
    fn hostile_texts_are_bounded() {
        let text = "a".repeat(100_000);
        assert!(fuzzy(&"a".repeat(60), &text).is_some());
        assert!(fuzzy(&"a".repeat(200_000), &text).is_none());
    }
}
