//! The painter against an emulator that does not wrap rows again.

mod frames;
mod storm;

use e::tui::frame::{Caret, Frame, InlineFrame, Rect, Screen as Painter, Size, Surface};
use e::tui::style::{Row, Style, Token};
use e::tui::terminal::ASK_CURSOR;
use e::tui::theme::{Background, Depth, Palette, Theme};

use crate::support::{Random, Screen, assert_golden};

/// A painter, the terminal it writes to, and what was asked of it so far.
struct Rig {
    painter: Painter,
    screen: Screen,
    /// What was there before, and every row that settled.
    settled: Vec<String>,
    live: Vec<String>,
    bytes: Vec<u8>,
}

impl Rig {
    fn new(columns: u16, rows: u16, shell: &[&str]) -> Self {
        let mut screen = Screen::new(columns, rows);
        for line in shell {
            screen.feed(format!("{line}\r\n").as_bytes());
        }
        Self {
            painter: painter(columns, rows),
            screen,
            settled: shell.iter().map(ToString::to_string).collect(),
            live: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Some rows settle, and these are live now, with the cursor `up` rows above the last.
    fn show(&mut self, settled: &[String], live: &[String], up: usize) {
        let frame = InlineFrame {
            settled: rows(settled),
            live: rows(live),
            caret: Some(Caret {
                row: live.len().saturating_sub(1 + up),
                column: 1,
            }),
            ..InlineFrame::default()
        };
        self.settled.extend_from_slice(settled);
        self.live = live.to_vec();
        self.paint(frame);
    }

    fn paint(&mut self, frame: InlineFrame) {
        self.find();
        self.bytes = self.painter.paint(Frame::Inline(frame));
        self.screen.feed(&self.bytes);
    }

    fn find(&mut self) {
        if self.painter.is_lost() {
            let reply = String::from_utf8(self.screen.feed(ASK_CURSOR)).unwrap();
            let reply = reply.trim_start_matches("\x1b[").trim_end_matches('R');
            let (row, column) = reply.split_once(';').unwrap();
            let number = |text: &str| text.parse::<u16>().unwrap() - 1;
            let now = self.painter.size();
            self.painter.cursor_is_at(number(row), number(column), now);
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.resize(columns, rows);
        self.painter.resize(Size { columns, rows });
    }

    /// Scrollback and screen, from the first row to the last that is not blank.
    fn everything(&mut self) -> Vec<String> {
        let mut rows = self.screen.scrollback();
        rows.extend(self.screen.rows());
        let blank = rows.iter().rev().take_while(|row| row.is_empty()).count();
        rows.truncate(rows.len() - blank);
        rows
    }

    fn assert_exact(&mut self) {
        let expected = [self.settled.clone(), self.live.clone()].concat();
        assert_eq!(self.everything(), expected);
        let column = self.screen.cursor().expect("the cursor is shown").1;
        assert!(column <= 1, "{column}");
    }
}

fn painter(columns: u16, rows: u16) -> Painter {
    let theme = Theme::built_in(Background::Dark);
    let palette = Palette::new(theme, Depth::Indexed);
    Painter::new(Size { columns, rows }, palette, false)
}

fn rows(texts: &[String]) -> Vec<Row> {
    let row = |text: &String| Row::of(text.clone(), Style::default());
    texts.iter().map(row).collect()
}

fn numbered(word: &str, numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("{word} {number}.")).collect()
}

#[test]
fn settled_rows_reach_the_scrollback_once_and_in_order() {
    let mut rig = Rig::new(40, 10, &["$ ls", "a b c", "$ e"]);
    rig.show(&[], &numbered("live", 0..3), 1);
    rig.assert_exact();
    rig.show(&numbered("row", 0..2), &numbered("live", 1..4), 1);
    rig.assert_exact();
    assert_eq!(rig.screen.scrollback().len(), 0);
    rig.show(&numbered("row", 2..500), &numbered("live", 2..5), 0);
    rig.assert_exact();
    rig.show(&[], &numbered("live", 9..10), 0);
    rig.assert_exact();
    rig.show(&numbered("row", 500..501), &numbered("live", 2..9), 3);
    rig.assert_exact();
}

#[test]
fn a_prompt_without_its_line_break_is_not_painted_over() {
    for rows in [1, 2, 5] {
        let mut rig = Rig::new(40, rows, &[]);
        rig.screen.feed(b"\r\n\r\n\r\n$ e");
        let before = rig.everything();
        rig.settled = before;
        rig.show(&[], &numbered("live", 0..1), 0);
        rig.assert_exact();
    }
}

#[test]
fn random_appends_and_heights_keep_every_row() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut rig = Rig::new(30, 12, &["$ e"]);
        let mut count = 0;
        for _ in 0..60 {
            if random.index(3) == 0 {
                rig.resize(30, 6 + u16::try_from(random.index(20)).unwrap());
            }
            if random.index(9) == 0 {
                rig.painter.forget();
            }
            let more = [0, 0, 1, 2, 40][random.index(5)];
            let first = random.index(50);
            let live = 1 + random.index(5);
            let live = numbered("live", first..first + live);
            let up = random.index(live.len());
            rig.show(&numbered("row", count..count + more), &live, up);
            count += more;
            rig.assert_exact();
        }
    }
}

