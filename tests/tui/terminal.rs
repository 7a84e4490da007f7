//! Taking the terminal, and giving it back as it was.

use std::io::Read;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use e::sys::Env;
use e::sys::tty::{self, JobSignal};
use e::tui::frame::{Size, Writer};
use e::tui::terminal::{Modes, Terminal};

use crate::support::Pty;

const FULL: Modes = Modes {
    alternate: true,
    mouse: true,
};

fn open(pty: &Pty) -> Arc<Terminal> {
    Terminal::of(pty.slave().as_fd()).expect("the end of a pty is a terminal")
}

#[test]
fn what_is_entered_is_left() {
    let mut pty = Pty::open(40, 10);
    let before = pty.line_modes();
    let terminal = open(&pty);
    for modes in [Modes::default(), FULL] {
        terminal.enter(modes).unwrap();
        pty.settle();
        let entered = pty.screen.modes();
        assert!(entered.starts_with("paste") || entered.starts_with("alternate paste"));
        assert!(entered.contains("keyboard title"), "{entered}");
        assert_eq!(pty.screen.is_alternate(), modes.alternate);
        assert_ne!(pty.line_modes(), before);
        // Again, as after something that may have changed them.
        terminal.enter(modes).unwrap();
        terminal.write(modes, b"\x1b[?25l\x1b[1;31mtext").unwrap();
        terminal.leave(b"");
        terminal.leave(b"twice");
        pty.settle();
        assert_eq!(pty.screen.modes(), "");
        assert_eq!(pty.line_modes(), before);
    }
    assert!(!pty.screen.text().contains("twice"));
}

#[test]
fn modes_are_switched_between_frames() {
    let mut pty = Pty::open(40, 10);
    let terminal = open(&pty);
    assert!(terminal.switch(FULL).is_empty());
    terminal.enter(Modes::default()).unwrap();
    assert!(terminal.switch(Modes::default()).is_empty());
    terminal.write(FULL, b"").unwrap();
    pty.settle();
    assert_eq!(
        pty.screen.modes(),
        "alternate paste mouse keyboard alternate keyboard title"
    );
    terminal.write(Modes::default(), b"").unwrap();
    pty.settle();
    assert_eq!(pty.screen.modes(), "paste keyboard title");
    drop(terminal);
    pty.settle();
    assert_eq!(pty.screen.modes(), "");
}

#[test]
fn a_stuck_terminal_stops_neither_the_loop_nor_the_end() {
    let mut pty = Pty::open(40, 10);
    let before = pty.line_modes();
    let terminal = open(&pty);
    terminal.enter(Modes::default()).unwrap();
    let mut writer = Writer::start(terminal.clone()).unwrap();
    writer.submit(Modes::default(), vec![b'x'; 10 << 20]);
    assert!(writer.busy_since().is_some());
    assert!(!writer.drain(Duration::from_millis(10)));
    terminal.leave(b"");
    let result = writer.done().recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::Interrupted);
    assert_eq!(pty.line_modes(), before);
    // Once it reads again, everything works as before.
    pty.settle();
    writer.finished();
    terminal.enter(FULL).unwrap();
    writer.submit(FULL, b"hello".to_vec());
    assert!(writer.drain(Duration::from_secs(10)));
    pty.wait_for("hello");
    terminal.leave(b"");
    pty.settle();
    assert_eq!(pty.line_modes(), before);
}

#[test]
fn a_writer_that_is_dropped_in_the_middle_ends() {
    let pty = Pty::open(40, 10);
    let terminal = open(&pty);
    terminal.enter(Modes::default()).unwrap();
    let mut writer = Writer::start(terminal).unwrap();
    writer.submit(Modes::default(), vec![b'x'; 10 << 20]);
    drop(writer);
}

