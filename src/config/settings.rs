//! `settings.json` as typed values. One table row per key says what it holds and what is allowed,
//! and the manual page is printed from the same rows.

use serde_json::{Map, Value};

use super::{Home, SETTINGS};

/// What the user prefers. Texts are `None` where the built-in one applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The slug of the model to use.
    pub model: Option<String>,
    /// The effort level to use.
    pub effort: Option<String>,
    /// Replaces the base system prompt.
    pub system_prompt: Option<String>,
    /// What the model is told when it has no tools.
    pub no_tools_notice: Option<String>,
    /// What the model is told when its tools are narrowed; `{tools}` stands for the names.
    pub tool_allowlist_notice: Option<String>,
    /// The warning when a model reasoned and did not answer.
    pub no_answer_message: Option<String>,
    /// Tool calls of one batch that run at once, 1–64.
    pub tool_concurrency: u64,
    /// Requests in one series of failures, the first included, 0–20.
    pub retry_max_attempts: u64,
    /// A sleep of the machine longer than this many seconds ends the turn.
    pub sleep_window_secs: u64,
    /// How often one turn goes on after a sleep in the middle of a reply.
    pub sleep_continuations: u64,
    /// Seconds of silence after which a stream counts as stalled, 10–3600.
    pub stall_seconds: u64,
    /// Variables with provider keys that commands may see all the same.
    pub bash_env_keep: Vec<String>,
    /// `theme`: the colours of the terminal app: auto, dark, light, or the name of a theme file.
    pub theme: Option<String>,
    /// `tui_mode`: inline keeps the terminal's own scrollback, fullscreen takes the whole screen.
    pub tui_mode: Option<String>,
    /// `show_thinking`: on shows what the model thinks, off hints at it.
    pub show_thinking: Option<String>,
    /// `mouse`: auto takes the mouse where e scrolls, on always, off never.
    pub mouse: Option<String>,
    /// `editor`: the program for long drafts, with its arguments; VISUAL and EDITOR come after it.
    pub editor: Option<String>,
    /// `paste_label`: stands for a long paste; {id}, {chars}, {lines} and {plural} are filled in, an empty one inserts the text.
    pub paste_label: Option<String>,
    /// `scroll_hint`: shown while reading back.
    pub scroll_hint: Option<String>,
    /// `thinking_hint`: stands for hidden thinking.
    pub thinking_hint: Option<String>,
    /// `tool_history_hint`: stands for earlier tool calls; {count} is their number.
    pub tool_history_hint: Option<String>,
    /// `transcript_hint`: shown below the reader.
    pub transcript_hint: Option<String>,
    /// `trust_scroll_hint`: shown when the question about trust needs scrolling.
    pub trust_scroll_hint: Option<String>,
    /// `error_auth`: heads the error row when a provider refused the key.
    pub error_auth: Option<String>,
    /// `error_network`: heads the error row when the way to a provider failed.
    pub error_network: Option<String>,
    /// `error_stalled`: heads the error row when a provider fell silent.
    pub error_stalled: Option<String>,
    /// `error_rate_limited`: heads the error row when a provider was asked too often.
    pub error_rate_limited: Option<String>,
    /// `error_quota`: heads the error row when the allowance of an account is used up.
    pub error_quota: Option<String>,
    /// `error_unavailable`: heads the error row when a provider has trouble.
    pub error_unavailable: Option<String>,
    /// `error_rejected`: heads the error row when a provider refused the request.
    pub error_rejected: Option<String>,
    /// `tool_label_rows`: rows that the label of a tool call may take.
    pub tool_label_rows: u64,
    /// `tool_preview_rows`: rows of live output below a running command.
    pub tool_preview_rows: u64,
    /// `tool_history_limit`: completed tool calls of a group that are shown.
    pub tool_history_limit: u64,
    /// `scroll_lines`: rows that a turn of the mouse wheel scrolls.
    pub scroll_lines: u64,
    /// `paste_placeholder`: pastes of more characters than this are shown as a label; 0 never.
    pub paste_placeholder: u64,
    /// Models that the keys for the next model go through; every model when empty.
    pub scoped_models: Vec<String>,
}

/// One key of the file.
pub struct Key {
    /// The key as it is written.
    pub name: &'static str,
    /// What it does, for the manual.
    pub help: &'static str,
    /// What it may hold.
    pub kind: Kind,
}

