//! The terminal app, driven over a pseudo terminal with an emulator behind it. What the emulator
//! needs for the bytes is part of every time.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use e::agent::TurnEvent;
use e::chat::{Deltas, Message};
use e::config::Home;
use e::session::{Log, LogSpec, Record};
use e::tui::frame::{Caret, Frame, InlineFrame, Screen as Painter, Size, Surface};
use e::tui::theme::{Background, Depth, Palette, Theme};
use e::tui::transcript::{Options, Transcript, View};

use super::pty::Pty;
use super::screen::Screen;
use super::server::Reply;
use super::{Place, ROUNDS, median, switches};

const COLUMNS: u16 = 120;
pub const ROWS: u16 = 40;
/// Keys that are timed.
const KEYS: usize = 200;
/// Where a frame begins.
const FRAME: &[u8] = b"\x1b[?2026h";

pub fn line(name: &str, value: String) {
    println!("{name:<58} {value:>10}");
}

pub fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// The app, from its start on.
fn spawn(place: &Place, args: &[&str], is_mute: bool) -> Pty {
    let mut pty = Pty::open(COLUMNS, ROWS);
    pty.screen.seen_mut().is_mute = is_mute;
    let mut command = place.command(&place.e);
    command.args(["--trust", "-m", "bench/m"]).args(args);
    command.env("TERM", "xterm-256color");
    pty.start(command);
    pty
}

/// Whether there is a prompt, with the model below it and nothing running.
fn is_ready(screen: &Screen) -> bool {
    let rows = screen.rows();
    let has = |wanted: &str| rows.iter().any(|row| row.trim_end() == wanted);
    has("┃") && has("m") && !rows.iter().any(|row| row.contains("Thinking"))
}

pub fn open(place: &Place) -> Pty {
    let mut pty = spawn(place, &[], false);
    pty.wait("the first frame", is_ready);
    pty
}

pub fn stop(mut pty: Pty) {
    pty.send("\x03\x03");
    pty.wait_exit();
}

pub fn start(place: &Place) {
    let first = |name: &str, args: &[&str], is_mute: bool, last: &str| {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let mut pty = spawn(place, args, is_mute);
            pty.wait("the first frame", |screen| {
                is_ready(screen) && screen.text().contains(last)
            });
            times.push(start.elapsed());
            stop(pty);
        }
        line(name, ms(median(&mut times)));
    };
    first(
        "spawn to the first complete frame, empty home",
        &[],
        false,
        "",
    );
    first("the same, a terminal that answers nothing", &[], true, "");
    furnish(place);
    first(
        "the same, 30 skills and 1,000 history entries",
        &[],
        false,
        "",
    );
    first(
        "the same, and a session of 400 turns resumed",
        &["-c"],
        false,
        "answer 399",
    );
}

/// A home that was used for a while.
fn furnish(place: &Place) {
    let home = place.root.path().join("home");
    for index in 0..30 {
        let skill = home.join(format!("skills/skill-{index}"));
        fs::create_dir_all(&skill).expect("a directory");
        let text = format!(
            "---\nname: skill-{index}\ndescription: does thing {index}\n---\n{}",
            "Do it so.\n".repeat(100)
        );
        fs::write(skill.join("SKILL.md"), text).expect("a skill");
    }
    let history: String = (0..1000)
        .map(|index| format!("\"prompt number {index} of the history\"\n"))
        .collect();
    fs::write(home.join("history.jsonl"), history).expect("the history");
    let spec = LogSpec {
        home: Home::at(home),
        workspace: place.work().canonicalize().expect("a path"),
        id: "0192f0c1-0000-7000-8000-000000000002".into(),
        created: 3,
        model: "bench/m".into(),
    };
    let mut log = Log::create(&spec).expect("a log");
    let mut parent: Option<String> = None;
    for index in 0..400 {
        let question = Message::user(format!("question {index}"));
        let text = "A paragraph of an answer, with `code` and **words** in it.\n\n".repeat(6);
        let answer = Message::Assistant {
            content: format!("{text}answer {index}"),
            tool_calls: Vec::new(),
        };
        for (role, message) in [("q", question), ("a", answer)] {
            let id = format!("{role}{index}");
            let record = Record::Message {
                id: id.clone(),
                parent: parent.replace(id),
                timestamp: 1,
                response: None,
                message: Arc::new(message),
            };
            log.append(&record).expect("an append");
        }
    }
}

