//! What becomes of a submitted line: input hooks, then what it is, then who gets it.
//!
//! Hooks of different lines may overlap, but lines are carried out in the order in which they
//! were submitted: each waits at the head of one queue until its verdict is there.

use std::collections::VecDeque;
use std::time::Instant;

use super::images::{NO_INPUT, Place, QUESTION, without_path};
use super::session::Asked;
use super::{App, Done, Effect, Turn, commands};
use crate::agent::{Input, Limits, Prompt, RequestId, Source, Want};
use crate::chat::Image;
use crate::config::resources::{Skill, template};
use crate::extension::{Hook, HookKind, Verdict};

/// What somebody says.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub text: String,
    pub images: Vec<Image>,
    /// It is for the model whatever it looks like.
    pub is_prompt: bool,
}

impl Line {
    pub fn of(text: String) -> Self {
        Self {
            text,
            images: Vec::new(),
            is_prompt: false,
        }
    }

    /// The same for the model alone.
    pub fn prompt(text: String) -> Self {
        Self {
            is_prompt: true,
            ..Self::of(text)
        }
    }

    /// Whether it is a command of e itself, which needs no session.
    fn is_own_command(&self) -> bool {
        !self.is_prompt && names_own_command(&self.text)
    }
}

/// A line on its way.
#[derive(Debug)]
pub(super) struct Submitted {
    stage: Stage,
    line: Line,
    /// What was typed: it goes into the file of prompts when no extension has kept the line.
    typed: Option<String>,
}

impl Submitted {
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
    /// Whether its first word is a template.
    Template(RequestId),
    /// Nothing: it has been looked through.
    Through,
}

/// Why a prompt with images stays.
const NO_IMAGES: &str = "images cannot join a running turn; send them after it";

/// What a line looks like.
#[derive(Debug, PartialEq, Eq)]
enum Form<'a> {
    /// A command of the shell, and whether it is an aside that the model is not told of.
    Shell(&'a str, bool),
    /// A word after a slash, and what follows it.
    Slash(&'a str, &'a str),
    /// Something for the model.
    Prompt,
}

impl App {
    /// Enter was pressed in the composer.
    pub(super) fn submit(&mut self, now: Instant) {
        self.typed_at = None;
        if self.enter_waits(Place::Draft) || self.composer.draft().is_blank() {
            return;
        }
        let text = self.composer.draft().buffer.expand();
        if self.catch_key(&text) {
            return;
        }
        let has_place = self.session.is_some() || self.is_opening || self.awaits_pick;
        if !has_place && !names_own_command(&text) {
            let why = self.no_session.as_deref();
            let why = why.map(|why| format!("{why}; start e again when that is mended"));
            let why = why.unwrap_or("sign in with /login, or choose a model with /models".into());
            return self.tell(&format!("there is no session: {why}"));
        }
        if self.turn().is_some_and(Turn::hears) && !self.composer.draft().images.is_empty() {
            return self.tell(NO_IMAGES);
        }
        self.scroll.follow();
        let draft = self.composer.take();
        self.composer.remember(&text);
        let line = Line {
            images: draft.images,
            ..Line::of(text.clone())
        };
        self.send_through_hooks(line, Some(text), now);
    }

    /// Submits the prompt that e was started with.
    pub(super) fn submit_first(&mut self, line: Line, now: Instant) {
        if !line.images.is_empty() && !self.takes_images() {
            self.tell(NO_INPUT);
            return self.give_back([line]);
        }
        let text = line.text.clone();
        self.composer.remember(&text);
        self.send_through_hooks(line, Some(text), now);
    }

    /// Submits what an extension says in the person's place. It runs no command, so that none can
    /// call itself.
    pub(super) fn submit_prompt(&mut self, text: String, now: Instant) {
        self.send_through_hooks(Line::prompt(text), None, now);
    }

