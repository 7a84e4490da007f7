//! The methods: one table from the name on the wire to a typed call.

use std::path::PathBuf;

use super::params::Params;
use serde_json::Value;

use crate::agent::Limits;
use crate::error::{Error, Result};
use crate::text::one_line;

/// Columns of a name that an error repeats.
pub const SHOWN: usize = 80;

/// A request, understood.
#[derive(Debug)]
pub enum Call {
    /// Who is there.
    Hello {
        /// Whether the client answers questions of extensions.
        ask: bool,
    },
    /// The models that can be used now.
    Models,
    /// A new session.
    Create(Box<Create>),
    /// The sessions on disk.
    List {
        /// Those of this directory; the process's when absent.
        cwd: Option<PathBuf>,
        /// Those of every directory.
        all: bool,
    },
    /// Something about one session.
    Session(String, SessionCall),
    /// The answer to a question.
    AskReply {
        /// The question's number.
        ask: u64,
        /// What the extension gets; that the question was cancelled when there is none.
        result: Option<Value>,
    },
    /// The end.
    Shutdown,
}

/// What can be asked of a session.
#[derive(Debug)]
pub enum SessionCall {
    /// What it is.
    Info,
    /// Run a turn.
    Prompt {
        /// What to say to the model, not blank.
        text: String,
        /// Files to attach.
        images: Vec<PathBuf>,
        /// What the turn may use up.
        limits: Limits,
    },
    /// Say something into the running turn.
    Steer(String),
    /// Stop the running turn.
    Interrupt,
    /// Make room by a summary.
    Compact {
        /// What the summary should keep above all.
        focus: Option<String>,
    },
    /// Change model or effort.
    Set {
        /// The model, when it changes.
        model: Option<String>,
        /// The effort, when it changes.
        effort: Option<String>,
    },
    /// The conversation.
    Messages,
    /// A new session with this one's history.
    Fork,
    /// The conversation as a page.
    Export {
        /// Where to write it.
        path: Option<PathBuf>,
    },
    /// End it.
    Close,
}

/// What a new session is to be. A one-shot line gives the same.
#[derive(Debug)]
pub struct Create {
    /// Its directory.
    pub cwd: Option<PathBuf>,
    /// Its model.
    pub model: Option<String>,
    /// Its effort level.
    pub effort: Option<String>,
    /// The only tools it may use.
    pub tools: Option<Vec<String>>,
    /// Whether it may use no tools at all.
    pub no_tools: bool,
    /// Whether it writes a log.
    pub save: bool,
    /// The log it goes on from.
    pub resume: Option<PathBuf>,
    /// Its name.
    pub name: Option<String>,
    /// What each of its turns may use up.
    pub limits: Limits,
}

/// One method.
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its parameters, as the manual shows them.
    pub params: &'static str,
    /// One sentence for the manual.
    pub help: &'static str,
    parse: fn(Params) -> Result<Call>,
}

