//! Server-sent events, byte by byte: chunks of a body in, the `data` of each event out.
//!
//! Chunks may end anywhere, also inside a character or between CR and LF, so lines are put
//! together as bytes and decoded only when an event is complete. Only `data` matters here: the
//! dialects repeat the event's name inside it. Memory is bounded by [`MAX_EVENT`].

use super::Failure;
use super::error;

/// Largest event, and largest line of any kind, in bytes.
pub(super) const MAX_EVENT: usize = 8 << 20;

/// What the receiver of an event wants next.
pub(super) type Flow = std::ops::ControlFlow<()>;

/// The state between two chunks.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The line that the last chunk left unfinished.
    line: Vec<u8>,
    /// The data lines of the event so far, joined by newlines.
    data: Vec<u8>,
    has_data: bool,
    /// The last line ended in CR, so an LF right after it belongs to it.
    after_cr: bool,
    /// The first line, which may open with a byte-order mark, is behind us.
    begun: bool,
}

impl Parser {
    /// Takes a chunk and hands every event that it completes to `each`, until that breaks.
    pub(super) fn feed(
        &mut self,
        mut chunk: &[u8],
        each: &mut dyn FnMut(&str) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        while let Some(&first) = chunk.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) else {
                self.line.extend_from_slice(chunk);
                self.check_size()?;
                break;
            };
            if self.is_between_events() && chunk[end..].starts_with(b"\n\n") {
                // A whole event of one line, as nearly all are: no need to copy it.
                if let Some(data) = chunk[..end].strip_prefix(b"data: ") {
                    chunk = &chunk[end + 2..];
                    if deliver(data, each)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                    continue;
                }
            }
            self.after_cr = chunk[end] == b'\r';
            let head = &chunk[..end];
            chunk = &chunk[end + 1..];
            let flow = if self.line.is_empty() {
                self.end_line(head, each)?
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                let flow = self.end_line(&line, each)?;
                line.clear();
                self.line = line;
                flow
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue(()))
    }

    /// The body ended. Many servers leave out the blank line after their last event, and a cut
    /// event is no complete JSON, so what is left is handed on as well.
    pub(super) fn finish(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() && self.end_line(&line, each)?.is_break() {
            return Ok(Flow::Break(()));
        }
        self.end_line(b"", each)
    }

    fn end_line(
        &mut self,
        line: &[u8],
        each: &mut dyn FnMut(&str) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        let mut line = line;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            if !std::mem::take(&mut self.has_data) {
                return Ok(Flow::Continue(()));
            }
            let flow = deliver(&self.data, each);
            self.data.clear();
            return flow;
        }
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            _ => return Ok(Flow::Continue(())),
        };
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.check_size()?;
        Ok(Flow::Continue(()))
    }

    fn is_between_events(&self) -> bool {
        self.begun && !self.has_data && self.line.is_empty()
    }

    fn check_size(&self) -> Result<(), Failure> {
        if self.line.len() + self.data.len() > MAX_EVENT {
            Err(error::oversized_event())
        } else {
            Ok(())
        }
    }
}

/// Hands an event on as text. Checking is much faster than mending, and all but always enough.
fn deliver(
    data: &[u8],
    each: &mut dyn FnMut(&str) -> Result<Flow, Failure>,
) -> Result<Flow, Failure> {
    match std::str::from_utf8(data) {
        Ok(data) => each(data),
        Err(_) => each(&String::from_utf8_lossy(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::Random;

    fn events(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        let mut each = |data: &str| {
            events.push(data.to_owned());
            Ok(Flow::Continue(()))
        };
        for chunk in chunks {
            assert!(parser.feed(chunk, &mut each).unwrap().is_continue());
        }
        assert!(parser.finish(&mut each).unwrap().is_continue());
        events
    }

    #[test]
    fn every_line_ending_and_field() {
        let cases: &[(&[u8], &[&str])] = &[
            (b"data: a\n\ndata: b\n\n", &["a", "b"]),
            (b"data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            (b"data: a\r\rdata: b\r\r", &["a", "b"]),
            (b"data: a\n\r\ndata: b\r\n\n", &["a", "b"]),
            (b"data:a\n\n", &["a"]),
            (b"data:  a\n\n", &[" a"]),
            (b"data: a\ndata: b\n\n", &["a\nb"]),
            (b"data\n\n", &[""]),
            (b"data:\ndata:\n\n", &["\n"]),
            (b": ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", &["a"]),
            (b"\xef\xbb\xbfdata: a\n\n", &["a"]),
            (b"database: no\n\ndata: a\n\n", &["a"]),
            (b"\n\n\n", &[]),
            (b"data: no blank line", &["no blank line"]),
            (b"data: \xff\n\n", &["\u{fffd}"]),
            (b"", &[]),
        ];
        for (input, expected) in cases {
            assert_eq!(
                events(&[input]),
                *expected,
                "{:?}",
                String::from_utf8_lossy(input)
            );
        }
    }

    #[test]
    fn chunking_never_matters() {
        let body = "\u{feff}: ping\r\ndata: {\"a\":\"é€😀\"}\r\n\r\ndata: one\rdata: two\r\r:x\n\ndata: end\n\n";
        let expected = events(&[body.as_bytes()]);
        assert_eq!(expected, ["{\"a\":\"é€😀\"}", "one\ntwo", "end"]);
        let single: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
        assert_eq!(events(&single), expected);
        let mut random = Random::new(7);
        for _ in 0..500 {
            let mut rest = body.as_bytes();
            let mut chunks = Vec::new();
            while !rest.is_empty() {
                let (head, tail) = rest.split_at(random.below(rest.len()) + 1);
                chunks.push(head);
                rest = tail;
            }
            assert_eq!(events(&chunks), expected);
        }
    }

    #[test]
    fn an_event_is_bounded() {
        for piece in [&b"data: xxxxxxxx\n"[..], b"xxxxxxxxxxxxxxxx"] {
            let mut parser = Parser::default();
            let big = piece.repeat(64 << 10);
            let mut fed = 0;
            let failure = loop {
                match parser.feed(&big, &mut |_| Ok(Flow::Continue(()))) {
                    Ok(_) => fed += big.len(),
                    Err(failure) => break failure,
                }
                assert!(fed < 4 * MAX_EVENT);
            };
            assert_eq!(failure.cause, crate::provider::Cause::Rejected);
        }
    }

    #[test]
    fn the_receiver_may_stop() {
        let mut seen = 0;
        let flow = Parser::default().feed(b"data: a\n\ndata: b\n\n", &mut |_| {
            seen += 1;
            Ok(Flow::Break(()))
        });
        assert!(flow.unwrap().is_break());
        assert_eq!(seen, 1);
    }
}
