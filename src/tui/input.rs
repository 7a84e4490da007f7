//! The thread that reads the terminal, and how to stop it for a while.
//!
//! While an editor runs, or e is suspended, every byte of the terminal belongs to somebody else.
//! [`Input::park`] returns when the thread certainly reads nothing, and it goes on when the
//! [`Parked`] is dropped. The thread sleeps until there are bytes; it has a timer only while a key is
//! ambiguous.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded, select_biased};

use super::key::{Burst, InputEvent, Parser};
use crate::error::{Error, Result};
use crate::sys::ended::{Alive, Ended, NoAnswer, alive};
use crate::sys::poll::wait_any_for;

/// How long an escape character waits for the rest of a sequence, and an Enter behind text for
/// more text.
pub const ESCAPE_DEADLINE: Duration = Duration::from_millis(50);

/// How long an answer may pause before its end, because keys are swallowed meanwhile; and how long an
/// escape character waits where the Escape key is spelled otherwise.
const ANSWER_DEADLINE: Duration = Duration::from_millis(200);

/// How long a paste or another sequence may pause before its end.
const END_DEADLINE: Duration = Duration::from_secs(5);

/// How long the thread may take to stop reading. It waits for nothing else meanwhile.
const PARK_DEADLINE: Duration = Duration::from_secs(1);

/// Events that wait for the loop. When it is full the thread reads no further.
const QUEUE: usize = 256;

/// The reading thread. Dropping it stops the thread.
#[derive(Debug)]
pub struct Input {
    events: Receiver<InputEvent>,
    /// Requests to park; its end stops the thread. Goes before `wake`, whose end wakes it.
    control: Sender<Park>,
    wake: UnixStream,
    ended: Ended,
}

/// While this lives, nothing is read.
#[derive(Debug)]
#[must_use = "reading goes on when this is dropped"]
pub struct Parked {
    _resume: Sender<()>,
}

/// A request to stop until `resume` ends.
struct Park {
    parked: Sender<()>,
    resume: Receiver<()>,
}

impl Input {
    /// Starts reading. A terminal that is open for itself (`/dev/tty`) is best, because it may be
    /// shared with children otherwise. The first `ahead` bytes were typed before the terminal was
    /// raw, which made line feeds of the Enters among them.
    pub fn start(terminal: File, ahead: usize) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let (control, requests) = bounded(1);
        let (sender, events) = bounded(QUEUE);
        let (alive, ended) = alive();
        let reader = Reader {
            terminal,
            ahead,
            woken,
            requests,
            events: sender,
            parser: Parser::default(),
            burst: Burst::default(),
            _alive: alive,
        };
        thread::Builder::new()
            .name("terminal reader".into())
            .spawn(move || reader.run())?;
        Ok(Self {
            events,
            control,
            wake,
            ended,
        })
    }

    /// What the terminal sent. [`InputEvent::Closed`] is the last; the channel ends behind it.
    pub fn events(&self) -> &Receiver<InputEvent> {
        &self.events
    }

    /// Stops reading; what was read is still in [`Input::events`]. Fails when the thread does not
    /// answer within a second. Parking a closed terminal succeeds.
    pub fn park(&self) -> Result<Parked> {
        let (parked, answer) = bounded(1);
        let (resume, resumed) = bounded(0);
        let request = Park {
            parked,
            resume: resumed,
        };
        match self.control.try_send(request) {
            Ok(()) => {
                // When this fails the thread is awake, or gone.
                let _ = (&self.wake).write(&[0]);
                if self.ended.answer(&answer, Some(PARK_DEADLINE)) == Err(NoAnswer::Late) {
                    return Err(Error::failed("the terminal reader does not stop"));
                }
            }
            Err(TrySendError::Full(_)) => {
                return Err(Error::failed("the terminal reader is stopped already"));
            }
            // The thread has ended, and its reading with it.
            Err(TrySendError::Disconnected(_)) => {}
        }
        Ok(Parked { _resume: resume })
    }
}

struct Reader {
    terminal: File,
    ahead: usize,
    woken: UnixStream,
    requests: Receiver<Park>,
    events: Sender<InputEvent>,
    parser: Parser,
    burst: Burst,
    _alive: Alive,
}

/// The owner of the thread is gone.
struct Stopped;

impl Reader {
    fn run(mut self) {
        if let Ok(()) = self.read_to_end() {
            let _ = self.send(InputEvent::Closed);
        }
    }

