//! Plays what `E_TUI_RECORD` has written: the same keys and sizes, each when the screen shows what it
//! showed then.

use std::process::Command;

use serde_json::Value;

use super::pty::Pty;
use super::screen::Screen;

/// Runs the command on a terminal and feeds it the record. Returns the terminal, and the screen as
/// it was recorded; their texts are equal, or this fails.
pub fn replay(record: &str, command: Command) -> (Pty, Screen) {
    let events: Vec<Value> = record
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    let (columns, rows) = size(&events[0]).expect("the size comes first");
    let mut pty = Pty::open(columns, rows);
    let mut then = Screen::new(columns, rows);
    pty.start(command);
    for event in &events[1..] {
        if let Some(out) = event["out"].as_str() {
            then.feed(out.as_bytes());
            continue;
        }
        catch_up(&mut pty, &then);
        if let Some((columns, rows)) = size(event) {
            then.resize(columns, rows);
            pty.resize(columns, rows);
        } else if let Some(name) = event["key"].as_str() {
            pty.send(&key(name));
        } else if let Some(text) = event["paste"].as_str() {
            pty.send(&format!("\x1b[200~{text}\x1b[201~"));
        }
    }
    catch_up(&mut pty, &then);
    (pty, then)
}

/// Times differ from run to run, and what was painted in between.
fn catch_up(pty: &mut Pty, then: &Screen) {
    let wanted = timeless(&then.text());
    let reached = pty.reaches(|screen| timeless(&screen.text()) == wanted);
    let is = timeless(&pty.screen.text());
    assert!(reached, "--- is\n{is}\n--- was\n{wanted}");
}

/// A text with a 0 for every figure of a duration, and the blinking dot always on.
pub fn timeless(text: &str) -> String {
    let mut out = String::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let line = match line.strip_prefix("  Thinking (") {
            Some(rest) => format!("• Thinking ({rest}"),
            None => line.to_owned(),
        };
        let mut words = line.split(' ').peekable();
        while let Some(word) = words.next() {
            let inner = word.trim_matches(['(', ')']);
            let is_time = inner.strip_suffix('s').is_some_and(|number| {
                !number.is_empty()
                    && number
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || byte == b'.')
            });
            match is_time {
                true => out.extend(
                    word.chars()
                        .map(|c| if c.is_ascii_digit() { '0' } else { c }),
                ),
                false => out.push_str(word),
            }
            if words.peek().is_some() {
                out.push(' ');
            }
        }
    }
    out
}

fn size(event: &Value) -> Option<(u16, u16)> {
    let number = |index: usize| event["size"][index].as_u64()?.try_into().ok();
    Some((number(0)?, number(1)?))
}

/// What a terminal with the keyboard protocol types for a chord.
fn key(name: &str) -> String {
    let (modifiers, key) = match name.rsplit_once('+') {
        Some((modifiers, key)) if !key.is_empty() => (modifiers, key),
        _ => ("", name),
    };
    let bit = |modifier: &str| match modifier {
        "shift" => 1,
        "alt" => 2,
        "ctrl" => 4,
        "super" | "cmd" => 8,
        _ => 0,
    };
    let modifiers: u32 = 1 + modifiers.split('+').map(bit).sum::<u32>();
    let of_cursor = |end: char| format!("\x1b[1;{modifiers}{end}");
    let of_number = |number: u32| format!("\x1b[{number};{modifiers}~");
    let of_code = |code: u32| format!("\x1b[{code};{modifiers}u");
    match key {
        "up" => of_cursor('A'),
        "down" => of_cursor('B'),
        "right" => of_cursor('C'),
        "left" => of_cursor('D'),
        "end" => of_cursor('F'),
        "home" => of_cursor('H'),
        "insert" => of_number(2),
        "delete" => of_number(3),
        "pageup" => of_number(5),
        "pagedown" => of_number(6),
        "escape" | "esc" => of_code(27),
        "enter" => of_code(13),
        "tab" => of_code(9),
        "backspace" => of_code(127),
        "space" => of_code(32),
        _ => match key.chars().next() {
            Some(letter) if modifiers == 1 => letter.to_string(),
            Some(letter) if modifiers == 2 => letter.to_uppercase().to_string(),
            letter => of_code(letter.unwrap_or(' ').into()),
        },
    }
}
