//! What waits for the frontend, in order.
//!
//! The loop never waits for a frontend. While one is behind, outputs collect here and the loop
//! stops listening to provider streams, which slows them through TCP; live tool output, a preview
//! by contract, is dropped with the gap marked. Nothing else is ever dropped.

use std::collections::HashMap;

use super::event::{Output, SessionKey, TurnEvent};

/// Waiting text above which the frontend counts as behind, in bytes.
const HIGH_WATER: usize = 256 * 1024;

/// Outputs that have not been handed over.
#[derive(Debug, Default)]
pub struct Outbox {
    waiting: Vec<Output>,
    bytes: usize,
    /// Bytes of live output that were dropped, by call.
    gaps: HashMap<(SessionKey, u64), usize>,
}

impl Outbox {
    /// Adds an output.
    pub fn push(&mut self, mut output: Output) {
        let congested = self.is_congested();
        if let Output::Event { session, event, .. } = &mut output {
            match event {
                TurnEvent::ToolOutput { id, chunk, .. } => {
                    if congested {
                        *self.gaps.entry((*session, *id)).or_default() += chunk.len();
                        return;
                    }
                    if let Some(gap) = self.gaps.remove(&(*session, *id)) {
                        chunk.insert_str(0, &format!("\n[{gap} bytes not shown]\n"));
                    }
                }
                TurnEvent::ToolEnd { id, .. } => {
                    self.gaps.remove(&(*session, *id));
                }
                _ => {}
            }
            self.bytes += size(event);
        }
        if let Output::Notice(text)
        | Output::Said { text, .. }
        | Output::Diagnostic { line: text, .. } = &output
        {
            // Extensions can talk faster than anybody reads; nothing waits for them.
            if congested {
                return;
            }
            self.bytes += 64 + text.len();
        }
        if let Output::Held { text, .. } = &output {
            self.bytes += 64 + text.len();
        }
        self.waiting.push(output);
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the frontend is behind.
    pub fn is_congested(&self) -> bool {
        self.bytes > HIGH_WATER
    }

    /// Takes all that waits.
    pub fn take(&mut self) -> Vec<Output> {
        self.bytes = 0;
        std::mem::take(&mut self.waiting)
    }
}

/// Roughly what an event holds; small ones count too, so that many of them add up.
fn size(event: &TurnEvent) -> usize {
    64 + match event {
        TurnEvent::Text(text) | TurnEvent::Reasoning(text) => text.text().len(),
        TurnEvent::ToolOutput { chunk, .. } => chunk.len(),
        TurnEvent::ToolEnd { content, .. } => content.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat;

    fn event(event: TurnEvent) -> Output {
        Output::Event {
            session: SessionKey(1),
            request: None,
            event,
        }
    }

    fn live(text: &str) -> Output {
        let chunk = text.to_string();
        event(TurnEvent::ToolOutput {
            id: 7,
            stream: chat::Output::Stdout,
            chunk,
        })
    }

    #[test]
    fn only_live_output_is_dropped_and_the_gap_is_marked() {
        let mut outbox = Outbox::default();
        outbox.push(event(TurnEvent::Text("x".repeat(HIGH_WATER).into())));
        assert!(outbox.is_congested());
        outbox.push(live("abc"));
        outbox.push(event(TurnEvent::Text("y".into())));
        assert_eq!(outbox.take().len(), 2);
        assert!(!outbox.is_congested());
        outbox.push(live("def"));
        let Some(Output::Event {
            event: TurnEvent::ToolOutput { chunk, .. },
            ..
        }) = outbox.take().pop()
        else {
            panic!("no live output")
        };
        assert_eq!(chunk, "\n[3 bytes not shown]\ndef");
    }
}
