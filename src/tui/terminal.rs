//! The terminal as something that is borrowed: what is switched on is switched off again, in
//! reverse, however e ends.
//!
//! There is one list of modes and one function that leaves them. Quit, panic, signals, suspend
//! and the external editor all use it, and what it writes is ready for a crash. A mode counts as on
//! or off once the bytes that say so are written: a write may be cut anywhere. The questions that e
//! asks the terminal stand here as well; their answers come as input and are read by `key`.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{panic, thread};

use super::frame::Size;
use crate::error::{Error, Result, io_text};
use crate::sys::crash::{self, Undo};
use crate::sys::poll::{FdKind, fd_kind};
use crate::sys::tty::Tty;
use crate::sys::{Env, lock};
use crate::text::one_line;

/// Asks for the cursor position (DSR 6).
pub const ASK_CURSOR: &[u8] = b"\x1b[6n";
/// Asks for the background colour (OSC 11).
pub const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";
/// How long modes may take to be written before e goes on without them. A terminal that takes
/// nothing for so long is stuck.
const MODES: Duration = Duration::from_millis(500);

/// Longest title, in columns.
const MAX_TITLE: usize = 100;

/// The modes that come and go while e runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// The alternate screen.
    pub alternate: bool,
    /// Mouse clicks, drags and the wheel are e's.
    pub mouse: bool,
}

/// A mode of the list.
struct Mode {
    is_wanted: fn(Modes) -> bool,
    enter: &'static str,
    /// Makes sure of it when it was entered and somebody may have changed it since.
    again: &'static str,
    /// Makes sure that it is off when it was not entered and somebody may have switched it on.
    off: &'static str,
    leave: &'static str,
}

impl Mode {
    /// What leaves it when it is on, and what makes sure of it when it is off.
    fn undo(&self, is_on: bool) -> &'static str {
        if is_on { self.leave } else { self.off }
    }
}

/// The place of the alternate screen in the list.
const ALTERNATE: usize = 3;

/// Which modes of the list are on.
type On = [bool; LIST.len()];

/// Every mode, in the order in which they are entered. Raw mode surrounds them.
const LIST: [Mode; 6] = [
    // The title of before is kept by the terminal, and cleared where it is not.
    Mode {
        is_wanted: |_| true,
        enter: "\x1b[22;0t",
        again: "",
        off: "",
        leave: "\x1b]0;\x1b\\\x1b[23;0t",
    },
    // Bracketed paste.
    Mode {
        is_wanted: |_| true,
        enter: "\x1b[?2004h",
        again: "\x1b[?2004h",
        off: "",
        leave: "\x1b[?2004l",
    },
    // The keyboard protocol, flag "disambiguate".
    Mode {
        is_wanted: |_| true,
        enter: "\x1b[>1u",
        again: "\x1b[=1;1u",
        off: "",
        leave: "\x1b[<1u",
    },
    Mode {
        is_wanted: |modes| modes.alternate,
        enter: "\x1b[?1049h",
        again: "",
        off: "",
        leave: "\x1b[?1049l",
    },
    // The alternate screen has keyboard flags of its own.
    Mode {
        is_wanted: |modes| modes.alternate,
        enter: "\x1b[>1u",
        again: "",
        off: "",
        leave: "\x1b[<1u",
    },
    // Buttons and drags, in the encoding that knows large coordinates.
    Mode {
        is_wanted: |modes| modes.mouse,
        enter: "\x1b[?1002h\x1b[?1006h",
        again: "\x1b[?1003l\x1b[?1002h\x1b[?1006h",
        off: "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l",
        leave: "\x1b[?1006l\x1b[?1002l",
    },
];

/// Leaves an alternate screen that another program left on. The cursor stays where it is: on the main
/// screen the sequence between would move it to where that program began.
const MAIN_SCREEN: &str = "\x1b7\x1b[?1049l\x1b8";

/// What a frame leaves behind at its end; and the cursor is shown.
const END_FRAME: &str = "\x1b[m\x1b]8;;\x1b\\\x1b[?7h\x1b[?25h";

/// Ends the sequence in which a write was cut off, the style that it was in and its update.
const MEND: &str = "\x18\x1b[m\x1b]8;;\x1b\\\x1b[?2026l";

/// Makes room below the cursor, when it is not known where the live region ends.
const BELOW: &[u8] = b"\r\n\x1b[J";

/// The terminal that e has borrowed. Dropping it gives it back.
#[derive(Debug)]
pub struct Terminal {
    tty: Tty,
    state: Mutex<State>,
    /// Whether modes are on. Not part of the state, which is locked while a write is stuck.
    is_ours: AtomicBool,
    /// Whether the next write makes sure of the modes: somebody may have changed them.
    is_in_doubt: AtomicBool,
    /// Wakes a write that the terminal does not take. Reading end, writing end.
    stop: (UnixStream, UnixStream),
    /// What a crash undoes, by the modes that are on.
    undo: &'static [(Modes, Undo)],
}

