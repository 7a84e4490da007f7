//! The options of extensions on e's command line.
//!
//! Tokens are looked at one by one, before e reads its own options: a token that a typed flag
//! matches is taken out, wherever it stands before `--`, and so is the text that follows a string
//! flag. Also the token behind one of e's options that takes a value is looked at, so
//! `-m --plan` passes the flag; write `--model=--plan` to mean the other. What is not UTF-8 is
//! nobody's flag and stays.

use std::ffi::OsString;

use serde_json::{Map, Value};

use super::manifest::{Flag, FlagKind};

/// What was passed for a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// Of a boolean flag.
    Bool(bool),
    /// Of a string flag; none when it stood there without a value.
    Text(Option<String>),
}

/// A command line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The flags that were passed, each once with the value of its last occurrence.
    pub values: Vec<(String, FlagValue)>,
    /// What is left for e.
    pub rest: Vec<OsString>,
}

impl Parsed {
    /// The passed flags as extensions are told.
    pub fn to_json(&self) -> Value {
        let value = |value: &FlagValue| match value {
            FlagValue::Bool(set) => Value::from(*set),
            FlagValue::Text(text) => Value::from(text.as_deref()),
        };
        let flags = self.values.iter();
        Value::Object(
            flags
                .map(|(name, found)| (name.clone(), value(found)))
                .collect::<Map<_, _>>(),
        )
    }
}

/// Takes the typed flags out of `argv`, which does not hold the program's name. Names are unique
/// in `flags`. `options` are the long names of e's own options: `--no-tools` stays e's, though a
/// flag is named `tools`.
pub fn parse<'a>(
    argv: &[OsString],
    flags: impl Iterator<Item = &'a Flag> + Clone,
    options: &[&str],
) -> Parsed {
    let mut parsed = Parsed::default();
    let mut tokens = argv.iter().peekable();
    while let Some(token) = tokens.next() {
        let text = token.to_str();
        if text == Some("--") {
            parsed.rest.push(token.clone());
            parsed.rest.extend(tokens.cloned());
            break;
        }
        let found = text.and_then(|text| lookup(text, flags.clone(), options));
        let Some((name, value)) = found else {
            parsed.rest.push(token.clone());
            continue;
        };
        let value = match value {
            FlagValue::Text(None) => {
                let next =
                    tokens.next_if(|next| next.to_str().is_some_and(|text| !text.starts_with('-')));
                FlagValue::Text(next.and_then(|next| next.to_str()).map(String::from))
            }
            value => value,
        };
        match parsed.values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, last)) => *last = value,
            None => parsed.values.push((name, value)),
        }
    }
    parsed
}

/// The flag that a token spells, with what the token itself says about its value.
fn lookup<'a>(
    token: &str,
    flags: impl Iterator<Item = &'a Flag> + Clone,
    options: &[&str],
) -> Option<(String, FlagValue)> {
    let body = token.strip_prefix("--")?;
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let declared = |name: &str| flags.clone().find(|flag| flag.clean && flag.name == name);
    if let Some(flag) = declared(name) {
        let value = match flag.kind {
            FlagKind::Boolean => FlagValue::Bool(value.is_none_or(is_true)),
            FlagKind::Text => FlagValue::Text(value.map(String::from)),
        };
        return Some((flag.name.clone(), value));
    }
    // A declared name, and one of e's own, wins over a negation.
    let negated = declared(name.strip_prefix("no-")?)?;
    let negates = negated.kind == FlagKind::Boolean && value.is_none() && !options.contains(&name);
    negates.then(|| (negated.name.clone(), FlagValue::Bool(false)))
}

