//! models.json in every state, and how names are resolved.

use std::fs;

use super::known::DEFAULT_WINDOW;
use super::*;
use crate::provider::Thinking;

struct Home(tempfile::TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            fs::write(home.0.path().join(name), text).unwrap();
        }
        home
    }

    fn load(&self, vars: &[(&str, &str)]) -> Catalog {
        let mut env = Env::default();
        for (name, value) in vars {
            env.set(*name, *value);
        }
        Catalog::load(Some(self.0.path()), &env)
    }
}

fn slugs(catalog: &Catalog) -> Vec<String> {
    let offline = |slug: &String| slug.starts_with("offline/");
    catalog
        .models()
        .map(|model| model.slug())
        .filter(|slug| !offline(slug))
        .collect()
}

fn problem(catalog: &Catalog, name: &str) -> String {
    let error = catalog.resolve(name).unwrap_err();
    assert_eq!(error.status(), 2);
    error.to_string()
}

const MOCK: &str = r#"{"providers": {"mock": {"base_url": "http://127.0.0.1:9/v1/", "api": "openai-completions",
  "models": [
    {"id": "test", "effort": ["low", "high"], "context_window": 64000, "image_input": true,
     "pricing": {"input_per_million": 1, "output_per_million": 2.5, "cache_read_per_million": 0.1}},
    "plain"]}}}"#;

#[test]
fn a_declared_provider() {
    let catalog = Home::new(&[("models.json", MOCK)]).load(&[]);
    assert_eq!(catalog.warnings(), [""; 0]);
    assert_eq!(slugs(&catalog), ["mock/test", "mock/plain"]);
    let model = catalog.resolve("mock/test").unwrap();
    assert_eq!(model.base_url, "http://127.0.0.1:9/v1");
    assert_eq!(
        (model.context_window, model.image_input, model.effort.len()),
        (64_000, true, 2)
    );
    let pricing = model.pricing.unwrap();
    assert_eq!(
        (pricing.input, pricing.output, pricing.cache_read),
        (1.0, 2.5, Some(0.1))
    );
    let plain = catalog.resolve("plain").unwrap();
    assert_eq!(
        (
            plain.context_window,
            plain.image_input,
            plain.supports_tools
        ),
        (DEFAULT_WINDOW, false, true)
    );
    assert_eq!(catalog.default_model(None).unwrap().0.slug(), "mock/test");
    assert_eq!(
        catalog.default_model(Some("plain")).unwrap().0.slug(),
        "mock/plain"
    );
    let (model, notice) = catalog.default_model(Some("gone/model")).unwrap();
    assert_eq!(model.slug(), "mock/test");
    assert!(notice.unwrap().contains("`gone/model` is unavailable"));
    assert_eq!(catalog.key_for(&model), None);
}

