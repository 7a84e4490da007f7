//! Sessions on disk: saving, resuming, forking, listing, exporting.

use serde_json::{Value, json};

use crate::support::{Place, Rpc, say};

/// A saved session with one turn; the path of its log.
fn saved(place: &Place) -> String {
    place.provider.script([say("reply one")]);
    let mut rpc = Rpc::start(place, &[]);
    let session = rpc.create(json!({"save": true, "name": "first"}));
    let result = rpc.prompt(&session, "prompt one");
    rpc.call("shutdown", json!({}));
    rpc.finish().1.ends_with(0);
    result["path"].as_str().expect("a log").into()
}

#[test]
fn a_saved_session_is_listed_and_goes_on_where_it_ended() {
    let place = Place::new();
    let path = saved(&place);
    let mut rpc = Rpc::start(&place, &[]);
    let listed = rpc.call("session.list", json!({}))["sessions"][0].clone();
    assert_eq!(listed["path"], path.as_str());
    assert_eq!(listed["title"], "first");
    assert_eq!(listed["name"], "first");
    assert_eq!(listed["cwd"], place.workspace.to_str().unwrap());
    assert_eq!(
        (&listed["messages"], &listed["turns"]),
        (&json!(2), &json!(1))
    );
    assert!(listed["modified"].as_u64().is_some_and(|ms| ms > 1 << 40));
    let created = rpc.call(
        "session.create",
        json!({"resume": path, "save": true, "name": "new"}),
    );
    assert_eq!(created["path"], path.as_str());
    let session = created["session"].as_str().unwrap().to_string();
    let result = rpc.prompt(&session, "prompt two");
    assert_eq!(result["path"], path.as_str());
    assert!(
        place.provider.received()[1]
            .body
            .to_string()
            .contains("reply one")
    );
    assert_eq!(place.logs().len(), 1);
    let listed = rpc.call("session.list", json!({"all": true}))["sessions"][0].clone();
    assert_eq!(
        (&listed["name"], &listed["turns"]),
        (&json!("new"), &json!(2))
    );
    // The log is free as soon as the close is answered.
    rpc.call("session.close", json!({"session": session}));
    rpc.create(json!({"resume": path, "save": true}));
}

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let place = Place::new();
    let path = saved(&place);
    let before = std::fs::read(&path).unwrap();
    let (mut one, mut other) = (Rpc::start(&place, &[]), Rpc::start(&place, &[]));
    one.create(json!({"resume": path, "save": true}));
    let why = other.refused("session.create", json!({"resume": path, "save": true}));
    assert!(why.contains("lock") || why.contains("process"), "{why}");
    let reader = other.create(json!({"resume": path}));
    let result = other.prompt(&reader, "read only");
    assert_eq!(result["path"], json!(null));
    let mut never = Rpc::start(&place, &["--no-save"]);
    let created = never.call("session.create", json!({"resume": path, "save": true}));
    assert_eq!(created["path"], json!(null));
    never.prompt(created["session"].as_str().unwrap(), "read only");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    std::fs::write(place.workspace.join("bad.jsonl"), "no log\n").unwrap();
    other.refused("session.create", json!({"resume": "bad.jsonl"}));
}

#[test]
fn reading_a_log_leaves_it_and_its_folder_as_they_are() {
    let place = Place::new();
    let path = std::path::PathBuf::from(saved(&place));
    let torn = [std::fs::read(&path).unwrap(), b"{\"type\":\"mess".to_vec()].concat();
    std::fs::write(&path, &torn).unwrap();
    std::fs::remove_file(path.with_extension("lock")).unwrap();
    for (args, save) in [(&[][..], false), (&["--no-save"], true)] {
        let mut rpc = Rpc::start(&place, args);
        let session = rpc.create(json!({"resume": path, "save": save}));
        let result = rpc.prompt(&session, "what was it");
        assert_eq!(result["path"], json!(null));
        assert!(
            result["warnings"].to_string().contains("was cut off"),
            "{result}"
        );
        let asked = place.provider.received().pop().unwrap();
        assert!(asked.body.to_string().contains("reply one"));
        assert_eq!(std::fs::read(&path).unwrap(), torn);
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(beside.count(), 1);
    }
}

