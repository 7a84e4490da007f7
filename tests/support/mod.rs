//! What every black-box test uses: a sealed place to run e in, and a provider that is scripted.

pub mod place;
pub mod provider;
pub mod strict;
pub mod wait;

pub use place::{Place, Run, Running};
pub use provider::{Provider, Step, call, call_raw, fails, say};
pub use wait::{gone, pid_in, until};
