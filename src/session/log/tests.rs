//! Writing logs: whole records, locks, modes, failures, reopening after a crash.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use super::*;
use crate::chat::Message;
use crate::session::load;

struct Fixture {
    root: tempfile::TempDir,
    home: Home,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().join("home"));
    Fixture { root, home }
}

impl Fixture {
    fn spec(&self, id: &str) -> LogSpec {
        LogSpec {
            home: self.home.clone(),
            workspace: "/srv/app".into(),
            id: id.into(),
            created: 7,
            model: "p/m".into(),
        }
    }

    fn log(&self) -> Log {
        Log::create(&self.spec("s1")).unwrap()
    }
}

/// Appends a chain of messages, each with its text as its id, and returns the last id.
fn chain(log: &mut Log, mut head: Option<String>, texts: &[&str]) -> Option<String> {
    for text in texts {
        let id = Some(text.to_string());
        log.append(&Record::Message {
            id: text.to_string(),
            parent: std::mem::replace(&mut head, id),
            timestamp: 1,
            response: None,
            message: Arc::new(Message::user(*text)),
        })
        .unwrap();
    }
    head
}

fn texts(loaded: &Loaded) -> Vec<String> {
    loaded
        .messages
        .iter()
        .map(|entry| match &*entry.message {
            Message::User { content, .. } => content.clone(),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_log_is_private_and_named_after_its_session() {
    let f = fixture();
    let mut log = f.log();
    let head = chain(&mut log, None, &["one", "two"]);
    log.append(&Record::Name("label".into())).unwrap();
    let path = log.path().to_owned();
    assert!(path.ends_with(format!(
        "sessions/{}/7_s1.jsonl",
        path_key(Path::new("/srv/app"))
    )));
    for (path, expected) in [
        (path.as_path(), 0o600),
        (&path.with_extension("lock"), 0o600),
        (path.parent().unwrap(), 0o700),
        (&f.home.file("sessions").unwrap(), 0o700),
        (f.home.dir().unwrap(), 0o700),
    ] {
        assert_eq!(mode(path), expected, "{}", path.display());
    }
    let loaded = load(&path).unwrap();
    assert_eq!(texts(&loaded), ["one", "two"]);
    assert_eq!(loaded.head, head);
    assert_eq!(loaded.name.as_deref(), Some("label"));
    let header = &loaded.header;
    assert_eq!(
        (header.id.as_str(), header.cwd.as_str(), header.created),
        ("s1", "/srv/app", 7)
    );
}

#[test]
fn a_log_is_never_created_over_another() {
    let f = fixture();
    let log = f.log();
    assert!(
        Log::create(&f.spec("s1"))
            .unwrap_err()
            .to_string()
            .contains("already active")
    );
    let path = log.path().to_owned();
    drop(log);
    let before = fs::read(&path).unwrap();
    assert!(Log::create(&f.spec("s1")).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(path.with_extension("lock").exists());
}

#[test]
fn one_writer_at_a_time_whatever_the_path() {
    let f = fixture();
    let mut log = f.log();
    chain(&mut log, None, &["one"]);
    let path = log.path().to_owned();
    let link = f.root.path().join("link.jsonl");
    symlink(&path, &link).unwrap();
    for path in [&path, &link] {
        let error = Log::reopen(&f.home, path).unwrap_err().to_string();
        assert!(error.contains("already active"), "{error}");
        assert_eq!(texts(&load(path).unwrap()), ["one"]);
    }
    drop(log);
    let (log, _) = Log::reopen(&f.home, &link).unwrap();
    assert_eq!(log.path(), path.canonicalize().unwrap());
}

#[test]
fn reopening_makes_private_and_goes_on() {
    let f = fixture();
    let mut log = f.log();
    chain(&mut log, None, &["one"]);
    let path = log.path().to_owned();
    drop(log);
    for (file, mode) in [(path.as_path(), 0o666), (f.home.dir().unwrap(), 0o755)] {
        fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
    }
    let (mut log, loaded) = Log::reopen(&f.home, &path).unwrap();
    assert_eq!((mode(&path), mode(f.home.dir().unwrap())), (0o600, 0o700));
    chain(&mut log, loaded.head, &["two"]);
    assert_eq!(texts(&load(&path).unwrap()), ["one", "two"]);
}

#[test]
fn a_tail_torn_at_any_byte_costs_the_torn_record_alone() {
    let f = fixture();
    let mut log = f.log();
    chain(&mut log, None, &["one", "zwei é \u{2028}", "three"]);
    let whole = fs::read(log.path()).unwrap();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap();
    let path = f.root.path().join("1_cut.jsonl");
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        if cut < header {
            assert!(load(&path).is_err() && Log::reopen(&f.home, &path).is_err());
            assert_eq!(fs::read(&path).unwrap(), whole[..cut]);
            continue;
        }
        let before = texts(&load(&path).unwrap());
        let (mut log, loaded) = Log::reopen(&f.home, &path).unwrap();
        assert_eq!(texts(&loaded), before);
        // A record is there once its last brace is, with or without the newline.
        let ends = whole[..whole.len().min(cut + 1)]
            .iter()
            .filter(|byte| **byte == b'\n');
        assert_eq!(before.len(), ends.count() - 1, "cut at {cut}");
        chain(&mut log, loaded.head, &["new", "newer"]);
        drop(log);

        let loaded = load(&path).unwrap();
        assert!(
            loaded.warnings.is_empty(),
            "cut at {cut}: {:?}",
            loaded.warnings
        );
        assert_eq!(
            texts(&loaded),
            [&before[..], &["new".into(), "newer".into()]].concat()
        );
    }
}

#[test]
fn a_tail_of_zero_bytes_is_torn_too() {
    let f = fixture();
    let mut log = f.log();
    chain(&mut log, None, &["one"]);
    let path = log.path().to_owned();
    drop(log);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &[0; 100]].concat()).unwrap();
    let (log, loaded) = Log::reopen(&f.home, &path).unwrap();
    assert_eq!(texts(&loaded), ["one"]);
    drop(log);
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_home_that_cannot_be_written_is_an_error_and_no_more() {
    let f = fixture();
    fs::write(f.home.dir().unwrap(), "").unwrap();
    assert!(Log::create(&f.spec("s1")).is_err());
    fs::remove_file(f.home.dir().unwrap()).unwrap();
    f.log();
}

#[test]
fn a_piece_of_a_line_is_taken_back() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("lines");
    fs::write(&path, "old\npiece").unwrap();
    let file = OpenOptions::new().append(true).open(&path).unwrap();
    let mut lines = Lines::new(file).unwrap();
    lines.len = 4;
    lines.take_back();
    assert!(!lines.retired);
    lines.append(b"new\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\nnew\n");
}

#[test]
fn a_line_that_cannot_be_taken_back_retires_the_file() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("lines");
    fs::write(&path, "old\n").unwrap();
    // A descriptor that can neither write nor truncate stands for a broken disk.
    let mut lines = Lines::new(File::open(&path).unwrap()).unwrap();
    assert!(lines.append(b"x\n").is_err());
    assert!(lines.retired);
    lines.file = OpenOptions::new().append(true).open(&path).unwrap();
    assert!(lines.append(b"x\n").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\n");
}

#[test]
fn failures_go_to_a_private_sidecar() {
    let f = fixture();
    let mut log = f.log();
    let details = json!({"summary": "no"});
    let head = chain(&mut log, None, &["one"]);
    let sidecar = log.path().with_extension("errors.jsonl");
    fs::write(&sidecar, "torn").unwrap();
    log.append_failure(head.as_deref(), &details).unwrap();
    log.append_failure(None, &details).unwrap();
    assert_eq!(mode(&sidecar), 0o600);
    let text = fs::read_to_string(&sidecar).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    let line: Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!(
        line,
        json!({"format_version": 1, "parent": head, "details": details})
    );

    let mut other = Log::create(&f.spec("s2")).unwrap();
    let sidecar = other.path().with_extension("errors.jsonl");
    symlink("/tmp/elsewhere", &sidecar).unwrap();
    assert!(other.append_failure(None, &details).is_err());
}

/// Ids, parents and texts of a log's nodes, in file order.
fn nodes(path: &Path) -> Vec<(String, Option<String>, String)> {
    let text = fs::read_to_string(path).unwrap();
    let records = text
        .lines()
        .map(|line| Record::from_line(line.as_bytes()).unwrap());
    records
        .filter_map(|record| match record? {
            Record::Message {
                id,
                parent,
                message,
                ..
            } => match &*message {
                Message::User { content, .. } | Message::Assistant { content, .. } => {
                    Some((id, parent, content.clone()))
                }
                _ => Some((id, parent, String::new())),
            },
            Record::Compact {
                id,
                parent,
                summary,
                ..
            } => Some((id, parent, summary)),
            Record::Session(_) | Record::Response { .. } | Record::Name(_) => None,
        })
        .collect()
}

/// Forks a log, and checks what every fork must keep.
fn fork(f: &Fixture, original: &Path, id: &str) -> (PathBuf, Loaded) {
    let before = fs::read(original).unwrap();
    let log = Log::fork(original, None, &f.spec(id)).unwrap();
    let path = log.path().to_owned();
    drop(log);
    assert_eq!(fs::read(original).unwrap(), before);
    let (old, new) = (load(original).unwrap(), load(&path).unwrap());
    assert_eq!(new.messages, old.messages);
    assert_eq!((&new.head, &new.name), (&old.head, &old.name));
    assert_eq!((new.header.id.as_str(), new.warnings.len()), (id, 0));
    let mut previous = None;
    for (id, parent, _) in nodes(&path) {
        assert_eq!(parent, previous, "{id}");
        previous = Some(id);
    }
    (path, new)
}

#[test]
fn a_fork_is_the_living_branch_alone() {
    let f = fixture();
    let mut log = f.log();
    let head = chain(&mut log, None, &["a", "b"]);
    log.append(&Record::Name("label".into())).unwrap();
    chain(&mut log, head.clone(), &["dead"]);
    chain(&mut log, head, &["c"]);
    let (path, _) = fork(&f, log.path(), "s2");
    let texts: Vec<_> = nodes(&path).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(texts, ["a", "b", "c"]);

    // A fork of a fork, after it went on.
    let (mut log, loaded) = Log::reopen(&f.home, &path).unwrap();
    chain(&mut log, loaded.head, &["d"]);
    let (_, loaded) = fork(&f, log.path(), "s3");
    assert_eq!(self::texts(&loaded), ["a", "b", "c", "d"]);
    assert_eq!(loaded.name.as_deref(), Some("label"));
}

#[test]
fn a_fork_keeps_the_last_summary() {
    let compact = |id: &str, parent: &str, kept: Option<&str>| Record::Compact {
        id: id.into(),
        parent: Some(parent.into()),
        timestamp: 1,
        summary: format!("summary {id}"),
        first_kept: kept.map(str::to_owned),
        response: None,
    };
    for (n, (kept, expected)) in [
        (Some("b"), &["b", "c", "summary k2", "d"][..]),
        (Some("c"), &["c", "summary k2", "d"]),
        (Some("gone"), &["summary k2", "d"]),
        (None, &["summary k2", "d"]),
    ]
    .into_iter()
    .enumerate()
    {
        let f = fixture();
        let mut log = f.log();
        chain(&mut log, None, &["a", "b"]);
        log.append(&compact("k1", "b", Some("a"))).unwrap();
        chain(&mut log, Some("k1".into()), &["c"]);
        log.append(&compact("k2", "c", kept)).unwrap();
        chain(&mut log, Some("k2".into()), &["d"]);
        let (path, _) = fork(&f, log.path(), &format!("f{n}"));
        let texts: Vec<_> = nodes(&path).into_iter().map(|(_, _, text)| text).collect();
        assert_eq!(texts, *expected);
        fork(&f, &path, &format!("g{n}"));
    }
}

#[test]
fn every_format_version_can_be_forked() {
    let f = fixture();
    for version in 0..=3 {
        let file = format!("tests/fixtures/sessions/v{version}.jsonl");
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fork(&f, &original, &format!("s{version}"));
    }
    // An old log that a new build continued and summarised: its ids are places.
    let original = f.root.path().join("old.jsonl");
    let old = fs::read_to_string("tests/fixtures/sessions/v0.jsonl").unwrap();
    let more = r#"{"type":"compact","id":"k","parent":"line-3","timestamp":1,"summary":"s","first_kept":"line-3"}"#;
    fs::write(&original, format!("{old}{more}\n")).unwrap();
    let (_, loaded) = fork(&f, &original, "s4");
    assert_eq!(loaded.messages.len(), 2);
}

#[test]
fn a_damaged_log_is_forked_as_it_is_loaded() {
    let f = fixture();
    let mut log = f.log();
    let head = chain(&mut log, None, &["a", "b"]);
    let path = log.path().to_owned();
    drop(log);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"type\":\"message\",\n");
    for (id, role) in [("bad", "wizard"), ("last", "user")] {
        let parent = head.as_deref().unwrap();
        text.push_str(&format!(
            r#"{{"type":"message","id":"{id}","parent":"{parent}","timestamp":1,"message":{{"role":"{role}","content":"{id}"}}}}"#
        ));
        text.push('\n');
    }
    for torn in ["", "{\"type\":\"message\",\"id\":\"t"] {
        fs::write(&path, format!("{text}{torn}")).unwrap();
        let (_, loaded) = fork(&f, &path, &format!("f{}", torn.len()));
        assert_eq!(texts(&loaded), ["a", "b", "last"]);
    }
}

