//! Bounded waits on what no message tells: files and processes.

use std::path::Path;
use std::time::{Duration, Instant};

use super::place::PATIENCE;

/// Waits until the condition holds.
#[track_caller]
pub fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the file holds a process id and a line end.
#[track_caller]
pub fn pid_in(path: &Path) -> i32 {
    let read = || std::fs::read_to_string(path).unwrap_or_default();
    until(&format!("a pid in {}", path.display()), || {
        read().ends_with('\n')
    });
    read().trim().parse().expect("a pid")
}

/// Waits until that process has ended. A zombie that nobody reaps has ended too.
#[track_caller]
pub fn gone(pid: i32) {
    until(&format!("process {pid} is gone"), || !is_alive(pid));
}

/// Whether that process runs.
pub fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim().chars();
    !matches!(state.clone().next(), None | Some('Z' | 'X'))
}
