//! The layers of docs/architecture.md, read off the `use` lines.

use std::path::{Path, PathBuf};

/// The modules below the frontends, and those among them that each may name with `crate::`.
const CORE: &[(&str, &[&str])] = &[
    ("chat", &[]),
    ("error", &[]),
    ("text", &[]),
    ("sys", &["error", "text"]),
    ("config", BASE),
    ("provider", MODULES),
    ("tools", MODULES),
    ("session", MODULES),
    ("extension", MODULES),
    ("agent", AGENT),
];
const BASE: &[&str] = &["error", "text", "sys", "chat"];
const MODULES: &[&str] = &["error", "text", "sys", "chat", "config"];
const AGENT: &[&str] = &[
    "error",
    "text",
    "sys",
    "chat",
    "config",
    "provider",
    "tools",
    "session",
    "extension",
];

/// The frontends and what starts them, with what each may name besides the core.
const ABOVE: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("tui", &[]),
    ("print", &["wire"]),
    ("rpc", &["wire"]),
    ("cli", &["wire", "print", "rpc", "tui"]),
];

fn may_use(module: &str, used: &str) -> Option<bool> {
    let find = |table: &[(&str, &'static [&str])]| {
        let row = table.iter().find(|(name, _)| *name == module);
        row.map(|(_, allowed)| allowed.contains(&used))
    };
    let is_core = CORE.iter().any(|(name, _)| *name == used);
    find(CORE).or_else(|| find(ABOVE).map(|allowed| allowed || is_core))
}

#[test]
fn arrows_point_one_way() {
    let mut wrong = Vec::new();
    for (module, file, line, text) in lines() {
        for used in named(&text) {
            let known = used == module
                || may_use(&module, &used).unwrap_or_else(|| {
                    panic!("{file:?}: the module `{module}` is in no layer; add it to the tables")
                });
            // `crate::Error` and `crate::Result` are names of the error module.
            if !known && !matches!(used.as_str(), "Error" | "Result") {
                wrong.push(format!("{}:{line}: {module} uses {used}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_core_knows_no_terminal() {
    let forbidden = [
        "termion",
        "println!",
        "eprintln!",
        "print!(",
        "stdout()",
        "stderr()",
        "IsTerminal",
    ];
    let mut wrong = Vec::new();
    for (module, file, line, text) in lines() {
        let code = text.split("//").next().unwrap_or_default();
        // Tests beside the code may print.
        let is_test =
            file.ends_with("tests.rs") || file.components().any(|part| part.as_os_str() == "tests");
        if CORE.iter().any(|(name, _)| *name == module)
            && !is_test
            && forbidden.iter().any(|word| code.contains(word))
        {
            wrong.push(format!("{}:{line}: {}", file.display(), text.trim()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn unsafe_code_is_in_sys_alone_and_modules_say_what_they_own() {
    let mut wrong = Vec::new();
    for (module, file, line, text) in lines() {
        let code = text.split("//").next().unwrap_or_default();
        // The word alone may stand in a text; code has one of these behind it.
        let is_unsafe = ["{", "fn", "impl", "extern", "trait"]
            .iter()
            .any(|next| code.contains(&format!("unsafe {next}")));
        if module != "sys" && is_unsafe {
            wrong.push(format!("{}:{line}: unsafe", file.display()));
        }
        if line == 1 && !text.starts_with("//!") {
            wrong.push(format!(
                "{}: does not open with what it owns",
                file.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Names after `crate::` in a line.
fn named(text: &str) -> Vec<String> {
    let word = |rest: &str| {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let code = text.split("//").next().unwrap_or_default();
    code.split("crate::")
        .skip(1)
        .map(word)
        .filter(|name: &String| !name.is_empty())
        .collect()
}

/// Every line of every module below the crate's root: module, file, line number, text.
fn lines() -> Vec<(String, PathBuf, usize, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut todo = vec![root.clone()];
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).expect("src").flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
                continue;
            }
            let inside = path.strip_prefix(&root).expect("inside src");
            let first = inside.iter().next().expect("a name").to_string_lossy();
            let module = first.trim_end_matches(".rs").to_string();
            if matches!(module.as_str(), "lib" | "main") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            for (index, line) in text.lines().enumerate() {
                found.push((module.clone(), path.clone(), index + 1, line.to_string()));
            }
        }
    }
    assert!(found.len() > 1000, "the sources were not found");
    found
}
