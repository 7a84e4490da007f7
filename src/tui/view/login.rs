//! The sign-in panel: account or key, the provider, the key or a wait, the result.

use super::surface::{self, dim, framed};
use crate::text::{one_line, sanitize};
use crate::tui::rich::{Rich, clipped};
use crate::tui::style::{Row, Style, Token};

/// What follows the name of that which one cannot use.
const NOT_YET: &str = " · not in this build yet";

/// A provider that one can sign in to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// Its name in settings.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// An account can be used.
    pub account: bool,
    /// A key can be used.
    pub key: bool,
    /// There is a credential already.
    pub signed_in: bool,
    /// This build can ask its models.
    pub usable: bool,
}

/// With what to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// An account, in a browser.
    Account,
    Key,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Means,
    Provider(Means),
    Key { provider: usize, secret: String },
    Storing { provider: usize },
    Done { ok: bool, text: String },
}

/// What the app must do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Store this key of this provider.
    Key(String, String),
    /// Close the panel.
    Close,
}

#[derive(Clone, Debug)]
pub struct Login {
    providers: Vec<Provider>,
    step: Step,
    selected: usize,
    /// A key that is there before its provider is known.
    pasted: Option<String>,
}

impl Login {
    /// The panel at its beginning, or at one provider when the person named it.
    pub fn new(providers: Vec<Provider>, named: Option<&str>) -> Self {
        let known = |name: &str| providers.iter().position(|provider| provider.id == name);
        let step = match named.and_then(known) {
            Some(provider) if providers[provider].key => Step::Key {
                provider,
                secret: String::new(),
            },
            Some(_) => Step::Provider(Means::Account),
            None => Step::Means,
        };
        Self {
            providers,
            step,
            selected: 0,
            pasted: None,
        }
    }

    /// The panel with a key that was pasted somewhere else, at its only provider or at the choice
    /// among `owners`; among all when none is named.
    pub fn with_key(mut providers: Vec<Provider>, owners: &[&str], key: String) -> Self {
        let is_owner = |provider: &Provider| owners.contains(&provider.id.as_str());
        if providers.iter().any(is_owner) {
            providers.retain(is_owner);
        }
        let mut login = Self::new(providers, None);
        login.pasted = Some(key);
        login.go(Step::Provider(Means::Key));
        if login.offered(Means::Key).count() == 1 {
            login.enter();
        }
        login
    }

    /// Whether a key is being typed: the composer is hidden then.
    pub fn takes_key(&self) -> bool {
        matches!(self.step, Step::Key { .. })
    }

    pub fn step(&mut self, by: isize) {
        let count = match self.step {
            Step::Means => 2,
            Step::Provider(means) => self.offered(means).count(),
            Step::Key { .. } | Step::Storing { .. } | Step::Done { .. } => 0,
        };
        self.selected = surface::step(self.selected, by, count);
    }

    /// Adds typed or pasted text to the key.
    pub fn type_text(&mut self, text: &str) {
        if let Step::Key { secret, .. } = &mut self.step {
            secret.push_str(one_line(text, None).trim());
        }
    }

    /// Goes on with what is selected or typed.
    pub fn enter(&mut self) -> Option<Request> {
        match &self.step {
            Step::Means => {
                let means = if self.selected == 0 {
                    Means::Key
                } else {
                    Means::Account
                };
                self.go(Step::Provider(means));
                None
            }
            Step::Provider(means) => {
                let (means, chosen) = (*means, self.selected);
                let provider = self.offered(means).nth(chosen)?;
                match means {
                    Means::Key => {
                        let secret = self.pasted.take().unwrap_or_default();
                        self.go(Step::Key { provider, secret });
                    }
                    Means::Account => {
                        let text = "this build cannot sign in with an account; use an API key";
                        self.go(Step::Done {
                            ok: false,
                            text: text.to_owned(),
                        });
                    }
                }
                None
            }
            Step::Key { provider, secret } if !secret.is_empty() => {
                let request = Request::Key(self.providers[*provider].id.clone(), secret.clone());
                let provider = *provider;
                self.go(Step::Storing { provider });
                Some(request)
            }
            Step::Done { .. } => Some(Request::Close),
            Step::Key { .. } | Step::Storing { .. } => None,
        }
    }

