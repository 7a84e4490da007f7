//! Output without end costs neither memory nor the turn.

use serde_json::json;

use super::{SCALE, gated, results};
use crate::support::{Place, call};

/// Most memory that e may ever have used, in MiB. Retained output, the log's copy and the
/// provider's request of a few results are far below it; any of the floods is far above.
const MOST: u64 = 44;

/// Runs a command and looks at the peak of e's memory before it ends.
#[track_caller]
fn flood(command: &str, timeout: u64) -> String {
    let place = Place::new();
    let (step, gate) = gated();
    place.provider.script([
        call("bash", json!({"command": command, "timeout": timeout})),
        step,
    ]);
    let run = place.p(&["go"]).start();
    place.provider.wait_requests(2);
    let status = std::fs::read_to_string(format!("/proc/{}/status", run.pid())).expect("a status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    assert!(
        peak.expect("a peak") < MOST << 10,
        "{peak:?} kB for {command}"
    );
    drop(gate);
    run.finish().ends_with(0);
    place.wait_deserted();
    let result = place.provider.received()[1].results().remove(0);
    assert!(result.len() <= 32 * 1024);
    result
}

#[test]
fn lines_without_end() {
    let done = flood("yes", 1);
    assert!(done.starts_with("[cut: "), "{done:.100}");
    assert!(done.ends_with(
        "y\n[killed by timeout after 1 s; give a longer `timeout` (up to 600) or use `background`]"
    ));
}

#[test]
fn one_line_of_two_hundred_megabytes() {
    let size = 200_000_000 / SCALE;
    let done = flood(
        &format!("head -c {size} /dev/zero | tr '\\0' x; echo; echo end"),
        60,
    );
    let total = format!("[cut: {} bytes in all", size + 4);
    assert!(done.starts_with(&total), "{done:.100}");
    assert!(done.contains("bytes were not kept]"), "{done:.200}");
    assert!(done.ends_with("xx\nend"));
}

#[test]
fn a_gibibyte_of_nothing() {
    let size = (1 << 30) / SCALE / 64;
    let done = flood(&format!("head -c {size} /dev/zero; echo end"), 60);
    assert!(done.ends_with("end"), "{done:.200}");
}

#[test]
fn a_flood_on_both_streams_in_the_background_does_not_hold_anything_up() {
    let place = Place::new();
    place.provider.script([
        call(
            "bash",
            json!({"command": "yes & yes >&2", "background": true}),
        ),
        call("bash", json!({"command": "sleep 0.5; echo ok"})),
    ]);
    let run = place.json(&["go"]).run().ends_with(0);
    assert_eq!(results(&run)[1].content, "ok");
    place.wait_deserted();
}
