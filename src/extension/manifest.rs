//! The manifest: what an extension says it adds, checked once.
//!
//! A field of a wrong type means that the extension and e do not speak the same protocol: it is
//! skipped. Anything smaller costs only itself: a name that cannot be used drops that tool or
//! command, and the rule it broke is told. What e does not know (a hook of a later version) is
//! ignored without a word.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fields::{Fields, LINE_COLUMNS, block, line};
use crate::text::{clip_chars, json, one_line};

#[cfg(test)]
mod tests;

/// Most tools of one extension, and most commands.
const MAX_TOOLS: usize = 256;

/// Most flags of one extension, most shortcuts, and most entries of its lists of names.
const MAX_SMALL: usize = 64;

/// Longest name of a tool, a command or a flag that is parsed, in bytes.
const MAX_NAME: usize = 64;

/// Most bytes of a tool's description.
const MAX_DESCRIPTION: usize = 16 * 1024;

/// Most bytes of a tool's schema as JSON.
const MAX_SCHEMA: usize = 64 * 1024;

/// Columns of the parts of a label, which share one row.
const LABEL_COLUMNS: usize = 40;

/// What an extension adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its name, one line.
    pub name: String,
    /// Its version as it writes it; empty when it does not tell.
    pub version: String,
    /// The tools it runs; names are unique.
    pub tools: Vec<Tool>,
    /// The slash commands it runs; names are unique.
    pub commands: Vec<Command>,
    /// The options it reads; names are unique.
    pub flags: Vec<Flag>,
    /// The moments at which it is asked.
    pub hooks: BTreeSet<HookKind>,
    /// The entries whose content it supplies.
    pub renders: Vec<Render>,
    /// The events it is told.
    pub events: BTreeSet<EventName>,
    /// The chords it wants, unchecked: whether they may be had depends on all extensions.
    pub shortcuts: Vec<Shortcut>,
}

impl Manifest {
    /// Whether it wants to supply the content of a finished call of this tool.
    pub fn renders_tool(&self, name: &str) -> bool {
        self.renders.iter().any(|render| match render {
            Render::EveryTool => true,
            Render::Tool(tool) => tool == name,
            Render::Assistant => false,
        })
    }

    /// Whether it wants to supply the content of a completed reply.
    pub fn renders_assistant(&self) -> bool {
        self.renders.contains(&Render::Assistant)
    }
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// For the model; may have several lines.
    pub description: String,
    /// A JSON Schema of type `object`.
    pub parameters: Value,
    /// How a call shows, when the extension says so.
    pub label: Option<Label>,
}

/// How a call shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The noun used to tally a batch.
    pub category: String,
    /// Verb while it runs.
    pub running: String,
    /// Verb after it ended.
    pub completed: String,
    /// The argument whose value the row shows.
    pub target: Option<String>,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The word after the slash.
    pub name: String,
    /// One line for the picker.
    pub description: String,
    /// What may follow the name, one line; picking the command then leaves it in the composer.
    pub arguments: Option<String>,
    /// Whether the extension completes the word after the name.
    pub completions: bool,
}

/// An option on e's command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The name as declared, one line.
    pub name: String,
    /// What its value is.
    pub kind: FlagKind,
    /// One line for the help text.
    pub description: String,
    /// What the extension takes when the flag is absent, fit to be shown; its type is `kind`.
    pub default: Option<Value>,
    /// Whether `--name` is parsed. Other names are for the help text alone.
    pub clean: bool,
}

/// What the value of a flag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagKind {
    /// There or not.
    Boolean,
    /// A text.
    Text,
}

/// An entry whose content an extension supplies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Render {
    /// A finished call of any tool.
    EveryTool,
    /// A finished call of this tool.
    Tool(String),
    /// A completed reply.
    Assistant,
}

/// A key chord that an extension wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// The chord as the extension writes it, one line.
    pub key: String,
    /// One line for the list of shortcuts.
    pub description: String,
}

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

/// Reads the answer to `initialize`. The list holds the rules that the manifest breaks without
/// being useless; each is a sentence that names the field or the name.
///
/// # Errors
///
/// Why the extension cannot be used, with the field.
pub fn parse(value: &Value) -> Result<(Manifest, Vec<String>), String> {
    let fields = Fields::of(value, "the manifest")?;
    let name = line(fields.words("name")?, LINE_COLUMNS);
    if name.is_empty() {
        return Err("`name` must not be blank".to_owned());
    }
    let mut broken = Vec::new();
    let renders = renders(&fields)?;
    let mut hooks = hooks(&fields)?;
    if !renders.is_empty() {
        // Saying what one wants to render is asking for the hook.
        hooks.insert(HookKind::Render);
    }
    let manifest = Manifest {
        name,
        version: fields.line("version")?,
        tools: entries(&fields, ("tools", MAX_TOOLS), &mut broken, tool, |tool| {
            &tool.name
        })?,
        commands: entries(
            &fields,
            ("commands", MAX_TOOLS),
            &mut broken,
            command,
            |command| &command.name,
        )?,
        flags: entries(&fields, ("flags", MAX_SMALL), &mut broken, flag, |flag| {
            &flag.name
        })?,
        hooks,
        renders,
        events: events(&fields)?,
        shortcuts: entries(
            &fields,
            ("shortcuts", MAX_SMALL),
            &mut broken,
            shortcut,
            |shortcut| &shortcut.key,
        )?,
    };
    Ok((manifest, broken))
}

