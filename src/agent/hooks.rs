//! Where the extensions have a say in a turn: before it, and on its summary. (What they say to
//! calls and results is in `batch`.)
//!
//! Each is a phase that waits for one event. When nobody declared the hook, the phase is passed
//! over in the same step.

use serde_json::{Value, json};

use super::action::{Action, Job};
use super::conversation::Conversation;
use super::event::{Prompt, Source, TurnEvent};
use super::turn::{Phase, Turn};
use crate::chat::{Message, Voice};
use crate::extension::answer::CommandAnswer;
use crate::extension::{EventName, Failure, Hook, HookKind, Verdict};

/// A prompt that has not become part of the conversation yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) prompt: Prompt,
    pub(super) job: Job,
}

impl Turn {
    /// Takes a prompt to the input hooks first, when there are any.
    pub(super) fn submit(&mut self, prompt: Prompt, conversation: &mut Conversation) {
        let hooked = conversation.has_hook(HookKind::Input);
        if prompt.source.is_settled() || !hooked {
            return self.accept(prompt, conversation);
        }
        let job = conversation.job();
        let text = prompt.text.clone();
        conversation.push(Action::Ask(job, Hook::Input { text }));
        self.phase = Phase::Submitting(Box::new(Pending { prompt, job }));
    }

    /// The text is final. What begins with a slash and a word may name a template.
    fn accept(&mut self, prompt: Prompt, conversation: &mut Conversation) {
        let named = match prompt.source {
            Source::Typed => command_of(&prompt.text),
            _ => None,
        };
        let named = named.map(|(name, typed)| (name.to_owned(), typed.to_owned()));
        match named {
            None => self.begin(prompt, conversation),
            Some((name, typed)) => {
                let job = conversation.job();
                conversation.push(Action::Expand(job, name, typed));
                self.phase = Phase::Expanding(Box::new(Pending { prompt, job }));
            }
        }
    }

    /// A template is filled. Without one a command of an extension runs; everything else is said to
    /// the model.
    pub(super) fn expanded(
        &mut self,
        job: Job,
        filled: Option<String>,
        conversation: &mut Conversation,
    ) {
        let mut prompt = match &mut self.phase {
            Phase::Expanding(pending) if pending.job == job => std::mem::take(&mut pending.prompt),
            _ => return,
        };
        if let Some(text) = filled {
            if text.trim().is_empty() && prompt.images.is_empty() {
                let name = prompt.text.split_whitespace().next().unwrap_or_default();
                let why = format!("not sent: `{name}` makes an empty prompt");
                self.emit(TurnEvent::Error(why), conversation);
                return self.end(false, conversation);
            }
            prompt.text = text;
            return self.begin(prompt, conversation);
        }
        let owned = command_of(&prompt.text).and_then(|(name, args)| {
            let command = conversation.spec.extensions.command(name)?;
            Some((command.owner, name.to_owned(), args.to_owned()))
        });
        match owned {
            None => self.begin(prompt, conversation),
            Some((owner, name, args)) => {
                let job = conversation.job();
                conversation.push(Action::Command(job, owner, name, args));
                self.phase = Phase::Commanding(Box::new(Pending { prompt, job }));
            }
        }
    }

    /// The prompt joins the conversation, behind what waited for it.
    fn begin(&mut self, prompt: Prompt, conversation: &mut Conversation) {
        // An input hook or a command may have chosen another model for it.
        conversation.adopt_selection();
        let selection = &conversation.selection;
        self.report
            .answered_by(selection.model.slug(), selection.effort.clone());
        self.announce(conversation);
        if prompt.source.is_users() {
            for text in std::mem::take(&mut conversation.next_turn) {
                conversation.commit(Message::internal(text), None);
            }
        }
        let message = Message::User {
            content: prompt.text.clone(),
            images: prompt.images,
            voice: match prompt.source {
                Source::Internal => Voice::Internal,
                _ => Voice::Prompt,
            },
        };
        conversation.commit(message, None);
        self.prompt = prompt.text;
        let job = conversation.job();
        self.phase = Phase::Preparing(job);
        conversation.push(Action::Prepare(job, conversation.selection.model.clone()));
    }

    /// The line is dealt with. What an extension sent meanwhile is said instead, if there is any.
    fn begin_held(&mut self, conversation: &mut Conversation) {
        match conversation.held.pop_front() {
            Some(held) => {
                if !held.internal {
                    self.emit(TurnEvent::Steered(held.content.clone()), conversation);
                }
                self.begin(Prompt::from(held), conversation);
            }
            None => self.end(false, conversation),
        }
    }

    /// The system prompt is there; extensions may add to it.
    pub(super) fn prepared(&mut self, conversation: &mut Conversation) {
        if !conversation.has_hook(HookKind::BeforeTurn) {
            return self.open_turn(conversation);
        }
        let job = conversation.job();
        let prompt = self.prompt.clone();
        conversation.push(Action::Ask(job, Hook::BeforeTurn { prompt }));
        self.phase = Phase::Asking(job);
    }

