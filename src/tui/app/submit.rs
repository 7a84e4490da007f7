//! What becomes of a submitted line: input hooks, then what it is, then who gets it.
//!
//! Hooks of different lines may overlap, but lines are carried out in the order in which they
//! were submitted: each waits at the head of one queue until its verdict is there.

use std::time::Instant;

use super::images::{QUESTION, without_path};
use super::{App, Effect, Turn};
use crate::agent::{Input, Limits, Prompt, RequestId, Source};
use crate::chat::Image;
use crate::extension::{Hook, HookKind, Verdict};

/// A line on its way.
#[derive(Debug)]
pub(super) struct Submitted {
    /// The question to the extensions; none when none has the hook.
    request: Option<RequestId>,
    text: String,
    images: Vec<Image>,
    /// It is for the model whatever it looks like.
    is_prompt: bool,
    verdict: Option<Verdict>,
    /// Whether it begins with an image.
    look: Look,
}

/// How far the look at the first word of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Wanted,
    /// A task reads the file, under this number.
    Reading(u64),
    Done,
}

/// Why a prompt with images stays.
const NO_IMAGES: &str = "images cannot join a running turn; send them after it";

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    /// A command of the shell.
    Shell(&'a str),
    /// A word after a slash, and what follows it.
    Slash(&'a str, &'a str),
    /// Something for the model.
    Prompt,
}

impl App {
    /// Enter was pressed in the composer.
    pub(super) fn submit(&mut self, now: Instant) -> Vec<Effect> {
        if self.enter_waits() || self.composer.draft().is_blank() {
            return Vec::new();
        }
        if self.session.is_none() {
            self.transcript
                .push_notice("there is no session yet: sign in with /login first");
            return Vec::new();
        }
        if self.turn().is_some() && !self.composer.draft().images.is_empty() {
            self.transcript.push_notice(NO_IMAGES);
            return Vec::new();
        }
        self.scroll.follow();
        let draft = self.composer.take();
        let text = draft.buffer.expand();
        self.composer.remember(&text);
        self.history_append(&text);
        self.send_through_hooks(text, draft.images, false, now)
    }

    /// Submits a text that nobody typed here: the first prompt, or what a command made.
    pub(super) fn submit_text(&mut self, text: String, now: Instant) -> Vec<Effect> {
        self.send_through_hooks(text, Vec::new(), false, now)
    }

    /// Submits what an extension says in the person's place. It runs no command, so that none can
    /// call itself.
    pub(super) fn submit_prompt(&mut self, text: String, now: Instant) -> Vec<Effect> {
        self.send_through_hooks(text, Vec::new(), true, now)
    }

    fn send_through_hooks(
        &mut self,
        text: String,
        images: Vec<Image>,
        is_prompt: bool,
        now: Instant,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let hooked = self.process.extensions.hooks.contains(&HookKind::Input);
        let request = hooked.then(|| self.next_request());
        if let Some(request) = request {
            let hook = Hook::Input { text: text.clone() };
            effects.push(Effect::Send(Input::Hook(request, hook)));
        }
        self.submitted.push_back(Submitted {
            request,
            text,
            images,
            is_prompt,
            verdict: None,
            look: Look::Wanted,
        });
        effects.extend(self.carry_out(now));
        effects
    }

    /// The extensions have looked at a line.
    pub(super) fn input_hooked(
        &mut self,
        request: RequestId,
        verdict: Verdict,
        now: Instant,
    ) -> Vec<Effect> {
        let waits = |line: &&mut Submitted| line.request == Some(request);
        if let Some(line) = self.submitted.iter_mut().find(waits) {
            line.verdict = Some(verdict);
        }
        self.carry_out(now)
    }

