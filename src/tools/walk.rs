//! The files of a directory tree that a person would call the project's, in byte order.
//!
//! Left out are hidden names, build output by its usual names, and inside a repository what
//! `.gitignore`, `.ignore` and `.git/info/exclude` say; every omission is counted, so that
//! "nothing found" can say what was not looked at. Symlinks are not followed.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Directories that hold build output or dependencies.
const OUTPUT_NAMES: &[&str] = &["target", "node_modules", "dist"];

/// How many entries a walk left out, and why. A directory counts once, whatever is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Names that start with a dot, without `.git` itself.
    pub hidden: u64,
    /// `target`, `node_modules` and `dist`.
    pub output: u64,
    /// Named by an ignore file.
    pub ignored: u64,
    /// Symlinks.
    pub links: u64,
    /// Directories that could not be read.
    pub unreadable: u64,
}

/// A walk in progress: an iterator over regular files.
pub struct Walk {
    pending: Vec<Entry>,
    all: bool,
    skipped: Skipped,
}

struct Entry {
    path: PathBuf,
    directory: bool,
    rules: Option<Rc<Rules>>,
}

impl Walk {
    /// Walks `root`, a canonical path. With `all` nothing is left out but symlinks. A root that
    /// the rules themselves would leave out was asked for by name, so they do not count in it.
    pub fn new(root: &Path, all: bool) -> Self {
        let rules = match all {
            true => None,
            false => Rules::above(root),
        };
        let pending = vec![Entry {
            path: root.to_owned(),
            directory: true,
            rules,
        }];
        Self {
            pending,
            all,
            skipped: Skipped::default(),
        }
    }

    /// What was left out so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Looks at one more entry: `None` at the end, `Some(None)` when it was no file. One entry
    /// at a time, so that a caller can stop between any two.
    pub fn step(&mut self) -> Option<Option<PathBuf>> {
        let entry = self.pending.pop()?;
        if !entry.directory {
            return Some(Some(entry.path));
        }
        self.enter(&entry);
        Some(None)
    }

    fn enter(&mut self, directory: &Entry) {
        let mut found = Vec::new();
        let Ok(entries) = std::fs::read_dir(&directory.path) else {
            self.skipped.unreadable += 1;
            return;
        };
        for entry in entries.flatten() {
            if let Ok(kind) = entry.file_type() {
                found.push((entry.file_name(), kind));
            }
        }
        let has = |name: &str| found.iter().any(|(found, _)| found == name);
        let mut rules = directory.rules.clone();
        if !self.all && has(".git") {
            rules = Some(Rules::repository(&directory.path));
        } else if rules.is_some() && (has(".gitignore") || has(".ignore")) {
            rules = rules.map(|parent| Rules::directory(&directory.path, Some(parent)));
        }

        let mut kept = Vec::new();
        for (name, kind) in found {
            let path = directory.path.join(&name);
            if kind.is_symlink() {
                self.skipped.links += 1;
            } else if kind.is_dir() || kind.is_file() {
                let rules = rules.clone();
                if self.all || self.wants(&name, &path, kind.is_dir(), rules.as_deref()) {
                    kept.push(Entry {
                        path,
                        directory: kind.is_dir(),
                        rules,
                    });
                }
            }
        }
        // As whole paths sort: a directory as if its slash were there.
        kept.sort_by_cached_key(|entry| {
            let mut key: OsString = entry.path.file_name().unwrap_or_default().to_owned();
            if entry.directory {
                key.push("/");
            }
            key
        });
        self.pending.extend(kept.into_iter().rev());
    }

    fn wants(&mut self, name: &OsStr, path: &Path, directory: bool, rules: Option<&Rules>) -> bool {
        let count = if name == ".git" {
            return false;
        } else if name.as_bytes().starts_with(b".") {
            &mut self.skipped.hidden
        } else if OUTPUT_NAMES.iter().any(|output| name == *output) {
            &mut self.skipped.output
        } else if rules.is_some_and(|rules| rules.ignore(path, directory)) {
            &mut self.skipped.ignored
        } else {
            return true;
        };
        *count += 1;
        false
    }
}

