//! `e ext check`: one extension is started as e would, asked everything it declares, and ended.
//! What comes back is held against the rules, those included that e passes over in silence.

mod sample;
mod watch;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::catalog::columns;
use crate::cli::startup;
use crate::config::Home;
use crate::error::{Error, Result};
use crate::extension::answer::{CommandAnswer, ToolAnswer, completions};
use crate::extension::discover::{self, Found};
use crate::extension::manifest::{FlagKind, Manifest, Render, unknown};
use crate::extension::{
    EventName, ExtensionId, Failure, HookKind, Host, HostEvent, Serves, StartupAnswer, State,
    Ticket,
};
use crate::sys::Env;
use crate::text::{json as to_json, one_line};
use watch::Watch;

/// How long a hook has, which is what e gives it.
const HOOK: Duration = Duration::from_secs(5);
/// How long completions have.
const COMPLETE: Duration = Duration::from_secs(3);
/// How long a tool or a command has: a sample takes no longer.
const CALL: Duration = Duration::from_secs(30);
/// Columns of an answer that are shown.
const COLUMNS: usize = 200;

/// The only extension there is.
const IT: ExtensionId = ExtensionId(0);

/// Checks the extension at a path. Gives the report, as text or as JSON, and whether it is clean.
pub fn check(path: &Path, home: &Home, env: &Env, as_json: bool) -> Result<(String, bool)> {
    let found = discover::one(path).map_err(|why| {
        let error = Error::usage(why);
        error.remedy(
            "name an executable file, or a folder with an entry point; see `e docs debugging`",
        )
    })?;
    let report = run(found, home, env);
    let text = match as_json {
        true => to_json::to_line(&report.to_json()) + "\n",
        false => report.to_text(),
    };
    Ok((text, report.problems.is_empty()))
}

/// A request that was sent, and what came of it.
struct Asked {
    method: &'static str,
    params: Value,
    took: Duration,
    /// One line: the answer as JSON, or the error.
    answer: String,
}

/// What an answer has to be.
enum Wanted {
    /// An error is an answer, too.
    Answer,
    /// An error means that the extension does not do what it declares.
    Success,
}

struct Report {
    found: Found,
    manifest: Option<Manifest>,
    handshake: Option<Duration>,
    asked: Vec<Asked>,
    notices: Vec<String>,
    requests: Vec<String>,
    diagnostics: Vec<String>,
    shutdown: Option<Duration>,
    problems: Vec<String>,
}

/// A check that is going on.
struct Check {
    host: Host,
    asked: Vec<Asked>,
    notices: Vec<String>,
    problems: Vec<String>,
}

