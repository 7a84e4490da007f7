//! Which tools a session offers and runs.
//!
//! What a request advertises and what runs are decided by the same policy, so a model that calls
//! something it was not offered is refused.

use std::sync::Arc;

use crate::chat::ToolSpec;
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::extension::manifest::Tool;
use crate::extension::{Owned, Registry};
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

    /// These built-in tools alone; no name means no tool. An unknown name is an error.
    pub fn only(names: Vec<String>) -> Result<Self> {
        let known = |name: &str| tools::BUILTINS.iter().any(|tool| tool.name == name);
        if let Some(name) = names.iter().find(|name| !known(name)) {
            let all: Vec<&str> = tools::BUILTINS.iter().map(|tool| tool.name).collect();
            let error = Error::usage(format!("there is no tool `{name}`"));
            return Err(error.remedy(format!("the tools: {}", all.join(", "))));
        }
        Ok(Self {
            allowed: Some(names),
        })
    }

    /// What both sets allow.
    pub fn narrowed(self, other: Self) -> Self {
        let allowed = match (self.allowed, other.allowed) {
            (Some(mut names), Some(others)) => {
                names.retain(|name| others.contains(name));
                Some(names)
            }
            (names, others) => names.or(others),
        };
        Self { allowed }
    }

    /// Whether a call may run; if not, what the model is told. `narrowed` is what an extension left
    /// of the set for now.
    pub fn permits(&self, name: &str, narrowed: Option<&[String]>) -> Result<(), String> {
        if let Some(narrowed) = narrowed.filter(|names| !names.iter().any(|one| one == name)) {
            let left = match narrowed {
                [] => "no tool may be used".to_owned(),
                names => format!("use {}", names.join(", ")),
            };
            return Err(format!("the tool `{name}` is switched off for now; {left}"));
        }
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

    /// The tool of an extension that a call of this name runs. An allowlist names built-in tools,
    /// so none is run under one.
    pub fn extension_tool<'a>(&self, name: &str, all: &'a Registry) -> Option<&'a Owned<Tool>> {
        all.tool(name).filter(|_| self.allowed.is_none())
    }

    /// The tools to advertise to this model.
    pub fn advertised(
        &self,
        model: &Model,
        extensions: &Registry,
        narrowed: Option<&[String]>,
    ) -> Arc<Vec<ToolSpec>> {
        let offered = |name: &str| model.supports_tools && self.permits(name, narrowed).is_ok();
        let builtins = tools::BUILTINS.iter().filter(|tool| {
            offered(tool.name) && self.extension_tool(tool.name, extensions).is_none()
        });
        let more = extensions.tools.iter().map(|tool| &tool.item);
        let more = more.filter(|tool| self.allowed.is_none() && offered(&tool.name));
        let more = more.map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.parameters.clone(),
        });
        Arc::new(builtins.map(tools::spec).chain(more).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_only_narrowed() {
        let only = |names: &[&str]| Toolset::only(names.iter().map(|&n| n.into()).collect());
        let read = only(&["read"]).unwrap();
        let both = only(&["read", "bash"]).unwrap();
        for (left, right, expected) in [
            (Toolset::all(), read.clone(), read.clone()),
            (both.clone(), read.clone(), read.clone()),
            (Toolset::none(), Toolset::all(), Toolset::none()),
            (Toolset::none(), both.clone(), Toolset::none()),
            (Toolset::all(), Toolset::all(), Toolset::all()),
        ] {
            assert_eq!(left.clone().narrowed(right.clone()), expected);
            assert_eq!(right.narrowed(left), expected);
        }
        assert_eq!(only(&[]).unwrap(), Toolset::none());
        let error = only(&["read", "nope"]).unwrap_err().to_string();
        assert!(error.contains("`nope`") && error.contains("read, "));
    }
}
