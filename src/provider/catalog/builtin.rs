//! The providers e knows without being told, as data.

use crate::provider::{Dialect, Thinking};

/// A provider of the table.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) display: &'static str,
    pub(super) base_url: &'static str,
    pub(super) dialect: Dialect,
    /// Where a list of models can be asked for.
    pub(super) catalog: &'static str,
    /// Which path the responses dialect has there.
    pub(super) mount: Option<&'static str>,
    pub(super) auth: Auth,
    /// Whether a model that nothing is known about takes images.
    pub(super) images: bool,
    pub(super) models: &'static [Seed],
}

/// How a provider is signed in to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Auth {
    /// By a key, which this variable may hold.
    Key(&'static str),
    /// In a browser only.
    Browser,
    /// Not at all: it runs on this machine.
    Local,
}

/// A model that is listed before any list was fetched.
pub(super) struct Seed {
    pub(super) id: &'static str,
    pub(super) window: u64,
    pub(super) effort: &'static [&'static str],
    pub(super) thinking: Option<Thinking>,
    pub(super) max_output: Option<u64>,
    pub(super) images: bool,
    /// USD per million tokens: input, output, cache read, five-minute cache write.
    pub(super) prices: Option<[f64; 4]>,
}

const LEVELS: &[&str] = &["low", "medium", "high"];

const fn seed(id: &'static str, window: u64) -> Seed {
    Seed {
        id,
        window,
        effort: &[],
        thinking: None,
        max_output: None,
        images: false,
        prices: None,
    }
}

const fn claude(id: &'static str, prices: [f64; 4]) -> Seed {
    Seed {
        effort: LEVELS,
        thinking: Some(Thinking::Manual),
        max_output: Some(64_000),
        images: true,
        prices: Some(prices),
        ..seed(id, 200_000)
    }
}

const fn thinker(id: &'static str, window: u64, images: bool) -> Seed {
    Seed {
        effort: LEVELS,
        images,
        ..seed(id, window)
    }
}

const fn keyed(
    name: &'static str,
    display: &'static str,
    base_url: &'static str,
    variable: &'static str,
    models: &'static [Seed],
) -> Builtin {
    Builtin {
        name,
        display,
        base_url,
        dialect: Dialect::Completions,
        catalog: "openai",
        mount: None,
        auth: Auth::Key(variable),
        images: false,
        models,
    }
}

/// All of them, in the order of listings.
pub(super) const BUILTIN: &[Builtin] = &[
    Builtin {
        dialect: Dialect::Responses,
        mount: Some("platform"),
        images: true,
        ..keyed(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            &[
                thinker("gpt-5.5", 400_000, true),
                thinker("gpt-5.1", 400_000, true),
            ],
        )
    },
    Builtin {
        dialect: Dialect::Responses,
        catalog: "chatgpt",
        mount: Some("codex"),
        auth: Auth::Browser,
        images: true,
        ..keyed(
            "openai-codex",
            "OpenAI Codex",
            "https://chatgpt.com/backend-api",
            "",
            &[],
        )
    },
    Builtin {
        dialect: Dialect::Anthropic,
        catalog: "anthropic",
        images: true,
        ..keyed(
            "anthropic",
            "Anthropic",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            &[
                claude("claude-sonnet-4-5", [3.0, 15.0, 0.3, 3.75]),
                claude("claude-opus-4-5", [5.0, 25.0, 0.5, 6.25]),
                claude("claude-haiku-4-5", [1.0, 5.0, 0.1, 1.25]),
            ],
        )
    },
    Builtin {
        dialect: Dialect::Google,
        catalog: "google",
        images: true,
        ..keyed(
            "google",
            "Google",
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
            &[
                thinker("gemini-2.5-pro", 1_048_576, true),
                thinker("gemini-2.5-flash", 1_048_576, true),
            ],
        )
    },
    keyed(
        "xai",
        "xAI",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        &[seed("grok-4", 256_000)],
    ),
    keyed(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        &[thinker("openai/gpt-oss-120b", 131_072, false)],
    ),
    keyed(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        &[
            seed("devstral-medium-latest", 128_000),
            seed("mistral-large-latest", 128_000),
        ],
    ),
    keyed(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        &[
            seed("deepseek-chat", 128_000),
            seed("deepseek-reasoner", 128_000),
        ],
    ),
    keyed(
        "cerebras",
        "Cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        &[thinker("gpt-oss-120b", 131_072, false)],
    ),
    keyed(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        &[],
    ),
    keyed(
        "together",
        "Together",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        &[],
    ),
    keyed(
        "fireworks",
        "Fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        &[],
    ),
    keyed(
        "vercel",
        "Vercel AI Gateway",
        "https://ai-gateway.vercel.sh/v1",
        "AI_GATEWAY_API_KEY",
        &[],
    ),
    keyed(
        "opencode-zen",
        "OpenCode Zen",
        "https://opencode.ai/zen/v1",
        "OPENCODE_API_KEY",
        &[],
    ),
    keyed(
        "opencode-go",
        "OpenCode Go",
        "https://opencode.ai/zen/go/v1",
        "OPENCODE_GO_API_KEY",
        &[],
    ),
    Builtin {
        auth: Auth::Local,
        ..keyed("ollama", "Ollama", "http://localhost:11434/v1", "", &[])
    },
    Builtin {
        auth: Auth::Local,
        ..keyed("lmstudio", "LM Studio", "http://localhost:1234/v1", "", &[])
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        let mut names = std::collections::HashSet::new();
        for provider in BUILTIN {
            assert!(names.insert(provider.name), "{} comes twice", provider.name);
            let uri: ureq::http::Uri = provider.base_url.parse().unwrap();
            let secure = uri.scheme_str() == Some("https");
            assert_eq!(secure, provider.auth != Auth::Local, "{}", provider.name);
            assert!(!provider.base_url.ends_with('/'));
            assert!(!provider.name.contains('/') && !provider.display.is_empty());
            assert!(provider.auth != Auth::Key(""));
            assert_eq!(
                provider.mount.is_some(),
                provider.dialect == Dialect::Responses
            );
            let mut ids = std::collections::HashSet::new();
            for model in provider.models {
                assert!(ids.insert(model.id) && model.window > 0, "{}", model.id);
                assert_eq!(
                    model.thinking.is_some(),
                    provider.dialect == Dialect::Anthropic
                );
            }
        }
        assert_eq!(BUILTIN.len(), 17);
    }
}
