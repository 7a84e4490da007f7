//! A tint for code: comments, strings, numbers, keywords, names and marks.
//!
//! One lexer reads every language line by line; a language is a row of `languages`. It is a tint,
//! not a grammar: what it does not know stays plain, and nothing it does can lose a character.

mod languages;

use languages::{Delimited, LANGUAGES, Language as Rules};

use super::rich::Rich;
use super::style::{Style, Token};

/// A language that has a tint.
#[derive(Clone, Copy, Debug)]
pub struct Language(&'static Rules);

/// Characters of `\u{10ffff}`.
const LONGEST_ESCAPE: usize = 10;

/// What a line leaves open for the next one: a block comment, a long string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State(u8);

/// The language of a name as code fences spell it: `rust`, `rs`, `{.python}`, `c++ title=x`.
pub fn language(name: &str) -> Option<Language> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '+' | '#' | '-');
    let word = name
        .split(|c: char| !is_part(c))
        .find(|word| !word.is_empty())?
        .to_ascii_lowercase();
    let known = |rules: &&Rules| rules.names.contains(&word.as_str());
    LANGUAGES.iter().find(known).map(Language)
}

/// Adds one line to `out`, without its line break, and returns what it leaves open.
pub fn tint(language: Language, state: State, line: &str, base: &Style, out: &mut Rich) -> State {
    let rules = language.0;
    let mut pen = Pen {
        line,
        plain: 0,
        base,
        out,
    };
    let mut at = 0;
    if let Some(open) = usize::from(state.0).checked_sub(1) {
        let rule = &rules.spans[open];
        match end_of(rule, line) {
            None => {
                pen.color(0, line.len(), rule.token);
                return state;
            }
            Some(end) => {
                pen.color(0, end, rule.token);
                at = end;
            }
        }
    } else if let Some((_, token)) = rules
        .lines
        .iter()
        .find(|(start, _)| line.starts_with(start))
    {
        pen.color(0, line.len(), *token);
        return State::default();
    }
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        let before = line[..at].chars().next_back();
        if rules
            .comments
            .iter()
            .any(|mark| is_comment(mark, rest, before))
        {
            pen.color(at, line.len(), Token::SyntaxComment);
            return State::default();
        }
        let span = rules
            .spans
            .iter()
            .position(|rule| rest.starts_with(rule.open));
        if let Some(index) = span {
            let rule = &rules.spans[index];
            match end_of(rule, &rest[rule.open.len()..]) {
                Some(end) => {
                    let end = at + rule.open.len() + end;
                    pen.color(at, end, rule.token);
                    at = end;
                }
                None if rule.lasts => {
                    pen.color(at, line.len(), rule.token);
                    return State(index as u8 + 1);
                }
                None if rule.single => at += rule.open.len(),
                // Text with an apostrophe, most likely; and trying again would cost too much.
                None => break,
            }
        } else if c.is_ascii_digit() {
            let end = at + number_length(rest);
            pen.color(at, end, Token::SyntaxNumber);
            at = end;
        } else if is_name(c) {
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let word = &rest[..length];
            let after = rest[length..].trim_start_matches('!');
            let token = if rules.is_keyword(word) {
                Token::SyntaxKeyword
            } else if after.starts_with('(') {
                Token::SyntaxFunction
            } else if is_type(word) {
                Token::SyntaxType
            } else {
                Token::SyntaxVariable
            };
            pen.color(at, at + length, token);
            at += length;
        } else {
            if let Some(token) = mark(c) {
                pen.color(at, at + 1, token);
            }
            at += c.len_utf8();
        }
    }
    pen.color(line.len(), line.len(), Token::Text);
    State::default()
}

/// Writes the line from the left: coloured parts, and the plain ones between them.
struct Pen<'a> {
    line: &'a str,
    plain: usize,
    base: &'a Style,
    out: &'a mut Rich,
}

impl Pen<'_> {
    fn color(&mut self, start: usize, end: usize, token: Token) {
        self.out
            .push(&self.line[self.plain..start], self.base.clone());
        let mut style = self.base.clone();
        style.color = Some(token);
        self.out.push(&self.line[start..end], style);
        self.plain = end;
    }
}

fn mark(c: char) -> Option<Token> {
    match c {
        '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | ':' | '.' => Some(Token::SyntaxPunctuation),
        c if c.is_ascii_punctuation() => Some(Token::SyntaxOperator),
        _ => None,
    }
}

/// `Vec` and `T`, but not `MAX_LEN`.
fn is_type(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && (word.len() == 1 || letters.any(char::is_lowercase))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `#` begins a comment only where a word could begin: not in `$#` or `a#b`.
fn is_comment(mark: &str, rest: &str, before: Option<char>) -> bool {
    let at_word = before.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '(' | ')'));
    rest.starts_with(mark) && (mark != "#" || at_word)
}

