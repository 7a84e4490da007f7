//! Real commands. What a call leaves behind is looked for by the owner of its session.

use std::sync::Mutex;
use std::time::Instant;

use super::*;
use crate::chat::Outcome;
use crate::sys::cancel::cancel_pair;
use crate::sys::process::{GRACE, Owner, strays};
use crate::sys::{Canceller, Env};

/// Far more than any of these should take, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);

struct Session {
    processes: Processes,
    shell: Shell,
    _open: Canceller,
    cancel: CancelToken,
}

fn session() -> Session {
    let mut env = Env::capture();
    // A login shell reads the profile of whoever runs the tests.
    env.set("HOME", "/nonexistent");
    let (open, cancel) = cancel_pair();
    Session {
        processes: Processes::new(Owner::new()),
        shell: Shell {
            workspace: "/".into(),
            env,
        },
        _open: open,
        cancel,
    }
}

impl Session {
    fn execute(&self, request: Request) -> ToolResult {
        execute(
            &self.processes,
            &self.shell,
            request,
            &self.cancel,
            &|_, _| {},
        )
    }

    fn run(&self, command: &str) -> ToolResult {
        self.execute(Request::Run {
            command: command.into(),
            timeout: PATIENCE,
        })
    }

    fn run_for(&self, command: &str, seconds: u64) -> ToolResult {
        self.execute(Request::Run {
            command: command.into(),
            timeout: Duration::from_secs(seconds),
        })
    }

    fn start(&self, command: &str) -> String {
        let result = self.execute(Request::Start {
            command: command.into(),
        });
        assert_eq!(result.outcome, Outcome::Completed, "{}", result.content);
        result
            .summary
            .strip_prefix("background ")
            .expect("a handle")
            .to_owned()
    }

    fn query(&self, handle: &str) -> ToolResult {
        self.execute(Request::Query {
            handle: handle.into(),
        })
    }

    /// Asks until the command has ended, giving way to it in between.
    fn ended(&self, handle: &str) -> ToolResult {
        let began = Instant::now();
        loop {
            let result = self.query(handle);
            if result.summary != "running" {
                return result;
            }
            assert!(began.elapsed() < PATIENCE, "{}", result.content);
            std::thread::yield_now();
        }
    }
}

