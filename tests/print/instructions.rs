//! AGENTS.md: what the model is told, from where, and when.

use serde_json::{Value, json};

use crate::support::{Place, Run, call, say};

fn read(path: &str) -> crate::support::Step {
    call("read", json!({"path": path}))
}

/// The directories whose instructions joined, in order, relative to the workspace.
#[track_caller]
fn joined(place: &Place, run: &Run) -> Vec<String> {
    let paths = run.events("instructions").into_iter().map(|event| {
        let path = event["path"].as_str().expect("a path").to_string();
        let path = path.strip_prefix(place.workspace.to_str().expect("a path"));
        path.expect("inside")
            .trim_matches('/')
            .replace("/AGENTS.md", "")
    });
    paths.collect()
}

#[test]
fn the_homes_and_the_workspaces_are_in_the_system_prompt() {
    let place = Place::new();
    place.write_home("AGENTS.md", "  home rules\n");
    place.write("AGENTS.md", "work rules\n");
    place.p(&["hi"]).run().ends_with(0);
    let system = place.provider.received()[0].system();
    let home = system.find("home rules").expect("the home's");
    let work = system.find("work rules").expect("the workspace's");
    assert!(home < work, "{system}");
    let path = place.workspace.join("AGENTS.md").display().to_string();
    assert!(system.contains(&path), "{system}");
}

#[test]
fn blank_missing_and_odd_files_say_nothing() {
    let place = Place::new();
    place.write("AGENTS.md", " \n\t\n");
    place.write_home("AGENTS.md", "");
    place.p(&["hi"]).run().ends_with(0);
    std::fs::remove_file(place.workspace.join("AGENTS.md")).expect("removed");
    place.sh("mkfifo AGENTS.md").run().ends_with(0);
    place.p(&["hi"]).run().ends_with(0);
    std::fs::remove_file(place.workspace.join("AGENTS.md")).expect("removed");
    std::fs::create_dir(place.workspace.join("AGENTS.md")).expect("a directory");
    place.p(&["hi"]).run().ends_with(0);
    for request in place.provider.received() {
        assert!(!request.system().contains("AGENTS.md"));
    }
}

#[test]
fn the_prompt_says_where_it_works_and_on_what_day() {
    let place = Place::new();
    place.p(&["hi"]).run().ends_with(0);
    let system = place.provider.received()[0].system();
    let cwd = Value::from(place.workspace.to_str().expect("a path")).to_string();
    assert!(system.contains(&cwd), "{system}");
    assert!(system.contains(std::env::consts::OS), "{system}");
    for tool in ["read", "write", "edit", "grep", "read_result", "bash"] {
        assert!(system.contains(&format!("- {tool}: ")), "{tool}");
    }
    assert!(system.contains("e docs"), "{system}");
}

#[test]
fn a_setting_replaces_the_base_and_keeps_the_rest() {
    let place = Place::new();
    place.settings(json!({"system_prompt": "You are a parrot."}));
    place.write("AGENTS.md", "work rules\n");
    place.p(&["hi"]).run().ends_with(0);
    let system = place.provider.received()[0].system();
    assert!(system.starts_with("You are a parrot."), "{system}");
    assert!(system.contains("work rules") && !system.contains("e docs"));
}

#[test]
fn a_large_file_is_cut_and_says_so() {
    let place = Place::new();
    place.write("AGENTS.md", "é".repeat(40_000));
    place.p(&["hi"]).run().ends_with(0);
    let system = place.provider.received()[0].system();
    assert_eq!(system.matches('é').count(), 16 * 1024);
    assert!(system.contains("cut at 32 KiB"));
}

#[test]
fn nested_files_join_when_their_directory_is_touched_outermost_first_and_once() {
    let place = Place::new();
    place.write("a/AGENTS.md", "rules of a");
    place.write("a/b/AGENTS.md", "rules of b");
    place.write("a/b/one.txt", "1");
    place.write("other/AGENTS.md", "rules of other");
    place
        .provider
        .script([read("a/b/one.txt"), read("a/b/one.txt"), say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(joined(&place, &run), ["a", "a/b"]);
    let received = place.provider.received();
    let told = received[1].body["messages"].to_string();
    let (a, b) = (told.find("rules of a"), told.find("rules of b"));
    assert!(a.is_some() && a < b, "{told}");
    assert!(!told.contains("rules of other"));
    assert_eq!(
        received[2].body["messages"]
            .to_string()
            .matches("rules of b")
            .count(),
        1
    );
}

#[test]
fn writes_edits_and_searches_touch_directories_commands_do_not() {
    let place = Place::new();
    for dir in ["w", "e", "g", "b"] {
        place.write(&format!("{dir}/AGENTS.md"), "rules");
        place.write(&format!("{dir}/a.txt"), "one");
    }
    let step = call("write", json!({"path": "w/new.txt", "content": ""}))
        .and_call(
            "edit",
            json!({"path": "e/a.txt", "old_string": "one", "new_string": "two"}),
        )
        .and_call("grep", json!({"pattern": "x", "path": "g"}))
        .and_call("bash", json!({"command": "cat b/a.txt"}));
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(joined(&place, &run), ["w", "e", "g"]);
}

#[test]
fn nothing_from_outside_the_workspace_joins() {
    let place = Place::new();
    let outside = place.root().join("outside");
    std::fs::create_dir(&outside).expect("a directory");
    std::fs::write(outside.join("AGENTS.md"), "evil").expect("a file");
    std::fs::write(outside.join("a.txt"), "1").expect("a file");
    std::os::unix::fs::symlink(&outside, place.workspace.join("link")).expect("a link");
    std::fs::create_dir(place.workspace.join("dir")).expect("a directory");
    std::os::unix::fs::symlink(
        outside.join("AGENTS.md"),
        place.workspace.join("dir/AGENTS.md"),
    )
    .expect("a link");
    let absolute = outside.join("a.txt").display().to_string();
    let step = read("link/a.txt")
        .and_call("read", json!({"path": "../outside/a.txt"}))
        .and_call("read", json!({"path": absolute}))
        .and_call("grep", json!({"pattern": "x", "path": "dir"}));
    place.provider.script([step, say("done")]);
    let run = place.json(&["hi"]).run().ends_with(0);
    assert_eq!(joined(&place, &run), [""; 0]);
    let told = place.provider.received()[1].body["messages"].to_string();
    assert!(!told.contains("evil"));
}
