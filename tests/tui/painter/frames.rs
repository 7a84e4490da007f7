//! Any frame after any other, painted as differences and painted whole.

use e::tui::frame::{Caret, Frame, Rect, Size, Surface};
use e::tui::style::{Row, Style, Token};

use super::painter;
use crate::support::{Random, Screen};

/// A row of words, wide characters, marks and styles, up to a little more than the width.
fn random_row(random: &mut Random, columns: usize) -> Row {
    let words = [
        "a", "bc", " ", "   ", "日", "本語", "e\u{301}", "🙂", "x日", "─",
    ];
    let mut row = Row::default();
    while row.width() < random.index(columns + 4) {
        let style = match random.index(5) {
            0 => Style::colored(Token::Error),
            1 => Style::default().bold(),
            2 => Style {
                reverse: true,
                background: Some(Token::SelectedBg),
                link: Some("https://example.com/".into()),
                ..Style::default()
            },
            _ => Style::default(),
        };
        row.push(words[random.index(words.len())], style);
    }
    row
}

#[test]
fn any_frame_becomes_any_other() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let (columns, height) = (1 + random.index(18), 1 + random.index(6));
        let size = Size {
            columns: columns.try_into().unwrap(),
            rows: height.try_into().unwrap(),
        };
        let mut painter = painter(size.columns, size.rows);
        let mut screen = Screen::new(size.columns, size.rows);
        for _ in 0..6 {
            let mut surface = Surface::new(size);
            for _ in 0..2 {
                let part = Rect {
                    left: random.index(columns).try_into().unwrap(),
                    top: random.index(height).try_into().unwrap(),
                    columns: random.index(columns + 1).try_into().unwrap(),
                    rows: size.rows,
                };
                let area = if random.index(2) == 0 {
                    surface.area()
                } else {
                    part
                };
                let rows: Vec<_> = (0..height)
                    .map(|_| random_row(&mut random, columns))
                    .collect();
                surface.draw(area, &rows);
            }
            let caret = Some(Caret {
                row: random.index(height),
                column: random.index(columns),
            });
            let frame = || Frame::Full {
                surface: surface.clone(),
                caret,
            };
            screen.feed(&painter.paint(frame()));
            let mut fresh = Screen::new(size.columns, size.rows);
            fresh.feed(&super::painter(size.columns, size.rows).paint(frame()));
            assert_eq!(screen.golden(), fresh.golden(), "{seed}");
            assert_eq!(screen.modes(), "", "{seed}");
        }
    }
}
