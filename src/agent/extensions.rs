//! The extensions, joined to the sessions: who waits for which answer, and what an answer of an
//! extension means to a session.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use serde_json::{Value, json};

use super::action::{Action, Job, SessionEvent};
use super::event::{Answer, Output, RequestId, SessionKey};
use crate::chat::{Display, Keep, Outcome, ToolResult};
use crate::extension::answer::ToolAnswer;
use crate::extension::manifest::Tool;
use crate::extension::request::{Request, Session};
use crate::extension::{
    AskId, EventName, ExtensionId, Failure, FromChild, Hook, Host, HostEvent, Serves, Ticket,
    Verdict,
};
use crate::text::{clip_start, floor_char};
use crate::tools::Label;

/// How long a tool of an extension may take.
const TOOL: Duration = Duration::from_secs(300);
/// How long a command or a shortcut may take.
const COMMAND: Duration = Duration::from_secs(60);
/// How long completions may take.
const COMPLETE: Duration = Duration::from_secs(3);

/// The host, and who waits for what it was asked.
#[derive(Debug)]
pub struct Extensions {
    host: Host,
    waiting: HashMap<Ticket, Waiter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiter {
    Job(SessionKey, Job),
    Tool(SessionKey, u64),
    Frontend(RequestId),
}

/// What an event of the host means.
#[derive(Debug)]
pub enum Happening {
    /// Something happened to a session.
    Session(SessionKey, SessionEvent),
    /// An extension wants something of the session that is theirs.
    Asked(AskId, Session),
    /// The frontend is told.
    Output(Output),
}

impl Happening {
    /// The request of an extension that it is, and whether that needs a session.
    pub fn asked(&self) -> Option<(AskId, bool)> {
        match self {
            Happening::Asked(ask, _) => Some((*ask, true)),
            Happening::Output(Output::Asked(asked)) => {
                Some((asked.ask, matches!(asked.request, Request::Session(_))))
            }
            Happening::Session(..) | Happening::Output(_) => None,
        }
    }
}

impl Extensions {
    /// Nobody waits for anything yet.
    pub fn new(host: Host) -> Self {
        Self {
            host,
            waiting: HashMap::new(),
        }
    }

    /// Where extensions tell their news, for [`Extensions::on_news`].
    pub fn news(&self) -> &Receiver<FromChild> {
        self.host.news()
    }

    /// When [`Extensions::on_deadline`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.host.deadline()
    }

    /// Takes news.
    pub fn on_news(&mut self, news: FromChild, now: Instant) {
        self.host.on_news(news, now);
    }

    /// Does what is due.
    pub fn on_deadline(&mut self, now: Instant) {
        self.host.on_deadline(now);
    }

    /// Begins an action, if it concerns extensions; gives it back if not.
    pub fn perform(&mut self, key: SessionKey, action: Action, now: Instant) -> Option<Action> {
        match action {
            Action::Ask(job, hook) => {
                let ticket = self.host.ask(hook, now);
                self.waiting.insert(ticket, Waiter::Job(key, job));
            }
            Action::Command(job, owner, name, args) => {
                let params = json!({"name": name, "args": args});
                let ticket = self.host.call(owner, "command", &params, COMMAND, now);
                self.waiting.insert(ticket, Waiter::Job(key, job));
            }
            Action::CallExtension {
                id,
                owner,
                name,
                arguments,
            } => {
                let params = json!({"name": name, "arguments": arguments});
                let ticket = self.host.call(owner, "tool_call", &params, TOOL, now);
                self.waiting.insert(ticket, Waiter::Tool(key, id));
            }
            Action::Forget(job) => {
                self.abandon(Waiter::Job(key, job), now);
            }
            Action::Tell(event, extra) => self.host.tell(event, &extra, now),
            Action::Reply(ask, result) => self.host.answer(ask, result, now),
            action => return Some(action),
        }
        None
    }

    /// Lets go of a call. `true` when it was an extension's, which is not told: it may go on, and
    /// nobody waits for it.
    pub fn cancel(&mut self, key: SessionKey, call: u64, now: Instant) -> bool {
        self.abandon(Waiter::Tool(key, call), now)
    }

