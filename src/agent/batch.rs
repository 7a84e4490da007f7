//! The tool calls of one assistant message, run in bounded waves.
//!
//! A wave takes calls in provider order and ends early before a call whose file is already in it,
//! so calls that name one file run in the order the model gave. Results are committed in call
//! order as soon as all before them are in.

use std::path::PathBuf;

use serde_json::Value;

use super::action::{Action, Job};
use super::conversation::{Conversation, Effects};
use super::event::{BatchCall, TurnEvent};
use super::instructions;
use crate::chat::{Message, Outcome, ToolCall, ToolResult};
use crate::tools::{self, Identity};

/// A batch on its way.
#[derive(Debug)]
pub struct Batch {
    calls: Vec<Call>,
    /// Calls before this one have been committed.
    committed: usize,
    /// Identities are being looked up for the next wave.
    identifying: Option<Job>,
    cancelled: bool,
}

#[derive(Debug)]
struct Call {
    id: u64,
    call: ToolCall,
    arguments: Option<Value>,
    /// The file it names, for calls that run in order.
    path: Option<PathBuf>,
    identity: Option<Identity>,
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting,
    Running,
    Done {
        content: String,
        outcome: Outcome,
        summary: String,
    },
}

impl Batch {
    /// Numbers the calls and says how they are announced.
    pub fn new(calls: Vec<ToolCall>, conversation: &mut Conversation) -> (Self, Vec<BatchCall>) {
        let workspace = conversation.spec.workspace.clone();
        let mut announced = Vec::new();
        let calls = calls
            .into_iter()
            .map(|call| {
                let arguments = serde_json::from_str::<Value>(&call.arguments).ok();
                let label = tools::label(&call.name, arguments.as_ref());
                let id = conversation.call_id();
                announced.push(BatchCall {
                    id,
                    name: call.name.clone(),
                    arguments: arguments
                        .clone()
                        .unwrap_or_else(|| call.arguments.clone().into()),
                    category: label.category,
                    target: label.target,
                    running: label.running,
                    completed: label.completed,
                });
                let path = arguments
                    .as_ref()
                    .and_then(|arguments| tools::target_path(&call.name, arguments, &workspace));
                Call {
                    id,
                    call,
                    arguments,
                    path,
                    identity: None,
                    state: State::Waiting,
                }
            })
            .collect();
        (
            Self {
                calls,
                committed: 0,
                identifying: None,
                cancelled: false,
            },
            announced,
        )
    }

    /// Whether that call runs now.
    pub fn is_running(&self, id: u64) -> bool {
        self.calls
            .iter()
            .any(|call| call.id == id && matches!(call.state, State::Running))
    }

    /// Whether every result is committed.
    pub fn is_done(&self) -> bool {
        self.committed == self.calls.len()
    }

    /// Takes what the paths of the waiting calls are.
    pub fn identified(&mut self, job: Job, identities: Vec<Identity>) {
        if self.identifying == Some(job) {
            self.identifying = None;
            let waiting = self
                .calls
                .iter_mut()
                .filter(|call| matches!(call.state, State::Waiting) && call.path.is_some());
            for (call, identity) in waiting.zip(identities) {
                call.identity = Some(identity);
            }
        }
    }

    /// Takes the result of a running call. A late one of a call that was written off is dropped.
    pub fn settle(
        &mut self,
        id: u64,
        result: ToolResult,
        conversation: &Conversation,
    ) -> Option<TurnEvent> {
        let call = self
            .calls
            .iter_mut()
            .find(|call| call.id == id && matches!(call.state, State::Running))?;
        let more = conversation.spec.tools.permits("read_result").is_ok();
        let ToolResult {
            content,
            outcome,
            summary,
            display,
            keep,
            lost,
        } = result;
        let content = conversation
            .spec
            .runtime
            .results
            .fit(content, keep, lost, more);
        Some(call.end(content, outcome, summary, display))
    }

    /// Stops the batch: running calls are asked to end, the others never start.
    pub fn cancel(&mut self, fx: &mut Effects<'_>) {
        self.cancelled = true;
        self.identifying = None;
        for call in &mut self.calls {
            match call.state {
                State::Running => fx.push(Action::CancelTool(call.id)),
                State::Waiting => {
                    let content = "the turn was interrupted before this call ran";
                    call.end(content.into(), Outcome::Cancelled, "cancelled".into(), None);
                }
                State::Done { .. } => {}
            }
        }
    }

