//! Real processes. Everything in a test run is a child of the same process, so each test has an
//! owner of its own and looks at that owner's processes only.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use super::*;
use crate::sys::poll::{self, Writers};
use crate::sys::procfs;

/// Far more than any of these should take, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);

fn script(owner: &Owner, text: &str) -> Spawn {
    Spawn {
        program: "sh".into(),
        args: vec!["-c".into(), text.into()],
        cwd: "/".into(),
        env: Env::capture(),
        stdin: Stdin::Null,
        owner: owner.clone(),
    }
}

fn start(owner: &Owner, text: &str) -> Child {
    spawn(script(owner, text)).expect("sh starts")
}

fn finish(child: &Child) -> Exit {
    child
        .process
        .exit()
        .recv_timeout(PATIENCE)
        .expect("the group ends")
}

/// Reads one line, by which a script says that it came so far.
fn line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut byte = [0];
    while child.stdout.read(&mut byte).expect("the pipe can be read") == 1 && byte[0] != b'\n' {
        line.push(char::from(byte[0]));
    }
    assert_eq!(byte[0], b'\n', "the output ends with {line:?}");
    line
}

fn pid(child: &mut Child) -> u32 {
    line(child).trim().parse().expect("a process id")
}

fn lives(pid: u32) -> bool {
    procfs::stat(pid).is_some_and(|stat| !stat.dead)
}

#[test]
fn status_output_and_input() {
    let owner = Owner::new();
    let mut child = spawn(Spawn {
        stdin: Stdin::Pipe,
        ..script(&owner, "cat; echo oops >&2; exit 7")
    })
    .expect("sh starts");
    let mut stdin = child.stdin.take().expect("a pipe was asked for");
    stdin.write_all(b"hello").expect("the child reads");
    drop(stdin);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.read_to_string(&mut stdout).expect("text");
    child.stderr.read_to_string(&mut stderr).expect("text");
    assert_eq!((stdout.as_str(), stderr.as_str()), ("hello", "oops\n"));
    let exit = finish(&child);
    assert_eq!(exit.status.and_then(|status| status.code()), Some(7));
    assert_eq!(exit.stopped, 0);
    // A second stop, and the drop after it, find nothing to signal.
    child.process.stop(GRACE);
}

