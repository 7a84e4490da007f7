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

/// What a person types to find something.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<char>);

/// Beginnings that are tried in one text: a bound on the work.
const MAX_STARTS: usize = 16;

impl Query {
    /// White space in it is left out.
    pub fn new(text: &str) -> Self {
        let solid = text.chars().filter(|c| !c.is_whitespace());
        Self(solid.map(fold).collect())
    }

    /// What the best match in `text` costs. A query without characters matches everything.
    pub fn score(&self, text: &str) -> Option<u32> {
        self.best(&Hay::new(text)).map(|(score, _)| score)
    }

    /// The best match with its positions.
    pub fn find(&self, text: &str) -> Option<Match> {
        let hay = Hay::new(text);
        let (score, start) = self.best(&hay)?;
        let mut positions = Vec::with_capacity(self.0.len());
        self.walk(&hay, start, |at, _| positions.push(at));
        Some(Match { score, positions })
    }

    fn best(&self, hay: &Hay<'_>) -> Option<(u32, usize)> {
        let Some(first) = self.0.first() else {
            return Some((0, 0));
        };
        let mut best: Option<(u32, usize)> = None;
        let mut from = 0;
        for _ in 0..MAX_STARTS {
            let Some((start, end)) = hay.next(*first, from) else {
                break;
            };
            // No match costs less than its beginning.
            if best.is_some_and(|(least, _)| least as usize <= start.min(MAX_EARLY)) {
                break;
            }
            // Where nothing is found from here on, nothing is found further on.
            let Some(score) = self.score_from(hay, start) else {
                break;
            };
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, start));
            }
            from = end;
        }
        best
    }

    /// What the match costs that begins at `start` and takes each next character where it can first.
    fn score_from(&self, hay: &Hay<'_>, start: usize) -> Option<u32> {
        let inside = |at| if hay.begins_word(at) { 0 } else { INSIDE };
        let mut cost = start.min(MAX_EARLY) + inside(start);
        let mut before = start;
        let complete = self.walk(hay, start, |at, end| {
            if at > before {
                cost += (at - before) * GAP + inside(at);
            }
            before = end;
        });
        complete.then(|| u32::try_from(cost).unwrap_or(u32::MAX))
    }

    /// Calls `hit` with where each character was found, and tells whether all were.
    fn walk(&self, hay: &Hay<'_>, start: usize, mut hit: impl FnMut(usize, usize)) -> bool {
        let mut from = start;
        self.0.iter().all(|wanted| {
            let found = hay.next(*wanted, from);
            found.is_some_and(|(at, end)| {
                hit(at, end);
                from = end;
                true
            })
        })
    }
}

/// A text that is searched.
struct Hay<'a> {
    text: &'a str,
    ascii: bool,
}

impl<'a> Hay<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            ascii: text.is_ascii(),
        }
    }

    /// Where a folded character occurs at `from` or later: its start and its end.
    fn next(&self, wanted: char, from: usize) -> Option<(usize, usize)> {
        if self.ascii {
            let lower = u8::try_from(wanted).ok()?;
            let upper = lower.to_ascii_uppercase();
            let at = from + memchr::memchr2(lower, upper, &self.text.as_bytes()[from..])?;
            return Some((at, at + 1));
        }
        let mut chars = self.text[from..].char_indices();
        let (at, c) = chars.find(|(_, c)| fold(*c) == wanted)?;
        Some((from + at, from + at + c.len_utf8()))
    }

    fn begins_word(&self, at: usize) -> bool {
        match self.ascii {
            true => at == 0 || !self.text.as_bytes()[at - 1].is_ascii_alphanumeric(),
            false => !self.text[..at].ends_with(char::is_alphanumeric),
        }
    }
}

/// Bytes from which on a beginning is late, whatever follows.
const MAX_EARLY: usize = 64;
/// What a byte between two hits costs.
const GAP: usize = 4;
/// What it costs to begin, or to go on, inside a word.
const INSIDE: usize = 8;

/// A list that is filtered while a query is typed: a longer query looks only at what the shorter
/// one left.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    query: String,
    /// What is left, best first.
    hits: Vec<(u32, usize)>,
    filled: bool,
}

impl Filter {
    /// Applies a query to `count` entries, which must be the same as before. `score` tells what a
    /// match costs; what does not match a query must not match a longer one.
    pub fn apply(&mut self, query: &str, count: usize, score: impl Fn(usize) -> Option<u32>) {
        let narrower = self.filled && query.starts_with(&self.query);
        if narrower && query.len() == self.query.len() {
            return;
        }
        let rank = |index: usize| score(index).map(|score| (score, index));
        self.hits = match narrower {
            true => {
                let left = self.hits.iter();
                left.filter_map(|(_, index)| rank(*index)).collect()
            }
            false => (0..count).filter_map(rank).collect(),
        };
        self.hits.sort_unstable();
        self.query = query.to_owned();
        self.filled = true;
    }

    /// The indices of what matches, best first.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.hits.iter().map(|(_, index)| *index)
    }
}

fn fold(c: char) -> char {
    match c.is_ascii() {
        true => c.to_ascii_lowercase(),
        false => c.to_lowercase().next().unwrap_or(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(query: &str, text: &str) -> Option<u32> {
        Query::new(query).score(text)
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
        let found = Query::new("mrs").find("src/mod.rs").expect("a match");
        assert_eq!(found.positions, [4, 8, 9]);
        let found = Query::new("語x").find("日本語 x").expect("a match");
        assert_eq!(found.positions, [6, 10]);
        assert!(Query::new("ba").find("ab").is_none());
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
        assert!(cost(&"a".repeat(60), &text).is_some());
        assert!(cost(&"a".repeat(200_000), &text).is_none());
    }
}