    fn send_through_hooks(&mut self, line: Line, typed: Option<String>, now: Instant) {
        let stage = self.ask_hooks(&line.text);
        self.submitted.push_back(Submitted { stage, line, typed });
        self.carry_out(now);
    }

    fn ask_hooks(&mut self, text: &str) -> Stage {
        if !self.process.extensions.hooks.contains(&HookKind::Input) {
            return Stage::Ready(None);
        }
        let request = self.next_request();
        let hook = Hook::Input {
            text: text.to_owned(),
        };
        self.effects.push(Effect::Send(Input::Hook(request, hook)));
        Stage::Hooked(request)
    }

    /// Submits what a skill says, and what is said to it.
    pub(super) fn submit_skill(
        &mut self,
        skill: Skill,
        typed: String,
        said: String,
        images: Vec<Image>,
    ) {
        let request = self.next_request();
        self.submitted.push_back(Submitted {
            stage: Stage::Skill(request),
            line: Line {
                images,
                ..Line::prompt(said.clone())
            },
            typed: Some(typed),
        });
        self.task(move || Done::Read(request, skill.prompt(&said).map(Some)));
    }

    /// The file that a line waited for has been read.
    pub(super) fn read(
        &mut self,
        request: RequestId,
        text: crate::error::Result<Option<String>>,
        now: Instant,
    ) {
        let waits = |submitted: &Submitted| match submitted.stage {
            Stage::Skill(one) | Stage::Template(one) => one == request,
            Stage::Hooked(_) | Stage::Ready(_) | Stage::Image(_) | Stage::Through => false,
        };
        let Some(at) = self.submitted.iter().position(waits) else {
            return;
        };
        match text {
            Ok(Some(text))
                if text.trim().is_empty() && self.submitted[at].line.images.is_empty() =>
            {
                let line = self.submitted.remove(at).map(|submitted| submitted.line);
                let typed = line.map(|line| line.text).unwrap_or_default();
                let name = typed.split_whitespace().next().unwrap_or_default();
                self.tell(&format!("not sent: `{name}` makes an empty prompt"));
            }
            Ok(Some(text)) => {
                let stage = match self.submitted[at].stage {
                    Stage::Skill(_) => self.ask_hooks(&text),
                    _ => Stage::Through,
                };
                let submitted = &mut self.submitted[at];
                submitted.stage = stage;
                submitted.line.text = text;
                // A text out of a file is no command, whatever it begins with.
                submitted.line.is_prompt = true;
            }
            nothing => {
                let line = self.submitted.remove(at).map(|submitted| submitted.line);
                match (nothing, line) {
                    (Err(error), Some(line)) => {
                        self.transcript.push_error(&error.to_string());
                        self.give_back([line]);
                    }
                    (_, Some(line)) => self.run_added(line),
                    (_, None) => {}
                }
            }
        }
        self.carry_out(now);
    }

    /// Keeps what cannot be sent now: it is a draft again, above the one there is by now. A command
    /// is never one draft with something else: what is said would be run, or the command be said.
    pub(super) fn give_back(&mut self, lines: impl IntoIterator<Item = Line>) {
        let is_command = |text: &str| form(text) != Form::Prompt;
        let (mut prompts, mut commands) = (Vec::new(), Vec::new());
        for Line {
            text,
            images,
            is_prompt,
        } in lines
        {
            for image in images {
                self.composer.attach_image(image);
            }
            match is_prompt || !is_command(&text) {
                true => prompts.extend((!text.is_empty()).then_some(text)),
                false => commands.push(text),
            }
        }
        for command in &commands {
            self.composer.remember(command);
        }
        if !commands.is_empty() {
            let commands = commands.join("`, `");
            self.tell(&format!("not run: `{commands}` - ↑ brings it back"));
        }
        if prompts.is_empty() {
            return;
        }
        let text = prompts.join("\n");
        if is_command(self.composer.own_draft().buffer.text()) {
            self.composer.remember(&text);
            self.tell("your draft is a command - ↑ brings back what was not sent");
        } else {
            self.composer.put_above(&text);
        }
    }

