//! The side pane: sections of content. Where it stands and how it moves is e's.
//!
//! The whole pane has one size. The section that would exceed it is cut there, what follows is
//! left out, and a last row says so.

use serde_json::Value;

use super::span::{SpanRow, remark, rows};
use crate::extension::fields::{Fields, MAX_ID, line, whole_lines};
use crate::text::{clip_chars, sanitize};

/// Most bytes of text in a pane.
const MAX_BYTES: usize = 256 * 1024;

/// Most sections of a pane.
const MAX_SECTIONS: usize = 64;

/// Columns of the hint.
const HINT_COLUMNS: usize = 80;

/// Columns of an item's label and detail. A list does not wrap, and a path may be long.
const ITEM_COLUMNS: usize = 200;

/// A side pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// What the extension calls it, sent back as it came. `pane` when it does not say.
    pub id: String,
    /// One line, maybe empty.
    pub title: String,
    /// Where the extension would put it.
    pub side: Option<Side>,
    /// One line that replaces the summary of keys, maybe empty.
    pub hint: String,
    /// At least one.
    pub sections: Vec<Section>,
}

/// A side of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before it.
    Left,
    /// After it.
    Right,
}

/// A part of a pane that scrolls by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What the extension calls it, sent back as it came. Its number from 0 when it does not say.
    pub id: String,
    /// One line, maybe empty.
    pub title: String,
    /// What it holds.
    pub body: Body,
}

/// What a section holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Rows to pick from.
    List {
        /// The rows.
        items: Vec<Item>,
        /// The place of the item the cursor is to stand on, when the extension says so.
        selected: Option<usize>,
    },
    /// A unified diff.
    Diff(String),
    /// Plain text.
    Text(String),
    /// Markdown.
    Markdown(String),
    /// Rows with meanings.
    Rows(Vec<SpanRow>),
}

/// A row to pick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What the extension calls it, sent back as it came.
    pub id: String,
    /// One line.
    pub label: String,
    /// One line at the other edge, maybe empty.
    pub detail: String,
    /// The theme's name for its meaning; may be one that no theme has.
    pub token: Option<String>,
}

impl Pane {
    /// The parameters of `ui.pane`; null closes.
    pub(in crate::extension) fn parse(params: &Value) -> Result<Option<Self>, String> {
        if params.is_null() {
            return Ok(None);
        }
        let fields = Fields::of(params, "the pane")?;
        let side = match fields.text("side")? {
            Some("left") => Some(Side::Left),
            Some("right") => Some(Side::Right),
            _ => None,
        };
        Ok(Some(Self {
            id: fields.id("id")?.unwrap_or_else(|| "pane".to_owned()),
            title: fields.line("title")?,
            side,
            hint: line(fields.text("hint")?.unwrap_or_default(), HINT_COLUMNS),
            sections: sections(&fields)?,
        }))
    }

    /// Says in its last row that it does not hold all that it was given.
    pub(in crate::extension) fn leave_out(&mut self) {
        if self.sections.last() != Some(&rest()) {
            self.sections.push(rest());
        }
    }
}

fn sections(fields: &Fields<'_>) -> Result<Vec<Section>, String> {
    let mut room = Room(Some(MAX_BYTES));
    let mut sections = Vec::new();
    for (index, item) in fields.list("sections")?.iter().enumerate() {
        if index == MAX_SECTIONS {
            room.0 = None;
        }
        if room.0.is_none() {
            break;
        }
        let section = fields.item("sections", index, item)?;
        // A kind of a later version does not break the others.
        let Some(body) = body(&section, &mut room)? else {
            continue;
        };
        sections.push(Section {
            id: section.id("id")?.unwrap_or_else(|| index.to_string()),
            title: section.line("title")?,
            body,
        });
    }
    if room.0.is_none() {
        sections.push(rest());
    }
    match sections.is_empty() {
        true => Err("`sections` has nothing to show".to_owned()),
        false => Ok(sections),
    }
}

/// What stands for all that does not fit.
fn rest() -> Section {
    let text = format!("the rest is left out; a pane holds {} KiB", MAX_BYTES >> 10);
    Section {
        id: String::new(),
        title: String::new(),
        body: Body::Rows(vec![remark(text)]),
    }
}

