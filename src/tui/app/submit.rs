//! What becomes of a submitted line: input hooks, then what it is, then who gets it.
//!
//! Hooks of different lines may overlap, but lines are carried out in the order in which they
//! were submitted: each waits at the head of one queue until its verdict is there.

use std::time::Instant;

use super::images::{QUESTION, without_path};
use super::queue;
use super::session::Asked;
use super::{App, Done, Effect, Turn, commands, task};
use crate::agent::{Input, Limits, Prompt, RequestId, Source, Want};
use crate::chat::Image;
use crate::config::resources::{Skill, template};
use crate::extension::{Hook, HookKind, Verdict};

#[derive(Debug)]
pub(super) struct Submitted {
    stage: Stage,
    text: String,
    images: Vec<Image>,
    /// It is for the model whatever it looks like.
    is_prompt: bool,
    /// What was typed: it goes into the file of prompts when no extension has kept the line.
    typed: Option<String>,
}

impl Submitted {
    fn of(text: String) -> Self {
        Self {
            stage: Stage::Ready(None),
            text,
            images: Vec::new(),
            is_prompt: false,
            typed: None,
        }
    }

    /// Whether a task of this app has to end first.
    pub fn awaits_task(&self) -> bool {
        matches!(
            self.stage,
            Stage::Skill(_) | Stage::Image(_) | Stage::Template(_)
        )
    }
}

/// What a line waits for.
#[derive(Debug)]
enum Stage {
    /// The text of the skill that it uses; its own text is what is said to it.
    Skill(RequestId),
    /// What the extensions say to it.
    Hooked(RequestId),
    /// Nothing; this is what the extensions said.
    Ready(Option<Verdict>),
    /// The image that its first word seems to name.
    Image(u64),
    /// Nothing: its first word names no image.
    NoImage,
    /// Whether its first word is a template.
    Template(RequestId),
    /// Nothing: this is a prompt.
    Prompt,
}

