//! A short cut for frames that differ from an earlier one in a piece of text alone.
//!
//! A reply comes in hundreds of thousands of frames at times, all the same but for one string. Once
//! such a frame has been read properly, what stands before and after its string is remembered; a
//! frame with the same surroundings is the same JSON with another string in that place.

/// What surrounds the piece of text in the last frame that had nothing else to say.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    head: String,
    tail: String,
}

impl Repeated {
    /// The piece of text, when the frame is like the remembered one. A string with an escape in
    /// it needs the proper way, and an empty one is no piece.
    pub(super) fn piece<'a>(&self, data: &'a str) -> Option<&'a str> {
        if self.head.is_empty() {
            return None;
        }
        let piece = data.strip_prefix(&*self.head)?.strip_suffix(&*self.tail)?;
        (!piece.is_empty() && is_plain(piece)).then_some(piece)
    }

    /// Remembers a frame whose only news is `text`, the value of `key`.
    pub(super) fn learn(&mut self, data: &str, key: &str, text: &str) {
        let opening = format!("\"{key}\":\"");
        let mut places = data.match_indices(&opening);
        let (Some((at, _)), None) = (places.next(), places.next()) else {
            return;
        };
        let (head, rest) = data.split_at(at + opening.len());
        // Unless the string stands there as it is, this is not its place.
        let Some(tail) = rest.strip_prefix(text).filter(|tail| tail.starts_with('"')) else {
            return;
        };
        if is_plain(text) {
            self.head.replace_range(.., head);
            self.tail.replace_range(.., tail);
        }
    }
}

/// Whether a JSON string spells this text as it is.
fn is_plain(text: &str) -> bool {
    // Without a way out in the middle the compiler looks at many bytes at once.
    let special = |byte| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    !text
        .bytes()
        .fold(false, |found, byte| found | special(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_frame_with_another_plain_text_matches() {
        let mut repeated = Repeated::default();
        let frame = |text: &str| format!(r#"{{"id":1,"content":"{text}","end":null}}"#);
        assert_eq!(repeated.piece(&frame("a")), None);
        repeated.learn(&frame("a"), "content", "a");
        assert_eq!(repeated.piece(&frame("b é 😀")), Some("b é 😀"));
        for other in [
            frame(""),
            frame(r#"\n"#),
            frame(r#"a","content":"b"#),
            frame("a").replace("null", "\"stop\""),
            frame("a").replace("1", "2"),
            r#"{"id":1,"content":"#.to_owned(),
        ] {
            assert_eq!(repeated.piece(&other), None, "{other}");
        }
    }

    #[test]
    fn an_unclear_place_is_not_learned() {
        let twice = r#"{"content":"a","more":{"content":"a"}}"#;
        let escaped = r#"{"content":"\u0061"}"#;
        let spaced = r#"{"content": "a"}"#;
        for data in [twice, escaped, spaced, ""] {
            let mut repeated = Repeated::default();
            repeated.learn(data, "content", "a");
            assert_eq!(repeated.piece(data), None, "{data}");
        }
    }
}
