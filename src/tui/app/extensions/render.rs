//! Entries that an extension renders: what is asked when one is complete, and what comes of it.

use std::collections::{HashMap, VecDeque};

use super::super::{App, Effect};
use crate::agent::{Input, RequestId, TurnEvent};
use crate::extension::answer::Rendered;
use crate::extension::{Entry, Hook};

/// Entries that wait for their rendering. The host answers every hook in time.
#[derive(Debug, Default)]
pub(super) struct Renders {
    /// The tools of the calls of this turn.
    tools: HashMap<u64, String>,
    results: HashMap<RequestId, u64>,
    /// Held replies, oldest first; they are released in this order.
    replies: VecDeque<Reply>,
}

#[derive(Debug)]
struct Reply {
    request: RequestId,
    verdict: Option<Option<Rendered>>,
}

impl App {
    /// Before the transcript takes account of an event: replies are held where one renders them.
    pub(in crate::tui::app) fn prepare_renders(&mut self, event: &TurnEvent) {
        if *event == TurnEvent::TurnStart {
            let holds = self.process.extensions.renders_replies();
            self.transcript.hold_replies(holds);
            self.extensions.renders.tools.clear();
        }
    }

    /// After it: asks about what is complete now.
    pub(in crate::tui::app) fn ask_renders(&mut self, event: &TurnEvent) {
        for content in self.transcript.take_completed() {
            let request = self.next_request();
            self.extensions.renders.replies.push_back(Reply {
                request,
                verdict: None,
            });
            let entry = Entry::Assistant;
            self.effects.push(ask(request, entry, content));
        }
        let renders = &mut self.extensions.renders;
        match event {
            TurnEvent::ToolBatch(calls) => {
                let rendered = calls
                    .iter()
                    .filter(|call| self.process.extensions.renders_tool(&call.name));
                let names = rendered.map(|call| (call.id, call.name.clone()));
                renders.tools.extend(names);
            }
            TurnEvent::ToolEnd { id, content, .. } => {
                if let Some(tool) = renders.tools.remove(id) {
                    let request = self.next_request();
                    self.extensions.renders.results.insert(request, *id);
                    self.effects
                        .push(ask(request, Entry::Tool(tool), content.clone()));
                }
            }
            _ => {}
        }
    }

    /// The extensions have looked at an entry.
    pub(in crate::tui::app) fn rendered(&mut self, request: RequestId, shown: Option<Rendered>) {
        let renders = &mut self.extensions.renders;
        if let Some(call) = renders.results.remove(&request) {
            if let Some(shown) = shown {
                self.transcript
                    .replace_detail(call, &shown.body, shown.format);
            }
            return;
        }
        if let Some(reply) = renders
            .replies
            .iter_mut()
            .find(|one| one.request == request)
        {
            reply.verdict = Some(shown);
        }
        while let Some(verdict) = renders
            .replies
            .front_mut()
            .and_then(|reply| reply.verdict.take())
        {
            renders.replies.pop_front();
            let shown = verdict.as_ref();
            let shown = shown.map(|shown| (shown.body.as_str(), shown.format));
            self.transcript.release_reply(shown);
        }
    }

    /// Nobody will render what waits: it stays as e paints it.
    pub(super) fn forget_renders(&mut self) {
        let renders = std::mem::take(&mut self.extensions.renders);
        for _ in renders.replies {
            self.transcript.release_reply(None);
        }
    }
}

fn ask(request: RequestId, entry: Entry, content: String) -> Effect {
    Effect::Send(Input::Hook(request, Hook::Render { entry, content }))
}
