//! Hooks on their way through the extensions. One that fails is passed over, and a person is told.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Host, HostEvent};
use crate::extension::child::{Purpose, State};
use crate::extension::hooks::{Chain, Hook, Step};
use crate::extension::manifest::HookKind;
use crate::extension::{ExtensionId, Ticket, fields};

/// How long a hook may take, each time it is asked.
const HOOK: Duration = Duration::from_secs(5);

impl Host {
    /// Asks every extension that declared this hook.
    pub fn ask(&mut self, hook: Hook, now: Instant) -> Ticket {
        let ticket = self.ticket();
        self.chains.insert(ticket, Chain::new(hook));
        self.advance(ticket, now);
        ticket
    }

    /// How often hooks failed open since the last time this was asked, beyond what was told.
    pub fn take_failures(&mut self) -> Vec<String> {
        let mut notices = Vec::new();
        for child in &mut self.children {
            for (kind, count) in &mut child.failures {
                match std::mem::take(count) {
                    0 => {}
                    1 => notices.push(format!(
                        "extension {}: its hook {} failed open once more",
                        child.file,
                        kind.name()
                    )),
                    count => notices.push(format!(
                        "extension {}: its hook {} failed open {count} more times",
                        child.file,
                        kind.name()
                    )),
                }
            }
        }
        notices
    }

    /// Brings a chain to the next extension that has the hook, or to its end.
    pub(super) fn advance(&mut self, ticket: Ticket, now: Instant) {
        loop {
            let Some(chain) = self.chains.get_mut(&ticket) else {
                return;
            };
            let index = chain.next;
            let Some(child) = self.children.get_mut(index) else {
                return self.decide(ticket);
            };
            chain.next += 1;
            let concerned = child
                .manifest
                .as_ref()
                .is_some_and(|manifest| chain.concerns(manifest));
            match child.state {
                State::Running if concerned => {
                    child.hooks.push_back(ticket);
                    return self.ask_next(index, now);
                }
                // Its exit was told; only the count goes on.
                State::Gone if concerned => {
                    let kind = chain.kind();
                    child.count_failure(kind);
                }
                _ => {}
            }
        }
    }

    /// Asks the extension the oldest hook that waits for it, if it is not being asked.
    pub(super) fn ask_next(&mut self, index: usize, now: Instant) {
        let child = &mut self.children[index];
        while child.asking.is_none() {
            let Some(ticket) = child.hooks.pop_front() else {
                return;
            };
            if let Some(chain) = self.chains.get(&ticket) {
                let (method, params) = (chain.kind().method(), chain.params());
                child.asking = child.request(method, &params, Purpose::Hook(ticket), HOOK, now);
                if child.asking.is_none() {
                    return self.give_up(ExtensionId(index), now);
                }
            }
        }
    }

    pub(super) fn hook_answered(
        &mut self,
        id: ExtensionId,
        ticket: Ticket,
        result: Result<Value, String>,
        now: Instant,
    ) {
        let name = self.children[id.0].name().to_owned();
        let Some(chain) = self.chains.get_mut(&ticket) else {
            return;
        };
        let kind = chain.kind();
        let step = match result {
            Ok(answer) => chain.take(&name, &answer),
            Err(error) => Err(format!("it answered: {}", fields::line(&error, 200))),
        };
        match step {
            Ok(Step::Decided) => self.decide(ticket),
            Ok(Step::Next) => self.advance(ticket, now),
            Err(why) => {
                self.failed_open(id, kind, &why);
                self.advance(ticket, now);
            }
        }
    }

    /// A hook did not do its part. Told once for each hook of an extension, counted after that.
    pub(super) fn failed_open(&mut self, id: ExtensionId, kind: HookKind, why: &str) {
        let child = &mut self.children[id.0];
        if child.count_failure(kind) {
            let (file, hook) = (child.file.clone(), kind.name());
            self.notice(format!(
                "extension {file}: its hook {hook} failed and was passed over ({why}) - it does not guard while it fails"
            ));
        }
    }

    pub(super) fn decide(&mut self, ticket: Ticket) {
        if let Some(chain) = self.chains.remove(&ticket) {
            self.out
                .push_back(HostEvent::Hooked(ticket, chain.into_verdict()));
        }
    }
}