/// Times keys from being typed to being seen.
pub fn type_keys(pty: &mut Pty, name: &str) {
    let mut times = Vec::new();
    let mut draft = String::new();
    for key in 0..KEYS {
        // The draft stays on one row, and away from its edge.
        if draft.len() == 50 {
            draft.clear();
            pty.send("\x15");
        }
        let letter = char::from(b'a' + (key % 26) as u8);
        draft.push(letter);
        let wanted = format!("┃ {draft}");
        let start = Instant::now();
        pty.send(&letter.to_string());
        pty.wait(&wanted, |screen| screen.rows().contains(&wanted));
        times.push(start.elapsed());
    }
    let middle = median(&mut times);
    let late = times[times.len() * 99 / 100];
    line(
        &format!("key to echoed cell, median / 99th, {name}"),
        format!("{} / {}", ms(middle), ms(late)),
    );
    pty.send("\x15");
}

/// Fills the transcript with as many rows.
fn fill(place: &Place, pty: &mut Pty, rows: usize) {
    place.server.reply(Reply::paragraphs(rows / 2));
    pty.send("fill it\r");
    let last = format!("paragraph number {}.", rows / 2 - 1);
    pty.wait(&last, |screen| {
        screen.text().contains(&last) && is_ready(screen)
    });
    // The last row is seen before all rows above it are in the scrollback.
    pty.quiet(Duration::from_millis(500));
    place.server.reply(Reply::text("ok"));
}

pub fn echo(place: &Place) {
    let mut pty = open(place);
    type_keys(&mut pty, "empty session");
    fill(place, &mut pty, 50_000);
    type_keys(&mut pty, "50,000 rows");
    line(
        "memory with 50,000 rows",
        format!("{:.1} MiB", resident(&pty)),
    );
    place
        .server
        .reply_at_pace(60_000, 2, Duration::from_millis(1));
    pty.send("go\r");
    pty.wait_for("a piece of text");
    type_keys(&mut pty, "50,000 rows and 2,000 deltas/s");
    stop(pty);
}

/// What one frame costs inside of e, with a long conversation above.
pub fn frame(_: &Place) {
    let say = |transcript: &mut Transcript, text: &str| {
        transcript.apply(&TurnEvent::Text(Deltas::from(text)));
    };
    let mut transcript = Transcript::new(Options::default());
    for block in 0..10_000 {
        say(
            &mut transcript,
            &format!("Block **{block}** of a `reply` that is long.\n\n"),
        );
    }
    let size = Size {
        columns: COLUMNS,
        rows: ROWS,
    };
    let columns = usize::from(COLUMNS);
    let height = usize::from(ROWS);
    let palette = Palette::new(Theme::built_in(Background::Dark), Depth::Indexed);
    // The terminal has them when it begins; they come in portions.
    while transcript.has_settled() {
        transcript.settled_rows(columns);
    }
    for (name, is_full) in [("main screen", false), ("full screen", true)] {
        let mut painter = Painter::new(size, palette.clone(), false);
        painter.cursor_is_at(0, 0, size);
        let (mut times, mut bytes) = (Vec::new(), 0);
        for delta in 0..1000 {
            let text = if delta % 40 == 39 {
                ".\n\n"
            } else {
                "a piece of text "
            };
            say(&mut transcript, text);
            let start = Instant::now();
            let frame = if is_full {
                let mut surface = Surface::new(size);
                surface.draw(
                    surface.area(),
                    &transcript.tail(height - 4, View::chat(columns)),
                );
                Frame::Full {
                    surface,
                    caret: Some(Caret {
                        row: height - 2,
                        column: 2,
                    }),
                }
            } else {
                let settled = transcript.settled_rows(columns);
                let live = transcript.live_rows(columns, height - 4);
                let caret = Some(Caret {
                    row: live.len(),
                    column: 0,
                });
                Frame::Inline(InlineFrame {
                    settled,
                    live,
                    caret,
                    ..InlineFrame::default()
                })
            };
            let encoded = painter.paint(frame);
            // The first one has everything in it.
            if delta > 0 {
                times.push(start.elapsed());
                bytes += encoded.len();
            }
        }
        let middle = median(&mut times);
        let late = times[times.len() * 99 / 100];
        line(
            &format!("a frame below 10,000 reply blocks, median / 99th, {name}"),
            format!("{} / {}", ms(middle), ms(late)),
        );
        line("bytes of such a frame", format!("{}", bytes / times.len()));
    }
}

