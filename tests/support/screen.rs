//! A terminal emulator that is looked at: text, styles, scrollback, cursor and modes.

use std::fmt::Write;
use std::num::NonZeroU16;

use vt100::{Callbacks, Color, MouseProtocolMode, Parser};

/// Rows of scrollback that are kept.
const HISTORY: usize = 100_000;

/// The emulator. It answers questions about the cursor like a terminal.
pub struct Screen {
    parser: Parser<Seen>,
    /// The beginning of a character that is not there yet: the parser drops what follows one that
    /// comes in two pieces.
    held: Vec<u8>,
}

/// What the emulator itself has no state for.
#[derive(Debug, Default)]
pub struct Seen {
    /// Bytes that the terminal would have typed.
    replies: Vec<u8>,
    /// Keyboard flags pushed on the main and on the alternate screen.
    pub keyboard: [i32; 2],
    /// Titles pushed.
    pub titles: i32,
    pub title: String,
    /// Whether a synchronised update is on its way, so that what is shown is half a frame.
    pub is_updating: bool,
    /// What was copied to the clipboard, as it came.
    pub clipboard: Vec<String>,
    /// Sequences that e has no reason to write.
    pub strange: Vec<String>,
    /// A terminal that answers no question.
    pub is_mute: bool,
    /// The answer to the question for the background colour.
    pub background: Option<&'static str>,
}

impl Callbacks for Seen {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.clipboard
            .push(String::from_utf8_lossy(data).into_owned());
    }

    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.strange.push("bell".into());
    }

    fn unhandled_escape(
        &mut self,
        _: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        byte: u8,
    ) {
        // The end of a string sequence is one of its own here.
        if (first, byte) != (None, b'\\') {
            self.strange.push(format!("escape {first:?} {byte}"));
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        match params {
            [b"11", b"?"] => {
                let answer = self.background.filter(|_| !self.is_mute);
                let answer = answer.map(|color| format!("\x1b]11;{color}\x1b\\"));
                self.replies.extend(answer.unwrap_or_default().bytes());
            }
            [b"8", ..] => {}
            _ => {
                let text = params.join(&b';').escape_ascii().to_string();
                self.strange.push(format!("osc {text}"));
            }
        }
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        end: char,
    ) {
        let keyboard = &mut self.keyboard[usize::from(screen.alternate_screen())];
        match (first, params.first().copied(), end) {
            (None, Some([6]), 'n') if self.is_mute => {}
            (None, Some([6]), 'n') => {
                let (row, column) = screen.cursor_position();
                let reply = format!("\x1b[{};{}R", row + 1, column + 1);
                self.replies.extend_from_slice(reply.as_bytes());
            }
            // Flags that are set again where they were pushed.
            (Some(b'='), Some([1]), 'u') => {}
            (Some(b'>'), _, 'u') => *keyboard += 1,
            (Some(b'<'), _, 'u') => *keyboard -= 1,
            (None, Some([22]), 't') => self.titles += 1,
            (None, Some([23]), 't') => self.titles -= 1,
            (Some(b'?'), Some([2026]), mode) => self.is_updating = mode == 'h',
            // Line breaks of the terminal's own, which the emulator always makes.
            (Some(b'?'), Some([7]), 'h' | 'l') => {}
            _ => self.strange.push(format!("csi {first:?} {params:?} {end}")),
        }
    }
}

impl Screen {
    pub fn new(columns: u16, rows: u16) -> Self {
        let (columns, rows) = (size(columns), size(rows));
        let parser = Parser::new_with_callbacks(rows, columns, HISTORY, Seen::default());
        Self {
            parser,
            held: Vec::new(),
        }
    }

