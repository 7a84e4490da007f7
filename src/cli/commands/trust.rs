//! `e trust` and `e untrust`.

use std::path::PathBuf;

use crate::cli::{output, working_directory};
use crate::config::{Home, trust};
use crate::error::{Error, Result};
use crate::sys::Env;

/// Records a decision about a directory, by default the working directory.
pub fn trust(home: &Home, env: &Env, dir: Option<PathBuf>, trusted: bool) -> Result<String> {
    let dir = match dir {
        None => working_directory()?,
        Some(dir) => {
            let named = |error: Error| {
                Error::usage(error.to_string()).context(format!("`{}`", dir.display()))
            };
            let canonical = dir.canonicalize().map_err(|error| named(error.into()))?;
            if !canonical.is_dir() {
                return Err(named(Error::usage("it is not a directory")));
            }
            canonical
        }
    };
    for warning in trust::record(home, env, &dir, trusted)? {
        output::warn(warning);
    }
    let verb = if trusted { "trusted" } else { "not trusted" };
    Ok(format!(
        "{verb}: {}\n",
        crate::text::sanitize(&dir.to_string_lossy())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Decision, Trust};
    use std::fs;

    #[test]
    fn a_directory_is_recorded_under_its_canonical_path() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let home = Home::at(root.join("home"));
        let real = root.join("real");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, root.join("link")).unwrap();
        let decide =
            |trusted| trust(&home, &Env::default(), Some(root.join("link")), trusted).unwrap();

        assert_eq!(decide(true), format!("trusted: {}\n", real.display()));
        assert_eq!(
            Trust::load(&home, None).0.decision(&real),
            Decision::Trusted
        );
        decide(false);
        assert_eq!(
            Trust::load(&home, None).0.decision(&real),
            Decision::Declined
        );
    }

    #[test]
    fn what_is_no_directory_is_a_usage_problem() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::at(root.path().join("home"));
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for dir in [file, root.path().join("missing")] {
            let error = trust(&home, &Env::default(), Some(dir), true).unwrap_err();
            assert_eq!(error.status(), 2, "{error}");
        }
        assert!(!home.dir().unwrap().exists());
    }
}
