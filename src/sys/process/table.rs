//! The thread that owns all children: it forks them, reaps them and ends their groups.
//!
//! One thread because three things ask for it. `waitpid(-1)` anywhere else would steal statuses.
//! The parent-death signal follows the thread that forked. And a process number is only safe to
//! signal while nobody reaps its owner, which here is the case between any two steps.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, at, bounded, never, select};

use super::foreground::{self, Foreground, Program};
use super::guard::Guard;
use super::{Child, Exit, Owner, Process, Spawn, launch, strays};
use crate::error::{Error, Result};
use crate::sys::ended::{Ended, alive};
use crate::sys::signal;

/// How long a process has to end after SIGTERM, where nobody says otherwise.
pub const GRACE: Duration = Duration::from_millis(500);

/// How long the kernel has to take a process away after SIGKILL before e goes on without.
const KILL_WAIT: Duration = Duration::from_millis(200);

/// Requests that may wait while the thread is busy with a fork.
const QUEUE: usize = 64;

enum Request {
    Spawn(Box<Spawn>, Sender<Result<Child>>),
    Foreground(Box<Program>, Sender<Result<Foreground>>),
    SignalForeground(u32, libc::c_int),
    Stop(u64, Duration),
    Groups(Sender<Vec<u32>>),
    Sweep(Option<Owner>, Duration, Sender<usize>),
}

/// The way to the thread.
struct Thread {
    requests: Sender<Request>,
    ended: Ended,
}

static THREAD: OnceLock<Result<Thread>> = OnceLock::new();

pub fn spawn(spawn: Spawn) -> Result<Child> {
    launch(|reply| Request::Spawn(Box::new(spawn), reply))
}

pub fn run_foreground(program: Program) -> Result<Foreground> {
    launch(|reply| Request::Foreground(Box::new(program), reply))
}

pub fn signal_foreground(pid: u32, signal: libc::c_int) {
    send(Request::SignalForeground(pid, signal));
}

fn launch<T>(request: impl FnOnce(Sender<Result<T>>) -> Request) -> Result<T> {
    let thread = THREAD.get_or_init(|| start().map_err(Error::from)).as_ref();
    let thread = thread.map_err(|error| error.clone().context("no thread for children"))?;
    let launched = thread.ask(request, None);
    launched.unwrap_or_else(|| Err(Error::failed("the thread for children has ended")))
}

impl Thread {
    /// The answer to a request; none when the thread has ended or the time is over.
    fn ask<T>(
        &self,
        request: impl FnOnce(Sender<T>) -> Request,
        limit: Option<Duration>,
    ) -> Option<T> {
        let (reply, answer) = bounded(1);
        self.requests.send(request(reply)).ok()?;
        self.ended.answer(&answer, limit).ok()
    }
}

pub fn stop(id: u64, grace: Duration) {
    send(Request::Stop(id, grace));
}

/// The groups that are tracked right now.
pub fn groups() -> Vec<u32> {
    let thread = running();
    let groups = thread.and_then(|thread| thread.ask(Request::Groups, None));
    groups.unwrap_or_default()
}

pub fn sweep(owner: Option<Owner>, grace: Duration) -> usize {
    if owner.is_none() {
        // Without a thread by now there will be none.
        let _ = THREAD.get_or_init(|| Err(closed()));
    }
    let sweep = |found| Request::Sweep(owner, grace, found);
    // Twice the rest, because the thread may have to finish a step before it begins.
    let limit = Some(grace + KILL_WAIT * 2);
    let found = running().and_then(|thread| thread.ask(sweep, limit));
    found.unwrap_or_default()
}

/// Without a thread there is no child that a request could be about.
fn running() -> Option<&'static Thread> {
    THREAD.get()?.as_ref().ok()
}

fn send(request: Request) {
    if let Some(thread) = running() {
        // The thread ends with the process only.
        let _ = thread.requests.send(request);
    }
}

fn start() -> io::Result<Thread> {
    let (sender, requests) = bounded(QUEUE);
    let (alive, ended) = alive();
    let reaps = signal::watch_children()?;
    #[cfg(target_os = "linux")]
    // SAFETY: prctl takes numbers here. From now on orphans of children become children.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    }
    let table = Table {
        // Without it only a crash of e can leave something behind.
        guard: Guard::start().ok(),
        ..Table::default()
    };
    thread::Builder::new()
        .name("children".into())
        .spawn(move || {
            let _alive = alive;
            table.run(requests, reaps);
        })?;
    Ok(Thread {
        requests: sender,
        ended,
    })
}

#[derive(Default)]
struct Table {
    last_id: u64,
    entries: Vec<Entry>,
    /// Programs of the person's that have not been reaped: in truth one at most.
    guests: Vec<Guest>,
    sweeps: Vec<Sweep>,
    guard: Option<Guard>,
    /// Set by the sweep that ends all.
    closed: bool,
}

/// A program that has the terminal.
struct Guest {
    pid: u32,
    stops: Sender<()>,
    exit: Sender<ExitStatus>,
}