/// What a key may hold, and where its value goes.
pub enum Kind {
    /// Text that is not blank.
    Text(fn(&mut Settings) -> &mut Option<String>),
    /// Text that may be blank, which means something else than its absence.
    Blankable(fn(&mut Settings) -> &mut Option<String>),
    /// A list of names.
    Names(fn(&mut Settings) -> &mut Vec<String>),
    /// A whole number.
    Number {
        /// The smallest allowed value.
        min: u64,
        /// The largest allowed value.
        max: u64,
        /// Used when the key is missing or invalid.
        default: u64,
        /// Whether a number outside becomes the nearest one inside, and not the default.
        clamp: bool,
        /// Where it goes.
        field: fn(&mut Settings) -> &mut u64,
    },
}

/// Every key that this build reads, in the order of the manual.
pub const KEYS: &[Key] = &[
    Key {
        name: "model",
        help: "the model to use, as provider/id",
        kind: Kind::Text(|s| &mut s.model),
    },
    Key {
        name: "effort",
        help: "how hard the model thinks, one of its levels",
        kind: Kind::Text(|s| &mut s.effort),
    },
    Key {
        name: "system_prompt",
        help: "replaces the built-in base of the system prompt",
        kind: Kind::Text(|s| &mut s.system_prompt),
    },
    Key {
        name: "no_tools_notice",
        help: "what the model is told when it has no tools",
        kind: Kind::Text(|s| &mut s.no_tools_notice),
    },
    Key {
        name: "tool_allowlist_notice",
        help: "what the model is told when a request narrows its tools; {tools} stands for their names",
        kind: Kind::Text(|s| &mut s.tool_allowlist_notice),
    },
    Key {
        name: "no_answer_message",
        help: "the warning when a model reasoned and gave no answer",
        kind: Kind::Text(|s| &mut s.no_answer_message),
    },
    Key {
        name: "tool_concurrency",
        help: "how many tool calls of one batch run at once",
        kind: Kind::Number {
            min: 1,
            max: 64,
            default: 8,
            clamp: true,
            field: |s| &mut s.tool_concurrency,
        },
    },
    Key {
        name: "retry_max_attempts",
        help: "how often a failing request is made in all; 0 and 1 mean no retry",
        kind: Kind::Number {
            min: 0,
            max: 20,
            default: 10,
            clamp: false,
            field: |s| &mut s.retry_max_attempts,
        },
    },
    Key {
        name: "stall_seconds",
        help: "how long a reply may be silent before the request counts as stalled",
        kind: Kind::Number {
            min: 10,
            max: 3600,
            default: 180,
            clamp: false,
            field: |s| &mut s.stall_seconds,
        },
    },
    Key {
        name: "sleep_window_secs",
        help: "a sleep of the machine that is longer than this ends the turn",
        kind: Kind::Number {
            min: 0,
            max: 604_800,
            default: 300,
            clamp: false,
            field: |s| &mut s.sleep_window_secs,
        },
    },
    Key {
        name: "sleep_continuations",
        help: "how often one turn goes on after the machine slept in the middle of a reply",
        kind: Kind::Number {
            min: 0,
            max: 100,
            default: 3,
            clamp: false,
            field: |s| &mut s.sleep_continuations,
        },
    },
    Key {
        name: "bash_env_keep",
        help: "names of variables with provider keys that commands may see",
        kind: Kind::Names(|s| &mut s.bash_env_keep),
    },
    Key {
        name: "theme",
        help: "the colours of the terminal app: auto, dark, light, or the name of a theme file",
        kind: Kind::Text(|s| &mut s.theme),
    },
    Key {
        name: "tui_mode",
        help: "inline keeps the terminal's own scrollback, fullscreen takes the whole screen",
        kind: Kind::Text(|s| &mut s.tui_mode),
    },
    Key {
        name: "show_thinking",
        help: "on shows what the model thinks, off hints at it",
        kind: Kind::Text(|s| &mut s.show_thinking),
    },
    Key {
        name: "mouse",
        help: "auto takes the mouse where e scrolls, on always, off never",
        kind: Kind::Text(|s| &mut s.mouse),
    },
    Key {
        name: "editor",
        help: "the program for long drafts, with its arguments; VISUAL and EDITOR come after it",
        kind: Kind::Text(|s| &mut s.editor),
    },
    Key {
        name: "paste_label",
        help: "stands for a long paste; {id}, {chars}, {lines} and {plural} are filled in, an empty one inserts the text",
        kind: Kind::Blankable(|s| &mut s.paste_label),
    },
    Key {
        name: "scroll_hint",
        help: "shown while reading back",
        kind: Kind::Text(|s| &mut s.scroll_hint),
    },
    Key {
        name: "thinking_hint",
        help: "stands for hidden thinking",
        kind: Kind::Text(|s| &mut s.thinking_hint),
    },
    Key {
        name: "tool_history_hint",
        help: "stands for earlier tool calls; {count} is their number",
        kind: Kind::Text(|s| &mut s.tool_history_hint),
    },
    Key {
        name: "transcript_hint",
        help: "shown below the reader",
        kind: Kind::Text(|s| &mut s.transcript_hint),
    },
    Key {
        name: "trust_scroll_hint",
        help: "shown when the question about trust needs scrolling",
        kind: Kind::Text(|s| &mut s.trust_scroll_hint),
    },
    Key {
        name: "error_auth",
        help: "heads the error row when a provider refused the key",
        kind: Kind::Text(|s| &mut s.error_auth),
    },
    Key {
        name: "error_network",
        help: "heads the error row when the way to a provider failed",
        kind: Kind::Text(|s| &mut s.error_network),
    },
    Key {
        name: "error_stalled",
        help: "heads the error row when a provider fell silent",
        kind: Kind::Text(|s| &mut s.error_stalled),
    },
    Key {
        name: "error_rate_limited",
        help: "heads the error row when a provider was asked too often",
        kind: Kind::Text(|s| &mut s.error_rate_limited),
    },
    Key {
        name: "error_quota",
        help: "heads the error row when the allowance of an account is used up",
        kind: Kind::Text(|s| &mut s.error_quota),
    },
    Key {
        name: "error_unavailable",
        help: "heads the error row when a provider has trouble",
        kind: Kind::Text(|s| &mut s.error_unavailable),
    },
    Key {
        name: "error_rejected",
        help: "heads the error row when a provider refused the request",
        kind: Kind::Text(|s| &mut s.error_rejected),
    },
    Key {
        name: "tool_label_rows",
        help: "rows that the label of a tool call may take",
        kind: Kind::Number {
            min: 1,
            max: 20,
            default: 2,
            clamp: false,
            field: |s| &mut s.tool_label_rows,
        },
    },
    Key {
        name: "tool_preview_rows",
        help: "rows of live output below a running command",
        kind: Kind::Number {
            min: 0,
            max: 20,
            default: 5,
            clamp: false,
            field: |s| &mut s.tool_preview_rows,
        },
    },
    Key {
        name: "tool_history_limit",
        help: "completed tool calls of a group that are shown",
        kind: Kind::Number {
            min: 0,
            max: 1000,
            default: 10,
            clamp: false,
            field: |s| &mut s.tool_history_limit,
        },
    },
    Key {
        name: "scroll_lines",
        help: "rows that a turn of the mouse wheel scrolls",
        kind: Kind::Number {
            min: 1,
            max: 100,
            default: 3,
            clamp: false,
            field: |s| &mut s.scroll_lines,
        },
    },
    Key {
        name: "paste_placeholder",
        help: "pastes of more characters than this are shown as a label; 0 never",
        kind: Kind::Number {
            min: 0,
            max: 1000000000,
            default: 1000,
            clamp: false,
            field: |s| &mut s.paste_placeholder,
        },
    },
    Key {
        name: "scoped_models",
        help: "the models that ctrl+p goes through, as provider/id; every model when empty",
        kind: Kind::Names(|s| &mut s.scoped_models),
    },
];

