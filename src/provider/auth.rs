//! Which key opens which provider: `auth.json` first, then the environment. Read only.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::Secret;
use crate::config::{AUTH, Home};
use crate::sys::Env;

/// An entry of `auth.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A pasted key.
    Key(Secret),
    /// The result of a browser sign-in. Shown in listings; this build makes no requests with it.
    OAuth {
        /// When the access token ends, in Unix milliseconds.
        expires: u64,
    },
}

/// All credentials of this process, as they were when loaded.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    stored: BTreeMap<String, Stored>,
    from_env: BTreeMap<String, Secret>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Key {
        key: String,
    },
    OAuth {
        #[serde(rename = "access")]
        _access: String,
        #[serde(rename = "refresh")]
        _refresh: String,
        expires: u64,
    },
}

impl Credentials {
    /// Reads `auth.json` of the home, and for each provider the variable that may hold its key.
    /// The texts are warnings for a person; entries of an unknown shape are passed over.
    pub fn load<'a>(
        home: Option<&Path>,
        env: &Env,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Self, Vec<String>) {
        let (entries, warnings) = AUTH.read(&home.map(Home::at).unwrap_or_default());
        let mut credentials = Self::default();
        for (name, value) in entries {
            match serde_json::from_value(value) {
                Ok(Entry::Key { key }) if !key.trim().is_empty() => {
                    credentials
                        .stored
                        .insert(name, Stored::Key(Secret(key.trim().to_owned())));
                }
                Ok(Entry::OAuth { expires, .. }) => {
                    credentials.stored.insert(name, Stored::OAuth { expires });
                }
                Ok(Entry::Key { .. }) | Err(_) => {}
            }
        }
        for (provider, variable) in variables {
            if let Some(key) = env.text(variable) {
                credentials
                    .from_env
                    .insert(provider.to_owned(), Secret(key.trim().to_owned()));
            }
        }
        (credentials, warnings)
    }

    /// The key to present to a provider, if there is one.
    pub fn key_for(&self, provider: &str) -> Option<Secret> {
        match self.stored.get(provider) {
            Some(Stored::Key(key)) => Some(key.clone()),
            Some(Stored::OAuth { .. }) | None => self.from_env.get(provider).cloned(),
        }
    }

    /// The entries of `auth.json`, by provider.
    pub fn stored(&self) -> impl Iterator<Item = (&str, &Stored)> {
        self.stored
            .iter()
            .map(|(name, stored)| (name.as_str(), stored))
    }

    /// The entry of one provider.
    pub fn stored_for(&self, provider: &str) -> Option<&Stored> {
        self.stored.get(provider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, vars: &[(&str, &str)]) -> (Credentials, Vec<String>) {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("auth.json"), text).unwrap();
        let mut env = Env::default();
        for (name, value) in vars {
            env.set(*name, *value);
        }
        Credentials::load(
            Some(home.path()),
            &env,
            [("a", "A_KEY"), ("b", "B_KEY"), ("c", "A_KEY")],
        )
    }

    fn key(credentials: &Credentials, provider: &str) -> Option<String> {
        credentials.key_for(provider).map(|key| key.0)
    }

    #[test]
    fn the_file_wins_over_the_environment() {
        let text = r#"{"format_version":1,"a":{"key":" file "},"odd":{"x":1},"n":3,"blank":{"key":" "},
            "b":{"access":"x","refresh":"y","expires":7,"account_id":"z"}}"#;
        let (credentials, warnings) = load(text, &[("A_KEY", "env"), ("B_KEY", "env")]);
        assert_eq!(warnings, [""; 0]);
        assert_eq!(key(&credentials, "a").as_deref(), Some("file"));
        assert_eq!(key(&credentials, "b").as_deref(), Some("env"));
        assert_eq!(key(&credentials, "c").as_deref(), Some("env"));
        assert_eq!(key(&credentials, "odd"), None);
        assert_eq!(
            credentials.stored_for("b"),
            Some(&Stored::OAuth { expires: 7 })
        );
        assert_eq!(credentials.stored().count(), 2);
        assert!(!format!("{credentials:?}").contains("file"));
    }

    #[test]
    fn a_broken_file_is_a_warning_without_its_contents() {
        for text in [
            "{\"a\": {\"key\": \"sk-secret\"},}",
            "[\"sk-secret\"]",
            "sk-secret",
            "",
        ] {
            let (credentials, warnings) = load(text, &[("A_KEY", " ")]);
            assert_eq!(key(&credentials, "a"), None);
            assert_eq!(warnings.len(), 1, "{text}");
            assert!(
                warnings[0].contains("line") && !warnings[0].contains("secret"),
                "{warnings:?}"
            );
        }
        let newer = r#"{"format_version": 2, "a": {"key": "sk-secret"}}"#;
        let (credentials, warnings) = load(newer, &[]);
        assert_eq!(key(&credentials, "a"), None);
        assert!(warnings[0].contains("format_version is 2"), "{warnings:?}");
        let (_, warnings) = Credentials::load(Some(Path::new("/missing")), &Env::default(), []);
        assert_eq!(warnings, [""; 0]);
    }
}
