//! In a container with next to nothing: e is process 1 without a shell, a HOME, a `/tmp`, a `/proc`
//! or a `/dev`; and on a disk that nobody may write to.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, Rpc, Step, call, say, until};

/// Commands in the test of zombies, and how many a reply asks for.
const COMMANDS: usize = 500;
const AT_ONCE: usize = 10;

/// Runs the rest of the line in namespaces of its own. Only root may, or who may become it there.
fn apart() -> String {
    let root = Command::new("id").arg("-u").output();
    match root.is_ok_and(|output| output.stdout == b"0\n") {
        true => "unshare --mount".into(),
        false => "unshare --map-root-user --mount".into(),
    }
}

/// Whether this machine lets a test make such a container.
fn permitted() -> bool {
    let script = format!("{} --pid --fork mount -t tmpfs none /mnt", apart());
    let output = Command::new("sh").args(["-c", &script]).output();
    let permitted = output.is_ok_and(|output| output.status.success());
    if !permitted {
        println!("skipped: this user may not make namespaces and mounts");
    }
    permitted
}

/// A root directory of a container.
struct Jail<'a> {
    place: &'a Place,
    root: PathBuf,
}

impl<'a> Jail<'a> {
    /// With e, its libraries and nothing else.
    fn new(place: &'a Place) -> Self {
        let root = place.root().join("jail");
        std::fs::create_dir(&root).unwrap();
        let jail = Self { place, root };
        jail.install(env!("CARGO_BIN_EXE_e"), "e");
        jail
    }

    /// Copies a program to a path, and the libraries that it names to theirs.
    fn install(&self, program: &str, to: &str) {
        self.copy(program, to);
        let output = Command::new("ldd").arg(program).output().expect("ldd runs");
        let text = String::from_utf8(output.stdout).unwrap();
        let paths = text.split_whitespace().filter(|word| word.starts_with('/'));
        for path in paths {
            self.copy(path, path.trim_start_matches('/'));
        }
    }

    fn copy(&self, from: impl AsRef<Path>, to: &str) {
        let to = self.root.join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }

    /// `e rpc` as process 1. `prepare` runs before, outside of the root directory.
    fn start(&self, prepare: &str, env: &str, model: &str) -> Rpc {
        let script = format!(
            "exec {} --pid --fork --kill-child sh -c '{prepare}
             exec env -i {env} \"$(command -v chroot)\" \"$JAIL\" /e rpc --trust --model {model}'",
            apart()
        );
        let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
        Rpc::of(
            self.place
                .sh(&script)
                .env("JAIL", &self.root)
                .env("PATH", path),
        )
    }
}

/// The living and the dead children of a process, as (pid, state).
fn children(parent: i32) -> Vec<(i32, char)> {
    let names = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let child = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit(')').next()?.split_whitespace();
        let state = fields.next()?.chars().next()?;
        (fields.next()?.parse() == Ok(parent)).then_some((pid, state))
    };
    pids.filter_map(child).collect()
}

#[test]
fn process_one_with_nothing_else_serves_and_says_what_it_cannot_do() {
    if !permitted() {
        return;
    }
    let place = Place::new();
    let jail = Jail::new(&place);
    let step = |call: Value| json!({"actions": [{"call": call}]});
    let script = json!([
        step(json!({"name": "write", "arguments": {"path": "a/b", "content": "written\n"}})),
        step(json!({"name": "read", "arguments": {"path": "a/b"}})),
        step(json!({"name": "bash", "arguments": {"command": "true"}})),
        {"actions": [{"text": "done"}]},
    ]);
    std::fs::write(jail.root.join("script"), script.to_string()).unwrap();
    let mut rpc = jail.start("", "E_OFFLINE_SCRIPT=/script", "offline/script");
    let hello = rpc.call("hello", json!({}));
    assert_eq!((&hello["cwd"], &hello["home"]), (&json!("/"), &json!(null)));
    let session = rpc.create(json!({"save": true}));
    let result = rpc.prompt(&session, "go");
    assert_eq!(
        (&result["final_output"], &result["path"]),
        (&json!("done"), &json!(null))
    );
    assert!(
        result["warnings"].to_string().contains("memory only"),
        "{result}"
    );
    let ends: Vec<Value> = rpc
        .lines()
        .iter()
        .filter(|line| line["type"] == "tool_end")
        .cloned()
        .collect();
    let outcomes: Vec<&Value> = ends.iter().map(|end| &end["outcome"]).collect();
    assert_eq!(outcomes, ["completed", "completed", "failed"], "{ends:#?}");
    assert!(ends[1]["content"].as_str().unwrap().contains("written"));
    let why = ends[2]["content"].as_str().unwrap();
    assert!(why.contains("neither `bash` nor `sh`"), "{why}");
    assert_eq!(rpc.call("session.list", json!({}))["sessions"], json!([]));
    let page = json!({"session": session, "path": "page.html"});
    rpc.call("session.export", page);
    assert!(jail.root.join("page.html").exists());
    rpc.close();
    rpc.finish().1.ends_with(0);
}