impl Default for Settings {
    fn default() -> Self {
        Self::from_map(&Map::new()).0
    }
}

impl Settings {
    /// Reads the file. Whatever is missing or invalid has its default; warnings name what was
    /// invalid.
    pub fn load(home: &Home) -> (Self, Vec<String>) {
        let (map, mut warnings) = SETTINGS.read(home);
        let (settings, more) = Self::from_map(&map);
        warnings.extend(more);
        (settings, warnings)
    }

    /// What the file holds under `extensions`: an object that e passes on and does not look into.
    pub fn extensions(home: &Home) -> Value {
        match SETTINGS.read(home).0.remove("extensions") {
            Some(config @ Value::Object(_)) => config,
            _ => Value::Object(Map::new()),
        }
    }

    fn from_map(map: &Map<String, Value>) -> (Self, Vec<String>) {
        let mut settings = Self {
            model: None,
            effort: None,
            system_prompt: None,
            no_tools_notice: None,
            tool_allowlist_notice: None,
            no_answer_message: None,
            tool_concurrency: 0,
            retry_max_attempts: 0,
            sleep_window_secs: 0,
            sleep_continuations: 0,
            stall_seconds: 0,
            bash_env_keep: Vec::new(),
            theme: None,
            tui_mode: None,
            show_thinking: None,
            mouse: None,
            editor: None,
            paste_label: None,
            scroll_hint: None,
            thinking_hint: None,
            tool_history_hint: None,
            transcript_hint: None,
            trust_scroll_hint: None,
            error_auth: None,
            error_network: None,
            error_stalled: None,
            error_rate_limited: None,
            error_quota: None,
            error_unavailable: None,
            error_rejected: None,
            tool_label_rows: 0,
            tool_preview_rows: 0,
            tool_history_limit: 0,
            scroll_lines: 0,
            paste_placeholder: 0,
            scoped_models: Vec::new(),
        };
        let mut warnings = Vec::new();
        for key in KEYS {
            if let Err(expected) = key.kind.apply(&mut settings, map.get(key.name)) {
                warnings.push(format!("setting `{}` is ignored: {expected}", key.name));
            }
        }
        (settings, warnings)
    }
}

