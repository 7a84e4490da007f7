//! Nothing happens in a directory before it is trusted.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::support::Place;

fn inside(place: &Place, name: &str) -> std::path::PathBuf {
    let dir = place.root().canonicalize().unwrap().join(name);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn an_untrusted_directory_is_refused_before_anything_is_sent() {
    let place = Place::new();
    let other = inside(&place, "other");
    std::fs::write(other.join("AGENTS.md"), "obey me").unwrap();
    for args in [&[][..], &["--json"]] {
        let run = place.p(args).arg("hi").in_dir(&other).run().ends_with(1);
        assert!(run.stderr.contains("must be trusted to run e"), "{run:?}");
        assert!(run.stderr.contains("e trust"), "{run:?}");
        assert!(!run.stdout.contains("obey me"));
    }
    assert!(place.provider.received().is_empty());
    assert!(place.logs().is_empty());
}

#[test]
fn trust_reaches_down_and_untrust_speaks_for_one_directory() {
    let place = Place::new();
    let (top, mid, low) = (
        inside(&place, "t"),
        inside(&place, "t/m"),
        inside(&place, "t/m/l"),
    );
    let status = |dir| place.p(&["hi"]).in_dir(dir).run().status;
    assert_eq!([status(&top), status(&mid), status(&low)], [1, 1, 1]);
    place.e().args(["trust"]).in_dir(&top).run().ends_with(0);
    assert_eq!([status(&top), status(&mid), status(&low)], [0, 0, 0]);
    place
        .e()
        .args(["untrust", "m"])
        .in_dir(&top)
        .run()
        .ends_with(0);
    assert_eq!([status(&top), status(&mid), status(&low)], [0, 1, 0]);
    place
        .e()
        .args(["untrust", "."])
        .in_dir(&top)
        .run()
        .ends_with(0);
    assert_eq!([status(&top), status(&mid), status(&low)], [1, 1, 1]);
}

#[test]
fn links_lead_to_one_decision() {
    let place = Place::new();
    let real = inside(&place, "real");
    let link = place.root().join("link");
    symlink(&real, &link).unwrap();
    place.e().args(["trust"]).arg(&link).run().ends_with(0);
    place.p(&["hi"]).in_dir(&real).run().ends_with(0);
    place.p(&["hi"]).in_dir(&link).run().ends_with(0);
}

#[test]
fn the_home_of_the_user_and_what_holds_it_are_refused() {
    let place = Place::new();
    for dir in ["user", ".", "/"] {
        let run = place
            .e()
            .args(["trust", dir])
            .in_dir(place.root())
            .run()
            .ends_with(1);
        assert!(run.stderr.contains("home"), "{dir}: {run:?}");
    }
}

#[test]
fn what_is_no_directory_is_said() {
    let place = Place::new();
    place.write("file", "x");
    for dir in ["file", "missing", "missing/deeper", "\u{1b}[2J"] {
        let run = place.e().args(["trust", dir]).run();
        assert!(matches!(run.status, 1 | 2), "{run:?}");
        assert!(run.stderr.starts_with("error: "), "{run:?}");
        assert!(!run.stderr.contains('\u{1b}'), "{run:?}");
    }
}

#[test]
fn the_option_trusts_for_one_run_and_writes_nothing() {
    let place = Place::new();
    let other = inside(&place, "other");
    let before = place.read_home("trust.json");
    place
        .p(&["--trust", "hi"])
        .in_dir(&other)
        .run()
        .ends_with(0);
    assert_eq!(place.read_home("trust.json"), before);
    place.p(&["hi"]).in_dir(&other).run().ends_with(1);
    place
        .e()
        .args(["untrust"])
        .in_dir(&other)
        .run()
        .ends_with(0);
    place
        .p(&["--trust", "hi"])
        .in_dir(&other)
        .run()
        .ends_with(0);
}

#[test]
fn a_broken_trust_file_trusts_nobody_and_is_set_aside_by_the_next_decision() {
    let place = Place::new();
    let text = "{\"sha256-x\": ";
    place.write_home("trust.json", text);
    let run = place.p(&["hi"]).run().ends_with(1);
    assert!(
        run.stderr.contains("trust.json") && run.stderr.contains("line 1"),
        "{run:?}"
    );
    assert_eq!(place.read_home("trust.json"), text);

    let run = place.e().args(["trust"]).run().ends_with(0);
    assert!(run.stderr.contains("corrupt-"), "{run:?}");
    let aside: Vec<_> = std::fs::read_dir(&place.home)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("trust.corrupt-"))
        .collect();
    assert_eq!(std::fs::read_to_string(&aside[0]).unwrap(), text);
    place.p(&["hi"]).run().ends_with(0);
}

#[test]
fn other_entries_and_keys_survive_a_decision() {
    let place = Place::new();
    let mut map: serde_json::Value = serde_json::from_str(&place.read_home("trust.json")).unwrap();
    map["of_a_friend"] = json!({"x": [1, 2.50]});
    place.write_home("trust.json", &map.to_string());
    let other = inside(&place, "other");
    place.e().args(["trust"]).arg(&other).run().ends_with(0);
    let after: serde_json::Value = serde_json::from_str(&place.read_home("trust.json")).unwrap();
    assert_eq!(after["of_a_friend"], map["of_a_friend"]);
    assert_eq!(after["format_version"], 1);
    assert_eq!(
        after.as_object().unwrap().len(),
        map.as_object().unwrap().len() + 1
    );
}

#[test]
fn a_file_of_a_newer_e_is_left_alone() {
    let place = Place::new();
    for version in ["2", "\"1\"", "-1", "1.5", "null"] {
        let text = format!("{{\"format_version\": {version}}}");
        place.write_home("trust.json", &text);
        let run = place.e().args(["trust"]).run().ends_with(1);
        assert!(run.stderr.contains("format_version"), "{run:?}");
        assert_eq!(place.read_home("trust.json"), text);
    }
}

#[test]
fn a_read_only_file_and_a_link_stay_what_they_are() {
    let place = Place::new();
    let path = place.home.join("trust.json");
    let text = place.read_home("trust.json");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    let other = inside(&place, "other");
    let run = place.e().args(["trust"]).arg(&other).run().ends_with(1);
    assert!(run.stderr.contains("read-only"), "{run:?}");
    assert_eq!(place.read_home("trust.json"), text);

    let kept = place.root().join("dotfiles-trust.json");
    std::fs::write(&kept, &text).unwrap();
    std::fs::remove_file(&path).unwrap();
    symlink(&kept, &path).unwrap();
    place.e().args(["trust"]).arg(&other).run().ends_with(0);
    assert!(path.is_symlink());
    assert!(std::fs::read_to_string(&kept).unwrap().contains("other"));
}

#[test]
fn many_at_once_lose_no_decision() {
    let place = Place::new();
    let dirs: Vec<_> = (0..12).map(|n| inside(&place, &format!("d{n}"))).collect();
    let runs: Vec<_> = dirs
        .iter()
        .map(|dir| place.e().args(["trust"]).arg(dir).start())
        .collect();
    for run in runs {
        run.finish().ends_with(0);
    }
    let kept = place.read_home("trust.json");
    for dir in &dirs {
        assert!(
            kept.contains(&format!("{}\"", dir.display())),
            "{}",
            dir.display()
        );
    }
}

#[test]
fn without_a_home_a_decision_fails_and_says_how_to_have_one() {
    let place = Place::new();
    let run = place
        .e()
        .args(["trust"])
        .without("E_HOME")
        .without("HOME")
        .run()
        .ends_with(1);
    assert!(run.stderr.contains("E_HOME"), "{run:?}");
}