    fn open_turn(&mut self, conversation: &mut Conversation) {
        let prompt = std::mem::take(&mut self.prompt);
        conversation.tell(EventName::TurnStart, || json!({"prompt": prompt}));
        self.told = true;
        self.next_step(conversation);
    }

    /// Takes what extensions say to a hook. Late answers find another phase, or another number.
    pub(super) fn hooked(&mut self, job: Job, verdict: Verdict, conversation: &mut Conversation) {
        match (&mut self.phase, verdict) {
            (Phase::Submitting(pending), verdict @ Verdict::Input { .. }) if pending.job == job => {
                let prompt = std::mem::take(&mut pending.prompt);
                self.input_decided(prompt, verdict, conversation);
            }
            (Phase::Asking(expected), Verdict::BeforeTurn { suffixes, messages })
                if *expected == job =>
            {
                if !suffixes.is_empty() {
                    let parts = std::iter::once(&*self.system)
                        .chain(suffixes.iter().map(|text| text.trim_end()));
                    self.system = parts.collect::<Vec<_>>().join("\n\n").into();
                }
                for message in messages {
                    self.join(message.content, message.internal, conversation);
                }
                self.open_turn(conversation);
            }
            (Phase::Running(batch), verdict) => {
                let mut events = Vec::new();
                batch.hooked(job, verdict, conversation, &mut events);
                for event in events {
                    self.emit(event, conversation);
                }
                self.advance_batch(conversation);
            }
            (Phase::Rewriting(rewriting), Verdict::CompactSummary(rewrite))
                if rewriting.0 == job =>
            {
                let mut draft = rewriting.1.take();
                if let (Some(draft), Some(rewrite)) = (&mut draft, rewrite) {
                    draft.summary = rewrite.trim().to_owned();
                }
                if let Some(draft) = draft {
                    self.install(draft, conversation);
                }
            }
            _ => {}
        }
    }

    fn input_decided(
        &mut self,
        mut prompt: Prompt,
        verdict: Verdict,
        conversation: &mut Conversation,
    ) {
        let Verdict::Input {
            consumed,
            replacement,
            notices,
        } = verdict
        else {
            return;
        };
        for notice in notices {
            self.emit(TurnEvent::Warning(notice), conversation);
        }
        if consumed {
            return self.begin_held(conversation);
        }
        if let Some(text) = replacement {
            prompt.text = text;
        }
        self.accept(prompt, conversation);
    }

    /// A command has run: what it wants shown is shown, and what it wants said goes on as the
    /// prompt.
    pub(super) fn commanded(
        &mut self,
        job: Job,
        result: Result<Value, Failure>,
        conversation: &mut Conversation,
    ) {
        let pending = match &mut self.phase {
            Phase::Commanding(pending) if pending.job == job => std::mem::take(&mut pending.prompt),
            _ => return,
        };
        let answer = result
            .map_err(|failure| failure.to_string())
            .and_then(|answer| CommandAnswer::parse(&answer));
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => {
                let (name, _) = command_of(&pending.text).unwrap_or_default();
                self.emit(
                    TurnEvent::Error(format!("the command `/{name}` failed: {why}")),
                    conversation,
                );
                return self.end(false, conversation);
            }
        };
        if let Some(name) = answer.session_name {
            self.rename(Some(name), conversation);
        }
        let shown = answer.show.map(|show| show.to_text());
        for text in answer.notice.into_iter().chain(shown) {
            self.emit(TurnEvent::Warning(text), conversation);
        }
        match answer.prompt {
            None => self.begin_held(conversation),
            Some(text) => {
                let prompt = Prompt { text, ..pending };
                self.begin(prompt, conversation);
            }
        }
    }

    /// Gives the session another display name.
    pub(super) fn rename(&mut self, name: Option<String>, conversation: &mut Conversation) {
        if conversation.rename(name.clone()) {
            self.emit(TurnEvent::SessionName(name), conversation);
        }
    }

    /// Forgets the question that the current phase waits for.
    pub(super) fn forget_question(&mut self, conversation: &mut Conversation) {
        let job = match &self.phase {
            Phase::Submitting(pending) | Phase::Commanding(pending) => pending.job,
            Phase::Asking(job) => *job,
            Phase::Rewriting(rewriting) => rewriting.0,
            _ => return,
        };
        conversation.push(Action::Forget(job));
    }
}

/// The command that a text would run, and what follows its name. A slash that belongs to a path,
/// or stands alone, is only a slash.
fn command_of(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('/')?;
    let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!name.is_empty() && !name.contains('/')).then(|| (name, args.trim()))
}