/// A group from its start until nothing is left of it.
struct Entry {
    id: u64,
    pid: u32,
    owner: Owner,
    exit: Sender<Exit>,
    /// Set when the leader is reaped. Until then its number cannot belong to anybody else.
    status: Option<ExitStatus>,
    stopped: usize,
    ending: Option<Ending>,
}

/// How far the way from SIGTERM over SIGKILL to giving up is gone.
#[derive(Clone, Copy)]
struct Ending {
    deadline: Instant,
    killed: bool,
}

/// The end of an owner, or of all.
struct Sweep {
    owner: Option<Owner>,
    ending: Ending,
    /// Whether strays were looked for once.
    begun: bool,
    signalled: Vec<u32>,
    /// Not needed any more when everything is gone, and needed at once when something stays.
    guard: Option<Guard>,
    found: Sender<usize>,
}

impl Table {
    fn run(mut self, requests: Receiver<Request>, mut reaps: Receiver<()>) {
        loop {
            let due = self.deadline().map_or_else(never, at);
            select! {
                recv(requests) -> request => match request {
                    Ok(request) => self.handle(request),
                    Err(_) => return,
                },
                recv(reaps) -> reap => match reap {
                    Ok(()) => self.reap(),
                    Err(_) => reaps = never(),
                },
                recv(due) -> _ => {}
            }
            let now = Instant::now();
            self.entries.retain_mut(|entry| !entry.advance(now));
            let mut sweeps = std::mem::take(&mut self.sweeps);
            sweeps.retain_mut(|sweep| !sweep.advance(&self, now));
            self.sweeps = sweeps;
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let entries = self.entries.iter().filter_map(|entry| entry.ending);
        let endings = entries.chain(self.sweeps.iter().map(|sweep| sweep.ending));
        endings.map(|ending| ending.deadline).min()
    }

    fn handle(&mut self, request: Request) {
        let now = Instant::now();
        match request {
            // The ones who ask wait for the answer, so sending it cannot fail.
            Request::Spawn(spawn, reply) => {
                let _ = reply.send(match self.closed {
                    false => self.spawn(&spawn),
                    true => Err(closed()),
                });
            }
            Request::Foreground(program, reply) => {
                let _ = reply.send(match self.closed {
                    false => self.run_foreground(&program),
                    true => Err(closed()),
                });
            }
            Request::SignalForeground(pid, signal) => {
                if self.guests.iter().any(|guest| guest.pid == pid) {
                    kill_group(pid, signal);
                }
            }
            Request::Stop(id, grace) => {
                if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) {
                    entry.stop(now, grace);
                }
            }
            Request::Groups(reply) => {
                let _ = reply.send(self.groups());
            }
            Request::Sweep(owner, grace, found) => {
                let all = owner.is_none();
                self.closed |= all;
                let sweep = Sweep {
                    owner,
                    guard: self.guard.take_if(|_| all),
                    ending: Ending::new(now, grace),
                    begun: false,
                    signalled: Vec::new(),
                    found,
                };
                let entries = self.entries.iter_mut();
                entries
                    .filter(|entry| sweep.covers(entry))
                    .for_each(|entry| entry.stop(now, grace));
                self.sweeps.push(sweep);
            }
        }
    }

    /// The groups that are no strays.
    fn groups(&self) -> Vec<u32> {
        let entries = self.entries.iter().map(|entry| entry.pid);
        entries.chain(self.guard.as_ref().map(Guard::pid)).collect()
    }

    fn spawn(&mut self, spawn: &Spawn) -> Result<Child> {
        let launched = launch::launch(spawn)?;
        let (exit, receiver) = bounded(1);
        self.last_id += 1;
        self.entries.push(Entry {
            id: self.last_id,
            pid: launched.pid,
            owner: spawn.owner.clone(),
            exit,
            status: None,
            stopped: 0,
            ending: None,
        });
        Ok(Child {
            process: Process {
                id: self.last_id,
                pid: launched.pid,
                exit: receiver,
            },
            stdin: launched.stdin,
            stdout: launched.stdout,
            stderr: launched.stderr,
        })
    }

    fn run_foreground(&mut self, program: &Program) -> Result<Foreground> {
        let pid = foreground::launch(program)?;
        let ((stops, stopped), (exit, exited)) = (bounded(1), bounded(1));
        self.guests.push(Guest { pid, stops, exit });
        Ok(Foreground {
            pid,
            stops: stopped,
            exit: exited,
        })
    }