#[test]
fn names_are_resolved_or_explained() {
    let catalog = Home::new(&[("models.json", MOCK)])
        .load(&[("DEEPSEEK_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
    let slug = |name: &str| catalog.resolve(name).unwrap().slug();
    assert_eq!(slug("deepseek-chat"), "deepseek/deepseek-chat");
    assert_eq!(slug("MOCK/TE"), "mock/test", "a part of one slug");
    assert_eq!(
        slug("deepseek/brand-new"),
        "deepseek/brand-new",
        "any id of an open list"
    );
    assert_eq!(
        slug("ollama/llama3:8b"),
        "ollama/llama3:8b",
        "a local server that is named"
    );
    for offline in ["offline/demo", "demo", "dem"] {
        assert_eq!(slug(offline), "offline/demo");
    }
    for (name, parts) in [
        (
            "mock/tset",
            &["is unavailable", "`mock/test`", "sign in"][..],
        ),
        (
            "deepseek",
            &[
                "is unavailable",
                "`deepseek/deepseek-chat` or `deepseek/deepseek-reasoner`",
            ],
        ),
        (
            "anthropic/claude",
            &[
                "is unavailable",
                "sign in to Anthropic",
                "`ANTHROPIC_API_KEY`",
            ],
        ),
        (
            "groq",
            &["is unavailable", "sign in to Groq: set `GROQ_API_KEY`, or "],
        ),
        ("nobody/x", &["`nobody/x` is unavailable", "sign in"]),
        ("offline", &["is unavailable", "`offline/demo`"]),
        ("offline/other", &["is unavailable"]),
        ("deepseek/", &["is unavailable"]),
        ("", &["is unavailable", "sign in"]),
        (
            "openai/gpt-5.5",
            &["is unavailable", "does not speak `openai-responses`"],
        ),
    ] {
        let text = problem(&catalog, name);
        assert!(
            parts.iter().all(|part| text.contains(part)),
            "{name}: {text}"
        );
    }
}

#[test]
fn nothing_signed_in_names_the_offline_provider() {
    let catalog = Catalog::load(None, &Env::default());
    assert_eq!(slugs(&catalog), [""; 0]);
    let text = catalog.default_model(None).unwrap_err().to_string();
    assert!(
        text.contains("offline/demo") && text.contains("sign in"),
        "{text}"
    );
    assert!(
        catalog
            .default_model(Some("x/y"))
            .unwrap_err()
            .to_string()
            .contains("`x/y` is unavailable")
    );
    // Signed in, but nothing that this build can talk to.
    let catalog = Home::new(&[]).load(&[("OPENAI_API_KEY", "k")]);
    assert!(catalog.default_model(None).is_err());
    assert_eq!(slugs(&catalog).len(), 2);
}

#[test]
fn built_in_providers_are_overlaid() {
    let home = Home::new(&[
        (
            "models.json",
            r#"{"providers": {
                "anthropic": {"context_window": 1000, "models": [{"id": "claude-haiku-4-5", "context_window": 5, "thinking": "adaptive"}, "own"]},
                "deepseek": {"base_url": "http://gateway.test", "key_env": "GATEWAY_KEY"},
                "xai": {"api": "responses", "responses_mount": "platform"},
                "corp": {"base_url": "https://u:p@corp.test/v1?key=1", "key_env": "CORP_KEY", "api": "anthropic"}
            }}"#,
        ),
        ("auth.json", r#"{"anthropic": {"key": "sk-file"}}"#),
    ]);
    let catalog = home.load(&[("ANTHROPIC_API_KEY", "sk-env"), ("CORP_KEY", "sk-corp")]);
    assert_eq!(catalog.warnings(), [""; 0]);
    let haiku = catalog.resolve("claude-haiku-4-5").unwrap();
    assert_eq!(
        (haiku.context_window, haiku.thinking),
        (5, Some(Thinking::Adaptive))
    );
    assert_eq!(
        catalog.resolve("claude-opus-4-5").unwrap().context_window,
        1_000
    );
    assert_eq!(
        catalog.resolve("anthropic/own").unwrap().context_window,
        1_000
    );
    assert_eq!(catalog.key_for(&haiku).unwrap().0, "sk-file");
    // The list is closed now.
    assert!(catalog.resolve("anthropic/brand-new").is_err());
    // An endpoint of one's own needs no key.
    assert_eq!(
        catalog.resolve("deepseek/x").unwrap().base_url,
        "http://gateway.test"
    );
    let corp = catalog.resolve("corp/any").unwrap();
    assert_eq!(
        (corp.dialect, catalog.key_for(&corp).unwrap().0.as_str()),
        (Dialect::Anthropic, "sk-corp")
    );
    // The usual variable of a provider that takes its key from another may hold a key as well.
    for name in [
        "CORP_KEY",
        "OPENAI_API_KEY",
        "GATEWAY_KEY",
        "DEEPSEEK_API_KEY",
    ] {
        let listed = catalog.key_variables().iter().any(|known| known == name);
        assert!(listed, "{name}");
    }

    let rows: Vec<ProviderInfo> = catalog.providers().collect();
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    let state = |name: &str| {
        (
            row(name).tier,
            row(name).authentication,
            row(name).signed_in,
        )
    };
    assert_eq!(state("anthropic"), ("native", Authentication::ApiKey, true));
    assert_eq!(state("openai"), ("native", Authentication::Missing, false));
    assert_eq!(
        state("groq"),
        ("compatible", Authentication::Missing, false)
    );
    assert_eq!(state("ollama"), ("compatible", Authentication::None, false));
    assert_eq!(
        state("corp"),
        ("experimental", Authentication::ApiKey, true)
    );
    assert_eq!(state("offline"), ("native", Authentication::None, true));
    assert_eq!(row("corp").base_url, "https://corp.test/v1");
    assert_eq!(row("xai").responses_mount.as_deref(), Some("platform"));
    assert_eq!(
        (row("anthropic").models, row("anthropic").dialect),
        (4, "anthropic-messages")
    );
    assert_eq!(row("openai").authentication.name(), "missing");
}

#[test]
fn cached_lists_open_local_servers() {
    let store = r#"{"ollama": {"checked_at": 1, "models": [{"id": "qwen3", "context_window": 32768}, {"id": "gemma"}]},
        "groq": {"models": 7}, "nobody": {"models": []}}"#;
    let catalog = Home::new(&[("models-store.json", store)]).load(&[]);
    assert_eq!(slugs(&catalog), ["ollama/qwen3", "ollama/gemma"]);
    assert_eq!(catalog.resolve("qwen").unwrap().context_window, 32_768);
    let catalog = Home::new(&[("models-store.json", "nonsense")]).load(&[]);
    assert_eq!((slugs(&catalog).len(), catalog.warnings().len()), (0, 0));
}

#[test]
fn broken_entries_are_skipped_and_located() {
    let text = r#"{"providers": {
  "good": {"base_url": "http://g", "models": ["a", {"id": "b", "context_window": "big"},
    {"effort": []}, ""]},
  "nowhere": {"models": []},
  "odd": {"base_url": "http://o", "api": "smoke-signals"},
  "thinks": {"base_url": "http://t", "thinking": "sometimes"},
  "typed": {"base_url": 7},
  "a/b": {"base_url": "http://s"},
  "offline": {"base_url": "http://x"},
  "list": ["http://l"],
  "lists": {"base_url": "http://l", "models": [["id"]]},
  "last": {"base_url": "http://l", "future_key": true}
}}"#;
    let catalog = Home::new(&[("models.json", text)]).load(&[]);
    assert_eq!(slugs(&catalog), ["good/a"]);
    assert!(catalog.resolve("last/x").is_ok());
    let warnings = catalog.warnings();
    for (index, parts) in [
        &["model of `good`", "line 2 column", "invalid type"][..],
        &["model of `good`", "line 3 column", "missing field `id`"],
        &["model of `good`", "no id"],
        &["`nowhere`", "no `base_url`", "line 4 column"],
        &["`odd`", "smoke-signals", "line 5 column"],
        &["`thinks`", "unknown variant `sometimes`", "line 6 column"],
        &["`typed`", "invalid type", "line 7 column 25"],
        &["`a/b`", "slash"],
        &["`list`", "no object"],
        &["model of `lists`", "no text and no object"],
        &["`offline`", "taken"],
    ]
    .iter()
    .enumerate()
    {
        let warning = &warnings[index];
        assert!(warning.starts_with("models.json: "));
        assert!(
            parts.iter().all(|part| warning.contains(part)),
            "{warning} lacks one of {parts:?}"
        );
    }
    assert_eq!(warnings.len(), 11);
}

#[test]
fn a_broken_file_costs_only_itself() {
    for (text, part) in [
        ("{\"providers\": {},}", "line 1 column"),
        ("[]", "not an object"),
        ("{\"providers\": []}", "expected an object"),
        ("", "EOF"),
    ] {
        let catalog = Home::new(&[("models.json", text)]).load(&[("DEEPSEEK_API_KEY", "k")]);
        assert_eq!(catalog.warnings().len(), 1, "{text}");
        assert!(
            catalog.warnings()[0].contains(part),
            "{:?}",
            catalog.warnings()
        );
        assert!(catalog.resolve("deepseek-chat").is_ok());
    }
    let with_mark = format!("\u{feff}{MOCK}");
    assert_eq!(
        Home::new(&[("models.json", &with_mark)])
            .load(&[])
            .warnings(),
        [""; 0]
    );
    let home = Home::new(&[]);
    fs::create_dir(home.0.path().join("models.json")).unwrap();
    assert!(home.load(&[]).warnings()[0].contains("not a regular file"));
}
