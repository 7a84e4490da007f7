//! What an extension says into its session, in every state.

use super::*;
use crate::extension::AskId;
use crate::extension::request;

fn send(internal: bool, run: bool, next_turn: bool) -> SessionEvent {
    let asked = request::Session::Send {
        content: "word".into(),
        internal,
        run,
        next_turn,
    };
    SessionEvent::Asked(AskId::for_test(1), asked)
}

const DONE: &str = "reply Ok(Object {})";

#[test]
fn between_turns() {
    let begins = "turn_start, prepare";
    for (internal, run, next_turn, expected, history) in [
        (
            false,
            true,
            false,
            format!("steered word, {begins}, {DONE}"),
            "user:word",
        ),
        (
            true,
            true,
            false,
            format!("{begins}, {DONE}"),
            "internal:word",
        ),
        (
            false,
            false,
            false,
            format!("steered word, {DONE}"),
            "steered:word",
        ),
        (true, false, false, DONE.into(), "internal:word"),
        (true, false, true, DONE.into(), "internal:word"),
    ] {
        let mut table = Table::new(|_| {});
        table.check(send(internal, run, next_turn), &expected);
        if !run {
            table.submits("hi", begins);
        }
        table.prepared("silence on, ask");
        assert!(table.history().contains(history), "{}", table.history());
    }
}

#[test]
fn the_next_turn_is_the_users() {
    let mut table = Table::new(|_| {});
    table.check(send(true, false, true), DONE);
    let begins = "turn_start, prepare";
    table.check(send(true, true, false), &format!("{begins}, {DONE}"));
    table.prepared("silence on, ask");
    assert_eq!(table.history(), "internal:word");
}

#[test]
fn what_waits_is_bounded() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let asked = |size| request::Session::Send {
        content: "x".repeat(size),
        internal: true,
        run: false,
        next_turn: true,
    };
    let event = |size| SessionEvent::Asked(AskId::for_test(1), asked(size));
    table.check(event(6 << 20), DONE);
    let refused = "reply Err(\"more than 10 MiB of messages wait for a turn already\")";
    table.check(event(6 << 20), refused);
    table.check(event(3 << 20), DONE);
}

#[test]
fn during_a_turn() {
    let refused = "reply Err(\"a turn is running; use `run` or `when`\")";
    let held = "held word, reply Ok(Object {})";
    for (internal, run, next_turn, expected) in [
        (false, true, false, held),
        (true, true, false, DONE),
        (false, false, false, refused),
        (true, false, false, refused),
        (true, false, true, DONE),
    ] {
        let mut table = Table::asking(|_| {}, Limits::default());
        table.check(send(internal, run, next_turn), expected);
        // What a person sees waiting can be taken back.
        let held = table.session.conversation.held.front();
        if let Some(id) = held.and_then(|held| held.from) {
            table.wants(9, Want::Amend(id, None), "answer 9");
        }
        assert_eq!(
            table.session.conversation.held.len(),
            usize::from(internal && run)
        );
    }
}

#[test]
fn while_the_conversation_is_compacted() {
    let mut table = super::compaction::long(2, |_| {});
    table.wants(1, compact(None, false), "compacting, silence on, ask");
    let refused = "reply Err(\"the conversation is being compacted - try again after it\")";
    table.check(send(false, true, false), refused);
    table.check(send(true, false, false), refused);
    table.check(send(true, false, true), DONE);
}
