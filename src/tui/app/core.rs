//! What the core says.

use std::time::Instant;

use super::session::Asked;
use super::submit::Line;
use super::turn::failure_text;
use super::{App, Effect, Turn};
use crate::agent::{Answer, Output, RequestId, TurnEvent};
use crate::extension::Verdict;

impl App {
    /// Takes what the core hands over.
    pub fn on_outputs(&mut self, outputs: Vec<Output>, now: Instant) {
        for output in outputs {
            match output {
                Output::Event {
                    session,
                    request,
                    event,
                } => {
                    if self.session.as_ref().is_some_and(|one| one.key == session) {
                        self.on_event(request, &event, now);
                    }
                }
                Output::Held {
                    session,
                    message,
                    text,
                } => {
                    if self.session.as_ref().is_some_and(|one| one.key == session) {
                        self.queue.held(message, Line::prompt(text));
                    }
                }
                Output::Answer { request, answer } => self.on_answer(request, answer, now),
                Output::Notice(text) => self.tell(&text),
                Output::Diagnostic { extension, line } => {
                    self.transcript.push_diagnostic(&extension, &line);
                }
                Output::Said { extension: _, text } => self.tell(&text),
                Output::Asked(asked) => self.asked(*asked),
                Output::Withdrawn(ask) => self.withdrawn(ask, now),
                Output::ExtensionGone(id) => self.extension_gone(id, now),
                // Signals are this frontend's own business.
                Output::Ending(_) => {}
            }
        }
    }

    fn on_event(&mut self, request: Option<RequestId>, event: &TurnEvent, now: Instant) {
        if self.shell_event(request, event) {
            return;
        }
        match event {
            TurnEvent::Steered(text) => self.queue_taken(text),
            TurnEvent::Discarded(texts) => self.queue_discarded(texts),
            _ => {}
        }
        let Some(session) = &mut self.session else {
            return;
        };
        match event {
            TurnEvent::TurnStart | TurnEvent::Compacting => {
                // One that an extension or the core itself began has no prompt that was submitted
                // here.
                let request = request.unwrap_or(RequestId::NOBODY);
                session.asked.take_if(|asked| asked.request == request);
                session.is_given_up = false;
                let is_it = |turn: &Turn| turn.request == request;
                if !session.turn.as_ref().is_some_and(is_it) {
                    session.turn = Some(Turn {
                        summarises: *event == TurnEvent::Compacting,
                        ..Turn::new(request, now)
                    });
                }
            }
            TurnEvent::Usage(usage) => session.context_tokens = usage.prompt() + usage.output,
            TurnEvent::Compacted { context_tokens, .. } => session.context_tokens = *context_tokens,
            TurnEvent::SessionName(name) => session.name.clone_from(name),
            _ => {}
        }
        if let Some(turn) = &mut session.turn {
            turn.apply(event, now);
        }
        self.prepare_renders(event);
        self.transcript.apply(event);
        self.ask_renders(event);
    }

    fn on_answer(&mut self, request: RequestId, answer: Answer, now: Instant) {
        match answer {
            Answer::Turn(mut result) => {
                if let (Some(error), Some(details)) = (&mut result.error, &result.details) {
                    *error = failure_text(error, details, &self.settings);
                }
                let session = self.session.as_mut();
                let turn = session.and_then(|session| {
                    session.asked.take_if(|asked| asked.request == request);
                    session.turn.take_if(|turn| turn.request == request)
                });
                if let Some(turn) = turn {
                    let elapsed = now.saturating_duration_since(turn.started);
                    let elapsed = (!turn.summarises).then_some(elapsed);
                    self.transcript.end_turn(&result, elapsed);
                    self.queue_turn_over();
                }
                if let (Some(session), Some(log)) = (&mut self.session, result.log) {
                    session.log = Some(log);
                }
                self.next_line(now)
            }
            Answer::Shell(result) => self.shell_done(&result, now),
            Answer::Refused(why) => {
                if self.queue_refused(request, now) {
                    return;
                }
                let Some(session) = &mut self.session else {
                    self.transcript.push_error(&why);
                    return self.refused(request, now);
                };
                session.turn.take_if(|turn| turn.request == request);
                if session
                    .shell
                    .take_if(|shell| shell.request == request)
                    .is_some()
                {
                    self.transcript.end_shell(None);
                }
                let asked = session.asked.take_if(|asked| asked.request == request);
                match asked {
                    // Something else has begun meanwhile; the line has its turn after that.
                    Some(asked) if self.is_busy() => self.queue.first(asked.line),
                    Some(Asked { line, .. }) => {
                        self.transcript.push_error(&why);
                        self.give_back([line]);
                    }
                    None => self.transcript.push_error(&why),
                }
                self.refused(request, now);
                self.next_line(now);
            }
            Answer::Hooked(verdict) => match *verdict {
                Verdict::Render(shown) => self.rendered(request, shown),
                verdict => self.input_hooked(request, verdict, now),
            },
            Answer::Called(result) => {
                self.called(request, result, now);
                // Somebody ran a command, or has typed a part of one.
                self.effects.push(Effect::Paint);
            }
            Answer::Done => {
                self.queue_done(request);
                self.awaited(request, Answer::Done, now)
            }
            answer => self.awaited(request, answer, now),
        }
    }
}
