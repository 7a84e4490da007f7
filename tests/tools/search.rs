//! `grep` on hostile patterns and hostile trees.

use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::json;

use super::{bash, one, play};
use crate::support::Place;

#[test]
fn a_pattern_is_linear_or_an_error() {
    let place = Place::new();
    place.write(
        "f",
        format!("{}b\n{}\n", "a".repeat(50_000), "a b c ".repeat(5000)),
    );
    let patterns = [
        r"(a+)+$",
        r"(a|a)*c$",
        r"(.*)(.*)(.*)(.*)x",
        r"",
        r"a{1,500}x",
        r"^",
        r"\p{L}+z",
        r"(?i)B$",
        r"\x{1F600}",
        r"a\b",
    ];
    let calls = patterns.map(|pattern| ("grep", json!({"pattern": pattern})));
    for done in play(&place, &calls) {
        done.completes();
    }
    let broken = [
        "(",
        "[",
        "*",
        r"\",
        "a{2000}{2000}{2000}",
        "(?=x)",
        r"(a)\1",
        "(?<n",
        "\\p{Nothing}",
    ];
    let calls = broken.map(|pattern| ("grep", json!({"pattern": pattern})));
    for done in play(&place, &calls) {
        done.fails("`pattern` is no regular expression that works here");
    }
    one(&place, "grep", json!({"pattern": "x", "glob": "a{b"})).fails("`glob` is not a pattern");
    one(&place, "grep", json!({"pattern": "x", "path": "none"})).fails("no such file");
}

#[test]
fn deep_loops_and_odd_names_do_not_stop_a_search() {
    let place = Place::new();
    let dones = play(
        &place,
        &[
            bash(
                "d=.; for i in $(seq 1 300); do d=$d/deep; done; mkdir -p $d; echo needle > $d/bottom",
            ),
            bash(
                "ln -s . loop; ln -s /dev/zero zero; mkfifo fifo; mkdir -p x && ln -s ../x x/back",
            ),
            bash(
                r"touch $'new\nline' && echo needle > $'new\nline'; echo needle > $'esc\e[31m'; echo needle > $'raw\xff'; echo needle > ' '",
            ),
            bash("head -c 100000 /dev/urandom > binary; printf '\\nneedle\\n' >> binary"),
            bash(
                "head -c 10000000 /dev/zero | tr '\\0' n > wide; echo >> wide; echo needle >> wide; : > empty",
            ),
            ("grep", json!({"pattern": "needle"})),
        ],
    );
    let done = &dones[5];
    let text = done.completes();
    assert_eq!(done.summary, "7 matches", "{text}");
    for part in [
        "deep/bottom:1: needle",
        "wide:2: needle",
        "new line:1: needle",
        ":1: needle",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('\u{1b}'));
    symlink("..", place.workspace.join("up")).unwrap();
    let done = one(&place, "grep", json!({"pattern": "nothing of the kind"}));
    let text = done.completes();
    for part in [
        "symlinks",
        "files with lines that are not UTF-8",
        "1 lines over 64 KiB",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn ten_thousand_files_are_searched_in_order() {
    let place = Place::new();
    for directory in 0..100 {
        for file in 0..100 {
            let text = if file == 7 { "x\nneedle\n" } else { "hay\n" };
            place.write(&format!("d{directory:02}/f{file:02}"), text);
        }
    }
    let dones = play(
        &place,
        &[
            ("grep", json!({"pattern": "^needle$"})),
            ("grep", json!({"pattern": "needle", "glob": "d1?/*"})),
            ("grep", json!({"pattern": "hay"})),
        ],
    );
    let expected: Vec<_> = (0..100).map(|n| format!("d{n:02}/f07:2: needle")).collect();
    assert_eq!(dones[0].completes(), expected.join("\n"));
    assert_eq!(dones[1].summary, "10 matches");
    assert_eq!(dones[2].summary, "200+ matches");
    assert!(
        dones[2]
            .completes()
            .ends_with("[stopped at 200 matches; narrow the pattern, path or glob]")
    );
}

#[test]
fn nothing_found_says_what_was_not_searched() {
    let place = Place::new();
    std::fs::create_dir(place.workspace.join(".git")).unwrap();
    place.write(".gitignore", "*.log\n");
    for name in [".hidden/f", "target/f", "node_modules/f", "trace.log"] {
        place.write(name, "needle\n");
    }
    let dones = play(
        &place,
        &[
            ("grep", json!({"pattern": "needle"})),
            ("grep", json!({"pattern": "needle", "all": true})),
            ("grep", json!({"pattern": "needle", "path": "trace.log"})),
            ("grep", json!({"pattern": "needle", "path": "target"})),
            (
                "grep",
                json!({"pattern": "needle", "path": ".hidden/f", "glob": "*.rs"}),
            ),
        ],
    );
    assert_eq!(dones[0].summary, "0 matches");
    let text = dones[0].completes();
    assert!(
        text.contains("`\"all\": true` searches what is hidden"),
        "{text}"
    );
    assert_eq!(dones[1].summary, "4 matches");
    for done in &dones[2..] {
        assert_eq!(done.summary, "1 match", "{done:?}");
    }
}

#[test]
fn results_do_not_depend_on_programs_that_are_installed() {
    let place = Place::new();
    place.write("f", "needle\n");
    place.provider.script([
        crate::support::call("grep", json!({"pattern": "needle"})),
        crate::support::say("done"),
    ]);
    let run = place.json(&["go"]).env("PATH", "").run().ends_with(0);
    assert_eq!(super::results(&run)[0].completes(), "f:1: needle");
}

#[test]
fn an_endless_search_is_interrupted_at_once() {
    let place = Place::new();
    let file = std::fs::File::create(place.workspace.join("huge")).unwrap();
    file.set_len(100 << 30).unwrap();
    place
        .provider
        .script([crate::support::call("grep", json!({"pattern": "x"}))]);
    let run = place.json(&["go"]).start();
    run.stdout.wait_for("tool_start");
    let begun = std::time::Instant::now();
    run.signal("INT");
    let run = run.finish().ends_with(1);
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(super::results(&run)[0].outcome, "cancelled");
}
