//! The tool calls of one assistant message, run in bounded waves.
//!
//! A wave takes calls in provider order and ends early before a call whose file is already in it,
//! so calls that name one file run in the order the model gave. Results are committed in call
//! order as soon as all before them are in.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::action::{Action, Job};
use super::conversation::Conversation;
use super::event::{BatchCall, TurnEvent};
use super::{extensions, instructions};
use crate::chat::{Display, Message, Outcome, ToolCall, ToolResult};
use crate::extension::{EventName, Hook, HookKind, Verdict};
use crate::text::one_line;
use crate::tools::{self, Identity};

/// Most bytes of a result that hooks are shown, and that is left of it then.
const HOOKED: usize = 1 << 20;

/// Columns of the reason on the row of a call that did not complete.
const REASON_COLUMNS: usize = 160;

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
    /// Extensions are asked whether it may run.
    Gating(Job),
    Running,
    /// Extensions look at its result.
    Filtering(Job, Box<ToolResult>),
    Done {
        content: String,
        outcome: Outcome,
        summary: String,
    },
}

impl Batch {
    /// Numbers the calls and says how they are announced.
    pub fn new(calls: Vec<ToolCall>, conversation: &mut Conversation) -> (Self, Vec<BatchCall>) {
        let spec = conversation.spec.clone();
        let mut announced = Vec::new();
        let calls = calls
            .into_iter()
            .map(|call| {
                let arguments = serde_json::from_str::<Value>(&call.arguments).ok();
                let owner = spec.tools.extension_tool(&call.name, &spec.extensions);
                let label = match owner {
                    Some(tool) => extensions::label(&tool.item, arguments.as_ref()),
                    None => tools::label(&call.name, arguments.as_ref()),
                };
                let id = conversation.call_id();
                announced.push(BatchCall {
                    id,
                    name: call.name.clone(),
                    arguments: arguments
                        .clone()
                        .unwrap_or_else(|| call.arguments.clone().into()),
                    label,
                });
                let path = arguments.as_ref().and_then(|arguments| {
                    tools::target_path(&call.name, arguments, &spec.workspace)
                });
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
        mut result: ToolResult,
        conversation: &mut Conversation,
    ) -> Option<TurnEvent> {
        let call = self
            .calls
            .iter_mut()
            .find(|call| call.id == id && matches!(call.state, State::Running))?;
        if self.cancelled || !conversation.has_hook(HookKind::ToolResult) {
            return Some(call.finish(result, conversation));
        }
        // What no hook has seen is kept nowhere.
        extensions::cut(&mut result, HOOKED);
        let job = conversation.job();
        let hook = Hook::ToolResult {
            name: call.call.name.clone(),
            content: result.content.clone(),
            is_error: result.outcome != Outcome::Completed,
        };
        conversation.push(Action::Ask(job, hook));
        call.state = State::Filtering(job, Box::new(result));
        None
    }

    /// Takes what extensions say to a call, or to its result.
    pub fn hooked(
        &mut self,
        job: Job,
        verdict: Verdict,
        conversation: &mut Conversation,
        events: &mut Vec<TurnEvent>,
    ) {
        let is_it = |call: &&mut Call| match &call.state {
            State::Gating(asked) | State::Filtering(asked, _) => *asked == job,
            _ => false,
        };
        let Some(call) = self.calls.iter_mut().find(is_it) else {
            return;
        };
        match (verdict, &mut call.state) {
            (Verdict::ToolCall(Some(reason)), State::Gating(_)) => {
                events.push(call.block(reason, conversation));
            }
            (Verdict::ToolCall(None), State::Gating(_)) => call.run(conversation),
            (Verdict::ToolResult(rewrite), State::Filtering(_, result)) => {
                let mut result = std::mem::replace(&mut **result, ToolResult::failed(""));
                if let Some(content) = rewrite {
                    result.content = content;
                    // It may hold what the rewrite leaves out.
                    result.display = None;
                    result.lost = 0;
                }
                events.push(call.finish(result, conversation));
            }
            _ => {}
        }
    }

    /// Stops the batch: running calls are asked to end, the others never start.
    pub fn cancel(&mut self, conversation: &mut Conversation, events: &mut Vec<TurnEvent>) {
        self.cancelled = true;
        self.identifying = None;
        for call in &mut self.calls {
            match call.state {
                State::Running => conversation.push(Action::CancelTool(call.id)),
                State::Waiting => {
                    let content = "the turn was interrupted before this call ran";
                    call.end(content.into(), Outcome::Cancelled, "cancelled".into(), None);
                }
                State::Gating(job) => {
                    conversation.push(Action::Forget(job));
                    let result = cancelled("the turn was interrupted before this call ran");
                    events.push(call.finish(result, conversation));
                }
                State::Filtering(job, _) => {
                    conversation.push(Action::Forget(job));
                    let result =
                        cancelled("the turn was interrupted before the result was checked");
                    events.push(call.finish(result, conversation));
                }
                State::Done { .. } => {}
            }
        }
    }

    /// Gives up on calls that were asked to stop and did not.
    pub fn write_off(&mut self, conversation: &mut Conversation) -> Vec<TurnEvent> {
        let running = self
            .calls
            .iter_mut()
            .filter(|call| matches!(call.state, State::Running));
        running
            .map(|call| {
                let result = cancelled("the turn was interrupted; the operation may still finish");
                call.finish(result, conversation)
            })
            .collect()
    }

    /// Commits what can be committed and, when no call runs, starts the next wave.
    pub fn advance(&mut self, conversation: &mut Conversation, events: &mut Vec<TurnEvent>) {
        loop {
            self.commit_settled(conversation);
            let busy = self
                .calls
                .iter()
                .any(|call| !matches!(call.state, State::Waiting | State::Done { .. }));
            if busy || self.is_done() || self.identifying.is_some() {
                return;
            }
            if self.must_identify() {
                let job = conversation.job();
                self.identifying = Some(job);
                conversation.push(Action::Identify(job, self.waiting_paths()));
                return;
            }
            self.start_wave(conversation, events);
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

    fn commit_settled(&mut self, conversation: &mut Conversation) {
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
            conversation.commit(message, None);
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

    fn start_wave(&mut self, conversation: &mut Conversation, events: &mut Vec<TurnEvent>) {
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
            conversation.tell(EventName::ToolStart, || call.describe());
            if let Err(reason) = conversation.permits(&call.call.name) {
                events.push(call.block(reason, conversation));
            } else if let Err(problem) = call.check(conversation) {
                events.push(call.finish(ToolResult::failed(problem), conversation));
            } else if conversation.has_hook(HookKind::ToolCall) {
                let job = conversation.job();
                let (name, arguments) = (call.call.name.clone(), call.arguments());
                conversation.push(Action::Ask(job, Hook::ToolCall { name, arguments }));
                call.state = State::Gating(job);
            } else {
                call.run(conversation);
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
    /// The parsed arguments, or the raw text when they do not parse.
    fn arguments(&self) -> Value {
        self.arguments
            .clone()
            .unwrap_or_else(|| self.call.arguments.clone().into())
    }

    fn describe(&self) -> Value {
        json!({"id": self.id, "name": self.call.name, "arguments": self.arguments()})
    }

    /// What is wrong with the arguments of an extension's tool. Built-in ones check their own.
    fn check(&self, conversation: &Conversation) -> Result<(), String> {
        let spec = &conversation.spec;
        match spec.tools.extension_tool(&self.call.name, &spec.extensions) {
            None => Ok(()),
            Some(tool) => match &self.arguments {
                Some(arguments) => tool.item.check(arguments),
                None => Err("the arguments are not valid JSON; send the call again".into()),
            },
        }
    }

    fn run(&mut self, conversation: &mut Conversation) {
        self.state = State::Running;
        let spec = &conversation.spec;
        conversation.push(
            match spec.tools.extension_tool(&self.call.name, &spec.extensions) {
                None => Action::RunTool(self.id, self.call.clone()),
                Some(tool) => Action::CallExtension {
                    id: self.id,
                    owner: tool.owner,
                    name: self.call.name.clone(),
                    arguments: self.arguments(),
                },
            },
        );
    }

    fn block(&mut self, reason: String, conversation: &mut Conversation) -> TurnEvent {
        let result = ToolResult {
            outcome: Outcome::Blocked,
            ..ToolResult::failed(reason)
        };
        self.finish(result, conversation)
    }

    /// The call is over: its text is fitted to what a model is shown, and everybody is told.
    fn finish(&mut self, result: ToolResult, conversation: &mut Conversation) -> TurnEvent {
        let ToolResult {
            content,
            outcome,
            summary,
            display,
            keep,
            lost,
        } = result;
        let more = conversation.permits("read_result").is_ok();
        let results = &conversation.spec.runtime.results;
        let content = results.fit(content, keep, lost, more);
        let summary = match summary.is_empty() && outcome != Outcome::Completed {
            true => reason(&content),
            false => summary,
        };
        let extra = || {
            json!({
                "id": self.id,
                "name": self.call.name,
                "outcome": outcome.event_name(),
                "content": content,
            })
        };
        conversation.tell(EventName::ToolEnd, extra);
        self.end(content, outcome, summary, display)
    }

    fn end(
        &mut self,
        content: String,
        outcome: Outcome,
        summary: String,
        display: Option<Display>,
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

/// Why a call did not complete: the first line that says it.
fn reason(content: &str) -> String {
    let mut lines = content
        .lines()
        .map(|line| one_line(line, Some(REASON_COLUMNS)));
    let reason = lines.find(|line| !line.is_empty());
    reason.unwrap_or_else(|| "error".to_owned())
}

fn cancelled(content: &str) -> ToolResult {
    ToolResult {
        outcome: Outcome::Cancelled,
        ..ToolResult::failed(content).summary("cancelled")
    }
}
