//! `e ext check`: one extension is started as e would, asked everything it declares, and ended.
//! What comes back is held against the rules, those included that e passes over in silence. A person
//! sees each step as it is taken, a program one report.

mod report;
mod sample;
mod watch;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::{output, startup};
use crate::config::Home;
use crate::error::{Error, Result};
use crate::extension::answer::{CommandAnswer, Completions, ToolAnswer};
use crate::extension::discover::{self, Found};
use crate::extension::manifest::{Manifest, unknown};
use crate::extension::{
    EventName, ExtensionId, Failure, HookKind, Host, HostEvent, Serves, StartupAnswer, State,
    Ticket,
};
use crate::sys::Env;
use crate::text::{json as to_json, one_line};
use report::{Asked, Report, Rows};
use watch::Watch;

/// How long a hook has, which is what e gives it.
const HOOK: Duration = Duration::from_secs(5);
/// How long completions have.
const COMPLETE: Duration = Duration::from_secs(3);
/// How long a command has, which is what e gives it, and a tool, which a sample does not keep longer.
const CALL: Duration = Duration::from_secs(60);
/// Columns of an answer that are shown.
const COLUMNS: usize = 200;

/// The only extension there is.
const IT: ExtensionId = ExtensionId(0);

/// Checks the extension at a path and prints what comes of it, as rows or as JSON. Gives the exit
/// status.
pub fn check(path: &Path, home: &Home, env: &Env, as_json: bool) -> Result<u8> {
    let found = discover::one(path).map_err(|why| {
        let error = Error::usage(why);
        error.remedy(
            "name an executable file, or a folder with an entry point; see `e docs debugging`",
        )
    })?;
    let report = run(found, home, env, Rows { shown: !as_json });
    let printed = match as_json {
        true => output::print(&(to_json::to_line(&report.to_json()) + "\n")),
        false => 0,
    };
    Ok(printed.max(u8::from(!report.problems.is_empty())))
}

/// What an answer has to be.
enum Wanted {
    /// An error is an answer, too.
    Answer,
    /// An error means that the extension does not do what it declares.
    Success,
}

/// A check that is going on.
struct Check {
    host: Host,
    rows: Rows,
    asked: Vec<Asked>,
    notices: Vec<String>,
    problems: Vec<String>,
}

fn run(found: Found, home: &Home, env: &Env, rows: Rows) -> Report {
    rows.tell("path", &found.path.to_string_lossy());
    let watch = Watch::new();
    let cwd = std::env::current_dir().unwrap_or_default();
    let host = startup::launch(
        vec![found.clone()],
        home,
        env,
        &cwd,
        Serves::Everything,
        Some(watch.tap()),
    );
    let mut check = Check {
        host,
        rows,
        asked: Vec::new(),
        notices: Vec::new(),
        problems: Vec::new(),
    };
    check.collect();
    let manifest = check
        .host
        .list()
        .find_map(|(_, manifest, _)| manifest.cloned());
    let handshake = watch.seen().manifest.as_ref().map(|(_, took)| *took);
    rows.begun(handshake, manifest.as_ref());
    if let Some(manifest) = &manifest {
        check.everything(manifest, &cwd);
    }
    let shutdown = check.shut_down();

    let seen = watch.seen();
    let mut problems: Vec<String> = check.problems;
    problems.extend(
        seen.manifest
            .iter()
            .flat_map(|(manifest, _)| unknown(manifest)),
    );
    let label = |label: &'static str| move |line| format!("{label} {line}");
    problems.extend(
        seen.refused
            .all()
            .into_iter()
            .map(label("e refused its request")),
    );
    problems.extend(seen.stray.all().into_iter().map(label("stray output:")));
    let report = Report {
        handshake,
        requests: seen.requests.all(),
        diagnostics: seen.diagnostics.all(),
        found,
        manifest,
        asked: check.asked,
        notices: check.notices,
        shutdown,
        problems,
    };
    rows.ended(&report);
    report
}

