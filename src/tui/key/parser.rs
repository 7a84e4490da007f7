//! Splits the byte stream of a terminal into events, whatever way the bytes arrive.
//!
//! The first bytes that wait decide alone what they are, so that a stream cut at any byte gives the
//! same events. Only a person's Escape key needs a clock: its byte also starts every sequence, and
//! [`Parser::flush`] says that nothing followed.

use super::sequence;
use super::{InputEvent, Key, KeyPress};
use crate::tui::composer::MAX_DRAFT;

/// What ends a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// How much of a paste is kept, in bytes: of one that no draft takes, enough to say no to it.
const MAX_PASTE: usize = MAX_DRAFT + 1;

/// Longest sequence that is waited for, in bytes. What is longer is dropped.
const MAX_SEQUENCE: usize = 4096;

const ESC: u8 = 0x1b;

/// The state between two reads.
#[derive(Debug, Default)]
pub struct Parser {
    /// Bytes that are no whole event yet.
    pending: Vec<u8>,
    /// Text of a paste that has not ended.
    paste: Option<Vec<u8>>,
    /// A key has come in the spelling of the keyboard protocol.
    has_protocol: bool,
    /// The answer that waits has paused: what comes next is keys, or its end.
    is_stale: bool,
}

/// What the first bytes of the stream are.
enum Step {
    /// More bytes must tell.
    Wait,
    /// So many bytes are this event, or nothing to report.
    Take(usize, Option<InputEvent>),
    /// So many bytes start a paste.
    Paste(usize),
}

impl Parser {
    /// The events that are complete with these bytes.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Vec<InputEvent> {
        let mut events = Vec::new();
        if std::mem::take(&mut self.is_stale) && !ends_answer(bytes) {
            self.pending.clear();
        }
        while !bytes.is_empty() {
            match self.paste.take() {
                Some(text) => bytes = self.feed_paste(text, bytes, &mut events),
                None => {
                    self.pending.extend_from_slice(bytes);
                    let used = self.split(&mut events);
                    if self.paste.is_none() {
                        self.pending.drain(..used);
                        break;
                    }
                    // A paste may be long: what belongs to it stays where it is.
                    bytes = &bytes[bytes.len() - (self.pending.len() - used)..];
                    self.pending.clear();
                }
            }
        }
        events
    }

    /// Whether what waits is a key unless more bytes come soon.
    pub fn is_ambiguous(&self) -> bool {
        let after = self.pending.iter().position(|&byte| byte != ESC);
        match (self.pending.as_slice(), after) {
            ([], _) => false,
            (_, None) => true,
            (waiting, Some(at)) => {
                at > 0 && waiting.len() == at + 1 && b"[O]P_".contains(&waiting[at])
            }
        }
    }

    /// Whether every key that begins like a sequence is one: then what waits hardly is a key.
    pub fn has_protocol(&self) -> bool {
        self.has_protocol
    }

    /// Whether an answer is coming. All keys look like a part of it.
    pub fn is_inside_answer(&self) -> bool {
        !self.is_stale && matches!(self.pending.as_slice(), [ESC, b']' | b'P' | b'_', _, ..])
    }

    /// Takes an ambiguous beginning for the keys that it also is, because nothing followed. A
    /// sequence that is under way goes on waiting: a slow answer of the terminal types nothing.
    pub fn flush(&mut self) -> Vec<InputEvent> {
        if !self.is_ambiguous() {
            return Vec::new();
        }
        let waiting = std::mem::take(&mut self.pending);
        let escapes = waiting.iter().filter(|&&byte| byte == ESC).count();
        let mut presses = vec![KeyPress::plain(Key::Escape); escapes];
        if let (Some(last), Some(&byte)) = (presses.last_mut(), waiting.get(escapes)) {
            last.key = Key::Char(byte.into());
            last.alt = true;
        }
        presses.into_iter().map(InputEvent::Key).collect()
    }

    /// Whether a sequence or a paste has begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.paste.is_some() || !self.pending.is_empty()
    }

    /// Stops waiting for an end that does not come: a sequence is dropped, and what there is of a
    /// paste is a paste. An answer may still end with the next bytes, and is dropped the second time.
    pub fn give_up(&mut self) -> Vec<InputEvent> {
        self.is_stale = self.is_inside_answer();
        if !self.is_stale {
            self.pending.clear();
        }
        let unfinished = self.paste.take();
        unfinished.iter().map(|text| paste(text)).collect()
    }

    /// Takes events off the waiting bytes; returns how many bytes they were.
    fn split(&mut self, events: &mut Vec<InputEvent>) -> usize {
        let mut used = 0;
        while used < self.pending.len() {
            match decode(&self.pending[used..]) {
                Step::Wait => break,
                Step::Take(count, event) => {
                    let bytes = &self.pending[used..used + count];
                    self.has_protocol |= bytes.starts_with(b"\x1b[") && bytes.ends_with(b"u");
                    used += count;
                    events.extend(event);
                }
                Step::Paste(count) => {
                    self.paste = Some(Vec::new());
                    return used + count;
                }
            }
        }
        used
    }

    /// Adds to a paste; returns the bytes behind its end, if it ends.
    fn feed_paste<'a>(
        &mut self,
        mut text: Vec<u8>,
        bytes: &'a [u8],
        events: &mut Vec<InputEvent>,
    ) -> &'a [u8] {
        // The end may have begun in an earlier read.
        let from = text.len().saturating_sub(PASTE_END.len() - 1);
        text.extend_from_slice(bytes);
        if let Some(at) = memchr::memmem::find(&text[from..], PASTE_END) {
            let end = from + at;
            let behind = text.len() - (end + PASTE_END.len());
            events.push(paste(&text[..end]));
            return &bytes[bytes.len() - behind..];
        }
        if text.len() > MAX_PASTE + PASTE_END.len() {
            text.drain(MAX_PASTE..text.len() - PASTE_END.len());
        }
        self.paste = Some(text);
        &[]
    }
}

