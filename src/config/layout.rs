//! `layout.json`: where panes go, and the templates of the status and activity rows.

use std::collections::HashMap;

use serde_json::Value;

use super::{Chord, Home, Store};
use crate::text::one_line;

const FILE: Store = Store {
    name: "layout.json",
    mode: 0o644,
};

/// Columns below which nothing is ever split.
const MIN_SPLIT: usize = 60;

/// What applies to every pane that has no entry of its own.
const ANY_PANE: &str = "*";

const ACTIVITY: &str = "{phase} {elapsed} {tokens} · {activity}";

/// The side of the conversation that a pane is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On the left.
    Left,
    /// On the right.
    Right,
}

impl Side {
    /// The side of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "left" => Some(Side::Left),
            "right" => Some(Side::Right),
            _ => None,
        }
    }
}

/// What an entry of `panes` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pane {
    side: Option<Side>,
    width: Option<usize>,
}

/// How the user wants the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns that a terminal needs to be split, at least 60.
    pub split_min: usize,
    /// The chord that moves between the conversation and a pane.
    pub focus: Chord,
    /// Whether a fresh session opens with the banner.
    pub banner: bool,
    /// Templates of the status row, at the left.
    pub status_left: Vec<String>,
    /// Templates of the status row, at the right.
    pub status_right: Vec<String>,
    /// Template of the activity row.
    pub activity: String,
    panes: HashMap<String, Pane>,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            split_min: 110,
            focus: Chord::new(true, false, false, "t"),
            banner: true,
            status_left: vec!["{model} / {effort}".into(), "{context}".into()],
            status_right: vec!["{status}".into()],
            activity: ACTIVITY.into(),
            panes: HashMap::new(),
        }
    }
}

impl Layout {
    /// Reads the file. A value that cannot be used has its default; the warnings name it.
    pub fn load(home: &Home) -> (Self, Vec<String>) {
        let (map, mut warnings) = FILE.read(home);
        let mut layout = Self::default();
        for (key, value) in &map {
            match key.strip_prefix("status.") {
                Some(side) => layout.apply(&["status", side], value, &mut warnings),
                None => layout.apply(&[key], value, &mut warnings),
            }
        }
        (layout, warnings)
    }

    /// The side of a pane, and the percentage of the width that it takes, 30 to 70.
    pub fn place(&self, pane: &str, proposed: Option<Side>) -> (Side, usize) {
        let entry = |id: &str| self.panes.get(id).copied().unwrap_or_default();
        let (own, any) = (entry(pane), entry(ANY_PANE));
        let side = own.side.or(proposed).or(any.side).unwrap_or(Side::Right);
        let width = own.width.or(any.width).unwrap_or(40);
        (side, width)
    }

    fn apply(&mut self, path: &[&str], value: &Value, warnings: &mut Vec<String>) {
        let mut go_on = |layout: &mut Self, key: &str, value| {
            layout.apply(&[path, &[key]].concat(), value, warnings);
        };
        let applied = match (path, value) {
            (["panes"] | ["panes", _] | ["status"], Value::Object(map)) => {
                for (key, value) in map {
                    go_on(self, key, value);
                }
                return;
            }
            (["status", side @ ("left" | "right")], Value::Array(items)) => {
                self.templates(side).clear();
                for (index, item) in items.iter().enumerate() {
                    go_on(self, &index.to_string(), item);
                }
                return;
            }
            (["panes"] | ["panes", _] | ["status"], _) => Err("it must be an object"),
            (["status", "left" | "right"], _) => Err("it must be a list"),
            (["split_min"], _) => {
                let columns = number(value, MIN_SPLIT, u16::MAX.into());
                columns.map(|columns| self.split_min = columns)
            }
            (["focus"], _) => match Chord::parse(value.as_str().unwrap_or_default()) {
                Ok(chord) => {
                    self.focus = chord;
                    Ok(())
                }
                Err(_) => Err("it must be a key chord"),
            },
            (["banner"], Value::Bool(banner)) => {
                self.banner = *banner;
                Ok(())
            }
            (["banner"], _) => Err("it must be true or false"),
            (["panes", id, "side"], _) => match value.as_str().and_then(Side::named) {
                Some(side) => {
                    self.pane(id).side = Some(side);
                    Ok(())
                }
                None => Err("it must be `left` or `right`"),
            },
            (["panes", id, "width"], _) => {
                let percent = number(value, 30, 70);
                percent.map(|percent| self.pane(id).width = Some(percent))
            }
            (["status", side, _], Value::String(template)) => {
                self.templates(side).push(one_line(template, None));
                Ok(())
            }
            (["activity"], Value::String(template)) => {
                if !template.trim().is_empty() {
                    self.activity = one_line(template, None);
                }
                Ok(())
            }
            (["status", "left" | "right", _] | ["activity"], _) => Err("it must be a string"),
            // Keys of other versions.
            _ => Ok(()),
        };
        if let Err(expected) = applied {
            let key = path.join(".");
            warnings.push(format!("`{key}` in {} is ignored: {expected}", FILE.name));
        }
    }

    fn pane(&mut self, id: &str) -> &mut Pane {
        self.panes.entry(id.to_owned()).or_default()
    }

    fn templates(&mut self, side: &str) -> &mut Vec<String> {
        match side {
            "left" => &mut self.status_left,
            _ => &mut self.status_right,
        }
    }
}

/// A whole number, moved into its range.
fn number(value: &Value, least: usize, most: usize) -> Result<usize, &'static str> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0);
    let number = number.ok_or("it must be a whole number")?;
    Ok(number.clamp(least as f64, most as f64) as usize)
}