    /// Goes back; in the key entry only when it is empty, else it deletes a character.
    pub fn backspace(&mut self) -> Option<Request> {
        match &mut self.step {
            Step::Key { secret, .. } if !secret.is_empty() => {
                secret.pop();
            }
            Step::Key { .. } => self.go(Step::Provider(Means::Key)),
            Step::Storing { .. } | Step::Provider(_) => self.go(Step::Means),
            Step::Means | Step::Done { .. } => return Some(Request::Close),
        }
        None
    }

    /// Ends the wait.
    pub fn finish(&mut self, ok: bool, text: &str) {
        if matches!(self.step, Step::Storing { .. }) {
            let text = sanitize(text);
            self.go(Step::Done { ok, text });
        }
    }

    /// The whole surface, in `height` rows where that is possible: a long list shows the part around
    /// what is selected.
    pub fn rows(&self, columns: usize, height: usize) -> Vec<Row> {
        let (title, body, hint) = match &self.step {
            Step::Means => {
                let account = format!("Use an account{NOT_YET}");
                let means = ["Use an API key", &account];
                let rows = surface::choices(means.into_iter(), self.selected, columns);
                (
                    "Sign in".to_owned(),
                    rows,
                    "↑/↓ choose · enter go on · esc close",
                )
            }
            Step::Provider(means) => {
                let name = |index| self.name(index, *means);
                let names: Vec<String> = self.offered(*means).map(name).collect();
                let names = names.iter().map(String::as_str);
                let mut rows = surface::choices(names, self.selected, columns);
                surface::fit(&mut rows, self.selected, height);
                (
                    "Sign in to".to_owned(),
                    rows,
                    "↑/↓ choose · enter go on · backspace back · esc close",
                )
            }
            Step::Key { provider, secret } => {
                let mask = "•".repeat(secret.chars().count());
                let mut field = Rich::of("┃ ", Style::colored(Token::UserMessageText));
                field.push(&mask, Style::default());
                field.push(
                    " ",
                    Style {
                        reverse: true,
                        ..Style::default()
                    },
                );
                let title = format!("API key of {}", self.name(*provider, Means::Key));
                (
                    title,
                    field.wrap_hard(columns),
                    "enter store · backspace back · esc close",
                )
            }
            Step::Storing { provider } => {
                let title = format!("Signing in to {}", self.providers[*provider].label);
                let text = clipped("storing the key …", Style::default(), columns);
                (title, vec![text], "backspace back · esc cancel")
            }
            Step::Done { ok, text } => {
                let token = if *ok { Token::Success } else { Token::Error };
                let title = if *ok { "Signed in" } else { "Not signed in" };
                let text = Rich::of(text, Style::colored(token)).wrap_prose(columns);
                (title.to_owned(), text, "enter close")
            }
        };
        let header = clipped(&title, Style::default().bold(), columns);
        let body = if body.is_empty() {
            vec![clipped("no provider offers this", dim(), columns)]
        } else {
            body
        };
        framed(header, body, hint, columns)
    }

    /// Where the caret stands while a key is typed: row and column of [`Login::rows`].
    pub fn caret(&self, columns: usize) -> Option<(usize, usize)> {
        let rows = match self.step {
            Step::Key { .. } => self.rows(columns, usize::MAX),
            _ => return None,
        };
        // Above the closing divider and the hint.
        let row = rows.len().checked_sub(3)?;
        Some((row, rows[row].width().saturating_sub(1)))
    }