#[test]
fn arguments() {
    let seconds = Duration::from_secs;
    let run = |command: &str, timeout| {
        Ok(Request::Run {
            command: command.into(),
            timeout: seconds(timeout),
        })
    };
    for (text, expected) in [
        (r#"{"command":"ls"}"#, run("ls", 120)),
        (r#"{"command":"ls","timeout":0}"#, run("ls", 1)),
        (r#"{"command":"ls","timeout":"90"}"#, run("ls", 90)),
        (
            r#"{"command":"ls","timeout":99999,"background":false}"#,
            run("ls", 600),
        ),
        (
            r#"{"command":"ls","handle":"","signal":""}"#,
            run("ls", 120),
        ),
        (
            r#"{"command":"ls","background":"true"}"#,
            Ok(Request::Start {
                command: "ls".into(),
            }),
        ),
        (
            r#"{"handle":"x"}"#,
            Ok(Request::Query { handle: "x".into() }),
        ),
        (
            r#"{"handle":"x","signal":"kill","command":""}"#,
            Ok(Request::Kill { handle: "x".into() }),
        ),
    ] {
        assert_eq!(parse(text), expected, "{text}");
    }
    for (text, expected) in [
        ("", "`command` is missing"),
        ("{}", "`command` is missing"),
        (r#"{"command":" "}"#, "`command` is missing"),
        (r#"{"command":7}"#, "`command` must be a string"),
        (r#"{"command":"ls","timeout":-1}"#, "`timeout`"),
        (r#"{"command":"ls","handle":"x"}"#, "not both"),
        (r#"{"command":"ls","signal":"kill"}"#, "needs the `handle`"),
        (r#"{"handle":"x","signal":"term"}"#, "`kill`"),
        (r#"{"cmd":"ls"}"#, "unknown parameter `cmd`"),
        (r#"{"command":"ls"#, "nothing was run"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn ends() {
    let session = session();
    for (command, outcome, summary, content) in [
        (
            "echo out; echo err >&2",
            Outcome::Completed,
            "done",
            "out\nerr",
        ),
        ("true", Outcome::Completed, "done", ""),
        (
            "echo x; exit 3",
            Outcome::Failed,
            "exit 3",
            "x\n[exit status 3]",
        ),
        (
            "e-no-such-command 2>/dev/null",
            Outcome::Failed,
            "exit 127",
            "[exit status 127]",
        ),
        (
            "kill -9 $$",
            Outcome::Failed,
            "exit -1",
            "[killed by signal 9]",
        ),
        (
            "printf '1%%\\r2%%\\r\\033[1mdone\\033[0m\\n\\n'",
            Outcome::Completed,
            "done",
            "done",
        ),
        ("read line || echo eof", Outcome::Completed, "done", "eof"),
        ("pwd", Outcome::Completed, "done", "/"),
        (
            "exec >&- 2>&-; exit 4",
            Outcome::Failed,
            "exit 4",
            "[exit status 4]",
        ),
        ("echo a\0b", Outcome::Failed, "", "`/"),
    ] {
        let result = session.run(command);
        assert_eq!(
            (result.outcome, result.summary.as_str()),
            (outcome, summary),
            "{command}"
        );
        match summary {
            "" => assert!(result.content.starts_with(content), "{}", result.content),
            _ => assert_eq!(result.content, content, "{command}"),
        }
    }
}

#[test]
fn the_surroundings_are_those_of_nobody() {
    let session = session();
    let result = session.run(
        "tty; cat /dev/tty 2>&1 | head -c 200; echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT; \
         $EDITOR file && echo edited; eval \"$GIT_EDITOR file\" && echo edited; sh -c \"$VISUAL file\" && echo edited",
    );
    assert!(result.content.contains("not a tty"), "{}", result.content);
    assert!(
        result.content.contains("\ncat cat 0\n"),
        "{}",
        result.content
    );
    assert!(!result.content.contains("edited"), "{}", result.content);
    assert!(
        result.content.matches("a command has no editor").count() >= 2,
        "{}",
        result.content
    );
}

#[test]
fn a_shell_is_needed_and_a_workspace() {
    let mut session = session();
    let directory = tempfile::tempdir().expect("a directory");
    session.shell.workspace = directory.path().join("gone");
    let result = session.run("pwd");
    assert!(
        result.content.contains("does not exist"),
        "{}",
        result.content
    );
    std::fs::create_dir(&session.shell.workspace).expect("it can be made");
    assert_eq!(session.run("basename $PWD").content, "gone");

    // Only sh, which knows no `-l`.
    let found = session.run("command -v sh").content;
    std::os::unix::fs::symlink(found, directory.path().join("sh")).expect("a link");
    session.shell.env.set("PATH", directory.path());
    assert_eq!(session.run("echo $0 $-").outcome, Outcome::Completed);
    session.shell.env.set("PATH", "/no/such/dir:.");
    let result = session.run("true");
    assert!(
        result.content.contains("neither `bash` nor `sh`"),
        "{}",
        result.content
    );
    assert_eq!(
        (result.outcome, result.summary.as_str()),
        (Outcome::Failed, "")
    );
}

#[test]
fn children_in_the_background_do_not_hold_the_call() {
    for command in [
        "sleep 300 & echo ok",
        "yes >/dev/null & echo ok",
        "(while :; do echo; sleep .1; done) & echo ok",
        "nohup sleep 300 & echo ok",
    ] {
        let session = session();
        let began = Instant::now();
        let result = session.run(command);
        assert!(began.elapsed() < PATIENCE / 2, "{command}");
        assert_eq!(result.outcome, Outcome::Completed, "{command}");
        assert!(result.content.contains("ok\n"), "{}", result.content);
        assert!(
            result.content.contains("left running was stopped")
                || result.content.contains("processes that"),
            "{}",
            result.content
        );
        assert_eq!(strays(session.processes.owner()), 0);
    }
}

#[test]
fn a_child_that_left_the_group_lives_with_the_session() {
    let session = session();
    let owner = session.processes.owner().clone();
    let result = session.run("read line < <(setsid sh -c 'echo here; exec sleep 300'); echo ok");
    assert!(result.content.contains("ok"), "{}", result.content);
    assert!(
        result
            .content
            .contains("[1 process left the command and lives on"),
        "{}",
        result.content
    );
    assert_eq!(strays(&owner), 1);
    let result = session.run_for("setsid -f sleep 300; exec sleep 300", 1);
    assert_eq!(
        (result.outcome, result.summary.as_str()),
        (Outcome::TimedOut, "timeout 1s")
    );
    assert!(
        result.content.contains("[2 processes left"),
        "{}",
        result.content
    );
    drop(session);
    assert_eq!(strays(&owner), 0);
}

#[test]
fn a_timeout_ends_the_tree_and_keeps_the_output() {
    let session = session();
    let began = Instant::now();
    let result = session.run_for(
        "echo before; bash -c 'trap \"\" TERM; sleep 300 & sleep 300'",
        1,
    );
    let taken = began.elapsed();
    assert!(
        taken >= Duration::from_secs(1) && taken < PATIENCE / 2,
        "{taken:?}"
    );
    assert_eq!(
        (result.outcome, result.summary.as_str()),
        (Outcome::TimedOut, "timeout 1s")
    );
    assert!(result.content.starts_with("before\n"), "{}", result.content);
    assert!(
        result.content.contains("[killed by timeout after 1 s; "),
        "{}",
        result.content
    );
    assert_eq!(strays(session.processes.owner()), 0);
}

#[test]
fn stopping_gives_time_to_remove_a_lock() {
    let session = session();
    let directory = tempfile::tempdir().expect("a directory");
    let lock = directory.path().join("index.lock");
    let path = lock.display();
    let result = session.run_for(
        &format!("trap 'rm {path}; exit 0' TERM; touch {path}; sleep 300 & wait"),
        1,
    );
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(!lock.exists());
}

#[test]
fn cancelling_ends_the_command() {
    let session = session();
    let (canceller, cancel) = cancel_pair();
    let canceller = Mutex::new(Some(canceller));
    let output = |_, text: &str| {
        if text.contains("ready") {
            canceller.lock().expect("no panic").take();
        }
    };
    let request = Request::Run {
        command: "echo ready; sleep 300".into(),
        timeout: PATIENCE,
    };
    let began = Instant::now();
    let result = execute(
        &session.processes,
        &session.shell,
        request,
        &cancel,
        &output,
    );
    assert!(began.elapsed() < PATIENCE / 2);
    assert_eq!(
        (result.outcome, result.summary.as_str()),
        (Outcome::Cancelled, "cancelled")
    );
    assert_eq!(
        result.content,
        "ready\n[cancelled; the command was stopped]"
    );
}

#[test]
fn live_output_keeps_order_and_is_clean() {
    let session = session();
    let shown = Mutex::new(String::new());
    let output = |stream: Output, text: &str| {
        let mut shown = shown.lock().expect("no panic");
        shown.push_str(&format!("{}:{text}", stream.name()));
    };
    // Each step waits for the one before through the pipe of a subshell.
    let command = "printf 'a\\033[1m\\r\\n'; sleep 0.05; printf '\\303' >&2; sleep 0.05; printf 'b\\n'; sleep 0.05; printf '\\251\\n' >&2";
    let request = Request::Run {
        command: command.into(),
        timeout: PATIENCE,
    };
    let result = execute(
        &session.processes,
        &session.shell,
        request,
        &session.cancel,
        &output,
    );
    assert_eq!(
        shown.into_inner().expect("no panic"),
        "stdout:a\nstdout:b\nstderr:é\n"
    );
    assert_eq!(result.content, "a\nb\né");
}

#[test]
fn endless_output_is_bounded() {
    let session = session();
    let result = session.run_for("yes e", 1);
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(result.content.len() <= (4 << 20) + 1000 && result.content.starts_with("e\ne\n"));
    for (command, total) in [
        ("yes e | head -c 6000000; echo last", 6_000_005),
        (
            "head -c 6000000 /dev/zero | tr '\\0' x; echo; echo last",
            6_000_006,
        ),
    ] {
        let result = session.run(command);
        assert_eq!(result.outcome, Outcome::Completed);
        assert!(result.content.ends_with("\nlast") && result.content.len() > 3 << 20);
        assert_eq!(result.lost + result.content.len() as u64 + 1, total);
    }
}

#[test]
fn what_was_written_last_is_not_lost() {
    let session = session();
    for _ in 0..20 {
        let result =
            session.run("head -c 60000 /dev/zero | tr '\\0' x; setsid sleep 300 & echo end");
        assert!(
            result.content.starts_with("xxx") && result.content.contains("end"),
            "{}",
            result.content.len()
        );
        session.processes.end();
    }
}

#[test]
fn a_crowd_of_commands() {
    let session = session();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let session = &session;
            scope.spawn(move || {
                for round in 0..25 {
                    let text = format!("{thread}.{round}");
                    let result = session.run(&format!("echo {text}"));
                    assert_eq!(result.content, text);
                    let result = session.run("kill -9 $$");
                    assert_eq!(result.content, "[killed by signal 9]");
                }
            });
        }
    });
    assert_eq!(session.run("exit 0").content, "");
}

#[test]
fn background_commands_are_asked_about_and_ended() {
    let session = session();
    let done = session.start("echo output; exit 3");
    let result = session.ended(&done);
    assert_eq!(
        (result.outcome, result.summary.as_str()),
        (Outcome::Failed, "exit 3")
    );
    assert_eq!(result.content, "output\n[exit status 3]");
    assert_eq!(session.query(&done), result);

    let sleeper = session.start("trap 'echo bye; exit 0' TERM; echo up; sleep 300 & wait");
    let result = loop {
        let result = session.query(&sleeper);
        if result.content.starts_with("up") {
            break result;
        }
        std::thread::yield_now();
    };
    assert_eq!(
        (result.outcome, result.summary.as_str()),
        (Outcome::Completed, "running")
    );
    let running = session.processes.running();
    assert_eq!(running.len(), 1);
    assert_eq!(running[0].handle, sleeper);
    assert_eq!(
        result.content,
        format!("up\n[running with pid {}]", running[0].pid)
    );

    let result = session.execute(Request::Kill {
        handle: sleeper.clone(),
    });
    assert_eq!(
        (result.outcome, result.summary.as_str()),
        (Outcome::Cancelled, "killed")
    );
    assert_eq!(result.content, "up\nbye\n[killed]");
    assert_eq!(session.execute(Request::Kill { handle: sleeper }), result);
    // What had ended by itself was not killed.
    assert_eq!(
        session
            .execute(Request::Kill {
                handle: done.clone()
            })
            .summary,
        "exit 3"
    );

    for handle in ["x", "00000000-0000-0000-0000-000000000000"] {
        let result = session.query(handle);
        assert_eq!(result.outcome, Outcome::Failed);
        assert!(
            result.content.contains(handle) && result.content.contains(&done),
            "{}",
            result.content
        );
    }
    assert!(session.processes.running().is_empty());
}

#[test]
fn background_commands_are_limited_and_end_with_the_session() {
    let session = session();
    let owner = session.processes.owner().clone();
    let first = session.start("exec sleep 300");
    for _ in 1..128 {
        session.start("exec sleep 300");
    }
    let result = session.execute(Request::Start {
        command: "true".into(),
    });
    assert_eq!(result.outcome, Outcome::Failed);
    assert!(result.content.contains("128"), "{}", result.content);
    let began = Instant::now();
    session.processes.end();
    assert!(began.elapsed() < GRACE + PATIENCE / 2);
    // On a busy machine the kernel may need longer than e waits.
    while !session.processes.running().is_empty() {
        assert!(began.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
    // The oldest ended ones are forgotten.
    assert_eq!(session.query(&first).outcome, Outcome::Failed);
    assert_eq!(strays(&owner), 0);
    assert_eq!(session.run("echo goes on").content, "goes on");
}
