//! `e -p`: one headless turn for a shell, a pipeline or CI.
//!
//! Standard output carries the reply (or, with `--json`, event lines and the result line) and
//! nothing else; everything said about the run goes to standard error. The exit status tells how
//! the turn ended, the same in both forms.

mod options;
mod output;
pub mod stderr;
mod stdin;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use serde_json::json;

pub use options::PrintOptions;

use self::output::{Form, Printer};
use self::stdin::Stopped;
use crate::agent::{
    Answer, Choice, Core, Input, Limits, Origin, Output, Past, Process, Prompt, RequestId,
    Selection, SessionKey, Toolset, TurnResult, Want, read_images,
};
use crate::error::{Error, Result};
use crate::extension::request::{Request, Session};
use crate::extension::{Asked, Host};
use crate::sys::signal::Signal;
use crate::sys::{self, poll};
use crate::wire::failed_result;

const SESSION: SessionKey = SessionKey(1);
const TURN: RequestId = RequestId(1);
const STOP: RequestId = RequestId(2);
/// How long the core may take to wind down after the result was printed.
const WIND_DOWN: Duration = Duration::from_secs(3);
/// The status after the reader of standard output went away: 128 + SIGPIPE.
const READER_GONE: u8 = 141;

/// Runs the turn and returns the exit status.
pub fn run(options: PrintOptions, process: Process, cwd: PathBuf, extensions: Host) -> u8 {
    let started = Instant::now();
    let mut printer = Printer::new(form(options.json));
    let mut warnings = Vec::new();
    match prepare(&options, &process, cwd, started, extensions, &mut warnings) {
        Ok(Start::Turn(core, selection)) => {
            let chooser = Chooser {
                process: &process,
                selection,
            };
            follow(core, chooser, &mut printer)
        }
        Ok(Start::Stopped(why)) => stopped(why, &mut printer),
        Err(error) => refuse(&error, warnings, &mut printer),
    }
}

/// Reports a run that never began, also when its arguments could not be understood.
pub fn report(error: &Error, json: bool) -> u8 {
    refuse(error, Vec::new(), &mut Printer::new(form(json)))
}

fn refuse(error: &Error, warnings: Vec<String>, printer: &mut Printer) -> u8 {
    let text = error.to_string();
    printer.error(&text);
    printer.finish(&TurnResult {
        warnings,
        ..failed_result(&text)
    });
    error.status()
}

/// Reports a run that was stopped before there was a turn.
fn stopped(why: Stopped, printer: &mut Printer) -> u8 {
    let (error, status) = match why {
        Stopped::Signal(signal) => (None, signal.status()),
        Stopped::TimeLimit => {
            let error = "the limit of --max-seconds was reached while waiting for standard input";
            (Some(error.to_string()), 1)
        }
    };
    match &error {
        Some(error) => printer.error(error),
        None => printer.interrupted(None),
    }
    printer.finish(&TurnResult {
        aborted: true,
        error,
        ..TurnResult::default()
    });
    status
}

fn form(json: bool) -> Form {
    if json { Form::Json } else { Form::Plain }
}

enum Start {
    Turn(Core, Selection),
    Stopped(Stopped),
}

fn prepare(
    options: &PrintOptions,
    process: &Process,
    cwd: PathBuf,
    started: Instant,
    mut extensions: Host,
    warnings: &mut Vec<String>,
) -> Result<Start> {
    // What went wrong at their start is told even if nothing else happens.
    extensions
        .take_notices()
        .iter()
        .for_each(|notice| output::warn(notice));
    let signals = sys::signal::watch()?;
    let argument = options.prompt.join(" ");
    let input = stdin::Input::look();
    if argument.trim().is_empty() && !input.may_hold_text() {
        return Err(needs_a_prompt());
    }
    let choice = Choice {
        workspace: cwd,
        model: options.model.clone(),
        effort: options.effort.clone(),
        tools: if options.no_tools {
            Toolset::none()
        } else {
            Toolset::all()
        },
        save: !options.no_save,
    };
    let opened = process.open(choice, warnings);
    warnings.iter().for_each(|warning| output::warn(warning));
    let spec = opened?;
    let images = read_images(&options.images, &spec.selection.model)?;
    if options.limits.cost_usd.is_some() && spec.selection.model.pricing.is_none() {
        let message = format!(
            "`--max-cost` needs prices, and `{}` has none",
            spec.selection.model.slug()
        );
        return Err(Error::usage(message).remedy("add `pricing` to models.json"));
    }
    let deadline = options
        .limits
        .seconds
        .map(|seconds| started + Duration::from_secs(seconds));
    let text = match stdin::prompt(argument, input, &signals, deadline)? {
        stdin::Prompt::Text(text) => text,
        stdin::Prompt::Stopped(why) => return Ok(Start::Stopped(why)),
    };
    if text.trim().is_empty() {
        return Err(needs_a_prompt());
    }
    let core = Core::start(signals, extensions)?;
    let limits = Limits {
        seconds: remaining_seconds(deadline),
        ..options.limits
    };
    let prompt = Prompt {
        images,
        ..Prompt::typed(text)
    };
    let prompt = Input::Want(SESSION, TURN, Want::Prompt(prompt, limits));
    let selection = spec.selection.clone();
    let open = Input::Open(SESSION, Arc::new(spec), Past::default(), Origin::default());
    for input in [open, prompt] {
        core.input
            .send(input)
            .map_err(|_| Error::failed("the core did not start"))?;
    }
    Ok(Start::Turn(core, selection))
}

