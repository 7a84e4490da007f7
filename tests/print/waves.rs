//! The calls of one reply: how many run at once, and in what order where it matters.

use serde_json::{Value, json};

use crate::support::{Place, Run, Step, call, say, until};

/// A step of commands that each note how many run, and wait until `together` have been seen.
fn meeting(count: usize, together: usize) -> Step {
    (0..count).fold(Step::default(), |step, number| {
        let command = format!(
            "mkdir run.{number} seen.{number}; ls -d run.* | wc -l > count.{number}; \
             until [ $(ls -d seen.* | wc -l) -ge {together} ]; do sleep 0.01; done; \
             ls -d run.* | wc -l >> count.{number}; rmdir run.{number}"
        );
        step.and_call("bash", json!({"command": command, "timeout": 10}))
    })
}

/// The most that ran at once.
fn most(place: &Place, count: usize) -> usize {
    let counts = (0..count).flat_map(|number| {
        let text = place.read(&format!("count.{number}"));
        text.lines()
            .map(|line| line.trim().parse().expect("a count"))
            .collect::<Vec<usize>>()
    });
    counts.max().expect("counts")
}

#[track_caller]
fn all_complete(run: &Run) {
    for end in run.events("tool_end") {
        assert_eq!(end["outcome"], "completed", "{end}");
    }
}

#[test]
fn eight_run_at_once_by_default() {
    let place = Place::new();
    place.provider.script([meeting(9, 8), say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    all_complete(&run);
    assert_eq!(most(&place, 9), 8);
}

#[test]
fn the_setting_says_how_many() {
    for limit in [1, 3, 64] {
        let place = Place::new();
        place.settings(json!({"tool_concurrency": limit}));
        let count = if limit == 64 { 20 } else { limit + 1 };
        place
            .provider
            .script([meeting(count, limit.min(count)), say("done")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        all_complete(&run);
        assert_eq!(most(&place, count), limit.min(count), "{limit}");
    }
}

#[test]
fn a_setting_out_of_range_still_runs_tools() {
    for setting in [
        json!(0),
        json!(65),
        json!(-3),
        json!("8"),
        json!(2.5),
        json!(null),
    ] {
        let place = Place::new();
        place.settings(json!({"tool_concurrency": setting}));
        place
            .provider
            .script([call("bash", json!({"command": "echo ran"})), say("done")]);
        let run = place.json(&["hi"]).run().ends_with(0);
        assert_eq!(run.events("tool_end")[0]["content"], "ran", "{setting}");
    }
}

#[test]
fn calls_that_name_one_file_run_in_order() {
    let place = Place::new();
    place.write("a.txt", "0");
    std::os::unix::fs::symlink("a.txt", place.workspace.join("link")).expect("a link");
    std::fs::hard_link(place.workspace.join("a.txt"), place.workspace.join("hard"))
        .expect("a link");
    let absolute = place.workspace.join("a.txt").display().to_string();
    let names = ["a.txt", "link", "./a.txt", &absolute];
    let mut step = Step::default();
    for number in 0..20 {
        let name = names[number % names.len()];
        let edit = json!({"path": name, "old_string": number.to_string(), "new_string": (number + 1).to_string()});
        step = step.and_call("edit", edit);
    }
    step = step
        .and_call("read", json!({"path": "hard"}))
        .and_call("grep", json!({"pattern": "^20$", "path": "a.txt"}));
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    all_complete(&run);
    assert_eq!(place.read("a.txt"), "20");
    let ends = run.events("tool_end");
    assert!(
        ends[20]["content"].as_str().expect("text").contains("20"),
        "{}",
        ends[20]
    );
    assert!(
        ends[21]["content"].as_str().expect("text").contains("20"),
        "{}",
        ends[21]
    );
}

#[test]
fn a_file_that_is_not_there_yet_is_written_before_it_is_read() {
    let place = Place::new();
    let step = call("write", json!({"path": "new/a.txt", "content": "hello\n"}))
        .and_call(
            "edit",
            json!({"path": "new/../new/a.txt", "old_string": "hello", "new_string": "bye"}),
        )
        .and_call("read", json!({"path": "new/a.txt"}));
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    all_complete(&run);
    assert_eq!(run.events("tool_end")[2]["content"], "1\tbye");
}

#[test]
fn results_are_sent_in_the_order_of_the_calls() {
    let place = Place::new();
    let step = call(
        "bash",
        json!({"command": "mkfifo gate; read go < gate; echo first"}),
    )
    .and_call("bash", json!({"command": "echo second"}));
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).start();
    run.stdout.wait_for("{\"type\":\"tool_end\",\"id\":2");
    let gate = place.workspace.join("gate");
    until("the gate", || gate.exists());
    std::fs::write(gate, "go\n").expect("a word through the gate");
    let run = run.finish().ends_with(0);
    let ended: Vec<Value> = run
        .events("tool_end")
        .iter()
        .map(|end| end["id"].clone())
        .collect();
    assert_eq!(ended, [2, 1], "events come as calls end");
    let received = place.provider.received();
    assert_eq!(received[1].results(), ["first", "second"]);
}

#[test]
fn every_call_starts_before_it_ends_and_is_announced_before() {
    let place = Place::new();
    place.provider.script([meeting(12, 4), say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    let lines = run.lines();
    let at = |kind: &str, id: u64| {
        let is = |line: &Value| line["type"] == kind && line["id"] == id;
        lines
            .iter()
            .position(is)
            .unwrap_or_else(|| panic!("no {kind} {id}"))
    };
    let batch = lines
        .iter()
        .position(|line| line["type"] == "tool_batch")
        .expect("a batch");
    for id in 1..=12 {
        assert!(batch < at("tool_start", id) && at("tool_start", id) < at("tool_end", id));
    }
}
