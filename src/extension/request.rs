//! What an extension asks of e, checked and typed.
//!
//! The rules that need no state are applied here; who may be asked what, and when, is decided
//! where the request is served.

use serde_json::{Value, json};

use super::fields::{Fields, block, line};
use super::ui::{Pane, Panel, Select, Show, SpanRow, WIDGET_ROWS, rows};
use crate::text::{clip_bytes, sanitize};

/// Columns of a status or activity slot.
const SLOT_COLUMNS: usize = 40;

/// Most bytes of a notice, and of what a yes-or-no question means.
pub(super) const MAX_NOTICE: usize = 4 * 1024;

/// Most bytes of a text that is put in the composer.
const MAX_DRAFT: usize = 1 << 20;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// To show something or to ask the person.
    Ui(Ui),
    /// To steer the session.
    Session(Session),
}

impl Request {
    /// Whether a person answers it. Such a request takes as long as it takes.
    pub fn is_question(&self) -> bool {
        match self {
            Request::Ui(ui) => ui.is_question(),
            Request::Session(_) => false,
        }
    }

    /// Whether a frontend without a screen passes it on as it was sent.
    pub fn is_relayed(&self) -> bool {
        match self {
            Request::Ui(Ui::Notify { .. } | Ui::Show(_)) => true,
            request => request.is_question(),
        }
    }

    /// Whether it takes the place of what the extension showed before. It is answered at once.
    pub fn is_redraw(&self) -> bool {
        match self {
            Request::Ui(Ui::Notify { .. } | Ui::Show(_)) | Request::Session(_) => false,
            Request::Ui(ui) => !ui.is_question(),
        }
    }
}

/// How loud a notice is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// A plain line.
    #[default]
    Info,
    /// Something to look at.
    Warning,
    /// Something went wrong.
    Error,
}

/// What is to be shown or asked. All text is fit to be painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ui {
    /// A line in the transcript.
    Notify {
        /// Maybe several lines.
        message: String,
        /// How loud.
        tone: Tone,
    },
    /// A block in the transcript.
    Show(Show),
    /// Pick from a list.
    Select(Select),
    /// Answer yes or no.
    Confirm {
        /// The question, one line.
        title: String,
        /// What it means, maybe empty.
        message: String,
    },
    /// Type a line.
    Input {
        /// The question, one line.
        title: String,
        /// Shown in the empty field.
        placeholder: String,
        /// What the field holds at first.
        prefill: String,
        /// Whether the text is masked and kept nowhere.
        secret: bool,
    },
    /// Type several lines.
    Editor {
        /// The question, one line.
        title: String,
        /// What the field holds at first.
        text: String,
        /// Shown in the empty field.
        placeholder: String,
    },
    /// Fill or empty a slot of the status row.
    Status(Slot<String>),
    /// Fill or empty a slot of the activity row.
    Activity(Slot<String>),
    /// Put rows above the composer, or remove them.
    Widget(Slot<Vec<SpanRow>>),
    /// Put this text in the composer.
    Compose(String),
    /// Show a panel, or close it.
    Panel(Option<Panel>),
    /// Show a side pane, or close it.
    Pane(Option<Pane>),
}

impl Ui {
    /// Whether a person answers it. Such a request takes as long as it takes.
    pub fn is_question(&self) -> bool {
        match self {
            Ui::Select(_) | Ui::Confirm { .. } | Ui::Input { .. } | Ui::Editor { .. } => true,
            Ui::Notify { .. } | Ui::Show(_) | Ui::Status(_) | Ui::Activity(_) => false,
            Ui::Widget(_) | Ui::Compose(_) | Ui::Panel(_) | Ui::Pane(_) => false,
        }
    }

    /// What a question asks; nothing for what is none.
    pub fn title(&self) -> &str {
        match self {
            Ui::Select(select) => &select.title,
            Ui::Confirm { title, .. } | Ui::Input { title, .. } | Ui::Editor { title, .. } => title,
            _ => "",
        }
    }

    /// The answer when the person gives none.
    pub fn cancelled(&self) -> Value {
        match self {
            Ui::Confirm { .. } => json!({"confirmed": false}),
            _ => json!({"cancelled": true}),
        }
    }
}

/// A change of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot<T> {
    /// Which of the extension's slots.
    pub key: Option<String>,
    /// What it holds from now on; nothing empties it.
    pub value: Option<T>,
}

/// How the session is to be steered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Session {
    /// Add a message.
    Send {
        /// The text as the model reads it; not blank, not cleaned.
        content: String,
        /// Whether the transcript leaves it out.
        internal: bool,
        /// Whether it starts or steers a turn.
        run: bool,
        /// Whether it waits for the person's next prompt. Such a message is internal and does
        /// not run.
        next_turn: bool,
    },
    /// Tell about the session.
    Info,
    /// Name it; an empty text takes the name away.
    Name(String),
    /// Choose a model.
    Model(String),
    /// Choose an effort.
    Effort(String),
    /// Narrow the tools to these; nothing restores them.
    Tools(Option<Vec<String>>),
    /// Interrupt the turn.
    Interrupt,
    /// Compact the conversation.
    Compact {
        /// What the summary is to keep.
        focus: Option<String>,
    },
}

