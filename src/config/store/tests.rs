//! Stores with broken files, links, modes, and several writers at once.

use super::*;
use serde_json::json;

struct Fixture {
    _root: tempfile::TempDir,
    home: Home,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().join("home"));
    home.ensure().unwrap();
    Fixture { _root: root, home }
}

impl Fixture {
    fn path(&self, name: &str) -> PathBuf {
        self.home.file(name).unwrap()
    }

    fn set_model(&self) -> Result<Vec<String>> {
        SETTINGS.update(&self.home, |map| {
            map.insert("model".into(), json!("p/m"));
        })
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.home.dir().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_write_keeps_every_other_key_and_their_order() {
    let f = fixture();
    fs::write(
        f.path("settings.json"),
        r#"{"zeta": [1, {"x": null}], "model": "old", "alpha": "é"}"#,
    )
    .unwrap();
    assert_eq!(f.set_model().unwrap(), Vec::<String>::new());
    let (map, warnings) = SETTINGS.read(&f.home);
    assert!(warnings.is_empty());
    let keys: Vec<_> = map.keys().map(String::as_str).collect();
    assert_eq!(keys, ["zeta", "model", "alpha", "format_version"]);
    assert_eq!(map["zeta"], json!([1, {"x": null}]));
    assert_eq!(map["model"], "p/m");
    assert_eq!(f.files(), [".store.lock", "settings.json"]);
}

#[test]
fn a_write_changes_no_byte_of_another_value() {
    let f = fixture();
    let kept = [
        r#""price": 2.50"#,
        r#""id": 12345678901234567890123456789"#,
        r#""huge": 1e400"#,
        r#""deep": {"b":[ 1.0,
  2E3 ],  "a": "\u00e9\/\ud800"}"#,
        &format!(r#""deeper": {}{}"#, "[".repeat(300), "]".repeat(300)),
    ];
    let path = f.path("settings.json");
    fs::write(&path, format!(r#"{{"model":"old",{}}}"#, kept.join(","))).unwrap();
    assert_eq!(f.set_model().unwrap(), [""; 0]);
    let (map, warnings) = SETTINGS.read(&f.home);
    assert!(warnings.is_empty());
    assert_eq!((&map["model"], &map["price"]), (&json!("p/m"), &json!(2.5)));
    // What cannot be held costs only itself.
    assert_eq!(map["deep"], json!({"b": [1.0, 2e3], "a": null}));
    let text = fs::read_to_string(&path).unwrap();
    let expected = kept.join(",\n  ");
    assert_eq!(
        text,
        format!("{{\n  \"model\": \"p/m\",\n  {expected},\n  \"format_version\": 1\n}}\n")
    );
    f.set_model().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    // What is new is set out like the rest.
    let nested = |map: &mut Map<String, Value>| drop(map.insert("x".into(), json!({"a": [1]})));
    SETTINGS.update(&f.home, nested).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.ends_with("1,\n  \"x\": {\n    \"a\": [\n      1\n    ]\n  }\n}\n"),
        "{text}"
    );
}

#[test]
fn new_files_get_the_mode_of_their_store_and_old_ones_keep_theirs_if_tighter() {
    let f = fixture();
    f.set_model().unwrap();
    assert_eq!(mode(&f.path("settings.json")), 0o644);
    fs::set_permissions(f.path("settings.json"), Permissions::from_mode(0o600)).unwrap();
    f.set_model().unwrap();
    assert_eq!(mode(&f.path("settings.json")), 0o600);

    fs::write(f.path("auth.json"), "{}").unwrap();
    fs::set_permissions(f.path("auth.json"), Permissions::from_mode(0o666)).unwrap();
    AUTH.update(&f.home, |_| {}).unwrap();
    assert_eq!(mode(&f.path("auth.json")), 0o600);
}

#[test]
fn a_broken_file_is_never_changed_by_a_read_and_is_moved_aside_by_a_write() {
    let cases: &[(&str, &str)] = &[
        ("{\"model\": \"x\",\n}", "line 2 column 1"),
        ("{} // note", "line 1 column 4"),
        ("[1]", "line 1 column"),
        ("\"text\"", "line 1 column"),
        ("", "line 1 column 1"),
        ("{\"a\": \"\u{0}", "line 1"),
    ];
    for (text, position) in cases {
        let f = fixture();
        fs::write(f.path("settings.json"), text).unwrap();

        let (map, warnings) = SETTINGS.read(&f.home);
        assert!(map.is_empty());
        assert!(warnings[0].contains(position), "{text:?}: {}", warnings[0]);
        assert_eq!(fs::read_to_string(f.path("settings.json")).unwrap(), *text);

        let warnings = f.set_model().unwrap();
        assert!(warnings[0].contains(position), "{text:?}: {}", warnings[0]);
        let aside = f
            .files()
            .into_iter()
            .find(|name| name.starts_with("settings.corrupt-"))
            .unwrap();
        assert!(warnings[0].contains(&aside));
        assert_eq!(fs::read_to_string(f.path(&aside)).unwrap(), *text);
        assert_eq!(SETTINGS.read(&f.home).0["model"], "p/m");
    }
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    let f = fixture();
    fs::write(f.path("settings.json"), "\u{feff}{\"effort\": \"low\"}").unwrap();
    assert_eq!(SETTINGS.read(&f.home).0["effort"], "low");
    assert!(f.set_model().unwrap().is_empty());
    assert_eq!(SETTINGS.read(&f.home).0["effort"], "low");
}

#[test]
fn what_is_no_regular_file_stops_a_write_and_stays() {
    let f = fixture();
    fs::create_dir(f.path("settings.json")).unwrap();
    let (_, warnings) = SETTINGS.read(&f.home);
    assert!(warnings[0].contains("directory"), "{warnings:?}");
    assert!(f.set_model().unwrap_err().to_string().contains("directory"));
    assert!(f.path("settings.json").is_dir());
    assert_eq!(
        SETTINGS.status(&f.home),
        Status::Unreadable("it is a directory, not a regular file".into())
    );
}

#[test]
fn a_newer_or_odd_version_stops_a_write() {
    for version in ["2", "-1", "\"1\"", "1.5", "null"] {
        let f = fixture();
        let text = format!("{{\"format_version\": {version}, \"model\": \"x\"}}");
        fs::write(f.path("settings.json"), &text).unwrap();
        assert!(
            f.set_model()
                .unwrap_err()
                .to_string()
                .contains("format_version")
        );
        assert_eq!(fs::read_to_string(f.path("settings.json")).unwrap(), text);
        assert!(matches!(SETTINGS.status(&f.home), Status::Unsupported(_)));
        assert!(SETTINGS.read(&f.home).1[0].contains("format_version"));
    }
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let f = fixture();
    let target = f
        .home
        .dir()
        .unwrap()
        .parent()
        .unwrap()
        .join("dotfiles.json");
    fs::write(&target, "{\"effort\": \"low\"}").unwrap();
    std::os::unix::fs::symlink(&target, f.path("settings.json")).unwrap();
    f.set_model().unwrap();
    assert!(f.path("settings.json").is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("p/m"));

    fs::remove_file(&target).unwrap();
    assert!(f.set_model().is_err());
    assert!(f.path("settings.json").is_symlink());
}

#[test]
fn a_read_only_file_is_refused() {
    let f = fixture();
    fs::write(f.path("settings.json"), "{}").unwrap();
    fs::set_permissions(f.path("settings.json"), Permissions::from_mode(0o444)).unwrap();
    assert!(f.set_model().unwrap_err().to_string().contains("read-only"));
}

#[test]
fn parallel_writers_lose_nothing() {
    let f = fixture();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let home = &f.home;
            scope.spawn(move || {
                for m in 0..10 {
                    TRUST
                        .update(home, |map| {
                            map.insert(format!("{n}-{m}"), json!(n));
                        })
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(TRUST.read(&f.home).0.len(), 81);
    assert_eq!(f.files(), [".store.lock", "trust.json"]);
}

#[test]
fn a_missing_home_reads_as_empty() {
    let home = Home::default();
    assert_eq!(SETTINGS.read(&home), (Map::new(), Vec::new()));
    assert_eq!(SETTINGS.status(&home), Status::Missing);
    assert!(SETTINGS.update(&home, |_| {}).is_err());
}
