//! Another size at any time: every row once, nothing over the edge, no panic.

use std::time::Duration;

use super::{open, ready};
use crate::support::{Place, Pty, say};

/// The same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn size(&mut self, columns: u64, rows: u64) -> (u16, u16) {
        let mut one = |limit| u16::try_from(1 + self.below(limit)).unwrap();
        (one(columns), one(rows))
    }
}

#[test]
fn fifty_sizes_while_a_reply_streams_keep_every_row_once() {
    let place = Place::new();
    let lines: Vec<String> = (0..200).map(|line| format!("row {line}.")).collect();
    let mut slow = say("");
    let mut gates = Vec::new();
    for chunk in lines.chunks(4) {
        let (gated, gate) = slow.gate();
        slow = gated.text(&format!("{}\n\n", chunk.join("\n\n")));
        gates.push(gate);
    }
    place.provider.script([slow]);
    let mut pty = open(&place, 100, 24);
    pty.send("go\r");
    for (step, gate) in gates.into_iter().enumerate() {
        let columns = 200 - 3 * (step % 50) as u16;
        pty.resize(columns, 14 + (step % 11) as u16);
        drop(gate);
        pty.wait_for(&format!("row {}.", step * 4 + 3));
    }
    pty.wait_for("(↑100");
    let all = pty.everything();
    for line in &lines {
        let wanted = format!("  {line}");
        let count = all.iter().filter(|row| **row == wanted).count();
        assert_eq!(count, 1, "{wanted}: {all:#?}");
    }
}

#[test]
fn any_size_and_any_key_are_survived() {
    let keys = [
        "a",
        "日",
        "\r",
        "\x1b[A",
        "\x1b[B",
        "\x1b[C",
        "\x1b[D",
        "\x7f",
        "\x17",
        "/",
        "@",
        "$",
        "!",
        "\t",
        "\x1b[Z",
        "\x0f",
        "\x1b[5~",
        "\x1b[6~",
        "\x1b",
        "\x0c",
        "\x01",
        "\x05",
        "\x0b",
        "\x1b[200~p\nq\x1b[201~",
        "\x1b[<64;3;3M",
        "\x1b[<0;2;2M",
        "\x10",
        "\x14",
        " ",
        "/models",
        "/settings\r",
        "/resume\r",
        "/help\r",
        "/login\r",
        "/tree\r",
        "/usage\r",
        "\x1b[1;2D",
    ];
    for seed in 0..3 {
        let place = Place::new();
        let mut random = Random(seed);
        let mut pty = open(&place, 80, 24);
        for step in 0..80 {
            if random.below(2) == 0 {
                let (columns, rows) = random.size(300, 60);
                let small = random.below(3) == 0;
                let (columns, rows) = if small {
                    random.size(6, 4)
                } else {
                    (columns, rows)
                };
                pty.resize(columns, rows);
            }
            for _ in 0..random.below(4) {
                pty.send(keys[random.below(keys.len() as u64) as usize]);
            }
            if step % 8 == 0 {
                pty.quiet(Duration::from_millis(5));
            }
        }
        // Whatever is open goes away, and the app still answers.
        pty.resize(80, 24);
        pty.send("\x03");
        pty.wait_for("again to quit");
        pty.send("x");
        pty.wait_for("┃ x");
        assert_eq!(
            pty.screen.seen().strange,
            Vec::<String>::new(),
            "seed {seed}"
        );
        pty.send("\x03\x03");
        assert_eq!(pty.wait_exit().code(), Some(0), "seed {seed}");
        assert_eq!(pty.screen.modes(), "", "seed {seed}");
    }
}

#[test]
fn tiny_terminals_start_and_end() {
    for (columns, rows) in [(1, 1), (2, 1), (1, 30), (300, 1), (20, 6), (5, 3)] {
        let place = Place::new();
        let (reply, gate) = say("ok").gate();
        place.provider.script([reply]);
        let mut pty = Pty::open(columns, rows);
        pty.start(place.app(&["hi"]));
        place.provider.wait_requests(1);
        pty.resize(80, 24);
        ready(&mut pty);
        drop(gate);
        pty.wait_for("(↑100");
        pty.send("\x04");
        assert_eq!(pty.wait_exit().code(), Some(0), "{columns}x{rows}");
    }
}
