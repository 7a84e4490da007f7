//! `e ext check`, `e ext trace`, and what `e doctor` says about extensions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, say};

/// A program that answers `initialize` with a manifest, and does the rest of its work in `cases`,
/// where `$id` is the request's.
fn extension(path: impl AsRef<Path>, manifest: Value, cases: &str) -> PathBuf {
    let script = format!(
        r#"#!/bin/sh
while IFS= read -r line; do
    id=${{line#*:}}; id=${{id%%,*}}
    case $line in
    *'"method":"initialize"'*) echo '{{"id":1,"result":{manifest}}}' ;;
    {cases}
    esac
done
"#
    );
    program(path, &script)
}

fn program(path: impl AsRef<Path>, script: &str) -> PathBuf {
    let path = path.as_ref().to_path_buf();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// The report on an extension, and whether the status was 0.
fn check(place: &Place, path: &Path) -> (Value, bool) {
    let run = place.e().args(["ext", "check", "--json"]).arg(path).run();
    assert!(run.status <= 1, "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).expect("a report");
    assert_eq!(report["clean"], run.status == 0, "{run:?}");
    place.wait_deserted();
    (report, run.status == 0)
}

/// The problems that a check of this extension finds.
fn problems(manifest: Value, cases: &str) -> Vec<String> {
    let place = Place::new();
    let path = extension(place.root().join("x.sh"), manifest, cases);
    let (report, _) = check(&place, &path);
    let problems = report["problems"].as_array().unwrap().iter();
    problems
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn everything_that_an_extension_declares_is_asked_once() {
    let place = Place::new();
    let manifest = json!({
        "name": "all", "version": "2",
        "tools": [{"name": "greet", "description": "say hi", "parameters": {"type": "object",
            "properties": {"who": {"type": "string"}, "times": {"type": "integer"}},
            "required": ["who"]}}],
        "commands": [{"name": "ping", "completions": true}],
        "flags": [{"name": "plan", "type": "boolean"}],
        "hooks": ["startup", "input", "before_turn", "tool_call", "tool_result", "compact_summary"],
        "renders": ["tool:bash", "assistant"],
        "events": ["turn_end"],
    });
    let cases = r#"
    *'"method":"tool_call"'*)
        echo "{\"method\":\"tool.update\",\"params\":{\"id\":$id,\"stream\":\"stdout\",\"chunk\":\"c\"}}"
        echo "{\"id\":$id,\"result\":{\"content\":\"hi\"}}" ;;
    *'"id":'*) echo "{\"id\":$id,\"result\":{}}" ;;
    *'"shutdown"'*) exit ;;"#;
    let path = extension(place.root().join("all.sh"), manifest, cases);
    let (report, clean) = check(&place, &path);
    assert!(clean, "{report:#}");
    let asked = report["asked"].as_array().unwrap().iter();
    let methods: Vec<_> = asked
        .clone()
        .map(|one| one["method"].as_str().unwrap())
        .collect();
    assert_eq!(
        methods,
        [
            "hook.startup",
            "hook.input",
            "hook.before_turn",
            "hook.tool_call",
            "hook.tool_result",
            "hook.compact_summary",
            "hook.render",
            "hook.render",
            "tool_call",
            "command",
            "command.complete",
        ]
    );
    let call = asked
        .clone()
        .find(|one| one["method"] == "tool_call")
        .unwrap();
    assert_eq!(
        call["params"],
        json!({"name": "greet", "arguments": {"who": "sample"}})
    );
    assert_eq!(call["answer"], r#"{"content":"hi"}"#);
    assert_eq!(report["manifest"]["name"], "all");
    assert_eq!(report["manifest"]["flags"][0]["type"], "boolean");

    let run = place.e().args(["ext", "check"]).arg(&path).run();
    assert_eq!(run.status, 0, "{run:?}");
    for row in [
        "name       all 2",
        "tool       greet - say hi",
        "result     clean",
    ] {
        assert!(run.stdout.contains(row), "{row}: {}", run.stdout);
    }
}

#[test]
fn each_step_is_printed_when_it_is_taken() {
    let place = Place::new();
    let gate = place.root().join("gate");
    let cases = format!(
        r#"*'"command"'*) while [ ! -e '{}' ]; do sleep 0.01; done; echo "{{\"id\":$id,\"result\":{{}}}}" ;;
        *'"shutdown"'*) exit ;;"#,
        gate.display()
    );
    let manifest = json!({"name": "x", "commands": [{"name": "slow"}]});
    let path = extension(place.root().join("x.sh"), manifest, &cases);
    let run = place.e().args(["ext", "check"]).arg(&path).start();
    run.stdout
        .wait_for(r#"asked      command {"name":"slow","args":""}"#);
    assert!(!run.stdout.text().contains("result"));
    fs::write(gate, "").unwrap();
    let run = run.finish().ends_with(0);
    assert!(run.stdout.ends_with("result     clean\n"), "{run:?}");
}

#[test]
fn a_shortcut_that_is_dropped_is_not_asked() {
    let place = Place::new();
    let manifest = json!({"name": "x", "shortcuts": [{"key": "ctrl+c"}, {"key": "ctrl+alt+g"}]});
    let cases = r#"*'"id":'*) echo "{\"id\":$id,\"result\":{}}" ;;
        *'"shutdown"'*) exit ;;"#;
    let path = extension(place.root().join("x.sh"), manifest, cases);
    let (report, clean) = check(&place, &path);
    assert!(!clean);
    let asked: Vec<_> = report["asked"].as_array().unwrap().iter().collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["params"], json!({"key": "ctrl+alt+g"}));
    let problem = report["problems"][0].as_str().unwrap();
    assert!(problem.contains("ctrl+c"), "{problem}");
}