/// Every method. `hello` and the manual list them in this order.
pub const METHODS: &[Method] = &[
    Method {
        name: "hello",
        params: "ask?",
        help: "say who is there; with `ask` true the client answers questions of extensions",
        parse: |mut params| {
            let ask = params.flag("ask")?;
            Ok(Call::Hello { ask })
        },
    },
    Method {
        name: "models.list",
        params: "",
        help: "list the models that can be used now, and the default",
        parse: |_| Ok(Call::Models),
    },
    Method {
        name: "session.create",
        params: "cwd?, model?, effort?, tools?, tool_mode?, save?, resume?, name?, limits?",
        help: "start a session, fresh or from a log",
        parse: |mut params| {
            Ok(Call::Create(Box::new(Create {
                cwd: params.path("cwd")?,
                resume: params.path("resume")?,
                name: params.text("name")?.filter(|name| !name.trim().is_empty()),
                ..create(&mut params)?
            })))
        },
    },
    Method {
        name: "session.list",
        params: "cwd?, all?",
        help: "list the saved sessions of a directory, or all",
        parse: |mut params| {
            Ok(Call::List {
                cwd: params.path("cwd")?,
                all: params.flag("all")?,
            })
        },
    },
    Method {
        name: "session.info",
        params: "session",
        help: "tell what a session is and whether a turn runs",
        parse: |params| session(params, |_| Ok(SessionCall::Info)),
    },
    Method {
        name: "session.prompt",
        params: "session, prompt, images?, limits?",
        help: "run a turn; events come as they happen, the answer when it ends",
        parse: |params| {
            session(params, |params| {
                Ok(SessionCall::Prompt {
                    text: params.words("prompt")?,
                    images: images(params)?,
                    limits: params.limits()?,
                })
            })
        },
    },
    Method {
        name: "session.steer",
        params: "session, text",
        help: "say something into the running turn",
        parse: |params| {
            session(params, |params| {
                params.words("text").map(SessionCall::Steer)
            })
        },
    },
    Method {
        name: "session.interrupt",
        params: "session",
        help: "stop the running turn; answered when it has ended",
        parse: |params| session(params, |_| Ok(SessionCall::Interrupt)),
    },
    Method {
        name: "session.compact",
        params: "session, focus?",
        help: "put a summary in the place of older messages",
        parse: |params| {
            session(params, |params| {
                let focus = params
                    .text("focus")?
                    .filter(|focus| !focus.trim().is_empty());
                Ok(SessionCall::Compact { focus })
            })
        },
    },
    Method {
        name: "session.set",
        params: "session, model?, effort?",
        help: "change model or effort between turns",
        parse: |params| {
            session(params, |params| {
                Ok(SessionCall::Set {
                    model: params.text("model")?,
                    effort: params.text("effort")?,
                })
            })
        },
    },
    Method {
        name: "session.messages",
        params: "session",
        help: "give the conversation, in the shape of the log",
        parse: |params| session(params, |_| Ok(SessionCall::Messages)),
    },
    Method {
        name: "session.fork",
        params: "session",
        help: "start a session that has this one's history",
        parse: |params| session(params, |_| Ok(SessionCall::Fork)),
    },
    Method {
        name: "session.export",
        params: "session, path?",
        help: "write the conversation as one HTML page",
        parse: |params| {
            session(params, |params| {
                let path = params.text("path")?.map(PathBuf::from);
                Ok(SessionCall::Export { path })
            })
        },
    },
    Method {
        name: "session.close",
        params: "session",
        help: "stop a session and forget it; its log stays",
        parse: |params| session(params, |_| Ok(SessionCall::Close)),
    },
    Method {
        name: "ask.reply",
        params: "ask, result?",
        help: "answer a question of an extension",
        parse: |mut params| {
            let ask = params.integer("ask")?;
            let result = params.any("result");
            Ok(Call::AskReply { ask, result })
        },
    },
    Method {
        name: "shutdown",
        params: "",
        help: "stop everything and end with status 0",
        parse: |_| Ok(Call::Shutdown),
    },
];

/// The names of all methods.
pub fn names() -> Vec<&'static str> {
    METHODS.iter().map(|method| method.name).collect()
}

/// Understands a call.
pub fn parse(method: &str, params: Params) -> Result<Call> {
    match METHODS.iter().find(|known| known.name == method) {
        Some(known) => (known.parse)(params),
        None => {
            let shown = one_line(method, Some(SHOWN));
            let error = Error::usage(format!("unknown method `{shown}`"));
            Err(error.remedy("`hello` lists the methods"))
        }
    }
}

/// What a session and a one-shot line may both say.
pub fn create(params: &mut Params) -> Result<Create> {
    let no_tools = match params.text("tool_mode")?.as_deref() {
        None | Some("all") => false,
        Some("none") => true,
        Some(_) => return Err(Error::usage("`tool_mode` must be `all` or `none`")),
    };
    Ok(Create {
        cwd: None,
        resume: None,
        name: None,
        model: params.text("model")?,
        effort: params.text("effort")?,
        tools: params.texts("tools")?,
        no_tools,
        save: params.flag("save")?,
        limits: params.limits()?,
    })
}

/// The images of a prompt.
pub fn images(params: &mut Params) -> Result<Vec<PathBuf>> {
    let paths = params.texts("images")?.unwrap_or_default();
    Ok(paths.into_iter().map(PathBuf::from).collect())
}

fn session(
    mut params: Params,
    call: impl FnOnce(&mut Params) -> Result<SessionCall>,
) -> Result<Call> {
    let session = params.required("session")?;
    Ok(Call::Session(session, call(&mut params)?))
}