#[derive(Debug, Default)]
struct State {
    /// The modes that are on; none while the terminal is not ours.
    on: Option<On>,
    /// The modes that could not be left when the terminal was given away.
    left_on: On,
    /// Whether the last write stopped somewhere in the middle.
    is_cut: bool,
    /// Whether somebody else has had the terminal.
    was_given: bool,
}

impl Terminal {
    /// The terminal of the standard streams, which is left as it is until `enter`.
    pub fn open(env: &Env) -> Result<Arc<Self>> {
        let is_terminal = [0, 1].map(fd_kind) == [FdKind::Terminal; 2];
        match env.text("TERM") {
            Some("dumb") => Err(refuse("`TERM` is `dumb`")),
            _ if !is_terminal => Err(refuse("standard input and output are no terminal")),
            _ => Self::of(io::stdout().as_fd()).map_err(|error| refuse(&io_text(&error))),
        }
    }

    /// The terminal that a descriptor is.
    pub fn of(fd: std::os::fd::BorrowedFd<'_>) -> io::Result<Arc<Self>> {
        let stop = UnixStream::pair()?;
        stop.0.set_nonblocking(true)?;
        stop.1.set_nonblocking(true)?;
        let tty = Tty::of(fd)?;
        let bits = [false, true];
        let all = bits.map(|alternate| bits.map(|mouse| Modes { alternate, mouse }));
        let undo = all.concat().into_iter().map(|modes| {
            let bytes = [MEND.as_bytes(), undo(&wanted(modes)).0.as_bytes(), BELOW].concat();
            (modes, tty.undo(bytes))
        });
        Ok(Arc::new(Self {
            undo: Vec::leak(undo.collect()),
            tty,
            state: Mutex::default(),
            is_ours: AtomicBool::new(false),
            is_in_doubt: AtomicBool::new(false),
            stop,
        }))
    }

    /// Its size now.
    pub fn size(&self) -> Size {
        let (columns, rows) = self.tty.size();
        Size { columns, rows }
    }

    /// Whether keys come to e's job.
    pub fn is_foreground(&self) -> bool {
        self.tty.is_foreground()
    }

    /// Whether somebody, such as a command that knows its name, took away raw mode while the terminal
    /// is ours and e's job has it.
    pub fn was_changed(&self) -> bool {
        self.is_ours.load(Ordering::Acquire) && !self.tty.is_raw() && self.tty.is_foreground()
    }

    /// Takes the terminal, also again when somebody may have changed it meanwhile: after a stop
    /// that nobody announced. In the background this stops e until it is in the foreground.
    pub fn enter(&self, modes: Modes) -> io::Result<()> {
        self.tty.set_raw()?;
        self.stop_writing();
        let mut state = lock(&self.state);
        while matches!((&self.stop.0).read(&mut [0; 64]), Ok(1..)) {}
        let first = match std::mem::take(&mut state.was_given) {
            true => regain(&state.left_on),
            false => String::new(),
        };
        let left_on = std::mem::take(&mut state.left_on);
        let is_known = state.on.is_none() && left_on == On::default();
        self.is_in_doubt.store(!is_known, Ordering::Release);
        state.on.get_or_insert(left_on);
        self.is_ours.store(true, Ordering::Release);
        self.put(&mut state, &first, modes, b"", Some(MODES))
    }

    /// What a write with these modes begins with. Nothing while the terminal is not ours.
    pub fn switch(&self, modes: Modes) -> Vec<u8> {
        let is_in_doubt = self.is_in_doubt.load(Ordering::Acquire);
        match lock(&self.state).on {
            Some(on) => opening(&on, is_in_doubt, modes).0.into_bytes(),
            None => Vec::new(),
        }
    }

    /// A program may have changed the modes without a trace: the next write makes sure of them.
    pub fn doubt(&self) {
        self.is_in_doubt.store(true, Ordering::Release);
    }

    /// Writes bytes of a frame that needs these modes. Waits as long as the terminal takes to read
    /// them, or until `leave` in another thread, which is `Interrupted`.
    pub fn write(&self, modes: Modes, bytes: &[u8]) -> io::Result<()> {
        let mut state = lock(&self.state);
        self.put(&mut state, "", modes, bytes, None)
    }