#[test]
fn rows_that_a_small_screen_pushed_out_are_not_written_again() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut rig = Rig::new(30, 20, &["$ e"]);
        let (mut settled, mut known) = (0, 0);
        for _ in 0..40 {
            let height = 2 + random.index(20);
            rig.resize(30, height.try_into().unwrap());
            // The reply grows at its end and settles from its start. What is live fits the screen.
            known += random.index(4);
            let now = settled + random.index(known - settled + 1);
            let now = now.max((known + 1).saturating_sub(height));
            let mut live = numbered("row", now..known);
            live.push("> ask".to_owned());
            rig.show(&numbered("row", settled..now), &live, 0);
            settled = now;
        }
        rig.resize(30, 24);
        rig.show(&numbered("row", settled..known), &["> ask".to_owned()], 0);
        let all = rig.everything();
        let texts: Vec<_> = all.iter().filter(|row| row.starts_with("row")).collect();
        let expected = numbered("row", 0..known);
        assert_eq!(
            texts,
            expected.iter().collect::<Vec<_>>(),
            "{seed}: {all:#?}"
        );
    }
}

#[test]
fn widths_that_change_while_a_reply_streams_keep_every_row() {
    let mut rig = Rig::new(200, 24, &["$ e"]);
    let divider = |columns: u16| "-".repeat(columns.into());
    for step in 0..50 {
        let columns = if step < 25 {
            200 - 6 * step
        } else {
            56 + 6 * (step - 25)
        };
        let height = 14 + step % 11;
        rig.resize(columns, height);
        let settled = numbered("row", usize::from(step) * 3..usize::from(step) * 3 + 3);
        rig.show(
            &settled,
            &[divider(columns), "> ask".into(), "status".into()],
            1,
        );
        assert_eq!(
            rig.screen
                .rows()
                .iter()
                .filter(|row| row.starts_with("--"))
                .count(),
            1
        );
    }
    rig.assert_exact();
}

#[test]
fn settled_rows_come_again_in_another_width() {
    let mut rig = Rig::new(20, 8, &["$ e"]);
    rig.show(&numbered("a row of twenty", 0..9), &["> ask".into()], 0);
    let visible = 7;
    assert_eq!(rig.painter.settled_rows(), visible);
    rig.resize(12, 8);
    rig.find();
    assert_eq!(rig.painter.settled_rows(), visible);
    let replace = 6;
    let halves: Vec<_> = (3..9)
        .flat_map(|n| ["a row of".to_owned(), format!("twenty {n}.")])
        .collect();
    rig.paint(InlineFrame {
        replace,
        settled: rows(&halves),
        live: rows(&["> ask".into()]),
        caret: None,
    });
    let all = rig.everything();
    let end = [halves, vec!["> ask".into()]].concat();
    assert_eq!(all[all.len() - end.len()..], end);
    // What was not replaced is cut by the emulator, and written once.
    assert_eq!(all.len(), 1 + 3 + end.len());
}

