//! Sessions as a whole: a new one, a fork, a page of one, and what is done to one between turns.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::reload::Reloaded;
use super::tree::Rewound;
use super::turn::Phase;
use super::{App, Done, Effect, Turn};
use crate::agent::{Answer, Input, Reason, RequestId, SessionKey, Want};
use crate::session::{self, Entry, Listed};
use crate::text::one_line;

/// What the answer to a request is for.
#[derive(Debug)]
pub(super) enum Awaited {
    /// The session goes on under this key, and gets this name.
    Fork(SessionKey, Option<String>),
    /// The messages are written to this page.
    Export(PathBuf),
    /// The last reply is copied.
    Copy,
    /// What could not be written so far is written, before this is done.
    Save(Next),
    /// The log of the session is looked through.
    Tree,
    /// The session is at an earlier place.
    Rewind(Box<Rewound>),
    Undo,
    /// The extensions are let go.
    LetGo,
    /// The core goes on with other extensions.
    Extend(Box<Reloaded>),
}

/// What is done with a session that is saved.
#[derive(Clone, Debug)]
pub(super) enum Next {
    New,
    Resume(Box<Listed>),
    Tree,
    Quit,
}

impl App {
    /// Does this once the session is saved. Where it cannot be, the person decides.
    pub(super) fn once_saved(&mut self, next: Next) {
        let is_quitting = |one: &Awaited| matches!(one, Awaited::Save(Next::Quit));
        // A core that does not answer must not keep anybody.
        let insists = self.awaited.values().any(is_quitting);
        if insists || self.session.as_ref().is_none_or(|one| one.is_given_up) {
            return self.go_on(next);
        }
        self.is_opening |= !matches!(next, Next::Quit);
        self.request(Awaited::Save(next), |session, request| Input::Save {
            session,
            request,
        })
    }

    fn go_on(&mut self, next: Next) {
        match next {
            Next::New => self.open(Reason::New),
            Next::Resume(listed) => self.resume(*listed),
            Next::Tree => self.ask(Awaited::Tree, Want::Info),
            Next::Quit => self.effects.push(Effect::Quit(0)),
        }
    }

    /// Whether a command may change the session now; tells why if not.
    pub(super) fn is_between_turns(&mut self) -> bool {
        let why = if self.is_opening {
            "a session is being opened - wait a moment"
        } else if self.session.is_none() {
            "there is no session yet"
        } else if self.is_busy() {
            "a turn is running - wait for it, or stop it with esc"
        } else {
            return true;
        };
        self.tell(why);
        false
    }

    /// Does what may change the session, unless something is in the way.
    pub(super) fn between_turns(&mut self, change: impl FnOnce(&mut Self)) {
        if self.is_between_turns() {
            change(self);
        }
    }

    /// Sends a request about the session, if there is one; its number.
    pub(super) fn send(&mut self, want: Want) -> RequestId {
        let request = self.next_request();
        if let Some(session) = &self.session {
            let input = Input::Want(session.key, request, want);
            self.effects.push(Effect::Send(input));
        }
        request
    }

    /// The same when the answer is awaited.
    pub(super) fn ask(&mut self, awaited: Awaited, want: Want) {
        self.request(awaited, |session, request| {
            Input::Want(session, request, want)
        })
    }

    /// The same for a request that is the core's.
    pub(super) fn request(
        &mut self,
        awaited: Awaited,
        input: impl FnOnce(SessionKey, RequestId) -> Input,
    ) {
        let Some(session) = self.session.as_ref().map(|session| session.key) else {
            return;
        };
        let request = self.next_request();
        self.awaited.insert(request, awaited);
        self.effects.push(Effect::Send(input(session, request)));
    }

    pub(super) fn fork(&mut self, name: &str) {
        self.is_opening = true;
        let fork = self.next_session();
        let name = label(name);
        // The core begins the fork before it answers, and what is drawn for that shall stay.
        self.clear_shown();
        self.request(Awaited::Fork(fork, name), |session, request| Input::Fork {
            session,
            request,
            fork,
            handle: None,
            replaces: true,
        });
    }

    pub(super) fn name(&mut self, name: &str) {
        if self.session.is_none() {
            self.is_between_turns();
            return;
        }
        let name = label(name);
        self.tell(&match &name {
            Some(name) => format!("this session is called `{name}`"),
            None => "this session has no name".into(),
        });
        self.send(Want::Rename(name));
    }

