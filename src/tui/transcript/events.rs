//! From events of a turn to entries.

use super::details::{Detail, Tail};
use super::entry::{Entry, Kind, State};
use super::group::{self, Call, Group};
use super::{Transcript, clean};
use crate::agent::{BatchCall, TurnEvent};
use crate::chat::Outcome;
use crate::text::{clip_bytes, one_line, sanitize};
use crate::tools::Label;
use crate::tui::figures::{self, Tokens};
use crate::tui::markdown::Streamed;

/// Reasoning is kept in parts of about so many bytes, so that its end alone is laid out anew.
const THINKING_PART: usize = 2048;
/// Bytes of a message that was not sent, in the notice of that.
const UNSENT: usize = 4096;

impl Transcript {
    /// Takes account of an event.
    pub fn apply(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::TurnStart => {
                self.settle_all(group::State::Unreported);
                self.tokens = Tokens::default();
            }
            TurnEvent::Text(deltas) => self.say(deltas.text()),
            TurnEvent::Reasoning(deltas) => self.think(deltas.text()),
            TurnEvent::ToolBatch(calls) => self.announce(calls),
            TurnEvent::ToolStart(id) => {
                if let Some(call) = self.call(*id) {
                    call.state = group::State::Running;
                }
            }
            TurnEvent::ToolOutput { id, chunk, .. } => {
                if let Some(call) = self.call(*id) {
                    call.output.push(&sanitize(chunk));
                }
            }
            TurnEvent::ToolEnd {
                id,
                outcome,
                summary,
                content,
                display,
            } => {
                let format = display.as_ref().map(|shown| shown.format);
                let text = display.as_ref().map_or(content, |shown| &shown.text);
                let detail = Detail {
                    text: clean(text).into(),
                    format: format.unwrap_or_default(),
                };
                self.end_call(*id, *outcome, summary, detail);
            }
            TurnEvent::Compacted {
                summary,
                context_tokens,
            } => {
                let tokens = figures::count(*context_tokens);
                self.push(Kind::Compacted {
                    summary: clean(summary.trim()).into(),
                    note: format!("earlier messages were summarised, {tokens} tokens are left")
                        .into(),
                });
            }
            TurnEvent::Usage(usage) => self.tokens.add(usage),
            TurnEvent::Warning(message) => self.push_notice(&format!("warning: {message}")),
            TurnEvent::Steered(text) => self.push_user(text, 0),
            TurnEvent::Slept(seconds) => {
                self.push_notice(&format!(
                    "the machine slept for {seconds} s; the turn goes on"
                ));
            }
            TurnEvent::SleepStopped(seconds) => {
                self.push_notice(&format!("the machine slept for {seconds} s; the turn ends"));
            }
            TurnEvent::Discarded(prompts) => {
                for prompt in prompts {
                    self.push_unsent(prompt);
                }
            }
            TurnEvent::Instructions(path) => {
                self.push_notice(&format!("read {}", path.display()));
            }
            TurnEvent::TurnEnd { aborted } => self.settle_all(match aborted {
                true => group::State::Ended(Outcome::Cancelled),
                false => group::State::Unreported,
            }),
            // Other rows show these; what failed comes with the turn's result.
            TurnEvent::Compacting
            | TurnEvent::Retry { .. }
            | TurnEvent::SessionName(_)
            | TurnEvent::Recovered { .. }
            | TurnEvent::ErrorDetails(_)
            | TurnEvent::Error(_) => {}
        }
    }

    /// A message that was not sent. The person's words are a draft, or in history.
    pub fn push_unsent(&mut self, text: &str) {
        let kept = clip_bytes(text, UNSENT);
        let cut = if kept.len() < text.len() { "…" } else { "" };
        self.push_notice(&format!("not sent: `{kept}{cut}`"));
    }

    /// Adds to the open reply, and moves what has settled of it in front.
    pub(super) fn say(&mut self, text: &str) {
        self.close_thinking();
        self.close_group();
        // Tabs stay, for the code that they may stand in.
        let text = sanitize(text);
        if self.reply.is_none() && text.trim().is_empty() {
            return;
        }
        if self.reply.is_none() {
            self.replies = self.replies.wrapping_add(1);
            self.reply = Some(self.entries.len());
            self.push_open(Kind::Reply(Box::default()));
        }
        if self.holds_replies {
            self.held_text.push_str(&text);
        }
        if let Some((_, reply)) = self.reply() {
            reply.push(&text);
        }
        self.settle_reply(false);
    }

    fn settle_reply(&mut self, finished: bool) {
        let Some((index, reply)) = self.reply() else {
            return;
        };
        let chunks = reply.settle(finished);
        let known = reply.known().clone();
        let state = match self.holds_replies {
            true => State::Held(self.replies),
            false => State::Settled,
        };
        self.reply = Some(index + chunks.len());
        let settled = chunks.into_iter().map(|chunk| Entry {
            state,
            kind: Kind::Chunk(Box::new(chunk), known.clone()),
        });
        // Behind the reply there are the notices that came while it was written, at most.
        self.entries.splice(index..index, settled);
    }

    /// The open reply, and which entry it is.
    fn reply(&mut self) -> Option<(usize, &mut Streamed)> {
        let index = self.reply?;
        match &mut self.entries.get_mut(index)?.kind {
            Kind::Reply(reply) => Some((index, reply)),
            _ => None,
        }
    }

    fn close_reply(&mut self) {
        self.settle_reply(true);
        if let Some(index) = self.reply.take() {
            self.entries.remove(index);
            if self.holds_replies {
                self.completed.push(std::mem::take(&mut self.held_text));
            }
        }
    }

    fn think(&mut self, text: &str) {
        self.close_reply();
        self.close_group();
        // Tabs stay, for the code that they may stand in.
        let text = sanitize(text);
        let index = match self.thinking {
            Some(index) => index,
            None if text.trim().is_empty() => return,
            None => {
                self.push_thinking(String::new(), true);
                self.entries.len() - 1
            }
        };
        self.thinking = Some(index);
        let Kind::Thinking { text: all, .. } = &mut self.entries[index].kind else {
            return;
        };
        all.push_str(&text);
        let cut = match all.len() > THINKING_PART {
            true => all.rfind('\n').filter(|at| *at > 0),
            false => None,
        };
        if let Some(at) = cut {
            let rest = all.split_off(at + 1);
            all.truncate(at);
            all.shrink_to_fit();
            self.entries[index].state = State::Settled;
            self.push_thinking(rest, false);
            self.thinking = Some(self.entries.len() - 1);
        }
    }

    fn push_thinking(&mut self, text: String, first: bool) {
        self.push_open(Kind::Thinking { text, first });
    }

    fn close_thinking(&mut self) {
        if let Some(index) = self.thinking.take() {
            self.entries[index].state = State::Settled;
        }
    }

    /// Opens a group, or goes on with the one above when nothing came between.
    fn announce(&mut self, calls: &[BatchCall]) {
        let calls = calls.iter();
        let calls = calls.map(|call| (call.id, call.name.clone(), call.label.clone()));
        self.add_calls(calls.collect());
    }

    /// The same, for calls of any origin: id, tool, label.
    pub(super) fn add_calls(&mut self, calls: Vec<(u64, String, Label)>) {
        self.close_reply();
        self.close_thinking();
        let calls: Vec<Call> = calls
            .into_iter()
            .map(|(id, name, label)| Call {
                key: self.next_call(),
                id,
                name: one_line(&name, None),
                label: group::clean_label(label),
                state: group::State::Pending,
                summary: String::new(),
                output: Tail::default(),
            })
            .collect();
        if self.group_is_over() {
            self.settle_calls(group::State::Unreported);
            self.close_group();
        }
        if self.group.is_none() {
            self.group = Some(self.entries.len());
            self.push_open(Kind::Tools(Box::default()));
        }
        if let Some(group) = self.group() {
            group.calls.extend(calls);
        }
    }

    pub(super) fn end_call(&mut self, id: u64, outcome: Outcome, summary: &str, detail: Detail) {
        let Some(call) = self.call(id) else { return };
        call.state = group::State::Ended(outcome);
        call.summary = one_line(summary, None);
        call.output.clear();
        let key = call.key;
        self.details.keep(key, detail);
        if self.group_is_over() {
            self.close_group();
        }
    }

    /// Whether the group has something below it, such as a notice: nothing goes on with it then.
    fn group_is_over(&self) -> bool {
        self.group
            .is_some_and(|index| index + 1 < self.entries.len())
    }

    pub(super) fn group(&mut self) -> Option<&mut Group> {
        match &mut self.entries.get_mut(self.group?)?.kind {
            Kind::Tools(group) => Some(group),
            _ => None,
        }
    }

    /// A call that has not ended.
    fn call(&mut self, id: u64) -> Option<&mut Call> {
        let calls = &mut self.group()?.calls;
        let mut calls = calls.iter_mut().rev();
        calls.find(|call| call.id == id && !call.is_settled())
    }

    /// Something else came: the group settles when its calls have ended.
    pub(super) fn close_group(&mut self) {
        if self.group().is_some_and(|group| group.is_settled()) {
            if let Some(index) = self.group.take() {
                self.entries[index].state = State::Settled;
            }
        }
    }

    /// Ends what has not ended of the open group.
    pub(super) fn settle_calls(&mut self, state: group::State) {
        if let Some(group) = self.group() {
            group.settle(state);
        }
    }

    /// Ends all that is open.
    pub(super) fn settle_all(&mut self, state: group::State) {
        self.settle_calls(state);
        self.close_all();
    }

    /// Something came that nothing before it goes on after.
    pub(super) fn close_all(&mut self) {
        self.close_reply();
        self.close_thinking();
        self.close_group();
    }
}
