//! What every black-box test uses: a sealed place to run e in, and a provider that is scripted.

pub mod place;
pub mod provider;
pub mod strict;

pub use place::{Place, Run, Running, wait_until};
pub use provider::{Provider, Received, Step, answer, call, call_raw, fails, say};
