//! What a shell command sees, and what is seen of it.

use serde_json::{Value, json};

use super::{bash, one, play, results};
use crate::support::{Place, call, say};

#[test]
fn provider_keys_do_not_reach_commands() {
    let place = Place::new();
    let keys = [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "MOCK_API_KEY",
        "HOUSE_KEY",
    ];
    let models = std::fs::read_to_string(place.home.join("models.json")).expect("models.json");
    let mut models: Value = serde_json::from_str(&models).expect("JSON");
    models["providers"]["mock"]["key_env"] = "HOUSE_KEY".into();
    place.write_home("models.json", &models.to_string());
    for kept in [None, Some("OPENAI_API_KEY")] {
        place.settings(json!({"bash_env_keep": kept.iter().collect::<Vec<_>>()}));
        place.provider.script([
            call("bash", json!({"command": "env"})),
            call("bash", json!({"command": "tr '\\0' '\\n' < /proc/$PPID/environ | grep -c sk-hidden", "timeout": 5})),
            say("done"),
        ]);
        let mut run = place.json(&["go"]).env("PLAIN", "visible");
        for key in keys {
            run = run.env(key, format!("sk-hidden-{key}"));
        }
        let run = run.run().ends_with(0);
        let env = &results(&run)[0].content;
        assert!(env.contains("PLAIN=visible"), "{env}");
        for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HOUSE_KEY"] {
            let shown = env.contains(&format!("{key}=sk-hidden"));
            assert_eq!(shown, kept == Some(key), "{key} in {env}");
        }
        assert!(!env.contains("secret-key-of-mock"), "{env}");
    }
}

#[test]
fn nobody_is_there_to_answer() {
    let place = Place::new();
    let dones = play(
        &place,
        &[
            bash("read line; echo \"read $?\""),
            bash(
                "[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo plain; (: < /dev/tty) 2>/dev/null || echo no tty",
            ),
            bash(
                "echo $GIT_TERMINAL_PROMPT $PAGER $GIT_PAGER; sh -c \"$EDITOR file\" 2>&1 || echo refused",
            ),
        ],
    );
    assert_eq!(dones[0].completes(), "read 1");
    assert_eq!(dones[1].completes(), "plain\nno tty");
    let text = dones[2].completes();
    assert!(
        text.starts_with("0 cat cat\n") && text.ends_with("refused"),
        "{text}"
    );
    assert!(text.contains("a command has no editor"), "{text}");
}

#[test]
fn characters_are_whole_in_live_output_however_they_are_written() {
    let place = Place::new();
    let command = r"printf '\346'; sleep 0.1; printf '\274\242\360\237'; sleep 0.1; printf '\230\200 \033[3'; sleep 0.1; printf '1mred\033[0m\n\377'";
    let done_at = [call("bash", json!({"command": command})), say("done")];
    place.provider.script(done_at);
    let run = place.json(&["go"]).run().ends_with(0);
    let chunks: Vec<_> = run.events("tool_output");
    let live: String = chunks
        .iter()
        .map(|event| event["chunk"].as_str().expect("a text"))
        .collect();
    assert_eq!(live, "漢😀 red\n\u{fffd}");
    assert!(chunks.len() > 1);
    assert_eq!(results(&run)[0].content, "漢😀 red\n\u{fffd}");
}

#[test]
fn a_progress_bar_ends_as_its_last_state() {
    let place = Place::new();
    let done = one(
        &place,
        "bash",
        json!({"command": r"printf '10%%\r50%%\r\033[32m100%%\033[0m\r\n\a\033]0;title\007next\r\n'"}),
    );
    assert_eq!(done.completes(), "100%\nnext");
}

#[test]
fn the_end_of_a_command_is_told() {
    let place = Place::new();
    let dones = play(
        &place,
        &[
            bash("true"),
            bash("echo out; echo err >&2; exit 7"),
            bash("ulimit -c 0; kill -SEGV $$"),
            bash("no-such-program"),
            bash("if"),
        ],
    );
    assert_eq!((dones[0].completes(), &*dones[0].summary), ("", "done"));
    assert_eq!(dones[1].summary, "exit 7");
    dones[1].fails("out\nerr\n[exit status 7]");
    assert_eq!(dones[2].summary, "exit -1");
    dones[2].fails("[killed by signal 11]");
    assert_eq!(dones[3].summary, "exit 127");
    dones[4].fails("syntax error");
}

#[test]
fn a_directory_that_is_gone_costs_only_the_calls_without_it() {
    let place = Place::new();
    let workspace = place.workspace.display();
    let away = place.root().join("away");
    let dones = play(
        &place,
        &[
            bash(&format!("mv '{workspace}' '{}'", away.display())),
            bash("true"),
            ("read", json!({"path": "f"})),
            ("grep", json!({"pattern": "x"})),
            ("bash", json!({"command": "true", "background": true})),
            ("write", json!({"path": "f", "content": "x"})),
            (
                "edit",
                json!({"path": "f", "old_string": "x", "new_string": "y"}),
            ),
        ],
    );
    for done in &dones[1..] {
        done.fails("the working directory `");
        done.fails("does not exist");
    }
    assert!(!place.workspace.exists());
    std::fs::rename(&away, &place.workspace).expect("it comes back");
    one(&place, "bash", json!({"command": "pwd"})).completes();
}

#[test]
fn without_a_shell_the_error_says_so() {
    let place = Place::new();
    place
        .provider
        .script([call("bash", json!({"command": "true"})), say("done")]);
    let run = place
        .json(&["go"])
        .env("PATH", "/nowhere")
        .run()
        .ends_with(0);
    results(&run)[0].fails("neither `bash` nor `sh` is in the PATH");
}