/// Whether bytes look like the end of an answer and not like keys.
fn ends_answer(bytes: &[u8]) -> bool {
    let control = bytes.iter().position(|&byte| byte < 0x20);
    let end = control.map(|at| &bytes[at..]);
    end.is_some_and(|end| end.starts_with(b"\x07") || end.starts_with(b"\x1b\\"))
}

fn paste(text: &[u8]) -> InputEvent {
    InputEvent::Paste(String::from_utf8_lossy(text).into_owned())
}

fn decode(bytes: &[u8]) -> Step {
    match bytes {
        [] => Step::Wait,
        [ESC, ..] => escape(bytes),
        [byte @ (0..=0x1f | 0x7f), ..] => key(1, sequence::control(*byte)),
        [byte @ 0x20..=0x7e, ..] => key(1, KeyPress::plain(Key::Char((*byte).into()))),
        _ => character(bytes),
    }
}

fn key(count: usize, press: KeyPress) -> Step {
    Step::Take(count, Some(InputEvent::Key(press)))
}

/// A character outside ASCII. Bytes that are none are dropped, and so are its control characters.
fn character(bytes: &[u8]) -> Step {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Step::Take(1, None),
    };
    for at in 1..length {
        match bytes.get(at) {
            None => return Step::Wait,
            Some(0x80..=0xbf) => {}
            Some(_) => return Step::Take(at, None),
        }
    }
    let c = std::str::from_utf8(&bytes[..length])
        .ok()
        .and_then(|text| text.chars().next());
    match c {
        Some(c) if !c.is_control() => key(length, KeyPress::plain(Key::Char(c))),
        _ => Step::Take(length, None),
    }
}