    /// Gives the terminal back as it was. `farewell` is written on the main screen, such as the
    /// bytes of `Screen::park`. Without effect when it is back already. `false` when the terminal
    /// did not take all of it in time.
    pub fn leave(&self, farewell: &[u8]) -> bool {
        self.stop_writing();
        let mut state = lock(&self.state);
        let Some(mut on) = state.on.take() else {
            return true;
        };
        self.is_ours.store(false, Ordering::Release);
        state.was_given = true;
        let first = if state.is_cut { MEND } else { "" };
        let (undo, steps) = undo(&on);
        let bytes = [first.as_bytes(), undo.as_bytes(), farewell].concat();
        let (count, result) = self.tty.write(&bytes, None, Some(MODES));
        take_note(&mut on, &steps, count.saturating_sub(first.len()));
        state.is_cut = result.is_err();
        state.left_on = on;
        // Nothing is left to be done about a terminal that is gone.
        let _ = self.tty.restore();
        crash::set_undo(None);
        on == On::default()
    }

    /// Drops typed bytes, for an end while an answer to a question is on its way.
    pub fn discard_input(&self) {
        self.tty.discard_input();
    }

    /// From now on a panic of this thread gives the terminal back before it is printed. One of
    /// another thread is not printed over the screen: who waits for that thread reports it.
    pub fn restore_on_panic(self: &Arc<Self>) {
        let (terminal, own) = (Arc::downgrade(self), thread::current().id());
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let terminal = terminal.upgrade();
            let is_ours = thread::current().id() == own;
            match terminal.filter(|terminal| terminal.is_ours.load(Ordering::Acquire)) {
                Some(_) if !is_ours => {}
                Some(terminal) => {
                    terminal.leave(BELOW);
                    print(info);
                }
                None => print(info),
            }
        }));
    }

    /// Makes a write in another thread return.
    pub(super) fn stop_writing(&self) {
        // A full socket wakes as well.
        let _ = (&self.stop.1).write(&[1]);
    }

    /// A crash from now on finds these modes on.
    fn prepare_crash(&self, modes: Modes) {
        let undo = self.undo.iter().find(|(those, _)| *those == modes);
        crash::set_undo(undo.map(|(_, undo)| undo));
    }

    /// Writes all at once, and takes note of the modes that the terminal has got.
    fn put(
        &self,
        state: &mut State,
        first: &str,
        modes: Modes,
        bytes: &[u8],
        limit: Option<Duration>,
    ) -> io::Result<()> {
        self.prepare_crash(modes);
        let Some(on) = &mut state.on else {
            return Err(io::ErrorKind::Interrupted.into());
        };
        let is_in_doubt = self.is_in_doubt.swap(false, Ordering::AcqRel);
        let (opening, steps) = opening(on, is_in_doubt, modes);
        let first = [if state.is_cut { MEND } else { "" }, first].concat();
        let all = [first.as_bytes(), opening.as_bytes(), bytes].concat();
        let (count, result) = self.tty.write(&all, Some(self.stop.0.as_fd()), limit);
        take_note(on, &steps, count.saturating_sub(first.len()));
        state.is_cut = result.is_err();
        if state.is_cut {
            self.doubt();
        }
        result
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave(BELOW);
    }
}

/// The bytes that set the window's title.
pub fn title(text: &str) -> Vec<u8> {
    format!("\x1b]0;{}\x1b\\", one_line(text, Some(MAX_TITLE))).into_bytes()
}

/// Whether the terminal wraps long rows again when it becomes narrower. Most do.
pub fn reflows(env: &Env) -> bool {
    let term = env.text("TERM").unwrap_or_default();
    let is_plain = term == "linux" || (term.starts_with("screen") && env.get("TMUX").is_none());
    env.get("XTERM_VERSION").is_none() && !is_plain
}

/// How long the size has to stay before rows of the main screen are placed anew. A terminal that wraps
/// rows again moves them with each size, so that a frame for another size is written over them. tmux
/// uses a size at once, but tells programs about it up to 250 ms later.
pub fn settling(env: &Env) -> Duration {
    match (reflows(env), env.get("TMUX").is_some()) {
        (false, _) => Duration::ZERO,
        (true, false) => Duration::from_millis(50),
        (true, true) => Duration::from_millis(300),
    }
}

/// Makes sure of what is on and of what is not.
fn again(on: &On) -> String {
    let again = |(mode, is_on): (&Mode, &bool)| if *is_on { mode.again } else { mode.off };
    LIST.iter().zip(on).map(again).collect()
}

/// Makes sure of what every frame leaves behind, and leaves these modes. With which they are, each
/// with where its bytes end.
fn undo(on: &On) -> (String, Vec<(usize, usize)>) {
    let mut bytes = String::from(END_FRAME);
    let mut steps = Vec::new();
    for (index, mode) in LIST.iter().enumerate().rev() {
        bytes.push_str(mode.undo(on[index]));
        if on[index] {
            steps.push((index, bytes.len()));
        }
    }
    (bytes, steps)
}

