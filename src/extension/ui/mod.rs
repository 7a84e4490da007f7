//! What an extension shows, as plain data: cleaned, cut to its bound, and nothing about painting.
//!
//! A frontend holds [`Slots`], one [`Panel`] and one [`Pane`], and paints what is in them through the
//! user's theme. A token it does not know paints plain.

mod pane;
mod panel;
mod select;
mod slots;
mod span;

pub use pane::{Body, Item, Pane, Section, Side};
pub use panel::Panel;
pub use select::{Choice, Select};
pub use slots::{SlotMap, Slots, WIDGET_ROWS};
pub(super) use span::rows;
pub use span::{Span, SpanRow};

use super::fields::{Fields, block};
pub use crate::chat::Format;

/// Most bytes of a block that is shown.
pub const MAX_BODY: usize = 64 * 1024;

impl Format {
    /// The field `format`; absent or unknown, it is text.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, String> {
        Ok(match fields.text("format")? {
            Some("markdown") => Format::Markdown,
            Some("diff") => Format::Diff,
            _ => Format::Text,
        })
    }
}

/// A block in the transcript. Title or body has text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Show {
    /// One line, maybe empty.
    pub title: String,
    /// Several lines, maybe empty.
    pub body: String,
    /// How the body is painted.
    pub format: Format,
}

impl Show {
    /// Title and body as plain text, for frontends that cannot paint a block.
    pub fn to_text(&self) -> String {
        let parts = [self.title.as_str(), self.body.trim_end()];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n")
    }

    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, String> {
        let show = Self {
            title: fields.line("title")?,
            body: block(fields.text("body")?.unwrap_or_default(), MAX_BODY),
            format: Format::read(fields)?,
        };
        match show.title.is_empty() && show.body.trim().is_empty() {
            true => Err(format!(
                "`{}` or `{}` is needed",
                fields.path("title"),
                fields.path("body")
            )),
            false => Ok(show),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_block_has_a_title_or_a_body() {
        let parse = |value| Show::parse(&Fields::of(&value, "it").unwrap());
        let shown =
            parse(json!({"title": "a\nb", "body": "\x1b[1mx\ny", "format": "diff"})).unwrap();
        assert_eq!(
            (shown.title.as_str(), shown.body.as_str(), shown.format),
            ("a b", "x\ny", Format::Diff)
        );
        assert_eq!(
            parse(json!({"title": "t", "format": "hologram"}))
                .unwrap()
                .format,
            Format::Text
        );
        for empty in [json!({}), json!({"title": " ", "body": "\n\x07"})] {
            assert_eq!(parse(empty).unwrap_err(), "`title` or `body` is needed");
        }
        for (value, error) in [
            (json!({"title": 1}), "`title` must be a string"),
            (json!({"body": []}), "`body` must be a string"),
            (
                json!({"body": "x", "format": 1}),
                "`format` must be a string",
            ),
        ] {
            assert_eq!(parse(value).unwrap_err(), error);
        }
        let long = parse(json!({"body": "row\n".repeat(1 << 20)})).unwrap();
        assert!(long.body.len() <= MAX_BODY && long.body.ends_with("row\n[cut]"));
    }
}
