//! The lines between `---` at the top of a Markdown file: keys with texts, and no more of YAML.

use std::collections::HashMap;

/// The keys and their values, each of one line, and the text behind them.
pub fn parse(text: &str) -> (HashMap<String, String>, String) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n");
    let Some((front, body)) = split(&text) else {
        return (HashMap::new(), text);
    };
    let mut keys: HashMap<String, String> = HashMap::new();
    let mut open: Option<String> = None;
    for line in front.lines() {
        let is_continued = line.starts_with([' ', '\t']) || line.trim().is_empty();
        match (line.split_once(':'), &open) {
            (_, Some(key)) if is_continued => {
                if let Some(value) = keys.get_mut(key) {
                    append(value, line.trim());
                }
            }
            (Some((key, value)), _) if !is_continued => {
                let value = match value.trim() {
                    ">" | "|" | ">-" | "|-" | ">+" | "|+" => "",
                    value => value,
                };
                keys.insert(key.trim().to_owned(), value.to_owned());
                open = Some(key.trim().to_owned());
            }
            _ => {}
        }
    }
    for value in keys.values_mut() {
        if let Some(inner) = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
            *value = inner.to_owned();
        }
    }
    (keys, body.to_owned())
}

fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---\n")?;
    if let Some(body) = rest.strip_prefix("---\n") {
        return Some(("", body));
    }
    match rest.split_once("\n---\n") {
        Some(parts) => Some(parts),
        None => Some((rest.strip_suffix("\n---")?, "")),
    }
}

fn append(value: &mut String, line: &str) {
    if !value.is_empty() && !line.is_empty() {
        value.push(' ');
    }
    value.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_fold_to_one_line() {
        type Keys = &'static [(&'static str, &'static str)];
        let cases: &[(&str, Keys, &str)] = &[
            ("body", &[], "body"),
            ("---\nname: a\n---\nbody\n", &[("name", "a")], "body\n"),
            (
                "---\r\nname: \"a: b\"\r\n---\r\nx\r\ny",
                &[("name", "a: b")],
                "x\ny",
            ),
            (
                "---\ndescription: >-\n  one\n  two\n\n  three\nname: n\n---\n",
                &[("description", "one two three"), ("name", "n")],
                "",
            ),
            (
                "---\ndescription: one\n  two: three\n---\nb",
                &[("description", "one two: three")],
                "b",
            ),
            ("---\n---\nb", &[], "b"),
            ("---\nname: a\n---", &[("name", "a")], ""),
            ("---\nnever closed", &[], "---\nnever closed"),
            ("\u{feff}---\n  lost\n:\n---\nb", &[("", "")], "b"),
            ("---\nname: \"\n---\nb", &[("name", "\"")], "b"),
        ];
        for (text, expected, body) in cases {
            let (keys, rest) = parse(text);
            let pair = |(key, value): &(&str, &str)| (key.to_string(), value.to_string());
            assert_eq!(keys, expected.iter().map(pair).collect(), "{text:?}");
            assert_eq!(rest, *body, "{text:?}");
        }
    }
}