#[test]
fn every_broken_rule_of_a_manifest_is_told() {
    let found = problems(
        json!({
            "name": "x", "hooks": ["tool_cal"], "evnts": [],
            "tools": [{"name": "a b"}, {"name": "ok", "parameters": 7}],
            "commands": [{"name": "a"}, {"name": "a"}], "flags": [{"name": "model"}],
        }),
        r#"*'"id":'*) echo "{\"id\":$id,\"result\":{}}" ;;"#,
    );
    for part in [
        "the tool `a b` is dropped",
        "`tools[1].parameters` is not an object",
        "`a` is declared twice",
        "the flag `model` is one of e's own options",
        "the field `evnts` means nothing to e",
        "`hooks` has `tool_cal`, which e does not know",
    ] {
        assert!(
            found.iter().any(|problem| problem.contains(part)),
            "{part}: {found:#?}"
        );
    }
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[test]
fn a_wrong_answer_is_told_with_its_field() {
    let found = problems(
        json!({
            "name": "x", "tools": [{"name": "t"}], "commands": [{"name": "c"}],
            "hooks": ["input", "tool_call"],
        }),
        r#"
        *'"hook.input"'*) echo "{\"id\":$id,\"result\":{\"consume\":\"yes\"}}" ;;
        *'"hook.tool_call"'*) echo "{\"id\":$id,\"error\":\"boom\"}" ;;
        *'"tool_call"'*) echo "{\"id\":$id,\"result\":{\"content\":7}}" ;;
        *'"command"'*) echo "{\"id\":$id,\"result\":{\"show\":{}}}" ;;"#,
    );
    assert_eq!(
        found,
        [
            "hook.input: `consume` must be true or false",
            "hook.tool_call `bash`: boom",
            "tool_call `t`: `content` must be a string",
            "command `c`: `show.title` or `show.body` is needed",
        ]
    );
}

#[test]
fn an_error_is_a_valid_answer_of_a_tool() {
    let manifest = json!({"name": "x", "tools": [{"name": "t"}]});
    let cases = r#"*'"tool_call"'*) echo "{\"id\":$id,\"error\":\"no file sample\"}" ;;"#;
    assert_eq!(problems(manifest, cases), [""; 0]);
}

#[test]
fn stray_output_is_told_and_standard_error_is_shown() {
    let place = Place::new();
    let path = extension(
        place.root().join("x.sh"),
        json!({"name": "x", "commands": [{"name": "c"}]}),
        r#"*'"command"'*)
            echo debug >&2
            echo "hello there"
            echo '{"id":99,"result":{}}'
            echo "{\"id\":$id,\"result\":{}}" ;;"#,
    );
    let (report, clean) = check(&place, &path);
    assert!(!clean);
    assert_eq!(
        report["problems"],
        json!([
            "stray output: `hello there`: it is not JSON",
            "stray output: `{\"id\":99,\"result\":{}}`: it answers no open request",
        ])
    );
    assert_eq!(report["stderr"], json!(["debug"]));
}