#[test]
fn the_size_is_what_the_terminal_says() {
    let mut pty = Pty::open(40, 10);
    let terminal = open(&pty);
    let size = |columns, rows| Size { columns, rows };
    assert_eq!(terminal.size(), size(40, 10));
    pty.resize(50, 3);
    assert_eq!(terminal.size(), size(50, 3));
}

#[test]
fn only_terminals_are_terminals() {
    let file = tempfile::tempfile().unwrap();
    assert!(Terminal::of(file.as_fd()).is_err());
}

/// Runs a test of this file, which is no test of its own, as a program on a terminal.
fn run(pty: &mut Pty, test: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.arg(format!("tui::terminal::{test}"));
    command.env("TERM", "xterm").env("E_TEST_ON_A_PTY", "1");
    pty.start(command);
}

/// The terminal of a program that `run` has started; none when somebody else has.
fn own() -> Option<Arc<Terminal>> {
    std::env::var("E_TEST_ON_A_PTY").ok()?;
    Some(Terminal::open(&Env::capture()).unwrap())
}

#[test]
#[ignore = "a program that `a_panic_gives_the_terminal_back` runs"]
fn program_that_panics() {
    let Some(terminal) = own() else { return };
    terminal.restore_on_panic();
    terminal.enter(FULL).unwrap();
    let other = std::thread::spawn(|| panic!("not over the screen"));
    assert!(other.join().is_err());
    terminal.write(FULL, b"\x1b[?25l\x1b[7mframe").unwrap();
    panic!("the reason");
}

#[test]
fn a_panic_gives_the_terminal_back() {
    let mut pty = Pty::open(100, 30);
    let before = pty.line_modes();
    run(&mut pty, "program_that_panics");
    pty.wait_for("the reason");
    assert_eq!(pty.screen.modes(), "");
    assert_eq!(pty.line_modes(), before);
    assert!(!pty.wait_exit().success());
    assert!(!pty.screen.text().contains("not over the screen"));
}

#[test]
#[ignore = "a program that `a_stop_gives_the_terminal_back_and_takes_it_again` runs"]
fn program_that_stops() {
    let Some(terminal) = own() else { return };
    let signals = tty::watch().unwrap();
    terminal.enter(FULL).unwrap();
    terminal.write(FULL, b"ready").unwrap();
    assert_eq!(signals.recv(), Ok(JobSignal::Resized));
    terminal.leave(b"stopped");
    tty::suspend().unwrap();
    terminal.enter(FULL).unwrap();
    assert_eq!(signals.recv(), Ok(JobSignal::Continued));
    terminal.write(FULL, b"again").unwrap();
    let mut key = [0];
    std::io::stdin().read_exact(&mut key).unwrap();
    terminal.leave(&key);
}

#[test]
fn a_stop_gives_the_terminal_back_and_takes_it_again() {
    let mut pty = Pty::open(100, 30);
    let before = pty.line_modes();
    run(&mut pty, "program_that_stops");
    pty.wait_for("ready");
    pty.resize(90, 20);
    pty.wait_for("stopped");
    assert_eq!(pty.screen.modes(), "");
    pty.wait_stopped();
    assert_eq!(pty.line_modes(), before);
    pty.signal(libc::SIGCONT);
    pty.wait_for("again");
    assert!(pty.screen.is_alternate());
    // Without a line break: the mode is raw.
    pty.send("q");
    pty.wait_for("q");
    assert!(pty.wait_exit().success());
    assert_eq!(pty.screen.modes(), "");
    assert_eq!(pty.line_modes(), before);
}

#[test]
fn dumb_terminals_and_pipes_are_refused() {
    let mut env = Env::default();
    for term in ["dumb", "xterm"] {
        env.set("TERM", term);
        // The streams of a test are no terminal, or it is the one that a person looks at.
        if let Err(error) = Terminal::open(&env) {
            let text = error.to_string();
            assert!(
                text.contains("`e -p`") && text.contains("`e rpc`"),
                "{text}"
            );
            assert_eq!(error.status(), 2);
        }
    }
}
