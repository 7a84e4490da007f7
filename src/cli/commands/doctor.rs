//! `e doctor`: a report about this installation that may be pasted anywhere. It holds no
//! credential, uses no network, and writes nothing but a probe.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;

use serde_json::{Value, json};

use super::catalog::{columns, line, providers_json};
use crate::cli::startup;
use crate::config::build::{CHANNEL, COMMIT, VERSION, target};
use crate::config::history::History;
use crate::config::{AUTH, Home, SETTINGS, Settings, Status, Store, TRUST};
use crate::error::io_text;
use crate::extension::discover::{self, Found, Ignored};
use crate::provider::Catalog;
use crate::sys::Env;
use crate::text::one_line;
use crate::{tui, wire};

/// The widest `TERM` that is shown.
const TERM_WIDTH: usize = 80;

/// The report, as text or as JSON.
pub fn doctor(home: &Home, env: &Env, json: bool) -> String {
    let report = report(home, env);
    match json {
        true => format!("{report}\n"),
        false => text(&report),
    }
}

fn report(home: &Home, env: &Env) -> Value {
    let catalog = Catalog::load(home.dir(), env);
    let (settings, _) = Settings::load(home);
    let mut warnings = tui::warnings(home);
    warnings.extend(History::problem(home));
    warnings.extend(TRUST.read(home).1);
    warnings.extend(catalog.warnings().iter().cloned());
    let (found, unseen) = discover::look(&startup::directories(home));
    warnings.extend(unseen);
    let extensions: Vec<_> = found.iter().map(extension).collect();
    let warnings: Vec<_> = warnings.iter().map(|warning| line(warning)).collect();
    let cwd = std::env::current_dir();
    let term = env
        .get("TERM")
        .map(|term| one_line(&term.to_string_lossy(), Some(TERM_WIDTH)));
    json!({
        "version": VERSION,
        "channel": CHANNEL,
        "commit": COMMIT,
        "target": target(),
        "working_directory": cwd.ok().map(|cwd| line(&cwd.to_string_lossy())),
        "default_model": wire::default_model(&catalog, &settings),
        "e_home": home.dir().map(|dir| line(&dir.to_string_lossy())),
        "home_status": home_status(home),
        "terminal": {
            "stdin_tty": io::stdin().is_terminal(),
            "stdout_tty": io::stdout().is_terminal(),
            "term": term,
        },
        "configuration": {
            "settings": file_status(&SETTINGS, home),
            "auth": file_status(&AUTH, home),
            "trust": file_status(&TRUST, home),
        },
        "providers": providers_json(&catalog),
        "extensions": extensions,
        "warnings": warnings,
    })
}

/// What would be started, and what would not and why. Nothing is.
fn extension(found: &Result<Found, Ignored>) -> Value {
    let (path, status) = match found {
        Ok(found) => (&found.path, "will be started".to_owned()),
        Err(ignored) => (&ignored.path, format!("ignored: it {}", ignored.why)),
    };
    json!({"path": line(&path.to_string_lossy()), "status": status})
}

fn home_status(home: &Home) -> String {
    let Some(dir) = home.dir() else {
        return "missing".into();
    };
    match fs::metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return "missing".into(),
        Err(error) => return format!("not writable: {}", io_text(&error)),
        Ok(metadata) if !metadata.is_dir() => return "not a directory".into(),
        Ok(_) => {}
    }
    let probe = dir.join(format!(".probe-{}", uuid::Uuid::new_v4().simple()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    match options.open(&probe).and_then(|_| fs::remove_file(&probe)) {
        Ok(()) => "writable".into(),
        Err(error) => format!("not writable: {}", io_text(&error)),
    }
}

fn file_status(store: &Store, home: &Home) -> String {
    match store.status(home) {
        Status::Missing => "missing".into(),
        Status::Unreadable(reason) => format!("unreadable: {}", line(&reason)),
        Status::Invalid(reason) => format!("invalid: {}", line(&reason)),
        Status::Unversioned => "valid, without a version".into(),
        Status::Version(version) => format!("valid, version {version}"),
        Status::Unsupported(reason) => format!("unsupported version: {}", line(&reason)),
    }
}

/// The report for a person: one line per value.
fn text(report: &Value) -> String {
    let mut rows = Vec::new();
    flatten(report, "", &mut rows);
    columns(rows)
}

fn flatten(value: &Value, name: &str, rows: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(map) if map.contains_key("base_url") => {
            let part = |key: &str| plain(&map[key]);
            rows.push(vec![
                name.into(),
                format!(
                    "{} ({}, {}, {}, {} models)",
                    part("name"),
                    part("tier"),
                    part("dialect"),
                    part("authentication"),
                    part("models")
                ),
            ]);
        }
        Value::Object(map) if map.contains_key("status") => {
            let shown = format!("{} ({})", plain(&map["path"]), plain(&map["status"]));
            rows.push(vec![name.into(), shown]);
        }
        Value::Object(map) => {
            for (key, value) in map {
                let dot = if name.is_empty() { "" } else { "." };
                flatten(value, &format!("{name}{dot}{key}"), rows);
            }
        }
        Value::Array(items) if items.is_empty() => rows.push(vec![name.into(), "none".into()]),
        Value::Array(items) => items.iter().for_each(|item| flatten(item, name, rows)),
        plain_value => rows.push(vec![name.into(), plain(plain_value)]),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "unknown".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_whole_and_clean() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::at(root.path());
        for (name, content) in [
            (
                "settings.json",
                "{\"tool_concurrency\": \"x\", \"theme\": \"gone\"}",
            ),
            (
                "auth.json",
                "{\"format_version\": 1, \"anthropic\": {\"key\": \"SECRET\"}}",
            ),
            ("trust.json", "{,}"),
            ("layout.json", "{\"banner\": 3}"),
            ("keybindings.json", "{\"f1\": \"up\"}"),
        ] {
            fs::write(root.path().join(name), content).unwrap();
        }
        fs::create_dir(root.path().join("history.jsonl")).unwrap();
        let mut env = Env::default();
        env.set("TERM", format!("x\u{1b}[31m\n{}", "y".repeat(200)));
        let report: Value = serde_json::from_str(&doctor(&home, &env, true)).unwrap();
        assert_eq!(report["home_status"], "writable");
        assert_eq!(
            report["configuration"]["settings"],
            "valid, without a version"
        );
        assert_eq!(report["configuration"]["auth"], "valid, version 1");
        assert!(
            report["configuration"]["trust"]
                .as_str()
                .unwrap()
                .starts_with("invalid: ")
        );
        assert!(report["terminal"]["term"].as_str().unwrap().chars().count() <= TERM_WIDTH);
        let warnings = report["warnings"].to_string();
        for part in [
            "tool_concurrency",
            "banner",
            "`f1`",
            "theme `gone`",
            "history.jsonl",
        ] {
            assert!(warnings.contains(part), "{part}: {warnings}");
        }

        let text = doctor(&home, &env, false);
        for text in [&text, &report.to_string()] {
            assert!(
                !text.contains("SECRET") && !text.contains('\u{1b}'),
                "{text}"
            );
        }
        assert!(
            text.lines()
                .any(|line| line.starts_with("providers") && line.contains("anthropic"))
        );
        assert_eq!(
            fs::read_dir(root.path()).unwrap().count(),
            6,
            "the probe is gone"
        );
    }

    #[test]
    fn a_missing_home_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for (home, status) in [
            (Home::default(), "missing"),
            (Home::at(root.path().join("none")), "missing"),
            (Home::at(file), "not a directory"),
        ] {
            assert_eq!(home_status(&home), status);
        }
    }
}
