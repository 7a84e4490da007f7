//! Rows that extensions wrote, in the user's colours: widgets, panels, and the rows of a pane.

use super::surface::dim;
use crate::extension::ui::SpanRow;
use crate::tui::rich::Rich;
use crate::tui::style::{Style, Token};

/// A row before it is cut. A token that the theme lacks paints plain.
pub fn rich(spans: &SpanRow) -> Rich {
    let mut rich = Rich::default();
    for span in spans {
        rich.push(&span.text, style(span.token.as_deref()));
    }
    rich
}

/// The look of a token by its name.
pub fn style(token: Option<&str>) -> Style {
    match token.and_then(Token::named) {
        None => Style::default(),
        // Also where there are no colours.
        Some(Token::Dim) => dim(),
        Some(token) => Style::colored(token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::ui::Span;
    use crate::tui::testing::styled;

    #[test]
    fn tokens_are_the_themes() {
        let span = |text: &str, token: Option<&str>| Span {
            text: text.to_owned(),
            token: token.map(String::from),
        };
        let row = vec![
            span("a ", None),
            span("b", Some("warning")),
            span(" c", Some("sparkle")),
            span(" d", Some("dim")),
        ];
        assert_eq!(
            styled(&[rich(&row).clip(20)]),
            ["a ⟨warning|b⟩ c⟨dim dim| d⟩"]
        );
        assert_eq!(styled(&[rich(&row).clip(4)]), ["a ⟨warning|b…⟩"]);
        assert!(rich(&Vec::new()).is_empty());
    }
}