/// The ignore files of one directory, and those above it in the same repository.
struct Rules {
    /// The more decisive one first.
    matchers: Vec<Gitignore>,
    parent: Option<Rc<Rules>>,
}

impl Rules {
    /// The rules that hold for `root` from the directories above it, when it is inside a
    /// repository and these rules do not leave it out.
    fn above(root: &Path) -> Option<Rc<Self>> {
        let mut above: Vec<&Path> = Vec::new();
        let mut rules = None;
        for directory in root.ancestors().skip(1) {
            if directory.join(".git").exists() {
                rules = Some(Self::repository(directory));
                break;
            }
            above.push(directory);
        }
        for directory in above.into_iter().rev() {
            let outer = rules?;
            if outer.ignore(directory, true) {
                return None;
            }
            rules = Some(Self::directory(directory, Some(outer)));
        }
        rules.filter(|rules| !rules.ignore(root, true))
    }

    /// The rules at the top of a repository.
    fn repository(top: &Path) -> Rc<Self> {
        let exclude = Self {
            matchers: vec![matcher(top, &top.join(".git/info/exclude"))],
            parent: None,
        };
        Self::directory(top, Some(Rc::new(exclude)))
    }

    fn directory(path: &Path, parent: Option<Rc<Self>>) -> Rc<Self> {
        let file = |name: &str| matcher(path, &path.join(name));
        Rc::new(Self {
            matchers: vec![file(".ignore"), file(".gitignore")],
            parent,
        })
    }

    fn ignore(&self, path: &Path, directory: bool) -> bool {
        let mut level = Some(self);
        while let Some(rules) = level {
            for matcher in &rules.matchers {
                match matcher.matched(path, directory) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            level = rules.parent.as_deref();
        }
        false
    }
}

/// The patterns of one file, without those that make no sense; none when there is no file.
fn matcher(root: &Path, file: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    // A bad line costs that line, and a pipe with this name must not be waited on.
    if file.is_file() {
        builder.add(file);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, name: &str, text: &str) {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn walk(root: &Path, all: bool) -> (Vec<String>, Skipped) {
        let mut walk = Walk::new(root, all);
        let mut files = Vec::new();
        while let Some(step) = walk.step() {
            files.extend(step.map(|path| path.strip_prefix(root).unwrap().display().to_string()));
        }
        (files, walk.skipped())
    }

    #[test]
    fn ignore_files_count_inside_a_repository_only() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let files = [
            "a.log",
            "a.txt",
            "a/keep.log",
            "a/x.log",
            "a/deep/y.tmp",
            "b/out/z",
            "excluded",
            ".hidden/h",
            "target/t",
            "node_modules/n",
            "nested/.git/HEAD",
            "nested/v.log",
        ];
        files.iter().for_each(|name| put(&root, name, ""));
        put(&root, ".gitignore", "*.log\n/b/out/\n[bad\n");
        put(&root, "a/.gitignore", "!keep.log\n");
        put(&root, "a/deep/.ignore", "*.tmp\n");
        std::os::unix::fs::symlink(&root, root.join("loop")).unwrap();

        let (found, skipped) = walk(&root, false);
        assert!(found.contains(&"a.log".to_owned()) && found.contains(&"a/deep/y.tmp".to_owned()));
        assert_eq!((skipped.ignored, skipped.hidden, skipped.links), (0, 4, 1));

        put(&root, ".git/info/exclude", "excluded\n");
        let (found, skipped) = walk(&root, false);
        assert_eq!(found, ["a.txt", "a/keep.log", "nested/v.log"]);
        assert_eq!(
            skipped,
            Skipped {
                hidden: 4,
                output: 2,
                ignored: 5,
                links: 1,
                unreadable: 0
            }
        );

        let (below, _) = walk(&root.join("a"), false);
        assert_eq!(below, ["keep.log"]);
        let (below, _) = walk(&root.join("b/out"), false);
        assert_eq!(below, ["z"]);
        let (everything, _) = walk(&root, true);
        let mut sorted = everything.clone();
        sorted.sort();
        assert_eq!(everything, sorted);
        assert_eq!(everything.len(), files.len() + 4);
    }
}