#[test]
fn a_terminal_that_wraps_again_is_cleared_where_the_live_region_begins() {
    let size = |columns| Size { columns, rows: 20 };
    let theme = Theme::built_in(Background::Dark);
    let palette = Palette::new(theme, Depth::None);
    let live = |columns: usize| ["-".repeat(columns), "> ask".into(), "status".into()];
    // At 10 columns the divider of 25 takes three rows, and the settled row of 15 two.
    for (found, expected, settled) in [(9, 6, 2), (4, 1, 0), (3, 0, 0), (1, 0, 0)] {
        let mut painter = Painter::new(size(25), palette.clone(), true);
        let frame = |columns, settled: &[&str]| {
            let settled: Vec<_> = settled.iter().map(ToString::to_string).collect();
            Frame::Inline(InlineFrame {
                settled: rows(&settled),
                live: rows(&live(columns)),
                caret: Some(Caret { row: 1, column: 0 }),
                ..InlineFrame::default()
            })
        };
        painter.paint(frame(25, &["settled", "fifteen columns"]));
        painter.resize(size(10));
        assert!(painter.is_lost());
        painter.cursor_is_at(found, 0, size(10));
        assert_eq!(painter.settled_rows(), settled, "{found}");
        let bytes = painter.paint(frame(10, &[]));
        let up = match found - expected {
            0 => String::new(),
            rows => format!("\x1b[{rows}A"),
        };
        let erase = if expected == 0 {
            "\x1b[K\x1b[B\x1b[J"
        } else {
            "\x1b[J"
        };
        let erased = format!("\x1b[?7l{up}\r{erase}");
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(&erased), "{found}: {text:?}");
        assert_eq!(painter.settled_rows(), 0);
    }
}

#[test]
fn a_live_region_beyond_the_screen_shows_its_end_or_its_caret() {
    let mut rig = Rig::new(20, 4, &["$ e"]);
    rig.show(&[], &numbered("live", 0..9), 0);
    assert_eq!(rig.screen.rows(), numbered("live", 5..9));
    rig.show(&[], &numbered("live", 0..9), 7);
    assert_eq!(rig.screen.rows(), numbered("live", 1..5));
    assert_eq!(rig.screen.cursor(), Some((0, 1)));
    rig.show(&numbered("live", 0..8), &numbered("live", 8..9), 0);
    rig.assert_exact();
}

#[test]
fn a_second_screen_leaves_the_first_as_it_was() {
    let mut rig = Rig::new(20, 6, &["$ e"]);
    rig.show(&numbered("row", 0..9), &numbered("live", 0..2), 0);
    let before = rig.screen.golden();
    let size = rig.painter.size();
    let mut surface = Surface::new(size);
    surface.draw(surface.area(), &rows(&numbered("full", 0..6)));
    rig.screen.feed(b"\x1b[?1049h");
    let bytes = rig.painter.paint(Frame::Full {
        surface: surface.clone(),
        caret: None,
    });
    rig.screen.feed(&bytes);
    assert_eq!(rig.screen.rows(), numbered("full", 0..6));
    assert_eq!(rig.screen.cursor(), None);
    // The same again is nothing; one of another size neither.
    let frame = Frame::Full {
        surface,
        caret: None,
    };
    assert!(rig.painter.paint(frame).is_empty());
    let small = Surface::new(Size {
        columns: 9,
        rows: 6,
    });
    let frame = Frame::Full {
        surface: small,
        caret: None,
    };
    assert!(rig.painter.paint(frame).is_empty());
    rig.screen.feed(b"\x1b[?1049l");
    rig.show(&[], &numbered("live", 0..2), 0);
    assert_eq!(rig.screen.golden(), before);
    rig.assert_exact();
}

#[test]
fn the_screen_is_parked_for_others_and_taken_again() {
    let mut rig = Rig::new(20, 6, &["$ e"]);
    for round in 0..4 {
        rig.show(
            &numbered("row", round * 3..round * 3 + 3),
            &numbered("live", 0..3),
            1,
        );
        rig.assert_exact();
        let bytes = rig.painter.park();
        rig.screen.feed(&bytes);
        rig.live.clear();
        rig.screen.feed(b"$ vi\r\n");
        rig.settled.push("$ vi".into());
    }
    assert_eq!(rig.everything(), rig.settled);
    assert_eq!(rig.screen.modes(), "");
}

#[test]
fn a_terminal_that_does_not_answer_is_guessed() {
    let mut rig = Rig::new(20, 8, &["$ e"]);
    rig.screen.feed(b"\x1b[8;1H");
    rig.painter.cursor_is_unknown();
    rig.show(&numbered("row", 0..20), &numbered("live", 0..2), 0);
    for height in [5, 9, 3, 12] {
        rig.resize(20, height);
        rig.painter.cursor_is_unknown();
        rig.show(&[], &numbered("live", 0..2), 0);
    }
    let all = rig.everything();
    let expected = [numbered("row", 0..20), numbered("live", 0..2)].concat();
    assert_eq!(all[all.len() - 22..], expected);
}

