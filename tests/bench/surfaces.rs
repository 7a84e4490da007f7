//! What extensions show in the terminal app: how soon a key that goes to one is answered on the
//! screen, what a storm of redraws does to typing, and what a long pane costs. The extensions are
//! this program, started again.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::extensions::install;
use super::tui::{ROWS, line, ms, open, stop, type_keys};
use super::{Place, ROUNDS, median};

/// Keys that are timed.
const KEYS: usize = 200;
/// Rows of a panel.
const LINES: usize = 15;
/// Bytes of the long diff; what stands around it needs some of the 256 KiB of a pane.
const DIFF: usize = 255 << 10;
/// Pages that are turned.
const PAGES: usize = 100;

/// The extension's side of one that shows something; `false` for another kind.
pub fn be(kind: &str) -> bool {
    let name = match kind {
        "game" | "storm" | "pane" => kind,
        _ => return false,
    };
    let (mut frame, pane) = (0, pane());
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let answer = |result: Value| say(&json!({"id": message["id"], "result": result}));
        match message["method"].as_str() {
            Some("initialize") => {
                answer(json!({"name": name, "commands": [{"name": name}], "events": []}));
            }
            Some("command") => {
                match kind {
                    "game" => say(&panel(0, true)),
                    "pane" => say(&pane),
                    _ => {
                        std::thread::spawn(|| {
                            for frame in 0.. {
                                say(&panel(frame, false));
                            }
                        });
                    }
                }
                answer(json!({}));
            }
            Some("ui.key") => {
                frame += 1;
                say(&panel(frame, true));
            }
            _ => {}
        }
    }
    std::process::exit(0);
}

fn say(message: &Value) {
    let mut stdout = std::io::stdout().lock();
    if writeln!(stdout, "{message}")
        .and_then(|()| stdout.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}

fn panel(frame: usize, interactive: bool) -> Value {
    let board = [
        json!({"text": "┃  ●●●●   ", "token": "accent"}),
        json!("◆ "),
    ];
    let mut lines = vec![json!(board); LINES - 1];
    lines.push(json!(format!("frame {frame}")));
    let params = json!({"title": "Board", "lines": lines, "interactive": interactive});
    json!({"id": frame, "method": "ui.panel", "params": params})
}

fn pane() -> Value {
    let mut rows = String::new();
    let mut count = 0;
    while rows.len() < DIFF {
        for sign in [" ", "-", "+"] {
            let word = if sign == "+" { "after" } else { "before" };
            count += 1;
            rows += &format!("{sign} row_{count:05} = compute({word}, and, something, else);\n");
        }
    }
    let lines = count / 3 * 2;
    let body = format!("--- a/big.rs\n+++ b/big.rs\n@@ -1,{lines} +1,{lines} @@\n{rows}");
    let section = json!({"kind": "diff", "id": "patch", "body": body});
    json!({"id": "p", "method": "ui.pane", "params": {"id": "p", "title": "Changes", "sections": [section]}})
}

/// From a key to what an extension draws for it.
pub fn game(place: &Place) {
    install(place, &["game"]);
    let mut pty = open(place);
    pty.send("/game\r");
    pty.wait_for("frame 0");
    let mut times = Vec::new();
    for frame in 1..=KEYS {
        let wanted = format!("frame {frame}");
        let start = Instant::now();
        pty.send("x");
        pty.wait(&wanted, |screen| {
            screen.rows().iter().any(|row| row.trim_end() == wanted)
        });
        times.push(start.elapsed());
        // A person does not press the next key in the same millisecond.
        pty.quiet(Duration::from_millis(5));
    }
    both(
        "ui.key to the panel drawn for it, median / 99th",
        &mut times,
    );
    stop(pty);
    install(place, &[]);
}

/// From a key to its echo while panels are drawn as fast as they are taken.
pub fn storm(place: &Place) {
    install(place, &["storm"]);
    let mut pty = open(place);
    pty.send("/storm\r");
    pty.wait_for("frame 1");
    type_keys(&mut pty, "a storm of panels");
    pty.send("\x1b");
    stop(pty);
    install(place, &[]);
}

/// A long diff: opened, and read page by page.
pub fn pane_rows(place: &Place) {
    install(place, &["pane"]);
    let mut pty = open(place);
    let (mut opened, mut turned) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        pty.send("/pane");
        pty.wait_for("┃ /pane");
        let start = Instant::now();
        pty.send("\r");
        pty.wait_for("row_00030");
        opened.push(start.elapsed());
        pty.send("\x1b");
        pty.wait("no pane", |screen| !screen.text().contains("row_"));
    }
    pty.send("/pane\r");
    pty.wait_for("row_00030");
    let page = usize::from(ROWS) - 2;
    for number in 1..=PAGES {
        let wanted = format!("row_{:05}", number * page);
        let start = Instant::now();
        pty.send("\x1b[6~");
        pty.wait_for(&wanted);
        turned.push(start.elapsed());
    }
    both(
        "a diff of 256 KiB in a pane, opened, median / 99th",
        &mut opened,
    );
    both("scrolled by a page, median / 99th", &mut turned);
    pty.send("\x1b");
    stop(pty);
    install(place, &[]);
}

fn both(name: &str, times: &mut [Duration]) {
    let middle = median(times);
    let late = times[times.len() * 99 / 100];
    line(name, format!("{} / {}", ms(middle), ms(late)));
}