#[test]
fn three_kinds_of_failed_starts() {
    let owner = Owner::new();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let plain = || script(&owner, "true");
    for (spawn, expected) in [
        (
            Spawn {
                program: "e-no-such-program".into(),
                ..plain()
            },
            "program `e-no-such-program` was not found",
        ),
        (
            Spawn {
                program: "/etc".into(),
                ..plain()
            },
            "`/etc` cannot be started: permission denied",
        ),
        (
            Spawn {
                cwd: "/no/such/dir".into(),
                ..plain()
            },
            "directory `/no/such/dir` does not exist",
        ),
        (
            Spawn {
                cwd: file.path().into(),
                ..plain()
            },
            "cannot be entered: not a directory",
        ),
        (
            Spawn {
                args: vec!["x".repeat(1 << 20).into()],
                ..plain()
            },
            "longer than the system allows",
        ),
        (
            Spawn {
                args: vec!["a\0b".into()],
                ..plain()
            },
            "cannot be started",
        ),
    ] {
        let error = super::spawn(spawn)
            .expect_err("it cannot start")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_child_starts_clean() {
    let owner = Owner::new();
    // SIGPIPE and the mask are as a program expects them; no descriptor besides the three, the
    // directory that `ls` itself reads, and it leads its session.
    let mut child = start(
        &owner,
        "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\n\\t'; echo; ls /proc/self/fd | tr '\\n' ' '; echo; \
         cut -d' ' -f1,5,6 /proc/$$/stat; echo $E_OWNER",
    );
    let pid = child.process.pid();
    let signals = line(&mut child);
    let ignored = signals
        .rsplit(':')
        .next()
        .and_then(|mask| u64::from_str_radix(mask, 16).ok());
    assert!(signals.contains("SigBlk:0000000000000000"), "{signals}");
    assert_eq!(
        ignored.map(|mask| mask & (1 << (libc::SIGPIPE - 1))),
        Some(0),
        "{signals}"
    );
    assert_eq!(line(&mut child), "0 1 2 3 ");
    assert_eq!(line(&mut child), format!("{pid} {pid} {pid}"));
    assert!(line(&mut child).ends_with(&*owner.0));
    finish(&child);
}

#[test]
fn what_is_left_of_a_group_ends_with_its_leader() {
    let owner = Owner::new();
    let mut child = start(
        &owner,
        "sleep 300 & echo $!; sleep 300 & sleep 300 & exit 3",
    );
    let sleeper = pid(&mut child);
    let exit = finish(&child);
    assert_eq!(exit.status.and_then(|status| status.code()), Some(3));
    assert_eq!(exit.stopped, 3);
    assert!(!lives(sleeper));
}

#[test]
fn a_member_that_ignores_sigterm_is_killed_after_the_grace() {
    let owner = Owner::new();
    for stop in [true, false] {
        let text = "(trap '' TERM; echo ready; while :; do sleep 300; done) & read line";
        let spawn = Spawn {
            stdin: Stdin::Pipe,
            ..script(&owner, text)
        };
        let mut child = super::spawn(spawn).expect("sh starts");
        assert_eq!(line(&mut child), "ready");
        let began = Instant::now();
        if stop {
            child.process.stop(GRACE);
        } else {
            drop(child.stdin.take());
        }
        let exit = finish(&child);
        assert!(began.elapsed() >= GRACE);
        assert_eq!(exit.stopped > 0, !stop);
    }
    assert_eq!(strays(&owner), 0);
}

#[test]
fn a_grace_can_be_shortened() {
    let owner = Owner::new();
    let mut child = start(
        &owner,
        "trap '' TERM; echo ready; while :; do sleep 300; done",
    );
    assert_eq!(line(&mut child), "ready");
    let began = Instant::now();
    child.process.stop(PATIENCE * 10);
    child.process.stop(Duration::ZERO);
    let status = finish(&child).status;
    assert_eq!(
        status.and_then(|status| status.signal()),
        Some(libc::SIGKILL)
    );
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn stopping_leaves_time_to_clean_up() {
    let owner = Owner::new();
    let directory = tempfile::tempdir().expect("a directory");
    let lock = directory.path().join("index.lock");
    let text = format!(
        "trap 'rm {0}; exit 5' TERM; touch {0}; echo ready; sleep 300 & wait",
        lock.display()
    );
    let mut child = start(&owner, &text);
    assert_eq!(line(&mut child), "ready");
    assert!(lock.exists());
    child.process.stop(GRACE);
    assert_eq!(
        finish(&child).status.and_then(|status| status.code()),
        Some(5)
    );
    assert!(!lock.exists());
}

#[test]
fn a_stopped_process_can_be_ended() {
    let owner = Owner::new();
    let mut child = start(
        &owner,
        "trap 'exit 4' TERM; echo ready; kill -STOP $$; sleep 300 & wait",
    );
    assert_eq!(line(&mut child), "ready");
    child.process.stop(PATIENCE);
    assert_eq!(
        finish(&child).status.and_then(|status| status.code()),
        Some(4)
    );
}

#[test]
fn death_from_outside_is_reported() {
    let owner = Owner::new();
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGSEGV] {
        let child = start(&owner, &format!("ulimit -c 0; kill -{signal} $$"));
        assert_eq!(
            finish(&child).status.and_then(|status| status.signal()),
            Some(signal)
        );
    }
}

#[test]
fn strays_belong_to_their_owner_and_end_with_it() {
    let (owner, other) = (Owner::new(), Owner::new());
    let text = "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 300; done' & wait";
    let mut child = start(&owner, text);
    let stubborn = pid(&mut child);
    child.process.stop(GRACE);
    finish(&child);
    assert!(lives(stubborn));
    assert_eq!(strays(&other), 0);
    assert!(strays(&owner) >= 1);
    assert_eq!(end_owned(&other, GRACE), 0);
    assert!(lives(stubborn));

    let running = start(&owner, "sleep 300");
    let began = Instant::now();
    assert!(end_owned(&owner, GRACE) >= 1);
    assert!(began.elapsed() < PATIENCE);
    assert!(!lives(stubborn));
    assert_eq!(
        finish(&running).status.and_then(|status| status.signal()),
        Some(libc::SIGTERM)
    );
    assert_eq!(strays(&owner), 0);
    assert_eq!(end_owned(&owner, GRACE), 0);
}

#[test]
fn dropping_the_handle_ends_the_group() {
    let owner = Owner::new();
    let mut child = start(&owner, "sleep 300 & echo $!; wait");
    let sleeper = pid(&mut child);
    let exit = child.process.exit().clone();
    drop(child);
    exit.recv_timeout(PATIENCE).expect("the group ends");
    assert!(!lives(sleeper));
}

#[test]
fn a_crowd_leaves_no_zombie() {
    let owner = Owner::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let owner = &owner;
            scope.spawn(move || {
                for round in 0..25 {
                    let killed = (thread + round) % 3 == 0;
                    let child = start(
                        owner,
                        if killed {
                            "kill -9 $$"
                        } else {
                            "(exit 0) & exit 6"
                        },
                    );
                    let status = finish(&child).status.expect("a status");
                    let expected = if killed {
                        (None, Some(9))
                    } else {
                        (Some(6), None)
                    };
                    assert_eq!((status.code(), status.signal()), expected);
                    assert!(
                        procfs::stat(child.process.pid())
                            .is_none_or(|stat| { stat.group != child.process.pid() })
                    );
                }
            });
        }
    });
    assert_eq!(strays(&owner), 0);
}

