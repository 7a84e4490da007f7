//! What extensions show and ask.
//!
//! Each kind of thing has its file: slots that stay, questions that wait for an answer, the panel,
//! the side pane, calls that wait for an extension, choices that one makes, entries that one
//! renders. Where several could take a key, the order is here.

mod calls;
mod choose;
mod complete;
mod pane;
mod panel;
mod questions;
mod render;
mod slots;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde_json::{Value, json};

use self::calls::Calls;
pub use self::choose::Chosen;
use self::choose::{Choice, Choices};
use self::complete::Completions;
use self::pane::ShownPane;
use self::panel::Panels;
use self::questions::{Question, Questions};
use self::render::Renders;
use super::deaf::Deaf;
use super::{App, Effect, Surface};
use crate::agent::Input;
use crate::extension::request::{Request, Session as SessionRequest, Tone, Ui};
use crate::extension::ui::Slots;
use crate::extension::{AskId, Asked, ExtensionId};
use crate::tui::key::KeyPress;
use crate::tui::style::Row;
use crate::tui::view::question;

/// Requests of an extension that are painted at once after it was told about a key: it may show
/// several things for one.
const PROMPT: usize = 4;

/// Everything that is there because an extension wants it.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    slots: Slots,
    questions: Questions,
    panels: Panels,
    pane: Option<ShownPane>,
    calls: Calls,
    choices: Choices,
    completions: Completions,
    renders: Renders,
    /// Answers that wait until what they are about has been painted.
    after_frame: Vec<Effect>,
    /// Who was told what the person just did, and how many of its requests are painted at once.
    prompt: Option<(ExtensionId, usize)>,
}

impl Extensions {
    /// Whether a person waits for what this extension wants now.
    fn paints_at_once(&mut self, from: ExtensionId) -> bool {
        let Some((_, left)) = self.prompt.as_mut().filter(|(to, _)| *to == from) else {
            return false;
        };
        *left -= 1;
        self.prompt.take_if(|(_, left)| *left == 0);
        true
    }
}

impl App {
    /// A frame was handed over: what waited for that is done.
    pub fn after_frame(&mut self, now: Instant) {
        self.was_seen(now);
        self.effects.append(&mut self.extensions.after_frame);
    }

    /// Whether rows wait for the next frame because there were too many for this one.
    pub fn has_more_rows(&self) -> bool {
        match &self.extensions.pane {
            _ if self.reader.is_some() => false,
            Some(pane) => pane.is_behind(),
            None => !self.modes().alternate && self.transcript.has_settled(),
        }
    }

    /// An extension wants something.
    pub(super) fn asked(&mut self, asked: Asked) {
        let ask = asked.ask;
        match asked.request {
            Request::Session(SessionRequest::Model(name)) => {
                self.extension_chooses(ask, Choice::Model(name))
            }
            Request::Session(SessionRequest::Effort(level)) => {
                self.extension_chooses(ask, Choice::Effort(level))
            }
            Request::Session(_) => self.effects.push(refused(ask, "nobody here can do that")),
            Request::Ui(ui) if ui.is_question() => {
                let question = Question {
                    ask,
                    owner: asked.from,
                    from: asked.extension,
                    ui,
                    is_wanted: self.extensions.calls.is_wanted(asked.from),
                };
                self.extensions.questions.add(question);
            }
            Request::Ui(ui) => self.show_for(asked.from, &asked.extension, ask, ui),
        }
    }

    /// Shows something and answers that it did.
    fn show_for(&mut self, from: ExtensionId, name: &str, ask: AskId, ui: Ui) {
        let joins_transcript = matches!(ui, Ui::Notify { .. } | Ui::Show(_));
        let before = self.effects.len();
        let slots = &mut self.extensions.slots;
        let mut shown = Ok(());
        match ui {
            Ui::Notify { message, tone } => match tone {
                Tone::Error => self.transcript.push_error(&message),
                Tone::Warning => self.tell(&format!("warning: {message}")),
                Tone::Info => self.tell(&message),
            },
            Ui::Show(show) => self.transcript.push_show(&show),
            Ui::Status(slot) => shown = slots.status.set(from, name, slot.key, slot.value),
            Ui::Activity(slot) => shown = slots.activity.set(from, name, slot.key, slot.value),
            Ui::Widget(slot) => shown = slots.widgets.set(from, name, slot.key, slot.value),
            Ui::Compose(text) => shown = self.compose(from, &text),
            Ui::Panel(panel) => {
                let replaced = self.extensions.panels.show(from, name, panel);
                self.effects.extend(replaced);
            }
            Ui::Pane(pane) => self.show_pane(from, pane),
            Ui::Select(_) | Ui::Confirm { .. } | Ui::Input { .. } | Ui::Editor { .. } => {
                shown = Err("a question cannot be shown".into());
            }
        }
        let reply = Effect::Send(Input::Reply(ask, shown.map(|()| json!({}))));
        match joins_transcript {
            // What cannot be taken back is answered when it is on the screen, so that nobody adds
            // to it faster than it is painted.
            true => self.extensions.after_frame.push(reply),
            // Others are told of what follows from it later than who asked.
            false => self.effects.insert(before, reply),
        }
        if self.extensions.paints_at_once(from) {
            self.effects.push(Effect::Paint);
        }
    }

