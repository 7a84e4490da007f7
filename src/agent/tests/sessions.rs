//! What is asked of a session between its turns.

use super::*;
use crate::agent::action::{LogEntry, Saving};
use crate::agent::event::SessionKey;
use crate::agent::exec::Forking;
use crate::agent::session::Fork;
use crate::session::{Entry, Record};

fn entry(id: &str, message: Message) -> Entry {
    Entry {
        id: Some(id.into()),
        message: Arc::new(message),
    }
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
    table.submits("hi", "turn_start, log 1, prepare");
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
    let there = vec![entry("u1", Message::user("hi"))];
    table.wants(5, Want::Rewind(there, Some("u1".into())), "answer 5");
    assert_eq!(table.session.conversation.head(), Some("u1"));
    table.submits("again", "turn_start, log 1, prepare");
    table.prepared("silence on, ask");
    assert_eq!(table.history(), "user:hi, user:again");
    table.wants(6, Want::Rewind(Vec::new(), None), "refuse 6");
    table.wants(6, Want::Undo, "refuse 6");
}

#[test]
fn before_the_first_message_the_log_goes_on_and_keeps_its_name() {
    let mut table = after_a_turn();
    table.wants(5, Want::Rewind(Vec::new(), None), "answer 5");
    // There is a file to write the name to, and it is written once.
    table.wants(6, Want::Rename(Some("n".into())), "log 1, name n, answer 6");
    table.check(
        SessionEvent::Appended {
            error: None,
            path: None,
        },
        "",
    );
    table.submits("anew", "turn_start, log 1, prepare");
    assert!(table.session.fork().is_err());
}

#[test]
fn a_change_is_taken_back_between_turns() {
    let mut table = Table::new(|_| {});
    table.wants(5, Want::Undo, "undo 5");
    let undone = SessionEvent::Undone(RequestId(5), Ok("restored `f`".into()));
    // The table shows every answer of another kind as refused.
    table.check(undone, "refuse 5");
}

#[test]
fn a_summary_can_be_asked_for_while_a_turn_runs() {
    let mut table = Table::asking(|_| {}, Limits::default());
    table.wants(5, compact(None, false), "refuse 5");
    table.wants(5, compact(None, true), "answer 5");
    table.stream(
        vec![call("c", "read", r#"{"path":"f"}"#), done()],
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
    table.wants(7, Want::Rename(Some("n".into())), "name n, answer 7");
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
    table.check(not_written(), "fork, warning");
    let event = fork(&table);
    table.check(event, "log 0");
    table.submits("more", "turn_start, prepare");
    table.check(written(), "log 1");
    assert!(table.session.fork().is_err());
    table.check(written(), "fork");
}

#[test]
fn a_fork_of_what_is_in_no_file_writes_it_whole() {
    let Fork { spec, mut past, .. } = after_a_turn().session.fork().unwrap();
    past.name = Some("n".into());
    // A summary is in no record of its own.
    past.entries.insert(
        0,
        Entry {
            id: None,
            ..past.entries[0].clone()
        },
    );
    let last = past.entries[2].id.clone();
    let mut session = Session::new(spec, &mut past);
    assert_eq!(session.conversation.head(), last.as_deref());
    let now = after_a_turn().now;
    let prompt = Want::Prompt(Prompt::typed("more"), Limits::default());
    let actions = session.step(SessionEvent::Want(RequestId(1), prompt), now);
    let written = actions.iter().find_map(|action| match action {
        Action::Append(entries) => Some(entries),
        _ => None,
    });
    let mut before = None;
    for (n, entry) in written.unwrap().iter().enumerate() {
        match entry {
            LogEntry::Record(Record::Message { id, parent, .. }) => {
                assert_eq!(*parent, before);
                before = Some(id.clone());
            }
            LogEntry::Record(Record::Name(name)) => assert_eq!((n, name.as_str()), (3, "n")),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(before.as_deref(), session.conversation.head());
    assert_eq!(session.conversation.history.len(), 4);
}
