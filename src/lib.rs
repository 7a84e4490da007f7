//! e: a coding agent in one small binary, as a library.
//!
//! Arrows point at what a layer may use:
//! `main` → `cli` → frontends (`tui`, `print`, `rpc`) → `agent` → {`provider`, `tools`,
//! `extension`, `session`} → `config` → {`chat`, `text`, `sys`, `error`}. The core knows no terminal,
//! no key and no colour, and one loop (`agent::runtime`) owns all state. docs/architecture.md tells
//! the whole story.

pub mod cli;

pub mod print;
pub mod rpc;
pub mod tui;
pub mod wire;

pub mod agent;

pub mod extension;
pub mod provider;
pub mod session;
pub mod tools;

pub mod config;

pub mod chat;
pub mod error;
pub mod sys;
pub mod text;

pub use error::{Error, Result};