    /// Puts a text in the composer. What was written there can be had back from history.
    fn compose(&mut self, from: ExtensionId, text: &str) -> Result<(), String> {
        let is_key = matches!(&self.surface, Some(Surface::Login(login)) if login.takes_key());
        if is_key || self.composer.is_field() {
            return Err("the composer is answering a question - try again later".into());
        }
        self.leave_review();
        let before = self.composer.draft().buffer.expand();
        if !before.trim().is_empty() {
            self.composer.remember(&before);
        }
        self.composer.set_text(text);
        // A key of its pane asked for it: the next ones are meant for the text.
        let is_wanted = self.extensions.calls.is_wanted(from);
        if let Some(pane) = &mut self.extensions.pane {
            pane.focused &= !(is_wanted && pane.owner == from);
        }
        self.follow_draft();
        Ok(())
    }

    /// The person changed something about the draft.
    pub(super) fn draft_was_edited(&mut self) {
        self.extensions.calls.turned_away();
        self.follow_draft();
    }

    /// What follows the draft does so.
    pub(super) fn follow_draft(&mut self) {
        // A field is nobody's draft.
        if self.composer.is_field() {
            return;
        }
        self.draft_changed();
        self.complete_draft();
    }

    /// What waited for a frame: a question opens when nothing else is open.
    pub fn before_frame(&mut self) {
        let extensions = &mut self.extensions;
        let is_free =
            self.surface.is_none() && self.reader.is_none() && !extensions.panels.is_open();
        if is_free && self.session.is_some() && extensions.questions.open_next(&mut self.composer) {
            self.pane_steps_back();
            // Who has turned to the asker or answered it, and did nothing else since, looks at what
            // comes of it.
            let Extensions {
                questions, calls, ..
            } = &self.extensions;
            let looks = |(owner, is_wanted): (ExtensionId, bool)| {
                is_wanted && calls.is_wanted(owner) || calls.last_answered() == Some(owner)
            };
            if questions.asker().is_some_and(looks) {
                self.typed_at = None;
            }
            self.deaf = Deaf::Unseen;
        }
    }

    /// The last row of the screen, which tells about a question that waits behind what is open.
    pub(super) fn with_question(&self, row: Row, columns: usize) -> Row {
        let waits = self.extensions.questions.waits();
        let Some(asks) = waits.filter(|_| self.session.is_some()) else {
            return row;
        };
        let is_behind_pane = self.pane_has_focus() && self.reader.is_none();
        question::waiting(&asks, !is_behind_pane, row, columns)
    }

    /// Whether who presses keys plays in a panel or a pane and writes nothing, also when a question
    /// has come over it.
    pub(super) fn plays(&self) -> bool {
        let pane = self.extensions.pane.as_ref();
        self.extensions.panels.takes_keys() || pane.is_some_and(|pane| pane.focused)
    }

    /// Whether an interactive panel has the keys, all but two.
    pub(super) fn panel_has_keys(&self) -> bool {
        let is_covered = self.reader.is_some() || self.surface.is_some() || self.has_question();
        self.extensions.panels.takes_keys() && !is_covered && !self.pane_has_focus()
    }

    /// The question that is open.
    pub(super) fn open_question(&self) -> Option<AskId> {
        self.extensions.questions.open()
    }

    pub(super) fn has_question(&self) -> bool {
        self.extensions.questions.is_open()
    }

    /// A key for what an extension shows, in the order of who gets it first.
    pub(super) fn extension_key(&mut self, press: KeyPress, now: Instant) -> bool {
        let before = self.effects.len();
        let is_taken = self.surface_of_extension_key(press, now);
        self.awaits_since(before);
        is_taken
    }

    fn surface_of_extension_key(&mut self, press: KeyPress, now: Instant) -> bool {
        if self.pane_is_open() && press.chord().as_ref() == Some(&self.layout.focus) {
            self.switch_focus();
            return true;
        }
        if self.pane_has_focus() {
            self.pane_key(press);
            self.typed_at = self.pane_is_open().then_some(now);
            return true;
        }
        if self.surface.is_some() {
            return false;
        }
        if self.extensions.questions.is_open() {
            self.typed_at = Some(now);
            let is_taken = self.question_key(press);
            // What is pressed together with the answer is none to the next question, nor a prompt.
            self.before_frame();
            return is_taken;
        }
        if self.extension_takes_keys() {
            self.typed_at = Some(now);
        }
        self.panel_key(press)
    }