fn run(found: Found, home: &Home, env: &Env) -> Report {
    let watch = Watch::new();
    let cwd = std::env::current_dir().unwrap_or_default();
    let serves = Serves {
        ui: true,
        session: true,
    };
    let host = startup::launch(
        vec![found.clone()],
        home,
        env,
        &cwd,
        serves,
        Some(watch.tap()),
    );
    let mut check = Check {
        host,
        asked: Vec::new(),
        notices: Vec::new(),
        problems: Vec::new(),
    };
    check.collect();
    let manifest = check
        .host
        .list()
        .find_map(|(_, manifest, _)| manifest.cloned());
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
    Report {
        handshake: seen.manifest.as_ref().map(|(_, took)| *took),
        requests: seen.requests.all(),
        diagnostics: seen.diagnostics.all(),
        found,
        manifest,
        asked: check.asked,
        notices: check.notices,
        shutdown,
        problems,
    }
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
                let read = |answer: &Value| completions(answer).map(drop);
                self.ask("command.complete", params, COMPLETE, Wanted::Success, read);
            }
        }
        for shortcut in &manifest.shortcuts {
            let params = json!({"key": shortcut.key});
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
        self.asked.push(Asked {
            method,
            params,
            took,
            answer: one_line(&answer, Some(COLUMNS)),
        });
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
                HostEvent::Diagnostic(_)
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

impl Report {
    fn to_json(&self) -> Value {
        let asked = self.asked.iter().map(|asked| {
            json!({
                "method": asked.method,
                "params": asked.params,
                "ms": ms(asked.took),
                "answer": asked.answer,
            })
        });
        json!({
            "path": self.found.path.to_string_lossy(),
            "clean": self.problems.is_empty(),
            "handshake_ms": self.handshake.map(ms),
            "manifest": self.manifest.as_ref().map(declared),
            "asked": asked.collect::<Vec<_>>(),
            "requests": self.requests,
            "notices": self.notices,
            "stderr": self.diagnostics,
            "shutdown_ms": self.shutdown.map(ms),
            "problems": self.problems,
        })
    }

    fn to_text(&self) -> String {
        let mut rows = vec![("path", self.found.path.to_string_lossy().into_owned())];
        if let Some(took) = self.handshake {
            rows.push(("handshake", format!("{} ms", ms(took))));
        }
        for (name, value) in self.manifest.iter().flat_map(in_words) {
            rows.push((name, value));
        }
        for asked in &self.asked {
            let params = one_line(&asked.params.to_string(), Some(COLUMNS));
            rows.push(("asked", format!("{} {params}", asked.method)));
            rows.push(("", format!("{} ms: {}", ms(asked.took), asked.answer)));
        }
        let lists = [
            ("request", &self.requests),
            ("notice", &self.notices),
            ("stderr", &self.diagnostics),
            ("problem", &self.problems),
        ];
        if let Some(took) = self.shutdown {
            rows.push(("shutdown", format!("{} ms", ms(took))));
        }
        for (name, lines) in lists {
            rows.extend(lines.iter().map(|line| (name, line.clone())));
        }
        let result = match self.problems.len() {
            0 => "clean".to_owned(),
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        rows.push(("result", result));
        columns(
            rows.into_iter()
                .map(|(name, value)| vec![name.into(), value])
                .collect(),
        )
    }
}

fn ms(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// A manifest as e understands it.
fn declared(manifest: &Manifest) -> Value {
    let tools = manifest.tools.iter().map(|tool| {
        json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
    });
    let commands = manifest.commands.iter().map(|command| {
        json!({
            "name": command.name,
            "description": command.description,
            "arguments": command.arguments,
            "completions": command.completions,
        })
    });
    let flags = manifest.flags.iter().map(|flag| {
        json!({
            "name": flag.name,
            "type": kind(flag.kind),
            "description": flag.description,
            "default": flag.default,
            "parsed": flag.clean,
        })
    });
    let shortcuts = manifest.shortcuts.iter();
    let shortcuts =
        shortcuts.map(|shortcut| json!({"key": shortcut.key, "description": shortcut.description}));
    json!({
        "name": manifest.name,
        "version": manifest.version,
        "tools": tools.collect::<Vec<_>>(),
        "commands": commands.collect::<Vec<_>>(),
        "flags": flags.collect::<Vec<_>>(),
        "hooks": manifest.hooks.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "renders": manifest.renders.iter().map(entry).collect::<Vec<_>>(),
        "events": manifest.events.iter().map(|event| event.name()).collect::<Vec<_>>(),
        "shortcuts": shortcuts.collect::<Vec<_>>(),
    })
}

/// The same as rows for a person.
fn in_words(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let described = |name: &str, description: &str| match description {
        "" => name.to_owned(),
        text => format!("{name} - {}", one_line(text, Some(COLUMNS))),
    };
    let mut rows = vec![("name", format!("{} {}", manifest.name, manifest.version))];
    for tool in &manifest.tools {
        rows.push(("tool", described(&tool.name, &tool.description)));
    }
    for command in &manifest.commands {
        let name = format!("/{}", command.name);
        rows.push(("command", described(&name, &command.description)));
    }
    for flag in &manifest.flags {
        let name = match flag.clean {
            true => format!("--{} ({})", flag.name, kind(flag.kind)),
            false => format!("{} (for the help text alone)", flag.name),
        };
        rows.push(("flag", described(&name, &flag.description)));
    }
    for shortcut in &manifest.shortcuts {
        rows.push(("shortcut", described(&shortcut.key, &shortcut.description)));
    }
    let hooks: Vec<_> = manifest
        .hooks
        .iter()
        .map(|kind| kind.name().to_owned())
        .collect();
    let renders: Vec<_> = manifest.renders.iter().map(entry).collect();
    let events: Vec<_> = manifest
        .events
        .iter()
        .map(|event| event.name().to_owned())
        .collect();
    for (name, list) in [("hooks", hooks), ("renders", renders), ("events", events)] {
        if !list.is_empty() {
            rows.push((name, list.join(", ")));
        }
    }
    rows
}

fn kind(kind: FlagKind) -> &'static str {
    match kind {
        FlagKind::Boolean => "boolean",
        FlagKind::Text => "string",
    }
}

fn entry(render: &Render) -> String {
    match render {
        Render::EveryTool => "tool:*".into(),
        Render::Tool(name) => format!("tool:{name}"),
        Render::Assistant => "assistant".into(),
    }
}