    /// Takes away every child that has ended, known or not, and notes which guest has stopped.
    fn reap(&mut self) {
        loop {
            let mut status = 0;
            // SAFETY: waitpid only writes to `status`.
            let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG | libc::WUNTRACED) };
            match u32::try_from(pid) {
                Ok(0) => return,
                Ok(pid) if libc::WIFSTOPPED(status) => {
                    if let Some(guest) = self.guests.iter().find(|guest| guest.pid == pid) {
                        // Several stops may share a message.
                        let _ = guest.stops.try_send(());
                    }
                }
                Ok(pid) => {
                    if let Some(at) = self.guests.iter().position(|guest| guest.pid == pid) {
                        let guest = self.guests.swap_remove(at);
                        // The only message; nobody may be listening any more.
                        let _ = guest.exit.try_send(ExitStatus::from_raw(status));
                        continue;
                    }
                    let mut entries = self.entries.iter_mut();
                    let leader = |entry: &&mut Entry| entry.pid == pid && entry.status.is_none();
                    if let Some(entry) = entries.find(leader) {
                        entry.status = Some(ExitStatus::from_raw(status));
                    }
                }
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

impl Entry {
    fn stop(&mut self, now: Instant, grace: Duration) {
        match &mut self.ending {
            None => {
                self.ending = Some(Ending::new(now, grace));
                self.signal(libc::SIGTERM);
            }
            Some(ending) if ending.killed => {}
            Some(ending) => ending.deadline = ending.deadline.min(now + grace),
        }
    }

    /// Does what is due. `true` when there is nothing left to do and the exit was reported.
    fn advance(&mut self, now: Instant) -> bool {
        if self.status.is_some() && is_group_gone(self.pid) {
            return self.report();
        }
        match &mut self.ending {
            None if self.status.is_some() => {
                let group = strays::group(self.pid);
                if group.alive == 0 {
                    return self.report();
                }
                self.stopped = group.alive;
                self.stop(now, GRACE);
            }
            None => {}
            Some(ending) if now < ending.deadline => {}
            Some(Ending { killed: true, .. }) => return self.report(),
            Some(ending) => {
                *ending = ending.killed(now);
                self.signal(libc::SIGKILL);
            }
        }
        false
    }

    fn report(&self) -> bool {
        // The only message; nobody may be listening any more.
        let _ = self.exit.try_send(Exit {
            status: self.status,
            stopped: self.stopped,
        });
        true
    }

    /// Signals the group if it is certain whose it is: while its leader or one of its members is
    /// a child that this thread has not reaped. Members whose parents left the group do not
    /// count; they are strays.
    fn signal(&self, signal: libc::c_int) {
        if self.status.is_none() || strays::group(self.pid).held {
            kill_group(self.pid, signal);
        }
    }
}

impl Ending {
    fn new(now: Instant, grace: Duration) -> Self {
        Self {
            deadline: now + grace,
            killed: false,
        }
    }

    fn killed(self, now: Instant) -> Self {
        Self {
            deadline: now + KILL_WAIT,
            killed: true,
        }
    }
}

impl Sweep {
    fn covers(&self, entry: &Entry) -> bool {
        self.owner
            .as_ref()
            .is_none_or(|owner| *owner == entry.owner)
    }

    /// Does what is due. `true` when it is over and was answered.
    fn advance(&mut self, table: &Table, now: Instant) -> bool {
        let due = now >= self.ending.deadline;
        let groups_left = table.entries.iter().any(|entry| self.covers(entry));
        // Looking for strays is not cheap, and most of them show when the groups are gone.
        if groups_left && self.begun && !due {
            return false;
        }
        self.begun = true;
        let over = due && self.ending.killed;
        if due {
            self.ending = self.ending.killed(now);
        }
        let mut groups = table.groups();
        groups.extend(self.guard.as_ref().map(Guard::pid));
        let strays = match &self.owner {
            Some(owner) => strays::find(&owner.0, &groups),
            None => strays::find_all(&groups),
        };
        for stray in &strays {
            let known = self.signalled.contains(stray);
            if !known {
                self.signalled.push(*stray);
            }
            if self.ending.killed {
                kill_process(*stray, libc::SIGKILL);
            } else if !known {
                kill_process(*stray, libc::SIGTERM);
            }
        }
        let done = strays.is_empty() && !groups_left;
        if let Some(guard) = self.guard.take_if(|_| done) {
            guard.end();
        }
        if done || over {
            // Whoever asked may have lost patience.
            let _ = self.found.try_send(self.signalled.len());
        }
        done || over
    }
}

fn closed() -> Error {
    Error::failed("e is ending and starts nothing more")
}

/// Whether no process, not even an unreaped one, is in the group. A number that passed to
/// another group meanwhile reads as not gone, which does no harm.
fn is_group_gone(group: u32) -> bool {
    !kill(-i64::from(group), 0) && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

fn kill_group(group: u32, signal: libc::c_int) {
    kill(-i64::from(group), signal);
    wake(-i64::from(group), signal);
}

pub fn kill_process(pid: u32, signal: libc::c_int) {
    kill(i64::from(pid), signal);
    wake(i64::from(pid), signal);
}

/// A stopped process does not see SIGTERM before it goes on.
fn wake(pid: i64, signal: libc::c_int) {
    if signal == libc::SIGTERM {
        kill(pid, libc::SIGCONT);
    }
}

/// kill(2), unless the number means "everybody" or is none.
fn kill(pid: i64, signal: libc::c_int) -> bool {
    match libc::pid_t::try_from(pid) {
        // SAFETY: kill takes numbers.
        Ok(pid) if !matches!(pid, -1..=1) => unsafe { libc::kill(pid, signal) == 0 },
        _ => false,
    }
}