#[test]
fn a_fork_that_fails_leaves_nothing_behind() {
    let f = fixture();
    let log = f.log();
    let sessions = log.path().parent().unwrap();
    let before = fs::read_dir(sessions).unwrap().count();
    for original in [log.path(), Path::new("/nonexistent"), Path::new("/")] {
        let error = Log::fork(original, None, &f.spec("s2"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("cannot copy"), "{error}");
    }
    assert_eq!(fs::read_dir(sessions).unwrap().count(), before);
}

#[test]
fn a_log_that_was_removed_is_written_anew() {
    let f = fixture();
    let mut log = f.log();
    let head = chain(&mut log, None, &["one"]);
    log.append_failure(None, &json!({"summary": "no"})).unwrap();
    let path = log.path().to_owned();
    let sidecar = path.with_extension("errors.jsonl");
    let removals: [fn(&Path); 3] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::remove_dir_all(path.parent().unwrap()).unwrap(),
        |path| fs::remove_dir_all(path.ancestors().nth(3).unwrap()).unwrap(),
    ];
    let mut head = head;
    for (n, remove) in removals.into_iter().enumerate() {
        let before = fs::read(&path).unwrap();
        remove(&path);
        log.ensure_place().unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        head = chain(&mut log, head, &[["two", "three", "four"][n]]);
        log.append_failure(None, &json!({"summary": "no"})).unwrap();
        assert!(sidecar.exists());
        assert!(lock::acquire(&path).is_err());
    }
    drop(log);
    let (log, loaded) = Log::reopen(&f.home, &path).unwrap();
    assert_eq!(texts(&loaded), ["one", "two", "three", "four"]);

    // One that was opened again is no different, and a sidecar alone may go at any time.
    let mut log = log;
    fs::remove_file(&path).unwrap();
    fs::remove_file(&sidecar).unwrap();
    log.ensure_place().unwrap();
    chain(&mut log, loaded.head, &["five"]);
    log.append_failure(None, &json!({"summary": "no"})).unwrap();
    assert!(sidecar.exists());
    assert_eq!(texts(&load(&path).unwrap()).len(), 5);
}

#[test]
fn what_stands_where_the_log_was_is_left_alone() {
    let f = fixture();
    let mut log = f.log();
    let head = chain(&mut log, None, &["one"]);
    let path = log.path().to_owned();
    let whole = fs::read(&path).unwrap();
    fs::rename(&path, f.root.path().join("moved")).unwrap();
    for other in ["", "other\n"] {
        fs::write(&path, other).unwrap();
        let error = log.ensure_place().unwrap_err().to_string();
        assert!(error.contains("another file"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), other);
    }
    // The directory cannot be made; later it can.
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path.parent().unwrap(), "").unwrap();
    assert!(log.ensure_place().is_err());
    fs::remove_file(path.parent().unwrap()).unwrap();
    log.ensure_place().unwrap();
    chain(&mut log, head, &["two"]);
    assert!(fs::read(&path).unwrap().starts_with(&whole));
    assert_eq!(texts(&load(&path).unwrap()), ["one", "two"]);

    let cut = OpenOptions::new().write(true).open(&path).unwrap();
    cut.set_len(0).unwrap();
    let error = log.ensure_place().unwrap_err().to_string();
    assert!(error.contains("cut it short"), "{error}");
}
