//! Standard input, line by line, on a thread of its own.

use std::io::{self, Read};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::error::Result;

/// The longest line, in bytes without its end. There is no safe place to go on behind a longer one.
pub const LIMIT: usize = 10 << 20;
/// Bytes asked for at once. The lines of one read travel together.
const CHUNK: usize = 64 * 1024;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What the reader found.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming {
    /// Lines that are not blank, in order.
    Lines(Vec<Vec<u8>>),
    /// A line over the limit. Nothing comes after.
    TooLong,
}

/// Starts reading. The channel closes at the end of the input.
pub fn start() -> Result<Receiver<Incoming>> {
    let (sender, receiver) = bounded(1);
    std::thread::Builder::new()
        .name("e-stdin".into())
        .spawn(move || read(io::stdin().lock(), &sender))?;
    Ok(receiver)
}

fn read(mut from: impl Read, sender: &Sender<Incoming>) {
    let mut buffer = vec![0; CHUNK];
    let mut line = Vec::new();
    let mut is_first = true;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // Input that cannot be read any more has ended.
            Err(_) => 0,
        };
        let mut lines = Vec::new();
        let mut rest = &buffer[..count];
        let mut too_long = false;
        while !too_long {
            let end = memchr::memchr(b'\n', rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            too_long = line.len() + piece.len() > LIMIT;
            if !too_long {
                line.extend_from_slice(piece);
            }
            // The last line may lack its end.
            if !too_long && (end.is_some() || count == 0) {
                let mut whole = std::mem::take(&mut line);
                if std::mem::take(&mut is_first) && whole.starts_with(BYTE_ORDER_MARK) {
                    whole.drain(..BYTE_ORDER_MARK.len());
                }
                if !whole.trim_ascii().is_empty() {
                    lines.push(whole);
                }
            }
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => break,
            }
        }
        if !lines.is_empty() && sender.send(Incoming::Lines(lines)).is_err() {
            return;
        }
        if too_long {
            // Nobody is left to tell when this fails.
            let _ = sender.send(Incoming::TooLong);
        }
        if too_long || count == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8]) -> Vec<Incoming> {
        let (sender, receiver) = bounded(1);
        let input = io::Cursor::new(input.to_vec());
        std::thread::spawn(move || read(input, &sender));
        receiver.iter().collect()
    }

    fn lines(input: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        for incoming in all(input) {
            match incoming {
                Incoming::Lines(lines) => found.extend(lines),
                Incoming::TooLong => found.push(b"too long".to_vec()),
            }
        }
        let text = |line: Vec<u8>| String::from_utf8_lossy(&line).into_owned();
        found.into_iter().map(text).collect()
    }

    #[test]
    fn lines_of_all_kinds() {
        let cases: &[(&[u8], &[&str])] = &[
            (b"", &[]),
            (b"\n \r\n\t\n", &[]),
            (b"a\nb\r\nc", &["a", "b\r", "c"]),
            ("\u{feff}a\n\u{feff}b\n".as_bytes(), &["a", "\u{feff}b"]),
            ("\u{feff}\n".as_bytes(), &[]),
        ];
        for (input, expected) in cases {
            assert_eq!(lines(input), *expected, "{input:?}");
        }
    }

    #[test]
    fn the_limit_is_exact_and_ends_the_reading() {
        let mut input = vec![b'x'; LIMIT];
        input.extend_from_slice(b"\nshort\n");
        assert_eq!(lines(&input).len(), 2);
        input.insert(0, b'x');
        assert_eq!(lines(&input), ["too long"]);
        let mut late = b"first\n".to_vec();
        late.extend(vec![b'x'; LIMIT + 1]);
        assert_eq!(lines(&late), ["first", "too long"]);
    }
}