    /// Text was pasted: whether it was keys for an extension.
    pub(super) fn extension_paste(&mut self, text: &str, now: Instant) -> bool {
        if self.is_deaf(now) {
            return false;
        }
        let before = self.effects.len();
        let has_pane = self.pane_has_focus();
        let is_taken = has_pane || self.panel_has_keys();
        if has_pane {
            self.paste_keys(text, Self::pane_key);
        } else if is_taken {
            self.paste_keys(text, |app, press| {
                app.panel_key(press);
            });
        }
        self.awaits_since(before);
        is_taken
    }

    /// Takes note of whom a person waits for, if somebody was told something since then.
    pub(super) fn awaits_since(&mut self, before: usize) {
        for effect in &self.effects[before..] {
            if let Effect::Send(Input::Notify(to, method, _)) = effect {
                match *method {
                    // What its owner opens now must not take the keys again.
                    "pane.closed" => self.extensions.calls.turned_away(),
                    _ => self.extensions.calls.turned_to(*to),
                }
                self.extensions.prompt = Some((*to, PROMPT));
            }
        }
    }

    /// The footer surface of an extension, when one shows.
    pub(super) fn extension_surface(&mut self, columns: usize, height: usize) -> Option<Vec<Row>> {
        let question = self.extensions.questions.rows(columns, height);
        question.or_else(|| self.extensions.panels.rows(columns, height))
    }

    /// Whether an extension's surface has the keys that the composer would get.
    pub(super) fn extension_takes_keys(&self) -> bool {
        match self.has_question() {
            true => !self.composer.is_field(),
            false => self.extensions.panels.takes_keys(),
        }
    }

    /// Whether something of an extension's has the keys, or a question gets them with the next
    /// frame.
    pub(super) fn extension_has_or_gets_keys(&self) -> bool {
        self.extensions.questions.has_any() || self.plays()
    }

    /// Whether a question is open and the last thing that the person did was to answer one.
    pub(super) fn follows_answer(&self) -> bool {
        self.has_question() && self.extensions.calls.last_answered().is_some()
    }

    /// Whether something of an extension's is closed by Esc.
    pub(super) fn extension_takes_escape(&self) -> bool {
        let extensions = &self.extensions;
        self.pane_has_focus() || extensions.questions.is_open() || extensions.panels.is_open()
    }

    /// Closes what takes keys: questions are answered as cancelled, the panel is closed.
    pub(super) fn close_extension_surfaces(&mut self) {
        let extensions = &mut self.extensions;
        let cancelled = extensions.questions.cancel_all(&mut self.composer);
        self.effects.extend(cancelled);
        self.effects.extend(extensions.panels.dismiss());
    }

    /// The session ends: nobody will answer what is asked.
    pub(super) fn refuse_questions(&mut self, why: &str, now: Instant) {
        self.forget_renders();
        self.close_arguments();
        let gone = self.take_back(now, |_, _| true).into_iter();
        self.effects.extend(gone.map(|ask| refused(ask, why)));
    }

    /// The session is another one: what was shown in the one before goes, and who showed it is
    /// told.
    pub(super) fn clear_shown(&mut self) {
        self.extensions.slots = Slots::default();
        self.close_pane();
        self.effects.extend(self.extensions.panels.dismiss());
    }

    /// e ends: nothing of theirs stays.
    pub(super) fn forget_extensions(&mut self) {
        self.forget_renders();
        self.composer.close_field();
        self.extensions = Extensions::default();
    }

    /// Nobody waits for the answer to this any more.
    pub(super) fn withdrawn(&mut self, ask: AskId, now: Instant) {
        self.take_back(now, |one, _| one == ask);
    }

    /// What this extension shows must go.
    pub(super) fn extension_gone(&mut self, id: ExtensionId, now: Instant) {
        self.take_back(now, |_, owner| owner == id);
        let extensions = &mut self.extensions;
        extensions.slots.clear_extension(id);
        extensions.panels.close(id);
        extensions.pane.take_if(|pane| pane.owner == id);
    }
}

fn refused(ask: AskId, why: &str) -> Effect {
    Effect::Send(Input::Reply(ask, Err(why.to_owned())))
}

fn answered(ask: AskId, result: Value) -> Effect {
    Effect::Send(Input::Reply(ask, Ok(result)))
}

fn notify(to: ExtensionId, method: &'static str, params: Value) -> Effect {
    Effect::Send(Input::Notify(to, method, params))
}