    /// Shows bytes. Returns what the terminal types in answer to them.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let is_begun = |bytes: &&[u8]| {
            let error = std::str::from_utf8(bytes).err();
            error.is_some_and(|error| error.error_len().is_none())
        };
        let last = self.held.utf8_chunks().last().map(|last| last.invalid());
        let begun = last.filter(is_begun).map_or(0, <[u8]>::len);
        let rest = self.held.split_off(self.held.len() - begun);
        self.parser
            .process(&std::mem::replace(&mut self.held, rest));
        std::mem::take(&mut self.parser.callbacks_mut().replies)
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.set_size(size(rows), size(columns));
    }

    /// The visible rows, without blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        let screen = self.parser.screen();
        let rows = screen.rows(0, screen.size().1.get());
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// The visible rows as one text, without blank rows at the end.
    pub fn text(&self) -> String {
        self.rows().join("\n").trim_end().to_owned()
    }

    /// What has scrolled away, oldest first.
    pub fn scrollback(&mut self) -> Vec<String> {
        let screen = self.parser.screen_mut();
        let (length, width) = (screen.scrollback_len(), screen.size().1.get());
        let mut rows = Vec::with_capacity(length);
        for offset in (1..=length).rev() {
            screen.set_scrollback(offset);
            let row = screen.rows(0, width).next().unwrap_or_default();
            rows.push(row.trim_end().to_owned());
        }
        screen.set_scrollback(0);
        rows
    }

    /// Row and column of the cursor; none while it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let screen = self.parser.screen();
        (!screen.hide_cursor()).then(|| screen.cursor_position())
    }

    pub fn is_alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    pub fn seen(&self) -> &Seen {
        self.parser.callbacks()
    }

    /// The same, to choose what the terminal answers.
    pub fn seen_mut(&mut self) -> &mut Seen {
        self.parser.callbacks_mut()
    }

    /// Scrollback and screen, without blank rows at the end.
    pub fn everything(&mut self) -> Vec<String> {
        let mut rows = self.scrollback();
        rows.extend(self.rows());
        let blank = rows.iter().rev().take_while(|row| row.is_empty()).count();
        rows.truncate(rows.len() - blank);
        rows
    }

    /// The modes that a program may leave on, as words; empty on a fresh terminal.
    pub fn modes(&self) -> String {
        let (screen, seen) = (self.parser.screen(), self.seen());
        let modes = [
            (screen.alternate_screen(), "alternate"),
            (screen.bracketed_paste(), "paste"),
            (screen.hide_cursor(), "hidden"),
            (
                screen.mouse_protocol_mode() != MouseProtocolMode::None,
                "mouse",
            ),
            (screen.bold() || screen.dim() || screen.inverse(), "style"),
            (screen.fgcolor() != Color::Default, "colour"),
            (seen.keyboard[0] != 0, "keyboard"),
            (seen.keyboard[1] != 0, "alternate keyboard"),
            (seen.titles != 0, "title"),
        ];
        let words: Vec<_> = modes
            .iter()
            .filter(|mode| mode.0)
            .map(|mode| mode.1)
            .collect();
        words.join(" ")
    }

    /// The visible rows, each with its style runs below it: first and last column, and the style.
    pub fn golden(&self) -> String {
        let mut text = String::new();
        for (row, line) in (0..).zip(self.rows()) {
            let _ = writeln!(text, "|{line}");
            for (first, last, style) in self.runs(row) {
                let _ = writeln!(text, "  {first}-{last} {style}");
            }
        }
        if let Some((row, column)) = self.cursor() {
            let _ = writeln!(text, "cursor {row},{column}");
        }
        text
    }

    /// Runs of one style that is not the plain one.
    pub fn runs(&self, row: u16) -> Vec<(u16, u16, String)> {
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for column in 0..self.parser.screen().size().1.get() {
            let cell = self.parser.screen().cell(row, column);
            let style = match runs.last() {
                // The right half of a wide character looks like the left one.
                Some((_, _, last)) if cell.is_some_and(|cell| cell.is_wide_continuation()) => {
                    last.clone()
                }
                _ => self.style(row, column),
            };
            match runs.last_mut() {
                Some((_, last, same)) if *last + 1 == column && *same == style => *last = column,
                _ if style.is_empty() => {}
                _ => runs.push((column, column, style)),
            }
        }
        runs
    }

    fn style(&self, row: u16, column: u16) -> String {
        let Some(cell) = self.parser.screen().cell(row, column) else {
            return String::new();
        };
        let mut words = Vec::new();
        for (is_on, word) in [
            (cell.bold(), "bold"),
            (cell.dim(), "dim"),
            (cell.italic(), "italic"),
            (cell.underline(), "underline"),
            (cell.inverse(), "reverse"),
        ] {
            words.extend(is_on.then(|| word.to_owned()));
        }
        for (color, ground) in [(cell.fgcolor(), "fg"), (cell.bgcolor(), "bg")] {
            match color {
                Color::Default => {}
                Color::Idx(index) => words.push(format!("{ground}={index}")),
                Color::Rgb(r, g, b) => words.push(format!("{ground}=#{r:02x}{g:02x}{b:02x}")),
            }
        }
        words.join(" ")
    }
}

/// Compares with `tests/golden/NAME.txt`, or writes that file when `E_BLESS` is 1.
pub fn assert_golden(name: &str, actual: &str) {
    if !bless(name, actual) {
        let expected = golden(name);
        assert!(
            expected == actual,
            "{name} differs; run with E_BLESS=1 and review the diff\n--- is\n{actual}--- was\n{expected}",
        );
    }
}

/// What a golden file says; nothing when there is none.
pub fn golden(name: &str) -> String {
    std::fs::read_to_string(golden_path(name)).unwrap_or_default()
}

/// Writes a golden file when `E_BLESS` is 1.
pub fn bless(name: &str, actual: &str) -> bool {
    let asked = is_blessing();
    if asked {
        std::fs::write(golden_path(name), actual).expect("the golden file is written");
    }
    asked
}

/// Whether golden files are to be written.
pub fn is_blessing() -> bool {
    std::env::var("E_BLESS").is_ok_and(|value| value == "1")
}

fn golden_path(name: &str) -> std::path::PathBuf {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    directory.join(format!("{name}.txt"))
}

fn size(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value).expect("a size above 0")
}

#[test]
fn text_may_come_in_pieces_of_any_size() {
    let text = "a · ←/→ é日👩‍🚀 \u{301}z";
    for size in 1..text.len() {
        let mut screen = Screen::new(40, 2);
        for piece in text.as_bytes().chunks(size) {
            screen.feed(piece);
        }
        let mut whole = Screen::new(40, 2);
        whole.feed(text.as_bytes());
        assert_eq!(screen.text(), whole.text(), "{size}");
    }
}
