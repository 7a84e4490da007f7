//! Tells a paste from typing in a terminal without bracketed paste.
//!
//! Nobody types text, Enter and more text within one read. What arrives like that is one paste, and
//! its line ends submit nothing. An Enter behind a burst of text is held until it is quiet: it is
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
                    // What the terminal says by itself interrupts no paste.
                    if matches!(event, InputEvent::Key(_) | InputEvent::Mouse(_)) {
                        passed.extend(self.quiet());
                    }
                    passed.push(event);
                }
            }
        }
        self.end_run(run, &mut passed);
        passed
    }

    /// Whether [`Burst::quiet`] is to be called when nothing arrives for a moment.
    pub fn waits(&self) -> bool {
        self.is_warm
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
        if !text.is_empty() {
            let leading = text.iter().take_while(|event| is_enter(event)).count();
            let is_broken = text[leading..].iter().any(is_enter);
            let goes_on = self.held > 0 || self.is_warm && text.iter().any(is_blank);
            let is_paste = is_broken || goes_on || text.len() >= PASTE;
            if is_paste {
                let held = "\r".repeat(std::mem::take(&mut self.held));
                let pieces = text.iter().filter_map(piece_of);
                let whole = std::iter::once(held).chain(pieces).collect();
                passed.push(InputEvent::Paste(whole));
            } else {
                passed.extend_from_slice(text);
            }
            let has_paste = text
                .iter()
                .any(|event| matches!(event, InputEvent::Paste(_)));
            self.is_warm |= is_paste || has_paste || text.len() >= MANY;
        }
        match self.is_warm {
            true => self.held += end.len(),
            false => passed.extend_from_slice(end),
        }
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

/// Whether it is a key that means something else than the blank it would be in a paste.
fn is_blank(event: &InputEvent) -> bool {
    matches!(event, InputEvent::Key(ENTER | TAB | LINE_FEED))
}