#[test]
fn its_own_requests_are_answered_and_refusals_are_told() {
    let place = Place::new();
    let path = extension(
        place.root().join("x.sh"),
        json!({"name": "x", "commands": [{"name": "c"}]}),
        r#"*'"command"'*)
            echo '{"id":"a","method":"ui.confirm","params":{"title":"sure?"}}'; read -r one
            echo '{"id":"b","method":"session.info"}'; read -r two
            echo '{"id":"c","method":"ui.sing"}'; read -r three
            echo "$one $two" >&2
            echo "{\"id\":$id,\"result\":{}}" ;;"#,
    );
    let (report, _) = check(&place, &path);
    assert_eq!(
        report["requests"],
        json!(["ui.confirm", "session.info", "ui.sing"])
    );
    assert_eq!(
        report["problems"],
        json!(["e refused its request ui.sing: unknown method `ui.sing`"])
    );
    let said = report["stderr"][0].as_str().unwrap();
    assert!(said.starts_with(r#"{"id":"a","result":{"confirmed":false}} {"id":"b","result":{"#));
}

#[test]
fn of_the_requests_before_the_manifest_those_over_the_bound_are_refused() {
    let place = Place::new();
    let script = r#"#!/bin/sh
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32; do
    echo "{\"id\":$n,\"method\":\"session.info\"}"
done
echo '{"id":33,"method":"session.interrupt"}'
while read -r line; do
    case $line in *'"initialize"'*) echo '{"id":1,"result":{"name":"x"}}' ;; esac
done
"#;
    let (report, _) = check(&place, &program(place.root().join("x.sh"), script));
    assert_eq!(
        report["problems"],
        json!([
            "e refused its request session.interrupt: 32 of your requests are unanswered; wait for an answer"
        ])
    );
}

#[test]
fn a_startup_hook_that_is_gone_before_it_is_asked_stops_the_launch() {
    let place = Place::new();
    let script = r#"#!/bin/sh
read -r line
echo '{"id":1,"result":{"name":"x","hooks":["startup"]}}'
"#;
    program(place.home.join("extensions/x.sh"), script);
    let run = place.p(&["hi"]).run();
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stderr
            .contains("the startup hook of the extension x.sh failed"),
        "{run:?}"
    );
    assert!(place.provider.received().is_empty());
}

