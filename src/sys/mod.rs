//! What the operating system is asked for: signals, processes, files, clocks, the environment.
//!
//! The only place with `unsafe` code. Everything above works with the safe types of this module.

pub mod cancel;
pub mod clock;
pub mod crash;
pub mod ended;
pub mod env;
pub mod fs;
mod lock;
pub mod memory;
pub mod poll;
pub mod process;
mod procfs;
pub mod signal;
pub mod stage;
pub mod tty;

pub use cancel::{CancelToken, Canceller};
pub use env::Env;
pub use lock::lock;
pub use stage::Stage;