/// The usable entries of a list, the first of each name.
fn entries<T>(
    fields: &Fields<'_>,
    (list, most): (&str, usize),
    broken: &mut Vec<String>,
    read: fn(&Fields<'_>, &mut Vec<String>) -> Result<Option<T>, String>,
    name: fn(&T) -> &str,
) -> Result<Vec<T>, String> {
    let items = fields.list(list)?;
    if items.len() > most {
        let count = items.len();
        broken.push(format!(
            "`{list}` has {count} entries; only the first {most} are used"
        ));
    }
    let mut kept: Vec<T> = Vec::new();
    let mut names = BTreeSet::new();
    for (index, item) in items.iter().take(most).enumerate() {
        let Some(entry) = read(&fields.item(list, index, item)?, broken)? else {
            continue;
        };
        if names.insert(name(&entry).to_owned()) {
            kept.push(entry);
        } else {
            broken.push(format!(
                "`{list}[{index}]`: `{}` is declared twice; the first is used",
                name(&entry)
            ));
        }
    }
    Ok(kept)
}

fn tool(fields: &Fields<'_>, broken: &mut Vec<String>) -> Result<Option<Tool>, String> {
    let name = fields.required("name")?;
    let description = block(
        fields.text("description")?.unwrap_or_default(),
        MAX_DESCRIPTION,
    )
    .replace('\t', " ");
    let label = fields.object("label")?;
    let label = label.map(|fields| label_of(&fields, name)).transpose()?;
    if !is_word(name, |byte| byte == b'_' || byte == b'-') {
        broken.push(format!(
            "`{}`: the tool {} is dropped; a tool name has 1 to {MAX_NAME} letters, digits, `_` and `-`",
            fields.path("name"),
            quoted(name),
        ));
        return Ok(None);
    }
    let parameters = match fields.get("parameters") {
        None => empty_schema(),
        Some(schema) => schema_of(schema).unwrap_or_else(|problem| {
            broken.push(format!(
                "`{}` {problem}; an empty schema is advertised",
                fields.path("parameters")
            ));
            empty_schema()
        }),
    };
    Ok(Some(Tool {
        name: name.to_owned(),
        description,
        parameters,
        label,
    }))
}

fn label_of(fields: &Fields<'_>, tool: &str) -> Result<Label, String> {
    let part = |name: &str, other: String| {
        let text = line(fields.text(name)?.unwrap_or_default(), LABEL_COLUMNS);
        Ok::<_, String>(if text.is_empty() { other } else { text })
    };
    let tool = line(tool, LABEL_COLUMNS);
    Ok(Label {
        running: part("running", format!("Running {tool}"))?,
        completed: part("completed", format!("Ran {tool}"))?,
        category: part("category", tool)?,
        target: fields
            .text("target")?
            .map(|name| clip_chars(name, MAX_NAME)),
    })
}

/// A schema that every provider takes: an object schema of bounded size.
fn schema_of(schema: &Value) -> Result<Value, String> {
    let Value::Object(map) = schema else {
        return Err("is not an object".to_owned());
    };
    if map.get("type").is_some_and(|kind| kind != "object") {
        return Err("is not a schema of type `object`".to_owned());
    }
    if map.get("properties").is_some_and(|list| !list.is_object()) {
        return Err("has `properties` that are not an object".to_owned());
    }
    if json::to_line(schema).len() > MAX_SCHEMA {
        return Err(format!("is over {} KiB", MAX_SCHEMA >> 10));
    }
    let mut map = map.clone();
    map.insert("type".to_owned(), json!("object"));
    map.entry("properties").or_insert_with(|| json!({}));
    Ok(Value::Object(map))
}

fn empty_schema() -> Value {
    json!({"type": "object", "properties": {}})
}

fn command(fields: &Fields<'_>, broken: &mut Vec<String>) -> Result<Option<Command>, String> {
    let name = fields.required("name")?;
    let description = fields.line("description")?;
    let arguments = Some(fields.line("arguments")?).filter(|text| !text.is_empty());
    let completions = fields.boolean("completions")?.unwrap_or_default();
    let fits = (1..=MAX_NAME).contains(&name.len())
        && !name.contains('/')
        && !name.contains(char::is_whitespace)
        && line(name, MAX_NAME) == name;
    if !fits {
        broken.push(format!(
            "`{}`: the command {} is dropped; a command name has 1 to {MAX_NAME} bytes without white space and `/`",
            fields.path("name"),
            quoted(name),
        ));
        return Ok(None);
    }
    Ok(Some(Command {
        name: name.to_owned(),
        description,
        arguments,
        completions,
    }))
}

fn flag(fields: &Fields<'_>, broken: &mut Vec<String>) -> Result<Option<Flag>, String> {
    let name = line(fields.required("name")?, LINE_COLUMNS);
    let description = fields.line("description")?;
    let kind = match fields.text("type")? {
        None | Some("boolean") => FlagKind::Boolean,
        Some("string") => FlagKind::Text,
        Some(other) => {
            broken.push(format!(
                "`{}`: the flag `{name}` is dropped; its type is `boolean` or `string`, not {}",
                fields.path("type"),
                quoted(other),
            ));
            return Ok(None);
        }
    };
    if name.is_empty() {
        broken.push(format!(
            "`{}` is blank; the flag is dropped",
            fields.path("name")
        ));
        return Ok(None);
    }
    let default = match (kind, fields.get("default")) {
        (FlagKind::Boolean, Some(Value::Bool(set))) => Some(Value::from(*set)),
        (FlagKind::Text, Some(Value::String(text))) => Some(Value::from(line(text, LINE_COLUMNS))),
        (_, None) => None,
        (_, Some(_)) => {
            let path = fields.path("default");
            broken.push(format!(
                "`{path}` is not of the flag's type and is not shown"
            ));
            None
        }
    };
    Ok(Some(Flag {
        clean: !name.starts_with('-') && is_word(&name, |byte| byte == b'-'),
        name,
        kind,
        description,
        default,
    }))
}

fn shortcut(fields: &Fields<'_>, broken: &mut Vec<String>) -> Result<Option<Shortcut>, String> {
    let key = line(fields.required("key")?, LINE_COLUMNS);
    let description = fields.line("description")?;
    if key.is_empty() {
        broken.push(format!(
            "`{}` is blank; the shortcut is dropped",
            fields.path("key")
        ));
        return Ok(None);
    }
    Ok(Some(Shortcut { key, description }))
}

fn hooks(fields: &Fields<'_>) -> Result<BTreeSet<HookKind>, String> {
    let names = fields.texts("hooks")?.unwrap_or_default();
    Ok(HookKind::ALL
        .into_iter()
        .filter(|kind| names.contains(&kind.name()))
        .collect())
}

fn events(fields: &Fields<'_>) -> Result<BTreeSet<EventName>, String> {
    // A manifest of version 1 has no such field and is told when a turn ends.
    let names = fields
        .texts("events")?
        .unwrap_or_else(|| vec![EventName::TurnEnd.name()]);
    Ok(EventName::ALL
        .into_iter()
        .filter(|event| names.contains(&event.name()))
        .collect())
}

fn renders(fields: &Fields<'_>) -> Result<Vec<Render>, String> {
    let entry = |text: &str| match (text, text.strip_prefix("tool:")) {
        ("assistant", _) => Some(Render::Assistant),
        (_, Some("*")) => Some(Render::EveryTool),
        (_, Some(name)) if is_word(name, |byte| byte == b'_' || byte == b'-') => {
            Some(Render::Tool(name.to_owned()))
        }
        _ => None,
    };
    let texts = fields.texts("renders")?.unwrap_or_default();
    Ok(texts
        .into_iter()
        .filter_map(entry)
        .take(MAX_SMALL)
        .collect())
}

/// Whether a name is short and has only ASCII letters, digits and what else is allowed.
fn is_word(name: &str, also: impl Fn(u8) -> bool) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || also(byte))
}