    /// Asks the extensions for a frontend. Answered by [`Answer::Hooked`].
    pub fn ask(&mut self, request: RequestId, hook: Hook, now: Instant) {
        let ticket = self.host.ask(hook, now);
        self.waiting.insert(ticket, Waiter::Frontend(request));
    }

    /// Asks one extension for a frontend. Answered by [`Answer::Called`].
    pub fn call(
        &mut self,
        request: RequestId,
        to: ExtensionId,
        method: &str,
        params: &Value,
        now: Instant,
    ) {
        let limit = match method {
            "command.complete" => COMPLETE,
            _ => COMMAND,
        };
        let ticket = self.host.call(to, method, params, limit, now);
        self.waiting.insert(ticket, Waiter::Frontend(request));
    }

    /// Tells every extension that wants to know.
    pub fn tell(&mut self, event: EventName, extra: &Value, now: Instant) {
        self.host.tell(event, extra, now);
    }

    /// Tells one extension something.
    pub fn notify(&mut self, to: ExtensionId, method: &str, params: &Value, now: Instant) {
        self.host.notify(to, method, params, now);
    }

    /// Answers a request of an extension.
    pub fn answer(&mut self, ask: AskId, result: Result<Value, String>, now: Instant) {
        self.host.answer(ask, result, now);
    }

    /// Other requests of extensions reach somebody from now on.
    pub fn serve(&mut self, serves: Serves) {
        self.host.serve(serves);
    }

    /// Forgets what a session waits for.
    pub fn forget(&mut self, key: SessionKey, now: Instant) {
        let is_its = |waiter: &Waiter| match waiter {
            Waiter::Job(session, _) | Waiter::Tool(session, _) => *session == key,
            Waiter::Frontend(_) => false,
        };
        let waiters: Vec<Waiter> = self.waiting.values().copied().filter(is_its).collect();
        for waiter in waiters {
            self.abandon(waiter, now);
        }
    }

    /// How often hooks failed open beyond what was told.
    pub fn take_failures(&mut self) -> Vec<String> {
        self.host.take_failures()
    }

    /// The oldest of what has happened and was not taken yet; several when it is one answer.
    pub fn next(&mut self) -> Option<Vec<Happening>> {
        let event = self.host.next_event()?;
        Some(match event {
            HostEvent::Notice(text) | HostEvent::Stray(text) => {
                vec![Happening::Output(Output::Notice(text))]
            }
            HostEvent::Diagnostic { extension, line } => {
                vec![Happening::Output(Output::Diagnostic { extension, line })]
            }
            HostEvent::Said { extension, text } => {
                vec![Happening::Output(Output::Said { extension, text })]
            }
            HostEvent::Hooked(ticket, verdict) => self.hooked(ticket, verdict),
            HostEvent::Update(ticket, stream, chunk) => match self.waiting.get(&ticket) {
                Some(Waiter::Tool(key, id)) => {
                    vec![Happening::Session(
                        *key,
                        SessionEvent::ToolOutput(*id, stream, chunk),
                    )]
                }
                _ => Vec::new(),
            },
            HostEvent::Answered(ticket, result) => self.answered(ticket, result),
            HostEvent::Asked(asked) => match asked.request {
                // Another model needs the catalog, which the frontend reads.
                Request::Session(Session::Model(_) | Session::Effort(_)) | Request::Ui(_) => {
                    vec![Happening::Output(Output::Asked(Box::new(asked)))]
                }
                Request::Session(request) => vec![Happening::Asked(asked.ask, request)],
            },
            HostEvent::Withdrawn(ask) => vec![Happening::Output(Output::Withdrawn(ask))],
            HostEvent::Gone(id) => vec![Happening::Output(Output::ExtensionGone(id))],
        })
    }

    /// Refuses every open request of an extension, and takes questions back.
    pub fn refuse_open(&mut self, why: &str, now: Instant) {
        self.host.refuse_open(why, now);
    }

    /// Lets all extensions go: what waits for them fails, what they show must go.
    pub fn let_go(&mut self, now: Instant) {
        self.host.let_go(now);
    }

    /// Puts other extensions in the place of these, and gives these back.
    pub fn replace(&mut self, mut host: Host) -> Host {
        host.follow(&self.host);
        std::mem::replace(&mut self.host, host)
    }