    /// Gives up on calls that were asked to stop and did not.
    pub fn write_off(&mut self) -> Vec<TurnEvent> {
        let running = self
            .calls
            .iter_mut()
            .filter(|call| matches!(call.state, State::Running));
        running
            .map(|call| {
                let content = "the turn was interrupted; the operation may still finish";
                call.end(content.into(), Outcome::Cancelled, "cancelled".into(), None)
            })
            .collect()
    }

    /// Commits what can be committed and, when no call runs, starts the next wave.
    pub fn advance(
        &mut self,
        conversation: &mut Conversation,
        fx: &mut Effects<'_>,
        events: &mut Vec<TurnEvent>,
    ) {
        loop {
            self.commit_settled(conversation, fx);
            let busy = self
                .calls
                .iter()
                .any(|call| matches!(call.state, State::Running));
            if busy || self.is_done() || self.identifying.is_some() {
                return;
            }
            if self.must_identify() {
                let job = conversation.job();
                self.identifying = Some(job);
                fx.push(Action::Identify(job, self.waiting_paths()));
                return;
            }
            self.start_wave(conversation, fx, events);
        }
    }

    /// Directories of the touched files whose instructions have not been looked at.
    pub fn new_directories(&self, conversation: &Conversation) -> Vec<PathBuf> {
        let spec = &conversation.spec;
        let mut found = Vec::new();
        if self.cancelled {
            return found;
        }
        for call in &self.calls {
            let Some(arguments) = &call.arguments else {
                continue;
            };
            for directory in instructions::directories(&call.call.name, arguments, &spec.workspace)
            {
                if !conversation.instructed.contains(&directory) && !found.contains(&directory) {
                    found.push(directory);
                }
            }
        }
        found
    }

    fn commit_settled(&mut self, conversation: &mut Conversation, fx: &mut Effects<'_>) {
        while let Some(Call {
            call,
            state:
                State::Done {
                    content,
                    outcome,
                    summary,
                },
            ..
        }) = self.calls.get_mut(self.committed)
        {
            let message = Message::Tool {
                call_id: call.id.clone(),
                content: std::mem::take(content),
                outcome: *outcome,
                summary: std::mem::take(summary),
            };
            conversation.commit(message, None, fx);
            self.committed += 1;
        }
    }

    /// Only two calls that both name a file can be in each other's way.
    fn must_identify(&self) -> bool {
        let mut paths = self
            .waiting()
            .filter(|call| call.path.is_some())
            .map(|call| &call.identity);
        let (first, second) = (paths.next(), paths.next());
        matches!((first, second), (Some(None), Some(_)))
    }

    fn waiting_paths(&self) -> Vec<PathBuf> {
        self.waiting()
            .filter_map(|call| call.path.clone())
            .collect()
    }

    fn waiting(&self) -> impl Iterator<Item = &Call> {
        self.calls
            .iter()
            .filter(|call| matches!(call.state, State::Waiting))
    }

    fn start_wave(
        &mut self,
        conversation: &Conversation,
        fx: &mut Effects<'_>,
        events: &mut Vec<TurnEvent>,
    ) {
        let limit = conversation.spec.settings.tool_concurrency as usize;
        let mut wave: Vec<Option<Identity>> = Vec::new();
        for call in &mut self.calls {
            if !matches!(call.state, State::Waiting) {
                continue;
            }
            let taken = call.identity.is_some() && wave.contains(&call.identity);
            if taken || wave.len() >= limit {
                // What ran may have changed what the paths name.
                break;
            }
            wave.push(call.identity.take());
            events.push(TurnEvent::ToolStart(call.id));
            match conversation.spec.tools.permits(&call.call.name) {
                Ok(()) => {
                    call.state = State::Running;
                    fx.push(Action::RunTool(call.id, call.call.clone()));
                }
                Err(reason) => {
                    events.push(call.end(reason, Outcome::Blocked, "blocked".into(), None));
                }
            }
        }
        for call in self
            .calls
            .iter_mut()
            .filter(|call| matches!(call.state, State::Waiting))
        {
            call.identity = None;
        }
    }
}

impl Call {
    fn end(
        &mut self,
        content: String,
        outcome: Outcome,
        summary: String,
        display: Option<String>,
    ) -> TurnEvent {
        self.state = State::Done {
            content: content.clone(),
            outcome,
            summary: summary.clone(),
        };
        TurnEvent::ToolEnd {
            id: self.id,
            outcome,
            summary,
            content,
            display,
        }
    }
}