/// What a section holds, cut where the room ends; none when e does not know its kind.
fn body(section: &Fields<'_>, room: &mut Room) -> Result<Option<Body>, String> {
    let text =
        |room: &mut Room| Ok::<_, String>(room.text(section.text("body")?.unwrap_or_default()));
    Ok(Some(match section.required("kind")? {
        "list" => list(section, room)?,
        "diff" => Body::Diff(text(room)?),
        "text" => Body::Text(text(room)?),
        "markdown" => Body::Markdown(text(room)?),
        "rows" => {
            let mut lines = Vec::new();
            for row in rows(section, "lines")? {
                let row: SpanRow = row?;
                if !room.take(row.iter().map(|span| span.text.len()).sum()) {
                    break;
                }
                lines.push(row);
            }
            Body::Rows(lines)
        }
        _ => return Ok(None),
    }))
}

fn list(section: &Fields<'_>, room: &mut Room) -> Result<Body, String> {
    let mut items = Vec::new();
    for (index, value) in section.list("items")?.iter().enumerate() {
        let Some(item) = item(section, index, value)? else {
            continue;
        };
        if !room.take(item.id.len() + item.label.len() + item.detail.len()) {
            break;
        }
        items.push(item);
    }
    let wanted = section.text("selected")?;
    let selected = wanted.and_then(|id| items.iter().position(|item| item.id == id));
    Ok(Body::List { items, selected })
}

/// An item: a string, or an object with an id, a label, or both.
fn item(section: &Fields<'_>, index: usize, value: &Value) -> Result<Option<Item>, String> {
    if let Value::String(text) = value {
        let label = line(text, ITEM_COLUMNS);
        return Ok((text.len() <= MAX_ID && !label.is_empty()).then(|| Item {
            id: text.clone(),
            label,
            detail: String::new(),
            token: None,
        }));
    }
    let fields = section.item("items", index, value)?;
    let (id, label) = (fields.id("id")?, fields.text("label")?);
    let label = line(label.or(id.as_deref()).unwrap_or_default(), ITEM_COLUMNS);
    if label.is_empty() {
        return Ok(None);
    }
    Ok(Some(Item {
        id: id.unwrap_or_else(|| label.clone()),
        label,
        detail: line(fields.text("detail")?.unwrap_or_default(), ITEM_COLUMNS),
        token: fields.text("token")?.map(|name| clip_chars(name, 64)),
    }))
}

/// How many bytes still fit, until something did not.
struct Room(Option<usize>);

impl Room {
    /// Takes a row of `bytes`, unless it does not fit.
    fn take(&mut self, bytes: usize) -> bool {
        self.0 = self.0.and_then(|left| left.checked_sub(bytes + 1));
        self.0.is_some()
    }

