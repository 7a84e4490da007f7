//! `e auth`, `e providers` and `e models`: what the provider catalog knows. No secret is printed,
//! and nothing is fetched.

use serde_json::{Value, json};

use crate::config::Settings;
use crate::provider::{Authentication, Catalog, ProviderInfo, Stored};
use crate::text::one_line;
use crate::wire;

/// One row per stored credential.
pub fn auth(catalog: &Catalog, now_ms: u64) -> String {
    let rows: Vec<_> = catalog
        .credentials()
        .stored()
        .map(|(provider, stored)| {
            let state = match stored {
                Stored::Key(_) => "api key",
                Stored::OAuth { expires } if *expires > now_ms => "oauth, access token valid",
                Stored::OAuth { .. } => "oauth, access token will be refreshed",
            };
            vec![provider.to_string(), state.to_string()]
        })
        .collect();
    if rows.is_empty() {
        return "no credential is stored; `e providers` shows keys from the environment too\n"
            .into();
    }
    columns(rows)
}

/// One row per provider, or the array that `e doctor` shows as well.
pub fn providers(catalog: &Catalog, json: bool) -> String {
    if json {
        return format!("{}\n", providers_json(catalog));
    }
    columns(catalog.providers().map(provider_row).collect())
}

/// One row per model that can be used now, or an object with the default as well.
pub fn models(catalog: &Catalog, settings: &Settings, json: bool) -> String {
    if json {
        return format!("{}\n", wire::models(catalog, settings));
    }
    let default = wire::default_model(catalog, settings);
    let rows = catalog.usable().map(|model| {
        let slug = model.slug();
        let mark = if default.as_ref() == Some(&slug) {
            "default"
        } else {
            ""
        };
        vec![slug, model.effort.join(" "), mark.into()]
    });
    columns(rows.collect())
}

/// The providers with all that is known about them.
pub fn providers_json(catalog: &Catalog) -> Value {
    catalog
        .providers()
        .map(|provider| {
            json!({
                "name": line(&provider.name),
                "display": line(&provider.display),
                "tier": provider.tier,
                "dialect": provider.dialect,
                "catalog": line(&provider.catalog),
                "responses_mount": provider.responses_mount.as_deref().map(line),
                "base_url": line(&provider.base_url),
                "authentication": provider.authentication.name(),
                "signed_in": provider.signed_in,
                "models": provider.models,
            })
        })
        .collect()
}

fn provider_row(provider: ProviderInfo) -> Vec<String> {
    let state = match provider.authentication {
        Authentication::ApiKey => "api key",
        Authentication::OAuth => "oauth",
        Authentication::None => "no key needed",
        Authentication::Missing => "not signed in",
    };
    let models = match provider.models {
        1 => "1 model".into(),
        n => format!("{n} models"),
    };
    vec![
        provider.name,
        provider.tier.into(),
        provider.dialect.into(),
        state.into(),
        models,
    ]
}

/// Rows with their cells padded to columns, two spaces apart.
pub fn columns(rows: Vec<Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.iter().map(|cell| line(cell)).collect())
        .collect();
    let mut widths: Vec<usize> = Vec::new();
    for (n, cell) in rows.iter().flat_map(|row| row.iter().enumerate()) {
        if n == widths.len() {
            widths.push(0);
        }
        widths[n] = widths[n].max(cell.chars().count());
    }
    let mut text = String::new();
    for row in rows {
        let cells: Vec<_> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A foreign text as one clean line.
pub fn line(text: &str) -> String {
    one_line(text, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Env;

    fn catalog(auth: &str) -> (tempfile::TempDir, Catalog) {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("auth.json"), auth).unwrap();
        let catalog = Catalog::load(Some(root.path()), &Env::default());
        (root, catalog)
    }

    #[test]
    fn stored_credentials_show_without_their_secrets() {
        let (_root, catalog) = catalog(
            r#"{"anthropic": {"key": "SECRET1"}, "openai-codex": {"access": "SECRET2", "refresh": "SECRET3", "expires": 1000}}"#,
        );
        let text = auth(&catalog, 999) + &auth(&catalog, 1001) + &providers(&catalog, true);
        assert!(text.contains("anthropic     api key\n"), "{text}");
        assert!(
            text.contains("valid") && text.contains("refreshed"),
            "{text}"
        );
        assert!(!text.contains("SECRET"), "{text}");
    }

    #[test]
    fn nothing_stored_is_said() {
        let (_root, catalog) = catalog("{}");
        assert!(auth(&catalog, 0).starts_with("no credential is stored"));
    }

    #[test]
    fn listings_have_both_forms() {
        let (_root, catalog) = catalog(r#"{"anthropic": {"key": "k"}}"#);
        let rows = providers(&catalog, false);
        let json: Value = serde_json::from_str(&providers(&catalog, true)).unwrap();
        assert_eq!(json.as_array().unwrap().len(), rows.lines().count());
        let rows = models(&catalog, &Settings::default(), false);
        let json: Value =
            serde_json::from_str(&models(&catalog, &Settings::default(), true)).unwrap();
        let slugs: Vec<_> = json["models"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| model["model"].as_str().unwrap())
            .collect();
        assert_eq!(slugs.len(), rows.lines().count());
        assert!(
            slugs.iter().any(|slug| slug.starts_with("anthropic/")),
            "{slugs:?}"
        );
        assert!(json["default"].as_str().unwrap().starts_with("anthropic/"));
    }

    #[test]
    fn cells_line_up_and_stay_on_their_line() {
        let rows = vec![
            vec!["a\nb".into(), "x".into(), "".into()],
            vec!["c".into(), "y\u{1b}[1m".into(), "z".into()],
        ];
        assert_eq!(columns(rows), "a b  x\nc    y  z\n");
    }
}
