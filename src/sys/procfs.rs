//! What `/proc` tells about other processes.
//!
//! Every answer may be outdated when it arrives. Callers make sure that it is not (see
//! `process::table`) or can live with it. Where there is no `/proc`, nothing is found.

use std::ffi::OsStr;
use std::fs;

/// The part of `/proc/PID/stat` that e looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// Whether it has ended and only waits to be reaped.
    pub dead: bool,
    /// Its parent, 0 when that is outside of this container.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
}

/// Whether the system has a `/proc` that shows this process.
pub(super) fn is_available() -> bool {
    fs::exists("/proc/self/stat").unwrap_or(false)
}

/// All processes.
pub(super) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The children of this process, dead ones too. `None` where the kernel keeps no list of them.
pub(super) fn children() -> Option<Vec<u32>> {
    let mut children = Vec::new();
    fs::metadata("/proc/thread-self/children").ok()?;
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        // A thread that ended meanwhile has passed its children on.
        let list = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children.extend(
            list.split_ascii_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    Some(children)
}

/// Parent, group and state of a process, unless it is gone.
pub(super) fn stat(pid: u32) -> Option<Stat> {
    // Read as bytes: the name of the program may be anything.
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&line)
}

/// Where the memory with this process's arguments begins and ends, as the system shows them.
pub(super) fn argument_memory() -> Option<(usize, usize)> {
    let line = fs::read("/proc/self/stat").ok()?;
    parse_argument_memory(&line)
}

/// Whether one of the variables with which a process was started is `name` and its value
/// contains `value`.
pub(super) fn environment_has(pid: u32, name: &str, value: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    environment.split(|byte| *byte == 0).any(|variable| {
        let rest = variable.strip_prefix(name.as_bytes());
        let content = rest.and_then(|rest| rest.strip_prefix(b"="));
        content.is_some_and(|content| String::from_utf8_lossy(content).contains(value))
    })
}

/// Whether a descriptor of a process is open for writing.
pub(super) fn is_open_for_writing(pid: u32, fd: &OsStr) -> bool {
    let Ok(info) = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", fd.to_string_lossy()))
    else {
        return false;
    };
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

fn parse_argument_memory(line: &[u8]) -> Option<(usize, usize)> {
    // The fields are counted from behind the name, which may hold anything.
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&line[name_end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(45);
    let start = fields.next()?.parse().ok()?;
    let end = fields.next()?.parse().ok()?;
    (0 < start && start < end).then_some((start, end))
}

fn parse_stat(line: &[u8]) -> Option<Stat> {
    // The name stands in parentheses and may hold any byte, so fields count from the last one.
    let end = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&line[end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Stat {
        dead,
        parent,
        group,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_arguments_is_in_the_stat_line() {
        let (start, end) = argument_memory().expect("a process knows its own");
        assert!(start < end);
        let line = |start, end| format!("12 (a) b) S {} {start} {end} 0", "1 ".repeat(44));
        assert_eq!(parse_argument_memory(line(5, 9).as_bytes()), Some((5, 9)));
        for bad in [line(0, 0), line(9, 5), "12 (a) S 1 2".into(), String::new()] {
            assert_eq!(parse_argument_memory(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn stat_lines_are_parsed() {
        let stat = |dead, parent, group| {
            Some(Stat {
                dead,
                parent,
                group,
            })
        };
        for (line, expected) in [
            (&b"12 (sh) S 3 12 12 0 -1 4194560"[..], stat(false, 3, 12)),
            (b"12 (a) Z 1 (b) R 7 8 9 0", stat(false, 7, 8)),
            (b"12 (\xff\n) Z 0 8 9 0", stat(true, 0, 8)),
            (b"12 (sh) S 3", None),
            (b"12 (sh) S -1 3 3", None),
            (b"12 sh S 3 12", None),
            (b"", None),
        ] {
            assert_eq!(
                parse_stat(line),
                expected,
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }

    #[test]
    fn this_process_is_found() {
        if !is_available() {
            return;
        }
        let own = std::process::id();
        assert!(pids().any(|pid| pid == own));
        assert!(stat(own).is_some_and(|stat| !stat.dead));
        assert!(!environment_has(own, "E_NO_SUCH_VARIABLE", ""));
        let children = children().unwrap_or_default();
        assert!(!children.contains(&own));
    }
}
