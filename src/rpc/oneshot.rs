//! Version-1 lines: a fresh session, one turn, one flat answer and no events.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::jobs::{Done, Size};
use super::methods::{self, Create};
use super::params::Params;
use super::server::{Open, Server};
use super::sessions::{Created, create};
use super::wire::Id;
use crate::agent::{Input, Origin, Prompt, SessionKey, Source, Want};
use crate::error::Result;

/// Lines that run at a time; the rest wait.
const AT_ONCE: usize = 64;

/// A version-1 line, understood.
#[derive(Debug)]
pub struct OneShot {
    create: Create,
    prompt: String,
    images: Vec<PathBuf>,
}

/// The lines that were read and are not done.
#[derive(Default)]
pub struct OneShots {
    waiting: VecDeque<(Id, Box<OneShot>)>,
    /// Lines that have their turn, from the look at their session to its end.
    running: usize,
}

/// Understands the object of a line.
pub fn parse(mut params: Params) -> Result<OneShot> {
    Ok(OneShot {
        prompt: params.words("prompt")?,
        images: methods::images(&mut params)?,
        create: methods::create(&mut params)?,
    })
}

impl Server {
    /// Takes a line; it runs when its turn has come.
    pub fn one_shot(&mut self, id: Id, line: Box<OneShot>) {
        self.one_shots.waiting.push_back((id, line));
        self.start_one_shots();
    }

    /// Begins with the session and prompt that a job made.
    pub fn begin_one_shot(&mut self, mut id: Id, begun: Result<Box<(Created, Prompt)>>) {
        let (created, prompt) = match begun {
            Ok(begun) => *begun,
            Err(error) => {
                self.refuse(id, &error);
                return self.one_shot_ended();
            }
        };
        let session = self.next_session();
        let limits = created.limits;
        self.send(Input::Open(
            session,
            Arc::new(created.spec),
            created.past,
            Origin::default(),
        ));
        self.begun(&mut id);
        let request = self.open(Open::OneShot(id, session));
        self.send(Input::Want(session, request, Want::Prompt(prompt, limits)));
    }

    /// Ends the session of a line that was answered. Only then may the next one begin.
    pub fn end_one_shot(&mut self, session: SessionKey) {
        let request = self.open(Open::OneShotEnd);
        self.send(Input::Close {
            session,
            request,
            next: None,
        });
    }

    /// Makes room for the next line.
    pub fn one_shot_ended(&mut self) {
        self.one_shots.running -= 1;
        self.start_one_shots();
    }

    /// Refuses those that wait: the process is ending.
    pub fn refuse_one_shots(&mut self) {
        for (id, _) in std::mem::take(&mut self.one_shots.waiting) {
            self.refuse_ending(id);
        }
    }

    fn start_one_shots(&mut self) {
        while self.one_shots.running < AT_ONCE {
            let Some((id, line)) = self.one_shots.waiting.pop_front() else {
                return;
            };
            self.one_shots.running += 1;
            let (setting, prompt) = (self.setting.clone(), line.prompt);
            let (wanted, images) = (line.create, line.images);
            let work = move || {
                let created = create(&setting, wanted)?;
                let spec = &created.spec;
                let images = setting.images(&images, &spec.workspace, &spec.selection.model)?;
                let prompt = Prompt {
                    text: prompt,
                    images,
                    source: Source::Literal,
                };
                Ok(Box::new((created, prompt)))
            };
            let done = move |begun| Done::OneShot(id, begun);
            self.jobs.add(Size::Small, work, done);
        }
    }
}
