//! Tells a paste from typing in a terminal without bracketed paste.
//!
//! Nobody types text, Enter and more text within one read. What arrives like that is one paste, and
//! its line ends submit nothing. An Enter at the end of such a read is held until it is quiet: it is
//! Enter when nothing follows, and a line end when more text does.

use super::{InputEvent, Key, KeyPress};

/// Characters in one read that no hands type.
const MANY: usize = 8;

/// Characters in one read that are a paste even on one line.
const PASTE: usize = 64;

const ENTER: KeyPress = KeyPress::plain(Key::Enter);
const TAB: KeyPress = KeyPress::plain(Key::Tab);

/// What a line feed is as a key.
const LINE_FEED: KeyPress = KeyPress {
    ctrl: true,
    ..KeyPress::plain(Key::Char('j'))
};

/// What is remembered from one read to the next.
#[derive(Debug, Default)]
pub struct Burst {
    /// Enters that wait for what follows.
    held: usize,
    /// The last read was a burst of text, and it has not been quiet since.
    is_warm: bool,
}

impl Burst {
    /// Rewrites the events of one read.
    pub fn pass(&mut self, events: Vec<InputEvent>) -> Vec<InputEvent> {
        let mut passed = Vec::with_capacity(events.len());
        let mut run = Vec::new();
        for event in events {
            match piece_of(&event) {
                Some(_) => run.push(event),
                None => {
                    self.end_run(std::mem::take(&mut run), &mut passed);
                    passed.extend(self.quiet());
                    passed.push(event);
                }
            }
        }
        self.end_run(run, &mut passed);
        passed
    }

    /// Whether [`Burst::quiet`] is to be called when nothing arrives for a moment.
    pub fn waits(&self) -> bool {
        self.is_warm || self.held > 0
    }

    /// Nothing followed: Enters that were held are keys.
    pub fn quiet(&mut self) -> Vec<InputEvent> {
        self.is_warm = false;
        vec![InputEvent::Key(ENTER); std::mem::take(&mut self.held)]
    }

    /// Decides about text that arrived in one piece.
    fn end_run(&mut self, run: Vec<InputEvent>, passed: &mut Vec<InputEvent>) {
        let enters = run.iter().rev().take_while(|event| is_enter(event)).count();
        let (text, end) = run.split_at(run.len() - enters);
        let after_text = self.is_warm || self.held > 0 || !text.is_empty();
        if text.is_empty() {
            // Enters alone, which are keys unless a burst is going on.
            match after_text {
                true => self.held += end.len(),
                false => passed.extend(run),
            }
            return;
        }
        let first_text = text.iter().position(|event| !is_enter(event)).unwrap_or(0);
        let is_broken = text[first_text..].iter().any(is_enter);
        let has_gaps = text
            .iter()
            .any(|event| matches!(event, InputEvent::Key(ENTER | TAB | LINE_FEED)));
        let is_paste =
            self.held > 0 || is_broken || text.len() >= PASTE || self.is_warm && has_gaps;
        if is_paste {
            let held = "\r".repeat(std::mem::take(&mut self.held));
            let pieces = text.iter().filter_map(piece_of);
            passed.push(InputEvent::Paste(
                std::iter::once(held).chain(pieces).collect(),
            ));
        } else {
            passed.extend_from_slice(text);
        }
        self.is_warm |= is_paste || text.len() >= MANY;
        self.held = end.len();
    }
}

/// The text that an event would be in a paste.
fn piece_of(event: &InputEvent) -> Option<String> {
    match event {
        InputEvent::Paste(text) => Some(text.clone()),
        InputEvent::Key(ENTER) => Some("\r".into()),
        InputEvent::Key(TAB) => Some("\t".into()),
        InputEvent::Key(LINE_FEED) => Some("\n".into()),
        InputEvent::Key(press) => press.text().map(String::from),
        _ => None,
    }
}

fn is_enter(event: &InputEvent) -> bool {
    *event == InputEvent::Key(ENTER)
}
