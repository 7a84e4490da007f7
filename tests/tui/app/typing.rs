//! What is typed and pasted, and what comes of text of any kind.

use std::time::{Duration, Instant};

use serde_json::json;

use super::open;
use crate::support::{Place, Pty, say};

/// Texts that terminals disagree about, and bytes that would do something to them.
const HARD: &[&str] = &[
    "日本語のテキスト",
    "👨‍👩‍👧‍👦 family",
    "🇩🇪🇫🇷 flags",
    "e\u{301}\u{302}\u{303}\u{304}\u{305} stack",
    "שלום עולם rtl",
    "a\tb\tc",
    "❤\u{fe0f} vs16",
    "\u{200b}\u{200d}\u{feff}zero",
    "half ｶﾀｶﾅ ％",
];

fn typed(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

/// What the terminal is after the app was fed anything: as it should be while e runs.
fn assert_untouched(pty: &Pty) {
    let seen = pty.screen.seen();
    assert_eq!(seen.strange, Vec::<String>::new());
    assert_eq!(seen.clipboard, Vec::<String>::new());
    assert_eq!(seen.title, "e · ~/space");
    assert_eq!(pty.screen.modes(), "paste keyboard title");
}

#[test]
fn hard_text_goes_in_and_comes_back_as_it_is() {
    let place = Place::new();
    let reply = |(round, text): (usize, &&str)| {
        say(text).usage(json!({"prompt_tokens": 101 + round, "completion_tokens": 1}))
    };
    place.provider.script(HARD.iter().enumerate().map(reply));
    let mut pty = open(&place, 50, 40);
    for (round, text) in HARD.iter().enumerate() {
        pty.send(&typed(text));
        pty.send("\r");
        let received = place.provider.wait_requests(round + 1);
        assert_eq!(received[round].last_user(), *text);
        pty.wait_for(&format!("(↑{}", 101 + round));
    }
    assert_untouched(&pty);
    // Every prompt and every answer is one row of text, with a blank one between.
    let all = pty.everything();
    let prompts = all.iter().filter(|row| row.starts_with("┃ ")).count();
    assert_eq!(prompts, HARD.len(), "{all:#?}");
    assert_eq!(
        all.iter().filter(|row| row.contains("(↑1")).count(),
        HARD.len()
    );
}

#[test]
fn a_word_without_an_end_is_broken_anywhere() {
    let place = Place::new();
    let word = "x".repeat(100_000);
    place.provider.script([say(&word)]);
    let mut pty = open(&place, 80, 24);
    pty.send(&typed(&word));
    pty.wait_for("[Pasted text");
    pty.send("\r");
    pty.wait_for("(↑100");
    let all = pty.everything();
    let count: usize = all.iter().map(|row| row.matches('x').count()).sum();
    // Both are whole.
    assert!(count >= 200_000, "{count}");
}

#[test]
fn what_would_do_something_to_a_terminal_does_nothing() {
    let place = Place::new();
    let bad = "A\x1b]0;owned\x07B\x1b[?1049hC\x1b]52;c;b3duZWQ=\x07D\x1b(0E\x0eF\x1b[?1003hG\u{9b}2JH\x1bcI\u{202e}J\x07K\x1b[5iL\x1bP+q\x1b\\M\r\nN";
    let name = "bad\x1b]0;owned\x07name";
    place.write(name, "content\n");
    place.provider.script([
        say(bad)
            .reasoning(bad)
            .and_call("read", json!({"path": name}))
            .and_call(
                "bash",
                json!({"command": "printf 'a\\033]0;owned\\007b\\033[?1003h\\n'; sleep 0.05"}),
            )
            .and_call(bad, json!({"path": bad})),
        say("fin"),
    ]);
    let mut pty = open(&place, 80, 40);
    pty.send(&typed(&format!("see {bad}")));
    pty.send("\r");
    pty.wait_for("  fin");
    assert_untouched(&pty);
    let text = pty.screen.text();
    assert!(!text.contains("owned\x07"), "{text}");
}

#[test]
fn pastes_are_one_draft_and_are_sent_as_they_are() {
    let place = Place::new();
    place.models("openai-completions", json!({"context_window": 10_000_000}));
    let mut pty = open(&place, 80, 24);
    let big: String = (0..20_000)
        .map(|line| format!("line {line} of a long, long, long text\n"))
        .collect();
    for (round, text) in ["one\ntwo\r\nthree\rfour", big.as_str()].iter().enumerate() {
        let start = Instant::now();
        pty.send(&typed(text));
        match round {
            0 => pty.wait_for("┃ four"),
            _ => pty.wait_for("[Pasted text"),
        }
        assert!(
            start.elapsed() < Duration::from_secs(3),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(place.provider.received().len(), round);
        pty.send("\r");
        let sent = place.provider.wait_requests(round + 1)[round].last_user();
        assert_eq!(
            sent.trim_end(),
            text.replace("\r\n", "\n").replace('\r', "\n").trim_end()
        );
        pty.wait("the end", |screen| !screen.text().contains("Thinking"));
    }
}

#[test]
fn keys_edit_the_draft_as_the_table_says() {
    let place = Place::new();
    let mut pty = open(&place, 40, 12);
    for (keys, draft) in [
        ("hello world", "┃ hello world"),
        ("\x17", "┃ hello"),
        ("\x01say \x05", "┃ say hello"),
        ("\x1bb\x0b", "┃ say"),
        ("\x15one\x0atwo", "┃ two"),
        ("\x1b[A\x1b[H>", "┃ >one"),
        ("\x15\x1b[F\x15", "┃"),
    ] {
        pty.send(keys);
        pty.wait(draft, |screen| {
            screen.rows().iter().any(|row| row.trim_end() == draft)
        });
    }
}
