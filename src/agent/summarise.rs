//! How a turn compacts its conversation: asks for a summary, checks it, and puts it in place of
//! the older part. Whatever goes wrong, the history stays as it was.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::action::Action;
use super::compact;
use super::conversation::Conversation;
use super::event::TurnEvent;
use super::instructions;
use super::stream::Reply;
use super::turn::{Phase, Turn};
use crate::chat::Message;
use crate::extension::{EventName, Hook, HookKind};
use crate::provider::{Finish, Request};
use crate::session::{Entry, Envelope, Record, summary_message};

/// A compaction that is under way.
#[derive(Debug)]
pub struct Compaction {
    /// Where the kept part begins.
    cut: usize,
    focus: Option<String>,
    /// Who wants it.
    reason: Reason,
}

/// A summary that has arrived and is not in place yet.
#[derive(Debug)]
pub struct Draft {
    /// Its text; extensions may rewrite it.
    pub(super) summary: String,
    cut: usize,
    reason: Reason,
    response: Envelope,
}

/// Why the conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody asked, and nothing else is to be done.
    Asked,
    /// The next request would be too long.
    TooLong,
    /// Somebody asked during a turn, which goes on whatever comes of it.
    Queued,
}

impl Turn {
    /// Whether the next request would be too long for the model, and a summary would help.
    pub(super) fn should_compact(&self, conversation: &Conversation) -> bool {
        let window = conversation.selection.model.context_window;
        let tokens = conversation.context_tokens(self.system());
        compact::threshold(window).is_some_and(|threshold| tokens > threshold)
            && compact::cut(&conversation.history, window).is_some()
    }

    /// Begins a compaction. When nothing is old enough, that is a warning.
    pub(super) fn compact(
        &mut self,
        reason: Reason,
        focus: Option<String>,
        conversation: &mut Conversation,
    ) {
        let window = conversation.selection.model.context_window;
        let Some(cut) = compact::cut(&conversation.history, window) else {
            let message = "nothing is old enough to be compacted";
            self.emit(TurnEvent::Warning(message.into()), conversation);
            return match reason {
                Reason::Queued => self.send_request(conversation),
                Reason::Asked | Reason::TooLong => self.end(false, conversation),
            };
        };
        self.emit(TurnEvent::Compacting, conversation);
        conversation.tell(EventName::CompactStart, || json!({}));
        self.compaction = Some(Compaction { cut, focus, reason });
        self.campaign.restart();
        self.ask_for_summary(conversation);
    }

    /// Sends the request for a summary. Also how it is retried.
    pub(super) fn ask_for_summary(&mut self, conversation: &mut Conversation) {
        let Some(Compaction { cut, focus, .. }) = &self.compaction else {
            return;
        };
        let window = conversation.selection.model.context_window;
        let older = &conversation.history[..*cut];
        let text = compact::request(older, focus.as_deref(), window);
        let selection = &conversation.selection;
        let request = Request {
            model: selection.model.clone(),
            key: selection.key.clone(),
            system: compact::SYSTEM.into(),
            messages: vec![Arc::new(Message::user(text))],
            effort: None,
            tools: Arc::default(),
            session_id: conversation.spec.id.clone(),
        };
        self.open_stream(request, conversation);
    }

    /// The summary is there: checks it and puts it in place.
    pub(super) fn on_summary(
        &mut self,
        reply: Reply,
        finish: &Finish,
        malformed: u32,
        conversation: &mut Conversation,
    ) {
        let Some(Compaction { cut, reason, .. }) = self.compaction.take() else {
            return;
        };
        let (summary, response) = self.take_summary(reply, conversation);
        let summary = summary.trim().to_owned();
        let problem = match finish {
            Finish::Normal if malformed == 0 && !summary.is_empty() => None,
            Finish::Normal if malformed == 0 => Some("the summary is empty"),
            Finish::Normal => Some("the summary arrived damaged"),
            Finish::Length => Some("the summary was cut at the model's output limit"),
            _ => Some("the model gave no summary"),
        };
        if let Some(problem) = problem {
            conversation.commit_response(response);
            return self.compaction_failed(problem, reason, conversation);
        }
        let draft = Draft {
            summary,
            cut,
            reason,
            response,
        };
        if !conversation.has_hook(HookKind::CompactSummary) {
            return self.install(draft, conversation);
        }
        let job = conversation.job();
        let summary = draft.summary.clone();
        conversation.push(Action::Ask(job, Hook::CompactSummary { summary }));
        self.phase = Phase::Rewriting(Box::new((job, Some(draft))));
    }