#[test]
fn one_that_ends_early_or_not_at_all_is_told() {
    let commands = json!({"name": "x", "commands": [{"name": "c"}, {"name": "d"}]});
    let found = problems(commands, r#"*'"command"'*) exit 3 ;;"#);
    assert_eq!(
        found,
        [
            "extension x.sh exited with status 3",
            "command `c`: the extension has exited"
        ]
    );
    let ignores =
        r#"*'"shutdown"'*) trap '' TERM; while :; do read -r x || exec sleep 1000; done ;;"#;
    assert_eq!(
        problems(json!({"name": "x"}), ignores),
        ["it did not end in time after `shutdown` and was killed"]
    );
    let leaves = r#"*'"shutdown"'*) sleep 1000 >/dev/null 2>&1 & exit ;;"#;
    assert_eq!(
        problems(json!({"name": "x"}), leaves),
        ["it left 1 of its own processes running"]
    );
}

#[test]
fn one_that_does_not_start_is_a_problem() {
    let place = Place::new();
    let nameless = extension(place.root().join("x.sh"), json!({"version": "1"}), "");
    let odd = program(place.root().join("y.sh"), "#!/nowhere/at/all\n");
    for (path, part) in [(nameless, "`name` is missing"), (odd, "was skipped: ")] {
        let (report, clean) = check(&place, &path);
        assert!(
            !clean && report["problems"][0].as_str().unwrap().contains(part),
            "{report}"
        );
    }
}

#[test]
fn what_is_no_extension_is_a_usage_problem_with_its_reason() {
    let place = Place::new();
    place.write("plain.mjs", "");
    fs::create_dir_all(place.workspace.join("folder")).unwrap();
    for (args, part) in [
        (
            &["ext", "check", "plain.mjs"][..],
            "`plain.mjs` is not executable",
        ),
        (
            &["ext", "check", "folder"],
            "`folder` holds no executable file",
        ),
        (&["ext", "check", "none"], "`none` cannot be looked at"),
        (&["ext", "check"], "needs the path"),
        (&["ext"], "checks or traces one extension"),
        (&["ext", "chekc", "x"], "usage: e ext check <path>"),
        (&["ext", "check", "a", "b"], "does not take `b`"),
        (&["ext", "check", "--to", "f", "a"], "`--to` means nothing"),
        (&["ext", "trace"], "needs the path"),
        (
            &["ext", "trace", "plain.mjs", "-p", "x"],
            "`plain.mjs` is not executable",
        ),
        (&["ext", "trace", "/bin/cat", "doctor"], "nothing to trace"),
        (&["--json", "ext", "trace", "x"], "comes before all options"),
    ] {
        let run = place.e().args(args).run();
        assert_eq!(run.status, 2, "{args:?}: {run:?}");
        assert!(run.stderr.contains(part), "{args:?}: {run:?}");
    }
}

/// The directions and methods in a trace, without times.
fn shape(trace: &str) -> Vec<String> {
    trace
        .lines()
        .map(|line| {
            let (time, said) = line.split_at(9);
            time.trim().parse::<f64>().expect("seconds");
            said.to_owned()
        })
        .collect()
}

#[test]
fn a_trace_has_every_line_of_that_extension_alone() {
    let place = Place::new();
    let extensions = place.home.join("extensions");
    extension(extensions.join("other.sh"), json!({"name": "other"}), "");
    let hooked = json!({"name": "traced", "hooks": ["input"], "events": ["turn_end"]});
    let cases =
        r#"*'"hook.input"'*) printf 'red \033[31m\n' >&2; echo "{\"id\":$id,\"result\":{}}" ;;"#;
    let path = extension(extensions.join("traced.sh"), hooked, cases);

    place.provider.script([say("hello")]);
    let traced = |place: &Place, to: &[&str]| {
        let run = place.e().args(["ext", "trace"]).args(to).arg(&path);
        run.args(["--", "-p", "--model", "mock/test", "hi"]).run()
    };
    let run = traced(&place, &["--to", "trace.log"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "hello\n"), "{run:?}");
    let trace = place.read("trace.log");
    assert!(trace.contains("! red \u{1b}[31m\n"), "{trace:?}");
    let shape = shape(&trace);
    for part in [
        r#" > {"id":1,"method":"initiali"#,
        r#" < {"id":1,"result":{"name""#,
        r#" > {"id":2,"method":"hook.inp"#,
        r#" < {"id":2,"result":{}}"#,
        r#" > {"method":"event","params""#,
        r#" > {"method":"shutdown"}"#,
    ] {
        assert_eq!(
            shape.iter().filter(|line| line.starts_with(part)).count(),
            1,
            "{part}: {shape:#?}"
        );
    }

    place.provider.script([say("hello")]);
    let run = traced(&place, &[]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "hello\n"), "{run:?}");
    assert!(
        run.stderr.contains("! red\n") && !run.stderr.contains('\u{1b}'),
        "{run:?}"
    );
}

#[test]
fn a_trace_goes_on_where_the_extension_starts_e_again() {
    let place = Place::new();
    let manifest = json!({"name": "x", "hooks": ["startup"]});
    let cases = r#"*'"hook.startup"'*)
        case $PWD in
        */elsewhere) echo "{\"id\":$id,\"result\":{}}" ;;
        *) echo "{\"id\":$id,\"result\":{\"relaunch\":{\"cwd\":\"elsewhere\"}}}" ;;
        esac ;;"#;
    extension(place.workspace.join("x.sh"), manifest, cases);
    fs::create_dir(place.workspace.join("elsewhere")).unwrap();
    place.provider.script([say("there")]);
    let run = place
        .e()
        .args(["ext", "trace", "x.sh", "--to", "trace.log", "--ne"]);
    let run = run.args(["-p", "--model", "mock/test", "hi"]).run();
    assert_eq!((run.status, run.stdout.as_str()), (0, "there\n"), "{run:?}");
    let trace = place.read("trace.log");
    assert_eq!(
        trace.matches(r#""method":"initialize""#).count(),
        2,
        "{trace}"
    );
    assert!(!place.workspace.join("elsewhere/trace.log").exists());
}

#[test]
fn the_doctor_lists_extensions_and_starts_none() {
    let place = Place::new();
    let extensions = place.home.join("extensions");
    let starts = program(
        extensions.join("b/index.sh"),
        "#!/bin/sh\ntouch \"$E_HOME/started\"\n",
    );
    fs::write(extensions.join("a.mjs"), "").unwrap();
    let run = place.e().args(["doctor", "--json"]).run();
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        report["extensions"],
        json!([
            {"path": extensions.join("a.mjs"), "status": "ignored: it is not executable"},
            {"path": starts, "status": "will be started"},
        ])
    );
    let text = place.e().args(["doctor"]).run().stdout;
    assert!(
        text.contains("a.mjs (ignored: it is not executable)\n"),
        "{text}"
    );
    assert!(!place.home.join("started").exists());
}
