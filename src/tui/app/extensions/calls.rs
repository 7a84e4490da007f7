//! Commands and shortcuts: asking an extension, and what its answer does.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::{App, Effect};
use super::PROMPT;
use crate::agent::{Input, RequestId, SessionKey};
use crate::extension::answer::CommandAnswer;
use crate::extension::{ExtensionId, Failure};
use crate::tui::key::KeyPress;

/// What extensions have been asked to do and have not done yet.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<RequestId, Call>,
    /// Whose command, shortcut or key was the last thing that the person did.
    last: Option<ExtensionId>,
    /// Whose question the person answered, if nothing came after that.
    answered: Option<ExtensionId>,
}

impl Calls {
    /// Whether the person has just turned to this extension, and to nothing else since.
    pub fn is_wanted(&self, id: ExtensionId) -> bool {
        self.last == Some(id)
    }

    /// Whom the person answered, if that was the last thing they did.
    pub fn last_answered(&self) -> Option<ExtensionId> {
        self.answered
    }

    pub fn turned_to(&mut self, id: ExtensionId) {
        self.turned_away();
        self.last = Some(id);
    }

    pub fn turned_away(&mut self) {
        self.last = None;
        self.answered = None;
    }

    pub fn answered(&mut self, id: ExtensionId) {
        self.last.take_if(|last| *last != id);
        self.answered = Some(id);
    }
}

#[derive(Debug)]
struct Call {
    /// The command or the chord, as the person knows it.
    what: String,
    /// The session that it was meant for.
    session: Option<SessionKey>,
}

impl App {
    /// Runs an extension's command; false when there is no such command.
    pub(in crate::tui::app) fn extension_command(&mut self, name: &str, args: &str) -> bool {
        let owner = self.process.extensions.command(name).map(|one| one.owner);
        if let Some(owner) = owner {
            let params = json!({"name": name, "args": args});
            self.call(owner, "command", params, format!("/{name}"));
        }
        owner.is_some()
    }

    /// A key that nothing else wanted.
    pub(in crate::tui::app) fn shortcut(&mut self, press: &KeyPress) {
        let chord = press.name().unwrap_or_default();
        let Some(bound) = self.process.extensions.shortcut(&chord) else {
            return;
        };
        let params = json!({"key": bound.item.shortcut.key});
        self.call(bound.owner, "shortcut", params, chord);
    }

    fn call(&mut self, to: ExtensionId, method: &'static str, params: Value, what: String) {
        let request = self.next_request();
        let session = self.session.as_ref().map(|session| session.key);
        let calls = &mut self.extensions.calls;
        calls.open.insert(request, Call { what, session });
        calls.turned_to(to);
        self.extensions.prompt = Some((to, PROMPT));
        self.effects.push(Effect::Send(Input::Call {
            request,
            to,
            method,
            params,
        }));
    }

    /// An extension has answered a command, a shortcut or a completion.
    pub(in crate::tui::app) fn called(
        &mut self,
        request: RequestId,
        result: Result<Value, Failure>,
        now: Instant,
    ) {
        let Some(Call { what, session }) = self.extensions.calls.open.remove(&request) else {
            return self.completed(request, result);
        };
        let answer = result.map_err(|failure| failure.to_string());
        let answer = answer.and_then(|answer| {
            CommandAnswer::parse(&answer)
                .map_err(|problem| format!("the extension's answer is unusable: {problem}"))
        });
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => return self.transcript.push_error(&format!("`{what}`: {why}")),
        };
        if let Some(notice) = &answer.notice {
            self.tell(notice);
        }
        if let Some(show) = &answer.show {
            self.transcript.push_show(show);
        }
        let here = self.session.as_ref().map(|session| session.key);
        let Some(key) = here.filter(|_| session == here) else {
            if answer.prompt.is_some() || answer.session_name.is_some() {
                self.tell(&format!(
                    "`{what}` was meant for another session; what it submits is dropped"
                ));
            }
            return;
        };
        if let Some(name) = answer.session_name {
            self.effects.push(Effect::Send(Input::Name(key, name)));
        }
        if let Some(prompt) = answer.prompt {
            self.submit_prompt(prompt, now);
        }
    }
}
