//! Signing in: the `/login` panel, and keys that were pasted where a prompt is written.
//!
//! A key goes from the panel into `auth.json` and nowhere else: no history, no hook, no model.

use std::time::Instant;

use serde_json::json;

use super::deaf::Deaf;
use super::{App, Done, Surface};
use crate::agent::{Process, Selection};
use crate::config::AUTH;
use crate::error::Result;
use crate::provider::{Catalog, Dialect, ProviderInfo, SignIn};
use crate::tui::key::{Key, KeyPress};
use crate::tui::view::login::{Login, Provider, Request};

/// Beginnings of keys and whose they are. Several providers may use one.
const KEYS: &[(&str, &[&str])] = &[
    ("sk-ant-", &["anthropic"]),
    ("sk-or-", &["openrouter"]),
    ("sk-proj-", &["openai"]),
    ("sk-svcacct-", &["openai"]),
    ("sk-", &[]),
    ("gsk_", &["groq"]),
    ("xai-", &["xai"]),
    ("csk-", &["cerebras"]),
    ("AIza", &["google"]),
    ("hf_", &["huggingface"]),
    ("fw_", &["fireworks"]),
    ("nvapi-", &["nvidia"]),
];
/// Fewest characters of a key.
const MIN_KEY: usize = 24;

/// Why the panel is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// No session could be opened, for this reason. The panel opens when nothing is signed in.
    Start(String),
    /// `/login`, maybe with the name of a provider.
    Command(String),
    /// This was submitted.
    Pasted(Pasted),
}

/// A key on its way to the panel.
#[derive(Clone, PartialEq, Eq)]
pub struct Pasted(String);

impl std::fmt::Debug for Pasted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pasted")
    }
}

#[derive(Debug)]
pub struct SignedIn {
    /// What is to be said when the file holds it, or why it does not.
    stored: Result<Vec<String>>,
    /// The model in use, with the new key.
    selection: Option<Selection>,
}

impl App {
    /// Looks up who one can sign in to.
    pub(super) fn login(&mut self, why: Why) {
        let process = self.process.clone();
        let is_asked = !matches!(why, Why::Start(_));
        let work = move || {
            let catalog = Catalog::load(process.home.dir(), &process.env);
            if let (Why::Start(reason), true) = (&why, catalog.is_signed_in()) {
                return Done::Notice(reason.clone());
            }
            let offered = catalog
                .providers()
                .filter(|row| row.sign_in != SignIn::None);
            let providers = offered.map(|row| Provider {
                usable: is_usable(&row),
                id: row.name,
                label: row.display,
                account: row.sign_in == SignIn::Account,
                key: row.sign_in == SignIn::Key,
                signed_in: row.signed_in,
            });
            Done::Providers(why, providers.collect())
        };
        match is_asked {
            true => self.look_up(work),
            false => self.task(work),
        }
    }

    /// It is known who.
    pub(super) fn open_login(&mut self, why: Why, providers: Vec<Provider>) {
        let login = match why {
            Why::Start(reason) => {
                let named = self.options.model.as_ref().or(self.settings.model.as_ref());
                // An open panel shows what came of a key, and stays.
                let is_open = matches!(self.surface, Some(Surface::Login(_)));
                match named {
                    Some(_) => self.tell(&reason),
                    None if is_open => {}
                    None => self.tell(
                        "no model is available yet: sign in, or choose an offline one with /models",
                    ),
                }
                if is_open {
                    return;
                }
                self.deaf = Deaf::Unseen;
                Login::new(providers, None)
            }
            Why::Command(name) if name.is_empty() => Login::new(providers, None),
            Why::Command(name) => {
                let wanted = name.to_lowercase();
                let is_it =
                    |one: &&Provider| one.id == wanted || one.label.to_lowercase() == wanted;
                let Some(id) = providers.iter().find(is_it).map(|one| one.id.clone()) else {
                    return self.tell(&format!(
                        "there is no provider `{name}` to sign in to - see /login"
                    ));
                };
                Login::new(providers, Some(&id))
            }
            Why::Pasted(Pasted(key)) => {
                let owners = owners(&key).unwrap_or_default();
                Login::with_key(providers, owners, key)
            }
        };
        self.surface = Some(Surface::Login(login));
    }

