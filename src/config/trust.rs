//! Which directories e may work in. Nothing a repository carries is read before its directory is
//! trusted.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::home::path_key;
use super::{Home, TRUST};
use crate::error::{Error, Result};
use crate::sys::Env;

/// What is known about a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// e may work there.
    Trusted,
    /// The user said no.
    Declined,
    /// Nobody was asked.
    Unasked,
}

/// The recorded decisions, as one process sees them.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    recorded: Map<String, Value>,
    /// A directory that this process trusts with all below it, whatever is recorded.
    process: Option<PathBuf>,
}

impl Trust {
    /// Reads the recorded decisions. `process` is the canonical directory that `--trust` names.
    pub fn load(home: &Home, process: Option<PathBuf>) -> (Self, Vec<String>) {
        let (recorded, warnings) = TRUST.read(home);
        (Self { recorded, process }, warnings)
    }

    /// What is known about a canonical directory: its own entry, else a trusted ancestor. That an
    /// ancestor was declined says nothing about it.
    pub fn decision(&self, dir: &Path) -> Decision {
        if self
            .process
            .as_ref()
            .is_some_and(|trusted| dir.starts_with(trusted))
        {
            return Decision::Trusted;
        }
        match self.entry(dir) {
            Some(true) => Decision::Trusted,
            Some(false) => Decision::Declined,
            None if dir
                .ancestors()
                .skip(1)
                .any(|up| self.entry(up) == Some(true)) =>
            {
                Decision::Trusted
            }
            None => Decision::Unasked,
        }
    }

    /// Fails unless the directory is trusted.
    pub fn check(&self, dir: &Path) -> Result<()> {
        match self.decision(dir) {
            Decision::Trusted => Ok(()),
            Decision::Declined | Decision::Unasked => Err(refusal(dir)),
        }
    }

    fn entry(&self, dir: &Path) -> Option<bool> {
        self.recorded.get(&path_key(dir))?.get("trusted")?.as_bool()
    }
}

/// Whether a canonical directory can be trusted for good. The user's home, and what contains it,
/// cannot: everything the user has would be.
pub fn may_last(env: &Env, dir: &Path) -> bool {
    let user = env.path("HOME").and_then(|user| user.canonicalize().ok());
    dir.parent().is_some() && user.is_none_or(|user| !user.starts_with(dir))
}

/// Records a decision about a canonical directory, if it [may last](may_last). Returns warnings.
pub fn record(home: &Home, env: &Env, dir: &Path, trusted: bool) -> Result<Vec<String>> {
    if trusted && !may_last(env, dir) {
        let message = format!(
            "`{}` holds your home directory and is not trusted as a whole",
            dir.display()
        );
        return Err(Error::failed(message)
            .remedy("trust a directory inside, or pass `--trust` for one run"));
    }
    TRUST.update(home, |map| {
        let entry = json!({"path": dir.to_string_lossy(), "trusted": trusted});
        map.insert(path_key(dir), entry);
    })
}

/// The error of a run in a directory that is not trusted.
pub fn refusal(dir: &Path) -> Error {
    Error::failed(format!("`{}` must be trusted to run e", dir.display()))
        .remedy("run `e trust` there, or pass `--trust` for this run alone")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(entries: &[(&str, Value)], process: Option<&str>) -> Trust {
        Trust {
            recorded: entries
                .iter()
                .map(|(dir, trusted)| (path_key(Path::new(dir)), json!({"trusted": trusted})))
                .collect(),
            process: process.map(PathBuf::from),
        }
    }

    #[test]
    fn the_nearest_say_counts() {
        use Decision::*;
        let recorded = [
            ("/srv", json!(true)),
            ("/srv/no", json!(false)),
            ("/srv/no/yes", json!(true)),
            ("/out", json!(false)),
            ("/odd", json!("true")),
        ];
        let cases = [
            ("/srv", Trusted),
            ("/srv/a/b", Trusted),
            ("/srv/no", Declined),
            ("/srv/no/yes", Trusted),
            // A declined directory says nothing about its children; `/srv` above still does.
            ("/srv/no/other", Trusted),
            ("/out", Declined),
            ("/out/child", Unasked),
            ("/srvx", Unasked),
            ("/odd", Unasked),
            ("/", Unasked),
        ];
        for (dir, expected) in cases {
            assert_eq!(
                trust(&recorded, None).decision(Path::new(dir)),
                expected,
                "{dir}"
            );
        }
    }

    #[test]
    fn the_process_trusts_its_directory_and_below() {
        let trust = trust(&[("/w/no", json!(false))], Some("/w"));
        for (dir, expected) in [("/w", true), ("/w/no", true), ("/wx", false), ("/", false)] {
            assert_eq!(trust.check(Path::new(dir)).is_ok(), expected, "{dir}");
        }
        assert!(self::trust(&[], Some("/")).check(Path::new("/any")).is_ok());
    }

    #[test]
    fn the_refusal_names_the_way_out() {
        let text = refusal(Path::new("/w")).to_string();
        assert!(text.contains("must be trusted to run e"));
        assert!(text.contains("e trust"));
    }

    #[test]
    fn decisions_survive_and_the_home_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let home = Home::at(root.join("user/.e"));
        let mut env = Env::default();
        env.set("HOME", root.join("user"));
        let work = root.join("user/work");
        std::fs::create_dir_all(&work).unwrap();

        record(&home, &env, &work, true).unwrap();
        assert_eq!(
            Trust::load(&home, None).0.decision(&work),
            Decision::Trusted
        );
        record(&home, &env, &work, false).unwrap();
        assert_eq!(
            Trust::load(&home, None).0.decision(&work),
            Decision::Declined
        );

        for dir in [root.join("user"), root.clone(), PathBuf::from("/")] {
            assert!(
                record(&home, &env, &dir, true).is_err(),
                "{}",
                dir.display()
            );
            assert!(record(&home, &env, &dir, false).is_ok());
        }
    }
}
