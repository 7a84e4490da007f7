//! Every state of the screen as text, with its styles, at three sizes.
//!
//! A frame is right when the screen comes to show what the file says, so nothing depends on how
//! long anything takes. `E_BLESS=1` writes the files; `git diff` is the review.

use std::time::Duration;

use serde_json::json;

use crate::support::replay::timeless;
use crate::support::screen::{bless, golden, is_blessing};
use crate::support::{Place, Pty, Screen, Step, call, fails, say};

const SIZES: [(u16, u16); 3] = [(44, 16), (80, 24), (140, 40)];

/// Something that is done to the app.
#[derive(Clone, Copy)]
enum Do {
    Type(&'static str),
    See(&'static str),
}

use Do::{See, Type};

/// Waits for this before everything else.
const READY: Do = See("test / high");
/// The row that sums up a turn, which is over then.
const SUM: Do = See("s (↑");

/// Brings the app into a state at each size and compares. `furnish` makes the place for it.
#[track_caller]
fn check(name: &str, args: &[&str], furnish: impl Fn(&Place), steps: &[Do]) {
    let name = format!("app-{name}");
    let all = golden(&name);
    let mut shown = String::new();
    for (columns, rows) in SIZES {
        let place = Place::new();
        furnish(&place);
        let mut pty = Pty::open(columns, rows);
        pty.start(place.app(args));
        for step in steps {
            match step {
                Type(keys) => pty.send(keys),
                See(text) => pty.wait_for(text),
            }
        }
        let head = format!("=== {columns}x{rows}\n");
        let root = place.root().display().to_string();
        let frame = |screen: &Screen| {
            let text = screen.golden().replace(&root, "/tmp/.tmp000000");
            head.clone() + &timeless(&text)
        };
        if is_blessing() {
            pty.quiet(Duration::from_millis(300));
            // The dot of a running turn may be off.
            if let Some(See(text)) = steps.last() {
                pty.wait_for(text);
            }
        } else {
            let reached = pty.reaches(|screen| all.contains(&frame(screen)));
            let is = frame(&pty.screen);
            assert!(
                reached,
                "{name} differs; run with E_BLESS=1 and review the diff\n{is}"
            );
        }
        shown.push_str(&frame(&pty.screen));
        // A gate that is never opened belongs to a turn that never ends.
        place.provider.forget_script();
    }
    bless(&name, &shown);
}

fn nothing(_: &Place) {}

fn asks_trust(place: &Place) {
    std::fs::remove_file(place.home.join("trust.json")).unwrap();
}

/// A reply that never ends, as far as it goes.
fn endless(step: Step) -> Step {
    let (step, gate) = step.gate();
    // Open as long as the test runs.
    std::mem::forget(gate);
    step
}

const MARKDOWN: &str = "\
# A heading

A paragraph with **bold**, *italic*, ~~struck~~ text, `code` and a [link](https://example.com/page). \
It is long enough to be wrapped at every width that is tried.

- one
- two, with a second level
  - inner
1. first
2. second
- [x] done
- [ ] open

```rust
fn main() {
    // says hello
    println!(\"hello {}\", 42);
}
```

> A quote,
> of two lines.

| left | right |
| :--- | ----: |
| a | 1 |
| a longer cell | 22 |

---

The end.
";

#[test]
fn start() {
    check("start", &[], nothing, &[READY]);
}

#[test]
fn draft() {
    let text = "first line\nsecond line with some more words than fit into one narrow row";
    let typed: &'static str = Box::leak(format!("\x1b[200~{text}\x1b[201~").into_boxed_str());
    check(
        "draft",
        &[],
        nothing,
        &[READY, Type(typed), See("narrow row")],
    );
    check(
        "draft-selected",
        &[],
        nothing,
        &[
            READY,
            Type("some words here"),
            See("here"),
            Type("\x1b[1;4D\x1b[1;4D"),
            See("here"),
        ],
    );
    check(
        "armed",
        &[],
        nothing,
        &[READY, Type("x\x03"), See("again to quit")],
    );
}

#[test]
fn trust() {
    if std::env::temp_dir() == std::path::Path::new("/tmp") {
        check("trust", &[], asks_trust, &[See("Trust this directory?")]);
        check(
            "trust-change",
            &[],
            nothing,
            &[
                READY,
                Type("/"),
                See("enter run"),
                Type("trust"),
                See("/trust"),
                Type("\r"),
                See("Trust in"),
            ],
        );
    }
}

#[test]
fn reply() {
    let script = |place: &Place| {
        place.provider.script([
            say(MARKDOWN).usage(json!({"prompt_tokens": 9600, "completion_tokens": 410}))
        ]);
    };
    check("reply", &["explain"], script, &[SUM]);
}

#[test]
fn reply_that_streams() {
    let script = |place: &Place| {
        place
            .provider
            .script([endless(say("So far so **good**.\n\n```rust\nlet x = 1;\n"))]);
    };
    check("streaming", &["explain"], script, &[See("let x")]);
}

#[test]
fn thinking() {
    let script = |place: &Place| {
        place.provider.script([endless(
            Step::default().reasoning("**Look** at it first.\nThen think."),
        )]);
    };
    check("thinking", &["explain"], script, &[See("• Thinking (")]);
    let shown = move |place: &Place| {
        script(place);
        place.settings(json!({"show_thinking": "on"}));
    };
    check(
        "thinking-shown",
        &["explain"],
        shown,
        &[See("Then think"), See("• Thinking (")],
    );
}

/// A turn with tools of every outcome; the last command runs until the test is over.
fn tools(place: &Place) {
    place.write("src/lib.rs", "fn one() {}\nfn two() {}\nfn three() {}\n");
    let edit = json!({
        "path": "src/lib.rs",
        "old_string": "fn two() {}",
        "new_string": "fn two() {\n    2\n}",
    });
    place.provider.script([
        say("I'll look first.").and_call("read", json!({"path": "src/lib.rs"})),
        call("edit", edit),
        call("bash", json!({"command": "echo broken; exit 3"}))
            .and_call("read", json!({"path": "missing.rs"}))
            .and_call("nothing", json!({})),
    ]);
}

#[test]
fn tools_while_one_runs() {
    let script = |place: &Place| {
        tools(place);
        place
            .provider
            .script([call("bash", json!({"command": "seq 1 30; sleep 60"}))]);
    };
    check(
        "tools-running",
        &["fix it"],
        script,
        &[See("│ 30"), See("• Thinking (")],
    );
}

#[test]
fn tools_that_have_ended() {
    let script = |place: &Place| {
        tools(place);
        place.provider.script([say("Fixed.")]);
    };
    check("tools", &["fix it"], script, &[SUM]);
    let reader = |keys| [SUM, Type("\x0f"), See("depth"), Type(keys), See("depth")];
    check("reader", &["fix it"], script, &reader(""));
    check("reader-full", &["fix it"], script, &reader("\x1b[C"));
}

#[test]
fn queue() {
    let script = |place: &Place| place.provider.script([endless(say("Half"))]);
    check(
        "queue",
        &["go"],
        script,
        &[
            See("  Half"),
            Type("and the tests\r"),
            See("1 message"),
            Type("a draft"),
            See("┃ a draft"),
        ],
    );
    check(
        "queue-review",
        &["go"],
        script,
        &[
            See("  Half"),
            Type("and the tests\r"),
            See("1 message"),
            Type("\x1b[A"),
            See("┃ and the tests"),
        ],
    );
}

#[test]
fn trouble() {
    check(
        "error",
        &["go"],
        |place| place.provider.script([fails(401)]),
        &[See("● Error:")],
    );
    let again = |place: &Place| {
        place
            .provider
            .script([fails(503).header("retry-after", "30")]);
    };
    check("retry", &["go"], again, &[See("esc")]);
    let slow = |place: &Place| place.provider.script([endless(say("Half"))]);
    check(
        "interrupted",
        &["go"],
        slow,
        &[See("  Half"), Type("\x1b"), See("● System")],
    );
}

#[test]
fn shell() {
    check(
        "shell",
        &[],
        nothing,
        &[READY, Type("!seq 1 25\r"), See("25")],
    );
    check(
        "shell-draft",
        &[],
        nothing,
        &[READY, Type("! ls"), See("! ls")],
    );
}

#[test]
fn waiting() {
    let stubborn = |place: &Place| {
        let command = "trap '' TERM; echo holds on; while :; do sleep 60; done";
        place
            .provider
            .script([call("bash", json!({"command": command}))]);
    };
    let stops = [See("│ holds on"), Type("\x1b"), See("• Stopping (")];
    check("stopping", &["wait"], stubborn, &stops);
    let reads = |place: &Place| place.helper("wl-paste", "exec sleep 60");
    check(
        "clipboard",
        &[],
        reads,
        &[READY, Type("see \x16"), See("reading the clipboard")],
    );
    let long = |place: &Place| {
        place.models("openai-completions", json!({"context_window": 16000}));
        let reply = "word ".repeat(3400) + "and the end";
        place
            .provider
            .script([say("Short."), say(&reply), endless(say("a summary"))]);
    };
    let steps = [
        See("Short."),
        SUM,
        Type("more\r"),
        See("and the end"),
        SUM,
        Type("/"),
        See("Commands"),
        Type("compact\r"),
        See("• Compacting context ("),
    ];
    check("compacting", &["explain"], long, &steps);
}

#[test]
fn reading_back() {
    let long: String = (0..60).map(|line| format!("line {line}\n\n")).collect();
    let script = move |place: &Place| place.provider.script([say(&long)]);
    check(
        "reading-back",
        &["go"],
        script,
        &[SUM, Type("\x1b[5~"), See("follow")],
    );
}

#[test]
fn full_screen() {
    let script = |place: &Place| {
        place.settings(json!({"tui_mode": "fullscreen"}));
        place.provider.script([say("Short.")]);
    };
    check("full-screen", &["go"], script, &[SUM]);
}

#[test]
fn pickers() {
    check(
        "commands",
        &[],
        nothing,
        &[READY, Type("/"), See("Commands")],
    );
    check(
        "commands-filtered",
        &[],
        nothing,
        &[
            READY,
            Type("/"),
            See("enter run"),
            Type("se"),
            See("settings"),
        ],
    );
    check(
        "models",
        &[],
        nothing,
        &[
            READY,
            Type("/"),
            See("enter run"),
            Type("models"),
            See("/models"),
            Type("\r"),
            See("Models"),
        ],
    );
    check(
        "scoped-models",
        &[],
        nothing,
        &[
            READY,
            Type("/"),
            See("enter run"),
            Type("scoped-models"),
            See("/scoped-models"),
            Type("\r"),
            See("ctrl+s"),
        ],
    );
    let files = |place: &Place| {
        for name in ["src/main.rs", "src/parser/mod.rs", "README.md"] {
            place.write(name, "");
        }
    };
    check("files", &[], files, &[READY, Type("see @"), See("README")]);
    let skills = |place: &Place| {
        for name in ["review", "release"] {
            let dir = place.home.join("skills").join(name);
            std::fs::create_dir_all(&dir).unwrap();
            let text = format!("---\nname: {name}\ndescription: how to {name}\n---\nDo it.\n");
            std::fs::write(dir.join("SKILL.md"), text).unwrap();
        }
    };
    check(
        "skills",
        &[],
        skills,
        &[READY, Type("$"), See("Skills"), Type("re"), See("Skills 2")],
    );
}

/// Two prompts, each with its answer.
fn talk(place: &Place) {
    place.provider.script([say("One."), say("Two.")]);
}

#[test]
fn sessions() {
    let said = [SUM, Type("second\r"), See("  Two."), SUM];
    let with = |more: &[Do]| [&said[..], more].concat();
    let first = &["first"];
    check(
        "tree",
        first,
        talk,
        &with(&[
            Type("/"),
            See("enter run"),
            Type("tree"),
            See("/tree"),
            Type("\r"),
            See("Messages"),
        ]),
    );
    check(
        "resume",
        first,
        talk,
        &with(&[
            Type("/"),
            See("enter run"),
            Type("resume"),
            See("/resume"),
            Type("\r"),
            See("Sessions"),
        ]),
    );
    check(
        "usage",
        first,
        talk,
        &with(&[
            Type("/"),
            See("enter run"),
            Type("usage"),
            See("/usage"),
            Type("\r"),
            See("Usage"),
        ]),
    );
}

#[test]
fn panels() {
    check(
        "settings",
        &[],
        nothing,
        &[
            READY,
            Type("/"),
            See("enter run"),
            Type("settings"),
            See("/settings"),
            Type("\r"),
            See("Settings"),
        ],
    );
    check(
        "login",
        &[],
        nothing,
        &[
            READY,
            Type("/"),
            See("enter run"),
            Type("login"),
            See("/login"),
            Type("\r"),
            See("API key"),
        ],
    );
    check(
        "help",
        &[],
        nothing,
        &[
            READY,
            Type("/"),
            See("enter run"),
            Type("help"),
            See("/help"),
            Type("\r"),
            See("The guides"),
        ],
    );
}