    /// What these lines wait for does not come. Commands of e's own need nothing.
    pub(super) fn give_up_waiting(&mut self, gives_up: impl Fn(&Submitted) -> bool) {
        let (given_up, kept): (VecDeque<_>, _) = std::mem::take(&mut self.submitted)
            .into_iter()
            .partition(|one| !one.line.is_own_command() && gives_up(one));
        self.submitted = kept;
        self.give_back(given_up.into_iter().map(|submitted| submitted.line))
    }

    /// The extensions have looked at a line.
    pub(super) fn input_hooked(&mut self, request: RequestId, verdict: Verdict, now: Instant) {
        let waits =
            |line: &&mut Submitted| matches!(line.stage, Stage::Hooked(one) if one == request);
        if let Some(line) = self.submitted.iter_mut().find(waits) {
            line.stage = Stage::Ready(Some(verdict));
        }
        self.carry_out(now);
    }

    /// Does what the oldest lines want, up to the first that waits.
    pub(super) fn carry_out(&mut self, now: Instant) {
        while self
            .submitted
            .front()
            .is_some_and(|line| self.is_ready(line))
        {
            let Some(line) = self.submitted.pop_front() else {
                break;
            };
            self.advance(line, now);
        }
    }

    fn is_ready(&self, submitted: &Submitted) -> bool {
        let has_place = self.session.is_some() && !self.is_opening;
        let has_place = has_place || submitted.line.is_own_command();
        match submitted.stage {
            Stage::Ready(_) | Stage::Through => has_place,
            Stage::Skill(_) | Stage::Hooked(_) | Stage::Image(_) | Stage::Template(_) => false,
        }
    }

    fn advance(&mut self, submitted: Submitted, now: Instant) {
        let Submitted {
            stage,
            mut line,
            typed,
        } = submitted;
        match stage {
            Stage::Through => return self.run(line, now),
            Stage::Ready(Some(Verdict::Input {
                consumed,
                replacement,
                notices,
            })) => {
                for notice in notices {
                    self.tell(&notice);
                }
                if consumed {
                    return;
                }
                line.text = replacement.unwrap_or(line.text);
            }
            Stage::Ready(_)
            | Stage::Skill(_)
            | Stage::Hooked(_)
            | Stage::Image(_)
            | Stage::Template(_) => {}
        }
        if let Some(typed) = typed {
            self.history_append(&typed);
        }
        let looks = (!line.is_prompt).then(|| self.look_for_image(&line.text));
        let Some(number) = looks.flatten() else {
            return self.run(line, now);
        };
        self.submitted.push_front(Submitted {
            stage: Stage::Image(number),
            line,
            typed: None,
        });
    }

    /// The file that a line seems to begin with has been read.
    pub(super) fn looked(
        &mut self,
        number: u64,
        images: Result<Vec<Image>, Option<String>>,
        now: Instant,
    ) {
        let images = images.unwrap_or_else(|why| {
            self.tell_why_no_image(why);
            Vec::new()
        });
        let waits = |one: &&mut Submitted| matches!(one.stage, Stage::Image(at) if at == number);
        if let Some(submitted) = self.submitted.iter_mut().find(waits) {
            submitted.stage = Stage::Through;
            if !images.is_empty() {
                let line = &mut submitted.line;
                line.text = without_path(&line.text).to_owned();
                line.images.extend(images);
                line.is_prompt = true;
            }
        }
        self.carry_out(now);
    }

