//! Places and what wins among them.

use super::*;
use std::fs;

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn the_workspace_wins_over_the_home() {
    let root = tempfile::tempdir().unwrap();
    let (home, workspace) = (root.path().join("home"), root.path().join("w"));
    let skill = |name: &str, text: &str| {
        format!("---\nname: {name}\ndescription: {text}\n---\nDo {text}.\n")
    };
    write(home.join("skills/one/SKILL.md"), &skill("deploy", "global"));
    write(home.join("skills/two/SKILL.md"), "just a text");
    write(home.join("skills/no/README.md"), "no skill");
    write(
        workspace.join(".e/skills/x/SKILL.md"),
        &skill("deploy", "here"),
    );
    write(
        workspace.join(".e/skills/y/SKILL.md"),
        "---\ndisable-model-invocation: true\n---\nquiet",
    );
    write(
        home.join("prompts/fix.md"),
        "---\nargument-hint: <file>\n---\n\nfix $1\n",
    );
    write(home.join("prompts/only.md"), "global");
    write(home.join("prompts/two words.md"), "no command");
    write(workspace.join(".e/prompts/fix.md"), "mend $1");

    let home = Home::at(home);
    let all = places(&home, Some(&workspace));
    let names: Vec<_> = skills(&all)
        .0
        .into_iter()
        .map(|skill| (skill.name, skill.description, skill.origin))
        .collect();
    let expected = [
        ("deploy", "here", Origin::Workspace),
        ("two", "", Origin::Global),
        ("y", "", Origin::Workspace),
    ];
    let expected = expected.map(|(name, text, origin)| (name.to_owned(), text.to_owned(), origin));
    assert_eq!(names, expected);
    let catalog = catalog(&skills(&all).0).unwrap();
    assert!(
        catalog.contains("- deploy: here \"") && !catalog.contains("- y:"),
        "{catalog}"
    );

    let (found, warnings) = skills(&all);
    assert_eq!(warnings, [""; 0]);
    let prompt = found[0].prompt(" and go ").unwrap();
    let dir = workspace.join(".e/skills/x");
    assert_eq!(
        prompt,
        format!(
            "Do here.\n\nThe directory of this skill is `{}`.\n\nand go",
            dir.display()
        )
    );
    assert_eq!(said_to_skill(&prompt), Some("and go"));
    let name = dir.file_name().unwrap().to_str();
    assert_eq!(said_to_skill(&found[0].prompt("").unwrap()), name);
    assert_eq!(said_to_skill("Do here.\n\nand go"), None);
    fs::remove_file(found[0].file()).unwrap();
    assert!(
        found[0]
            .prompt("")
            .unwrap_err()
            .to_string()
            .contains("SKILL.md")
    );

    assert_eq!(template(&all, "fix").unwrap().fill("a"), "mend a");
    // Without trust the workspace has no say.
    let global = places(&home, None);
    assert_eq!(template(&global, "fix").unwrap().fill("a"), "fix a");
    assert_eq!(template(&global, "fix").unwrap().arguments, "<file>");
    assert!(template(&global, "../prompts/fix").is_none());
    let (found, warnings) = templates(&global);
    assert_eq!((found.len(), warnings.len()), (2, 1));
    assert!(
        warnings[0].contains("two words.md`: its name"),
        "{warnings:?}"
    );
    assert!(skills(&places(&Home::default(), None)).0.is_empty());
}

#[test]
fn what_cannot_be_read_is_told() {
    let root = tempfile::tempdir().unwrap();
    let large = "x".repeat(MAX_FILE as usize + 1);
    write(root.path().join("prompts/large.md"), &large);
    write(root.path().join("prompts/dir.md/x"), "");
    write(root.path().join("prompts/notes.txt"), "");
    write(root.path().join("skills/large/SKILL.md"), &large);
    write(root.path().join("skills/notes.md"), "");
    let all = places(&Home::at(root.path()), None);
    let (found, warnings) = templates(&all);
    assert!(found.is_empty());
    let says = |warning: &str, parts: [&str; 2]| parts.iter().all(|part| warning.contains(part));
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        says(&warnings[0], ["dir.md`: ", "a directory"]),
        "{warnings:?}"
    );
    assert!(
        says(&warnings[1], ["large.md`: ", "larger than 1 MiB"]),
        "{warnings:?}"
    );
    let (found, warnings) = skills(&all);
    assert!(found.is_empty());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        says(&warnings[0], ["skills/large`: ", "larger than 1 MiB"]),
        "{warnings:?}"
    );
}

#[test]
fn no_skill_no_catalog() {
    assert_eq!(catalog(&[]), None);
}
