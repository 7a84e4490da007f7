//! Rows as they settle and are looked at: all of them, once, from everywhere.

use super::*;

#[test]
fn windows_see_everything_from_everywhere() {
    let mut transcript = Transcript::default();
    let mut random = random(8);
    for number in 0..200 {
        transcript.push_user(
            &format!("question {number} {}", "word ".repeat(random(40))),
            0,
        );
        let reply = format!(
            "answer {number}\n\n```rust\n{}```\n",
            "let x = 1;\n".repeat(random(40))
        );
        transcript.apply(&TurnEvent::Text(reply.as_str().into()));
    }
    for columns in [20, 70] {
        let view = View::chat(columns);
        let all = plain(&transcript.window(Place::default(), usize::MAX, view));
        let height = 17;
        let bottom = transcript.bottom(height, view);
        assert_eq!(
            plain(&transcript.window(bottom, height, view)),
            all[all.len() - height..]
        );
        let mut place = bottom;
        let mut at = all.len() - height;
        for _ in 0..300 {
            let step = random(60) as isize - 35;
            place = transcript.moved(place, step, height, view);
            at = at.saturating_add_signed(step).min(all.len() - height);
            assert_eq!(
                plain(&transcript.window(place, height, view)),
                all[at..at + height]
            );
        }
        let top = transcript.moved(bottom, isize::MIN, height, view);
        assert_eq!(top, Place::default());
        assert_eq!(transcript.moved(top, isize::MAX, height, view), bottom);
    }
    let place = transcript.moved(
        transcript.bottom(10, View::chat(20)),
        -500,
        10,
        View::chat(20),
    );
    assert_eq!(transcript.window(place, 10, View::chat(200)).len(), 10);
}

#[test]
fn settled_and_live_rows_are_the_whole() {
    let parts = [
        "word ",
        "\n\n",
        "- item\n",
        "```\n",
        "code\n",
        "| a | b |\n|--|--|\n",
        "# h\n",
        "\x1b[31m",
        "日本 ",
    ];
    let mut random = random(21);
    for round in 0..60 {
        let mut transcript = Transcript::default();
        let mut given = Vec::new();
        for step in 0..120 {
            let event = match random(12) {
                0 => TurnEvent::Reasoning(parts[random(parts.len())].into()),
                1 => TurnEvent::ToolBatch(vec![read(step, "f")]),
                2 => TurnEvent::ToolStart(step.saturating_sub(1)),
                3 => done(step.saturating_sub(2), ""),
                4 => TurnEvent::Warning("careful".to_owned()),
                5 if round % 3 == 0 => TurnEvent::TurnEnd { aborted: false },
                _ => TurnEvent::Text(parts[random(parts.len())].into()),
            };
            transcript.apply(&event);
            if random(3) == 0 {
                given.extend(transcript.settled_rows(40));
            }
        }
        let mut shown = given;
        shown.extend(transcript.settled_rows(40));
        shown.extend(transcript.live_rows(40, usize::MAX));
        check(&shown, 40);
        let whole = transcript.window(Place::default(), usize::MAX, View::chat(40));
        assert_eq!(plain(&shown), plain(&whole), "{round}");
    }
}

#[test]
fn entries_are_small() {
    assert!(size_of::<Entry>() <= 48);
}

#[test]
fn settings_cannot_hurt() {
    let mut transcript = Transcript::new(Options {
        thinking_hint: "a\x1b[31m\nb".to_owned(),
        ..Options::default()
    });
    transcript.apply(&TurnEvent::Reasoning("x".into()));
    assert_eq!(live(&transcript, 40), ["  a b"]);
}

#[test]
fn a_long_session_costs_what_is_new() {
    let begun = std::time::Instant::now();
    let mut transcript = Transcript::default();
    let mut rows = 0;
    for number in 0..5_000 {
        transcript.apply(&TurnEvent::Text(
            format!("Block {number} with words.\n\n").as_str().into(),
        ));
        rows += transcript.settled_rows(80).len();
        assert!(transcript.live_rows(80, 50).len() <= 2);
    }
    assert_eq!(rows, 2 * 4_999 - 1);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_long_prompt_is_shown_whole() {
    let lines: Vec<String> = (1..=900).map(|n| format!("line {n}")).collect();
    let mut transcript = Transcript::default();
    transcript.push_user(&lines.join("\n"), 0);
    let expected: Vec<String> = lines.iter().map(|line| format!("┃ {line}")).collect();
    assert_eq!(reader(&transcript, Depth::Review), expected);
    assert_eq!(plain(&transcript.settled_rows(60)), expected);
}