/// Prints what happens until the core has closed.
fn follow(core: Core, mut chooser: Chooser<'_>, printer: &mut Printer) -> u8 {
    let gone = watch_reader(&core);
    let mut ended_by: Option<Signal> = None;
    let mut status = None;
    let mut deadline = None;
    while let Some(outputs) = receive(&core.output, deadline) {
        for output in outputs {
            match output {
                Output::Event { event, .. } => printer.event(&event),
                Output::Ending(signal) => ended_by = Some(signal),
                Output::Answer {
                    request: TURN,
                    answer,
                } => {
                    let reader_gone = gone.load(Ordering::Acquire) || printer.is_broken();
                    status = Some(end(answer, printer, ended_by, reader_gone));
                    deadline = Some(Instant::now() + WIND_DOWN);
                    let _ = core.input.send(Input::Shutdown);
                }
                // Extensions say nothing where nobody looks.
                Output::Answer { .. }
                | Output::Held { .. }
                | Output::Withdrawn(_)
                | Output::ExtensionGone(_)
                | Output::Diagnostic { .. }
                | Output::Said { .. } => {}
                Output::Notice(text) => printer.warn(&text),
                Output::Asked(asked) => {
                    for input in chooser.serve(*asked) {
                        let _ = core.input.send(input);
                    }
                }
            }
        }
        if core.output.is_empty() {
            printer.send();
        }
        if printer.is_broken() && !gone.swap(true, Ordering::AcqRel) {
            let _ = core.input.send(Input::Want(SESSION, STOP, Want::Interrupt));
        }
    }
    status.unwrap_or_else(|| {
        let error = Error::failed("e stopped unexpectedly; this is a bug");
        refuse(&error, Vec::new(), printer)
    })
}

fn end(answer: Answer, printer: &mut Printer, ended_by: Option<Signal>, reader_gone: bool) -> u8 {
    let result = match answer {
        Answer::Turn(result) => *result,
        Answer::Refused(why) => failed_result(&why),
        // A prompt has no other answer.
        _ => TurnResult::default(),
    };
    let stopped_reader = reader_gone && result.aborted;
    if result.aborted && result.error.is_none() && !stopped_reader {
        printer.interrupted(result.log.as_deref());
    }
    printer.finish(&result);
    match ended_by {
        Some(signal) => signal.status(),
        None if printer.failed_to_write() => 1,
        None if stopped_reader => READER_GONE,
        None => u8::from(result.aborted || result.error.is_some()),
    }
}

/// Serves what an extension wants of the model, which is read from files.
struct Chooser<'a> {
    process: &'a Process,
    selection: Selection,
}

impl Chooser<'_> {
    fn serve(&mut self, asked: Asked) -> Vec<Input> {
        let chosen = match asked.request {
            Request::Session(Session::Model(name)) => {
                self.process.select(&self.selection, Some(&name), None)
            }
            Request::Session(Session::Effort(level)) => {
                self.process.select(&self.selection, None, Some(level))
            }
            Request::Session(_) | Request::Ui(_) => Err(Error::failed("no ui")),
        };
        match chosen {
            Err(error) => vec![Input::Reply(asked.ask, Err(error.to_string()))],
            Ok(selection) => {
                self.selection = selection.clone();
                let configure = Want::Configure {
                    selection,
                    during_turn: true,
                };
                let configure = Input::Want(SESSION, STOP, configure);
                vec![configure, Input::Reply(asked.ask, Ok(json!({})))]
            }
        }
    }
}

/// Stops the turn when nobody reads standard output any more, also while nothing is written.
fn watch_reader(core: &Core) -> Arc<AtomicBool> {
    let gone = Arc::new(AtomicBool::new(false));
    let (flag, input) = (gone.clone(), core.input.clone());
    // Without this thread a closed pipe is still noticed, at the next write.
    let _ = std::thread::Builder::new()
        .name("e-stdout".into())
        .spawn(move || {
            if poll::wait_hangup(1) && !flag.swap(true, Ordering::AcqRel) {
                let _ = input.send(Input::Want(SESSION, STOP, Want::Interrupt));
            }
        });
    gone
}

fn receive(output: &Receiver<Vec<Output>>, deadline: Option<Instant>) -> Option<Vec<Output>> {
    match deadline {
        None => output.recv().ok(),
        Some(deadline) => output.recv_deadline(deadline).ok(),
    }
}

fn remaining_seconds(deadline: Option<Instant>) -> Option<u64> {
    let left = deadline?.saturating_duration_since(Instant::now());
    Some(left.as_secs_f64().ceil() as u64)
}

fn needs_a_prompt() -> Error {
    Error::usage("`e -p` needs a prompt").remedy("give one as an argument or on standard input")
}