    /// Takes a key away that was submitted like a prompt: it is for the panel. True when it is one.
    pub(super) fn catch_key(&mut self, text: &str) -> bool {
        let key = text.trim();
        let is_key = owners(key).is_some();
        if is_key {
            self.composer.take();
            self.login(Why::Pasted(Pasted(key.to_owned())));
        }
        is_key
    }

    pub(super) fn login_key(&mut self, press: KeyPress, now: Instant) {
        let Some(Surface::Login(login)) = &mut self.surface else {
            return;
        };
        let request = match press.key {
            Key::Escape => Some(Request::Close),
            Key::Up => return login.step(-1),
            Key::Down => return login.step(1),
            Key::Enter => login.enter(),
            Key::Backspace => login.backspace(),
            _ if !login.takes_key() => return self.type_ahead(press, now),
            _ => {
                if let Some(c) = press.text() {
                    login.type_text(c.encode_utf8(&mut [0; 4]));
                }
                None
            }
        };
        match request {
            None => {}
            Some(Request::Close) => self.surface = None,
            Some(Request::Key(provider, key)) => self.store_key(provider, key),
        }
    }

    fn store_key(&mut self, provider: String, key: String) {
        let process = self.process.clone();
        let current = self
            .session
            .as_ref()
            .map(|session| session.selection.clone());
        self.task(move || {
            let stored = AUTH.update(&process.home, |entries| {
                entries.insert(provider.clone(), json!({"key": key}));
            });
            let stored = stored.map(|mut says| {
                says.push("the key is stored in auth.json".to_owned());
                says.extend(what_is_left(&process, &provider));
                says
            });
            let same = current.filter(|current| current.model.provider == provider);
            let selection = same.and_then(|current| {
                let effort = current.effort.clone();
                let slug = current.model.slug();
                process.select(&current, Some(&slug), effort).ok()
            });
            Done::SignedIn(Box::new(SignedIn { stored, selection }))
        })
    }

    /// The key is stored, or is not.
    pub(super) fn signed_in(&mut self, done: SignedIn) {
        let (ok, says) = match &done.stored {
            Ok(says) => (true, says.join("\n")),
            Err(error) => (false, error.to_string()),
        };
        match &mut self.surface {
            Some(Surface::Login(login)) => login.finish(ok, &says),
            _ => self.tell(&says),
        }
        match (ok, done.selection, &self.session) {
            (true, _, None) => self.begin(),
            (true, Some(selection), Some(_)) => self.select(selection),
            _ => {}
        }
    }
}

/// What stands between a key and a first turn with it.
fn what_is_left(process: &Process, provider: &str) -> Option<String> {
    let catalog = Catalog::load(process.home.dir(), &process.env);
    let row = catalog.providers().find(|row| row.name == provider)?;
    match (is_usable(&row), row.models) {
        (false, _) => Some(format!(
            "this build cannot ask models of {} yet",
            row.display
        )),
        (true, 0) => Some(format!("choose a model by its name: /model {provider}/…")),
        (true, _) => None,
    }
}

/// Whether this build can ask its models.
fn is_usable(row: &ProviderInfo) -> bool {
    Dialect::from_name(row.dialect).is_some_and(Dialect::is_spoken)
}

/// Whose key this is, when it is one: none named means that it could be of several.
fn owners(text: &str) -> Option<&'static [&'static str]> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.len() < MIN_KEY || !text.chars().all(is_part) {
        return None;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let found = KEYS.iter().find(|(start, _)| text.starts_with(start))?;
    // A long word with such a beginning is a word all the same.
    (digits > 0).then_some(found.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_words() {
        let cases = [
            ("sk-ant-api03-aBcDeFgHiJkLmNoPqRsT-x9", Some("anthropic")),
            ("sk-or-v1-0123456789abcdef0123456789", Some("openrouter")),
            ("gsk_0123456789abcdef01234567", Some("groq")),
            ("sk-0123456789abcdef01234567", Some("")),
            ("sk-short1", None),
            ("sk-ant-api03-aBcDeFgHiJkLmNoPq what is it", None),
            ("skeleton-0123456789abcdef01234567", None),
            ("sk-only-words-and-nothing-else", None),
            ("0123456789abcdef0123456789abcdef", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = owners(text).map(|owners| owners.first().copied().unwrap_or(""));
            assert_eq!(found, expected, "{text}");
        }
    }
}
