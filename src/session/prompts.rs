//! What a person said in a log, on every branch: the places that a conversation can go back to.

use std::fs::OpenOptions;
use std::path::Path;

use super::head::{Author, Head, Kind};
use super::load::{self, Reader};
use super::record::Record;
use super::tree::Tree;
use crate::chat::Message;
use crate::error::{Error, Result};
use crate::sys::fs::open_regular;

/// A message of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastPrompt {
    /// The node before it, from which another branch can begin; none at the root.
    pub before: Option<String>,
    /// What was said.
    pub text: String,
    /// When, in Unix milliseconds.
    pub timestamp: u64,
    /// Whether another branch begins in the same place.
    pub branches: bool,
    /// Whether it is on the branch that goes on.
    pub is_living: bool,
    /// How many of the messages before it are followed by more than one.
    pub depth: usize,
    /// Whether it is one of several that follow the same message.
    pub begins_branch: bool,
}

/// All messages of a person that can be reached, each behind the one before it, branches in the order
/// in which they were begun. `head` is the node that the
/// conversation goes on from; without one none is living.
pub fn prompts(path: &Path, head: Option<&str>) -> Result<Vec<PastPrompt>> {
    let named = |error: Error| error.context(format!("cannot look through `{}`", path.display()));
    let opened = open_regular(path, OpenOptions::new().read(true));
    let (file, _) = opened.map_err(|error| named(error.into()))?;
    let (_, scan) = load::scan(&file).map_err(named)?;
    let tree = scan.tree;
    let mut living = vec![false; tree.len()];
    for index in head
        .and_then(|id| tree.whole(id))
        .map(|end| tree.path(end))
        .unwrap_or_default()
    {
        living[index] = true;
    }
    // The last place counts the roots.
    let place = |index: usize| tree.parent(index).unwrap_or(tree.len());
    let reachable: Vec<usize> = (0..tree.len())
        .filter(|index| !tree.is_broken(*index))
        .collect();
    let mut children = vec![0_usize; tree.len() + 1];
    for index in &reachable {
        children[place(*index)] += 1;
    }
    let ids = tree.ids();
    let mut reader = Reader::default();
    let mut found = Vec::new();
    let mut nodes = Vec::new();
    for (n, index) in reachable.iter().enumerate() {
        let after = reachable[n + 1..].iter().map(|index| tree.place(*index));
        // What is unreadable is told when the session is opened.
        let Some((text, timestamp)) = reader
            .line(&file, tree.place(*index), after)
            .ok()
            .and_then(said)
        else {
            continue;
        };
        found.push(PastPrompt {
            before: tree.parent(*index).map(|parent| ids[parent].to_owned()),
            text,
            timestamp,
            branches: children[place(*index)] > 1,
            is_living: living[*index],
            depth: 0,
            begins_branch: false,
        });
        nodes.push(*index);
    }
    Ok(by_branch(found, &nodes, &tree))
}

/// Puts messages, which are at these nodes, behind the one that each follows.
fn by_branch(found: Vec<PastPrompt>, nodes: &[usize], tree: &Tree) -> Vec<PastPrompt> {
    let mut prompt_at = vec![None; tree.len()];
    for (prompt, node) in nodes.iter().enumerate() {
        prompt_at[*node] = Some(prompt);
    }
    // The last place is for those that follow none.
    let mut following = vec![Vec::new(); found.len() + 1];
    for (prompt, node) in nodes.iter().enumerate() {
        let mut before = std::iter::successors(tree.parent(*node), |node| tree.parent(*node));
        let before = before.find_map(|node| prompt_at[node]);
        following[before.unwrap_or(found.len())].push(prompt);
    }
    let mut found: Vec<Option<PastPrompt>> = found.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(found.len());
    let mut open = vec![(found.len(), 0)];
    while let Some((at, depth)) = open.pop() {
        let begins_branch = following[at].len() > 1;
        let below = depth + usize::from(begins_branch);
        if let Some(prompt) = found.get_mut(at).and_then(Option::take) {
            ordered.push(PastPrompt { depth, ..prompt });
        }
        for next in following[at].iter().rev() {
            if let Some(Some(prompt)) = found.get_mut(*next) {
                prompt.begins_branch = begins_branch;
            }
            open.push((*next, below));
        }
    }
    ordered
}

/// What a person says in a line, and when.
fn said(line: &[u8]) -> Option<(String, u64)> {
    let head = Head::of(line).ok()?;
    if head.kind != Kind::Message
        || !matches!(head.author(line), Ok(Author::User | Author::Steering))
    {
        return None;
    }
    match Record::from_line(line) {
        Ok(Some(Record::Message {
            message, timestamp, ..
        })) => match &*message {
            Message::User { content, .. } => Some((content.clone(), timestamp)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::session::load_at;

    fn line(id: &str, parent: Option<&str>, role: &str, text: &str) -> String {
        let parent = parent.map_or("null".into(), |parent| format!("\"{parent}\""));
        format!(
            r#"{{"type":"message","id":"{id}","parent":{parent},"timestamp":1,"message":{{"role":"{role}","content":"{text}"}}}}"#
        )
    }

    #[test]
    fn every_branch_is_told_and_can_be_gone_back_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1_a.jsonl");
        let header =
            r#"{"type":"session","format_version":3,"id":"a","cwd":"/","created":1,"model":"m"}"#;
        let lines = [
            header.to_owned(),
            line("u1", None, "user", "one"),
            line("a1", Some("u1"), "assistant", "yes"),
            line("u2", Some("a1"), "user", "two"),
            line("a2", Some("u2"), "assistant", "no"),
            line("u3", Some("a1"), "user", "other"),
            line("x", Some("gone"), "user", "out of reach"),
            line("u4", None, "user", "anew"),
            line("u5", Some("a2"), "user", "more"),
            line("n", Some("u5"), "user", "note").replace("\"}}", "\",\"internal\":true}}"),
            line("s", Some("n"), "user", "steered")
                .replace("\"}}", "\",\"internal\":true,\"steered\":true}}"),
        ];
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let told = |head| -> Vec<String> {
            let prompts = prompts(&path, head).unwrap().into_iter();
            let told = prompts.map(|one| {
                let marks = [
                    (one.branches, '*'),
                    (one.is_living, '!'),
                    (one.begins_branch, '<'),
                ];
                let marks = marks.iter().filter(|mark| mark.0).map(|mark| mark.1);
                let before = one.before.as_deref().unwrap_or("-");
                let marks = marks.collect::<String>();
                format!("{} {before} {} {marks}", one.depth, one.text)
            });
            told.collect()
        };
        let expected = [
            "1 - one *!<",
            "2 a1 two *<",
            "2 a2 more ",
            "2 n steered ",
            "2 a1 other *!<",
            "1 - anew *<",
        ];
        assert_eq!(told(Some("u3")), expected);
        assert_eq!(told(None)[0], "1 - one *<");
        let texts = |node: Option<&str>| -> Vec<String> {
            let entries = load_at(&path, node).unwrap().into_iter();
            let text = |message: &Message| format!("{message:?}").contains("yes");
            entries
                .map(|entry| {
                    format!(
                        "{:?} {}",
                        entry.id.unwrap_or_default(),
                        text(&entry.message)
                    )
                })
                .collect()
        };
        assert_eq!(texts(Some("a1")), ["\"u1\" false", "\"a1\" true"]);
        assert!(texts(None).is_empty());
        for missing in ["x", "nobody"] {
            let error = load_at(&path, Some(missing)).unwrap_err().to_string();
            assert!(error.contains("cannot be read"), "{error}");
        }
    }
}