/// What the test binary does when a test starts it again: not a test of its own.
#[test]
#[ignore = "started by other tests"]
fn child_role() {
    let role = std::env::var("E_TEST_ROLE").unwrap_or_default();
    if role == "writers" {
        println!("writers {:?}", poll::pipe_writers(0));
        return;
    }
    let owner = Owner::new();
    let text = "setsid sh -c 'echo stray; exec sleep 300' & sleep 300 & wait";
    let mut child = start(&owner, text);
    assert_eq!(line(&mut child), "stray");
    println!("leader {}", child.process.pid());
    match role.as_str() {
        "end" => {
            println!("ended {}", end_all(GRACE));
            println!("late {}", spawn(script(&owner, "true")).is_err());
        }
        _ => drop(finish(&child)),
    }
}

/// Starts the test binary in a role.
fn start_role(owner: &Owner, role: &str) -> Child {
    let mut env = Env::capture();
    env.set("E_TEST_ROLE", role);
    let name = "sys::process::tests::child_role";
    spawn(Spawn {
        program: std::env::current_exe().expect("a path"),
        args: ["--exact", name, "--ignored", "--nocapture"]
            .map(OsString::from)
            .into(),
        env,
        stdin: Stdin::Pipe,
        ..script(owner, "")
    })
    .expect("the test binary starts")
}

/// Waits for a line that the role printed, and gives what follows `key`.
fn said(child: &mut Child, key: &str) -> String {
    std::iter::repeat_with(|| line(child))
        .find_map(|line| Some(line.split_once(key)?.1.trim().to_owned()))
        .expect("an endless iterator")
}

#[test]
fn writers_of_a_pipe_are_told_apart() {
    let owner = Owner::new();
    // The child writes to what this process reads.
    let child = start(&owner, "sleep 300");
    assert_eq!(
        poll::pipe_writers(child.stdout.as_raw_fd()),
        Writers::Others
    );
    // The parent holds what its child could read, and forgot to close it.
    let mut child = start_role(&owner, "writers");
    assert_eq!(said(&mut child, "writers "), "OnlyAncestors");
    end_owned(&owner, GRACE);
}

#[test]
fn all_ends_with_the_process() {
    let owner = Owner::new();
    for (role, kill) in [("end", false), ("wait", true)] {
        let mut child = start_role(&owner, role);
        let leader = said(&mut child, "leader ").parse().expect("a process id");
        if kill {
            // The leader dies by its parent-death signal, the rest is found by the mark that an
            // inner e inherits from its owner.
            child.process.stop(Duration::ZERO);
        } else {
            assert_eq!(said(&mut child, "ended "), "1");
            assert_eq!(said(&mut child, "late "), "true");
        }
        finish(&child);
        if kill {
            end_owned(&owner, GRACE);
        }
        assert!(!lives(leader));
        assert_eq!(strays(&owner), 0);
    }
}
