//! The clients in the guides work as they stand.

use std::path::Path;

use crate::support::Place;

/// Whether a program is there. Automation must have what it is told to have.
fn has(program: &str, must: bool) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    let automated = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !must || !automated, "{program} is not installed");
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

fn check(interpreter: &str, file: &str) {
    let place = Place::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides/usage/examples");
    let script = format!(
        "exec {interpreter} '{}' '{}' hello there",
        examples.join(file).display(),
        env!("CARGO_BIN_EXE_e")
    );
    let run = place.sh(&script).run().ends_with(0);
    assert_eq!(run.stdout.trim(), "hello there", "{run:?}");
    assert!(run.stderr.contains("tokens: "), "{run:?}");
}

#[test]
fn the_python_client() {
    if has("python3", true) {
        check("python3", "client.py");
    }
}

#[test]
fn the_shell_client() {
    if has("jq", false) {
        check("sh", "client.sh");
    }
}
