//! Sizes that change at any moment: before a frame is read, while an answer is on its way.

use e::tui::frame::{Caret, Frame, InlineFrame, Size};
use e::tui::terminal::ASK_CURSOR;
use e::tui::transcript::{Options, Transcript};

use super::{Rig, numbered, rows};
use crate::support::Random;

/// What a loop knows while sizes, answers and frames are on their way.
struct Storm {
    rig: Rig,
    transcript: Transcript,
    /// Signals that the loop has not seen yet, and the answer that it has not seen yet, with the
    /// number of the resize that it was asked after.
    signalled: bool,
    answer: Option<(u16, u16, u32)>,
    resizes: u32,
    asked: Option<u32>,
    /// A frame that the terminal has not read yet.
    in_flight: Vec<u8>,
}

impl Storm {
    fn feed(&mut self, bytes: &[u8]) {
        let reply = String::from_utf8(self.rig.screen.feed(bytes)).unwrap();
        if let Some((row, column)) = reply
            .trim_start_matches("\x1b[")
            .trim_end_matches('R')
            .split_once(';')
        {
            let number = |text: &str| text.parse::<u16>().unwrap() - 1;
            self.answer = Some((number(row), number(column), self.asked.unwrap()));
        }
    }

    fn deliver_frame(&mut self) {
        let bytes = std::mem::take(&mut self.in_flight);
        self.feed(&bytes);
    }

    fn deliver_signal(&mut self, size: Size) {
        if std::mem::take(&mut self.signalled) {
            self.resizes += 1;
            self.rig.painter.resize(size);
        }
    }

    fn deliver_answer(&mut self, size: Size) {
        if let Some((row, column, asked)) = self.answer.take() {
            self.asked = None;
            if asked == self.resizes {
                self.rig.painter.cursor_is_at(row, column, size);
            }
        }
    }

    fn paint(&mut self) {
        if self.asked.is_some() && self.rig.painter.is_lost() {
            return;
        }
        self.deliver_frame();
        if self.rig.painter.is_lost() {
            self.asked = Some(self.resizes);
            self.in_flight = ASK_CURSOR.to_vec();
            return;
        }
        let size = self.rig.painter.size();
        let columns = usize::from(size.columns);
        let replace = self
            .transcript
            .take_back(self.rig.painter.settled_rows(), columns);
        let settled = self.transcript.settled_rows(columns);
        let live = ["-".repeat(columns), "> ask".into(), "status".into()];
        let frame = InlineFrame {
            replace,
            settled,
            live: rows(&live),
            caret: Some(Caret { row: 1, column: 2 }),
        };
        self.in_flight = self.rig.painter.paint(Frame::Inline(frame));
    }
}

#[test]
fn a_storm_of_sizes_loses_no_row() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let mut size = Size {
            columns: 60,
            rows: 16,
        };
        let mut storm = Storm {
            rig: Rig::new(size.columns, size.rows, &["$ e"]),
            transcript: Transcript::new(Options::default()),
            signalled: false,
            answer: None,
            resizes: 0,
            asked: None,
            in_flight: Vec::new(),
        };
        let mut count = 0;
        for _ in 0..120 {
            match random.index(8) {
                0 | 1 => {
                    size.columns = [40, 60, 76][random.index(3)];
                    size.rows = [10, 16, 24][random.index(3)];
                    storm.rig.screen.resize(size.columns, size.rows);
                    storm.signalled = true;
                }
                2 => storm.deliver_signal(size),
                3 => storm.deliver_frame(),
                4 => storm.deliver_answer(size),
                5 => {
                    for _ in 0..random.index(4) {
                        storm.transcript.push_notice(&format!("row {count}."));
                        count += 1;
                    }
                }
                _ => storm.paint(),
            }
        }
        for _ in 0..4 {
            storm.deliver_signal(size);
            storm.deliver_frame();
            storm.deliver_answer(size);
            storm.paint();
        }
        storm.deliver_frame();
        let all = storm.rig.everything();
        // A row that was pushed out while it was written anew is there twice, in its place.
        let mut found: Vec<_> = all.iter().filter(|row| row.contains("row ")).collect();
        found.dedup();
        let expected = numbered("  row", 0..count);
        let mut rows = found.iter();
        let is_there = |row: &String| rows.any(|one| *one == row);
        assert!(expected.iter().all(is_there), "{seed}: {all:#?}");
    }
}