    fn offered(&self, means: Means) -> impl Iterator<Item = usize> + '_ {
        let offers = move |provider: &Provider| match means {
            Means::Account => provider.account,
            Means::Key => provider.key,
        };
        (0..self.providers.len()).filter(move |index| offers(&self.providers[*index]))
    }

    fn name(&self, index: usize, means: Means) -> String {
        let provider = &self.providers[index];
        let mut name = provider.label.clone();
        if provider.signed_in {
            name += " · signed in";
        }
        if means == Means::Account || !provider.usable {
            name += NOT_YET;
        }
        name
    }

    fn go(&mut self, step: Step) {
        self.step = step;
        self.selected = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{check, plain};

    fn login(named: Option<&str>) -> Login {
        let provider = |id: &str, account, key, signed_in| Provider {
            id: id.to_owned(),
            label: id.to_uppercase(),
            account,
            key,
            signed_in,
            usable: id != "three",
        };
        Login::new(
            vec![
                provider("one", true, true, true),
                provider("two", false, true, false),
                provider("three", false, true, false),
            ],
            named,
        )
    }

    const LISTED: [&str; 3] = [
        "› ONE · signed in",
        "  TWO",
        "  THREE · not in this build yet",
    ];

    fn body(login: &Login) -> Vec<String> {
        for columns in 0..40 {
            check(&login.rows(columns, 20), columns);
        }
        let rows = plain(&login.rows(40, 20));
        rows[3..rows.len() - 2].to_vec()
    }

    #[test]
    fn a_key_is_typed_and_never_shown() {
        let mut login = login(None);
        let account = "  Use an account · not in this build yet";
        assert_eq!(body(&login), ["› Use an API key", account]);
        assert_eq!(login.enter(), None);
        assert_eq!(body(&login), LISTED);
        login.step(1);
        assert_eq!(login.enter(), None);
        assert!(login.takes_key() && login.enter().is_none());
        login.type_text(" sk-\x1b[31mé\n");
        assert_eq!(body(&login), ["┃ •••• "]);
        assert_eq!(login.caret(40), Some((3, 6)));
        login.backspace();
        assert_eq!(
            login.enter(),
            Some(Request::Key("two".to_owned(), "sk-".to_owned()))
        );
        login.finish(true, "the key is stored");
        assert_eq!(body(&login), ["the key is stored"]);
        assert_eq!(login.enter(), Some(Request::Close));
    }

    #[test]
    fn an_account_is_not_in_this_build() {
        let mut login = login(None);
        login.step(1);
        login.enter();
        let rows = plain(&login.rows(60, 20));
        assert_eq!(rows[3], "› ONE · signed in · not in this build yet");
        assert_eq!(login.enter(), None);
        assert!(body(&login)[0].starts_with("this build cannot"));
        login.finish(true, "late");
        assert!(body(&login)[0].starts_with("this build cannot"));
        assert_eq!(login.backspace(), Some(Request::Close));
    }

    #[test]
    fn a_long_list_shows_what_is_selected() {
        let mut login = login(None);
        login.enter();
        login.step(1);
        let rows = plain(&login.rows(40, 6));
        assert_eq!((rows.len(), rows[3].as_str()), (6, "› TWO"));
    }

    #[test]
    fn a_pasted_key_waits_for_its_provider() {
        let key = "sk-0123".to_owned();
        let providers = login(None).providers;
        let mut one = Login::with_key(providers.clone(), &["two"], key.clone());
        let expected = Some(Request::Key("two".to_owned(), key.clone()));
        assert_eq!(body(&one), ["┃ ••••••• "]);
        assert_eq!(one.enter(), expected);
        for owners in [&["one", "two"][..], &["unknown"], &[]] {
            let mut any = Login::with_key(providers.clone(), owners, key.clone());
            assert_eq!(body(&any)[..2], LISTED[..2]);
            any.step(1);
            assert_eq!(any.enter(), None);
            assert_eq!(any.enter(), expected);
        }
    }

    #[test]
    fn a_named_provider_goes_straight_to_its_key() {
        let mut login = login(Some("two"));
        assert!(login.takes_key());
        login.backspace();
        assert_eq!(body(&login), LISTED);
        let unusable = super::tests::login(Some("three"));
        let title = "API key of THREE · not in this build yet";
        assert_eq!(plain(&unusable.rows(60, 20))[1], title);
    }
}
