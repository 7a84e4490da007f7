//! The methods: one table from the name on the wire to a typed call.

use std::path::PathBuf;

use super::params::Params;
use crate::agent::Limits;
use crate::error::{Error, Result};

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

type Parse = fn(Params) -> Result<Call>;

/// Every method. `hello` lists them in this order.
const METHODS: &[(&str, Parse)] = &[
    ("hello", |mut params| {
        let ask = params.flag("ask")?;
        Ok(Call::Hello { ask })
    }),
    ("models.list", |_| Ok(Call::Models)),
    ("session.create", |mut params| {
        Ok(Call::Create(Box::new(Create {
            cwd: params.text("cwd")?.map(PathBuf::from),
            resume: params.text("resume")?.map(PathBuf::from),
            name: params.text("name")?.filter(|name| !name.trim().is_empty()),
            ..create(&mut params)?
        })))
    }),
    ("session.list", |mut params| {
        Ok(Call::List {
            cwd: params.text("cwd")?.map(PathBuf::from),
            all: params.flag("all")?,
        })
    }),
    ("session.info", |params| {
        session(params, |_| Ok(SessionCall::Info))
    }),
    ("session.prompt", |params| {
        session(params, |params| {
            Ok(SessionCall::Prompt {
                text: params.words("prompt")?,
                images: images(params)?,
                limits: params.limits()?,
            })
        })
    }),
    ("session.steer", |params| {
        session(params, |params| {
            params.words("text").map(SessionCall::Steer)
        })
    }),
    ("session.interrupt", |params| {
        session(params, |_| Ok(SessionCall::Interrupt))
    }),
    ("session.compact", |params| {
        session(params, |params| {
            let focus = params
                .text("focus")?
                .filter(|focus| !focus.trim().is_empty());
            Ok(SessionCall::Compact { focus })
        })
    }),
    ("session.set", |params| {
        session(params, |params| {
            Ok(SessionCall::Set {
                model: params.text("model")?,
                effort: params.text("effort")?,
            })
        })
    }),
    ("session.messages", |params| {
        session(params, |_| Ok(SessionCall::Messages))
    }),
    ("session.fork", |params| {
        session(params, |_| Ok(SessionCall::Fork))
    }),
    ("session.export", |params| {
        session(params, |params| {
            let path = params.text("path")?.map(PathBuf::from);
            Ok(SessionCall::Export { path })
        })
    }),
    ("session.close", |params| {
        session(params, |_| Ok(SessionCall::Close))
    }),
    ("ask.reply", |mut params| {
        let ask = params.integer("ask")?;
        Ok(Call::AskReply { ask })
    }),
    ("shutdown", |_| Ok(Call::Shutdown)),
];

/// The names of all methods.
pub fn names() -> Vec<&'static str> {
    METHODS.iter().map(|row| row.0).collect()
}

/// Understands a call.
pub fn parse(method: &str, params: Params) -> Result<Call> {
    match METHODS.iter().find(|row| row.0 == method) {
        Some((_, parse)) => parse(params),
        None => {
            Err(Error::usage(format!("unknown method `{method}`"))
                .remedy("`hello` lists the methods"))
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
