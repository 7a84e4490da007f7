//! Lists of whole, torn, damaged, foreign and unreadable logs.

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use super::*;

const HEADER: &str =
    r#"{"type":"session","format_version":3,"id":"s","cwd":"/w","created":1,"model":"p/m"}"#;

struct Fixture {
    root: tempfile::TempDir,
    home: Home,
    work: PathBuf,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    let work = root.path().canonicalize().unwrap().join("work");
    fs::create_dir(&work).unwrap();
    let home = Home::at(root.path().join("home"));
    Fixture { root, home, work }
}

impl Fixture {
    fn folder(&self, workspace: &Path) -> PathBuf {
        let sessions = self.home.file("sessions").unwrap();
        let folder = sessions.join(path_key(workspace));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Writes a log that was last modified `age` seconds after the epoch.
    fn write(&self, name: &str, age: u64, lines: &[&str]) -> PathBuf {
        let path = self.folder(&self.work).join(name);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(age))
            .unwrap();
        path
    }

    fn list(&self) -> Vec<Listed> {
        let here = list(&self.home, Some(&self.work)).unwrap();
        assert_eq!(list(&self.home, None).unwrap(), here);
        let first = here.iter().find(|one| !one.cwd.is_empty());
        assert_eq!(newest(&self.home, &self.work).unwrap().as_ref(), first);
        here
    }
}

fn said(id: &str, role: &str, content: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parent":null,"timestamp":1,"message":{{"role":"{role}","content":"{content}"}}}}"#
    )
}

#[test]
fn no_home_and_no_sessions_are_empty_lists() {
    assert_eq!(list(&Home::default(), None).unwrap(), []);
    assert_eq!(fixture().list(), []);
}

#[test]
fn sessions_are_told_by_their_titles_the_newest_first() {
    let f = fixture();
    let internal = said("b", "user", "a note").replace("\"}}", "\",\"internal\":true}}");
    let a = said("a", "user", r"list\tthe tests\nnow");
    let reply = said("c", "assistant", "two");
    let foreign =
        r#"{ "message": {"content":"again","role":"user"}, "id": "d", "type": "message" }"#;
    let old = f.write("1_old.jsonl", 5, &[HEADER, &internal, &a, &reply, foreign]);
    let name = r#"{"type":"name","name":"é"}"#;
    let new = f.write("2_new.jsonl", 9, &[HEADER, name, &a, r#"{"type":"later"}"#]);
    f.write("2_new.errors.jsonl", 10, &[r#"{"format_version":1}"#]);
    f.write("2_new.lock", 10, &[]);
    let listed = f.list();
    assert_eq!(
        listed[1],
        Listed {
            path: old,
            title: "list the tests".into(),
            name: None,
            modified_ms: 5000,
            messages: 4,
            turns: 2,
            cwd: "/w".into(),
            damage: None,
        }
    );
    assert_eq!(listed[0].path, new);
    assert_eq!(listed[0].name.as_deref(), Some("é"));
    assert_eq!(listed.len(), 2);
}

#[test]
fn what_is_no_session_of_a_person_is_left_out() {
    let f = fixture();
    let user = said("a", "user", "hi");
    let internal = user.replace("\"}}", "\",\"internal\":true}}");
    let newer = HEADER.replace(":3", ":4");
    f.write("1.jsonl", 1, &[]);
    f.write("2.jsonl", 1, &["hello"]);
    f.write("3.jsonl", 1, &[&user]);
    f.write("4.jsonl", 1, &[HEADER]);
    f.write(
        "5.jsonl",
        1,
        &[HEADER, &internal, &said("b", "assistant", "x")],
    );
    f.write("6.jsonl", 1, &[&newer, &user]);
    f.write("7.txt", 1, &[HEADER, &user]);
    assert_eq!(f.list(), []);
    // A fork whose messages all were summarised is a conversation still.
    let compact = r#"{"type":"compact","id":"k","parent":null,"timestamp":1,"summary":"s","first_kept":null}"#;
    f.write("8.jsonl", 1, &[HEADER, compact]);
    assert_eq!(f.list().len(), 1);
}

#[test]
fn every_format_version_is_listed() {
    let f = fixture();
    for version in 0..=3 {
        let from = format!("tests/fixtures/sessions/v{version}.jsonl");
        fs::copy(from, f.folder(&f.work).join(format!("{version}.jsonl"))).unwrap();
    }
    let listed = f.list();
    assert_eq!(listed.len(), 4);
    for session in &listed {
        assert_eq!((&session.damage, session.cwd.as_str()), (&None, "/srv/app"));
        assert!(["list the tests", "first"].contains(&session.title.as_str()));
    }
}

#[test]
fn damage_is_told_and_hides_nothing() {
    let f = fixture();
    let user = said("a", "user", "hi");
    let torn = &user[..60];
    f.write(
        "1.jsonl",
        2,
        &[HEADER, &user, torn, &said("b", "user", "more")],
    );
    let listed = f.list();
    let damage = listed[0].damage.as_deref().unwrap();
    assert!(damage.starts_with("line 3 cannot be used"), "{damage}");
    assert_eq!((listed[0].turns, listed[0].title.as_str()), (2, "hi"));

    // A last line that is being written, or was cut off, is no damage.
    let path = f.write("2.jsonl", 3, &[HEADER, &user]);
    fs::write(&path, format!("{HEADER}\n{user}\n{torn}")).unwrap();
    assert_eq!(f.list()[0].damage, None);
    assert_eq!(f.list()[0].turns, 1);
}

#[test]
fn what_cannot_be_read_is_listed_with_the_reason() {
    let f = fixture();
    let folder = f.folder(&f.work);
    fs::create_dir(folder.join("1.jsonl")).unwrap();
    symlink("/nonexistent", folder.join("2.jsonl")).unwrap();
    let listed = f.list();
    assert_eq!(listed.len(), 1);
    let damage = listed[0].damage.as_deref().unwrap();
    assert_eq!(
        damage,
        "it cannot be read: it is a directory, not a regular file"
    );

    // A folder that is none costs itself, and a home that is none is an error.
    let other = f.folder(Path::new("/other"));
    fs::set_permissions(&other, Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&other).is_err() {
        assert_eq!(list(&f.home, None).unwrap().len(), 2);
    }
    fs::set_permissions(&other, Permissions::from_mode(0o700)).unwrap();
    let file = f.root.path().join("file");
    fs::create_dir(&file).unwrap();
    fs::write(file.join("sessions"), "").unwrap();
    let error = list(&Home::at(&file), None).unwrap_err().to_string();
    assert!(error.starts_with("cannot list"), "{error}");
}

#[test]
fn a_workspace_is_found_through_a_link() {
    let f = fixture();
    f.write("1.jsonl", 1, &[HEADER, &said("a", "user", "hi")]);
    let link = f.root.path().join("link");
    symlink(&f.work, &link).unwrap();
    assert_eq!(list(&f.home, Some(&link)).unwrap().len(), 1);
    assert_eq!(list(&f.home, Some(f.root.path())).unwrap(), []);
}