/// Switches off what somebody else may have left on, but for what e has left on itself.
fn regain(left_on: &On) -> String {
    let off = LIST.iter().zip(left_on).map(|(mode, is_on)| match is_on {
        true => "",
        false => mode.off,
    });
    let screen = if left_on[ALTERNATE] { "" } else { MAIN_SCREEN };
    std::iter::once(screen).chain(off).collect()
}

fn wanted(modes: Modes) -> On {
    LIST.each_ref().map(|mode| (mode.is_wanted)(modes))
}

/// Leaves what is on and not wanted, in reverse, then enters what is wanted and not on: the index
/// of each mode, and the bytes.
fn between(on: &On, modes: Modes) -> Vec<(usize, &'static str)> {
    let wanted = wanted(modes);
    let (leave, enter) = (0..LIST.len())
        .filter(|&index| on[index] != wanted[index])
        .partition::<Vec<_>, _>(|&index| on[index]);
    let leave = leave
        .into_iter()
        .rev()
        .map(|index| (index, LIST[index].leave));
    leave
        .chain(enter.into_iter().map(|index| (index, LIST[index].enter)))
        .collect()
}

/// What makes sure of modes in doubt and changes those that are to change, and which these are,
/// each with where its bytes end.
fn opening(on: &On, is_in_doubt: bool, modes: Modes) -> (String, Vec<(usize, usize)>) {
    let mut bytes = if is_in_doubt {
        again(on)
    } else {
        String::new()
    };
    let mut steps = Vec::new();
    for (index, text) in between(on, modes) {
        bytes.push_str(text);
        steps.push((index, bytes.len()));
    }
    (bytes, steps)
}

/// The first bytes of an opening were written.
fn take_note(on: &mut On, steps: &[(usize, usize)], count: usize) {
    for (index, end) in steps {
        on[*index] ^= *end <= count;
    }
}

fn refuse(reason: &str) -> Error {
    Error::usage(format!("the terminal app cannot start: {reason}"))
        .remedy("use `e -p` for one prompt or `e rpc` for a program")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal still has on after these bytes: titles, keyboard flags of both screens,
    /// and the modes that are switched.
    fn left_on(bytes: &str) -> (i32, [i32; 2], Vec<&str>) {
        let (mut titles, mut keyboard, mut on) = (0, [0; 2], Vec::new());
        for sequence in bytes.split(['\x1b', '\x18']) {
            let alternate = usize::from(on.contains(&"1049"));
            match sequence {
                "[22;0t" => titles += 1,
                "[23;0t" => titles -= 1,
                "[>1u" => keyboard[alternate] += 1,
                "[<1u" => keyboard[alternate] -= 1,
                _ => {}
            }
            let mode = sequence.strip_prefix("[?").unwrap_or_default();
            if let Some(mode) = mode.strip_suffix('h') {
                on.push(mode);
            } else if let Some(mode) = mode.strip_suffix('l') {
                on.retain(|other| *other != mode);
            }
        }
        // These are on in a fresh terminal: the cursor and line breaks.
        on.retain(|mode| !["25", "7"].contains(mode));
        (titles, keyboard, on)
    }

    #[test]
    fn an_update_is_ended_only_where_one_may_have_begun() {
        let ends = |text: &str| text.contains("\x1b[?2026l");
        assert!(ends(MEND) && !ends(&undo(&wanted(Modes::default())).0));
    }

    #[test]
    fn a_write_that_is_cut_anywhere_leaves_no_mode_behind() {
        let bits = [false, true];
        let all = bits.map(|alternate| bits.map(|mouse| Modes { alternate, mouse }));
        let all = all.concat();
        let pairs = all
            .iter()
            .flat_map(|from| all.iter().map(move |to| (from, to)));
        for (from, to) in pairs {
            let entered = opening(&On::default(), false, *from).0;
            let (bytes, steps) = opening(&wanted(*from), true, *to);
            assert!(
                left_on(&(entered.clone() + &bytes)).0 == 1,
                "the test sees modes"
            );
            for cut in 0..=bytes.len() {
                let mut on = wanted(*from);
                take_note(&mut on, &steps, cut);
                // Cut once more, on the way to other modes, and then left.
                let (more, steps) = opening(&on, true, *from);
                let again = more.len().min(cut);
                take_note(&mut on, &steps, again);
                let written = [&entered, &bytes[..cut], MEND, &more[..again], MEND].concat();
                // Given away, cut there as well, and taken again.
                let (bytes, steps) = undo(&on);
                let cut = bytes.len().min(2 * cut);
                take_note(&mut on, &steps, cut);
                let again = regain(&on) + &opening(&on, true, *to).0;
                let end = undo(&wanted(*to)).0;
                let written = written + &bytes[..cut] + MEND + &again + &end;
                assert_eq!(
                    left_on(&written),
                    (0, [0; 2], vec![]),
                    "{from:?} {to:?} cut at {cut}"
                );
            }
        }
    }
}