    /// Passes on what the terminal sends until it is closed.
    fn read_to_end(&mut self) -> Result<(), Stopped> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match self.requests.try_recv() {
                Ok(park) => self.stay_parked(&park),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return Err(Stopped),
            }
            let (parser, waits) = (&self.parser, self.burst.waits());
            let is_open_question = parser.is_ambiguous() || waits;
            let timeout = match is_open_question {
                true if parser.has_protocol() && !waits => Some(ANSWER_DEADLINE),
                true => Some(ESCAPE_DEADLINE),
                false if parser.is_inside_answer() => Some(ANSWER_DEADLINE),
                false => parser.is_inside().then_some(END_DEADLINE),
            };
            let fds = [Some(self.terminal.as_fd()), Some(self.woken.as_fd())];
            let events = match wait_any_for(fds, timeout) {
                Ok([_, true]) => {
                    // Its content does not matter: the request is in its channel.
                    let _ = self.woken.read(&mut [0; 16]);
                    continue;
                }
                Ok([true, false]) => match self.terminal.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(count) => {
                        self.restore_enters(&mut buffer[..count]);
                        self.burst.pass(self.parser.feed(&buffer[..count]))
                    }
                    Err(error) if is_passing(&error) => continue,
                    Err(_) => return Ok(()),
                },
                Ok([false, false]) if is_open_question => {
                    let mut events = self.burst.pass(self.parser.flush());
                    events.extend(self.burst.quiet());
                    events
                }
                Ok([false, false]) => self.parser.give_up(),
                Err(_) => return Ok(()),
            };
            for event in events {
                self.send(event)?;
            }
        }
    }

    fn restore_enters(&mut self, read: &mut [u8]) {
        let ahead = self.ahead.min(read.len());
        self.ahead -= ahead;
        for byte in read[..ahead].iter_mut().filter(|byte| **byte == b'\n') {
            *byte = b'\r';
        }
    }

    /// Hands an event over, and stays parkable while the queue is full.
    fn send(&mut self, event: InputEvent) -> Result<(), Stopped> {
        loop {
            select_biased! {
                recv(self.requests) -> park => match park {
                    Ok(park) => self.stay_parked(&park),
                    Err(_) => return Err(Stopped),
                },
                send(self.events, event) -> sent => return sent.map_err(|_| Stopped),
            }
        }
    }

    /// Waits until the owner lets go of it. One that waited too long for the answer has already.
    fn stay_parked(&mut self, park: &Park) {
        if park.parked.send(()).is_ok() {
            let _ = park.resume.recv();
        }
    }
}

/// Whether reading is worth another try.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, WouldBlock};
    matches!(error.kind(), Interrupted | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::key::Key;
    use std::os::fd::OwnedFd;

    /// An input whose terminal is a socket, and the person at its other end.
    fn input() -> (Input, UnixStream) {
        let (terminal, person) = UnixStream::pair().unwrap();
        let input = Input::start(File::from(OwnedFd::from(terminal)), 0).unwrap();
        (input, person)
    }

    /// The next event, named.
    fn next(input: &Input) -> String {
        match input.events().recv_timeout(Duration::from_secs(10)) {
            Ok(InputEvent::Key(press)) => press.name().unwrap(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn bytes_become_events_and_silence_tells_escape() {
        let (input, mut person) = input();
        person.write_all(b"a\x1b[A\x1b").unwrap();
        assert_eq!(
            [next(&input), next(&input), next(&input)],
            ["a", "up", "escape"]
        );
        person.write_all(b"hi\r").unwrap();
        assert_eq!(
            [next(&input), next(&input), next(&input)],
            ["h", "i", "enter"]
        );
        drop(person);
        assert_eq!(next(&input), "Closed");
        assert!(input.events().recv().is_err());
        assert!(input.park().is_ok());
    }

    #[test]
    fn an_answer_without_an_end_swallows_no_keys() {
        let (input, mut person) = input();
        person.write_all(b"\x1bP>|xterm").unwrap();
        let silence = ANSWER_DEADLINE * 5;
        assert!(input.events().recv_timeout(silence).is_err());
        person.write_all(b"hi").unwrap();
        assert_eq!([next(&input), next(&input)], ["h", "i"]);
    }

    #[test]
    fn a_line_that_was_typed_early_ends_with_enter() {
        let (terminal, mut person) = UnixStream::pair().unwrap();
        person.write_all(b"hi\n").unwrap();
        let input = Input::start(File::from(OwnedFd::from(terminal)), 3).unwrap();
        assert_eq!(
            [next(&input), next(&input), next(&input)],
            ["h", "i", "enter"]
        );
        person.write_all(b"\n").unwrap();
        assert_eq!(next(&input), "ctrl+j");
    }

    #[test]
    fn nothing_is_read_while_parked() {
        let (input, mut person) = input();
        for _ in 0..50 {
            let parked = input.park().unwrap();
            person.write_all(b"x").unwrap();
            assert!(input.events().is_empty());
            drop(parked);
            assert_eq!(next(&input), "x");
        }
    }

    #[test]
    fn parking_a_terminal_that_is_being_closed_waits_for_nothing() {
        for _ in 0..300 {
            let (input, person) = input();
            let start = std::time::Instant::now();
            drop(person);
            drop(input.park().unwrap());
            assert!(start.elapsed() < PARK_DEADLINE);
        }
    }

    #[test]
    fn a_full_queue_can_be_parked_and_loses_nothing() {
        let (input, mut person) = input();
        let text = "ab\u{1b}[A".repeat(QUEUE);
        person.write_all(text.as_bytes()).unwrap();
        assert_eq!(next(&input), "a");
        drop(input.park().unwrap());
        for _ in 1..QUEUE {
            assert_eq!([next(&input), next(&input), next(&input)], ["b", "up", "a"]);
        }
        drop(input.park().unwrap());
        drop(input);
    }

    #[test]
    fn dropping_ends_the_thread() {
        let (input, mut person) = input();
        person.write_all("a".repeat(9).as_bytes()).unwrap();
        assert_eq!(next(&input), "a");
        let events = input.events().clone();
        drop(input);
        let left: Vec<_> = events.iter().collect();
        assert!(
            left.iter().all(
                |event| matches!(event, InputEvent::Key(press) if press.key == Key::Char('a'))
            )
        );
    }
}