    /// The turn stops before the summary was installed; what it cost is still billed.
    pub(super) fn drop_draft(&mut self, conversation: &mut Conversation) {
        if let Phase::Rewriting(rewriting) = &mut self.phase {
            if let Some(draft) = rewriting.1.take() {
                conversation.commit_response(draft.response);
            }
        }
    }

    /// Puts a summary in the place of the older part.
    pub(super) fn install(&mut self, draft: Draft, conversation: &mut Conversation) {
        let Draft {
            summary,
            cut,
            reason,
            response,
        } = draft;
        let before: u64 = conversation
            .history
            .iter()
            .map(|entry| compact::estimate(&entry.message))
            .sum();
        let summary_entry = Entry {
            id: None,
            message: Arc::new(summary_message(&summary)),
        };
        // Standing instructions are not for summarising.
        let instructions = nested_instructions(&conversation.history[..cut]);
        let kept = conversation.history[cut..].iter().cloned();
        let history: Vec<Entry> = std::iter::once(summary_entry).chain(kept).collect();
        let with_instructions = history
            .iter()
            .map(|entry| &entry.message)
            .chain(&instructions);
        let after: u64 = with_instructions
            .map(|message| compact::estimate(message))
            .sum();
        if after >= before {
            conversation.commit_response(response);
            return self.compaction_failed("the summary is no shorter", reason, conversation);
        }
        let missing = compact::missing_sections(&summary);
        if !missing.is_empty() {
            let message = format!("the summary has no section on: {}", missing.join(", "));
            self.emit(TurnEvent::Warning(message), conversation);
        }
        let first_kept = history.iter().find_map(|entry| entry.id.clone());
        let record = Record::Compact {
            id: Uuid::now_v7().to_string(),
            parent: conversation.head().map(String::from),
            timestamp: conversation.now.wall_ms,
            summary: summary.clone(),
            first_kept,
            response: Some(response),
        };
        conversation.replace(history, record);
        for message in instructions {
            conversation.commit((*message).clone(), None);
        }
        let context_tokens = conversation.context_tokens(self.system());
        conversation.tell(EventName::CompactEnd, || json!({"summary": summary}));
        let event = TurnEvent::Compacted {
            summary,
            context_tokens,
        };
        self.emit(event, conversation);
        match reason {
            Reason::Asked => self.end(false, conversation),
            // Still too long by the estimate: the server knows better, and it is asked once.
            Reason::TooLong | Reason::Queued => self.send_request(conversation),
        }
    }

    /// Ends the turn after a failed compaction, unless it was only asked for on the way; the history
    /// is as it was.
    pub(super) fn compaction_failed(
        &mut self,
        problem: &str,
        reason: Reason,
        conversation: &mut Conversation,
    ) {
        self.compaction = None;
        let message = format!("the conversation was not compacted and is unchanged: {problem}");
        if reason == Reason::Queued {
            self.emit(TurnEvent::Warning(message), conversation);
            return self.send_request(conversation);
        }
        self.emit(TurnEvent::Error(message), conversation);
        self.end(false, conversation);
    }
}

/// Tells what the window is full of when no compaction can help.
pub(super) fn overhead(system: &str, conversation: &Conversation) -> String {
    let model = &conversation.selection.model;
    let tools = conversation.advertised();
    let fixed = compact::estimate_text(system) + compact::estimate_tools(&tools);
    let history = conversation.history.iter();
    let estimated: u64 = history.map(|entry| compact::estimate(&entry.message)).sum();
    let all = conversation.context_tokens(system).max(fixed + estimated);
    format!(
        "the conversation does not fit into the window of {} tokens, and history is intact: about {all} \
         tokens, of which instructions and tools take {fixed} - choose a model with a larger window, or \
         shorten what was sent last",
        model.context_window,
    )
}

fn nested_instructions(older: &[Entry]) -> Vec<Arc<Message>> {
    older
        .iter()
        .map(|entry| &entry.message)
        .filter(|message| instructions::directory_of(message).is_some())
        .cloned()
        .collect()
}
