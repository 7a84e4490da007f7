//! The clients in the guides work as they stand.

use std::path::Path;

use crate::support::{Place, has};

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