    /// Ends every extension.
    pub fn shut_down(self) {
        self.host.shut_down();
    }

    fn abandon(&mut self, waiter: Waiter, now: Instant) -> bool {
        let found = self.waiting.iter().find(|(_, one)| **one == waiter);
        let Some(ticket) = found.map(|(ticket, _)| *ticket) else {
            return false;
        };
        self.waiting.remove(&ticket);
        self.host.abandon(ticket, now);
        true
    }

    fn hooked(&mut self, ticket: Ticket, verdict: Verdict) -> Vec<Happening> {
        match self.waiting.remove(&ticket) {
            Some(Waiter::Job(key, job)) => {
                vec![Happening::Session(key, SessionEvent::Hooked(job, verdict))]
            }
            Some(Waiter::Frontend(request)) => vec![Happening::Output(Output::Answer {
                request,
                answer: Answer::Hooked(Box::new(verdict)),
            })],
            Some(Waiter::Tool(..)) | None => Vec::new(),
        }
    }

    fn answered(&mut self, ticket: Ticket, result: Result<Value, Failure>) -> Vec<Happening> {
        match self.waiting.remove(&ticket) {
            Some(Waiter::Job(key, job)) => {
                vec![Happening::Session(
                    key,
                    SessionEvent::Commanded(job, result),
                )]
            }
            Some(Waiter::Tool(key, id)) => {
                let (result, name) = tool_result(result);
                let name = name.map(|name| Happening::Session(key, SessionEvent::Named(name)));
                let done = Happening::Session(key, SessionEvent::ToolDone(id, result));
                name.into_iter().chain([done]).collect()
            }
            Some(Waiter::Frontend(request)) => vec![Happening::Output(Output::Answer {
                request,
                answer: Answer::Called(result),
            })],
            None => Vec::new(),
        }
    }
}

/// What an answer to `tool_call` comes to, and the name that it gives the session.
fn tool_result(answer: Result<Value, Failure>) -> (ToolResult, Option<String>) {
    let failure = match answer {
        Ok(answer) => match ToolAnswer::parse(&answer) {
            Ok(answer) => return from_answer(answer),
            Err(problem) => {
                Failure::Error(format!("the extension's answer is unusable: {problem}"))
            }
        },
        Err(failure) => failure,
    };
    let timed_out = matches!(failure, Failure::TimedOut(_));
    let result = ToolResult::failed(failure.to_string());
    let result = match timed_out {
        true => ToolResult {
            outcome: Outcome::TimedOut,
            ..result.summary("timed out")
        },
        false => result,
    };
    (result, None)
}

fn from_answer(answer: ToolAnswer) -> (ToolResult, Option<String>) {
    let result = match answer.is_error {
        true => ToolResult::failed(answer.content),
        false => ToolResult::completed(answer.content, ""),
    };
    let result = match answer.summary {
        None => result,
        Some(summary) => result.summary(summary),
    };
    let result = ToolResult {
        display: answer.display.map(|text| Display {
            text,
            format: answer.format,
        }),
        ..result
    };
    (result, answer.session_name)
}

/// How a call of an extension's tool shows.
pub fn label(tool: &Tool, arguments: Option<&Value>) -> Label {
    let Some(label) = &tool.label else {
        return Label {
            category: tool.name.clone(),
            running: format!("Running {}", tool.name),
            completed: format!("Ran {}", tool.name),
            target: String::new(),
            has_suffix: true,
        };
    };
    let target = label.target.as_deref();
    let value = target.and_then(|target| arguments?.get(target));
    Label {
        category: label.category.clone(),
        running: label.running.clone(),
        completed: label.completed.clone(),
        target: match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        },
        has_suffix: true,
    }
}

/// Leaves at most `max` bytes of a result, of the end that it keeps.
pub fn cut(result: &mut ToolResult, max: usize) {
    let whole = result.content.len();
    if whole <= max {
        return;
    }
    match result.keep {
        Keep::Head => {
            let end = floor_char(&result.content, max);
            result.content.truncate(end);
        }
        Keep::Tail => result.content = clip_start(&result.content, max).to_owned(),
    }
    result.lost += (whole - result.content.len()) as u64;
    result.display = None;
}
