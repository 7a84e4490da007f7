//! Argument vectors and what they are understood as.

use std::os::unix::ffi::OsStringExt;

use super::*;
use crate::agent::Limits;

fn args(line: &str) -> Vec<OsString> {
    line.split(' ')
        .filter(|arg| !arg.is_empty())
        .map(OsString::from)
        .collect()
}

fn print(line: &str) -> PrintOptions {
    match parse(&args(line)) {
        Ok(Invocation::Print { options, .. }) => options,
        other => panic!("{line}: {other:?}"),
    }
}

fn refused(line: &str) -> String {
    match parse(&args(line)) {
        Err(failure) => {
            assert_eq!(failure.error.status(), 2, "{line}");
            failure.error.to_string()
        }
        Ok(other) => panic!("{line}: {other:?}"),
    }
}

#[test]
fn every_word_behind_p_is_prompt() {
    for (line, prompt) in [
        ("-p hello world", &["hello", "world"][..]),
        ("hello -p world", &["hello", "world"]),
        ("-p trust", &["trust"]),
        ("-p trsut", &["trsut"]),
        ("trust -p", &["trust"]),
        ("-p -- -x --json", &["-x", "--json"]),
        ("-p a -- b -- c", &["a", "b", "--", "c"]),
        ("-p -", &["-"]),
        ("-p", &[]),
    ] {
        assert_eq!(print(line).prompt, prompt, "{line}");
    }
}

#[test]
fn options_may_stand_anywhere_and_take_one_value() {
    let expected = PrintOptions {
        prompt: vec!["hi".into(), "you".into()],
        json: true,
        model: Some("p/m".into()),
        effort: Some("low".into()),
        images: vec!["a.png".into(), "b.png".into()],
        no_tools: true,
        no_save: true,
        limits: Limits {
            steps: Some(3),
            seconds: Some(60),
            cost_usd: Some(0.25),
        },
    };
    for line in [
        "-p -j -m p/m --ef low -i a.png -i b.png --nt --ns --ne --trust --max-steps 3 --max-seconds 60 --max-cost 0.25 hi you",
        "hi -pj --model=p/m --effort=low --image a.png hi2 --image=b.png --no-tools --no-save --no-extensions --trust --max-steps=3 --max-seconds=60 --max-cost=.25 you",
        "-pjmp/m hi --ef=low -i=a.png -ib.png --nt --ns --ne --trust --max-steps 3 --max-seconds 60 --max-cost 25e-2 -- you",
    ] {
        let mut options = print(line);
        options.prompt.retain(|word| word != "hi2");
        assert_eq!(options, expected, "{line}");
        let trusts = matches!(
            parse(&args(line)),
            Ok(Invocation::Print { trust: true, .. })
        );
        assert!(trusts, "{line}");
    }
    assert_eq!(print("-p -m a --model b").model.as_deref(), Some("b"));
    assert_eq!(print("-p --model=a=b").model.as_deref(), Some("a=b"));
    assert_eq!(print("-p --image=-x").images, [PathBuf::from("-x")]);
}

#[test]
fn a_missing_value_is_an_error() {
    for line in [
        "-p --model",
        "-p -m",
        "-p --model=",
        "-p -m=",
        "-p --model --json",
        "-m -p",
        "-p --model -",
    ] {
        assert!(
            refused(line).starts_with("`--model` requires a value"),
            "{line}"
        );
    }
    assert!(refused("-p --ef").starts_with("`--effort` requires a value"));
    assert!(refused("-p --json=1").starts_with("`--json` takes no value"));
    assert!(refused("-p=1").starts_with("`--print` takes no value"));
}

#[test]
fn limits_are_above_zero() {
    for line in [
        "--max-steps 0",
        "--max-steps x",
        "--max-steps 1.5",
        "--max-seconds=-1",
        "--max-cost 0",
        "--max-cost nan",
        "--max-cost inf",
        "--max-cost=-1",
        "--max-steps 99999999999999999999",
    ] {
        assert!(
            refused(&format!("-p hi {line}")).contains("above zero"),
            "{line}"
        );
    }
}

#[test]
fn unknown_options_are_errors_with_a_suggestion() {
    for (line, near) in [
        ("-p --jsno", "did you mean `--json`?"),
        ("-p --mode x", "did you mean `--model`?"),
        ("--nte", "did you mean `--nt`?"),
        ("-p hi --frobnicate", "see `e --help`"),
        ("-z", "see `e --help`"),
        ("-pz", "see `e --help`"),
        ("--generat man", "see `e --help`"),
        ("-p --frob=1", "see `e --help`"),
    ] {
        let text = refused(line);
        assert!(
            text.starts_with("unknown option `-") && text.contains(near),
            "{line}: {text}"
        );
    }
    let text = refused("--frob x doctor --jsno");
    assert!(
        text.contains("`--frob`") && text.contains("usage: e doctor [--json]"),
        "{text}"
    );
    assert!(refused("trust --frob").contains("usage: e trust [dir]"));
    assert!(refused("-m doctor trust --frob").contains("usage: e trust"));
}