/// What follows an escape character: a sequence, or a key that alt was held with.
fn escape(bytes: &[u8]) -> Step {
    let lone = key(1, KeyPress::plain(Key::Escape));
    match bytes {
        [_] => Step::Wait,
        [_, b'[', ..] => control_sequence(bytes),
        [_, b'O', ..] => single_shift(bytes),
        [_, b']' | b'P' | b'_'] => Step::Wait,
        // The shapes of answers; anything else is alt and a key.
        [_, b']', b'0'..=b'9', ..]
        | [_, b'P', b'0'..=b'9' | b'>' | b'!' | b'=' | b'+', ..]
        | [_, b'_', b'G', ..] => string(bytes),
        // ctrl+c acts, whatever came before it.
        [_, 0x03, ..] => lone,
        [_, ESC] => Step::Wait,
        // Some terminals put an escape before the sequence of a key when alt is held.
        [_, ESC, b'[' | b'O', ..] => match escape(&bytes[1..]) {
            Step::Wait => Step::Wait,
            Step::Take(count, Some(InputEvent::Key(press))) if !press.alt => {
                key(count + 1, KeyPress { alt: true, ..press })
            }
            Step::Take(..) | Step::Paste(_) => lone,
        },
        [_, ESC, ..] => lone,
        _ => match decode(&bytes[1..]) {
            Step::Take(count, Some(InputEvent::Key(press))) => {
                key(count + 1, KeyPress { alt: true, ..press })
            }
            Step::Take(count, _) => Step::Take(count + 1, None),
            wait => wait,
        },
    }
}

/// `CSI`: parameters and a final byte. A control character breaks it off and acts itself.
fn control_sequence(bytes: &[u8]) -> Step {
    match bytes {
        // The Linux console names its first function keys like this.
        [_, _, b'[', last @ b'A'..=b'E', ..] => {
            return key(4, KeyPress::plain(Key::F(last - b'A' + 1)));
        }
        [_, _, b'['] => return Step::Wait,
        // The old mouse report carries three bytes of any value.
        [_, _, b'M', _, _, _, ..] => return Step::Take(6, None),
        [_, _, b'M', ..] => return Step::Wait,
        _ => {}
    }
    let is_private = matches!(bytes.get(2), Some(b'<'..=b'?'));
    for (at, &byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            // rxvt ends shifted keys with what is elsewhere no final byte.
            b'$' if is_private => {}
            0x40..=0x7e | b'$' => {
                return match &bytes[2..at] {
                    b"200" if byte == b'~' => Step::Paste(at + 1),
                    params => Step::Take(at + 1, sequence::control_sequence(params, byte)),
                };
            }
            0x20..=0x3f if at < MAX_SEQUENCE => {}
            _ => return Step::Take(at, None),
        }
    }
    Step::Wait
}

/// `SS3`: keys of the application modes, some with a modifier as a digit. What cannot end one is a key
/// of its own.
fn single_shift(bytes: &[u8]) -> Step {
    let (digit, last) = match bytes {
        [_, _, digit @ b'2'..=b'8', last, ..] => (Some(digit - b'0'), last),
        [_, _] | [_, _, b'2'..=b'8'] => return Step::Wait,
        [_, _, last, ..] => (None, last),
        _ => return Step::Wait,
    };
    let count = 3 + usize::from(digit.is_some());
    match sequence::single_shift(digit, *last) {
        Some(press) => key(count, press),
        None if matches!(last, b'@'..=b'~') => Step::Take(count, None),
        None => key(
            2,
            KeyPress {
                alt: true,
                ..KeyPress::plain(Key::Char('O'))
            },
        ),
    }
}

/// `OSC`, `DCS` and `APC`: a body up to BEL or ST. A control character breaks it off.
fn string(bytes: &[u8]) -> Step {
    for (at, &byte) in bytes.iter().enumerate().skip(2) {
        let end = match (byte, bytes.get(at + 1)) {
            (0x07, _) => at + 1,
            (ESC, None) => return Step::Wait,
            (ESC, Some(b'\\')) => at + 2,
            (0..=0x1f, _) => return Step::Take(at, None),
            _ if at >= MAX_SEQUENCE => return Step::Take(at, None),
            _ => continue,
        };
        let reply = match bytes[1] {
            b']' => sequence::operating_system(&bytes[2..at]),
            _ => None,
        };
        return Step::Take(end, reply.map(InputEvent::Reply));
    }
    Step::Wait
}
