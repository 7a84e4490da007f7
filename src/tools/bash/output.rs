//! What becomes of a command's bytes: complete text, the newest of it kept, cleaned at the end.

use crate::chat::Output;
use crate::text::sanitize;

/// Longest escape sequence that is waited for, in bytes.
const MAX_SEQUENCE: usize = 4096;

/// How far behind a cut a line break is looked for, in bytes, so that text begins with a line.
const MAX_LINE_SHIFT: usize = 4096;

/// Both streams of a command, decoded and merged in the order in which they arrived.
#[derive(Debug)]
pub struct Capture {
    decoders: [Decoder; 2],
    text: String,
    limit: usize,
    slab: usize,
    lost: u64,
}

impl Capture {
    /// Keeps the newest `limit` bytes, and when there are more drops at least `slab` at once.
    pub fn new(limit: usize, slab: usize) -> Self {
        let decoders = [Decoder::default(), Decoder::default()];
        Self {
            decoders,
            text: String::new(),
            limit,
            slab,
            lost: 0,
        }
    }

    /// Takes bytes and gives the text that is complete now, not cleaned.
    pub fn push(&mut self, stream: Output, bytes: &[u8]) -> String {
        let text = self.decoders[stream as usize].push(bytes);
        self.keep(&text);
        text
    }

    /// The text so far, cleaned for the model.
    pub fn text(&self) -> String {
        let rest = self.decoders.each_ref().map(Decoder::rest).concat();
        clean(&format!("{}{rest}", self.text))
    }

    /// How many bytes came before the kept text.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn keep(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() <= self.limit {
            return;
        }
        let mut at = self.text.len() - self.limit.saturating_sub(self.slab);
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        let near = self.text.as_bytes()[at..].iter().take(MAX_LINE_SHIFT);
        if let Some(line_break) = near.clone().position(|byte| *byte == b'\n') {
            at += line_break + 1;
        }
        self.lost += at as u64;
        self.text.drain(..at);
    }
}

/// Bytes of one stream to text that may be shown at once: characters and escape sequences that
/// are not complete wait for their rest, invalid bytes become U+FFFD.
#[derive(Debug, Default)]
struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let complete = complete(&self.held);
        let text = String::from_utf8_lossy(&self.held[..complete]).into_owned();
        self.held.drain(..complete);
        text
    }

    fn rest(&self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}

/// The length of the part that more bytes cannot change.
fn complete(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(escape) = bytes[at..].iter().position(|byte| *byte == 0x1b) {
        let start = at + escape;
        at = match sequence(&bytes[start..]) {
            Some(length) => start + length,
            None if bytes.len() - start <= MAX_SEQUENCE => return start,
            None => start + 1,
        };
    }
    // The cut-off beginning of a character is at most three bytes; anything else is invalid now
    // and stays so.
    let tail = bytes.len().saturating_sub(3);
    for start in (tail..bytes.len()).rev() {
        let width = match bytes[start] {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => break,
        };
        let cut = start + width > bytes.len();
        return if cut { start } else { bytes.len() };
    }
    // Whether a carriage return is half of a line break shows later.
    bytes.len() - usize::from(bytes.last() == Some(&b'\r'))
}

/// The length of the escape sequence at the start of `bytes`, `None` while its end is missing.
fn sequence(bytes: &[u8]) -> Option<usize> {
    let body = bytes.get(2..).unwrap_or_default();
    let after = |end: usize| end + 3;
    match bytes.get(1)? {
        b'[' => body
            .iter()
            .position(|byte| !matches!(byte, 0x20..=0x3f))
            .map(after),
        // Up to BEL, or up to the escape of a terminator, which is a sequence of its own but must
        // not be parted from what it ends. A line break means that it was no sequence.
        b']' | b'P' | b'X' | b'^' | b'_' => {
            let end = body
                .iter()
                .position(|byte| matches!(byte, 0x07 | 0x1b | b'\n'))?;
            match (body[end], body.get(end + 1)) {
                (0x1b, None) => None,
                (0x1b, Some(b'\\')) => Some(after(end) + 1),
                (0x1b, Some(_)) => Some(end + 2),
                _ => Some(after(end)),
            }
        }
        0x20..=0x2f => body
            .iter()
            .position(|byte| !matches!(byte, 0x20..=0x2f))
            .map(after),
        _ => Some(2),
    }
}