#[test]
fn commands() {
    use Invocation::*;
    let trust = |dir: Option<&str>, trusted| Trust {
        dir: dir.map(PathBuf::from),
        trusted,
    };
    for (line, expected) in [
        ("trust", trust(None, true)),
        ("trust /srv", trust(Some("/srv"), true)),
        ("untrust", trust(None, false)),
        ("docs", Docs { topic: None }),
        (
            "docs trust",
            Docs {
                topic: Some("trust".into()),
            },
        ),
        ("--ne doctor", Doctor { json: false }),
        ("doctor --no-network --json", Doctor { json: true }),
        ("-j providers", Providers { json: true }),
        ("models", Models { json: false }),
        ("auth", Auth),
        ("help", Help),
        ("-h", Help),
        ("-p x --help --nonsense", Help),
        ("-v", Version { json: false }),
        ("--nonsense -vj", Version { json: true }),
        ("doctor --version", Version { json: false }),
        (
            "--generate complete-zsh",
            Generate(doc::generated("complete-zsh").unwrap()),
        ),
    ] {
        assert_eq!(parse(&args(line)).unwrap(), expected, "{line}");
    }
    assert_eq!(print("-p -- -v").prompt, ["-v"]);
}

#[test]
fn commands_take_no_more_than_they_say() {
    for (line, fragment) in [
        ("trust a b", "`b`"),
        ("help me", "`me`"),
        ("auth login", "/login"),
        ("models refresh", "`refresh`"),
        ("trust --json", "no machine output"),
        ("trust --model x", "`--model` means nothing to `e trust`"),
        ("doctor --trust", "means nothing"),
        ("-p --no-network hi", "means nothing here"),
        ("--generate nothing", "cannot be generated"),
    ] {
        let text = refused(line);
        assert!(text.contains(fragment), "{line}: {text}");
    }
}

#[test]
fn without_p_a_message_is_the_first_prompt_of_the_terminal_app() {
    for (line, prompt) in [
        ("", None),
        ("hello", Some("hello")),
        ("hello world", Some("hello world")),
        ("-- trust", Some("trust")),
        ("-- trsut", Some("trsut")),
        ("trsut the process", Some("trsut the process")),
        ("--model x", None),
    ] {
        match parse(&args(line)) {
            Ok(Invocation::Tui { options, .. }) => {
                assert_eq!(options.prompt.as_deref(), prompt, "{line}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    for (line, fragment) in [
        ("trsut", "did you mean `e trust`?"),
        ("dosc", "did you mean `e docs`?"),
        ("version", "`e --version`"),
    ] {
        assert!(refused(line).contains(fragment), "{line}");
    }
}

#[test]
fn sessions_are_gone_on_with_in_the_terminal_app_alone() {
    for (line, fragment) in [
        ("-p -c hi", "`--continue` needs the terminal app"),
        ("-pr hi", "`--resume` needs the terminal app"),
        ("-c -r", "exclude each other"),
    ] {
        assert!(refused(line).contains(fragment), "{line}");
    }
    for line in ["-c", "-r", "-c hi there"] {
        assert!(
            matches!(parse(&args(line)), Ok(Invocation::Tui { .. })),
            "{line}"
        );
    }
}

#[test]
fn the_terminal_app_takes_images_with_a_prompt_and_no_limits() {
    let argv = args("-i a.png look -i b.png at this");
    match parse(&argv) {
        Ok(Invocation::Tui {
            options, images, ..
        }) => {
            assert_eq!(options.prompt.as_deref(), Some("look at this"));
            assert_eq!(images, ["a.png", "b.png"].map(PathBuf::from));
        }
        other => panic!("{other:?}"),
    }
    for line in ["-i a.png", "-c -i a.png", "--image a.png --"] {
        assert!(refused(line).contains("there is none"), "{line}");
    }
    for option in ["--max-steps 1", "--max-seconds 1", "--max-cost 1", "--json"] {
        assert!(refused(&format!("{option} hi")).contains("means nothing here"));
    }
}

#[test]
fn a_failure_tells_how_it_wants_to_be_told() {
    for (line, print, json) in [
        ("--nope", false, false),
        ("-p --nope", true, false),
        ("--nope --json -p", true, true),
        ("--nope -jp", true, true),
        ("doctor x -j", false, true),
        ("-p --nope -- --json", true, false),
        ("-mpj --nope", false, false),
    ] {
        let failure = parse(&args(line)).unwrap_err();
        assert_eq!((failure.print, failure.json), (print, json), "{line}");
    }
}

#[test]
fn raw_bytes_are_paths_but_no_prompt() {
    let odd = OsString::from_vec(vec![b'a', 0xff]);
    let argv = |first: &str| vec!["-p".into(), first.into(), odd.clone()];
    match parse(&argv("--image")) {
        Ok(Invocation::Print { options, .. }) => assert_eq!(options.images, [PathBuf::from(&odd)]),
        other => panic!("{other:?}"),
    }
    for first in ["x", "--model"] {
        let failure = parse(&argv(first)).unwrap_err();
        assert!(failure.error.to_string().contains("not UTF-8"));
    }
    let failure = parse(&[OsString::from_vec(b"--\xff".to_vec())]).unwrap_err();
    assert!(failure.error.to_string().contains("unknown option"));
}
