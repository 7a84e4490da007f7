//! `kill -9` at any moment: the log keeps whole records, and nothing that e started lives on.

use std::time::{Duration, Instant};

use e::config::Home;
use e::session::{Log, load};
use serde_json::json;

use super::records;
use crate::support::{Place, Random, Step, call, say};

/// Kills per thread, and threads.
const KILLS: u64 = 25;
const THREADS: u64 = 4;

/// A turn that is busy with everything that could be left behind or half written.
fn turn() -> [Step; 5] {
    [
        call(
            "bash",
            json!({"command": "sleep 300; true", "background": true}),
        )
        .and_call(
            "bash",
            json!({"command": "setsid bash -c 'trap \"\" TERM HUP; sleep 300; true' & seq 1 9999"}),
        ),
        call(
            "write",
            json!({"path": "f", "content": "x\n".repeat(50_000)}),
        )
        .text("Writing. "),
        call(
            "bash",
            json!({"command": "(trap '' TERM; sleep 300; true) & (setsid sleep 300 &) ; seq 1 9999; sleep 0.05"}),
        ),
        call("bash", json!({"command": "seq 1 99999; sleep 300; true"}))
            .and_call("bash", json!({"command": "sleep 300 | sleep 300"})),
        say("never asked for"),
    ]
}

fn kill_often(seed: u64) {
    let place = Place::new();
    let home = Home::at(&place.home);
    let mut random = Random(seed);
    for round in 0..KILLS {
        place.provider.forget_script();
        place.provider.script(turn());
        let prompt = "long prompt ".repeat(1 + random.below(10_000) as usize);
        let run = place.json(&[]).stdin(prompt).start();
        let lines = random.below(14) as usize;
        run.stdout.wait_lines(lines);
        let moment = Instant::now() + Duration::from_micros(random.below(20_000));
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        // This is SIGKILL.
        drop(run);
        place.wait_deserted();
        for log in place.logs() {
            check(&home, &log, round);
            std::fs::remove_file(log).expect("it is there");
        }
    }
}

/// A log that was just killed opens with whole records, and takes the next one whole.
fn check(home: &Home, log: &std::path::Path, round: u64) {
    if log.metadata().expect("it is there").len() == 0 {
        // Killed before the header: nothing was said in this session yet.
        return;
    }
    let before = load(log).unwrap_or_else(|error| panic!("round {round}: {error}"));
    let (writer, loaded) =
        Log::reopen(home, log).unwrap_or_else(|error| panic!("round {round}: {error}"));
    assert_eq!(before.messages, loaded.messages);
    assert_eq!(before.head, loaded.head);
    let cut_off = |warning: &String| warning.contains("was cut off");
    assert!(loaded.warnings.iter().all(cut_off), "{:?}", loaded.warnings);
    drop(writer);
    assert_eq!(records(log)[0]["type"], "session");
    let again = load(log).expect("a mended log");
    assert_eq!(again.warnings, Vec::<String>::new());
    assert_eq!(again.messages, loaded.messages);
}

#[test]
fn a_killed_e_leaves_whole_logs_and_no_process() {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || kill_often(1000 + thread));
        }
    });
}