impl Check {
    /// Tells and asks everything that the manifest declares.
    fn everything(&mut self, manifest: &Manifest, cwd: &Path) {
        for event in EventName::ALL {
            if event != EventName::SessionShutdown {
                self.host.tell(event, &sample::event(event), Instant::now());
            }
        }
        if manifest.hooks.contains(&HookKind::Startup) {
            let params = json!({"cwd": cwd.to_string_lossy(), "argv": [], "flags": {}});
            let read = |answer: &Value| StartupAnswer::parse(answer).map(drop);
            self.ask(
                HookKind::Startup.method(),
                params,
                HOOK,
                Wanted::Success,
                read,
            );
        }
        let hooks = manifest.hooks.iter().filter_map(|kind| sample::hook(*kind));
        for hook in hooks.chain(manifest.renders.iter().map(sample::render)) {
            let (method, params) = (hook.kind().method(), hook.params());
            let read = |answer: &Value| hook.read(answer).map(drop);
            self.ask(method, params, HOOK, Wanted::Success, read);
        }
        for tool in &manifest.tools {
            let arguments = sample::arguments(&tool.parameters);
            let params = json!({"name": tool.name, "arguments": arguments});
            let read = |answer: &Value| ToolAnswer::parse(answer).map(drop);
            self.ask("tool_call", params, CALL, Wanted::Answer, read);
        }
        let read = |answer: &Value| CommandAnswer::parse(answer).map(drop);
        for command in &manifest.commands {
            let params = json!({"name": command.name, "args": ""});
            self.ask("command", params, CALL, Wanted::Answer, read);
            if command.completions {
                let params = json!({"name": command.name, "prefix": ""});
                let read = |answer: &Value| {
                    let faults = Completions::parse(answer)?.faults;
                    faults.into_iter().next().map_or(Ok(()), Err)
                };
                self.ask("command.complete", params, COMPLETE, Wanted::Success, read);
            }
        }
        // One that was dropped will never be pressed.
        let shortcuts = self.host.registry().shortcuts.clone();
        for bound in &shortcuts {
            let params = json!({"key": bound.item.shortcut.key});
            self.ask("shortcut", params, CALL, Wanted::Answer, read);
        }
        let (event, now) = (EventName::SessionShutdown, Instant::now());
        self.host.tell(event, &sample::event(event), now);
    }

    /// Sends a request and holds its answer against what `read` makes of it.
    fn ask(
        &mut self,
        method: &'static str,
        params: Value,
        limit: Duration,
        wanted: Wanted,
        read: impl FnOnce(&Value) -> Result<(), String>,
    ) {
        if self
            .host
            .list()
            .all(|(_, _, state)| state != State::Running)
        {
            // What ended it was told.
            return;
        }
        self.rows.asking(method, &params);
        let began = Instant::now();
        let ticket = self.host.call(IT, method, &params, limit, began);
        let result = loop {
            match self.collect() {
                Some((one, result)) if one == ticket => break result,
                _ => self.host.wait(),
            }
        };
        let took = began.elapsed();
        let (answer, problem) = match (result, wanted) {
            (Ok(answer), _) => (to_json::to_line(&answer), read(&answer).err()),
            (Err(Failure::Error(why)), Wanted::Answer) => (format!("the error: {why}"), None),
            (Err(failure), _) => (failure.to_string(), Some(failure.to_string())),
        };
        if let Some(problem) = problem {
            let to = ["name", "key", "kind"]
                .iter()
                .find_map(|name| params[*name].as_str());
            let to = to.map_or(String::new(), |to| format!(" `{to}`"));
            self.problems.push(format!("{method}{to}: {problem}"));
        }
        let asked = Asked {
            method,
            params,
            took,
            answer: one_line(&answer, Some(COLUMNS)),
        };
        self.rows.answered(&asked);
        self.asked.push(asked);
    }

    /// Takes what has happened, up to the answer to a request. Requests of the extension are
    /// answered as if somebody was there who wants nothing.
    fn collect(&mut self) -> Option<(Ticket, Result<Value, Failure>)> {
        while let Some(event) = self.host.next_event() {
            match event {
                HostEvent::Notice(text) => self.problems.push(text),
                HostEvent::Said { text, .. } => self.notices.push(one_line(&text, Some(COLUMNS))),
                HostEvent::Asked(asked) => {
                    let reply = Ok(sample::reply(&asked.request));
                    self.host.answer(asked.ask, reply, Instant::now());
                }
                HostEvent::Answered(ticket, result) => return Some((ticket, result)),
                // The watch keeps these, or they follow from what is told already.
                HostEvent::Diagnostic { .. }
                | HostEvent::Stray(_)
                | HostEvent::Hooked(..)
                | HostEvent::Update(..)
                | HostEvent::Withdrawn(_)
                | HostEvent::Gone(_) => {}
            }
        }
        None
    }

    /// How long it took to end, when it was still running and ended by itself.
    fn shut_down(&mut self) -> Option<Duration> {
        let ended = std::mem::replace(&mut self.host, Host::none()).shut_down();
        let ended = ended.first()?;
        if ended.after.is_none() {
            self.problems
                .push("it did not end in time after `shutdown` and was killed".into());
        } else if ended.left_running > 0 {
            let count = ended.left_running;
            self.problems
                .push(format!("it left {count} of its own processes running"));
        }
        ended.after
    }
}
