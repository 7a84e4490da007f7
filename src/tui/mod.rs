//! The terminal app: a person at a terminal.
//!
//! `run` is the loop, `app` the state and what events do to it, `view` and `transcript` make rows
//! of it, `frame` makes bytes of those, `terminal` and `input` are the two directions of the tty.

mod app;
mod clipboard;
mod composer;
mod diff;
mod editor;
mod figures;
pub mod frame;
mod highlight;
mod input;
mod key;
mod keymap;
mod markdown;
mod record;
mod rich;
mod run;
pub mod style;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod transcript;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

pub use app::{Relaunch, TuiOptions, command_names, warnings};

use self::app::App;
use self::frame::Screen;
use self::record::Recorder;
use self::run::Loop;
use self::terminal::Terminal;
use crate::agent::Process;
use crate::error::Result;
use crate::extension::Host;

/// Runs until the person has enough. Returns the exit status; an error means that there is no
/// terminal to run on, or that it cannot be used.
pub fn run(
    options: TuiOptions,
    process: Process,
    cwd: PathBuf,
    extensions: Host,
    relaunch: Relaunch,
) -> Result<u8> {
    let recorder = Recorder::from_env(&process.env)?;
    let terminal = Terminal::open(&process.env)?;
    let env = process.env.clone();
    let app = App::new(Arc::new(process), cwd, options, relaunch);
    let screen = Screen::new(terminal.size(), app.palette(), terminal::reflows(&env));
    let settling = terminal::settling(&env);
    Ok(Loop::start(app, screen, terminal, settling, extensions, recorder)?.run())
}
