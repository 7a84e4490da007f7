//! Giving the terminal to somebody else for a while, and taking it again: an editor, or the shell.

use std::process::ExitStatus;
use std::time::Duration;

use super::{LAST_FRAME, Loop};
use crate::sys::tty;
use crate::tui::app::Done;
use crate::tui::input::Parked;

/// How long the editor may take to end when e ends.
const EDITOR_END: Duration = Duration::from_millis(300);

impl Loop {
    /// Gives the terminal to the editor. Meanwhile nothing is read or painted, and all else goes
    /// on.
    pub(super) fn edit(&mut self, text: &str) {
        if self.editing.is_some() {
            return;
        }
        let Some((parked, is_given)) = self.give_terminal() else {
            return;
        };
        let started = match is_given {
            true => self
                .app
                .start_editor(text)
                .map_err(|error| error.to_string()),
            // The editor would get a terminal with modes of e's.
            false => Err("the terminal is too far behind for an editor; try again".into()),
        };
        match started {
            Ok(editing) => self.editing = Some((editing, parked)),
            Err(why) => {
                drop(parked);
                self.take_terminal();
                self.on_done(Done::Edited(Err(why)));
            }
        }
    }

    /// The editor has ended; without a status nobody knows how.
    pub(super) fn edited(&mut self, status: Option<ExitStatus>) {
        let Some((editing, parked)) = self.editing.take() else {
            return;
        };
        editing.program.take_terminal();
        let edited = match status {
            Some(status) => editing.finish(status),
            None => Err("the draft stays as it was: it is not known how the editor ended".into()),
        };
        drop(parked);
        self.take_terminal();
        self.on_done(Done::Edited(edited));
    }

    /// The editor was stopped: e stops with it, as one job, until the shell continues both.
    pub(super) fn editor_stopped(&mut self) {
        if let Some((editing, _)) = &self.editing {
            editing.program.take_terminal();
            if tty::can_suspend() {
                // What cannot be stopped goes on.
                let _ = tty::suspend();
            }
            editing.program.resume();
        }
    }

    /// Stops e's job until the shell continues it.
    pub(super) fn suspend(&mut self) {
        if !tty::can_suspend() {
            let notice = "there is no shell that could continue e, so it does not stop";
            return self.on_done(Done::Notice(notice.into()));
        }
        let Some((parked, _)) = self.give_terminal() else {
            return;
        };
        // What cannot be stopped goes on.
        let _ = tty::suspend();
        drop(parked);
        self.take_terminal();
    }

    /// Leaves the terminal to somebody else, and reads no keys until the result is dropped. `false`
    /// when it did not take all of that in time.
    pub(super) fn give_terminal(&mut self) -> Option<(Parked, bool)> {
        let parked = self.input.park().ok()?;
        self.writer.drain(LAST_FRAME);
        let farewell = self.screen.park();
        let is_given = self.terminal.leave(&farewell);
        Some((parked, is_given))
    }

    /// Takes the terminal again. Where the cursor is, and what is on the screen, is not known.
    pub(super) fn take_terminal(&mut self) {
        // A terminal that is gone shows when it is read.
        let _ = self.terminal.enter(self.app.modes());
        self.screen.resize(self.terminal.size());
        self.screen.forget();
        self.title.clear();
        self.asking = None;
        self.dirty = true;
        self.urgent = true;
    }

    /// An editor that runs ends with e.
    pub(super) fn end_editor(&mut self) {
        if let Some((editing, parked)) = self.editing.take() {
            editing.program.end();
            // One that stays loses the terminal all the same.
            let _ = editing.program.exit().recv_timeout(EDITOR_END);
            editing.program.take_terminal();
            drop(parked);
            self.take_terminal();
        }
    }
}