/// Text as a terminal would end up showing it: in each line only what follows the last carriage
/// return, no escape sequences, no white space at the end.
fn clean(text: &str) -> String {
    let mut resolved = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        let line = line.trim_end_matches('\r');
        resolved.push_str(line.rsplit('\r').next().unwrap_or(line));
        resolved.push_str(end);
    }
    let mut clean = sanitize(&resolved);
    clean.truncate(clean.trim_end().len());
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaning() {
        for (text, expected) in [
            ("plain\n", "plain"),
            ("a\r\nb\r\n", "a\nb"),
            ("10%\r50%\r100%\n", "100%"),
            ("kept\r", "kept"),
            ("kept\r\r\nnext", "kept\nnext"),
            ("bar\r\x1b[Kdone\n", "done"),
            ("\x1b[31mred\x1b[0m\x07 \n\n \t\n", "red"),
            ("\n\nfirst", "\n\nfirst"),
            ("", ""),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn pieces_are_complete_however_bytes_are_split() {
        let whole = "a\u{e9}\u{6f22}\u{1f600}\r\n\x1b[1;31mred\x1b[0m\x1b]0;title\x07\x1b]8;;x\x1b\\link\x1b(Bend\r\n";
        let bytes = whole.as_bytes();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let mut capture = Capture::new(1 << 20, 1 << 10);
                let mut shown = String::new();
                for part in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                    shown += &sanitize(&capture.push(Output::Stdout, part));
                }
                assert_eq!(
                    shown, "a\u{e9}\u{6f22}\u{1f600}\nredlinkend\n",
                    "{first} {second}"
                );
                assert_eq!(capture.text(), "a\u{e9}\u{6f22}\u{1f600}\nredlinkend");
            }
        }
    }

    #[test]
    fn invalid_and_endless_input_passes() {
        let mut capture = Capture::new(1 << 20, 1 << 10);
        assert_eq!(
            capture.push(Output::Stdout, b"\xff\xfea\xc3(\xed\xa0\x80"),
            "\u{fffd}\u{fffd}a\u{fffd}(\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(capture.push(Output::Stdout, b"\xe6\xbc"), "");
        assert_eq!(capture.push(Output::Stderr, b"other"), "other");
        assert_eq!(capture.push(Output::Stdout, b"\xa2"), "\u{6f22}");
        let endless = [b"\x1b]".as_slice(), &[b'x'; MAX_SEQUENCE]].concat();
        assert!(capture.push(Output::Stdout, &endless).len() > MAX_SEQUENCE);
        assert!(capture.text().ends_with('x'));
        assert_eq!(capture.push(Output::Stdout, b"\x1b["), "");
    }

    #[test]
    fn only_the_newest_is_kept_and_the_rest_is_counted() {
        let line = "0123456789 \u{6f22}\u{1f600}\n";
        let mut capture = Capture::new(1000, 200);
        let mut total = 0;
        for count in 1..=500 {
            capture.push(Output::Stdout, line.as_bytes());
            total += line.len() as u64;
            assert_eq!(capture.lost() + capture.text.len() as u64, total);
            assert!(
                capture.text.len() <= 1000 && capture.text.starts_with("0123"),
                "{count}"
            );
        }
        // Without line breaks the cut is between characters.
        let mut capture = Capture::new(1000, 200);
        for _ in 0..100 {
            capture.push(Output::Stdout, "\u{1f600}".repeat(21).as_bytes());
            assert!(!capture.text().contains('\u{fffd}') && capture.text.len() <= 1000);
        }
    }
}