    /// Does what a line says.
    pub(super) fn run(&mut self, line: Line, now: Instant) {
        let form = match line.is_prompt {
            true => Form::Prompt,
            false => form(&line.text),
        };
        match form {
            Form::Shell(command, aside) => {
                self.leave_out(&line.images);
                self.shell(command, aside, now)
            }
            Form::Slash(name, args) => match self.command(name, args, now) {
                true => self.leave_out(&line.images),
                false => self.look_for_template(line),
            },
            Form::Prompt => self.prompt(line, now),
        }
    }

    fn leave_out(&mut self, images: &[Image]) {
        if !images.is_empty() {
            self.tell("the images were left out: a command takes none");
        }
    }

    /// Reads the template that a line may name. What was submitted later waits for it.
    fn look_for_template(&mut self, line: Line) {
        let request = self.next_request();
        let places = self.places();
        let typed = line.text.clone();
        self.task(move || {
            let filled = match form(&typed) {
                Form::Slash(name, args) => {
                    template(&places, name).map(|template| template.fill(args))
                }
                Form::Shell(..) | Form::Prompt => None,
            };
            Done::Read(request, Ok(filled))
        });
        self.submitted.push_front(Submitted {
            stage: Stage::Template(request),
            line,
            typed: None,
        });
    }

    /// A slash line that is neither e's own nor a template.
    fn run_added(&mut self, line: Line) {
        let Form::Slash(name, args) = form(&line.text) else {
            return;
        };
        self.leave_out(&line.images);
        if !self.extension_command(name, args) {
            self.tell(&format!("there is no command `/{name}` - see /help"));
        }
    }

    /// Says something to the model: a new turn, or a message into the running one.
    pub(super) fn prompt(&mut self, mut line: Line, now: Instant) {
        line.is_prompt = true;
        if line.text.trim().is_empty() && !line.images.is_empty() {
            line.text = QUESTION.to_owned();
        }
        let Some(session) = &self.session else {
            return;
        };
        if session.shell.is_some() || session.turn.as_ref().is_some_and(|turn| !turn.hears()) {
            return self.queue.later(line);
        }
        if session.turn.is_some() {
            if !line.images.is_empty() {
                self.tell(NO_IMAGES);
                return self.give_back([line]);
            }
            let request = self.send(Want::Steer(line.text.clone()));
            return self.queue.steer(request, line);
        }
        self.transcript.push_user(&line.text, line.images.len());
        let prompt = Prompt {
            text: line.text.clone(),
            images: line.images.clone(),
            source: Source::Settled,
        };
        let request = self.send(Want::Prompt(prompt, Limits::default()));
        if let Some(session) = &mut self.session {
            session.turn = Some(Turn::new(request, now));
            session.asked = Some(Asked { request, line });
        }
    }
}

/// Whether a line that is typed runs a command of e itself.
fn names_own_command(text: &str) -> bool {
    matches!(form(text), Form::Slash(name, _) if commands::find(name).is_some())
}

/// What a line looks like. Slash text is literal when it is `/`, begins with `/ `, or when its
/// first word has another slash.
fn form(text: &str) -> Form<'_> {
    if let Some(command) = text.strip_prefix('!') {
        let aside = command.strip_prefix('!');
        return Form::Shell(aside.unwrap_or(command).trim(), aside.is_some());
    }
    let Some(rest) = text.strip_prefix('/') else {
        return Form::Prompt;
    };
    let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match name.is_empty() || name.contains('/') {
        true => Form::Prompt,
        false => Form::Slash(name, args.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_they_look_like() {
        for (text, expected) in [
            ("hi", Form::Prompt),
            ("! ls -l ", Form::Shell("ls -l", false)),
            ("!!ls !", Form::Shell("ls !", true)),
            ("/help", Form::Slash("help", "")),
            (
                "/compact  the parser ",
                Form::Slash("compact", "the parser"),
            ),
            ("/", Form::Prompt),
            ("/ hi", Form::Prompt),
            ("/usr/bin is full", Form::Prompt),
            (" /help", Form::Prompt),
        ] {
            assert_eq!(form(text), expected, "{text}");
        }
    }
}