/// What streaming costs at the pace of a fast model, and what doing nothing costs.
pub fn pace(place: &Place) {
    const SECONDS: usize = 15;
    let mut pty = open(place);
    place
        .server
        .reply_at_pace(SECONDS * 100, 1, Duration::from_millis(10));
    pty.send("go\r");
    pty.wait_for("a piece of text");
    let (before, from) = (cpu_ticks(&pty), pty.bytes.len());
    let start = Instant::now();
    pty.wait("the end", is_ready);
    let share = (cpu_ticks(&pty) - before) as f64 / start.elapsed().as_secs_f64();
    line(
        "share of a core while 100 deltas/s stream",
        format!("{share:.1} %"),
    );
    let frames = pieces(&pty.bytes[from..], FRAME);
    let total: usize = frames.iter().sum();
    line(
        "bytes of a streamed frame, mean / most",
        format!(
            "{} / {}",
            total / frames.len().max(1),
            frames.iter().max().unwrap_or(&0)
        ),
    );
    line(
        "frames a second",
        format!("{:.1}", frames.len() as f64 / start.elapsed().as_secs_f64()),
    );

    pty.quiet(Duration::from_millis(500));
    let from = pty.bytes.len();
    let (threads, before) = switches(pid(&pty));
    pty.quiet(Duration::from_secs(10));
    let (_, after) = switches(pid(&pty));
    line(
        "wake-ups / bytes in 10 s of doing nothing",
        format!("{} / {}", after - before, pty.bytes.len() - from),
    );
    line("threads meanwhile", threads.to_string());
    stop(pty);
}

pub fn paste(place: &Place) {
    let text = "a line of a paste that is long\n".repeat((1 << 20) / 31);
    let mut times = Vec::new();
    for _ in 0..5 {
        let mut pty = open(place);
        let start = Instant::now();
        pty.send(&format!("\x1b[200~{text}\x1b[201~"));
        pty.wait_for("[Pasted text");
        times.push(start.elapsed());
        stop(pty);
    }
    line("a paste of 1 MB, to the draft", ms(median(&mut times)));
}

/// The lengths of the parts that begin with the mark.
fn pieces(bytes: &[u8], mark: &[u8]) -> Vec<usize> {
    let starts: Vec<usize> = memchr::memmem::find_iter(bytes, mark).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| end - start)
        .collect()
}

fn pid(pty: &Pty) -> u32 {
    pty.pid().try_into().expect("a process id")
}

/// Resident memory in MiB.
fn resident(pty: &Pty) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pid(pty))).expect("a process");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap_or_default();
    let kib = line
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Processor time so far in hundredths of a second, all threads.
fn cpu_ticks(pty: &Pty) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid(pty))).expect("a process");
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    fields
        .skip(11)
        .take(2)
        .filter_map(|text| text.parse::<u64>().ok())
        .sum()
}
