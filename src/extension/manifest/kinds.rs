//! The names in a manifest that e gives a meaning: hooks and events.

/// A moment at which an extension is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookKind {
    /// Before e reads its own arguments.
    Startup,
    /// A line was submitted.
    Input,
    /// A turn is about to begin.
    BeforeTurn,
    /// A call is about to run.
    ToolCall,
    /// A call has ended.
    ToolResult,
    /// A summary is about to replace older messages.
    CompactSummary,
    /// An entry is about to be shown.
    Render,
}

impl HookKind {
    /// Every hook.
    pub const ALL: [HookKind; 7] = [
        HookKind::Startup,
        HookKind::Input,
        HookKind::BeforeTurn,
        HookKind::ToolCall,
        HookKind::ToolResult,
        HookKind::CompactSummary,
        HookKind::Render,
    ];

    /// The name in a manifest.
    pub fn name(self) -> &'static str {
        self.method().trim_start_matches("hook.")
    }

    /// The method of the request.
    pub fn method(self) -> &'static str {
        match self {
            HookKind::Startup => "hook.startup",
            HookKind::Input => "hook.input",
            HookKind::BeforeTurn => "hook.before_turn",
            HookKind::ToolCall => "hook.tool_call",
            HookKind::ToolResult => "hook.tool_result",
            HookKind::CompactSummary => "hook.compact_summary",
            HookKind::Render => "hook.render",
        }
    }
}

/// Something that happened in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventName {
    /// A session began.
    SessionStart,
    /// A session is left.
    SessionShutdown,
    /// A turn began.
    TurnStart,
    /// A turn ended.
    TurnEnd,
    /// A call began.
    ToolStart,
    /// A call ended.
    ToolEnd,
    /// A compaction began.
    CompactStart,
    /// A compaction ended.
    CompactEnd,
    /// Another model was chosen.
    ModelChange,
    /// Another effort was chosen.
    EffortChange,
}

impl EventName {
    /// Every event.
    pub const ALL: [EventName; 10] = [
        EventName::SessionStart,
        EventName::SessionShutdown,
        EventName::TurnStart,
        EventName::TurnEnd,
        EventName::ToolStart,
        EventName::ToolEnd,
        EventName::CompactStart,
        EventName::CompactEnd,
        EventName::ModelChange,
        EventName::EffortChange,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            EventName::SessionStart => "session_start",
            EventName::SessionShutdown => "session_shutdown",
            EventName::TurnStart => "turn_start",
            EventName::TurnEnd => "turn_end",
            EventName::ToolStart => "tool_start",
            EventName::ToolEnd => "tool_end",
            EventName::CompactStart => "compact_start",
            EventName::CompactEnd => "compact_end",
            EventName::ModelChange => "model_change",
            EventName::EffortChange => "effort_change",
        }
    }
}
