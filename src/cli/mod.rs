//! The command line: what was asked for, and everything that is not a run of the agent.

pub mod doc;
pub mod docs;
pub mod flags;
pub mod parse;

mod commands;
mod near;
mod output;
mod startup;
mod trace;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

pub use parse::{Invocation, ParseFailure, parse};

use self::startup::Started;

use crate::agent::{Process, read_image_files};
use crate::config::{Home, Settings};
use crate::error::{Error, Result, io_text};
use crate::extension::Host;
use crate::print;
use crate::provider::{self, Catalog};
use crate::rpc;
use crate::sys::{Env, clock, memory, signal};
use crate::tui;

/// Runs e with the arguments that follow its name. Returns the exit status.
pub fn run(argv: Vec<OsString>, env: Env) -> u8 {
    memory::give_back_large_blocks();
    signal::ignore_file_size_limit();
    let report = |failure: ParseFailure| match failure.print {
        true => print::report(&failure.error, failure.json),
        false => fail(&failure.error, failure.json),
    };
    let Started {
        argv,
        env,
        extensions,
        again,
    } = match startup::start(argv, env) {
        Ok(started) => started,
        Err(failure) => return report(failure),
    };
    let invocation = match parse(&argv) {
        Ok(invocation) => invocation,
        Err(failure) => return report(failure),
    };
    let home = || home(&env);
    match invocation {
        Invocation::Print { options, trust } => match working_directory() {
            Ok(cwd) => {
                let process = process(home(), env, &cwd, trust, &extensions);
                print::run(options, process, cwd, extensions)
            }
            Err(error) => print::report(&error, options.json),
        },
        Invocation::Tui {
            mut options,
            images,
            trust,
        } => {
            let home = home();
            let ran = working_directory().and_then(|cwd| {
                let process = process(home, env, &cwd, trust, &extensions);
                let mut warnings = Vec::new();
                let (model, effort) = (options.model.as_deref(), options.effort.as_deref());
                process
                    .check(model, effort, &mut warnings)
                    .inspect_err(|_| warnings.iter().for_each(output::warn))?;
                options.images = read_image_files(&images)?;
                let env = process.env.clone();
                let relaunch = tui::Relaunch::new(move || again.launch(&env));
                tui::run(options, process, cwd, extensions, relaunch)
            });
            ran.unwrap_or_else(|error| fail(&error, false))
        }
        Invocation::Rpc { options, trust } => match working_directory() {
            Ok(cwd) => {
                let process = process(home(), env, &cwd, trust, &extensions);
                rpc::run(options, process, cwd, extensions)
            }
            Err(error) => fail(&error, false),
        },
        Invocation::Version { json } => output::print(&commands::version(json)),
        Invocation::Help => output::print(&doc::help(extensions.registry())),
        Invocation::Generate(text) => output::print(&text),
        Invocation::Docs { topic: None } => output::print(&docs::list()),
        Invocation::Docs { topic: Some(topic) } => answer(docs::guide(&topic)),
        Invocation::Trust { dir, trusted } => answer(commands::trust(&home(), &env, dir, trusted)),
        Invocation::Auth => {
            output::print(&commands::auth(&catalog(&home(), &env), clock::now_ms()))
        }
        Invocation::Providers { json } => {
            output::print(&commands::providers(&catalog(&home(), &env), json))
        }
        Invocation::Models { json } => {
            let home = home();
            let (settings, warnings) = Settings::load(&home);
            warnings.iter().for_each(output::warn);
            output::print(&commands::models(&catalog(&home, &env), &settings, json))
        }
        Invocation::ExtCheck { path, json } => match commands::check(&path, &home(), &env, json) {
            Ok(status) => status,
            Err(error) => fail(&error, json),
        },
        Invocation::Doctor { json } => output::print(&commands::doctor(&home(), &env, json)),
    }
}

/// What all sessions of this process share.
fn process(home: Home, env: Env, cwd: &Path, trust: bool, extensions: &Host) -> Process {
    Process {
        home,
        trusted: trust.then(|| cwd.to_path_buf()),
        provider: provider::Context::new(&env),
        env: Arc::new(env),
        extensions: extensions.registry().clone(),
    }
}

/// Where e keeps its files, for a process that was started here.
fn home(env: &Env) -> Home {
    // Without a working directory only a relative `E_HOME` has no meaning; it will be missing.
    Home::locate(env, &std::env::current_dir().unwrap_or_default())
}

/// The canonical working directory.
fn working_directory() -> Result<PathBuf> {
    std::env::current_dir()
        .and_then(|dir| dir.canonicalize())
        .map_err(|error| {
            Error::failed(format!(
                "the working directory cannot be used: {}",
                io_text(&error)
            ))
        })
}

/// Prints what a command has to say, or why it failed.
fn answer(result: Result<String>) -> u8 {
    match result {
        Ok(text) => output::print(&text),
        Err(error) => fail(&error, false),
    }
}

/// The catalog; what is wrong with its files goes to standard error.
fn catalog(home: &Home, env: &Env) -> Catalog {
    let catalog = Catalog::load(home.dir(), env);
    catalog.warnings().iter().for_each(output::warn);
    catalog
}

fn fail(error: &Error, json: bool) -> u8 {
    output::error(error);
    if json {
        output::print(&format!("{}\n", json!({"error": error.to_string()})));
    }
    error.status()
}
