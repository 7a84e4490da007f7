//! What is asked of a session between its turns.

use super::*;
use crate::agent::action::Saving;
use crate::agent::event::SessionKey;
use crate::agent::exec::Forking;
use crate::chat::ToolCall;
use crate::session::Entry;

fn entry(id: &str, message: Message) -> Entry {
    Entry {
        id: Some(id.into()),
        message: Arc::new(message),
    }
}

fn prompt(text: &str) -> SessionEvent {
    SessionEvent::Prompt(TURN, Prompt::typed(text), Limits::default())
}

fn written() -> SessionEvent {
    SessionEvent::Appended {
        error: None,
        path: Some("/log".into()),
    }
}

/// A saved session after its first turn.
fn after_a_turn() -> Table {
    let mut table = Table::new(SessionSpec::save_for_test);
    table.check(prompt("hi"), "turn_start, log 1, prepare");
    table.prepared("silence on, ask");
    table.check(written(), "");
    table.stream(vec![text("yes"), done()], "text yes, log 1");
    table.check(written(), "turn_end false, result");
    table
}

#[test]
fn a_rewound_session_goes_on_from_there() {
    let mut table = after_a_turn();
    let head = table.session.conversation.head().map(String::from);
    assert!(head.is_some());
    table.check(
        SessionEvent::Rewind(
            RequestId(5),
            vec![entry("u1", Message::user("hi"))],
            Some("u1".into()),
        ),
        "answer 5",
    );
    assert_eq!(table.session.conversation.head(), Some("u1"));
    table.check(prompt("again"), "turn_start, log 1, prepare");
    table.prepared("silence on, ask");
    assert_eq!(table.history(), "user:hi, user:again");
    for refused in [
        SessionEvent::Rewind(RequestId(6), Vec::new(), None),
        SessionEvent::Undo(RequestId(6)),
    ] {
        table.check(refused, "refuse 6");
    }
}

#[test]
fn before_the_first_message_the_log_goes_on_and_keeps_its_name() {
    let mut table = after_a_turn();
    table.check(
        SessionEvent::Rewind(RequestId(5), Vec::new(), None),
        "answer 5",
    );
    // There is a file to write the name to, and it is written once.
    let rename = SessionEvent::Rename(RequestId(6), Some("n".into()));
    table.check(rename, "log 1, name n, answer 6");
    table.check(
        SessionEvent::Appended {
            error: None,
            path: None,
        },
        "",
    );
    table.check(prompt("anew"), "turn_start, log 1, prepare");
    assert!(table.session.fork().is_err());
}

#[test]
fn a_change_is_taken_back_between_turns() {
    let mut table = Table::new(|_| {});
    table.check(SessionEvent::Undo(RequestId(5)), "undo 5");
    let undone = SessionEvent::Undone(RequestId(5), Ok("restored `f`".into()));
    // The table shows every answer of another kind as refused.
    table.check(undone, "refuse 5");
}

#[test]
fn a_summary_can_be_asked_for_while_a_turn_runs() {
    let mut table = Table::asking(|_| {}, Limits::default());
    let compact = |during| SessionEvent::Compact(RequestId(5), None, during);
    table.check(compact(false), "refuse 5");
    table.check(compact(true), "answer 5");
    let call = ToolCall {
        id: "c".into(),
        name: "read".into(),
        arguments: r#"{"path":"f"}"#.into(),
        signature: None,
    };
    table.stream(
        vec![StreamEvent::Call(call), done()],
        "batch 1, run 1, start 1",
    );
    // The history is too short to be summarised; the turn goes on.
    table.tool(1, "end 1 completed, warning, silence on, ask");
}

fn save(request: u64) -> SessionEvent {
    SessionEvent::Save(Saving::Answer(RequestId(request)))
}

fn not_written() -> SessionEvent {
    SessionEvent::Appended {
        error: Some("1 message is not saved: no room".into()),
        path: None,
    }
}

#[test]
fn what_must_be_on_the_disk_waits_for_one_more_write() {
    // Nothing was said, or nothing is to be kept.
    let mut table = Table::new(SessionSpec::save_for_test);
    table.check(save(5), "answer 5");
    let mut table = Table::asking(|_| {}, Limits::default());
    table.check(save(5), "answer 5");

    let mut table = after_a_turn();
    table.check(save(5), "log 0");
    table.check(save(6), "");
    // What is said meanwhile belongs to it.
    let rename = SessionEvent::Rename(RequestId(7), Some("n".into()));
    table.check(rename, "name n, answer 7");
    assert!(table.session.is_needed());
    table.check(written(), "log 1");
    table.check(written(), "answer 5, answer 6");
    assert!(!table.session.is_needed());
    table.check(save(5), "log 0");
    table.check(not_written(), "refuse 5, warning");
    table.check(save(6), "log 0");
    table.check(not_written(), "refuse 6");
    table.check(save(7), "log 0");
    table.check(written(), "answer 7");
}

#[test]
fn a_fork_is_made_of_what_was_said_when_it_was_asked_for_and_is_saved() {
    let wanted = Forking {
        request: RequestId(8),
        fork: SessionKey(2),
        replaces: None,
    };
    let mut table = after_a_turn();
    let fork = |table: &Table| {
        let fork = table.session.fork().unwrap();
        assert!(fork.is_saved);
        assert_eq!(fork.past.entries.len(), 2);
        SessionEvent::Save(Saving::Fork(wanted, Box::new(fork)))
    };
    let event = fork(&table);
    table.check(event, "log 0");
    table.check(not_written(), "refuse 8, warning");
    let event = fork(&table);
    table.check(event, "log 0");
    table.check(prompt("more"), "turn_start, prepare");
    table.check(written(), "log 1");
    assert!(table.session.fork().is_err());
    table.check(written(), "fork");
}
