//! What extensions show and ask.

use std::time::Instant;

use serde_json::{Value, json};

use super::{App, Effect};
use crate::agent::{Input, RequestId};
use crate::extension::request::{Request, Session as SessionRequest, Tone, Ui};
use crate::extension::{AskId, Asked, ExtensionId, Failure};
use crate::tui::key::KeyPress;
use crate::tui::style::Row;

impl App {
    /// An extension wants something.
    pub(super) fn asked(&mut self, asked: Asked) -> Vec<Effect> {
        let done = Ok(json!({}));
        let result: Result<Value, String> = match asked.request {
            Request::Ui(Ui::Notify { message, tone }) => {
                match tone {
                    Tone::Error => self.transcript.push_error(&message),
                    Tone::Warning => self.transcript.push_notice(&format!("warning: {message}")),
                    Tone::Info => self.transcript.push_notice(&message),
                }
                done
            }
            Request::Ui(Ui::Show(show)) => {
                self.transcript.push_show(&show);
                done
            }
            Request::Ui(Ui::Compose(text)) => {
                self.composer.set_text(&text);
                done
            }
            Request::Session(SessionRequest::Model(name)) => {
                return self.extension_selects(asked.ask, Some(name), None);
            }
            Request::Session(SessionRequest::Effort(level)) => {
                return self.extension_selects(asked.ask, None, Some(level));
            }
            Request::Ui(_) | Request::Session(_) => Err("no ui".into()),
        };
        vec![Effect::Send(Input::Reply(asked.ask, result))]
    }

    fn extension_selects(
        &mut self,
        ask: AskId,
        model: Option<String>,
        effort: Option<String>,
    ) -> Vec<Effect> {
        let chosen = match &self.session {
            None => Err("there is no session".to_owned()),
            Some(session) => self
                .process
                .select(&session.selection, model.as_deref(), effort)
                .map_err(|error| error.to_string()),
        };
        match chosen {
            Err(why) => vec![Effect::Send(Input::Reply(ask, Err(why)))],
            Ok(selection) => {
                let mut effects = self.select(selection);
                effects.push(Effect::Send(Input::Reply(ask, Ok(json!({})))));
                effects
            }
        }
    }

    /// Nobody waits for the answer to this any more.
    pub(super) fn withdrawn(&mut self, _ask: AskId) {}

    /// What this extension shows must go.
    pub(super) fn extension_gone(&mut self, _id: ExtensionId) {}

    /// An extension has answered a command, a shortcut or a completion.
    pub(super) fn called(
        &mut self,
        _request: RequestId,
        _result: Result<Value, Failure>,
        _now: Instant,
    ) -> Vec<Effect> {
        Vec::new()
    }

    /// A key that nothing else wanted.
    pub(super) fn shortcut(&mut self, _press: &KeyPress) -> Vec<Effect> {
        Vec::new()
    }

    pub(super) fn widgets(&self, _columns: usize) -> Vec<Row> {
        Vec::new()
    }

    pub(super) fn activity_slots(&self) -> String {
        String::new()
    }

    pub(super) fn status_slots(&self, _token: &str) -> String {
        String::new()
    }
}
