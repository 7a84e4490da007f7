//! What a packager relies on: pages and scripts printed by the binary, and kept true.

use std::path::Path;

use crate::support::Place;

#[test]
fn manual_pages_are_what_the_tables_print() {
    let place = Place::new();
    for (page, file) in [
        ("man", "e.1"),
        ("man-rpc", "e-rpc.1"),
        ("man-settings", "e-settings.5"),
        ("man-extensions", "e-extensions.7"),
    ] {
        let printed = place
            .e()
            .args(["--generate", page])
            .run()
            .ends_with(0)
            .stdout;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("man").join(file);
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(printed == kept, "{file} is out of date: run `make man`");
    }
}

#[test]
fn completions_exist_for_three_shells() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let what = format!("complete-{shell}");
        let script = place
            .e()
            .args(["--generate", &what])
            .run()
            .ends_with(0)
            .stdout;
        assert!(
            script.contains("--max-seconds") || script.contains("max-seconds"),
            "{shell}"
        );
    }
}
