//! Names that were probably meant.

/// The first candidate within one edit of `word`: a character more, less or different, or two
/// neighbours swapped. The word itself is no candidate.
pub fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().collect();
    candidates.into_iter().find(|candidate| {
        let candidate: Vec<char> = candidate.chars().collect();
        word != candidate && within_one_edit(&word, &candidate)
    })
}

fn within_one_edit(a: &[char], b: &[char]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let same = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    let (short, long) = (&short[same..], &long[same..]);
    match long.len() - short.len() {
        0 => match (short, long) {
            ([], []) => true,
            ([a, b, rest @ ..], [c, d, other @ ..]) if (a, b) == (d, c) && rest == other => true,
            (short, long) => short[1..] == long[1..],
        },
        1 => *short == long[1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_and_no_more() {
        let names = ["trust", "docs", "é"];
        for (word, expected) in [
            ("trsut", Some("trust")),
            ("trus", Some("trust")),
            ("ttrust", Some("trust")),
            ("trusx", Some("trust")),
            ("Trust", Some("trust")),
            ("doc", Some("docs")),
            ("è", Some("é")),
            ("", Some("é")),
            ("tsurt", None),
            ("tru", None),
            ("trust", None),
        ] {
            assert_eq!(near(word, names), expected, "{word}");
        }
    }
}