/// A template with its `{token}`s replaced by what `value` has for them. A brace without its
/// partner stands for itself.
pub fn fill(template: &str, mut value: impl FnMut(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((token, behind)) = after.split_once('}') else {
            break;
        };
        filled.push_str(before);
        filled.push_str(&value(token));
        rest = behind;
    }
    filled + rest
}

/// A template of a row: filled, without the parts that came up empty and their separators
/// (` · `, and ` / ` within), and with single spaces. Empty when it has tokens and all of them are.
pub fn expand(template: &str, mut value: impl FnMut(&str) -> String) -> String {
    let (mut tokens, mut empty) = (0, 0);
    let filled = fill(template, |token| {
        let text = value(token);
        tokens += 1;
        empty += usize::from(text.trim().is_empty());
        text
    });
    if tokens > 0 && tokens == empty {
        return String::new();
    }
    without_gaps(&filled, " · ", |part| {
        without_gaps(part, " / ", single_spaces)
    })
}

fn without_gaps(text: &str, separator: &str, clean: impl Fn(&str) -> String) -> String {
    // Blanks at the ends, so that a separator there is one, too.
    let padded = format!(" {text} ");
    let parts = padded.split(separator).map(clean);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(separator)
}

fn single_spaces(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> (Layout, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE.name), text).unwrap();
        Layout::load(&Home::at(dir.path()))
    }

    #[test]
    fn values_are_read_and_bounded() {
        let text = r#"{"split_min": 20, "focus": "Alt-P", "banner": false, "activity": " ",
            "status": {"right": ["{cwd}"]}, "future": 1,
            "panes": {"*": {"side": "left", "width": 90}, "diff": {"width": 10}, "log": {"side": "right"}}}"#;
        let (layout, warnings) = load(text);
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!((layout.split_min, layout.banner), (60, false));
        assert_eq!(layout.focus.to_string(), "alt+p");
        assert_eq!(layout.activity, ACTIVITY);
        assert_eq!(
            (layout.status_left.len(), layout.status_right.as_slice()),
            (2, &["{cwd}".into()][..])
        );
        let places = [
            ("diff", None, (Side::Left, 30)),
            ("diff", Some(Side::Right), (Side::Right, 30)),
            ("log", Some(Side::Left), (Side::Right, 70)),
            ("other", None, (Side::Left, 70)),
        ];
        for (pane, proposed, expected) in places {
            assert_eq!(layout.place(pane, proposed), expected, "{pane}");
        }
        assert_eq!(Layout::default().place("x", None), (Side::Right, 40));
    }

    #[test]
    fn templates_may_stand_in_one_object_or_each_by_itself() {
        let flat = load(r#"{"status.left": ["{cwd}", 5], "status.right": [], "status.x": 1}"#);
        let nested = load(r#"{"status": {"left": ["{cwd}", 5], "right": [], "x": 1}}"#);
        assert_eq!(flat, nested);
        assert_eq!(
            (flat.0.status_left, flat.1.len()),
            (vec!["{cwd}".into()], 1)
        );
    }

    #[test]
    fn what_is_wrong_has_its_default() {
        for (text, notices) in [
            ("{", 1),
            ("[1]", 1),
            (r#"{"split_min": "x", "focus": "", "banner": 1}"#, 3),
            (
                r#"{"panes": {"a": {"side": "top"}}, "status": {"left": "x"}, "activity": 2}"#,
                3,
            ),
        ] {
            let (layout, warnings) = load(text);
            assert_eq!(
                (layout, warnings.len()),
                (Layout::default(), notices),
                "{text}"
            );
        }
    }

    #[test]
    fn a_wrong_value_costs_itself_and_a_number_is_moved_into_its_range() {
        let text = r#"{"split_min": -3, "status": {"left": ["{cwd}", 5], "right": 7},
            "panes": {"a": {"side": "top", "width": -20}, "b": {"width": 1e30, "side": "left"},
                "c": 4, "d": {"width": 50.5}, "*": {"width": 60}}}"#;
        let (layout, warnings) = load(text);
        let place = |pane| layout.place(pane, None);
        assert_eq!(layout.split_min, 60);
        assert_eq!(
            ["a", "b", "c", "d"].map(place),
            [
                (Side::Right, 30),
                (Side::Left, 70),
                (Side::Right, 60),
                (Side::Right, 60)
            ]
        );
        assert_eq!(layout.status_left, ["{cwd}"]);
        assert_eq!(layout.status_right, Layout::default().status_right);
        let told: Vec<_> = warnings
            .iter()
            .filter_map(|told| told.split('`').nth(1))
            .collect();
        let expected = [
            "status.left.1",
            "status.right",
            "panes.a.side",
            "panes.c",
            "panes.d.width",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn templates_leave_no_gaps() {
        let cases = [
            ("{model} / {effort}", "opus / high"),
            ("{model} / {none}", "opus"),
            ("{none} / {effort}", "high"),
            ("{none} / {none}", ""),
            (
                "{none} · {model} · {none} / {none} · {effort}",
                "opus · high",
            ),
            ("({none}) x  {model}", "() x opus"),
            ("x {none}", ""),
            ("plain  text", "plain text"),
            ("a / b", "a / b"),
            ("{model", "{model"),
            ("}{model}{", "}opus{"),
            ("{} x", ""),
            ("{brace}", "{model}"),
            ("", ""),
            (" · ", ""),
        ];
        let value = |token: &str| match token {
            "model" => "opus".into(),
            "effort" => " high ".into(),
            "brace" => "{model}".into(),
            _ => String::new(),
        };
        for (template, expected) in cases {
            assert_eq!(expand(template, value), expected, "{template:?}");
        }
    }
}
