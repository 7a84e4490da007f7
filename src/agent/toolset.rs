//! Which tools a session offers and runs.
//!
//! What a request advertises and what runs are decided by the same policy, so a model that calls
//! something it was not offered is refused.

use std::sync::Arc;

use crate::chat::ToolSpec;
use crate::config::Settings;
use crate::provider::Model;
use crate::tools;

const NO_TOOLS: &str =
    "No tools are available in this session: answer from what you know and are given.";
const ALLOWLIST: &str = "Only these tools may be used in this session: {tools}.";

/// What a session's tools are narrowed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolset {
    allowed: Option<Vec<String>>,
}

impl Toolset {
    /// Every tool.
    pub fn all() -> Self {
        Self { allowed: None }
    }

    /// No tool at all.
    pub fn none() -> Self {
        Self {
            allowed: Some(Vec::new()),
        }
    }

    /// Whether a call may run; if not, what the model is told.
    pub fn permits(&self, name: &str) -> Result<(), String> {
        match &self.allowed {
            None => Ok(()),
            Some(allowed) if allowed.is_empty() => {
                Err("tools are switched off for this session; answer without them".into())
            }
            Some(allowed) if allowed.iter().any(|one| one == name) => Ok(()),
            Some(allowed) => Err(format!(
                "the tool `{name}` is not allowed here; use {}",
                allowed.join(", ")
            )),
        }
    }

    /// The tools to advertise to this model.
    pub fn advertised(&self, model: &Model) -> Arc<Vec<ToolSpec>> {
        let offered =
            |tool: &&tools::Builtin| model.supports_tools && self.permits(tool.name).is_ok();
        Arc::new(
            tools::BUILTINS
                .iter()
                .filter(offered)
                .map(tools::spec)
                .collect(),
        )
    }

    /// What the system prompt says about a narrowed set.
    pub fn notice(&self, model: &Model, settings: &Settings) -> Option<String> {
        let none = || {
            settings
                .no_tools_notice
                .as_deref()
                .unwrap_or(NO_TOOLS)
                .to_string()
        };
        match &self.allowed {
            _ if !model.supports_tools => Some(none()),
            None => None,
            Some(allowed) if allowed.is_empty() => Some(none()),
            Some(allowed) => {
                let notice = settings
                    .tool_allowlist_notice
                    .as_deref()
                    .unwrap_or(ALLOWLIST);
                Some(notice.replace("{tools}", &allowed.join(", ")))
            }
        }
    }
}