    pub(super) fn export(&mut self, path: &str) {
        let Some(session) = &self.session else {
            return;
        };
        let home = self.process.env.path("HOME");
        let path = match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if path.is_empty() => {
                // The end of an id tells sessions of the same minute apart.
                let start = session.id.len().saturating_sub(8);
                let short = session.id.get(start..).unwrap_or_default();
                format!("e-session-{short}.html").into()
            }
            _ => path.into(),
        };
        let path = session.workspace.join(path);
        self.ask(Awaited::Export(path), Want::Messages);
    }

    pub(super) fn compact(&mut self, focus: &str, now: Instant) {
        if self.turn().is_none() && !self.is_between_turns() {
            return;
        }
        let request = self.send(Want::Compact {
            focus: Some(focus.to_owned()).filter(|focus| !focus.is_empty()),
            during_turn: true,
        });
        let Some(session) = &mut self.session else {
            return;
        };
        match &session.turn {
            Some(turn) => self.transcript.push_notice(match turn {
                turn if turn.stopping => "the summary is made when this has stopped",
                turn if turn.summarises => "another summary is made after this one",
                _ => "the summary is made with the turn's next step, or at its end",
            }),
            None => {
                session.turn = Some(Turn {
                    phase: Phase::Compacting,
                    summarises: true,
                    ..Turn::new(request, now)
                });
            }
        }
    }

    /// The core has answered a request.
    pub(super) fn awaited(&mut self, request: RequestId, answer: Answer, now: Instant) {
        let Some(awaited) = self.awaited.remove(&request) else {
            if let (Answer::Done, Some(session)) = (answer, &mut self.session) {
                // It became a part of a turn that an extension had begun.
                session.turn.take_if(|turn| turn.request == request);
            }
            return;
        };
        match (awaited, answer) {
            (Awaited::Fork(key, name), Answer::Forked(log)) => self.forked(key, name, log, now),
            (Awaited::Copy, Answer::Messages(entries, _)) => self.copy_last(&entries),
            (Awaited::Export(path), Answer::Messages(entries, log)) => {
                self.write_page(path, entries, log)
            }
            (Awaited::Tree, Answer::Info(info)) => self.look_through(info.log, info.head),
            (Awaited::Save(next), Answer::Done) => {
                self.is_opening &= matches!(next, Next::Quit);
                self.go_on(next);
                self.carry_out(now);
            }
            (Awaited::Rewind(rewound), Answer::Done) => self.rewound(*rewound, now),
            (Awaited::LetGo, Answer::Extensions(old)) => self.relaunch(old),
            (Awaited::Extend(reloaded), Answer::Done) => self.reloaded(*reloaded, now),
            (Awaited::Undo, Answer::Undone(Ok(text))) => self.tell(&text),
            (Awaited::Undo, Answer::Undone(Err(why))) => self.transcript.push_error(&why),
            _ => {}
        }
    }

    /// The core has refused a request; why is told already.
    pub(super) fn refused(&mut self, request: RequestId, now: Instant) {
        match self.awaited.remove(&request) {
            Some(Awaited::Fork(..) | Awaited::Rewind(_)) => self.is_opening = false,
            Some(Awaited::Save(next)) => {
                self.is_opening &= matches!(next, Next::Quit);
                self.tell("make room and try again, or do it once more to go on regardless");
                if let Some(session) = &mut self.session {
                    session.is_given_up = true;
                }
            }
            _ => return,
        }
        self.carry_out(now);
    }

    fn forked(
        &mut self,
        key: SessionKey,
        name: Option<String>,
        log: Option<PathBuf>,
        now: Instant,
    ) {
        self.is_opening = false;
        let Some(session) = &mut self.session else {
            return;
        };
        session.key = key;
        session.turn = None;
        if let Some(id) = log.as_deref().and_then(id_of) {
            session.id = id;
        }
        session.log = log;
        self.tell(
            "forked: from here on this is a session of its own; the one before stays as it is",
        );
        // What was drawn while the log was copied.
        self.clear_shown();
        if let Some(name) = name {
            self.name(&name);
        }
        self.carry_out(now);
    }

    fn write_page(&mut self, path: PathBuf, entries: Vec<Entry>, log: Option<PathBuf>) {
        let name = self
            .session
            .as_ref()
            .and_then(|session| session.name.clone());
        self.task(move || {
            let (_, page) = session::export_html(name, &entries, log.as_deref());
            Done::Notice(match session::write_page(&path, page.as_bytes()) {
                Ok(()) => format!("this session was written to `{}`", path.display()),
                Err(error) => format!("error: {error}"),
            })
        })
    }
}

/// A display name that was typed; a blank one is none.
fn label(text: &str) -> Option<String> {
    Some(one_line(text, None).trim().to_owned()).filter(|name| !name.is_empty())
}

/// The session's id in the name of its log.
fn id_of(log: &Path) -> Option<String> {
    let (_, id) = log.file_stem()?.to_str()?.split_once('_')?;
    Some(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_named_after_its_session() {
        let id = id_of(Path::new("/x/17_0192-ab.jsonl"));
        assert_eq!(id.as_deref(), Some("0192-ab"));
    }
}
