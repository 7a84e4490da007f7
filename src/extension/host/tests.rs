//! What time does to what a host has asked. Real extensions, and a clock that the test sets.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::chat::Output;
use crate::extension::discover;
use crate::extension::hooks::{Hook, Verdict};
use crate::extension::registry::Reserved;
use crate::sys::Env;

/// A host of one extension: a shell script that has answered `initialize` with this manifest. The
/// requests after it have the ids 2, 3 and so on.
pub(crate) fn host_of(manifest: &Value, script: &str) -> (Host, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("slow");
    let answer = json!({"id": 1, "result": manifest});
    let text = format!("#!/bin/sh\nread -r line\necho '{answer}'\n{script}\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut host = Host::launch(Launch {
        files: discover::find(&[home.path().to_path_buf()]).0,
        cwd: home.path(),
        env: &Env::capture(),
        config: json!({}),
        serves: Serves::default(),
        tap: None,
    });
    host.wait_until_ready(&Reserved {
        commands: &[],
        options: &[],
        chord: |chord| Ok(chord.to_owned()),
    });
    assert!(host.take_notices().is_empty());
    (host, home)
}

/// The next event, within what the real clock allows a request.
fn next(host: &mut Host) -> HostEvent {
    loop {
        match host.next_event() {
            Some(event) => return event,
            None => host.wait(),
        }
    }
}

fn gate() -> Hook {
    Hook::ToolCall {
        name: "bash".into(),
        arguments: json!({}),
    }
}

#[test]
fn a_late_answer_to_a_hook_changes_nothing() {
    // Answers the first hook once it is asked the second.
    let script = r#"
        read -r first; read -r second
        echo '{"id":2,"result":{"block":true}}'
        echo '{"id":3,"result":{}}'
        read -r end"#;
    let (mut host, _home) = host_of(&json!({"name": "a", "hooks": ["tool_call"]}), script);
    let now = Instant::now();
    let first = host.ask(gate(), now);
    host.on_deadline(now + Duration::from_millis(4_999));
    assert!(host.next_event().is_none());
    host.on_deadline(now + Duration::from_secs(5));
    let HostEvent::Notice(notice) = next(&mut host) else {
        panic!("no notice");
    };
    assert!(notice.contains("no answer within 5 seconds"), "{notice}");
    let HostEvent::Hooked(ticket, Verdict::ToolCall(None)) = next(&mut host) else {
        panic!("a silent gate blocks");
    };
    assert_eq!(ticket, first);
    let second = host.ask(gate(), now);
    let HostEvent::Hooked(ticket, Verdict::ToolCall(None)) = next(&mut host) else {
        panic!("the late answer counts");
    };
    assert_eq!(ticket, second);
    host.shut_down();
}

#[test]
fn what_a_tool_says_after_its_time_reaches_nobody() {
    let script = r#"
        read -r first; read -r second
        echo '{"method":"tool.update","params":{"id":2,"chunk":"late"}}'
        echo '{"id":2,"result":{"content":"late"}}'
        echo '{"id":2,"result":{"content":"again"}}'
        echo '{"method":"tool.update","params":{"id":3,"chunk":"in time"}}'
        echo '{"id":3,"result":{"content":"done"}}'
        read -r end"#;
    let (mut host, _home) = host_of(&json!({"name": "a", "tools": [{"name": "t"}]}), script);
    let (now, limit) = (Instant::now(), Duration::from_secs(300));
    let to = ExtensionId(0);
    let first = host.call(to, "tool_call", &json!({"name": "t"}), limit, now);
    host.on_deadline(now + limit);
    match next(&mut host) {
        HostEvent::Answered(ticket, Err(Failure::TimedOut(after))) => {
            assert_eq!((ticket, after), (first, limit));
        }
        other => panic!("{other:?}"),
    }
    let second = host.call(to, "tool_call", &json!({"name": "t"}), limit, now);
    match next(&mut host) {
        HostEvent::Update(ticket, Output::Stdout, text) => {
            assert_eq!((ticket, text.as_str()), (second, "in time"));
        }
        other => panic!("{other:?}"),
    }
    match next(&mut host) {
        HostEvent::Answered(ticket, Ok(result)) => {
            assert_eq!((ticket, &result["content"]), (second, &json!("done")));
        }
        other => panic!("{other:?}"),
    }
    host.shut_down();
}