/// Why a prompt with images stays.
const NO_IMAGES: &str = "images cannot join a running turn; send them after it";

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
        let text = self.composer.draft().buffer.expand();
        if let Some(effects) = self.catch_key(&text) {
            return effects;
        }
        if self.session.is_none() && !self.is_opening && !is_own_command(&text) {
            return self
                .tell("there is no session: sign in with /login, or choose a model with /models");
        }
        if self.turn().is_some_and(Turn::hears) && !self.composer.draft().images.is_empty() {
            return self.tell(NO_IMAGES);
        }
        self.scroll.follow();
        let draft = self.composer.take();
        self.composer.remember(&text);
        let line = Submitted {
            images: draft.images,
            typed: Some(text.clone()),
            ..Submitted::of(text)
        };
        self.send_through_hooks(line, now)
    }

    /// Submits a text that nobody typed here: the first prompt, or what a command made.
    pub(super) fn submit_text(&mut self, text: String, now: Instant) -> Vec<Effect> {
        self.send_through_hooks(Submitted::of(text), now)
    }

    /// Submits what an extension says in the person's place. It runs no command, so that none can
    /// call itself.
    pub(super) fn submit_prompt(&mut self, text: String, now: Instant) -> Vec<Effect> {
        let line = Submitted {
            is_prompt: true,
            ..Submitted::of(text)
        };
        self.send_through_hooks(line, now)
    }

    fn send_through_hooks(&mut self, line: Submitted, now: Instant) -> Vec<Effect> {
        let (stage, mut effects) = self.ask_hooks(&line.text);
        self.submitted.push_back(Submitted { stage, ..line });
        effects.extend(self.carry_out(now));
        effects
    }

    fn ask_hooks(&mut self, text: &str) -> (Stage, Vec<Effect>) {
        if !self.process.extensions.hooks.contains(&HookKind::Input) {
            return (Stage::Ready(None), Vec::new());
        }
        let request = self.next_request();
        let hook = Hook::Input {
            text: text.to_owned(),
        };
        let effect = Effect::Send(Input::Hook(request, hook));
        (Stage::Hooked(request), vec![effect])
    }

    /// Submits what a skill says, and what is said to it.
    pub(super) fn submit_skill(
        &mut self,
        skill: Skill,
        typed: String,
        said: String,
        images: Vec<Image>,
    ) -> Vec<Effect> {
        let request = self.next_request();
        self.submitted.push_back(Submitted {
            stage: Stage::Skill(request),
            images,
            typed: Some(typed),
            ..Submitted::of(said.clone())
        });
        let work = move || Done::Read(request, skill.prompt(&said).map(Some));
        task(work)
    }

    /// The file that a line waited for has been read.
    pub(super) fn read(
        &mut self,
        request: RequestId,
        text: crate::error::Result<Option<String>>,
        now: Instant,
    ) -> Vec<Effect> {
        let waits = |line: &Submitted| match line.stage {
            Stage::Skill(one) | Stage::Template(one) => one == request,
            Stage::Hooked(_)
            | Stage::Ready(_)
            | Stage::Image(_)
            | Stage::NoImage
            | Stage::Prompt => false,
        };
        let Some(at) = self.submitted.iter().position(waits) else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        let is_skill = matches!(self.submitted[at].stage, Stage::Skill(_));
        match text {
            Err(error) => {
                self.transcript.push_error(&error.to_string());
                if let Some(line) = self.submitted.remove(at) {
                    self.give_back(&line.text, line.images);
                }
            }
            Ok(Some(text)) if is_skill => {
                let (stage, more) = self.ask_hooks(&text);
                effects = more;
                let line = &mut self.submitted[at];
                line.stage = stage;
                line.text = text;
            }
            Ok(Some(text)) => {
                let line = &mut self.submitted[at];
                line.stage = Stage::Prompt;
                line.text = text;
            }
            Ok(None) => {
                if let Some(line) = self.submitted.remove(at) {
                    effects = self.run_added(&line);
                }
            }
        }
        effects.extend(self.carry_out(now));
        effects
    }

    /// What these lines wait for does not come. Commands of e's own need nothing.
    pub(super) fn give_up_waiting(&mut self, gives_up: impl Fn(&Submitted) -> bool) {
        for line in std::mem::take(&mut self.submitted).into_iter().rev() {
            match is_own_command(&line.text) || !gives_up(&line) {
                true => self.submitted.push_front(line),
                false => self.give_back(&line.text, line.images),
            }
        }
    }

    /// The extensions have looked at a line.
    pub(super) fn input_hooked(
        &mut self,
        request: RequestId,
        verdict: Verdict,
        now: Instant,
    ) -> Vec<Effect> {
        let waits =
            |line: &&mut Submitted| matches!(line.stage, Stage::Hooked(one) if one == request);
        if let Some(line) = self.submitted.iter_mut().find(waits) {
            line.stage = Stage::Ready(Some(verdict));
        }
        self.carry_out(now)
    }

    /// Does what the oldest lines want, up to the first that waits.
    pub(super) fn carry_out(&mut self, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        while self
            .submitted
            .front()
            .is_some_and(|line| self.is_ready(line))
        {
            let Some(line) = self.submitted.pop_front() else {
                break;
            };
            effects.extend(self.advance(line, now));
        }
        effects
    }

    fn is_ready(&self, line: &Submitted) -> bool {
        let has_place = self.session.is_some() && !self.is_opening;
        let has_place = has_place || is_own_command(&line.text);
        match line.stage {
            Stage::Ready(_) | Stage::NoImage | Stage::Prompt => has_place,
            Stage::Skill(_) | Stage::Hooked(_) | Stage::Image(_) | Stage::Template(_) => false,
        }
    }

    fn advance(&mut self, mut line: Submitted, now: Instant) -> Vec<Effect> {
        let mut text = line.text;
        match line.stage {
            Stage::Prompt => return self.prompt(text, line.images, now),
            Stage::Ready(Some(Verdict::Input {
                consumed,
                replacement,
                notices,
            })) => {
                for notice in notices {
                    self.transcript.push_notice(&notice);
                }
                if consumed {
                    return Vec::new();
                }
                text = replacement.unwrap_or(text);
            }
            Stage::NoImage => return self.run_line(text, line.images, now),
            Stage::Ready(_)
            | Stage::Skill(_)
            | Stage::Hooked(_)
            | Stage::Image(_)
            | Stage::Template(_) => {}
        }
        if let Some(typed) = line.typed.take() {
            self.history_append(&typed);
        }
        let looks = self.look_for_image(&text).filter(|_| !line.is_prompt);
        if let Some((number, task)) = looks {
            self.submitted.push_front(Submitted {
                stage: Stage::Image(number),
                text,
                ..line
            });
            return vec![task];
        }
        match line.is_prompt {
            true => self.prompt(text, line.images, now),
            false => self.run_line(text, line.images, now),
        }
    }

    /// The file that a line seems to begin with has been read.
    pub(super) fn looked(
        &mut self,
        number: u64,
        images: Result<Vec<Image>, Option<String>>,
        now: Instant,
    ) -> Vec<Effect> {
        let images = images.unwrap_or_else(|why| {
            self.tell_why_no_image(why);
            Vec::new()
        });
        let waits = |line: &&mut Submitted| matches!(line.stage, Stage::Image(at) if at == number);
        if let Some(line) = self.submitted.iter_mut().find(waits) {
            line.stage = Stage::NoImage;
            if !images.is_empty() {
                line.stage = Stage::Prompt;
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
                self.shell(command, now)
            }
            Line::Slash(name, args) => match self.command(name, args, now) {
                Some(effects) => {
                    self.leave_out(&images);
                    effects
                }
                None => self.look_for_template(text, images),
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

    /// Reads the template that a line may name. What was submitted later waits for it.
    fn look_for_template(&mut self, text: String, images: Vec<Image>) -> Vec<Effect> {
        let request = self.next_request();
        let places = self.places();
        let typed = text.clone();
        let work = move || {
            let filled = match line(&typed) {
                Line::Slash(name, args) => {
                    template(&places, name).map(|template| template.fill(args))
                }
                Line::Shell(_) | Line::Prompt => None,
            };
            Done::Read(request, Ok(filled))
        };
        self.submitted.push_front(Submitted {
            stage: Stage::Template(request),
            images,
            ..Submitted::of(text)
        });
        task(work)
    }

    /// A slash line that is neither e's own nor a template.
    fn run_added(&mut self, submitted: &Submitted) -> Vec<Effect> {
        let Line::Slash(name, args) = line(&submitted.text) else {
            return Vec::new();
        };
        if let Some(effects) = self.extension_command(name, args) {
            return effects;
        }
        let says = format!("there is no command /{name} - see /help");
        self.tell(&says)
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
        let line = |text, images| queue::Line {
            text,
            images,
            is_prompt: true,
        };
        if session.shell.is_some() || session.turn.as_ref().is_some_and(|turn| !turn.hears()) {
            self.queue.later(line(text, images));
            return Vec::new();
        }
        if session.turn.is_some() {
            if !images.is_empty() {
                self.transcript.push_notice(NO_IMAGES);
                self.give_back(&text, images);
                return Vec::new();
            }
            self.queue.steer(request, text.clone());
            return vec![Effect::Send(Input::Want(key, request, Want::Steer(text)))];
        }
        session.turn = Some(Turn::new(request, now));
        session.asked = Some(Asked {
            request,
            line: line(text.clone(), images.clone()),
        });
        self.transcript.push_user(&text, images.len());
        let prompt = Prompt {
            text,
            images,
            source: Source::Settled,
        };
        let want = Want::Prompt(prompt, Limits::default());
        vec![Effect::Send(Input::Want(key, request, want))]
    }
}

/// Whether a line is a command of e itself, which needs no session.
fn is_own_command(text: &str) -> bool {
    matches!(line(text), Line::Slash(name, _) if commands::find(name).is_some())
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
