//! The hostile kit: what an extension does at its worst, by name. It runs against a turn of `e -p`
//! (`hostile`) and against the terminal app (`tui::extensions::hostile`).

use serde_json::{Value, json};

use super::ends::after_manifest;

/// Answers what comes, by shell functions: `$id` and `$line` are there.
pub const SERVE: &str = r#"
answer() { printf '{"id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
    *'"shutdown"'*) exit 0 ;;
    *'"hook.'*) answer '{}' ;;
    *'"tool_call"'*) on_call ;;
  esac
done"#;

/// What each does when its tool is called.
pub const ON_CALL: &[(&str, &str)] = &[
    (
        "answers twice and what was never asked",
        r#"echo '{"id":9999,"result":{"content":"unasked"}}'
        echo '{"id":-1,"result":{}}'
        echo '{"id":"x","result":{}}'
        answer '{"content":"first"}'
        answer '{"content":"second"}'
        printf '{"id":%s,"error":"third"}\n' "$id""#,
    ),
    (
        "writes a log to its output",
        r#"echo 'INFO starting'
        echo '{"level":"info"}'
        echo '[1,2,3]'
        echo '"text"'
        echo '{"method":"notify"}'
        echo '{"method":"notify","params":{"message":7}}'
        echo '{"id":1'
        printf '\n\r\n\n'
        answer '{"content":"fine"}'"#,
    ),
    (
        "writes a line without an end",
        "head -c 1G /dev/zero | tr '\\0' x",
    ),
    (
        "writes what is no text",
        r#"printf '\xff\xfe{}\n'
        printf '{"method":"notify","params":{"message":"a\\u0000b\\u2028c\x00d\\ud800"}}\n'
        printf '{"method":"notify","params":{"message":"a\\u0000b\\u2028c"}}\n'
        printf '{"id":%s,"result":{"content":"\xff"}}\n' "$id"
        answer '{"content":"nul \u0000 line \u2028"}'"#,
    ),
    (
        "answers ten mebibytes",
        r#"printf '{"id":%s,"result":{"content":"' "$id"
        head -c 10000000 /dev/zero | tr '\0' x
        printf '"}}\n'"#,
    ),
    (
        "answers more than ten mebibytes",
        r#"printf '{"id":%s,"result":{"content":"' "$id"
        head -c 11000000 /dev/zero | tr '\0' x
        printf '"}}\n'"#,
    ),
    (
        "answers deeply",
        r#"printf '{"id":%s,"result":' "$id"
        head -c 200000 /dev/zero | tr '\0' '['
        printf '\n'
        answer "{\"content\":\"fine\",\"x\":$(printf '[%.0s' {1..100})$(printf ']%.0s' {1..100})}""#,
    ),
    (
        "sends notices without number",
        // A debug build takes a while for each; a fraction is still far more than is ever kept.
        r#"yes '{"method":"notify","params":{"message":"so much to say"}}' | head -n 20000
        answer '{"content":"said"}'"#,
    ),
    (
        "fills standard error",
        "yes 'a line of diagnostics' | head -n 200000 >&2\nhead -c 50M /dev/zero >&2\nanswer '{\"content\":\"said\"}'",
    ),
    (
        "asks two thousand things at once",
        r#"for i in {1..1000}; do echo "{\"id\":$i,\"method\":\"session.info\"}"; done
        for i in {1..1000}; do echo "{\"id\":$i,\"method\":\"ui.confirm\",\"params\":{\"title\":\"no $i?\"}}"; done
        n=0; while [ $n -lt 2000 ] && IFS= read -r reply; do n=$((n+1)); done
        answer "{\"content\":\"$n answers\"}""#,
    ),
    ("closes its output and lives on", "exec 1>&-\nsleep 60"),
    ("forks and exits", "(sleep 60; echo late) &\nexit 0"),
    (
        "escapes its group and exits",
        "setsid -f bash -c 'trap \"\" TERM; while :; do sleep 60; done'\nexit 3",
    ),
    (
        "escapes its group and answers",
        "setsid -f bash -c 'trap \"\" TERM HUP; while :; do sleep 60; done' >/dev/null </dev/null 2>&1\nanswer '{\"content\":\"hidden\"}'",
    ),
    (
        "ends in the middle of a line",
        r#"printf '{"id":%s,"result":{"content":"cu' "$id"; exit 0"#,
    ),
    (
        "ends without a line end",
        r#"printf '{"id":%s,"result":{"content":"whole"}}' "$id"; exit 0"#,
    ),
    (
        "sends escape sequences in every field",
        r#"esc='\u001b[31m\u0007\u009b2J\u202e'
        echo '{"method":"notify","params":{"message":"'"$esc"'notice"}}'
        echo '{"method":"tool.update","params":{"id":'"$id"',"chunk":"'"$esc"'update"}}'
        printf '\x1b[31mto stderr\n' >&2
        answer '{"content":"'"$esc"'content","summary":"'"$esc"'summary","session_name":"'"$esc"'name"}'"#,
    ),
];

/// What each does as soon as it has said who it is.
pub const AFTER_MANIFEST: &[(&str, &str)] = &[
    ("closes its input and lives on", "exec 0<&-\nsleep 60"),
    (
        "ignores every signal and every word",
        "trap '' TERM INT HUP QUIT PIPE
on_call() { answer '{\"content\":\"x\"}'; }
SERVE
while :; do sleep 60; done",
    ),
];

/// What a hostile extension declares: everything that e could wait for.
pub fn everything() -> Value {
    json!({
        "name": "bad",
        "tools": [{"name": "bad"}],
        "hooks": ["input", "before_turn"],
        "events": ["turn_start", "tool_start", "tool_end", "turn_end"],
    })
}

/// The whole script of that name.
#[track_caller]
pub fn script(name: &str) -> String {
    let find = |kit: &[(&str, &'static str)]| {
        let found = kit.iter().find(|(one, _)| *one == name);
        found.map(|(_, body)| *body)
    };
    let then = match (find(ON_CALL), find(AFTER_MANIFEST)) {
        (Some(body), _) => format!("on_call() {{\n{body}\n}}\n{SERVE}"),
        // A word of goodbye ends its reading, and nothing else.
        (None, Some(body)) => body.replace("SERVE", &SERVE.replace("exit 0", "break")),
        (None, None) => panic!("nothing in the kit {name}"),
    };
    after_manifest(&everything(), &then)
}
