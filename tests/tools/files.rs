//! What `write` and `edit` do to a file, and what they leave alone.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use super::{Done, bash, one, play};
use crate::support::{Place, call, say};

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({"path": path, "content": content}))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    (
        "edit",
        json!({"path": path, "old_string": old, "new_string": new}),
    )
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_gets_its_directories_and_the_umask() {
    let place = Place::new();
    place.provider.script([
        call("write", write("a/b/c.txt", "one\ntwo\n").1),
        say("done"),
    ]);
    let run = place.json(&["go"]).after("umask 027").run().ends_with(0);
    let done: Done = super::results(&run).remove(0);
    assert_eq!(done.completes(), "wrote `a/b/c.txt` (2 lines)");
    assert_eq!(done.summary, "+2 -0");
    assert_eq!(place.read("a/b/c.txt"), "one\ntwo\n");
    let mode = |path: &str| place.workspace.join(path).metadata().unwrap().mode() & 0o777;
    assert_eq!((mode("a/b/c.txt"), mode("a/b")), (0o640, 0o750));
    assert_eq!(names(&place.workspace.join("a/b")), ["c.txt"]);
}

#[test]
fn modes_links_and_owners_survive() {
    let place = Place::new();
    let path = |name: &str| place.workspace.join(name);
    for mode in [0o755, 0o600, 0o666, 0o4711] {
        place.write("f", "old\n");
        std::fs::set_permissions(path("f"), PermissionsExt::from_mode(mode)).unwrap();
        let dones = play(&place, &[edit("f", "old", "new"), write("f", "newer\n")]);
        for done in dones {
            done.completes();
        }
        assert_eq!(path("f").metadata().unwrap().mode() & 0o7777, mode);
    }
    symlink("f", path("near")).unwrap();
    symlink(path("near"), path("far")).unwrap();
    std::fs::hard_link(path("f"), path("twin")).unwrap();
    for done in play(
        &place,
        &[edit("far", "newer", "newest"), write("near", "end\n")],
    ) {
        done.completes();
    }
    assert!(path("far").is_symlink() && path("near").is_symlink());
    assert_eq!(path("f").metadata().unwrap().nlink(), 2);
    assert_eq!(
        (place.read("f"), place.read("twin")),
        ("end\n".into(), "end\n".into())
    );
    assert_eq!(names(&place.workspace), ["f", "far", "near", "twin"]);
}

#[test]
fn what_must_not_be_written_is_refused_and_stays() {
    let place = Place::new();
    let path = |name: &str| place.workspace.join(name);
    place.write("locked", "old\n");
    std::fs::set_permissions(path("locked"), PermissionsExt::from_mode(0o444)).unwrap();
    place.write("latin", b"caf\xe9\n");
    symlink("nowhere", path("dangling")).unwrap();
    symlink("ring", path("ring")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket"));
    play(&place, &[bash("mkfifo fifo")]);
    let before = names(&place.workspace);
    for (name, reason) in [
        ("locked", "read-only (mode 0444)"),
        ("dangling", "symlink to a file that does not exist"),
        ("ring", "symbolic link"),
        ("socket", "a socket"),
        ("fifo", "a named pipe"),
        (".", "a directory"),
        ("/dev/null", "a device"),
        ("locked/x", "not a directory"),
        ("new/", "does not name a file"),
        ("/proc/version", "read-only"),
    ] {
        for done in play(&place, &[write(name, "x"), edit(name, "old", "new")]) {
            done.fails(reason);
        }
    }
    one(&place, "write", write("latin", "x").1).fails("not UTF-8 text and was left alone");
    assert_eq!(std::fs::read(path("latin")).unwrap(), b"caf\xe9\n");
    assert_eq!(place.read("locked"), "old\n");
    assert_eq!(names(&place.workspace), before);
}

#[test]
fn a_directory_that_cannot_be_written_still_lets_its_files_be_changed() {
    let place = Place::new();
    place.write("d/f", "old\n");
    let directory = place.workspace.join("d");
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o555)).unwrap();
    if std::fs::write(directory.join("probe"), "").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    let dones = play(&place, &[edit("d/f", "old", "new"), write("d/g", "x")]);
    dones[0].completes();
    dones[1].fails("permission denied");
    assert_eq!(place.read("d/f"), "new\n");
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn a_file_that_changed_since_it_was_read_is_stale() {
    let place = Place::new();
    place.write("f", "one\n");
    let dones = play(
        &place,
        &[
            ("read", json!({"path": "f"})),
            bash("sleep 0.02; echo two >> f"),
            edit("f", "one", "1"),
            write("./f", "mine\n"),
            ("read", json!({"path": "../space/f"})),
            edit("f", "one", "1"),
            edit("f", "two", "2"),
            bash("rm f"),
            write("f", "anew\n"),
        ],
    );
    for done in &dones[2..4] {
        assert_eq!(done.summary, "stale");
        done.fails("read it again");
    }
    for done in &dones[4..] {
        done.completes();
    }
    assert_eq!(place.read("f"), "anew\n");
}

#[test]
fn calls_for_one_file_run_in_their_order() {
    let place = Place::new();
    place.write("f", "0\n");
    symlink("f", place.workspace.join("alias")).unwrap();
    let mut step = call("edit", edit("f", "0\n", "1\n").1);
    for n in 1..30 {
        let path = ["f", "./alias", "alias", "../space/f"][n % 4];
        let (old, new) = (format!("{n}\n"), format!("{}\n", n + 1));
        step = step.and_call("edit", edit(path, &old, &new).1);
    }
    place.provider.script([step, say("done")]);
    let run = place.json(&["go"]).run().ends_with(0);
    for done in super::results(&run) {
        done.completes();
    }
    assert_eq!(place.read("f"), "30\n");
}

#[test]
fn a_full_disk_leaves_the_old_bytes() {
    let place = Place::new();
    let disk = place.workspace.join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |program: &str, args: &[&str]| {
        let output = std::process::Command::new(program)
            .args(args)
            .arg(&disk)
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs"]) {
        println!("skipped: this user may not mount a file system");
        return;
    }
    std::fs::write(disk.join("alone"), "old\n").unwrap();
    std::fs::write(disk.join("linked"), "old\n").unwrap();
    std::fs::hard_link(disk.join("linked"), disk.join("twin")).unwrap();
    let long = "x".repeat(200_000);
    let dones = play(
        &place,
        &[
            write("disk/alone", &long),
            write("disk/linked", &long),
            edit("disk/alone", "old", &long),
            edit("disk/twin", "old", &long),
            write("disk/new", &long),
            write("disk/alone", "fits\n"),
        ],
    );
    let kept = ["alone", "linked", "twin"].map(|name| std::fs::read_to_string(disk.join(name)));
    let left = names(&disk);
    assert!(mount("umount", &[]));
    for done in &dones[..5] {
        done.fails("no space left");
    }
    dones[5].completes();
    assert_eq!(kept.map(Result::unwrap), ["fits\n", "old\n", "old\n"]);
    assert_eq!(left, ["alone", "linked", "twin"]);
}

#[test]
fn a_huge_file_is_written_over_but_not_edited() {
    let place = Place::new();
    let huge = place.workspace.join("huge");
    std::fs::File::create(&huge)
        .unwrap()
        .set_len(65 << 20)
        .unwrap();
    let dones = play(&place, &[edit("huge", "a", "b"), write("huge", "small\n")]);
    dones[0].fails("larger than 64 MiB; change it with a command in `bash`");
    dones[1].completes();
    assert_eq!(place.read("huge"), "small\n");
}