fn is_true(value: &str) -> bool {
    ["1", "true", "yes", "on"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::manifest;
    use crate::text::testing::random;
    use serde_json::json;
    use std::os::unix::ffi::OsStringExt;

    fn flags(declared: Value) -> Vec<Flag> {
        manifest::parse(&json!({"name": "x", "flags": declared}))
            .unwrap()
            .0
            .flags
    }

    fn declared() -> Vec<Flag> {
        flags(json!([
            {"name": "project", "type": "string"},
            {"name": "plan"},
            {"name": "planet"},
            {"name": "sandbox"},
            {"name": "no-sandbox"},
            {"name": "tools"},
            {"name": "-x, --example"},
        ]))
    }

    fn os(tokens: &[&str]) -> Vec<OsString> {
        tokens.iter().map(OsString::from).collect()
    }

    #[test]
    fn every_spelling() {
        let cases: &[(&[&str], Value, &[&str])] = &[
            (&[], json!({}), &[]),
            (&["--plan"], json!({"plan": true}), &[]),
            (&["--plan=true"], json!({"plan": true}), &[]),
            (&["--plan=YES"], json!({"plan": true}), &[]),
            (&["--plan=1"], json!({"plan": true}), &[]),
            (&["--plan=On"], json!({"plan": true}), &[]),
            (&["--plan=false"], json!({"plan": false}), &[]),
            (&["--plan="], json!({"plan": false}), &[]),
            (&["--plan=maybe"], json!({"plan": false}), &[]),
            (&["--no-plan"], json!({"plan": false}), &[]),
            (&["--no-plan=true"], json!({}), &["--no-plan=true"]),
            (&["--plan", "true"], json!({"plan": true}), &["true"]),
            (&["--planet"], json!({"planet": true}), &[]),
            (&["--plane"], json!({}), &["--plane"]),
            (&["--PLAN"], json!({}), &["--PLAN"]),
            (&["-plan", "plan"], json!({}), &["-plan", "plan"]),
            (&["--plan", "--no-plan"], json!({"plan": false}), &[]),
            (&["--plan=0", "--plan"], json!({"plan": true}), &[]),
            (&["--project=../app"], json!({"project": "../app"}), &[]),
            (
                &["--project", "../app", "x"],
                json!({"project": "../app"}),
                &["x"],
            ),
            (&["--project=a=b"], json!({"project": "a=b"}), &[]),
            (&["--project="], json!({"project": ""}), &[]),
            (&["--project", ""], json!({"project": ""}), &[]),
            (&["--project=-x"], json!({"project": "-x"}), &[]),
            (&["--project", "ü 日"], json!({"project": "ü 日"}), &[]),
            (&["--project"], json!({"project": null}), &[]),
            (&["--project", "-"], json!({"project": null}), &["-"]),
            (
                &["--project", "-m", "x"],
                json!({"project": null}),
                &["-m", "x"],
            ),
            (
                &["--project", "--plan"],
                json!({"project": null, "plan": true}),
                &[],
            ),
            (
                &["--project", "--", "a"],
                json!({"project": null}),
                &["--", "a"],
            ),
            (
                &["--project=a", "--project", "b"],
                json!({"project": "b"}),
                &[],
            ),
            (&["--project=a", "--project"], json!({"project": null}), &[]),
            (&["--no-project"], json!({}), &["--no-project"]),
            (&["--no-sandbox"], json!({"no-sandbox": true}), &[]),
            (&["--no-no-sandbox"], json!({"no-sandbox": false}), &[]),
            (
                &["--tools", "--no-tools"],
                json!({"tools": true}),
                &["--no-tools"],
            ),
            (&["--", "--plan", "--"], json!({}), &["--", "--plan", "--"]),
            (&["-m", "--plan", "x"], json!({"plan": true}), &["-m", "x"]),
            (&["--example", "-x"], json!({}), &["--example", "-x"]),
            (&["--", "--no-plan"], json!({}), &["--", "--no-plan"]),
            (
                &["---plan", "--=", "--no-"],
                json!({}),
                &["---plan", "--=", "--no-"],
            ),
        ];
        let flags = declared();
        for (argv, values, rest) in cases {
            let parsed = parse(&os(argv), flags.iter(), &["no-tools"]);
            assert_eq!(parsed.to_json(), *values, "{argv:?}");
            assert_eq!(parsed.rest, os(rest), "{argv:?}");
        }
    }

    #[test]
    fn what_is_not_utf8_stays() {
        let odd = OsString::from_vec(b"--project=\xff".to_vec());
        let value = OsString::from_vec(b"\xff".to_vec());
        let argv = [odd.clone(), "--project".into(), value.clone()];
        let parsed = parse(&argv, declared().iter(), &[]);
        assert_eq!(
            parsed.values,
            [("project".to_owned(), FlagValue::Text(None))]
        );
        assert_eq!(parsed.rest, [odd, value]);
    }

    #[test]
    fn nothing_is_lost_on_random_lines() {
        let words = [
            "--plan",
            "--no-plan",
            "--project",
            "--project=x",
            "--plan=no",
            "--",
            "-m",
            "",
            "a",
            "--other",
            "=",
            "--no-",
        ];
        let flags = declared();
        let mut random = random(3);
        for _ in 0..2000 {
            let argv: Vec<OsString> = (0..random(8))
                .map(|_| words[random(words.len())].into())
                .collect();
            assert_eq!(parse(&argv, [].iter(), &[]).rest, argv);
            let parsed = parse(&argv, flags.iter(), &[]);
            // What is left is the line without some tokens, in order.
            let mut all = argv.iter();
            assert!(
                parsed
                    .rest
                    .iter()
                    .all(|token| all.any(|other| other == token)),
                "{argv:?}"
            );
            assert_eq!(
                parse(&parsed.rest, flags.iter(), &[]).rest,
                parsed.rest,
                "{argv:?}"
            );
        }
    }
}