    /// Takes a text, or its whole lines that fit.
    fn text(&mut self, text: &str) -> String {
        let left = self.0.unwrap_or_default();
        if self.take(text.len()) {
            return sanitize(text);
        }
        sanitize(whole_lines(text, left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(params: Value) -> Pane {
        Pane::parse(&params).unwrap().unwrap()
    }

    fn bytes(pane: &Pane) -> usize {
        let row = |row: &SpanRow| row.iter().map(|span| span.text.len()).sum::<usize>();
        let sizes = pane.sections.iter().map(|section| match &section.body {
            Body::List { items, .. } => items.iter().map(|item| item.label.len()).sum(),
            Body::Diff(text) | Body::Text(text) | Body::Markdown(text) => text.len(),
            Body::Rows(rows) => rows.iter().map(row).sum(),
        });
        sizes.sum()
    }

    /// Whether the last row says that something was cut.
    fn is_cut(pane: &Pane) -> bool {
        let Body::Rows(rows) = &pane.sections.last().unwrap().body else {
            return false;
        };
        rows.last()
            .is_some_and(|row| row[0].text.starts_with("the rest is left out"))
    }

    #[test]
    fn every_kind_of_section() {
        let pane = parse(json!({
            "id": "diff", "title": "Chan\x07ges", "side": "left", "hint": "x to drop",
            "sections": [
                {"kind": "list", "id": "files", "selected": "b", "items": [
                    "a\n.rs", {"id": "b", "label": "B", "detail": "+1", "token": "success"}, {"id": "c"}, {"label": "d"}, {}, "",
                ]},
                {"kind": "diff", "id": "patch", "title": "src", "body": "-a\n+b"},
                {"kind": "hologram", "id": "h"},
                {"kind": "text", "body": "x\x1b[1my\r\n"},
                {"kind": "markdown"},
                {"kind": "rows", "lines": ["r", [{"text": "s", "token": "dim"}]]},
            ],
        }));
        assert_eq!(
            (pane.id.as_str(), pane.title.as_str(), pane.side),
            ("diff", "Changes", Some(Side::Left))
        );
        let ids: Vec<_> = pane
            .sections
            .iter()
            .map(|section| section.id.as_str())
            .collect();
        assert_eq!(ids, ["files", "patch", "3", "4", "5"]);
        let Body::List { items, selected } = &pane.sections[0].body else {
            panic!("{pane:?}");
        };
        let items: Vec<_> = items
            .iter()
            .map(|item| (item.id.as_str(), item.label.as_str()))
            .collect();
        assert_eq!(
            items,
            [("a\n.rs", "a .rs"), ("b", "B"), ("c", "c"), ("d", "d")]
        );
        assert_eq!(*selected, Some(1));
        assert_eq!(pane.sections[2].body, Body::Text("xy\n".into()));
        assert!(!is_cut(&pane));
        let bare = parse(json!({"side": "above", "sections": [{"kind": "text", "body": "x"}]}));
        assert_eq!((bare.id.as_str(), bare.side), ("pane", None));
        assert_eq!(Pane::parse(&Value::Null), Ok(None));
    }

    #[test]
    fn wrong_types_name_the_field() {
        let long = "i".repeat(MAX_ID + 1);
        for (params, error) in [
            (json!("x"), "the pane is not an object"),
            (json!({}), "`sections` has nothing to show"),
            (json!({"sections": []}), "`sections` has nothing to show"),
            (
                json!({"sections": [{"kind": "hologram"}]}),
                "`sections` has nothing to show",
            ),
            (json!({"sections": {}}), "`sections` must be a list"),
            (
                json!({"sections": ["x"]}),
                "`sections[0]` must be an object",
            ),
            (json!({"sections": [{}]}), "`sections[0].kind` is missing"),
            (
                json!({"sections": [{"kind": "text", "body": 1}]}),
                "`sections[0].body` must be a string",
            ),
            (
                json!({"sections": [{"kind": "list", "items": 1}]}),
                "`sections[0].items` must be a list",
            ),
            (
                json!({"sections": [{"kind": "list", "items": [1]}]}),
                "`sections[0].items[0]` must be an object",
            ),
            (
                json!({"sections": [{"kind": "list", "items": [{"id": 1}]}]}),
                "`sections[0].items[0].id` must be a string",
            ),
            (
                json!({"sections": [{"kind": "rows", "lines": [1]}]}),
                "`sections[0].lines[0]` must be a string or a list of spans",
            ),
            (
                json!({"id": long, "sections": []}),
                "`id` is over 1024 bytes",
            ),
        ] {
            assert_eq!(Pane::parse(&params), Err(error.to_owned()), "{params}");
        }
    }

    #[test]
    fn a_pane_over_its_size_is_cut_where_it_overflows() {
        let line = format!("{}\n", "x".repeat(99));
        let huge = line.repeat(100_000);
        let items: Vec<_> = (0..100_000)
            .map(|n| json!({"id": n.to_string(), "label": line}))
            .collect();
        let rows = vec![json!(line); 100_000];
        for section in [
            json!({"kind": "text", "body": huge}),
            json!({"kind": "diff", "body": huge}),
            json!({"kind": "text", "body": "x".repeat(10 << 20)}),
            json!({"kind": "list", "items": items}),
            json!({"kind": "list", "items": vec!["é"; 300_000]}),
            json!({"kind": "rows", "lines": rows}),
            json!({"kind": "rows", "lines": vec![""; 300_000]}),
        ] {
            let kind = section["kind"].clone();
            let pane = parse(
                json!({"sections": [{"kind": "text", "body": "first"}, section, {"kind": "text", "body": "last"}]}),
            );
            assert!(is_cut(&pane), "{kind}");
            assert_eq!(pane.sections.len(), 3, "{kind}");
            assert!(bytes(&pane) <= MAX_BYTES + 100, "{kind}");
        }
        let many = vec![json!({"kind": "text", "body": "x"}); 1000];
        let pane = parse(json!({"sections": many}));
        assert!(is_cut(&pane) && pane.sections.len() == MAX_SECTIONS + 1);
        let whole =
            parse(json!({"sections": [{"kind": "text", "body": "x".repeat(MAX_BYTES - 1)}]}));
        assert!(!is_cut(&whole) && bytes(&whole) == MAX_BYTES - 1);
    }
}