#[test]
fn process_one_reaps_whatever_five_hundred_commands_leave() {
    if !permitted() {
        return;
    }
    let place = Place::new();
    let jail = Jail::new(&place);
    jail.install("/bin/bash", "bin/bash");
    jail.copy(place.home.join("models.json"), "home/models.json");
    jail.copy(place.home.join("auth.json"), "home/auth.json");
    // What the device is mounted on.
    jail.copy(place.home.join("auth.json"), "dev/null");
    // Orphans of several kinds: they become children of process 1.
    let command = "(exit 0) & (exit 3 & exit 0) & ( (exit 0 & exit 0) & ) ; exit 0";
    let batch = |_| {
        let call = |step: Step, _| step.and_call("bash", json!({"command": command}));
        (0..AT_ONCE).fold(say("On. "), call)
    };
    place
        .provider
        .script((0..COMMANDS / AT_ONCE).map(batch).chain([say("done")]));
    let prepare = "mount --bind /dev/null \"$JAIL/dev/null\" || exit 9";
    let mut rpc = jail.start(prepare, "E_HOME=/home PATH=/bin", "mock/test");
    let session = rpc.create(json!({}));
    let result = rpc.prompt(&session, "go");
    assert_eq!(result["error"], json!(null), "{result}");
    assert_eq!(result["tools"], json!({"calls": COMMANDS, "failures": 0}));
    let one = children(rpc.process.pid())[0].0;
    let comm = std::fs::read_to_string(format!("/proc/{one}/comm")).unwrap();
    assert_eq!(comm, "e\n");
    // What is left alive is the guard, which stays as long as e.
    until("every zombie is reaped", || children(one).len() <= 1);
    assert!(children(one).iter().all(|(_, state)| *state != 'Z'));
    rpc.close();
    rpc.finish().1.ends_with(0);
}

#[test]
fn a_disk_that_cannot_be_written_costs_what_needs_it_and_no_more() {
    if !permitted() {
        return;
    }
    let place = Place::new();
    place.provider.script([
        call("write", json!({"path": "new", "content": "x"})),
        call("bash", json!({"command": "echo ran; touch new"})),
        say("done"),
    ]);
    let script = format!(
        "exec {} sh -c 'mount --bind \"$ROOT\" \"$ROOT\" && mount -o remount,bind,ro \"$ROOT\" && \
         cd . && exec \"$E\" rpc --model \"$M\"'",
        apart()
    );
    let root = place.root().canonicalize().unwrap();
    // The bind mount lies over the directory that was entered before it.
    let script = script.replace("cd . ", &format!("cd \"{}\" ", place.workspace.display()));
    let mut rpc = Rpc::of(place.sh(&script).env("ROOT", root));
    let session = rpc.create(json!({"save": true, "name": "n"}));
    let result = rpc.prompt(&session, "go");
    assert_eq!(
        (&result["final_output"], &result["path"]),
        (&json!("done"), &json!(null))
    );
    let warnings = result["warnings"].to_string();
    assert_eq!(warnings.matches("memory only").count(), 1, "{warnings}");
    let ends: Vec<&Value> = rpc
        .lines()
        .iter()
        .filter(|line| line["type"] == "tool_end")
        .collect();
    for end in &ends {
        let content = end["content"].as_str().unwrap().to_lowercase();
        assert!(
            end["outcome"] == "failed" && content.contains("read-only"),
            "{end}"
        );
    }
    assert!(ends[1]["content"].as_str().unwrap().contains("ran"));
    let why = rpc.refused("session.export", json!({"session": session}));
    assert!(why.contains("cannot write"), "{why}");
    let fork = rpc.call("session.fork", json!({"session": session}));
    assert_eq!(fork["path"], json!(null));
    assert_eq!(rpc.call("session.list", json!({}))["sessions"], json!([]));
    rpc.close();
    rpc.finish().1.ends_with(0);
    assert!(place.logs().is_empty() && !place.workspace.join("new").exists());
}
