//! The guides are in the binary, and what they show works.

use std::ffi::OsString;
use std::path::Path;

use e::cli::Invocation;
use serde_json::Value;

use crate::support::Place;

#[test]
fn every_listed_guide_prints() {
    let place = Place::new();
    let list = place.e().arg("docs").run().ends_with(0).stdout;
    assert!(list.starts_with("getting-started  "), "{list}");
    for line in list.lines() {
        let topic = line.split_whitespace().next().unwrap();
        let guide = place.e().args(["docs", topic]).run().ends_with(0).stdout;
        let begins = if ["schema-", "theme-"]
            .iter()
            .any(|file| topic.starts_with(file))
        {
            "{"
        } else {
            "# "
        };
        assert!(guide.starts_with(begins), "{topic}");
        assert!(!guide.contains("[!"), "{topic}");
    }
}

/// Every `e …` command in the code of the guides and the README, as words.
fn shown() -> Vec<(String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("README.md")];
    let guides = std::fs::read_dir(root.join("docs/guides")).unwrap();
    let guides = guides.map(|entry| entry.unwrap().path());
    files.extend(guides.filter(|path| path.extension().is_some_and(|end| end == "md")));
    let mut commands = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut fenced = false;
        for line in text.lines() {
            fenced ^= line.starts_with("```");
            let pieces: Vec<&str> = match fenced || line.starts_with("    ") {
                true => line.split(" | ").collect(),
                false => line.split('`').skip(1).step_by(2).collect(),
            };
            for piece in pieces {
                let piece = piece.split("  #").next().unwrap_or_default().trim();
                let mut rest = piece.split(' ').skip_while(|word| word.contains('='));
                let is_e = rest.next() == Some("e") && !piece.contains(['…', '<']);
                let rest: Vec<&str> = rest.collect();
                let command = (is_e && !rest.is_empty()).then(|| rest.join(" "));
                commands.extend(command.map(|rest| (file.display().to_string(), words(&rest))));
            }
        }
    }
    commands
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn no_guide_shows_a_command_that_e_does_not_understand() {
    let shown = shown();
    assert!(shown.len() > 20, "{shown:?}");
    for (file, words) in &shown {
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        match e::cli::parse(&argv) {
            Ok(Invocation::Docs { topic: Some(topic) }) => {
                assert!(e::cli::docs::guide(&topic).is_ok(), "{file}: {words:?}");
            }
            Ok(_) => {}
            Err(failure) => panic!("{file}: {words:?}: {}", failure.error),
        }
    }
}

#[test]
fn every_json_block_of_a_guide_is_json() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides");
    let mut count = 0;
    for entry in std::fs::read_dir(guides).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("```json\n").skip(1) {
            let block = block.split("\n```").next().unwrap();
            serde_json::from_str::<Value>(block)
                .unwrap_or_else(|e| panic!("{}: {e}: {block}", path.display()));
            count += 1;
        }
    }
    assert!(count >= 3);
}

#[test]
fn the_example_of_a_local_server_is_accepted_as_it_stands() {
    let place = Place::new();
    let guide = place.e().args(["docs", "models"]).run().ends_with(0).stdout;
    let example = guide
        .split("```json\n")
        .find(|block| block.contains("base_url"))
        .unwrap();
    place.write_home("models.json", example.split("\n```").next().unwrap());
    let run = place.e().arg("models").run().ends_with(0);
    assert_eq!(run.stderr, "");
    assert!(
        run.stdout.contains("local/small") && run.stdout.contains("local/large"),
        "{run:?}"
    );
}

#[test]
fn the_example_script_plays_as_the_guide_says() {
    let place = Place::new();
    let guide = place
        .e()
        .args(["docs", "offline"])
        .run()
        .ends_with(0)
        .stdout;
    let script = guide.split("```json\n").nth(1).unwrap();
    place.write("steps.json", script.split("\n```").next().unwrap());
    let args = ["-p", "--json", "--model", "offline/script", "go"];
    let run = place
        .e()
        .args(args)
        .env("E_OFFLINE_SCRIPT", "steps.json")
        .run()
        .ends_with(0);
    assert_eq!(run.result()["final_output"], "There they are.");
    assert_eq!(run.events("retry").len(), 1);
}

#[test]
fn the_guide_to_settings_has_every_key() {
    let place = Place::new();
    let guide = place
        .e()
        .args(["docs", "settings"])
        .run()
        .ends_with(0)
        .stdout;
    for key in e::config::settings::KEYS {
        assert!(
            guide.contains(&format!("| `{}` |", key.name)),
            "{}",
            key.name
        );
    }
}