    fn carry_out(&mut self, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        let ready = |line: &Submitted| {
            let hooked = line.request.is_none() || line.verdict.is_some();
            hooked && !matches!(line.look, Look::Reading(_))
        };
        while self.submitted.front().is_some_and(ready) {
            let Some(mut line) = self.submitted.pop_front() else {
                break;
            };
            if let Some(Verdict::Input {
                consumed,
                replacement,
                notices,
            }) = line.verdict.take()
            {
                line.request = None;
                for notice in notices {
                    self.transcript.push_notice(&notice);
                }
                if consumed {
                    continue;
                }
                line.text = replacement.unwrap_or(line.text);
            }
            if line.look == Look::Wanted && !line.is_prompt {
                if let Some((number, task)) = self.look_for_image(&line.text) {
                    line.look = Look::Reading(number);
                    self.submitted.push_front(line);
                    effects.push(task);
                    break;
                }
            }
            effects.extend(match line.is_prompt {
                true => self.prompt(line.text, line.images, now),
                false => self.run_line(line.text, line.images, now),
            });
        }
        effects
    }

    /// The file that a line seems to begin with has been read.
    pub(super) fn looked(&mut self, number: u64, images: Vec<Image>, now: Instant) -> Vec<Effect> {
        let waits = |line: &&mut Submitted| line.look == Look::Reading(number);
        if let Some(line) = self.submitted.iter_mut().find(waits) {
            line.look = Look::Done;
            if !images.is_empty() {
                line.text = without_path(&line.text).to_owned();
                line.images.extend(images);
            }
        }
        self.carry_out(now)
    }

    pub(super) fn run_line(
        &mut self,
        text: String,
        images: Vec<Image>,
        now: Instant,
    ) -> Vec<Effect> {
        match line(&text) {
            Line::Shell(command) => {
                self.leave_out(&images);
                self.shell(command)
            }
            Line::Slash(name, args) => match self
                .command(name, args, now)
                .or_else(|| self.extension_command(name, args))
            {
                Some(effects) => {
                    self.leave_out(&images);
                    effects
                }
                None => {
                    self.transcript
                        .push_notice(&format!("there is no command /{name} - see /help"));
                    Vec::new()
                }
            },
            Line::Prompt => self.prompt(text, images, now),
        }
    }

    fn leave_out(&mut self, images: &[Image]) {
        if !images.is_empty() {
            self.transcript
                .push_notice("the images were left out: a command takes none");
        }
    }

    /// Says something to the model: a new turn, or a message into the running one.
    pub(super) fn prompt(&mut self, text: String, images: Vec<Image>, now: Instant) -> Vec<Effect> {
        let text = match text.trim().is_empty() && !images.is_empty() {
            true => QUESTION.to_owned(),
            false => text,
        };
        let request = self.next_request();
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        let key = session.key;
        if session.shell.is_some() || session.turn.as_ref().is_some_and(|turn| turn.stopping) {
            self.queue.later(text, images);
            return Vec::new();
        }
        if session.turn.is_some() {
            if !images.is_empty() {
                self.transcript.push_notice(NO_IMAGES);
                self.give_back(&text, images);
                return Vec::new();
            }
            self.queue.steer(request, text.clone());
            return vec![Effect::Send(Input::Steer {
                session: key,
                request,
                text,
            })];
        }
        session.turn = Some(Turn::new(request, now));
        self.transcript.push_user(&text, images.len());
        vec![Effect::Send(Input::Prompt {
            session: key,
            request,
            prompt: Prompt {
                text,
                images,
                source: Source::Settled,
            },
            limits: Limits::default(),
        })]
    }
}

/// What a line is. Slash text is literal when it is `/`, begins with `/ `, or when its first word has
/// another slash.
fn line(text: &str) -> Line<'_> {
    if let Some(command) = text.strip_prefix('!') {
        return Line::Shell(command.trim());
    }
    let Some(rest) = text.strip_prefix('/') else {
        return Line::Prompt;
    };
    let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match name.is_empty() || name.contains('/') {
        true => Line::Prompt,
        false => Line::Slash(name, args.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_they_look_like() {
        for (text, expected) in [
            ("hi", Line::Prompt),
            ("! ls -l ", Line::Shell("ls -l")),
            ("/help", Line::Slash("help", "")),
            (
                "/compact  the parser ",
                Line::Slash("compact", "the parser"),
            ),
            ("/", Line::Prompt),
            ("/ hi", Line::Prompt),
            ("/usr/bin is full", Line::Prompt),
            (" /help", Line::Prompt),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }
}
