//! How a manifest is read: every field checked, every list and text cut to its bound.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    Command, EventName, Flag, FlagKind, HookKind, Label, MAX_NAME, Manifest, Render, Shortcut,
    Tool, quoted,
};
use crate::extension::fields::{Fields, LINE_COLUMNS, block, line};
use crate::text::{clip_chars, json};

/// Most tools of one extension, and most commands.
const MAX_TOOLS: usize = 256;

/// Most flags of one extension, most shortcuts, and most entries of its lists of names.
const MAX_SMALL: usize = 64;

/// Most bytes of a tool's description.
const MAX_DESCRIPTION: usize = 16 * 1024;

/// Most bytes of a tool's schema as JSON.
pub(super) const MAX_SCHEMA: usize = 64 * 1024;

/// Reasons why a manifest is useless that are told.
const MAX_WRONG: usize = 8;

/// Columns of the parts of a label, which share one row.
const LABEL_COLUMNS: usize = 40;

/// Reads the answer to `initialize`. The list holds the rules that the manifest breaks without
/// being useless; each is a sentence that names the field or the name.
///
/// # Errors
///
/// Why the extension cannot be used, with every field that is to blame.
pub fn parse(value: &Value) -> Result<(Manifest, Vec<String>), String> {
    let fields = Fields::of(value, "the manifest")?;
    let mut found = Problems::default();
    let name = fields.words("name").map(|name| line(name, LINE_COLUMNS));
    let name = found.take(name.and_then(|name| match name.is_empty() {
        true => Err("`name` must not be blank".to_owned()),
        false => Ok(name),
    }));
    let version = found.take(fields.line("version"));
    let renders = found.take(renders(&fields));
    let events = found.take(events(&fields));
    let mut hooks = found.take(hooks(&fields));
    if !renders.is_empty() {
        // Saying what one wants to render is asking for the hook.
        hooks.insert(HookKind::Render);
    }
    let manifest = Manifest {
        name,
        version,
        tools: entries(&fields, ("tools", MAX_TOOLS), &mut found, tool, |one| {
            &one.name
        }),
        commands: entries(
            &fields,
            ("commands", MAX_TOOLS),
            &mut found,
            command,
            |one| &one.name,
        ),
        flags: entries(&fields, ("flags", MAX_SMALL), &mut found, flag, |one| {
            &one.name
        }),
        hooks,
        renders,
        events,
        shortcuts: entries(
            &fields,
            ("shortcuts", MAX_SMALL),
            &mut found,
            shortcut,
            |one| &one.key,
        ),
    };
    match found.wrong.len() {
        0 => Ok((manifest, found.broken)),
        count => {
            let more = count.saturating_sub(MAX_WRONG);
            found.wrong.truncate(MAX_WRONG);
            found
                .wrong
                .extend((more > 0).then(|| format!("and {more} more like this")));
            Err(found.wrong.join("; "))
        }
    }
}

/// What is found while a manifest is read.
#[derive(Default)]
struct Problems {
    /// Why it is useless.
    wrong: Vec<String>,
    /// Rules that it breaks without being so.
    broken: Vec<String>,
}

impl Problems {
    /// What was read; of what could not be, nothing.
    fn take<T: Default>(&mut self, read: Result<T, String>) -> T {
        read.unwrap_or_else(|why| {
            self.wrong.push(why);
            T::default()
        })
    }
}

/// The usable entries of a list, the first of each name.
fn entries<T>(
    fields: &Fields<'_>,
    (list, most): (&str, usize),
    found: &mut Problems,
    read: fn(&Fields<'_>, &mut Vec<String>) -> Result<Option<T>, String>,
    name: fn(&T) -> &str,
) -> Vec<T> {
    let items = found.take(fields.list(list));
    if items.len() > most {
        let count = items.len();
        found.broken.push(format!(
            "`{list}` has {count} entries; only the first {most} are used"
        ));
    }
    let mut kept: Vec<T> = Vec::new();
    let mut names = BTreeSet::new();
    for (index, item) in items.iter().take(most).enumerate() {
        let item = fields.item(list, index, item);
        let entry = item.and_then(|item| read(&item, &mut found.broken));
        let Some(entry) = found.take(entry) else {
            continue;
        };
        if names.insert(name(&entry).to_owned()) {
            kept.push(entry);
        } else {
            found.broken.push(format!(
                "`{list}[{index}]`: `{}` is declared twice; the first is used",
                name(&entry)
            ));
        }
    }
    kept
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

pub(super) fn empty_schema() -> Value {
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
    let texts = fields.texts("renders")?.unwrap_or_default();
    Ok(texts
        .into_iter()
        .filter_map(render)
        .take(MAX_SMALL)
        .collect())
}

/// The entries that a text in `renders` means.
pub(super) fn render(text: &str) -> Option<Render> {
    match (text, text.strip_prefix("tool:")) {
        ("assistant", _) => Some(Render::Assistant),
        (_, Some("*")) => Some(Render::EveryTool),
        (_, Some(name)) if is_word(name, |byte| byte == b'_' || byte == b'-') => {
            Some(Render::Tool(name.to_owned()))
        }
        _ => None,
    }
}

/// Whether a name is short and has only ASCII letters, digits and what else is allowed.
fn is_word(name: &str, also: impl Fn(u8) -> bool) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || also(byte))
}
