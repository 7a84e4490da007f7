//! Programs that a test needs and a machine may lack.

/// Whether a program is on the path. Where `CI` is `true`, one that a test `must` have fails it.
pub fn has(program: &str, must: bool) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    let automated = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !must || !automated, "{program} is not installed");
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}
