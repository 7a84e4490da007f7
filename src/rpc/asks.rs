//! What extensions have to say and to ask, relayed to a client that greeted.
//!
//! These lines belong to the process and name no session. A client that never greeted sees none
//! of them; what e itself has to say about extensions is kept for it, the newest first to stay.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::server::Server;
use super::wire::Id;
use crate::agent::Input;
use crate::error::Error;
use crate::extension::request::{Request, Ui};
use crate::extension::{AskId, Asked, Serves};
use crate::text::json::write_value;

/// Notices that are kept until a client greets.
const KEPT: usize = 64;

/// What a client was told and asked.
#[derive(Debug, Default)]
pub struct Asks {
    greeted: bool,
    /// Whether the client answers questions.
    answers: bool,
    kept: VecDeque<String>,
    open: BTreeMap<u64, AskId>,
    last: u64,
}

impl Server {
    /// A client said who it is. Asks that are open stay open.
    pub fn greeted(&mut self, answers: bool) {
        self.asks.greeted = true;
        self.asks.answers = answers;
        self.send(Input::Serve(Serves::Client { answers }));
        for text in std::mem::take(&mut self.asks.kept) {
            self.notice(text);
        }
    }

    /// Tells the client something about an extension, now or when it greets.
    pub fn notice(&mut self, text: String) {
        if self.asks.greeted {
            return self.line(&json!({"type": "notice", "message": text}));
        }
        if self.asks.kept.len() == KEPT {
            self.asks.kept.pop_front();
        }
        self.asks.kept.push_back(text);
    }

    /// An extension has something to say.
    pub fn said(&mut self, text: String) {
        if self.asks.greeted {
            self.notice(text);
        }
    }

    /// An extension wants something: it is passed on or refused.
    pub fn asked(&mut self, asked: Asked) {
        let Asked {
            ask,
            extension,
            method,
            params,
            request,
            ..
        } = asked;
        let result = match request {
            Request::Ui(Ui::Notify { .. } | Ui::Show(_)) => {
                if self.asks.greeted {
                    self.line(&json!({
                        "type": "notice",
                        "extension": extension,
                        "method": method,
                        "params": params,
                    }));
                }
                Ok(json!({}))
            }
            Request::Ui(ui) if ui.is_question() && self.asks.answers => {
                self.asks.last += 1;
                let number = self.asks.last;
                self.asks.open.insert(number, ask);
                return self.line(&json!({
                    "type": "ask",
                    "ask": number,
                    "extension": extension,
                    "method": method,
                    "params": params,
                }));
            }
            Request::Ui(_) | Request::Session(_) => Err("no ui".into()),
        };
        self.send(Input::Reply(ask, result));
    }

    /// Nobody waits for the answer to this any more.
    pub fn withdrawn(&mut self, ask: AskId) {
        self.asks.open.retain(|_, open| *open != ask);
    }

    /// The client answers a question.
    pub fn ask_reply(&mut self, id: Id, number: u64, result: Option<Value>) {
        match self.asks.open.remove(&number) {
            Some(ask) => {
                let result = result.unwrap_or_else(|| json!({"cancelled": true}));
                self.send(Input::Reply(ask, Ok(result)));
                self.answer(id, &json!({}));
            }
            None => {
                let error = Error::usage(format!("there is no such open ask: {number}"));
                self.refuse(id, &error);
            }
        }
    }

    fn line(&mut self, value: &Value) {
        // Writing to memory does not fail.
        let _ = write_value(&mut self.out, value);
        self.out.push(b'\n');
    }
}