impl Kind {
    /// Stores a value or the default; the error says what was expected.
    fn apply(&self, settings: &mut Settings, value: Option<&Value>) -> Result<(), String> {
        match self {
            Kind::Text(field) => match value {
                None => {}
                Some(Value::String(text)) => {
                    *field(settings) = Some(text.clone()).filter(|text| !text.trim().is_empty());
                }
                Some(_) => return Err("it must be a string".into()),
            },
            Kind::Blankable(field) => match value {
                None => {}
                Some(Value::String(text)) => *field(settings) = Some(text.clone()),
                Some(_) => return Err("it must be a string".into()),
            },
            Kind::Names(field) => match value {
                None => {}
                Some(value) => {
                    let names = value.as_array().and_then(|items| {
                        items
                            .iter()
                            .map(|item| item.as_str().map(String::from))
                            .collect()
                    });
                    *field(settings) = names.ok_or("it must be a list of strings")?;
                }
            },
            Kind::Number {
                min,
                max,
                default,
                clamp,
                field,
            } => {
                *field(settings) = *default;
                let Some(value) = value else { return Ok(()) };
                let number = match (value.as_u64(), value.as_i64()) {
                    (Some(number), _) => Some(number),
                    (None, Some(_)) if *clamp => Some(0),
                    (None, _) => None,
                };
                *field(settings) = match number {
                    Some(number) if *clamp => number.clamp(*min, *max),
                    Some(number) if (*min..=*max).contains(&number) => number,
                    _ => return Err(format!("it must be a whole number from {min} to {max}")),
                };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: Value) -> (Settings, Vec<String>) {
        Settings::from_map(value.as_object().unwrap())
    }

    #[test]
    fn defaults() {
        let settings = Settings::default();
        assert_eq!(settings.tool_concurrency, 8);
        assert_eq!(settings.retry_max_attempts, 10);
        assert_eq!(settings.stall_seconds, 180);
        assert_eq!(settings.model, None);
    }

    #[test]
    fn numbers_obey_their_ranges() {
        let cases = [
            ("tool_concurrency", json!(0), 1, false),
            ("tool_concurrency", json!(65), 64, false),
            ("tool_concurrency", json!(-3), 1, false),
            ("tool_concurrency", json!(64), 64, false),
            ("tool_concurrency", json!("4"), 8, true),
            ("tool_concurrency", json!(1.5), 8, true),
            ("retry_max_attempts", json!(0), 0, false),
            ("retry_max_attempts", json!(21), 10, true),
            ("retry_max_attempts", json!(-1), 10, true),
            ("stall_seconds", json!(9), 180, true),
            ("stall_seconds", json!(3600), 3600, false),
        ];
        for (name, value, expected, warned) in cases {
            let (mut settings, warnings) = parse(json!({ name: value }));
            let key = KEYS.iter().find(|key| key.name == name).unwrap();
            let Kind::Number { field, .. } = key.kind else {
                panic!("{name} is no number")
            };
            assert_eq!(*field(&mut settings), expected, "{name} {value}");
            assert_eq!(warnings.len(), usize::from(warned), "{name} {value}");
            assert!(warnings.iter().all(|warning| warning.contains(name)));
        }
    }

    #[test]
    fn a_bad_value_costs_its_key_alone() {
        let (settings, warnings) = parse(json!({
            "model": 3, "effort": "low", "system_prompt": "  ", "bash_env_keep": ["A", 1], "other": {}
        }));
        assert_eq!(settings.model, None);
        assert_eq!(settings.effort.as_deref(), Some("low"));
        assert_eq!(settings.system_prompt, None);
        assert!(settings.bash_env_keep.is_empty());
        assert_eq!(warnings.len(), 2);
    }

    #[test]
    fn every_key_is_there_once() {
        let names: std::collections::BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names.len(), KEYS.len());
    }
}
