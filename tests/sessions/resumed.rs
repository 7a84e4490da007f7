//! `kill -9` at any moment of a saved session, compactions among them: the next process goes on
//! with all that was written, and its first request is one that a strict server accepts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use e::session::load;
use serde_json::{Value, json};

use crate::support::provider::Received;
use crate::support::{Place, Random, Rpc, Step, answer, call, say};

/// Kills per place, and the places: two for each dialect.
const KILLS: usize = 50;
const DIALECTS: [&str; 4] = [
    "openai-completions",
    "anthropic-messages",
    "openai-completions",
    "anthropic-messages",
];
/// A session is killed so often before the next one begins.
const LIVES: usize = 10;
/// More lines than one life has.
const LINES: u64 = 60;
/// Tokens of the model. A turn is about a third of it.
const WINDOW: u64 = 20_000;

const SUMMARY: &str = "## Goal\ng\n## Constraints & Preferences\nc\n## Progress\np\n\
    ## Key Decisions\nk\n## Next Steps\nn\n## Critical Context\nx\n";

/// What can be recognised wherever it is found: `mark-`, a number, a dash, a word.
fn marks(text: &str) -> HashSet<String> {
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let words = text.split(ends).filter(|word| word.starts_with("mark-"));
    words.map(String::from).collect()
}

/// The model: two steps with calls, then the end. The second step says that the conversation has
/// become too long when its number is odd.
fn reply(request: &Received) -> Step {
    if request.system().contains("You summarise coding sessions") {
        return say(SUMMARY);
    }
    let last = request.body["messages"]
        .as_array()
        .and_then(|all| all.last());
    let last = last.map(Value::to_string).unwrap_or_default();
    let number = |text: &str| -> Option<u64> { text.split('-').nth(1)?.parse().ok() };
    let mark = marks(&last).into_iter().max_by_key(|mark| number(mark));
    let mark = mark.unwrap_or("mark-0-second".into());
    let n = number(&mark).expect("a number");
    let bash = |step: Step, word: &str| {
        let command = format!("echo mark-{n}-{word}; seq 1 2500");
        let step = step.text(&format!("mark-{n}-said{word} "));
        step.and_call("bash", json!({"command": command}))
    };
    let full = json!({"prompt_tokens": WINDOW, "input_tokens": WINDOW, "completion_tokens": 9, "output_tokens": 9});
    match mark.rsplit('-').next() {
        Some("prompt") => {
            let file = json!({"path": format!("f{n}"), "content": "x"});
            bash(call("write", file), "first")
        }
        Some("first") if n % 2 == 1 => bash(Step::default(), "second").usage(full),
        Some("first") => bash(Step::default(), "second"),
        _ => say(&format!("mark-{n}-done")),
    }
}

/// One life of a session after another.
struct Lives {
    place: Place,
    random: Random,
    log: Option<PathBuf>,
    /// The number of the next prompt.
    number: u64,
    /// What an answered prompt left for ever.
    answered: HashSet<String>,
    compactions: usize,
}

impl Lives {
    /// Goes on in the log, and is killed at some point of it.
    fn live(&mut self) {
        let place = &self.place;
        place.provider.forget_script();
        place.provider.script((0..40).map(|_| answer(reply)));
        let before = place.provider.received().len();
        let mut rpc = Rpc::start(place, &[]);
        let session = rpc.create(json!({"save": true, "resume": self.log}));
        let end = rpc.lines().len() + self.random.below(LINES) as usize;
        for turn in 0..3 {
            let id = match turn {
                1 => rpc.request("session.compact", json!({"session": session})),
                _ => rpc.begin(
                    &session,
                    &format!("mark-{}-prompt {}", self.number, "word ".repeat(800)),
                ),
            };
            if !rpc.responds_within(end, &id) {
                break;
            }
            let result = rpc.result(&id);
            assert_eq!(
                (&result["error"], &result["aborted"]),
                (&json!(null), &json!(false)),
                "{result}"
            );
            if turn != 1 {
                let n = self.number;
                let words = [
                    "prompt",
                    "saidfirst",
                    "first",
                    "saidsecond",
                    "second",
                    "done",
                ];
                self.answered
                    .extend(words.map(|word| format!("mark-{n}-{word}")));
                self.number += 1;
            }
        }
        self.compactions += rpc
            .lines()
            .iter()
            .filter(|line| line["type"] == "compacted")
            .count();
        let moment = Instant::now() + Duration::from_micros(self.random.below(5_000));
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        // This is SIGKILL.
        drop(rpc);
        self.number += 1;
        let logs = place.logs();
        self.log = logs.last().cloned();
        let Some(log) = self.log.clone() else {
            return assert!(self.answered.is_empty());
        };
        let kept = self.check(&log);
        // A request is made of what was written, but for the step that led to it.
        let sent = self.place.provider.received();
        let sent = sent[before..].iter().rev().nth(1);
        let sent = marks(
            &sent
                .map(|request| request.body.to_string())
                .unwrap_or_default(),
        );
        let lost: Vec<&String> = sent.difference(&kept).collect();
        assert!(lost.is_empty(), "lost {lost:?} in {}", log.display());
    }

    /// The marks in a log, which must be one that can be read, but for the record being written.
    fn check(&mut self, log: &Path) -> HashSet<String> {
        let text = std::fs::read_to_string(log).expect("a log");
        if !text.contains('\n') {
            // Killed before the header was whole: nothing was said in this session yet.
            std::fs::remove_file(log).expect("it is there");
            self.log = None;
            assert!(self.answered.is_empty());
            return HashSet::new();
        }
        let loaded = load(log).unwrap_or_else(|error| panic!("{error}"));
        let cut_off = |warning: &String| warning.contains("was cut off");
        assert!(loaded.warnings.iter().all(cut_off), "{:?}", loaded.warnings);
        let kept = marks(&text);
        let lost: Vec<&String> = self.answered.difference(&kept).collect();
        assert!(lost.is_empty(), "lost {lost:?} in {}", log.display());
        kept
    }
}

fn kill_often(seed: u64, dialect: &str) {
    let place = Place::speaking(dialect);
    place.models(dialect, json!({"context_window": WINDOW}));
    let mut lives = Lives {
        place,
        random: Random(seed),
        log: None,
        number: 1,
        answered: HashSet::new(),
        compactions: 0,
    };
    for round in 0..KILLS {
        if round % LIVES == 0 {
            for log in lives.place.logs() {
                std::fs::remove_file(log).expect("it is there");
            }
            lives.log = None;
            lives.answered.clear();
        }
        lives.live();
    }
    assert!(
        lives.compactions > KILLS / 10,
        "{} compactions",
        lives.compactions
    );
    lives.place.wait_deserted();
}

#[test]
fn a_killed_session_goes_on_where_its_log_ends() {
    std::thread::scope(|scope| {
        for (seed, dialect) in (1..).zip(DIALECTS) {
            scope.spawn(move || kill_often(seed, dialect));
        }
    });
}