/// Reads a request. `params` is null when it has none.
///
/// # Errors
///
/// The text of the error answer: it names the field, or the method e does not know.
pub fn parse(method: &str, params: &Value) -> Result<Request, String> {
    match method {
        "ui.panel" => return Ok(Request::Ui(Ui::Panel(Panel::parse(params)?))),
        "ui.pane" => return Ok(Request::Ui(Ui::Pane(Pane::parse(params)?))),
        _ => {}
    }
    let none = Value::Object(serde_json::Map::new());
    let params = if params.is_null() { &none } else { params };
    let fields = Fields::of(params, "`params`")?;
    if let Some(ui) = ui(method, &fields)? {
        return Ok(Request::Ui(ui));
    }
    match session(method, &fields)? {
        Some(session) => Ok(Request::Session(session)),
        None => Err(format!("unknown method `{}`", line(method, 60))),
    }
}

fn ui(method: &str, fields: &Fields<'_>) -> Result<Option<Ui>, String> {
    Ok(Some(match method {
        "ui.notify" => Ui::Notify {
            message: block(fields.words("message")?, MAX_NOTICE),
            tone: match fields.text("tone")? {
                Some("warning") => Tone::Warning,
                Some("error") => Tone::Error,
                _ => Tone::Info,
            },
        },
        "ui.show" => Ui::Show(Show::parse(fields)?),
        "ui.select" => Ui::Select(Select::parse(fields)?),
        "ui.confirm" => Ui::Confirm {
            title: title(fields)?,
            message: block(
                fields.text("message")?.unwrap_or_default().trim(),
                MAX_NOTICE,
            ),
        },
        "ui.input" => Ui::Input {
            title: title(fields)?,
            placeholder: fields.line("placeholder")?,
            prefill: draft(fields, "prefill")?,
            secret: fields.boolean("secret")?.unwrap_or_default(),
        },
        "ui.editor" => Ui::Editor {
            title: title(fields)?,
            text: draft(fields, "text")?,
            placeholder: fields.line("placeholder")?,
        },
        "ui.status" => Ui::Status(text_slot(fields)?),
        "ui.activity" => Ui::Activity(text_slot(fields)?),
        "ui.widget" => {
            let rows = rows(fields, "lines")?.take(WIDGET_ROWS);
            let rows = rows.collect::<Result<Vec<_>, _>>()?;
            Ui::Widget(Slot {
                key: key(fields)?,
                value: Some(rows).filter(|rows| !rows.is_empty()),
            })
        }
        "ui.compose" => {
            fields.required("text")?;
            Ui::Compose(draft(fields, "text")?)
        }
        _ => return Ok(None),
    }))
}

fn session(method: &str, fields: &Fields<'_>) -> Result<Option<Session>, String> {
    Ok(Some(match method {
        "session.send" => send(fields)?,
        "session.info" => Session::Info,
        "session.name" => {
            fields.required("name")?;
            Session::Name(fields.line("name")?)
        }
        "session.model" => Session::Model(fields.words("model")?.trim().to_owned()),
        "session.effort" => Session::Effort(fields.words("effort")?.trim().to_owned()),
        "session.tools" => {
            // A misspelt field must not give back what a plan mode took away.
            if !fields.has("names") {
                return Err("`names` is missing; null restores the tools".to_owned());
            }
            let names = fields.texts("names")?;
            Session::Tools(names.map(|names| names.into_iter().map(String::from).collect()))
        }
        "session.interrupt" => Session::Interrupt,
        "session.compact" => {
            let focus = fields
                .text("focus")?
                .filter(|focus| !focus.trim().is_empty());
            Session::Compact {
                focus: focus.map(String::from),
            }
        }
        _ => return Ok(None),
    }))
}

fn send(fields: &Fields<'_>) -> Result<Session, String> {
    let internal = fields.boolean("internal")?.unwrap_or_default();
    let run = fields.boolean("run")?;
    let next_turn = match fields.text("when")? {
        None => false,
        Some("next_turn") => true,
        Some(_) => return Err("`when` must be `next_turn`".to_owned()),
    };
    if next_turn && !internal {
        return Err(
            "`when` needs `internal`: only an internal message waits for the next prompt"
                .to_owned(),
        );
    }
    if next_turn && run == Some(true) {
        return Err("`run` and `when` cannot go together".to_owned());
    }
    Ok(Session::Send {
        content: fields.words("content")?.to_owned(),
        internal,
        run: run.unwrap_or(!internal),
        next_turn,
    })
}

/// The title of a question, which it must have.
fn title(fields: &Fields<'_>) -> Result<String, String> {
    fields.words("title")?;
    fields.line("title")
}

/// A text that a person may go on writing: cut without a mark, which would become part of it.
fn draft(fields: &Fields<'_>, name: &str) -> Result<String, String> {
    let text = fields.text(name)?.unwrap_or_default();
    Ok(sanitize(clip_bytes(text, MAX_DRAFT)))
}

fn text_slot(fields: &Fields<'_>) -> Result<Slot<String>, String> {
    let text = line(fields.text("text")?.unwrap_or_default(), SLOT_COLUMNS);
    Ok(Slot {
        key: key(fields)?,
        value: Some(text).filter(|text| !text.is_empty()),
    })
}

fn key(fields: &Fields<'_>) -> Result<Option<String>, String> {
    Ok(fields.id("key")?.filter(|key| !key.is_empty()))
}

#[cfg(test)]
mod tests;
