//! The app on a real terminal: what a person sees, types, and has afterwards.

mod colors;
mod end;
mod golden;
mod meddling;
mod reading;
mod record;
mod resize;
mod sessions;
mod start;
mod tours;
mod turn;
mod typing;
mod waiting;

use crate::support::{Place, Pty};

/// A terminal of that size with the app on it, ready for a prompt.
pub fn open(place: &Place, columns: u16, rows: u16) -> Pty {
    open_with(place, columns, rows, &[])
}

pub fn open_with(place: &Place, columns: u16, rows: u16, args: &[&str]) -> Pty {
    let mut pty = Pty::open(columns, rows);
    pty.start(place.app(args));
    ready(&mut pty);
    pty
}

/// Waits for the prompt and for the session below it.
pub fn ready(pty: &mut Pty) {
    pty.wait("the prompt", |screen| {
        let text = screen.text();
        text.contains('┃') && text.contains("test")
    });
}

/// A shell that does what a person's would, with e as its job.
pub fn under_a_shell(pty: &mut Pty, place: &Place, args: &[&str], script: &str) {
    let mut shell = std::process::Command::new("bash");
    let e = place.app(args);
    shell
        .args(["-ic", script])
        .arg(e.get_program())
        .args(e.get_args())
        .env_clear();
    shell.envs(
        e.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.current_dir(&place.workspace);
    pty.start(shell);
}
