//! Frames that come faster than they are shown.
//!
//! An extension may have so many unanswered requests and no more. Who redraws without waiting would lose
//! the last frame to that limit, and the screen would stay wrong. So the newest frame of each thing
//! waits for room, and only the one that it replaces is refused.

use std::time::Instant;

use serde_json::Value;
use serde_json::value::RawValue;

use super::Host;
use crate::extension::child::{Child, MAX_OPEN};
use crate::extension::{ExtensionId, wire};

/// What shows one state of something: a newer one makes it worthless.
const FRAMES: &[&str] = &[
    "ui.panel",
    "ui.pane",
    "ui.status",
    "ui.activity",
    "ui.widget",
];

/// Longest frame that waits, in bytes.
const FRAME: usize = 512 << 10;

/// Things of one extension of which a frame may wait.
const THINGS: usize = 8;

/// A frame that waits for room.
#[derive(Debug)]
pub(in crate::extension) struct Late {
    id: Box<RawValue>,
    method: String,
    params: Value,
}

impl Late {
    fn shows_the_same(&self, other: &Self) -> bool {
        self.method == other.method && self.params.get("key") == other.params.get("key")
    }
}

/// What a request without room is answered with.
pub(super) fn no_room() -> String {
    format!("{MAX_OPEN} of your requests are unanswered; wait for an answer")
}

impl Host {
    /// Takes a request for which there is no room. It waits if it is a frame and room will come
    /// without a person; else it is refused.
    pub(super) fn postpone(
        &mut self,
        from: ExtensionId,
        id: Box<RawValue>,
        method: String,
        (params, size): (Value, usize),
        now: Instant,
    ) {
        let child = &mut self.children[from.0];
        let is_frame = FRAMES.contains(&method.as_str()) && size <= FRAME;
        let late = Late { id, method, params };
        let refused = match is_frame && child.waits_for_e() {
            true => replace(child, late),
            false => Some(late),
        };
        if let Some(refused) = refused {
            self.refuse_late(from, &refused, &no_room(), now);
        }
    }

    /// There is room again: serves the frame that has waited longest.
    pub(super) fn serve_late(&mut self, from: ExtensionId, now: Instant) {
        let late = &mut self.children[from.0].late;
        if !late.is_empty() {
            let Late { id, method, params } = late.remove(0);
            self.on_request(from, id, method, (params, 0), now);
        }
    }

    /// Refuses every frame that waits.
    pub(super) fn refuse_all_late(&mut self, why: &str, now: Instant) {
        for index in 0..self.children.len() {
            for late in std::mem::take(&mut self.children[index].late) {
                self.refuse_late(ExtensionId(index), &late, why, now);
            }
        }
    }

    fn refuse_late(&mut self, from: ExtensionId, late: &Late, why: &str, now: Instant) {
        let refusal = wire::response(&late.id, &Err(why.into()));
        if !self.children[from.0].post(&refusal, now) {
            self.give_up(from, now);
        }
    }
}

/// Puts a frame in the place of an earlier one, or in one of its own. Gives back what has no place.
fn replace(child: &mut Child, late: Late) -> Option<Late> {
    let frames = &mut child.late;
    match frames.iter().position(|one| one.shows_the_same(&late)) {
        Some(at) => Some(std::mem::replace(&mut frames[at], late)),
        None if frames.len() < THINGS => {
            frames.push(late);
            None
        }
        None => Some(late),
    }
}