/// Where a span ends in the text after its opening, the closing included.
fn end_of(rule: &Delimited, text: &str) -> Option<usize> {
    let mut escaped = false;
    for (count, (at, c)) in text.char_indices().enumerate() {
        let most = if text.starts_with('\\') {
            LONGEST_ESCAPE
        } else {
            1
        };
        if rule.single && count > most {
            return None;
        }
        if escaped {
            escaped = false;
        } else if rule.escapes && c == '\\' {
            escaped = true;
        } else if text[at..].starts_with(rule.close) && !(rule.single && count == 0) {
            return Some(at + rule.close.len());
        }
    }
    None
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let in_number = |at: usize| match bytes[at] {
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        byte => byte.is_ascii_alphanumeric() || byte == b'_',
    };
    (0..bytes.len())
        .find(|at| !in_number(*at))
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::random;

    /// Parts of the lines that have a colour, as `letter:text`.
    fn tinted(name: &str, text: &str) -> Vec<String> {
        let language = language(name).expect("a language");
        let mut state = State::default();
        let mut found = Vec::new();
        for line in text.split('\n') {
            let mut rich = Rich::default();
            state = tint(language, state, line, &Style::default(), &mut rich);
            assert_eq!(rich.text(), line);
            for span in rich.clip(1000).spans {
                let letter = match span.style.color {
                    None
                    | Some(
                        Token::SyntaxVariable
                        | Token::SyntaxType
                        | Token::SyntaxOperator
                        | Token::SyntaxPunctuation,
                    ) => continue,
                    Some(Token::SyntaxComment) => 'c',
                    Some(Token::SyntaxString) => 's',
                    Some(Token::SyntaxNumber) => 'n',
                    Some(Token::SyntaxKeyword) => 'k',
                    Some(Token::SyntaxFunction) => 'f',
                    Some(_) => '?',
                };
                found.push(format!("{letter}:{}", span.text));
            }
        }
        found
    }

    #[test]
    fn languages_have_their_tint() {
        let cases: &[(&str, &str, &[&str])] = &[
            (
                "rust",
                "fn a<'x>(b: u8) { c('\\'', 'y', \"z\\\"\", 0x1f..2.5) } // d",
                &[
                    "k:fn",
                    "f:c",
                    "s:'\\''",
                    "s:'y'",
                    "s:\"z\\\"\"",
                    "n:0x1f",
                    "n:2.5",
                    "c:// d",
                ],
            ),
            ("rs", "a /* b\nc */ let", &["c:/* b", "c:c */", "k:let"]),
            (
                "python",
                "x = '''a\nb''' # c",
                &["s:'''a", "s:b'''", "c:# c"],
            ),
            (
                "ts",
                "const s = `a\n${b}`; f(1)",
                &["k:const", "s:`a", "s:${b}`", "f:f", "n:1"],
            ),
            (
                "sh",
                "if [ $# -gt 1 ]; then # x",
                &["k:if", "n:1", "k:then", "c:# x"],
            ),
            ("json", "{\"a\": [1, true]}", &["s:\"a\"", "n:1", "k:true"]),
            (
                "sql",
                "SELECT 'a''b' -- c",
                &["k:SELECT", "s:'a''b'", "c:-- c"],
            ),
            (
                "html",
                "<!-- a\nb --><p class=\"c\">",
                &["c:<!-- a", "c:b -->", "s:\"c\""],
            ),
            ("diff", "+a\n-b\n c", &["?:+a", "?:-b"]),
            (
                "c++",
                "int main() { return 0; }",
                &["k:int", "f:main", "k:return", "n:0"],
            ),
            ("go", "func f() { r := `x`", &["k:func", "f:f", "s:`x`"]),
            ("toml", "a = \"b\" # c", &["s:\"b\"", "c:# c"]),
        ];
        for (name, text, expected) in cases {
            assert_eq!(tinted(name, text), *expected, "{name}");
        }
        assert!(language("").is_none() && language("klingon").is_none());
        assert!(language("{.python .x}").is_some() && language("C++ a=b").is_some());
    }

    #[test]
    fn names_and_marks_have_theirs() {
        let mut rich = Rich::default();
        let rust = language("rust").expect("rust");
        let line = "let x: Vec<T> = MAX_LEN + y;";
        tint(rust, State::default(), line, &Style::default(), &mut rich);
        let expected = "⟨syntaxKeyword|let⟩ ⟨syntaxVariable|x⟩⟨syntaxPunctuation|:⟩ \
                        ⟨syntaxType|Vec⟩⟨syntaxOperator|<⟩⟨syntaxType|T⟩⟨syntaxOperator|>⟩ \
                        ⟨syntaxOperator|=⟩ ⟨syntaxVariable|MAX_LEN⟩ ⟨syntaxOperator|+⟩ \
                        ⟨syntaxVariable|y⟩⟨syntaxPunctuation|;⟩";
        assert_eq!(crate::tui::testing::styled(&[rich.clip(99)]), [expected]);
    }

    #[test]
    fn no_input_loses_a_character() {
        let alphabet: Vec<char> = "\"'`/*#-<!>\\ab1é日 (".chars().collect();
        let mut random = random(5);
        for rules in LANGUAGES {
            let mut state = State::default();
            for _ in 0..200 {
                let line: String = (0..20).map(|_| alphabet[random(alphabet.len())]).collect();
                let mut rich = Rich::default();
                state = tint(Language(rules), state, &line, &Style::default(), &mut rich);
                assert_eq!(rich.text(), line, "{:?}", rules.names);
            }
        }
    }

    #[test]
    fn long_lines_take_linear_time() {
        let begun = std::time::Instant::now();
        for unit in ["'", "\"", "/*", "a(", "'a"] {
            let line = unit.repeat(50_000);
            let rust = language("rust").expect("rust");
            tint(
                rust,
                State::default(),
                &line,
                &Style::default(),
                &mut Rich::default(),
            );
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    }
}