fn quoted(name: &str) -> String {
    format!("`{}`", one_line(&clip_chars(name, MAX_NAME), None))
}

impl Tool {
    /// Checks the arguments of a call against the top level of `parameters`: required names and
    /// JSON types. What is deeper is the extension's own business.
    ///
    /// # Errors
    ///
    /// A sentence for the model that names the parameter.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        let Value::Object(arguments) = arguments else {
            return Err("the arguments are not a JSON object; nothing was run".to_owned());
        };
        let required = self.parameters.get("required").and_then(Value::as_array);
        let mut names = required.into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = names.find(|name| !arguments.contains_key(*name)) {
            return Err(format!("{} is missing; nothing was run", quoted(missing)));
        }
        for (name, value) in arguments {
            let property = self
                .parameters
                .get("properties")
                .and_then(|list| list.get(name));
            let types = match property.and_then(|property| property.get("type")) {
                Some(Value::String(one)) => vec![one.as_str()],
                Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
                _ => continue,
            };
            if !types.is_empty() && !types.iter().any(|kind| has_type(value, kind)) {
                let types = line(&types.join(" or "), LINE_COLUMNS);
                return Err(format!(
                    "{} must be of type {types}; nothing was run",
                    quoted(name)
                ));
            }
        }
        Ok(())
    }
}

/// Whether a value has a type of JSON Schema. A type it does not know fits everything.
fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => true,
    }
}