#[test]
fn an_answer_for_another_size_is_worth_nothing() {
    let mut painter = painter(20, 8);
    let size = |rows| Size { columns: 20, rows };
    painter.cursor_is_at(3, 0, size(5));
    assert!(painter.is_lost());
    assert_eq!(painter.size(), size(5));
    painter.cursor_is_at(3, 0, size(5));
    assert!(!painter.is_lost());
    painter.cursor_is_at(3, 0, size(8));
    assert_eq!(painter.size(), size(5));
}

#[test]
fn a_frame_that_meets_another_height_loses_nothing() {
    for (height, meets) in [(12, 8), (8, 12), (12, 9), (9, 30)] {
        let mut rig = Rig::new(30, height, &["$ e"]);
        rig.show(&numbered("row", 0..20), &numbered("live", 0..3), 0);
        // The terminal is resized while the frame is on its way.
        rig.screen.resize(30, meets);
        rig.show(&numbered("row", 20..25), &numbered("live", 0..3), 0);
        rig.painter.resize(Size {
            columns: 30,
            rows: meets,
        });
        rig.show(&numbered("row", 25..26), &numbered("live", 0..3), 0);
        rig.assert_exact();
    }
}

#[test]
fn frames_of_any_size_do_no_harm() {
    for (columns, height) in [(0, 0), (1, 1), (2, 1), (1, 3), (65535, 1)] {
        let mut painter = painter(columns, height);
        let size = painter.size();
        let mut screen = Screen::new(size.columns, size.rows);
        for count in [0, 1, 5] {
            let frame = InlineFrame {
                replace: usize::MAX,
                settled: rows(&numbered("日本", 0..count)),
                live: rows(&numbered("live", 0..count)),
                caret: Some(Caret {
                    row: 99,
                    column: usize::MAX,
                }),
            };
            screen.feed(&painter.paint(Frame::Inline(frame)));
            painter.resize(Size {
                columns: height,
                rows: columns,
            });
            painter.resize(size);
        }
        screen.feed(&painter.park());
    }
}

#[test]
fn a_frame_costs_what_changed() {
    let mut rig = Rig::new(100, 30, &["$ e"]);
    let composer = [
        "".to_owned(),
        "┃ ask".to_owned(),
        "".to_owned(),
        "status".to_owned(),
    ];
    let live = |text: &str| [vec![text.to_owned()], composer.to_vec()].concat();
    rig.show(&numbered("row", 0..5000), &live("A reply that"), 2);
    assert!(!rig.bytes.windows(4).any(|bytes| bytes == b"\x1b[2J"));
    rig.show(&[], &live("A reply that streams"), 2);
    assert!(rig.bytes.len() < 80, "{}", rig.bytes.escape_ascii());
    assert!(rig.bytes.starts_with(b"\x1b[?2026h\x1b[?25l"));
    assert!(rig.bytes.ends_with(b"\x1b[?2026l"));
    rig.show(&[], &live("A reply that streams"), 2);
    assert!(rig.bytes.is_empty());
    rig.show(&["A reply that streams".into()], &live("and goes on"), 2);
    assert!(rig.bytes.len() < 300, "{}", rig.bytes.escape_ascii());
    rig.assert_exact();
}

#[test]
fn a_frame_with_styles() {
    let mut painter = painter(30, 5);
    let mut screen = Screen::new(30, 5);
    let mut title = Row::of("● 2 tool calls", Style::colored(Token::Muted));
    title.push(" +3", Style::colored(Token::ToolDiffAddedMarker));
    let mut composer = Row::of("┃ ", Style::colored(Token::UserMessageText));
    composer.push("日本語 ask", Style::default().bold());
    let status = Row::of("~/project · main", Style::colored(Token::Accent));
    let mut surface = Surface::new(painter.size());
    surface.draw(surface.area(), &[title, Row::default(), composer, status]);
    let pane = Rect {
        left: 24,
        top: 0,
        columns: 6,
        rows: 5,
    };
    let selected = Style {
        background: Some(Token::SelectedBg),
        ..Style::colored(Token::SelectedText)
    };
    surface.draw(pane, &[Row::of("a pane, cut", selected)]);
    let caret = Some(Caret { row: 2, column: 8 });
    screen.feed(&painter.paint(Frame::Full { surface, caret }));
    assert_golden("painter-styles", &screen.golden());
}