#[test]
fn each_session_has_its_directory_and_the_instructions_there() {
    let place = Place::new();
    place.write("AGENTS.md", "rule of the workspace");
    place.write("sub/AGENTS.md", "rule of the part");
    let outside = place.root().canonicalize().unwrap().join("other");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("AGENTS.md"), "rule of another").unwrap();
    let mut rpc = Rpc::start(&place, &[]);
    let why = rpc.refused("session.create", json!({"cwd": outside}));
    assert!(why.contains("e trust"), "{why}");
    place.e().arg("trust").arg(&outside).run().ends_with(0);
    for (cwd, rule, other) in [
        (json!(null), "rule of the workspace", "rule of another"),
        (json!("sub"), "rule of the part", "rule of another"),
        (json!(outside), "rule of another", "rule of the workspace"),
    ] {
        let session = rpc.create(json!({"cwd": cwd, "save": true}));
        rpc.prompt(&session, rule);
        let system = place.provider.received().pop().unwrap().system();
        assert!(
            system.contains(rule) && !system.contains(other),
            "{cwd}: {system}"
        );
        let listed = rpc.call("session.list", json!({"cwd": cwd}))["sessions"].clone();
        let titles: Vec<&Value> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["title"])
            .collect();
        assert_eq!(titles, [rule], "{cwd}");
    }
    let all = rpc.call("session.list", json!({"all": true}));
    assert_eq!(all["sessions"].as_array().unwrap().len(), 3);
}

#[test]
fn a_fork_grows_apart() {
    let place = Place::new();
    place
        .provider
        .script([say("one"), say("in the fork"), say("in the original")]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({"save": true, "tools": ["read"]}));
    let original = rpc.prompt(&session, "first")["path"].clone();
    let fork = rpc.call("session.fork", json!({"session": session}));
    let path = fork["path"].as_str().expect("a log at once");
    assert_ne!(fork["path"], original);
    assert!(std::fs::read_to_string(path).unwrap().contains("first"));
    let handle = fork["session"].as_str().unwrap().to_string();
    assert_eq!(rpc.prompt(&handle, "apart")["path"], path);
    rpc.prompt(&session, "alone");
    let requests = place.provider.received();
    assert!(requests[1].body.to_string().contains("first"));
    assert_eq!(requests[1].tools(), ["read"]);
    assert!(!requests[2].body.to_string().contains("apart"));
    let memory = rpc.create(json!({}));
    let fork = rpc.call("session.fork", json!({"session": memory}));
    assert_eq!(fork["path"], json!(null));
}

#[test]
fn a_fork_behind_an_interrupt_is_accepted() {
    let place = Place::new();
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let (step, _gate) = say("A").gate();
    place.provider.script([step]);
    rpc.begin(&session, "one");
    rpc.event("text");
    let stop = rpc.line("session.interrupt", json!({"session": session}));
    let fork = rpc.line("session.fork", json!({"session": session}));
    rpc.send_raw(format!("{stop}\n{fork}\n"));
    rpc.result(&fork["id"]);
}

#[test]
fn a_conversation_is_exported_as_a_page() {
    let place = Place::new();
    place.provider.script([say("**bold** <script>x</script>")]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    rpc.prompt(&session, "the title of it");
    let exported = rpc.call("session.export", json!({"session": session}));
    let name = format!("e-session-{}.html", &session[..8]);
    assert_eq!(
        exported["path"],
        place.workspace.join(&name).to_str().unwrap()
    );
    assert_eq!(exported["title"], "the title of it");
    let page = place.read(&name);
    assert!(
        page.contains("<strong>bold</strong>") && !page.contains("<script"),
        "{page}"
    );
    let named = json!({"session": session, "path": "page.html"});
    rpc.call("session.export", named.clone());
    rpc.call("session.export", named);
    assert_eq!(place.read("page.html"), page);
    // A file of the person's stays; an empty one was made for this.
    std::fs::write(place.workspace.join("keep.txt"), "precious").unwrap();
    std::fs::write(place.workspace.join("new.html"), "").unwrap();
    rpc.call(
        "session.export",
        json!({"session": session, "path": "new.html"}),
    );
    std::os::unix::fs::symlink("nowhere", place.workspace.join("lost.html")).unwrap();
    for path in [
        "no/such/dir.html",
        "/dev/null",
        ".",
        "keep.txt",
        "lost.html",
    ] {
        let why = rpc.refused("session.export", json!({"session": session, "path": path}));
        assert!(why.contains("cannot write"), "{why}");
    }
    assert_eq!(place.read("keep.txt"), "precious");
}

#[test]
fn closing_answers_the_turn_first_and_ends_its_commands() {
    let place = Place::new();
    let command = "echo $$ > pid.new; mv pid.new pid; sleep 300; true";
    let step = crate::support::call("bash", json!({"command": command}));
    place.provider.script([step]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    let prompt = rpc.begin(&session, "go");
    let pid = crate::support::pid_in(&place.workspace.join("pid"));
    assert_eq!(
        rpc.call("session.close", json!({"session": session})),
        json!({})
    );
    assert_eq!(rpc.result(&prompt)["aborted"], true);
    let end = |line: &Value| line["type"] == "turn_end" || line.get("type").is_none();
    let tail: Vec<&Value> = rpc
        .lines()
        .iter()
        .filter(|line| end(line))
        .rev()
        .take(3)
        .collect();
    assert_eq!(tail[0]["result"], json!({}));
    assert_eq!(tail[1]["id"], prompt);
    assert_eq!(tail[2]["type"], "turn_end");
    crate::support::gone(pid);
}
